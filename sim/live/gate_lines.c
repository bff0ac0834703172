/* gate_lines.c - the lines of a pooler's threads and processes: who runs, who is to look again, when all is quiet.
 *
 * At most one line runs, but for those that were just made, which come to their START by themselves. Whoever has gone
 * on may have given anybody else something (a pipe, a semaphore, memory), so after it every other line looks again;
 * those that are parked only where it says that it woke some. All is quiet when none is left to look.
 *
 * Why a child's end is not missed by its parent: its line ends before its parent is told; the driver then waits for the
 * process to have ended, and goes through the kernel's lock of its table of processes once, under which the parent's
 * signal was sent. The parent looks after that. */
#include "sim/live/gate_parts.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLICE_MS = 100, THREAD_US = 50, QUIET_LOOKS = 4 };

/* All that were made have been: each before its maker's report. A line that is heard in slices, so that the end of the
 * first process is seen even where a program of its keeps the line open. */
static void greet(LiveGate *g) {
  const struct timeval slice = {0, SLICE_MS * 1000};
  for (;;) {
    GateLine line = {.fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC), .running = true};
    if (line.fd < 0) return;
    line.number = ++g->made;
    setsockopt(line.fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof slice);
    g_array_append_val(g->lines, line);
  }
}

void gate_lines_clear(LiveGate *g) {
  greet(g); /* those that were never heard */
  for (guint i = 0; i < g->lines->len; i++) close(GATE_LINE(g, i)->fd);
  for (guint i = 0; i < g->processes->len; i++) {
    int fd = g_array_index(g->processes, GateProcess, i).fd;
    if (fd >= 0) close(fd);
  }
  g_array_set_size(g->lines, 0);
  g_array_set_size(g->processes, 0);
}

/* One that has not been heard yet ends by itself where its process is gone. */
void gate_lines_bury(LiveGate *g) {
  for (guint i = g->lines->len; i-- > 0;) {
    const GateProcess *p = gate_process_of(g, GATE_LINE(g, i)->pid);
    if (!GATE_LINE(g, i)->pid || (p && GATE_MEMBER(g, p->member)->pid)) continue;
    close(GATE_LINE(g, i)->fd);
    g_array_remove_index(g->lines, i);
  }
  for (guint i = g->processes->len; i-- > 0;) {
    const GateProcess *p = &g_array_index(g->processes, GateProcess, i);
    if (GATE_MEMBER(g, p->member)->pid) continue;
    if (p->fd >= 0) close(p->fd);
    g_array_remove_index(g->processes, i);
  }
}

/* ---- lines ---- */

static void look_again(LiveGate *g, const GateLine *but, bool woke) {
  for (guint i = 0; i < g->lines->len; i++) {
    GateLine *l = GATE_LINE(g, i);
    bool parked = l->said.flags & GATE_PARKED, mate = l->pid == but->pid;
    l->signals = true;
    if (l != but && (!parked || (woke && mate))) l->look = true;
  }
}

/* Once it is gone from the table pthread_join finds it ended. */
static void thread_ends(int32_t pid, int32_t tid, gint64 end) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d", pid, tid);
  while (pid != tid && access(path, F_OK) == 0 && gate_left_ms(end) > 0) usleep(THREAD_US);
}

static void line_ends(LiveGate *g, guint at, gint64 end) {
  GateLine gone = *GATE_LINE(g, at);
  close(gone.fd);
  g_array_remove_index(g->lines, at);
  GateProcess *p = gone.pid ? gate_process_of(g, gone.pid) : NULL;
  if (p && --p->lines)
    thread_ends(gone.pid, gone.tid, end);
  else if (p)
    gate_process_ends(g, p, end);
  look_again(g, &gone, true);
}

static void heard(LiveGate *g, guint at) {
  GateLine *l = GATE_LINE(g, at);
  l->running = l->look = false;
  g->steps++;
  if (l->pid != l->said.pid) {
    if (l->pid) gate_process_lends(g, l->pid);
    gate_process_joins(g, l->said.pid);
  }
  l->pid = l->said.pid;
  l->tid = l->said.tid;
  if (l->said.kind == GATE_START) l->look = l->signals = true;
  if (l->said.flags & GATE_FRESH) {
    l->went_on_at = g->steps;
    look_again(g, l, l->said.flags & GATE_WOKE);
  }
  if (l->said.flags & GATE_MADE) greet(g);
}

static gint running(const LiveGate *g) {
  for (guint i = 0; i < g->lines->len; i++)
    if (GATE_LINE(g, i)->running) return (gint)i;
  return -1;
}

static bool unheard_end(const LiveGate *g) {
  for (guint i = 0; i < g->members->len; i++)
    if (!GATE_MEMBER(g, i)->pid && !GATE_MEMBER(g, i)->told) return true;
  return false;
}

