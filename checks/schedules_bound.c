/* schedules_bound.c - see schedules_bound.h. */
#include "checks/schedules_bound.h"
#include "sim/expect.h"
#include "sim/scenario/processes.h"
#include "sim/subject/plain.h"
#include <string.h>

/* ---- the program ---- */

static void program_restart(void *data) {
  Bound *b = data;
  judge_forget(&b->judge);
  b->looked = false;
  b->steps = 0;
  interleave_restart(b->code);
}

/* The observer's look changed nothing. */
static void program_back(void *data, guint steps) {
  Bound *b = data;
  judge_forget(&b->judge);
  b->looked = b->looked && b->looked_at < steps;
  b->steps = steps;
  interleave_back(b->code, steps - b->looked);
}

bool bound_is_observer(const Bound *b, guint p) {
  return p == (guint)interleave_processes(b->code) + interleave_buffers(b->code);
}

static ProcessState program_pending(void *data, guint p, Operation *out) {
  Bound *b = data;
  static const ProcessState states[] = {
      [INTERLEAVE_READY] = PROCESS_READY, [INTERLEAVE_WAITS] = PROCESS_WAITS, [INTERLEAVE_ENDED] = PROCESS_ENDED};
  if (!bound_is_observer(b, p)) return states[interleave_pending(b->code, (int)p, out)];
  *out = b->watched;
  return b->looked || subject_fault(model_subject(b->model)) ? PROCESS_ENDED : PROCESS_READY;
}

static void step_code(Bound *b, guint p, bool *failed, bool *changed) {
  Operation op;
  interleave_pending(b->code, (int)p, &op);
  interleave_step(b->code, (int)p, failed, changed);
  judge_step(&b->judge, &op, *failed);
}

static void program_step(void *data, guint p, bool *failed, bool *changed) {
  Bound *b = data;
  guint step = b->steps++;
  if (!bound_is_observer(b, p)) return step_code(b, p, failed, changed);
  *failed = *changed = false;
  b->looked = true;
  b->looked_at = step;
  judge_state(&b->judge, false);
}

static const char *program_broken(void *data, bool end, guint n) {
  Bound *b = data;
  if (n == 0 && (end || b->stepwise)) judge_state(&b->judge, end);
  return judge_broken(&b->judge, n);
}

static int program_count(void *data, uint64_t semaphore) {
  return interleave_count(((Bound *)data)->code, (StmSemaphore)semaphore);
}

/* What checks look at is learned in whichever process they look. */
static void program_tell(void *data, GByteArray *out) {
  Operation watched = interleave_watched(((Bound *)data)->code);
  g_byte_array_append(out, (const guint8 *)&watched, sizeof watched);
}
static void program_learn(void *data, const guint8 *told, gsize bytes) {
  Operation watched;
  g_assert(bytes == sizeof watched);
  memcpy(&watched, told, sizeof watched);
  interleave_watch(((Bound *)data)->code, &watched);
}

ScheduleProgram bound_program(Bound *b) {
  return (ScheduleProgram){.data = b,
                           .processes =
                               (guint)interleave_processes(b->code) + interleave_buffers(b->code) + b->observer,
                           .buffers = interleave_buffers(b->code),
                           .restart = program_restart,
                           .back = program_back,
                           .pending = program_pending,
                           .step = program_step,
                           .broken = program_broken,
                           .count = program_count,
                           .tell = program_tell,
                           .learn = program_learn};
}

/* ---- from the scenario ---- */

static const StampedeEntry *entry_of(const StampedeSubject *code, const char *name) {
  for (guint i = 0; i < code->n_entries; i++)
    if (strcmp(code->entries[i].name, name) == 0) return &code->entries[i];
  return NULL; /* model_build has refused it */
}

/* Loops are unrolled; waits are not: which order comes of them is what is searched. */
static void add_calls(const ProcessGroup *g, guint copy, const StampedeSubject *code, GArray *calls) {
  int64_t left[PROCESS_LOOPS_MAX] = {0};
  for (guint i = 0; i < g->ops->len; i++) {
    const ProcessOp *op = &g_array_index(g->ops, ProcessOp, i);
    if (op->code == PROCESS_LOOP) left[op->depth] = op->times;
    if (op->code == PROCESS_END_LOOP && --left[op->depth] > 0) i = op->target;
    if (op->code != PROCESS_CALL) continue;
    const StampedeEntry *e = entry_of(code, op->entry);
    g_assert(e);
    InterleaveCall c = {e->run, process_argument(op, copy), e->name};
    g_array_append_val(calls, c);
  }
}

