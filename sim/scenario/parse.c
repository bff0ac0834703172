/* parse.c - libyaml's events into a tree of nodes; see node.h for what is refused. */
#include "sim/scenario/node.h"
#include <string.h>
#include <yaml.h>

typedef struct {
  yaml_parser_t yaml;
  yaml_event_t event; /* the last one read; deleted before the next */
  char *file;         /* a GRefString */
  guint nodes;
} Parse;

static Mark mark_of(const Parse *p, const yaml_mark_t *m) {
  return (Mark){p->file, (guint)m->line + 1, (guint)m->column + 1};
}

static Mark here(const Parse *p) {
  return mark_of(p, &p->event.start_mark);
}

static bool refuse(const Parse *p, GError **error, const char *what) {
  Mark at = here(p);
  g_propagate_error(error, mark_error(&at, NULL, "%s", what));
  return false;
}

static bool syntax_error(const Parse *p, GError **error) {
  const yaml_parser_t *y = &p->yaml;
  Mark at = mark_of(p, &y->problem_mark);
  const char *problem = y->problem ? y->problem : "cannot be read";
  if (y->context && y->context_mark.line != y->problem_mark.line)
    g_propagate_error(error, mark_error(&at, NULL, "not YAML: %s, %s (begun in line %u)", problem, y->context,
                                        (guint)y->context_mark.line + 1));
  else
    g_propagate_error(error, mark_error(&at, NULL, "not YAML: %s", problem));
  return false;
}

/* Reads the next event; what no scenario may contain ends here. */
static bool next(Parse *p, GError **error) {
  yaml_event_delete(&p->event);
  if (!yaml_parser_parse(&p->yaml, &p->event)) return syntax_error(p, error);
  const yaml_event_t *e = &p->event;
  const bool scalar = e->type == YAML_SCALAR_EVENT, map = e->type == YAML_MAPPING_START_EVENT,
             list = e->type == YAML_SEQUENCE_START_EVENT;
  if (e->type == YAML_ALIAS_EVENT || (scalar && e->data.scalar.anchor) || (map && e->data.mapping_start.anchor) ||
      (list && e->data.sequence_start.anchor))
    return refuse(p, error, "anchors and aliases (& and *) are not used here; write the value out, or quote it");
  if (scalar && strlen((const char *)e->data.scalar.value) != e->data.scalar.length)
    return refuse(p, error, "a text with a NUL byte in it");
  if ((scalar && e->data.scalar.tag) || (map && e->data.mapping_start.tag) || (list && e->data.sequence_start.tag))
    return refuse(p, error, "tags (!) are not used here; a key's type is given by its table");
  return true;
}

static Node *read_value(Parse *p, guint depth, GError **error);

static Node *read_scalar(const Parse *p) {
  Node *n = node_new(NODE_SCALAR, here(p));
  n->text = g_strdup((const char *)p->event.data.scalar.value);
  n->quoted = p->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  return n;
}

static bool full(const Parse *p, const Node *n, GError **error) {
  if (n->children->len < NODE_MAX_CHILDREN) return false;
  g_propagate_error(error, mark_error(&n->mark, NULL, "more than %d entries in one %s", NODE_MAX_CHILDREN,
                                      n->kind == NODE_MAP ? "map" : "list"));
  (void)p;
  return true;
}

static Node *read_list(Parse *p, guint depth, GError **error) {
  g_autoptr(Node) list = node_new(NODE_LIST, here(p));
  for (;;) {
    if (!next(p, error)) return NULL;
    if (p->event.type == YAML_SEQUENCE_END_EVENT) return g_steal_pointer(&list);
    if (full(p, list, error)) return NULL;
    Node *child = read_value(p, depth + 1, error);
    if (!child) return NULL;
    g_ptr_array_add(list->children, child);
  }
}

/* Puts value under key. Two maps, one of them made of a dotted key, are joined; anything else twice is an error. */
static bool insert(Node *map, Node *value_taken, GError **error) {
  g_autoptr(Node) value = value_taken;
  Node *old = node_child(map, value->key);
  if (!old) return g_ptr_array_add(map->children, g_steal_pointer(&value)), true;
  if (old->kind != NODE_MAP || value->kind != NODE_MAP || !(old->implicit || value->implicit)) {
    g_propagate_error(error, mark_error(&value->key_mark, value->key, "given twice; first in line %u column %u",
                                        old->key_mark.line, old->key_mark.column));
    return false;
  }
  old->implicit = old->implicit && value->implicit;
  g_autoptr(GPtrArray) children = g_ptr_array_ref(value->children);
  while (children->len)
    if (!insert(old, g_ptr_array_steal_index(children, 0), error)) return false;
  return true;
}

static bool key_is_right(const char *key) {
  return *key && key[0] != '.' && !g_str_has_suffix(key, ".") && !strstr(key, "..") && strlen(key) <= 200;
}

