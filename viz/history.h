/* history.h - the state of a traced run, step by step: every variable that the steps' `changed` named, with its value
 * after each of the last steps up to the one that broke a check (to the end when none did). */
#pragma once
#include "traces/span.h"

typedef struct {
  char *name, *value;
  char *old; /* its value before this step; NULL: not changed in it */
} HistoryVariable;

typedef struct {
  int64_t i, t_ns;         /* t_ns: -1 when untimed */
  char *who, *what, *args; /* who: may be NULL; args: "procno=3, faults=2", "" for none */
  bool hidden;
  GPtrArray *variables; /* of HistoryVariable, in order of first appearance in the trace */
} HistoryStep;

typedef struct {
  Span *span;
  GPtrArray *steps; /* of HistoryStep: those of the span, at least one */
} History;

/* Reads the file twice: the footer says which step to end with. NULL and *error: TRACE_ERROR, or VIZ_ERROR_INPUT when
 * no step says what it changed. */
History *history_read(const char *path, const SpanWish *wish, GError **error);
void history_free(History *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(History, history_free)
