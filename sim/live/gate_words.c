/* gate_words.c - what is wrong with a pooler, in words; what can be told of one from outside. */
#include "sim/live/gate_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const struct {
  long number;
  const char *name;
} calls[] = {{SYS_read, "read"},
             {SYS_readv, "readv"},
             {SYS_write, "write"},
             {SYS_futex, "futex"},
             {SYS_connect, "connect"},
             {SYS_accept, "accept"},
             {SYS_accept4, "accept4"},
             {SYS_recvfrom, "recvfrom"},
             {SYS_sendto, "sendto"},
             {SYS_recvmsg, "recvmsg"},
             {SYS_sendmsg, "sendmsg"},
             {SYS_wait4, "wait4"},
             {SYS_waitid, "waitid"},
             {SYS_clock_nanosleep, "clock_nanosleep"},
             {SYS_nanosleep, "nanosleep"},
             {SYS_ppoll, "ppoll"},
             {SYS_pselect6, "pselect6"},
             {SYS_epoll_pwait, "epoll_pwait"},
             {SYS_semop, "semop"},
             {SYS_semtimedop, "semtimedop"},
             {SYS_msgrcv, "msgrcv"},
             {SYS_openat, "openat"},
             {SYS_rt_sigtimedwait, "sigtimedwait"},
             {SYS_flock, "flock"},
             {SYS_fcntl, "fcntl"},
             {SYS_io_uring_enter, "io_uring_enter"},
             {SYS_kill, "kill"},
             {SYS_tgkill, "tgkill"},
#ifdef SYS_poll
             {SYS_poll, "poll"},
             {SYS_epoll_wait, "epoll_wait"},
             {SYS_select, "select"},
             {SYS_pause, "pause"},
             {SYS_open, "open"},
#endif
             {SYS_rt_sigsuspend, "sigsuspend"}};

static const char *call_name(long number) {
  for (guint i = 0; i < G_N_ELEMENTS(calls); i++)
    if (calls[i].number == number) return calls[i].name;
  return NULL;
}

/* "1234 (name) S ...": of whoever that is. */
static char *name_of(pid_t pid) {
  g_autofree char *path = g_strdup_printf("/proc/%d/comm", pid), *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return g_strdup("?");
  return g_strdup(g_strchomp(text));
}

/* The thread that has not come back; of a program that never came, its first. */
static void who_is_stuck(const LiveGate *g, pid_t *pid, pid_t *tid) {
  *pid = *tid = GATE_MEMBER(g, g->last)->pid;
  for (guint i = 0; i < g->lines->len; i++) {
    const GateLine *l = GATE_LINE(g, i);
    if (!l->running || !l->pid) continue;
    *pid = l->pid;
    *tid = l->tid;
    return;
  }
}

static char *stuck(const LiveGate *g) {
  pid_t pid, tid;
  who_is_stuck(g, &pid, &tid);
  g_autofree char *path = g_strdup_printf("/proc/%d/task/%d/syscall", pid, tid), *text = NULL, *name = name_of(pid);
  g_autofree char *who = gate_member_of(g, pid) >= 0 ? g_strdup("") : g_strdup_printf(" (in its process %s)", name);
  const char *gated = g->lines->len ? "which is not gated" : "and never came to the gate";
  if (!live_gate_is_gated(g)) gated = "or goes on without end";
  if (!g_file_get_contents(path, &text, NULL, NULL)) return g_strdup("is stuck; what it does is not to be seen");
  if (g_str_has_prefix(text, "running")) return g_strdup_printf("is stuck, and waits for nothing: it computes%s", who);
  long number = strtol(text, NULL, 10);
  const char *call = call_name(number);
  g_autofree char *what = call ? g_strdup(call) : g_strdup_printf("system call %ld", number);
  return g_strdup_printf("is stuck in %s%s, %s", what, who, gated);
}

char *live_gate_words(LiveGate *g, GateState s) {
  if (s == GATE_STUCK) return stuck(g);
  g_assert(s == GATE_ENDED);
  int status = GATE_MEMBER(g, g->last)->status;
  if (WIFSIGNALED(status))
    return g_strdup_printf("ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return g_strdup_printf("ended with status %d", WEXITSTATUS(status));
}

guint live_gate_descriptors(const LiveGate *g, guint member) {
  pid_t pid = GATE_MEMBER(g, member)->pid;
  g_autofree char *path = g_strdup_printf("/proc/%d/fd", pid);
  GDir *dir = pid ? g_dir_open(path, 0, NULL) : NULL;
  guint n = 0;
  const char *name;
  while (dir && (name = g_dir_read_name(dir))) n += atoi(name) < GATE_FD_LEAST;
  if (dir) g_dir_close(dir);
  return n;
}
