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
  gint64 started;
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
  if (r && r->interrupted) g_clear_pointer(&r, run_result_free);
  a->in.results->pdata[point] = r;
  return r;
}

/* One pair says all where the seed decides nothing. Interrupted, it ends with what there is. */
static void run_all(Against *a, GError **error) {
  a->in.results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
  g_ptr_array_set_size(a->in.results, (gint)sweep_points(a->plan));
  for (guint point = 0; point < sweep_points(a->plan); point += SIDES * a->plan->seeds) {
    guint c = sweep_combination(a->plan, point);
    for (guint seed = 0; seed < a->plan->seeds; seed++) {
      if (seed && compare_alone(a->plan, a->in.results, c)) break;
      for (Side side = 0; side < SIDES; side++)
        if (!run_one(a, c, side, seed, error)) return;
    }
  }
}

static void fill_json(Output *o, const void *data) {
  compare_json(data, o);
}
static void fill_junit(Output *o, const void *data) {
  compare_junit(data, o);
}

static int say(const CompareReport *r, const LiveFlags *f, const CliOptions *cli) {
  if (cli->json) return cli_write("-", fill_json, r);
  if (cli->quiet) return EXIT_MET;
  g_autoptr(GString) text = g_string_new(NULL);
  if (f->markdown)
    compare_markdown(r, text);
  else
    compare_text(r, text, cli_color(STDOUT_FILENO));
  return cli_print(text->str);
}

/* A program that cannot be gated brings its own clock, whatever --clock says. */
static bool on_real_clock(const Against *a) {
  for (guint i = 0; i < a->in.results->len; i++) {
    const RunResult *r = a->in.results->pdata[i];
    if (r && r->real_clock) return true;
  }
  return false;
}

static int report(Against *a, const LiveFlags *f, const CliOptions *cli) {
  a->in.interrupted = cli_is_interrupted();
  g_autoptr(Comparison) comparison = compare(&a->in);
  g_autofree char *figures =
      g_strdup_printf("two real poolers, each between simulated clients and servers, on a %s clock",
                      on_real_clock(a) ? "real" : "virtual");
  CompareReport r = {.comparison = comparison,
                     .subject = a->plan->scenario,
                     .command = "live --against",
                     .figures = figures,
                     .base = &a->base,
                     .wall_ms = (double)(g_get_monotonic_time() - a->started) / 1e3,
                     .jobs = 1};
  int status = say(&r, f, cli);
  if (status == EXIT_MET && cli->junit) status = cli_write(cli->junit, fill_junit, &r);
  return status == EXIT_MET ? compare_exit(comparison) : status;
}

int live_against(const App *app, char **names, const LiveOptions *o, const LiveFlags *f, const CliOptions *cli) {
  GError *error = NULL;
  Against a = {.live = o, .program = {o->program, f->against}};
  a.base = (ScenarioOptions){.dirs = app->dirs, .checks = app->check_names, .metrics = metric_patterns()};
  a.in.threshold = 0.02;
  a.started = g_get_monotonic_time();
  for (Side s = 0; s < SIDES; s++) a.in.side[s] = a.program[s];
  if (add_gates(&a, f->gates, &error) && add_plan(&a, names, f, cli, &error)) run_all(&a, &error);
  int status = error ? live_fail(error) : a.in.results ? report(&a, f, cli) : EXIT_INTERRUPTED;
  g_clear_pointer(&a.in.results, g_ptr_array_unref);
  g_clear_pointer(&a.in.gates, g_ptr_array_unref);
  sweep_plan_free(a.plan);
  return status;
}
