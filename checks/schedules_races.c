/* schedules_races.c - see schedules_races.h. Vector clocks, as of Djit+ and FastTrack (Flanagan, Freund, PLDI 2009),
 * here with each access compared with those before it: a schedule is short.
 *
 * Who takes a lock comes after who released it exclusively; who takes it exclusively, after shared holders too, so that
 * two of these race. A down comes after all ups so far. Memory is C's (C17, 5.1.2.4 and 7.17.4): what loads with
 * acquire comes after the release that it reads; a store without one ends that, a read-modify-write goes on with it. A
 * release fence makes releases of the stores after it, an acquire fence acquires of the loads before it. What is read
 * is the latest store in memory; in total store order that is the one whose buffer has written it, and it carries what
 * its process had done when it was stored. A process's own buffer tells it nothing about others. */
#include "checks/schedules_races.h"
#include <string.h>

typedef struct {
  OperationKind kind; /* OPERATION_LOCK, OPERATION_DOWN, OPERATION_READ: a lock, a semaphore, memory */
  uint64_t object;
  guint32 exclusive[SCHEDULE_PROCESSES_MAX], shared[SCHEDULE_PROCESSES_MAX];
} Thing;

typedef struct {
  guint32 now[SCHEDULE_PROCESSES_MAX];      /* what has happened before */
  guint32 loaded[SCHEDULE_PROCESSES_MAX];   /* what releases it has read of, as yet without acquiring */
  guint32 released[SCHEDULE_PROCESSES_MAX]; /* by its last release fence */
} Process;

typedef struct {
  const Order *o;
  RacesMutant mutant;
  guint n; /* processes, without store buffers */
  Process processes[SCHEDULE_PROCESSES_MAX];
  GArray *things;   /* of Thing */
  GArray *accesses; /* of guint: events */
  guint32 *epochs;  /* of each event: of its own process's clock */
  guint32 **stored; /* of each event that is a store: the clock that it carries; NULL: none */
} Looking;

static void join(const Looking *l, guint32 *to, const guint32 *from) {
  for (guint q = 0; q < l->n; q++) to[q] = MAX(to[q], from[q]);
}

static Thing *thing(Looking *l, OperationKind kind, uint64_t object) {
  for (guint i = 0; i < l->things->len; i++) {
    Thing *t = &g_array_index(l->things, Thing, i);
    if (t->object == object && t->kind == kind) return t;
  }
  g_array_set_size(l->things, l->things->len + 1); /* zeroed */
  Thing *t = &g_array_index(l->things, Thing, l->things->len - 1);
  t->kind = kind, t->object = object;
  return t;
}

/* ---- locks, semaphores ---- */

static void lock_event(Looking *l, const ScheduleEvent *e) {
  Thing *t = thing(l, OPERATION_LOCK, e->op.object);
  guint32 *now = l->processes[e->process].now;
  OperationKind k = e->op.kind;
  bool shared = k == OPERATION_LOCK_SHARED || k == OPERATION_TRY_SHARED || k == OPERATION_UNLOCK_SHARED;
  if (e->failed) return;
  if (!operation_takes(k)) return join(l, shared ? t->shared : t->exclusive, now);
  join(l, now, t->exclusive);
  if (!shared) join(l, now, t->shared);
}

static void semaphore_event(Looking *l, const ScheduleEvent *e) {
  Thing *t = thing(l, OPERATION_DOWN, e->op.object);
  guint32 *now = l->processes[e->process].now;
  if (e->op.kind == OPERATION_UP)
    join(l, t->exclusive, now);
  else if (!e->failed)
    join(l, now, t->exclusive);
}

/* ---- memory ---- */