static bool too_many(const Scenario *s, const GArray *groups, GError **error) {
  guint n = 0;
  for (guint i = 0; i < groups->len; i++) n += g_array_index(groups, ProcessGroup, i).count;
  guint most = scenario_is(s, "machine.memory_order", "tso") ? INTERLEAVE_BUFFERED_MAX : INTERLEAVE_PROCESSES_MAX;
  if (n > 0 && n <= most) return false;
  g_propagate_error(
      error, scenario_complain(s, "processes", "%u processes; a search through schedules takes 1 to %d", n, (int)most));
  return true;
}

static bool add_processes(Bound *b, const Scenario *s, GError **error) {
  g_autoptr(GArray) groups = scenario_bind_processes(s, error);
  if (!groups || too_many(s, groups, error)) return false;
  for (guint i = 0; i < groups->len; i++) {
    const ProcessGroup *g = &g_array_index(groups, ProcessGroup, i);
    for (guint k = 0; k < g->count; k++) {
      GArray *calls = g_array_new(TRUE, TRUE, sizeof(InterleaveCall));
      add_calls(g, k, image_subject(b->model->image), calls);
      g_ptr_array_add(b->calls, calls);
      g_autofree char *name = g->count > 1 ? g_strdup_printf("%s[%u]", g->name, k) : g_strdup(g->name);
      interleave_add(b->code, name, (const InterleaveCall *)(void *)calls->data);
    }
  }
  return true;
}

/* The world wants one. It is never asked to go on: its processes' code is gone through by the search. */
static void make_engine(World *w, void *data) {
  ((Bound *)data)->engine = engine_new(w, &(EngineConfig){0});
}

static bool leave_locks_out(Bound *b, const Scenario *s, GError **error) {
  for (guint i = 0, n = scenario_count(s, "explore.without_lock"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("explore.without_lock[%u]", i);
    g_autoptr(GError) problem = NULL;
    if (interleave_without(b->code, scenario_word(s, key), &problem)) continue;
    g_propagate_error(error, scenario_complain(s, key, "%s", problem->message));
    return false;
  }
  return true;
}

static bool fires(const Scenario *s, const char *limit) {
  for (guint i = 0, n = scenario_count(s, "explore.fire"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("explore.fire[%u]", i);
    if (scenario_is(s, key, limit)) return true;
  }
  return false;
}

static RunResult *result_of(const Scenario *s, const Model *m) {
  RunResult *r = run_result_new();
  r->command = g_strdup("check");
  r->scenario = g_strdup(scenario_name(s));
  r->profile = g_strdup(scenario_word(s, "machine.profile"));
  r->subject = g_strdup(m->subject);
  r->seed = scenario_seed(s);
  return r;
}

bool bound_open(Bound *b, const Scenario *s, const CheckTable *checks, GError **error) {
  Costs costs;
  scenario_costs(s, &costs);
  *b = (Bound){.calls = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref)};
  b->model = model_build(s, &costs, make_engine, b, error);
  if (!b->model) return false;
  b->run = result_of(s, b->model);
  b->code = interleave_new(model_subject(b->model), scenario_is(s, "machine.memory_order", "tso"));
  interleave_time_runs_out(b->code, fires(s, "deadline"));
  interleave_spins_on(b->code, fires(s, "spin"));
  bool right = expect_checks(s, b->model, checks, b->run, error);
  judge_init(&b->judge, b->model, b->code, b->run);
  if (right && leave_locks_out(b, s, error) && add_processes(b, s, error)) return true;
  g_clear_pointer(&b->run, run_result_free);
  return false;
}

void bound_clear(Bound *b) {
  interleave_free(b->code);
  g_ptr_array_unref(b->calls);
  judge_clear(&b->judge);
  g_clear_pointer(&b->engine, engine_free);
  if (b->model) model_free(b->model);
}
