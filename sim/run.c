/* run.c - see run.h. A check is judged after every step. On a large model that would cost more than the run, so there
 * it is judged at a stride (JUDGE_COST entries a step, amortised, and always at the end); when it is found broken, the
 * run is made again and judged at every step, which names the exact one: a run is deterministic, and only broken ones
 * pay. */
#include "sim/run.h"
#include "sim/expect.h"
#include "sim/hot_spots.h"
#include "sim/rounds.h"
#include "sim/subject/child.h"
#include "sim/tracing.h"
#include <string.h>
#include <sys/resource.h>

enum { JUDGE_COST = 32, JUDGE_ALWAYS = 256 };

typedef struct {
  const Scenario *scenario;
  const RunOptions *o;
  Model *model;
  Engine *engine;
  RunResult *result;
  Tracing *tracing;
  bool exact;   /* judge after every step, however large */
  bool strided; /* a step went unjudged */
  bool broken;
  uint64_t due;     /* entries that the steps since the last judgement are worth */
  int64_t until_ns; /* -1: none */
  Rounds rounds;
  Round round; /* steps 0: it has not been seen to go round */
} Run;

/* ---- judging ---- */

static void judge_one(Run *r, CheckResult *c) {
  g_autoptr(GString) why = g_string_new(NULL);
  Judgement j = c->check->judge(r->model, why);
  if (j == JUDGED_BLIND) c->verdict = CHECK_UNKNOWN;
  if (j != JUDGED_BROKEN) return;
  c->verdict = CHECK_VIOLATED;
  c->step = (int64_t)engine_steps(r->engine) - 1;
  c->why = g_strdup(why->str);
  r->broken = true;
}

static void judge(Run *r) {
  bool fault = model_fault(r->model) != NULL;
  r->due = 0;
  r->result->judged++;
  for (guint i = 0; i < r->result->checks->len; i++) {
    CheckResult *c = &g_array_index(r->result->checks, CheckResult, i);
    if (c->verdict == CHECK_NOT_VIOLATED && (c->check->faults || !fault)) judge_one(r, c);
  }
}

static int64_t until_ns(const Scenario *s) {
  return scenario_is(s, "end", "none") ? -1 : scenario_ns(s, "end");
}

/* A recorded run ended after this step although more was to come. */
static bool was_interrupted(const Run *r) {
  if (!r->o->saw || !r->o->stop_at || (int64_t)engine_steps(r->engine) != r->o->stop_at) return false;
  int64_t next = engine_next(r->engine);
  return next < INT64_MAX && (r->until_ns < 0 || next <= r->until_ns);
}

static bool interrupted(void *data) {
  Run *r = data;
  r->result->interrupted = (r->o->interrupted && g_atomic_int_get(r->o->interrupted)) || was_interrupted(r);
  if (r->o->deadline_us && g_get_monotonic_time() >= r->o->deadline_us) r->result->late = true;
  return r->result->interrupted || r->result->late;
}

/* What the stack of a subject's code holds is in no hash of a state; where it spins, it is known. */
static bool goes_round(Run *r) {
  World *w = r->model->world;
  const Subject *s = model_subject(r->model);
  if (s) return r->until_ns < 0 && rounds_look_at_spins(&r->rounds, r->engine, w, s, &r->round);
  return rounds_look(&r->rounds, r->engine, r->model->world, r->until_ns >= 0, &r->round);
}

static bool after_step(void *data) {
  Run *r = data;
  if (interrupted(r)) return true;
  if (model_fault(r->model)) return judge(r), true;
  if (goes_round(r)) return true;
  if (r->result->checks->len == 0) return r->tracing && tracing_stopped(r->tracing);
  uint64_t size = r->model->ops->size(r->model);
  r->due += JUDGE_COST;
  bool asked = r->o->saw && (int64_t)engine_steps(r->engine) - 1 == r->o->judge_at;
  if (r->exact || asked || size <= JUDGE_ALWAYS || r->due >= size)
    judge(r);
  else
    r->strided = true;
  return r->broken || (r->tracing && tracing_stopped(r->tracing));
}

/* ---- choices: the streams of the engine, or those of a trace ---- */

static bool on_chosen(void *data, ChoiceId what, uint64_t n, uint64_t *took) {
  Run *r = data;
  return r->o->chosen && r->o->chosen(r->o->replay, world_choice_name(r->model->world, what), n, took);
}

