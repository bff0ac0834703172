/* storm_run.h - a pgbench storm run in process, for tests of its figures. Sets are "KEY=VALUE;KEY=VALUE". */
#pragma once
#include "checks/checks.h"
#include "sim/run.h"
#include "sim/scenario/assets.h"
#include "tests/harness.h"

/* One thread, no short connections between iterations: what the closed forms are about. */
static const char storm_text[] =
    "scenario: storm\n"
    "seed: 1\n"
    "machine: {profile: ramdisk-2026}\n"
    "postgres: {version: 19}\n"
    "workload: {kind: pgbench, clients: 100, threads: 1, transactions: 0, iterations: 1, between_iterations: 0}\n";

/* An empty set is none: a format may end with one. */
static inline void storm_drop_empty(char **set) {
  char **to = set;
  for (char **from = set; *from; from++) {
    if (**from)
      *to++ = *from;
    else
      g_free(*from);
  }
  *to = NULL;
}

/* NULL and *error when the scenario cannot be run. trace: a file to write; NULL. */
static inline RunResult *storm_try(const char *sets, const char *trace, GError **error) {
  g_auto(GStrv) set = g_strsplit(sets, ";", 0), dirs = asset_dirs("build/tests/storm");
  storm_drop_empty(set);
  ScenarioOptions so = {.sets = (const char *const *)set, .dirs = (const char *const *)dirs, .checks = checks_names()};
  g_autoptr(Scenario) s = scenario_from_text(storm_text, strlen(storm_text), "storm.yaml", &so, error);
  if (!s) return NULL;
  RunOptions ro = {.command = "run", .checks = {checks_all, checks_all_len}, .trace_path = trace};
  return run_scenario(s, &ro, error);
}

static inline RunResult *storm_run(const char *trace, const char *format, ...) G_GNUC_PRINTF(2, 3);
static inline RunResult *storm_run(const char *trace, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  g_autofree char *sets = g_strdup_vprintf(format, ap);
  va_end(ap);
  g_autoptr(GError) error = NULL;
  RunResult *r = storm_try(sets, trace, &error);
  if (!r) g_error("%s: %s", sets, error->message);
  return r;
}

/* Metric `name` of iteration k, or of all warm ones (k = 0). It must be there. */
static inline double storm_metric(const RunResult *r, int k, const char *name) {
  g_autofree char *full = k ? g_strdup_printf("iteration[%d].%s", k, name) : g_strdup_printf("warm.%s", name);
  double value = 0;
  if (!run_result_metric(r, full, &value)) g_error("no metric %s", full);
  return value;
}

/* Faults on `structure` (NULL: any) at `site`, over the whole run. */
static inline int64_t storm_faults(const RunResult *r, const char *structure, const char *site) {
  int64_t sum = 0;
  for (guint i = 0; i < r->hotspots->len; i++) {
    const HotSpotRow *h = &g_array_index(r->hotspots, HotSpotRow, i);
    if (strcmp(h->site, site) == 0 && (!structure || strcmp(h->structure, structure) == 0)) sum += h->faults;
  }
  return sum;
}
