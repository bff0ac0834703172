/* parse.h - inside of the reader: what a line says, apart from which line may come when (reader.c). */
#pragma once
#include "traces/members.h"

/* What the structs point to: arrays used again for each line. Strings live in the line. */
typedef struct {
  GArray *args, *changed; /* of NoteField */
  GArray *choices;        /* of TraceChoice */
  GArray *checks;         /* of TraceCheck */
  GArray *metrics;        /* of TraceMetric */
  GArray *sources;        /* of TraceSource */
  GPtrArray *overrides;   /* of const char *, ends with NULL */
} TraceParts;

void trace_parts_init(TraceParts *p);
void trace_parts_clear(TraceParts *p);

/* Each: NULL, or what is wrong with the object that is the line (values[0]); g_free. */
char *trace_parse_header(const GArray *values, TraceParts *p, TraceHeader *header);
char *trace_parse_step(const GArray *values, TraceParts *p, TraceStep *step);
char *trace_parse_end(const GArray *values, TraceParts *p, TraceEnd *end);
