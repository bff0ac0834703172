/* fit_table.c - see fit_table.h. */
#include "sim/fit_table.h"
#include "sim/metrics.h"
#include <math.h>
#include <string.h>

enum { WARM_MAX = 8 }; /* warm.X is the mean of so many iterations at most */

/* One x and variant. */
typedef struct {
  char *variant, *x;       /* variant NULL: the scenario's own */
  bool preset;             /* it is a pooler's */
  Scenario *whole, *quick; /* quick NULL: the whole one serves */
  int warm;                /* the first warm iteration; 0: none is asked for */
} TableRun;

typedef struct {
  guint run;
  const char *metric; /* of the whole run */
  char *quick;        /* of the quick one */
} TableCell;

struct FitTable {
  FitTableRequest request;
  Published *published;
  GArray *cells;   /* of FitCell */
  GArray *sources; /* of TableCell, one a cell */
  GPtrArray *runs; /* of TableRun */
};

static void run_free(gpointer p) {
  TableRun *r = p;
  g_clear_pointer(&r->whole, scenario_free);
  g_clear_pointer(&r->quick, scenario_free);
  g_free(r->variant);
  g_free(r->x);
  g_free(r);
}
static void cell_clear(gpointer p) {
  g_free(((FitCell *)p)->name);
}
static void source_clear(gpointer p) {
  g_free(((TableCell *)p)->quick);
}

void fit_table_free(FitTable *t) {
  if (!t) return;
  published_free(t->published);
  g_array_unref(t->cells);
  g_array_unref(t->sources);
  g_ptr_array_unref(t->runs);
  g_free(t);
}

/* ---- evaluating: every run once, on `jobs` threads ---- */

typedef struct {
  const FitTable *t;
  const Costs *costs;
  bool quick;
  RunResult **result; /* by run; as errors */
  GError **error;
} Evaluation;

/* A search need not look at what does not count. */
static bool counts(const FitTable *t, guint run) {
  for (guint c = 0; c < t->cells->len; c++)
    if (g_array_index(t->sources, TableCell, c).run == run && g_array_index(t->cells, FitCell, c).counted) return true;
  return false;
}

static void evaluate_run(gpointer number, gpointer user) {
  const Evaluation *e = user;
  guint i = GPOINTER_TO_UINT(number) - 1;
  if (e->quick && !counts(e->t, i)) return;
  const TableRun *r = e->t->runs->pdata[i];
  RunOptions o = {.command = "calibrate fit", .costs = e->costs, .interrupted = e->t->request.interrupted};
  e->result[i] = run_scenario(e->quick && r->quick ? r->quick : r->whole, &o, &e->error[i]);
}

/* The largest first, so that no thread is left with a long one at the end: later x are larger in every table known. */
static void evaluate_all(Evaluation *e) {
  guint n = e->t->runs->len;
  GThreadPool *pool = g_thread_pool_new(evaluate_run, e, (gint)e->t->request.jobs, TRUE, NULL);
  g_assert(pool);
  for (guint i = n; i > 0; i--) g_thread_pool_push(pool, GUINT_TO_POINTER(i), NULL);
  g_thread_pool_free(pool, FALSE, TRUE);
}

static bool figure(const RunResult *r, const char *metric, const char *cell, double *value, GError **error) {
  if (run_result_metric(r, metric, value)) return true;
  g_set_error(error, FIT_ERROR, FIT_ERROR_INPUT, "%s: the scenario gives no %s%s%s", cell, metric,
              r->stopped ? "; " : "", r->stopped ? r->stopped : "");
  return false;
}

static bool figures_of(const Evaluation *e, double *figures, GError **error) {
  for (guint i = 0; i < e->t->runs->len; i++) {
    if (e->error[i]) {
      g_propagate_error(error, g_steal_pointer(&e->error[i]));
      return false;
    }
    if (e->result[i] && e->result[i]->interrupted) return false;
  }
  for (guint i = 0; i < e->t->cells->len; i++) {
    const TableCell *s = &g_array_index(e->t->sources, TableCell, i);
    const char *cell = g_array_index(e->t->cells, FitCell, i).name;
    figures[i] = 0;
    if (!e->result[s->run]) continue;
    if (!figure(e->result[s->run], e->quick ? s->quick : s->metric, cell, &figures[i], error)) return false;
  }
  return true;
}

