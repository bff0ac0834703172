/* node.c - the life of a tree, paths in it, and errors that name a place. */
#include "sim/scenario/node.h"
#include "sim/scenario/scenario.h"
#include <string.h>

G_DEFINE_QUARK(stampede - scenario - error, scenario_error)

bool scenario_wrong(GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_propagate_error(error, g_error_new_valist(SCENARIO_ERROR, SCENARIO_ERROR_INPUT, format, args));
  va_end(args);
  return false;
}

static Mark mark_copy(Mark m) {
  if (m.file) g_ref_string_acquire(m.file);
  return m;
}

static void mark_clear(Mark *m) {
  g_clear_pointer(&m->file, g_ref_string_release);
}

Node *node_new(NodeKind kind, Mark mark) {
  Node *n = g_new0(Node, 1);
  n->kind = kind;
  n->mark = mark_copy(mark);
  n->key_mark = mark_copy(mark);
  if (kind != NODE_SCALAR) n->children = g_ptr_array_new_with_free_func((GDestroyNotify)node_free);
  return n;
}

/* Recursion here and below is bounded: no tree is deeper than NODE_MAX_DEPTH and the depth of a dotted key. */
void node_free(Node *n) {
  if (!n) return;
  g_clear_pointer(&n->children, g_ptr_array_unref);
  mark_clear(&n->mark);
  mark_clear(&n->key_mark);
  g_free(n->key);
  g_free(n->text);
  g_free(n);
}

Node *node_copy(const Node *n) {
  Node *c = node_new(n->kind, n->mark);
  mark_clear(&c->key_mark);
  c->key_mark = mark_copy(n->key_mark);
  c->quoted = n->quoted;
  c->implicit = n->implicit;
  c->command = n->command;
  c->key = g_strdup(n->key);
  c->text = g_strdup(n->text);
  for (guint i = 0; n->children && i < n->children->len; i++)
    g_ptr_array_add(c->children, node_copy(n->children->pdata[i]));
  return c;
}

Node *node_child(const Node *map, const char *key) {
  if (!map || map->kind != NODE_MAP) return NULL;
  for (guint i = 0; i < map->children->len; i++) {
    Node *child = map->children->pdata[i];
    if (!strcmp(child->key, key)) return child;
  }
  return NULL;
}

Node *node_named(const Node *list, const char *name) {
  for (guint i = 0; list && list->kind == NODE_LIST && i < list->children->len; i++) {
    const Node *own = node_child(list->children->pdata[i], "name");
    if (own && !g_strcmp0(own->text, name)) return list->children->pdata[i];
  }
  return NULL;
}

/* What `[index` chooses: an entry's number, or its name. */
static Node *element(const Node *list, const char *index) {
  char *end = NULL;
  const guint64 i = g_ascii_strtoull(index, &end, 10);
  if (!g_ascii_isdigit(*index) || *end) return node_named(list, index);
  if (list->kind != NODE_LIST) return i == 0 ? (Node *)list : NULL;
  return i < list->children->len ? list->children->pdata[i] : NULL;
}

/* The longest key at the beginning of path: what stands in brackets may be part of it (cancel_to_server[s]). */
static const Node *step_down(const Node *map, const char **path) {
  const char *p = *path, *bracket = strchr(p, '[');
  size_t len = strcspn(p, ".[");
  if (bracket == p + len && strchr(bracket, ']')) {
    const size_t whole = (size_t)(strchr(bracket, ']') + 1 - p);
    g_autofree char *literal = g_strndup(p, whole);
    const Node *n = node_child(map, literal);
    if (n) return *path += whole + (p[whole] == '.'), n;
  }
  g_autofree char *key = g_strndup(p, len);
  *path += len + (p[len] == '.');
  return node_child(map, key);
}

Node *node_at(const Node *root, const char *path) {
  const Node *n = root;
  while (n && *path) {
    if (*path != '[') {
      n = step_down(n, &path);
      continue;
    }
    const size_t len = strcspn(path, "]");
    g_assert(path[len] == ']');
    g_autofree char *index = g_strndup(path + 1, len - 1);
    n = element(n, index);
    path += len + 1 + (path[len + 1] == '.');
  }
  return (Node *)n;
}

void node_put(Node *map, const char *key, Node *child) {
  g_assert(map->kind == NODE_MAP && child);
  char *name = g_strdup(key); /* key may be the child's own */
  g_free(child->key);
  child->key = name;
  for (guint i = 0; i < map->children->len; i++) {
    if (strcmp(((Node *)map->children->pdata[i])->key, name) != 0) continue;
    node_free(map->children->pdata[i]);
    map->children->pdata[i] = child;
    return;
  }
  g_ptr_array_add(map->children, child);
}

const char *node_kind(const Node *n) {
  return n->kind == NODE_MAP ? "a map" : n->kind == NODE_LIST ? "a list" : n->quoted ? "a text in quotes" : "a value";
}

char *mark_text(const Mark *at) {
  const char *file = at->file ? at->file : "(nowhere)";
  return at->line ? g_strdup_printf("%s:%u:%u", file, at->line, at->column) : g_strdup(file);
}

/* "--subject" says that it is about the key `subject`. */
static bool is_option_of(const char *where, const char *key) {
  return g_str_has_prefix(where, "--") && strcmp(where + 2, key) == 0;
}

GError *mark_error(const Mark *at, const char *key, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *what = g_strdup_vprintf(format, args);
  va_end(args);
  g_autofree char *where = mark_text(at);
  const bool named = key && *key && !is_option_of(where, key);
  g_autofree char *line =
      named ? g_strdup_printf("%s: %s: %s", where, key, what) : g_strdup_printf("%s: %s", where, what);
  for (char *p = line; *p; p++)
    if (g_ascii_iscntrl(*p)) *p = '?'; /* one line, whatever the input holds */
  return g_error_new_literal(SCENARIO_ERROR, SCENARIO_ERROR_INPUT, line);
}

char *quoted(const char *text) {
  const glong most = 40;
  if (g_utf8_strlen(text, -1) <= most) return g_strdup_printf("\"%s\"", text);
  g_autofree char *begin = g_utf8_substring(text, 0, most);
  return g_strdup_printf("\"%s...\"", begin);
}
