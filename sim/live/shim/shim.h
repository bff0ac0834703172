/* shim.h - the preloaded library, one page: calls that wait go through the gate, the time comes from the driver's page,
 * what is random comes from a seed, threads and processes run one at a time. Private to this folder.
 *
 *   link.c     a thread's line to the driver, GO, signals      time.c     clocks, alarm
 *   waits.c    epoll, poll, select, sleeps, signals, children  random.c   what is random
 *   sockets.c  read, write, accept where they would wait       process.c  fork
 *   threads.c  pthread_*, sem_*                                park.c     conditions and futexes
 *   connect.c  connects to servers, which take time           timers.c   timerfds
 *   descriptors.c  close, dup, locks on files
 *
 * It calls the kernel by number, never the functions that it stands before. It has no place for errors: where the gate
 * is gone the pooler ends at once, so that it never outlives its driver. All that it keeps belongs to a process whose
 * threads run one at a time, so nothing here is locked. */
#pragma once
#include "sim/live/gate_protocol.h"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#define SHIM __attribute__((visibility("default")))
enum { NS_S = 1000000000, NS_MS = 1000000, NS_US = 1000 };

/* The function of that name that the program would have called without us. */
#define NEXT(name)                                                                                                     \
  ({                                                                                                                   \
    static __typeof__(&name) at_;                                                                                      \
    if (!at_) *(void **)&at_ = dlsym(RTLD_NEXT, #name);                                                                \
    at_;                                                                                                               \
  })

/* The kernel itself: what it returns, -errno for an error. Arguments as L(x). */
#define L(x)         ((long)(x))
#define CALL(n, ...) shim_call(n, (const long[6]){__VA_ARGS__})
long shim_call(long number, const long a[6]);
/* As a C library says it: -1 and errno. */
long shim_result(long r);

/* ---- link.c ---- */
extern const GateClock *shim_clock; /* NULL: not started by a driver, and then everything is as it always was */
void shim_give_up(void) __attribute__((noreturn));

typedef enum { GO_LOOK, GO_RESTARTED, GO_INTERRUPTED } Go; /* a handler ran: one with SA_RESTART, or not */
typedef struct {
  GateKind kind;
  unsigned flags;       /* GATE_LISTENS, GATE_PARKED */
  int64_t deadline_ns;  /* -1: none */
  const sigset_t *mask; /* that counts while it waits; NULL: the thread's own */
  bool looked;          /* set by shim_wait: not its first report */
} Wait;
/* Says BLOCKED, returns at GO. Signals that came meanwhile are delivered then, and only then. */
Go shim_wait(Wait *w);
Go shim_deliver(const sigset_t *mask); /* signals that have come already, and that a call's own mask lets through */
int shim_line_new(void);               /* for a thread or process that is about to be made */
void shim_line_take(int fd);           /* by whom it was made for, which then waits for its first GO */
void shim_line_drop(int fd);           /* it came to nothing, or is somebody else's now */
void shim_lines_forget(int but);       /* in a new process: its parent's other lines */
void shim_woke(void);                  /* the next report says GATE_WOKE */
enum { SHIM_LINES_MOST = 4096 };
bool shim_is_line(int fd);

/* ---- time.c ---- */
extern int64_t shim_alarm_ns;  /* of the monotonic clock; -1: none */
int64_t shim_alarm_next(void); /* once it has come */

/* ---- timers.c ---- */
int64_t shim_timers_next(void); /* of the monotonic clock; -1: none */
void shim_timers_fire(void);    /* those whose time has come are ready to be read */
void shim_timer_was_read(int fd, void *to, long n);
void shim_timer_dup(int fd, int as);
void shim_timers_drop(unsigned first, unsigned last); /* descriptors from first to last are closed */

static inline int64_t shim_now(void) {
  return shim_clock->monotonic_ns;
}
static inline int64_t shim_due(int64_t after_ns) {
  return after_ns < 0 ? -1 : shim_now() + after_ns;
}
static inline bool shim_is_over(int64_t deadline_ns) {
  return deadline_ns >= 0 && shim_now() >= deadline_ns;
}
static inline int64_t shim_span(const struct timespec *t) {
  return t ? (int64_t)t->tv_sec * NS_S + t->tv_nsec : -1;
}
/* A moment of that clock on the monotonic one. */
int64_t shim_moment(clockid_t clock, const struct timespec *at);

/* ---- random.c, park.c, waits.c ---- */
uint64_t shim_draw(void);
void shim_seed(uint64_t seed);
/* Waits until another thread of this process wakes `on`: 0, ETIMEDOUT, EINTR. `unlock` (may be NULL) is called once the
 * thread can be woken. */
int shim_park(const void *on, int64_t deadline_ns, void (*unlock)(void *lock), void *lock);
int shim_unpark(const void *on, int most); /* how many; the longest waiting first */
void shim_park_forget(void);               /* in a new process */
bool shim_ready(int fd, short events);     /* poll's answer at once */
