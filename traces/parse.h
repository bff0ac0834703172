/* parse.h - inside of the reader: what a line says, apart from which line may come when (reader.c). */
#pragma once
#include "traces/members.h"

/* What the structs point to: arrays used again for each line. Strings live in the JSON tree. */
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

/* Each: NULL, or what is wrong with the object; g_free. */
char *trace_parse_header(JsonObject *object, TraceParts *p, TraceHeader *header);
char *trace_parse_step(JsonObject *object, TraceParts *p, TraceStep *step);
char *trace_parse_end(JsonObject *object, TraceParts *p, TraceEnd *end);
