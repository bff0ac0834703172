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

/* In double quotes, which YAML and JSON write alike: a file's name may hold anything. */
static char *subject_of(const char *path) {
  g_autofree char *escaped = g_strescape(path, NULL);
  return g_strdup_printf("subject=\"%s\"", escaped);
}

char *side_variants(const char *names_plus) {
  g_auto(GStrv) names = g_strsplit(names_plus, "+", -1);
  g_autofree char *joined = g_strjoinv(", ", names);
  return g_strdup_printf("postgres.variant=[%s]", joined);
}

bool side_apply(const char *side, const char *const *dirs, GPtrArray *sets, GError **error) {
  char *set;
  if (!*side) {
    g_propagate_error(error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT,
                                         "an empty name; a variant, a preset, KEY=VALUE or a file would be right"));
    return false;
  }
  if (strchr(side, '='))
    set = g_strdup(side);
  else if (strchr(side, '/') || g_str_has_suffix(side, ".so"))
    set = subject_of(side);
  else if (!is_preset(side, dirs))
    set = side_variants(side);
  else if (g_str_has_prefix(side, VERSION))
    set = g_strconcat("postgres.version=", side + strlen(VERSION), NULL);
  else
    set = g_strconcat("pooler.preset=", side, NULL);
  g_ptr_array_add(sets, set);
  return true;
}
