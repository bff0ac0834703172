/* cmd_compare.c - stampede compare: options, running both sides, what goes where. */
#include "sim/cli.h"
#include "sim/compare_report.h"
#include "sim/metrics.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/suite.h"
#include "sim/side.h"
#include "sim/subject/visible.h"
#include <string.h>
#include <unistd.h>

typedef struct {
  const App *app;
  const CliOptions *common;
  char *side[SIDES], *shown[SIDES], *suite, *metric, *threshold, *out;
  char **gates;
  gint64 repeat, jobs;
  gboolean markdown;
  bool progress; /* stderr is a terminal */
  ScenarioOptions base;
  GPtrArray *sets[SIDES]; /* of char *: "KEY=VALUE" */
  GPtrArray *names;       /* of char *: scenarios */
  char *subject;
  SweepPlan *plan;
  CompareInput in;
} Compare;

/* ---- what to compare ---- */

static bool add_suite(Compare *c, GError **error) {
  g_autoptr(Suite) suite = suite_load(c->suite, c->app->dirs, error);
  if (!suite) return false;
  for (guint i = 0; i + 1 < suite->scenarios->len; i++) g_ptr_array_add(c->names, g_strdup(suite->scenarios->pdata[i]));
  c->subject = g_strdup_printf("suite %s", suite->name);
  return true;
}

static bool add_scenarios(Compare *c, char **words, GError **error) {
  for (char **word = words; *word; word++) g_ptr_array_add(c->names, g_strdup(*word));
  if (c->suite && !add_suite(c, error)) return false;
  if (*words && c->suite) {
    g_free(c->subject);
    c->subject = NULL;
  }
  if (!c->subject && c->names->len > 1) c->subject = g_strdup_printf("%u scenarios", c->names->len);
  return true;
}

static bool add_gates(Compare *c, GError **error) {
  c->in.gates = g_ptr_array_new_with_free_func((GDestroyNotify)gate_free);
  for (char **text = c->gates; text && *text; text++) {
    Gate *g = gate_parse(*text, error);
    if (!g) return g_prefix_error(error, "--gate '%.100s': ", *text), false;
    g_ptr_array_add(c->in.gates, g);
  }
  return true;
}

/* What the two sides override. */
static bool add_sides(Compare *c, GError **error) {
  static const char *const options[SIDES] = {"--baseline", "--patch"};
  for (Side s = 0; s < SIDES; s++) {
    c->sets[s] = g_ptr_array_new_with_free_func(g_free);
    if (!side_apply(c->side[s], c->app->dirs, c->sets[s], error))
      return g_prefix_error(error, "%s: ", options[s]), false;
  }
  return true;
}

static bool add_plan(Compare *c, GError **error) {
  const SweepSide sides[SIDES] = {{c->side[SIDE_BASELINE], c->sets[SIDE_BASELINE]},
                                  {c->side[SIDE_PATCH], c->sets[SIDE_PATCH]}};
  SweepRequest request = {.sets = (const char *const *)c->common->sets,
                          .seed = c->common->seed,
                          .sides = sides,
                          .n_sides = SIDES,
                          .repeat = c->repeat,
                          .interrupted = cli_interrupted()};
  g_ptr_array_add(c->names, NULL);
  c->in.plan = c->plan = sweep_plan((const char *const *)c->names->pdata, &request, &c->base, error);
  if (!c->plan) return false;
  c->in.results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
  g_ptr_array_set_size(c->in.results, (gint)sweep_points(c->plan));
  return true;
}

/* ---- running ---- */

static RunResult *run_point(void *data, const Scenario *scenario, GError **error) {
  const Compare *c = data;
  RunOptions o = {.command = "compare", .checks = c->app->checks, .interrupted = cli_interrupted()};
  return run_scenario(scenario, &o, error);
}

static bool on_finished(void *data, guint point, RunResult *r, guint done, GError **error) {
  const Compare *c = data;
  (void)point, (void)r, (void)error;
  if (c->progress) fprintf(stderr, "\r%u/%u runs", done, sweep_points(c->plan));
  return true;
}

static bool is_first_seed(void *data, guint point) {
  const Compare *c = data;
  return point % c->plan->seeds == 0;
}

/* The first pair has been run: does it say all? */
static bool is_worth_it(void *data, guint point) {
  const Compare *c = data;
  return !compare_alone(c->plan, c->in.results, sweep_combination(c->plan, point));
}

