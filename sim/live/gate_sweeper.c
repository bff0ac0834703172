/* gate_sweeper.c - a small process of its own session that holds the reading end of a pipe. When the last writer is
 * gone, which the kernel sees to however the tool ended, it kills the pooler's processes, if the tool has not reaped
 * them, and removes the directory. The tool itself ends the same way: it closes the pipe and waits. So there is one way
 * to clear up, and every run uses it. Where somebody has killed the sweeper, the tool, which kills the pooler itself in
 * any case, removes the directory. The pipe is a pair of sockets: a word to one whose other end is gone need be no
 * signal.
 *
 * Shared memory is the namespace's of the pooler and goes with its last process (gate.c, become); where no namespace
 * could be had, what the pooler's processes made is found by their numbers. */
#include "sim/live/gate_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMBERS_MOST = 1024, ROUNDS = 200, ROUND_US = 1000 };
typedef struct {
  int32_t pid, what; /* GateToSweep */
} Told;
typedef struct {
  pid_t all[MEMBERS_MOST], ended[MEMBERS_MOST]; /* ended: the latest */
  bool leads[MEMBERS_MOST];                     /* of all */
  guint n, n_ended;
} Members;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
  (void)st, (void)type, (void)at;
  remove(path);
  return 0;
}

static void learn(Members *m, const Told *t) {
  guint i = 0;
  while (i < m->n && m->all[i] != t->pid) i++;
  if (t->what != GATE_GONE && i == m->n && m->n < MEMBERS_MOST) {
    m->leads[m->n] = t->what == GATE_LEADS;
    m->all[m->n++] = t->pid;
  }
  if (t->what != GATE_GONE || i == m->n) return;
  m->n--;
  m->all[i] = m->all[m->n];
  m->leads[i] = m->leads[m->n];
  m->ended[m->n_ended++ % MEMBERS_MOST] = t->pid;
}

static bool was_member(const Members *m, pid_t pid) {
  for (guint i = 0; i < m->n; i++)
    if (m->all[i] == pid) return true;
  for (guint i = 0; i < MIN(m->n_ended, MEMBERS_MOST); i++)
    if (m->ended[i] == pid) return true;
  return false;
}

static void kill_all(const Members *m) {
  for (guint i = 0; i < m->n; i++) {
    kill(m->all[i], SIGKILL);
    if (m->leads[i]) kill(-m->all[i], SIGKILL);
  }
  for (guint round = 0; round < ROUNDS; round++) {
    bool alive = false;
    for (guint i = 0; i < m->n; i++) alive |= kill(m->all[i], 0) == 0;
    if (!alive) return;
    usleep(ROUND_US);
  }
}

/* Segments that one of them made: the fifth column of the kernel's table is who did. */
static void remove_segments(const Members *m) {
  FILE *f = fopen("/proc/sysvipc/shm", "r");
  char row[512];
  while (f && fgets(row, sizeof row, f)) {
    int key, id;
    unsigned mode;
    unsigned long size;
    long maker;
    if (sscanf(row, "%d %d %o %lu %ld", &key, &id, &mode, &size, &maker) == 5 && was_member(m, (pid_t)maker))
      shmctl(id, IPC_RMID, NULL);
  }
  if (f) fclose(f);
}

/* Sets of semaphores of which one of them used one last, or gave it its value. */
static void remove_semaphores(const Members *m) {
  FILE *f = fopen("/proc/sysvipc/sem", "r");
  char row[512];
  while (f && fgets(row, sizeof row, f)) {
    int key, id, n, i = 0;
    unsigned mode;
    if (sscanf(row, "%d %d %o %d", &key, &id, &mode, &n) != 4) continue;
    while (i < n && !was_member(m, (pid_t)semctl(id, i, GETPID))) i++;
    if (i < n) semctl(id, 0, IPC_RMID);
  }
  if (f) fclose(f);
}

/* As their owner: root alone may not, where it has no CAP_SYS_ADMIN, and there it had no namespace either. */
static void remove_shared(const Members *m, uid_t owner) {
  uid_t self = geteuid();
  if (owner != self && seteuid(owner) != 0) return;
  remove_segments(m);
  remove_semaphores(m);
  if (owner != self && seteuid(self) != 0) _exit(1);
}

