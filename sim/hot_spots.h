/* hot_spots.h - what a run cost, by structure and site and, for real code, by source line and call chain. */
#pragma once
#include "sim/model.h"
#include "sim/result.h"

/* From the model's ledger into r->hotspots and r->stacks. */
void hot_spots_keep(const Model *m, RunResult *r);
