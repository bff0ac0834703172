/* cancel_route.c - a cancel inside the pooler: accepted by one of its processes, known by its key, looked up in the
 * pools' tables, and given a carrier or a place in the queue for one. What the pooler copies at the look-up is what it
 * will send, whoever owns the connection by then. */
#include "model/pooler/cancel_stages.h"

/* Nothing to cancel, as far as the pooler can see. It is wrong when the query runs or waits to: then it is lost. */
Outcome cancel_dropped(const Pooler *p, const Cancel *x) {
  const Session *e = x->session ? &p->sessions[x->session - 1] : NULL;
  if (!e || e->state != CL_RUNNING || e->client != x->client || e->query != x->query || x->flags & XF_STALE)
    return OUT_DROPPED;
  for (guint i = 0; i < HELD_MAX && e->held[i]; i++) {
    const PgBackend *b = server_backend(p, &p->servers[e->held[i] - 1]);
    if (b && b->runs == RUNS_QUERY) return OUT_LOST;
  }
  return OUT_DROPPED;
}

static guint first_pool(const Pooler *p, const Cancel *x) {
  return pool_of(p, x->process, 0);
}

Step cancel_accept(Pooler *p, Cancel *x) {
  const PoolerConfig *c = config_of(p);
  guint i = 0;
  if (c->processes > 1 && c->balance != BALANCE_FIRST)
    i = c->balance == BALANCE_RANDOM ? (guint)world_choose(p->w, p->ch_process, (uint64_t)c->processes)
                                     : (guint)(p->shared->next_process++ % c->processes);
  p->shared->next_process = (uint16_t)(p->shared->next_process % c->processes);
  x->process = (uint16_t)i;
  x->stage = X_AUTH;
  said(p, x->proc, party_cancel(p, x), (Party){PARTY_POOLER, i}, "CancelRequest");
  if (p->processes[i].flags) return cancel_ends(p, x, OUT_LOST);
  if (child_is_needed(p, first_pool(p, x))) {
    x->pool = (uint16_t)first_pool(p, x);
    x->stage = X_QUEUE;
  }
  return step_ran();
}

/* What becomes of a client's cancel while its query is queued. */
static bool dequeued(Pooler *p, Session *e) {
  if (e->state != CL_QUEUED || !e->wants || e->mailbox) return false;
  if (pool_config(p, e->wants - 1u)->queued_client != QUEUED_DEQUEUE) return false;
  e->flags |= SEF_DEQUEUED;
  pool_dequeue(p, e);
  session_wake(p, e, 0);
  return true;
}

Step cancel_authenticate(Pooler *p, Cancel *x) {
  enum { HOPS_MAX = 3 };
  int found = client_key_find(p, x->process, x->key_pid, x->key_secret);
  if (config_of(p)->client_identity == CLIENT_REAL_KEY) {
    x->stage = X_LOOKUP;
    return step_ran();
  }
  if (found < 0) {
    int owner = client_key_process(p, x);
    if (owner >= 0 && x->hops < HOPS_MAX) {
      x->hops++;
      x->process = (uint16_t)owner;
      return wait_ns(link_delay(p, LINK_CANCEL_TO_POOLER, 0));
    }
    bool elsewhere = x->session && p->sessions[x->session - 1].key_secret == x->key_secret;
    return cancel_ends(p, x, elsewhere ? OUT_LOST : OUT_DROPPED);
  }
  Session *e = &p->sessions[found];
  x->asked = (uint16_t)(found + 1);
  if (dequeued(p, e))
    return cancel_ends(p, x, e->client == x->client && !(x->flags & XF_STALE) ? OUT_HIT : OUT_MISROUTE);
  x->stage = X_LOOKUP;
  return step_ran();
}

/* The next pool, from x->cursor on, where there is something to cancel. */
static LookedUp look(Pooler *p, Cancel *x) {
  for (; x->cursor < p->pools_each; x->cursor++) {
    LookedUp l = lookup_server(p, x, first_pool(p, x) + x->cursor);
    if (l != LOOKED_NOTHING) return l;
  }
  return LOOKED_NOTHING;
}

static Step to_carrier(Pooler *p, Cancel *x) {
  const PoolConfig *c = pool_config(p, x->pool);
  x->stage = c->carrier == CARRIER_UNLIMITED || c->carrier == CARRIER_CHILD ? X_CONNECT : X_QUEUE;
  if (step_is(p, x->pool, POOLSTEP_CARRIER, DO_SKIP)) return cancel_ends(p, x, OUT_LOST);
  int64_t grace = c->fence == FENCE_RETIRE && !(x->flags & XF_TURN) ? MAX(c->fence_ns, 0) : 0;
  return wait_ns(grace + step_late(p, x->pool, POOLSTEP_CARRIER));
}

Step cancel_look_up(Pooler *p, Cancel *x) {
  const PoolConfig *c = pool_config(p, first_pool(p, x) + MIN(x->cursor, p->pools_each - 1));
  if (c->lookup == LOOKUP_FORWARD && x->stage == X_LOOKUP && c->carrier != CARRIER_UNLIMITED) {
    x->pool = (uint16_t)(first_pool(p, x) + x->cursor);
    x->stage = X_QUEUE;
    return step_ran();
  }
  switch (look(p, x)) {
  case LOOKED_UP: said_pid(p, x->proc, x->pid); break;
  case LOOKED_AMISS: return cancel_ends(p, x, OUT_DROPPED);
  default: return cancel_ends(p, x, x->flags & XF_JUDGED ? OUT_DROPPED : cancel_dropped(p, x));
  }
  if (x->stage == X_FORWARD_LOOKUP) {
    x->stage = X_CONNECT;
    return step_ran();
  }
  return to_carrier(p, x);
}

Step cancel_queue(Pooler *p, Cancel *x, ProcId self) {
  const PoolConfig *c = pool_config(p, x->pool);
  x->stage = X_PARKED;
  if (carrier_turn(p, x)) return step_ran();
  int64_t limit = c->carrier == CARRIER_SEMAPHORE ? c->carrier_queue_ns
                  : c->carrier == CARRIER_CHILD   ? NO_LIMIT
                                                  : c->cancel_wait_timeout_ns;
  return cancel_waits(p, x, self, limit);
}

Step cancel_parked(Pooler *p, Cancel *x, ProcId self) {
  if (x->child) { /* nobody has read it before */
    x->stage = X_AUTH;
    return step_ran();
  }
  bool by_tick = pool_config(p, x->pool)->limits_by_tick && config_of(p)->tick_ns >= 0;
  if (by_tick && timer_fired(p->w, self) && !(x->flags & (XF_TURN | XF_EXPIRED))) {
    x->flags |= XF_EXPIRED;
    tick_wake(p);
    return cancel_waits(p, x, self, NO_LIMIT);
  }
  if (!(x->flags & XF_TURN)) { /* its time is over, or its link is gone */
    carrier_leave(p, x);
    return cancel_ends(p, x, OUT_DROPPED);
  }
  x->stage = pool_config(p, x->pool)->lookup == LOOKUP_FORWARD && !(x->flags & XF_FENCE) ? X_FORWARD_LOOKUP : X_CONNECT;
  return step_ran();
}
