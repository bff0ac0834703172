/* request.c - a request needs server connections, waits for them, and is forwarded; a worker of the pooler's process
 * may have to do it. */
#include "model/pooler/request.h"

/* ---- a request: servers, then on to them ---- */

static bool asks_pool(const Pooler *p, const Session *e, guint k) {
  guint own = e->pool % p->pools_each;
  uint32_t set = e->request == REQ_QUERY ? session_query(p, e)->pools : 0;
  return set ? set >> k & 1 : k == own;
}

/* Pool that it needs a server of and has none; -1: it has all. */
static int lacks(const Pooler *p, const Session *e) {
  for (guint k = 0; k < p->pools_each; k++) {
    guint pool = pool_of(p, e->process, k);
    if (asks_pool(p, e, k) && !session_server(p, e, pool)) return (int)pool;
  }
  return -1;
}

static void session_forward(Pooler *p, Session *e) {
  e->answers = 0;
  if (e->request == REQ_END) e->flags &= (uint16_t)~SEF_TRANSACTION;
  session_state(p, e, CL_RUNNING);
  for (guint i = 0; i < HELD_MAX && e->held[i]; i++) {
    Server *s = &p->servers[e->held[i] - 1];
    if (e->request == REQ_QUERY && s->pool != DIRECT && !asks_pool(p, e, s->pool % p->pools_each)) continue;
    e->answers++;
    said(p, e->proc, party_session(e), party_server(p, s), "%s", said_query(p, e->client, e->query));
    server_run(p, s, link_delay(p, LINK_POOLER_TO_SERVER, s->host));
  }
  g_assert(e->answers > 0);
}

bool request_is_under_way(const Session *e) {
  return e->state == CL_IDLE && e->request != REQ_NONE && (e->pc == E_REQUEST || e->pc == E_ASKED);
}

/* The client's end comes next. */
static Step ends(Pooler *p, Session *e) {
  e->flags &= (uint16_t)~SEF_ENDS;
  e->request = REQ_CLOSE;
  session_state(p, e, CL_GONE);
  return step_ran();
}

Step request_none(Pooler *p, Session *e, ProcId self) {
  if (e->request == REQ_CLOSE) return step_ran();
  if (e->flags & SEF_ENDS) return ends(p, e);
  e->pc = E_IDLE;
  return queue_wait(p->w, p->q_session[session_id(p, e)], self);
}

static Step answered(Pooler *p, Session *e, ProcId self, QueryResult r) {
  if (e->request == REQ_QUERY) /* what it holds already for other pools is for the transaction's end */
    for (guint i = HELD_MAX; i-- > 0;)
      if (e->held[i] && !(e->flags & SEF_TRANSACTION) &&
          pool_config(p, p->servers[e->held[i] - 1].pool)->mode != MODE_SESSION) {
        Server *s = &p->servers[e->held[i] - 1];
        pool_release(p, s);
        server_settle(p, s);
      }
  if (e->pool != DIRECT && e->request != REQ_CONNECT)
    said(p, self, party_session(e), party_client(e->client), "%s: %s", said_query(p, e->client, e->query),
         r == RES_OK          ? "done"
         : r == RES_CANCELLED ? "dequeued by its cancel"
         : r == RES_TIMEOUT   ? "query_wait_timeout"
                              : "no server");
  session_answer(p, e, r);
  if (r == RES_TIMEOUT || r == RES_REFUSED) session_error_closes(p, e);
  return request_none(p, e, self);
}

/* What is counted stops where it changes nothing more: a wait without end comes back to its states. */
static int64_t poll_ns(const PoolConfig *c, Session *e) {
  int64_t ns = c->poll.first_ns;
  for (guint i = 0; i < e->polls && ns < c->poll.max_ns; i++) ns *= MAX(c->poll.factor, 1);
  if (c->poll.factor > 1 && ns < c->poll.max_ns && e->polls < UINT8_MAX) e->polls++;
  return c->poll.max_ns > 0 ? MIN(ns, c->poll.max_ns) : ns;
}

/* A step of its own between the look and the queue: what comes back in between finds nobody waiting. */
static bool queues_later(Pooler *p, Session *e, guint pool, Step *step) {
  int64_t late = step_late(p, pool, POOLSTEP_WAIT);
  if (e->pc == E_TO_QUEUE || e->wants) return false;
  if (late == 0 && !step_splits(p, pool, POOLSTEP_WAIT)) return false;
  e->pc = E_TO_QUEUE;
  e->spotted = (uint16_t)(pool + 1);
  *step = step_sleep(late);
  return true;
}

