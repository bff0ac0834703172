/* schedules_order.c - see schedules_order.h.
 *
 * What depends on what is a fact of the operations alone (memory that overlaps, one of the two not a load; the same
 * lock or semaphore, unless both are shared, or both ups), with one addition: a round of spinning depends on the stores
 * to what its process read since the round before. Dependence is wider than need be (a store of the same value, an up
 * when the count was not 0): that costs schedules, and hides none, as every such pair is tried in both orders where the
 * second could have been first. */
#include "checks/schedules_order.h"
#include "model/world/rng.h"
#include <string.h>

void order_init(Order *o, guint processes) {
  g_assert(processes > 0 && processes <= SCHEDULE_PROCESSES_MAX);
  *o = (Order){.n = processes,
               .scanned = -1,
               .events = g_array_new(FALSE, FALSE, sizeof(ScheduleEvent)),
               .clocks = g_array_new(FALSE, TRUE, sizeof(guint32))};
  for (guint p = 0; p < SCHEDULE_PROCESSES_MAX; p++) o->last[p] = -1;
}

void order_clear(Order *o) {
  g_array_unref(o->events);
  g_array_unref(o->clocks);
}

static guint32 *clock_of(const Order *o, guint i) {
  return &g_array_index(o->clocks, guint32, i * o->n);
}
static bool happened(const Order *o, guint i, const guint32 *clock) {
  const ScheduleEvent *e = order_event(o, i);
  return e->number <= clock[e->process];
}
static void join(const Order *o, guint32 *clock, const guint32 *other) {
  for (guint q = 0; q < o->n; q++) clock[q] = MAX(clock[q], other[q]);
}
/* The last event of p before event `end`, which is p's too, or before the end of all. */
static int last_of(const Order *o, guint end, guint p) {
  return end < o->events->len ? order_event(o, end)->before : o->last[p];
}

/* ---- dependence ---- */

static bool overlap(const Operation *a, const Operation *b) {
  return a->object < b->object + b->bytes && b->object < a->object + a->bytes;
}

/* Could w change what op came to? Both are of memory, of locks or of semaphores. */
static bool same_thing(const Operation *op, const Operation *w) {
  if (operation_memory(op->kind)) return operation_memory(w->kind) && overlap(op, w);
  if (op->object != w->object) return false;
  return operation_lock(op->kind) ? operation_lock(w->kind)
                                  : operation_semaphore(op->kind) && operation_semaphore(w->kind);
}

/* Did p, between its last spin before `end` and event `before`, look at what w changes? */
static bool round_reads(const Order *o, guint end, guint p, const Operation *w, guint before) {
  for (int i = last_of(o, end, p); i >= 0; i = order_event(o, (guint)i)->before) {
    const Operation *r = &order_event(o, (guint)i)->op;
    if (r->kind == OPERATION_SPIN) return false;
    if ((guint)i < before && same_thing(r, w)) return true;
  }
  return false;
}

static bool lock_shared(OperationKind k) {
  return k == OPERATION_LOCK_SHARED || k == OPERATION_TRY_SHARED || k == OPERATION_UNLOCK_SHARED;
}

/* Total store order: is q the store buffer of p? */
static bool buffer_of(const Order *o, guint q, guint p) {
  return o->buffers && p < o->buffers && q == p + o->buffers;
}

/* A load that its own buffer answers: only that its store is written makes a difference. Writing it changes nothing for
 * its process, which so has no reason to go round a loop again. */
static bool seen_by(const Order *o, guint p, const Operation *op, guint writer) {
  if (buffer_of(o, writer, p)) return op->kind != OPERATION_SPIN;
  return !op->own;
}

/* a is done by p as event i, or next (i: the end); b likewise. */
static bool depends(const Order *o, guint i, guint p, const Operation *a, guint j, guint q, const Operation *b) {
  const unsigned *m = o->mutant_commute;
  if ((m[0] || m[1]) && ((a->kind == m[0] && b->kind == m[1]) || (a->kind == m[1] && b->kind == m[0]))) return false;
  if (!seen_by(o, p, a, q) || !seen_by(o, q, b, p)) return false;
  if (a->kind == OPERATION_SPIN) return operation_touches(b->kind) && round_reads(o, i, p, b, i);
  if (b->kind == OPERATION_SPIN) return operation_touches(a->kind) && round_reads(o, j, q, a, j);
  if (operation_memory(a->kind))
    return operation_memory(b->kind) && (a->kind != OPERATION_READ || b->kind != OPERATION_READ) && overlap(a, b);
  if (operation_lock(a->kind))
    return operation_lock(b->kind) && a->object == b->object && !(lock_shared(a->kind) && lock_shared(b->kind));
  if (operation_semaphore(a->kind))
    return operation_semaphore(b->kind) && a->object == b->object &&
           (a->kind != OPERATION_UP || b->kind != OPERATION_UP);
  return false;
}

