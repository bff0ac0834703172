/* test_fit.c - fits: constants recovered from figures made with known ones, leave-outs, bad input. */
#include "sim/fit_report.h"
#include "sim/scenario/assets.h"
#include "tests/harness.h"
#include <math.h>

/* ---- a model with a closed form: figure(N) = N * startup + N^2 / 2 * fault, in ns ---- */

static const double sizes[] = {100, 200, 400, 800, 1600};
enum { SIZES = G_N_ELEMENTS(sizes) };

static bool quadratic(void *data, const Costs *costs, double *figures, GError **error) {
  (void)error;
  guint *calls = data;
  (*calls)++;
  for (guint i = 0; i < SIZES; i++)
    figures[i] = sizes[i] * (double)costs->ps[COST_STARTUP_AFTER] / 1e3 +
                 sizes[i] * sizes[i] / 2 * (double)costs->ps[COST_FAULT_WRITE] / 1e3;
  return true;
}

static FitProblem problem(FitCell *cells, guint *calls) {
  FitProblem p = {.cells = cells,
                  .n_cells = SIZES,
                  .simulate = quadratic,
                  .data = calls,
                  .seed = 1,
                  .global = 400,
                  .local = 200,
                  .n_free = 2};
  p.free[0] = (FitFree){COST_STARTUP_AFTER, 10000000, 10000000000, 0}; /* 10 us .. 10 ms */
  p.free[1] = (FitFree){COST_FAULT_WRITE, 10000, 100000000, 0};        /* 10 ns .. 100 us */
  p.base.ps[COST_STARTUP_AFTER] = 50000000;
  p.base.ps[COST_FAULT_WRITE] = 50000;
  Costs truth = {0};
  double figures[SIZES];
  truth.ps[COST_STARTUP_AFTER] = 900000000; /* 0.9 ms */
  truth.ps[COST_FAULT_WRITE] = 2000000;     /* 2 us */
  quadratic(calls, &truth, figures, NULL);
  for (guint i = 0; i < SIZES; i++) cells[i] = (FitCell){"n/y", figures[i], figures[i] * 0.05, true};
  *calls = 0;
  return p;
}

static void recovers_a_closed_form(void) {
  FitCell cells[SIZES];
  guint calls;
  FitProblem p = problem(cells, &calls);
  FitResult r;
  GError *error = NULL;
  expect(fit_search(&p, &r, &error));
  expect_near(r.costs.ps[COST_STARTUP_AFTER], 900000000, 1e-3);
  expect_near(r.costs.ps[COST_FAULT_WRITE], 2000000, 1e-3);
  expect_int(calls, ==, r.evals);
  expect_int(calls, <=, 601);
  expect_int(r.missed, ==, 0);
  fit_result_clear(&r);
}

static void same_seed_same_fit(void) {
  FitCell cells[SIZES];
  guint calls;
  FitProblem p = problem(cells, &calls);
  FitResult a, b;
  p.global = 40, p.local = 20;
  expect(fit_search(&p, &a, NULL) && fit_search(&p, &b, NULL));
  expect(memcmp(&a.costs, &b.costs, sizeof a.costs) == 0);
  fit_result_clear(&a);
  fit_result_clear(&b);
}

/* The wrong cell counts or it does not: a factor of 3 in one figure of five. */
static void an_outlier_left_out(void) {
  FitCell cells[SIZES];
  guint calls;
  FitProblem p = problem(cells, &calls);
  FitResult r;
  cells[2].observed *= 3;
  cells[2].counted = false;
  expect(fit_search(&p, &r, NULL));
  expect_near(r.costs.ps[COST_FAULT_WRITE], 2000000, 1e-3);
  expect_near(r.worst + 1, 1, 1e-3);
  fit_result_clear(&r);
  cells[2].counted = true;
  expect(fit_search(&p, &r, NULL));
  expect(r.worst > 0.2);
  expect_int(r.missed, >, 0);
  fit_result_clear(&r);
}

/* By hand: cells 100 and 200 allowed 5 and 20, simulated 110 and 190: (10/5)^2 + (10/20)^2 = 4.25; worst 10 % and
 * missed. */
static void the_objective(void) {
  FitCell cells[] = {{"1/a", 100, 5, true}, {"2/a", 200, 20, true}, {"3/a", 1, 1, false}};
  double figures[] = {110, 190, 1000};
  FitProblem p = {.cells = cells, .n_cells = 3};
  FitResult r = {.figures = figures};
  fit_judge(&p, &r);
  expect_near(r.objective, 4.25, 1e-12);
  expect_near(r.worst, 0.1, 1e-12);
  expect_int(r.worst_cell, ==, 0);
  expect_int(r.missed, ==, 1);
}

