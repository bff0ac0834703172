/* sequence_bars.h - the bars on the lifelines of a sequence chart: from which step to which a participant works for
 * another, runs something, or holds a lock, as the states in the trace say. For sequence.c and its test. */
#pragma once
#include "traces/chart.h"

typedef enum {
  BAR_OF,   /* it works for participant `of`: "taken by a" */
  BAR_RUNS, /* and a query of that one runs: "taken by a, q1 runs" */
  BAR_LOCK  /* it holds lock number `of` */
} BarKind;
typedef struct {
  BarKind kind;
  guint lane, of;
  guint first, last; /* rows: the step after which it is so, and the step that ends it; the number of rows: none does */
} ChartBar;

typedef struct {
  GArray *bars;     /* of ChartBar, by lane, then by first row */
  GPtrArray *locks; /* char *: names, in order of first use */
} ChartBars;

ChartBars *chart_bars(const Chart *c);
void chart_bars_free(ChartBars *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ChartBars, chart_bars_free)