static void on_step(void *data, const EngineStep *s) {
  Run *r = data;
  tracing_step(r->tracing, r->model, s);
}

/* ---- what came of it ---- */

static void keep_metric(const char *name, double value, void *data) {
  Metric m = {g_strdup(name), value};
  g_array_append_val((GArray *)data, m);
}

static Costs costs_of(const Run *r) {
  Costs costs;
  if (r->o->costs) return *r->o->costs;
  scenario_costs(r->scenario, &costs);
  return costs;
}

static void keep_unexplained(Run *r) {
  Costs costs = costs_of(r);
  for (CostId id = 0; id < COST_COUNT; id++) {
    if (!g_str_has_prefix(cost_info[id].key, "unexplained.") || costs.ps[id] == 0) continue;
    Unexplained u = {cost_info[id].key, (double)costs.ps[id] / 1e9};
    g_array_append_val(r->result->unexplained, u);
  }
}

static void keep(Run *r) {
  RunResult *res = r->result;
  if (r->model->ops->measure) r->model->ops->measure(r->model);
  ledger_each(world_ledger(r->model->world), keep_metric, res->metrics);
  expect_measure(r->scenario, r->model, res);
  hot_spots_keep(r->model, res);
  keep_unexplained(r);
  res->events = engine_events(r->engine);
  res->ties = engine_ties(r->engine);
  res->seeded = engine_seeded(r->engine);
  res->steps = engine_steps(r->engine);
  res->virtual_ns = engine_now(r->engine);
  res->state_hash = model_hash(r->model);
}

/* Nothing more will come: what is pending stays so. */
static void judge_pending(Run *r) {
  for (guint i = 0; i < r->result->checks->len; i++) {
    CheckResult *c = &g_array_index(r->result->checks, CheckResult, i);
    g_autoptr(GString) why = g_string_new(NULL);
    if (c->verdict != CHECK_NOT_VIOLATED || !check_any_pending(c->check, r->model, why)) continue;
    c->verdict = CHECK_VIOLATED;
    c->step = (int64_t)engine_steps(r->engine) - 1;
    c->why = g_strconcat(why->str, ", and nothing goes on", NULL);
  }
}

static char *endless_words(const Run *r, EngineEnd end) {
  g_autoptr(GString) place = g_string_new(NULL);
  engine_place(r->engine, place);
  uint64_t steps = engine_steps(r->engine);
  double ms = (double)r->round.ns / 1e6;
  g_autofree char *spins =
      r->round.steps && model_subject(r->model) ? subject_spin_place(model_subject(r->model)) : NULL;
  if (spins) g_string_append_printf(place, ", which spins at %s", spins);
  if (r->round.steps && r->round.ns)
    return g_strdup_printf("it goes round for ever, the same state every %" G_GUINT64_FORMAT " steps and %.15g ms: %s",
                           r->round.steps, ms, place->str);
  if (r->round.steps)
    return g_strdup_printf("livelock: the same state every %" G_GUINT64_FORMAT " steps, and no time passes: %s",
                           r->round.steps, place->str);
  if (end == ENGINE_STEPS)
    return g_strdup_printf("the limit of %" G_GUINT64_FORMAT " steps (max_steps), at %s", steps, place->str);
  return g_strdup_printf("the limit of steps at one instant (max_steps_at_once), after %" G_GUINT64_FORMAT
                         " steps, at %s",
                         steps, place->str);
}

static void conclude(Run *r, EngineEnd end) {
  RunResult *res = r->result;
  if (res->interrupted)
    res->stopped = g_strdup("interrupted");
  else if (model_fault(r->model))
    res->stopped = g_strdup(model_fault(r->model));
  else if (res->late)
    res->stopped = g_strdup("the limit of time");
  else if (r->broken)
    res->stopped = g_strdup("a check was violated");
  else if (r->round.steps || end == ENGINE_STUCK || end == ENGINE_STEPS)
    res->stopped = endless_words(r, end);
  else if (end == ENGINE_CLOCK)
    res->stopped = g_strdup("the clock is at its end, 292 years after the start");
  else if (end == ENGINE_IDLE && !r->model->ops->done(r->model))
    res->stopped = model_deadlock_words(r->model->world);
  res->limited = end == ENGINE_TIME || end == ENGINE_CLOCK || end == ENGINE_STEPS || end == ENGINE_STUCK || res->late;
  if (!r->broken && r->result->checks->len) judge(r);
  if (engine_next(r->engine) == INT64_MAX) judge_pending(r);
}

