/* schedules_races.h - races in a schedule: two accesses to the same memory, one of them a store, not both atomic, that
 * nothing puts in order: no lock, no semaphore, no release that was acquired. */
#pragma once
#include "checks/schedules_order.h"

typedef struct {
  Operation first, second;
  guint processes[2], at[2]; /* at: which events they are */
} Race;

/* For tests that a detector which is wrong is caught: what it gets wrong. */
typedef enum {
  RACES_RIGHT,
  RACES_ACQUIRE_TAKEN_FOR_RELAXED,
  RACES_RELEASE_IGNORED,
  RACES_FENCES_IGNORED,
  RACES_FAILURE_TAKEN_FOR_SUCCESS, /* of a compare-and-exchange */
  RACES_STORES_SEEN_AT_ONCE,       /* by all, and not when their buffer writes them */
  RACES_MUTANTS
} RacesMutant;

/* Of the schedule in o, in order of the second: each pair of accesses. */
void races_find(const Order *o, RacesMutant m, void (*found)(void *data, const Race *r), void *data);
