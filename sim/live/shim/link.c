/* link.c - a thread's line to the driver (shim.h). */
#include "sim/live/shim/shim.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Lines' numbers are kept in a set, so that they can be told from the program's own and closed in a new process. */
enum { BITS = 64, KEY_ROUNDS = 3 };
static struct {
  struct sockaddr_un at; /* a copy: a program may write over its environment */
  uint64_t open[SHIM_LINES_MOST / BITS];
  pthread_key_t key; /* of a thread's end */
  bool key_there;
  int late; /* a line that its own thread has made, and nobody has told the driver of; 0: none */
} link_state;
static __thread int line = -1;
static __thread unsigned told; /* GATE_WOKE, GATE_MADE: of its next report */
static __thread int rounds;
static __thread int32_t pid, tid; /* asked for once: two system calls less a step */
const GateClock *shim_clock;

long shim_call(long number, const long a[6]) {
#ifdef __aarch64__
  // cppcheck-suppress constStatement
  register long n __asm__("x8") = number, r __asm__("x0") = a[0], b __asm__("x1") = a[1], c __asm__("x2") = a[2];
  // cppcheck-suppress constStatement
  register long d __asm__("x3") = a[3], e __asm__("x4") = a[4], f __asm__("x5") = a[5];
  __asm__ volatile("svc 0" : "+r"(r) : "r"(n), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f) : "memory");
  return r;
#else /* x86-64; another machine's compiler knows none of these registers */
  // cppcheck-suppress constStatement
  register long d __asm__("r10") = a[3], e __asm__("r8") = a[4], f __asm__("r9") = a[5];
  long r;
  __asm__ volatile("syscall"
                   : "=a"(r)
                   : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(d), "r"(e), "r"(f)
                   : "rcx", "r11", "memory");
  return r;
#endif
}

long shim_result(long r) {
  if (r >= 0 || r < -4095) return r;
  errno = (int)-r;
  return -1;
}

void shim_give_up(void) {
  CALL(SYS_exit_group, 113);
  __builtin_unreachable();
}

/* ---- lines ---- */

static void note(int fd, bool there) {
  int i = fd - GATE_FD_LEAST;
  if (i < 0 || i >= SHIM_LINES_MOST) shim_give_up();
  uint64_t bit = (uint64_t)1 << i % BITS;
  link_state.open[i / BITS] = there ? link_state.open[i / BITS] | bit : link_state.open[i / BITS] & ~bit;
}

bool shim_is_line(int fd) {
  int i = fd - GATE_FD_LEAST;
  return i >= 0 && i < SHIM_LINES_MOST && (link_state.open[i / BITS] >> i % BITS & 1);
}

/* Not closed by exec: the next program finds it (find_line), so that the driver never takes the time between for quiet.
 */
int shim_line_new(void) {
  long fd = CALL(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0 || CALL(SYS_connect, fd, L(&link_state.at), sizeof link_state.at) != 0) shim_give_up();
  long high = CALL(SYS_fcntl, fd, F_DUPFD, GATE_FD_LEAST);
  if (high < 0) shim_give_up();
  CALL(SYS_close, fd);
  note((int)high, true);
  told |= GATE_MADE;
  return (int)high;
}

void shim_line_drop(int fd) {
  note(fd, false);
  CALL(SYS_close, fd);
}

static void take(int fd) {
  line = fd;
  pid = (int32_t)CALL(SYS_getpid);
  tid = (int32_t)CALL(SYS_gettid);
  told = 0;
  rounds = 0;
  if (link_state.key_there) pthread_setspecific(link_state.key, &link_state);
}

void shim_line_take(int fd) {
  take(fd);
  Wait w = {.kind = GATE_START, .deadline_ns = -1};
  shim_wait(&w);
}

void shim_lines_forget(int but) {
  for (int fd = GATE_FD_LEAST; fd < GATE_FD_LEAST + SHIM_LINES_MOST; fd++)
    if (fd != but && shim_is_line(fd)) shim_line_drop(fd);
}

/* A thread ends: after all else that runs at its end, which may wait itself. */
static void thread_ends(void *there) {
  if (++rounds < KEY_ROUNDS) {
    pthread_setspecific(link_state.key, there);
  } else if (line >= 0) {
    shim_line_drop(line);
    line = -1;
  }
}

/* The line of the program that has become this one, by its peer's name. */
static int find_line(void) {
  int found = -1;
  for (int fd = GATE_FD_LEAST; fd < GATE_FD_LEAST + BITS; fd++) {
    struct sockaddr_un peer = {0};
    unsigned n = sizeof peer;
    if (CALL(SYS_getpeername, fd, L(&peer), L(&n)) != 0 || strcmp(peer.sun_path, link_state.at.sun_path) != 0) continue;
    note(fd, true);
    if (found >= 0)
      shim_line_drop(fd);
    else
      found = fd;
  }
  return found;
}

