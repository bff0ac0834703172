/* compared.h - comparisons made by hand, for tests: a plan of a small scenario with two sides, and results whose
 * figures the test chooses. */
#pragma once
#include "sim/compare_report.h"
#include "sim/metrics.h"
#include "tests/harness.h"
#include <unistd.h>

static const char compared_scenario[] = "scenario: small\n"
                                        "seed: 5\n"
                                        "postgres: {max_connections: 20, background: none}\n"
                                        "workload: {kind: pgbench, clients: 4, iterations: 2}\n";

typedef struct {
  SweepPlan *plan;
  GPtrArray *results; /* of RunResult */
  CompareInput in;
  ScenarioOptions base;
} Compared;

static inline SweepPlan *compared_plan(const char *text, const char *const *sets, guint repeat,
                                       const ScenarioOptions *base) {
  g_autofree char *dir = g_dir_make_tmp("stampede-compare-XXXXXX", NULL),
                  *path = g_build_filename(dir, "small.yaml", NULL);
  g_assert(g_file_set_contents(path, text, -1, NULL));
  g_autoptr(GPtrArray) none = g_ptr_array_new();
  const SweepSide sides[SIDES] = {{"old", none}, {"new", none}};
  SweepRequest r = {.sets = sets, .sides = sides, .n_sides = SIDES, .repeat = repeat};
  g_autoptr(GError) error = NULL;
  SweepPlan *p = sweep_plan((const char *const[]){path, NULL}, &r, base, &error);
  if (!p) fprintf(stderr, "%s\n", error->message);
  g_assert(unlink(path) == 0 && rmdir(dir) == 0);
  return p;
}

static inline void compared_init(Compared *c, const char *const *dirs, const char *const *sets, guint repeat) {
  c->base = (ScenarioOptions){.dirs = dirs, .metrics = metric_patterns()};
  c->plan = compared_plan(compared_scenario, sets, repeat, &c->base);
  g_assert(c->plan);
  c->results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
  g_ptr_array_set_size(c->results, (gint)sweep_points(c->plan));
  c->in = (CompareInput){.side = {"old", "new"}, .threshold = 0.02};
  c->in.plan = c->plan;
  c->in.results = c->results;
  c->in.gates = g_ptr_array_new_with_free_func((GDestroyNotify)gate_free);
}

static inline void compared_clear(Compared *c) {
  g_ptr_array_unref(c->results);
  sweep_plan_free(c->plan);
  g_ptr_array_unref(c->in.gates);
}

static inline RunResult *compared_result(Compared *c, guint combination, Side side, guint seed) {
  const guint point = sweep_point(c->plan, combination, side, seed);
  if (c->results->pdata[point]) return c->results->pdata[point];
  RunResult *r = run_result_new();
  r->seeded = true;
  r->seed = sweep_seed(c->plan, point);
  return c->results->pdata[point] = r;
}

static inline void compared_metric(RunResult *r, const char *name, double value) {
  Metric m = {g_strdup(name), value};
  g_array_append_val(r->metrics, m);
}

/* A metric of every seed, on both sides of a combination. */
static inline void compared_values(Compared *c, guint combination, const char *name, const double *old,
                                   const double *new) {
  for (guint seed = 0; seed < c->plan->seeds; seed++) {
    compared_metric(compared_result(c, combination, SIDE_BASELINE, seed), name, old[seed]);
    compared_metric(compared_result(c, combination, SIDE_PATCH, seed), name, new[seed]);
  }
}

static inline void compared_violation(RunResult *r, const Check *check, CheckVerdict verdict, const char *why) {
  CheckResult k = {
      .check = check, .verdict = verdict, .step = verdict == CHECK_VIOLATED ? 3 : -1, .why = g_strdup(why)};
  g_array_append_val(r->checks, k);
  if (verdict == CHECK_VIOLATED && !r->stopped) r->stopped = g_strdup("a check was violated");
}

static inline void compared_spot(RunResult *r, const char *structure, const char *site, int64_t faults, double ms) {
  HotSpotRow row = {.structure = g_strdup(structure), .site = g_strdup(site), .faults = faults, .ms = ms};
  g_array_append_val(r->hotspots, row);
}