static bool run_points(Compare *c, GError **error) {
  SweepRunOptions o = {.run = run_point,
                       .base = &c->base,
                       .jobs = (guint)c->jobs,
                       .interrupted = cli_interrupted(),
                       .wanted = is_first_seed,
                       .finished = on_finished,
                       .data = c};
  bool ok = sweep_run(c->plan, &o, c->in.results, error);
  o.wanted = is_worth_it;
  ok = ok && sweep_run(c->plan, &o, c->in.results, error);
  if (c->progress) fputc('\n', stderr);
  return ok;
}

/* ---- afterwards ---- */

static void fill_json(Output *o, const void *data) {
  compare_json(data, o);
}
static void fill_junit(Output *o, const void *data) {
  compare_junit(data, o);
}
static void fill_markdown(Output *o, const void *data) {
  g_autoptr(GString) text = g_string_new(NULL);
  compare_markdown(data, text);
  output_str(o, text->str);
}

static int say(const Compare *c, const CompareReport *r) {
  if (c->common->json) return cli_write("-", fill_json, r);
  if (c->common->quiet) return EXIT_MET;
  if (c->markdown) return cli_write("-", fill_markdown, r);
  g_autoptr(GString) text = g_string_new(NULL);
  compare_text(r, text, cli_color(STDOUT_FILENO));
  return cli_print(text->str);
}

static int write_in(const char *dir, const char *file, void (*fill)(Output *o, const void *data),
                    const CompareReport *r) {
  g_autofree char *path = g_build_filename(dir, file, NULL);
  return cli_write(path, fill, r);
}

static int write_folder(const Compare *c, const CompareReport *r) {
  GError *error = NULL;
  int status = write_in(c->out, "compare.md", fill_markdown, r);
  if (status == EXIT_MET) status = write_in(c->out, "results.json", fill_json, r);
  if (status != EXIT_MET || !c->app->plot || !compare_can_be_drawn(r)) return status;
  if (c->app->plot(c->out, &error)) return EXIT_MET;
  cli_fail(error);
  return EXIT_ENVIRONMENT;
}

static bool unfinished(const Compare *c) {
  for (guint point = 0; point < c->in.results->len; point++)
    if (!c->in.results->pdata[point] && !sweep_refused(c->plan, point) &&
        !compare_alone(c->plan, c->in.results, sweep_combination(c->plan, point)))
      return true;
  return false;
}

static int report(Compare *c, gint64 started) {
  c->in.interrupted = cli_is_interrupted() && unfinished(c);
  g_autoptr(Comparison) comparison = compare(&c->in);
  CompareReport r = {.comparison = comparison,
                     .subject = c->subject ? c->subject : c->plan->scenario,
                     .base = &c->base,
                     .jobs = (guint)c->jobs,
                     .wall_ms = (double)(g_get_monotonic_time() - started) / 1e3};
  int status = say(c, &r);
  if (status == EXIT_MET && c->out) status = write_folder(c, &r);
  if (status == EXIT_MET && c->common->junit) status = cli_write(c->common->junit, fill_junit, &r);
  return status == EXIT_MET ? compare_exit(comparison) : status;
}

/* ---- the command ---- */

/* A folder that holds a sweep keeps its results. */
static int open_folder(const Compare *c) {
  g_autofree char *manifest = g_build_filename(c->out, "manifest.json", NULL);
  if (g_file_test(manifest, G_FILE_TEST_EXISTS))
    return cli_refuse(EXIT_INPUT, "--out %s: holds a sweep; give another directory", c->out);
  if (g_mkdir_with_parents(c->out, 0777) == 0 && g_file_test(c->out, G_FILE_TEST_IS_DIR)) return EXIT_MET;
  return cli_refuse(EXIT_ENVIRONMENT, "--out %s: cannot make this folder", c->out);
}

static int do_compare(Compare *c, char **words) {
  GError *error = NULL;
  const gint64 started = g_get_monotonic_time();
  c->base = (ScenarioOptions){.dirs = c->app->dirs, .checks = c->app->check_names, .metrics = metric_patterns()};
  if (!add_gates(c, &error) || !add_sides(c, &error) || !add_scenarios(c, words, &error)) return cli_fail(error);
  if (!add_plan(c, &error)) return error ? cli_fail(error) : EXIT_INTERRUPTED;
  int status = c->out ? open_folder(c) : EXIT_MET;
  if (status != EXIT_MET) return status;
  return run_points(c, &error) ? report(c, started) : cli_fail(error);
}

static bool known_metric(const char *name) {
  g_autofree char *plain = key_without_indexes(name);
  return g_strv_contains(metric_patterns(), plain);
}

