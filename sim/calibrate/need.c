/* need.c - see need.h. */
#include "sim/calibrate/need.h"
#include "sim/calibrate/proc_figures.h"
#include <sys/resource.h>

/* Memory of an idle backend of its own: 380 to 400 faults on private pages (measured, 15 on x86-64), page tables of
 * 300 KiB, a kernel stack, sockets: 2.1 MiB; half of that on top for newer versions and other builds. A slot takes 5
 * KiB of shared memory (PGPROC, status areas, KnownAssignedXids) and 12 KiB of lock tables. A server does not start
 * with fewer than 64 open files (FD_MINFREE, NUM_RESERVED_FDS and what it has open). */
enum { BACKEND_KIB = 3072, SLOT_KIB = 17, SERVER_KIB = 128 * 1024, OWN_DESCRIPTORS = 32, SERVER_PROCESSES = 16 };
enum { SERVER_DESCRIPTORS = 64 };

Need need_of(int clients, int max_connections) {
  return (Need){.memory_kib = (int64_t)clients * BACKEND_KIB + (int64_t)max_connections * SLOT_KIB + SERVER_KIB,
                .descriptors = MAX((int64_t)clients + OWN_DESCRIPTORS, SERVER_DESCRIPTORS),
                .processes = (int64_t)clients + SERVER_PROCESSES};
}

static int64_t number_in(const char *path) {
  g_autofree char *text = NULL;
  char *end;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return INT64_MAX;
  int64_t v = g_ascii_strtoll(text, &end, 10);
  return end == text ? INT64_MAX : v; /* "max" */
}

static int64_t left_of(int64_t limit, int64_t used) {
  return limit == INT64_MAX || used == INT64_MAX ? limit : MAX(limit - used, 0);
}

static int64_t descriptors(int64_t wanted) {
  struct rlimit r;
  if (getrlimit(RLIMIT_NOFILE, &r) != 0) return INT64_MAX;
  if (r.rlim_cur != RLIM_INFINITY && (int64_t)r.rlim_cur < wanted) {
    r.rlim_cur = r.rlim_max == RLIM_INFINITY ? (rlim_t)wanted : MIN(r.rlim_max, (rlim_t)wanted);
    setrlimit(RLIMIT_NOFILE, &r);
    getrlimit(RLIMIT_NOFILE, &r);
  }
  return r.rlim_cur == RLIM_INFINITY ? INT64_MAX : (int64_t)r.rlim_cur;
}

static int64_t processes(void) {
  struct rlimit r;
  int64_t own = getrlimit(RLIMIT_NPROC, &r) == 0 && r.rlim_cur != RLIM_INFINITY ? (int64_t)r.rlim_cur : INT64_MAX;
  int64_t system = MIN(number_in("/proc/sys/kernel/pid_max"), number_in("/proc/sys/kernel/threads-max"));
  int64_t group = left_of(number_in("/sys/fs/cgroup/pids.max"), number_in("/sys/fs/cgroup/pids.current"));
  return MIN(MIN(own, system), group);
}

Need need_available(int64_t wanted) {
  int64_t memory = proc_field("/proc/meminfo", "MemAvailable");
  int64_t group = left_of(number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory.current"));
  return (Need){.memory_kib = MIN(memory < 0 ? INT64_MAX : memory, group == INT64_MAX ? INT64_MAX : group / 1024),
                .descriptors = descriptors(wanted),
                .processes = processes()};
}

bool need_met(const Need *n, const Need *a, GError **error) {
  const struct {
    const char *what;
    int64_t need, there;
    const char *unit;
  } of[] = {{"memory", n->memory_kib / 1024, a->memory_kib / 1024, " MiB"},
            {"open files", n->descriptors, a->descriptors, ""},
            {"processes", n->processes, a->processes, ""}};
  for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
    if (of[i].need <= of[i].there) continue;
    g_set_error(error, CALIBRATE_ERROR, CALIBRATE_ERROR_ENVIRONMENT,
                "not enough %s: %" G_GINT64_FORMAT "%s are needed, %" G_GINT64_FORMAT "%s are there", of[i].what,
                of[i].need, of[i].unit, of[i].there, of[i].unit);
    return false;
  }
  return true;
}
