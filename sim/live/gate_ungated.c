/* gate_ungated.c - the honest second best, for a program that cannot be preloaded: time passes, and it counts as quiet
 * when all its threads sleep and none has run for a while. It may still do something later, by itself or because it was
 * slow: a second run may differ. */
#include "sim/live/gate_parts.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STILL_US = 2000, SLICE_NS = 10000000, NAP_NS = 50000000 };

static int64_t passed(const LiveGate *g) {
  return g->started_us ? (g_get_monotonic_time() - g->started_us) * 1000 : 0;
}

void gate_pass_time(LiveGate *g, int64_t ns) {
  int64_t ahead;
  while (g->started_us && (ahead = ns - passed(g)) > 0 && !gate_interrupted(g))
    g_usleep((gulong)(MIN(ahead, NAP_NS) / 1000));
  g->now_ns = MAX(ns, g->now_ns);
}

int64_t gate_next_look(const LiveGate *g) {
  return g->now_ns + SLICE_NS;
}

/* Of a group that a first process leads; who has left it is not seen. */
static bool is_family(const LiveGate *g, const char *name) {
  pid_t parent, group;
  return g_ascii_isdigit(*name) && gate_stat(name, &parent, &group) && gate_member_of(g, group) >= 0;
}

static GArray *family_of(const LiveGate *g) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(pid_t));
  GDir *dir = g_dir_open("/proc", 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name(dir))) {
    pid_t pid = (pid_t)atoi(name);
    if (is_family(g, name)) g_array_append_val(all, pid);
  }
  if (dir) g_dir_close(dir);
  return all;
}

/* Calls `each` with the folder of each thread of that process. */
static void tasks_of(pid_t pid, void (*each)(gpointer data, const char *task), gpointer data) {
  g_autofree char *path = g_strdup_printf("/proc/%d/task", pid);
  GDir *dir = g_dir_open(path, 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name(dir))) {
    g_autofree char *task = g_build_filename(path, name, NULL);
    each(data, task);
  }
  if (dir) g_dir_close(dir);
}

typedef struct {
  bool runs;
  guint64 switches;
} Look;

static void look_at(gpointer data, const char *task) {
  Look *look = data;
  g_autofree char *path = g_strconcat(task, "/status", NULL), *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return;
  const char *state = strstr(text, "State:\t");
  look->runs |= state && (state[7] == 'R' || state[7] == 'D');
  for (const char *at = text; (at = strstr(at, "voluntary_ctxt_switches:")); at++)
    look->switches += g_ascii_strtoull(strchr(at, ':') + 1, NULL, 10);
}

static Look look(const LiveGate *g) {
  Look all = {0};
  g_autoptr(GArray) family = family_of(g);
  for (guint i = 0; i < family->len; i++) tasks_of(g_array_index(family, pid_t, i), look_at, &all);
  return all;
}

GateState gate_settle_ungated(LiveGate *g) {
  gint64 end = g_get_monotonic_time() + (gint64)g->config.patience_ms * 1000;
  Look last = look(g);
  while (g_get_monotonic_time() < end && !gate_interrupted(g)) {
    gate_await_ends(g, -1, STILL_US / 1000);
    if (gate_tell_end(g) || !gate_any_there(g)) return GATE_ENDED;
    Look now = look(g);
    g->steps++;
    gate_bound_logs(g);
    if (!last.runs && !now.runs && last.switches == now.switches) return GATE_QUIET;
    last = now;
  }
  return GATE_STUCK;
}
