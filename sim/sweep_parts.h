/* sweep_parts.h - what the parts of a plan share. Private to sim/sweep*.c. */
#pragma once
#include "sim/sweep.h"

#define WRONG(...) (g_propagate_error(error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT, __VA_ARGS__)), false)

/* Loads every combination and variant, and takes from them what the plan says of all. */
bool sweep_load_all(SweepPlan *p, const SweepRequest *r, const ScenarioOptions *base, GError **error);
