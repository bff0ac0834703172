/* cmd_check.c - stampede check. */
#include "checks/check_run.h"
#include "checks/estimate.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  char *strategy, *store, *time, *max_memory;
  gint64 max_states;
  double max_time;
  int max_depth, jobs, all, deepen, walks, changes, bits;
  gboolean estimate;
} Flags;

static void fill_json(Output *o, const void *data) {
  check_report_json(data, o);
}
static void fill_junit(Output *o, const void *data) {
  const RunResult *r = ((const CheckReport *)data)->run;
  report_junit(&r, 1, o);
}

static bool word_index(const char *word, const char *const *words, guint *index, const char *what) {
  for (guint i = 0; words[i]; i++)
    if (strcmp(word, words[i]) == 0) return *index = i, true;
  g_autofree char *all = g_strjoinv(", ", (char **)words);
  cli_refuse(EXIT_INPUT, "--%s %s: there are %s", what, word, all);
  return false;
}

/* Bytes with a unit, as in scenarios. */
static bool memory_of(const char *text, size_t *bytes) {
  static const struct {
    const char *unit;
    int shift;
  } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  char *end;
  guint64 n = g_ascii_strtoull(text, &end, 10);
  for (guint i = 0; end > text && i < G_N_ELEMENTS(units); i++)
    if (strcmp(end, units[i].unit) == 0 && n <= G_MAXSIZE >> units[i].shift)
      return *bytes = (size_t)n << units[i].shift, true;
  cli_refuse(EXIT_INPUT, "--max-memory %s: a size such as 512MiB or 2GiB is needed", text);
  return false;
}

/* One line for what makes no sense together. */
static const char *senseless(const Flags *f, const SearchOptions *o) {
  bool walks = o->strategy == STRATEGY_RANDOM || o->strategy == STRATEGY_PCT;
  if (f->max_states < 0 || f->max_time < 0 || f->max_depth < 0) return "limits are 0 (none) or more";
  if (f->jobs < 1 || f->jobs > 64) return "--jobs takes 1 to 64";
  if (f->all < 1) return "--all takes 1 or more";
  if (f->jobs > 1 && o->strategy != STRATEGY_BFS)
    return "--jobs is for --strategy bfs; the others go one step at a time";
  if (o->store == STORE_BITSTATE && o->strategy == STRATEGY_BFS)
    return "--store bitstate keeps no way back to a state; use it with --strategy dfs";
  if (f->deepen && o->strategy != STRATEGY_DFS) return "--deepen is for --strategy dfs";
  if (f->deepen && o->store == STORE_BITSTATE) return "--deepen needs to know how deep a state was; bitstate does not";
  if (f->walks && !walks) return "--walks is for --strategy random and pct";
  if (f->changes < 0 || f->changes > 64) return "--changes takes 0 to 64";
  if (f->deepen < 0 || f->walks < 0) return "--deepen and --walks take 1 or more";
  if (walks && f->store) return "--store is for searches; random walks only count what they see";
  if (f->bits < 10 || f->bits > 38) return "--bits takes 10 to 38";
  return NULL;
}

static bool options_of(const Flags *f, CheckOptions *o) {
  static const char *const strategies[] = {"bfs", "dfs", "random", "pct", NULL};
  static const char *const stores[] = {"full", "collapse", "hash128", "bitstate", NULL};
  guint strategy = 0, store = 0;
  if (f->strategy && !word_index(f->strategy, strategies, &strategy, "strategy")) return false;
  if (f->store && !word_index(f->store, stores, &store, "store")) return false;
  o->search = (SearchOptions){.strategy = (Strategy)strategy,
                              .store = (StoreKind)store,
                              .jobs = (guint)f->jobs,
                              .bits_log2 = (guint)f->bits,
                              .max_states = (uint64_t)f->max_states,
                              .max_depth = (guint)f->max_depth,
                              .max_seconds = f->max_time,
                              .deepen = (guint)f->deepen,
                              .walks = (guint)(f->walks ? f->walks : 1000),
                              .changes = (guint)f->changes,
                              .findings_max = (guint)f->all,
                              .interrupted = cli_interrupted()};
  if (f->max_memory && !memory_of(f->max_memory, &o->search.max_bytes)) return false;
  const char *why = senseless(f, &o->search);
  return why ? cli_refuse(EXIT_INPUT, "%s", why), false : true;
}

static void show_progress(void *data, uint64_t states, uint64_t transitions, guint depth) {
  gint64 *last = data, now = g_get_monotonic_time();
  if (now - *last < G_USEC_PER_SEC / 4) return;
  *last = now;
  fprintf(stderr, "\r%" G_GUINT64_FORMAT " states, %" G_GUINT64_FORMAT " transitions, depth %u ", states, transitions,
          depth);
}

static int say(const CheckReport *r, const CliOptions *o) {
  int status = EXIT_MET;
  if (o->json)
    status = cli_write("-", fill_json, r);
  else if (!o->quiet) {
    g_autoptr(GString) text = g_string_new(NULL);
    check_report_text(r, text, cli_color(STDOUT_FILENO));
    status = cli_print(text->str);
  }
  if (o->junit && status == EXIT_MET) status = cli_write(o->junit, fill_junit, r);
  return status == EXIT_MET ? check_report_exit(r) : status;
}

/* ---- --estimate ---- */

enum { ESTIMATE_SAMPLE = 2000 };