static bool evaluate(const FitTable *t, const Costs *costs, bool quick, double *figures, GError **error) {
  guint n = t->runs->len;
  g_autofree RunResult **result = g_new0(RunResult *, n);
  g_autofree GError **errors = g_new0(GError *, n);
  Evaluation e = {t, costs, quick, result, errors};
  evaluate_all(&e);
  bool ok = figures_of(&e, figures, error);
  for (guint i = 0; i < n; i++) {
    if (result[i]) run_result_free(result[i]);
    g_clear_error(&errors[i]);
  }
  return ok;
}

bool fit_table_quick(void *table, const Costs *costs, double *figures, GError **error) {
  g_assert(!((const FitTable *)table)->request.exact_only);
  return evaluate(table, costs, true, figures, error);
}
bool fit_table_exact(void *table, const Costs *costs, double *figures, GError **error) {
  return evaluate(table, costs, false, figures, error);
}

/* ---- building ---- */

static Scenario *load(const FitTable *t, const TableRun *r, const char *iterations, GError **error) {
  g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; t->request.sets && t->request.sets[i]; i++) g_ptr_array_add(sets, g_strdup(t->request.sets[i]));
  if (r->variant)
    g_ptr_array_add(sets, g_strconcat(r->preset ? "pooler.preset=" : "postgres.variant=", r->variant, NULL));
  if (r->x) g_ptr_array_add(sets, g_strconcat(t->published->x, "=", r->x, NULL));
  if (iterations) g_ptr_array_add(sets, g_strconcat("workload.iterations=", iterations, NULL));
  g_ptr_array_add(sets, NULL);
  ScenarioOptions o = {.sets = (const char *const *)sets->pdata,
                       .seed = t->request.seed,
                       .dirs = t->request.dirs,
                       .metrics = metric_patterns()};
  return scenario_load(t->request.scenario, &o, error);
}

static bool add_run(FitTable *t, const PublishedSeries *s, double x, guint *index, GError **error) {
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(number, sizeof number, "%.15g", x);
  for (*index = 0; *index < t->runs->len; (*index)++) {
    const TableRun *r = t->runs->pdata[*index];
    if (!g_strcmp0(r->variant, s->variant) && !strcmp(r->x, number)) return true;
  }
  TableRun *r = g_new0(TableRun, 1);
  g_ptr_array_add(t->runs, r);
  r->variant = g_strdup(s->variant);
  r->preset = s->preset;
  r->x = g_strdup(number);
  r->whole = load(t, r, NULL, error);
  return r->whole != NULL;
}

static bool add_cell(FitTable *t, const PublishedSeries *s, const PublishedPoint *p, GError **error) {
  TableCell source = {.metric = s->metric, .quick = g_strdup(s->metric)};
  if (!add_run(t, s, p->x, &source.run, error)) {
    source_clear(&source);
    return false;
  }
  const TableRun *r = t->runs->pdata[source.run];
  FitCell c = {.name = g_strconcat(r->x, "/", s->column, NULL), .observed = p->y, .counted = true};
  c.tolerance = MAX(0.05 * p->y, p->spread);
  g_array_append_val(t->cells, c);
  g_array_append_val(t->sources, source);
  if (p->y > 0 && isfinite(p->y)) return true;
  g_set_error(error, FIT_ERROR, FIT_ERROR_INPUT, "%s: a figure to fit to must be above 0", c.name);
  return false;
}

static bool add_cells(FitTable *t, GError **error) {
  for (guint i = 0; i < t->published->series->len; i++) {
    const PublishedSeries *s = t->published->series->pdata[i];
    for (guint k = 0; k < s->points->len; k++)
      if (!add_cell(t, s, &g_array_index(s->points, PublishedPoint, k), error)) return false;
  }
  if (t->cells->len) return true;
  g_set_error(error, FIT_ERROR, FIT_ERROR_INPUT, "%s: no figure to fit to", t->request.scenario);
  return false;
}