static int check_options(Compare *c, char **words) {
  const CliOptions *o = c->common;
  if (!c->side[SIDE_BASELINE] || !c->side[SIDE_PATCH])
    return cli_refuse(EXIT_INPUT,
                      "--baseline and --patch say what to compare: a variant, a preset, KEY=VALUE or a file");
  if (!*words && !c->suite) return cli_refuse(EXIT_INPUT, "a SCENARIO or --suite NAME says what to compare it by");
  if (o->trace) return cli_refuse(EXIT_INPUT, "compare writes no trace; stampede run --trace does, for one side");
  if (o->json && c->markdown) return cli_refuse(EXIT_INPUT, "--json and --markdown both want stdout; give one of them");
  if (c->repeat < 1 || c->jobs < 1 || c->jobs > 1024)
    return cli_refuse(EXIT_INPUT, "--repeat takes a number of 1 or more, --jobs one from 1 to 1024");
  if (c->metric && !known_metric(c->metric)) {
    const char *near = nearest_name(c->metric, metric_patterns());
    return cli_refuse(EXIT_INPUT, "--metric: no metric %.100s; %s%s", c->metric, near ? "the nearest is " : "",
                      near ? near : "stampede list metrics names them");
  }
  c->in.threshold = 0.02;
  if (c->threshold && !gate_share(c->threshold, &c->in.threshold))
    return cli_refuse(EXIT_INPUT, "--threshold takes a percentage such as 2%%, not \"%.100s\"", c->threshold);
  c->in.metric = c->metric;
  for (Side s = 0; s < SIDES; s++) c->in.side[s] = c->shown[s] = visible_text(c->side[s]);
  return EXIT_MET;
}

static void compare_clear(Compare *c) {
  for (Side s = 0; s < SIDES; s++) {
    g_free(c->side[s]);
    g_free(c->shown[s]);
    g_clear_pointer(&c->sets[s], g_ptr_array_unref);
  }
  g_free(c->suite);
  g_free(c->metric);
  g_free(c->threshold);
  g_free(c->out);
  g_free(c->subject);
  g_strfreev(c->gates);
  g_ptr_array_unref(c->names);
  g_clear_pointer(&c->in.results, g_ptr_array_unref);
  sweep_plan_free(c->plan);
  g_clear_pointer(&c->in.gates, g_ptr_array_unref);
}

int cmd_compare(const App *app, int argc, char **argv) {
  CliOptions o = {0};
  Compare c = {.app = app, .common = &o, .repeat = 10, .jobs = 1, .progress = isatty(STDERR_FILENO)};
  c.names = g_ptr_array_new_with_free_func(g_free);
  GOptionEntry own[] = {
      {"baseline", 0, 0, G_OPTION_ARG_STRING, &c.side[SIDE_BASELINE],
       "what is: a variant (A+B: one over the other), a preset, KEY=VALUE, or a file with code", "A"},
      {"patch", 0, 0, G_OPTION_ARG_STRING, &c.side[SIDE_PATCH], "what might be, likewise", "B"},
      {"suite", 0, 0, G_OPTION_ARG_STRING, &c.suite, "the scenarios of a suite; stampede list suites names them",
       "NAME|FILE"},
      {"repeat", 0, 0, G_OPTION_ARG_INT64, &c.repeat,
       "pairs of runs, a seed each, from --seed on (default 10); one where the seed decides nothing", "N"},
      {"jobs", 0, 0, G_OPTION_ARG_INT64, &c.jobs, "runs at a time (default 1); results do not depend on it", "N"},
      {"metric", 0, 0, G_OPTION_ARG_STRING, &c.metric,
       "what decides, in place of warm.connect_ms, else first.connect_ms, else waits, else latencies", "NAME"},
      {"threshold", 0, 0, G_OPTION_ARG_STRING, &c.threshold,
       "changes up to this are the same (default 2%); better and worse are wholly beyond", "N%"},
      {"gate", 0, 0, G_OPTION_ARG_STRING_ARRAY, &c.gates,
       "exit 1 unless this is so: 'warm.connect_ms <= +2%' (against the baseline), 'first.refused = 0'; may be "
       "repeated",
       "CONDITION"},
      {"markdown", 0, 0, G_OPTION_ARG_NONE, &c.markdown, "tables to paste into a mail", NULL},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &c.out, "write compare.md, results.json and plot.svg there", "DIR"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_auto(GStrv) left =
      cli_parse("compare", "[SCENARIO...]",
                "The same scenarios and seeds on two sides, and a verdict for each: better, same, worse, "
                "or broken (a check is violated with the patch alone). --set KEY=LIST as in sweep.",
                &o, own, argc, argv, 0, 10000);
  int status = left ? check_options(&c, left) : EXIT_INPUT;
  c.progress = c.progress && !o.quiet;
  if (status == EXIT_MET) status = do_compare(&c, left);
  compare_clear(&c);
  cli_clear(&o);
  return status;
}
