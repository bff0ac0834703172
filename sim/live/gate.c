/* gate.c - see gate.h.
 *
 * The sweeper is a small process of its own session that holds the reading end of a pipe. When the last writer is gone,
 * which the kernel sees to however the tool ended, it kills the pooler's group, if the tool has not reaped it, and
 * removes the directory. The tool itself ends the same way: it closes the pipe and waits. So there is one way to clear
 * up, and every run uses it. */
#include "sim/live/gate.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where virtual time begins on the pooler's clocks: 1000 s after its machine came up, 2026-01-01 00:00 UTC. */
enum { NS_S = 1000000000 };
static const int64_t monotonic_start = 1000 * (int64_t)NS_S, real_start = 1767225600 * (int64_t)NS_S;

struct LiveGate {
  GateConfig config;
  char *dir, *log;
  uid_t uid;
  gid_t gid;
  GateClock *clock;
  int listener, line, pipe, ended; /* -1: none; ended: a pidfd */
  pid_t pooler, sweeper;           /* 0: none, or reaped */
  int status;
  GateReport report;
  guint64 steps;
  bool second; /* another thread or process has come to the gate */
};

static bool fail(GError **error, const char *what) {
  g_set_error(error, GATE_ERROR, 0, "%s: %s", what, g_strerror(errno));
  return false;
}

/* ---- the sweeper ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
  (void)st, (void)type, (void)at;
  remove(path);
  return 0;
}

static void __attribute__((noreturn)) sweep(const char *dir, int from) {
  setsid();
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  pid_t pooler = 0, said;
  for (;;) {
    ssize_t n = read(from, &said, sizeof said);
    if (n == (ssize_t)sizeof said) pooler = said;
    if (n == 0) break;
  }
  if (pooler) kill(-pooler, SIGKILL);
  nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  _exit(0);
}

static bool start_sweeper(LiveGate *g, GError **error) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(error, "pipe");
  g->sweeper = fork();
  if (g->sweeper < 0) return fail(error, "fork");
  if (g->sweeper == 0) {
    close(ends[1]);
    sweep(g->dir, ends[0]);
  }
  close(ends[0]);
  g->pipe = ends[1];
  return true;
}

static void tell_sweeper(const LiveGate *g, pid_t pooler) {
  ssize_t n = write(g->pipe, &pooler, sizeof pooler);
  g_assert(n == (ssize_t)sizeof pooler);
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
  if (fd < 0 || ftruncate(fd, sizeof(GateClock)) != 0) return fail(error, path);
  void *at = mmap(NULL, sizeof(GateClock), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return fail(error, path);
  g->clock = at;
  live_gate_set_time(g, 0);
  return true;
}

static bool listen_at_gate(LiveGate *g, GError **error) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  g_snprintf(at.sun_path, sizeof at.sun_path, "%s/gate", g->dir);
  g->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (g->listener < 0 || bind(g->listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(g->listener, 16) != 0)
    return fail(error, at.sun_path);
  return chown(at.sun_path, g->uid, g->gid) == 0 || fail(error, at.sun_path);
}

/* The library may lie where the pooler's user may not read. */
static bool copy_library(LiveGate *g, GError **error) {
  g_autofree char *bytes = NULL, *path = g_build_filename(g->dir, "gate.so", NULL);
  gsize n;
  if (!g_file_get_contents(g->config.library, &bytes, &n, error)) return false;
  return g_file_set_contents(path, bytes, (gssize)n, error) && (chmod(path, 0755) == 0 || fail(error, path));
}

LiveGate *live_gate_new(const GateConfig *c, GError **error) {
  LiveGate *g = g_new0(LiveGate, 1);
  g->config = *c;
  g->listener = g->line = g->pipe = g->ended = -1;
  g->dir = g_dir_make_tmp("stampede-live-XXXXXX", error);
  g->log = g->dir ? g_build_filename(g->dir, "log", NULL) : NULL;
  bool ok = g->dir && start_sweeper(g, error) && find_user(g, error) &&
            (chown(g->dir, g->uid, g->gid) == 0 || fail(error, g->dir)) && make_clock(g, error) &&
            listen_at_gate(g, error) && copy_library(g, error);
  if (ok) return g;
  live_gate_free(g);
  return NULL;
}

