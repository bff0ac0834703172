/* export.h - a trace in formats that others draw. Each reads `r` to its end and writes `path` aside, then renames ("-"
 * is stdout); an error leaves nothing behind. A cut trace is exported as far as it goes. */
#pragma once
#include "traces/trace.h"

/* Chrome trace-event JSON, for ui.perfetto.dev and chrome://tracing. One track a process. A step lasts as long as its
 * argument "ns" says, else until that process's next step; the last one is an instant. Untimed traces: a step is 1 us.
 * counters (ends with NULL; NULL: none): names of fields to draw as curves; an argument is added up over all
 * processes, a changed value is drawn as it is. */
bool trace_export_perfetto(TraceReader *r, const char *path, const char *const *counters, GError **error);

/* Mermaid sequence diagram: participants are the `who`s, a step with an argument "to" is a message, any other a note;
 * a lasso is a loop, a violated check a note at the end. More than max_steps: TRACE_ERROR_LIMIT. */
bool trace_export_mermaid(TraceReader *r, const char *path, gint64 max_steps, GError **error);
