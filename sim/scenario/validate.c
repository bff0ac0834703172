/* validate.c - a document against the table of keys, from the root down: the first thing that is wrong ends it, with
 * what would be right. */
#include "sim/scenario/validate.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/scalar.h"
#include <string.h>

typedef struct {
  DocumentKind kind;
  const ScenarioOptions *opt;
  bool plugged; /* a user's model or code: it has checks of its own, known when it is built */
  GError **error;
} Check;

static bool check_node(const Check *c, const Node *n, const char *pattern, const char *shown);

static char *joined(const char *path, const char *key) {
  return *path ? g_strconcat(path, ".", key, NULL) : g_strdup(key);
}

/* Sections that a preset may fill; it names no scenario, other preset or profile. */
static bool belongs(const Check *c, const char *pattern) {
  const char *const in_preset[] = {"preset", "about", "machine", "postgres", "pooler", NULL};
  if (c->kind == DOCUMENT_SCENARIO) return strcmp(pattern, "preset") != 0;
  if (c->kind == DOCUMENT_PROFILE) return true;
  if (!strchr(pattern, '.')) return g_strv_contains(in_preset, pattern);
  const KeyInfo *k = key_find(pattern);
  return !k || k->names == NAMES_NONE;
}

/* Where else a key of this name is known: "workload.clients" for clients. */
static const char *elsewhere(const char *key) {
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const char *path = key_row(i)->path, *dot = strrchr(path, '.');
    if (dot && *path != '@' && !key_row(i)->hint && !strcmp(dot + 1, key)) return path;
  }
  return NULL;
}

static bool unknown_key(const Check *c, const Node *child, const char *parent, const char *shown) {
  g_autoptr(GPtrArray) names = key_names_under(parent);
  for (guint i = names->len; i-- > 0;) {
    g_autofree char *path = joined(parent, names->pdata[i]);
    if (!belongs(c, path)) g_ptr_array_remove_index(names, i);
  }
  g_ptr_array_add(names, NULL);
  const char *near = nearest_name(child->key, (const char *const *)names->pdata), *other = elsewhere(child->key);
  g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
  if (near)
    g_propagate_error(c->error, mark_error(&child->key_mark, shown, "unknown key; the nearest is %s", near));
  else if (other && c->kind != DOCUMENT_PROFILE)
    g_propagate_error(c->error, mark_error(&child->key_mark, shown, "unknown key here; there is %s", other));
  else
    g_propagate_error(c->error, mark_error(&child->key_mark, shown, "unknown key; known here: %s", all));
  return false;
}

/* A missing key that its map cannot do without. */
static bool nothing_missing(const Check *c, const Node *map, const char *pattern, const char *shown) {
  g_autoptr(GPtrArray) rows = key_children(pattern);
  for (guint i = 0; i < rows->len; i++) {
    const KeyInfo *k = rows->pdata[i];
    const char *dot = strrchr(k->path, '.'), *name = dot ? dot + 1 : k->path;
    if (!(k->types & K_REQUIRED) || *name == '@' || !belongs(c, k->path) || node_child(map, name)) continue;
    g_autofree char *path = joined(shown, name);
    g_autofree char *expected = key_expected(k);
    g_propagate_error(c->error, mark_error(&map->mark, path, "is missing; it must be %s", expected));
    return false;
  }
  return true;
}

/* Is the key one of the table? Brackets are part of a key where its own row says so: cancel_to_server[s]. */
static bool key_is_known(const char *path, const char *key) {
  const char *bracket = strchr(key, '[');
  if (*key == '@' || !(key_find(path) || key_is_group(path))) return false;
  g_autofree char *plain = bracket ? g_strndup(path, strlen(path) - 2) : NULL;
  const KeyInfo *base = plain && g_str_has_suffix(path, "[]") ? key_find(plain) : NULL;
  return !bracket || (base && !(base->types & K_LIST));
}

static bool refused(const Check *c, const Node *child, const KeyInfo *k, const char *shown) {
  g_propagate_error(c->error, mark_error(&child->key_mark, shown, "no key here; %s", k->hint));
  return false;
}

static bool check_map(const Check *c, const Node *map, const char *pattern, const char *shown) {
  for (guint i = 0; i < map->children->len; i++) {
    const Node *child = map->children->pdata[i];
    g_autofree char *plain = key_without_indexes(child->key), *path = joined(pattern, plain),
                    *name = joined(shown, child->key);
    const KeyInfo *k = key_find(path);
    if (k && k->hint) return refused(c, child, k, name);
    if (!key_is_known(path, child->key) || !belongs(c, path)) return unknown_key(c, child, pattern, name);
    if (!check_node(c, child, path, name)) return false;
  }
  return nothing_missing(c, map, pattern, shown);
}

static bool wrong_type(const Check *c, const Node *n, const KeyInfo *k, const char *shown) {
  g_autofree char *expected = key_expected(k);
  g_propagate_error(c->error, mark_error(&n->mark, shown, "is %s; it must be %s", node_kind(n), expected));
  return false;
}

/* [low, high]: two numbers in order. */
static bool check_pair(const Check *c, const Node *list, const KeyInfo *element, const char *shown) {
  double low[2] = {0};
  int64_t n[2] = {0};
  if (list->children->len != 2) {
    g_propagate_error(
        c->error, mark_error(&list->mark, shown, "has %u entries; it must be a list [low, high]", list->children->len));
    return false;
  }
  for (int i = 0; i < 2; i++) {
    const Node *e = list->children->pdata[i];
    UnitsFault fault =
        element->types & K_NUMBER ? units_number(e->text, &low[i]) : scalar_number(element->types, e->text, &n[i]);
    g_assert(!fault); /* each has been checked by itself */
  }
  if (low[0] <= low[1] && n[0] <= n[1]) return true;
  g_propagate_error(c->error,
                    mark_error(&list->mark, shown, "the lower bound is above the upper one; write [low, high]"));
  return false;
}

