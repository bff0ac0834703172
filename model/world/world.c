/* world.c - processes: the table of them, steps, machines, choices.
 *
 * Everything that can influence the future is in the arena: one Root, then blocks of processes, objects and messages
 * that double in size, so that a small model has a small state and ids never move. What is beside it (types, names,
 * driver, ledger) is fixed at setup or outside identity. */
#include "model/world/world_private.h"

/* A driver may keep its own part of the state beside the model's (a timed exploration does). */
enum { DRIVERS_ROOM = 64 * 1024 };

World *world_new(const Costs *costs, size_t arena_limit) {
  World *w = g_new0(World, 1);
  w->arena = arena_new(arena_limit + DRIVERS_ROOM);
  w->ledger = ledger_new();
  w->costs = *costs;
  w->types = g_ptr_array_new();
  w->choices = g_ptr_array_new_with_free_func(g_free);
  w->names = g_ptr_array_new_with_free_func(g_free);
  w->sites = g_array_new(FALSE, TRUE, sizeof(SiteId));
  g_ptr_array_add(w->choices, NULL);
  g_ptr_array_add(w->names, NULL);
  g_array_set_size(w->sites, 1);
  w->base = (char *)arena_words(w->arena);
  w->root = arena_alloc(w->arena, sizeof(Root));
  return w;
}

void world_free(World *w) {
  arena_free(w->arena);
  ledger_free(w->ledger);
  g_ptr_array_unref(w->types);
  g_ptr_array_unref(w->choices);
  g_ptr_array_unref(w->names);
  g_array_unref(w->sites);
  g_free(w->scratch);
  g_free(w);
}

void world_drive(World *w, const DriverOps *ops, void *driver) {
  w->ops = *ops;
  w->driver = driver;
}

Arena *world_arena(World *w) {
  return w->arena;
}
Ledger *world_ledger(World *w) {
  return w->ledger;
}
int64_t world_cost(const World *w, CostId id, int64_t count) {
  return costs_ns(&w->costs, id, count);
}
int64_t world_ledger_time(const World *w) {
  return w->ops.now ? w->ops.now(w->driver) : 0;
}

bool world_has_clock(const World *w) {
  return w->ops.now != NULL;
}

/* The sum is position-free on the driver's side only: its part is a set of what is under way. */
Hash128 world_hash(World *w) {
  Hash128 h = arena_hash(w->arena);
  if (!w->ops.pending) return h;
  Hash128 p = w->ops.pending(w->driver);
  uint64_t lo = h.lo + p.lo;
  return (Hash128){lo, h.hi + p.hi + (lo < h.lo)};
}

/* ---- tables that grow by doubling blocks: id 1.. ; block k holds FIRST << k entries ---- */

uint32_t table_add(World *w, Table *t, size_t size) {
  uint32_t n = t->count + TABLE_FIRST;
  guint k = 31u - (guint)__builtin_clz(n) - TABLE_FIRST_LOG;
  g_assert(k < TABLE_BLOCKS);
  if (t->block[k] == 0) t->block[k] = arena_offset(w->arena, arena_alloc(w->arena, size * ((size_t)TABLE_FIRST << k)));
  return ++t->count;
}

/* ---- names ---- */

static guint intern(GPtrArray *names, const char *name) {
  for (guint i = 1; i < names->len; i++)
    if (strcmp(names->pdata[i], name) == 0) return i;
  g_ptr_array_add(names, g_strdup(name));
  return names->len - 1;
}

uint16_t world_intern(World *w, const char *name) {
  guint i = intern(w->names, name);
  if (i >= w->sites->len) {
    SiteId site = ledger_site(w->ledger, name);
    g_array_append_val(w->sites, site);
  }
  g_assert(i <= UINT16_MAX);
  return (uint16_t)i;
}

ChoiceId world_choice(World *w, const char *name) {
  return (ChoiceId)intern(w->choices, name);
}
const char *world_choice_name(const World *w, ChoiceId c) {
  return w->choices->pdata[c];
}

uint64_t world_choose(World *w, ChoiceId what, uint64_t n) {
  g_assert(n > 0);
  uint64_t took = n == 1 ? 0 : w->ops.choose(w->driver, what, n);
  g_assert(took < n);
  return took;
}

/* ---- processes ---- */

