/* schedules_path.h - one schedule of a subject's processes, operation by operation: told in words, written as a trace,
 * made again from one. */
#pragma once
#include "checks/schedules_bound.h"
#include "sim/run.h"

/* A line for each operation of the order: who, in which call, what, where, with which locks. */
GPtrArray *schedule_words(Bound *b, const GArray *order);

/* Who goes on next: false where the schedule ends. */
typedef bool (*ScheduleNext)(void *data, guint *process);
/* Goes through one schedule and judges: o->trace_path, o->saw, o->checks and o->command are used. The result is as a
 * trace's footer wants it: fail when something was broken. NULL and *error (TRACE_ERROR): the trace cannot be written.
 */
RunResult *schedule_path(Bound *b, const Scenario *s, const RunOptions *o, ScheduleNext next, void *data,
                         GError **error);
bool schedule_next(void *cursor, guint *process); /* of a ScheduleCursor */
typedef struct {
  const GArray *order; /* of guint */
  guint at;
} ScheduleCursor;

/* For walk_replay: a trace that `check` of a subject wrote, made again. */
RunResult *schedule_replay(const Scenario *s, const RunOptions *o, const TraceStep *(*recorded)(void *replay),
                           GError **error);
