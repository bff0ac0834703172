/* span.h - which steps of a trace a picture shows. The footer decides, so the trace is read to its end first: which
 * check was broken and when, whether the end leads back. */
#pragma once
#include "traces/trace.h"

typedef struct {
  int64_t from, to; /* steps, both shown; -1: not said */
  guint last;       /* without `from`: the last so many, up to the one that broke a check, or to `to`; > 0 */
  guint most;       /* more are refused */
} SpanWish;

typedef struct {
  char *scenario, *subject;
  uint64_t seed;
  int64_t total;       /* steps in the trace */
  int64_t first, last; /* to be shown; last < first: there are none */
  bool cut;            /* no footer: the trace was cut */
  char *check, *why;  /* the violated check that was decided first, its broken condition; NULL: none; why may be NULL */
  bool ends_broken;   /* the last step to be shown is the one that broke it */
  int64_t broken;     /* the step that broke it; -1: not said, or none */
  int64_t lasso_from; /* the last step of the trace leads back to the state before this one; -1: it does not */
} Span;

/* NULL and *error: TRACE_ERROR; TRACE_ERROR_LIMIT when the wish names steps that are not there, or too many. */
Span *span_read(const char *path, const SpanWish *wish, GError **error);
void span_free(Span *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Span, span_free)
