/* schedules_races.h - races in a schedule: two accesses to the same memory, one of them a store, not both atomic, that
 * nothing puts in order: no lock, no semaphore, no release that was acquired. */
#pragma once
#include "checks/schedules_order.h"

typedef struct {
  Operation first, second;
  guint processes[2], at[2]; /* at: the events that they are */
} Race;

/* Of the schedule in o, in order of the second: each pair of accesses. */
void races_find(const Order *o, void (*found)(void *data, const Race *r), void *data);
