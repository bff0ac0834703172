/* gate_processes.c - the processes of a pooler: whose they are, what is left of them when their member has ended. Why a
 * child's end is not missed by its parent: gate_lines.c. */
#include "sim/live/gate_parts.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

GateProcess *gate_process_of(LiveGate *g, int32_t pid) {
  for (guint i = 0; i < g->processes->len; i++) {
    GateProcess *p = &g_array_index(g->processes, GateProcess, i);
    if (p->pid == pid) return p;
  }
  return NULL;
}

char gate_stat(const char *pid, pid_t *parent, pid_t *group) {
  g_autofree char *path = g_strdup_printf("/proc/%s/stat", pid), *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return '\0';
  const char *after = strrchr(text, ')'); /* a program may be called anything */
  char state;
  return after && sscanf(after + 1, " %c %d %d", &state, parent, group) == 3 ? state : '\0';
}

static pid_t parent_of(pid_t pid) {
  g_autofree char *name = g_strdup_printf("%d", pid);
  pid_t parent, group;
  return gate_stat(name, &parent, &group) ? parent : 0;
}

static int member_of(LiveGate *g, pid_t pid) {
  const GateProcess *p = gate_process_of(g, pid);
  return p ? (int)p->member : gate_member_of(g, pid);
}

/* Whose it is: of who made it, and still is its parent; else of whose group it is in, as it has not left it yet. */
static guint whose(LiveGate *g, pid_t pid) {
  int it = gate_member_of(g, pid);
  if (it < 0 && g->members->len > 1) it = member_of(g, parent_of(pid));
  if (it < 0 && g->members->len > 1) it = member_of(g, getpgid(pid));
  return (guint)MAX(it, 0);
}

void gate_process_joins(LiveGate *g, int32_t pid) {
  GateProcess *p = gate_process_of(g, pid);
  if (p) {
    p->lines++;
    return;
  }
  GateProcess one = {.pid = pid, .fd = gate_pidfd(pid), .lines = 1, .member = whose(g, pid)};
  g_array_append_val(g->processes, one);
  GATE_MEMBER(g, one.member)->came = true; /* perhaps a program that its first process started before it came itself */
  if (gate_member_of(g, pid) < 0) gate_sweeper_tell(g, pid, GATE_THERE);
}

bool gate_interrupted(const LiveGate *g) {
  return g->config.interrupted && g_atomic_int_get(g->config.interrupted);
}

int gate_left_ms(gint64 end) {
  gint64 ms = (end - g_get_monotonic_time()) / 1000;
  return ms < 0 ? 0 : (int)ms;
}

void gate_process_ends(LiveGate *g, GateProcess *p, gint64 end) {
  gate_await_end(p->pid, p->fd, gate_left_ms(end));
  int own = gate_member_of(g, p->pid);
  pid_t group = GATE_MEMBER(g, p->member)->pid;
  if (group) kill(-group, 0); /* the barrier, above */
  if (p->fd >= 0) close(p->fd);
  if (own >= 0)
    gate_reap(g, (guint)own, gate_await_end(p->pid, GATE_MEMBER(g, own)->ended, gate_left_ms(end)));
  else
    gate_sweeper_tell(g, p->pid, GATE_GONE);
  g_array_remove_index(g->processes, (guint)(p - (GateProcess *)(void *)g->processes->data));
}

/* A program that system() starts has the line of whoever waits for it, in a call that no gate sees, until it ends. */
void gate_process_lends(LiveGate *g, int32_t pid) {
  GateProcess *p = gate_process_of(g, pid);
  if (!p || --p->lines) return;
  if (p->fd >= 0) close(p->fd);
  if (gate_member_of(g, pid) < 0) gate_sweeper_tell(g, pid, GATE_GONE);
  g_array_remove_index(g->processes, (guint)(p - (GateProcess *)(void *)g->processes->data));
}

/* Of what a pooler has made the tool becomes the parent when the maker is gone (gate.c), and so the one to bury it. */
static void bury(LiveGate *g, guint member, pid_t group) {
  enum { ROUNDS = 1000, ROUND_US = 500 };
  for (guint i = 0; i < g->processes->len; i++) {
    const GateProcess *p = &g_array_index(g->processes, GateProcess, i);
    if (p->member == member && p->pid != group) kill(p->pid, SIGKILL); /* its first is buried already */
  }
  for (guint round = 0; round < ROUNDS && kill(-group, SIGKILL) == 0; round++)
    if (waitpid(-group, NULL, WNOHANG) <= 0) usleep(ROUND_US);
  for (guint i = 0; i < g->processes->len; i++) {
    const GateProcess *p = &g_array_index(g->processes, GateProcess, i);
    if (p->member == member) waitpid(p->pid, NULL, 0); /* those that have left the group */
  }
}

void gate_reap(LiveGate *g, guint member, bool wait) {
  GateMember *m = GATE_MEMBER(g, member);
  pid_t pid = m->pid;
  if (!pid || waitpid(pid, &m->status, wait ? 0 : WNOHANG) != pid) return;
  bury(g, member, pid);
  gate_sweeper_tell(g, pid, GATE_GONE);
  m->pid = 0;
  if (m->ended >= 0) close(m->ended);
  m->ended = -1;
}
