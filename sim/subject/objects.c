/* objects.c - what a subject may ask (stampede_subject.h): memory, locks, semaphores, spinning, its end. The locks and
 * queues are the world's, so they block, queue and cost time as the built-in model's do. Each first lets the time pass
 * that the accesses before it took: what others do meanwhile is seen. While nobody else is there nothing is waited for.
 */
#include "sim/subject/runtime.h"
#include <string.h>

enum { SPIN_NS = 1000 /* a round of spinning, as SPIN_DELAY and a look cost when the holder runs elsewhere */ };

static Subject *here(void) {
  g_assert(subject_here && subject_here->running);
  return subject_here;
}
#define PC __builtin_return_address(0)

/* ---- memory ---- */

static void add_structure(Subject *s, const Structure *st) {
  guint i = s->structures->len;
  while (i > 1 && g_array_index(s->structures, Structure, i - 1).base > st->base) i--;
  g_array_insert_val(s->structures, i, *st);
}

/* A name for a part of a structure: the rest keeps its own, in front of it and behind. */
static void name_part(Subject *s, Structure part) {
  for (guint i = 1; i < s->structures->len; i++) {
    Structure *st = &g_array_index(s->structures, Structure, i);
    uint64_t end = st->base + st->bytes, part_end = part.base + part.bytes;
    if (part.base < st->base || part_end > end) continue;
    Structure tail = *st;
    tail.name = g_strdup(st->name);
    tail.type = g_strdup(st->type);
    tail.base = part_end, tail.bytes = end - part_end;
    st->bytes = part.base - st->base;
    if (!st->bytes) g_array_remove_index(s->structures, i);
    if (tail.bytes)
      add_structure(s, &tail);
    else
      g_free(tail.name), g_free(tail.type);
    break;
  }
  add_structure(s, &part);
}

void subject_name_structure(Subject *s, const char *name, const void *at, uint64_t size, uint64_t count,
                            const char *type) {
  uint64_t base = (uint64_t)((const char *)at - s->base);
  if ((const char *)at < s->base || base + size * count > segment_size(s->segment) || !size || !count) return;
  s->last_row = 0;
  name_part(s, (Structure){g_strdup(name), g_strdup(type), base, size * count, size});
}

/* Only where no two of them share a line, and none lies in two. */
static void own_by_element(Subject *s, uint64_t first, uint64_t count, uint32_t stride, uint32_t size) {
  g_clear_pointer(&s->word_owner, g_free);
  bool whole = stride % size == 0 && first % size == 0 && HOOKS_LINE % size == 0;
  if (!s->line_owner || stride < HOOKS_LINE || !whole || count >= HOOKS_BY_ELEMENT) return;
  s->word_owner = g_new0(uint32_t, count);
  for (uint64_t i = 0; i < count; i++) {
    uint32_t *of_line = &s->line_owner[(first + i * stride) / HOOKS_LINE];
    g_assert(!(*of_line & HOOKS_BY_ELEMENT)); /* watched once, by nobody else's words */
    s->word_owner[i] = *of_line;
    *of_line = HOOKS_BY_ELEMENT | (uint32_t)i;
  }
}

void subject_watch(Subject *s, uint64_t base, uint64_t bytes, uint32_t stride, uint32_t offset, uint32_t size) {
  g_assert(stride >= size && size > 0);
  hooks_watch((uintptr_t)s->base + base, bytes, stride, offset, size);
  own_by_element(s, base + offset, bytes / stride, stride, size);
}
void subject_watch_moves(Subject *s, uint64_t base, uint64_t bytes, uint32_t width) {
  s->moves_base = base, s->moves_bytes = bytes, s->moves_width = width;
}
void subject_count_faults_in(Subject *s, uint64_t base, uint64_t bytes, uint64_t page_size) {
  s->faults_base = base & ~(page_size - 1);
  s->faults_bytes = ((base + bytes + page_size - 1) & ~(page_size - 1)) - s->faults_base;
}
uint64_t subject_address(const Subject *s, const void *at) {
  return (uint64_t)((const char *)at - s->base);
}
const void *subject_at(const Subject *s, uint64_t address) {
  return s->base + address;
}

