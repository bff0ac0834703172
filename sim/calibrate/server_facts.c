/* server_facts.c - see server_facts.h. */
#include "sim/calibrate/server_facts.h"
#include "sim/calibrate/proc_figures.h"
#include <stdlib.h>
#include <string.h>

/* To 17 the array is an anonymous chunk right behind "Proc Header"; since 18 it has a name. */
static const char *array_offset_sql(int major) {
  return major >= 18 ? "SELECT off FROM pg_shmem_allocations WHERE name = 'PGPROC structures'"
                     : "SELECT off + allocated_size FROM pg_shmem_allocations WHERE name = 'Proc Header'";
}

static bool ask_number(PgSession *s, const char *sql, int64_t *out, GError **error) {
  g_autofree char *text = pg_session_query(s, sql, error);
  if (!text) return false;
  *out = g_ascii_strtoll(text, NULL, 10);
  return true;
}

/* Reserved huge pages of the process's mappings: none where they are 4 KiB. */
static bool on_huge_pages(pid_t pid) {
  g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)pid), *text = NULL;
  return g_file_get_contents(path, &text, NULL, NULL) && strstr(text, "/anon_hugepage") != NULL;
}

bool server_facts(PgSession *s, int major, pid_t postmaster, ServerFacts *out, GError **error) {
  int64_t offset, connections;
  if (!ask_number(s, array_offset_sql(major), &offset, error) ||
      !ask_number(s, "SELECT setting FROM pg_settings WHERE name = 'max_connections'", &connections, error))
    return false;
  uint64_t base = proc_shared_base(postmaster);
  out->phase = base && offset > 0 ? (int64_t)((base + (uint64_t)offset) % 65536) : -1;
  out->page_size = on_huge_pages(postmaster) ? 2 << 20 : 4096;
  out->max_connections = (int)connections;
  return true;
}
