/* side.c - see side.h. A word is a file if it looks like one, a preset if there is one of that name, else a variant: so
 * a mistyped name is told the variants there are. */
#include "sim/side.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/scenario.h"
#include <string.h>

#define VERSION "postgres-"

static bool is_preset(const char *word, const char *const *dirs) {
  g_autofree char *path = asset_path(dirs, "presets", word);
  return path && !g_str_has_prefix(word, "variant-");
}

char *side_variants(const char *names_plus) {
  g_auto(GStrv) names = g_strsplit(names_plus, "+", -1);
  g_autofree char *joined = g_strjoinv(", ", names);
  return g_strdup_printf("postgres.variant=[%s]", joined);
}

static bool refuse(GError **error, const char *side, const char *what) {
  g_propagate_error(error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%.200s%s", side, what));
  return false;
}

bool side_apply(const char *side, const char *const *dirs, GPtrArray *sets, GError **error) {
  const bool path = strchr(side, '/') && !strchr(side, '=');
  char *set;
  if (!*side) return refuse(error, "an empty name", "; a variant, a preset, KEY=VALUE or a file would be right");
  if (path && !g_file_test(side, G_FILE_TEST_EXISTS)) return refuse(error, side, ": no such file");
  if (strchr(side, '='))
    set = g_strdup(side);
  else if (path || g_str_has_suffix(side, ".so"))
    set = scenario_path_override("subject", side, NULL);
  else if (!is_preset(side, dirs))
    set = side_variants(side);
  else if (g_str_has_prefix(side, VERSION))
    set = g_strconcat("postgres.version=", side + strlen(VERSION), NULL);
  else
    set = g_strconcat("pooler.preset=", side, NULL);
  g_ptr_array_add(sets, set);
  return true;
}
