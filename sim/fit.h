/* fit.h - constants of a profile fitted to a table of figures: search, intervals, what the figures cannot tell apart.
 *
 * Objective: the sum over counted cells of ((simulated - observed) / tolerance)^2, the tolerance being 5 % of the
 * observed figure or its author's own plus or minus where that is larger: what the fit is judged by, so no cell buys
 * another's miss with digits nobody asked for. The simulator is piecewise in its constants, so no derivative is used to
 * search: NLopt's controlled random search within the bounds, then a subplex from its best point; both see logarithms
 * of the constants. Nothing here knows scenarios (fit_table.h) or output (fit_report.h); figures come from a callback.
 */
#pragma once
#include "model/world/costs.h"
#include <glib.h>
#include <stdbool.h>

#define FIT_ERROR (g_quark_from_static_string("fit-error"))
typedef enum { FIT_ERROR_INPUT } FitError; /* ends the program with exit status 2 */
enum { FIT_MAX_FREE = 12 };

typedef struct {
  CostId id;
  int64_t low, high; /* ps, 0 < low < high */
  int64_t start;     /* within them; 0: as FitProblem.base says, moved into the bounds */
} FitFree;

typedef struct {
  char *name;                 /* "512/patched_warm": x and column */
  double observed, tolerance; /* both > 0 */
  bool counted;
} FitCell;

typedef struct {
  const FitCell *cells;
  guint n_cells;
  FitFree free[FIT_MAX_FREE];
  guint n_free;
  Costs base; /* where the search starts, and the value of what is not free */
  /* One figure a cell. False: *error, or (without) interrupted. */
  bool (*simulate)(void *data, const Costs *costs, double *figures, GError **error);
  void *data;
  uint64_t seed;       /* of the search */
  guint global, local; /* at most so many simulations of each search; 0, 0: only the start is looked at */
  void (*progress)(void *data, guint evals, double worst); /* may be NULL */
} FitProblem;

/* What ended a search. */
typedef enum { FIT_NOT_RUN, FIT_CONVERGED, FIT_LIMIT, FIT_STUCK } FitStop;

typedef struct {
  Costs costs;
  double *figures; /* of each cell */
  FitStop global, local;
  double objective;
  double worst;             /* largest |deviation| of a counted cell, relative to the observed figure */
  guint worst_cell, missed; /* missed: counted cells outside their tolerance */
  guint evals;
} FitResult;
void fit_result_clear(FitResult *r);

/* "KEY=LOW:HIGH" or "KEY=LOW:START:HIGH", and "KEY=VALUE", with units; FIT_ERROR. */
bool fit_parse_free(const char *text, FitFree *out, GError **error);
bool fit_parse_fix(const char *text, CostId *id, int64_t *ps, GError **error);

/* Marks cells not counted: "512/patched_warm", "x:512" or "column:patched_warm", several with commas between. An item
 * that names no cell is an error; so is leaving nothing. */
bool fit_leave_out(FitCell *cells, guint n, const char *items, GError **error);

/* Fills what follows from costs and figures. */
void fit_judge(const FitProblem *p, FitResult *r);
/* Global, then local. */
bool fit_search(const FitProblem *p, FitResult *r, GError **error);
/* From p->base to the next minimum, with at most p->local simulations. */
bool fit_local(const FitProblem *p, FitResult *r, GError **error);
/* The constant `gone` held at 0, the others refitted from `best`. */
bool fit_without(const FitProblem *p, const FitResult *best, guint gone, FitResult *r, GError **error);

/* ---- how well the constants are known (fit_stats.c) ---- */
enum { FIT_STEP_PERCENT = 10 }; /* of the differences: up and down by so much, as smaller steps see single jumps */
typedef struct {
  double low[FIT_MAX_FREE], high[FIT_MAX_FREE]; /* 95 % interval in ps; high may be infinite */
  double cosine[FIT_MAX_FREE][FIT_MAX_FREE];    /* between columns of the Jacobian: 1 = the same to the figures */
  double effect[FIT_MAX_FREE];                  /* norm of the column: change in tolerances for a factor e */
  double singular[FIT_MAX_FREE];                /* of the Jacobian, largest first */
  double weakest[FIT_MAX_FREE];                 /* direction (in logarithms) that the figures fix least */
  double scatter;                               /* of residuals, in tolerances: sqrt(objective / (cells - constants)) */
  int freedom;                                  /* counted cells less free constants; <= 0: no intervals */
} FitStats;
bool fit_stats(const FitProblem *p, const FitResult *best, FitStats *out, GError **error);
/* Eigenvalues (largest first) and vectors (columns of v) of the symmetric n x n matrix a, which is destroyed. */
void symmetric_eigen(double a[FIT_MAX_FREE][FIT_MAX_FREE], double v[FIT_MAX_FREE][FIT_MAX_FREE], double *value,
                     guint n);

typedef enum { FIT_INSIDE, FIT_AT_LOW, FIT_AT_HIGH } FitBound;
FitBound fit_at_bound(const FitFree *f, int64_t ps); /* within 1 % of the range, in logarithms */
