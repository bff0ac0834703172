/* walk.h - one path through a model's states, step by step: written as a trace, told in words, judged; what a
 * counterexample and its replay have in common. */
#pragma once
#include "checks/search.h"
#include "sim/run.h"

/* A move in names, before it is made: who makes it ("server[6]"), and what ("reply"). */
enum { WALK_WHO_MAX = 96 };
const char *walk_who(const World *w, Move m, char buffer[WALK_WHO_MAX]); /* returns buffer */
const char *walk_doing(const World *w, Move m);
/* How the scenario says it is to be explored (explore.time, explore.jitter). */
void walk_config(const Scenario *s, StepperConfig *c);

typedef struct {
  /* The next branch to make, from where the stepper stands; false: the path ends here. */
  bool (*next)(void *data, Stepper *s, Branch *b);
  void *data;
  GString *text;     /* steps in words, one a line, are appended; NULL */
  bool stop_at_once; /* when a check is broken */
  bool lasso;        /* the steps from lasso_from on should lead back to the state before them, for ever */
  uint64_t lasso_from;
} WalkPath;

/* Walks it in a stepper of its own and judges after every step: o->trace_path, o->saw, o->checks and o->command are
 * used. The result has a verdict (fail when something is broken), the checks, steps and state hash, as a trace's footer
 * wants them. NULL and *error as run_scenario. */
RunResult *walk(const Scenario *s, const RunOptions *o, const WalkPath *p, GError **error);

/* Next branches of a finding's path. */
typedef struct {
  const GArray *path; /* of Branch */
  guint at;
} WalkCursor;
bool walk_next(void *cursor, Stepper *s, Branch *b);

/* For App: stampede replay of what `check` wrote. `recorded` gives the step that is due, NULL at the end. */
RunResult *walk_replay(const Scenario *s, const RunOptions *o, const TraceStep *(*recorded)(void *replay),
                       GError **error);
