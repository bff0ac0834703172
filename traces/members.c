/* members.c - see members.h. */
#include "traces/members.h"

static bool holds(JsonNode *node, GType type) {
  return JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type;
}

/* What the member should be, in words, when it is not; else stores it. */
static const char *store(JsonNode *node, const Member *m, char *into) {
  void *at = into + m->offset;
  switch (m->kind) {
  case MEMBER_INT:
  case MEMBER_COUNT:
    if (!holds(node, G_TYPE_INT64)) return "an integer";
    *(int64_t *)at = json_node_get_int(node);
    return m->kind == MEMBER_COUNT && *(int64_t *)at < 0 ? "an integer, not negative" : NULL;
  case MEMBER_TEXT:
    if (!holds(node, G_TYPE_STRING)) return "a string";
    *(const char **)at = json_node_get_string(node);
    return NULL;
  case MEMBER_TRUE:
    *(bool *)at = holds(node, G_TYPE_BOOLEAN) && json_node_get_boolean(node);
    return *(bool *)at ? NULL : "true or absent";
  case MEMBER_HASH:
    if (!holds(node, G_TYPE_STRING) || !trace_hash_parse(json_node_get_string(node), at))
      return "32 lower-case hex digits";
    *(bool *)(into + m->flag) = true;
    return NULL;
  case MEMBER_OBJECT:
    if (!JSON_NODE_HOLDS_OBJECT(node)) return "an object";
    *(JsonObject **)at = json_node_get_object(node);
    return NULL;
  case MEMBER_ARRAY:
    if (!JSON_NODE_HOLDS_ARRAY(node)) return "an array";
    *(JsonArray **)at = json_node_get_array(node);
    return NULL;
  case MEMBER_NODE: *(JsonNode **)at = node; return NULL;
  }
  g_assert_not_reached();
}

static const Member *find(const Member *table, const char *name) {
  for (; table->name; table++)
    if (strcmp(table->name, name) == 0) return table;
  return NULL;
}

static char *unknown(JsonObject *object, const Member *table) {
  g_autoptr(GList) names = json_object_get_members(object);
  for (GList *n = names; n; n = n->next)
    if (!find(table, n->data)) return g_strdup_printf("member \"%s\" is unknown here", (const char *)n->data);
  g_assert_not_reached();
}

char *members_read(JsonObject *object, const Member *table, void *into) {
  guint found = 0;
  for (const Member *m = table; m->name; m++) {
    JsonNode *node = json_object_get_member(object, m->name);
    if (!node && m->required) return g_strdup_printf("member \"%s\" is missing", m->name);
    if (!node) continue;
    const char *should = store(node, m, into);
    if (should) return g_strdup_printf("member \"%s\" should be %s", m->name, should);
    found++;
  }
  return found < json_object_get_size(object) ? unknown(object, table) : NULL;
}

static void count_member(JsonObject *object, const char *name, JsonNode *node, gpointer count) {
  (void)object, (void)name;
  *(guint *)count += 1 + members_count(node);
}

static void count_element(JsonArray *array, guint index, JsonNode *node, gpointer count) {
  (void)array, (void)index;
  *(guint *)count += members_count(node);
}

/* The depth is bounded by json_guard. */
guint members_count(JsonNode *node) {
  guint count = 0;
  if (JSON_NODE_HOLDS_OBJECT(node)) json_object_foreach_member(json_node_get_object(node), count_member, &count);
  if (JSON_NODE_HOLDS_ARRAY(node)) json_array_foreach_element(json_node_get_array(node), count_element, &count);
  return count;
}
