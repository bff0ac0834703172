/* layers.c - merging two trees, and --set: the place that a dotted key names in a tree, made where it is not there. */
#include "sim/scenario/layers.h"
#include "sim/scenario/keys.h"
#include <string.h>

/* A policy is one of several words, a draw one of several kinds: two of them joined would be neither. */
static bool joins(const char *path) {
  const KeyInfo *k = key_find(path);
  return !k || !(k->types & (K_ONE | K_DRAW));
}

static void merge_under(Node *base, const Node *over, const char *path) {
  g_assert(base->kind == NODE_MAP && over->kind == NODE_MAP);
  for (guint i = 0; i < over->children->len; i++) {
    const Node *child = over->children->pdata[i];
    g_autofree char *name = *path ? g_strconcat(path, ".", child->key, NULL) : g_strdup(child->key);
    Node *old = node_child(base, child->key);
    if (old && old->kind == NODE_MAP && child->kind == NODE_MAP && joins(name))
      merge_under(old, child, name);
    else
      node_put(base, child->key, node_copy(child));
  }
}

void layers_merge(Node *base, const Node *over) {
  merge_under(base, over, "");
}

static void say_command(Node *n, char *file) {
  n->command = true;
  for (int i = 0; i < 2; i++) {
    Mark *m = i ? &n->key_mark : &n->mark;
    g_ref_string_acquire(file);
    g_ref_string_release(m->file);
    *m = (Mark){.file = file};
  }
  for (guint i = 0; n->children && i < n->children->len; i++) say_command(n->children->pdata[i], file);
}

static bool bad_key(const char *file, const char *what, GError **error) {
  g_autofree char *name = g_strdup(file);
  g_propagate_error(error, mark_error(&(Mark){.file = name}, NULL, "%s", what));
  return false;
}

/* Where the entry "[3]" or "[name]" of list is kept; NULL: there is none. */
static Node **list_slot(Node *list, const char *index) {
  g_autofree char *inside = g_strndup(index + 1, strcspn(index + 1, "]"));
  char *end = NULL;
  const guint64 i = g_ascii_strtoull(inside, &end, 10);
  if (list->kind != NODE_LIST || !g_str_has_suffix(index, "]")) return NULL;
  const bool number = g_ascii_isdigit(*inside) && !*end;
  const Node *named = number ? NULL : node_named(list, inside);
  for (guint n = 0; n < list->children->len; n++)
    if (number ? n == i : list->children->pdata[n] == named) return (Node **)&list->children->pdata[n];
  return NULL;
}

/* The name by which the table has a key of this map. */
static const char *alias_of(const char *path, const char *name) {
  g_autofree char *whole = *path ? g_strconcat(path, ".", name, NULL) : g_strdup(name);
  const KeyInfo *k = key_find(whole);
  return k && k->alias ? k->alias : name;
}

bool layers_rename(Node *n, const char *path, GError **error) {
  for (guint i = 0; n->children && i < n->children->len; i++) {
    Node *child = n->children->pdata[i];
    const char *key = n->kind == NODE_MAP ? alias_of(path, child->key) : NULL;
    if (key && key != child->key) {
      const Node *twin = node_child(n, key);
      if (twin) {
        g_propagate_error(error, mark_error(&child->key_mark, child->key, "is another spelling of %s, given in line %u",
                                            key, twin->key_mark.line));
        return false;
      }
      g_free(child->key);
      child->key = g_strdup(key);
    }
    g_autofree char *plain = key ? key_without_indexes(key) : NULL;
    g_autofree char *below = !key ? g_strconcat(path, "[]", NULL) : g_strjoin(*path ? "." : "", path, plain, NULL);
    if (!layers_rename(child, below, error)) return false;
  }
  return true;
}

/* Where the value of name is kept in the map at *slot, which is made where there is none: a word gives way to a
 * policy's arguments, and of a policy's words only one can stand: the one that is there keeps its other arguments. */
static Node **map_slot(Node **slot, const char *name, const char *path, Mark mark) {
  if ((*slot)->kind != NODE_MAP) {
    Node *map = node_new(NODE_MAP, mark);
    map->key = g_strdup((*slot)->key);
    node_free(*slot);
    *slot = map;
  }
  name = alias_of(path, name);
  if (!joins(path) && !node_child(*slot, name)) g_ptr_array_set_size((*slot)->children, 0);
  if (!node_child(*slot, name)) node_put(*slot, name, node_new(NODE_MAP, mark));
  for (guint i = 0;; i++) {
    Node **child = (Node **)&(*slot)->children->pdata[i];
    if (!strcmp((*child)->key, name)) return child;
  }
}

