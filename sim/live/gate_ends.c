/* gate_ends.c - when a process has ended: told by its pidfd, or looked for where there are none (a kernel before 5.3,
 * valgrind 3.19, a filter of system calls). */
#include "sim/live/gate_parts.h"
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 1 };

int gate_pidfd(pid_t pid) {
  return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Also as long as its parent has not reaped it, as a pidfd says: a child of the tool exactly, others by the state of
 * their first thread, which for those with a line is the last one. */
static bool has_ended(pid_t pid) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) return info.si_pid == pid;
  g_autofree char *name = g_strdup_printf("%d", pid);
  pid_t parent, group;
  char state = gate_stat(name, &parent, &group);
  return state == '\0' || state == 'Z' || state == 'X';
}

bool gate_await_end(pid_t pid, int fd, int ms) {
  gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
  struct pollfd on = {.fd = fd, .events = POLLIN};
  if (fd >= 0) return poll(&on, 1, ms) > 0;
  while (!has_ended(pid)) {
    if (gate_left_ms(end) == 0) return false;
    g_usleep(LOOK_MS * 1000);
  }
  return true;
}

/* True: some have ended, which are reaped. */
static bool reap(LiveGate *g, const struct pollfd *on) {
  bool any = false;
  for (guint i = 0; i < g->members->len; i++) {
    const GateMember *m = GATE_MEMBER(g, i);
    if (!m->pid || !(m->ended >= 0 ? on[i].revents != 0 : has_ended(m->pid))) continue;
    gate_reap(g, i, true);
    any = true;
  }
  return any;
}

bool gate_await_ends(LiveGate *g, int listener, int ms) {
  gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
  guint n = g->members->len;
  struct pollfd on[n + 1];
  bool blind = false;
  on[n] = (struct pollfd){.fd = listener, .events = POLLIN};
  for (guint i = 0; i < n; i++) {
    const GateMember *m = GATE_MEMBER(g, i);
    on[i] = (struct pollfd){.fd = m->ended, .events = POLLIN};
    blind |= m->pid && m->ended < 0;
  }
  for (;;) {
    int left = gate_left_ms(end), there = poll(on, n + 1, blind ? MIN(left, LOOK_MS) : left);
    if (there < 0) return false; /* a signal: whoever waits looks whether it ends him */
    if (reap(g, on) || there > 0 || left == 0) return on[n].revents != 0;
  }
}
