/* host_run.c - what a backend does: a query comes, waits for its lock, runs for as long as the scenario says, and its
 * answer goes back. Between its end and the answer's coming the backend is idle, as with a real one. */
#include "sim/live/live.h"
#include <string.h>

static const QueryDef *query_of(const Live *l, const Conn *c) {
  if (c->client < 0 || c->query < 0) return NULL;
  return &PLAYER(l, (guint)c->client)->def->script->queries[c->query];
}

bool host_runs(const Live *l, guint conn) {
  RunState s = CONN(l, conn)->state;
  return s == RUN_RUNS || s == RUN_WAITS;
}

/* ---- it comes ---- */

static void begins_or_waits(Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  int64_t ns = link_ns(l, LINK_POOLER_TO_SERVER, c->owner, false);
  bool at_once = (ns == 0 || c->direct >= 0) && !l->pending;
  if (at_once)
    host_begin(l, conn);
  else
    live_at(l, l->now + ns, DO_START, conn, c->run);
}

/* Another's statement, under the name of its own: it gets an answer to what it did not ask. */
static void is_another(Live *l, const Conn *c, const char *other) {
  g_autofree char *name = player_name(PLAYER(l, (guint)c->client));
  g_autofree char *words =
      g_strdup_printf("%s executes its %s, and runs %s", name, player_tag(l, c->client, c->query), other);
  verdict_mark(l, POOLER_CLIENT_ERROR, words);
}

void host_query(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  bool ours = player_asked(l, c->backend, c);
  if (ours && c->query == QUERY_BEGIN) return backend_answer(c->backend, NULL, NULL);
  c->run++;
  c->state = RUN_COMES;
  c->cancelled = c->held = false;
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  g_autofree char *other = ours ? player_other_statement(l, c->backend, c) : NULL;
  live_said(l, peer, name, ours ? "Query" : "own query",
            ours ? player_tag(l, c->client, c->query) : backend_text(c->backend));
  if (other) is_another(l, c, other);
  if (ours) {
    PLAYER(l, (guint)c->client)->sessions[c->session].server_conn = (int)conn;
    measure_forwarded(l, (guint)c->client, c->session);
  }
  begins_or_waits(l, conn);
}

/* ---- it runs ---- */

static int64_t run_ns(Live *l, const Conn *c) {
  if (c->client < 0) return live_draw(l, &l->config->pools[c->pool].own.at_checkin);
  const Player *p = PLAYER(l, (guint)c->client);
  if (c->query < 0) return p->pc > 0 ? live_draw(l, &p->def->script->ops[p->pc].delay) : 0; /* commit, rollback */
  const QueryDef *q = query_of(l, c);
  return live_draw(l, &q->runs) + live_draw(l, &q->cpu);
}

static void runs(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  c->state = RUN_RUNS;
  int64_t ns = run_ns(l, c);
  live_at(l, l->now + ns, DO_END, conn, CONN(l, conn)->run);
}

/* True: it waits for its lock. */
static bool waits(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  const QueryDef *q = query_of(l, c);
  if (!q || q->lock < 0 || c->lock == q->lock) return false;
  DbLock *lock = &g_array_index(l->locks, DbLock, q->lock);
  c->lock = q->lock;
  c->hold = q->hold;
  if (lock->owner < 0) return lock->owner = (int)conn, false;
  c->state = RUN_WAITS;
  g_array_append_val(lock->waiting, conn);
  return true;
}

void host_begin(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->state != RUN_COMES) return;
  if (c->direct < 0 && live_fault(l, LINK_POOLER_TO_SERVER, c->owner) == FAULT_SILENT) {
    c->held = true;
    return;
  }
  if (!c->number) return; /* it has died, and nobody was told */
  if (!waits(l, conn)) runs(l, conn);
}

static void lock_goes_on(Live *l, DbLock *lock) {
  lock->owner = -1;
  while (lock->owner < 0 && lock->waiting->len) {
    guint next = g_array_index(lock->waiting, guint, 0);
    g_array_remove_index(lock->waiting, 0);
    if (CONN(l, next)->fd < 0 || CONN(l, next)->state != RUN_WAITS) continue;
    lock->owner = (int)next;
    runs(l, next);
  }
}

void host_unlock(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->lock < 0) return;
  DbLock *lock = &g_array_index(l->locks, DbLock, c->lock);
  c->lock = -1;
  if (lock->owner == (int)conn) lock_goes_on(l, lock);
}

/* ---- it ends ---- */

static bool keeps_lock(const Live *l, const Conn *c) {
  const char *sql = backend_text(c->backend);
  if (c->hold == HOLD_SESSION) return c->client >= 0 || !strstr(sql, "DISCARD");
  if (c->hold == HOLD_QUERY || !query_of(l, c)) return false;
  return backend_in_transaction(c->backend) || g_str_has_prefix(sql, "BEGIN");
}

void host_end(Live *l, guint conn, bool cancelled) {
  Conn *c = CONN(l, conn);
  c->state = RUN_ENDED;
  c->cancelled = cancelled;
  if (c->lock >= 0 && !keeps_lock(l, c)) host_unlock(l, conn);
  c = CONN(l, conn);
  int64_t ns = c->direct < 0 ? link_ns(l, LINK_POOLER_TO_SERVER, c->owner, false) : 0;
  live_at(l, l->now + ns, DO_REPLY, conn, CONN(l, conn)->run);
}

static const char *result_word(const Conn *c, bool fails) {
  return c->cancelled ? "cancelled" : fails ? "error" : "answer";
}

void host_reply(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->state != RUN_ENDED || !backend_running(c->backend)) return;
  if (c->direct < 0 && live_fault(l, LINK_POOLER_TO_SERVER, c->owner) == FAULT_SILENT) {
    c->held = true;
    return;
  }
  const QueryDef *q = query_of(l, c);
  bool fails = q && q->ends_in_error;
  if (c->client >= 0 && (fails || c->cancelled)) {
    PLAYER(l, (guint)c->client)->sessions[c->session].server_error = true;
    PLAYER(l, (guint)c->client)->saw_57014 |= c->cancelled;
  }
  c->state = RUN_NONE;
  if (c->cancelled)
    backend_interrupt(c->backend);
  else
    backend_answer(c->backend, "1", fails ? "22012" : NULL);
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, name, peer, result_word(c, fails), c->client < 0 ? "own query" : player_tag(l, c->client, c->query));
  host_read_on(l, conn); /* a Sync behind it: all goes out together */
  live_input(l);
}
