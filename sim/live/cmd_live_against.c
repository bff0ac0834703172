/* cmd_live_against.c - stampede live --pooler A --against B: the same scenarios and seeds around two programs, with the
 * table and the gates of compare. */
#include "sim/compare_report.h"
#include "sim/live/cmd_live_parts.h"
#include "sim/metrics.h"
#include <unistd.h>

typedef struct {
  const LiveOptions *live;
  const char *program[SIDES];
  ScenarioOptions base;
  SweepPlan *plan;
  CompareInput in;
} Against;

static bool add_gates(Against *a, char **texts, GError **error) {
  a->in.gates = g_ptr_array_new_with_free_func((GDestroyNotify)gate_free);
  for (char **text = texts; text && *text; text++) {
    Gate *g = gate_parse(*text, error);
    if (!g) return g_prefix_error(error, "--gate '%.100s': ", *text), false;
    g_ptr_array_add(a->in.gates, g);
  }
  return true;
}

static bool add_plan(Against *a, char **names, const LiveFlags *f, const CliOptions *cli, GError **error) {
  g_autoptr(GPtrArray) none = g_ptr_array_new();
  const SweepSide sides[SIDES] = {{a->program[SIDE_BASELINE], none}, {a->program[SIDE_PATCH], none}};
  SweepRequest request = {.sets = (const char *const *)cli->sets,
                          .seed = cli->seed,
                          .sides = sides,
                          .n_sides = SIDES,
                          .repeat = f->repeat,
                          .interrupted = cli_interrupted()};
  a->in.plan = a->plan = sweep_plan((const char *const *)names, &request, &a->base, error);
  return a->plan != NULL;
}

static bool run_one(Against *a, guint combination, Side side, guint seed, GError **error) {
  guint point = sweep_point(a->plan, combination, side, seed);
  g_autoptr(Scenario) s = sweep_load(a->plan, point, &a->base, error);
  LiveOptions o = *a->live;
  o.program = a->program[side];
  RunResult *r = s ? live_run(s, &o, error) : NULL;
  a->in.results->pdata[point] = r;
  return r && !r->interrupted;
}

/* One pair says all where the seed decides nothing. False without *error: interrupted. */
static bool run_all(Against *a, GError **error) {
  a->in.results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
  g_ptr_array_set_size(a->in.results, (gint)sweep_points(a->plan));
  for (guint point = 0; point < sweep_points(a->plan); point += SIDES * a->plan->seeds) {
    guint c = sweep_combination(a->plan, point);
    for (guint seed = 0; seed < a->plan->seeds; seed++) {
      if (seed && compare_alone(a->plan, a->in.results, c)) break;
      for (Side side = 0; side < SIDES; side++)
        if (!run_one(a, c, side, seed, error)) return false;
    }
  }
  return true;
}

static void fill_json(Output *o, const void *data) {
  compare_json(data, o);
}

static int say(const Against *a, const LiveFlags *f, const CliOptions *cli) {
  g_autoptr(Comparison) comparison = compare(&a->in);
  CompareReport r = {.comparison = comparison, .subject = a->plan->scenario, .base = &a->base, .jobs = 1};
  g_autoptr(GString) text = g_string_new(NULL);
  int status = EXIT_MET;
  if (cli->json)
    status = cli_write("-", fill_json, &r);
  else if (f->markdown)
    compare_markdown(&r, text);
  else
    compare_text(&r, text, cli_color(STDOUT_FILENO));
  if (status == EXIT_MET && !cli->json && !cli->quiet) status = cli_print(text->str);
  return status == EXIT_MET ? compare_exit(comparison) : status;
}

int live_against(const App *app, char **names, const LiveOptions *o, const LiveFlags *f, const CliOptions *cli) {
  GError *error = NULL;
  Against a = {.live = o, .program = {o->program, f->against}};
  a.base = (ScenarioOptions){.dirs = app->dirs, .checks = app->check_names, .metrics = metric_patterns()};
  a.in.threshold = 0.02;
  for (Side s = 0; s < SIDES; s++) a.in.side[s] = a.program[s];
  bool ok = add_gates(&a, f->gates, &error) && add_plan(&a, names, f, cli, &error) && run_all(&a, &error);
  int status = ok ? say(&a, f, cli) : error ? live_fail(error) : EXIT_INTERRUPTED;
  g_clear_pointer(&a.in.results, g_ptr_array_unref);
  g_clear_pointer(&a.in.gates, g_ptr_array_unref);
  sweep_plan_free(a.plan);
  return status;
}