/* ---- one pass ---- */

static void run_clear(Run *r) {
  g_clear_pointer(&r->engine, engine_free);
  g_clear_pointer(&r->model, model_free);
  g_clear_pointer(&r->tracing, tracing_free);
  g_clear_pointer(&r->result, run_result_free);
}

static uint64_t steps_of(const Scenario *s, const char *key) {
  return scenario_is(s, key, "none") ? 0 : (uint64_t)scenario_int(s, key);
}

static void make_engine(World *w, void *data) {
  Run *r = data;
  static const struct {
    const char *word;
    Ties ties;
  } rules[] = {{"seeded", TIES_SEEDED}, {"timeout_first", TIES_TIMEOUT_FIRST}, {"event_first", TIES_EVENT_FIRST}};
  EngineConfig config = {.seed = scenario_seed(r->scenario),
                         .max_steps = steps_of(r->scenario, "max_steps"),
                         .max_steps_at_once = steps_of(r->scenario, "max_steps_at_once")};
  if (!scenario_is(r->scenario, "machine.cores", "none"))
    config.cores = (guint)scenario_int(r->scenario, "machine.cores");
  if (!scenario_is(r->scenario, "machine.quantum", "none"))
    config.quantum_ns = scenario_ns(r->scenario, "machine.quantum");
  for (guint i = 0; i < G_N_ELEMENTS(rules); i++)
    if (scenario_is(r->scenario, "ties", rules[i].word)) config.ties = rules[i].ties;
  r->engine = engine_new(w, &config);
}

static bool start(Run *r, GError **error) {
  Costs costs = costs_of(r);
  r->model = model_build(r->scenario, &costs, make_engine, r, error);
  if (!r->model) return false;
  r->result->subject = g_strdup(r->model->subject);
  if (!expect_checks(r->scenario, r->model, &r->o->checks, r->result, error)) return false;
  if (!r->o->trace_path && !r->o->saw) return true;
  int64_t k = r->o->k ? r->o->k : RUN_K;
  TraceHeader *h = run_trace_header(r->scenario, r->o->command, r->model->subject, k);
  r->tracing = tracing_new(r->o, h, k, error);
  run_trace_header_free(h);
  return r->tracing != NULL;
}

static bool pass(Run *r, GError **error) {
  r->result = run_result_new();
  r->until_ns = until_ns(r->scenario);
  r->result->command = g_strdup(r->o->command);
  r->result->scenario = g_strdup(scenario_name(r->scenario));
  r->result->profile = g_strdup(scenario_word(r->scenario, "machine.profile"));
  r->result->seed = scenario_seed(r->scenario);
  if (!start(r, error)) return false;
  EngineListener l = {
      .step = r->tracing ? on_step : NULL, .after = after_step, .cut = interrupted, .chosen = on_chosen};
  engine_listen(r->engine, &l, r);
  EngineEnd end = engine_run(r->engine, r->until_ns);
  if (model_trapped(r->model)) {
    g_propagate_error(error, scenario_complain(r->scenario, "subject", "%s", model_fault(r->model)));
    return false;
  }
  conclude(r, end);
  keep(r);
  return expect_judge(r->scenario, "run", r->result, error);
}

double run_peak_rss_mb(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)u.ru_maxrss / 1024;
}

static RunResult *run_here(const Scenario *s, const RunOptions *o, GError **error) {
  gint64 started = g_get_monotonic_time();
  Run r = {.scenario = s, .o = o};
  bool ok = pass(&r, error);
  if (ok && r.broken && r.strided && !r.result->interrupted && !r.exact && !o->saw) {
    run_clear(&r);
    r = (Run){.scenario = s, .o = o, .exact = true};
    ok = pass(&r, error);
  }
  RunResult *result = NULL;
  if (ok && (!r.tracing || tracing_end(r.tracing, r.result, error))) result = g_steal_pointer(&r.result);
  run_clear(&r);
  if (!result) return NULL;
  result->wall_ms = (double)(g_get_monotonic_time() - started) / 1e3;
  result->peak_rss_mb = run_peak_rss_mb();
  return result;
}

/* A subject's code may break anything of the process that it runs in. */
RunResult *run_scenario(const Scenario *s, const RunOptions *o, GError **error) {
  bool apart = scenario_given(s, "subject") && !child_here();
  return apart ? child_run(s, o, run_here, error) : run_here(s, o, error);
}
