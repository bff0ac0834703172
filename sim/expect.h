/* expect.h - the lines of `expect` against what a run showed, and the run's verdict. */
#pragma once
#include "sim/result.h"

/* Fills r->expectations and r->verdict. An expectation on a metric that this scenario cannot have is an error
 * (SCENARIO_ERROR, exit 2). `way`: "run", "check", "live"; a line that another way judges is kept, unjudged. */
bool expect_judge(const Scenario *s, const char *way, RunResult *r, GError **error);

/* Checks that lines of `expect` name and `checks` does not are judged as well: their names, in order. */
GPtrArray *expect_checks(const Scenario *s);