bool order_next_depend(const Order *o, guint p, const Operation *a, guint q, const Operation *b) {
  return depends(o, o->events->len, p, a, o->events->len, q, b);
}

/* ---- clocks ---- */

/* The event of p that is its n-th (of a store buffer) or puts its n-th store into the buffer. */
static guint event_of(const Order *o, guint p, guint n) {
  int i = o->last[p];
  for (; i >= 0; i = order_event(o, (guint)i)->before) {
    const ScheduleEvent *e = order_event(o, (guint)i);
    if (p >= o->buffers ? e->number == n : e->op.kind == OPERATION_BUFFER && e->op.store == n) break;
  }
  g_assert(i >= 0);
  return (guint)i;
}

/* Total store order: what is written was stored first; what waits for the buffer comes after what is written out. */
static void join_stores(const Order *o, guint p, const Operation *op, guint32 *clock) {
  if (!op->store || !o->buffers || op->kind == OPERATION_BUFFER) return;
  bool written = p >= o->buffers ||
                 (o->last[p + o->buffers] >= 0 && order_event(o, (guint)o->last[p + o->buffers])->number >= op->store);
  if (!written) return; /* it waits */
  guint other = p >= o->buffers ? p - o->buffers : p + o->buffers;
  join(o, clock, clock_of(o, event_of(o, other, op->store)));
}

static void clock_before(const Order *o, guint p, const Operation *op, guint32 *clock) {
  int last = o->last[p];
  if (last < 0)
    memset(clock, 0, o->n * sizeof *clock);
  else
    memcpy(clock, clock_of(o, (guint)last), o->n * sizeof *clock);
  join_stores(o, p, op, clock);
}

/* The latest first: what happened before it needs no second look. */
static void scan(const Order *o, guint process, const Operation *op, guint32 *clock) {
  guint end = o->events->len;
  clock_before(o, process, op, clock);
  for (guint j = end; j-- > 0;) {
    const ScheduleEvent *e = order_event(o, j);
    if (!happened(o, j, clock) && depends(o, j, e->process, &e->op, end, process, op)) join(o, clock, clock_of(o, j));
  }
}

void order_push(Order *o, guint process, const Operation *op) {
  guint32 clock[SCHEDULE_PROCESSES_MAX];
  guint end = o->events->len;
  if (o->scanned == (int)process)
    memcpy(clock, o->before, o->n * sizeof *clock);
  else
    scan(o, process, op, clock);
  o->scanned = -1;
  ScheduleEvent e = {.op = *op, .process = process, .number = ++clock[process], .before = o->last[process]};
  o->last[process] = (int)end;
  g_array_append_val(o->events, e);
  g_array_append_vals(o->clocks, clock, o->n);
}

uint64_t order_hash(const Order *o, guint event) {
  uint64_t h = order_event(o, event)->process;
  for (guint q = 0; q < o->n; q++) h = rng_mix(h, clock_of(o, event)[q]);
  return h;
}

void order_truncate(Order *o, guint events) {
  g_assert(events <= o->events->len);
  for (guint i = o->events->len; i-- > events;) o->last[order_event(o, i)->process] = order_event(o, i)->before;
  o->scanned = -1;
  g_array_set_size(o->events, events);
  g_array_set_size(o->clocks, events * o->n);
}

/* ---- could it have gone on there? ---- */

/* Events before `end` without those that came after `without` (G_MAXUINT: all count). */
static bool counts(const Order *o, guint k, guint without) {
  if (without == G_MAXUINT || k < without) return true;
  const ScheduleEvent *e = order_event(o, without);
  return k != without && e->number > clock_of(o, k)[e->process];
}

/* Has another changed what p read, as event i, since? */
static bool read_is_stale(const Order *o, guint p, guint i, guint without) {
  const Operation *r = &order_event(o, i)->op;
  for (guint k = i + 1; k < o->events->len; k++) {
    const ScheduleEvent *w = order_event(o, k);
    if (w->process == p || buffer_of(o, w->process, p) || !w->changed || !operation_touches(w->op.kind)) continue;
    if (same_thing(r, &w->op) && counts(o, k, without)) return true;
  }
  return false;
}

