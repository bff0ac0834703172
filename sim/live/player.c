/* player.c - the clients' scripts (model/pooler/script.h), op by op, over connections to the pooler. */
#include "sim/live/live.h"
#include <string.h>

void players_new(Live *l) {
  for (int d = 0; d < l->config->work.n_clients; d++) {
    const ClientDef *def = &l->config->work.clients[d];
    for (int k = 0; k < def->count; k++) {
      Player p = {.def = def, .conn = -1, .query = NONE, .server_conn = -1};
      p.name = def->count == 1 ? g_strdup(def->name) : g_strdup_printf("%s.%d", def->name, k + 1);
      g_array_append_val(l->players, p);
      live_at(l, def->start.low, DO_SCRIPT, l->players->len - 1, 0);
    }
  }
}

/* ---- what is not driven yet ---- */

static bool fixed(const Delay *d) {
  return d->kind == DELAY_FIXED;
}

static const char *unfit_script(const Script *s) {
  if (s->n_sessions > 1) return "several sessions of one client";
  for (int i = 0; i < s->n_queries; i++) {
    const QueryDef *q = &s->queries[i];
    if (q->async) return "`async`";
    if (q->pools) return "a query over several pools";
    if (q->deadline_ns != NO_LIMIT) return "`deadline`";
    if (q->lock != NONE) return "`lock`";
    if (!fixed(&q->runs)) return "a drawn `runs`";
    if (q->cpu.high) return "`cpu`";
  }
  for (int i = 0; i < s->n_ops; i++)
    if (s->ops[i].code == OP_LOOP && s->ops[i].moment != NONE) return "`loop` with `until`";
  for (int i = 0; i < s->n_ops; i++)
    if (s->ops[i].code == OP_AWAIT) return "`await`";
  for (int i = 0; i < s->n_cancels; i++)
    if (!fixed(&s->cancels[i].delay)) return "a drawn moment of a cancel";
  return NULL;
}

static const char *unfit_client(const ClientDef *d) {
  if (d->via_server != NONE) return "`via`";
  if (d->n_arrive || d->count < 1) return "`arrive`";
  if (d->fence.kind != FENCE_NONE) return "a client's `fence`";
  if (d->after_error != AFTER_ERROR_GO_ON) return "`after_error`";
  if (!fixed(&d->start)) return "a drawn `start`";
  return unfit_script(d->script);
}

static const char *unfit_network(const PoolerConfig *c) {
  for (guint k = 0; k < LINK_COUNT; k++)
    for (int i = 0; i < (k == LINK_CLIENT_TO_POOLER || k == LINK_CANCEL_TO_POOLER ? 1 : c->n_servers); i++) {
      const LinkConfig *one = &c->links[k][i];
      if (one->fault != FAULT_NONE || one->loss > 0) return "`fault` and `loss` of a link";
      if (!fixed(&one->delay) || !fixed(&one->connect)) return "a drawn delay of a link";
    }
  return NULL;
}

static const char *unfit(const PoolerConfig *c) {
  const char *what = unfit_network(c);
  if (c->processes > 1) return "several processes";
  if (c->work.n_events) return "`events`";
  for (int i = 0; i < c->n_servers && !what; i++) {
    const ServerConfig *s = &c->servers[i];
    if (s->signal == SIGNAL_ANY || s->signal == SIGNAL_BOUNDED) what = "a `signal` that comes at no given time";
    if (s->pid_at_once) what = "`pids.reuse: at_once`";
    if (s->cores || s->max_connections) what = "`cores` and `max_connections` of a server";
    if (!fixed(&s->login)) what = "a drawn `login`";
    if (s->key_bytes == KEY_EMPTY || s->key_bytes > WIRE_KEY_MOST) what = "a `key` of no right length";
  }
  for (int i = 0; i < c->n_pools && !what; i++)
    if (c->pools[i].balance == BALANCE_RANDOM) what = "`balance: random`";
  for (int i = 0; i < c->work.n_clients && !what; i++) what = unfit_client(&c->work.clients[i]);
  return what;
}

GError *players_refuse(const Live *l) {
  const char *what = unfit(l->config);
  return what ? scenario_complain(l->scenario, "clients", "live does not drive %s", what) : NULL;
}

/* ---- queries ---- */

const char *player_tag(const Live *l, int client, int query) {
  if (query < 0) return "the end of a transaction";
  return PLAYER(l, (guint)client)->def->script->queries[query].tag;
}

char *player_query(const Live *l, guint client, int query) {
  const Player *p = PLAYER(l, client);
  return g_strdup_printf("%sSELECT /* stampede %u %d */ 1", p->begun ? "BEGIN; " : "", client, query);
}

