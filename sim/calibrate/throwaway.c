/* throwaway.c - see throwaway.h. This is the parent's side; keeper.c is the child's. */
#include "sim/calibrate/throwaway.h"
#include "sim/calibrate/keeper.h"
#include "sim/calibrate/pg_session.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_SECONDS = 120, POLL_US = 20000 };

struct Throwaway {
  char *dir, *socket;
  pid_t keeper, postmaster;
  int lifeline; /* held open as long as the server is wanted */
};

static bool fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool fail(GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_propagate_error(error, g_error_new_valist(CALIBRATE_ERROR, CALIBRATE_ERROR_ENVIRONMENT, format, args));
  va_end(args);
  return false;
}

/* ---- what there is ---- */

static bool is_program(const char *bin, const char *name, GError **error) {
  g_autofree char *path = g_build_filename(bin, name, NULL);
  if (!g_file_test(path, G_FILE_TEST_EXISTS)) return fail(error, "%s: there is no %s of PostgreSQL here", bin, name);
  return access(path, X_OK) == 0 || fail(error, "%s: cannot be run: %s", path, g_strerror(errno));
}

int throwaway_version(const char *bin, char **text, GError **error) {
  if (!is_program(bin, "postgres", error) || !is_program(bin, "initdb", error)) return 0;
  g_autofree char *path = g_build_filename(bin, "postgres", NULL), *out = NULL;
  char *argv[] = {path, (char *)"--version", NULL};
  if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL, NULL, error)) return 0;
  static const char before[] = "postgres (PostgreSQL) ";
  int major = g_str_has_prefix(out, before) ? atoi(out + strlen(before)) : 0;
  if (major <= 0) return fail(error, "%s: --version says no version of PostgreSQL", path);
  *text = g_strdup(g_strchomp(out + strlen(before)));
  return major;
}

static bool find_user(KeeperPlan *plan, GError **error) {
  if (geteuid() != 0) return true;
  const struct passwd *user = getpwnam("postgres");
  if (!user) user = getpwnam("nobody");
  if (!user) return fail(error, "a server does not run as root, and there is no user postgres or nobody");
  plan->uid = user->pw_uid;
  plan->gid = user->pw_gid;
  return true;
}

static bool is_empty(const char *dir) {
  g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
  return d && !g_dir_read_name(d);
}

static bool take_given(const char *dir, GError **error) {
  g_autofree char *pid_file = g_build_filename(dir, "data", "postmaster.pid", NULL),
                  *own = g_build_filename(dir, "postmaster.pid", NULL);
  if (g_file_test(pid_file, G_FILE_TEST_EXISTS) || g_file_test(own, G_FILE_TEST_EXISTS))
    return fail(error, "%s: a server is running here already", dir);
  if (g_mkdir(dir, 0700) == 0) return true;
  if (errno != EEXIST) return fail(error, "%s: %s", dir, g_strerror(errno));
  if (!g_file_test(dir, G_FILE_TEST_IS_DIR)) return fail(error, "%s: is not a directory", dir);
  return is_empty(dir) || fail(error, "%s: is not empty; the server's directory is removed at the end", dir);
}

/* What is removed at the end is the directory, not a link to it. */
static char *without_links(char *dir) {
  g_autofree char *given = dir, *real = realpath(dir, NULL); /* malloc'ed, which is what GLib allocates with */
  return g_strdup(real ? real : given);
}

static char *take_directory(const char *given, const KeeperPlan *plan, GError **error) {
  g_autofree char *dir = given ? g_canonicalize_filename(given, NULL) : NULL;
  if (dir && !take_given(dir, error)) return NULL;
  if (dir) dir = without_links(dir);
  if (!dir) dir = g_dir_make_tmp("stampede-server-XXXXXX", error);
  if (!dir) return NULL;
  if (strlen(dir) + sizeof "/.s.PGSQL.5432" > sizeof((struct sockaddr_un){0}).sun_path)
    fail(error, "%s: too long a path for a Unix socket in it", dir);
  else if (plan->uid && chown(dir, plan->uid, plan->gid) != 0)
    fail(error, "%s: chown: %s", dir, g_strerror(errno));
  else
    return g_steal_pointer(&dir);
  g_rmdir(dir);
  return NULL;
}

/* ---- starting ---- */

/* unix_socket_directories is a list: what stands in quotes is one of it, commas, blanks and doubled quotes included. */
static char *quoted(const char *dir) {
  g_auto(GStrv) parts = g_strsplit(dir, "\"", -1);
  g_autofree char *doubled = g_strjoinv("\"\"", parts);
  return g_strdup_printf("\"%s\"", doubled);
}

static char *settings_argv(const ThrowawayRequest *r, const char *dir, GPtrArray *argv) {
  char *data = g_build_filename(dir, "data", NULL);
  const char *const fixed[] = {"listen_addresses=",
                               "port=5432",
                               "fsync=off",
                               "full_page_writes=off",
                               "autovacuum=off",
                               "logging_collector=off",
                               "dynamic_shared_memory_type=mmap",
                               NULL};
  g_ptr_array_add(argv, g_build_filename(r->bin, "postgres", NULL));
  g_ptr_array_add(argv, g_strdup("-D"));
  g_ptr_array_add(argv, g_strdup(data));
  g_ptr_array_add(argv, g_strdup("-k"));
  g_ptr_array_add(argv, quoted(dir));
  for (guint pass = 0; pass < 2; pass++)
    for (const char *const *s = pass ? r->settings : fixed; s && *s; s++) {
      g_ptr_array_add(argv, g_strdup("-c"));
      g_ptr_array_add(argv, g_strdup(*s));
    }
  g_ptr_array_add(argv, NULL);
  return data;
}

