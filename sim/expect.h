/* expect.h - the lines of `expect` against what a run showed, and the run's verdict. */
#pragma once
#include "sim/result.h"

#define EXPECT_LIVE_ORDERS "live --explore"

/* Fills r->expectations (anew) and r->verdict. An expectation on a metric that this scenario cannot have is an error
 * (SCENARIO_ERROR, exit 2). `way`: "run", "check", "live"; a line that another way judges is kept, unjudged. Of many
 * orders around a real pooler (EXPECT_LIVE_ORDERS) metrics are not judged, as the run is one of them; r->limited: there
 * are more. */
bool expect_judge(const Scenario *s, const char *way, RunResult *r, GError **error);

/* Adds to r->metrics what lines of `expect` ask for beyond what every run tells: of one pool, over a part of the run.
 */
void expect_measure(const Scenario *s, const Model *m, RunResult *r);

/* The checks to judge, as r->checks: those of `checks`, those that lines of `expect` name beside, and a user's model's
 * own; of a server's code under `processes` the proc array's, where the scenario has neither key. False and *error when
 * one is neither in the table nor the model's. */
bool expect_checks(const Scenario *s, const Model *m, const CheckTable *table, RunResult *r, GError **error);
/* The scenario says that this check is violated here, and it was: what was expected of this run, no fault of it. */
bool expect_foretold(const RunResult *r, const char *check);
bool expect_judged_by(const Scenario *s, guint i, const char *way); /* line i of `expect` */
