/* beside.c - see beside.h. */
#include "sim/calibrate/beside.h"
#include "sim/scenario/scenario.h"
#include <json-glib/json-glib.h>
#include <string.h>

void beside_free(Beside *b) {
  if (!b) return;
  g_free(b->file);
  g_free(b->server);
  if (b->own) g_array_unref(b->own);
  g_free(b);
}

/* A whole number between 0 and 2^53, written as one or as a double. */
static bool number(const Beside *b, JsonObject *in, const char *key, int64_t *out, GError **error) {
  JsonNode *node = json_object_get_member(in, key);
  double v = node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_double(node) : -1;
  if (!(v >= 0 && v < 9e15))
    return scenario_wrong(error, "%s: no number \"%s\", as calibrate postgres --json writes it", b->file, key);
  *out = (int64_t)v;
  return true;
}

/* Negative for a backend that wrote to less than one alone does. */
static bool is_page_count(JsonNode *node) {
  enum { MOST = 1 << 30 };
  return JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_INT64 &&
         json_node_get_int(node) > -MOST && json_node_get_int(node) < MOST;
}

/* `clients` whole numbers an iteration. */
static bool take_pages(Beside *b, JsonObject *top, GError **error) {
  JsonNode *node = json_object_get_member(top, "private_pages");
  JsonArray *all = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
  b->own = g_array_new(FALSE, FALSE, sizeof(int64_t));
  for (guint k = 0; all && k < b->iterations; k++) {
    JsonNode *row = k < json_array_get_length(all) ? json_array_get_element(all, k) : NULL;
    JsonArray *pages = row && JSON_NODE_HOLDS_ARRAY(row) ? json_node_get_array(row) : NULL;
    for (guint i = 0; pages && i < json_array_get_length(pages); i++) {
      JsonNode *one = json_array_get_element(pages, i);
      if (!is_page_count(one)) break;
      int64_t v = json_node_get_int(one);
      g_array_append_val(b->own, v);
    }
    if (b->own->len != (k + 1) * b->clients) break;
  }
  return b->own->len == b->iterations * b->clients ||
         scenario_wrong(error, "%s: \"private_pages\" are not %u lists of %u whole numbers", b->file, b->iterations,
                        b->clients);
}

static const char *word(JsonObject *in, const char *key) {
  JsonNode *node = json_object_get_member(in, key);
  return node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
}

static bool flag(JsonObject *in, const char *key) {
  JsonNode *node = json_object_get_member(in, key);
  return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_boolean(node);
}

static bool take(Beside *b, JsonNode *root, GError **error) {
  int64_t clients = 0, iterations = 0;
  JsonObject *top = root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
  if (!top || g_strcmp0(word(top, "command"), "calibrate postgres") != 0)
    return scenario_wrong(error, "%s: no document of calibrate postgres --json", b->file);
  b->server = g_strdup(word(top, "server"));
  if (!number(b, top, "clients", &clients, error) || !number(b, top, "iterations", &iterations, error) ||
      !number(b, top, "max_connections", &b->max_connections, error) ||
      !number(b, top, "page_size", &b->page_size, error) || !number(b, top, "seed", &b->seed, error))
    return false;
  if (clients < 1 || clients > 262143 || iterations < 1 || iterations > 1000)
    return scenario_wrong(error, "%s: %" G_GINT64_FORMAT " clients, %" G_GINT64_FORMAT " iterations", b->file, clients,
                          iterations);
  b->plain_malloc = flag(top, "plain_malloc");
  b->clients = (guint)clients;
  b->iterations = (guint)iterations;
  return take_pages(b, top, error);
}

Beside *beside_read(const char *file, GError **error) {
  g_autoptr(Beside) b = g_new0(Beside, 1);
  g_autoptr(JsonParser) parser = json_parser_new();
  GError *why = NULL;
  b->file = g_strdup(file);
  if (json_parser_load_from_file(parser, file, &why))
    return take(b, json_parser_get_root(parser), error) ? g_steal_pointer(&b) : NULL;
  scenario_wrong(error, "%s%s%s", strstr(why->message, file) ? "" : file, strstr(why->message, file) ? "" : ": ",
                 why->message);
  g_error_free(why);
  return NULL;
}

bool beside_fits(const Beside *b, const char *server, guint clients, bool plain_malloc, int64_t max_connections,
                 int64_t seed, GError **error) {
  if (g_strcmp0(b->server, server) != 0)
    return scenario_wrong(error, "%s: of PostgreSQL %s, not %s", b->file, b->server, server);
  if (b->clients != clients || b->max_connections != max_connections)
    return scenario_wrong(error,
                          "%s: %u clients, max_connections %" G_GINT64_FORMAT "; %u and %" G_GINT64_FORMAT
                          " are needed beside this run",
                          b->file, b->clients, b->max_connections, clients, max_connections);
  if (b->plain_malloc != plain_malloc)
    return scenario_wrong(error, "%s: with%s --plain-malloc; this run is with%s", b->file, b->plain_malloc ? "" : "out",
                          plain_malloc ? "" : "out");
  if (b->seed == seed)
    return scenario_wrong(error, "%s: of seed %" G_GINT64_FORMAT " too; another storm is needed beside this one",
                          b->file, seed);
  return true;
}

int64_t beside_own(const Beside *b, guint k, guint i) {
  g_assert(i < b->clients);
  return g_array_index(b->own, int64_t, MIN(k, b->iterations - 1) * b->clients + i);
}
