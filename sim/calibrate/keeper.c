/* keeper.c - see keeper.h.
 *
 * It has a session of its own, so that no Ctrl-C reaches it; it ends when the last writer of the lifeline has closed
 * it, which the kernel does for a parent that was killed. Should it be killed itself, the server gets SIGQUIT as its
 * parent dies (PR_SET_PDEATHSIG, asked for after the change of user, which would clear it).
 *
 * initdb's servers that stand alone clear System V and POSIX shared memory at their end, and not when they are killed:
 * initdb alone is killed, they see the end of their input, and the keeper, which inherits them, waits for that. */
#include "sim/calibrate/keeper.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_MS = 15000, POLL_US = 5000 };

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
  (void)st, (void)type, (void)at;
  remove(path);
  return 0;
}
void keeper_remove(const char *dir) {
  nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void become(const KeeperPlan *plan, pid_t keeper) {
  if (plan->uid && (setgroups(0, NULL) != 0 || setgid(plan->gid) != 0 || setuid(plan->uid) != 0)) {
    perror("error: change of user");
    _exit(1);
  }
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (getppid() != keeper) _exit(1);
}

static pid_t spawn(const KeeperPlan *plan, const char *const *argv) {
  pid_t keeper = getpid(), pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  become(plan, keeper);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
  if (plan->plain_malloc) setenv("GLIBC_TUNABLES", "glibc.malloc.mxfast=0:glibc.malloc.tcache_count=0", 1);
  if (chdir(plan->dir) != 0) {
    fprintf(stderr, "error: %s: %s\n", plan->dir, strerror(errno));
    _exit(1);
  }
  execv(argv[0], (char *const *)(const void *)argv);
  fprintf(stderr, "error: %s: %s\n", argv[0], strerror(errno));
  _exit(1);
}

/* Waits until the child has ended (true), or the lifeline has (false). */
static bool child_ended(const KeeperPlan *plan, pid_t child, int timeout_ms) {
  struct pollfd on[2] = {{.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN},
                         {.fd = timeout_ms < 0 ? plan->lifeline : -1, .events = POLLIN}};
  if (on[0].fd < 0) return true;
  while (poll(on, 2, timeout_ms) < 0) continue;
  close(on[0].fd);
  return on[0].revents != 0;
}

/* Waits until no child is left, inherited ones among them. */
static bool all_ended(int timeout_ms) {
  for (int waited_us = 0; waited_us < timeout_ms * 1000; waited_us += POLL_US) {
    pid_t one;
    while ((one = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (one < 0) return true;
    usleep(POLL_US);
  }
  return false;
}

/* Backends have sessions of their own: the server's own SIGQUIT ends them, and what is left of its group goes last. */
static void end(const KeeperPlan *plan, pid_t child, int number) {
  kill(child, number);
  if (!child_ended(plan, child, STOP_MS)) kill(child, SIGKILL);
  if (all_ended(STOP_MS)) return;
  kill(-child, SIGKILL);
  all_ended(STOP_MS);
}

static void take_streams(const KeeperPlan *plan) {
  close(plan->parents_end);
  int null = open("/dev/null", O_RDONLY), log = open(plan->log, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (null < 0 || log < 0) _exit(1);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
}

void keeper_main(const KeeperPlan *plan) {
  setsid();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  take_streams(plan);
  int status = 1;
  pid_t child = spawn(plan, plan->initdb);
  bool alive = child_ended(plan, child, -1);
  if (!alive)
    end(plan, child, SIGKILL);
  else if (waitpid(child, &status, 0) == child && status == 0) {
    child = spawn(plan, plan->server);
    alive = child_ended(plan, child, -1);
    if (alive)
      waitpid(child, &status, 0);
    else
      end(plan, child, SIGQUIT);
  }
  /* Ended by itself: the parent reads the log, and removes everything. */
  if (!alive) keeper_remove(plan->dir);
  _exit(alive);
}
