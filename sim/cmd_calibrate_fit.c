/* cmd_calibrate_fit.c - stampede calibrate fit: costs of a profile from a table of published or measured figures. */
#include "sim/cmd_calibrate.h"
#include "sim/fit_report.h"
#include "sim/scenario/assets.h"
#include <string.h>
#include <unistd.h>

enum { GLOBAL_EVALS = 160, LOCAL_EVALS = 80, WITHOUT_EVALS = 40 };

typedef struct {
  char *table, *scenario, *start, *output, *about;
  char **free, **fix, **leave_out, **predict;
  gint global, evals, jobs, seeds;
  gboolean needed;
} FitOptions;

/* What is free when nobody says: the start-up, the page fault, what each follower costs beside it, the lock, and what
 * an iteration takes before its first connection. */
static const char *const default_free[] = {"backend.startup=1ms:20ms",           "memory.fault_write=0.3us:4us",
                                           "procarray.store_entry=10ns:300ns",   "lock.handover=2us:100us",
                                           "unexplained.start_of_run=5ms:200ms", NULL};

typedef struct {
  const App *app;
  const FitOptions *o;
  const CliOptions *common;
  FitTable *table;
  FitProblem problem;
  FitResult result;
  FitStory story;
  GPtrArray *sets, *fixed; /* sets NULL-terminated */
  char *command, *name;
  uint64_t seed;
} Fit;

static void fit_clear(Fit *f) {
  fit_result_clear(&f->result);
  g_clear_pointer(&f->table, fit_table_free);
  if (f->story.without) g_array_unref(f->story.without);
  if (f->story.seeds) g_array_unref(f->story.seeds);
  if (f->story.predictions) g_array_unref(f->story.predictions);
  g_ptr_array_unref(f->sets);
  g_ptr_array_unref(f->fixed);
  g_free(f->command);
  g_free(f->name);
}

static void prediction_clear(gpointer p) {
  g_free(((FitPrediction *)p)->figures);
  g_free(((FitPrediction *)p)->set);
}

static FitTableRequest request(const Fit *f, const char *const *sets, const char *seed) {
  return (FitTableRequest){.scenario = f->o->scenario,
                           .table = f->o->table,
                           .sets = sets,
                           .seed = seed,
                           .dirs = f->app->dirs,
                           .jobs = (guint)f->o->jobs,
                           .interrupted = cli_interrupted()};
}

/* ---- what is asked for ---- */

static bool take_free(Fit *f, GError **error) {
  FitProblem *p = &f->problem;
  const char *const *list = f->o->free ? (const char *const *)f->o->free : default_free;
  for (; *list; list++) {
    FitFree one;
    if (!fit_parse_free(*list, &one, error)) return false;
    bool again = false;
    for (guint i = 0; i < p->n_free; i++) again |= p->free[i].id == one.id;
    if (again || p->n_free == FIT_MAX_FREE) {
      g_set_error(error, FIT_ERROR, FIT_ERROR_INPUT, "--free %s: %s", *list, again ? "twice" : "too many constants");
      return false;
    }
    p->free[p->n_free++] = one;
  }
  return true;
}

static bool take_fix(Fit *f, GError **error) {
  for (char **fix = f->o->fix; fix && *fix; fix++) {
    CostId id;
    int64_t ps;
    if (!fit_parse_fix(*fix, &id, &ps, error)) return false;
    for (guint i = 0; i < f->problem.n_free; i++) {
      if (f->problem.free[i].id != id) continue;
      g_set_error(error, FIT_ERROR, FIT_ERROR_INPUT, "--fix %s: it is free as well", *fix);
      return false;
    }
    f->problem.base.ps[id] = ps;
    g_ptr_array_add(f->fixed, (gpointer)cost_info[id].key);
  }
  return true;
}

/* A profile's value outside the bounds is moved to the nearer one. */
static void into_bounds(FitProblem *p) {
  for (guint i = 0; i < p->n_free; i++) {
    int64_t *ps = &p->base.ps[p->free[i].id];
    *ps = CLAMP(p->free[i].start ? p->free[i].start : *ps, p->free[i].low, p->free[i].high);
  }
}