void *stm_shared(const char *name, size_t bytes, size_t align) {
  Subject *s = here();
  if (!s->starting) subject_broken(PC, "stm_shared(\"%s\") after start", name);
  bool power = align && !(align & (align - 1));
  if (!bytes || !power) subject_broken(PC, "stm_shared(\"%s\"): no such size or alignment", name);
  StructureId id = segment_add(s->segment, name, bytes, 1, align, 0);
  uint64_t at = segment_address(s->segment, id, 0);
  if (at + bytes > s->reserved) subject_broken(PC, "stm_shared(\"%s\"): more than 256 GiB", name);
  add_structure(s, &(Structure){g_strdup(name), NULL, at, bytes, bytes});
  return s->base + at;
}

void stm_structure(const char *name, const void *at, size_t size, size_t count, const char *type) {
  subject_name_structure(here(), name, at, size, count, type);
}

void *stm_private(size_t bytes) {
  Subject *s = here();
  bytes = (bytes + 15) & ~(size_t)15;
  if (bytes > (size_t)(s->heap_end - s->heap_next)) subject_broken(PC, "out of private memory (1 TiB)");
  char *at = s->heap_next;
  s->heap_next += bytes;
  return at;
}
void *stm_malloc(size_t bytes);
void *stm_malloc(size_t bytes) {
  return stm_private(bytes);
}
void stm_free(void *p);
void stm_free(void *p) {
  (void)p;
}

/* ---- locks ---- */

StmLock stm_lock_new(const char *name) {
  Lock l = {.name = g_strdup(name)};
  g_array_append_val(here()->locks, l);
  return here()->locks->len - 1;
}

static Lock *lock_of(Subject *s, StmLock lock, const void *pc) {
  if (!lock || lock >= s->locks->len) subject_broken(pc, "no such lock: %u", lock);
  Lock *l = &g_array_index(s->locks, Lock, lock);
  if (l->spin) subject_broken(pc, "%s is a spinlock", l->name);
  if (!l->lock) l->lock = lock_new(s->w, l->name);
  return l;
}

static void may_take_one_more(Subject *s, const Lock *l, const void *pc) {
  SiteId held[LOCKS_HELD_MAX];
  if (lock_held_by(s->w, s->running->self, held, LOCKS_HELD_MAX) == LOCKS_HELD_MAX)
    subject_broken(pc, "%s is asked for by who holds %d locks already", l->name, LOCKS_HELD_MAX);
}

static void tell(Subject *s, const Lock *l, SubjectLockEvent e) {
  if (!s->told) return;
  int64_t ns = s->told(s->told_data, s->running->self, l->name, e);
  s->running->extra_ns = ns_sum(s->running->extra_ns, ns);
}

void stm_lock_acquire(StmLock lock, bool shared) {
  Subject *s = here();
  if (s->alone) return;
  const void *pc = PC;
  if (s->interleave) return interleave_lock(lock, shared, pc);
  subject_settle();
  Lock *l = lock_of(s, lock, pc);
  if (lock_held(s->w, l->lock, s->running->self)) subject_broken(pc, "%s is asked for by who holds it", l->name);
  may_take_one_more(s, l, pc);
  tell(s, l, SUBJECT_LOCK_ASKED);
  Step step = lock_acquire(s->w, l->lock, s->running->self, shared ? LOCK_SHARED : LOCK_EXCLUSIVE);
  if (step.kind == STEP_BLOCKED) subject_stop(step);
  lock_of(s, lock, pc)->taken++;
  s->running->extra_ns = ns_sum(s->running->extra_ns, world_cost(s->w, COST_LOCK_ACQUIRE, 1));
  tell(s, lock_of(s, lock, pc), SUBJECT_LOCK_GOT);
}

bool stm_lock_try(StmLock lock, bool shared) {
  Subject *s = here();
  if (s->alone) return true;
  const void *pc = PC;
  if (s->interleave) return interleave_try(lock, shared, pc);
  subject_settle();
  Lock *l = lock_of(s, lock, pc);
  if (lock_held(s->w, l->lock, s->running->self)) return false;
  may_take_one_more(s, l, pc);
  if (!lock_try(s->w, l->lock, s->running->self, shared ? LOCK_SHARED : LOCK_EXCLUSIVE)) return false;
  l->taken++;
  tell(s, l, SUBJECT_LOCK_ASKED);
  tell(s, l, SUBJECT_LOCK_GOT);
  return true;
}

