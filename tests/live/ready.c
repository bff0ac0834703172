/* ready.c - descriptors that become ready by themselves or by another thread, and locks on files, for tests/test_gate.c
 * as calls.c: timerfds, eventfds, signalfds; flock and fcntl; what closes many at a time. */
#include "tests/live/saying.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

/* ---- timerfds ---- */

static int timer(clockid_t clock, int flags) {
  int fd = timerfd_create(clock, flags);
  if (fd < 0) exit(9);
  return fd;
}

static struct itimerspec span(long first_ms, long every_ms) {
  return (struct itimerspec){.it_value = {first_ms / 1000, first_ms % 1000 * NS_MS},
                             .it_interval = {every_ms / 1000, every_ms % 1000 * NS_MS}};
}
static void arm(int fd, long first_ms, long every_ms) {
  struct itimerspec to = span(first_ms, every_ms);
  if (timerfd_settime(fd, 0, &to, NULL) != 0) exit(9);
}

static void says_read(int fd) {
  uint64_t n = 0;
  ssize_t r = read(fd, &n, sizeof n);
  if (r == sizeof n)
    say("read %lu", (unsigned long)n);
  else
    say("read %zd %d", r, errno == EAGAIN);
}
static void says_left(int fd) {
  struct itimerspec t;
  if (timerfd_gettime(fd, &t) != 0) exit(9);
  say("left %ld %ld", t.it_value.tv_sec * 1000 + t.it_value.tv_nsec / NS_MS,
      t.it_interval.tv_sec * 1000 + t.it_interval.tv_nsec / NS_MS);
}
static void says_poll(int fd, int timeout_ms) {
  struct pollfd on = {.fd = fd, .events = POLLIN};
  say("poll %d", poll(&on, 1, timeout_ms));
}

/* Periodic, once a second at first and then each half: how often it has expired, and what is left. */
static void periods(void) {
  int fd = timer(CLOCK_MONOTONIC, 0);
  arm(fd, 1000, 500);
  says_poll(fd, -1);
  nap(1125);
  says_read(fd);
  says_left(fd);
  says_read(fd);
  arm(fd, 250, 0);
  says_read(fd);
  says_left(fd);
  says_poll(fd, 1000);
}

/* Edges: one until it is read, then one more. */
static void edges(void) {
  int fd = timer(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC), epoll = epoll_create1(0);
  struct epoll_event e = {.events = EPOLLIN | EPOLLET};
  arm(fd, 100, 100);
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0) exit(9);
  says_read(fd);
  say("epoll %d", epoll_wait(epoll, &e, 1, -1));
  say("epoll %d", epoll_wait(epoll, &e, 1, 450));
  says_read(fd);
  say("epoll %d", epoll_wait(epoll, &e, 1, 450));
}

/* By the clock of the day, and by a moment that is past; what it was before. */
static void moments(void) {
  int day = timer(CLOCK_REALTIME, 0), past = timer(CLOCK_MONOTONIC, 0);
  struct itimerspec at = {.it_value = after(CLOCK_REALTIME, 400)}, was;
  if (timerfd_settime(day, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL) != 0) exit(9);
  nap(100);
  says_left(day);
  says_poll(day, -1);
  at = span(0, 300);
  at.it_value = after(CLOCK_MONOTONIC, -350);
  if (timerfd_settime(past, TFD_TIMER_ABSTIME, &at, NULL) != 0) exit(9);
  says_read(past);
  says_left(past);
  nap(350);
  at = span(2000, 0);
  if (timerfd_settime(past, 0, &at, &was) != 0) exit(9);
  say("was %ld %ld", was.it_value.tv_nsec / NS_MS, was.it_interval.tv_nsec / NS_MS);
  says_poll(past, 0);
  arm(past, 0, 0);
  says_left(past);
  says_poll(past, 3000);
}

