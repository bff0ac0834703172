/* carrier.c - who may open a connection for a cancel, and when: unlimited; one at a time, where a pool makes one
 * connection attempt at a time and carriers share a cap with servers; a semaphore of the pooler's. Parked cancels are
 * served in order of arrival.
 *
 * openings_carry: a cancel that waits has no connection of its own. One is opened when none is under way; whatever
 * comes up next, for whomever it was opened, takes the cancel that has waited longest (PgBouncer: handle_connect), and
 * where all have given up it logs in. One that fails leaves them waiting. */
#include "model/pooler/parts.h"

static uint16_t *parked_row(const Pooler *p, guint pool) {
  return p->parked + (size_t)pool * p->row_parked;
}

static bool free_slot(const Pooler *p, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  const Pool *pl = &p->pools[pool];
  if (c->carrier == CARRIER_SEMAPHORE) return pl->carriers < c->carrier_slots;
  if (c->carrier == CARRIER_CHILD) return child_is_free(p, pool);
  if (pl->flags & PLF_ASLEEP || pl->opening || pl->attempts) return false;
  return pool_live(p, pool) < (guint)(c->carrier_slots * c->size);
}

static void grant(Pooler *p, Cancel *x) {
  Pool *pl = pool_at(p, x->pool);
  x->flags |= XF_TURN;
  pl->carriers++;
  pl->attempts++;
  if (pl->flags & PLF_FAILED && pool_config(p, x->pool)->carrier == CARRIER_ONE) pool_sleep(p, x->pool, 0);
}

static bool openings_carry(const Pooler *p, guint pool) {
  const PoolConfig *c = pool_config(p, pool);
  return c->openings_carry && c->carrier == CARRIER_ONE;
}

/* True: one is opened for those that wait. */
static bool open_for_parked(Pooler *p, guint pool) {
  enum { OPENS_NOTHING = PLF_PAUSED | PLF_OFFLINE | PLF_SHUTDOWN | PLF_FATAL | PLF_NEW };
  const Pool *pl = &p->pools[pool];
  if (pl->n_parked == 0 || pl->flags & OPENS_NOTHING || !free_slot(p, pool)) return false;
  if (pl->flags & PLF_FAILED) pool_sleep(p, pool, 0);
  int slot = pool_open(p, pool);
  if (slot >= 0) p->servers[slot].flags |= SVF_FOR_CANCEL;
  return slot >= 0;
}

static void park(Pooler *p, const Cancel *x) {
  Pool *pl = pool_at(p, x->pool);
  g_assert(pl->n_parked < p->row_parked);
  parked_row(p, x->pool)[pl->n_parked++] = (uint16_t)(cancel_id(p, x) + 1);
}

bool carrier_turn(Pooler *p, Cancel *x) {
  const Pool *pl = pool_at(p, x->pool);
  bool shared = openings_carry(p, x->pool);
  if (child_is_needed(p, x->pool)) {
    if (child_turn(p, x)) return true;
    park(p, x);
    return false;
  }
  if (!shared && pl->n_parked == 0 && free_slot(p, x->pool)) return grant(p, x), true;
  park(p, x);
  if (shared) open_for_parked(p, x->pool);
  return false;
}

static void unpark(Pooler *p, guint pool, guint at) {
  uint16_t *row = parked_row(p, pool);
  Pool *pl = pool_at(p, pool);
  g_assert(at < pl->n_parked);
  memmove(row + at, row + at + 1, (size_t)(pl->n_parked - at - 1u) * sizeof *row);
  row[--pl->n_parked] = 0;
}

void carrier_leave(Pooler *p, Cancel *x) {
  for (guint i = 0; i < pool_at(p, x->pool)->n_parked; i++)
    if (parked_row(p, x->pool)[i] == cancel_id(p, x) + 1) unpark(p, x->pool, i);
}

/* The first one parked gets a carrier, if one is to be had. */
bool carrier_next(Pooler *p, guint pool) {
  if (child_is_needed(p, pool)) return child_next(p, pool);
  if (openings_carry(p, pool)) return !pool_config(p, pool)->carrier_opens_once && open_for_parked(p, pool);
  if (pool_at(p, pool)->n_parked == 0 || !free_slot(p, pool)) return false;
  if (step_times(p, pool, POOLSTEP_TURN) == 0) return false;
  Cancel *x = &p->cancels[parked_row(p, pool)[0] - 1];
  unpark(p, pool, 0);
  grant(p, x);
  cancel_wake(p, x);
  return true;
}

