/* pool.c - who gets a server connection: idle list, waiters, check-out, check-in.
 *
 * One step of a process here is what the real pooler does under one lock. So a check-in that finds a waiter either
 * gives it the connection in that step (handoff: confirm), or only records it as given and wakes the waiter in a later
 * one (record_then_send): in between the waiter's time may be up, and then nobody has the connection. */
#include "model/pooler/parts.h"

static uint16_t *idle_row(const Pooler *p, guint pool) {
  return p->idle + (size_t)pool * p->row_servers;
}
static uint16_t *waiter_row(const Pooler *p, guint pool) {
  return p->waiters + (size_t)pool * p->row_waiters;
}

static void remove_at(uint16_t *row, uint16_t *n, guint at) {
  g_assert(at < *n);
  memmove(row + at, row + at + 1, (size_t)(*n - at - 1u) * sizeof *row);
  row[--*n] = 0;
}

/* ---- idle list ---- */

static void push_idle(Pooler *p, Server *s) {
  Pool *pl = pool_at(p, s->pool);
  g_assert(pl->n_idle < p->row_servers);
  idle_row(p, s->pool)[pl->n_idle++] = (uint16_t)(server_id(p, s) + 1);
  server_state(p, s, SV_IDLE);
}

void pool_forget_idle(Pooler *p, Server *s) {
  uint16_t *row = idle_row(p, s->pool), *n = &pool_at(p, s->pool)->n_idle;
  for (guint i = *n; i-- > 0;)
    if (row[i] == server_id(p, s) + 1) remove_at(row, n, i);
}

static guint idle_place(const Pooler *p, guint pool) {
  return pool_config(p, pool)->idle_order == IDLE_LIFO ? p->pools[pool].n_idle - 1u : 0;
}

static Server *pop_idle(Pooler *p, guint pool) {
  Pool *pl = pool_at(p, pool);
  if (pl->n_idle == 0) return NULL;
  guint at = idle_place(p, pool);
  Server *s = &p->servers[idle_row(p, pool)[at] - 1];
  remove_at(idle_row(p, pool), &pl->n_idle, at);
  return s;
}

/* ---- counts ---- */

/* Those that cannot be handed out but are not in the table of checked-out ones any more. */
static guint set_apart(const Pooler *p, guint pool) {
  guint n = 0;
  EACH_SERVER(p, pool, s) n += s->state == SV_FENCED || (s->state == SV_CLEANING && s->flags & SVF_CHECKED_IN);
  return n;
}

guint pool_total(const Pooler *p, guint pool) {
  return p->pools[pool].n_idle + taken_len(p, pool) + set_apart(p, pool);
}

guint pool_live(const Pooler *p, guint pool) {
  guint n = p->pools[pool].carriers;
  EACH_SERVER(p, pool, s) n++;
  return n;
}

/* ---- check-out ---- */

static void give(Pooler *p, Session *e, Server *s) {
  if (s->owner || session_holds(e, server_id(p, s)))
    pooler_mark(p, POOLER_DOUBLE_FREE, "server %u is given to %s, and has an owner", server_id(p, s),
                pooler_session_name(p, session_id(p, e)));
  s->owner = (uint16_t)(session_id(p, e) + 1);
  s->flags &= (uint32_t) ~(SVF_IDLE_LONG | SVF_CHECKED_IN | SVF_OWN_DONE);
  server_state(p, s, SV_TAKEN);
  if (pool_config(p, s->pool)->own.check.high <= 0) s->flags &= (uint32_t)~SVF_STALE; /* nothing looks at it */
  if (pool_config(p, s->pool)->generation == GENERATION_CHECKOUT && pool_config(p, s->pool)->fence == FENCE_GENERATION)
    s->tenancy++;
  const PgBackend *b = server_backend(p, s);
  if (b && b->client && b->client != e->client + 1u && (b->open || s->lock))
    pooler_mark(p, POOLER_DIRTY_HANDOVER, "server %u goes to %s with %s of another client", server_id(p, s),
                pooler_session_name(p, session_id(p, e)), b->open ? "an open transaction" : "a lock");
  int64_t late = step_late(p, s->pool, POOLSTEP_MAP);
  if (late > 0)
    watch_start(p, WATCH_MAP, server_id(p, s), late, false, 0, 0);
  else
    taken_take(p, s->pool, session_id(p, e), s);
  measure_bytes(p, identity_moved(p, s->pool, s->host));
}