/* A child and a copy have the same timer. */
static void shares(void) {
  int fd = timer(CLOCK_MONOTONIC, 0);
  arm(fd, 1000, 1000);
  pid_t child = fork();
  if (child == 0) {
    says_read(fd);
    arm(fd, 250, 500);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  says_read(fd);
  int copy = dup(fd), high = fcntl(fd, F_DUPFD, 100);
  close(fd);
  says_poll(copy, -1);
  close(copy);
  says_read(high);
  says_left(high);
  close(high);
  struct itimerspec t;
  int r = timerfd_gettime(high, &t);
  say("closed %d %d", r, errno == EBADF);
}

static void refusals(void) {
  int fd = timer(CLOCK_MONOTONIC, 0), other = eventfd(0, 0);
  struct itimerspec t = span(1000, 0), odd = {.it_value = {0, 1000000000}};
  int a = timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0), e1 = errno, b = timerfd_create(CLOCK_MONOTONIC, 1), e2 = errno;
  say("create %d %d %d %d", a, e1 == EINVAL, b, e2 == EINVAL);
  a = timerfd_settime(fd, 0, &odd, NULL), e1 = errno, b = timerfd_settime(fd, 64, &t, NULL), e2 = errno;
  say("settime %d %d %d %d", a, e1 == EINVAL, b, e2 == EINVAL);
  a = timerfd_settime(other, 0, &t, NULL), e1 = errno, b = timerfd_gettime(999, &t), e2 = errno;
  say("no timer %d %d %d %d", a, e1 == EINVAL, b, e2 == EBADF);
}

/* ---- eventfds and signalfds ---- */

static int event;
static void *reads_event(void *none) {
  eventfd_t n = 0;
  int r = eventfd_read(event, &n);
  say("eventfd_read %d %d", r, (int)n);
  return none;
}
static void events(void) {
  pthread_t other;
  event = eventfd(0, 0);
  if (event < 0 || pthread_create(&other, NULL, reads_event, NULL) != 0) exit(9);
  nap(1000);
  say("eventfd_write %d", eventfd_write(event, 7));
  pthread_join(other, NULL);
  says_poll(event, 500);
}

static void signals(void) {
  sigset_t set;
  struct signalfd_siginfo info;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int fd = signalfd(-1, &set, SFD_CLOEXEC);
  alarm(2);
  says_poll(fd, 1000);
  for (int i = 0; i < 2; i++) {
    if (read(fd, &info, sizeof info) != sizeof info) exit(9);
    say("signal %u", info.ssi_signo);
    if (i == 0 && fork() == 0) {
      nap(500);
      _exit(0);
    }
  }
  wait(NULL);
}

/* ---- locks on files, and closing ---- */

static int file_new(void) {
  char path[] = "/tmp/stampede-ready-XXXXXX";
  int fd = mkstemp(path);
  if (fd < 0 || unlink(path) != 0) exit(9);
  return fd;
}

/* Of an open file a child must open its own; of a process's there is no need. */
static void locks(void) {
  int fd = file_new();
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int again = open(path, O_RDWR);
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (again < 0 || flock(fd, LOCK_EX) != 0 || fcntl(fd, F_SETLKW, &whole) != 0) exit(9);
  pid_t child = fork();
  if (child == 0) {
    say("at once %d", flock(again, LOCK_EX | LOCK_NB));
    say("flock %d", flock(again, LOCK_EX));
    say("fcntl %d", fcntl(again, F_SETLKW, &whole));
    _exit(0);
  }
  nap(1000);
  flock(fd, LOCK_UN);
  nap(1000);
  whole.l_type = F_UNLCK;
  fcntl(fd, F_SETLK, &whole);
  waitpid(child, NULL, 0);
}

static void closes(void) {
  int fd = timer(CLOCK_MONOTONIC, 0), pair[2];
  arm(fd, 100, 100);
  if (pipe(pair) != 0) exit(9);
  closefrom(pair[1]);
  close_range((unsigned)fd, (unsigned)pair[0], 0);
  say("next %d", timer(CLOCK_MONOTONIC, 0) == fd);
  says_poll(fd, 200); /* the one that was closed does not come any more */
  nap(5);
  close_range(3, ~0u, 0);
  say("nap");
}

static const struct {
  const char *name;
  void (*run)(void);
} names[] = {{"periods", periods}, {"edges", edges},       {"moments", moments},
             {"shares", shares},   {"refusals", refusals}, {"events", events},
             {"signals", signals}, {"locks", locks},       {"closes", closes}};

int main(int argc, char **argv) {
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (size_t i = 0; argc == 2 && i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i].name, argv[1]) == 0) return names[i].run(), 0;
  fprintf(stderr, "usage: ready NAME\n");
  return 2;
}