/* Without its fault cost the model is a line through the origin: y/N = c, while the figures' y/N runs from 1 ms to 2.5
 * ms. Weighted least squares of ratios a_i = y_i/N_i with equal relative tolerance: c = sum(1/a) / sum(1/a^2). */
static void without_a_constant(void) {
  FitCell cells[SIZES];
  guint calls;
  FitProblem p = problem(cells, &calls);
  FitResult best, r;
  expect(fit_search(&p, &best, NULL));
  expect(fit_without(&p, &best, 1, &r, NULL));
  double up = 0, down = 0;
  for (guint i = 0; i < SIZES; i++) {
    double a = cells[i].observed / sizes[i];
    up += 1 / a;
    down += 1 / (a * a);
  }
  expect_near((double)r.costs.ps[COST_STARTUP_AFTER] / 1e3, up / down, 2e-3);
  expect_int(r.costs.ps[COST_FAULT_WRITE], ==, 0);
  fit_result_clear(&best);
  fit_result_clear(&r);
}

/* Two constants that only ever act as a sum: the columns of the Jacobian are parallel, one singular value is 0. */
static bool sum_of_two(void *data, const Costs *costs, double *figures, GError **error) {
  (void)data;
  (void)error;
  for (guint i = 0; i < SIZES; i++)
    figures[i] = sizes[i] * (double)(costs->ps[COST_STARTUP_AFTER] + costs->ps[COST_STARTUP_BEFORE]);
  return true;
}

static void cannot_be_told_apart(void) {
  FitCell cells[SIZES];
  guint calls;
  FitProblem p = problem(cells, &calls);
  p.free[1] = (FitFree){COST_STARTUP_BEFORE, 1000, 1000000000, 0};
  p.simulate = sum_of_two;
  FitResult r = {.figures = g_new0(double, SIZES)};
  r.costs.ps[COST_STARTUP_AFTER] = r.costs.ps[COST_STARTUP_BEFORE] = 1000000;
  sum_of_two(NULL, &r.costs, r.figures, NULL);
  for (guint i = 0; i < SIZES; i++) cells[i].observed = r.figures[i] * (i % 2 ? 1.01 : 0.99);
  fit_judge(&p, &r);
  FitStats s;
  expect(fit_stats(&p, &r, &s, NULL));
  expect_near(s.cosine[0][1], 1, 1e-9);
  expect(s.singular[1] <= 1e-6 * s.singular[0]);
  expect(s.high[0] > 1e12 * (double)r.costs.ps[COST_STARTUP_AFTER]);
  expect_int(s.freedom, ==, SIZES - 2);
  fit_result_clear(&r);
}

/* One constant and y_i = N_i c (1 +- 1 %): J_i = d(r_i)/d(ln c) = y_i / tolerance_i, known in closed form. */
static void an_interval_by_hand(void) {
  FitCell cells[SIZES];
  guint calls;
  FitProblem p = problem(cells, &calls);
  p.n_free = 1;
  p.simulate = sum_of_two;
  FitResult r = {.figures = g_new0(double, SIZES)};
  r.costs.ps[COST_STARTUP_AFTER] = 1000000;
  sum_of_two(NULL, &r.costs, r.figures, NULL);
  double squares = 0;
  for (guint i = 0; i < SIZES; i++) {
    cells[i].observed = r.figures[i] * (i % 2 ? 1.01 : 0.99);
    cells[i].tolerance = 0.05 * r.figures[i];
    squares += 20 * 20;
  }
  fit_judge(&p, &r);
  /* objective: 5 (0.01/0.05)^2 = 0.2; freedom 4; s = sqrt(0.05); t(0.975, 4) = 2.776445 */
  double wide = 2.776445 * sqrt(0.05) / sqrt(squares);
  FitStats s;
  expect(fit_stats(&p, &r, &s, NULL));
  expect_near(s.high[0], 1e6 * exp(wide), 1e-4);
  expect_near(s.low[0], 1e6 * exp(-wide), 1e-4);
  fit_result_clear(&r);
}

/* [[2,1],[1,2]] has 3 and 1 along (1,1) and (1,-1). */
static void eigenvalues(void) {
  double a[FIT_MAX_FREE][FIT_MAX_FREE] = {{2, 1}, {1, 2}}, v[FIT_MAX_FREE][FIT_MAX_FREE], value[FIT_MAX_FREE];
  symmetric_eigen(a, v, value, 2);
  expect_near(value[0], 3, 1e-12);
  expect_near(value[1], 1, 1e-12);
  expect_near(v[0][0] / v[1][0], 1, 1e-9);
  expect_near(v[0][1] / v[1][1], -1, 1e-9);
}

