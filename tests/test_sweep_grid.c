/* test_sweep_grid.c - sweeps of verdicts: scenarios beside each other, points that contradict themselves, the table. */
#include "sim/metrics.h"
#include "sim/scenario/assets.h"
#include "sim/sweep_report.h"
#include "tests/harness.h"

static char **dirs;

static Judgement never(const Model *m, GString *why) {
  (void)m;
  (void)why;
  return JUDGED_FINE;
}
static const Check check_a = {.name = "a-check", .about = "", .judge = never},
                   check_b = {.name = "b-check", .about = "", .judge = never},
                   check_deadlock = {.name = "no-deadlock", .about = "", .judge = never};

static SweepPlan *plan_of(const char *const *scenarios, const char *const *sets, const char *job, GError **error) {
  ScenarioOptions o = {.dirs = (const char *const *)dirs, .metrics = metric_patterns()};
  SweepRequest r = {.sets = sets, .job = job, .repeat = 1};
  return sweep_plan(scenarios, &r, &o, error);
}

static const char *const one[] = {"s01-stale-cancel-bad", NULL}, *const two[] = {"s01-stale-cancel-bad",
                                                                                 "s01-stale-cancel-good", NULL};

static void add(RunResult *r, const Check *check, CheckVerdict v, gint64 step, const char *why) {
  CheckResult c = {check, v, step, g_strdup(why)};
  g_array_append_val(r->checks, c);
}

static RunResult *result(CheckVerdict a, gint64 step, const char *why) {
  RunResult *r = run_result_new();
  r->scenario = g_strdup("s");
  add(r, &check_a, a, step, why);
  add(r, &check_deadlock, CHECK_HOLDS, -1, NULL);
  return r;
}

static GPtrArray *results_of(const SweepPlan *p) {
  GPtrArray *results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
  g_ptr_array_set_size(results, (gint)sweep_points(p));
  return results;
}

/* Scenarios are the outermost list, and each point has its own text. */
static void scenarios_beside_each_other(void) {
  g_autoptr(SweepPlan) p = plan_of(two, (const char *const[]){"pooler.pool_size=1,2", NULL}, NULL, NULL);
  CU_ASSERT_FATAL(p != NULL);
  expect_int(sweep_points(p), ==, 4);
  expect_str(p->scenario, "s01-stale-cancel-bad, s01-stale-cancel-good");
  expect_str(sweep_scenario(p, 1)->name, two[0]);
  expect_str(sweep_scenario(p, 2)->name, two[1]);
  g_autofree char *name = sweep_point_name(p, 2);
  expect_str(name, "scenario=s01-stale-cancel-good pool_size=1 pgdog-0.1.54 seed 1");
  ScenarioOptions o = {.dirs = (const char *const *)dirs};
  g_autoptr(Scenario) s = sweep_load(p, 3, &o, NULL);
  CU_ASSERT_FATAL(s != NULL);
  expect_str(scenario_name(s), "s01-stale-cancel-good");
  expect_int(scenario_int(s, "pooler.pool_size"), ==, 2);
}

static void named_twice(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(SweepPlan) p = plan_of((const char *const[]){one[0], one[0], NULL}, NULL, NULL, &error);
  expect(!p && error && g_str_has_suffix(error->message, "is named twice"));
}

/* unlink_unforwarded needs a link: the first of four points makes no sense. */
static void contradictions_are_kept(void) {
  g_autoptr(SweepPlan) p = plan_of(one,
                                   (const char *const[]){"pooler.fence=unlink_unforwarded,none",
                                                         "pooler.lookup=at_arrival_copy,at_arrival_link", NULL},
                                   "check", NULL);
  CU_ASSERT_FATAL(p != NULL);
  expect(sweep_refused(p, 0) && !sweep_refused(p, 1) && !sweep_refused(p, 2) && !sweep_refused(p, 3));
  if (sweep_refused(p, 0))
    expect_str(sweep_refused(p, 0),
               "pool s: fence: unlink_unforwarded needs lookup: at_arrival_link; a copied key has no link");
  expect_int(sweep_refusals(p), ==, 1);
}

/* Where nothing can be run, it is a mistake and not a table of dashes; so is a word that nobody knows. */
static void only_contradictions(void) {
  g_autoptr(GError) error = NULL, unknown = NULL;
  g_autoptr(SweepPlan) p = plan_of(
      one, (const char *const[]){"pooler.fence=unlink_unforwarded", "pooler.pool_size=1,2", NULL}, NULL, &error);
  expect(!p && error && strstr(error->message, "a copied key has no link"));
  g_autoptr(SweepPlan) q = plan_of(one, (const char *const[]){"pooler.fence=none,fense", NULL}, NULL, &unknown);
  expect(!q && unknown && strstr(unknown->message, "fense"));
}

