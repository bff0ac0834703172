/* objects.c - what a subject may ask (stampede_subject.h): locks and semaphores. They and their queues are the world's,
 * so they block, queue and cost time as the built-in model's do. Each first lets the time pass that the accesses before
 * it took: what others do meanwhile is seen. While nobody else is there nothing is waited for. */
#include "sim/subject/runtime.h"
#include "sim/subject/visible.h"

/* ---- locks ---- */

StmLock stm_lock_new(const char *name) {
  Lock l = {.name = visible_text(name)};
  g_array_append_val(subject_asked(PC)->locks, l);
  return subject_running()->locks->len - 1;
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
  Subject *s = subject_goes_on(PC);
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
  Subject *s = subject_asked(PC);
  if (s->alone) return true;
  const void *pc = PC;
  if (s->interleave) return interleave_try(lock, shared, pc);
  subject_settle();
  Lock *l = lock_of(s, lock, pc);
  if (lock_held(s->w, l->lock, s->running->self)) return false;
  may_take_one_more(s, l, pc);
  if (!lock_try(s->w, l->lock, s->running->self, shared ? LOCK_SHARED : LOCK_EXCLUSIVE)) return false;
  s->spins = 0;
  l->taken++;
  tell(s, l, SUBJECT_LOCK_ASKED);
  tell(s, l, SUBJECT_LOCK_GOT);
  return true;
}

void stm_lock_release(StmLock lock) {
  Subject *s = subject_goes_on(PC);
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
  Subject *s = subject_asked(PC);
  if (!s->alone && s->interleave) return interleave_holds(lock, PC);
  return s->alone || lock_held(s->w, lock_of(s, lock, PC)->lock, s->running->self);
}

static bool is_plain(const Subject *s, StmLock lock) {
  const Lock *l = &g_array_index(s->locks, Lock, lock);
  return !l->spin && !l->left_out;
}

void stm_lock_release_all(void) {
  Subject *s = subject_goes_on(PC);
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
  Semaphore sem = {.count = count, .first = count, .name = visible_text(name)};
  g_array_append_val(subject_asked(PC)->semaphores, sem);
  return subject_running()->semaphores->len - 1;
}

static Semaphore *semaphore_of(Subject *s, StmSemaphore sem, const void *pc) {
  if (!sem || sem >= s->semaphores->len) subject_broken(pc, "no such semaphore: %u", sem);
  return &g_array_index(s->semaphores, Semaphore, sem);
}

void stm_semaphore_down(StmSemaphore sem) {
  Subject *s = subject_goes_on(PC);
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
  Subject *s = subject_goes_on(PC);
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
  Subject *s = subject_asked(PC);
  const void *pc = PC;
  if (s->interleave && !s->alone) return interleave_try_down(sem, pc);
  subject_settle();
  Semaphore *m = semaphore_of(s, sem, pc);
  if (m->count == 0) return false;
  s->spins = 0;
  return m->count-- > 0;
}

void stm_semaphore_up(StmSemaphore sem) {
  Subject *s = subject_goes_on(PC);
  const void *pc = PC;
  if (s->interleave && !s->alone) return interleave_up(sem, pc);
  subject_settle();
  Semaphore *m = semaphore_of(s, sem, pc);
  if (m->queue && queue_wake_one(s->w, m->queue, world_cost(s->w, COST_LOCK_HANDOVER, 1))) return;
  if (m->count == INT32_MAX) subject_broken(pc, "a semaphore's count overflows");
  m->count++;
}

void stm_semaphore_reset(StmSemaphore sem) {
  Subject *s = subject_goes_on(PC);
  if (s->interleave && !s->alone) return interleave_reset(sem, PC);
  semaphore_of(s, sem, PC)->count = 0;
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
