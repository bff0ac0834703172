/* calls.c - calls that wait, one by one, for tests/test_gate.c: calls NAME does what it says under names[] and prints
 * what came of it and when, in milliseconds since its start. What it prints behind the gate is known beforehand, to the
 * millisecond; tests/test_gate.c has it. */
#include "tests/live/saying.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { BIG = 1 << 20 };
static char *self;

/* ---- time ---- */

static void sleeps(void) {
  sleep(2);
  say("sleep");
  usleep(1500000);
  say("usleep");
  struct timespec t = after(CLOCK_REALTIME, 500);
  clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
  say("until");
}

static void timeouts(void) {
  int ends[2], epoll = epoll_create1(0);
  if (pipe(ends) != 0) exit(9);
  struct timeval t = {1, 0};
  fd_set r;
  FD_ZERO(&r);
  FD_SET(ends[0], &r);
  int n = select(ends[0] + 1, &r, NULL, NULL, &t);
  say("select %d, left %ld", n, (long)t.tv_sec);
  struct pollfd on = {.fd = ends[0], .events = POLLIN};
  say("poll %d", poll(&on, 1, 250));
  struct epoll_event e;
  say("epoll %d", epoll_wait(epoll, &e, 1, 750));
}

static void on_signal(int signal) {
  say("signal %d", signal);
}
static void handle(int signal, int flags) {
  struct sigaction a = {.sa_handler = on_signal, .sa_flags = flags};
  sigaction(signal, &a, NULL);
}

static void alarms(void) {
  handle(SIGALRM, 0);
  alarm(3);
  say("pause %d", pause());
  struct itimerval every = {{1, 0}, {2, 0}}, none = {0};
  setitimer(ITIMER_REAL, &every, NULL);
  pause();
  pause();
  setitimer(ITIMER_REAL, &none, NULL);
  sigset_t all, was;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &was);
  alarm(1);
  nap(2000);
  say("blocked");
  sigsuspend(&was);
  say("suspended");
}

/* A read goes on after a handler with SA_RESTART, and ends with EINTR after one without. */
static void restarts(void) {
  int ends[2];
  char c;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) exit(9);
  handle(SIGALRM, SA_RESTART);
  alarm(1);
  pid_t child = fork();
  if (child == 0) {
    nap(2000);
    _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  say("read %zd", read(ends[0], &c, 1));
  handle(SIGALRM, 0);
  alarm(1);
  ssize_t n = read(ends[0], &c, 1);
  say("read %zd %d", n, errno == EINTR);
  waitpid(child, NULL, 0);
}

/* ---- processes ---- */

static void children(void) {
  handle(SIGCHLD, SA_RESTART);
  for (int i = 0; i < 3; i++)
    if (fork() == 0) {
      static const long naps[] = {3000, 1000, 2000};
      nap(naps[i]);
      _exit(i);
    }
  for (int i = 0, status; i < 3; i++)
    if (wait(&status) > 0) say("child %d", WEXITSTATUS(status));
}

/* Nothing but a second look tells one of them that the other has written. */
static void pipes(void) {
  int to[2], back[2];
  char c = 'a';
  if (pipe(to) != 0 || pipe(back) != 0) exit(9);
  if (fork() == 0) {
    while (read(to[0], &c, 1) == 1 && c != 'z') {
      nap(10);
      c++;
      if (write(back[1], &c, 1) != 1) _exit(1);
    }
    _exit(0);
  }
  for (int i = 0; i < 3; i++)
    if (write(to[1], &c, 1) == 1 && read(back[0], &c, 1) == 1) say("%c", c);
  c = 'z';
  if (write(to[1], &c, 1) == 1) wait(NULL);
}

