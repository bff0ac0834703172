/* conform.c - see conform.h. */
#include "sim/live/conform.h"
#include "model/world/rng.h"
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
  g_free(c->but);
}

/* ---- choices: the same on both sides ---- */

typedef struct {
  WireLog *model, *live;
  Rng draws[LIVE_CHOICES]; /* of live: as the model's streams */
} Sides;

/* What a balancer draws decides who meets whom, so it is drawn, by the scenario's seed; both sides ask in one order,
 * which is that of the connections. Of durations many are asked for at one instant: those are the middle. */
static bool is_drawn(const char *what) {
  return strcmp(what, live_choice_names[LIVE_PROCESS]) == 0 || strcmp(what, live_choice_names[LIVE_HOST]) == 0;
}
static uint64_t middle(const char *what, uint64_t n) {
  return strcmp(what, "delay") == 0 || strcmp(what, "signal") == 0 ? n / 2 : 0;
}
static bool model_chosen(void *data, const char *what, uint64_t n, uint64_t *took) {
  (void)data;
  *took = middle(what, n);
  return !is_drawn(what);
}
static uint64_t live_chosen(void *data, LiveChoice what, uint64_t n, const LiveOption *options) {
  Sides *sides = data;
  (void)options;
  return is_drawn(live_choice_names[what]) ? rng_below(&sides->draws[what], n) : middle(live_choice_names[what], n);
}

static bool model_saw(void *data, const TraceStep *step) {
  const Sides *sides = data;
  wire_log_model(sides->model, step);
  return true;
}
static bool live_saw(void *data, const TraceStep *step) {
  const Sides *sides = data;
  wire_log_live(sides->live, step);
  return true;
}

/* ---- both sides ---- */

static bool run_both(const Scenario *s, const LiveOptions *o, Sides *sides, GError **error) {
  RunOptions model = {.command = "run",
                      .checks = o->checks,
                      .chosen = model_chosen,
                      .saw = model_saw,
                      .replay = sides,
                      .judge_at = -1,
                      .interrupted = o->interrupted};
  g_autoptr(RunResult) a = run_scenario(s, &model, error);
  if (!a) return false;
  const LiveChooser chooser = {.choose = live_chosen, .saw = live_saw, .data = sides};
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

/* As its pools are configured: all alike, by the preset. */
static bool waits_for_eof(const Scenario *s) {
  g_autoptr(GError) unheeded = NULL;
  g_autoptr(PoolerBinding) b = scenario_bind_pooler(s, NULL, &unheeded);
  return !b || pooler_binding_config(b)->pools[0].ack != ACK_NONE;
}

/* How a scenario is tried with this pooler. */
typedef struct {
  const Scenario *s;
  const char *preset;
  const AdapterAbout *about;
  const LiveOptions *o;
  const ScenarioOptions *with;
  int64_t most_ns;
  GString *untold; /* settings that the program cannot be told */
} Trial;

static Scenario *twin_of(const Trial *t, guint without, GError **error) {
  g_string_truncate(t->untold, 0);
  g_autofree char *text = conform_text(t->s, t->preset, without, t->about, t->untold, error);
  return text ? scenario_from_text(text, strlen(text), scenario_file(t->s), t->with, error) : NULL;
}

static Conformed compared(const Scenario *twin, const LiveOptions *o, int64_t most_ns, GError **error) {
  g_autoptr(WireLog) model = wire_log_new(), live = wire_log_new();
  Sides sides = {.model = model, .live = live};
  for (guint i = 0; i < LIVE_CHOICES; i++) rng_init(&sides.draws[i], scenario_seed(twin), live_choice_names[i]);
  if (!waits_for_eof(twin)) wire_log_deaf(model), wire_log_deaf(live);
  if (!run_both(twin, o, &sides, error)) return (Conformed){.verdict = CONFORM_FAILED};
  WireCompared w = wire_logs_compare(model, live, most_ns);
  return (Conformed){.scenario = g_strdup(scenario_name(twin)),
                     .verdict = w.same ? CONFORM_AGREES : CONFORM_DIFFERS,
                     .why = w.where,
                     .events = w.events,
                     .late_ns = w.late_ns};
}

static bool has_more_pools(const Trial *t, const Scenario *twin, Conformed *c) {
  g_autoptr(GError) unheeded = NULL;
  g_autoptr(PoolerBinding) b = scenario_bind_pooler(twin, NULL, &unheeded);
  guint n = b ? (guint)pooler_binding_config(b)->n_pools : 0;
  if (n <= adapter_most_pools(t->about)) return false;
  *c = (Conformed){.scenario = g_strdup(scenario_name(t->s)), .verdict = CONFORM_NOT_DRIVEN};
  c->why =
      g_strdup_printf("%u pools, and this pooler has no more than %" G_GUINT64_FORMAT, n, adapter_most_pools(t->about));
  return true;
}

/* One try: as much of the scenario as `without` leaves. */
static Conformed attempt(const Trial *t, guint without) {
  GError *error = NULL;
  g_autoptr(Scenario) twin = twin_of(t, without, &error);
  if (!twin) return failed(t->s, CONFORM_FAILED, error);
  GError *refused = live_refuses_scenario(twin);
  if (refused) return not_driven(t->s, refused);
  Conformed c;
  if (has_more_pools(t, twin, &c)) return c;
  c = compared(twin, t->o, t->most_ns, &error);
  return error ? failed(t->s, CONFORM_FAILED, error) : c;
}

/* The preset has no such pool_mode, as the key that a client is shown may be its server's. */
static bool lacks_mode(const Trial *t) {
  g_autoptr(Scenario) as_is = twin_of(t, 0, NULL);
  g_autoptr(GError) unheeded = NULL;
  g_autoptr(PoolerBinding) b = as_is ? scenario_bind_pooler(as_is, NULL, &unheeded) : NULL;
  if (b) return false;
  g_autoptr(Scenario) own = twin_of(t, CONFORM_NO_MODE, NULL);
  return own != NULL;
}

/* How the scenario had to be changed; NULL: not at all. */
static char *changed(guint without, const GString *untold) {
  g_autoptr(GPtrArray) all = g_ptr_array_new();
  g_autofree char *others = untold->len ? g_strdup_printf("without %s, which it cannot be told", untold->str) : NULL;
  if (without & CONFORM_NO_MODE) g_ptr_array_add(all, (gpointer) "in the preset's own pool_mode");
  if (without & CONFORM_NO_PEERING) g_ptr_array_add(all, (gpointer) "without peering, which it refuses");
  if (others) g_ptr_array_add(all, others);
  if (all->len == 0) return NULL;
  g_ptr_array_add(all, NULL);
  return g_strjoinv(", ", (char **)all->pdata);
}

Conformed conform(const Scenario *s, const char *preset, const AdapterAbout *about, const LiveOptions *o,
                  const ScenarioOptions *with, int64_t most_ns) {
  g_autoptr(GString) untold = g_string_new(NULL);
  const Trial t = {s, preset, about, o, with, most_ns, untold};
  guint without = lacks_mode(&t) ? CONFORM_NO_MODE : 0;
  Conformed c = attempt(&t, without);
  if (c.verdict == CONFORM_FAILED && scenario_is(s, "pooler.peering", "all")) {
    conformed_clear(&c);
    without |= CONFORM_NO_PEERING;
    c = attempt(&t, without);
  }
  c.but = changed(without, untold);
  return c;
}
