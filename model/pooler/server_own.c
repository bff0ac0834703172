/* server_own.c - the pooler's own queries on a server connection (settings, check, clean-up, empty statement), cores of
 * its host, and its end. */
#include "model/pooler/parts.h"

/* ---- own queries ---- */

static const Delay *own_time(const PoolConfig *c, OwnQuery own) {
  static const Delay none = {DELAY_FIXED, 0, 0};
  switch (own) {
  case OWN_CHECKOUT: return &c->own.at_checkout;
  case OWN_CHECK: return &c->own.check;
  case OWN_CHECKIN: return &c->own.at_checkin;
  default: return &none;
  }
}

Step server_own_start(Pooler *p, Server *s, ProcId self) {
  const PoolConfig *c = pool_config(p, s->pool);
  if (s->own == OWN_NONE) s->own = OWN_CHECKIN;
  s->pc = SP_OWN_END;
  s->flags &= (uint32_t) ~(SVF_CANCELLED | SVF_STALE);
  PgBackend *b = server_backend(p, s);
  if (!b) return step_ran();
  /* What was signalled before its statement came is handled by then at the latest: a process that is to read from its
   * socket runs, and so runs its handlers first. */
  if (s->own == OWN_DRAIN) cancels_handle_all(p, s, true);
  b->runs = RUNS_OWN;
  int64_t ns = draw_ns(p, own_time(c, s->own));
  if (s->own == OWN_CHECKIN) ns *= step_times(p, s->pool, POOLSTEP_CLEAN);
  if (c->own.limit_ns >= 0 && ns > c->own.limit_ns) s->flags |= SVF_ERROR, ns = c->own.limit_ns;
  return wait_on(p, p->q_server[server_id(p, s)], self, false, ns);
}

static Step checked_out(Pooler *p, Server *s, ProcId self, bool well) {
  bool check = s->own == OWN_CHECK;
  Session *e = s->owner ? &p->sessions[s->owner - 1] : NULL;
  s->own = OWN_NONE;
  s->flags |= SVF_OWN_DONE;
  s->pc = SP_START;
  if (well || !e) return step_ran();
  if (!check) { /* the cancel killed the settings: the client's query fails */
    s->pc = SP_REPLY;
    return step_ran();
  }
  server_lost(p, s);
  session_retry(p, e);
  return server_next(p, s, self);
}

static void cleaned(Pooler *p, Server *s) {
  Clears clears = pool_config(p, s->pool)->own.clears;
  PgBackend *b = server_backend(p, s);
  if (b && clears >= CLEARS_TRANSACTION) b->open = 0;
  if (clears >= CLEARS_TRANSACTION && !(s->flags & SVF_SESSION_LOCK)) server_unlock(p, s);
  if (clears == CLEARS_SESSION) s->flags &= (uint32_t)~SVF_SESSION_LOCK, server_unlock(p, s);
  s->flags &= (uint32_t)~SVF_DIRTY;
  backend_forget(s, b);
}

Step server_own_end(Pooler *p, Server *s, ProcId self) {
  PgBackend *b = server_backend(p, s);
  bool well = b && !(s->flags & (SVF_CANCELLED | SVF_ERROR));
  OwnQuery own = s->own;
  if (b) b->runs = RUNS_NOTHING;
  if (own == OWN_CHECK || own == OWN_CHECKOUT) return checked_out(p, s, self, well);
  s->own = OWN_NONE;
  s->pc = SP_IDLE;
  if (own == OWN_DRAIN)
    s->flags |= SVF_DRAINED;
  else if (well)
    cleaned(p, s);
  else
    s->flags |= SVF_SPENT;
  for (guint n = step_times(p, s->pool, POOLSTEP_CHECK_IN); n > 0; n--) pool_check_in(p, s);
  return server_next(p, s, self);
}

bool server_drain(Pooler *p, Server *s) {
  if (pool_config(p, s->pool)->fence != FENCE_DRAIN || s->directed == 0 || s->flags & SVF_DRAINED) {
    s->flags &= (uint32_t)~SVF_DRAINED;
    return false;
  }
  server_state(p, s, SV_CLEANING);
  s->own = OWN_DRAIN;
  s->pc = SP_OWN_START;
  return true;
}

/* ---- cores: first come first served, kept until the work is over ---- */

Step server_core(Pooler *p, Server *s, ProcId self, int64_t cpu_ns) {
  if (p->cores_free[s->host] == 0) {
    s->core = 2; /* waits: the work is drawn again when it gets one */
    return queue_wait(p->w, p->q_core[s->host], self);
  }
  p->cores_free[s->host]--;
  s->core = 1;
  return wait_on(p, p->q_server[server_id(p, s)], self, false, cpu_ns);
}