static Step wait_for(Pooler *p, Session *e, ProcId self, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  Step later;
  if (!e->wants) {
    if (e->pc != E_TO_QUEUE && !session_waits_for_welcome(p, e)) measure_wait_begin(p, e);
    if (queues_later(p, e, pool, &later)) return later;
    e->waited_ms = 0;
    e->polls = 0;
    pool_enqueue(p, e, pool);
  }
  e->pc = E_WAITING;
  pool_grow(p, pool, POKE_REQUEST);
  if (e->flags & SEF_ENDS && !c->waiters_unread) return ends(p, e);
  ObjectId q = p->q_session[session_id(p, e)];
  if (c->waiters == WAITERS_FIFO) return wait_on(p, q, self, true, c->query_wait_timeout_ns);
  int64_t ns = poll_ns(c, e), left = c->query_wait_timeout_ns - (int64_t)e->waited_ms * 1000000;
  bool last = c->query_wait_timeout_ns >= 0 && ns >= left;
  if (c->query_wait_timeout_ns >= 0) e->waited_ms += (uint32_t)(ns / 1000000);
  if (last) e->flags |= SEF_LAST_POLL;
  return wait_on(p, q, self, false, last ? MAX(left, 0) : ns);
}

/* The last login failed and there is nothing to wait for but the next one; which is tried (PgBouncer: check_fast_fail).
 * Who waits already is not asked. */
static bool fails_fast(Pooler *p, const Session *e, guint pool) {
  const Pool *pl = &p->pools[pool];
  bool logs_in = e->request == REQ_CONNECT, there = pool_live(p, pool) > pl->opening;
  if (!(pl->flags & PLF_NO_LOGIN) || pl->flags & PLF_PAUSED || logs_in || e->wants || there) return false;
  if (!(pl->flags & PLF_ASLEEP) && pl->opening == 0) pool_open(p, pool);
  return true;
}

/* There is room, but others are opening: it does not stand in the queue (Odyssey: od_router_try_create_new_server). */
static bool looks_again(const Pooler *p, const Session *e, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  const Pool *pl = &p->pools[pool];
  if (c->look_ns <= 0 || !p->timed || e->wants || pl->flags & PLF_PAUSED) return false;
  return pl->opening > 0 && pl->opening >= c->opening_max && pool_live(p, pool) < (guint)c->size;
}

Step request_serve(Pooler *p, Session *e, ProcId self) {
  if (e->request == REQ_END && !e->held[0]) return answered(p, e, self, RES_OK);
  if (e->pool == DIRECT && !e->held[0]) return answered(p, e, self, RES_ERROR); /* its one connection has died */
  bool welcome = e->pool != DIRECT && pool_at(p, e->pool)->flags & PLF_WELCOME;
  bool takes = e->pool != DIRECT && pool_config(p, e->pool)->login_takes;
  if (e->request == REQ_CONNECT && welcome && !takes && config_of(p)->client_identity != CLIENT_REAL_KEY) {
    session_connected(p, e, NULL);
    return request_none(p, e, self);
  }
  for (int pool; e->request != REQ_END && e->pool != DIRECT && (pool = lacks(p, e)) >= 0;) {
    bool over = p->processes[e->process].flags & PRF_OVER;
    if (over || pool_at(p, (guint)pool)->flags & (PLF_OFFLINE | PLF_FATAL)) return answered(p, e, self, RES_REFUSED);
    if (e->pc != E_SPOTTED && pool_spot(p, e, (guint)pool) && step_splits(p, (guint)pool, POOLSTEP_CHECK_OUT)) {
      e->spotted = (uint16_t)(server_id(p, pool_spot(p, e, (guint)pool)) + 1);
      e->pc = E_SPOTTED;
      return step_sleep(0); /* not step_ran: others of this instant may come before */
    }
    bool served = pool_check_out(p, e, (guint)pool);
    if (!served && fails_fast(p, e, (guint)pool)) return answered(p, e, self, RES_REFUSED);
    if (!served && looks_again(p, e, (guint)pool))
      return e->pc = E_REQUEST, step_sleep(pool_config(p, (guint)pool)->look_ns);
    if (!served) return wait_for(p, e, self, (guint)pool);
    if (!e->wants) measure_wait_begin(p, e);
    pool_dequeue(p, e);
    measure_wait_end(p, e, true);
  }
  if (e->request == REQ_CONNECT) {
    Server *s = &p->servers[e->held[0] - 1];
    session_connected(p, e, takes ? NULL : s);
    if (takes) pool_release(p, s), server_settle(p, s);
    return request_none(p, e, self);
  }
  session_forward(p, e);
  return request_none(p, e, self);
}