static void hold(Pooler *p, Session *e, Server *s) {
  guint i = 0;
  while (i < HELD_MAX && e->held[i]) i++;
  g_assert(i < HELD_MAX);
  e->held[i] = (uint16_t)(server_id(p, s) + 1);
}

/* What a look at the socket tells. */
static bool seen_broken(const Pooler *p, const Server *s) {
  return s->flags & (SVF_BROKEN | SVF_UNASKED) && pool_config(p, s->pool)->peek;
}

/* How many came before it and still wait: with waiters that poll, whoever looks first is served. */
static guint place_in_queue(const Pooler *p, const Session *e, guint pool) {
  guint i = 0;
  while (i < p->pools[pool].n_waiters && waiter_row(p, pool)[i] != session_id(p, e) + 1) i++;
  return i;
}

static void overtaken(Pooler *p, guint pool, guint passed_over) {
  if (passed_over == 0) return;
  pooler_mark(p, POOLER_OVERTAKEN, "pool %s: %u waiter(s) that came first are passed over", pool_config(p, pool)->name,
              passed_over);
  measure_count(p, pool, COUNT_OVERTAKES, passed_over);
}

/* Those who wait come first, unless each looks for himself. */
static bool may_look(const Pooler *p, guint pool) {
  const Pool *pl = &p->pools[pool];
  if (pl->flags & PLF_PAUSED || step_is(p, pool, POOLSTEP_CHECK_OUT, DO_SKIP)) return false;
  bool waits_its_turn =
      pool_config(p, pool)->waiters == WAITERS_FIFO && !step_is(p, pool, POOLSTEP_CHECK_OUT, DO_EARLY);
  return !(pl->n_waiters && waits_its_turn);
}

bool pool_check_out(Pooler *p, Session *e, guint pool) {
  if (!may_look(p, pool)) return false;
  for (Server *s; (s = pop_idle(p, pool));) {
    if (seen_broken(p, s)) {
      server_close(p, s);
      continue;
    }
    overtaken(p, pool, place_in_queue(p, e, pool));
    give(p, e, s);
    hold(p, e, s);
    /* twice: another one is taken, and nobody has it */
    if (step_is(p, pool, POOLSTEP_CHECK_OUT, DO_TWICE) && (s = pop_idle(p, pool))) give(p, e, s);
    return true;
  }
  return false;
}

Server *pool_spot(const Pooler *p, const Session *e, guint pool) {
  const Pool *pl = &p->pools[pool];
  (void)e;
  if (!may_look(p, pool) || pl->n_idle == 0) return NULL;
  Server *s = &p->servers[idle_row(p, pool)[idle_place(p, pool)] - 1];
  return seen_broken(p, s) ? NULL : s;
}

void pool_take_spotted(Pooler *p, Session *e) {
  Server *s = &p->servers[e->spotted - 1];
  step_joined(p, s->pool);
  e->spotted = 0;
  if (s->state != SV_IDLE && s->state != SV_TAKEN) return; /* closed by now: it looks again */
  if (s->state == SV_IDLE) pool_forget_idle(p, s);
  give(p, e, s);
  hold(p, e, s);
}

/* ---- waiters ---- */

static void stand_in_queue(Pooler *p, const Session *e, guint pool) {
  uint16_t *row = waiter_row(p, pool), *n = &pool_at(p, pool)->n_waiters;
  guint at = step_is(p, pool, POOLSTEP_WAIT, DO_EARLY) ? 0 : *n;
  g_assert(*n < p->row_waiters);
  memmove(row + at + 1, row + at, (*n - at) * sizeof *row);
  row[at] = (uint16_t)(session_id(p, e) + 1);
  ++*n;
}

/* However its wait ends. */
static void wait_over(Pooler *p, Session *e) {
  e->wants = 0;
  e->flags &= (uint8_t)~SEF_OVERDUE;
  if (p->q_reserve) queue_wake_all(p->w, p->q_reserve[session_id(p, e)], 0);
}

static bool forget_waiter(Pooler *p, const Session *e, guint pool) {
  uint16_t *row = waiter_row(p, pool), *n = &pool_at(p, pool)->n_waiters;
  bool found = false;
  for (guint i = *n; i-- > 0;)
    if (row[i] == session_id(p, e) + 1) remove_at(row, n, i), found = true;
  return found;
}

