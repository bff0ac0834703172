/* tracing.h - a run told step by step: to a trace file, to a replay, or both. */
#pragma once
#include "sim/run.h"

typedef struct Tracing Tracing;
/* header: as run_trace_header makes it; used during the call. NULL and *error when the file cannot be opened. */
Tracing *tracing_new(const RunOptions *o, const TraceHeader *header, int64_t k, GError **error);
void tracing_step(Tracing *t, const Model *m, const EngineStep *s);
/* A step that no engine made: it has i, t_ns, who, what, args, choices. What changed comes of what `describe` tells of
 * `of`, the hash, where one is due, is m's. */
void tracing_record(Tracing *t, TraceStep *step, const Model *m,
                    void (*describe)(const void *of, void (*each)(const char *name, const char *value, void *data),
                                     void *data),
                    const void *of);
bool tracing_stopped(const Tracing *t); /* the replay has seen enough, or the file cannot be written */
bool tracing_end(Tracing *t, const RunResult *r, GError **error);
void tracing_free(Tracing *t);

/* What a result leaves in a trace's footer; its arrays are freed with tracing_footer_clear. */
void tracing_footer(const RunResult *r, TraceEnd *end);
void tracing_footer_clear(TraceEnd *end);