static bool check_list(const Check *c, const Node *list, const KeyInfo *k, const char *pattern, const char *shown) {
  g_autofree char *path = g_strconcat(pattern, "[]", NULL);
  for (guint i = 0; i < list->children->len; i++) {
    g_autofree char *name = g_strdup_printf("%s[%u]", shown, i);
    if (!check_node(c, list->children->pdata[i], path, name)) return false;
  }
  return !(k->types & K_PAIR) || check_pair(c, list, key_find(path), shown);
}

/* {exp: T} or {uniform: [T, T]} where a time may stand. */
static bool check_draw(const Check *c, const Node *map, const KeyInfo *k, const char *shown) {
  const KeyInfo time = {.path = k->path, .types = K_TIME}, pair = {.path = k->path, .types = K_LIST | K_PAIR};
  const Node *exp = node_child(map, "exp"), *uniform = node_child(map, "uniform");
  if (map->children->len != 1 || !(exp || uniform)) return wrong_type(c, map, k, shown);
  g_autofree char *name = g_strconcat(shown, exp ? ".exp" : ".uniform", NULL);
  if (exp) return exp->kind == NODE_SCALAR ? scalar_check(&time, exp, name, c->error) : wrong_type(c, exp, &time, name);
  if (uniform->kind != NODE_LIST) return wrong_type(c, uniform, &pair, name);
  for (guint i = 0; i < uniform->children->len; i++) {
    const Node *t = uniform->children->pdata[i];
    if (t->kind != NODE_SCALAR) return wrong_type(c, t, &time, name);
    if (!scalar_check(&time, t, name, c->error)) return false;
  }
  return check_pair(c, uniform, &time, name);
}

static bool check_policy(const Check *c, const Node *map, const KeyInfo *k, const char *shown) {
  if (!(k->types & K_ONE) || map->children->len == 1) return true;
  g_autofree char *expected = key_expected(k);
  g_propagate_error(c->error,
                    mark_error(&map->mark, shown, "has %u keys; it must be %s", map->children->len, expected));
  return false;
}

static bool name_is_known(const Check *c, const Node *n, const KeyInfo *k, const char *shown) {
  const char *const *names = !c->opt || c->plugged      ? NULL
                             : k->names == NAMES_CHECK  ? c->opt->checks
                             : k->names == NAMES_METRIC ? c->opt->metrics
                                                        : NULL;
  g_autofree char *plain = key_without_indexes(n->text), *value = quoted(n->text);
  if (!names || g_strv_contains(names, plain)) return true;
  const char *near = nearest_name(plain, names), *kind = k->names == NAMES_CHECK ? "check" : "metric";
  g_propagate_error(c->error, mark_error(&n->mark, shown, "%s is no %s%s%s; `stampede list %ss` names them", value,
                                         kind, near ? "; the nearest is " : "", near ? near : "", kind));
  return false;
}

/* The row of what stands in place of an alias is the key's own. */
static const KeyInfo *row_of(const char *pattern) {
  const KeyInfo *k = key_find(pattern);
  const char *dot = strrchr(pattern, '.');
  if (!k || !k->alias) return k;
  g_autofree char *path = dot ? g_strdup_printf("%.*s.%s", (int)(dot - pattern), pattern, k->alias) : NULL;
  return key_find(path ? path : k->alias);
}

static bool check_as_map(const Check *c, const Node *n, const KeyInfo *k, const char *pattern, const char *shown) {
  if (k->types & K_ANY) return true;
  if (k->types & K_DRAW && (!(k->types & K_MAP) || node_child(n, "exp") || node_child(n, "uniform")))
    return check_draw(c, n, k, shown);
  if (!(k->types & K_MAP)) return wrong_type(c, n, k, shown);
  return check_policy(c, n, k, shown) && check_map(c, n, pattern, shown);
}

static bool check_node(const Check *c, const Node *n, const char *pattern, const char *shown) {
  static const KeyInfo group = {.path = "", .types = K_MAP};
  const KeyInfo *k = row_of(pattern);
  if (!k) k = &group;
  if (n->kind == NODE_SCALAR)
    return k == &group ? wrong_type(c, n, k, shown)
                       : scalar_check(k, n, shown, c->error) && name_is_known(c, n, k, shown);
  if (n->kind == NODE_LIST) return k->types & K_LIST ? check_list(c, n, k, pattern, shown) : wrong_type(c, n, k, shown);
  return check_as_map(c, n, k, pattern, shown);
}

bool validate_document(const Node *root, DocumentKind kind, const ScenarioOptions *opt, GError **error) {
  static const char *const what[] = {"scenario", "preset", "profile"};
  const Check c = {kind, opt, root->kind == NODE_MAP && (node_child(root, "model") || node_child(root, "subject")),
                   error};
  if (root->kind == NODE_MAP) return check_map(&c, root, kind == DOCUMENT_PROFILE ? "@profile" : "", "");
  g_propagate_error(error, mark_error(&root->mark, NULL, "is %s; a %s is a map of keys", node_kind(root), what[kind]));
  return false;
}
