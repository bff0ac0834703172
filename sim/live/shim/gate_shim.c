/* gate_shim.c - the preloaded library: calls that wait go through the gate, the time comes from the driver's page, and
 * what is random comes from a seed. For a program with one thread that waits; a second one that comes to the gate is
 * told to the driver like a second process, which refuses it.
 *
 * It calls the kernel by number, never the functions that it stands before. It has no place for errors: where the gate
 * is gone the pooler ends at once, so that it never outlives its driver. */
#include "sim/live/gate_protocol.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SHIM __attribute__((visibility("default")))
enum { NS_S = 1000000000, NS_MS = 1000000, NS_US = 1000 };

/* What a process knows of its gate; written once, by the constructor and after a fork. */
static struct {
  char socket[108];
  const GateClock *clock; /* NULL: not started by a driver, and then everything is as it always was */
  uint64_t random;
  int fd; /* -1: not connected yet */
} gate = {.fd = -1};

static void __attribute__((noreturn)) give_up(void) {
  syscall(SYS_exit_group, 113);
  __builtin_unreachable();
}

static __attribute__((constructor)) void start(void) {
  const char *path = getenv(GATE_ENV_SOCKET), *page = getenv(GATE_ENV_CLOCK), *seed = getenv(GATE_ENV_SEED);
  if (!path || !page || strlen(path) >= sizeof gate.socket) return;
  memcpy(gate.socket, path, strlen(path) + 1); /* copied: a program may write over its environment */
  gate.random = seed ? strtoull(seed, NULL, 10) : 0;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, page, O_RDONLY | O_CLOEXEC, 0);
  void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(GateClock), PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) give_up();
  gate.clock = at;
  close(fd);
}

/* ---- the gate ---- */

static void connect_gate(void) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  memcpy(to.sun_path, gate.socket, sizeof to.sun_path);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0 || syscall(SYS_connect, fd, &to, sizeof to) != 0) give_up();
  gate.fd = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, GATE_FD_LEAST);
  if (gate.fd < 0)
    gate.fd = fd;
  else
    close(fd);
}

/* False: a signal came, and the call that waits is to say EINTR. */
static bool wait_for_go(GateKind kind, int64_t deadline_ns) {
  if (gate.fd < 0) connect_gate();
  GateReport r = {(int32_t)syscall(SYS_getpid), (int32_t)syscall(SYS_gettid), kind, 0, deadline_ns};
  if (syscall(SYS_sendto, gate.fd, &r, sizeof r, MSG_NOSIGNAL, NULL, 0) != (long)sizeof r) give_up();
  struct pollfd on = {.fd = gate.fd, .events = POLLIN};
  bool interrupted = syscall(SYS_ppoll, &on, 1, NULL, NULL, 0) < 0;
  GateAnswer a;
  long n;
  do n = syscall(SYS_recvfrom, gate.fd, &a, sizeof a, 0, NULL, NULL);
  while (n < 0 && errno == EINTR);
  if (n != (long)sizeof a || !a.go) give_up();
  return !interrupted;
}

static int64_t now(void) {
  return gate.clock->monotonic_ns;
}

static int64_t due(int64_t after_ns) {
  return after_ns < 0 ? -1 : now() + after_ns;
}

static bool is_over(int64_t deadline_ns) {
  return deadline_ns >= 0 && now() >= deadline_ns;
}

/* ---- calls that wait: each looks without waiting, into its caller's own memory ---- */

SHIM int epoll_pwait(int ep, struct epoll_event *events, int most, int timeout, const sigset_t *mask) {
  if (!gate.clock) return (int)syscall(SYS_epoll_pwait, ep, events, most, timeout, mask, 8);
  int64_t end = due(timeout < 0 ? -1 : (int64_t)timeout * NS_MS);
  for (;;) {
    int n = (int)syscall(SYS_epoll_pwait, ep, events, most, 0, mask, 8);
    if (n != 0 || is_over(end)) return n;
    if (!wait_for_go(GATE_EPOLL, end)) return errno = EINTR, -1;
  }
}
SHIM int epoll_wait(int ep, struct epoll_event *events, int most, int timeout) {
  return epoll_pwait(ep, events, most, timeout, NULL);
}

