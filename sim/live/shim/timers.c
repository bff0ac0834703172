/* timers.c - timerfds, and eventfds where the C library reads them itself. shim.h.
 *
 * A timerfd is an eventfd into which a 1 is put when its time has come, at the GO that brings that time: so read, poll
 * and epoll are the kernel's own, edges too. As with the kernel's (timerfd_create(2)) a periodic one is silent until it
 * is read, which then gives how often it would have expired. Its state stands in a page of its own, which all processes
 * that inherit the descriptor share, as they share the timer, and which the kernel drops with the last of them. */
#include "sim/live/shim/shim.h"
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

typedef struct {
  clockid_t clock;
  bool armed, unread; /* unread: it has expired, and stays as it is until then */
  int64_t due_ns, every_ns;
} Timer;

enum { TIMERS_MOST = 1024 };
static struct {
  int fd;
  Timer *timer;
} held[TIMERS_MOST];
static int n_held;

static Timer *timer_of(int fd) {
  for (int i = 0; i < n_held; i++)
    if (held[i].fd == fd) return held[i].timer;
  return NULL;
}

static bool hold(int fd, Timer *t) {
  if (n_held == TIMERS_MOST) return false;
  held[n_held].fd = fd;
  held[n_held++].timer = t;
  return true;
}

void shim_timer_dup(int fd, int as) {
  Timer *t = timer_of(fd);
  if (t && as >= 0 && !hold(as, t)) shim_give_up();
}

void shim_timers_drop(unsigned first, unsigned last) {
  for (int i = n_held; i-- > 0;) {
    Timer *t = held[i].timer;
    bool others = false;
    if ((unsigned)held[i].fd < first || (unsigned)held[i].fd > last) continue;
    held[i] = held[--n_held];
    for (int k = 0; k < n_held; k++) others |= held[k].timer == t;
    if (!others) munmap(t, sizeof *t);
  }
}

/* ---- time ---- */

int64_t shim_timers_next(void) {
  int64_t first = -1;
  for (int i = 0; i < n_held; i++) {
    const Timer *t = held[i].timer;
    if (!t->armed || t->unread) continue;
    int64_t due = t->due_ns > 0 ? t->due_ns : 0;
    if (first < 0 || due < first) first = due;
  }
  return first;
}

void shim_timers_fire(void) {
  static const uint64_t one = 1;
  for (int i = 0; i < n_held; i++) {
    Timer *t = held[i].timer;
    if (!t->armed || t->unread || t->due_ns > shim_now()) continue;
    t->unread = true;
    if (CALL(SYS_write, held[i].fd, L(&one), sizeof one) != (long)sizeof one) shim_give_up();
  }
}

/* How often it has expired by now; from here on it counts anew. */
static uint64_t expirations(Timer *t) {
  uint64_t n = t->every_ns ? (uint64_t)((shim_now() - t->due_ns) / t->every_ns) + 1 : 1;
  t->armed = t->every_ns > 0;
  t->due_ns += (int64_t)n * t->every_ns;
  t->unread = false;
  return n;
}

void shim_timer_was_read(int fd, void *to, long n) {
  Timer *t = n == (long)sizeof(uint64_t) ? timer_of(fd) : NULL;
  if (t && t->unread) *(uint64_t *)to = expirations(t);
}

/* ---- calls ---- */

SHIM int timerfd_create(clockid_t clock, int flags) {
  if (!shim_clock) return (int)shim_result(CALL(SYS_timerfd_create, clock, flags));
  bool real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_ALARM;
  bool known = real || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_BOOTTIME_ALARM;
  if (!known || flags & ~(TFD_NONBLOCK | TFD_CLOEXEC)) return errno = EINVAL, -1;
  long fd = CALL(SYS_eventfd2, 0, flags); /* the same two flags */
  if (fd < 0) return (int)shim_result(fd);
  Timer *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (t != MAP_FAILED && hold((int)fd, t)) return t->clock = real ? CLOCK_REALTIME : CLOCK_MONOTONIC, (int)fd;
  if (t != MAP_FAILED) munmap(t, sizeof *t);
  CALL(SYS_close, fd);
  return errno = ENOMEM, -1;
}

static struct itimerspec left_of(const Timer *t) {
  int64_t left = t->due_ns - shim_now();
  if (left <= 0 && t->every_ns) left = t->every_ns - -left % t->every_ns;
  if (left < 0 || !t->armed) left = 0;
  return (struct itimerspec){.it_interval = {t->every_ns / NS_S, t->every_ns % NS_S},
                             .it_value = {left / NS_S, left % NS_S}};
}

static bool is_span(const struct timespec *t) {
  return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < NS_S;
}

static Timer *valid(int fd) {
  Timer *t = timer_of(fd);
  if (!t) errno = CALL(SYS_fcntl, fd, F_GETFD) < 0 ? EBADF : EINVAL;
  return t;
}

/* What it had counted is forgotten. */
static void set(Timer *t, int fd, bool at, const struct itimerspec *to) {
  uint64_t old;
  int64_t now = t->clock == CLOCK_REALTIME ? shim_clock->real_ns : shim_now();
  if (t->unread && shim_ready(fd, POLLIN)) CALL(SYS_read, fd, L(&old), sizeof old);
  t->unread = false;
  t->armed = to->it_value.tv_sec || to->it_value.tv_nsec;
  t->every_ns = t->armed ? shim_span(&to->it_interval) : 0;
  t->due_ns = shim_now() + shim_span(&to->it_value) - (at ? now : 0);
  shim_timers_fire(); /* a moment that is past */
}

SHIM int timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *was) {
  if (!shim_clock) return (int)shim_result(CALL(SYS_timerfd_settime, fd, flags, L(to), L(was)));
  Timer *t = valid(fd);
  if (!t) return -1;
  bool known = !(flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)); /* nobody sets this clock */
  if (!known || !is_span(&to->it_value) || !is_span(&to->it_interval)) return errno = EINVAL, -1;
  struct itimerspec next = *to; /* the two may be one */
  if (was) *was = left_of(t);
  set(t, fd, flags & TFD_TIMER_ABSTIME, &next);
  return 0;
}
SHIM int timerfd_gettime(int fd, struct itimerspec *now) {
  if (!shim_clock) return (int)shim_result(CALL(SYS_timerfd_gettime, fd, L(now)));
  const Timer *t = valid(fd);
  return t ? (*now = left_of(t), 0) : -1;
}

/* ---- eventfds: the C library's own two calls, which no gate sees ---- */

SHIM int eventfd_read(int fd, eventfd_t *value) {
  return read(fd, value, sizeof *value) == (ssize_t)sizeof *value ? 0 : -1;
}
SHIM int eventfd_write(int fd, eventfd_t value) {
  return write(fd, &value, sizeof value) == (ssize_t)sizeof value ? 0 : -1;
}
