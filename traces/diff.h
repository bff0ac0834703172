/* diff.h - where two traces first differ, in words. */
#pragma once
#include "traces/trace.h"

typedef struct {
  char *field; /* "seed", "args.procno", "length" */
  char *a, *b; /* the two values as text; "(absent)" where one has none */
} TraceDifference;

typedef struct {
  GArray *header;        /* of TraceDifference: all differences of the two headers */
  bool stepped;          /* a step differs, or one trace ends earlier: */
  int64_t step;          /*   at this index */
  bool cut;              /* both traces were cut, after the same steps */
  bool ended;            /* the footers differ (the steps do not) */
  TraceDifference first; /* of that step, or of the footers */
  char *before;          /* the step before it in words; NULL: none */
  int64_t hashes;        /* the headers differ, and the state hashes from this step on; -1: not before what is told */
} TraceDiff;

/* Reads both readers from their first step up to the first difference. State hashes are compared where both traces
 * have one, when their K differs. Where headers differ a hash alone is no first difference: another policy makes every
 * hash another, and what somebody does otherwise comes later. NULL and *error when one cannot be read. Free with
 * trace_diff_free. */
TraceDiff *trace_diff(TraceReader *a, TraceReader *b, GError **error);
void trace_diff_free(TraceDiff *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceDiff, trace_diff_free)
bool trace_diff_identical(const TraceDiff *d);
/* A few lines for people: "header: seed is 1 in a.jsonl, 2 in b.jsonl", ... */
void trace_diff_words(const TraceDiff *d, const char *name_a, const char *name_b, GString *out);

/* One step or footer against another, for replay: fills *d with the first field that differs and returns true; the
 * texts are freed with trace_difference_clear. */
bool trace_step_differs(TraceDifference *d, const TraceStep *a, const TraceStep *b);
bool trace_end_differs(TraceDifference *d, const TraceEnd *a, const TraceEnd *b);
void trace_difference_clear(TraceDifference *d);
