/* run.h - one deterministic run of a scenario in virtual time: build the model, drive it, judge it, measure it. */
#pragma once
#include "sim/engine.h"
#include "sim/result.h"

typedef struct {
  const char *command; /* "run" */
  CheckTable checks;
  const char *trace_path;  /* NULL: none is written */
  int64_t k;               /* a state hash every k steps of the trace; 0: RUN_K */
  const gint *interrupted; /* set by a signal handler; NULL */
  gint64 deadline_us;      /* of g_get_monotonic_time: ends it, and r->late says so; 0: none */
  const Costs *costs;      /* in place of the scenario's profile (calibrate fit); NULL */
  /* Replay: gives the choices and sees each step; may stop the run by returning false. */
  bool (*chosen)(void *replay, const char *what, uint64_t n, uint64_t *took);
  bool (*saw)(void *replay, const TraceStep *step);
  void *replay;
  int64_t judge_at; /* with saw: a step after which checks are judged whatever the stride; -1: none */
  bool lasso;       /* replay: the recorded steps from this one on are a round */
  int64_t lasso_from;
  int64_t stop_at; /* with saw: after so many steps it is over, as if interrupted, if there is more to come; 0: none */
} RunOptions;

enum { RUN_K = 1024 };

/* NULL and *error: SCENARIO_ERROR for what the scenario asks in vain (exit 2), TRACE_ERROR for the trace file (exit 4).
 */
RunResult *run_scenario(const Scenario *s, const RunOptions *o, GError **error);

double run_peak_rss_mb(void); /* of this process, so far */

/* The header a trace of this scenario starts with. Free with run_trace_header_free. */
TraceHeader *run_trace_header(const Scenario *s, const char *command, const char *subject, int64_t k);
void run_trace_header_free(TraceHeader *h);
