/* host_cancel.c - a cancel at a server: its packet comes, its child looks for the backend by pid and key, the signal is
 * handled at once or later, by whoever has the pid then (postgres.md 7). */
#include "sim/live/live.h"
#include <string.h>

static const ServerConfig *server_of(const Live *l, const Conn *c) {
  return &l->config->servers[c->owner];
}

void host_cancel_came(Live *l, guint conn, const BackendEvent *e) {
  Conn *c = CONN(l, conn);
  c->pid = e->pid;
  c->key_len = e->key_len;
  memcpy(c->key, e->key, e->key_len);
  g_autofree char *to = g_strdup_printf("host %s", server_of(l, c)->name), *pid = g_strdup_printf("pid %d", e->pid),
                  *from = host_peer(l, conn);
  live_said(l, from, to, "CancelRequest", pid);
  c = CONN(l, conn);
  LinkFault fault = live_fault(l, LINK_CANCEL_TO_SERVER, c->owner);
  if (fault == FAULT_RESET || live_loses(l, LINK_CANCEL_TO_SERVER, c->owner)) {
    c->cancel = verdict_attribute(l, conn, -1);
    if (c->cancel >= 0) verdict_cancel(l, (guint)c->cancel, OUT_LOST, -1);
    if (fault == FAULT_RESET) live_at(l, l->now, DO_CLOSE, conn, 0);
    return;
  }
  c->packet = true;
  live_at(l, l->now + link_ns(l, LINK_CANCEL_TO_SERVER, c->owner, false), DO_MATCH, conn, 0);
}

/* A wrong key ends the search. */
static int find_backend(const Live *l, const Conn *x) {
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *c = CONN(l, i);
    if (c->kind != CONN_SERVER || c->fd < 0 || !c->number || c->owner != x->owner || c->pid != x->pid) continue;
    const BackendConfig *b = backend_config(c->backend);
    gsize n = backend_key_len(c->backend);
    return n == x->key_len && memcmp(b->key, x->key, n) == 0 ? (int)i : -1;
  }
  return -1;
}

/* How long the backend is deaf to a signal; -1: it handles it at once. */
static int64_t deaf_ns(Live *l, const ServerConfig *s) {
  if (s->signal == SIGNAL_PROMPT) return -1;
  if (s->signal != SIGNAL_BOUNDED || l->pending) return MAX(s->signal_ns, 0);
  return (int64_t)live_choose(l, LIVE_SIGNAL, (uint64_t)s->signal_ns + 1);
}

/* Though whoever sent it may have closed: what was sent has come. */
void host_match_cancel(Live *l, guint conn) {
  Conn *x = CONN(l, conn);
  x->packet = false;
  int target = HOST(l, x->owner)->down ? -1 : find_backend(l, x);
  x->cancel = verdict_attribute(l, conn, target);
  if (target >= 0) {
    int64_t ns = deaf_ns(l, server_of(l, x));
    if (ns < 0)
      host_do(l, DO_SIGNAL, (guint)target, conn);
    else
      live_at(l, l->now + ns, DO_SIGNAL, (guint)target, conn);
  } else if (x->cancel >= 0) {
    verdict_cancel(l, (guint)x->cancel, OUT_LOST, -1);
  }
  cancels_settle(l);
  guint owner = CONN(l, conn)->owner;
  if (live_fault(l, LINK_CANCEL_TO_SERVER, owner) == FAULT_NO_EOF) return;
  live_at(l, l->now + link_ns(l, LINK_CANCEL_TO_SERVER, owner, false), DO_CLOSE, conn, 0);
}

static Outcome outcome(const Live *l, guint conn, int cancel) {
  const Conn *c = CONN(l, conn);
  const Sent *x = SENT(l, (guint)cancel);
  bool direct = PLAYER(l, x->client)->def->via_server != NONE;
  if (c->fd < 0 || !c->number || !host_runs(l, conn)) return OUT_NOOP;
  if (c->client < 0) return OUT_POOLER_OWN;
  if (c->client == (int)x->client) return c->query == x->query && !x->stale ? OUT_HIT : OUT_SELF_LATE;
  return direct || c->direct >= 0 ? OUT_FOREIGN : OUT_MISROUTE;
}

void host_signalled(Live *l, guint conn, guint64 cancel_conn) {
  int cancel = CONN(l, (guint)cancel_conn)->cancel;
  bool running = CONN(l, conn)->fd >= 0 && CONN(l, conn)->number && host_runs(l, conn);
  if (cancel >= 0) verdict_cancel(l, (guint)cancel, outcome(l, conn, cancel), (int)conn);
  if (running) host_end(l, conn, true);
}
