/* conform_scenario.c - a scenario as a given pooler would be set up for it: of `pooler` what an administrator sets
 * stays, and all that says how a pooler works comes from the preset. */
#include "sim/live/conform.h"
#include "sim/scenario/node.h"
#include <string.h>

static const char *const settings[] = {"pool_size",
                                       "min_pool_size",
                                       "reserve_pool_size",
                                       "reserve_pool_timeout",
                                       "query_wait_timeout",
                                       "server_idle_timeout",
                                       "server_lifetime",
                                       "server_connect_timeout",
                                       "server_login_retry",
                                       "server_check_delay",
                                       "max_db_connections",
                                       "max_user_connections",
                                       "max_client_conn",
                                       "idle_order",
                                       "processes",
                                       "balance",
                                       "peering",
                                       "pools"};

static void emit(const Node *n, GString *out);

static void emit_text(const Node *n, GString *out) {
  bool plain = !n->quoted && *n->text && !strpbrk(n->text, "[]{},:#\"'&*!|>%@`") && !g_ascii_isspace(*n->text);
  if (plain) {
    g_string_append(out, n->text);
    return;
  }
  g_string_append_c(out, '"');
  for (const char *c = n->text; *c; c++) {
    if (*c == '"' || *c == '\\') g_string_append_c(out, '\\');
    g_string_append_c(out, *c);
  }
  g_string_append_c(out, '"');
}

static void emit_key(const Node *n, GString *out) {
  g_string_append_printf(out, strpbrk(n->key, "[]") ? "\"%s\": " : "%s: ", n->key);
}

static void emit(const Node *n, GString *out) {
  if (n->kind == NODE_SCALAR) {
    emit_text(n, out);
    return;
  }
  g_string_append_c(out, n->kind == NODE_MAP ? '{' : '[');
  for (guint i = 0; i < n->children->len; i++) {
    const Node *c = n->children->pdata[i];
    if (i) g_string_append(out, ", ");
    if (c->key) emit_key(c, out);
    emit(c, out);
  }
  g_string_append_c(out, n->kind == NODE_MAP ? '}' : ']');
}

static bool is_setting(const char *key) {
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
    if (strcmp(settings[i], key) == 0) return true;
  return false;
}

/* How many processes there are, who comes to which, and what pools there are is the driver's to set up. */
static bool is_told(const AdapterAbout *about, const char *key) {
  static const char *const drivers[] = {"processes", "balance", "peering", "pools", "pool_size"};
  for (guint i = 0; i < G_N_ELEMENTS(drivers); i++)
    if (strcmp(drivers[i], key) == 0) return true;
  return adapter_tells(about, key);
}

typedef struct {
  const char *preset, *mode;
  guint without;
  const AdapterAbout *about;
  GString *untold;
} Rewriting;

static void emit_pooler(const Node *pooler, const Rewriting *r, GString *out) {
  g_string_append_printf(out, "pooler: {preset: %s, tick_steady: true%s", r->preset,
                         adapter_tcp_alone(r->about) ? ", connect_at_once: true" : "");
  if (!(r->without & CONFORM_NO_MODE)) g_string_append_printf(out, ", pool_mode: %s", r->mode);
  for (guint i = 0; i < pooler->children->len; i++) {
    const Node *c = pooler->children->pdata[i];
    if (!is_setting(c->key) || (r->without & CONFORM_NO_PEERING && strcmp(c->key, "peering") == 0)) continue;
    if (!is_told(r->about, c->key)) {
      g_string_append_printf(r->untold, "%s%s", r->untold->len ? ", " : "", c->key);
      continue;
    }
    g_string_append(out, ", ");
    emit_key(c, out);
    emit(c, out);
  }
  g_string_append(out, "}\n");
}

/* Over TCP a connect takes no time for the pooler (README.md), so it takes none in the model: what it would have taken
 * is on the way instead, where nothing else is said to be. */
static void emit_link(const Node *link, GString *out) {
  const Node *delay = link->kind == NODE_MAP ? node_child(link, "delay") : link;
  if (!delay) delay = node_child(link, "connect");
  g_string_append(out, "{connect: 0ms");
  for (guint i = 0; link->kind == NODE_MAP && i < link->children->len; i++) {
    const Node *c = link->children->pdata[i];
    if (strcmp(c->key, "connect") == 0 || strcmp(c->key, "delay") == 0) continue;
    g_string_append(out, ", ");
    emit_key(c, out);
    emit(c, out);
  }
  if (delay) g_string_append(out, ", delay: "), emit(delay, out);
  g_string_append_c(out, '}');
}

static void emit_network(const Node *network, GString *out) {
  g_string_append(out, "network: {");
  for (guint i = 0; network->children && i < network->children->len; i++) {
    const Node *c = network->children->pdata[i];
    if (i) g_string_append(out, ", ");
    emit_key(c, out);
    if (strstr(c->key, "_to_server"))
      emit_link(c, out);
    else
      emit(c, out);
  }
  g_string_append(out, "}\n");
}

char *conform_text(const Scenario *s, const char *preset, guint without, const AdapterAbout *about, GString *untold,
                   GError **error) {
  const Rewriting r = {preset, scenario_word(s, "pooler.pool_mode"), without, about, untold};
  const char *text = scenario_text(s);
  g_autoptr(Node) root = node_parse(text, strlen(text), scenario_file(s), error);
  if (!root) return NULL;
  GString *out = g_string_new("ties: event_first\n"); /* as live: an input before a timeout, and in the order planned */
  for (guint i = 0; i < root->children->len; i++) {
    const Node *c = root->children->pdata[i];
    static const char *const left_out[] = {"ties", "explore", "published", "checks", "expect"};
    bool out_of_it = false;
    for (guint k = 0; k < G_N_ELEMENTS(left_out); k++) out_of_it |= strcmp(c->key, left_out[k]) == 0;
    if (out_of_it) continue;
    if (strcmp(c->key, "pooler") == 0) {
      emit_pooler(c, &r, out);
      continue;
    }
    if (strcmp(c->key, "network") == 0 && c->kind == NODE_MAP && adapter_tcp_alone(about)) {
      emit_network(c, out);
      continue;
    }
    emit_key(c, out);
    emit(c, out);
    g_string_append_c(out, '\n');
  }
  return g_string_free(out, FALSE);
}
