/* waits.c - calls that wait for descriptors, for a time, for a signal, a child or a System V semaphore: each looks
 * without waiting, into its caller's own memory. shim.h. */
#include "sim/live/shim/shim.h"
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SET_BYTES = 8, LISTENERS_LOOK = 16 };

/* True: the wait is over with nothing, or by a signal: *r is what the call returns. */
static bool over(Wait *w, int *r) {
  *r = 0;
  if (shim_is_over(w->deadline_ns)) return true;
  if (shim_wait(w) == GO_LOOK) return false;
  errno = EINTR;
  *r = -1;
  return true;
}

/* ---- epoll ---- */

SHIM int epoll_pwait(int ep, struct epoll_event *events, int most, int timeout, const sigset_t *mask) {
  if (!shim_clock) return (int)shim_result(CALL(SYS_epoll_pwait, ep, L(events), most, timeout, L(mask), SET_BYTES));
  Wait w = {.kind = GATE_EPOLL, .deadline_ns = shim_due(timeout < 0 ? -1 : (int64_t)timeout * NS_MS), .mask = mask};
  for (;;) {
    int n = (int)shim_result(CALL(SYS_epoll_pwait, ep, L(events), most, 0, L(mask), SET_BYTES));
    if (n == 0 && mask && !w.looked && shim_deliver(mask) != GO_LOOK) return errno = EINTR, -1;
    if (n != 0 || over(&w, &n)) return n;
  }
}
SHIM int epoll_wait(int ep, struct epoll_event *events, int most, int timeout) {
  return epoll_pwait(ep, events, most, timeout, NULL);
}
SHIM int epoll_pwait2(int ep, struct epoll_event *events, int most, const struct timespec *t, const sigset_t *mask) {
  int64_t ms = t ? (shim_span(t) + NS_MS - 1) / NS_MS : -1;
  return epoll_pwait(ep, events, most, (int)ms, mask);
}

/* ---- poll ---- */

bool shim_ready(int fd, short events) {
  struct pollfd on = {.fd = fd, .events = events};
  struct timespec none = {0};
  return CALL(SYS_ppoll, L(&on), 1, L(&none)) > 0;
}

static bool listens(int fd) {
  int on = 0;
  socklen_t n = sizeof on;
  return CALL(SYS_getsockopt, fd, SOL_SOCKET, SO_ACCEPTCONN, L(&on), L(&n)) == 0 && on;
}
static unsigned any_listens(const struct pollfd *fds, nfds_t n) {
  for (nfds_t i = 0; i < n && i < LISTENERS_LOOK; i++)
    if (fds[i].events & POLLIN && listens(fds[i].fd)) return GATE_LISTENS;
  return 0;
}

SHIM int ppoll(struct pollfd *fds, nfds_t n_fds, const struct timespec *t, const sigset_t *mask) {
  struct timespec copy = t ? *t : (struct timespec){0}, *limit = t ? &copy : NULL;
  if (!shim_clock) return (int)shim_result(CALL(SYS_ppoll, L(fds), L(n_fds), L(limit), L(mask), SET_BYTES));
  Wait w = {.kind = GATE_POLL, .deadline_ns = shim_due(shim_span(t)), .mask = mask};
  for (;;) {
    struct timespec none = {0};
    int n = (int)shim_result(CALL(SYS_ppoll, L(fds), L(n_fds), L(&none), L(mask), SET_BYTES));
    if (n != 0) return n;
    if (!w.looked) w.flags = any_listens(fds, n_fds);
    if (over(&w, &n)) return n;
  }
}
SHIM int poll(struct pollfd *fds, nfds_t n, int timeout) {
  struct timespec t = {timeout / 1000, (long)(timeout % 1000) * NS_MS};
  return ppoll(fds, n, timeout < 0 ? NULL : &t, NULL);
}
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
SHIM int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room) {
  if (room / sizeof *fds < n) shim_give_up();
  return poll(fds, n, timeout);
}
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask, size_t room);
SHIM int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask, size_t room) {
  if (room / sizeof *fds < n) shim_give_up();
  return ppoll(fds, n, t, mask);
}

