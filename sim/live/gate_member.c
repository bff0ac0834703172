/* gate_member.c - a pooler's first processes (gate.h, members): each is started in a directory, a namespace and a
 * process group of its own. */
#include "sim/live/gate_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DESCRIPTORS = GATE_FD_LEAST + 4096 };
/* $LIB is the loader's word: lib, lib64 or lib/x86_64-linux-gnu. */
static const char faketime[] = "/usr/$LIB/faketime/libfaketime.so.1";

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
  if (unshare(CLONE_NEWIPC | CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0) return;
  if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) return;
}

static void descriptors(void) {
  struct rlimit r;
  if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= DESCRIPTORS) return;
  r.rlim_cur = MIN(r.rlim_max, DESCRIPTORS);
  setrlimit(RLIMIT_NOFILE, &r);
}

static void __attribute__((noreturn))
become(const LiveGate *g, guint member, const char *const *argv, char **env, pid_t tool) {
  setpgid(0, 0);
  const GateMember *m = GATE_MEMBER(g, member);
  int null = open("/dev/null", O_RDONLY), log = open(m->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
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
  if (chdir(m->dir) == 0) execve(argv[0], (char *const *)(const void *)argv, env);
  dprintf(STDERR_FILENO, "%s: %s\n", argv[0], g_strerror(errno));
  _exit(127);
}

/* As little as there can be: nothing of the caller's environment decides what a pooler does. */
static char **environment(const LiveGate *g, guint member, const char *const *more) {
  const char *dir = GATE_MEMBER(g, member)->dir;
  GPtrArray *env = g_ptr_array_new();
  g_ptr_array_add(env, g_strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"));
  g_ptr_array_add(env, g_strdup("TZ=UTC"));
  g_ptr_array_add(env, g_strdup_printf("HOME=%s", dir));
  for (; more && *more; more++) g_ptr_array_add(env, g_strdup(*more));
  bool follows = g->config.clock == GATE_CLOCK_FAKETIME;
  if (live_gate_is_gated(g)) {
    g_ptr_array_add(env,
                    g_strdup_printf("LD_PRELOAD=%s/gate.so%s%s", g->dir, follows ? ":" : "", follows ? faketime : ""));
    g_ptr_array_add(env, g_strdup_printf(GATE_ENV_SOCKET "=%s/gate", g->dir));
    g_ptr_array_add(env, g_strdup_printf(GATE_ENV_CLOCK "=%s/clock", g->dir));
    g_ptr_array_add(env, g_strdup_printf(GATE_ENV_SEED "=%" G_GUINT64_FORMAT, g->config.seed + member));
    g_ptr_array_add(env, g_strdup_printf(GATE_ENV_SERVERS "=%s/pool-", dir));
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

static pid_t launch(LiveGate *g, guint member, const char *const *argv, char **env, int word[2]) {
  pid_t tool = getpid(), pid = fork();
  if (pid != 0) return pid;
  await_word(word, tool);
  become(g, member, argv, env, tool);
}

bool live_gate_start(LiveGate *g, guint member, const char *const *argv, const char *const *more, GError **error) {
  g_assert(member < g->members->len);
  g_auto(GStrv) env = environment(g, member, more);
  int word[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, word) != 0) return gate_fail(error, "socketpair");
  GateMember *m = GATE_MEMBER(g, member);
  g_assert(m->pid == 0);
  if (!g->started_us) g->started_us = g_get_monotonic_time();
  pid_t pid = launch(g, member, argv, env, word);
  if (pid < 0) {
    close(word[0]);
    close(word[1]);
    return gate_fail(error, "fork");
  }
  m->pid = pid;
  m->came = m->told = false;
  setpgid(pid, pid);
  gate_sweeper_tell(g, pid, GATE_LEADS);
  give_word(word);
  m->ended = gate_pidfd(pid);
  bool unknown = m->ended < 0 && (errno == ENOSYS || errno == EPERM); /* to the kernel, or whoever stands before it */
  return m->ended >= 0 || unknown || gate_fail(error, "pidfd_open");
}

void live_gate_kill(LiveGate *g, guint member) {
  GateMember *m = GATE_MEMBER(g, member);
  if (m->pid) kill(m->pid, SIGKILL);
  gate_reap(g, member, true);
  m->told = true;
  gate_lines_bury(g);
  if (m->ended >= 0) close(m->ended);
  m->ended = -1;
}

bool live_gate_signal(LiveGate *g, guint member, int number) {
  for (guint i = 0; i < g->lines->len; i++) GATE_LINE(g, i)->signals = true;
  pid_t pid = GATE_MEMBER(g, member)->pid;
  return pid && kill(pid, number) == 0;
}

bool live_gate_is_there(const LiveGate *g, guint member) {
  return GATE_MEMBER(g, member)->pid != 0;
}

guint live_gate_ended(const LiveGate *g) {
  return g->last;
}

/* ---- what became of them ---- */

bool gate_any_there(const LiveGate *g) {
  for (guint i = 0; i < g->members->len; i++)
    if (GATE_MEMBER(g, i)->pid) return true;
  return false;
}

bool gate_tell_end(LiveGate *g) {
  for (guint i = 0; i < g->members->len; i++) {
    GateMember *m = GATE_MEMBER(g, i);
    if (m->pid || m->told) continue;
    m->told = true;
    g->last = i;
    gate_lines_bury(g);
    return true;
  }
  return false;
}

int gate_member_of(const LiveGate *g, pid_t pid) {
  for (guint i = 0; i < g->members->len; i++)
    if (GATE_MEMBER(g, i)->pid == pid) return (int)i;
  return -1;
}

const char *live_gate_dir(const LiveGate *g, guint member) {
  return GATE_MEMBER(g, member)->dir;
}

bool live_gate_write(LiveGate *g, guint member, const char *name, const char *text, GError **error) {
  g_autofree char *path = g_build_filename(GATE_MEMBER(g, member)->dir, name, NULL);
  if (!g_file_set_contents(path, text, -1, error)) return false;
  return (chmod(path, 0600) == 0 && chown(path, g->uid, g->gid) == 0) || gate_fail(error, path);
}
