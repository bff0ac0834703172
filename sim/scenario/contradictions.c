/* contradictions.c - keys that are right each by itself and wrong together. */
#include "sim/scenario/assets.h"
#include "sim/scenario/processes.h"
#include "sim/scenario/scenario_impl.h"
#include <string.h>

#define WRONG(key, ...) (g_propagate_error(error, scenario_complain(s, key, __VA_ARGS__)), false)

static bool machine_agrees(const Scenario *s, const ScenarioOptions *opt, GError **error) {
  const int64_t page = scenario_bytes(s, "machine.page_size"), own = scenario_bytes(s, "machine.postmaster_page_size");
  (void)opt;
  if (own != 4096 && own != 2 << 20)
    return WRONG("machine.postmaster_page_size", "no such page; it must be 4KiB or 2MiB");
  if (page != 4096 && page != 2 << 20 && page != 1 << 30)
    return WRONG("machine.page_size", "no such page; it must be 4KiB, 2MiB or 1GiB");
  MemoryConfig memory;
  scenario_bind_memory(s, NULL, &memory);
  const char *complaint = memory_config_complaint(&memory);
  const char *what = complaint ? strstr(complaint, ": ") : NULL; /* "tlb: what is wrong" */
  g_autofree char *key = what ? g_strdup_printf("machine.%.*s", (int)(what - complaint), complaint) : NULL;
  return !complaint || WRONG(key ? key : "machine", "%s", what ? what + 2 : complaint);
}

/* A key that says nothing for this kind of workload: a typing error in `kind`, more often than not. */
static bool workload_agrees(const Scenario *s, const ScenarioOptions *opt, GError **error) {
  static const struct {
    const char *key, *kind;
  } of[] = {{"workload.threads", "pgbench"},
            {"workload.transactions", "pgbench"},
            {"workload.reconnect", "pgbench"},
            {"workload.iterations", "pgbench"},
            {"workload.exit_order", "pgbench"},
            {"workload.between_iterations", "pgbench"},
            {"workload.before_iterations", "pgbench"},
            {"workload.arrive", "storm"},
            {"workload.hold", "storm"}};
  (void)opt;
  for (guint i = 0; i < G_N_ELEMENTS(of); i++)
    if (scenario_given(s, of[i].key) && !scenario_is(s, "workload.kind", of[i].kind))
      return WRONG(of[i].key, "belongs to kind: %s, and kind is %s", of[i].kind, scenario_word(s, "workload.kind"));
  return true;
}

static bool expectation_agrees(const Scenario *s, guint i, GError **error) {
  g_autofree char *metric = g_strdup_printf("expect[%u].metric", i), *within = g_strdup_printf("expect[%u].within", i),
                  *check = g_strdup_printf("expect[%u].check", i), *verdict = g_strdup_printf("expect[%u].verdict", i);
  const bool m = scenario_given(s, metric), w = scenario_given(s, within), c = scenario_given(s, check),
             v = scenario_given(s, verdict);
  if (m == c) return WRONG(metric, "an expectation has either a metric or a check");
  g_autofree char *of = g_strdup_printf("expect[%u].of", i), *during = g_strdup_printf("expect[%u].during", i);
  if (c && scenario_given(s, of)) return WRONG(of, "belongs to a metric, not to a check");
  if (c && scenario_given(s, during)) return WRONG(during, "belongs to a metric, not to a check");
  if (m && (!w || v)) return WRONG(metric, "a metric goes with within: [low, high]");
  if (c && (!v || w)) return WRONG(check, "a check goes with verdict: holds, violated, not-violated or unknown");
  return true;
}

static bool expectation_is_by(const Scenario *s, guint i, const char *way) {
  g_autofree char *by = g_strdup_printf("expect[%u].by", i);
  guint n = scenario_count(s, by);
  for (guint j = 0; j < n; j++) {
    g_autofree char *key = g_strdup_printf("%s[%u]", by, j);
    if (scenario_is(s, key, way)) return true;
  }
  return n == 0;
}

/* What holds is not violated; else a check has one verdict. first: "check way" to the line that says it first, from 1.
 */