static void progress(void *data, guint evals, double worst) {
  (void)data;
  if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%5u simulations, worst cell %.1f %%  ", evals, 100 * worst);
}

/* What would be refused after the fit is refused before it. */
static bool predictions_can_be(const Fit *f, GError **error) {
  for (char **set = f->o->predict; set && *set; set++) {
    g_autoptr(GPtrArray) sets = g_ptr_array_new();
    for (guint i = 0; f->sets->pdata[i]; i++) g_ptr_array_add(sets, f->sets->pdata[i]);
    g_ptr_array_add(sets, *set);
    g_ptr_array_add(sets, NULL);
    CliOptions o = {.seed = f->common->seed, .sets = (char **)sets->pdata};
    g_autoptr(Scenario) s = cli_scenario(f->app, f->o->scenario, &o, error);
    if (!s) return false;
  }
  return true;
}

static bool prepare(Fit *f, GError **error) {
  FitProblem *p = &f->problem;
  if (!take_free(f, error) || !predictions_can_be(f, error)) return false;
  FitTableRequest r = request(f, (const char *const *)f->sets->pdata, f->common->seed);
  f->table = fit_table_new(&r, error);
  if (!f->table) return false;
  FitCell *cells = fit_table_cells(f->table, &p->n_cells);
  for (char **items = f->o->leave_out; items && *items; items++)
    if (!fit_leave_out(cells, p->n_cells, *items, error)) return false;
  scenario_costs(fit_table_scenario(f->table), &p->base);
  f->seed = scenario_seed(fit_table_scenario(f->table));
  p->cells = cells;
  p->simulate = fit_table_quick;
  p->data = f->table;
  p->seed = f->seed;
  p->global = (guint)f->o->global;
  p->local = (guint)f->o->evals;
  p->progress = f->common->quiet ? NULL : progress;
  if (!take_fix(f, error)) return false;
  into_bounds(p);
  return true;
}

/* ---- the fit and what is told of it ---- */

/* Four digits are more than the data hold; what is written down is what is judged. */
static bool round_and_judge(Fit *f, GError **error) {
  for (guint i = 0; i < f->problem.n_free; i++) {
    int64_t *ps = &f->result.costs.ps[f->problem.free[i].id];
    *ps = fit_round(*ps, 4);
  }
  if (!fit_table_exact(f->table, &f->result.costs, f->result.figures, error)) return false;
  fit_judge(&f->problem, &f->result);
  return true;
}

static bool try_without(Fit *f, GError **error) {
  f->story.without = g_array_new(FALSE, FALSE, sizeof(FitWithout));
  for (guint i = 0; f->problem.local && i < f->problem.n_free; i++) {
    CostId id = f->problem.free[i].id;
    if (!f->o->needed && !g_str_has_prefix(cost_info[id].key, "unexplained.")) continue;
    FitProblem local = f->problem;
    FitResult r;
    local.local = MIN(WITHOUT_EVALS, local.local);
    bool ok = fit_without(&local, &f->result, i, &r, error);
    FitWithout w = {id, r.worst, f->problem.cells[r.worst_cell].name};
    f->story.evals += r.evals;
    fit_result_clear(&r);
    if (!ok) return false;
    g_array_append_val(f->story.without, w);
  }
  return true;
}

/* The same table with another seed or one more key: its figures with the fitted constants. */
static bool elsewhere(Fit *f, const char *set, const char *seed, double *figures, GError **error) {
  g_autoptr(GPtrArray) sets = g_ptr_array_new();
  for (guint i = 0; f->sets->pdata[i]; i++) g_ptr_array_add(sets, f->sets->pdata[i]);
  if (set) g_ptr_array_add(sets, (gpointer)set);
  g_ptr_array_add(sets, NULL);
  FitTableRequest r = request(f, (const char *const *)sets->pdata, seed);
  r.exact_only = true;
  g_autoptr(FitTable) t = fit_table_new(&r, error);
  return t && fit_table_exact(t, &f->result.costs, figures, error);
}

