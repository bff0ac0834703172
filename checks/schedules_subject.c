/* schedules_subject.c - see schedules_subject.h.
 *
 * A check looks at states between operations, and orders that the reduction takes for one pass through different
 * states. So under dpor a check that is not for the end alone is a process of its own, of one operation: it loads all
 * that the check looks at, some time. Each state that the check could see is then before one of its loads. What it
 * looks at is learned: where a look goes beyond what was known, the search begins again. */
#include "checks/schedules_subject.h"
#include "checks/schedules_judge.h"
#include "sim/engine.h"
#include "sim/expect.h"
#include "sim/scenario/processes.h"
#include "sim/subject/interleave.h"
#include "sim/subject/plain.h"
#include "sim/subject/pg_subject.h"
#include <string.h>

enum { SHRINK_SCHEDULES = 20000 };

typedef struct {
  Model *model;
  Engine *engine;
  Interleave *code;
  RunResult *run;
  GPtrArray *calls; /* arrays of InterleaveCall */
  bool observer;    /* a last process is the checks' */
  bool looked;      /* it has, as step `looked_at` */
  guint looked_at, steps;
  bool stepwise; /* without an observer: judged after each step */
  Operation watched;
  ScheduleJudge judge;
} Bound;

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

static bool is_observer(const Bound *b, guint p) {
  return p == (guint)interleave_processes(b->code) + interleave_buffers(b->code);
}

