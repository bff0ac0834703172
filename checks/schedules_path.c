/* schedules_path.c - see schedules_path.h. A process is a lane of its own name in a trace; its store buffer another. */
#include "checks/schedules_path.h"
#include "checks/schedules_parts.h"
#include "sim/expect.h"
#include "sim/tracing.h"
#include <string.h>

/* ---- in words ---- */

static char *step_words(const Bound *b, guint p, const Operation *op) {
  g_autofree char *what = interleave_words(b->code, op), *where = interleave_place(b->code, op);
  g_autofree char *held = interleave_held(b->code, (int)p);
  const char *call = interleave_call(b->code, (int)p);
  return g_strdup_printf("%-16s %-10s %-32s %s%s%s", interleave_name(b->code, (int)p), call ? call : "", what,
                         where ? where : "", held ? "  holds " : "", held ? held : "");
}

GPtrArray *schedule_words(Bound *b, const GArray *order) {
  GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
  ScheduleProgram g = bound_program(b);
  g.restart(b);
  for (guint i = 0; i < order->len; i++) {
    guint p = g_array_index(order, guint, i);
    bool failed = false, changed = false;
    Operation op;
    g.pending(b, p, &op);
    g_ptr_array_add(lines, bound_is_observer(b, p) ? g_strdup("(the checks look)") : step_words(b, p, &op));
    g.step(b, p, &failed, &changed);
  }
  return lines;
}

/* ---- going through it ---- */

typedef struct {
  Bound *b;
  const RunOptions *o;
  ScheduleProgram program;
  RunResult *result;
  Tracing *tracing;
  Order order; /* of what was done: it knows which rounds of spinning wait */
} OnePath;

/* Who could go on. */
static uint64_t ready(OnePath *k) {
  uint64_t ready = 0, alive = 0;
  Operation next[SCHEDULE_PROCESSES_MAX];
  for (guint p = 0; p < k->program.processes; p++) {
    ProcessState state = k->program.pending(k->b, p, &next[p]);
    bool can = state == PROCESS_READY;
    if (next[p].kind == OPERATION_SPIN) can = can && order_spin_ready(&k->order, p);
    ready |= (uint64_t)can << p;
    alive |= (uint64_t)(state != PROCESS_ENDED) << p;
  }
  return ready ? ready : schedules_spins_on(&k->order, next, alive);
}

/* "in leave; holds group lock": what the chart of a trace takes for a process's state. */
static void describe_process(const Bound *b, int p, void (*each)(const char *name, const char *value, void *data),
                             void *data) {
  const char *call = interleave_call(b->code, p);
  g_autofree char *held = interleave_held(b->code, p);
  g_autofree char *state =
      g_strdup_printf("%s%s%s%s", call ? "in " : "", call ? call : "ended", held ? "; holds " : "", held ? held : "");
  each(interleave_name(b->code, p), state, data);
}

static void describe(const void *of, void (*each)(const char *name, const char *value, void *data), void *data) {
  const Bound *b = of;
  model_describe_code(b->model, each, data);
  for (int p = 0; p < interleave_processes(b->code); p++) describe_process(b, p, each, data);
}

/* What p is about to do; the words live until they are freed. */
typedef struct {
  char *what, *where;
  NoteField at;
  TraceChoice choice;
  TraceStep step;
} Told;

static void tell(const OnePath *k, guint p, const Operation *op, Told *t) {
  *t = (Told){.what = interleave_words(k->b->code, op), .where = interleave_place(k->b->code, op)};
  t->choice = (TraceChoice){"process", (int64_t)k->program.processes, (int64_t)p};
  t->step = (TraceStep){.i = (int64_t)k->order.events->len,
                        .t_ns = -1,
                        .who = interleave_name(k->b->code, (int)p),
                        .what = t->what,
                        .args = &t->at,
                        .n_args = t->where != NULL,
                        .choices = &t->choice,
                        .n_choices = 1};
  t->at = (NoteField){.name = "at", .text = t->where};
}

static void step(OnePath *k, guint p) {
  bool failed = false, changed = false;
  Operation op;
  Told t;
  k->program.pending(k->b, p, &op);
  tell(k, p, &op, &t);
  k->program.step(k->b, p, &failed, &changed);
  order_push(&k->order, p, &op);
  ScheduleEvent *e = order_event(&k->order, k->order.events->len - 1);
  e->failed = failed;
  e->changed = changed;
  if (k->tracing) tracing_record(k->tracing, &t.step, k->b->model, describe, k->b);
  g_free(t.what);
  g_free(t.where);
}

