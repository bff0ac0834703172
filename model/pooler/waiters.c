/* waiters.c - sessions that wait for a server connection: they stand in the queue, are overtaken, leave it, and receive
 * what was sent to them. */
#include "model/pooler/waiters.h"

/* With waiters that poll, whoever looks first is served. */
guint pool_place(const Pooler *p, const Session *e, guint pool) {
  guint i = 0;
  while (i < p->pools[pool].n_waiters && waiter_row(p, pool)[i] != session_id(p, e) + 1) i++;
  return i;
}

void pool_overtaken(Pooler *p, guint pool, guint passed_over) {
  if (passed_over == 0) return;
  pooler_mark(p, POOLER_OVERTAKEN, "pool %s: %u waiter(s) that came first are passed over", pool_config(p, pool)->name,
              passed_over);
  measure_count(p, pool, COUNT_OVERTAKES, passed_over);
}

static void stand_in_queue(Pooler *p, const Session *e, guint pool) {
  uint16_t *row = waiter_row(p, pool), *n = &pool_at(p, pool)->n_waiters;
  guint at = step_is(p, pool, POOLSTEP_WAIT, DO_EARLY) ? 0 : *n;
  g_assert(*n < p->row_waiters);
  memmove(row + at + 1, row + at, (*n - at) * sizeof *row);
  row[at] = (uint16_t)(session_id(p, e) + 1);
  ++*n;
}

void pool_wait_over(Pooler *p, Session *e) {
  e->wants = 0;
  e->flags &= (uint16_t)~SEF_OVERDUE;
  if (p->q_reserve) queue_wake_all(p->w, p->q_reserve[session_id(p, e)], 0);
}

static bool forget_waiter(Pooler *p, const Session *e, guint pool) {
  uint16_t *row = waiter_row(p, pool), *n = &pool_at(p, pool)->n_waiters;
  bool found = false;
  for (guint i = *n; i-- > 0;)
    if (row[i] == session_id(p, e) + 1) remove_at(row, n, i), child_line_moves(p, pool, i), found = true;
  return found;
}

void pool_enqueue(Pooler *p, Session *e, guint pool) {
  e->wants = (uint16_t)(pool + 1);
  /* Left standing by a fault when its limit had passed, it does not stand there twice. */
  if (step_is(p, pool, POOLSTEP_LEAVE, DO_SKIP) || step_is(p, pool, POOLSTEP_LEAVE, DO_OTHERS))
    forget_waiter(p, e, pool);
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
  pool_wait_over(p, e);
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
    pool_wait_over(p, e);
    return;
  }
  if (step_is(p, pool, POOLSTEP_LEAVE, DO_SKIP))
    pool_wait_over(p, e);
  else
    pool_dequeue(p, e);
}

/* A server was sent and its waiter has it now. */
void pool_receive(Pooler *p, Session *e) {
  Server *s = &p->servers[e->mailbox - 1];
  e->mailbox = 0;
  e->wants = 0;
  session_gets(p, e, s);
}

/* It was sent, and nobody will receive it: with record_then_send the entry stays and the connection is destroyed; with
 * confirm this cannot be. */
void pool_unreceived(Pooler *p, Session *e) {
  Server *s = &p->servers[e->mailbox - 1];
  e->mailbox = 0;
  s->owner = 0;
  server_close(p, s);
}
