/* race_events.h - schedules made by hand, event by event, for the tests of what races in them. */
#pragma once
#include "checks/schedules_races.h"

static char code[64]; /* places: one for each event, as far as they go */

typedef struct {
  guint process;
  OperationKind kind;
  uint64_t object;
  int order; /* of memory; -1: plain */
  bool failed;
  int unless; /* 1 + the order of a failed exchange */
  uint8_t fences;
  uint32_t store; /* of a buffer */
} Did;

static inline void count(void *data, const Race *r) {
  ++*(int *)data;
  g_assert(r->first.bytes && r->second.bytes);
}

static inline void take(Order *o, const Did *did, guint i) {
  Operation op = {.kind = did->kind,
                  .object = did->object,
                  .pc = &code[i % sizeof code],
                  .atomic = (uint8_t)(did->order + 1),
                  .unless = (uint8_t)did->unless,
                  .fences = did->fences,
                  .store = did->store};
  op.bytes = operation_memory(op.kind) || op.kind == OPERATION_BUFFER ? 4 : 0;
  order_push(o, did->process, &op);
  order_event(o, o->events->len - 1)->failed = did->failed;
}

static inline int races_by(RacesMutant m, guint buffers, const Did *did, guint n) {
  Order o;
  int found = 0;
  order_init(&o, buffers ? 2 * buffers : 3);
  o.buffers = buffers;
  for (guint i = 0; i < n; i++) take(&o, &did[i], i);
  races_find(&o, m, count, &found);
  order_clear(&o);
  return found;
}