static bool try_seeds(Fit *f, GError **error) {
  f->story.seeds = g_array_new(FALSE, FALSE, sizeof(FitSeed));
  for (guint i = 0; i < (guint)f->o->seeds; i++) {
    FitResult r = {.figures = g_new0(double, f->problem.n_cells)};
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, (uint64_t)i + 1);
    bool ok = elsewhere(f, NULL, seed, r.figures, error);
    if (ok) fit_judge(&f->problem, &r);
    FitSeed s = {i + 1, r.worst, f->problem.cells[r.worst_cell].name, r.missed};
    fit_result_clear(&r);
    if (!ok) return false;
    g_array_append_val(f->story.seeds, s);
  }
  return true;
}

static bool predict(Fit *f, GError **error) {
  f->story.predictions = g_array_new(FALSE, FALSE, sizeof(FitPrediction));
  g_array_set_clear_func(f->story.predictions, prediction_clear);
  for (char **set = f->o->predict; set && *set; set++) {
    FitPrediction q = {g_strdup(*set), g_new0(double, f->problem.n_cells)};
    g_array_append_val(f->story.predictions, q);
    if (!elsewhere(f, *set, f->common->seed, q.figures, error)) return false;
  }
  return true;
}

static bool fit(Fit *f, GError **error) {
  if (!prepare(f, error) || !fit_search(&f->problem, &f->result, error)) return false;
  f->story.evals = f->result.evals;
  if (!round_and_judge(f, error) || !fit_stats(&f->problem, &f->result, &f->story.stats, error)) return false;
  f->story.evals += 2 * f->problem.n_free;
  return try_without(f, error) && try_seeds(f, error) && predict(f, error);
}

/* ---- output ---- */

static void fill_text(Output *o, const void *data) {
  output_str(o, ((const GString *)data)->str);
}

static void fill_json(Output *o, const void *data) {
  fit_report_json(data, o);
}