TypeId world_type(World *w, const ProcessType *type) {
  for (guint i = 0; i < w->types->len; i++)
    if (w->types->pdata[i] == type) return (TypeId)i;
  g_assert(w->types->len < TYPES_MAX);
  g_ptr_array_add(w->types, (gpointer)type);
  return (TypeId)(w->types->len - 1);
}

void world_set_data(World *w, TypeId type, void *data) {
  g_assert(type < w->types->len);
  w->data[type] = data;
}
void *world_data(const World *w, ProcId p) {
  return w->data[proc_at(w, p)->type];
}

void world_guide(World *w, TypeId type, const TypeGuide *guide) {
  g_assert(type < w->types->len);
  w->guides[type] = guide;
}
const TypeGuide *world_guide_of(const World *w, TypeId type) {
  return w->guides[type];
}

void *world_type_data(const World *w, const ProcessType *type) {
  for (guint i = 0; i < w->types->len; i++)
    if (w->types->pdata[i] == type) return w->data[i];
  return NULL;
}

static const ProcessType *type_of(const World *w, const Proc *pr) {
  return w->types->pdata[pr->type];
}

/* Locals of ended processes of one type are used again; the first word of a free one links to the next. */
static uint32_t locals_take(World *w, TypeId type, size_t size) {
  uint32_t at = w->root->free_locals[type];
  if (at == 0) return arena_offset(w->arena, arena_alloc(w->arena, MAX(size, 16)));
  uint32_t *head = arena_at(w->arena, at);
  w->root->free_locals[type] = *head;
  memset(head, 0, MAX(size, 16));
  return at;
}

ProcId world_spawn(World *w, TypeId type, int64_t after_ns) {
  Root *r = w->root;
  ProcId p = r->free_proc;
  if (p)
    r->free_proc = proc_at(w, p)->link;
  else
    p = table_add(w, &r->procs, sizeof(Proc));
  Proc *pr = proc_at(w, p);
  *pr = (Proc){.type = type, .state = PROC_READY};
  pr->locals = locals_take(w, type, type_of(w, pr)->locals_size);
  r->live++;
  w->reshaped = true;
  w->ops.ready(w->driver, p, after_ns);
  return p;
}

ProcId world_keep_ids(World *w, TypeId type, guint n) {
  size_t size = ((const ProcessType *)w->types->pdata[type])->locals_size;
  ProcId first = w->root->procs.count + 1;
  g_assert(w->root->free_proc == 0);
  for (guint i = 0; i < n; i++) {
    ProcId p = table_add(w, &w->root->procs, sizeof(Proc));
    *proc_at(w, p) = (Proc){.type = type, .state = PROC_FREE, .kept = 1, .locals = locals_take(w, type, size)};
  }
  return first;
}

void world_spawn_as(World *w, ProcId kept, int64_t after_ns) {
  Proc *pr = proc_at(w, kept);
  g_assert(pr->kept && pr->state == PROC_FREE);
  pr->state = PROC_READY;
  w->root->live++;
  w->ops.ready(w->driver, kept, after_ns);
}

void *world_locals(World *w, ProcId p) {
  return arena_at(w->arena, proc_at(w, p)->locals);
}

static void proc_end(World *w, ProcId p, Proc *pr) {
  if (pr->n_held) w->root->ended_holding++;
  if (pr->timer) timer_drop(w, p);
  uint32_t *link = locals_at(w, pr->locals);
  memset(link, 0, MAX(type_of(w, pr)->locals_size, 16));
  w->root->live--;
  if (pr->kept) {
    *pr = (Proc){.type = pr->type, .state = PROC_FREE, .kept = 1, .locals = pr->locals};
    return;
  }
  *link = w->root->free_locals[pr->type];
  w->root->free_locals[pr->type] = pr->locals;
  *pr = (Proc){.type = pr->type, .state = PROC_FREE, .link = w->root->free_proc};
  w->root->free_proc = p;
  w->reshaped = true;
}

/* Before the step, as it may end the process. */
static void note_lane(World *w, ProcId p, const Proc *pr) {
  const TypeGuide *g = w->guides[pr->type];
  w->messages_noted = 0;
  if (!g || !g->lane) return;
  g_autoptr(GString) on = g_string_new(NULL), of = g_string_new(NULL);
  g->lane(w, p, locals_at(w, pr->locals), on, of);
  const NoteField fields[] = {{"on", 0, on->str}, {"of", 0, of->str}};
  world_note(w, p, "lane", fields, of->len ? 2 : 1);
}