/* ---- what was broken ---- */

static CheckResult *check_about(const RunResult *r, const char *finding) {
  for (guint i = 0; i < r->checks->len; i++) {
    CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    if (judge_words_of(c->check, finding)) return c;
  }
  return NULL;
}

static bool judge(OnePath *k, bool end) {
  const char *words = NULL;
  guint n = 0;
  for (; (words = k->program.broken(k->b, end, n)); n++) {
    CheckResult *c = check_about(k->result, words);
    if (!c && !k->result->stopped) k->result->stopped = g_strdup(words);
    if (!c || c->verdict == CHECK_VIOLATED) continue;
    c->verdict = CHECK_VIOLATED;
    c->step = MAX((int64_t)k->order.events->len - 1, 0);
    c->why = g_strdup(judge_words_of(c->check, words));
  }
  return n > 0;
}

static void go_through(OnePath *k, ScheduleNext next, void *data) {
  uint64_t can = ready(k);
  bool broken = judge(k, !can);
  guint p;
  while (!broken && can && next(data, &p) && p < k->program.processes && (can >> p & 1)) {
    step(k, p);
    can = ready(k);
    broken = judge(k, !can);
  }
  k->result->verdict = broken ? RUN_FAIL : RUN_PASS;
  k->result->steps = k->order.events->len;
  k->result->state_hash = model_hash(k->b->model);
  k->result->virtual_ns = -1;
}

static RunResult *result_for(const Bound *b, const Scenario *s, const RunOptions *o, GError **error) {
  RunResult *r = run_result_new();
  r->command = g_strdup(o->command);
  r->scenario = g_strdup(scenario_name(s));
  r->subject = g_strdup(b->model->subject);
  r->seed = scenario_seed(s);
  if (expect_checks(s, b->model, &o->checks, r, error)) return r;
  run_result_free(r);
  return NULL;
}

static bool open_trace(OnePath *k, const Scenario *s, GError **error) {
  if (!k->o->trace_path && !k->o->saw) return true;
  TraceHeader *h = run_trace_header(s, k->o->command, k->b->model->subject, 1);
  k->tracing = tracing_new(k->o, h, 1, error);
  run_trace_header_free(h);
  return k->tracing != NULL;
}

RunResult *schedule_path(Bound *b, const Scenario *s, const RunOptions *o, ScheduleNext next, void *data,
                         GError **error) {
  OnePath k = {.b = b, .o = o, .result = result_for(b, s, o, error)};
  if (!k.result) return NULL;
  b->observer = false;
  b->stepwise = judge_looks_at_states(&b->judge);
  k.program = bound_program(b);
  order_init(&k.order, k.program.processes);
  k.order.buffers = k.program.buffers;
  bool ok = open_trace(&k, s, error);
  if (ok) {
    k.program.restart(b);
    go_through(&k, next, data);
    ok = !k.tracing || tracing_end(k.tracing, k.result, error);
  }
  order_clear(&k.order);
  if (k.tracing) tracing_free(k.tracing);
  if (!ok) g_clear_pointer(&k.result, run_result_free);
  return k.result;
}

bool schedule_next(void *cursor, guint *process) {
  ScheduleCursor *c = cursor;
  if (c->at == c->order->len) return false;
  *process = g_array_index(c->order, guint, c->at++);
  return true;
}

/* ---- replay ---- */

typedef struct {
  const RunOptions *o;
  const TraceStep *(*recorded)(void *replay);
} Recorded;

static bool next_recorded(void *data, guint *process) {
  const Recorded *r = data;
  const TraceStep *step = r->recorded(r->o->replay);
  if (!step || step->n_choices != 1 || strcmp(step->choices[0].name, "process") != 0) return false;
  *process = (guint)step->choices[0].took;
  return true;
}

RunResult *schedule_replay(const Scenario *s, const RunOptions *o, const TraceStep *(*recorded)(void *replay),
                           GError **error) {
  Recorded r = {o, recorded};
  Bound b;
  bool right = bound_open(&b, s, &o->checks, error);
  RunResult *result = right ? schedule_path(&b, s, o, next_recorded, &r, error) : NULL;
  g_clear_pointer(&b.run, run_result_free);
  bound_clear(&b);
  return result;
}
