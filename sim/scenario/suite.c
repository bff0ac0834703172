/* suite.c - see suite.h: three keys, each complaint with its place. */
#include "sim/scenario/suite.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/node.h"
#include "sim/scenario/scenario.h"
#include <stdbool.h>
#include <string.h>

#define WRONG(mark, key, ...) (g_propagate_error(error, mark_error(mark, key, __VA_ARGS__)), false)

static bool known_keys(const Node *root, GError **error) {
  static const char *const keys[] = {"suite", "about", "scenarios", NULL};
  if (root->kind != NODE_MAP) return WRONG(&root->mark, NULL, "is %s; a suite is a map", node_kind(root));
  for (guint i = 0; i < root->children->len; i++) {
    const Node *n = root->children->pdata[i];
    if (g_strv_contains(keys, n->key)) continue;
    const char *near = nearest_name(n->key, keys);
    return WRONG(&n->key_mark, n->key, "no such key in a suite; %s%s", near ? "the nearest is " : "suite, about, ",
                 near ? near : "scenarios are there");
  }
  return true;
}

/* A path in a suite is seen from the suite's own file. */
static char *place_of(const Node *entry, const char *file) {
  if (!strchr(entry->text, '/') || g_path_is_absolute(entry->text)) return g_strdup(entry->text);
  g_autofree char *folder = g_path_get_dirname(file);
  return g_build_filename(folder, entry->text, NULL);
}

static bool named_already(const GPtrArray *all, const char *scenario) {
  for (guint i = 0; i < all->len; i++)
    if (!strcmp(all->pdata[i], scenario)) return true;
  return false;
}

static bool read_scenarios(Suite *s, const Node *root, GError **error) {
  const Node *list = node_child(root, "scenarios");
  if (!list || list->kind != NODE_LIST || !list->children->len)
    return WRONG(list ? &list->mark : &root->mark, "scenarios", "must be a list of scenarios, one at least");
  for (guint i = 0; i < list->children->len; i++) {
    const Node *n = list->children->pdata[i];
    if (n->kind != NODE_SCALAR || !*n->text)
      return WRONG(&n->mark, "scenarios", "is %s; it must be a scenario's name or path", node_kind(n));
    g_autofree char *scenario = place_of(n, root->mark.file);
    if (named_already(s->scenarios, scenario)) return WRONG(&n->mark, "scenarios", "%s stands in it twice", scenario);
    g_ptr_array_add(s->scenarios, g_steal_pointer(&scenario));
  }
  g_ptr_array_add(s->scenarios, NULL);
  return true;
}

static bool read_name(Suite *s, const Node *root, GError **error) {
  const Node *name = node_child(root, "suite");
  if (!name || name->kind != NODE_SCALAR || !*name->text)
    return WRONG(name ? &name->mark : &root->mark, "suite", "the suite's name must stand here");
  s->name = g_strdup(name->text);
  return true;
}

static bool no_suite(const char *name, const char *const *dirs, GError **error) {
  g_autoptr(GPtrArray) list = asset_list(dirs, "suites"), names = g_ptr_array_new();
  for (guint i = 0; i < list->len; i++) g_ptr_array_add(names, ((Asset *)list->pdata[i])->name);
  g_ptr_array_add(names, NULL);
  g_autofree char *all = g_strjoinv(", ", (char **)names->pdata), *file = g_strdup(name);
  return WRONG((&(Mark){.file = file}), NULL, "no such suite; there is %s", *all ? all : "none");
}

Suite *suite_load(const char *name_or_path, const char *const *dirs, GError **error) {
  const bool path = strchr(name_or_path, '/') || g_str_has_suffix(name_or_path, ".yaml");
  g_autofree char *file = path ? g_strdup(name_or_path) : asset_path(dirs, "suites", name_or_path);
  if (!file) return no_suite(name_or_path, dirs, error), NULL;
  gsize length = 0;
  g_autofree char *text = asset_read(file, NODE_MAX_BYTES, &length, error);
  if (!text) return NULL;
  g_autoptr(Node) root = node_parse(text, length, file, error);
  if (!root || !known_keys(root, error)) return NULL;
  g_autoptr(Suite) s = g_new0(Suite, 1);
  s->scenarios = g_ptr_array_new_with_free_func(g_free);
  return read_name(s, root, error) && read_scenarios(s, root, error) ? g_steal_pointer(&s) : NULL;
}

void suite_free(Suite *s) {
  if (!s) return;
  g_free(s->name);
  g_ptr_array_unref(s->scenarios);
  g_free(s);
}