static char *name_of(const Player *p) {
  return g_strconcat("client ", p->name, NULL);
}

static void send_text(Live *l, guint client, const char *sql, const char *about) {
  Player *p = PLAYER(l, client);
  p->server_error = false;
  g_autofree char *name = name_of(p);
  live_said(l, name, "pooler", "Query", about);
  g_autoptr(GByteArray) out = g_byte_array_new();
  wire_string(out, 'Q', sql);
  conn_send(l, (guint)p->conn, out);
  live_input(l);
}

/* The cancels that stand beside a query. */
static void plan_cancels(Live *l, guint client, int query) {
  const Script *s = PLAYER(l, client)->def->script;
  const LinkConfig *k = &l->config->links[LINK_CANCEL_TO_POOLER][0];
  for (int i = 0; i < s->n_cancels; i++) {
    const CancelDef *d = &s->cancels[i];
    if (d->query != query || d->when == CANCEL_HERE) continue;
    int64_t at = d->when == CANCEL_AT ? MAX(d->delay.low, l->now) : l->now + d->delay.low;
    for (int n = 0; n < d->times; n++) {
      Sent x = {.client = client, .query = query, .conn = -1, .aimed = -1};
      g_array_append_val(l->sent, x);
      live_at(l, at + k->connect.low + k->delay.low, DO_CANCEL, l->sent->len - 1, 0);
    }
  }
}

static void query(Live *l, guint client, int index) {
  Player *p = PLAYER(l, client);
  g_autofree char *sql = player_query(l, client, index);
  p->begun = false;
  p->query = index;
  plan_cancels(l, client, index);
  send_text(l, client, sql, player_tag(l, (int)client, index));
}

static void end_transaction(Live *l, guint client, const char *verb) {
  PLAYER(l, client)->query = QUERY_OTHER;
  g_autofree char *sql = g_strdup_printf("%s /* stampede %u -2 */", verb, client);
  send_text(l, client, sql, verb);
}

void player_cancel(Live *l, guint sent) {
  Sent *x = SENT(l, sent);
  Player *p = PLAYER(l, x->client);
  g_autofree char *name = name_of(p);
  int32_t pid;
  const guint8 *key;
  gsize n;
  if (p->conn < 0 || CONN(l, (guint)p->conn)->fd < 0 || !wired_key(CONN(l, (guint)p->conn)->wired, &pid, &key, &n)) {
    verdict_cancel(l, sent, OUT_UNSENT, -1);
    return;
  }
  live_said(l, name, "pooler", "CancelRequest", player_tag(l, (int)x->client, x->query));
  int fd = unix_connect(l->adapter->socket);
  if (fd < 0) {
    verdict_cancel(l, sent, OUT_LOST, -1);
    return;
  }
  x->aimed = p->server_conn;
  x->conn = (int)conn_add(l, CONN_CANCEL, fd, sent);
  g_autoptr(GByteArray) out = g_byte_array_new();
  wire_cancel(out, pid, key, n);
  conn_send(l, (guint)x->conn, out);
  live_input(l);
}

/* ---- ops ---- */

static void connect_it(Live *l, guint client) {
  Player *p = PLAYER(l, client);
  g_autofree char *name = name_of(p);
  live_said(l, name, "pooler", "StartupMessage", NULL);
  int fd = unix_connect(l->adapter->socket);
  if (fd < 0) {
    live_said(l, "pooler", name, "refuses", NULL);
    p->done = true;
    return;
  }
  guint conn = conn_add(l, CONN_CLIENT, fd, client);
  p = PLAYER(l, client);
  p->conn = (int)conn;
  p->connecting = true;
  CONN(l, conn)->wired =
      wired_new(p->def->protocol >= 32 ? WIRE_32 : WIRE_30, ADAPTER_USER, l->config->pools[p->def->pool].name, NULL);
  conn_send(l, conn, wired_out(CONN(l, conn)->wired));
  live_input(l);
}

static void leave(Live *l, guint client, bool goodbye) {
  Player *p = PLAYER(l, client);
  if (p->conn < 0 || CONN(l, (guint)p->conn)->fd < 0) return;
  g_autofree char *name = name_of(p);
  live_said(l, name, "pooler", goodbye ? "Terminate" : "vanishes", NULL);
  g_autoptr(GByteArray) out = g_byte_array_new();
  wire_simple(out, 'X');
  if (goodbye) conn_send(l, (guint)p->conn, out);
  conn_close(l, (guint)p->conn);
  p->conn = -1;
  live_input(l);
}