/* Two rows (lookup), two columns (fence); a note is numbered once, in order of the cells. */
static void table(void) {
  g_autoptr(SweepPlan) p = plan_of(one,
                                   (const char *const[]){"pooler.fence=unlink_unforwarded,none",
                                                         "pooler.lookup=at_arrival_copy,at_arrival_link", NULL},
                                   "check --max-states 9", NULL);
  CU_ASSERT_FATAL(p != NULL);
  g_autoptr(GPtrArray) results = results_of(p);
  results->pdata[1] = result(CHECK_HOLDS, -1, NULL);
  results->pdata[2] = result(CHECK_VIOLATED, 22, "MISROUTE");
  results->pdata[3] = result(CHECK_NOT_VIOLATED, -1, NULL);
  ((RunResult *)results->pdata[3])->stopped = g_strdup("the limit of states");
  g_autoptr(SweepCurves) c = sweep_curves(p, results, NULL);
  g_autoptr(SweepGrid) g = sweep_grid(c, "fence", NULL);
  g_autoptr(GString) out = g_string_new(NULL);
  sweep_grid_markdown(g, out);
  expect_str(out->str,
             "### a-check\n\n"
             "| lookup | unlink_unforwarded | none |\n| --- | --- | --- |\n"
             "| at_arrival_copy | - [1] | violated in 23 steps [2] |\n"
             "| at_arrival_link | holds | not violated [3] |\n\n"
             "- [1] pool s: fence: unlink_unforwarded needs lookup: at_arrival_link; a copied key has no link\n"
             "- [2] MISROUTE\n- [3] the limit of states\n");
}

/* Without `across`: a column a check, those that a point did not judge are said; a deadlock shows where there is one.
 */
static void columns_are_checks(void) {
  g_autoptr(SweepPlan) p = plan_of(two, NULL, "check", NULL);
  CU_ASSERT_FATAL(p != NULL);
  g_autoptr(GPtrArray) results = results_of(p);
  results->pdata[0] = result(CHECK_HOLDS, -1, NULL);
  RunResult *r = results->pdata[1] = run_result_new();
  add(r, &check_b, CHECK_UNKNOWN, -1, NULL);
  add(r, &check_deadlock, CHECK_VIOLATED, 4, "stuck | here");
  g_autoptr(SweepCurves) c = sweep_curves(p, results, NULL);
  g_autoptr(SweepGrid) g = sweep_grid(c, NULL, NULL);
  g_autoptr(GString) out = g_string_new(NULL);
  sweep_grid_markdown(g, out);
  expect_str(out->str, "| scenario | a-check | no-deadlock | b-check |\n| --- | --- | --- | --- |\n"
                       "| s01-stale-cancel-bad | holds | holds | not judged |\n"
                       "| s01-stale-cancel-good | not judged | violated in 5 steps [1] | unknown |\n\n"
                       "- [1] stuck | here\n");
  SweepReport report = {.curves = c, .grid = g, .jobs = 1};
  expect_int(sweep_exit(&report), ==, 0); /* verdicts are what was asked for */
  r->verdict = RUN_INCOMPLETE;
  expect_int(sweep_exit(&report), ==, 3);
}

static void across_names_lists(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(SweepPlan) p = plan_of(one, (const char *const[]){"pooler.pool_size=1,2", NULL}, "check", NULL);
  CU_ASSERT_FATAL(p != NULL);
  expect(sweep_across_known(p, "pooler.pool_size", NULL) && sweep_across_known(p, NULL, NULL));
  expect(!sweep_across_known(p, "pool_size,signal", &error));
  if (error) expect_str(error->message, "--across signal: no list of that name; there is pool_size");
}

int main(void) {
  g_setenv("STAMPEDE_DATA", "sim", FALSE);
  dirs = asset_dirs(NULL);
  int status = suite_run("sweep grid", (const Case[]){{"scenarios beside each other", scenarios_beside_each_other},
                                                      {"named twice", named_twice},
                                                      {"contradictions are kept", contradictions_are_kept},
                                                      {"only contradictions", only_contradictions},
                                                      {"table", table},
                                                      {"columns are checks", columns_are_checks},
                                                      {"across names lists", across_names_lists},
                                                      {0}});
  g_strfreev(dirs);
  return status;
}
