/* published.h - the published table that a scenario names (`published`), as series of points.
 *
 * The table is a CSV file among the program's data: lines of # are comments, the first other line names the columns,
 * the first column is x. An empty cell is no point. Errors: SCENARIO_ERROR, "FILE:LINE: ...", or the scenario's line.
 */
#pragma once
#include "sim/scenario/scenario.h"

typedef struct {
  double x, y, spread; /* spread: plus or minus, 0 where none is given */
  bool counted;        /* false: shown, not judged */
} PublishedPoint;

typedef struct {
  char *metric, *column;
  char *variant;  /* of the server, or a pooler's preset; NULL: whichever ran */
  bool preset;    /* a pooler's */
  GArray *points; /* of PublishedPoint, in the table's order */
} PublishedSeries;

typedef struct {
  char *table, *x;   /* "connect-storm.csv"; the key that varies: "workload.clients" */
  char *text;        /* of the file */
  double x_value;    /* what that key says in this scenario */
  bool x_known;      /* false: it is no number there */
  GPtrArray *series; /* of PublishedSeries */
} Published;

/* NULL without *error: the scenario names no table. */
Published *published_load(const Scenario *s, const char *const *dirs, GError **error);
/* The same from the file `path` in place of the table that the scenario names. */
Published *published_read(const Scenario *s, const char *path, GError **error);
void published_free(Published *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Published, published_free)

/* NULL: none. A series without a variant is of every variant. */
const PublishedSeries *published_find(const Published *p, const char *metric, const char *variant);
const PublishedPoint *published_at(const PublishedSeries *s, double x);
