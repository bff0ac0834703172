/* schedules_order.h - what happened before what in a schedule, and which two operations could have come the other way
 * round. */
#pragma once
#include "checks/schedules.h"

typedef struct {
  Operation op;
  guint process, number; /* the number-th of its process, from 1 */
  int before;            /* event of the same process; -1: none */
  bool failed, changed;
} ScheduleEvent;

/* Of n processes; clocks[i * n + q]: how many events of q happened before event i, itself included. */
typedef struct {
  guint n, buffers;
  GArray *events;                               /* of ScheduleEvent */
  GArray *clocks;                               /* of guint32 */
  int (*count)(void *data, uint64_t semaphore); /* of a semaphore in the first state; NULL: 0 */
  void *data;
  unsigned mutant_commute[2];
  int last[SCHEDULE_PROCESSES_MAX]; /* event of each process; -1: none */
  /* What order_races found to have happened before an event of process `scanned` at the end; -1: nothing is known. */
  int scanned;
  guint32 before[SCHEDULE_PROCESSES_MAX];
} Order;

void order_init(Order *o, guint processes);
void order_clear(Order *o);
static inline ScheduleEvent *order_event(const Order *o, guint i) {
  return &g_array_index(o->events, ScheduleEvent, i);
}
/* May the next operations of two processes come to different things in the two orders? */
bool order_next_depend(const Order *o, guint p, const Operation *a, guint q, const Operation *b);
void order_push(Order *o, guint process, const Operation *op);
uint64_t order_hash(const Order *o, guint event); /* of which it is, and what happened before it */
void order_truncate(Order *o, guint events);
/* Has what process p read in its last round changed since? Then its OPERATION_SPIN goes on. */
bool order_spin_ready(const Order *o, guint p);
/* Event i and `op`, done by p at the end, happen in this order, nothing between them must, and p could have been first:
 * for each such i, the processes of which one must be tried in place of event i (initials). */
void order_races(Order *o, guint p, const Operation *op, void (*race)(void *data, guint i, uint64_t initials),
                 void *data);
