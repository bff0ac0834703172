/* fit_report.h - what a fit found, told: tables for people, a profile for scenarios. Nothing of the clock, so a
 * repeated fit gives the same bytes. */
#pragma once
#include "sim/fit.h"
#include "sim/fit_table.h"
#include "traces/output.h"

enum { FIT_SEEDS = 5 };

/* The constant left out, the others refitted. */
typedef struct {
  CostId id;
  double worst;
  const char *cell; /* of the worst */
} FitWithout;

typedef struct {
  uint64_t seed;
  double worst;
  const char *cell;
  guint missed;
} FitSeed;

/* Figures of the same cells with one more key changed: what somebody could go and measure. */
typedef struct {
  char *set;
  double *figures;
} FitPrediction;

typedef struct {
  const FitProblem *problem;
  const FitTable *table;
  const FitResult *result; /* exact: figures of the scenario as it stands */
  FitStats stats;
  GArray *without, *seeds, *predictions; /* of FitWithout, FitSeed, FitPrediction */
  const char *start;                     /* the profile that the other constants are of */
  const char *name, *about, *command;
  const GPtrArray *fixed; /* of char*: keys given by --fix */
  uint64_t seed;
  guint evals;
} FitStory;

/* "local search: ended at its limit of 60 simulations (--evals)" */
const char *fit_stop_words(FitStop stop);
void fit_report_text(const FitStory *s, GString *out);
void fit_report_json(const FitStory *s, Output *o);
void fit_report_profile(const FitStory *s, GString *out); /* YAML, with the tables as comments */

/* A cost as a profile writes it, exact: 4.59ms, 0.8ps is impossible. Caller frees. */
char *fit_cost_text(int64_t ps);
int64_t fit_round(int64_t ps, int digits); /* to so many significant digits, half up */
/* Each fitted cost per byte beside memcpy and hashes, measured here and now: not the same twice, so for people only. */
void fit_report_bytes(const FitStory *s, GString *out);