bool carrier_awaited(const Pooler *p, guint pool) {
  return pool != DIRECT && openings_carry(p, pool) && p->pools[pool].n_parked > 0;
}

bool carrier_takes(Pooler *p, const Server *s) {
  if (!carrier_awaited(p, s->pool)) return false;
  Pool *pl = pool_at(p, s->pool);
  Cancel *x = &p->cancels[parked_row(p, s->pool)[0] - 1];
  unpark(p, s->pool, 0);
  bool linked = x->flags & XF_LINKED, sends = !linked || x->server;
  x->flags = (uint16_t)((x->flags & ~XF_EXPIRED) | XF_TURN | XF_CARRIER);
  x->host = s->host;
  x->stage = linked ? X_FORWARD : X_DELIVER;
  pl->carriers++;
  measure_carrier(p, s->pool, 1);
  /* Closed here and now, dropped or sent, it says that connects succeed; one that is waited for says nothing
   * (disconnect_server). */
  bool closes = !sends || pool_config(p, s->pool)->ack == ACK_NONE;
  if (closes && pool_config(p, s->pool)->retry_after_carrier) pl->flags &= (uint16_t) ~(PLF_FAILED | PLF_ASLEEP);
  cancel_wake(p, x);
  return true;
}

void carriers_expire(Pooler *p, guint process) {
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->stage != X_PARKED || !(x->flags & XF_EXPIRED) || x->process != process) continue;
    carrier_leave(p, x);
    cancel_wake(p, x);
  }
}

/* Parked past the end of its query though it could have been carried before: its turn was forgotten. */
void carrier_query_ended(Pooler *p, const Session *e) {
  for (guint i = 0; i < p->n_cancels && e->request == REQ_QUERY; i++) {
    const Cancel *x = &p->cancels[i];
    bool its = x->session == session_id(p, e) + 1 && x->query == e->query && !(x->flags & (XF_STALE | XF_JUDGED));
    if (x->stage != X_PARKED || x->flags & XF_TURN || !its || !free_slot(p, x->pool)) continue;
    pooler_mark(p, POOLER_CANCEL_LATE, "a cancel of %s is parked past the end of its query, with a carrier to be had",
                pooler_client_name(p, x->client));
  }
}

/* Forgotten by a reload (merge_count: skip), it was never counted here. */
static void attempt_over(Pooler *p, guint pool) {
  Pool *pl = pool_at(p, pool);
  g_assert(pl->attempts > 0 || step_is(p, pool, POOLSTEP_MERGE_COUNT, DO_SKIP));
  if (pl->attempts > 0) pl->attempts--;
}

/* The attempt has come through: the next one may be made. */
void carrier_connected(Pooler *p, Cancel *x) {
  if (!(x->flags & XF_TURN) || openings_carry(p, x->pool)) return;
  Pool *pl = pool_at(p, x->pool);
  attempt_over(p, x->pool);
  if (pool_config(p, x->pool)->retry_after_carrier) pl->flags &= (uint16_t) ~(PLF_FAILED | PLF_ASLEEP);
  while (carrier_next(p, x->pool)) {
  }
  pool_grow(p, x->pool, POKE_REQUEST);
}

/* Its socket is closed. */
void carrier_done(Pooler *p, Cancel *x, bool well) {
  (void)well;
  if (x->flags & XF_CARRIER) measure_carrier(p, x->pool, -1);
  if (x->flags & XF_TURN) {
    Pool *pl = pool_at(p, x->pool);
    g_assert(pl->carriers > 0 || step_is(p, x->pool, POOLSTEP_MERGE_COUNT, DO_SKIP));
    if (pl->carriers > 0) pl->carriers--;
    if (!(x->flags & XF_FORWARDED) && !openings_carry(p, x->pool)) attempt_over(p, x->pool);
  }
  x->flags &= (uint16_t) ~(XF_CARRIER | XF_TURN);
  if (x->pool != DIRECT)
    while (carrier_next(p, x->pool)) {
    }
}