static int tell(Fit *f) {
  FitStory *s = &f->story;
  g_autoptr(GString) text = g_string_new(NULL), profile = g_string_new(NULL);
  s->problem = &f->problem;
  s->table = f->table;
  s->result = &f->result;
  s->start = f->o->start ? f->o->start : scenario_word(fit_table_scenario(f->table), "machine.profile");
  s->name = f->name;
  s->about = f->o->about ? f->o->about : "Fitted to published figures.";
  s->command = f->command;
  s->fixed = f->fixed;
  s->seed = f->seed;
  fit_report_text(s, text);
  fit_report_bytes(s, text);
  fit_report_profile(s, profile);
  if (f->problem.progress && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
  int status = f->common->json ? cli_write("-", fill_json, s) : f->common->quiet ? EXIT_MET : cli_print(text->str);
  return status == EXIT_MET && f->o->output ? cli_write(f->o->output, fill_text, profile) : status;
}

/* error, taken, is NULL when the user interrupted. */
static int give_up(const Fit *f, GError *error) {
  if (!error)
    return cli_refuse(EXIT_INTERRUPTED, "interrupted after %u simulations; no profile is written", f->result.evals);
  if (error->domain != FIT_ERROR) return cli_fail(error);
  cli_refuse(EXIT_INPUT, "%s", error->message);
  g_error_free(error);
  return EXIT_INPUT;
}

static int run_fit(const App *app, const FitOptions *o, const CliOptions *common, char *command) {
  Fit f = {.app = app,
           .o = o,
           .common = common,
           .command = command,
           .sets = g_ptr_array_new_with_free_func(g_free),
           .fixed = g_ptr_array_new()};
  for (char **set = common->sets; set && *set; set++) g_ptr_array_add(f.sets, g_strdup(*set));
  if (o->start) g_ptr_array_add(f.sets, g_strconcat("machine.profile=", o->start, NULL));
  g_ptr_array_add(f.sets, NULL);
  f.name = calibrate_profile_name(o->output, "fitted");
  GError *error = NULL;
  int status = fit(&f, &error) ? tell(&f) : give_up(&f, error);
  fit_clear(&f);
  return status;
}

static int check_options(const FitOptions *o, const CliOptions *common) {
  if (!o->scenario) return cli_refuse(EXIT_INPUT, "calibrate fit needs --scenario FILE: it says which column is what");
  if (o->evals < 0 || o->global < 0 || o->jobs < 1 || o->jobs > 256 || o->seeds < 0 || o->seeds > 100)
    return cli_refuse(EXIT_INPUT, "--global, --evals, --seeds: 0 or more (seeds at most 100); --jobs: 1 to 256");
  if (common->junit || common->trace)
    return cli_refuse(EXIT_INPUT, "calibrate fit writes a profile (-o FILE), no --junit or --trace");
  return calibrate_output(o->output, common->json);
}

static void options_clear(FitOptions *o) {
  g_free(o->table);
  g_free(o->scenario);
  g_free(o->start);
  g_free(o->output);
  g_free(o->about);
  g_strfreev(o->free);
  g_strfreev(o->fix);
  g_strfreev(o->leave_out);
  g_strfreev(o->predict);
}

int cmd_calibrate_fit(const App *app, int argc, char **argv) {
  CliOptions common = {0};
  FitOptions o = {
      .global = GLOBAL_EVALS, .evals = LOCAL_EVALS, .jobs = (gint)g_get_num_processors(), .seeds = FIT_SEEDS};
  GOptionEntry own[] = {
      {"table", 0, 0, G_OPTION_ARG_FILENAME, &o.table, "figures to fit to (CSV), in place of the scenario's table",
       "FILE"},
      {"scenario", 0, 0, G_OPTION_ARG_STRING, &o.scenario, "the scenario that names each column's metric", "FILE"},
      {"free", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.free,
       "a constant to fit, its bounds and, if not the profile's, its start (KEY=LOW:START:HIGH); may be repeated",
       "KEY=LOW:HIGH"},
      {"fix", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.fix, "a constant in place of the profile's; may be repeated",
       "KEY=VALUE"},
      {"leave-out", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.leave_out,
       "cells shown and not counted: X/COLUMN, x:X, column:COLUMN", "CELLS"},
      {"start", 0, 0, G_OPTION_ARG_STRING, &o.start, "profile that the search starts from and the rest is taken from",
       "PROFILE"},
      {"global", 0, 0, G_OPTION_ARG_INT, &o.global, "simulations of the search within the whole bounds (160)", "N"},
      {"evals", 0, 0, G_OPTION_ARG_INT, &o.evals, "simulations of the search from the best point of it (80)", "N"},
      {"jobs", 0, 0, G_OPTION_ARG_INT, &o.jobs, "threads (all cores); the result does not depend on it", "N"},
      {"seeds", 0, 0, G_OPTION_ARG_INT, &o.seeds, "say what seeds 1..N give with the result (5)", "N"},
      {"needed", 0, 0, G_OPTION_ARG_NONE, &o.needed, "refit without each free constant, not only the unexplained ones",
       NULL},
      {"predict", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.predict, "also show the table with one more key; may be repeated",
       "KEY=VALUE"},
      {"about", 0, 0, G_OPTION_ARG_STRING, &o.about, "what the profile says it is", "TEXT"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o.output, "the profile to write", "FILE"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  char *command = calibrate_command_words(argc, argv);
  g_auto(GStrv) left = cli_parse(
      "calibrate fit", "--scenario FILE [-o PROFILE]",
      "Fits costs of a profile to a table of published or measured figures by running the scenario.\n"
      "Prints the residual of each cell, the interval of each constant and what the figures cannot tell apart.",
      &common, own, argc, argv, 0, 0);
  int status = EXIT_INPUT;
  if (left) status = check_options(&o, &common);
  if (left && status == EXIT_MET)
    status = run_fit(app, &o, &common, command);
  else
    g_free(command);
  options_clear(&o);
  cli_clear(&common);
  return status;
}