/* ---- words ---- */

static void refuses(const char *text, const char *why) {
  FitFree f;
  GError *error = NULL;
  expect(!fit_parse_free(text, &f, &error));
  expect(error && strstr(error->message, why));
  if (error && !strstr(error->message, why)) fprintf(stderr, "%s: %s\n", text, error->message);
  g_clear_error(&error);
}

static void bounds(void) {
  FitFree f;
  expect(fit_parse_free("memory.fault_write=0.3us:4us", &f, NULL));
  expect_int(f.id, ==, COST_FAULT_WRITE);
  expect_int(f.low, ==, 300000);
  expect_int(f.high, ==, 4000000);
  refuses("memory.fault_write=4us:4us", "below");
  refuses("memory.fault_write=5us:4us", "below");
  refuses("memory.fault_write=0us:4us", "above 0");
  refuses("memory.fault_write=1:4us", "unit");
  refuses("memory.fault_write=1us", "LOW:HIGH");
  refuses("memory.fault_wrote=1us:2us", "no such cost");
  refuses("memory.fault_write=-1us:2us", "negative");
  refuses("", "LOW:HIGH");
  refuses("memory.fault_write=1us:3us:2us", "out of bounds");
  refuses("memory.fault_write=1us:2us:3us:4us", "LOW:HIGH");
  expect_int(f.start, ==, 0);
  expect(fit_parse_free("memory.fault_write=1us:2us:3us", &f, NULL));
  expect_int(f.start, ==, 2000000);
}

static void leave_outs(void) {
  FitCell cells[] = {{"512/a", 1, 1, true}, {"512/b", 1, 1, true}, {"1024/a", 1, 1, true}, {"51/a", 1, 1, true}};
  GError *error = NULL;
  expect(fit_leave_out(cells, 4, "512/b,x:51", NULL));
  expect(cells[0].counted && !cells[1].counted && cells[2].counted && !cells[3].counted);
  expect(!fit_leave_out(cells, 4, "513/b", &error));
  g_clear_error(&error);
  expect(!fit_leave_out(cells, 4, "column:a", &error));
  expect(error && strstr(error->message, "no cell is left"));
  g_clear_error(&error);
}

