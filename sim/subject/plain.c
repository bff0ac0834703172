/* plain.c - see plain.h. A process's place in its script is in the arena; where its code is lies on its stack and in
 * its variables, which subject_hash covers. One resume goes to the next point where something else could matter. */
#include "sim/subject/plain.h"
#include "model/world/rng.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/processes.h"
#include <string.h>

enum { FIRST_PID = 1000 };

typedef struct {
  ProcessType type;
  ProcessGroup *script;
  const StampedeEntry **entries; /* by operation; NULL: it is no call */
  Plain *plain;
} Group;

typedef struct {
  uint32_t total, ended;
} Counts;

struct Plain {
  World *w;
  Subject *code;
  Segment *segment, *own_segment; /* own: made here, as is the code then */
  bool own_code;
  GArray *scripts; /* of ProcessGroup */
  Group *groups;
  GPtrArray *spaces;  /* of AddressSpace */
  GArray *ids;        /* of ProcId, in the scenario's order */
  GHashTable *exited; /* ProcId -> what stm_exit said; beside the state */
  Counts *counts;     /* in the arena */
  ChoiceId delay;
  void (*went)(void *data, int process, ProcId self);
  void *went_data;
};

typedef enum { AT_START, AT_STEP, IN_CALL, AT_END } Phase;
typedef struct {
  uint16_t phase, group;
  uint32_t op, copy;
  int32_t process;                  /* of the code; -1: not forked yet */
  int64_t turns[PROCESS_LOOPS_MAX]; /* left, of the loops around it */
} Locals;

static const ProcessOp *op_at(const Group *g, guint i) {
  return &g_array_index(g->script->ops, ProcessOp, i);
}

static int64_t draw_of(const Plain *p, const Draw *d) {
  if (d->kind == DRAW_FIXED || !world_has_clock(p->w)) return d->low;
  if (d->kind == DRAW_UNIFORM) return d->low + (int64_t)world_choose(p->w, p->delay, (uint64_t)(d->high - d->low) + 1);
  return rng_exponential_of((uint32_t)world_choose(p->w, p->delay, UINT64_C(1) << 32), d->low);
}

static Step pass(int64_t ns) {
  return ns > 0 ? step_sleep(ns) : step_ran();
}

/* ---- a process ---- */

static Step end(Group *g, ProcId self, Locals *l) {
  if (l->process >= 0) subject_reap(g->plain->code, l->process);
  if (g->plain->went) g->plain->went(g->plain->went_data, -1, self);
  l->process = -1;
  g->plain->counts->ended++;
  return step_done();
}

static void tell_exit(Plain *p, ProcId self, const Locals *l) {
  const char *words = subject_exit_words(p->code, l->process);
  NoteField why = {.name = "why", .text = words ? words : "in peace"};
  g_hash_table_insert(p->exited, GUINT_TO_POINTER(self), g_strdup(words ? words : ""));
  world_note(p->w, self, "exit", &why, 1);
}

/* The call's end and the time it took come together; what follows is the next resume's. */
static Step go(Group *g, ProcId self, Locals *l) {
  Plain *p = g->plain;
  SubjectState state;
  Step step = subject_go(p->code, l->process, self, &state);
  if (p->went) p->went(p->went_data, l->process, self);
  if (state == SUBJECT_RUNS) return step;
  if (state == SUBJECT_EXITED && !subject_fault(p->code)) tell_exit(p, self, l);
  l->phase = state == SUBJECT_EXITED ? AT_END : AT_STEP;
  l->op++;
  return step;
}

static Step call(Group *g, ProcId self, Locals *l) {
  Plain *p = g->plain;
  const StampedeEntry *e = g->entries[l->op];
  if (l->process < 0) {
    AddressSpace *as = address_space_new(p->segment, self);
    g_ptr_array_add(p->spaces, as);
    l->process = subject_fork(p->code, as, FIRST_PID + (int)(self - g_array_index(p->ids, ProcId, 0)));
  }
  subject_call(p->code, l->process, e->run, process_argument(op_at(g, l->op), l->copy), e->name);
  l->phase = IN_CALL;
  return go(g, self, l);
}

