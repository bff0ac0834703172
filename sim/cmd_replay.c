/* cmd_replay.c - stampede replay: a trace carries the scenario with everything it stood on, so it is run again from
 * there, with its choices read from the trace, and each recorded field, hash and metric is compared. */
#include "sim/cli.h"
#include "sim/object_path.h"
#include "sim/subject/child.h"
#include "sim/subject/image.h"
#include "sim/tracing.h"
#include "traces/diff.h"
#include <string.h>

typedef struct {
  TraceReader *reader;
  TraceNext next; /* of what `step` is */
  TraceStep step; /* the recorded step that is due */
  guint choices_used;
  int64_t confirmed; /* steps that agreed */
  char *difference;  /* in words; NULL: none yet */
  GError *error;
} Replay;

static void advance(Replay *r) {
  r->next = trace_reader_next(r->reader, &r->step, &r->error);
  r->choices_used = 0;
}

static bool differs(Replay *r, char *words) {
  if (r->difference)
    g_free(words);
  else
    r->difference = words;
  return false;
}

/* The choice that the trace has next; where it has none, or one about something else, the run differs from here. */
static bool on_chosen(void *data, const char *what, uint64_t n, uint64_t *took) {
  Replay *r = data;
  if (r->difference || r->next != TRACE_STEP) return false;
  const TraceChoice *c = r->choices_used < r->step.n_choices ? &r->step.choices[r->choices_used++] : NULL;
  if (c && strcmp(c->name, what) == 0 && (uint64_t)c->n == n) return *took = (uint64_t)c->took, true;
  return differs(r, g_strdup_printf("step %" G_GINT64_FORMAT ", choice: recorded %s of %" G_GINT64_FORMAT
                                    ", asked for %s of %" G_GUINT64_FORMAT,
                                    r->step.i, c ? c->name : "none", c ? c->n : 0, what, n));
}

static bool on_saw(void *data, const TraceStep *now) {
  Replay *r = data;
  if (r->difference || r->error) return false;
  if (r->next == TRACE_ENDED)
    return differs(r, g_strdup_printf("step %" G_GINT64_FORMAT ": the trace ends before it", now->i));
  if (r->next != TRACE_STEP) return true; /* a cut trace: confirmed as far as it goes */
  TraceDifference d;
  if (trace_step_differs(&d, &r->step, now)) {
    differs(r, g_strdup_printf("step %" G_GINT64_FORMAT ", %s: recorded %s, now %s", now->i, d.field, d.a, d.b));
    trace_difference_clear(&d);
    return false;
  }
  r->confirmed++;
  advance(r);
  return r->error == NULL;
}

static const TraceStep *recorded(void *data) {
  Replay *r = data;
  return r->next == TRACE_STEP && !r->difference && !r->error ? &r->step : NULL;
}

/* A preset's or profile's text was changed, or its hash: the first, in words; NULL: none. */
static char *changed_source(const TraceHeader *h) {
  for (guint i = 0; i < h->n_sources; i++) {
    const TraceSource *s = &h->sources[i];
    if (!s->text || !s->hash) continue;
    g_autofree char *now = scenario_source_hash(s->text);
    if (strcmp(s->hash, now) != 0)
      return g_strdup_printf("header, the text of %s %s: its hash is %s, recorded was %s", s->kind, s->name, now,
                             s->hash);
  }
  return NULL;
}

/* Text and overrides say the seed as well (--seed is an override); the run is theirs. */
static void compare_seed(Replay *r, const Scenario *s) {
  const uint64_t recorded = trace_reader_header(r->reader)->seed, now = scenario_seed(s);
  if (recorded != now)
    differs(r, g_strdup_printf("header, seed: recorded %" G_GUINT64_FORMAT ", now %" G_GUINT64_FORMAT, recorded, now));
}

