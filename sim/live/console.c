/* console.c - the pooler's own console, where the adapter knows one: what it is told to do, and what it says of itself,
 * in lockstep like any client. */
#include "sim/live/live.h"
#include <string.h>

static int console(Live *l, guint process) {
  const Adapter *a = MEMBER(l, process)->adapter;
  int there = MEMBER(l, process)->console;
  if (there >= 0 && CONN(l, (guint)there)->fd >= 0) return there;
  int fd = a->console ? pooler_connect(l, process) : -1;
  if (fd < 0) return -1;
  guint conn = conn_add(l, CONN_CONSOLE, fd, 0);
  MEMBER(l, process)->console = (int)conn;
  CONN(l, conn)->process = process;
  conn_watch(l, conn, true);
  CONN(l, conn)->wired = wired_new(WIRE_30, ADAPTER_USER, a->console, ADAPTER_PASSWORD);
  conn_send(l, conn, wired_out(CONN(l, conn)->wired));
  live_look(l);
  return MEMBER(l, process)->console;
}

static bool tell(Live *l, guint process, const char *sql) {
  int conn = console(l, process);
  if (conn < 0) return false;
  l->console_ready = false;
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
    if (e.kind != CLIENT_ERROR || l->rows) continue;
    g_autofree char *who = pooler_label(l, CONN(l, conn)->process);
    live_said(l, who, "console", "ErrorResponse", e.text);
  }
}

bool console_say(Live *l, guint process, AdapterWish what, const char *pool) {
  const Adapter *a = MEMBER(l, process)->adapter;
  const char *word = a->console ? a->say[what] : NULL;
  g_autofree char *who = pooler_label(l, process);
  bool told = false;
  live_said(l, "console", who, adapter_wish_word(what), pool);
  if (word) {
    g_autofree char *sql = pool ? g_strdup_printf("%s %s", word, pool) : g_strdup(word);
    told = tell(l, process, sql);
  } else if (a->signals[what]) {
    told = live_gate_signal(l->gate, process, a->signals[what]);
  }
  l->dirty = true;
  live_input(l);
  return told;
}

/* It answers within the step: whoever is asked for figures does not wait for anybody. */
bool console_tell(Live *l, guint process, AdapterWish what) {
  const char *word = MEMBER(l, process)->adapter->say[what];
  if (!word || !tell(l, process, word)) return false;
  live_look(l);
  return l->console_ready;
}

GPtrArray *console_rows(Live *l, guint process, AdapterWish what) {
  if (console(l, process) < 0) return NULL;
  l->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  bool answered = console_tell(l, process, what);
  GPtrArray *rows = g_steal_pointer(&l->rows);
  if (answered) return rows;
  g_ptr_array_unref(rows);
  return NULL;
}
