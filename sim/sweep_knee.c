/* sweep_knee.c - where a curve bends: beyond it more of x gains little. The rule is one that can be said in a sentence
 * and checked in a table: the smallest x at which the metric is within KNEE_SHARE of the way from the curve's worst
 * value to its best. It depends on how far the sweep goes to the bad side, as every rule does that scales by the range
 * (Kneedle, Satopaa, Albrecht, Irwin and Raghavan 2011, among them); so both ends of the range are told beside it. */
#include "sim/metrics.h"
#include "sim/sweep_series.h"

bool sweep_knee(const SweepSeries *s, SweepKnee *k) {
  const double sign = metric_higher_is_better(s->metric) ? 1 : -1;
  bool found = false;
  if (s->points->len < 3) return false;
  k->best = k->worst = g_array_index(s->points, SeriesPoint, 0).mean;
  for (guint i = 0; i < s->points->len; i++) {
    const double v = g_array_index(s->points, SeriesPoint, i).mean;
    if (sign * (v - k->best) > 0) k->best = v;
    if (sign * (v - k->worst) < 0) k->worst = v;
  }
  for (guint i = 0; i < s->points->len; i++) {
    const SeriesPoint *p = &g_array_index(s->points, SeriesPoint, i);
    if (sign * (k->best - p->mean) > KNEE_SHARE * sign * (k->best - k->worst) || (found && p->x > k->x)) continue;
    found = true;
    k->x = p->x;
    k->combination = p->combination;
    k->value = p->mean;
  }
  g_assert(found); /* the best is within */
  return true;
}
