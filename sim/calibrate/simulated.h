/* simulated.h - a storm of the scenario in virtual time, as a StormSeries. */
#pragma once
#include "sim/calibrate/storm_series.h"
#include "sim/run.h"

/* NULL and *error as run_scenario; NULL without: interrupted. *result, if wanted, is the run. */
StormSeries *storm_simulate(const Scenario *s, const gint *interrupted, RunResult **result, GError **error);