/* The last dot of key that is not within brackets, or NULL. */
static const char *last_dot(const char *key) {
  const char *dot = NULL;
  for (bool inside = false; *key; key++) {
    if (*key == '[' || *key == ']') inside = *key == '[';
    if (*key == '.' && !inside) dot = key;
  }
  return dot;
}

/* value under "a.b.c": maps a and b around it, innermost first. */
static Node *wrap_dotted(Node *value, const char *key) {
  g_autofree char *left = g_strdup(key);
  for (char *dot; (dot = (char *)last_dot(left)); *dot = '\0') {
    g_free(value->key);
    value->key = g_strdup(dot + 1);
    Node *around = node_new(NODE_MAP, value->key_mark);
    around->implicit = true;
    g_ptr_array_add(around->children, value);
    value = around;
  }
  g_free(value->key);
  value->key = g_strdup(left);
  return value;
}

static void set_key_mark(Node *n, Mark at) {
  g_ref_string_acquire(at.file);
  g_ref_string_release(n->key_mark.file);
  n->key_mark = at;
}

static bool read_entry(Parse *p, Node *map, guint depth, GError **error) {
  if (p->event.type != YAML_SCALAR_EVENT) return refuse(p, error, "a key must be a word, not a map or a list");
  g_autofree char *key = g_strdup((const char *)p->event.data.scalar.value);
  Mark at = here(p);
  if (!key_is_right(key)) return refuse(p, error, "a key must be a word, or words joined by single dots");
  guint dots = 0;
  for (const char *c = key; *c; c++) dots += *c == '.';
  if (!next(p, error)) return false;
  Node *value = read_value(p, depth + 1 + dots, error);
  if (!value) return false;
  set_key_mark(value, at);
  return insert(map, wrap_dotted(value, key), error);
}

static Node *read_map(Parse *p, guint depth, GError **error) {
  g_autoptr(Node) map = node_new(NODE_MAP, here(p));
  for (;;) {
    if (!next(p, error)) return NULL;
    if (p->event.type == YAML_MAPPING_END_EVENT) return g_steal_pointer(&map);
    if (full(p, map, error) || !read_entry(p, map, depth, error)) return NULL;
  }
}

static Node *read_value(Parse *p, guint depth, GError **error) {
  if (depth > NODE_MAX_DEPTH) return refuse(p, error, "nested too deeply"), NULL;
  if (++p->nodes > NODE_MAX_NODES) return refuse(p, error, "too many values for a scenario"), NULL;
  switch (p->event.type) {
  case YAML_SCALAR_EVENT: return read_scalar(p);
  case YAML_SEQUENCE_START_EVENT: return read_list(p, depth, error);
  case YAML_MAPPING_START_EVENT: return read_map(p, depth, error);
  default: g_assert_not_reached(); /* libyaml keeps starts and ends in pairs, and next() refused aliases */
  }
}

static Node *read_document(Parse *p, GError **error) {
  if (!next(p, error) || !next(p, error)) return NULL; /* stream start; document start or stream end */
  if (p->event.type == YAML_STREAM_END_EVENT) return refuse(p, error, "empty; nothing is said here"), NULL;
  if (!next(p, error)) return NULL;
  g_autoptr(Node) root = read_value(p, 1, error);
  if (!root || !next(p, error) || !next(p, error)) return NULL; /* document end; stream end */
  if (p->event.type != YAML_STREAM_END_EVENT)
    return refuse(p, error, "a second document (---) begins here; a file holds one"), NULL;
  return g_steal_pointer(&root);
}

static bool bytes_are_text(const char *text, gsize length, char *file, GError **error) {
  const char *bad = NULL;
  Mark at = {file, 1, 1};
  if (length > NODE_MAX_BYTES) {
    g_propagate_error(
        error, mark_error(&(Mark){file, 0, 0}, NULL, "larger than %d bytes; no scenario is so long", NODE_MAX_BYTES));
    return false;
  }
  if (g_utf8_validate_len(text, length, &bad)) return true;
  for (const char *c = text; c < bad; c++) {
    at.column = *c == '\n' ? 1 : at.column + ((*c & 0xC0) != 0x80);
    at.line += *c == '\n';
  }
  g_propagate_error(error, mark_error(&at, NULL, "byte 0x%02x: not a text file in UTF-8", (guint)(guchar)*bad));
  return false;
}

Node *node_parse(const char *text, gsize length, const char *file, GError **error) {
  Parse p = {.file = g_ref_string_new(file)};
  Node *root = NULL;
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3, length -= 3; /* as some editors begin UTF-8 */
  if (bytes_are_text(text, length, p.file, error)) {
    if (!yaml_parser_initialize(&p.yaml)) g_error("libyaml: no memory");
    yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p.yaml, (const unsigned char *)text, length);
    root = read_document(&p, error);
    yaml_event_delete(&p.event);
    yaml_parser_delete(&p.yaml);
  }
  g_ref_string_release(p.file);
  return root;
}
