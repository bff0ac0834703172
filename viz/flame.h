/* flame.h - a flame graph of what a run cost: how wide a box is says what share of time, faults or stores lies in it
 * and above it. Of real code: the call of the process, functions, inlined ones too, file:line, structure.field; of the
 * built-in model: site and structure. Siblings stand by name, so that two pictures can be compared. */
#pragma once
#include "viz/picture.h"

typedef enum { FLAME_NS, FLAME_FAULTS, FLAME_STORES, FLAME_WEIGHTS } FlameWeight;
bool flame_weight_parse(const char *word, FlameWeight *w); /* "ns", "faults", "stores" */

/* From the JSON result of a run (run --json). False: VIZ_ERROR_INPUT (no such result, nothing of that weight in it),
 * VIZ_ERROR_TOOL, TRACE_ERROR_WRITE. */
bool viz_flame(const char *result, FlameWeight weight, const char *path, VizFormat format, GError **error);
