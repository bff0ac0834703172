/* sweep_report.h - a sweep told: a table for people, results.csv, results.json (its format: README). */
#pragma once
#include "sim/sweep_grid.h"

typedef struct {
  const SweepCurves *curves;
  const SweepGrid *grid; /* what the text shows for a table; NULL: simulated figures, beside published ones */
  const char *knee;      /* the metric whose knee is looked for; NULL: none's */
  bool interrupted;
  double wall_ms; /* of the tool itself: with jobs the only thing that differs between runs */
  guint jobs;
} SweepReport;

void sweep_text(const SweepReport *r, GString *out, bool color);
/* A row a finished or refused point: swept keys, variant, seed, verdict ("refused" for one that contradicts itself), of
 * an exploration each check's verdict and steps, then each metric that any point has, in order of first appearance;
 * empty where this point has none. Quoted after RFC 4180, where need be. */
void sweep_csv(const SweepReport *r, Output *o);
void sweep_json(const SweepReport *r, Output *o);

guint sweep_finished(const SweepReport *r);
guint sweep_with_verdict(const SweepReport *r, RunVerdict v);
guint sweep_refusals(const SweepPlan *p); /* points that contradict themselves */
/* The worst of the points (1 before 3 before 0); 130 when interrupted. */
int sweep_exit(const SweepReport *r);
/* Costs that no mechanism explains, of all points: of Unexplained, each key once. */
GArray *sweep_unexplained(const SweepReport *r);
