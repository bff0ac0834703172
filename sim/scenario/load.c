/* load.c - finding a scenario and what it stands on, and laying one over the other; the order is told in scenario.h. */
#include "sim/scenario/assets.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/layers.h"
#include "sim/scenario/scenario_impl.h"
#include "sim/scenario/sources.h"
#include "sim/scenario/units.h"
#include <string.h>

static const ScenarioOptions no_options = {0};

static GPtrArray *overrides_of(const ScenarioOptions *opt) {
  GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; opt->sets && opt->sets[i]; i++) g_ptr_array_add(all, g_strdup(opt->sets[i]));
  if (opt->seed) g_ptr_array_add(all, g_strconcat("seed=", opt->seed, NULL));
  g_ptr_array_add(all, NULL);
  return all;
}

static bool apply_overrides(const Scenario *s, Node *root, GError **error) {
  for (guint i = 0; i + 1 < s->overrides->len; i++)
    if (!layers_set(root, s->overrides->pdata[i], error)) return false;
  return true;
}

static bool lay_preset(Scenario *s, const ScenarioOptions *opt, const char *name, const Node *asked, const char *key,
                       GError **error) {
  const Mark at = asked ? asked->mark : (Mark){.file = s->file};
  g_autoptr(Node) preset = source_open(opt, DOCUMENT_PRESET, name, s->sources, &at, key, error);
  if (!preset || !layers_rename(preset, "", error)) return false;
  Node *about = node_child(preset, "about"), *own = node_child(preset, "preset");
  if (about) g_ptr_array_remove(preset->children, about);
  g_ptr_array_remove(preset->children, own);
  layers_merge(s->root, preset);
  return true;
}

/* The version's preset, where the scenario has a server at all. */
static bool lay_version(Scenario *s, const ScenarioOptions *opt, const Node *top, GError **error) {
  const Node *version = node_at(top, "postgres.version");
  int64_t n = 0;
  if (!node_child(top, "postgres") && !node_child(top, "workload")) return true;
  UnitsFault fault = units_integer(version ? version->text : key_find("postgres.version")->dflt, &n);
  g_assert(!fault);
  g_autofree char *name = g_strdup_printf("postgres-%d", (int)n);
  return lay_preset(s, opt, name, version, "postgres.version", error);
}

static bool lay_variants(Scenario *s, const ScenarioOptions *opt, const Node *variants, GError **error) {
  for (guint i = 0;; i++) {
    g_autofree char *entry = g_strdup_printf("[%u]", i);
    const Node *variant = node_at(variants, entry);
    if (!variant) return true;
    g_autofree char *name = g_strconcat("variant-", variant->text, NULL);
    if (!lay_preset(s, opt, name, variant, "postgres.variant", error)) return false;
  }
}

static bool lay_pooler(Scenario *s, const ScenarioOptions *opt, const Node *top, GError **error) {
  const Node *preset = node_at(top, "pooler.preset");
  if (!preset) return true;
  if (!lay_preset(s, opt, preset->text, preset, "pooler.preset", error)) return false;
  if (node_child(s->root, "pooler")) return true;
  g_propagate_error(error, mark_error(&preset->mark, "pooler.preset", "%s is a preset, but no pooler's", preset->text));
  return false;
}

static bool open_profile(Scenario *s, const ScenarioOptions *opt, GError **error) {
  const Node *asked = node_at(s->root, "machine.profile");
  if (!asked || !strcmp(asked->text, "none")) return true;
  s->profile = source_open(opt, DOCUMENT_PROFILE, asked->text, s->sources, &asked->mark, "machine.profile", error);
  return s->profile != NULL;
}

/* pgbench has no more threads than clients, whatever -j says. */
static void settle_threads(Scenario *s) {
  Node *threads = node_at(s->root, "workload.threads");
  const int64_t clients = scenario_int(s, "workload.clients");
  if (!threads || scenario_int(s, "workload.threads") <= clients) return;
  g_free(threads->text);
  threads->text = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)clients);
}

/* In double quotes, which YAML and JSON write alike: a file's name may hold anything. Bytes of UTF-8 stay. */
char *scenario_path_override(const char *key, const char *path, const char *base) {
  g_autofree char *absolute = g_canonicalize_filename(path, base);
  GString *out = g_string_new(key);
  g_string_append(out, "=\"");
  for (const char *p = absolute; *p; p++)
    if (g_ascii_iscntrl(*p))
      g_string_append_printf(out, "\\u%04x", (guint)*p);
    else
      g_string_append_printf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
  g_string_append_c(out, '"');
  return g_string_free(out, FALSE);
}

/* A path in the file is relative to the file, one of --set to the working directory. From here on it is absolute, also
 * in the overrides, so that a trace finds it from anywhere. */
