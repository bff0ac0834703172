/* tick.c - what comes by the clock: the periodic pass over the pools, and limits of age, idleness and fences. The pass
 * is asleep while no pool has anything for it to do, so that a model that is done, or in a deadlock, comes to rest. */
#include "model/pooler/parts.h"

/* ---- the pass: one process of the world for each of the pooler's ---- */

/* All scripts have ended, and no cancel waits for the pass to end it. */
static bool is_over(const Pooler *p, guint process) {
  if (p->shared->clients_left > 0) return false;
  for (guint i = pool_of(p, process, 0); i < pool_of(p, process, 0) + p->pools_each; i++)
    if (p->pools[i].n_parked && pool_config(p, i)->limits_by_tick && pool_config(p, i)->cancel_wait_timeout_ns >= 0)
      return false;
  return true;
}

static bool has_work(const Pooler *p, guint process) {
  if (is_over(p, process)) return false;
  if (shutdown_waits_for_servers(p, process)) return true;
  for (guint i = 0; i < p->n_sessions && pool_config(p, pool_of(p, process, 0))->limits_by_tick; i++)
    if (p->sessions[i].flags & SEF_EXPIRED && p->sessions[i].process == process) return true;
  for (guint i = pool_of(p, process, 0); i < pool_of(p, process, 0) + p->pools_each; i++)
    if (p->pools[i].n_parked || (pool_should_grow(p, i) && !(p->pools[i].flags & PLF_ASLEEP))) return true;
  return false;
}

/* Those whose limit of waiting is over are told so. */
static void look_at_limits(Pooler *p, guint process) {
  for (guint i = 0; i < p->n_sessions; i++) {
    Session *e = &p->sessions[i];
    if (!(e->flags & SEF_EXPIRED) || e->process != process || !e->wants) continue;
    e->flags |= SEF_LAST_POLL;
    session_wake(p, e, 0);
  }
}

/* More than there may be: those that nobody uses go (PgBouncer: check_pool_size). */
static void close_too_many(Pooler *p, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  guint most = (guint)(c->size + c->reserve);
  if (!c->openings_carry) return;
  for (guint n = pool_total(p, pool); n > most && pool_at(p, pool)->n_idle; n--) pool_close_idle(p, pool);
}

static void pass(Pooler *p, guint process) {
  look_at_limits(p, process);
  carriers_expire(p, process);
  if (shutdown_is_over(p, process)) {
    pooler_process_down(p, (int)process);
    return;
  }
  for (guint i = pool_of(p, process, 0); i < pool_of(p, process, 0) + p->pools_each; i++) {
    close_too_many(p, i);
    bool carried = carrier_next(p, i);
    if (carried && pool_config(p, i)->carrier_starves) continue;
    pool_grow(p, i, POKE_TICK);
  }
}

typedef struct {
  uint32_t process, due;
} Tick;

static Step tick_resume(World *w, ProcId self, void *locals) {
  Pooler *p = world_data(w, self);
  Tick *t = locals;
  if (t->due) pass(p, t->process);
  t->due = 0;
  if (is_over(p, t->process)) return step_done();
  bool steady = config_of(p)->tick_steady && p->timed;
  if (!steady && !has_work(p, t->process)) return queue_wait(w, p->q_tick, self);
  t->due = 1;
  return step_sleep(config_of(p)->tick_ns);
}

void tick_wake(Pooler *p) {
  if (p->q_tick) queue_wake_all(p->w, p->q_tick, 0);
}

static const char *tick_at(const World *w, const void *locals) {
  (void)w;
  return ((const Tick *)locals)->due ? "pass" : "look";
}
const ProcessType tick_type = {"tick", sizeof(Tick), tick_resume, tick_at};

/* ---- watches ---- */

typedef struct {
  uint16_t kind, id;
  uint32_t seq; /* of the connection: another one may have its slot by then */
  uint32_t armed, limit;
  int64_t ns;
  ObjectId on;
  uint32_t spare;
} Watch;

void watch_start(Pooler *p, guint kind, guint id, int64_t ns, bool limit, ObjectId on, guint which) {
  ProcId proc = world_spawn(p->w, p->t_watch, on ? 0 : ns);
  Watch *t = world_locals(p->w, proc);
  *t = (Watch){.kind = (uint16_t)kind, .id = (uint16_t)id, .seq = which, .limit = limit, .ns = ns, .on = on};
  if (kind <= WATCH_OF_SERVER) t->seq = p->servers[id].seq;
}

/* Steps that come late; false: it is none. */
static bool late_due(Pooler *p, guint kind, Server *s) {
  uint16_t owner = s->owner ? s->owner : s->last_owner;
  switch (kind) {
  case WATCH_MAP:
    if (s->owner) taken_take(p, s->pool, s->owner - 1u, s);
    return true;
  case WATCH_UNMAP:
    if (owner) taken_unmap(p, s->pool, s, owner - 1u);
    return true;
  case WATCH_UNLINK: fence_unlink(p, s); return true;
  case WATCH_UNFENCE:
    if (s->fences) fence_end(p, s);
    return true;
  default: return false;
  }
}

static void server_stale(Pooler *p, Server *s) {
  if (s->flags & SVF_STALE) return;
  if (s->state == SV_IDLE) measure_used(p, s);
  s->flags |= SVF_STALE;
}

