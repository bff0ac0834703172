/* interleave.c - see interleave.h. A process runs on its stack until it is about to do something that others could
 * notice, says what, and yields; going on with it does that. interleave_past.c leads back. */
#include "sim/subject/interleave_parts.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/scenario.h"
#include <string.h>

static Interleave *here(void) {
  return subject_here->interleave;
}

/* ---- on a subject's stack: before an operation ---- */

static void stop_before(OperationKind kind, uint64_t object, uint64_t bytes, const void *pc) {
  Interleave *x = here();
  Runner *r = x->running;
  r->next = (Operation){.kind = kind, .bytes = (uint32_t)bytes, .object = object, .pc = pc, .atomic = hooks.atomic};
  r->next.unless = hooks.unless;
  r->next.fences = r->fences;
  r->next.blind = kind == OPERATION_UPDATE && !hooks.update;
  r->next.left_out = r->left_out;
  r->left_out = 0;
  r->fences = FENCED_NONE;
  if (r->kept_bytes && ++r->kept_stops > 1) r->kept_bytes = 0;
  coro_yield(subject_here->running->stack);
  if (x->callers_wanted) x->n_callers = subject_chain(pc, x->callers, CHAIN_MOST), x->callers_wanted = false;
}

void interleave_log(Interleave *x, uint64_t at, uint64_t bytes) {
  Store st = {.at = at, .bytes = (uint32_t)bytes, .saved = x->old->len};
  g_byte_array_append(x->old, (const guint8 *)x->s->base + at, (guint)bytes);
  g_array_append_val(x->stores, st);
}

/* A store that nothing may overtake is a locked instruction (xchg), where stores are buffered. */
static OperationKind write_kind(const Interleave *x) {
  if (hooks.update) return OPERATION_UPDATE;
  if (!x->tso) return OPERATION_WRITE;
  return hooks.atomic == 1 + __ATOMIC_SEQ_CST ? OPERATION_UPDATE : OPERATION_BUFFER;
}

void interleave_access(const void *pc, uint64_t at, uint64_t bytes, MemAccess access) {
  OperationKind kind = access == MEM_WRITE ? write_kind(here()) : OPERATION_READ;
  g_assert(bytes <= UINT32_MAX);
  stop_before(kind, at, bytes, pc);
  if (kind == OPERATION_WRITE || kind == OPERATION_UPDATE) interleave_log(here(), at, bytes);
}

static uint8_t fence_of(int order) {
  if (order == __ATOMIC_RELAXED) return FENCED_NONE;
  if (order == __ATOMIC_RELEASE) return FENCED_RELEASE;
  return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ? FENCED_ACQUIRE : FENCED_BOTH;
}

/* One that stops is in order with others by itself; none but a locked one does (x86). */
void interleave_fence(int order, const void *pc) {
  static const uint8_t then[][FENCED_BOTH + 1] = {
      [FENCED_NONE] = {FENCED_NONE, FENCED_ACQUIRE, FENCED_RELEASE, FENCED_BOTH},
      [FENCED_ACQUIRE] = {FENCED_ACQUIRE, FENCED_ACQUIRE, FENCED_BOTH, FENCED_BOTH},
      [FENCED_RELEASE] = {FENCED_RELEASE, FENCED_RELEASE_ACQUIRE, FENCED_RELEASE, FENCED_BOTH},
      [FENCED_BOTH] = {FENCED_BOTH, FENCED_BOTH, FENCED_BOTH, FENCED_BOTH},
      [FENCED_RELEASE_ACQUIRE] = {FENCED_RELEASE_ACQUIRE, FENCED_RELEASE_ACQUIRE, FENCED_BOTH, FENCED_BOTH}};
  Runner *r = here()->running;
  if (!r) return; /* a check looks */
  r->fences = then[r->fences][fence_of(order)];
  if (here()->tso && order == __ATOMIC_SEQ_CST) stop_before(OPERATION_FENCE, 0, 0, pc);
}

void interleave_exchange_failed(void) {
  here()->failed = true;
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
  if (bytes) memcpy(r->kept, from, bytes);
  return r->kept;
}

/* ---- locks ---- */