void stm_lock_release(StmLock lock) {
  Subject *s = here();
  if (s->alone) return;
  const void *pc = PC;
  if (s->interleave) return interleave_unlock(lock, pc);
  subject_settle();
  Lock *l = lock_of(s, lock, pc);
  if (!lock_release(s->w, l->lock, s->running->self))
    subject_broken(pc, "%s is released by who does not hold it", l->name);
  tell(s, l, SUBJECT_LOCK_RELEASED);
}

bool stm_lock_held(StmLock lock) {
  Subject *s = here();
  if (!s->alone && s->interleave) return interleave_holds(lock, PC);
  return s->alone || lock_held(s->w, lock_of(s, lock, PC)->lock, s->running->self);
}

static bool is_plain(const Subject *s, StmLock lock) {
  const Lock *l = &g_array_index(s->locks, Lock, lock);
  return !l->spin && !l->left_out;
}

void stm_lock_release_all(void) {
  Subject *s = here();
  if (s->alone) return;
  for (guint i = s->locks->len - 1; s->interleave && i > 0; i--)
    if (is_plain(s, i) && interleave_holds(i, PC)) interleave_unlock(i, PC);
  if (s->interleave) return;
  SiteId held[LOCKS_HELD_MAX];
  if (!lock_held_by(s->w, s->running->self, held, LOCKS_HELD_MAX)) return;
  for (guint i = s->locks->len - 1; i > 0; i--) {
    const Lock *l = &g_array_index(s->locks, Lock, i);
    if (l->lock && lock_held(s->w, l->lock, s->running->self)) stm_lock_release(i);
  }
}

void subject_measure_locks(const Subject *s) {
  for (guint i = 1; i < s->locks->len; i++) {
    const Lock *l = &g_array_index(s->locks, Lock, i);
    if (l->spin) continue;
    g_autofree char *metric = g_strdup_printf("lock[%s].taken", l->name);
    ledger_add(world_ledger(s->w), metric, (double)l->taken);
  }
}

void subject_on_lock(Subject *s, int64_t (*told)(void *data, ProcId p, const char *lock, SubjectLockEvent e),
                     void *data) {
  s->told = told;
  s->told_data = data;
}

/* ---- semaphores: an up hands its count to the first waiter ---- */

StmSemaphore stm_semaphore_new(const char *name, int count) {
  if (count < 0) subject_broken(PC, "stm_semaphore_new(\"%s\"): a count below 0", name);
  Semaphore sem = {.count = count, .first = count, .name = g_strdup(name)};
  g_array_append_val(here()->semaphores, sem);
  return here()->semaphores->len - 1;
}

static Semaphore *semaphore_of(Subject *s, StmSemaphore sem, const void *pc) {
  if (!sem || sem >= s->semaphores->len) subject_broken(pc, "no such semaphore: %u", sem);
  return &g_array_index(s->semaphores, Semaphore, sem);
}

void stm_semaphore_down(StmSemaphore sem) {
  Subject *s = here();
  const void *pc = PC;
  if (s->interleave && !s->alone) return interleave_down(sem, pc);
  subject_settle();
  Semaphore *m = semaphore_of(s, sem, pc);
  if (m->count > 0) {
    m->count--;
    return;
  }
  if (s->alone) subject_broken(pc, "waits for a semaphore while nobody else is there");
  if (!m->queue) m->queue = queue_new(s->w, m->name);
  subject_stop(queue_wait(s->w, m->queue, s->running->self));
}

bool stm_semaphore_down_within(StmSemaphore sem, int64_t us) {
  Subject *s = here();
  const void *pc = PC;
  if (s->interleave && !s->alone) return interleave_down_within(sem, pc);
  subject_settle();
  Semaphore *m = semaphore_of(s, sem, pc);
  if (m->count > 0) return m->count--, true;
  if (us <= 0) return false;
  if (s->alone) subject_broken(pc, "waits for a semaphore while nobody else is there");
  if (!m->queue) m->queue = queue_new(s->w, m->name);
  ProcId self = s->running->self;
  Step wait = queue_wait(s->w, m->queue, self);
  timer_arm(s->w, self, true, us > NS_NEVER / 1000 ? NS_NEVER : us * 1000);
  subject_stop(wait);
  bool ran_out = timer_fired(s->w, self); /* then it has left the queue */
  timer_drop(s->w, self);
  return !ran_out;
}

