/* The outcome moves as the mechanism says when cores, threads, page size or exit order change. Directions and bounds
 * that follow from the mechanism, with whatever the profile says. */
#include "tests/storm_run.h"
#include <sys/wait.h>
#include <unistd.h>

static double warm(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The mean of iterations after the free list has been shuffled: as many slots as two iterations take. */
static RunResult *storm_of(int n, const char *more) {
  return storm_run(NULL,
                   "postgres.max_connections=%d;workload.clients=%d;workload.threads=6;workload.between_iterations=5;"
                   "workload.iterations=warm;%s",
                   2 * (n + 5), n, more);
}
static double warm(const char *name, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  g_autofree char *more = g_strdup_vprintf(format, ap);
  va_end(ap);
  g_autoptr(RunResult) r = storm_of(1000, more);
  return storm_metric(r, 0, name);
}

/* ---- threads: each connects its clients one after the other, so that a second one halves the time, until the serial
 * part (the postmaster, the lock) is all that is left ---- */
static void threads(void) {
  double ms[8];
  for (int i = 0; i < 8; i++) ms[i] = warm("connect_ms", "workload.threads=%d", 1 << i);
  for (int i = 1; i < 8; i++) expect(ms[i] <= ms[i - 1] * 1.02);
  expect(ms[0] / ms[1] > 1.7 && ms[0] / ms[1] <= 2.05);
  expect_near(ms[7], ms[6], 0.1); /* 64 and 128 threads: nothing more to win */
  expect(ms[0] / ms[7] < 64);
}

/* ---- cores ---- */

/* In a process of its own: an assertion of the product that fails must not take the other cases with it. */
static bool survives(const char *more) {
  const pid_t child = fork();
  g_assert(child >= 0);
  if (child == 0) {
    g_autoptr(RunResult) r = storm_of(20, more);
    _exit(r ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
static void cores(void) {
  const bool runs = survives("machine.cores=1") && survives("machine.cores=2");
  expect(runs);
  if (!runs) return;
  const double none = warm("connect_ms", "machine.cores=none"), many = warm("connect_ms", "machine.cores=64"),
               two = warm("connect_ms", "machine.cores=2"), one = warm("connect_ms", "machine.cores=1");
  expect_near(many, none, 0.02); /* six threads: no more than six backends start at once */
  expect(two > none);
  expect(one > 1.5 * two);
}
/* The count of what happens does not change with how many can happen at once. */
static void cores_change_no_counts(void) {
  if (!survives("machine.cores=1")) return; /* said above */
  expect_near(warm("pgxactoff_stores", "machine.cores=1"), warm("pgxactoff_stores", "machine.cores=none"), 0.02);
  expect_near(warm("connect_faults", "machine.cores=1"), warm("connect_faults", "machine.cores=none"), 0.02);
}

/* ---- page size ---- */
static const char no_fault_costs[] = "costs.memory.fault_write=0us;costs.memory.fault_read=0us;"
                                     "costs.memory.fault_around_page=0us;costs.memory.page_table_page=0us;"
                                     "costs.memory.unmap_page=0us;";

/* Faults: the array is a page or two of 2 MiB. Stores stay. */
static void page_size(void) {
  const double small = warm("allprocs_faults", "machine.page_size=4KiB"),
               huge = warm("allprocs_faults", "machine.page_size=2MiB");
  expect(small > 50 * 1000);
  expect_int(huge, <=, 2 * 1000);
  expect_near(warm("pgxactoff_stores", "machine.page_size=2MiB"), warm("pgxactoff_stores", "machine.page_size=4KiB"),
              0.02);
}

/* By how much a warm iteration takes longer than the first one, as a share of the first. */
static double penalty(int n, const char *more) {
  g_autoptr(RunResult) r = storm_run(NULL,
                                     "postgres.max_connections=16384;workload.clients=%d;workload.threads=6;"
                                     "workload.between_iterations=5;workload.iterations=warm;%s",
                                     n, more);
  return storm_metric(r, 0, "connect_ms") / storm_metric(r, 1, "connect_ms") - 1;
}

/* What the faults cost goes with 2 MiB pages, whatever N is: what is left is what a machine would show whose faults
 * cost nothing, moved entries and dirty lines (even with pgxactoff split off the published table has 9 % left at 8192).
 */
static void penalty_of_faults_vanishes(void) {
  for (int n = 1024; n <= 8192; n *= 8) {
    g_autofree char *free_2mib = g_strconcat(no_fault_costs, "machine.page_size=2MiB", NULL);
    const double as_is = penalty(n, ""), huge = penalty(n, "postgres.variant=huge-pages"),
                 free_4kib = penalty(n, no_fault_costs);
    expect(huge < as_is / 2);
    expect(huge - free_4kib < 0.01 && free_4kib - huge < 0.01);
    expect_near(1 + penalty(n, free_2mib), 1 + free_4kib, 0.01);
  }
}
static void small_storm_has_no_penalty_left(void) {
  const double huge = penalty(1024, "postgres.variant=huge-pages");
  expect(huge < 0.05 && huge > -0.05);
}

/* ---- exit order, N = 8192: followers' pages, the own slot's not counted ---- */
enum { EXITS_N = 8192, SLOTS = 16384, RUN = EXITS_N + 5 };

static RunResult *exits(int version, const char *order, const char *more) {
  return storm_run(NULL,
                   "postgres.version=%d;postgres.max_connections=%d;workload.clients=%d;workload.threads=6;"
                   "workload.between_iterations=5;workload.iterations=4;postgres.background=none;"
                   "machine.fault_around=0KiB;workload.exit_order=%s;%s",
                   version, SLOTS, EXITS_N, order, more);
}
/* Iteration 1 has no followers. */
static double follower_pages(const RunResult *r, int k) {
  return storm_metric(r, k, "allprocs_faults") - storm_metric(r, 1, "allprocs_faults");
}

/* What leaves first ends first, so that the free list keeps its order: every exit takes the same time. Slots come round
 * in order, iteration k from (k-1) RUN on: so many as have passed the end have all others behind them. */
static void exit_order_kept(void) {
  g_autofree char *alike = g_strconcat(no_fault_costs, "costs.memory.line_transfer=0us", NULL);
  g_autoptr(RunResult) in_order = exits(19, "in-order", alike), window = exits(19, "{window: 64}", alike);
  for (int k = 1; k <= 4; k++) {
    const int from = (k - 1) * RUN % SLOTS, past = MAX(0, from + EXITS_N - SLOTS);
    expect_int(storm_metric(in_order, k, "pgxactoff_stores"), ==, (int64_t)past * (EXITS_N - past));
  }
  for (int k = 3; k <= 4; k++) { /* facts, section 5: 0.04 to 0.13 million */
    expect(follower_pages(window, k) > 0.04e6);
    expect(follower_pages(window, k) < 0.13e6);
  }
}

/* The same with the profile's costs: exits that cost a little more or less must not undo the order that was asked for.
 */
static void exit_order(void) {
  g_autoptr(RunResult) random = exits(19, "random", ""), window = exits(19, "{window: 64}", ""),
                       in_order = exits(19, "in-order", "");
  expect_near(follower_pages(random, 3), 6.02e6, 0.05);
  for (int k = 3; k <= 4; k++) {
    expect_int(follower_pages(in_order, k), <, follower_pages(window, k));
    expect_int(follower_pages(window, k), <, 0.13e6);
  }
}
/* 16 starts in descending order and, with exits in order, keeps it: 7.2 million each time. */
static void exit_order_16(void) {
  g_autoptr(RunResult) r = exits(16, "in-order", "");
  for (int k = 1; k <= 4; k++) expect_near(storm_metric(r, k, "allprocs_faults"), 7.2e6, 0.03);
}

int main(void) {
  return suite_run("mechanism",
                   (const Case[]){{"threads", threads},
                                  {"page size", page_size},
                                  {"penalty of faults vanishes with 2 MiB pages", penalty_of_faults_vanishes},
                                  {"small storm has no penalty left", small_storm_has_no_penalty_left},
                                  {"exit order kept", exit_order_kept},
                                  {"exit order", exit_order},
                                  {"exit order, 16", exit_order_16},
                                  {"cores", cores},
                                  {"cores change no counts", cores_change_no_counts},
                                  {0}});
}
