/* cmd_check.c - stampede check. */
#include "checks/check_flags.h"
#include "checks/check_run.h"
#include "checks/cmd_check_subject.h"
#include "checks/estimate.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static void fill_json(Output *o, const void *data) {
  check_report_json(data, o);
}
static void fill_junit(Output *o, const void *data) {
  const RunResult *r = ((const CheckReport *)data)->run;
  report_junit(&r, 1, o);
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
  output_str(out, ", \"reductions\": [");
  const char *word;
  for (guint i = 0; (word = reduce_word(e->reduce, i)); i++) {
    output_str(out, i ? ", \"" : "\"");
    output_str(out, word);
    output_str(out, "\"");
  }
  output_str(out, "]");
  if (e->stop != STOP_EXHAUSTED) {
    output_str(out, ", \"stopped\": \"");
    output_str(out, search_stop_words(e->stop));
    output_str(out, "\"");
  }
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
  g_string_append(text, " s at this rate");
  g_string_append(text, e->reduce ? "; with" : "; no reductions");
  const char *word;
  for (guint i = 0; (word = reduce_word(e->reduce, i)); i++) g_string_append_printf(text, "%s %s", i ? "," : "", word);
  if (e->stop != STOP_EXHAUSTED)
    g_string_append_printf(text, "; as far as level %u: %s", e->depth, search_stop_words(e->stop));
  g_string_append(text, "\n");
  output_str(out, text->str);
}

static int tell_estimate(const App *app, const Scenario *s, const CliOptions *o, const CheckOptions *options) {
  Estimate e;
  GError *error = NULL;
  if (o->trace || o->junit)
    return cli_refuse(EXIT_INPUT, "--estimate guesses and looks for nothing: no --trace or --junit");
  if (!check_estimate(app, s, options, ESTIMATE_SAMPLE, &e, &error)) return cli_fail(error);
  int status = o->quiet ? EXIT_MET : cli_write("-", o->json ? fill_estimate : fill_estimate_text, &e);
  if (status != EXIT_MET || e.stop == STOP_EXHAUSTED || e.stop == STOP_DEPTH) return status;
  return e.stop == STOP_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_LIMIT;
}

/* ---- --verify-reductions ---- */

/* What was not tried is not told: with por alone no forms are. */
static void verified_words(const Verified *v, GString *out) {
  if (!v->which) {
    g_string_append(out, "no reductions are used here, so that nothing was tried: a check of liveness, or timed, or a "
                         "model that has none\n");
    return;
  }
  g_string_append_printf(out, "reductions %s: %" G_GUINT64_FORMAT " states%s, %" G_GUINT64_FORMAT " transitions",
                         v->broken ? "WRONG" : "verified", v->states, v->exhausted ? "" : " (not all)", v->transitions);
  if (v->which & REDUCE_POR)
    g_string_append_printf(out, "; por: %" G_GUINT64_FORMAT " pairs of steps commute", v->pairs);
  if (v->which & REDUCE_SYMMETRY)
    g_string_append_printf(out, "; symmetry: %" G_GUINT64_FORMAT " states have the successors of their forms",
                           v->forms);
  g_string_append(out, "\n");
  if (v->broken) g_string_append_printf(out, "  %s\n", v->broken);
}

static int tell_verified(const App *app, const Scenario *s, const CliOptions *o, const CheckOptions *options) {
  Verified v;
  GError *error = NULL;
  if (o->json || o->trace || o->junit)
    return cli_refuse(EXIT_INPUT, "--verify-reductions says one line and nothing else: no --json, --trace or --junit");
  if (!check_verify(app, s, options, &v, &error)) return cli_fail(error);
  g_autoptr(GString) text = g_string_new(NULL);
  verified_words(&v, text);
  int status = o->quiet ? EXIT_MET : cli_print(text->str);
  const int limit = v.interrupted ? EXIT_INTERRUPTED : EXIT_LIMIT;
  if (status == EXIT_MET) status = v.broken ? EXIT_UNMET : v.exhausted || !v.which ? EXIT_MET : limit;
  verified_clear(&v);
  return status;
}

/* ---- --view space ---- */

typedef struct {
  char *word, *out; /* NULL: no picture is wanted; NULL: space.svg */
} View;

static int draw(const App *app, const Scenario *s, const CliOptions *o, const View *v) {
  const char *out = v->out ? v->out : "space.svg";
  if (strcmp(v->word, "space") != 0)
    return cli_refuse(EXIT_INPUT, "--view %s: check draws space; stampede viz draws a trace (--trace)", v->word);
  if (o->json || o->trace || o->junit)
    return cli_refuse(EXIT_INPUT, "--view space draws a picture and nothing else: no --json, --trace or --junit");
  int status = app->space(app, s, out);
  if (status == EXIT_MET && !o->quiet && !output_is_stdout(out)) printf("wrote %s\n", out);
  return status;
}