/* ---- select ---- */

static unsigned set_listens(int n_fds, const fd_set *r) {
  for (int fd = 0, seen = 0; r && fd < n_fds && seen < LISTENERS_LOOK; fd++) {
    if (!FD_ISSET(fd, r)) continue;
    if (listens(fd)) return GATE_LISTENS;
    seen++;
  }
  return 0;
}

SHIM int pselect(int n_fds, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *mask) {
  struct {
    const sigset_t *mask;
    size_t size;
  } with = {mask, SET_BYTES};
  struct timespec copy = t ? *t : (struct timespec){0}, *limit = t ? &copy : NULL;
  if (!shim_clock) return (int)shim_result(CALL(SYS_pselect6, n_fds, L(r), L(w), L(e), L(limit), L(&with)));
  Wait wait = {.kind = GATE_SELECT, .deadline_ns = shim_due(shim_span(t)), .mask = mask};
  fd_set none = {0}, r0 = r ? *r : none, w0 = w ? *w : none, e0 = e ? *e : none;
  for (;;) {
    struct timespec zero = {0};
    int n = (int)shim_result(CALL(SYS_pselect6, n_fds, L(r), L(w), L(e), L(&zero), L(&with)));
    if (n != 0) return n;
    if (!wait.looked) wait.flags = set_listens(n_fds, r ? &r0 : NULL);
    if (over(&wait, &n)) return n;
    if (r) *r = r0;
    if (w) *w = w0;
    if (e) *e = e0;
  }
}
/* What is left of the time is told, as Linux does. */
SHIM int select(int n_fds, fd_set *r, fd_set *w, fd_set *e, struct timeval *t) {
  struct timespec s = {t ? t->tv_sec : 0, t ? t->tv_usec * NS_US : 0};
  int64_t end = t && shim_clock ? shim_due(shim_span(&s)) : -1;
  int n = pselect(n_fds, r, w, e, t ? &s : NULL, NULL);
  if (end >= 0) {
    int64_t left = shim_is_over(end) ? 0 : end - shim_now();
    *t = (struct timeval){left / NS_S, left % NS_S / NS_US};
  }
  return n;
}

/* ---- sleeps ---- */

static int sleep_until(int64_t end, struct timespec *left) {
  Wait w = {.kind = GATE_SLEEP, .deadline_ns = end};
  while (!shim_is_over(end)) {
    if (shim_wait(&w) == GO_LOOK) continue;
    int64_t rest = shim_is_over(end) ? 0 : end - shim_now();
    if (left) *left = (struct timespec){rest / NS_S, rest % NS_S};
    return EINTR;
  }
  return 0;
}
SHIM int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left) {
  if (!shim_clock) return (int)-CALL(SYS_clock_nanosleep, clock, flags, L(t), L(left));
  if (flags & TIMER_ABSTIME) return sleep_until(shim_moment(clock, t), NULL);
  return sleep_until(shim_due(shim_span(t)), left);
}
SHIM int nanosleep(const struct timespec *t, struct timespec *left) {
  int error = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
  return error ? (errno = error, -1) : 0;
}
SHIM int usleep(useconds_t us) {
  struct timespec t = {us / 1000000, (long)(us % 1000000) * NS_US};
  return nanosleep(&t, NULL);
}
SHIM unsigned sleep(unsigned s) {
  struct timespec t = {s, 0}, left = {0};
  return nanosleep(&t, &left) == 0 ? 0 : (unsigned)left.tv_sec + (left.tv_nsec != 0);
}

/* ---- signals ---- */

