/* pool.c - who gets a server connection: idle list, check-out, hand-off, check-in. Those who wait: waiters.c.
 *
 * One step of a process here is what the real pooler does under one lock. So a check-in that finds a waiter either
 * gives it the connection in that step (handoff: confirm), or only records it as given and wakes the waiter in a later
 * one (record_then_send): in between the waiter's time may be up, and then nobody has the connection. */
#include "model/pooler/waiters.h"

static uint16_t *idle_row(const Pooler *p, guint pool) {
  return p->idle + (size_t)pool * p->row_servers;
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

void pool_close_idle(Pooler *p, guint pool) {
  g_assert(pool_at(p, pool)->n_idle > 0);
  server_close(p, &p->servers[idle_row(p, pool)[idle_place(p, pool)] - 1]);
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

static void pool_give(Pooler *p, Session *e, Server *s) {
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

void session_gets(Pooler *p, Session *e, Server *s) {
  guint i = 0;
  while (i < HELD_MAX && e->held[i]) i++;
  g_assert(i < HELD_MAX);
  e->held[i] = (uint16_t)(server_id(p, s) + 1);
}

/* What a look at the socket tells. */
static bool seen_broken(const Pooler *p, const Server *s) {
  return s->flags & (SVF_BROKEN | SVF_UNASKED) && pool_config(p, s->pool)->peek;
}

/* Those who wait come first, unless each looks for himself. */
static bool may_look(const Pooler *p, guint pool) {
  const Pool *pl = &p->pools[pool];
  if (pl->flags & PLF_PAUSED || step_is(p, pool, POOLSTEP_CHECK_OUT, DO_SKIP)) return false;
  bool waits_its_turn =
      pool_config(p, pool)->waiters == WAITERS_FIFO && !step_is(p, pool, POOLSTEP_CHECK_OUT, DO_EARLY);
  bool cancels_before = child_is_needed(p, pool) && pl->n_parked;
  return !((pl->n_waiters || cancels_before) && waits_its_turn);
}

bool pool_check_out(Pooler *p, Session *e, guint pool) {
  if (!may_look(p, pool)) return false;
  for (Server *s; (s = pop_idle(p, pool));) {
    if (seen_broken(p, s)) {
      server_close(p, s);
      continue;
    }
    pool_overtaken(p, pool, pool_place(p, e, pool));
    pool_give(p, e, s);
    session_gets(p, e, s);
    /* twice: another one is taken, and nobody has it */
    if (step_is(p, pool, POOLSTEP_CHECK_OUT, DO_TWICE) && (s = pop_idle(p, pool))) pool_give(p, e, s);
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
  pool_give(p, e, s);
  session_gets(p, e, s);
}

/* ---- hand-off ---- */

/* The connection goes to the waiter; confirm: in this step. True: the server's process has to wake it in a later one.
 */
static bool hand_off(Pooler *p, Server *s, guint at) {
  guint pool = s->pool;
  Session *e = &p->sessions[waiter_row(p, pool)[at] - 1];
  remove_at(waiter_row(p, pool), &pool_at(p, pool)->n_waiters, at);
  child_line_moves(p, pool, at);
  if (e->wants != pool + 1 || e->mailbox) { /* it stands there, and does not wait: nobody gets the connection */
    server_state(p, s, SV_TAKEN);
    return false;
  }
  pool_overtaken(p, pool, at);
  pool_wait_over(p, e);
  pool_give(p, e, s);
  if (pool_config(p, pool)->handoff == HANDOFF_CONFIRM) {
    session_gets(p, e, s);
    e->flags |= SEF_FED;
    if (step_times(p, pool, POOLSTEP_WAKE)) session_wake(p, e, step_late(p, pool, POOLSTEP_WAKE));
    return false;
  }
  e->mailbox = (uint16_t)(server_id(p, s) + 1);
  e->wants = (uint16_t)(pool + 1);
  return true;
}

static Session *first_waiter(const Pooler *p, guint pool) {
  return &p->sessions[waiter_row(p, pool)[0] - 1];
}

/* Those who have left without a word are found out when they would be next. */
static void forget_left(Pooler *p, guint pool) {
  while (pool_at(p, pool)->n_waiters && first_waiter(p, pool)->flags & SEF_LEFT) {
    Session *e = first_waiter(p, pool);
    pool_dequeue(p, e);
    session_close(p, e);
  }
}

/* A login needs a connection to be there, and does not take it (PgBouncer: activate_client, finish_client_login). */
static bool lets_in(Pooler *p, guint pool) {
  forget_left(p, pool);
  if (pool_config(p, pool)->login_takes) return false;
  if (pool_at(p, pool)->n_waiters == 0 || !(pool_at(p, pool)->flags & PLF_WELCOME)) return false;
  Session *e = first_waiter(p, pool);
  if (e->request != REQ_CONNECT || e->wants != pool + 1) return false;
  pool_dequeue(p, e);
  session_wake(p, e, 0);
  return true;
}

/* Pools in their order: those who wait are served by what is idle, and a connection of another pool under the same cap
 * is closed for them (PgBouncer: per_loop_activate). */
static void serve_all(Pooler *p, guint process) {
  for (guint i = pool_of(p, process, 0); i < pool_of(p, process, 0) + p->pools_each; i++) {
    const Pool *pl = pool_at(p, i);
    while (pl->n_waiters && pl->n_idle && !(pl->flags & PLF_PAUSED)) {
      if (lets_in(p, i) || pl->n_waiters == 0) continue;
      Server *s = pop_idle(p, i);
      s->pc = hand_off(p, s, 0) ? SP_WAKE : SP_IDLE;
      server_settle(p, s);
    }
    if (pl->n_waiters) pool_grow(p, i, POKE_REQUEST);
  }
}

void pool_put(Pooler *p, Server *s) {
  Pool *pl = pool_at(p, s->pool);
  const PoolConfig *c = pool_config(p, s->pool);
  if (child_takes(p, s)) {
    s->pc = SP_IDLE;
    return;
  }
  if (!(pl->flags & PLF_PAUSED) && lets_in(p, s->pool)) {
    push_idle(p, s);
    s->pc = SP_IDLE;
    serve_all(p, pool_process(p, s->pool));
    return;
  }
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
  if (times == 0 && pool_config(p, s->pool)->loop_evicts) caps_look(p, s->pool);
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
