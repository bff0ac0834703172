/* by_function.c - see by_function.h. perf record's software event needs no hardware counters, so it works in most
 * virtual machines; symbols are those that the server exports. */
#include "sim/calibrate/by_function.h"
#include "sim/calibrate/pg_session.h"
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKENDS = 5, TOP = 12, ATTACH_US = 700000 };

static bool record(pid_t postmaster, const char *file, GPid *perf) {
  g_autofree char *pid = g_strdup_printf("%d", (int)postmaster);
  char *argv[] = {(char *)"perf", (char *)"record", (char *)"-q", (char *)"-e", (char *)"minor-faults", (char *)"-c",
                  (char *)"1",    (char *)"-p",     pid,          (char *)"-o", (char *)file,           NULL};
  return g_spawn_async(NULL, argv, NULL,
                       G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL |
                           G_SPAWN_STDERR_TO_DEV_NULL,
                       NULL, NULL, perf, NULL);
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

GString *faults_by_function(pid_t postmaster, const char *socket_path) {
  g_autofree char *file = NULL;
  GPid perf;
  int fd = g_file_open_tmp("stampede-perf-XXXXXX", &file, NULL);
  if (fd < 0) return NULL;
  close(fd);
  GString *out = NULL;
  if (record(postmaster, file, &perf)) {
    PgSession open[BACKENDS];
    g_usleep(ATTACH_US);
    guint n = connect_some(socket_path, open);
    kill(perf, SIGINT);
    waitpid(perf, NULL, 0);
    for (guint i = 0; i < n; i++) pg_session_close(&open[i], NULL); /* after perf: exits fault too */
    if (n) out = read_record(file, n);
  }
  g_unlink(file);
  return out;
}
