/* conform.c - see conform.h. */
#include "sim/live/conform.h"
#include "sim/live/wire_log.h"
#include <string.h>

const char *conform_word(ConformVerdict v) {
  static const char *const words[] = {"agrees", "differs", "not driven", "failed"};
  return words[v];
}

void conformed_clear(gpointer data) {
  Conformed *c = data;
  g_free(c->scenario);
  g_free(c->why);
}

/* ---- choices: the same on both sides, though they do not ask in the same order ---- */

static uint64_t middle(const char *what, uint64_t n) {
  return strcmp(what, "delay") == 0 || strcmp(what, "signal") == 0 ? n / 2 : 0;
}
static bool model_chosen(void *data, const char *what, uint64_t n, uint64_t *took) {
  (void)data;
  *took = middle(what, n);
  return true;
}
static uint64_t live_chosen(void *data, LiveChoice what, uint64_t n, const LiveOption *options) {
  (void)data, (void)options;
  return middle(live_choice_names[what], n);
}

typedef struct {
  WireLog *model, *live;
} Logs;

static bool model_saw(void *data, const TraceStep *step) {
  const Logs *logs = data;
  wire_log_model(logs->model, step);
  return true;
}
static bool live_saw(void *data, const TraceStep *step) {
  const Logs *logs = data;
  wire_log_live(logs->live, step);
  return true;
}

/* ---- both sides ---- */

static bool run_both(const Scenario *s, const LiveOptions *o, Logs *logs, GError **error) {
  RunOptions model = {.command = "run",
                      .checks = o->checks,
                      .chosen = model_chosen,
                      .saw = model_saw,
                      .replay = logs,
                      .judge_at = -1,
                      .interrupted = o->interrupted};
  g_autoptr(RunResult) a = run_scenario(s, &model, error);
  if (!a) return false;
  const LiveChooser chooser = {.choose = live_chosen, .saw = live_saw, .data = logs};
  LiveOptions live = *o;
  live.chooser = &chooser;
  live.trace_path = NULL;
  g_autoptr(RunResult) b = live_run(s, &live, error);
  return b != NULL;
}

static Conformed failed(const Scenario *s, ConformVerdict v, GError *error) {
  Conformed c = {.scenario = g_strdup(scenario_name(s)), .verdict = v, .why = g_strdup(error->message)};
  g_error_free(error);
  return c;
}

/* Without the place in the file, which is of the text made here. */
static Conformed not_driven(const Scenario *s, GError *error) {
  const char *what = strstr(error->message, "live does not drive ");
  Conformed c = {.scenario = g_strdup(scenario_name(s)), .verdict = CONFORM_NOT_DRIVEN};
  c.why = g_strdup(what ? what + strlen("live does not drive ") : error->message);
  g_error_free(error);
  return c;
}

Conformed conform(const Scenario *s, const char *preset, const LiveOptions *o, const ScenarioOptions *with,
                  int64_t most_ns) {
  GError *error = NULL;
  g_autofree char *text = conform_text(s, preset, &error);
  g_autoptr(Scenario) twin = text ? scenario_from_text(text, strlen(text), scenario_file(s), with, &error) : NULL;
  if (!twin) return failed(s, CONFORM_FAILED, error);
  error = live_refuses_scenario(twin);
  if (error) return not_driven(s, error);
  g_autoptr(WireLog) model = wire_log_new(), live = wire_log_new();
  Logs logs = {model, live};
  if (!run_both(twin, o, &logs, &error)) return failed(s, CONFORM_FAILED, error);
  WireCompared w = wire_logs_compare(model, live, most_ns);
  return (Conformed){.scenario = g_strdup(scenario_name(s)),
                     .verdict = w.same ? CONFORM_AGREES : CONFORM_DIFFERS,
                     .why = w.where,
                     .events = w.events,
                     .late_ns = w.late_ns};
}