static int check(const App *app, const char *name, const CliOptions *o, const CheckFlags *f, const ScheduleFlags *g,
                 bool estimate, bool verify, const View *view) {
  CheckOptions options = {.trace_path = o->trace};
  GError *error = NULL;
  g_autoptr(Scenario) s = cli_scenario(app, name, o, &error);
  if (!s) return cli_fail(error);
  bool code = scenario_given(s, "subject") && scenario_given(s, "processes");
  if (code && !view->word && !estimate && !verify) return check_subject(app, s, o, f, g);
  if (schedule_flags_given(g) || g_strcmp0(f->strategy, "dpor") == 0)
    return cli_refuse(EXIT_INPUT,
                      "--strategy dpor, --preemptions, --delays, --races, --max-schedules and --max-steps are "
                      "for scenarios whose processes run a subject's code");
  if (!check_flags_search(f, &options.search)) return EXIT_INPUT;
  gint64 last = g_get_monotonic_time();
  bool shown = !o->quiet && isatty(STDERR_FILENO);
  options.search.progress = shown ? show_progress : NULL;
  options.search.progress_data = &last;
  if ((view->word != NULL) + estimate + verify > 1)
    return cli_refuse(EXIT_INPUT, "--view, --estimate and --verify-reductions: one at a time");
  if (view->word) return draw(app, s, o, view);
  if (estimate) return tell_estimate(app, s, o, &options);
  if (verify) return tell_verified(app, s, o, &options);
  g_autoptr(CheckReport) r = check_run(app, s, &options, &error);
  if (shown) fprintf(stderr, "\r\033[K");
  return r ? say(r, o) : cli_fail(error);
}

/* --time and --without-lock are keys of the scenario, so that a trace's overrides keep them. */
static void take_set(CliOptions *o, char *set) {
  guint n = o->sets ? g_strv_length(o->sets) : 0;
  if (!set) return;
  o->sets = g_renew(char *, o->sets, n + 2);
  o->sets[n] = set;
  o->sets[n + 1] = NULL;
}

int cmd_check(const App *app, int argc, char **argv) {
  CliOptions o = {0};
  CheckFlags f;
  ScheduleFlags g;
  View view = {NULL, NULL};
  gboolean estimate = FALSE, verify = FALSE;
  check_flags_init(&f);
  schedule_flags_init(&g);
  GOptionEntry own[] = {
      CLI_SUBJECT(&o),
      {"jobs", 0, 0, G_OPTION_ARG_INT, &f.jobs, "cores to use; the answer is the same", "N"},
      {"preemptions", 0, 0, G_OPTION_ARG_INT, &g.preemptions, "of a subject, dfs: schedules with at most N", "N"},
      {"delays", 0, 0, G_OPTION_ARG_INT, &g.delays, "of a subject, dfs: schedules with at most N", "N"},
      {"races", 0, 0, G_OPTION_ARG_NONE, &g.races, "of a subject: accesses that nothing puts in order are broken too",
       NULL},
      {"max-schedules", 0, 0, G_OPTION_ARG_INT64, &g.max_schedules, "of a subject: stop after N schedules", "N"},
      {"max-steps", 0, 0, G_OPTION_ARG_INT, &g.max_steps, "of a subject: a schedule is cut after N steps (10000)", "N"},
      {"without-lock", 0, 0, G_OPTION_ARG_STRING_ARRAY, &g.without,
       "of a subject: as if this lock were not there; may be given again", "NAME"},
      {"estimate", 0, 0, G_OPTION_ARG_NONE, &estimate, "only guess how many states there are", NULL},
      {"verify-reductions", 0, 0, G_OPTION_ARG_NONE, &verify,
       "only try, state by state, whether --reduce leaves out nothing but what it may", NULL},
      {"all", 0, 0, G_OPTION_ARG_INT, &f.all, "look for N different counterexamples", "N"},
      {"view", 0, 0, G_OPTION_ARG_STRING, &view.word, "space: only draw the states of a small model", "VIEW"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &view.out, "of --view: svg, png, pdf or dot, as FILE ends (space.svg)",
       "FILE"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_autofree GOptionEntry *entries = check_flags_entries(&f, own);
  g_auto(GStrv) left = cli_parse("check", "SCENARIO",
                                 "Explores a scenario: can a check be broken at all, in any order of events, and what "
                                 "is the shortest way.",
                                 &o, entries, argc, argv, 1, 1);
  if (left) take_set(&o, check_flags_set(&f)), take_set(&o, schedule_flags_set(&g));
  int status = !left                    ? EXIT_INPUT
               : view.out && !view.word ? cli_refuse(EXIT_INPUT, "-o is for --view space")
                                        : check(app, left[0], &o, &f, &g, estimate, verify, &view);
  g_free(view.word);
  g_free(view.out);
  cli_clear(&o);
  check_flags_clear(&f);
  schedule_flags_clear(&g);
  return status;
}
