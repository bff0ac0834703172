/* cmd_sweep.c - stampede sweep: options, the folder, what goes where. */
#include "sim/cli.h"
#include "sim/metrics.h"
#include "sim/scenario/keys.h"
#include "sim/sweep_report.h"
#include "sim/sweep_store.h"
#include <string.h>
#include <unistd.h>

typedef struct {
  const App *app;
  CliOptions *common;
  char *variants, *metrics, *job, *out, *across, *knee;
  gpointer check_flags; /* the explorer's options */
  gint64 repeat, jobs;
  gboolean resume;
  bool progress; /* stderr is a terminal */
  ScenarioOptions base;
  SweepPlan *plan;
  GPtrArray *results; /* of RunResult */
} Sweep;

/* ---- while it runs ---- */

static void say_progress(const Sweep *s, guint done) {
  if (s->progress) fprintf(stderr, "\r%u/%u points", done, sweep_points(s->plan));
}

static bool on_finished(void *data, guint point, RunResult *r, guint done, GError **error) {
  const Sweep *s = data;
  say_progress(s, done);
  return !s->out || sweep_store_keep(s->out, s->plan, point, r, error);
}

static bool load_finished(Sweep *s, GError **error) {
  GError *problem = NULL;
  for (guint point = 0; s->out && s->resume && point < s->results->len; point++) {
    if (sweep_refused(s->plan, point)) continue;
    s->results->pdata[point] = sweep_store_load(s->out, s->plan, point, &s->app->checks, &problem);
    if (problem) return g_propagate_error(error, problem), false;
  }
  return true;
}

static RunResult *run_point(void *data, const Scenario *scenario, GError **error) {
  const Sweep *s = data;
  if (s->plan->explores) return s->app->check_job->run(s->app, scenario, s->check_flags, error);
  RunOptions ro = {.command = "sweep", .checks = s->app->checks, .interrupted = cli_interrupted()};
  return run_scenario(scenario, &ro, error);
}

static bool run_points(Sweep *s, GError **error) {
  SweepRunOptions o = {.run = run_point,
                       .base = &s->base,
                       .jobs = (guint)s->jobs,
                       .interrupted = cli_interrupted(),
                       .finished = on_finished,
                       .data = s};
  if (!load_finished(s, error)) return false;
  bool ok = sweep_run(s->plan, &o, s->results, error);
  if (s->progress) fputc('\n', stderr);
  return ok;
}

/* ---- afterwards ---- */

static void fill_json(Output *o, const void *data) {
  sweep_json(data, o);
}
static void fill_csv(Output *o, const void *data) {
  sweep_csv(data, o);
}
static void fill_markdown(Output *o, const void *data) {
  const SweepReport *r = data;
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(SweepGrid) plain = r->grid ? NULL : sweep_grid(r->curves, NULL, NULL);
  sweep_grid_markdown(r->grid ? r->grid : plain, text);
  output_str(o, text->str);
}
/* Each finished point is a suite of its own, named by its values. */
static void fill_junit(Output *o, const void *data) {
  const SweepReport *r = data;
  g_autoptr(GPtrArray) named = g_ptr_array_new();
  for (guint point = 0; point < r->curves->results->len; point++) {
    RunResult *res = r->curves->results->pdata[point];
    if (!res) continue;
    g_autofree char *name = sweep_point_name(r->curves->plan, point);
    g_free(res->scenario);
    res->scenario = g_strdup_printf("%s %s", r->curves->plan->scenario, name);
    g_ptr_array_add(named, res);
  }
  report_junit((const RunResult *const *)named->pdata, named->len, o);
}

static int write_in(const char *dir, const char *file, void (*fill)(Output *o, const void *data),
                    const SweepReport *r) {
  g_autofree char *path = g_build_filename(dir, file, NULL);
  return cli_write(path, fill, r);
}

/* Logarithmic axes have no place for 0: where nothing costs anything, times make no plot. */
static bool can_be_drawn(const SweepCurves *c) {
  for (guint i = 0; i < c->series->len; i++) {
    const GArray *points = ((SweepSeries *)c->series->pdata[i])->points;
    for (guint k = 0; k < points->len; k++) {
      const SeriesPoint *p = &g_array_index(points, SeriesPoint, k);
      if (p->x > 0 && p->mean > 0) return true;
    }
  }
  return false;
}

static int draw(const Sweep *s, const SweepReport *r) {
  GError *error = NULL;
  if (!can_be_drawn(r->curves) || !s->app->plot || s->app->plot(s->out, &error)) return EXIT_MET;
  cli_fail(error);
  return EXIT_ENVIRONMENT;
}

