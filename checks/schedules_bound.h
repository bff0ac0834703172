/* schedules_bound.h - a scenario's subject and processes, bound so that a search, or one schedule, drives them
 * operation by operation.
 *
 * A check looks at states between operations, and orders that the reduction takes for one pass through different
 * states. So under dpor a check that is not for the end alone is a process of its own, the observer, of one operation:
 * it loads all that the check looks at, some time. Each state that the check could see is then before one of its loads.
 * What it looks at is learned: where a look goes beyond what was known, the search begins again. */
#pragma once
#include "checks/schedules.h"
#include "checks/schedules_judge.h"
#include "sim/engine.h"

typedef struct {
  Model *model;
  Engine *engine;
  Interleave *code;
  RunResult *run;   /* with the checks; the caller's, once bound_open was right */
  GPtrArray *calls; /* arrays of InterleaveCall */
  bool observer;    /* a last process is the checks' */
  bool looked;      /* it has, as step `looked_at` */
  guint looked_at, steps;
  bool stepwise; /* without an observer: judged after each step */
  Operation watched;
  ScheduleJudge judge;
} Bound;

/* False and *error (SCENARIO_ERROR_INPUT): what the scenario asks is not to be had. To be cleared in any case. */
bool bound_open(Bound *b, const Scenario *s, const CheckTable *checks, GError **error);
void bound_clear(Bound *b);
ScheduleProgram bound_program(Bound *b); /* as observer and stepwise are now */
bool bound_is_observer(const Bound *b, guint p);
