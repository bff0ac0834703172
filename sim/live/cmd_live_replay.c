/* cmd_live_replay.c - stampede live --replay TRACE: the recorded choices once more around the binary, and every step
 * compared. */
#include "sim/live/cmd_live_parts.h"
#include <string.h>

typedef struct {
  TraceReader *reader;
  TraceStep step;
  TraceNext next;
  GArray *choices; /* of TraceChoice: all of the trace, in order */
  guint chosen;
  int64_t confirmed;
  char *difference; /* the first, in words */
  GError *error;
} Replay;

/* A first reading: choices are asked for before the step is made in which they stand. */
static bool read_choices(const char *path, GArray *choices, GError **error) {
  g_autoptr(TraceReader) r = trace_reader_open(path, error);
  TraceStep step;
  TraceNext next = TRACE_STEP;
  while (r && (next = trace_reader_next(r, &step, error)) == TRACE_STEP)
    for (guint i = 0; i < step.n_choices; i++) {
      TraceChoice c = {g_intern_string(step.choices[i].name), step.choices[i].n, step.choices[i].took};
      g_array_append_val(choices, c);
    }
  return r && next != TRACE_FAILED;
}

static void differs(Replay *r, char *taken) {
  if (!r->difference)
    r->difference = taken;
  else
    g_free(taken);
}

static uint64_t choose(void *data, LiveChoice what, uint64_t n, const LiveOption *options) {
  Replay *r = data;
  (void)options;
  if (n < 2) return 0;
  if (r->chosen >= r->choices->len) return 0; /* behind the last step, or the first in time */
  const TraceChoice *c = &g_array_index(r->choices, TraceChoice, r->chosen++);
  if (strcmp(c->name, live_choice_names[what]) == 0 && c->n == (int64_t)n) return (uint64_t)c->took;
  differs(r, g_strdup_printf("choice %u: recorded one of %" G_GINT64_FORMAT " (%s), now of %" G_GUINT64_FORMAT " (%s)",
                             r->chosen - 1, c->n, c->name, n, live_choice_names[what]));
  return 0;
}

static bool saw(void *data, const TraceStep *now) {
  Replay *r = data;
  TraceDifference d;
  if (r->difference || r->error) return false;
  if (r->next != TRACE_STEP) return differs(r, g_strdup("it goes on behind the recorded end")), false;
  if (trace_step_differs(&d, &r->step, now)) {
    differs(r, g_strdup_printf("step %" G_GINT64_FORMAT ", %s: recorded %s, now %s", now->i, d.field, d.a, d.b));
    trace_difference_clear(&d);
    return false;
  }
  r->confirmed++;
  r->next = trace_reader_next(r->reader, &r->step, &r->error);
  return r->error == NULL;
}

static Scenario *scenario_of(const App *app, const TraceHeader *h, GError **error) {
  g_autofree char *file = g_strconcat(h->scenario, ".yaml", NULL);
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

static int verdict(const Replay *r, const char *path, const RunResult *result, const CliOptions *cli) {
  if (cli_is_interrupted()) return EXIT_INTERRUPTED;
  if (r->difference) return cli_refuse(EXIT_DIFFERED, "%s: not reproduced: %s", path, r->difference);
  if (r->next == TRACE_STEP)
    return cli_refuse(EXIT_DIFFERED, "%s: not reproduced: the run ends before step %" G_GINT64_FORMAT, path, r->step.i);
  const TraceEnd *end = r->next == TRACE_ENDED ? trace_reader_end(r->reader) : NULL;
  if (end && strcmp(end->verdict, run_verdict_word(result->verdict)) != 0)
    return cli_refuse(EXIT_DIFFERED, "%s: not reproduced: verdict %s, recorded %s", path,
                      run_verdict_word(result->verdict), end->verdict);
  if (!cli->quiet && !cli->json)
    printf("reproduced: %" G_GINT64_FORMAT " steps, verdict %s\n", r->confirmed, run_verdict_word(result->verdict));
  return EXIT_MET;
}

static int replay(const App *app, Replay *r, const char *path, const LiveOptions *o, const CliOptions *cli) {
  const TraceHeader *h = trace_reader_header(r->reader);
  GError *error = NULL;
  if (!g_str_has_prefix(h->command, "live"))
    return cli_refuse(EXIT_INPUT, "%s: no trace of a real pooler; stampede replay takes it", path);
  g_autoptr(Scenario) s = scenario_of(app, h, &error);
  if (!s) return live_fail(error);
  const LiveChooser chooser = {
      .choose = choose, .saw = saw, .data = r, .any_order = strcmp(h->command, LIVE_EXPLORE) == 0};
  LiveOptions live = *o;
  live.chooser = &chooser;
  r->next = trace_reader_next(r->reader, &r->step, &r->error);
  g_autoptr(RunResult) result = r->error ? NULL : live_run(s, &live, &error);
  if (r->error) return live_fail(g_steal_pointer(&r->error));
  return result ? verdict(r, path, result, cli) : live_fail(error);
}

int live_replay(const App *app, const char *path, const LiveOptions *o, const CliOptions *cli) {
  GError *error = NULL;
  g_autoptr(GArray) choices = g_array_new(FALSE, FALSE, sizeof(TraceChoice));
  if (!read_choices(path, choices, &error)) return live_fail(error);
  Replay r = {.reader = trace_reader_open(path, &error), .choices = choices};
  int status = r.reader ? replay(app, &r, path, o, cli) : live_fail(error);
  g_clear_pointer(&r.reader, trace_reader_free);
  g_free(r.difference);
  return status;
}