void pool_enqueue(Pooler *p, Session *e, guint pool) {
  e->wants = (uint16_t)(pool + 1);
  if (step_is(p, pool, POOLSTEP_LEAVE, DO_SKIP)) forget_waiter(p, e, pool);
  for (guint n = step_times(p, pool, POOLSTEP_WAIT); n > 0; n--) stand_in_queue(p, e, pool);
  session_state(p, e, CL_QUEUED);
  const PoolConfig *c = pool_config(p, pool);
  if (p->q_reserve && c->reserve && c->reserve_timeout_ns >= 0)
    watch_start(p, WATCH_RESERVE, session_id(p, e), c->reserve_timeout_ns, true, p->q_reserve[session_id(p, e)], 0);
  tick_wake(p);
}

bool pool_dequeue(Pooler *p, Session *e) {
  if (!e->wants) return false;
  guint pool = e->wants - 1u;
  wait_over(p, e);
  return forget_waiter(p, e, pool);
}

/* skip: it stays in the queue, and will be given what it does not wait for. others: the filter that was to drop it
 * keeps it, and drops all others (S23). */
void pool_leave(Pooler *p, Session *e) {
  if (!e->wants) return;
  guint pool = e->wants - 1u;
  if (step_is(p, pool, POOLSTEP_LEAVE, DO_OTHERS)) {
    uint16_t *row = waiter_row(p, pool), *n = &pool_at(p, pool)->n_waiters;
    while (*n) remove_at(row, n, *n - 1u);
    row[(*n)++] = (uint16_t)(session_id(p, e) + 1);
    wait_over(p, e);
    return;
  }
  if (step_is(p, pool, POOLSTEP_LEAVE, DO_SKIP))
    wait_over(p, e);
  else
    pool_dequeue(p, e);
}

/* The connection goes to the waiter; confirm: in this step. True: the server's process has to wake it in a later one.
 */
static bool hand_off(Pooler *p, Server *s, guint at) {
  guint pool = s->pool;
  Session *e = &p->sessions[waiter_row(p, pool)[at] - 1];
  remove_at(waiter_row(p, pool), &pool_at(p, pool)->n_waiters, at);
  if (e->wants != pool + 1 || e->mailbox) { /* it stands there, and does not wait: nobody gets the connection */
    server_state(p, s, SV_TAKEN);
    return false;
  }
  overtaken(p, pool, at);
  wait_over(p, e);
  give(p, e, s);
  if (pool_config(p, pool)->handoff == HANDOFF_CONFIRM) {
    hold(p, e, s);
    e->flags |= SEF_FED;
    if (step_times(p, pool, POOLSTEP_WAKE)) session_wake(p, e, step_late(p, pool, POOLSTEP_WAKE));
    return false;
  }
  e->mailbox = (uint16_t)(server_id(p, s) + 1);
  e->wants = (uint16_t)(pool + 1);
  return true;
}

void pool_put(Pooler *p, Server *s) {
  Pool *pl = pool_at(p, s->pool);
  const PoolConfig *c = pool_config(p, s->pool);
  guint times = pl->n_waiters && !(pl->flags & PLF_PAUSED) && c->waiters == WAITERS_FIFO
                    ? step_times(p, s->pool, POOLSTEP_HAND_OFF)
                    : 0;
  /* wake: early: whoever came last is woken first, as from a stack */
  guint first = step_is(p, s->pool, POOLSTEP_WAKE, DO_EARLY) && times ? pl->n_waiters - 1u : 0;
  if (times && hand_off(p, s, first)) {
    s->pc = SP_WAKE;
    return;
  }
  if (times == 2 && pl->n_waiters) hand_off(p, s, 0);
  if (times == 0) push_idle(p, s);
  s->pc = SP_IDLE;
}

/* A server was sent and its waiter has it now. */
void pool_receive(Pooler *p, Session *e) {
  Server *s = &p->servers[e->mailbox - 1];
  e->mailbox = 0;
  e->wants = 0;
  hold(p, e, s);
}

/* It was sent, and nobody will receive it: with record_then_send the entry stays and the connection is destroyed; with
 * confirm this cannot be. */
void pool_unreceived(Pooler *p, Session *e) {
  Server *s = &p->servers[e->mailbox - 1];
  e->mailbox = 0;
  s->owner = 0;
  server_close(p, s);
}