static bool overlap(uint64_t a, uint32_t a_bytes, uint64_t b, uint32_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

static void fences(Looking *l, const ScheduleEvent *e) {
  Process *p = &l->processes[e->process];
  uint8_t f = l->mutant == RACES_FENCES_IGNORED ? FENCED_NONE : e->op.fences;
  if (f == FENCED_RELEASE || f == FENCED_RELEASE_ACQUIRE) join(l, p->released, p->now);
  if (f == FENCED_ACQUIRE || f == FENCED_BOTH || f == FENCED_RELEASE_ACQUIRE) join(l, p->now, p->loaded);
  if (f == FENCED_BOTH) join(l, p->released, p->now);
}

static bool failed_exchange(const Looking *l, const ScheduleEvent *e) {
  return e->op.unless && e->failed && l->mutant != RACES_FAILURE_TAKEN_FOR_SUCCESS;
}

static int order_of(const Looking *l, const ScheduleEvent *e) {
  return (failed_exchange(l, e) ? e->op.unless : e->op.atomic) - 1;
}

static bool acquires(const Looking *l, int order) {
  return l->mutant != RACES_ACQUIRE_TAKEN_FOR_RELAXED && order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}
static bool releases(const Looking *l, int order) {
  bool so = order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  return so && l->mutant != RACES_RELEASE_IGNORED;
}

static void load(Looking *l, const ScheduleEvent *e) {
  const Thing *t = thing(l, OPERATION_READ, e->op.object);
  Process *p = &l->processes[e->process];
  join(l, p->loaded, t->exclusive);
  if (acquires(l, order_of(l, e))) join(l, p->now, t->exclusive);
}

/* What a store that is done now will carry to who reads it. */
static guint32 *carried(Looking *l, const ScheduleEvent *e) {
  const Process *p = &l->processes[e->process];
  if (!e->op.atomic) return NULL;
  return g_memdup2(releases(l, order_of(l, e)) ? p->now : p->released, sizeof p->now);
}

/* A store, by event i, is in memory. */
static void store(Looking *l, guint i) {
  const Operation *op = &order_event(l->o, i)->op;
  for (guint k = 0; k < l->things->len && (op->kind != OPERATION_UPDATE || op->blind); k++) {
    Thing *t = &g_array_index(l->things, Thing, k);
    bool hidden = t->kind == OPERATION_READ && overlap(t->object, 1, op->object, op->bytes);
    if (hidden) memset(t->exclusive, 0, sizeof t->exclusive);
  }
  if (l->stored[i]) join(l, thing(l, OPERATION_READ, op->object)->exclusive, l->stored[i]);
}

static void memory_event(Looking *l, guint i) {
  const ScheduleEvent *e = order_event(l->o, i);
  OperationKind k = e->op.kind;
  if (e->op.atomic && !e->op.own && (k == OPERATION_READ || (k == OPERATION_UPDATE && !e->op.blind))) load(l, e);
  if (k == OPERATION_READ || failed_exchange(l, e)) return;
  l->stored[i] = carried(l, e);
  if (k != OPERATION_BUFFER || l->mutant == RACES_STORES_SEEN_AT_ONCE) store(l, i);
}

/* The buffer of `process` writes its nth store. */
static void written(Looking *l, guint process, guint nth, guint before) {
  for (guint i = before; i-- > 0;) {
    const ScheduleEvent *e = order_event(l->o, i);
    if (e->process == process && e->op.kind == OPERATION_BUFFER && e->op.store == nth) return store(l, i);
  }
  g_assert_not_reached();
}

/* ---- what races ---- */

/* Where code is not known, a check looks. */
static bool of_code(const Operation *op) {
  return (operation_memory(op->kind) || op->kind == OPERATION_BUFFER) && op->pc && !op->left_out;
}

static bool loads(const Looking *l, const ScheduleEvent *e) {
  return e->op.kind == OPERATION_READ || failed_exchange(l, e);
}

static bool conflict(const Looking *l, const ScheduleEvent *a, const ScheduleEvent *b) {
  if ((a->op.atomic && b->op.atomic) || (loads(l, a) && loads(l, b))) return false;
  return overlap(a->op.object, a->op.bytes, b->op.object, b->op.bytes);
}

static void compare(Looking *l, guint j, void (*found)(void *data, const Race *r), void *data) {
  const ScheduleEvent *b = order_event(l->o, j);
  const guint32 *now = l->processes[b->process].now;
  for (guint k = 0; k < l->accesses->len; k++) {
    guint i = g_array_index(l->accesses, guint, k);
    const ScheduleEvent *a = order_event(l->o, i);
    if (a->process == b->process || l->epochs[i] <= now[a->process] || !conflict(l, a, b)) continue;
    found(data, &(Race){a->op, b->op, {a->process, b->process}, {i, j}});
  }
  g_array_append_val(l->accesses, j);
}

static void event(Looking *l, guint j, void (*found)(void *data, const Race *r), void *data) {
  const ScheduleEvent *e = order_event(l->o, j);
  if (e->process >= l->n && l->o->buffers && e->process < 2 * l->o->buffers) {
    if (l->mutant != RACES_STORES_SEEN_AT_ONCE) written(l, e->process - l->o->buffers, e->op.store, j);
    return;
  }
  if (e->process >= l->n) return; /* the checks look */
  guint32 *now = l->processes[e->process].now;
  fences(l, e); /* what comes after a release fence is not released by it */
  l->epochs[j] = ++now[e->process];
  if (operation_lock(e->op.kind)) lock_event(l, e);
  if (operation_semaphore(e->op.kind)) semaphore_event(l, e);
  if (operation_memory(e->op.kind) || e->op.kind == OPERATION_BUFFER) memory_event(l, j);
  if (of_code(&e->op)) compare(l, j, found, data);
}

void races_find(const Order *o, RacesMutant m, void (*found)(void *data, const Race *r), void *data) {
  guint n = o->events->len;
  Looking *l = g_new0(Looking, 1);
  l->o = o, l->mutant = m;
  l->n = o->buffers ? o->buffers : o->n;
  l->things = g_array_new(FALSE, TRUE, sizeof(Thing));
  l->accesses = g_array_new(FALSE, FALSE, sizeof(guint));
  l->epochs = g_new0(guint32, MAX(n, 1));
  l->stored = g_new0(guint32 *, MAX(n, 1));
  for (guint j = 0; j < n; j++) event(l, j, found, data);
  for (guint j = 0; j < n; j++) g_free(l->stored[j]);
  g_array_unref(l->things);
  g_array_unref(l->accesses);
  g_free(l->epochs);
  g_free(l->stored);
  g_free(l);
}
