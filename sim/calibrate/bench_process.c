/* bench_process.c - processes and what goes between them: fork, reaping, sockets, semaphores, cache lines. */
#include "sim/calibrate/bench.h"
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* A few rounds, many times: on a busy machine most stretches of some length are disturbed. */
enum { ROUNDS = 10, LINE_ROUNDS = 500, TRIES = 12, FORK_SAMPLES = 11, RESIDENT = 32 << 20 };

static int64_t now(void) {
  SampleClock c = sample_clock_real();
  return c.now_ns(c.data);
}

/* ---- fork and wait ---- */

/* data: how many bytes are resident beside what is there anyway. */
static double fork_once(void *data) {
  gsize resident = *(const gsize *)data;
  char *memory = NULL;
  if (resident) {
    memory = mmap(NULL, resident, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    madvise(memory, resident, MADV_NOHUGEPAGE);
    for (gsize at = 0; at < resident; at += 4096) ((volatile char *)memory)[at] = 1;
  }
  int64_t from = now();
  pid_t child = fork();
  if (child == 0) _exit(0);
  double ns = (double)(now() - from);
  bool gone = child > 0 && waitpid(child, NULL, 0) == child;
  if (memory) munmap(memory, resident);
  return gone ? ns : -1;
}

SampleStats bench_fork(void) {
  gsize none = 0;
  return sample_told(FORK_SAMPLES, fork_once, &none, 1);
}
SampleStats bench_fork_pte(void) {
  gsize none = 0, much = RESIDENT;
  return sample_difference(FORK_SAMPLES, fork_once, (SampleSide){&much, 1}, (SampleSide){&none, 1}, RESIDENT / 4096.0);
}

/* WNOWAIT leaves the dead child to be reaped. */
static double reap_once(void *data) {
  siginfo_t info;
  (void)data;
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0 || waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0) return -1;
  int64_t from = now();
  if (waitpid(child, NULL, 0) != child) return -1;
  return (double)(now() - from);
}
SampleStats bench_reap(void) {
  return sample_told(SAMPLES, reap_once, NULL, 1);
}

/* ---- sockets ---- */

static double accept_once(void *data) {
  const int *listener = data;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  socklen_t length = sizeof address;
  if (getsockname(*listener, (struct sockaddr *)&address, &length) != 0) return -1;
  int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool ok = client >= 0 && connect(client, (const struct sockaddr *)&address, length) == 0;
  int64_t from = now();
  int server = ok ? accept4(*listener, NULL, NULL, SOCK_CLOEXEC) : -1;
  double ns = (double)(now() - from);
  if (client >= 0) close(client);
  if (server >= 0) close(server);
  return server >= 0 ? ns : -1;
}

/* An abstract address that the kernel picks leaves nothing behind. */
SampleStats bench_accept(void) {
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sa_family_t unnamed = AF_UNIX;
  SampleStats s = {0};
  if (listener >= 0 && bind(listener, (const struct sockaddr *)(const void *)&unnamed, sizeof unnamed) == 0 &&
      listen(listener, 4) == 0)
    s = sample_told(SAMPLES, accept_once, &listener, 1);
  if (listener >= 0) close(listener);
  return s;
}

/* ---- two processes that answer each other ---- */

typedef struct Pair Pair;
struct Pair {
  gint ball[32]; /* [0] this side's word, [16] the other's: a line each */
  int ends[2];
};

static void stay_on(guint core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/* The two first cores this process may use; the same twice where there is one. */
static void two_cores(guint core[2]) {
  cpu_set_t set;
  core[0] = core[1] = 0;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  guint found = 0;
  for (guint i = 0; i < CPU_SETSIZE && found < 2; i++)
    if (CPU_ISSET(i, &set)) core[found++] = i;
  if (found == 1) core[1] = core[0];
}

static void futex_post(gint *word) {
  __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
static void futex_take(gint *word) {
  while (!__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST)) syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void answer_semaphore(Pair *p) {
  for (;;) {
    futex_take(&p->ball[16]);
    futex_post(&p->ball[0]);
  }
}
static void ask_semaphore(void *data) {
  Pair *p = data;
  for (guint i = 0; i < ROUNDS; i++) {
    futex_post(&p->ball[16]);
    futex_take(&p->ball[0]);
  }
}

static void answer_socket(Pair *p) {
  char byte;
  while (read(p->ends[1], &byte, 1) == 1 && write(p->ends[1], &byte, 1) == 1) continue;
}
static void ask_socket(void *data) {
  Pair *p = data;
  char byte = 0;
  for (guint i = 0; i < ROUNDS; i++)
    if (write(p->ends[0], &byte, 1) != 1 || read(p->ends[0], &byte, 1) != 1) return;
}

/* Odd: the ball is on the other side. A core that the other does not run on is waited for with a yield, not for ever:
 * two spinners on one core would take a time slice a round. */
static void await_ball(gint *word, gint odd) {
  for (guint i = 1; (__atomic_load_n(word, __ATOMIC_ACQUIRE) & 1) != odd; i++)
    if (i % 65536 == 0) sched_yield();
}
static void answer_line(Pair *p) {
  for (;;) {
    await_ball(&p->ball[0], 1);
    __atomic_add_fetch(&p->ball[0], 1, __ATOMIC_ACQ_REL);
  }
}
static void ask_line(void *data) {
  Pair *p = data;
  for (guint i = 0; i < LINE_ROUNDS; i++) {
    __atomic_add_fetch(&p->ball[0], 1, __ATOMIC_ACQ_REL);
    await_ball(&p->ball[0], 0);
  }
}

typedef struct {
  void (*ask)(void *);
  Pair *pair;
} Asked;

static double fastest_rounds(void *data) {
  const Asked *a = data;
  int64_t best = INT64_MAX;
  for (guint i = 0; i < TRIES; i++) {
    int64_t from = now();
    a->ask(a->pair);
    best = MIN(best, now() - from);
  }
  return (double)best;
}

/* The other side dies with this one, and is ended when the rounds are over. One way is half a round. */
static SampleStats rounds(bool one_core, void (*answer)(Pair *), void (*ask)(void *), guint n) {
  Pair *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cpu_set_t before;
  guint core[2];
  SampleStats s = {0};
  if (p == MAP_FAILED || sched_getaffinity(0, sizeof before, &before) != 0) return s;
  two_cores(core);
  if (!one_core && core[0] == core[1]) n = 0; /* there is no other core to wake, or to fetch a line from */
  if (n && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p->ends) == 0) {
    pid_t other = fork();
    if (other == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      stay_on(core[one_core ? 0 : 1]);
      answer(p);
      _exit(0);
    }
    stay_on(core[0]);
    Asked asked = {ask, p};
    if (other > 0) s = sample_told(SAMPLES, fastest_rounds, &asked, 2.0 * n);
    if (other > 0) kill(other, SIGKILL), waitpid(other, NULL, 0);
    close(p->ends[0]);
    close(p->ends[1]);
    sched_setaffinity(0, sizeof before, &before);
  }
  munmap(p, sizeof *p);
  return s;
}

SampleStats bench_handover(void) {
  return rounds(false, answer_semaphore, ask_semaphore, ROUNDS);
}
SampleStats bench_switch(void) {
  return rounds(true, answer_semaphore, ask_semaphore, ROUNDS);
}
SampleStats bench_message(void) {
  return rounds(false, answer_socket, ask_socket, ROUNDS);
}
SampleStats bench_line(void) {
  return rounds(false, answer_line, ask_line, LINE_ROUNDS);
}