static bool fork_keeper(Throwaway *t, const ThrowawayRequest *r, KeeperPlan *plan, GError **error) {
  g_autoptr(GPtrArray) server = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *data = settings_argv(r, t->dir, server), *initdb = g_build_filename(r->bin, "initdb", NULL),
                  *log = g_build_filename(t->dir, "log", NULL);
  const char *const init[] = {initdb,     "-D", data,   "-A",         "trust",     "-U",
                              "postgres", "-E", "UTF8", "--locale=C", "--no-sync", NULL};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(error, "pipe: %s", g_strerror(errno));
  plan->dir = t->dir, plan->log = log, plan->initdb = init, plan->server = (const char *const *)server->pdata;
  plan->lifeline = ends[0], plan->parents_end = ends[1];
  fflush(NULL);
  t->keeper = fork();
  if (t->keeper == 0) keeper_main(plan);
  close(ends[0]);
  t->lifeline = ends[1];
  return t->keeper > 0 || fail(error, "fork: %s", g_strerror(errno));
}

/* What the log says went wrong: its last line of a kind that matters, a PANIC before all (what follows one is that the
 * server recovers); initdb's own words where there is none. */
static char *last_words(const Throwaway *t) {
  g_autofree char *path = g_build_filename(t->dir, "log", NULL), *text = NULL;
  char *said = NULL;
  bool error = false;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return g_strdup("it left no log");
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line; line++) {
    const char *at = strstr(*line, "PANIC:");
    bool panic = at != NULL;
    if (!at) at = strstr(*line, "FATAL:");
    if (!at) at = strstr(*line, "error:");
    if (!at && (error || !strstr(*line, "initdb: ") || strstr(*line, ": removing "))) continue;
    error |= at != NULL;
    if (!at) at = *line;
    g_free(said);
    said = g_strdup(at);
    if (panic) break;
  }
  return said ? said : g_strdup("its log does not say why");
}

static bool read_postmaster(Throwaway *t, GError **error) {
  g_autofree char *path = g_build_filename(t->dir, "data", "postmaster.pid", NULL), *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, error)) return false;
  t->postmaster = (pid_t)atoi(text);
  return t->postmaster > 1 || fail(error, "%s: holds no process id", path);
}

static bool keeper_is_gone(Throwaway *t) {
  if (waitpid(t->keeper, NULL, WNOHANG) != t->keeper) return false;
  t->keeper = 0;
  return true;
}

/* The keeper leaves the log behind when the server ends by itself, so that there is something to read. */
static bool await_server(Throwaway *t, const gint *interrupted, GError **error) {
  gint64 until = g_get_monotonic_time() + START_SECONDS * G_USEC_PER_SEC;
  while (g_get_monotonic_time() < until) {
    PgSession s;
    if (pg_session_open(&s, t->socket, NULL)) return pg_session_close(&s, error) && read_postmaster(t, error);
    if (interrupted && g_atomic_int_get(interrupted)) {
      g_set_error(error, CALIBRATE_ERROR, CALIBRATE_ERROR_INTERRUPTED, "interrupted while the server was starting");
      return false;
    }
    if (keeper_is_gone(t)) {
      g_autofree char *said = last_words(t);
      return fail(error, "the server did not start: %s", said);
    }
    g_usleep(POLL_US);
  }
  g_autofree char *said = last_words(t);
  return fail(error, "the server took no connection within %d s: %s", START_SECONDS, said);
}

Throwaway *throwaway_start(const ThrowawayRequest *r, GError **error) {
  KeeperPlan plan = {.plain_malloc = r->plain_malloc};
  g_autofree char *version = NULL;
  if (!throwaway_version(r->bin, &version, error) || !find_user(&plan, error)) return NULL;
  char *dir = take_directory(r->dir, &plan, error);
  if (!dir) return NULL;
  Throwaway *t = g_new0(Throwaway, 1);
  *t = (Throwaway){.dir = dir, .socket = g_build_filename(dir, ".s.PGSQL.5432", NULL), .lifeline = -1};
  if (fork_keeper(t, r, &plan, error) && await_server(t, r->interrupted, error)) return t;
  throwaway_stop(t);
  return NULL;
}

void throwaway_stop(Throwaway *t) {
  if (!t) return;
  if (t->lifeline >= 0) close(t->lifeline);
  if (t->keeper > 0)
    while (waitpid(t->keeper, NULL, 0) < 0 && errno == EINTR) continue;
  keeper_remove(t->dir);
  g_free(t->dir);
  g_free(t->socket);
  g_free(t);
}

pid_t throwaway_postmaster(const Throwaway *t) {
  return t->postmaster;
}
const char *throwaway_socket(const Throwaway *t) {
  return t->socket;
}