Step world_resume(World *w, ProcId p) {
  Proc *pr = proc_at(w, p);
  g_assert(pr->state == PROC_READY);
  if (w->ops.note) note_lane(w, p, pr);
  Step s = type_of(w, pr)->resume(w, p, locals_at(w, pr->locals));
  pr->fired = 0;
  if (s.kind == STEP_DONE) proc_end(w, p, pr);
  g_assert((s.kind == STEP_BLOCKED) == (pr->state == PROC_BLOCKED));
  return s;
}

bool world_resumable(const World *w, ProcId p) {
  return proc_at(w, p)->state == PROC_READY;
}
bool world_enabled(const World *w, ProcId p) {
  const Proc *pr = proc_at(w, p);
  if (pr->state != PROC_READY) return false;
  const TypeGuide *g = w->guides[pr->type];
  return !g || !g->guard || g->guard(w, p, locals_at(w, pr->locals));
}
bool world_alive(const World *w, ProcId p) {
  return p && p <= w->root->procs.count && proc_at(w, p)->state != PROC_FREE;
}
guint world_processes(const World *w) {
  return w->root->procs.count + 1;
}
guint world_live(const World *w) {
  return w->root->live;
}
ObjectId world_waits_on(const World *w, ProcId p) {
  return proc_at(w, p)->waits_on;
}
guint world_types(const World *w) {
  return w->types->len;
}
const char *world_type_name(const World *w, TypeId type) {
  return ((const ProcessType *)w->types->pdata[type])->name;
}
TypeId world_type_of(const World *w, ProcId p) {
  return proc_at(w, p)->type;
}
const char *world_name_of(const World *w, ProcId p) {
  return type_of(w, proc_at(w, p))->name;
}

const char *world_at(const World *w, ProcId p) {
  const Proc *pr = proc_at(w, p);
  return type_of(w, pr)->at(w, locals_at(w, pr->locals));
}

/* ---- marks ---- */

void world_mark(World *w, uint64_t bits) {
  w->marks |= bits;
}
uint64_t world_marks(const World *w) {
  return w->marks;
}
void world_marks_clear(World *w) {
  w->marks = 0;
}

/* ---- machines ---- */

Step step_ran(void) {
  return (Step){.kind = STEP_RAN};
}
Step step_in_line(void) {
  return (Step){.kind = STEP_RAN, .in_line = true};
}
Step step_done(void) {
  return (Step){.kind = STEP_DONE};
}
Step step_work(int64_t ns) {
  return (Step){.kind = STEP_WORK, .ns = ns < NS_NEVER ? ns : INT64_MAX};
}
Step step_sleep(int64_t ns) {
  return (Step){.kind = STEP_SLEEP, .ns = ns};
}
Step step_blocked(ObjectId on) {
  return (Step){.kind = STEP_BLOCKED, .on = on};
}

void machine_stages(const Stage *stages, guint n, void (*each)(const char *name, void *data), void *data) {
  for (guint i = 0; i < n; i++)
    if (stages[i].name) each(stages[i].name, data);
}

Step machine_resume(World *w, ProcId self, void *locals, const Stage *stages) {
  MachineHead *m = locals;
  const Stage *stage = &stages[m->pc++];
  g_assert(stage->run);
  return stage->run(w, self, locals);
}

const char *machine_at(const void *locals, const Stage *stages) {
  return stages[((const MachineHead *)locals)->pc].name;
}

/* ---- notes ---- */

bool world_noted(const World *w) {
  return w->ops.note != NULL;
}
void world_note(World *w, ProcId who, const char *what, const NoteField *fields, guint n) {
  if (w->ops.note) w->ops.note(w->driver, who, what, fields, n);
}

void world_note_message(World *w, ProcId who, const char *from, const char *to, const char *message) {
  static const char *const names[MESSAGES_NOTED][3] = {
      {"from", "to", "message"},       {"from_2", "to_2", "message_2"}, {"from_3", "to_3", "message_3"},
      {"from_4", "to_4", "message_4"}, {"from_5", "to_5", "message_5"}, {"from_6", "to_6", "message_6"}};
  if (!w->ops.note || w->messages_noted == MESSAGES_NOTED) return;
  const char *const *name = names[w->messages_noted++];
  const NoteField fields[] = {{name[0], 0, from}, {name[1], 0, to}, {name[2], 0, message}};
  world_note(w, who, "message", fields, G_N_ELEMENTS(fields));
}