static void server_due(Pooler *p, guint kind, Server *s) {
  if (late_due(p, kind, s)) return;
  if (kind == WATCH_AGE) s->flags |= SVF_OLD;
  if (kind == WATCH_STALE) server_stale(p, s);
  if (s->state != SV_IDLE || kind == WATCH_STALE) return;
  if (kind == WATCH_AGE && pool_spares_old(p, s)) return;
  const PoolConfig *c = pool_config(p, s->pool);
  if (kind == WATCH_IDLE && !c->idle_below_min && pool_total(p, s->pool) <= (guint)c->min) return;
  server_close(p, s);
}

static void waiter_due(Pooler *p, Session *e) {
  if (!e->wants) return;
  e->flags |= SEF_OVERDUE;
  pool_grow(p, e->wants - 1u, POKE_TICK);
}

static void old_one_due(Pooler *p, guint pool) {
  pool_at(p, pool)->flags &= (uint16_t)~PLF_SPACED;
  EACH_SERVER(p, pool, s) {
    if (s->state != SV_IDLE || !(s->flags & SVF_OLD) || pool_spares_old(p, s)) continue;
    server_close(p, s);
    return;
  }
}

static void due(Pooler *p, const Watch *t) {
  switch (t->kind) {
  case WATCH_RETRY:
    pool_at(p, t->id)->flags &= (uint16_t)~PLF_ASLEEP;
    if (!carrier_next(p, t->id)) pool_grow(p, t->id, POKE_TICK);
    tick_wake(p);
    return;
  case WATCH_FENCE: {
    Cancel *x = &p->cancels[t->id];
    fence_lift(p, x);
    if (x->stage == X_HANDLE && !x->proc && !x->signal) *x = (Cancel){0}; /* it was kept for this alone */
    return;
  }
  case WATCH_RESERVE: waiter_due(p, &p->sessions[t->id]); return;
  case WATCH_BAN:
    pool_at(p, t->id)->banned &= (uint16_t) ~(1u << t->seq);
    pool_grow(p, t->id, POKE_TICK);
    return;
  case WATCH_SPACED: old_one_due(p, t->id); return;
  case WATCH_CHILD: child_rested(p, &p->cancels[t->id]); return;
  case WATCH_SHUTDOWN: shutdown_due(p); return;
  default: break;
  }
  Server *s = &p->servers[t->id];
  if (s->seq == t->seq && s->state != SV_FREE && s->state != SV_CLOSING) server_due(p, t->kind, s);
}

static Step watch_resume(World *w, ProcId self, void *locals) {
  Pooler *p = world_data(w, self);
  Watch *t = locals;
  if (t->on && !t->armed && p->shared->clients_left == 0 && t->kind != WATCH_FENCE) return step_done();
  if (t->on && !t->armed) {
    bool idle_kind = t->kind == WATCH_IDLE || t->kind == WATCH_STALE;
    if (idle_kind && (p->servers[t->id].state != SV_IDLE || p->servers[t->id].seq != t->seq)) return step_done();
    t->armed = 1;
    return wait_on(p, t->on, self, t->limit, t->ns);
  }
  if (!t->on || timer_fired(w, self)) due(p, t); /* else: what it watched is over, or all scripts are */
  return step_done();
}

static const char *watch_at(const World *w, const void *locals) {
  static const char *const names[] = {
      "server_lifetime", "server_idle_timeout", "server_check_delay", "a late map",      "a late unmap",
      "a late unlink",   "a late unfence",      "server_login_retry", "fence",           "reserve_pool_timeout",
      "ban_timeout",     "a kill apart",        "a child sleeps",     "shutdown_timeout"};
  G_STATIC_ASSERT(G_N_ELEMENTS(names) == WATCH_SHUTDOWN + 1);
  (void)w;
  return names[((const Watch *)locals)->kind];
}
const ProcessType watch_type = {"watch", sizeof(Watch), watch_resume, watch_at};

/* All scripts have ended: no limit of age or idleness need keep the run going. */
void watches_end(Pooler *p) {
  for (guint i = 0; i < p->n_servers; i++) {
    if (p->q_age) queue_wake_all(p->w, p->q_age[i], 0);
    if (p->q_watch) queue_wake_all(p->w, p->q_watch[i], 0);
  }
  for (guint i = 0; p->q_pool && i < p->n_pools; i++) queue_wake_all(p->w, p->q_pool[i], 0);
  tick_wake(p);
}

void server_watch(Pooler *p, Server *s) {
  int64_t ns = pool_config(p, s->pool)->server_lifetime_ns;
  if (ns >= 0 && p->q_age) watch_start(p, WATCH_AGE, server_id(p, s), ns, true, p->q_age[server_id(p, s)], 0);
}

void watch_idle(Pooler *p, const Server *s, bool idle) {
  if (!p->q_watch || p->shared->clients_left == 0) return;
  const PoolConfig *c = pool_config(p, s->pool);
  guint id = server_id(p, s);
  if (!idle) {
    queue_wake_all(p->w, p->q_watch[id], 0);
    return;
  }
  if (c->server_idle_timeout_ns >= 0)
    watch_start(p, WATCH_IDLE, id, c->server_idle_timeout_ns, true, p->q_watch[id], 0);
  if (c->check_delay_ns >= 0) watch_start(p, WATCH_STALE, id, c->check_delay_ns, true, p->q_watch[id], 0);
}
