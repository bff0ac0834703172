/* player_cancel.c - cancels, from the client's side: beside their query or in their place in the script, each on a
 * connection of its own, until the pooler closes that. */
#include "sim/live/live.h"
#include <sys/socket.h>
#include <unistd.h>

static guint add(Live *l, guint client, guint session, int query) {
  Sent x = {.client = client, .session = session, .query = query, .conn = -1, .aimed = -1};
  g_array_append_val(l->sent, x);
  return l->sent->len - 1;
}

/* Those that stand beside a query, when it is sent. `at` counts from the scenario's start, or from the arrival of one
 * that comes by itself, and comes once. */
void cancels_plan(Live *l, guint client, guint session, int query) {
  Player *p = PLAYER(l, client);
  const Script *s = p->def->script;
  for (int i = 0; i < s->n_cancels; i++) {
    const CancelDef *d = &s->cancels[i];
    bool once = d->when == CANCEL_AT && p->at_sent >> (i & 63) & 1;
    if (d->query != query || d->when == CANCEL_HERE || once) continue;
    if (d->when == CANCEL_AT) p->at_sent |= UINT64_C(1) << (i & 63);
    for (int n = 0; n < d->times; n++) {
      int64_t ns = live_draw(l, &d->delay), from = d->when == CANCEL_AT ? p->began : l->now;
      live_at(l, from + ns, DO_CANCEL, add(l, client, session, query), 0);
    }
  }
}

void cancel_now(Live *l, guint client, guint session, int query) {
  cancel_send(l, add(l, client, session, query));
}

static const Conn *session_conn(const Live *l, const Sent *x) {
  const Player *p = PLAYER(l, x->client);
  return session_here(l, p, x->session) ? CONN(l, (guint)p->sessions[x->session].conn) : NULL;
}

/* A driver with a fence knows what it is about to cancel: not what has been answered. */
static bool is_senseless(const Player *p, const Sent *x) {
  return p->def->fence.kind != FENCE_NONE && p->answered >> x->query & 1;
}

/* True: it does not come to the pooler. */
static bool fails(Live *l, guint sent) {
  LinkFault fault = live_fault(l, LINK_CANCEL_TO_POOLER, 0);
  bool told = fault == FAULT_REFUSE || fault == FAULT_RESET ||
              (fault != FAULT_SILENT && live_loses(l, LINK_CANCEL_TO_POOLER, 0));
  if (!told && fault != FAULT_SILENT) return false;
  verdict_cancel(l, sent, OUT_LOST, -1);
  if (told) cancel_told(l, sent);
  return true;
}

void cancel_send(Live *l, guint sent) {
  Sent *x = SENT(l, sent);
  Player *p = PLAYER(l, x->client);
  const Conn *c = session_conn(l, x);
  int32_t pid;
  const guint8 *key;
  gsize n;
  if (!c || !c->wired || !wired_key(c->wired, &pid, &key, &n) || is_senseless(p, x)) {
    verdict_cancel(l, sent, OUT_UNSENT, -1);
    return;
  }
  p->open_cancels++;
  p->fence = p->def->fence.kind != FENCE_NONE;
  x->sent_ns = l->now;
  x->aimed = p->sessions[x->session].server_conn;
  x->from = p->sessions[x->session].conn;
  g_autofree char *name = player_name(p);
  bool direct = p->def->via_server != NONE;
  live_said(l, name, direct ? l->config->servers[p->def->via_server].name : "pooler", "CancelRequest",
            player_tag(l, (int)x->client, x->query));
  if (!direct && fails(l, sent)) return;
  PoolerLink link = direct ? LINK_CANCEL_TO_SERVER : LINK_CANCEL_TO_POOLER;
  guint server = direct ? (guint)p->def->via_server : 0;
  int64_t ns = link_ns(l, link, server, true) + (direct ? 0 : link_ns(l, link, 0, false));
  if (ns > 0)
    live_at(l, l->now + ns, DO_CANCEL_IN, sent, 0);
  else
    cancel_comes(l, sent);
}

static int dial(Live *l, guint sent) {
  const Sent *x = SENT(l, sent);
  const Player *p = PLAYER(l, x->client);
  if (p->def->via_server != NONE)
    return HOST(l, (guint)p->def->via_server)->down
               ? -1
               : (int)host_direct(l, x->client, x->session, (guint)p->def->via_server);
  SENT(l, sent)->process = pooler_process(l);
  int fd = pooler_connect(l, x->process);
  if (fd < 0) return -1;
  guint conn = conn_add(l, CONN_CANCEL, fd, 0);
  CONN(l, conn)->process = x->process;
  return (int)conn;
}

