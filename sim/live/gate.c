/* gate.c - see gate.h: a run's directory, and its clock. */
#include "sim/live/gate_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

bool gate_fail(GError **error, const char *what) {
  g_set_error(error, GATE_ERROR, 0, "%s: %s", what, g_strerror(errno));
  return false;
}

/* ---- life ---- */

static bool find_user(LiveGate *g, GError **error) {
  g->uid = getuid();
  g->gid = getgid();
  if (g->uid != 0) return true;
  const struct passwd *who = getpwnam(g->config.user);
  if (!who) return g_set_error(error, GATE_ERROR, 0, "there is no user %s to run a pooler as", g->config.user), false;
  g->uid = who->pw_uid;
  g->gid = who->pw_gid;
  return true;
}

/* libfaketime reads an absolute stamp: seconds, and a fraction that it multiplies in floating point and cuts off, so
 * half a nanosecond more makes it the one that is meant. It says that time for every clock. */
static bool put_stamp(const char *path, int64_t real_ns) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  bool ok = fd >= 0 && dprintf(fd, "%" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT "5\n", real_ns / 1000000000,
                               real_ns % 1000000000) > 0;
  if (fd >= 0) close(fd);
  return ok;
}

/* Never read in part: the other of two files is written, and they change names. None is made or cut meanwhile, and no
 * later stamp is shorter, so a disk that has become full does not matter. */
static void write_stamp(const LiveGate *g, int64_t real_ns) {
  g_autofree char *to = g_build_filename(g->dir, "stamp", NULL), *aside = g_strconcat(to, ".new", NULL);
  bool ok = put_stamp(aside, real_ns) && (renameat2(AT_FDCWD, aside, AT_FDCWD, to, RENAME_EXCHANGE) == 0 ||
                                          (errno == EINVAL && rename(aside, to) == 0)); /* not every file system can */
  if (!ok) g_error("%s: %s", to, g_strerror(errno));
}

static bool make_stamps(const LiveGate *g, GError **error) {
  static const char *const names[] = {"stamp", "stamp.new"};
  for (guint i = 0; i < G_N_ELEMENTS(names) && g->config.clock == GATE_CLOCK_FAKETIME; i++) {
    g_autofree char *path = g_build_filename(g->dir, names[i], NULL);
    if (!put_stamp(path, GATE_REAL_START)) return gate_fail(error, path);
  }
  return true;
}