/* Loops are no steps: to the next operation that is one. */
static void settle(const Group *g, Locals *l) {
  for (;;) {
    const ProcessOp *op = op_at(g, l->op);
    if (op->code == PROCESS_LOOP) {
      l->turns[op->depth] = op->times;
      l->op++;
    } else if (op->code == PROCESS_END_LOOP) {
      l->op = --l->turns[op->depth] > 0 ? op->target + 1 : l->op + 1;
    } else {
      return;
    }
  }
}

static Step resume(World *w, ProcId self, void *locals) {
  Group *g = world_data(w, self);
  Locals *l = locals;
  if (l->phase == IN_CALL) return go(g, self, l);
  if (l->phase == AT_END) return end(g, self, l);
  if (l->phase == AT_START) {
    l->phase = AT_STEP;
    if (g->script->start.kind != DRAW_FIXED) return pass(draw_of(g->plain, &g->script->start));
  }
  settle(g, l);
  const ProcessOp *op = op_at(g, l->op);
  if (op->code == PROCESS_END) return end(g, self, l);
  if (op->code == PROCESS_CALL) return call(g, self, l);
  l->op++;
  return pass(draw_of(g->plain, &op->wait));
}

/* ---- what it is called ---- */

static Step no_step(World *w, ProcId self, void *locals) {
  (void)w, (void)self, (void)locals;
  g_assert_not_reached();
}
static const char *no_place(const World *w, const void *locals) {
  (void)w, (void)locals;
  return "";
}
/* Of no process: its data is how a process's locals lead to what they are about. */
static const ProcessType anchor = {.name = "processes", .resume = no_step, .at = no_place};

/* The call under way, or what comes next. */
static const char *at(const World *w, const void *locals) {
  const Plain *p = world_type_data(w, &anchor);
  Locals l = *(const Locals *)locals;
  const Group *g = &p->groups[l.group];
  if (l.phase == AT_START && g->script->start.kind != DRAW_FIXED) return "start";
  if (l.phase == AT_END) return "end";
  if (l.phase != IN_CALL) settle(g, &l);
  const ProcessOp *op = op_at(g, l.op);
  return op->code == PROCESS_CALL ? g->entries[l.op]->name : op->code == PROCESS_WAIT ? "wait" : "end";
}

bool plain_done(const Plain *p) {
  return p->counts->ended == p->counts->total;
}

const char *plain_exit_words(const Plain *p, ProcId self) {
  return g_hash_table_lookup(p->exited, GUINT_TO_POINTER(self));
}

/* ---- building ---- */

static const StampedeEntry *find_entry(const StampedeSubject *code, const char *name) {
  for (guint i = 0; i < code->n_entries; i++)
    if (strcmp(code->entries[i].name, name) == 0) return &code->entries[i];
  return NULL;
}

static bool no_entry(const Scenario *s, const StampedeSubject *code, const ProcessOp *op, GError **error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < code->n_entries; i++) g_ptr_array_add(names, (gpointer)code->entries[i].name);
  g_ptr_array_add(names, NULL);
  const char *near = nearest_name(op->entry, (const char *const *)names->pdata);
  g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
  g_propagate_error(error, scenario_complain(s, op->key, "the subject %s has no entry %s; %s%s", code->name, op->entry,
                                             near              ? "the nearest is "
                                             : code->n_entries ? "it has "
                                                               : "it has none",
                                             near ? near : all));
  return false;
}

static bool resolve(Group *g, const Scenario *s, const StampedeSubject *code, GError **error) {
  const GArray *ops = g->script->ops;
  g->entries = g_new0(const StampedeEntry *, ops->len);
  for (guint i = 0; i < ops->len; i++) {
    const ProcessOp *op = op_at(g, i);
    if (op->code != PROCESS_CALL) continue;
    g->entries[i] = find_entry(code, op->entry);
    if (!g->entries[i]) return no_entry(s, code, op, error);
  }
  return true;
}

static void spawn(Plain *p, guint number) {
  Group *g = &p->groups[number];
  g->plain = p;
  g->type = (ProcessType){.name = g->script->name, .locals_size = sizeof(Locals), .resume = resume, .at = at};
  TypeId type = world_type(p->w, &g->type);
  world_set_data(p->w, type, g);
  bool fixed = g->script->start.kind == DRAW_FIXED;
  for (guint i = 0; i < g->script->count; i++) {
    ProcId id = world_spawn(p->w, type, fixed ? g->script->start.low : 0);
    g_array_append_val(p->ids, id);
    *(Locals *)world_locals(p->w, id) = (Locals){.group = (uint16_t)number, .copy = i, .process = -1};
  }
  p->counts->total += g->script->count;
}