static int wait_poll(struct pollfd *fds, nfds_t n_fds, int64_t after_ns, const sigset_t *mask) {
  int64_t end = due(after_ns);
  for (;;) {
    struct timespec none = {0};
    int n = (int)syscall(SYS_ppoll, fds, n_fds, &none, mask, 8);
    if (n != 0 || is_over(end)) return n;
    if (!wait_for_go(GATE_POLL, end)) return errno = EINTR, -1;
  }
}
static int64_t span(const struct timespec *t) {
  return t ? (int64_t)t->tv_sec * NS_S + t->tv_nsec : -1;
}
SHIM int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask) {
  if (!gate.clock) {
    struct timespec copy = t ? *t : (struct timespec){0};
    return (int)syscall(SYS_ppoll, fds, n, t ? &copy : NULL, mask, 8);
  }
  return wait_poll(fds, n, span(t), mask);
}
SHIM int poll(struct pollfd *fds, nfds_t n, int timeout) {
  struct timespec t = {timeout / 1000, (long)(timeout % 1000) * NS_MS};
  return ppoll(fds, n, timeout < 0 ? NULL : &t, NULL);
}

SHIM int pselect(int n_fds, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *mask) {
  struct {
    const sigset_t *mask;
    size_t size;
  } with = {mask, 8};
  if (!gate.clock) {
    struct timespec copy = t ? *t : (struct timespec){0};
    return (int)syscall(SYS_pselect6, n_fds, r, w, e, t ? &copy : NULL, &with);
  }
  int64_t end = due(span(t));
  fd_set none = {0}, r0 = r ? *r : none, w0 = w ? *w : none, e0 = e ? *e : none;
  for (;;) {
    struct timespec zero = {0};
    int n = (int)syscall(SYS_pselect6, n_fds, r, w, e, &zero, &with);
    if (n != 0 || is_over(end)) return n;
    if (!wait_for_go(GATE_SELECT, end)) return errno = EINTR, -1;
    if (r) *r = r0;
    if (w) *w = w0;
    if (e) *e = e0;
  }
}
SHIM int select(int n_fds, fd_set *r, fd_set *w, fd_set *e, struct timeval *t) {
  struct timespec s = {t ? t->tv_sec : 0, t ? t->tv_usec * NS_US : 0};
  return pselect(n_fds, r, w, e, t ? &s : NULL, NULL);
}

SHIM int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left) {
  if (!gate.clock) return (int)syscall(SYS_clock_nanosleep, clock, flags, t, left) ? errno : 0;
  int64_t at = clock == CLOCK_REALTIME ? gate.clock->real_ns : now();
  int64_t end = now() + ((flags & TIMER_ABSTIME) ? span(t) - at : span(t));
  while (!is_over(end))
    if (!wait_for_go(GATE_SLEEP, end)) return EINTR;
  return 0;
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
  struct timespec t = {s, 0};
  nanosleep(&t, NULL);
  return 0;
}

/* ---- the time ---- */

SHIM int clock_gettime(clockid_t clock, struct timespec *t) {
  bool real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
  bool own = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
  if (!gate.clock || own) return (int)syscall(SYS_clock_gettime, clock, t);
  int64_t ns = real ? gate.clock->real_ns : now();
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

/* ---- what is random: splitmix64 (Steele, Lea, Flood 2014) of the seed ---- */

static uint64_t draw(void) {
  uint64_t z = gate.random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static void fill(void *to, size_t n) {
  for (size_t i = 0; i < n; i++) ((unsigned char *)to)[i] = (unsigned char)draw();
}

SHIM ssize_t getrandom(void *to, size_t n, unsigned flags) {
  if (!gate.clock) return syscall(SYS_getrandom, to, n, flags);
  fill(to, n);
  return (ssize_t)n;
}
SHIM int getentropy(void *to, size_t n) {
  return getrandom(to, n, 0) == (ssize_t)n ? 0 : -1;
}
SHIM void arc4random_buf(void *to, size_t n) {
  if (getrandom(to, n, 0) != (ssize_t)n) give_up();
}
SHIM uint32_t arc4random(void) {
  uint32_t v;
  arc4random_buf(&v, sizeof v);
  return v;
}
SHIM uint32_t arc4random_uniform(uint32_t below) {
  return below ? (uint32_t)((uint64_t)arc4random() * below >> 32) : 0;
}
int RAND_bytes(unsigned char *to, int n);
SHIM int RAND_bytes(unsigned char *to, int n) {
  arc4random_buf(to, (size_t)n);
  return 1;
}
