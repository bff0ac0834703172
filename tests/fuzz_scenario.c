/* fuzz_scenario.c - the scenario reader on any bytes: it ends, complains in one line of UTF-8, and what it accepts can
 * be asked for all that models take. Presets and profiles are the bundled ones, so run it from the top folder. */
#include "sim/scenario/scenario.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const dirs[] = {"sim", NULL};

static void judge(const GError *error) {
  g_assert(error && error->domain == SCENARIO_ERROR);
  g_assert(g_utf8_validate(error->message, -1, NULL));
  g_assert(*error->message && !strchr(error->message, '\n'));
}

static void bind(const Scenario *s) {
  g_autoptr(GError) error = NULL;
  Costs costs = {0};
  PgConfig postgres = {0};
  MemoryConfig memory = {0};
  scenario_costs(s, &costs);
  scenario_bind_memory(s, &costs, &memory);
  if (!scenario_bind_postgres(s, &postgres, &error)) judge(error);
  g_assert(scenario_name(s) && scenario_text(s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(GError) error = NULL;
  const ScenarioOptions options = {.dirs = dirs};
  /* A copy that ends with the input, so that reading one byte too many is seen. */
  g_autofree char *text = size ? g_memdup2(data, size) : g_strdup("");
  g_autoptr(Scenario) s = scenario_from_text(text, size, "input", &options, &error);
  g_assert((s == NULL) == (error != NULL));
  if (s)
    bind(s);
  else
    judge(error);
  return 0;
}
