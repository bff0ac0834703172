/* sweep_grid.h - a sweep as a table of what its points show: a check's verdict ("holds", "violated in 23 steps") where
 * a point is an exploration, a metric's mean where it is a run. What a cell has to say beside is a numbered note below
 * the table: the broken condition, the limit that ended a search, why a point is refused ("-"). */
#pragma once
#include "sim/sweep_series.h"

typedef struct {
  char *title;     /* the check or metric that all cells are of; NULL: the columns say that */
  GPtrArray *rows; /* of GPtrArray of char *, all of one length; the first is the header */
} GridTable;

typedef struct {
  const SweepPlan *plan;
  GPtrArray *tables; /* of GridTable */
  GPtrArray *notes;  /* of char *: the first is [1] */
} SweepGrid;

/* Values of the keys named in `across` become columns, with a table for each check or metric; NULL: there is one table,
 * with a column for each of those. NULL and *error: a name is none of a swept key's. */
SweepGrid *sweep_grid(const SweepCurves *c, const char *across, GError **error);
void sweep_grid_free(SweepGrid *g);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SweepGrid, sweep_grid_free)

void sweep_grid_text(const SweepGrid *g, GString *out);
void sweep_grid_markdown(const SweepGrid *g, GString *out);
/* False and *error: a name of the list is no swept key's. */
bool sweep_across_known(const SweepPlan *p, const char *across, GError **error);
