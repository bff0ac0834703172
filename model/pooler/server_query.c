/* server_query.c - a query on a server connection: it starts, may wait for a core or a lock of the database, ends, and
 * its answer goes back to the session. */
#include "model/pooler/parts.h"

static int64_t runs_ns(const Pooler *p, const Session *e, const QueryDef *q) {
  if (!q) {
    const Client *c = session_client(p, e);
    return draw_ns(p, &client_script(p, c)->ops[c->pc].delay);
  }
  int64_t ns = draw_ns(p, &q->runs);
  return config_of(p)->servers[p->servers[e->held[0] - 1].host].cores ? ns : ns + draw_ns(p, &q->cpu);
}

/* The query runs from now on; it ends when its time is over. */
static Step running(Pooler *p, Server *s, ProcId self) {
  Session *e = &p->sessions[s->owner - 1];
  const QueryDef *q = session_query(p, e);
  s->pc = SP_END;
  return wait_on(p, p->q_server[server_id(p, s)], self, false, runs_ns(p, e, q));
}

Step server_lock_then_run(Pooler *p, Server *s, ProcId self) {
  s->pc = SP_END;
  if (!s->owner || !s->backend) return step_ran();
  const QueryDef *q = session_query(p, &p->sessions[s->owner - 1]);
  if (!q || q->lock < 0 || s->flags & SVF_LOCKED) return running(p, s, self);
  Lock *l = &p->locks[q->lock];
  s->lock = (uint16_t)(q->lock + 1);
  if (l->lock_owner && l->lock_owner != server_id(p, s) + 1) {
    s->pc = SP_LOCK;
    return queue_wait(p->w, p->q_lock[q->lock], self);
  }
  l->lock_owner = (uint16_t)(server_id(p, s) + 1);
  s->flags |= q->hold == HOLD_SESSION ? SVF_LOCKED | SVF_SESSION_LOCK : SVF_LOCKED;
  return running(p, s, self);
}

void server_unlock(Pooler *p, Server *s) {
  if (!s->lock) return;
  guint lock = s->lock - 1u;
  bool held = p->locks[lock].lock_owner == server_id(p, s) + 1;
  s->lock = 0;
  s->flags &= (uint32_t)~SVF_LOCKED;
  if (!held) return;
  p->locks[lock].lock_owner = 0;
  queue_wake_one(p->w, p->q_lock[lock], 0);
}

/* Its link is cut: what is sent is sent again once the link is back. */
static bool unheard(const Pooler *p, const Server *s) {
  return link_fault(p, LINK_POOLER_TO_SERVER, s->host) == FAULT_SILENT;
}

void server_link_back(Pooler *p, Server *s) {
  if (s->pc == SP_START || s->pc == SP_REPLY) queue_wake_one(p->w, p->q_server[server_id(p, s)], 0);
}

Step server_query_start(Pooler *p, Server *s, ProcId self) {
  PgBackend *b = server_backend(p, s);
  if (unheard(p, s)) return queue_wait(p->w, p->q_server[server_id(p, s)], self);
  s->flags &= (uint32_t) ~(SVF_CANCELLED | SVF_ERROR);
  s->pc = SP_END;
  if (!b && s->flags & SVF_CUT) return queue_wait(p->w, p->q_server[server_id(p, s)], self);
  if (!b) s->flags |= SVF_BROKEN; /* it was never logged in, or is gone */
  if (!b || !s->owner) return step_ran();
  Session *e = &p->sessions[s->owner - 1];
  if (s->pool != DIRECT && pool_config(p, s->pool)->fence == FENCE_GENERATION &&
      pool_config(p, s->pool)->generation == GENERATION_COMMAND)
    s->tenancy++;
  b->runs = RUNS_QUERY;
  b->client = (uint16_t)(e->client + 1);
  b->query = e->query;
  b->open = e->flags & SEF_TRANSACTION && e->query != QUERY_END;
  const QueryDef *q = session_query(p, e);
  said_runs(p, self, e);
  events_look(p);
  int64_t cpu = q && config_of(p)->servers[s->host].cores ? draw_ns(p, &q->cpu) : 0;
  if (cpu <= 0) return server_lock_then_run(p, s, self);
  s->pc = SP_LOCK;
  return server_core(p, s, self, cpu);
}

/* Whose it was matters only as long as something of that client is left on it. */
void backend_forget(const Server *s, PgBackend *b) {
  if (b && !b->open && !s->lock) b->client = 0;
}

