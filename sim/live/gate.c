/* gate.c - see gate.h: a run's directory, and the pooler in it. */
#include "sim/live/gate_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKLOG = 1024, DESCRIPTORS = GATE_FD_LEAST + 4096 };
/* $LIB is the loader's word: lib, lib64 or lib/x86_64-linux-gnu. */
static const char faketime[] = "/usr/$LIB/faketime/libfaketime.so.1";

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

static bool make_clock(LiveGate *g, GError **error) {
  g_autofree char *path = g_build_filename(g->dir, "clock", NULL);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || ftruncate(fd, sizeof(GateClock)) != 0) return gate_fail(error, path);
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

LiveGate *live_gate_new(const GateConfig *c, GError **error) {
  LiveGate *g = g_new0(LiveGate, 1);
  g->config = *c;
  g->listener = g->pipe = g->ended = -1;
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a pooler leaves behind is ours to bury, whatever our init does */
  g->lines = g_array_new(FALSE, TRUE, sizeof(GateLine));
  g->processes = g_array_new(FALSE, TRUE, sizeof(GateProcess));
  g->dir = find_faketime(g, error) && find_user(g, error) ? g_dir_make_tmp("stampede-live-XXXXXX", error) : NULL;
  g->log = g->dir ? g_build_filename(g->dir, "log", NULL) : NULL;
  bool ok = g->dir && gate_sweeper_start(g, error) &&
            (chown(g->dir, g->uid, g->gid) == 0 || gate_fail(error, g->dir)) && make_clock(g, error) &&
            listen_at_gate(g, error) && copy_library(g, error);
  g->config.user = g->config.library = NULL; /* the caller's, and used up */
  if (ok) return g;
  live_gate_free(g);
  return NULL;
}

void live_gate_kill(LiveGate *g) {
  if (g->pooler) kill(g->pooler, SIGKILL);
  gate_reap(g, true);
  gate_lines_clear(g);
  if (g->ended >= 0) close(g->ended);
  g->ended = -1;
}

void live_gate_free(LiveGate *g) {
  live_gate_kill(g);
  int *fds[] = {&g->listener, &g->pipe};
  for (guint i = 0; i < G_N_ELEMENTS(fds); i++)
    if (*fds[i] >= 0) close(*fds[i]);
  if (g->sweeper > 0) waitpid(g->sweeper, NULL, 0);
  if (g->clock) munmap(g->clock, sizeof *g->clock);
  g_array_unref(g->lines);
  g_array_unref(g->processes);
  g_free(g->dir);
  g_free(g->log);
  g_free(g);
}

const char *live_gate_dir(const LiveGate *g) {
  return g->dir;
}

bool live_gate_write(LiveGate *g, const char *name, const char *text, GError **error) {
  g_autofree char *path = g_build_filename(g->dir, name, NULL);
  if (!g_file_set_contents(path, text, -1, error)) return false;
  return (chmod(path, 0600) == 0 && chown(path, g->uid, g->gid) == 0) || gate_fail(error, path);
}

/* ---- the pooler's process ---- */

/* Ids as they are outside, in a user namespace of its own; for who may not make the others without. */
static void map_self(uid_t uid, gid_t gid) {
  const struct {
    const char *path;
    unsigned id;
  } maps[] = {{"/proc/self/uid_map", uid}, {"/proc/self/gid_map", gid}};
  int fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) dprintf(fd, "deny");
  if (fd >= 0) close(fd);
  for (guint i = 0; i < G_N_ELEMENTS(maps); i++) {
    fd = open(maps[i].path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) dprintf(fd, "%u %u 1", maps[i].id, maps[i].id);
    if (fd >= 0) close(fd);
  }
}

/* Shared memory of its own, which ends with its last process: System V's, and the folder of POSIX's. Where that may not
 * be, the sweeper clears up as far as it can tell. */
static void keep_apart(void) {
  uid_t uid = getuid();
  gid_t gid = getgid();
  if (uid != 0 && unshare(CLONE_NEWUSER) == 0) map_self(uid, gid);
  if (unshare(CLONE_NEWIPC | CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return;
  if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) return;
}

static void descriptors(void) {
  struct rlimit r;
  if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= DESCRIPTORS) return;
  r.rlim_cur = MIN(r.rlim_max, DESCRIPTORS);
  setrlimit(RLIMIT_NOFILE, &r);
}

