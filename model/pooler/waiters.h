/* waiters.h - the queue of a pool: sessions that wait for a server connection, first come first. Private to pool.c and
 * waiters.c; others enqueue and dequeue (parts.h). */
#pragma once
#include "model/pooler/parts.h"

static inline uint16_t *waiter_row(const Pooler *p, guint pool) {
  return p->waiters + (size_t)pool * p->row_waiters;
}
/* A row of ids (waiters, idle connections) without the one at `at`. */
static inline void remove_at(uint16_t *row, uint16_t *n, guint at) {
  g_assert(at < *n);
  memmove(row + at, row + at + 1, (size_t)(*n - at - 1u) * sizeof *row);
  row[--*n] = 0;
}

guint pool_place(const Pooler *p, const Session *e, guint pool); /* how many came before it and still wait */
void pool_overtaken(Pooler *p, guint pool, guint passed_over);   /* marks it; none: nothing */
void pool_wait_over(Pooler *p, Session *e);                      /* however its wait ends */
void session_gets(Pooler *p, Session *e, Server *s);             /* pool.c: it is one of its own */
