/* export.h - a trace in formats that others draw. Each reads `r` to its end and writes `path` aside, then renames ("-"
 * is stdout); an error leaves nothing behind. A cut trace is exported as far as it goes. */
#pragma once
#include "traces/chart.h"

/* Chrome trace-event JSON, for ui.perfetto.dev and chrome://tracing. One track a process. A step lasts as long as its
 * argument "ns" says, else until that process's next step; the last one is an instant. Untimed traces: a step is 1 us.
 * counters (ends with NULL; NULL: none): names of fields to draw as curves; an argument is added up over all
 * processes, a changed value is drawn as it is. */
bool trace_export_perfetto(TraceReader *r, const char *path, const char *const *counters, GError **error);

/* Mermaid sequence diagram: a step with messages is its arrows, any other a note over its participant; what else it
 * changed stands at the right; a lasso is a loop, the violated check a note at the end. */
bool trace_export_mermaid(const Chart *c, const char *path, GError **error);
