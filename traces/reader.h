/* reader.h - inside of the reader: what a line says, apart from which line may come when (reader.c). */
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
} Parts;

void parts_init(Parts *p);
void parts_clear(Parts *p);

/* Each: NULL, or what is wrong with the object; g_free. */
char *parse_header(JsonObject *object, Parts *p, TraceHeader *header);
char *parse_step(JsonObject *object, Parts *p, TraceStep *step);
char *parse_end(JsonObject *object, Parts *p, TraceEnd *end);