static void settle_path(Scenario *s, const char *key) {
  Node *n = node_child(s->root, key);
  if (!n || n->kind != NODE_SCALAR || !strchr(n->text, '/') || g_path_is_absolute(n->text)) return;
  g_autofree char *dir = g_path_get_dirname(s->file), *beside = g_canonicalize_filename(n->command ? "." : dir, NULL);
  g_ptr_array_remove_index(s->overrides, s->overrides->len - 1);
  g_ptr_array_add(s->overrides, scenario_path_override(key, n->text, beside));
  g_ptr_array_add(s->overrides, NULL);
  char *path = g_canonicalize_filename(n->text, beside);
  g_free(n->text);
  n->text = path;
}

/* own: the scenario's document. What --set names is read twice: to know which presets it wants, then over everything.
 * A variant that the command line names lies over the scenario: who asks for it last wants to see what it does, even
 * where the scenario spells out a key that the variant changes. */
static bool lay_all(Scenario *s, const Node *own, const ScenarioOptions *opt, GError **error) {
  g_autoptr(Node) top = node_copy(own);
  if (!apply_overrides(s, top, error) || !validate_document(top, DOCUMENT_SCENARIO, opt, error)) return false;
  const Node *variants = node_at(top, "postgres.variant");
  const bool last = variants && variants->command;
  if (!lay_version(s, opt, top, error)) return false;
  if (!last && !lay_variants(s, opt, variants, error)) return false;
  if (!lay_pooler(s, opt, top, error)) return false;
  layers_merge(s->root, own);
  if (last && !lay_variants(s, opt, variants, error)) return false;
  if (!apply_overrides(s, s->root, error)) return false;
  return validate_document(s->root, DOCUMENT_SCENARIO, opt, error) && open_profile(s, opt, error);
}

Scenario *scenario_from_text(const char *text, gsize length, const char *file, const ScenarioOptions *options,
                             GError **error) {
  const ScenarioOptions *opt = options ? options : &no_options;
  g_autoptr(Node) own = node_parse(text, length, file, error);
  if (!own || !validate_document(own, DOCUMENT_SCENARIO, opt, error) || !layers_rename(own, "", error)) return NULL;
  g_autoptr(Scenario) s = g_new0(Scenario, 1);
  s->root = node_new(NODE_MAP, own->mark);
  s->text = g_strndup(text, length);
  s->file = g_strdup(file);
  s->overrides = overrides_of(opt);
  s->sources = g_ptr_array_new_with_free_func(scenario_source_free);
  if (!lay_all(s, own, opt, error) || !scenario_agrees(s, opt, error)) return NULL;
  settle_threads(s);
  settle_path(s, "subject");
  settle_path(s, "model");
  return g_steal_pointer(&s);
}

void scenario_free(Scenario *s) {
  if (!s) return;
  node_free(s->root);
  node_free(s->profile);
  g_free(s->text);
  g_free(s->file);
  g_clear_pointer(&s->overrides, g_ptr_array_unref);
  g_clear_pointer(&s->sources, g_ptr_array_unref);
  g_free(s);
}

static char *no_scenario(const char *name, const ScenarioOptions *opt, GError **error) {
  g_autoptr(GPtrArray) list = asset_list(opt->dirs, "scenarios"), names = g_ptr_array_new();
  for (guint i = 0; i < list->len; i++) g_ptr_array_add(names, ((Asset *)list->pdata[i])->name);
  g_ptr_array_add(names, NULL);
  const char *near = nearest_name(name, (const char *const *)names->pdata);
  g_autofree char *file = g_strdup(name);
  g_propagate_error(error,
                    mark_error(&(Mark){.file = file}, NULL, "no such scenario or file; %s%s",
                               near ? "the nearest is " : "`stampede list scenarios` names them", near ? near : ""));
  return NULL;
}

/* A word is a scenario that comes with the program, if there is one; anything else is a path. */
static char *scenario_path(const char *name, const ScenarioOptions *opt, GError **error) {
  char *path = strchr(name, '/') || !*name ? NULL : asset_path(opt->dirs, "scenarios", name);
  if (path) return path;
  if (strchr(name, '/') || g_file_test(name, G_FILE_TEST_EXISTS)) return g_strdup(name);
  return no_scenario(name, opt, error);
}

bool scenario_find(const char *name_or_path, const ScenarioOptions *opt, char **file, char **text, gsize *length,
                   GError **error) {
  g_autofree char *path = scenario_path(name_or_path, opt, error);
  if (!path || !(*text = asset_read(path, NODE_MAX_BYTES, length, error))) return false;
  *file = g_steal_pointer(&path);
  return true;
}

Scenario *scenario_load(const char *name_or_path, const ScenarioOptions *options, GError **error) {
  const ScenarioOptions *opt = options ? options : &no_options;
  gsize length = 0;
  g_autofree char *file = NULL, *text = NULL;
  if (!scenario_find(name_or_path, opt, &file, &text, &length, error)) return NULL;
  return scenario_from_text(text, length, file, opt, error);
}