static ProcessState program_pending(void *data, guint p, Operation *out) {
  Bound *b = data;
  static const ProcessState states[] = {
      [INTERLEAVE_READY] = PROCESS_READY, [INTERLEAVE_WAITS] = PROCESS_WAITS, [INTERLEAVE_ENDED] = PROCESS_ENDED};
  if (!is_observer(b, p)) return states[interleave_pending(b->code, (int)p, out)];
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
  if (!is_observer(b, p)) return step_code(b, p, failed, changed);
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

static ScheduleProgram program_of(Bound *b) {
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

static bool leave_locks_out(Bound *b, const char *const *names, GError **error) {
  for (; names && *names; names++)
    if (!interleave_without(b->code, *names, error)) return false;
  return true;
}

static bool bind_model(Bound *b, const App *app, const Scenario *s, const char *const *without, GError **error) {
  Costs costs;
  scenario_costs(s, &costs);
  b->model = model_build(s, &costs, make_engine, b, error);
  if (!b->model) return false;
  RunResult *r = b->run = run_result_new();
  r->command = g_strdup("check");
  r->scenario = g_strdup(scenario_name(s));
  r->profile = g_strdup(scenario_word(s, "machine.profile"));
  r->subject = g_strdup(b->model->subject);
  r->seed = scenario_seed(s);
  if (!expect_checks(s, b->model, &app->checks, r, error)) return false;
  b->code = interleave_new(model_subject(b->model), scenario_is(s, "machine.memory_order", "tso"));
  judge_init(&b->judge, b->model, b->code, r);
  return leave_locks_out(b, without, error) && add_processes(b, s, error);
}

static void bound_clear(Bound *b) {
  interleave_free(b->code);
  g_ptr_array_unref(b->calls);
  judge_clear(&b->judge);
  g_clear_pointer(&b->engine, engine_free);
  if (b->model) model_free(b->model);
}

/* ---- a counterexample in words ---- */

static void told_free(void *data) {
  ScheduleTold *t = data;
  g_ptr_array_unref(t->steps);
  g_free(t);
}

static char *step_words(const Bound *b, guint p, const Operation *op) {
  g_autofree char *what = interleave_words(b->code, op), *where = interleave_place(b->code, op);
  g_autofree char *held = interleave_held(b->code, (int)p);
  const char *call = interleave_call(b->code, (int)p);
  return g_strdup_printf("%-12s %-10s %-32s %s%s%s", interleave_name(b->code, (int)p), call ? call : "", what,
                         where ? where : "", held ? "  holds " : "", held ? held : "");
}

static ScheduleTold *tell(Bound *b, const ScheduleFinding *f) {
  ScheduleTold *t = g_new0(ScheduleTold, 1);
  t->words = f->words;
  t->preemptions = f->preemptions;
  t->fewest = f->fewest;
  t->steps = g_ptr_array_new_with_free_func(g_free);
  program_restart(b);
  for (guint i = 0; i < f->order->len; i++) {
    guint p = g_array_index(f->order, guint, i);
    bool failed = false, changed = false;
    Operation op;
    program_pending(b, p, &op);
    g_ptr_array_add(t->steps, is_observer(b, p) ? g_strdup("(the checks look)") : step_words(b, p, &op));
    program_step(b, p, &failed, &changed);
  }
  return t;
}

/* ---- where nobody was preempted ---- */

static gint by_words(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* By line: a line of several operations counts as taken when one of them was. */
static void take_points(SubjectCheck *c, const Bound *b) {
  const Tally *t = &c->search->coverage.points;
  g_autoptr(GHashTable) lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < t->size; i++) {
    Operation op = {.pc = (const void *)(uintptr_t)t->keys[i]};
    char *where = t->keys[i] > 1 ? interleave_place(b->code, &op) : NULL;
    if (!where) continue;
    guint seen = GPOINTER_TO_UINT(g_hash_table_lookup(lines, where)) | t->values[i];
    g_hash_table_insert(lines, where, GUINT_TO_POINTER(seen));
  }
  GHashTableIter i;
  gpointer where, seen;
  c->points = g_hash_table_size(lines);
  g_hash_table_iter_init(&i, lines);
  while (g_hash_table_iter_next(&i, &where, &seen))
    if (!(GPOINTER_TO_UINT(seen) & POINT_TAKEN)) g_ptr_array_add(c->never, g_strdup(where));
  g_ptr_array_sort(c->never, by_words);
}

/* ---- verdicts ---- */

static const ScheduleFinding *finding_of(const SchedulesResult *r, const Check *c) {
  for (guint i = 0; i < r->findings->len; i++) {
    const ScheduleFinding *f = r->findings->pdata[i];
    if (judge_words_of(c, f->words)) return f;
  }
  return NULL;
}

static bool of_a_check(const RunResult *run, const ScheduleFinding *f) {
  for (guint i = 0; i < run->checks->len; i++)
    if (judge_words_of(g_array_index(run->checks, CheckResult, i).check, f->words)) return true;
  return false;
}

static void give_verdicts(RunResult *run, const SchedulesResult *r, bool all) {
  for (guint i = 0; i < run->checks->len; i++) {
    CheckResult *c = &g_array_index(run->checks, CheckResult, i);
    const ScheduleFinding *f = finding_of(r, c->check);
    c->verdict = f ? CHECK_VIOLATED : all ? CHECK_HOLDS : CHECK_NOT_VIOLATED;
    if (!f) continue;
    c->step = (int64_t)f->order->len - 1;
    c->why = g_strdup(judge_words_of(c->check, f->words));
  }
  for (guint i = 0; i < r->findings->len && !run->stopped; i++) {
    const ScheduleFinding *f = r->findings->pdata[i];
    if (!of_a_check(run, f)) run->stopped = g_strdup(f->words);
  }
  run->interrupted = r->stop == SCHEDULES_INTERRUPTED;
  run->limited = !all && !r->findings->len;
}

/* Checks that the scenario expects to be broken: NULL at the end. */
static GPtrArray *expected_broken(const Scenario *s) {
  GPtrArray *names = g_ptr_array_new();
  for (guint i = 0, n = scenario_count(s, "expect"); i < n; i++) {
    g_autofree char *check = g_strdup_printf("expect[%u].check", i),
                    *verdict = g_strdup_printf("expect[%u].verdict", i);
    if (scenario_given(s, check) && expect_judged_by(s, i, "check") && scenario_is(s, verdict, "violated"))
      g_ptr_array_add(names, (gpointer)judge_finding_of(scenario_word(s, check)));
  }
  g_ptr_array_add(names, NULL);
  return names;
}

/* ---- all of it ---- */

static bool is_walk(const SchedulesOptions *o) {
  return o->strategy == SCHEDULES_RANDOM || o->strategy == SCHEDULES_PCT;
}

static bool same_range(const Operation *a, const Operation *b) {
  return a->object == b->object && a->bytes == b->bytes;
}

/* Until no check has looked at more than was known. */
static SchedulesResult *search(Bound *b, const SchedulesOptions *o) {
  bool states = judge_looks_at_states(&b->judge);
  b->observer = states && o->strategy == SCHEDULES_DPOR;
  b->stepwise = states && !b->observer;
  interleave_way_back(b->code, !is_walk(o));
  program_restart(b);
  if (b->observer) judge_state(&b->judge, false);
  for (;;) {
    b->watched = interleave_watched(b->code);
    ScheduleProgram p = program_of(b);
    SchedulesResult *r = schedules_search(&p, o);
    Operation now = interleave_watched(b->code);
    if (!b->observer || r->findings->len || same_range(&now, &b->watched)) return r;
    schedules_result_free(r);
  }
}

static void shrink(Bound *b, SchedulesResult *r, guint max_steps) {
  bool observer = b->observer;
  b->observer = false;
  b->stepwise = judge_looks_at_states(&b->judge);
  interleave_way_back(b->code, true);
  ScheduleProgram p = program_of(b);
  for (guint i = 0; i < r->findings->len; i++) schedules_shrink(&p, r->findings->pdata[i], max_steps, SHRINK_SCHEDULES);
  b->observer = observer; /* one that was not shortened has the checks' look in it */
}

static bool comes_back(Bound *b, const Scenario *s, guint max_steps, GError **error) {
  g_autoptr(GString) where = g_string_new(NULL);
  if (interleave_comes_back(b->code, max_steps, where)) return true;
  g_propagate_error(error,
                    scenario_complain(s, "subject",
                                      "%s is stored to by code that is not instrumented and does not say so (stm_touch "
                                      "would); a search cannot undo that",
                                      where->str));
  return false;
}

SubjectCheck *subject_check(const App *app, const Scenario *s, const SubjectCheckOptions *o, GError **error) {
  Bound b = {.calls = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref)};
  SubjectCheck *c = NULL;
  if (bind_model(&b, app, s, o->without, error) && comes_back(&b, s, o->search.max_steps, error)) {
    c = g_new0(SubjectCheck, 1);
    c->run = g_steal_pointer(&b.run);
    b.run = c->run;
    c->options = o->search;
    c->without = o->without;
    c->options.seed = scenario_seed(s);
    g_autoptr(GPtrArray) wanted = expected_broken(s);
    c->options.wanted = (const char *const *)wanted->pdata;
    c->tso = interleave_buffers(b.code) > 0;
    c->processes = (guint)interleave_processes(b.code);
    c->told = g_ptr_array_new_with_free_func(told_free);
    c->search = search(&b, &c->options);
    c->observed = b.observer;
    c->never = g_ptr_array_new_with_free_func(g_free);
    take_points(c, &b);
    const SchedulesResult *r = c->search;
    bool all = r->stop == SCHEDULES_EXHAUSTED && !r->cut && !r->bounded && !r->findings->len && !is_walk(&c->options);
    if (o->shrink) shrink(&b, c->search, c->options.max_steps);
    for (guint i = 0; i < r->findings->len; i++) g_ptr_array_add(c->told, tell(&b, r->findings->pdata[i]));
    c->options.wanted = NULL; /* the list ends here */
    give_verdicts(c->run, r, all);
    if (!expect_judge(s, "check", c->run, error)) g_clear_pointer(&c, subject_check_free);
  } else if (b.run) {
    run_result_free(b.run);
  }
  bound_clear(&b);
  return c;
}

void subject_check_free(SubjectCheck *c) {
  if (!c) return;
  if (c->told) g_ptr_array_unref(c->told);
  if (c->never) g_ptr_array_unref(c->never);
  schedules_result_free(c->search);
  run_result_free(c->run);
  g_free(c);
}
