/* growth.c - when a pool opens another connection: who looks (a request, the tick, each opening), how many at a time,
 * what counts as under way, what the caps allow, and what happens after a failure. */
#include "model/pooler/parts.h"

/* ---- how many there are, and may be ---- */

static guint in_state(const Pooler *p, guint pool, ServerState st) {
  guint n = 0;
  EACH_SERVER(p, pool, s) n += s->state == st;
  return n;
}

static guint being_checked(const Pooler *p, guint pool) {
  guint n = 0;
  EACH_SERVER(p, pool, s) n += s->own == OWN_CHECK;
  return n;
}

/* What the pool takes for growth under way: it opens nothing for a waiter that one of these may serve. */
static guint under_way(const Pooler *p, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  guint n = 0;
  if (c->pending & PENDING_OPENING) n += p->pools[pool].opening * step_times(p, pool, POOLSTEP_COUNT_OPENING);
  if (c->pending & PENDING_CLEANING) n += in_state(p, pool, SV_CLEANING);
  if (c->pending & PENDING_CHECKED) n += being_checked(p, pool);
  return n;
}

static guint counted(const Pooler *p, guint pool) {
  bool opening = pool_config(p, pool)->pending & PENDING_OPENING;
  guint times = step_times(p, pool, POOLSTEP_COUNT_OPENING);
  return pool_total(p, pool) + p->pools[pool].bare + (opening ? p->pools[pool].opening * times : 0);
}

/* As long as the one that has waited longest has waited for reserve_pool_timeout; the next one has to wait so long too.
 */
static bool reserve_open(const Pooler *p, guint pool) {
  if (p->pools[pool].n_waiters == 0) return false;
  return p->sessions[p->waiters[(size_t)pool * p->row_waiters] - 1].flags & SEF_OVERDUE;
}

bool pool_should_grow(const Pooler *p, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  const Pool *pl = &p->pools[pool];
  if (pl->flags & (PLF_OFFLINE | PLF_SHUTDOWN | PLF_FATAL | PLF_NEW)) return false;
  if (pl->flags & PLF_PAUSED && c->pause_stops_growth) return false;
  guint total = counted(p, pool), most = (guint)(c->size + (reserve_open(p, pool) ? c->reserve : 0));
  if (c->full_by_equality ? total == most : total >= most) return false;
  if (pl->n_waiters > under_way(p, pool) && pl->n_idle == 0) return true;
  return total < (guint)c->min && !(pl->flags & PLF_PAUSED);
}

/* ---- shared caps ---- */

static bool same(const char *a, const char *b) {
  return g_strcmp0(a, b) == 0;
}

static guint sharing(const Pooler *p, guint pool, bool by_db) {
  guint n = 0, first = pool_of(p, pool_process(p, pool), 0);
  const PoolConfig *c = pool_config(p, pool);
  for (guint i = first; i < first + p->pools_each; i++) {
    const PoolConfig *o = pool_config(p, i);
    if (by_db ? same(o->db, c->db) : same(o->user, c->user)) n += pool_live(p, i) - p->pools[i].carriers;
  }
  return n;
}

static bool cap_full(const Pooler *p, guint pool) {
  const PoolerConfig *c = config_of(p);
  if (c->max_db_connections && sharing(p, pool, true) >= (guint)c->max_db_connections) return true;
  return c->max_user_connections && sharing(p, pool, false) >= (guint)c->max_user_connections;
}

/* The first idle connection of a pool under the same cap is closed to make room. */
static bool evict_one(Pooler *p, guint pool) {
  guint first = pool_of(p, pool_process(p, pool), 0);
  for (guint i = 0; i < p->n_pools * p->row_servers; i++) {
    Server *s = &p->servers[i];
    if (s->state != SV_IDLE || s->pool < first || s->pool >= first + p->pools_each ||
        !same(pool_config(p, s->pool)->db, pool_config(p, pool)->db))
      continue;
    server_close(p, s);
    return true;
  }
  return false;
}

/* An idle one that is closed makes room at once. */
static bool caps_allow(Pooler *p, guint pool, bool evict) {
  return !cap_full(p, pool) || (evict && evict_one(p, pool));
}

/* Pools in turn: whoever has waiters and fewer connections than this one gets its place. */
bool caps_take(Pooler *p, Server *s) {
  if (!config_of(p)->pools_in_turn || !cap_full(p, s->pool)) return false;
  guint first = pool_of(p, pool_process(p, s->pool), 0), mine = pool_live(p, s->pool);
  for (guint i = first; i < first + p->pools_each; i++) {
    if (i == s->pool || p->pools[i].n_waiters == 0 || pool_live(p, i) + 1 >= mine) continue;
    server_close(p, s);
    return true;
  }
  return false;
}

/* A connection of `pool` is gone: who may open one in its place. Under a shared cap the pool with waiters that has the
 * fewest (in turn), or the first in the file that has waiters (fixed). */
