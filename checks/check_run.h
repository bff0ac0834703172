/* check_run.h - a scenario explored: search, verdicts, counterexamples as traces, and the report. */
#pragma once
#include "checks/estimate.h"
#include "checks/reduce_verify.h"
#include "checks/walk.h"
#include "sim/cli.h"

typedef struct {
  SearchOptions search;   /* `stepper`, `checks` and `seed` are filled in from the scenario */
  const char *trace_path; /* of the first counterexample, or of an example run; others get .2, .3, ... NULL: none */
  bool quiet;             /* no steps in words */
  bool verdicts_only;     /* a point of a sweep: no expectations, no paths, no coverage */
} CheckOptions;

typedef struct {
  const Finding *finding; /* NULL: an example of a run in which nothing is broken */
  GString *words;         /* its steps, one a line */
  char *trace;            /* the file; NULL: none */
  guint steps;
} CheckPath;

typedef struct {
  RunResult *run; /* verdicts and expectations; metrics when the virtual-time run was made */
  SearchResult *search;
  SearchOptions options;
  const char *time;   /* "untimed" */
  GPtrArray *paths;   /* of CheckPath */
  GPtrArray *never;   /* char*: "backend ProcArrayAdd": stages that machines list and that were never run */
  double peak_rss_mb; /* measured */
} CheckReport;

/* NULL and *error: SCENARIO_ERROR (exit 2), TRACE_ERROR (exit 4). */
CheckReport *check_run(const App *app, const Scenario *s, const CheckOptions *o, GError **error);
/* Instead: are the reductions that it would use what they are taken for? Looks at no more than max_states of them. */
bool check_verify(const App *app, const Scenario *s, const CheckOptions *o, Verified *v, GError **error);
/* Instead: how large is the space that it would search, with its reductions? At most `sample` states of each level. */
bool check_estimate(const App *app, const Scenario *s, const CheckOptions *o, guint sample, Estimate *e,
                    GError **error);
void check_report_free(CheckReport *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CheckReport, check_report_free)
int check_report_exit(const CheckReport *r);
void check_report_json(const CheckReport *r, Output *o);
void check_report_text(const CheckReport *r, GString *out, bool color);

/* For App: sweep --job check. */
extern const CheckJob check_job;

/* Its parts: a result that knows what is to be judged, and that as a list of const Check* for a search. */
RunResult *check_run_begin(const App *app, const Scenario *s, GError **error);
GPtrArray *check_run_judged(const RunResult *r);

int cmd_check(const App *app, int argc, char **argv);