static void __attribute__((noreturn)) become(const LiveGate *g, const char *const *argv, char **env, pid_t tool) {
  setpgid(0, 0);
  int null = open("/dev/null", O_RDONLY), log = open(g->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  if (null > STDERR_FILENO) close(null);
  descriptors();
  keep_apart();
  if (getuid() == 0 && g->uid != 0 && (setgroups(0, NULL) != 0 || setgid(g->gid) != 0 || setuid(g->uid) != 0))
    _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which would clear it */
  if (getppid() != tool) _exit(126);
  for (int s = 1; s < SIGRTMIN; s++) signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (chdir(g->dir) == 0) execve(argv[0], (char *const *)(const void *)argv, env);
  dprintf(STDERR_FILENO, "%s: %s\n", argv[0], g_strerror(errno));
  _exit(127);
}

/* As little as there can be: nothing of the caller's environment decides what a pooler does. */
static char **environment(const LiveGate *g, const char *const *more) {
  GPtrArray *env = g_ptr_array_new();
  g_ptr_array_add(env, g_strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"));
  g_ptr_array_add(env, g_strdup("TZ=UTC"));
  g_ptr_array_add(env, g_strdup_printf("HOME=%s", g->dir));
  for (; more && *more; more++) g_ptr_array_add(env, g_strdup(*more));
  bool follows = g->config.clock == GATE_CLOCK_FAKETIME;
  if (live_gate_is_gated(g)) {
    g_ptr_array_add(env,
                    g_strdup_printf("LD_PRELOAD=%s/gate.so%s%s", g->dir, follows ? ":" : "", follows ? faketime : ""));
    g_ptr_array_add(env, g_strdup_printf(GATE_ENV_SOCKET "=%s/gate", g->dir));
    g_ptr_array_add(env, g_strdup_printf(GATE_ENV_CLOCK "=%s/clock", g->dir));
    g_ptr_array_add(env, g_strdup_printf(GATE_ENV_SEED "=%" G_GUINT64_FORMAT, g->config.seed));
    g_ptr_array_add(env, g_strdup_printf(GATE_ENV_SERVERS "=%s/pool-", g->dir));
  }
  if (follows) {
    g_ptr_array_add(env, g_strdup_printf("FAKETIME_TIMESTAMP_FILE=%s/stamp", g->dir));
    g_ptr_array_add(env, g_strdup("FAKETIME_NO_CACHE=1"));
    g_ptr_array_add(env, g_strdup("FAKETIME_FMT=%s"));
  }
  g_ptr_array_add(env, NULL);
  return (char **)g_ptr_array_free(env, FALSE);
}

/* Not before the sweeper knows of it: who ends the tool in between leaves nobody behind. */
static void await_word(int word[2], pid_t tool) {
  char byte;
  close(word[1]);
  if (read(word[0], &byte, 1) != 1 || getppid() != tool) _exit(126);
  close(word[0]);
}

static void give_word(int word[2]) {
  close(word[0]);
  (void)!send(word[1], "", 1, MSG_NOSIGNAL); /* where it has ended already, its end is heard */
  close(word[1]);
}

bool live_gate_start(LiveGate *g, const char *const *argv, const char *const *more, GError **error) {
  g_auto(GStrv) env = environment(g, more);
  int word[2];
  pid_t tool = getpid();
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, word) != 0) return gate_fail(error, "socketpair");
  g->started_us = g_get_monotonic_time();
  g->pooler = fork();
  if (g->pooler == 0) {
    await_word(word, tool);
    become(g, argv, env, tool);
  }
  if (g->pooler < 0) {
    g->pooler = 0;
    close(word[0]);
    close(word[1]);
    return gate_fail(error, "fork");
  }
  setpgid(g->pooler, g->pooler);
  gate_sweeper_tell(g, g->pooler, true);
  give_word(word);
  g->ended = (int)syscall(SYS_pidfd_open, g->pooler, 0);
  return g->ended >= 0 || gate_fail(error, "pidfd_open");
}

/* ---- the clock ---- */

/* libfaketime reads an absolute stamp: seconds, and a fraction that it multiplies in floating point and cuts off, so
 * half a nanosecond more makes it the one that is meant. It says that time for every clock. Renamed: never read in
 * part. */
static void write_stamp(const LiveGate *g, int64_t real_ns) {
  g_autofree char *to = g_build_filename(g->dir, "stamp", NULL), *aside = g_strconcat(to, ".new", NULL);
  int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool ok = fd >= 0 && dprintf(fd, "%" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT "5\n", real_ns / 1000000000,
                               real_ns % 1000000000) > 0;
  if (fd >= 0) close(fd);
  if (!ok || rename(aside, to) != 0) g_error("%s: %s", to, g_strerror(errno));
}

void live_gate_set_time(LiveGate *g, int64_t ns) {
  if (!live_gate_is_gated(g)) {
    gate_pass_time(g, ns);
    return;
  }
  bool follows = g->config.clock == GATE_CLOCK_FAKETIME, moved = ns != g->now_ns || ns == 0;
  g->now_ns = ns;
  g->clock->real_ns = GATE_REAL_START + ns;
  g->clock->monotonic_ns = (follows ? GATE_REAL_START : GATE_MONOTONIC_START) + ns;
  if (follows && moved) write_stamp(g, GATE_REAL_START + ns);
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
  return g->steps;
}
double live_gate_start_ms(const LiveGate *g) {
  return g->start_ms;
}
