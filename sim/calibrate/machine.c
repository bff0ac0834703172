/* machine.c - see machine.h. */
#include "sim/calibrate/machine.h"
#include "sim/calibrate/bench.h"
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static SampleStats measure_fault_write(void) {
  return bench_faults(FAULTS_STORE);
}
static SampleStats measure_fault_read(void) {
  return bench_faults(FAULTS_LOAD_ALONE);
}
static SampleStats measure_around(void) {
  return bench_around(bench_fault_around());
}
static SampleStats measure_unmap(void) {
  return bench_faults(FAULTS_UNMAP);
}
static SampleStats measure_huge(void) {
  return bench_faults(FAULTS_HUGE);
}
static SampleStats measure_move(void) {
  return bench_memmove(16384);
}
static SampleStats measure_move_small(void) {
  return bench_memmove(1024);
}
static SampleStats measure_move_large(void) {
  return bench_memmove(1 << 20);
}

static const struct {
  CostId cost;
  const char *name, *what;
  SampleStats (*measure)(void);
} measurements[] = {
    {COST_FORK, NULL, "fork() in the parent, a process as small as this one", bench_fork},
    {COST_FORK_PER_PTE, NULL, "fork() with 32 MiB resident less without, by 8192 entries", bench_fork_pte},
    {COST_ACCEPT, NULL, "accept() of a Unix-socket connection that waits", bench_accept},
    {COST_REAP, NULL, "waitpid() of a child that is dead", bench_reap},
    {COST_SPIN_SECTION, NULL, "exchange, two stores, release; nobody else wants it", bench_spin},
    {COST_LOCK_ACQUIRE, NULL, "compare-and-swap and decrement; nobody else wants it", bench_lock},
    {COST_LOCK_HANDOVER, NULL, "futex post until a process on another core runs", bench_handover},
    {COST_COUNT, "context switch", "the same with both processes on one core", bench_switch},
    {COST_FAULT_WRITE, NULL, "first stores of a forked child to 1024 filled pages of shared memory",
     measure_fault_write},
    {COST_FAULT_READ, NULL, "first loads of pages whose neighbours are not there", measure_fault_read},
    {COST_FAULT_AROUND_PAGE, NULL, "first loads with all neighbours there less those without, by neighbour",
     measure_around},
    {COST_FAULT_HUGE, NULL, "first stores of a forked child to pages of 2 MiB (MAP_HUGETLB)", measure_huge},
    {COST_PAGE_TABLE_PAGE, NULL, "first stores 2 MiB apart less those to neighbours", bench_table},
    {COST_UNMAP_PAGE, NULL, "munmap() of 1024 mapped pages of shared memory, by page", measure_unmap},
    {COST_LINE_TRANSFER, NULL, "a word that two cores increment in turn", bench_line},
    {COST_MOVE_BYTE, NULL, "memmove() by 4 bytes of 16 KiB, by byte", measure_move},
    {COST_COUNT, "memmove, 1 KiB", "by byte", measure_move_small},
    {COST_COUNT, "memmove, 1 MiB", "by byte", measure_move_large},
    {COST_SCAN_ENTRY, NULL, "a loop over 4096 integers, by integer", bench_scan},
    {COST_STORE_ENTRY, NULL, "4-byte stores 896 bytes apart over 1024 slots, mapped, by store", bench_store},
    {COST_NETWORK, NULL, "a byte over a Unix socket to a process on another core, one way", bench_message},
};

static char *cpu_name(void) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL)) return g_strdup("unknown");
  const char *at = strstr(text, "model name");
  at = at ? strchr(at, ':') : NULL;
  return at ? g_strchomp(g_strndup(at + 2, strcspn(at + 2, "\n"))) : g_strdup("unknown");
}

bool machine_measure(Machine *m, double seconds, const gint *interrupted,
                     void (*progress)(void *data, const char *name, guint done, guint of), void *data) {
  gint64 until = g_get_monotonic_time() + (gint64)(seconds * G_USEC_PER_SEC);
  struct utsname u;
  uname(&u);
  *m = (Machine){.kernel = g_strdup_printf("%s %s %s", u.sysname, u.release, u.machine),
                 .cpu = cpu_name(),
                 .cores = (int)sysconf(_SC_NPROCESSORS_ONLN),
                 .fault_around = bench_fault_around(),
                 .all = g_array_new(FALSE, FALSE, sizeof(Measured))};
  for (guint i = 0; i < G_N_ELEMENTS(measurements); i++) {
    Measured one = {.cost = measurements[i].cost, .name = measurements[i].name, .what = measurements[i].what};
    if (!one.name) one.name = cost_info[one.cost].key;
    if (progress) progress(data, one.name, i, G_N_ELEMENTS(measurements));
    if (interrupted && g_atomic_int_get(interrupted)) return false;
    if (g_get_monotonic_time() < until)
      one.stats = measurements[i].measure();
    else if (!m->late)
      m->late = one.name;
    g_array_append_val(m->all, one);
  }
  return true;
}

void machine_clear(Machine *m) {
  g_free(m->kernel);
  g_free(m->cpu);
  if (m->all) g_array_unref(m->all);
}

/* Huge pages, fault-around and a second core are not everywhere. */
static bool may_be_missing(CostId cost) {
  return cost == COST_FAULT_HUGE || cost == COST_FAULT_AROUND_PAGE || cost == COST_LINE_TRANSFER ||
         cost == COST_LOCK_HANDOVER || cost == COST_NETWORK;
}

char *machine_worthless(const Machine *m) {
  if (m->late)
    return g_strdup_printf("%s: the time was over before it could be measured; is the machine busy?", m->late);
  for (guint i = 0; i < m->all->len; i++) {
    const Measured *one = &g_array_index(m->all, Measured, i);
    if (one->cost == COST_COUNT || (!one->stats.n && may_be_missing(one->cost))) continue;
    if (!one->stats.n)
      return g_strdup_printf("%s: could not be measured; are there memory and processes to be had?", one->name);
    g_autofree char *why = sample_worthless(&one->stats);
    if (why) return g_strdup_printf("%s: %s", one->name, why);
  }
  return NULL;
}