static int wait_for_signal(const sigset_t *mask) {
  Wait w = {.kind = GATE_PAUSE, .deadline_ns = -1, .mask = mask};
  while (shim_wait(&w) == GO_LOOK) continue;
  return errno = EINTR, -1;
}
SHIM int pause(void) {
  if (shim_clock) return wait_for_signal(NULL);
  return (int)shim_result(CALL(SYS_ppoll, 0, 0, 0, 0, 0));
}
SHIM int sigsuspend(const sigset_t *mask) {
  if (shim_clock && shim_deliver(mask) != GO_LOOK) return errno = EINTR, -1;
  if (shim_clock) return wait_for_signal(mask);
  return (int)shim_result(CALL(SYS_rt_sigsuspend, L(mask), SET_BYTES));
}
/* Those waited for are blocked by the caller, so GO leaves them to this look. */
SHIM int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict t) {
  if (!shim_clock) return (int)shim_result(CALL(SYS_rt_sigtimedwait, L(set), L(info), L(t), SET_BYTES));
  Wait w = {.kind = GATE_PAUSE, .deadline_ns = shim_due(shim_span(t))};
  for (;;) {
    struct timespec none = {0};
    long r = CALL(SYS_rt_sigtimedwait, L(set), L(info), L(&none), SET_BYTES);
    if (r != -EAGAIN || shim_is_over(w.deadline_ns)) return (int)shim_result(r);
    if (shim_wait(&w) != GO_LOOK) return errno = EINTR, -1;
  }
}
SHIM int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info) {
  return sigtimedwait(set, info, NULL);
}
SHIM int sigwait(const sigset_t *restrict set, int *restrict signal) {
  int r;
  do r = sigtimedwait(set, NULL, NULL);
  while (r < 0 && errno == EINTR);
  return r < 0 ? errno : (*signal = r, 0);
}

/* ---- children ---- */

SHIM pid_t wait4(pid_t who, int *status, int options, struct rusage *usage) {
  if (!shim_clock || options & WNOHANG) return (pid_t)shim_result(CALL(SYS_wait4, who, L(status), options, L(usage)));
  Wait w = {.kind = GATE_CHILD, .deadline_ns = -1};
  for (;;) {
    long r = CALL(SYS_wait4, who, L(status), options | WNOHANG, L(usage));
    if (r != 0) return (pid_t)shim_result(r);
    if (shim_wait(&w) == GO_INTERRUPTED) return errno = EINTR, -1;
  }
}
SHIM pid_t waitpid(pid_t who, int *status, int options) {
  return wait4(who, status, options, NULL);
}
SHIM pid_t wait3(int *status, int options, struct rusage *usage) {
  return wait4(-1, status, options, usage);
}
SHIM pid_t wait(int *status) {
  return wait4(-1, status, 0, NULL);
}
SHIM int waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
  if (!shim_clock || options & WNOHANG) return (int)shim_result(CALL(SYS_waitid, type, id, L(info), options, 0));
  Wait w = {.kind = GATE_CHILD, .deadline_ns = -1};
  for (;;) {
    siginfo_t own = {0};
    siginfo_t *to = info ? info : &own;
    memset(to, 0, sizeof *to);
    long r = CALL(SYS_waitid, type, id, L(to), options | WNOHANG, 0);
    if (r != 0 || to->si_pid) return (int)shim_result(r);
    if (shim_wait(&w) == GO_INTERRUPTED) return errno = EINTR, -1;
  }
}

/* ---- System V semaphores ---- */

enum { OPERATIONS_MOST = 64 };
SHIM int semtimedop(int id, struct sembuf *ops, size_t n, const struct timespec *t) {
  if (!shim_clock || n > OPERATIONS_MOST) return (int)shim_result(CALL(SYS_semtimedop, id, L(ops), L(n), L(t)));
  struct sembuf tried[OPERATIONS_MOST];
  bool waits = false;
  for (size_t i = 0; i < n; i++) {
    tried[i] = ops[i];
    waits |= !(ops[i].sem_flg & IPC_NOWAIT);
    tried[i].sem_flg |= IPC_NOWAIT;
  }
  Wait w = {.kind = GATE_SEMAPHORE, .deadline_ns = shim_due(shim_span(t))};
  for (;;) {
    long r = CALL(SYS_semtimedop, id, L(tried), L(n));
    if (r != -EAGAIN || !waits || shim_is_over(w.deadline_ns)) return (int)shim_result(r);
    if (shim_wait(&w) != GO_LOOK) return errno = EINTR, -1;
  }
}
SHIM int semop(int id, struct sembuf *ops, size_t n) {
  return semtimedop(id, ops, n, NULL);
}