static __attribute__((constructor)) void start(void) {
  const char *path = getenv(GATE_ENV_SOCKET), *page = getenv(GATE_ENV_CLOCK), *seed = getenv(GATE_ENV_SEED);
  if (!path || !page || strlen(path) >= sizeof link_state.at.sun_path) return;
  link_state.at.sun_family = AF_UNIX;
  memcpy(link_state.at.sun_path, path, strlen(path) + 1);
  shim_seed(seed ? strtoull(seed, NULL, 10) : 0);
  long fd = CALL(SYS_openat, AT_FDCWD, L(page), O_RDONLY | O_CLOEXEC, 0);
  void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(GateClock), PROT_READ, MAP_SHARED, (int)fd, 0);
  if (at == MAP_FAILED) shim_give_up();
  CALL(SYS_close, fd);
  link_state.key_there = pthread_key_create(&link_state.key, thread_ends) == 0;
  int inherited = find_line();
  take(inherited >= 0 ? inherited : shim_line_new());
  shim_clock = at;
}

/* ---- signals: kernel's sets of 64 ---- */

static uint64_t bit_of(int signal) {
  return (uint64_t)1 << (signal - 1);
}

/* What ends a program that is broken comes at once; the two below SIGRTMIN are the C library's own, and a thread that
 * blocks them stops setuid() of all others. */
static uint64_t held_back(void) {
  return ~(bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGILL) | bit_of(SIGFPE) | bit_of(SIGABRT) | bit_of(SIGTRAP) |
           bit_of(32) | bit_of(33));
}

static bool restarts(int signal) {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
  } action = {0};
  CALL(SYS_rt_sigaction, signal, 0, L(&action), sizeof(uint64_t));
  return action.flags & SA_RESTART;
}

/* All are blocked here. What `mask` lets through is delivered now; ppoll says EINTR only where a handler ran, not for
 * what is ignored. */
static Go deliver(uint64_t mask) {
  uint64_t pending = 0;
  CALL(SYS_rt_sigpending, L(&pending), sizeof pending);
  pending &= ~mask;
  if (!pending) return GO_LOOK;
  bool again = true;
  for (int s = 1; s <= BITS; s++)
    if (pending & bit_of(s)) again = restarts(s) && again;
  struct timespec none = {0};
  long r = CALL(SYS_ppoll, 0, 0, L(&none), L(&mask), sizeof mask);
  return r != -EINTR ? GO_LOOK : again ? GO_RESTARTED : GO_INTERRUPTED;
}

Go shim_deliver(const sigset_t *mask) {
  uint64_t hold = held_back(), old, let;
  CALL(SYS_rt_sigprocmask, SIG_BLOCK, L(&hold), L(&old), sizeof old);
  memcpy(&let, mask, sizeof let);
  Go go = deliver(let);
  CALL(SYS_rt_sigprocmask, SIG_SETMASK, L(&old), 0, sizeof old);
  return go;
}

/* ---- the gate ---- */

void shim_woke(void) {
  told |= GATE_WOKE;
}

/* A thread that no pthread_create of ours has made: another one's report must tell of its line. */
static void come_late(void) {
  take(shim_line_new());
  link_state.late = line;
}

static int64_t sooner(int64_t a, int64_t b) {
  return b < 0 || (a >= 0 && a < b) ? a : b;
}

static void report(Wait *w) {
  if (link_state.late && link_state.late != line) {
    told |= GATE_MADE;
    link_state.late = 0;
  }
  int64_t deadline = w->deadline_ns;
  if (!(w->flags & GATE_PARKED)) deadline = sooner(deadline, shim_timers_next());
  deadline = sooner(deadline, shim_alarm_ns);
  unsigned flags = w->flags | (w->looked ? 0 : GATE_FRESH) | told;
  GateReport r = {pid, tid, w->kind, flags, deadline};
  told = 0;
  w->looked = true;
  if (CALL(SYS_sendto, line, L(&r), sizeof r, MSG_NOSIGNAL) != (long)sizeof r) shim_give_up();
}

Go shim_wait(Wait *w) {
  if (line < 0) come_late();
  uint64_t hold = held_back(), old, mask = 0;
  CALL(SYS_rt_sigprocmask, SIG_BLOCK, L(&hold), L(&old), sizeof old);
  report(w);
  GateAnswer a = {0};
  long n;
  do n = CALL(SYS_recvfrom, line, L(&a), sizeof a);
  while (n == -EINTR);
  if (n != (long)sizeof a || !a.go) shim_give_up();
  shim_timers_fire();
  if (shim_is_over(shim_alarm_ns)) {
    shim_alarm_ns = shim_alarm_next();
    CALL(SYS_kill, pid, SIGALRM);
    a.signals = 1;
  }
  memcpy(&mask, w->mask ? (const void *)w->mask : &old, sizeof mask);
  Go go = a.signals ? deliver(mask) : GO_LOOK;
  CALL(SYS_rt_sigprocmask, SIG_SETMASK, L(&old), 0, sizeof old);
  return go;
}