/* The key is what the client keeps, whether it is there any more or not. */
void cancel_comes(Live *l, guint sent) {
  Sent *x = SENT(l, sent);
  const Player *p = PLAYER(l, x->client);
  int32_t pid;
  const guint8 *key;
  gsize n;
  bool has_key = wired_key(CONN(l, (guint)x->from)->wired, &pid, &key, &n);
  g_assert(has_key);
  g_autoptr(GByteArray) out = g_byte_array_new();
  wire_cancel(out, pid, key, n);
  int conn = dial(l, sent);
  if (conn < 0) {
    verdict_cancel(l, sent, OUT_LOST, -1);
    cancel_told(l, sent);
    return;
  }
  CONN(l, (guint)conn)->kind = CONN_CANCEL;
  CONN(l, (guint)conn)->owner = sent;
  conn_watch(l, (guint)conn, true);
  x->conn = conn;
  x->at_pooler = p->def->via_server == NONE;
  if (x->at_pooler && l->members->len > 1) {
    g_autofree char *name = player_name(p), *to = pooler_label(l, x->process);
    live_said(l, name, to, "CancelRequest comes", player_tag(l, (int)x->client, x->query));
  }
  conn_send(l, (guint)conn, out);
  live_input(l);
  if (p->def->cancel_timeout_ns != NO_LIMIT && !SENT(l, sent)->told)
    live_at(l, SENT(l, sent)->sent_ns + p->def->cancel_timeout_ns, DO_GIVE_UP, sent, 0);
}

/* Its socket is closed: it is done, as far as its client can see. */
void cancel_told(Live *l, guint sent) {
  Sent *x = SENT(l, sent);
  x->at_pooler = false;
  if (x->told) return;
  x->told = true;
  Player *p = PLAYER(l, x->client);
  g_assert(p->open_cancels > 0);
  if (--p->open_cancels == 0 && p->stage == P_FENCED) player_wake(l, x->client, 0);
}

static bool runs(const Live *l, const Sent *x) {
  const PlayerSession *e = &PLAYER(l, x->client)->sessions[x->session];
  return e->query == x->query && !x->stale && e->server_conn >= 0 && host_runs(l, (guint)e->server_conn);
}

/* Whom a pooler keeps: what it opens is theirs (PgBouncer opens the next carrier when it has dropped a cancel). */
static guint still_waiting(const Live *l) {
  guint n = 0;
  for (guint i = 0; i < l->sent->len; i++) n += SENT(l, i)->at_pooler && !SENT(l, i)->gone;
  return n;
}

/* At a server, or on its way there: a pooler that sends and forgets opens its connection and closes the client's in one
 * go, and what it has sent is read when that connect is over. */
static bool is_under_way(const Live *l, guint sent) {
  const Sent *x = SENT(l, sent);
  guint carriers = 0;
  bool one_came = false;
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *c = CONN(l, i);
    if (c->kind != CONN_SERVER) continue;
    if (c->cancel == (int)sent) return true;
    bool silent = c->fd >= 0 && !c->number && !c->key_len && c->carrier;
    carriers += silent;
    one_came |= silent && c->came_ns == x->gone_ns;
  }
  return one_came && carriers > still_waiting(l);
}

void cancels_settle(Live *l) {
  for (guint i = 0; i < l->conns->len; i++)
    if (CONN(l, i)->packet) return;
  l->unsettled = 0;
  for (guint i = 0; i < l->sent->len; i++) {
    const Sent *x = SENT(l, i);
    if (x->judged || !x->gone) continue;
    if (is_under_way(l, i))
      l->unsettled++;
    else
      verdict_cancel(l, i, x->ran ? OUT_LOST : OUT_DROPPED, -1);
  }
}

/* To whoever has its packet it may still be on its way. */
void cancel_given_up(Live *l, guint sent) {
  const Sent *x = SENT(l, sent);
  if (x->told || CONN(l, (guint)x->conn)->fd < 0) return;
  const Player *p = PLAYER(l, x->client);
  g_autofree char *name = player_name(p), *to = pooler_label(l, x->process);
  bool direct = p->def->via_server != NONE;
  live_said(l, name, direct ? l->config->servers[p->def->via_server].name : to, "gives up its cancel",
            player_tag(l, (int)x->client, x->query));
  cancel_gone(l, (guint)x->conn);
  live_input(l);
}

/* The pooler has closed: of a cancel that came to no server this is all that is ever seen. One whose packet a pooler
 * sends and forgets is closed before it is matched. */
void cancel_gone(Live *l, guint conn) {
  guint sent = CONN(l, conn)->owner;
  conn_close(l, conn);
  SENT(l, sent)->gone = true;
  SENT(l, sent)->gone_ns = l->now;
  SENT(l, sent)->ran = runs(l, SENT(l, sent));
  l->unsettled++;
  cancels_settle(l);
  if (live_fault(l, LINK_CANCEL_TO_POOLER, 0) == FAULT_NO_EOF) {
    SENT(l, sent)->at_pooler = false;
    return;
  }
  cancel_told(l, sent);
}