/* The next step of key: a name, or [N] of a list. Brackets belong to the name where the table has no list. */
static char *key_part(const char *key, const char *path) {
  if (*key == '[') return g_strndup(key, strcspn(key, "]") + 1);
  const size_t len = strcspn(key, ".[");
  g_autofree char *whole = g_strdup_printf("%s%s%.*s", path, *path ? "." : "", (int)len, key);
  const KeyInfo *k = key_find(whole);
  g_autofree char *with = g_strconcat(whole, "[]", NULL);
  const bool brackets = key[len] == '[' && k && !(k->types & K_LIST) && key_find(with);
  return g_strndup(key, brackets ? len + strcspn(key + len, "]") + 1 : len);
}

/* Walks key down from *slot, as list_slot and map_slot say; path: what the table calls the place. NULL: no such entry.
 */
static Node **slot_of(Node **slot, const char *key, GString *path, Mark mark) {
  while (slot && *key) {
    g_autofree char *part = key_part(key, path->str), *plain = key_without_indexes(part);
    if (*key == '[')
      slot = list_slot(*slot, part);
    else
      slot = map_slot(slot, part, path->str, mark);
    g_string_append_printf(path, "%s%s", *key == '[' || !path->len ? "" : ".", plain);
    key += strlen(part);
    key += *key == '.';
  }
  return slot;
}

static void put(Node **slot, Node *value_taken, const char *path) {
  g_autoptr(Node) value = value_taken;
  if ((*slot)->kind == NODE_MAP && value->kind == NODE_MAP && joins(path)) {
    merge_under(*slot, value, path);
    return;
  }
  g_free(value->key);
  value->key = g_strdup((*slot)->key);
  node_free(*slot);
  *slot = g_steal_pointer(&value);
}

/* Names joined by dots; what stands in brackets may hold dots too. */
static bool key_is_sound(const char *key) {
  guint depth = 1;
  bool inside = false;
  if (!g_ascii_isalpha(*key)) return false;
  for (const char *p = key; *p; p++) {
    if (!g_ascii_isalnum(*p) && !strchr("_-.[]", *p)) return false;
    if (*p == '[' || *p == ']') inside = *p == '[';
    if (*p == '.' && !inside && (!g_ascii_isalpha(p[1]) || ++depth > 10)) return false;
  }
  return strlen(key) <= 200;
}

bool layers_put(Node *base, const char *key, const Node *value) {
  if (!key_is_sound(key)) return false;
  g_autoptr(GString) path = g_string_new(NULL);
  Node **slot = slot_of(&base, key, path, value->mark);
  if (slot) put(slot, node_copy(value), path->str);
  return slot != NULL;
}

/* What the user wrote: what scenario_path_override makes of --subject FILE is quoted and absolute. */
static char *option_of(const char *key_is_value) {
  if (g_str_has_prefix(key_is_value, "subject=\"/")) return g_strdup("--subject");
  return g_strdup_printf("--set %.100s", key_is_value);
}

gboolean layers_set(Node *base, const char *key_is_value, GError **error) {
  g_assert(base->kind == NODE_MAP);
  g_autofree char *file = option_of(key_is_value), *copy = NULL;
  const char *equals = strchr(key_is_value, '=');
  if (!g_utf8_validate(key_is_value, -1, NULL)) return bad_key("--set", "not a text in UTF-8", error);
  if (!equals) return bad_key(file, "write KEY=VALUE", error);
  g_autofree char *key = g_strndup(key_is_value, (gsize)(equals - key_is_value));
  if (!key_is_sound(key))
    return bad_key(file, "the key must be names joined by dots, with [N] for an entry of a list", error);
  if (!*g_strstrip(copy = g_strdup(equals + 1))) return bad_key(file, "has no value; write KEY=VALUE", error);
  Node *value = node_parse(copy, strlen(copy), file, error);
  if (!value) return false;
  char *name = g_ref_string_new(file);
  say_command(value, name);
  g_ref_string_release(name);
  g_autoptr(GString) path = g_string_new(NULL);
  Node **slot = slot_of(&base, key, path, value->mark);
  if (!slot) {
    node_free(value);
    return bad_key(file, "the scenario has no such entry", error);
  }
  if (!layers_rename(value, path->str, error)) {
    node_free(value);
    return false;
  }
  put(slot, value, path->str);
  return true;
}