static int write_folder(const Sweep *s, const SweepReport *r) {
  int status = write_in(s->out, "results.csv", fill_csv, r);
  if (status == EXIT_MET) status = write_in(s->out, "results.md", fill_markdown, r);
  if (status == EXIT_MET) status = write_in(s->out, "results.json", fill_json, r);
  return status == EXIT_MET ? draw(s, r) : status;
}

static int say(const Sweep *s, const SweepReport *r) {
  if (s->common->json) return cli_write("-", fill_json, r);
  if (s->common->quiet) return EXIT_MET;
  g_autoptr(GString) text = g_string_new(NULL);
  sweep_text(r, text, cli_color(STDOUT_FILENO));
  return cli_print(text->str);
}

static int report(const Sweep *s, gint64 started) {
  g_autofree char *list =
      s->knee && s->metrics ? g_strconcat(s->metrics, ",", s->knee, NULL) : g_strdup(s->metrics ? s->metrics : s->knee);
  g_auto(GStrv) metrics = list ? g_strsplit(list, ",", -1) : NULL;
  g_autoptr(SweepCurves) curves = sweep_curves(s->plan, s->results, (const char *const *)metrics);
  g_autoptr(SweepGrid) grid = s->across || s->plan->explores ? sweep_grid(curves, s->across, NULL) : NULL;
  SweepReport r = {.curves = curves,
                   .grid = grid,
                   .knee = s->knee,
                   .jobs = (guint)s->jobs,
                   .wall_ms = (double)(g_get_monotonic_time() - started) / 1e3};
  r.interrupted = cli_is_interrupted() && sweep_finished(&r) + sweep_refusals(s->plan) < s->results->len;
  int status = say(s, &r);
  if (status == EXIT_MET && s->out) status = write_folder(s, &r);
  if (status == EXIT_MET && s->common->junit) status = cli_write(s->common->junit, fill_junit, &r);
  return status == EXIT_MET ? sweep_exit(&r) : status;
}

/* ---- the command ---- */

/* What a point is, as the manifest says it; --time is a key of the scenario. */
static char *job_words(Sweep *s) {
  if (g_strcmp0(s->job, "check") != 0) return NULL;
  const CheckJob *job = s->app->check_job;
  g_autofree char *words = job->words(s->check_flags);
  char *set = job->set(s->check_flags);
  if (set) {
    guint n = s->common->sets ? g_strv_length(s->common->sets) : 0;
    s->common->sets = g_renew(char *, s->common->sets, n + 2);
    s->common->sets[n] = set;
    s->common->sets[n + 1] = NULL;
  }
  return g_strconcat("check", *words ? " " : "", words, NULL);
}

static int sweep(Sweep *s, char **scenarios) {
  GError *error = NULL;
  g_autofree char *job = job_words(s);
  const gint64 started = g_get_monotonic_time();
  s->base = (ScenarioOptions){.dirs = s->app->dirs, .checks = s->app->check_names, .metrics = metric_patterns()};
  SweepRequest request = {.sets = (const char *const *)s->common->sets,
                          .seed = s->common->seed,
                          .variants = s->variants,
                          .job = job,
                          .repeat = s->repeat,
                          .interrupted = cli_interrupted()};
  s->plan = sweep_plan((const char *const *)scenarios, &request, &s->base, &error);
  if (!s->plan) return error ? cli_fail(error) : EXIT_INTERRUPTED;
  if (s->knee && !sweep_has_axis(s->plan))
    return cli_refuse(EXIT_INPUT,
                      "--knee needs a list of three numbers or more, such as --set pooler.pool_size=1:64:*2");
  if (!sweep_across_known(s->plan, s->across, &error)) return cli_fail(error);
  if (s->out && !sweep_store_open(s->out, s->plan, s->resume, &error)) return cli_fail(error);
  s->results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
  g_ptr_array_set_size(s->results, (gint)sweep_points(s->plan));
  return run_points(s, &error) ? report(s, started) : cli_fail(error);
}

/* Metrics have names known beforehand, with an index in some. */
static const char *unknown_metric(const char *list) {
  g_auto(GStrv) names = g_strsplit(list, ",", -1);
  for (char **name = names; *name; name++) {
    g_autofree char *plain = key_without_indexes(*name);
    if (!g_strv_contains(metric_patterns(), plain)) return g_intern_string(*name);
  }
  return NULL;
}