static bool verdict_agrees(const Scenario *s, guint i, GHashTable *first, GError **error) {
  static const char *const ways[] = {"run", "check", "live"};
  g_autofree char *check = g_strdup_printf("expect[%u].check", i), *mine = g_strdup_printf("expect[%u].verdict", i);
  for (guint k = 0; k < G_N_ELEMENTS(ways) && scenario_given(s, check); k++) {
    if (!expectation_is_by(s, i, ways[k])) continue;
    char *name = g_strdup_printf("%s %s", scenario_word(s, check), ways[k]);
    guint line = GPOINTER_TO_UINT(g_hash_table_lookup(first, name));
    if (!line) {
      g_hash_table_insert(first, name, GUINT_TO_POINTER(i + 1));
      continue;
    }
    g_free(name);
    g_autofree char *theirs = g_strdup_printf("expect[%u].verdict", line - 1);
    const bool holds = scenario_is(s, mine, "holds") || scenario_is(s, mine, "not-violated");
    const bool unbroken = scenario_is(s, theirs, "holds") || scenario_is(s, theirs, "not-violated");
    if (!(holds && unbroken) && !scenario_is(s, mine, scenario_word(s, theirs)))
      return WRONG(mine, "%s, and line %u of expect wants %s to be %s: both cannot be", scenario_word(s, mine), line,
                   scenario_word(s, check), scenario_word(s, theirs));
  }
  return true;
}

static bool expectations_agree(const Scenario *s, const ScenarioOptions *opt, GError **error) {
  (void)opt;
  for (guint i = 0; i < scenario_count(s, "expect"); i++)
    if (!expectation_agrees(s, i, error)) return false;
  g_autoptr(GHashTable) first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < scenario_count(s, "expect"); i++)
    if (!verdict_agrees(s, i, first, error)) return false;
  return true;
}

static bool table_is_there(const Scenario *s, const ScenarioOptions *opt, GError **error) {
  if (!scenario_given(s, "published") || opt->embedded) return true;
  const char *table = scenario_word(s, "published.table");
  g_autofree char *path = asset_path(opt->dirs, "data", table);
  return path || WRONG("published.table", "no table %s among the program's data", table);
}

/* Clients and their pooler are one model, a workload of a single server is another. */
static bool pooler_agrees(const Scenario *s, const ScenarioOptions *opt, GError **error) {
  (void)opt;
  if (scenario_given(s, "explore.jitter") && !scenario_is(s, "explore.time", "timed"))
    return WRONG("explore.jitter", "belongs to time: timed");
  if (!scenario_has_pooler(s)) {
    static const char *const theirs[] = {"events", "network"};
    for (guint i = 0; i < G_N_ELEMENTS(theirs); i++)
      if (scenario_given(s, theirs[i])) return WRONG(theirs[i], "belongs to clients, and there are none");
    return true;
  }
  if (scenario_given(s, "workload")) return WRONG("workload", "a scenario has either a workload or clients");
  g_autoptr(PoolerBinding) bound = scenario_bind_pooler(s, NULL, error);
  return bound != NULL;
}

/* What may fire is of poolers, or of real code. */
static bool fires_agree(const Scenario *s, GError **error) {
  const bool code = scenario_given(s, "processes");
  for (guint i = 0, n = scenario_count(s, "explore.fire"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("explore.fire[%u]", i);
    const bool spin = scenario_is(s, key, "spin");
    if (code && !spin && !scenario_is(s, key, "deadline"))
      return WRONG(key, "is a pooler's; of processes that run a subject's code there are deadline and spin");
    if (!code && spin) return WRONG(key, "belongs to processes that run a subject's code");
  }
  return true;
}

/* A subject's code is driven by processes, or stands behind a server with a workload. */
static bool processes_agree(const Scenario *s, const ScenarioOptions *opt, GError **error) {
  (void)opt;
  const bool code = scenario_given(s, "subject"), processes = scenario_count(s, "processes") > 0;
  if (code && scenario_given(s, "model")) return WRONG("subject", "a scenario has either a subject or a model");
  if (code && scenario_has_pooler(s))
    return WRONG("subject", "stands in place of a server with a workload; it has no clients of a pooler");
  if (!scenario_given(s, "processes") && scenario_given(s, "explore.without_lock"))
    return WRONG("explore.without_lock", "belongs to processes that run a subject's code");
  if (!fires_agree(s, error)) return false;
  if (!scenario_given(s, "processes")) return true;
  if (!processes) return WRONG("processes", "nobody: an empty list");
  if (!code) return WRONG("processes", "they run a subject's code, and there is none; subject: NAME would name one");
  if (scenario_given(s, "workload")) return WRONG("processes", "a scenario has either a workload or processes");
  g_autoptr(GArray) bound = scenario_bind_processes(s, error);
  return bound != NULL;
}

bool scenario_agrees(const Scenario *s, const ScenarioOptions *opt, GError **error) {
  bool (*const parts[])(const Scenario *, const ScenarioOptions *, GError **) = {
      machine_agrees, workload_agrees, expectations_agree, table_is_there, processes_agree, pooler_agrees};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    if (!parts[i](s, opt, error)) return false;
  return true;
}
