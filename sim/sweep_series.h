/* sweep_series.h - a sweep's results as curves: means over seeds, exponents, the published series beside them. For the
 * table, results.json and, through that, the plot. */
#pragma once
#include "sim/loglog.h"
#include "sim/sweep.h"

typedef struct {
  guint combination;
  double x, mean;
  guint runs; /* that the mean is of */
} SeriesPoint;

/* One metric of one variant over the x axis; where more keys than one are swept, at one combination of the others. */
typedef struct {
  char *label; /* "dense-arrays, warm", "dense-arrays, warm, threads=2" */
  guint variant;
  const char *metric;
  GArray *points; /* of SeriesPoint, in the order of the list; those that were measured */
  bool fitted;
  LoglogFit fit;
  const PublishedSeries *published; /* NULL: none, or not comparable */
  bool published_fitted;            /* its counted points, at the x of `points` */
  LoglogFit published_fit;
} SweepSeries;

#define KNEE_SHARE 0.05

typedef struct {
  guint combination;
  double x, value;    /* the knee, and the metric there */
  double best, worst; /* of the curve */
} SweepKnee;

/* The smallest x at which the metric is within KNEE_SHARE of the way from its worst to its best. False: fewer than
 * three points. */
bool sweep_knee(const SweepSeries *s, SweepKnee *k);

typedef struct {
  const SweepPlan *plan;
  const GPtrArray *results; /* of RunResult *; NULL: not finished */
  GPtrArray *metrics;       /* of char *: what tables and curves show */
  int x;                    /* index of the key on the x axis; -1: no swept key is numeric */
  bool compared;            /* with the published table: its x is all that varies */
  char *y;                  /* what all metrics have in common: "connect_ms"; NULL: nothing */
  GPtrArray *series;        /* of SweepSeries; none without x */
} SweepCurves;

/* metrics: names to show; NULL: those of the published series, or the initial connection times, or where there are none
 * the first ones that there are. Keeps plan and results. */
SweepCurves *sweep_curves(const SweepPlan *p, const GPtrArray *results, const char *const *metrics);
void sweep_curves_free(SweepCurves *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SweepCurves, sweep_curves_free)

/* Over the seeds that have it; false: none. *runs may be NULL. */
bool sweep_mean(const SweepCurves *c, guint combination, guint variant, const char *metric, double *mean, guint *runs);
/* NULL: none to compare with. */
const PublishedPoint *sweep_published(const SweepCurves *c, guint combination, guint variant, const char *metric);
double sweep_deviation(const PublishedPoint *p, double simulated); /* in percent of the published value */