static void loop_back(Player *p, const Op *op) {
  g_assert(p->depth > 0);
  const Op *head = &p->def->script->ops[op->target];
  if (++p->loops[p->depth - 1] < (guint)head->times)
    p->pc = (guint)op->target + 1;
  else
    p->depth--;
}

/* True: it goes on with the next op at once. */
static bool step(Live *l, guint client) {
  Player *p = PLAYER(l, client);
  const Op *op = &p->def->script->ops[p->pc++];
  bool here = p->conn >= 0 && CONN(l, (guint)p->conn)->fd >= 0;
  switch (op->code) {
  case OP_CONNECT: return connect_it(l, client), false;
  case OP_BEGIN: return p->begun = true;
  case OP_QUERY: return here ? query(l, client, op->index), false : true;
  case OP_COMMIT: return here ? end_transaction(l, client, "COMMIT"), false : true;
  case OP_ROLLBACK: return here ? end_transaction(l, client, "ROLLBACK"), false : true;
  case OP_WAIT: return live_at(l, l->now + op->delay.low, DO_SCRIPT, client, 0), false;
  case OP_DISCONNECT:
  case OP_VANISH: return leave(l, client, op->code == OP_DISCONNECT), true;
  case OP_LOOP: return p->loops[p->depth++] = 0, true;
  case OP_END_LOOP: return loop_back(p, op), true;
  case OP_CANCEL:
    if (p->def->script->cancels[op->index].when == CANCEL_HERE) {
      Sent x = {.client = client, .query = p->def->script->cancels[op->index].query, .conn = -1, .aimed = -1};
      g_array_append_val(l->sent, x);
      player_cancel(l, l->sent->len - 1);
    }
    return true;
  default: return leave(l, client, true), PLAYER(l, client)->done = true, false;
  }
}

void player_go_on(Live *l, guint client) {
  while (!l->over && !PLAYER(l, client)->done && step(l, client)) continue;
}

/* ---- what the pooler says ---- */

static void failed(Live *l, Player *p, const ClientEvent *e) {
  g_autofree char *name = name_of(p), *about = g_strdup_printf("%s %s", e->sqlstate, e->text);
  live_said(l, "pooler", name, "ErrorResponse", about);
  if (p->server_error) return;
  g_autofree char *words = g_strdup_printf("client %s is told \"%s\", which no server said", p->name, e->text);
  verdict_mark(l, POOLER_CLIENT_ERROR, words);
}

static void ready(Live *l, guint client) {
  Player *p = PLAYER(l, client);
  g_autofree char *name = name_of(p);
  live_said(l, "pooler", name, "ReadyForQuery", NULL);
  p->connecting = false;
  p->query = NONE;
  live_at(l, l->now + 2 * l->config->links[LINK_CLIENT_TO_POOLER][0].delay.low, DO_SCRIPT, client,
          0); /* there and back */
}

void player_read(Live *l, guint conn, const guint8 *bytes, gsize n) {
  Conn *c = CONN(l, conn);
  if (c->kind == CONN_CANCEL) return;
  wired_feed(c->wired, bytes, n);
  for (;;) {
    c = CONN(l, conn);
    ClientEvent e = wired_next(c->wired);
    if (e.kind == CLIENT_NOTHING) break;
    if (e.kind == CLIENT_READY) ready(l, c->owner);
    if (e.kind == CLIENT_ERROR || e.kind == CLIENT_BROKEN) failed(l, PLAYER(l, c->owner), &e);
  }
  if (wired_out(c->wired)->len) conn_send(l, conn, wired_out(c->wired));
}

/* The pooler has closed: of a cancel that came to no server this is all that is ever seen. */
static void cancel_gone(Live *l, guint sent) {
  const Sent *x = SENT(l, sent);
  if (x->judged) return;
  const Player *p = PLAYER(l, x->client);
  bool runs = p->query == x->query && p->server_conn >= 0 && CONN(l, (guint)p->server_conn)->fd >= 0 &&
              backend_running(CONN(l, (guint)p->server_conn)->backend);
  verdict_cancel(l, sent, runs ? OUT_LOST : OUT_DROPPED, -1);
}

void player_gone(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  conn_close(l, conn);
  if (c->kind == CONN_CANCEL) {
    cancel_gone(l, c->owner);
    return;
  }
  Player *p = PLAYER(l, c->owner);
  g_autofree char *name = name_of(p);
  live_said(l, "pooler", name, "closes", NULL);
  bool waited = p->query != NONE || p->connecting;
  p->query = NONE;
  p->connecting = false;
  p->conn = -1;
  if (waited) live_at(l, l->now, DO_SCRIPT, c->owner, 0);
}