Step request_take_spotted(Pooler *p, Session *e, ProcId self) {
  pool_take_spotted(p, e);
  return request_serve(p, e, self);
}

static void halfway_over(Pooler *p, Session *e, guint pool) {
  bool split = step_is(p, pool, e->pc == E_SPOTTED ? POOLSTEP_CHECK_OUT : POOLSTEP_WAIT, DO_SPLIT);
  if (split) step_joined(p, pool);
  e->spotted = 0;
}

Step request_stand_in_queue(Pooler *p, Session *e, ProcId self) {
  guint pool = e->spotted - 1u;
  halfway_over(p, e, pool);
  return wait_for(p, e, self, pool);
}

static Step given_up(Pooler *p, Session *e, ProcId self, QueryResult r) {
  if (e->flags & SEF_LEFT) return ends(p, e); /* nobody is told */
  if (e->mailbox) pool_unreceived(p, e);
  if (r == RES_TIMEOUT)
    pool_leave(p, e);
  else
    pool_dequeue(p, e);
  measure_wait_end(p, e, false);
  e->flags &= (uint16_t) ~(SEF_DEQUEUED | SEF_OFFLINE | SEF_LAST_POLL | SEF_EXPIRED);
  return answered(p, e, self, r);
}

static bool waits_for_pass(const Pooler *p, const Session *e) {
  return pool_config(p, e->wants ? e->wants - 1u : e->pool)->limits_by_tick && config_of(p)->tick_ns >= 0;
}

Step request_waited(Pooler *p, Session *e, ProcId self) {
  bool fired = timer_fired(p->w, self),
       poll = pool_config(p, e->wants ? e->wants - 1u : e->pool)->waiters == WAITERS_POLL;
  if (e->flags & SEF_FED || (e->mailbox && !fired)) {
    e->flags &= (uint16_t) ~(SEF_FED | (e->flags & SEF_EXPIRED ? SEF_EXPIRED | SEF_LAST_POLL : 0));
    if (e->mailbox) pool_receive(p, e);
    measure_wait_end(p, e, true);
    return request_serve(p, e, self);
  }
  if (e->flags & SEF_DEQUEUED) return given_up(p, e, self, RES_CANCELLED);
  if (e->flags & SEF_OFFLINE) return given_up(p, e, self, RES_REFUSED);
  if (fired && !poll && waits_for_pass(p, e)) {
    e->flags |= SEF_EXPIRED;
    tick_wake(p);
    return queue_wait(p->w, p->q_session[session_id(p, e)], self);
  }
  if (e->flags & SEF_LAST_POLL || (fired && !poll)) return given_up(p, e, self, RES_TIMEOUT);
  return request_serve(p, e, self);
}

/* ---- a worker of the pooler's process: a transaction is its work for so long, then goes on its way ---- */

static int64_t work_ns(const Pooler *p, const Session *e) {
  guint bytes = 0;
  for (guint k = 0; k < p->pools_each; k++) {
    guint pool = pool_of(p, e->process, k), host = pool_config(p, pool)->servers[0];
    if (!asks_pool(p, e, k) || session_server(p, e, pool)) continue;
    bytes += identity_moved(p, pool, host) + 2 * taken_bytes(p, pool, host);
  }
  return ns_sum(world_cost(p->w, COST_POOLER_WORK, 1), world_cost(p->w, COST_POOLER_BYTE, bytes));
}

/* In order of arrival; one that is given back goes to the first who waits. */
static void worker_back(Pooler *p, const Session *e) {
  Process *pr = &p->processes[e->process];
  g_assert(pr->busy > 0);
  if (!queue_wake_one(p->w, p->q_worker[e->process], 0)) pr->busy--;
}

Step request_work(Pooler *p, Session *e, ProcId self) {
  Process *pr = &p->processes[e->process];
  if (e->pc == E_ASKED) {
    e->pc = E_GRANTED;
    if (pr->busy >= config_of(p)->workers) return queue_wait(p->w, p->q_worker[e->process], self);
    pr->busy++;
  }
  if (e->pc == E_GRANTED) {
    e->pc = E_WORKED;
    return wait_ns(work_ns(p, e));
  }
  worker_back(p, e);
  return request_serve(p, e, self);
}

/* Its session closes in the middle of it. */
void request_broken_off(Pooler *p, Session *e) {
  if (e->pc == E_GRANTED || e->pc == E_WORKED) worker_back(p, e);
  if (e->spotted) halfway_over(p, e, e->pc == E_SPOTTED ? p->servers[e->spotted - 1].pool : e->spotted - 1u);
}