static Plain *plain_new(World *w, Subject *code, Segment *segment) {
  Plain *p = g_new0(Plain, 1);
  p->w = w;
  p->code = code;
  p->segment = segment;
  p->spaces = g_ptr_array_new_with_free_func((GDestroyNotify)address_space_free);
  p->ids = g_array_new(FALSE, FALSE, sizeof(ProcId));
  p->exited = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  p->counts = arena_alloc(world_arena(w), sizeof *p->counts);
  p->delay = world_choice(w, "delay");
  world_set_data(w, world_type(w, &anchor), p);
  return p;
}

static bool take_scripts(Plain *p, const Scenario *s, const StampedeSubject *code, GError **error) {
  p->scripts = scenario_bind_processes(s, error);
  if (!p->scripts) return false;
  p->groups = g_new0(Group, p->scripts->len);
  for (guint i = 0; i < p->scripts->len; i++) {
    p->groups[i].script = &g_array_index(p->scripts, ProcessGroup, i);
    if (!resolve(&p->groups[i], s, code, error)) return false;
  }
  for (guint i = 0; i < p->scripts->len; i++) spawn(p, i);
  return true;
}

bool plain_drive(Model *m, const Scenario *s, Subject *code, Segment *segment,
                 void (*went)(void *data, int process, ProcId self), void *data, GError **error) {
  m->plain = plain_new(m->world, code, segment);
  m->plain->went = went;
  m->plain->went_data = data;
  plain_take_checks(m);
  return take_scripts(m->plain, s, image_subject(m->image), error);
}

size_t plain_bytes(const Scenario *s) {
  size_t n = 0;
  for (guint i = 0, groups = scenario_count(s, "processes"); i < groups; i++) {
    g_autofree char *count = g_strdup_printf("processes[%u].count", i);
    n += (size_t)scenario_int(s, count);
  }
  return n * 1024 + (4u << 20);
}

/* Cache lines are counted by the hooks, not by the segment. */
static Segment *make_segment(const Scenario *s, const Costs *costs, bool *lines) {
  MemoryConfig memory;
  scenario_bind_memory(s, costs, &memory);
  *lines = memory.lines;
  memory.lines = false;
  return segment_new(&memory);
}

static bool start(Model *m, const Scenario *s, Subject *code, Segment *segment, GError **error) {
  g_autoptr(GError) problem = NULL;
  bool started = subject_start(code, &problem);
  segment_add(segment, "end of the code's memory", 64, 1, 64, 0); /* what a last word could reach into */
  if (!started) g_propagate_error(error, scenario_complain(s, "subject", "%s", problem->message));
  return started && plain_drive(m, s, code, segment, NULL, NULL, error);
}

bool plain_build(Model *m, const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                 GError **error) {
  bool lines;
  m->world = world_new(costs, plain_bytes(s));
  driver(m->world, data);
  Segment *segment = make_segment(s, costs, &lines);
  Subject *code = subject_new(m->image, m->world, segment, lines, 0);
  bool built = start(m, s, code, segment, error);
  if (!m->plain) m->plain = plain_new(m->world, code, segment);
  m->plain->own_code = true;
  m->plain->own_segment = segment;
  return built;
}

static void free_groups(Plain *p) {
  for (guint i = 0; p->groups && i < p->scripts->len; i++) g_free(p->groups[i].entries);
  g_free(p->groups);
  if (p->scripts) g_array_unref(p->scripts);
}

void plain_free(Plain *p) {
  if (!p) return;
  g_ptr_array_unref(p->spaces);
  g_array_unref(p->ids);
  g_hash_table_unref(p->exited);
  if (p->own_code) subject_free(p->code);
  if (p->own_segment) segment_free(p->own_segment);
  free_groups(p);
  g_free(p);
}

void plain_tell(const Plain *p, guint nth, int process) {
  if (p->went) p->went(p->went_data, process, g_array_index(p->ids, ProcId, nth));
}

Subject *plain_subject(const Plain *p) {
  return p->code;
}