static void semaphores(void) {
  sem_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int id = semget(IPC_PRIVATE, 1, 0600);
  struct sembuf down = {0, -1, 0}, up = {0, 1, 0};
  if (id < 0 || sem_init(shared, 1, 0) != 0) exit(9);
  if (fork() == 0) {
    nap(1000);
    semop(id, &up, 1);
    nap(1000);
    sem_post(shared);
    _exit(0);
  }
  struct timespec half = {0, 500 * NS_MS}, t;
  int r = semtimedop(id, &down, 1, &half);
  say("semtimedop %d %d", r, errno == EAGAIN);
  say("semop %d", semop(id, &down, 1));
  t = after(CLOCK_REALTIME, 500);
  r = sem_timedwait(shared, &t);
  say("sem_timedwait %d %d", r, errno == ETIMEDOUT);
  say("sem_wait %d", sem_wait(shared));
  wait(NULL);
  semctl(id, 0, IPC_RMID);
}

static void execs(void) {
  memset(environ[0], 'x', strlen(environ[0])); /* as programs do that say what they do in ps */
  pid_t child = fork();
  if (child == 0) {
    execl(self, self, "sleeps", (char *)NULL);
    _exit(9);
  }
  waitpid(child, NULL, 0);
  say("exec is over");
  say("system %d", system("exit 3") >> 8);
  nap(1);
  say("nap");
}

/* ---- threads ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static uint32_t word;
static int turn;

static void *holds(void *none) {
  pthread_mutex_lock(&mutex);
  pthread_rwlock_wrlock(&rwlock);
  nap(2000);
  pthread_mutex_unlock(&mutex);
  nap(1000);
  pthread_rwlock_unlock(&rwlock);
  return none;
}

static void locks(void) {
  pthread_t other;
  void *gave;
  if (pthread_create(&other, NULL, holds, &turn) != 0) exit(9);
  nap(1);
  struct timespec t = after(CLOCK_REALTIME, 1000);
  say("timedlock %d", pthread_mutex_timedlock(&mutex, &t) == ETIMEDOUT);
  say("lock %d", pthread_mutex_lock(&mutex));
  say("rdlock %d", pthread_rwlock_rdlock(&rwlock));
  pthread_mutex_unlock(&mutex);
  int joined = pthread_join(other, &gave);
  say("join %d %d", joined, gave == &turn);
  pthread_mutexattr_t checked;
  pthread_mutex_t own;
  pthread_mutexattr_init(&checked);
  pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&own, &checked);
  pthread_mutex_lock(&own);
  say("own %d", pthread_mutex_lock(&own) == EDEADLK);
}

static void *waits(void *number) {
  pthread_mutex_lock(&mutex);
  while (turn <= (int)(intptr_t)number) pthread_cond_wait(&cond, &mutex);
  say("woken %d", (int)(intptr_t)number);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void conditions(void) {
  pthread_t all[3];
  for (intptr_t i = 0; i < 3; i++)
    if (pthread_create(&all[i], NULL, waits, (void *)i) != 0) exit(9);
  for (int i = 0; i < 2; i++) {
    nap(1000);
    pthread_mutex_lock(&mutex);
    turn = i ? 3 : 1;
    say(i ? "broadcast" : "signal");
    if (i)
      pthread_cond_broadcast(&cond);
    else
      pthread_cond_signal(&cond); /* the one that has waited longest, whose turn it is */
    pthread_mutex_unlock(&mutex);
  }
  for (int i = 0; i < 3; i++) pthread_join(all[i], NULL);
  pthread_condattr_t attr;
  pthread_cond_t other;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&other, &attr);
  pthread_mutex_lock(&mutex);
  struct timespec real = after(CLOCK_REALTIME, 500), monotonic = after(CLOCK_MONOTONIC, 700);
  say("timedwait %d", pthread_cond_timedwait(&cond, &mutex, &real) == ETIMEDOUT);
  say("timedwait %d", pthread_cond_timedwait(&other, &mutex, &monotonic) == ETIMEDOUT);
}

static long futex(int what, uint32_t value, const struct timespec *t) {
  return syscall(SYS_futex, &word, what, value, t, NULL, FUTEX_BITSET_MATCH_ANY);
}
static void *sleeps_on_word(void *none) {
  say("wait %ld", futex(FUTEX_WAIT_PRIVATE, 0, NULL));
  return none;
}

