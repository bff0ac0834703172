/* chart.h - a trace as a sequence chart, before anybody draws it: who takes part, and step by step who did what or said
 * what to whom.
 *
 * A step belongs to the participant that its argument `on` names, else to `who`. Its arguments from, to, message (and
 * from_2, to_2, message_2, ...) are messages; a step without one is something that its participant did. A variable in
 * `changed` that bears a participant's name is that participant's state; in it "by NAME" says for whom it works, where
 * "KIND NAME" is a participant too, and "; holds A, B" which locks it has. */
#pragma once
#include "traces/span.h"

typedef struct {
  guint from, to; /* participants; equal: to itself */
  char *text;
} ChartMessage;

typedef struct {
  char *name, *value;
} ChartVariable;

typedef struct {
  int64_t i, t_ns; /* t_ns: -1 when untimed */
  guint lane, of;  /* of: for whom it was done, a participant; lane: for itself */
  bool hidden;
  char *act;          /* what was done, with the arguments that are told nowhere else: "look up pid=1000" */
  GArray *messages;   /* of ChartMessage */
  GPtrArray *changed; /* of ChartVariable; in the first step shown: the whole state as far as it is known */
} ChartStep;

typedef struct {
  Span *span;
  GPtrArray *lanes; /* char *: clients first, then their pooler, cancels, postmasters and servers, then all others */
  GPtrArray *steps; /* of ChartStep */
} Chart;

/* Reads the file twice. NULL and *error: TRACE_ERROR, as span_read. */
Chart *chart_read(const char *path, const SpanWish *wish, GError **error);
void chart_free(Chart *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Chart, chart_free)
/* What changed beside the states of participants, in words: "pool s: idle [], waiters [a]"; NULL: nothing. g_free */
char *chart_step_notes(const Chart *c, guint step);
