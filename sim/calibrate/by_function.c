/* by_function.c - see by_function.h. perf record's software event needs no hardware counters, so it works in most
 * virtual machines; symbols are those that the server exports. */
#include "sim/calibrate/by_function.h"
#include "sim/calibrate/pg_session.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKENDS = 5, TOP = 12, ATTACH_MS = 10000 };

/* perf starts idle and tells by a fifo of its own when it counts: on a busy machine that takes seconds. */
typedef struct {
  char *record, *control, *ack; /* in the server's directory: whatever ends us, that goes */
  int tell, told;
  GPid perf;
} Perf;

static bool start(Perf *p, pid_t postmaster) {
  g_autofree char *pid = g_strdup_printf("%d", (int)postmaster),
                  *control = g_strdup_printf("--control=fifo:%s,%s", p->control, p->ack);
  const char *const argv[] = {"perf", "record", "-q", "-e", "minor-faults", "-c",    "1", "-p",
                              pid,    "-D",     "-1", "-o", p->record,      control, NULL};
  return g_spawn_async(NULL, (char **)(void *)argv, NULL,
                       G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL |
                           G_SPAWN_STDERR_TO_DEV_NULL,
                       NULL, NULL, &p->perf, NULL);
}

/* False: it ended, or is silent; it may not count here. */
static bool counts(Perf *p) {
  gint64 until = g_get_monotonic_time() + (gint64)ATTACH_MS * 1000;
  struct pollfd told = {.fd = p->told, .events = POLLIN};
  if (write(p->tell, "enable\n", 7) != 7) return false;
  while (g_get_monotonic_time() < until) {
    if (poll(&told, 1, 50) > 0) return true;
    if (waitpid(p->perf, NULL, WNOHANG) != 0) return p->perf = 0, false;
  }
  return false;
}

static void stop(Perf *p) {
  if (p->perf <= 0) return;
  kill(p->perf, SIGINT);
  waitpid(p->perf, NULL, 0);
  p->perf = 0;
}

static guint connect_some(const char *socket_path, PgSession *open) {
  guint n = 0;
  while (n < BACKENDS && pg_session_open(&open[n], socket_path, NULL)) n++;
  return n;
}

typedef struct {
  char *name;
  guint count;
} Row;
static gint by_count(gconstpointer a, gconstpointer b) {
  const Row *x = a, *y = b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : strcmp(x->name, y->name);
}

/* "ffffffff81b73418 _copy_to_user", a fault a line. */
static GString *table(const char *text, guint backends) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  guint all = 0;
  for (char **line = lines; *line; line++) {
    char *symbol = strchr(g_strstrip(*line), ' ');
    if (!symbol++) continue;
    all++;
    g_hash_table_insert(seen, symbol, GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(seen, symbol)) + 1));
  }
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
  GHashTableIter it;
  gpointer name, count;
  for (g_hash_table_iter_init(&it, seen); g_hash_table_iter_next(&it, &name, &count);) {
    Row r = {name, GPOINTER_TO_UINT(count)};
    g_array_append_val(rows, r);
  }
  g_array_sort(rows, by_count);
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < MIN(rows->len, TOP); i++) {
    const Row *r = &g_array_index(rows, Row, i);
    g_string_append_printf(out, "%9.1f %5.1f %%  %s\n", (double)r->count / backends, 100.0 * r->count / all, r->name);
  }
  return out;
}

static GString *read_record(const char *file, guint backends) {
  char *argv[] = {(char *)"perf", (char *)"script", (char *)"-i", (char *)file, (char *)"-F", (char *)"ip,sym", NULL};
  g_autofree char *out = NULL;
  int status = 1;
  if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL, &status,
                    NULL) ||
      status != 0 || !*out)
    return NULL;
  return table(out, backends);
}

static GString *of_some(Perf *p, pid_t postmaster, const char *socket_path) {
  PgSession open[BACKENDS];
  if (p->tell < 0 || p->told < 0 || !start(p, postmaster) || !counts(p)) return NULL;
  guint n = connect_some(socket_path, open);
  stop(p);
  for (guint i = 0; i < n; i++) pg_session_close(&open[i], NULL); /* after perf: exits fault too */
  return n ? read_record(p->record, n) : NULL;
}

GString *faults_by_function(pid_t postmaster, const char *socket_path) {
  g_autofree char *dir = g_path_get_dirname(socket_path);
  Perf p = {.record = g_build_filename(dir, "perf.data", NULL),
            .control = g_build_filename(dir, "perf.control", NULL),
            .ack = g_build_filename(dir, "perf.ack", NULL)};
  mkfifo(p.control, 0600);
  mkfifo(p.ack, 0600);
  p.tell = open(p.control, O_RDWR | O_CLOEXEC);
  p.told = open(p.ack, O_RDWR | O_CLOEXEC);
  GString *out = of_some(&p, postmaster, socket_path);
  stop(&p);
  if (p.tell >= 0) close(p.tell);
  if (p.told >= 0) close(p.told);
  g_free(p.record);
  g_free(p.control);
  g_free(p.ack);
  return out;
}
