/* console.c - the pooler's own console, where the adapter knows one: what it is told to do, and what it says of itself,
 * in lockstep like any client. */
#include "sim/live/live.h"
#include <string.h>

static int console(Live *l) {
  const Adapter *a = l->adapter;
  if (l->console >= 0 && CONN(l, (guint)l->console)->fd >= 0) return l->console;
  int fd = l->gone || !a->console ? -1 : pooler_connect(l);
  if (fd < 0) return -1;
  guint conn = conn_add(l, CONN_CONSOLE, fd, 0);
  l->console = (int)conn;
  conn_watch(l, conn, true);
  CONN(l, conn)->wired = wired_new(WIRE_30, ADAPTER_USER, a->console, NULL);
  conn_send(l, conn, wired_out(CONN(l, conn)->wired));
  live_look(l);
  return l->console;
}

static bool tell(Live *l, const char *sql) {
  int conn = console(l);
  if (conn < 0) return false;
  g_autoptr(GByteArray) out = g_byte_array_new();
  wire_string(out, 'Q', sql);
  conn_send(l, (guint)conn, out);
  return true;
}

void console_read(Live *l, guint conn, const guint8 *bytes, gsize n) {
  Wired *w = CONN(l, conn)->wired;
  wired_feed(w, bytes, n);
  for (ClientEvent e = wired_next(w); e.kind != CLIENT_NOTHING; e = wired_next(w)) {
    if (e.kind == CLIENT_ROW && l->rows && !l->rows->len) g_ptr_array_add(l->rows, wired_names(w));
    if (e.kind == CLIENT_ROW && l->rows) g_ptr_array_add(l->rows, wired_columns(w));
    if (e.kind == CLIENT_READY) l->console_ready = true;
    if (e.kind == CLIENT_ERROR && !l->rows) live_said(l, "pooler", "console", "ErrorResponse", e.text);
  }
}

bool console_say(Live *l, AdapterWish what, const char *pool) {
  const Adapter *a = l->adapter;
  const char *word = a->console ? a->say[what] : NULL;
  bool told = false;
  live_said(l, "console", "pooler", adapter_wish_word(what), pool);
  if (word) {
    g_autofree char *sql = pool ? g_strdup_printf("%s %s", word, pool) : g_strdup(word);
    told = tell(l, sql);
  } else if (a->signals[what]) {
    told = live_gate_signal(l->gate, a->signals[what]);
  }
  l->dirty = true;
  live_input(l);
  return told;
}

/* It answers within the step: whoever is asked for figures does not wait for anybody. */
GPtrArray *console_rows(Live *l, AdapterWish what) {
  const Adapter *a = l->adapter;
  if (!a->console || !a->say[what] || console(l) < 0) return NULL;
  l->console_ready = false;
  l->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  if (tell(l, a->say[what])) live_look(l);
  GPtrArray *rows = g_steal_pointer(&l->rows);
  if (l->console_ready) return rows;
  g_ptr_array_unref(rows);
  return NULL;
}
