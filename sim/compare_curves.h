/* compare_curves.h - both sides as curves, for results.json and, through that, the plot: over what the cases differ in,
 * which is the first list of --set whose values are numbers, else workload.clients. Cases that are alike but for that
 * make a curve a side; scenarios are alike when their names are, but for the number: proc-array-warm-1024 and
 * proc-array-warm-2048. Where no two cases make a curve, each case's pairs do, over the seeds. */
#pragma once
#include "sim/compare_report.h"
#include "sim/loglog.h"

typedef struct {
  char *label; /* "split-pgxactoff, proc-array-warm-few"; of one scenario alone "split-pgxactoff, warm" */
  Side side;
  const char *metric;
  GArray *points; /* of ComparedPoint */
} ComparedCurve;
typedef struct {
  double x, mean;
  guint runs;
} ComparedPoint;

typedef struct {
  char *x_key, *x_name;
  const char *unit;  /* "", "B" or "ns" */
  const char *y;     /* what the metrics have in common: connect_ms; cases where another one decides have no curve */
  bool seeds;        /* x is the number of the pair, from 1 */
  GPtrArray *curves; /* of ComparedCurve; none: no two points make one */
} ComparedCurves;

bool compare_curve_fit(const ComparedCurve *c, LoglogFit *fit);
ComparedCurves *compare_curves(const CompareReport *r);
void compare_curves_free(ComparedCurves *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ComparedCurves, compare_curves_free)