/* How many of the last iterations warm.X is the mean of: the first count for which that comes out. */
static int first_warm(const RunResult *r, const char *what) {
  g_autofree char *warm = g_strconcat("warm.", what, NULL);
  double mean = 0, sum = 0, value = 0;
  int last = 0;
  if (!run_result_metric(r, warm, &mean)) return 0;
  for (;; last++) {
    g_autofree char *name = g_strdup_printf("iteration[%d].%s", last + 1, what);
    if (!run_result_metric(r, name, &value)) break;
  }
  for (int n = 1; n <= WARM_MAX && n <= last; n++) {
    g_autofree char *name = g_strdup_printf("iteration[%d].%s", last + 1 - n, what);
    run_result_metric(r, name, &value);
    sum += value;
    if (n > 1 && fabs(sum / n - mean) <= 1e-9 * fabs(mean)) return last + 1 - n;
  }
  return 0;
}

/* Learns which iteration is the first warm one (that does not depend on costs), and loads the quick scenario. */
static bool make_quick(FitTable *t, guint i, const RunResult *r, GError **error) {
  TableRun *run = t->runs->pdata[i];
  bool first = false;
  for (guint c = 0; c < t->cells->len; c++) {
    TableCell *s = &g_array_index(t->sources, TableCell, c);
    if (s->run != i) continue;
    first |= g_str_has_prefix(s->metric, "first.");
    if (!g_str_has_prefix(s->metric, "warm.")) continue;
    const char *what = s->metric + strlen("warm.");
    if (!run->warm && !(run->warm = first_warm(r, what))) return true; /* absent: said when its figure is asked for */
    g_free(s->quick);
    s->quick = g_strdup_printf("iteration[%d].%s", run->warm, what);
  }
  if (!run->warm && !first) return true;
  g_autofree char *iterations = g_strdup_printf("%d", MAX(run->warm, 1));
  run->quick = load(t, run, iterations, error);
  return run->quick != NULL;
}

static bool learn(FitTable *t, GError **error) {
  guint n = t->runs->len;
  Costs costs = {0};
  costs.ps[COST_STARTUP_AFTER] = 1000000000; /* any: it is looked at for its iterations alone */
  g_autofree RunResult **result = g_new0(RunResult *, n);
  g_autofree GError **errors = g_new0(GError *, n);
  Evaluation e = {t, &costs, false, result, errors};
  evaluate_all(&e);
  bool ok = true;
  for (guint i = 0; i < n; i++) {
    if (ok && errors[i]) g_propagate_error(error, g_steal_pointer(&errors[i]));
    ok = ok && result[i] && !result[i]->interrupted && make_quick(t, i, result[i], error);
    g_clear_pointer(&result[i], run_result_free);
    g_clear_error(&errors[i]);
  }
  return ok;
}

static bool read_published(FitTable *t, GError **error) {
  TableRun plain = {0};
  g_autoptr(Scenario) s = load(t, &plain, NULL, error);
  if (!s) return false;
  t->published =
      t->request.table ? published_read(s, t->request.table, error) : published_load(s, t->request.dirs, error);
  if (t->published) return true;
  if (error && !*error)
    g_set_error(error, FIT_ERROR, FIT_ERROR_INPUT,
                "%s: the scenario names no published table, so its columns mean nothing", t->request.scenario);
  return false;
}

FitTable *fit_table_new(const FitTableRequest *request, GError **error) {
  g_autoptr(FitTable) t = g_new0(FitTable, 1);
  g_assert(request->jobs > 0 && error);
  t->request = *request;
  t->cells = g_array_new(FALSE, FALSE, sizeof(FitCell));
  t->sources = g_array_new(FALSE, FALSE, sizeof(TableCell));
  g_array_set_clear_func(t->cells, cell_clear);
  g_array_set_clear_func(t->sources, source_clear);
  t->runs = g_ptr_array_new_with_free_func(run_free);
  if (!read_published(t, error) || !add_cells(t, error)) return NULL;
  if (!request->exact_only && !learn(t, error)) return NULL;
  return g_steal_pointer(&t);
}

FitCell *fit_table_cells(FitTable *t, guint *n) {
  *n = t->cells->len;
  return (FitCell *)(void *)t->cells->data;
}
const Published *fit_table_published(const FitTable *t) {
  return t->published;
}
const Scenario *fit_table_scenario(const FitTable *t) {
  return ((const TableRun *)t->runs->pdata[0])->whole;
}

guint fit_table_cell(const FitTable *t, guint series, guint point) {
  guint cell = point;
  for (guint i = 0; i < series; i++) cell += ((const PublishedSeries *)t->published->series->pdata[i])->points->len;
  g_assert(cell < t->cells->len);
  return cell;
}