static Holders *holders_of(Interleave *x, StmLock lock, const void *pc) {
  if (!lock || lock >= x->s->locks->len) subject_broken(pc, "no such lock: %u", lock);
  Holders none = {-1, 0};
  while (x->holders->len <= lock) g_array_append_val(x->holders, none);
  return &g_array_index(x->holders, Holders, lock);
}
static bool left_out(const Interleave *x, StmLock lock) {
  return lock && lock < x->s->locks->len && g_array_index(x->s->locks, Lock, lock).left_out;
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

static void do_without(Interleave *x, StmLock lock, const void *pc) {
  bool looks = lock == x->looked_when_taken && !x->tso;
  uint64_t bytes = looks ? segment_size(x->s->segment) : 0;
  g_assert(lock <= UINT16_MAX);
  x->running->left_out = (uint16_t)lock;
  stop_before(looks ? OPERATION_READ : OPERATION_LOCAL, 0, MIN(bytes, UINT32_MAX), pc);
}

void interleave_lock(StmLock lock, bool shared, const void *pc) {
  Interleave *x = here();
  if (left_out(x, lock)) return do_without(x, lock, pc);
  if (lock_holds(holders_of(x, lock, pc), self_of(x)))
    subject_broken(pc, "%s is asked for by who holds it", lock_name(x, lock));
  stop_before(shared ? OPERATION_LOCK_SHARED : OPERATION_LOCK, lock, 0, pc);
  take(x, lock, shared);
}

bool interleave_try(StmLock lock, bool shared, const void *pc) {
  Interleave *x = here();
  if (left_out(x, lock)) return do_without(x, lock, pc), true;
  if (lock_holds(holders_of(x, lock, pc), self_of(x))) return false;
  stop_before(shared ? OPERATION_TRY_SHARED : OPERATION_TRY, lock, 0, pc);
  x->failed = !free_for(holders_of(x, lock, pc), shared);
  if (!x->failed) take(x, lock, shared);
  return !x->failed;
}

void interleave_unlock(StmLock lock, const void *pc) {
  Interleave *x = here();
  if (left_out(x, lock)) return;
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
  return left_out(here(), lock) || lock_holds(holders_of(here(), lock, pc), self_of(here()));
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

/* A wait that may run out at any time is one that is not begun before it would end, either way. */
bool interleave_down_within(StmSemaphore sem, const void *pc) {
  if (here()->time_runs_out) return interleave_try_down(sem, pc);
  interleave_down(sem, pc);
  return true;
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

/* Told as a try: one that gets nothing fails. */
bool interleave_take_all(StmSemaphore sem, const void *pc) {
  Interleave *x = here();
  stop_before(OPERATION_TRY_DOWN, sem, 0, pc);
  x->changed = *count_of(x, sem, pc) > 0;
  x->failed = !x->changed;
  *count_of(x, sem, pc) = 0;
  return x->changed;
}

void interleave_spin(const void *pc) {
  Interleave *x = here();
  if (!x->spins_on) x->running->round = interleave_own_state(x);
  stop_before(x->spins_on ? OPERATION_LOCAL : OPERATION_SPIN, 0, 0, pc);
}

bool interleave_is_buffered(void) {
  return here()->tso;
}
void interleave_store(volatile void *word, uint8_t value) {
  volatile uint8_t *at = word;
  interleave_log(here(), (uint64_t)((const volatile char *)at - here()->s->base), 1);
  *at = value;
}

/* ---- from outside ---- */

/* From one call to the next without a stop in between: nobody could notice. */
static void run_calls(Interleave *x, Runner *r) {
  Subject *s = x->s;
  for (;;) {
    const InterleaveCall *c = &r->calls[r->call];
    r->ended = !c->run;
    if (r->ended) break;
    SubjectState state = subject_run_on(s, r->process, c->run, c->argument, c->name);
    r->ended = state == SUBJECT_EXITED;
    if (state != SUBJECT_RETURNED || s->fault) break;
    r->call++;
  }
}

void interleave_go(Interleave *x, Runner *r) {
  Operation op = r->next;
  hooks.atomic = hooks.unless = 0;
  hooks.update = false;
  r->fences = FENCED_NONE;
  x->running = r;
  if (x->tso) tso_show(x, r, &op);
  run_calls(x, r);
  if (x->tso) tso_hide(x, r, &op);
  x->running = NULL;
}

/* Of those that wait for others too: can it go on, but for its own store buffer? */
static bool may_go_on(const Interleave *x, const Operation *op) {
  if (op->kind == OPERATION_DOWN) return *semaphore_count(x, op->object) > 0;
  if (op->kind != OPERATION_LOCK && op->kind != OPERATION_LOCK_SHARED) return true;
  if (op->object >= x->holders->len) return true;
  return free_for(&g_array_index(x->holders, Holders, op->object), op->kind == OPERATION_LOCK_SHARED);
}

InterleaveState interleave_pending(const Interleave *x, int p, Operation *out) {
  if (p >= (int)x->runners->len) {
    InterleaveState state = tso_pending_write(runner_at(x, p - (int)x->runners->len), out);
    return x->s->fault ? INTERLEAVE_ENDED : state;
  }
  const Runner *r = runner_at(x, p);
  *out = r->next;
  if (r->ended || x->s->fault) return INTERLEAVE_ENDED;
  if (x->tso && tso_pending(r, out) == INTERLEAVE_WAITS) return INTERLEAVE_WAITS;
  return may_go_on(x, out) ? INTERLEAVE_READY : INTERLEAVE_WAITS;
}

static bool store_changed(const Interleave *x, guint logged) {
  if (x->stores->len == logged) return false;
  const Store *st = &g_array_index(x->stores, Store, logged);
  return memcmp(x->s->base + st->at, x->old->data + st->saved, st->bytes) != 0;
}

void interleave_step(Interleave *x, int p, bool *failed, bool *changed) {
  guint logged = x->stores->len;
  x->failed = x->changed = false;
  interleave_remember(x, p);
  if (p >= (int)x->runners->len)
    tso_write(x, runner_at(x, p - (int)x->runners->len));
  else
    interleave_go(x, runner_at(x, p));
  *failed = x->failed;
  *changed = x->changed || store_changed(x, logged);
  if (p < (int)x->runners->len) interleave_try_rounds(x, p);
}

int interleave_count(const Interleave *x, StmSemaphore semaphore) {
  return semaphore < x->counts->len ? g_array_index(x->counts, int, semaphore) : 0;
}
int interleave_processes(const Interleave *x) {
  return (int)x->runners->len;
}
guint interleave_buffers(const Interleave *x) {
  return x->tso ? x->runners->len : 0;
}
bool interleave_over(const Interleave *x) {
  for (guint i = 0; i < x->runners->len; i++)
    if (!runner_at(x, (int)i)->ended || (x->tso && runner_at(x, (int)i)->written < runner_at(x, (int)i)->buffered->len))
      return false;
  return true;
}

bool interleave_ended(const Interleave *x, int p) {
  return runner_at(x, p)->ended;
}
int interleave_process(const Interleave *x, int p) {
  return runner_at(x, p)->process;
}

/* Of names that differ only in a number at their end one stands for all: "LWLock N". */
static void add_name(GPtrArray *names, const char *name) {
  gsize n = strlen(name), digits = 0;
  while (digits < n && g_ascii_isdigit(name[n - digits - 1])) digits++;
  char *stem = digits && digits < n ? g_strdup_printf("%.*sN", (int)(n - digits), name) : g_strdup(name);
  if (g_ptr_array_find_with_equal_func(names, stem, g_str_equal, NULL))
    g_free(stem);
  else
    g_ptr_array_add(names, stem);
}

static bool no_lock(const Interleave *x, const char *name, GError **error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 1; i < x->locks; i++) add_name(names, lock_name(x, i));
  g_ptr_array_add(names, NULL);
  const char *near = nearest_name(name, (const char *const *)names->pdata);
  g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
  g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: the subject has no lock of that name%s%s; it has %s",
              name, near ? ", the nearest is " : "", near ? near : "", *all ? all : "none");
  return false;
}

bool interleave_without(Interleave *x, const char *name, GError **error) {
  bool found = false;
  for (guint i = 1; i < x->locks; i++) {
    if (strcmp(lock_name(x, i), name) != 0) continue;
    g_array_index(x->s->locks, Lock, i).left_out = found = true;
  }
  return found || no_lock(x, name, error);
}

void interleave_want_callers(Interleave *x, bool wanted) {
  x->callers_wanted = wanted;
  x->n_callers = 0;
}

void interleave_time_runs_out(Interleave *x, bool so) {
  x->time_runs_out = so;
}
void interleave_spins_on(Interleave *x, bool so) {
  x->spins_on = so;
}

void interleave_looks_when_taken(Interleave *x, StmLock lock) {
  x->looked_when_taken = lock;
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

void interleave_watch(Interleave *x, const Operation *watched) {
  if (!watched->bytes) return;
  x->watched_from = MIN(x->watched_from, watched->object);
  x->watched_to = MAX(x->watched_to, watched->object + watched->bytes);
}

/* ---- life ---- */

static void clear_runner(void *data) {
  Runner *r = data;
  g_free(r->name);
  g_free(r->kept);
  g_ptr_array_unref(r->outgrown);
  tso_clear(r);
}

Interleave *interleave_new(Subject *s, bool tso) {
  Interleave *x = g_new0(Interleave, 1);
  x->s = s;
  x->tso = tso;
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
  if (x->under) g_array_unref(x->under);
  if (x->hidden) g_byte_array_unref(x->hidden);
  g_free(x);
}

int interleave_add(Interleave *x, const char *name, const InterleaveCall *calls) {
  enum { FIRST_PID = 1000 };
  int p = (int)x->runners->len;
  g_assert(p < (x->tso ? INTERLEAVE_BUFFERED_MAX : INTERLEAVE_PROCESSES_MAX));
  Runner r = {.process = subject_fork(x->s, NULL, FIRST_PID + p),
              .name = g_strdup(name),
              .calls = calls,
              .outgrown = g_ptr_array_new_with_free_func(g_free)};
  g_autofree char *signals = g_strdup_printf("a signal to %s", name);
  const int none = 0;
  subject_make_signals(x->s, r.process, signals); /* now: numbers are the same in all orders */
  g_array_append_val(x->counts, none);
  x->semaphores = x->s->semaphores->len;
  g_assert(x->counts->len == x->semaphores);
  if (x->tso) tso_init(x, &r);
  g_array_append_val(x->runners, r);
  return p;
}