/* `file`: the name under which the scenario is read, and the place from which paths in it count. */
static Scenario *scenario_at(const App *app, const TraceHeader *h, const char *file, GError **error) {
  g_autoptr(GPtrArray) sources = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < h->n_sources; i++) {
    ScenarioSource *f = g_new0(ScenarioSource, 1);
    f->kind = (char *)h->sources[i].kind;
    f->name = (char *)h->sources[i].name;
    f->text = (char *)h->sources[i].text;
    g_ptr_array_add(sources, f);
  }
  ScenarioOptions opt = {.sets = h->overrides, .dirs = app->dirs, .embedded = sources, .checks = app->check_names};
  return scenario_from_text(h->text, strlen(h->text), file, &opt, error);
}

/* A model's path counts from the scenario's folder, which a trace does not know: the working folder has it, or the
 * trace's does. */
static Scenario *scenario_of(const App *app, const TraceReader *reader, GError **error) {
  const TraceHeader *h = trace_reader_header(reader);
  g_autofree char *file = g_strconcat(h->scenario, ".yaml", NULL);
  g_autofree char *folder = g_path_get_dirname(trace_reader_name(reader));
  Scenario *s = scenario_at(app, h, file, error);
  if (!s || !scenario_given(s, "model") || g_file_test(scenario_word(s, "model"), G_FILE_TEST_EXISTS)) return s;
  scenario_free(s);
  g_autofree char *beside = g_build_filename(folder, file, NULL);
  return scenario_at(app, h, beside, error);
}

static void compare_ends(Replay *r, const RunResult *result) {
  if (r->difference || r->next != TRACE_ENDED) {
    if (!r->difference && r->next == TRACE_STEP)
      differs(r, g_strdup_printf("step %" G_GINT64_FORMAT ": recorded, but the run ends before it", r->step.i));
    return;
  }
  TraceEnd now;
  TraceDifference d;
  tracing_footer(result, &now);
  if (trace_end_differs(&d, trace_reader_end(r->reader), &now)) {
    differs(r, g_strdup_printf("the end, %s: recorded %s, now %s", d.field, d.a, d.b));
    trace_difference_clear(&d);
  }
  tracing_footer_clear(&now);
}

static int verdict(const Replay *r, const CliOptions *o, const RunResult *result) {
  g_autofree char *cut = r->next == TRACE_CUT ? trace_reader_cut(r->reader) : NULL;
  if (cli_is_interrupted())
    return cli_refuse(EXIT_INTERRUPTED, "interrupted after %" G_GINT64_FORMAT " steps", r->confirmed);
  if (r->difference)
    return cli_refuse(EXIT_DIFFERED, "%s: not reproduced: %s", trace_reader_name(r->reader), r->difference);
  if (cut) return cli_refuse(EXIT_INPUT, "%s; its %" G_GINT64_FORMAT " steps are reproduced", cut, r->confirmed);
  if (!o->quiet && !o->json)
    printf("reproduced: %" G_GINT64_FORMAT " steps, verdict %s\n", r->confirmed, run_verdict_word(result->verdict));
  return EXIT_MET;
}

/* How it ended, known beforehand: whether its last steps are a round; the step after which a check was seen violated (a
 * run of a large model judges at a stride and would see it later), and the steps of a run that did not come to its end.
 */
static void look_ahead(const char *path, RunOptions *o) {
  o->judge_at = -1;
  g_autoptr(TraceReader) reader = strcmp(path, "-") == 0 ? NULL : trace_reader_open(path, NULL);
  TraceStep step;
  TraceNext next = TRACE_STEP;
  while (reader && next == TRACE_STEP) next = trace_reader_next(reader, &step, NULL);
  if (!reader || next != TRACE_ENDED) return;
  const TraceEnd *end = trace_reader_end(reader);
  o->lasso = end->lasso_from >= 0;
  o->lasso_from = end->lasso_from;
  if (strcmp(end->verdict, run_verdict_word(RUN_INCOMPLETE)) == 0) o->stop_at = end->steps;
  for (guint i = 0; i < end->n_checks && o->judge_at < 0; i++) o->judge_at = end->checks[i].step;
}

/* A line that stampede does not write is a difference of its own. */
static int replay_fail(GError *error) {
  bool altered = g_error_matches(error, TRACE_ERROR, TRACE_ERROR_ALTERED);
  int status = cli_fail(error);
  return altered ? EXIT_DIFFERED : status;
}

