/* interleave.c - see interleave.h. A process runs on its stack until it is about to do something that others could
 * notice, says what, and yields; going on with it does that. interleave_past.c leads back. */
#include "sim/subject/interleave_parts.h"
#include <string.h>

static Interleave *here(void) {
  return subject_here->interleave;
}

/* ---- on a subject's stack: before an operation ---- */

static void stop_before(OperationKind kind, uint64_t object, uint64_t bytes, const void *pc) {
  Interleave *x = here();
  Runner *r = x->running;
  r->next = (Operation){.kind = kind, .bytes = (uint32_t)bytes, .object = object, .pc = pc};
  if (r->kept_bytes && ++r->kept_stops > 1) r->kept_bytes = 0;
  coro_yield(subject_here->running->stack);
}

static void log_store(Interleave *x, uint64_t at, uint64_t bytes) {
  Store st = {.at = at, .bytes = (uint32_t)bytes, .saved = x->old->len};
  g_byte_array_append(x->old, (const guint8 *)x->s->base + at, (guint)bytes);
  g_array_append_val(x->stores, st);
}

void interleave_access(const void *pc, uint64_t at, uint64_t bytes, MemAccess access) {
  g_assert(bytes <= UINT32_MAX);
  stop_before(access == MEM_WRITE ? OPERATION_WRITE : OPERATION_READ, at, bytes, pc);
  if (access == MEM_WRITE) log_store(here(), at, bytes);
}

const void *interleave_keep(const void *from, uint64_t bytes) {
  Runner *r = here()->running;
  if (!r) return from;
  if (bytes > r->kept_room) {
    if (r->kept) g_ptr_array_add(r->outgrown, r->kept);
    r->kept_room = MAX(r->kept_room * 2, (guint)bytes);
    r->kept = g_malloc(r->kept_room);
  }
  r->kept_bytes = (guint)bytes;
  r->kept_stops = 0;
  memcpy(r->kept, from, bytes);
  return r->kept;
}

/* ---- locks ---- */

static Holders *holders_of(Interleave *x, StmLock lock, const void *pc) {
  if (!lock || lock >= x->s->locks->len) subject_broken(pc, "no such lock: %u", lock);
  Holders none = {-1, 0};
  while (x->holders->len <= lock) g_array_append_val(x->holders, none);
  return &g_array_index(x->holders, Holders, lock);
}
static int self_of(const Interleave *x) {
  return (int)(x->running - runner_at(x, 0));
}
static const char *lock_name(const Interleave *x, uint64_t lock) {
  return g_array_index(x->s->locks, Lock, lock).name;
}
static bool free_for(const Holders *h, bool shared) {
  return h->exclusive < 0 && (shared || !h->shared);
}
static void take(Interleave *x, StmLock lock, bool shared) {
  Holders *h = &g_array_index(x->holders, Holders, lock);
  g_assert(free_for(h, shared));
  if (shared)
    h->shared |= UINT64_C(1) << self_of(x);
  else
    h->exclusive = self_of(x);
  x->changed = true;
}

void interleave_lock(StmLock lock, bool shared, const void *pc) {
  Interleave *x = here();
  if (lock_holds(holders_of(x, lock, pc), self_of(x)))
    subject_broken(pc, "%s is asked for by who holds it", lock_name(x, lock));
  stop_before(shared ? OPERATION_LOCK_SHARED : OPERATION_LOCK, lock, 0, pc);
  take(x, lock, shared);
}

bool interleave_try(StmLock lock, bool shared, const void *pc) {
  Interleave *x = here();
  if (lock_holds(holders_of(x, lock, pc), self_of(x))) return false;
  stop_before(shared ? OPERATION_TRY_SHARED : OPERATION_TRY, lock, 0, pc);
  x->failed = !free_for(holders_of(x, lock, pc), shared);
  if (!x->failed) take(x, lock, shared);
  return !x->failed;
}

void interleave_unlock(StmLock lock, const void *pc) {
  Interleave *x = here();
  int self = self_of(x);
  Holders *h = holders_of(x, lock, pc);
  if (!lock_holds(h, self)) subject_broken(pc, "%s is released by who does not hold it", lock_name(x, lock));
  bool shared = h->exclusive != self;
  stop_before(shared ? OPERATION_UNLOCK_SHARED : OPERATION_UNLOCK, lock, 0, pc);
  h = holders_of(x, lock, pc);
  if (shared)
    h->shared &= ~(UINT64_C(1) << self);
  else
    h->exclusive = -1;
  x->changed = true;
}