void caps_freed(Pooler *p, guint pool) {
  guint first = pool_of(p, pool_process(p, pool), 0), best = pool;
  if (config_of(p)->max_db_connections == 0 && config_of(p)->max_user_connections == 0) {
    pool_grow(p, pool, POKE_REQUEST);
    return;
  }
  for (guint i = first + p->pools_each; i-- > first;) {
    bool better =
        p->pools[best].n_waiters == 0 || !config_of(p)->pools_in_turn || pool_live(p, i) <= pool_live(p, best);
    if (p->pools[i].n_waiters > 0 && better) best = i;
  }
  pool_grow(p, best, POKE_REQUEST);
  if (best != pool) pool_grow(p, pool, POKE_REQUEST);
}

/* One has come back: pools under the same cap are looked at in their order, and a waiter's evicts it. */
void caps_look(Pooler *p, guint pool) {
  const PoolerConfig *c = config_of(p);
  guint first = pool_of(p, pool_process(p, pool), 0);
  if (c->max_db_connections == 0 && c->max_user_connections == 0) return;
  for (guint i = first; i < first + p->pools_each; i++)
    if (p->pools[i].n_waiters > 0 && i != pool) pool_grow(p, i, POKE_REQUEST);
}

/* ---- opening ---- */

static guint pick_host(Pooler *p, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  g_assert(c->n_servers > 0);
  Pool *pl = pool_at(p, pool);
  guint n = c->n_servers - (guint)__builtin_popcount(pl->banned), i = 0;
  if (c->balance == BALANCE_RANDOM) i = (guint)world_choose(p->w, p->ch_host, n);
  if (c->balance == BALANCE_ROUND_ROBIN) i = (guint)pl->next_host % c->n_servers;
  if (c->balance == BALANCE_RANDOM) { /* the i-th of those that are not banned */
    guint at = 0;
    for (;; at++)
      if (!(pl->banned >> at & 1) && i-- == 0) return c->servers[at];
  }
  while (pl->banned >> i & 1) i = (i + 1) % c->n_servers;
  if (c->balance == BALANCE_ROUND_ROBIN) pl->next_host = (uint16_t)((i + 1) % c->n_servers);
  return c->servers[i];
}

/* ---- bans: of a server among several, after a failed connect ---- */

static int place_of(const PoolConfig *c, guint host) {
  for (int i = 0; i < c->n_servers; i++)
    if (c->servers[i] == host) return i;
  return -1;
}

bool pool_bans(const Pooler *p, guint pool, guint host) {
  int i = p->pools[pool].banned ? place_of(pool_config(p, pool), host) : -1;
  return i >= 0 && p->pools[pool].banned >> i & 1;
}

/* Never the only one; when all would be banned all are let in again. */
static void pool_ban(Pooler *p, guint pool, guint host) {
  const PoolConfig *c = pool_config(p, pool);
  Pool *pl = pool_at(p, pool);
  int place = place_of(c, host);
  if (c->ban_timeout_ns < 0 || c->n_servers < 2 || place < 0 || !p->q_pool || pool_bans(p, pool, host)) return;
  pl->banned |= (uint16_t)(1u << place);
  if (pl->banned == (1u << c->n_servers) - 1) {
    pl->banned = 0;
    return;
  }
  EACH_SERVER(p, pool, s) if (s->state == SV_IDLE && s->host == host) server_close(p, s);
  watch_start(p, WATCH_BAN, pool, c->ban_timeout_ns, true, p->q_pool[pool], (guint)place);
}

/* ---- age: how far apart kills are ---- */

bool pool_spares_old(Pooler *p, Server *s) {
  const PoolConfig *c = pool_config(p, s->pool);
  Pool *pl = pool_at(p, s->pool);
  if (!c->lifetime_spaced || !p->q_pool) return false;
  if (pl->flags & PLF_SPACED) return true;
  pl->flags |= PLF_SPACED;
  watch_start(p, WATCH_SPACED, s->pool, c->server_lifetime_ns / c->size, false, p->q_pool[s->pool], 0);
  return false;
}

int pool_open(Pooler *p, guint pool) {
  for (guint i = 0; i < p->row_servers; i++) {
    guint slot = pool * p->row_servers + i;
    if (p->servers[slot].state != SV_FREE || p->servers[slot].proc) continue;
    Server *s = server_dial(p, slot, pool, pick_host(p, pool));
    if (step_splits(p, pool, POOLSTEP_OPEN))
      s->flags |= SVF_UNCOUNTED;
    else
      pool_at(p, pool)->opening++;
    return (int)slot;
  }
  return -1;
}

static bool room_for_attempt(const Pooler *p, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  const Pool *pl = &p->pools[pool];
  if (c->opening_max && pl->opening >= c->opening_max) return false;
  return c->carrier != CARRIER_ONE || pl->attempts == 0;
}