bool stm_semaphore_try(StmSemaphore sem) {
  Subject *s = here();
  const void *pc = PC;
  if (s->interleave && !s->alone) return interleave_try_down(sem, pc);
  subject_settle();
  Semaphore *m = semaphore_of(s, sem, pc);
  return m->count > 0 && m->count-- > 0;
}

void stm_semaphore_up(StmSemaphore sem) {
  Subject *s = here();
  const void *pc = PC;
  if (s->interleave && !s->alone) return interleave_up(sem, pc);
  subject_settle();
  Semaphore *m = semaphore_of(s, sem, pc);
  if (m->queue && queue_wake_one(s->w, m->queue, world_cost(s->w, COST_LOCK_HANDOVER, 1))) return;
  if (m->count == INT32_MAX) subject_broken(pc, "a semaphore's count overflows");
  m->count++;
}

void stm_semaphore_reset(StmSemaphore sem) {
  if (here()->interleave && !here()->alone) return interleave_reset(sem, PC);
  semaphore_of(here(), sem, PC)->count = 0;
}

bool subject_semaphore_off(const Subject *s, GString *why) {
  for (guint i = 1; i < s->semaphores->len; i++) {
    const Semaphore *m = &g_array_index(s->semaphores, Semaphore, i);
    if (m->count == m->first || m->signals) continue;
    g_string_printf(why, "all have ended, and the count of %s (semaphore %u) is %d; it was made with %d", m->name, i,
                    m->count, m->first);
    return true;
  }
  return false;
}

/* ---- time, and who runs ---- */

void stm_spin(void) {
  subject_spin(PC);
}
void subject_spin(const void *pc) {
  Subject *s = here();
  if (s->alone) subject_broken(pc, "endless: spins while nobody else is there");
  if (s->interleave) return interleave_spin(pc);
  subject_settle();
  subject_stop(step_sleep(SPIN_NS));
}

void stm_sleep_us(int64_t us) {
  Subject *s = here();
  if (s->interleave || s->alone || us <= 0) return;
  subject_settle();
  subject_stop(step_sleep(us > NS_NEVER / 1000 ? NS_NEVER : us * 1000));
}

int64_t stm_now_us(void) {
  return world_ledger_time(here()->w) / 1000;
}
int stm_self(void) {
  return here()->running->pid;
}
int stm_getpid(void);
int stm_getpid(void) {
  return stm_self();
}

void stm_exit(const char *why) {
  Proc *p = here()->running;
  g_free(p->words);
  p->words = g_strdup(why);
  subject_end(SUBJECT_EXITED);
}

void stm_panic(const char *why) {
  subject_broken(PC, "PANIC: %s", why);
}

/* What a generated trap calls. */
_Noreturn void stm_trap(const char *symbol, const void *caller);
void stm_trap(const char *symbol, const void *caller) {
  subject_here->trapped = true;
  subject_broken(caller, "%s is called, which nothing models; give it in the manifest's glue, or leave it out",
                 symbol);
}

/* A jump would leave calls whose locks, waits and stack the simulator has; setjmp alone does no harm. */
#define JUMP(name)                                                                                                     \
  _Noreturn void stm_##name(void *to, int value);                                                                      \
  void stm_##name(void *to, int value) {                                                                               \
    (void)to, (void)value;                                                                                             \
    subject_broken(PC, #name " is called; stm_exit ends a process");                                                   \
  }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

_Noreturn void stm_abort(void);
void stm_abort(void) {
  subject_broken(PC, "abort is called");
}
_Noreturn void stm___assert_fail(const char *what, const char *file, unsigned line, const char *function);
void stm___assert_fail(const char *what, const char *file, unsigned line, const char *function) {
  (void)file, (void)line, (void)function;
  subject_broken(PC, "PANIC: assertion failed: %s", what);
}