/* False: it did not come in time. */
static bool hear(LiveGate *g, guint at, gint64 end) {
  for (;;) {
    GateLine *l = GATE_LINE(g, at);
    ssize_t n = recv(l->fd, &l->said, sizeof l->said, 0);
    if (n == (ssize_t)sizeof l->said) return heard(g, at), true;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return line_ends(g, at, end), true;
    gate_await_ends(g, -1, 0);
    gate_bound_logs(g);
    if (unheard_end(g)) return true;
    if (gate_left_ms(end) == 0 || gate_interrupted(g)) return false;
  }
}

/* A member's first line comes once the library is there; a program that loads none never has one. */
static bool is_awaited(const LiveGate *g) {
  for (guint i = 0; i < g->members->len; i++)
    if (GATE_MEMBER(g, i)->pid && !GATE_MEMBER(g, i)->came) return true;
  return false;
}

static bool await_first(LiveGate *g, gint64 end) {
  bool comes = gate_await_ends(g, g->listener, MIN(gate_left_ms(end), SLICE_MS));
  gate_bound_logs(g);
  if (comes) greet(g);
  return !gate_interrupted(g) && (comes || unheard_end(g) || gate_left_ms(end) > 0);
}

/* ---- turns ---- */

static void go(GateLine *l) {
  GateAnswer a = {1, l->signals};
  l->signals = false;
  (void)!send(l->fd, &a, sizeof a, MSG_NOSIGNAL); /* where it has ended, its end is heard */
  l->running = true;
}

/* The line that looks next; NULL: none is to. */
static GateLine *next_turn(LiveGate *g) {
  GateTurn turns[g->lines->len + 1];
  GateLine *lines[g->lines->len + 1];
  guint n = 0;
  lines[0] = NULL;
  for (guint i = 0; i < g->lines->len; i++) {
    GateLine *l = GATE_LINE(g, i);
    if (!l->look) continue;
    turns[n] = (GateTurn){l->number, (GateKind)l->said.kind, l->said.flags & GATE_LISTENS, l->went_on_at};
    lines[n++] = l;
  }
  guint chosen = n > 1 && g->choose ? g->choose(g->choose_data, turns, n) : 0;
  g_assert(n == 0 || chosen < n);
  return lines[chosen];
}

/* The one that does not come back: that of the line that runs, or who never came. */
static GateState is_stuck(LiveGate *g) {
  gint at = running(g);
  const GateProcess *p = at >= 0 ? gate_process_of(g, GATE_LINE(g, (guint)at)->pid) : NULL;
  if (p) g->last = p->member;
  for (guint i = 0; i < g->members->len && !p; i++)
    if (GATE_MEMBER(g, i)->pid && !GATE_MEMBER(g, i)->came) g->last = i;
  return GATE_STUCK;
}

/* Also what it prints a little of in each turn. */
static void bound_at_times(LiveGate *g) {
  if (++g->quiet % QUIET_LOOKS == 0) gate_bound_logs(g);
}

GateState gate_settle_lines(LiveGate *g) {
  gint64 end = g_get_monotonic_time() + (gint64)g->config.patience_ms * 1000;
  while (!gate_tell_end(g) && gate_any_there(g)) {
    gint at = running(g);
    bool awaited = at < 0 && is_awaited(g);
    GateLine *next = at < 0 && !awaited && g->lines->len ? next_turn(g) : NULL;
    if (next && gate_interrupted(g)) return GATE_STUCK; /* threads may wake each other for ever */
    if (next)
      go(next);
    else if (at < 0 && !awaited)
      return bound_at_times(g), GATE_QUIET;
    else if (at >= 0 ? !hear(g, (guint)at, end) : !await_first(g, end))
      return is_stuck(g);
  }
  return GATE_ENDED;
}

void live_gate_go(LiveGate *g) {
  for (guint i = 0; i < g->lines->len; i++) {
    GateLine *l = GATE_LINE(g, i);
    bool due = l->said.deadline_ns >= 0 && l->said.deadline_ns <= g->clock->monotonic_ns;
    l->look = due || !(l->said.flags & GATE_PARKED);
  }
}

void live_gate_choose(LiveGate *g, GateChoose choose, void *data) {
  g->choose = choose;
  g->choose_data = data;
}

int64_t gate_lines_deadline(const LiveGate *g) {
  int64_t first = -1;
  for (guint i = 0; i < g->lines->len; i++) {
    int64_t d = GATE_LINE(g, i)->said.deadline_ns;
    if (d >= 0 && (first < 0 || d < first)) first = d;
  }
  return first;
}

guint live_gate_lines(const LiveGate *g) {
  return g->lines->len;
}
guint live_gate_processes(const LiveGate *g) {
  return g->processes->len;
}