void pool_grow(Pooler *p, guint pool, Poke why) {
  const PoolConfig *c = pool_config(p, pool);
  Pool *pl = pool_at(p, pool);
  while (child_next(p, pool)) {
  }
  if (p->shared->clients_left == 0 || child_awaited(p, pool)) return;
  if (why == POKE_REQUEST && c->poke == POKE_TICK) return;
  if (carrier_awaited(p, pool) && !c->carrier_opens_once) {
    carrier_next(p, pool);
    return;
  }
  if (pl->flags & PLF_ASLEEP || !pool_should_grow(p, pool)) return;
  bool asked = pl->n_waiters > under_way(p, pool) && pl->n_idle == 0;
  if (c->min_by_tick && why == POKE_REQUEST && !asked) return;
  if (!room_for_attempt(p, pool)) {
    pl->flags |= PLF_POKED;
    return;
  }
  bool for_waiters = pl->n_waiters > 0 && pl->n_idle == 0;
  if (!caps_allow(p, pool, for_waiters || c->min_evicts)) return;
  if (pl->flags & PLF_FAILED) pool_sleep(p, pool, 0);
  for (guint n = step_times(p, pool, POOLSTEP_OPEN); n > 0; n--)
    if (pool_open(p, pool) < 0) return;
}

/* ---- after it ---- */

/* A child has its own client to tell; the others have theirs. */
static void refuse_waiters(Pooler *p, guint pool) {
  for (guint n = child_is_needed(p, pool) ? 1 : UINT16_MAX; n > 0 && pool_at(p, pool)->n_waiters; n--) {
    Session *e = &p->sessions[p->waiters[(size_t)pool * p->row_waiters] - 1];
    e->flags |= SEF_OFFLINE;
    pool_dequeue(p, e);
    session_wake(p, e, 0);
  }
}

/* After so many failures in a row. */
static int64_t back_off_ns(const BackOff *b, guint failures) {
  int64_t ns = MIN(b->first_ns, b->max_ns);
  for (guint i = 1; i < failures && ns < b->max_ns && b->factor > 1; i++)
    ns = ns > b->max_ns / b->factor ? b->max_ns : ns * b->factor;
  return ns;
}

/* Counted no further than it matters: a server that is down for good would give a state for each attempt. */
static void count_failure(const PoolConfig *c, Pool *pl) {
  const BackOff *b = &c->back_off;
  if (b->factor > 1 && (pl->failures == 0 || back_off_ns(b, pl->failures) < b->max_ns)) pl->failures++;
}

static void opening_failed(Pooler *p, guint pool, guint host, int64_t spent_ns) {
  const PoolConfig *c = pool_config(p, pool);
  Pool *pl = pool_at(p, pool);
  pl->flags |= c->fast_fail ? PLF_FAILED | PLF_NO_LOGIN : PLF_FAILED;
  count_failure(c, pl);
  pool_ban(p, pool, host);
  switch (c->react.refused) {
  case REACT_RETRY: break;
  case REACT_ERROR: refuse_waiters(p, pool); break;
  case REACT_FATAL: pooler_mark(p, POOLER_CRASH, "the pooler ends because a server refused a connection"); break;
  default: pool_sleep(p, pool, spent_ns); break;
  }
}

void pool_sleep(Pooler *p, guint pool, int64_t spent_ns) {
  const PoolConfig *c = pool_config(p, pool);
  Pool *pl = pool_at(p, pool);
  int64_t ns = c->server_login_retry_ns - (c->retry_from_start ? spent_ns : 0);
  if (c->back_off.factor > 0) ns = back_off_ns(&c->back_off, pl->failures);
  if (ns <= 0 || pl->flags & PLF_ASLEEP || (p->shared->clients_left == 0 && pl->n_parked == 0)) return;
  pl->flags |= PLF_ASLEEP;
  watch_start(p, WATCH_RETRY, pool, ns, false, 0, 0);
}

/* Forgotten by a reload (merge_count: skip), it was never counted here. */
static void opening_over(Pooler *p, guint pool) {
  Pool *pl = pool_at(p, pool);
  g_assert(pl->opening > 0 || step_is(p, pool, POOLSTEP_MERGE_COUNT, DO_SKIP));
  if (pl->opening > 0) pl->opening--;
}

/* Closed before it was up. */
void pool_opening_dropped(Pooler *p, Server *s) {
  if (s->flags & SVF_UNCOUNTED)
    step_joined(p, s->pool);
  else
    opening_over(p, s->pool);
  s->flags &= (uint32_t)~SVF_UNCOUNTED;
}

void pool_opened(Pooler *p, Server *s, bool well) {
  guint pool = s->pool;
  Pool *pl = pool_at(p, pool);
  opening_over(p, pool);
  if (!well) {
    opening_failed(p, pool, s->host, s->spent_ns);
    if (pool_should_grow(p, pool)) tick_wake(p);
  } else {
    pl->flags &= (uint16_t) ~(PLF_FAILED | PLF_NO_LOGIN);
    pl->failures = 0;
    if (pool_config(p, pool)->login_waits) pl->flags |= PLF_WELCOME; /* pool_put lets those in who wait for it */
    if (pl->flags & (PLF_OFFLINE | PLF_SHUTDOWN))
      server_close(p, s);
    else
      pool_put(p, s);
  }
  bool poked = pl->flags & PLF_POKED;
  pl->flags &= (uint16_t)~PLF_POKED;
  if (pool_config(p, pool)->carrier == CARRIER_ONE) carrier_next(p, pool);
  if (poked || pool_config(p, pool)->poke == POKE_EACH) pool_grow(p, pool, POKE_REQUEST);
}