static void fill_estimate(Output *out, const void *data) {
  const Estimate *e = data;
  output_str(out, "{\"stampede\": \"" STAMPEDE_VERSION "\", \"command\": \"check\", \"estimate\": {\"states\": ");
  output_double(out, e->states);
  output_str(out, ", \"transitions\": ");
  output_double(out, e->transitions);
  output_str(out, e->exact ? ", \"exact\": true" : ", \"exact\": false");
  output_str(out, ", \"depth\": ");
  output_uint(out, e->depth);
  output_str(out, "}, \"measured\": {\"seconds\": ");
  output_double(out, e->seconds);
  output_str(out, ", \"transitions_per_s\": ");
  output_double(out, e->rate);
  output_str(out, "}}\n");
}

static void fill_estimate_text(Output *out, const void *data) {
  const Estimate *e = data;
  g_autoptr(GString) text = g_string_new(e->exact ? "counted: " : "estimate, from a sample of each level: about ");
  report_number(text, 1, round(e->states));
  g_string_append(text, " states, ");
  report_number(text, 1, round(e->transitions));
  g_string_append_printf(text, " transitions, depth %u; about ", e->depth);
  report_number(text, 1, e->rate > 0 ? e->transitions / e->rate : 0);
  g_string_append(text, " s at this rate\n");
  output_str(out, text->str);
}

static int tell_estimate(const Scenario *s, const CliOptions *o, const CheckOptions *options) {
  Estimate e;
  GError *error = NULL;
  SearchOptions search = options->search;
  walk_config(s, &search.stepper);
  if (!estimate_states(&search, ESTIMATE_SAMPLE, &e, &error)) return cli_fail(error);
  return o->quiet ? EXIT_MET : cli_write("-", o->json ? fill_estimate : fill_estimate_text, &e);
}

static int check(const App *app, const char *name, const CliOptions *o, const Flags *f) {
  CheckOptions options = {.trace_path = o->trace};
  if (!options_of(f, &options)) return EXIT_INPUT;
  GError *error = NULL;
  gint64 last = g_get_monotonic_time();
  bool shown = !o->quiet && isatty(STDERR_FILENO);
  options.search.progress = shown ? show_progress : NULL;
  options.search.progress_data = &last;
  g_autoptr(Scenario) s = cli_scenario(app, name, o, &error);
  if (!s) return cli_fail(error);
  if (f->estimate) return tell_estimate(s, o, &options);
  g_autoptr(CheckReport) r = check_run(app, s, &options, &error);
  if (shown) fprintf(stderr, "\r\033[K");
  return r ? say(r, o) : cli_fail(error);
}

/* --time is the scenario's explore.time, so that a trace's overrides keep it. */
static bool take_time(CliOptions *o, const char *time) {
  if (!time) return true;
  if (strcmp(time, "timed") != 0 && strcmp(time, "untimed") != 0)
    return cli_refuse(EXIT_INPUT, "--time %s: there are untimed, timed", time), false;
  guint n = o->sets ? g_strv_length(o->sets) : 0;
  o->sets = g_renew(char *, o->sets, n + 2);
  o->sets[n] = g_strconcat("explore.time=", time, NULL);
  o->sets[n + 1] = NULL;
  return true;
}

int cmd_check(const App *app, int argc, char **argv) {
  CliOptions o = {0};
  Flags f = {.jobs = 1, .all = 1, .bits = 30, .changes = 3};
  GOptionEntry own[] = {
      {"time", 0, 0, G_OPTION_ARG_STRING, &f.time, "untimed (any order) or timed (durations count)", "WORD"},
      {"strategy", 0, 0, G_OPTION_ARG_STRING, &f.strategy, "bfs (shortest), dfs, random, pct", "WORD"},
      {"store", 0, 0, G_OPTION_ARG_STRING, &f.store, "full, collapse, hash128, bitstate", "WORD"},
      {"jobs", 0, 0, G_OPTION_ARG_INT, &f.jobs, "cores to use; the answer is the same", "N"},
      {"max-states", 0, 0, G_OPTION_ARG_INT64, &f.max_states, "stop after N states", "N"},
      {"max-depth", 0, 0, G_OPTION_ARG_INT, &f.max_depth, "no longer paths than N", "N"},
      {"max-time", 0, 0, G_OPTION_ARG_DOUBLE, &f.max_time, "stop after SECONDS", "SECONDS"},
      {"max-memory", 0, 0, G_OPTION_ARG_STRING, &f.max_memory, "stop when the states take SIZE (512MiB)", "SIZE"},
      {"deepen", 0, 0, G_OPTION_ARG_INT, &f.deepen, "dfs: bounds N, 2N, 3N, ... until nothing is cut", "N"},
      {"walks", 0, 0, G_OPTION_ARG_INT, &f.walks, "random, pct: how many walks (1000)", "N"},
      {"changes", 0, 0, G_OPTION_ARG_INT, &f.changes, "pct: priority changes a walk (3)", "N"},
      {"bits", 0, 0, G_OPTION_ARG_INT, &f.bits, "bitstate: log2 of the bits (30: 128 MiB)", "N"},
      {"estimate", 0, 0, G_OPTION_ARG_NONE, &f.estimate, "only guess how many states there are", NULL},
      {"all", 0, 0, G_OPTION_ARG_INT, &f.all, "look for N different counterexamples", "N"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_auto(GStrv) left = cli_parse("check", "SCENARIO",
                                 "Explores a scenario: can a check be broken at all, in any order of events, and what "
                                 "is the shortest way.",
                                 &o, own, argc, argv, 1, 1);
  int status = EXIT_INPUT;
  if (left && take_time(&o, f.time)) status = check(app, left[0], &o, &f);
  cli_clear(&o);
  g_free(f.time);
  g_free(f.strategy);
  g_free(f.store);
  g_free(f.max_memory);
  return status;
}
