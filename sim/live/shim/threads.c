/* threads.c - threads begin at the gate and join there; locks are tried, never waited for in the kernel. shim.h. */
#include "sim/live/shim/shim.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

typedef struct {
  void *(*run)(void *);
  void *with;
  int line;
} Beginning;

static void *begin(void *data) {
  Beginning b = *(Beginning *)data;
  free(data);
  shim_line_take(b.line);
  return b.run(b.with);
}

SHIM int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*run)(void *),
                        void *restrict with) {
  if (!shim_clock) return NEXT(pthread_create)(thread, attr, run, with);
  Beginning *b = malloc(sizeof *b);
  if (!b) return EAGAIN;
  *b = (Beginning){run, with, shim_line_new()};
  int line = b->line, error = NEXT(pthread_create)(thread, attr, begin, b);
  // cppcheck-suppress memleak
  if (!error) return 0; /* the thread frees it */
  shim_line_drop(line);
  free(b);
  return error;
}

/* ---- one wait for all that can be tried: 0, ETIMEDOUT, or what the try says; EBUSY: not yet ---- */

typedef int (*Try)(void *on, void *to);

static int try_until(GateKind kind, Try try, void *on, void *to, int64_t deadline_ns) {
  Wait w = {.kind = kind, .deadline_ns = deadline_ns};
  for (;;) {
    int r = try(on, to);
    if (r != EBUSY) return r;
    if (shim_is_over(deadline_ns)) return ETIMEDOUT;
    if (shim_wait(&w) == GO_INTERRUPTED && kind == GATE_SEMAPHORE) return EINTR;
  }
}

static int try_join(void *thread, void *to) {
  return pthread_tryjoin_np((pthread_t)thread, to);
}
SHIM int pthread_join(pthread_t thread, void **to) {
  if (!shim_clock) return NEXT(pthread_join)(thread, to);
  if (pthread_equal(thread, pthread_self())) return EDEADLK;
  return try_until(GATE_JOIN, try_join, (void *)thread, to, -1);
}

static int try_mutex(void *m, void *none) {
  (void)none;
  return pthread_mutex_trylock(m);
}
/* One that its own thread holds already, and that looks for this error: only the C library can say so. */
static bool is_own(const pthread_mutex_t *m) {
  return (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK && m->__data.__owner == (int)CALL(SYS_gettid);
}
static int lock_until(pthread_mutex_t *m, int64_t deadline_ns) {
  return is_own(m) ? EDEADLK : try_until(GATE_LOCK, try_mutex, m, NULL, deadline_ns);
}
SHIM int pthread_mutex_lock(pthread_mutex_t *m) {
  if (!shim_clock) return NEXT(pthread_mutex_lock)(m);
  int r = pthread_mutex_trylock(m);
  return r == EBUSY ? lock_until(m, -1) : r;
}
SHIM int pthread_mutex_timedlock(pthread_mutex_t *restrict m, const struct timespec *restrict t) {
  return shim_clock ? lock_until(m, shim_moment(CLOCK_REALTIME, t)) : NEXT(pthread_mutex_timedlock)(m, t);
}
SHIM int pthread_mutex_clocklock(pthread_mutex_t *restrict m, clockid_t clock, const struct timespec *restrict t) {
  return shim_clock ? lock_until(m, shim_moment(clock, t)) : NEXT(pthread_mutex_clocklock)(m, clock, t);
}

static int try_read(void *l, void *none) {
  (void)none;
  return pthread_rwlock_tryrdlock(l);
}
static int try_write(void *l, void *none) {
  (void)none;
  return pthread_rwlock_trywrlock(l);
}
SHIM int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
  return shim_clock ? try_until(GATE_LOCK, try_read, l, NULL, -1) : NEXT(pthread_rwlock_rdlock)(l);
}
SHIM int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
  return shim_clock ? try_until(GATE_LOCK, try_write, l, NULL, -1) : NEXT(pthread_rwlock_wrlock)(l);
}
SHIM int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict l, const struct timespec *restrict t) {
  return shim_clock ? try_until(GATE_LOCK, try_read, l, NULL, shim_moment(CLOCK_REALTIME, t))
                    : NEXT(pthread_rwlock_timedrdlock)(l, t);
}
SHIM int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict l, const struct timespec *restrict t) {
  return shim_clock ? try_until(GATE_LOCK, try_write, l, NULL, shim_moment(CLOCK_REALTIME, t))
                    : NEXT(pthread_rwlock_timedwrlock)(l, t);
}

/* May be shared with other processes: looked at again after each of their steps, as all that is tried is. */
static int try_semaphore(void *s, void *none) {
  (void)none;
  return sem_trywait(s) == 0 ? 0 : errno == EAGAIN ? EBUSY : errno;
}
static int take_until(sem_t *s, int64_t deadline_ns) {
  int r = try_until(GATE_SEMAPHORE, try_semaphore, s, NULL, deadline_ns);
  return r ? (errno = r, -1) : 0;
}
SHIM int sem_wait(sem_t *s) {
  return shim_clock ? take_until(s, -1) : NEXT(sem_wait)(s);
}
SHIM int sem_timedwait(sem_t *restrict s, const struct timespec *restrict t) {
  return shim_clock ? take_until(s, shim_moment(CLOCK_REALTIME, t)) : NEXT(sem_timedwait)(s, t);
}
SHIM int sem_clockwait(sem_t *restrict s, clockid_t clock, const struct timespec *restrict t) {
  return shim_clock ? take_until(s, shim_moment(clock, t)) : NEXT(sem_clockwait)(s, clock, t);
}
