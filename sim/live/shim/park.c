/* park.c - conditions and futexes: whoever waits for another thread of its process. As one thread runs at a time a list
 * is all it takes; the kernel never sees these waits. shim.h. */
#include "sim/live/shim/shim.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/random.h>

typedef struct Parked {
  struct Parked *next; /* the longest waiting first */
  const void *on;
  bool woken;
} Parked;
static Parked *first;

void shim_park_forget(void) {
  first = NULL;
}

static void put(Parked *p) {
  Parked **at = &first;
  while (*at) at = &(*at)->next;
  *at = p;
}

static void drop(const Parked *p) {
  Parked **at = &first;
  while (*at != p) at = &(*at)->next;
  *at = p->next;
}

int shim_park(const void *on, int64_t deadline_ns, void (*unlock)(void *lock), void *lock) {
  Parked p = {.on = on};
  Wait w = {.kind = GATE_CONDITION, .flags = GATE_PARKED, .deadline_ns = deadline_ns};
  Go go = GO_LOOK;
  put(&p);
  if (unlock) unlock(lock);
  while (!p.woken && !shim_is_over(deadline_ns) && go != GO_INTERRUPTED) go = shim_wait(&w);
  drop(&p);
  return p.woken ? 0 : go == GO_INTERRUPTED ? EINTR : ETIMEDOUT;
}

int shim_unpark(const void *on, int most) {
  int n = 0;
  for (Parked *p = first; p && n < most; p = p->next) {
    if (p->on != on || p->woken) continue;
    p->woken = true;
    n++;
  }
  if (n) shim_woke();
  return n;
}

/* ---- futexes, as Rust and others reach them ---- */

static bool is_still(const uint32_t *word, uint32_t value) {
  return *(const volatile uint32_t *)word == value;
}

/* Of memory that other processes may share: no list here knows who wakes it, so the word is looked at. */
static long wait_for_word(const uint32_t *word, uint32_t value, int64_t deadline_ns) {
  Wait w = {.kind = GATE_CONDITION, .deadline_ns = deadline_ns};
  while (is_still(word, value)) {
    if (shim_is_over(deadline_ns)) return -ETIMEDOUT;
    if (shim_wait(&w) == GO_INTERRUPTED) return -EINTR;
  }
  return 0;
}

static long futex_wait(const long a[6], int64_t deadline_ns) {
  const uint32_t *word = (const uint32_t *)a[0];
  uint32_t value = (uint32_t)a[2];
  if (!is_still(word, value)) return -EAGAIN;
  if (!(a[1] & FUTEX_PRIVATE_FLAG)) return wait_for_word(word, value, deadline_ns);
  return -shim_park(word, deadline_ns, NULL, NULL);
}

/* A wake reaches those at the gate, the longest waiting first, then those in the kernel: other processes, and what the
 * C library itself waits for. */
static long futex_wake(const long a[6]) {
  int n = shim_unpark((const void *)a[0], (int)a[2]);
  long more = n < (int)a[2] ? CALL(SYS_futex, a[0], a[1], a[2] - n, a[3], a[4], a[5]) : 0;
  return more < 0 ? more : more + n;
}

static long futex(const long a[6]) {
  const struct timespec *t = (const struct timespec *)a[3];
  clockid_t clock = a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  switch (a[1] & FUTEX_CMD_MASK) {
  case FUTEX_WAIT: return futex_wait(a, shim_due(shim_span(t)));
  case FUTEX_WAIT_BITSET: return futex_wait(a, shim_moment(clock, t));
  case FUTEX_WAKE:
  case FUTEX_WAKE_BITSET: return futex_wake(a);
  default: return CALL(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
}

SHIM long syscall(long number, ...) {
  long a[6];
  va_list args;
  va_start(args, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(args, long);
  va_end(args);
  if (shim_clock && number == SYS_futex) return shim_result(futex(a));
  if (shim_clock && number == SYS_getrandom) return getrandom((void *)a[0], (size_t)a[1], (unsigned)a[2]);
  /* Its waits could not be seen; programs that can do without go on with epoll. */
  if (shim_clock && number == SYS_io_uring_setup) return errno = ENOSYS, -1;
  return shim_result(shim_call(number, a));
}

/* ---- conditions ---- */

static void unlock_mutex(void *m) {
  pthread_mutex_unlock(m);
}

static int wait_for(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline_ns) {
  int why = shim_park(c, deadline_ns, unlock_mutex, m);
  int locked = pthread_mutex_lock(m);
  return locked ? locked : why == EINTR ? 0 : why; /* as if woken for nothing, which is allowed */
}

/* The clock that pthread_condattr_setclock chose, where glibc keeps it since 2.25. */
static clockid_t clock_of(const pthread_cond_t *c) {
  return c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

SHIM int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m) {
  return shim_clock ? wait_for(c, m, -1) : NEXT(pthread_cond_wait)(c, m);
}
SHIM int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                                const struct timespec *restrict t) {
  return shim_clock ? wait_for(c, m, shim_moment(clock_of(c), t)) : NEXT(pthread_cond_timedwait)(c, m, t);
}
SHIM int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t clock,
                                const struct timespec *restrict t) {
  return shim_clock ? wait_for(c, m, shim_moment(clock, t)) : NEXT(pthread_cond_clockwait)(c, m, clock, t);
}
SHIM int pthread_cond_signal(pthread_cond_t *c) {
  if (!shim_clock) return NEXT(pthread_cond_signal)(c);
  shim_unpark(c, 1);
  return 0;
}
SHIM int pthread_cond_broadcast(pthread_cond_t *c) {
  if (!shim_clock) return NEXT(pthread_cond_broadcast)(c);
  shim_unpark(c, INT_MAX);
  return 0;
}
