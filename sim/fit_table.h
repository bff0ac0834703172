/* fit_table.h - a scenario and its published table as a fit's cells and the runs that give their figures.
 *
 * A run serves all cells of one x and one variant. Warm figures are means of three iterations that come after many
 * cold ones; while searching only the first warm iteration is read (fit_table_quick), since each costs as much and
 * they differ by their draws alone; fit_table_exact runs the scenario as it stands. Runs of one evaluation go to
 * `jobs` threads and share nothing: figures do not depend on how many there are. */
#pragma once
#include "sim/fit.h"
#include "sim/published.h"
#include "sim/run.h"

typedef struct {
  const char *scenario;    /* name or path */
  const char *table;       /* a path, in place of the table that the scenario names; NULL */
  const char *const *sets; /* "KEY=VALUE" over the scenario; NULL */
  const char *seed;        /* NULL: the scenario's */
  const char *const *dirs;
  guint jobs;
  bool exact_only;         /* for fit_table_exact alone: nothing is run to learn which iterations are warm */
  const gint *interrupted; /* may be NULL */
} FitTableRequest;

typedef struct FitTable FitTable;
/* Reads everything and, but for exact_only, makes one run of each (x, variant) to learn which iterations are warm. NULL
 * and *error, which is SCENARIO_ERROR or FIT_ERROR for what was asked in vain; NULL without: interrupted. */
FitTable *fit_table_new(const FitTableRequest *request, GError **error);
void fit_table_free(FitTable *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FitTable, fit_table_free)

FitCell *fit_table_cells(FitTable *t, guint *n); /* by column, then by x; owned by t, counted may be changed */
const Published *fit_table_published(const FitTable *t);
const Scenario *fit_table_scenario(const FitTable *t); /* of the first run */
/* The cell of a series' point. */
guint fit_table_cell(const FitTable *t, guint series, guint point);

/* As FitProblem.simulate; data is the FitTable. */
bool fit_table_quick(void *table, const Costs *costs, double *figures, GError **error);
bool fit_table_exact(void *table, const Costs *costs, double *figures, GError **error);
