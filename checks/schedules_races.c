/* schedules_races.c - see schedules_races.h. Vector clocks, as of Djit+ and FastTrack (Flanagan, Freund, PLDI 2009),
 * here with each access compared with those before it: a schedule is short.
 *
 * Who takes a lock comes after who released it exclusively; who takes it exclusively, after shared holders too, so that
 * two of these race. A down comes after all ups so far. What loads with acquire comes after the release that it reads;
 * a relaxed store ends that, a read-modify-write goes on with it. Fences alone put nothing in order. */
#include "checks/schedules_races.h"
#include <string.h>

typedef struct {
  guint32 exclusive[SCHEDULE_PROCESSES_MAX], shared[SCHEDULE_PROCESSES_MAX];
} Clocks;

typedef struct {
  const Order *o;
  guint32 now[SCHEDULE_PROCESSES_MAX][SCHEDULE_PROCESSES_MAX]; /* what has happened before, by process */
  GHashTable *things;                                          /* lock, semaphore or atomic -> Clocks */
  guint32 *epochs;                                             /* of each event: of its own process's clock */
} Looking;

static void join(guint32 *to, const guint32 *from) {
  for (guint q = 0; q < SCHEDULE_PROCESSES_MAX; q++) to[q] = MAX(to[q], from[q]);
}

static Clocks *clocks_of(Looking *l, const Operation *op) {
  gint64 kind = operation_lock(op->kind) ? 1 : operation_semaphore(op->kind) ? 2 : 0;
  gint64 key = (gint64)op->object << 2 | kind;
  Clocks *c = g_hash_table_lookup(l->things, &key);
  if (!c) g_hash_table_insert(l->things, g_memdup2(&key, sizeof key), c = g_new0(Clocks, 1));
  return c;
}

static void lock_event(Looking *l, const ScheduleEvent *e) {
  Clocks *c = clocks_of(l, &e->op);
  guint32 *now = l->now[e->process];
  OperationKind k = e->op.kind;
  bool shared = k == OPERATION_LOCK_SHARED || k == OPERATION_TRY_SHARED || k == OPERATION_UNLOCK_SHARED;
  if (e->failed) return;
  if (!operation_takes(k)) return join(shared ? c->shared : c->exclusive, now);
  join(now, c->exclusive);
  if (!shared) join(now, c->shared);
}

static void semaphore_event(Looking *l, const ScheduleEvent *e) {
  Clocks *c = clocks_of(l, &e->op);
  if (e->op.kind == OPERATION_UP)
    join(c->shared, l->now[e->process]);
  else if (!e->failed)
    join(l->now[e->process], c->shared);
}

static void atomic_event(Looking *l, const ScheduleEvent *e) {
  Clocks *c = clocks_of(l, &e->op);
  int order = e->op.atomic - 1;
  bool acquires = order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE,
       releases = order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  if (e->op.kind != OPERATION_WRITE && acquires) join(l->now[e->process], c->exclusive);
  if (e->op.kind == OPERATION_READ) return;
  if (e->op.kind == OPERATION_WRITE) memset(c->exclusive, 0, sizeof c->exclusive);
  if (releases) join(c->exclusive, l->now[e->process]);
}

static void synchronize(Looking *l, guint i) {
  const ScheduleEvent *e = order_event(l->o, i);
  l->epochs[i] = ++l->now[e->process][e->process];
  if (operation_lock(e->op.kind)) lock_event(l, e);
  if (operation_semaphore(e->op.kind)) semaphore_event(l, e);
  if (operation_memory(e->op.kind) && e->op.atomic) atomic_event(l, e);
}

/* Where code is not known, a check looks. */
static bool of_code(const Operation *op) {
  return operation_memory(op->kind) && op->pc && !op->left_out;
}

static bool conflict(const Operation *a, const Operation *b) {
  if ((a->atomic && b->atomic) || (a->kind == OPERATION_READ && b->kind == OPERATION_READ)) return false;
  return a->object < b->object + b->bytes && b->object < a->object + a->bytes;
}

static bool unordered(const Looking *l, guint i, guint j) {
  const ScheduleEvent *a = order_event(l->o, i), *b = order_event(l->o, j);
  if (a->process == b->process || !of_code(&a->op) || !conflict(&a->op, &b->op)) return false;
  return l->epochs[i] > l->now[b->process][a->process];
}

void races_find(const Order *o, void (*found)(void *data, const Race *r), void *data) {
  guint n = o->events->len;
  Looking *l = g_new0(Looking, 1);
  l->o = o;
  l->things = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
  l->epochs = g_new(guint32, MAX(n, 1));
  for (guint j = 0; j < n; j++) {
    const ScheduleEvent *b = order_event(o, j);
    synchronize(l, j);
    for (guint i = 0; of_code(&b->op) && i < j; i++) {
      const ScheduleEvent *a = order_event(o, i);
      if (unordered(l, i, j)) found(data, &(Race){a->op, b->op, {a->process, b->process}, {i, j}});
    }
  }
  g_hash_table_unref(l->things);
  g_free(l->epochs);
  g_free(l);
}
