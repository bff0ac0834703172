/* host.c - the postmasters of a scenario: what comes in at a connection, and whose turn that is (host_login.c,
 * host_run.c, host_cancel.c); they die and come back. */
#include "sim/live/live.h"

static const ServerConfig *server_of(const Live *l, const Conn *c) {
  return &l->config->servers[c->owner];
}

char *host_name(const Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  return g_strdup_printf("server %s#%u", server_of(l, c)->name, c->number);
}

char *host_peer(const Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  return c->direct < 0 ? pooler_label(l, c->process) : player_name(PLAYER(l, (guint)c->direct));
}

/* ---- bytes ---- */

/* broken: what it said that is no protocol; NULL: it says goodbye. */
static void leaves(Live *l, guint conn, const char *broken) {
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, peer, name, broken ? "garbage" : "Terminate", broken);
  if (broken) conn_send(l, conn, backend_out(CONN(l, conn)->backend));
  if (broken && CONN(l, conn)->direct < 0) {
    g_autofree char *words = g_strdup_printf("writes garbage to %s: %s", name, broken);
    verdict_wrong(l, words);
  }
  host_unlock(l, conn);
  measure_socket(l, CONN(l, conn)->direct < 0 ? -1 : 0);
  conn_close(l, conn);
}

static void heard(Live *l, guint conn, const BackendEvent *e) {
  switch (e->kind) {
  case BACKEND_LOGIN: host_logs_in(l, conn); break;
  case BACKEND_RUN: host_query(l, conn); break;
  case BACKEND_CANCEL: host_cancel_came(l, conn, e); break;
  case BACKEND_BROKEN: leaves(l, conn, e->text); break;
  case BACKEND_REFUSED: host_turns_away(l, conn, e->text); break;
  case BACKEND_BYE: leaves(l, conn, NULL); break;
  default: break;
  }
}

/* What it says by itself is kept: a client that is told so has it from a server. */
static void refuses(Live *l, guint conn) {
  g_autofree char *words = backend_take_refusal(CONN(l, conn)->backend);
  if (!words) return;
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, name, peer, "ErrorResponse", words);
  g_hash_table_add(l->refusals, g_steal_pointer(&words));
}

void host_read_on(Live *l, guint conn) {
  for (;;) {
    Conn *c = CONN(l, conn);
    if (c->fd < 0) return;
    BackendEvent e = backend_next(c->backend);
    refuses(l, conn);
    if (e.kind == BACKEND_NOTHING) break;
    heard(l, conn, &e);
  }
  Conn *c = CONN(l, conn);
  if (c->fd >= 0 && backend_out(c->backend)->len) conn_send(l, conn, backend_out(c->backend));
}

void host_read(Live *l, guint conn, const guint8 *bytes, gsize n) {
  Conn *c = CONN(l, conn);
  if (!c->backend) c->backend = host_new_backend(l, conn);
  backend_feed(c->backend, bytes, n);
  host_read_on(l, conn);
}

void host_gone(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  if (c->number || !c->open) {
    g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
    live_said(l, peer, name, c->open ? "closes" : "gives up connecting", NULL);
  }
  if (c->state == RUN_RUNS || c->state == RUN_WAITS) host_unlock(l, conn);
  if (c->direct < 0) measure_socket(l, -1);
  conn_close(l, conn);
}

/* ---- death and life ---- */

void host_dies(Live *l, guint conn, bool silent) {
  Conn *c = CONN(l, conn);
  if (c->kind != CONN_SERVER || c->fd < 0 || !c->open) return;
  g_autofree char *name = c->number ? host_name(l, conn) : g_strdup(server_of(l, c)->name), *peer = host_peer(l, conn);
  live_said(l, name, peer, silent ? "dies, and nobody is told" : "dies", NULL);
  host_unlock(l, conn);
  c = CONN(l, conn);
  c->run++; /* nothing of it comes any more */
  c->state = RUN_NONE;
  c->number = 0;
  if (silent) return;
  measure_socket(l, c->direct < 0 ? -1 : 0);
  conn_close(l, conn);
}

void host_up(Live *l, guint server) {
  *HOST(l, server) = (Host){.number = HOST(l, server)->number};
}

void host_link_back(Live *l, guint server) {
  for (guint i = 0; i < l->conns->len; i++) {
    Conn *c = CONN(l, i);
    if (c->kind != CONN_SERVER || c->fd < 0 || c->owner != server || !c->held) continue;
    c->held = false;
    live_at(l, l->now, c->state == RUN_COMES ? DO_START : DO_REPLY, i, c->run);
  }
}

/* Of what ran on it; of no consequence once it is another run, or closed. */
static void run_goes_on(Live *l, Doing what, guint conn) {
  if (what == DO_START)
    host_begin(l, conn);
  else if (what == DO_REPLY)
    host_reply(l, conn);
  else if (CONN(l, conn)->state == RUN_RUNS)
    host_end(l, conn, false);
}

static void cancel_closes(Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  g_autofree char *pid = g_strdup_printf("pid %d", c->pid), *peer = host_peer(l, conn);
  live_said(l, server_of(l, c)->name, peer, "closes the cancel's connection", pid);
  conn_close(l, conn);
  live_input(l);
}

void host_do(Live *l, Doing what, guint conn, guint64 data) {
  const Conn *c = CONN(l, conn);
  switch (what) {
  case DO_OPEN: host_connected(l, conn); break;
  case DO_LOGIN: host_welcome(l, conn); break;
  case DO_START:
  case DO_END:
  case DO_REPLY:
    if (c->fd >= 0 && c->run == data) run_goes_on(l, what, conn);
    break;
  case DO_MATCH: host_match_cancel(l, conn); break;
  case DO_SIGNAL: host_signalled(l, conn, data); break;
  default: cancel_closes(l, conn);
  }
  if (CONN(l, conn)->fd >= 0 && CONN(l, conn)->backend) host_read_on(l, conn);
}