static void futexes(void) {
  pthread_t a, b;
  struct timespec second = {1, 0};
  long r = futex(FUTEX_WAIT_PRIVATE, 1, NULL);
  say("other value %ld %d", r, errno == EAGAIN);
  r = futex(FUTEX_WAIT_PRIVATE, 0, &second);
  say("timeout %ld %d", r, errno == ETIMEDOUT);
  struct timespec t = after(CLOCK_MONOTONIC, 500);
  r = futex(FUTEX_WAIT_BITSET_PRIVATE, 0, &t);
  say("until %ld %d", r, errno == ETIMEDOUT);
  if (pthread_create(&a, NULL, sleeps_on_word, NULL) != 0 || pthread_create(&b, NULL, sleeps_on_word, NULL) != 0)
    exit(9);
  nap(1);
  say("wakes %ld", futex(FUTEX_WAKE_PRIVATE, 1, NULL));
  nap(1);
  say("wakes %ld", futex(FUTEX_WAKE_PRIVATE, 9, NULL));
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  say("wakes %ld", futex(FUTEX_WAKE_PRIVATE, 9, NULL));
}

static void *says_number(void *number) {
  say("thread %d", (int)(intptr_t)number);
  return NULL;
}
static void order(void) {
  pthread_t all[3];
  for (intptr_t i = 0; i < 3; i++)
    if (pthread_create(&all[i], NULL, says_number, (void *)i) != 0) exit(9);
  for (int i = 0; i < 3; i++) pthread_join(all[i], NULL);
}

/* ---- sockets ---- */

static int ends[2];
static void *reads_all(void *none) {
  char *bytes = malloc(BIG);
  nap(1000);
  say("received %zd", recv(ends[1], bytes, BIG, MSG_WAITALL));
  free(bytes);
  return none;
}

static void writes(void) {
  char *bytes = calloc(1, BIG);
  pthread_t other;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || pthread_create(&other, NULL, reads_all, NULL) != 0) exit(9);
  say("written %zd", write(ends[0], bytes, BIG));
  pthread_join(other, NULL);
  struct timeval t = {2, 0};
  setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
  ssize_t n = recv(ends[1], bytes, 1, 0);
  say("timeout %zd %d", n, errno == EAGAIN);
  n = recv(ends[1], bytes, 1, MSG_DONTWAIT);
  say("at once %zd %d", n, errno == EAGAIN);
  free(bytes);
}

static void descriptors(void) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0), ours = 0;
  say("first %d", fd);
  for (int i = 1000; i < 5096; i++) ours += fcntl(i, F_GETFD) >= 0;
  say("lines %d", ours);
  for (int i = 3; i < 5096; i++) close(i);
  nap(5);
  say("nap");
}

/* ---- what is random ---- */

static void draws(const char *who) {
  uint32_t a[4] = {0};
  if (getrandom(&a[2], sizeof a[2], 0) != sizeof a[2] || getentropy(&a[3], sizeof a[3]) != 0) exit(9);
  FILE *f = fopen("/dev/urandom", "r");
  int fd = open("/dev/random", O_RDONLY);
  srandom((unsigned)getpid());
  if (!f || fread(&a[0], sizeof a[0], 1, f) != 1 || read(fd, &a[1], sizeof a[1]) != sizeof a[1]) exit(9);
  say("%s %08x %08x %08x %08x %08lx", who, a[0], a[1], a[2], a[3], random());
}

static void randoms(void) {
  draws("parent");
  for (int i = 0; i < 2; i++) {
    if (fork() == 0) {
      draws("child");
      _exit(0);
    }
    wait(NULL);
  }
}

/* ---- the whole ---- */

static const struct {
  const char *name;
  void (*run)(void);
} names[] = {{"sleeps", sleeps},     {"timeouts", timeouts},
             {"alarms", alarms},     {"restarts", restarts},
             {"children", children}, {"pipes", pipes},
             {"execs", execs},       {"semaphores", semaphores},
             {"locks", locks},       {"conditions", conditions},
             {"order", order},       {"futexes", futexes},
             {"writes", writes},     {"descriptors", descriptors},
             {"randoms", randoms}};

int main(int argc, char **argv) {
  self = argv[0];
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (size_t i = 0; argc == 2 && i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i].name, argv[1]) == 0) return names[i].run(), 0;
  fprintf(stderr, "usage: calls NAME\n");
  return 2;
}
