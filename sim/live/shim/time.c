/* time.c - clocks, and the alarm (shim.h). */
#include "sim/live/shim/shim.h"
#include <sys/time.h>
#include <unistd.h>

int64_t shim_alarm_ns = -1;
static int64_t alarm_every_ns;

static bool is_real(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

/* Where time passes by another library, that says one time for all clocks, and the page's monotonic time is it, too. */
int64_t shim_moment(clockid_t clock, const struct timespec *at) {
  if (!at) return -1;
  int64_t ahead = shim_span(at) - (is_real(clock) ? shim_clock->real_ns : shim_now());
  return shim_now() + (ahead > 0 ? ahead : 0);
}

SHIM int clock_gettime(clockid_t clock, struct timespec *t) {
  bool own = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
  if (!shim_clock || own) return (int)shim_result(CALL(SYS_clock_gettime, clock, L(t)));
  if (shim_clock->passes) return NEXT(clock_gettime)(clock, t);
  int64_t ns = is_real(clock) ? shim_clock->real_ns : shim_now();
  *t = (struct timespec){ns / NS_S, ns % NS_S};
  return 0;
}
SHIM int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  (void)zone;
  struct timespec s;
  clock_gettime(CLOCK_REALTIME, &s);
  *t = (struct timeval){s.tv_sec, s.tv_nsec / NS_US};
  return 0;
}
SHIM time_t time(time_t *t) {
  struct timespec s;
  clock_gettime(CLOCK_REALTIME, &s);
  if (t) *t = s.tv_sec;
  return s.tv_sec;
}
SHIM int timespec_get(struct timespec *t, int base) {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, t) == 0 ? base : 0;
}

/* ---- the alarm: comes at the first GO at or after its time (link.c) ---- */

static int64_t of_timeval(const struct timeval *t) {
  return (int64_t)t->tv_sec * NS_S + (int64_t)t->tv_usec * NS_US;
}
static struct timeval to_timeval(int64_t ns) {
  return (struct timeval){ns / NS_S, ns % NS_S / NS_US};
}

int64_t shim_alarm_next(void) {
  return alarm_every_ns > 0 ? shim_now() + alarm_every_ns : -1;
}

static int64_t alarm_left(void) {
  return shim_alarm_ns < 0 ? 0 : shim_alarm_ns > shim_now() ? shim_alarm_ns - shim_now() : 1;
}

SHIM int setitimer(__itimer_which_t which, const struct itimerval *restrict to, struct itimerval *restrict was) {
  if (!shim_clock || which != ITIMER_REAL) return (int)shim_result(CALL(SYS_setitimer, which, L(to), L(was)));
  if (was) *was = (struct itimerval){to_timeval(alarm_every_ns), to_timeval(alarm_left())};
  if (!to) return 0;
  int64_t first = of_timeval(&to->it_value);
  alarm_every_ns = of_timeval(&to->it_interval);
  shim_alarm_ns = first ? shim_now() + first : -1;
  return 0;
}
SHIM unsigned alarm(unsigned seconds) {
  if (!shim_clock) return NEXT(alarm)(seconds);
  struct itimerval to = {.it_value.tv_sec = seconds}, was;
  setitimer(ITIMER_REAL, &to, &was);
  return (unsigned)was.it_value.tv_sec + (was.it_value.tv_usec != 0);
}
