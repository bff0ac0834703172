/* child.c - carrier: child. A pooler of processes that hold one connection each (pgpool-II): who comes, client or
 * cancel, stands in the kernel's line until a child is free, and a cancel keeps its child until that has slept node_gap
 * behind the last node. A child is a server connection of the pool, or a bare one that has none yet (Pool.bare).
 *
 * One line: x->ahead says how many of the pool's waiters came before the cancel. Of these the first `opening` have a
 * child already, whose connection is on its way; so a cancel is next when no more than those stand before it. */
#include "model/pooler/waiters.h"

enum { BARE = UINT16_MAX }; /* Cancel.child: one without a connection */

bool child_is_needed(const Pooler *p, guint pool) {
  return pool != DIRECT && pool_config(p, pool)->carrier == CARRIER_CHILD;
}

static bool bare_one_is_there(const Pooler *p, guint pool) {
  return pool_live(p, pool) + p->pools[pool].bare < (guint)pool_config(p, pool)->size;
}

static Server *last_idle(const Pooler *p, guint pool) {
  const Pool *pl = &p->pools[pool];
  const uint16_t *row = p->idle + (size_t)pool * p->row_servers;
  if (pl->n_idle == 0) return NULL;
  return &p->servers[row[pool_config(p, pool)->idle_order == IDLE_LIFO ? pl->n_idle - 1 : 0] - 1];
}

bool child_is_free(const Pooler *p, guint pool) {
  return p->pools[pool].n_idle > 0 || bare_one_is_there(p, pool);
}

static void held(Pooler *p, Cancel *x, Server *s) {
  x->child = (uint16_t)(server_id(p, s) + 1);
  s->flags |= SVF_CHECKED_IN;
  server_state(p, s, SV_FENCED);
}

static bool take(Pooler *p, Cancel *x) {
  Server *s = last_idle(p, x->pool);
  if (!child_is_free(p, x->pool)) return false;
  if (s) {
    pool_forget_idle(p, s);
    held(p, x, s);
    return true;
  }
  x->child = BARE;
  pool_at(p, x->pool)->bare++;
  return true;
}

static bool is_next(const Pooler *p, const Cancel *x) {
  return x->ahead <= p->pools[x->pool].opening;
}

bool child_turn(Pooler *p, Cancel *x) {
  const Pool *pl = pool_at(p, x->pool);
  x->ahead = pl->n_waiters;
  return pl->n_parked == 0 && is_next(p, x) && take(p, x);
}

Cancel *child_awaited(const Pooler *p, guint pool) {
  if (!child_is_needed(p, pool) || p->pools[pool].n_parked == 0) return NULL;
  Cancel *x = &p->cancels[p->parked[(size_t)pool * p->row_parked] - 1];
  return is_next(p, x) ? x : NULL;
}

static void has_one(Pooler *p, Cancel *x) {
  carrier_leave(p, x);
  cancel_wake(p, x);
}

bool child_next(Pooler *p, guint pool) {
  Cancel *x = child_awaited(p, pool);
  if (!x || !take(p, x)) return false;
  has_one(p, x);
  return true;
}

bool child_takes(Pooler *p, Server *s) {
  Cancel *x = child_awaited(p, s->pool);
  if (!x) return false;
  held(p, x, s);
  has_one(p, x);
  return true;
}

void child_line_moves(Pooler *p, guint pool, guint at) {
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->stage == X_PARKED && x->pool == pool && x->ahead > at) x->ahead--;
  }
}

bool child_has(const Pooler *p, const Server *s) {
  for (guint i = 0; child_is_needed(p, s->pool) && i < p->n_cancels; i++)
    if (p->cancels[i].child == server_id(p, s) + 1) return true;
  return false;
}

/* The child goes on without its connection, which has died. */
void child_bereft(Pooler *p, guint pool, guint server) {
  for (guint i = 0; i < p->n_cancels; i++) {
    if (p->cancels[i].child != server + 1) continue;
    p->cancels[i].child = BARE;
    pool_at(p, pool)->bare++;
  }
}

void child_back(Pooler *p, Cancel *x) {
  const guint child = x->child;
  x->child = 0;
  if (child == 0) return;
  if (child != BARE) {
    pool_unfence(p, &p->servers[child - 1]);
    return;
  }
  Pool *pl = pool_at(p, x->pool);
  g_assert(pl->bare > 0);
  pl->bare--;
  pool_grow(p, x->pool, POKE_REQUEST);
}
