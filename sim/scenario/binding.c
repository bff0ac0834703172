/* binding.c - see binding.h; and the whole of a pooler scenario, part by part. */
#include "sim/scenario/binding.h"
#include "sim/scenario/keys.h"
#include <string.h>

/* ---- memory of the result ---- */

void *binding_new(PoolerBinding *b, gsize n, gsize size) {
  if (n == 0) return NULL;
  void *block = g_malloc0_n(n, size);
  g_ptr_array_add(b->blocks, block);
  return block;
}

void *binding_keep(PoolerBinding *b, GArray *array_taken) {
  const gsize size = g_array_get_element_size(array_taken), n = array_taken->len;
  char *block = binding_new(b, n + 1, size);
  if (n) memcpy(block, array_taken->data, n * size);
  g_array_unref(array_taken);
  return block;
}

char *binding_text(PoolerBinding *b, const char *text) {
  char *own = g_strdup(text);
  g_ptr_array_add(b->blocks, own);
  return own;
}

/* ---- names and their copies ---- */

static void named_clear(gpointer p) {
  g_free(((Named *)p)->name);
}

static void add_named(GArray *all, const char *name, int entry, int count) {
  for (int i = 1; i <= count; i++) {
    Named n = {count == 1 ? g_strdup(name) : g_strdup_printf("%s.%d", name, i), entry, 0};
    g_array_append_val(all, n);
  }
}

GArray *named_new(const Scenario *s, const char *list, const char *dflt) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Named));
  g_array_set_clear_func(all, named_clear);
  const guint n = scenario_count(s, list);
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf("%s[%u].name", list, i), *count = g_strdup_printf("%s[%u].count", list, i);
    add_named(all, scenario_word(s, name), (int)i, (int)scenario_int(s, count));
  }
  if (n == 0 && dflt) add_named(all, dflt, NONE, 1);
  return all;
}

static bool is_copy(const char *copy, const char *name) {
  const size_t len = strlen(name);
  return !strncmp(copy, name, len) && copy[len] == '.' &&
         strspn(copy + len + 1, "0123456789") == strlen(copy + len + 1);
}

int named_find(const GArray *named, const char *name, int *n) {
  int first = NONE;
  *n = 0;
  for (guint i = 0; i < named->len; i++) {
    const char *own = g_array_index(named, Named, i).name;
    if (!strcmp(own, name)) return *n = 1, (int)i;
    if (!is_copy(own, name)) continue;
    if (first == NONE) first = (int)i;
    ++*n;
  }
  return first;
}

GError *named_unknown(const Scenario *s, const char *key, const char *kind, const char *name, const GArray *named) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < named->len; i++) g_ptr_array_add(names, g_array_index(named, Named, i).name);
  g_ptr_array_add(names, NULL);
  const char *near = nearest_name(name, (const char *const *)names->pdata);
  g_autofree char *value = quoted(name), *all = g_strjoinv(", ", (char **)names->pdata);
  if (near) return scenario_complain(s, key, "no %s %s; the nearest is %s", kind, value, near);
  return scenario_complain(s, key, "no %s %s; there %s %.200s", kind, value, named->len == 1 ? "is" : "are", all);
}

static bool names_differ(const Scenario *s, const char *list, GError **error) {
  for (guint i = 0, n = scenario_count(s, list); i < n; i++)
    for (guint j = 0; j < i; j++) {
      g_autofree char *a = g_strdup_printf("%s[%u].name", list, i), *b = g_strdup_printf("%s[%u].name", list, j);
      if (strcmp(scenario_word(s, a), scenario_word(s, b)) != 0) continue;
      g_autofree char *first = scenario_mark(s, b);
      g_propagate_error(
          error, scenario_complain(s, a, "%s is the name of another entry too, at %s", scenario_word(s, a), first));
      return false;
    }
  return true;
}

/* ---- values that several parts have ---- */

Delay bind_delay(const Scenario *s, const char *key) {
  static const DelayKind kinds[] = {[DRAW_FIXED] = DELAY_FIXED, [DRAW_EXP] = DELAY_EXP, [DRAW_UNIFORM] = DELAY_UNIFORM};
  const Draw d = scenario_draw(s, key);
  return (Delay){kinds[d.kind], d.low, d.high};
}

int64_t bind_limit(const Scenario *s, const char *key) {
  return scenario_is(s, key, "none") ? NO_LIMIT : scenario_ns(s, key);
}