static int check_options(const Sweep *s) {
  const CliOptions *o = s->common;
  const char *unknown = s->metrics ? unknown_metric(s->metrics) : NULL;
  if (o->trace) return cli_refuse(EXIT_INPUT, "sweep writes no trace; stampede run --trace does, for one point");
  const bool check = s->job && !strcmp(s->job, "check");
  g_autofree char *words = s->app->check_job->words(s->check_flags);
  if (s->job && !check && strcmp(s->job, "run") != 0)
    return cli_refuse(EXIT_INPUT, "--job is run or check, not \"%s\"", s->job);
  if (!check && *words) return cli_refuse(EXIT_INPUT, "%s: that is for --job check", words);
  if (check && !s->app->check_job->ready(s->check_flags)) return EXIT_INPUT;
  if (check && (s->metrics || s->knee))
    return cli_refuse(EXIT_INPUT,
                      "--metric and --knee are for --job run; an exploration has verdicts, states and transitions");
  if (check && o->junit)
    return cli_refuse(EXIT_INPUT,
                      "--junit is for --job run; what a sweep of explorations finds violated is no failure");
  if (s->repeat < 1 || s->jobs < 1 || s->jobs > 1024)
    return cli_refuse(EXIT_INPUT, "--repeat takes a number of 1 or more, --jobs one from 1 to 1024");
  if (s->resume && !s->out) return cli_refuse(EXIT_INPUT, "--resume goes with --out DIR, the folder to go on in");
  if (s->knee && unknown_metric(s->knee))
    return cli_refuse(EXIT_INPUT, "--knee: no metric %s; stampede list metrics names them", s->knee);
  if (unknown) return cli_refuse(EXIT_INPUT, "--metric: no metric %s; stampede list metrics names them", unknown);
  return EXIT_MET;
}

static void sweep_clear(Sweep *s) {
  g_free(s->variants);
  g_free(s->metrics);
  g_free(s->job);
  g_free(s->out);
  g_free(s->across);
  g_free(s->knee);
  s->app->check_job->flags_free(s->check_flags);
  sweep_plan_free(s->plan);
  if (s->results) g_ptr_array_unref(s->results);
}

int cmd_sweep(const App *app, int argc, char **argv) {
  CliOptions o = {0};
  Sweep s = {.app = app, .common = &o, .repeat = 1, .jobs = 1, .progress = isatty(STDERR_FILENO)};
  GOptionEntry own[] = {
      CLI_SUBJECT(&o),
      {"variant", 0, 0, G_OPTION_ARG_STRING, &s.variants, "variants to run; A+B is one over the other", "A,B"},
      {"repeat", 0, 0, G_OPTION_ARG_INT64, &s.repeat, "N seeds for each point, from --seed on", "N"},
      {"jobs", 0, 0, G_OPTION_ARG_INT64, &s.jobs, "points at a time (default 1); results do not depend on it", "N"},
      {"out", 0, 0, G_OPTION_ARG_FILENAME, &s.out, "write results.csv, .md, .json and plot.svg there", "DIR"},
      {"resume", 0, 0, G_OPTION_ARG_NONE, &s.resume, "go on with the sweep in DIR; finished points are not run again",
       NULL},
      {"metric", 0, 0, G_OPTION_ARG_STRING, &s.metrics, "metrics of table, fits and plot", "X,Y"},
      {"job", 0, 0, G_OPTION_ARG_STRING, &s.job, "run or check (which explores every point)", "WORD"},
      {"knee", 0, 0, G_OPTION_ARG_STRING, &s.knee, "the smallest value of a list that gains most of METRIC", "METRIC"},
      {"across", 0, 0, G_OPTION_ARG_STRING, &s.across, "lists (or scenario) whose values are columns of the table",
       "X,Y"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  s.check_flags = app->check_job->flags_new();
  g_autofree GOptionEntry *entries = app->check_job->entries(s.check_flags, own);
  g_auto(GStrv) left = cli_parse(
      "sweep", "SCENARIO...",
      "Many runs of a scenario: every combination of the lists given, of variants and of seeds; several "
      "scenarios are one list more. --set KEY=LIST takes 1,2,3 or 512:8192:*2 or 10:50:+10 or "
      "none,{hold_until: [eof, 1s]}, and may be repeated. With --job check each point is explored, and what is "
      "shown are verdicts; options from --time to --bits are for that.",
      &o, entries, argc, argv, 1, 100);
  int status = left ? check_options(&s) : EXIT_INPUT;
  s.progress = s.progress && !o.quiet;
  if (status == EXIT_MET) status = sweep(&s, left);
  sweep_clear(&s);
  cli_clear(&o);
  return status;
}