static bool make_clock(LiveGate *g, GError **error) {
  g_autofree char *path = g_build_filename(g->dir, "clock", NULL);
  if (!make_stamps(g, error)) return false;
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return gate_fail(error, path);
  errno = posix_fallocate(fd, 0, sizeof(GateClock)); /* on a full disk a page that is not there yet is a SIGBUS */
  if (errno != 0) return close(fd), gate_fail(error, path);
  void *at = mmap(NULL, sizeof(GateClock), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return gate_fail(error, path);
  g->clock = at;
  g->clock->passes = g->config.clock == GATE_CLOCK_FAKETIME;
  live_gate_set_time(g, 0);
  return true;
}

static bool listen_at_gate(LiveGate *g, GError **error) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  g_snprintf(at.sun_path, sizeof at.sun_path, "%s/gate", g->dir);
  g->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (g->listener < 0 || bind(g->listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(g->listener, BACKLOG) != 0)
    return gate_fail(error, at.sun_path);
  return chown(at.sun_path, g->uid, g->gid) == 0 || gate_fail(error, at.sun_path);
}

/* The library may lie where the pooler's user may not read. */
static bool copy_library(LiveGate *g, GError **error) {
  g_autofree char *bytes = NULL, *path = g_build_filename(g->dir, "gate.so", NULL);
  gsize n;
  if (!g_file_get_contents(g->config.library, &bytes, &n, error)) return false;
  return g_file_set_contents(path, bytes, (gssize)n, error) && (chmod(path, 0755) == 0 || gate_fail(error, path));
}

static bool find_faketime(const LiveGate *g, GError **error) {
  if (g->config.clock != GATE_CLOCK_FAKETIME) return true;
  const char *const libs[] = {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"};
  for (guint i = 0; i < G_N_ELEMENTS(libs); i++) {
    g_autofree char *path = g_strdup_printf("/usr/%s/faketime/libfaketime.so.1", libs[i]);
    if (g_file_test(path, G_FILE_TEST_EXISTS)) return true;
  }
  g_set_error(error, GATE_ERROR, 0, "libfaketime is not there (Debian: libfaketime)");
  return false;
}

/* The first one's directory is the run's. */
static bool make_members(LiveGate *g, GError **error) {
  for (guint i = 0; i < MAX(g->config.members, 1); i++) {
    GateMember m = {.ended = -1, .told = true};
    m.dir = i ? g_strdup_printf("%s/process-%u", g->dir, i) : g_strdup(g->dir);
    m.log = g_build_filename(m.dir, "log", NULL);
    g_array_append_val(g->members, m);
    if (i && mkdir(m.dir, 0755) != 0) return gate_fail(error, m.dir);
    if (chmod(m.dir, 0755) != 0 || chown(m.dir, g->uid, g->gid) != 0) return gate_fail(error, m.dir);
  }
  return true;
}

LiveGate *live_gate_new(const GateConfig *c, GError **error) {
  LiveGate *g = g_new0(LiveGate, 1);
  g->config = *c;
  g->listener = g->pipe = -1;
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a pooler leaves behind is ours to bury, whatever our init does */
  g->lines = g_array_new(FALSE, TRUE, sizeof(GateLine));
  g->processes = g_array_new(FALSE, TRUE, sizeof(GateProcess));
  g->members = g_array_new(FALSE, TRUE, sizeof(GateMember));
  bool ok = find_faketime(g, error) && find_user(g, error) && gate_sweeper_start(g, error) && make_members(g, error) &&
            make_clock(g, error) && listen_at_gate(g, error) && copy_library(g, error);
  g->config.user = g->config.library = NULL; /* the caller's, and used up */
  if (ok) return g;
  live_gate_free(g);
  return NULL;
}

void live_gate_free(LiveGate *g) {
  for (guint i = 0; i < g->members->len; i++) live_gate_kill(g, i);
  gate_lines_clear(g);
  int *fds[] = {&g->listener, &g->pipe};
  for (guint i = 0; i < G_N_ELEMENTS(fds); i++)
    if (*fds[i] >= 0) close(*fds[i]);
  gate_sweeper_await(g);
  if (g->clock) munmap(g->clock, sizeof *g->clock);
  g_array_unref(g->lines);
  g_array_unref(g->processes);
  for (guint i = 0; i < g->members->len; i++) {
    g_free(GATE_MEMBER(g, i)->dir);
    g_free(GATE_MEMBER(g, i)->log);
  }
  g_array_unref(g->members);
  g_free(g->dir);
  g_free(g);
}

/* ---- the clock ---- */

void live_gate_set_time(LiveGate *g, int64_t ns) {
  if (!live_gate_is_gated(g)) {
    gate_pass_time(g, ns);
    return;
  }
  bool follows = g->config.clock == GATE_CLOCK_FAKETIME, moved = ns != g->now_ns || ns == 0;
  g->now_ns = ns;
  g->clock->real_ns = GATE_REAL_START + g->before_ns + ns;
  g->clock->monotonic_ns = (follows ? GATE_REAL_START : GATE_MONOTONIC_START) + g->before_ns + ns;
  if (follows && moved) write_stamp(g, g->clock->real_ns);
}

void live_gate_restart_clock(LiveGate *g) {
  g_assert(live_gate_is_gated(g));
  g->before_ns += g->now_ns;
  g->before_steps = g->steps;
  g->now_ns = 0;
}

int64_t live_gate_deadline(const LiveGate *g) {
  if (!live_gate_is_gated(g)) return gate_next_look(g);
  int64_t first = gate_lines_deadline(g);
  return first < 0 ? INT64_MAX : first - g->clock->monotonic_ns + g->now_ns;
}

GateState live_gate_settle(LiveGate *g) {
  GateState s = live_gate_is_gated(g) ? gate_settle_lines(g) : gate_settle_ungated(g);
  if (s == GATE_QUIET && g->start_ms <= 0) g->start_ms = (double)(g_get_monotonic_time() - g->started_us) / 1e3;
  return s;
}

bool live_gate_is_gated(const LiveGate *g) {
  return g->config.clock != GATE_CLOCK_REAL;
}
guint64 live_gate_steps(const LiveGate *g) {
  return g->steps - g->before_steps;
}
double live_gate_start_ms(const LiveGate *g) {
  return g->start_ms;
}