int bind_count(const Scenario *s, const char *key, int none) {
  return scenario_is(s, key, "none") ? none : (int)scenario_int(s, key);
}

/* hold_until: [eof, T], either alone, or both. */
static bool hold_until(const Scenario *s, const char *key, Fence *fence, int64_t *ns, GError **error) {
  const guint n = scenario_count(s, key);
  int eofs = 0, times = 0;
  for (guint i = 0; i < n; i++) {
    g_autofree char *entry = g_strdup_printf("%s[%u]", key, i);
    if (scenario_is(s, entry, "eof")) {
      eofs++;
      continue;
    }
    times++;
    *ns = scenario_ns(s, entry);
  }
  *fence = !times ? FENCE_HOLD : eofs ? FENCE_HOLD_TIMEOUT : FENCE_WAIT;
  if (n && eofs <= 1 && times <= 1) return true;
  g_propagate_error(error, scenario_complain(s, key, "eof, a time, or one of each: [eof, 10s]"));
  return false;
}

bool bind_fence(const Scenario *s, const char *key, Fence *fence, int64_t *ns, GenerationStep *step, GError **error) {
  static const char *const words[] = {"none",           "unlink_unforwarded",
                                      "hold_until_eof", "hold_until_eof_with_timeout",
                                      "refcount_hold",  "generation_check",
                                      "retire_session", "drain_57014",
                                      "hold_until",     NULL};
  g_autofree char *argument = g_strdup_printf("%s.%s", key, scenario_word(s, key));
  const guint which = scenario_choice(s, key, words);
  *fence = (Fence)which;
  *ns = NO_LIMIT;
  if (!strcmp(words[which], "hold_until")) return hold_until(s, argument, fence, ns, error);
  if (*fence == FENCE_RETIRE) *ns = scenario_given(s, argument) ? scenario_ns(s, argument) : 0;
  if (*fence == FENCE_HOLD_TIMEOUT) *ns = scenario_ns(s, argument);
  if (*fence == FENCE_GENERATION && scenario_given(s, argument))
    *step = scenario_is(s, argument, "per_command") ? GENERATION_COMMAND : GENERATION_CHECKOUT;
  return true;
}

/* ---- the whole ---- */

bool scenario_has_pooler(const Scenario *s) {
  return scenario_given(s, "clients") || scenario_given(s, "pooler") || scenario_given(s, "servers");
}

const PoolerConfig *pooler_binding_config(const PoolerBinding *b) {
  return &b->config;
}

void pooler_binding_free(PoolerBinding *b) {
  if (!b) return;
  g_ptr_array_unref(b->blocks);
  g_ptr_array_unref(b->roots);
  g_array_unref(b->servers);
  g_array_unref(b->pools);
  g_free(b);
}

static bool keeps_series(const Scenario *s) {
  for (guint i = 0, n = scenario_count(s, "expect"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("expect[%u].during", i);
    if (scenario_given(s, key)) return true;
  }
  return false;
}

bool bind_valid(const PoolerConfig *c, const Scenario *s, const char *key, GError **error) {
  g_autoptr(GError) wrong = NULL;
  if (pooler_config_valid(c, &wrong)) return true;
  GError *contradiction = scenario_complain(s, key, "%s", wrong->message);
  contradiction->code = SCENARIO_ERROR_CONTRADICTION;
  g_propagate_error(error, contradiction);
  return false;
}

PoolerBinding *scenario_bind_pooler(const Scenario *s, const Costs *costs, GError **error) {
  static const char *const lists[] = {"servers", "pooler.pools", "clients"};
  for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
    if (!names_differ(s, lists[i], error)) return NULL;
  g_autoptr(PoolerBinding) b = g_new0(PoolerBinding, 1);
  b->blocks = g_ptr_array_new_with_free_func(g_free);
  b->roots = g_ptr_array_new_with_free_func((GDestroyNotify)node_free);
  b->servers = named_new(s, "servers", "s");
  b->pools = named_new(s, "pooler.pools", NULL);
  b->config.keep_series = keeps_series(s);
  b->config.limits_fire = scenario_count(s, "explore.fire") > 0;
  if (!bind_servers(b, s, costs, error) || !bind_links(b, s, error) || !bind_pools(b, s, error) ||
      !bind_clients(b, s, error) || !bind_events(b, s, error) || !bind_expectations(b, s, error))
    return NULL;
  return bind_valid(&b->config, s, "pooler", error) ? g_steal_pointer(&b) : NULL;
}