static bool spin_ready(const Order *o, guint p, guint without) {
  for (int i = o->last[p]; i >= 0; i = order_event(o, (guint)i)->before) {
    if (order_event(o, (guint)i)->op.kind == OPERATION_SPIN) return false;
    if (read_is_stale(o, p, (guint)i, without)) return true;
  }
  return false;
}

bool order_spin_ready(const Order *o, guint p) {
  return spin_ready(o, p, G_MAXUINT);
}

static bool lock_free(const Order *o, const Operation *op, guint without) {
  int shared = 0, exclusive = 0;
  for (guint k = 0; k < o->events->len; k++) {
    const ScheduleEvent *e = order_event(o, k);
    if (!operation_lock(e->op.kind) || e->op.object != op->object || !counts(o, k, without)) continue;
    bool takes = e->op.kind <= OPERATION_TRY_SHARED;
    if (takes && e->failed) continue;
    *(lock_shared(e->op.kind) ? &shared : &exclusive) += takes ? 1 : -1;
  }
  return exclusive <= 0 && (op->kind == OPERATION_LOCK_SHARED || shared <= 0);
}

static bool count_left(const Order *o, const Operation *op, guint without) {
  int count = o->count ? o->count(o->data, op->object) : 0;
  for (guint k = 0; k < o->events->len; k++) {
    const ScheduleEvent *e = order_event(o, k);
    if (!operation_semaphore(e->op.kind) || e->op.object != op->object || !counts(o, k, without)) continue;
    count += e->op.kind == OPERATION_UP ? 1 : e->failed ? 0 : -1;
  }
  return count > 0;
}

/* Could p have done op if event `without`, and all that came after it, had not been? */
static bool goes_without(const Order *o, guint p, const Operation *op, guint without) {
  if (op->kind == OPERATION_SPIN) return spin_ready(o, p, without);
  return op->kind == OPERATION_DOWN ? count_left(o, op, without) : lock_free(o, op, without);
}

/* ---- races ---- */

/* Those that are first in what follows event i without what came after it, then p's op: each process whose first event
 * there has none of the others before it. */
static uint64_t initials(const Order *o, guint i, guint p, const Operation *op, const guint32 *clock_p) {
  guint32 seen[SCHEDULE_PROCESSES_MAX] = {0}; /* number of the first event of each process there */
  uint64_t met = 0, first = 0;
  guint end = o->events->len;
  for (guint k = i + 1; k <= end; k++) {
    if (k < end && !counts(o, k, i)) continue;
    guint q = k < end ? order_event(o, k)->process : p;
    if (met >> q & 1) continue;
    guint32 clock[SCHEDULE_PROCESSES_MAX] = {0};
    for (guint r = 0; r < o->n; r++) clock[r] = k < end ? clock_of(o, k)[r] : clock_p[r];
    for (guint j = i + 1; k == end && j < end; j++) /* p's op there: only what is there came before it */
      if (counts(o, j, i) && depends(o, j, order_event(o, j)->process, &order_event(o, j)->op, end, p, op))
        join(o, clock, clock_of(o, j));
    bool alone = true;
    for (guint r = 0; r < o->n; r++) alone &= r == q || !(met >> r & 1) || clock[r] < seen[r];
    met |= UINT64_C(1) << q;
    seen[q] = k < end ? order_event(o, k)->number : G_MAXUINT32;
    if (alone) first |= UINT64_C(1) << q;
  }
  return first;
}

/* An event that p could not have overtaken is passed over, with what came before it still to be looked at: there p's op
 * would have had to wait too, or for what was before. */
void order_races(Order *o, guint p, const Operation *op, void (*race)(void *data, guint i, uint64_t initials),
                 void *data) {
  guint32 clock[SCHEDULE_PROCESSES_MAX], before[SCHEDULE_PROCESSES_MAX];
  guint end = o->events->len;
  clock_before(o, p, op, clock);
  for (guint q = 0; q < o->n; q++) before[q] = clock[q];
  for (guint i = end; i-- > 0;) {
    const ScheduleEvent *e = order_event(o, i);
    if (e->process == p || happened(o, i, clock) || !depends(o, i, e->process, &e->op, end, p, op)) continue;
    if (operation_waits(op->kind) && !goes_without(o, p, op, i)) continue;
    race(data, i, initials(o, i, p, op, before));
    join(o, clock, clock_of(o, i));
  }
  if (operation_waits(op->kind)) return; /* some that happened before were passed over */
  o->scanned = (int)p;
  memcpy(o->before, clock, o->n * sizeof *clock);
}