static void reap(LiveGate *g, bool wait) {
  if (!g->pooler || waitpid(g->pooler, &g->status, wait ? 0 : WNOHANG) != g->pooler) return;
  kill(-g->pooler, SIGKILL); /* its children, which are still of its group */
  g->pooler = 0;
  tell_sweeper(g, 0);
}

void live_gate_free(LiveGate *g) {
  if (g->pooler) {
    kill(g->pooler, SIGKILL);
    reap(g, true);
  }
  int *fds[] = {&g->listener, &g->line, &g->pipe, &g->ended};
  for (guint i = 0; i < G_N_ELEMENTS(fds); i++)
    if (*fds[i] >= 0) close(*fds[i]);
  if (g->sweeper > 0) waitpid(g->sweeper, NULL, 0);
  if (g->clock) munmap(g->clock, sizeof *g->clock);
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
  return chown(path, g->uid, g->gid) == 0 || fail(error, path);
}

static void __attribute__((noreturn)) become(const LiveGate *g, const char *const *argv, char **env) {
  setpgid(0, 0);
  int null = open("/dev/null", O_RDONLY), log = open(g->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  if (getuid() == 0 && (setgroups(0, NULL) != 0 || setgid(g->gid) != 0 || setuid(g->uid) != 0)) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which would clear it */
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  if (chdir(g->dir) == 0) execve(argv[0], (char *const *)(const void *)argv, env);
  dprintf(STDERR_FILENO, "%s: %s\n", argv[0], g_strerror(errno));
  _exit(127);
}

/* As little as there can be: nothing of the caller's environment decides what a pooler does. */
static char **environment(const LiveGate *g) {
  GPtrArray *env = g_ptr_array_new();
  g_ptr_array_add(env, g_strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"));
  g_ptr_array_add(env, g_strdup("TZ=UTC"));
  g_ptr_array_add(env, g_strdup_printf("HOME=%s", g->dir));
  g_ptr_array_add(env, g_strdup_printf("LD_PRELOAD=%s/gate.so", g->dir));
  g_ptr_array_add(env, g_strdup_printf(GATE_ENV_SOCKET "=%s/gate", g->dir));
  g_ptr_array_add(env, g_strdup_printf(GATE_ENV_CLOCK "=%s/clock", g->dir));
  g_ptr_array_add(env, g_strdup_printf(GATE_ENV_SEED "=%" G_GUINT64_FORMAT, g->config.seed));
  g_ptr_array_add(env, NULL);
  return (char **)g_ptr_array_free(env, FALSE);
}

bool live_gate_start(LiveGate *g, const char *const *argv, GError **error) {
  g_auto(GStrv) env = environment(g);
  g->pooler = fork();
  if (g->pooler < 0) {
    g->pooler = 0;
    return fail(error, "fork");
  }
  if (g->pooler == 0) become(g, argv, env);
  setpgid(g->pooler, g->pooler);
  tell_sweeper(g, g->pooler);
  g->ended = (int)syscall(SYS_pidfd_open, g->pooler, 0);
  return g->ended >= 0 || fail(error, "pidfd_open");
}

/* ---- steps ---- */

static bool hear(LiveGate *g) {
  ssize_t n = recv(g->line, &g->report, sizeof g->report, MSG_DONTWAIT);
  if (n != (ssize_t)sizeof g->report) return false;
  g->steps++;
  return true;
}

static void greet(LiveGate *g) {
  int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return;
  if (g->line >= 0) {
    g->second = true;
    close(fd);
  } else {
    g->line = fd;
  }
}

GateState live_gate_settle(LiveGate *g) {
  gint64 end = g_get_monotonic_time() + (gint64)g->config.patience_ms * 1000;
  for (;;) {
    struct pollfd on[] = {
        {.fd = g->line, .events = POLLIN}, {.fd = g->listener, .events = POLLIN}, {.fd = g->ended, .events = POLLIN}};
    gint64 left = (end - g_get_monotonic_time()) / 1000;
    int n = left <= 0 ? 0 : poll(on, G_N_ELEMENTS(on), (int)left);
    if (n == 0) return GATE_STUCK;
    if (n < 0) continue; /* a signal: SIGINT is looked at between two steps */
    if (on[0].revents & POLLIN && hear(g)) return GATE_QUIET;
    if (on[1].revents & POLLIN) greet(g);
    if (on[2].revents) return reap(g, true), GATE_ENDED;
  }
}

void live_gate_go(LiveGate *g) {
  GateAnswer a = {1};
  (void)!send(g->line, &a, sizeof a, MSG_NOSIGNAL); /* where it has ended, live_gate_settle says so */
}

int64_t live_gate_deadline(const LiveGate *g) {
  return g->report.deadline_ns < 0 ? INT64_MAX : g->report.deadline_ns - monotonic_start;
}

void live_gate_set_time(LiveGate *g, int64_t ns) {
  g->clock->monotonic_ns = monotonic_start + ns;
  g->clock->real_ns = real_start + ns;
}

guint64 live_gate_steps(const LiveGate *g) {
  return g->steps;
}

/* ---- what is wrong ---- */

static char *system_call(const LiveGate *g) {
  static const struct {
    long number;
    const char *name;
  } names[] = {{SYS_read, "read"},
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
               {SYS_clock_nanosleep, "clock_nanosleep"},
               {SYS_ppoll, "ppoll"},
               {SYS_epoll_pwait, "epoll_pwait"},
               {SYS_rt_sigtimedwait, "sigwait"},
               {SYS_flock, "flock"},
               {SYS_fcntl, "fcntl"},
               {SYS_io_uring_enter, "io_uring_enter"},
#ifdef SYS_poll
               {SYS_poll, "poll"},
               {SYS_epoll_wait, "epoll_wait"},
               {SYS_select, "select"},
               {SYS_pause, "pause"},
#endif
               {SYS_rt_sigsuspend, "sigsuspend"}};
  g_autofree char *path = g_strdup_printf("/proc/%d/syscall", g->pooler), *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return g_strdup("is stuck; what it does is not to be seen");
  if (g_str_has_prefix(text, "running")) return g_strdup("is stuck, and waits for nothing: it computes");
  long number = strtol(text, NULL, 10);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (names[i].number == number) return g_strdup_printf("is stuck in %s, which is not gated", names[i].name);
  return g_strdup_printf("is stuck in system call %ld, which is not gated", number);
}

char *live_gate_words(LiveGate *g, GateState s) {
  if (s == GATE_STUCK && g->second) return g_strdup("has a second thread or process that waits, which is not gated");
  if (s == GATE_STUCK) return system_call(g);
  g_assert(s == GATE_ENDED);
  if (WIFSIGNALED(g->status))
    return g_strdup_printf("ended by signal %d (%s)", WTERMSIG(g->status), strsignal(WTERMSIG(g->status)));
  return g_strdup_printf("ended with status %d", WEXITSTATUS(g->status));
}

char *live_gate_log_tail(const LiveGate *g, guint lines) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents(g->log, &text, NULL, NULL)) return g_strdup("");
  g_strchomp(text);
  char *from = text + strlen(text);
  for (guint seen = 0; from > text; from--)
    if (from[-1] == '\n' && ++seen == lines) break;
  g_autofree char *tail = g_strdup(from), *ends = g_utf8_make_valid(tail, -1);
  return g_strdup(ends);
}