bool interleave_holds(StmLock lock, const void *pc) {
  return lock_holds(holders_of(here(), lock, pc), self_of(here()));
}

/* ---- semaphores, spinning ---- */

static int *count_of(Interleave *x, StmSemaphore sem, const void *pc) {
  if (!sem || sem >= x->s->semaphores->len) subject_broken(pc, "no such semaphore: %u", sem);
  return &g_array_index(x->s->semaphores, Semaphore, sem).count;
}

void interleave_down(StmSemaphore sem, const void *pc) {
  Interleave *x = here();
  count_of(x, sem, pc);
  stop_before(OPERATION_DOWN, sem, 0, pc);
  g_assert(*count_of(x, sem, pc) > 0);
  --*count_of(x, sem, pc);
  x->changed = true;
}

bool interleave_try_down(StmSemaphore sem, const void *pc) {
  Interleave *x = here();
  count_of(x, sem, pc);
  stop_before(OPERATION_TRY_DOWN, sem, 0, pc);
  x->failed = *count_of(x, sem, pc) == 0;
  x->changed = !x->failed;
  if (!x->failed) --*count_of(x, sem, pc);
  return !x->failed;
}

void interleave_up(StmSemaphore sem, const void *pc) {
  Interleave *x = here();
  if (*count_of(x, sem, pc) == INT32_MAX) subject_broken(pc, "a semaphore's count overflows");
  stop_before(OPERATION_UP, sem, 0, pc);
  ++*count_of(x, sem, pc);
  x->changed = true;
}

/* Told as a try that failed: it takes nothing that another would miss. */
void interleave_reset(StmSemaphore sem, const void *pc) {
  Interleave *x = here();
  count_of(x, sem, pc);
  stop_before(OPERATION_TRY_DOWN, sem, 0, pc);
  x->failed = true;
  x->changed = *count_of(x, sem, pc) != 0;
  *count_of(x, sem, pc) = 0;
}

void interleave_spin(const void *pc) {
  stop_before(OPERATION_SPIN, 0, 0, pc);
}

/* ---- from outside ---- */

/* From one call to the next without a stop in between: nobody could notice. */
void interleave_go(Interleave *x, Runner *r) {
  Subject *s = x->s;
  x->running = r;
  for (;;) {
    const InterleaveCall *c = &r->calls[r->call];
    r->ended = !c->run;
    if (r->ended) break;
    SubjectState state = subject_run_on(s, r->process, c->run, c->argument, c->name);
    r->ended = state == SUBJECT_EXITED;
    if (state != SUBJECT_RETURNED || s->fault) break;
    r->call++;
  }
  x->running = NULL;
}

InterleaveState interleave_pending(const Interleave *x, int p, Operation *out) {
  const Runner *r = runner_at(x, p);
  *out = r->next;
  if (r->ended || x->s->fault) return INTERLEAVE_ENDED;
  OperationKind k = r->next.kind;
  if (k == OPERATION_DOWN)
    return g_array_index(x->s->semaphores, Semaphore, r->next.object).count ? INTERLEAVE_READY : INTERLEAVE_WAITS;
  if (k != OPERATION_LOCK && k != OPERATION_LOCK_SHARED) return INTERLEAVE_READY;
  if (r->next.object >= x->holders->len) return INTERLEAVE_READY;
  const Holders *h = &g_array_index(x->holders, Holders, r->next.object);
  return free_for(h, k == OPERATION_LOCK_SHARED) ? INTERLEAVE_READY : INTERLEAVE_WAITS;
}

void interleave_step(Interleave *x, int p, bool *failed, bool *changed) {
  Runner *r = runner_at(x, p);
  Operation op = r->next;
  guint logged = x->stores->len;
  g_assert(!r->ended);
  x->failed = x->changed = false;
  interleave_remember(x, p);
  interleave_go(x, r);
  if (op.kind == OPERATION_WRITE && x->stores->len > logged) {
    const Store *st = &g_array_index(x->stores, Store, logged);
    x->changed = memcmp(x->s->base + st->at, x->old->data + st->saved, st->bytes) != 0;
  }
  *failed = x->failed;
  *changed = x->changed;
}

