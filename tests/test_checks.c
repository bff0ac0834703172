/* test_checks.c - every check must be able to fail: a mutant of the model (postgres.steps) that it has to catch, on a
 * small server and on one so large that it is judged at a stride. */
#include "checks/checks.h"
#include "sim/run.h"
#include "sim/scenario/assets.h"
#include "tests/harness.h"

static const char *const text =
    "scenario: mutant\n"
    "postgres: {version: 19, max_connections: 20, max_prepared_transactions: 1, background: {walsenders: 1, prepared: "
    "1}}\n"
    "workload: {kind: pgbench, clients: 12, threads: 1, iterations: 3}\n"
    "checks: [proc-array-sorted, pgxactoff-matches, slot-owned-once, dense-arrays-agree, locks-released]\n";

static RunResult *run_with(const char *const *sets) {
  g_auto(GStrv) dirs = asset_dirs("stampede");
  GError *error = NULL;
  ScenarioOptions opt = {.sets = sets, .dirs = (const char *const *)dirs, .checks = checks_names()};
  g_autoptr(Scenario) s = scenario_from_text(text, strlen(text), "mutant.yaml", &opt, &error);
  g_assert_no_error(error);
  RunOptions o = {.command = "run", .checks = {checks_all, checks_all_len}};
  RunResult *r = run_scenario(s, &o, &error);
  g_assert_no_error(error);
  return r;
}

static const CheckResult *of(const RunResult *r, const char *name) {
  for (guint i = 0; i < r->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    if (strcmp(c->check->name, name) == 0) return c;
  }
  g_assert_not_reached();
}

static void expect_caught(const char *step, const char *check) {
  g_autofree char *set = g_strdup_printf("postgres.steps.%s", step);
  g_autoptr(RunResult) r = run_with((const char *const[]){set, NULL});
  if (of(r, check)->verdict != CHECK_VIOLATED) fprintf(stderr, "%s is not caught by %s\n", step, check);
  CU_ASSERT(of(r, check)->verdict == CHECK_VIOLATED);
  expect(of(r, check)->why != NULL);
  expect_int(r->verdict, ==, RUN_FAIL);
}

static void the_model_itself_passes(void) {
  g_autoptr(RunResult) r = run_with((const char *const[]){NULL});
  expect_int(r->verdict, ==, RUN_PASS);
  for (guint i = 0; i < r->checks->len; i++)
    expect_int(g_array_index(r->checks, CheckResult, i).verdict, ==, CHECK_NOT_VIOLATED);
}

static void sorted_fails(void) {
  expect_caught("search=skip", "proc-array-sorted");
  expect_caught("move_pgprocnos=skip", "proc-array-sorted");
  expect_caught("move_pgprocnos=twice", "proc-array-sorted");
  expect_caught("remove=skip", "proc-array-sorted");
}
static void pgxactoff_fails(void) {
  expect_caught("store_offsets=skip", "pgxactoff-matches");
  expect_caught("store_own_offset=skip", "pgxactoff-matches");
}
static void slots_fail(void) {
  expect_caught("push_free=skip", "slot-owned-once");
  expect_caught("push_free=twice", "slot-owned-once");
  expect_caught("pop_free=skip", "slot-owned-once");
  expect_caught("pop_free=twice", "slot-owned-once");
}
static void dense_arrays_fail(void) {
  expect_caught("move_xids=skip", "dense-arrays-agree");
  expect_caught("move_xids=twice", "dense-arrays-agree");
  expect_caught("move_status=skip", "dense-arrays-agree");
  expect_caught("move_subxids=skip", "dense-arrays-agree");
}
static void locks_fail(void) {
  expect_caught("release_ProcArrayLock=skip", "locks-released");
  expect_caught("release_XidGenLock=skip", "locks-released");
}

/* ---- judged at a stride, then again at every step: the step named is the one that broke it ---- */

typedef struct {
  int64_t step; /* asked about */
  char *what;   /* seen there; NULL: the run did not come so far */
} Seen;
static bool see(void *data, const TraceStep *s) {
  Seen *seen = data;
  if (s->i == seen->step) seen->what = g_strdup(s->what);
  return true;
}

/* As replay does it: the state is judged after that step, else at the stride. Returns the step of the violation. */
static int64_t judged_at(const char *const *sets, Seen *seen) {
  g_auto(GStrv) dirs = asset_dirs("stampede");
  ScenarioOptions opt = {.sets = sets, .dirs = (const char *const *)dirs, .checks = checks_names()};
  g_autoptr(Scenario) s = scenario_from_text(text, strlen(text), "mutant.yaml", &opt, NULL);
  RunOptions o = {
      .command = "run", .checks = {checks_all, checks_all_len}, .saw = see, .replay = seen, .judge_at = seen->step};
  g_autoptr(RunResult) r = run_scenario(s, &o, NULL);
  return of(r, "slot-owned-once")->step;
}

static void a_large_server_names_the_exact_step(void) {
  const char *const sets[] = {"postgres.max_connections=3000", "postgres.steps.push_free=twice", NULL};
  g_autoptr(RunResult) r = run_with(sets);
  const CheckResult *c = of(r, "slot-owned-once");
  expect_int(c->verdict, ==, CHECK_VIOLATED);
  Seen at = {.step = c->step}, before = {.step = c->step - 1};
  expect_int(judged_at(sets, &at), ==, c->step);
  expect_str(at.what, "ProcKill");
  expect_int(judged_at(sets, &before), >, c->step); /* not broken yet: seen at the stride */
  g_free(at.what);
  g_free(before.what);
}

static void ranges_cannot_be_judged(void) {
  g_autoptr(RunResult) r = run_with((const char *const[]){"machine.touch=ranges", NULL});
  expect_int(of(r, "proc-array-sorted")->verdict, ==, CHECK_UNKNOWN);
  expect_int(of(r, "slot-owned-once")->verdict, ==, CHECK_NOT_VIOLATED);
  expect_int(r->verdict, ==, RUN_PASS);
}

static void unsorted_is_no_violation(void) {
  g_autoptr(RunResult) r = run_with((const char *const[]){"postgres.variant=unsorted", NULL});
  expect_int(of(r, "proc-array-sorted")->verdict, ==, CHECK_UNKNOWN);
  expect_int(of(r, "pgxactoff-matches")->verdict, ==, CHECK_NOT_VIOLATED);
}

int main(void) {
  return suite_run("checks",
                   (const Case[]){{"the model itself passes", the_model_itself_passes},
                                  {"proc-array-sorted can fail", sorted_fails},
                                  {"pgxactoff-matches can fail", pgxactoff_fails},
                                  {"slot-owned-once can fail", slots_fail},
                                  {"dense-arrays-agree can fail", dense_arrays_fail},
                                  {"locks-released can fail", locks_fail},
                                  {"a large server names the exact step", a_large_server_names_the_exact_step},
                                  {"ranges cannot be judged", ranges_cannot_be_judged},
                                  {"unsorted is no violation", unsorted_is_no_violation},
                                  {0}});
}