static int replay_scenario(const App *app, Replay *r, const CliOptions *o, const Scenario *s) {
  GError *error = NULL;
  const TraceHeader *h = trace_reader_header(r->reader);
  compare_seed(r, s);
  advance(r);
  RunOptions ro = {.command = h->command,
                   .checks = app->checks,
                   .trace_path = o->trace,
                   .k = h->k,
                   .chosen = on_chosen,
                   .saw = on_saw,
                   .replay = r,
                   .interrupted = cli_interrupted()};
  look_ahead(trace_reader_name(r->reader), &ro);
  bool explored = strcmp(h->command, "check") == 0;
  g_autoptr(RunResult) result = explored ? app->replay_check(s, &ro, recorded, &error) : run_scenario(s, &ro, &error);
  if (!result) return cli_fail(error);
  compare_ends(r, result);
  if (r->error) return replay_fail(g_steal_pointer(&r->error));
  int status = verdict(r, o, result), written = cli_write_result(result, o);
  return status == EXIT_MET ? written : status;
}

/* Another object than the recorded one: "subject:NAME@HASH". Exit status; said. */
static int look_at_subject(const TraceHeader *h, const Scenario *s) {
  const char *recorded = strrchr(h->subject, '@');
  g_autofree char *path = object_path(scenario_word(s, "subject"), "subjects", scenario_file(s));
  GError *error = NULL;
  g_autofree char *now = image_hash_of(path, &error);
  if (!now) return cli_fail(error);
  if (recorded && strcmp(recorded + 1, now) == 0) return EXIT_MET;
  return cli_refuse(EXIT_INPUT, "%s: the trace is of another subject: recorded %s, now %s", path,
                    recorded ? recorded + 1 : h->subject, now);
}

typedef struct {
  const App *app;
  Replay *replay;
  const CliOptions *o;
  const Scenario *s;
} InChild;

static int replay_in_child(void *data) {
  const InChild *c = data;
  return replay_scenario(c->app, c->replay, c->o, c->s);
}

/* Where a subject's code runs, each step is looked at in the process that it may break. */
static int replay(const App *app, Replay *r, const CliOptions *o) {
  GError *error = NULL;
  const TraceHeader *h = trace_reader_header(r->reader);
  if (g_str_has_prefix(h->command, "live"))
    return cli_refuse(EXIT_INPUT,
                      "%s: a real pooler's trace; stampede live --replay TRACE --pooler PATH makes it again",
                      trace_reader_name(r->reader));
  g_autofree char *changed = changed_source(h);
  if (changed) return cli_refuse(EXIT_DIFFERED, "%s: not reproduced: %s", trace_reader_name(r->reader), changed);
  g_autoptr(Scenario) s = scenario_of(app, r->reader, &error);
  if (!s) return cli_fail(error);
  if (!scenario_given(s, "subject")) return replay_scenario(app, r, o, s);
  InChild c = {app, r, o, s};
  int status = look_at_subject(h, s);
  return status == EXIT_MET ? child_command(replay_in_child, &c) : status;
}

int cmd_replay(const App *app, int argc, char **argv) {
  CliOptions o = {0};
  g_auto(GStrv) left =
      cli_parse("replay", "TRACE",
                "Runs a trace again and confirms every recorded step, hash and metric: 0 when reproduced, whatever "
                "verdict it recorded; 5 when not, with the first difference.",
                &o, NULL, argc, argv, 1, 1);
  int status = EXIT_INPUT;
  if (left && (o.sets || o.seed))
    cli_refuse(EXIT_INPUT, "a replay takes scenario, overrides and seed from the trace; --set and --seed do not apply");
  else if (left) {
    GError *error = NULL;
    Replay r = {.reader = trace_reader_open(left[0], &error)};
    status = r.reader ? replay(app, &r, &o) : cli_fail(error);
    g_clear_pointer(&r.reader, trace_reader_free);
    g_clear_error(&r.error);
    g_free(r.difference);
  }
  cli_clear(&o);
  return status;
}