int interleave_count(const Interleave *x, StmSemaphore semaphore) {
  return semaphore < x->counts->len ? g_array_index(x->counts, int, semaphore) : 0;
}
int interleave_processes(const Interleave *x) {
  return (int)x->runners->len;
}
bool interleave_over(const Interleave *x) {
  for (guint i = 0; i < x->runners->len; i++)
    if (!runner_at(x, (int)i)->ended) return false;
  return true;
}

bool interleave_ended(const Interleave *x, int p) {
  return runner_at(x, p)->ended;
}
int interleave_process(const Interleave *x, int p) {
  return runner_at(x, p)->process;
}

StmLock interleave_lock_named(const Interleave *x, const char *name) {
  for (guint i = 1; i < x->locks; i++)
    if (strcmp(lock_name(x, i), name) == 0) return i;
  return 0;
}
bool interleave_is_held(const Interleave *x, StmLock lock) {
  return lock && lock < x->holders->len && g_array_index(x->holders, Holders, lock).exclusive >= 0;
}

/* ---- what checks look at ---- */

void interleave_looked(uint64_t at) {
  Interleave *x = here();
  if (at >= x->watched_from && at < x->watched_to) return;
  uint64_t from = at, to = at + 16;
  for (guint i = 1; i < x->s->structures->len; i++) {
    const Structure *st = &g_array_index(x->s->structures, Structure, i);
    if (at - st->base < st->bytes) from = MIN(from, st->base), to = MAX(to, st->base + st->bytes);
  }
  x->watched_to = MAX(x->watched_to, to);
  x->watched_from = MIN(x->watched_from, from);
}

Operation interleave_watched(const Interleave *x) {
  uint64_t bytes = x->watched_to > x->watched_from ? x->watched_to - x->watched_from : 0;
  return (Operation){.kind = OPERATION_READ, .object = x->watched_from, .bytes = (uint32_t)MIN(bytes, UINT32_MAX)};
}

/* ---- life ---- */

static void clear_runner(void *data) {
  Runner *r = data;
  g_free(r->name);
  g_free(r->kept);
  g_ptr_array_unref(r->outgrown);
}

Interleave *interleave_new(Subject *s) {
  Interleave *x = g_new0(Interleave, 1);
  x->s = s;
  x->runners = g_array_new(FALSE, TRUE, sizeof(Runner));
  g_array_set_clear_func(x->runners, clear_runner);
  x->stores = g_array_new(FALSE, FALSE, sizeof(Store));
  x->old = g_byte_array_new();
  x->holders = g_array_new(FALSE, FALSE, sizeof(Holders));
  x->counts = g_array_new(FALSE, FALSE, sizeof(int));
  for (guint i = 0; i < s->semaphores->len; i++)
    g_array_append_val(x->counts, g_array_index(s->semaphores, Semaphore, i).count);
  interleave_past_init(x);
  x->watched_from = UINT64_MAX;
  hooks_watch(0, 0, 0, 0, 0); /* or its stores would take a way of their own */
  return s->interleave = x;
}

void interleave_free(Interleave *x) {
  if (!x) return;
  x->s->interleave = NULL;
  for (guint i = 0; i < x->runners->len; i++) subject_reap(x->s, runner_at(x, (int)i)->process);
  g_array_unref(x->runners);
  g_array_unref(x->stores);
  g_byte_array_unref(x->old);
  g_array_unref(x->holders);
  g_array_unref(x->counts);
  interleave_past_clear(x);
  g_free(x);
}

int interleave_add(Interleave *x, const char *name, const InterleaveCall *calls) {
  enum { FIRST_PID = 1000 };
  int p = (int)x->runners->len;
  g_assert(p < INTERLEAVE_PROCESSES_MAX);
  Runner r = {.process = subject_fork(x->s, NULL, FIRST_PID + p), .name = g_strdup(name), .calls = calls};
  r.outgrown = g_ptr_array_new_with_free_func(g_free);
  g_array_append_val(x->runners, r);
  return p;
}