static void numbers(void) {
  static const struct {
    int64_t ps;
    const char *text;
  } cases[] = {{4590000000, "4.59ms"}, {990000, "990ns"}, {1000000, "1us"},     {2050000, "2.05us"},
               {83, "0.083ns"},        {0, "0ns"},        {53000000000, "53ms"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = fit_cost_text(cases[i].ps);
    expect_str(text, cases[i].text);
  }
  expect_int(fit_round(123456, 4), ==, 123500);
  expect_int(fit_round(99999, 4), ==, 100000);
  expect_int(fit_round(12, 4), ==, 12);
}

/* ---- the simulator itself: a table that it made ---- */

static const char small[] =
    "scenario: small\n"
    "postgres: {version: 16, max_connections: 256, variant: dense-arrays}\n"
    "workload: {kind: pgbench, clients: 64, threads: 6, transactions: 0, iterations: warm, between_iterations: 5}\n"
    "costs: {postmaster.fork: 100us, lock.handover: 5us}\n"
    "published:\n  table: connect-storm.csv\n  series:\n"
    "    - {metric: first.connect_ms, column: first}\n    - {metric: warm.connect_ms, column: warm}\n";

typedef struct {
  char *dir, *scenario, *table;
  char **dirs;
} Files;

static Files files_new(const char *table) {
  Files f = {.dir = g_dir_make_tmp("stampede-fit-XXXXXX", NULL), .dirs = asset_dirs("test_fit")};
  f.scenario = g_build_filename(f.dir, "small.yaml", NULL);
  f.table = g_build_filename(f.dir, "small.csv", NULL);
  g_file_set_contents(f.scenario, small, -1, NULL);
  g_file_set_contents(f.table, table, -1, NULL);
  return f;
}

static void files_free(Files *f) {
  remove(f->scenario);
  remove(f->table);
  remove(f->dir);
  g_free(f->scenario);
  g_free(f->table);
  g_free(f->dir);
  g_strfreev(f->dirs);
}

static FitTable *table_of(const Files *f, guint jobs, GError **error) {
  FitTableRequest r = {.scenario = f->scenario, .table = f->table, .dirs = (const char *const *)f->dirs, .jobs = jobs};
  return fit_table_new(&r, error);
}

static void recovers_from_the_simulator(void) {
  Files f = files_new("clients,first,warm\n32,1,1\n64,1,1\n128,1,1\n200,1,1\n");
  g_autoptr(GError) error = NULL;
  g_autoptr(FitTable) t = table_of(&f, 2, &error);
  if (!t) fprintf(stderr, "%s\n", error->message);
  CU_ASSERT_FATAL(t != NULL);
  FitProblem p = {.simulate = fit_table_quick, .data = t, .seed = 3, .global = 70, .local = 50, .n_free = 2};
  FitCell *cells = fit_table_cells(t, &p.n_cells);
  p.cells = cells;
  scenario_costs(fit_table_scenario(t), &p.base);
  p.free[0] = (FitFree){COST_STARTUP_AFTER, 500000000, 10000000000, 0};
  p.free[1] = (FitFree){COST_FAULT_WRITE, 1000000, 1000000000, 0}; /* dear, so that it shows at small N */
  Costs truth = p.base;
  truth.ps[COST_STARTUP_AFTER] = 3000000000;
  truth.ps[COST_FAULT_WRITE] = 50000000;
  g_autofree double *figures = g_new(double, p.n_cells);
  expect(fit_table_quick(t, &truth, figures, NULL));
  for (guint i = 0; i < p.n_cells; i++) cells[i].observed = figures[i], cells[i].tolerance = 0.05 * figures[i];
  FitResult r;
  FitStats s;
  expect(fit_search(&p, &r, &error));
  expect(fit_stats(&p, &r, &s, NULL));
  expect_near(r.costs.ps[COST_STARTUP_AFTER], 3e9, 0.02);
  expect_near(r.costs.ps[COST_FAULT_WRITE], 5e7, 0.05);
  expect(r.worst < 0.01);
  fit_result_clear(&r);
  files_free(&f);
}

/* The same figures from one thread and from two; a warm figure is that of the first warm iteration, near the mean. */
static void figures_do_not_depend_on_jobs(void) {
  Files f = files_new("clients,first,warm\n32,1,1\n64,1,1\n");
  g_autoptr(FitTable) one = table_of(&f, 1, &(GError *){NULL}), two = table_of(&f, 2, &(GError *){NULL});
  Costs costs = {0};
  double a[4], b[4], whole[4];
  costs.ps[COST_STARTUP_AFTER] = 3000000000;
  costs.ps[COST_FAULT_WRITE] = 2000000;
  CU_ASSERT_FATAL(one && two);
  expect(fit_table_quick(one, &costs, a, NULL) && fit_table_quick(two, &costs, b, NULL) &&
         fit_table_exact(one, &costs, whole, NULL));
  for (guint i = 0; i < 4; i++) {
    expect(!(a[i] < b[i]) && !(a[i] > b[i]));
    expect_near(a[i], whole[i], 0.02);
  }
  expect(!(a[0] < whole[0]) && !(a[0] > whole[0])); /* first.connect_ms is the very same */
  files_free(&f);
}

static void bad_table(const char *text, const char *where, const char *why) {
  Files f = files_new(text);
  GError *error = NULL;
  FitTable *t = table_of(&f, 1, &error);
  expect(!t && error);
  expect(error && strstr(error->message, where) && strstr(error->message, why));
  if (error && !strstr(error->message, why)) fprintf(stderr, "saw: %s\n", error->message);
  fit_table_free(t);
  g_clear_error(&error);
  files_free(&f);
}

static void bad_tables(void) {
  bad_table("clients,first\n32,1\n", "small.yaml", "no such column");
  bad_table("clients,first,warm\n32,1,1\n64,12ms,1\n", "small.csv:3:", "not a number: 12ms");
  bad_table("clients,first,warm\n32,1\n", "small.csv:2:", "cells");
  bad_table("clients,first,warm\n", "small.csv", "no line of figures");
  bad_table("clients,first,warm\n32,0,1\n", "32/first", "above 0");
  bad_table("clients,first,warm\n32,,\n", "small.yaml", "no figure");
  bad_table("", "small.csv", "");
}

int main(void) {
  return suite_run("fit", (const Case[]){{"recovers constants of a closed form", recovers_a_closed_form},
                                         {"the same seed gives the same fit", same_seed_same_fit},
                                         {"an outlier left out", an_outlier_left_out},
                                         {"the objective, by hand", the_objective},
                                         {"without a constant", without_a_constant},
                                         {"what cannot be told apart", cannot_be_told_apart},
                                         {"an interval, by hand", an_interval_by_hand},
                                         {"eigenvalues, by hand", eigenvalues},
                                         {"bounds", bounds},
                                         {"cells to leave out", leave_outs},
                                         {"numbers as a profile writes them", numbers},
                                         {"recovers constants from the simulator", recovers_from_the_simulator},
                                         {"figures do not depend on jobs", figures_do_not_depend_on_jobs},
                                         {"bad tables", bad_tables},
                                         {0}});
}