Step server_query_end(Pooler *p, Server *s) {
  PgBackend *b = server_backend(p, s);
  server_core_back(p, s);
  const Session *e = s->owner ? &p->sessions[s->owner - 1] : NULL;
  const QueryDef *q = e ? session_query(p, e) : NULL;
  if (e) said_runs(p, s->proc, e);
  if (q && q->dirty) s->flags |= SVF_DIRTY;
  if (q && q->ends_in_error) s->flags |= SVF_ERROR;
  if (!q && e && b) b->open = 0;
  bool in_transaction = e && e->flags & SEF_TRANSACTION && q;
  LockHold hold = q && q->lock >= 0 ? q->hold : HOLD_TRANSACTION;
  if (s->lock && (!q || hold == HOLD_QUERY || (hold == HOLD_TRANSACTION && !in_transaction))) {
    /* A lock of the session outlives commit; what ends it is the clean-up. */
    if (!(s->flags & SVF_SESSION_LOCK)) server_unlock(p, s);
  }
  if (b) b->runs = RUNS_NOTHING, b->query = 0;
  backend_forget(s, b);
  s->pc = SP_REPLY;
  int64_t ns = link_delay(p, LINK_POOLER_TO_SERVER, s->host);
  return s->flags & SVF_BROKEN ? wait_ns(ns) : wait_in_line(ns); /* a connection's end is seen with what ends it */
}

static QueryResult result_of(const Server *s) {
  if (s->flags & SVF_CANCELLED) return RES_CANCELLED;
  return s->flags & (SVF_ERROR | SVF_BROKEN | SVF_UNASKED) ? RES_ERROR : RES_OK;
}

/* A query over shards gets rows of one only: of the first connection that has sent one, as its identity tells. */
static void forward_row(Pooler *p, Session *e, const Server *s) {
  if (!e->first_row) e->first_row = (uint16_t)(server_id(p, s) + 1);
  const Server *first = &p->servers[e->first_row - 1];
  if (first->state == SV_FREE) return; /* it died after its row; nothing can be taken for it any more */
  if (server_identity(p, s) != server_identity(p, first)) return;
  if (++e->rows < 2) return;
  pooler_mark(p, POOLER_ROW_TWICE, "%s is given rows of two servers with one identity",
              pooler_session_name(p, session_id(p, e)));
}

static bool transaction_over(const Pooler *p, const Session *e, const Server *s) {
  if (s->pool == DIRECT) return false;
  PoolMode mode = pool_config(p, s->pool)->mode;
  return mode == MODE_STATEMENT || (mode == MODE_TRANSACTION && !(e->flags & SEF_TRANSACTION));
}

Step server_reply(Pooler *p, Server *s, ProcId self) {
  if (unheard(p, s)) return queue_wait(p->w, p->q_server[server_id(p, s)], self);
  Session *e = s->owner ? &p->sessions[s->owner - 1] : NULL;
  QueryResult result = result_of(s);
  s->pc = SP_IDLE;
  fence_answered(p, s);
  s->flags &= (uint32_t) ~(SVF_CANCELLED | SVF_ERROR);
  if (!e || !session_holds(e, server_id(p, s))) {
    pool_release(p, s);
    return server_next(p, s, self);
  }
  if (e->answers > 1 || e->first_row) forward_row(p, e, s);
  QueryResult r = MAX((QueryResult)e->result, result);
  if (s->flags & SVF_BROKEN)
    pooler_mark(p, POOLER_CLIENT_ERROR, "%s is told that its connection is gone",
                pooler_session_name(p, session_id(p, e)));
  if (s->flags & SVF_UNASKED)
    pooler_mark(p, POOLER_CLIENT_ERROR, "%s is given bytes that it did not ask for",
                pooler_session_name(p, session_id(p, e)));
  bool gone = s->flags & (SVF_BROKEN | SVF_UNASKED);
  if (gone)
    server_lost(p, s);
  else if (transaction_over(p, e, s))
    pool_release(p, s);
  e->result = (uint8_t)r;
  static const char *const words[] = {"done", "error", "cancelled", "time-out", "refused"};
  said(p, self, party_server(p, s), party_client(e->client), "%s: %s", said_query(p, e->client, e->query),
       gone ? "server gone" : words[result]);
  /* Where a fault gave one connection to two sessions, one of them may be answered twice. */
  if (e->answers > 0 && --e->answers == 0) session_answer(p, e, r);
  if (gone) session_error_closes(p, e);
  return server_next(p, s, self);
}