void server_core_back(Pooler *p, Server *s) {
  if (s->core == 1) {
    p->cores_free[s->host]++;
    queue_wake_one(p->w, p->q_core[s->host], 0);
  }
  s->core = 0;
}

/* ---- the end ---- */

/* Signals that the backend has not handled die with it: die trumps cancel. */
static void backend_exit(Pooler *p, Server *s) {
  if (!s->backend) return;
  cancels_handle_all(p, s, true);
  host_exit(p->hosts[s->host], s->backend - 1);
  measure_backend(p, s->host, -1);
  s->backend = 0;
}

void server_close(Pooler *p, Server *s) {
  if (s->state == SV_FREE || s->state == SV_CLOSING) {
    pooler_mark(p, POOLER_DOUBLE_FREE, "server %u is closed twice", server_id(p, s));
    return;
  }
  if (s->state == SV_IDLE) pool_forget_idle(p, s);
  if (s->pool != DIRECT && step_is(p, s->pool, POOLSTEP_CLOSE, DO_SKIP)) return;
  if (s->state == SV_OPENING && s->pool != DIRECT) pool_opening_dropped(p, s);
  server_state(p, s, SV_CLOSING);
  s->owner = 0;
  s->fences = 0;
  s->pc = SP_CLOSE;
  if (step_is(p, s->pool, POOLSTEP_CLOSE, DO_TWICE)) server_close(p, s);
  fence_closed(p, s);
  ObjectId on = world_waits_on(p->w, s->proc), own = p->q_server[server_id(p, s)];
  if (!on) return;
  timer_drop(p->w, s->proc);
  if (on == own)
    server_settle(p, s);
  else
    queue_leave(p->w, on, s->proc);
}

void server_lost(Pooler *p, Server *s) {
  Session *e = s->owner ? &p->sessions[s->owner - 1] : NULL;
  if (e) session_drop(e, server_id(p, s));
  if (s->pool != DIRECT && !(s->flags & SVF_CHECKED_IN)) taken_check_in(p, s->pool, s);
  s->flags |= SVF_CHECKED_IN;
  server_close(p, s);
}

void server_die(Pooler *p, Server *s, bool silent) {
  backend_exit(p, s);
  server_core_back(p, s);
  server_unlock(p, s);
  if (s->state == SV_CLOSING) return;
  s->flags |= silent ? SVF_CUT : SVF_BROKEN;
  if (silent) {
    if (s->pc == SP_END || s->pc == SP_OWN_END) timer_drop(p->w, s->proc);
    return;
  }
  if (s->state == SV_IDLE)
    server_unexpected(p, s);
  else
    server_interrupt(p, s);
  if (s->state == SV_TAKEN && s->owner) session_server_died(p, &p->sessions[s->owner - 1], s);
}

/* Bytes or EOF that nobody waits for, on an idle connection. */
void server_unexpected(Pooler *p, Server *s) {
  switch (pool_config(p, s->pool)->react.unexpected) {
  case REACT_FATAL:
    pooler_mark(p, POOLER_CRASH, "the pooler ends for bytes or an EOF on idle server %u", server_id(p, s));
    break;
  case REACT_CLOSE: server_close(p, s); break;
  default: break; /* found out when it is used, or looked at */
  }
}

/* Its place may have been taken again at once. */
static Step place_is_free(Pooler *p, const Server *s, guint pool) {
  if (s->state == SV_FREE) return step_done();
  return wait_ns(step_late(p, pool, POOLSTEP_OPEN));
}

Step server_is_carrier(Pooler *p, Server *s) {
  guint pool = s->pool;
  pool_opening_dropped(p, s);
  g_assert(p->shared->sockets > 0);
  p->shared->sockets--; /* the cancel's counts from now on */
  server_state(p, s, SV_FREE);
  *s = (Server){0};
  if (!carrier_next(p, pool)) pool_grow(p, pool, POKE_REQUEST);
  return place_is_free(p, s, pool);
}

Step server_gone(Pooler *p, Server *s) {
  guint pool = s->pool, id = server_id(p, s);
  backend_exit(p, s);
  server_core_back(p, s);
  server_unlock(p, s);
  g_assert(p->shared->sockets > 0);
  p->shared->sockets--;
  server_state(p, s, SV_FREE);
  fence_closed(p, s);
  if (pool != DIRECT) child_bereft(p, pool, id);
  *s = (Server){0};
  if (p->q_age) queue_wake_all(p->w, p->q_age[id], 0);
  if (pool != DIRECT && pool_should_grow(p, pool)) tick_wake(p);
  if (pool != DIRECT)
    caps_freed(p, pool);
  else
    client_server_gone(p, id);
  return place_is_free(p, s, pool);
}
