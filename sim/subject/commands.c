/* commands.c - see commands.h. */
#include "sim/subject/commands.h"
#include "sim/scenario/scenario.h"
#include <errno.h>
#include <gio/gio.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

GPtrArray *command_new(void) {
  return g_ptr_array_new_with_free_func(g_free);
}
void command_add_all(GPtrArray *words, const char *const *more) {
  for (guint i = 0; more && more[i]; i++) g_ptr_array_add(words, g_strdup(more[i]));
}
void command_add(GPtrArray *words, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(words, g_strdup_vprintf(format, args));
  va_end(args);
}

static void lead_group(gpointer unused) {
  (void)unused;
  setpgid(0, 0);
}

enum { LOOK_MS = 200 /* a signal that comes just before poll is not its to see */ };

/* The compiler has children of its own: all of them end with it. False: interrupted. */
static bool wait_for(const gint *stop, pid_t pid, int *status) {
  int fd = pidfd_open(pid, 0);
  bool interrupted = false;
  for (struct pollfd p = {fd, POLLIN, 0}; fd >= 0 && !interrupted && poll(&p, 1, LOOK_MS) <= 0;)
    interrupted = stop && g_atomic_int_get(stop);
  if (interrupted) kill(-pid, SIGKILL);
  while (waitpid(pid, status, 0) < 0 && errno == EINTR) continue;
  if (fd >= 0) close(fd);
  return !interrupted;
}

bool command_run(GPtrArray *words, const gint *interrupted, const char *what, GError **error) {
  g_autoptr(GError) problem = NULL;
  int status = 0;
  GPid pid;
  g_ptr_array_add(words, NULL);
  bool ran = g_spawn_async(NULL, (char **)words->pdata, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                           lead_group, NULL, &pid, &problem);
  if (!ran) return scenario_wrong(error, "%s: %s", (const char *)words->pdata[0], problem->message);
  if (!wait_for(interrupted, pid, &status)) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
    return false;
  }
  return g_spawn_check_wait_status(status, NULL) || scenario_wrong(error, "%s", what);
}
