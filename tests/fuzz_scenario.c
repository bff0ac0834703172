/* fuzz_scenario.c - the scenario reader on any bytes: it ends, says why not in one line, and what it accepts can be
 * asked, bound, and read again to the same values. The bytes serve as a scenario, as a --set, and as a preset. */
#include "sim/scenario/keys.h"
#include "sim/scenario/scenario.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_line(const Scenario *s, const GError *error) {
  g_assert((s == NULL) == (error != NULL));
  if (error) g_assert(error->domain == SCENARIO_ERROR && *error->message && !strchr(error->message, '\n'));
}

static void ask(const Scenario *s) {
  PgConfig postgres;
  MemoryConfig memory;
  Costs costs;
  g_autoptr(GError) error = NULL;
  scenario_costs(s, &costs);
  scenario_bind_memory(s, &costs, &memory);
  g_assert(memory_config_complaint(&memory) == NULL);
  bool bound = scenario_bind_postgres(s, &postgres, &error);
  g_assert(bound == (error == NULL));
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const char *path = key_row(i)->path;
    if (*path == '@' || strchr(path, '[')) continue;
    g_free(scenario_mark(s, path));
    (void)scenario_word(s, path);
    (void)scenario_count(s, path);
  }
}

static void try_input(const char *text, size_t size, const ScenarioOptions *opt) {
  g_autoptr(GError) error = NULL;
  g_autoptr(Scenario) s = scenario_from_text(text, size, "input", opt, &error);
  one_line(s, error);
  if (!s) return;
  ask(s);
  ScenarioOptions again = {.sets = scenario_overrides(s), .embedded = scenario_sources(s)};
  g_autoptr(Scenario) twin = scenario_from_text(text, size, "input", &again, &error);
  one_line(twin, error);
  g_assert(twin && scenario_seed(twin) == scenario_seed(s));
}

static ScenarioSource source(const char *kind, const char *name, const char *text) {
  return (ScenarioSource){.kind = (char *)kind, .name = (char *)name, .text = (char *)text};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autofree char *text = g_strndup((const char *)data, size);
  ScenarioSource of[] = {source("preset", "postgres-19", "preset: postgres-19\npostgres: {one_chunk: true}\n"),
                         source("preset", "variant-unsorted", text), source("profile", "assumed", text)};
  gpointer array[] = {&of[0], &of[1], &of[2]};
  const GPtrArray embedded = {.pdata = array, .len = G_N_ELEMENTS(array)};
  const char *const own[] = {text, NULL}, *const third[] = {"postgres.variant=unsorted", "machine.profile=assumed",
                                                            NULL};
  const ScenarioOptions plain = {.embedded = &embedded}, set = {.sets = own, .embedded = &embedded},
                        preset = {.sets = third, .embedded = &embedded};
  const char *base = "scenario: s\nexpect: [{metric: m, within: [1, 2]}]\n";
  try_input((const char *)data, size, &plain);
  try_input(base, strlen(base), &set);
  try_input(base, strlen(base), &preset);
  return 0;
}