/* ---- check-in ---- */

static bool to_be_cleaned(const Pooler *p, const Server *s) {
  const PoolConfig *c = pool_config(p, s->pool);
  if (step_is(p, s->pool, POOLSTEP_CLEAN, DO_SKIP)) return false;
  bool whole = c->mode == MODE_SESSION && (c->own.at_checkin.low > 0 || c->own.at_checkin.high > 0);
  return s->backend && (s->flags & (SVF_DIRTY | SVF_LOCKED) || c->own.always || whole);
}

/* Its owner lets go. What runs on it still is for the server's process to end first. */
void pool_release(Pooler *p, Server *s) {
  Session *e = s->owner ? &p->sessions[s->owner - 1] : NULL;
  if (e) session_drop(e, server_id(p, s));
  bool asked = p->n_events || step_is(p, s->pool, POOLSTEP_UNMAP, DO_LATE);
  if (s->owner && asked) s->last_owner = s->owner;
  if (s->owner && step_is(p, s->pool, POOLSTEP_UNMAP, DO_EARLY)) taken_unmap(p, s->pool, s, s->owner - 1u);
  fence_release(p, s);
  if (step_is(p, s->pool, POOLSTEP_CHECK_IN, DO_SKIP)) {
    s->pc = SP_IDLE;
    return;
  }
  if (to_be_cleaned(p, s)) {
    server_state(p, s, SV_CLEANING);
    s->pc = SP_OWN_START;
    return;
  }
  if (step_is(p, s->pool, POOLSTEP_CHECK_IN, DO_LATE)) {
    server_state(p, s, SV_CLEANING);
    s->pc = SP_LATE;
    return;
  }
  for (guint n = step_times(p, s->pool, POOLSTEP_CHECK_IN); n > 0; n--) pool_check_in(p, s);
}

static bool unfit(Pooler *p, Server *s) {
  const Pool *pl = pool_at(p, s->pool);
  const PoolConfig *c = pool_config(p, s->pool);
  if (pl->flags & (PLF_OFFLINE | PLF_PAUSED | PLF_SHUTDOWN) || pool_bans(p, s->pool, s->host)) return true;
  if (s->flags & (SVF_SPENT | SVF_BROKEN | SVF_CUT)) return true;
  if (s->flags & SVF_OLD && !pool_spares_old(p, s)) return true;
  return c->fence == FENCE_RETIRE && s->directed > s->seen;
}

/* A cancel still holds it: it is nobody's, and nobody gets it. */
static bool fenced(Pooler *p, Server *s) {
  if (!fence_holds(p, s)) return false;
  server_state(p, s, SV_FENCED);
  s->pc = SP_IDLE;
  return true;
}

void pool_check_in(Pooler *p, Server *s) {
  if (s->state == SV_FREE || s->state == SV_IDLE || s->state == SV_CLOSING) {
    pooler_mark(p, POOLER_DOUBLE_FREE, "server %u is checked in twice", server_id(p, s));
  }
  if (s->state == SV_IDLE || s->state == SV_FREE || s->state == SV_CLOSING) return;
  if (!(s->flags & SVF_CHECKED_IN)) {
    bool tracked = taken_check_in(p, s->pool, s);
    s->flags |= SVF_CHECKED_IN;
    if (!tracked) s->flags |= SVF_SPENT;
  }
  s->owner = 0;
  if (unfit(p, s)) {
    server_close(p, s);
    return;
  }
  if (fenced(p, s) || server_drain(p, s)) return;
  if (caps_take(p, s)) return;
  s->directed = s->seen = 0;
  pool_put(p, s);
}

/* The last fence is gone; only a fault does this to a connection that is not fenced. */
void pool_unfence(Pooler *p, Server *s) {
  pool_check_in(p, s);
  server_settle(p, s);
}

/* Something was set free, or a pause is over. */
void pool_serve(Pooler *p, guint pool) {
  while (pool_at(p, pool)->n_waiters && pool_at(p, pool)->n_idle) {
    Server *s = pop_idle(p, pool);
    server_state(p, s, SV_TAKEN);
    pool_put(p, s);
    server_settle(p, s);
    if (s->state == SV_IDLE) return;
  }
  pool_grow(p, pool, POKE_REQUEST);
}