static void remove_faketime(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/dev/shm/faketime_shm_%d", (int)pid);
  remove(path);
  snprintf(path, sizeof path, "/dev/shm/sem.faketime_sem_%d", (int)pid);
  remove(path);
}

/* Whatever else is open belongs to the tool, and whoever waits for its end must not wait for ours. */
static void close_all_but(int from) {
  int null = open("/dev/null", O_RDWR);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) dup2(null, fd);
  if (from > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, (unsigned)from - 1, 0);
  close_range((unsigned)from + 1, ~0u, 0);
}

/* It makes the directory that it is to remove, so that there is none which nobody would. What it says: the path, or '!'
 * and the reason why not. Shorter than a pipe's unit, so it is read whole. */
static char *make_directory(int to) {
  g_autofree char *where = g_canonicalize_filename(g_get_tmp_dir(), NULL), *named = NULL, *said = NULL;
  char *dir = NULL;
  if (strpbrk(where, " :")) { /* which part the paths in LD_PRELOAD */
    said = g_strdup_printf("!%s: no blank or colon may be in its name (TMPDIR)", where);
  } else {
    named = g_build_filename(where, "stampede-live-XXXXXX", NULL);
    dir = g_mkdtemp(named) ? g_steal_pointer(&named) : NULL;
    said = dir ? g_strdup(dir) : g_strdup_printf("!%s: %s", where, g_strerror(errno));
  }
  (void)!write(to, said, strlen(said)); /* the tool may be gone: then there is no more to read either */
  return dir;
}

static void __attribute__((noreturn)) sweep(int from, int to, uid_t owner) {
  static Members m;
  static const int deaf[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  for (guint i = 0; i < G_N_ELEMENTS(deaf); i++) signal(deaf[i], SIG_IGN);
  setsid();
  g_autofree char *dir = make_directory(to);
  close_all_but(from);
  for (;;) {
    Told t;
    ssize_t n = read(from, &t, sizeof t);
    if (n == (ssize_t)sizeof t) learn(&m, &t);
    if (n == 0 || (n < 0 && errno != EINTR)) break;
  }
  kill_all(&m);
  remove_shared(&m, owner);
  for (guint i = 0; i < m.n; i++) remove_faketime(m.all[i]);
  for (guint i = 0; i < MIN(m.n_ended, MEMBERS_MOST); i++) remove_faketime(m.ended[i]);
  if (dir) nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  g_clear_pointer(&dir, g_free);
  _exit(0);
}

/* What it says of its directory. */
static bool hear_directory(LiveGate *g, int from, GError **error) {
  char said[PIPE_BUF + 1];
  ssize_t n;
  do n = read(from, said, PIPE_BUF);
  while (n < 0 && errno == EINTR);
  close(from);
  said[MAX(n, 0)] = '\0';
  if (n > 0 && *said != '!') return g->dir = g_strdup(said), true;
  g_set_error(error, GATE_ERROR, 0, "a directory for the run: %s", n > 0 ? said + 1 : "its keeper has ended");
  return false;
}

bool gate_sweeper_start(LiveGate *g, GError **error) {
  int ends[2], says[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return gate_fail(error, "socketpair");
  if (pipe2(says, O_CLOEXEC) != 0) return close(ends[0]), close(ends[1]), gate_fail(error, "pipe");
  g->sweeper = fork();
  if (g->sweeper == 0) {
    close(ends[1]);
    sweep(ends[0], says[1], g->uid);
  }
  close(ends[0]);
  close(says[1]);
  g->pipe = ends[1];
  if (g->sweeper > 0) return hear_directory(g, says[0], error);
  close(says[0]);
  return gate_fail(error, "fork");
}

void gate_sweeper_tell(const LiveGate *g, pid_t process, GateToSweep what) {
  Told t = {process, (int32_t)what};
  ssize_t n;
  do n = send(g->pipe, &t, sizeof t, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  g_assert(n == (ssize_t)sizeof t || errno == EPIPE || errno == ECONNRESET); /* gone: gate_sweeper_await sees that */
}

void gate_sweeper_await(const LiveGate *g) {
  int status = 0;
  if (g->sweeper > 0) waitpid(g->sweeper, &status, 0);
  if (WIFSIGNALED(status) && g->dir) nftw(g->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
