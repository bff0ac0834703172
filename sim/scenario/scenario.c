/* scenario.c - asking a scenario for its values. */
#include "sim/scenario/keys.h"
#include "sim/scenario/scalar.h"
#include "sim/scenario/scenario_impl.h"
#include <string.h>

const char *scenario_file(const Scenario *s) {
  return s->file;
}
const char *scenario_text(const Scenario *s) {
  return s->text;
}
const GPtrArray *scenario_sources(const Scenario *s) {
  return s->sources;
}
const char *scenario_name(const Scenario *s) {
  return scenario_scalar(s, "scenario");
}

const char *const *scenario_overrides(const Scenario *s) {
  return (const char *const *)s->overrides->pdata;
}

static const KeyInfo *row_of(const char *key) {
  g_autofree char *plain = key_without_indexes(key);
  const KeyInfo *k = key_find(plain);
  size_t len = strlen(plain);
  if (!k && g_str_has_suffix(plain, "[]")) { /* "expect[].by[]" */
    plain[len - 2] = '\0';
    k = key_find(plain);
  }
  if (!k) g_error("scenario: no key %s in the table", key);
  return k;
}

const char *scenario_scalar(const Scenario *s, const char *key) {
  const KeyInfo *k = row_of(key);
  const Node *n = node_at(s->root, key);
  return n && n->text ? n->text : n ? NULL : k->dflt;
}

bool scenario_given(const Scenario *s, const char *key) {
  return node_at(s->root, key) != NULL;
}

const char *scenario_word(const Scenario *s, const char *key) {
  const Node *n = node_at(s->root, key);
  if (n && n->kind == NODE_MAP && n->children->len) return ((const Node *)n->children->pdata[0])->key;
  return scenario_scalar(s, key);
}

bool scenario_is(const Scenario *s, const char *key, const char *word) {
  return !g_strcmp0(scenario_word(s, key), word);
}

guint scenario_choice(const Scenario *s, const char *key, const char *const *words) {
  const char *word = scenario_word(s, key);
  for (guint i = 0; words[i]; i++)
    if (!g_strcmp0(words[i], word)) return i;
  g_error("scenario: the table allows %s: %s, and nothing here knows it", key, word);
}

guint scenario_count(const Scenario *s, const char *key) {
  const Node *n = node_at(s->root, key);
  (void)row_of(key);
  return !n ? 0 : n->kind == NODE_LIST ? n->children->len : 1;
}

static int64_t number(const Scenario *s, const char *key, guint types) {
  const KeyInfo *k = row_of(key);
  const char *text = scenario_scalar(s, key);
  int64_t n = 0;
  if (!(k->types & types)) g_error("scenario: %s is not of the type asked for", key);
  UnitsFault fault = text ? scalar_number(types, text, &n) : UNITS_NOT_A_NUMBER;
  if (fault) g_error("scenario: %s is %s: ask scenario_is first", key, text ? text : "not given");
  return n;
}

int64_t scenario_int(const Scenario *s, const char *key) {
  return number(s, key, K_INT);
}
int64_t scenario_ns(const Scenario *s, const char *key) {
  return number(s, key, K_TIME);
}
int64_t scenario_bytes(const Scenario *s, const char *key) {
  return number(s, key, K_SIZE);
}
int64_t scenario_gap_ns(const Scenario *s, const char *key) {
  return number(s, key, K_RATE);
}

bool scenario_bool(const Scenario *s, const char *key) {
  g_assert(row_of(key)->types & K_BOOL);
  return !g_strcmp0(scenario_scalar(s, key), "true");
}

uint64_t scenario_seed(const Scenario *s) {
  uint64_t seed = 0;
  UnitsFault fault = units_seed(scenario_scalar(s, "seed"), &seed);
  g_assert(!fault);
  return seed;
}

double scenario_number(const Scenario *s, const char *key) {
  double n = 0;
  const char *text = scenario_scalar(s, key);
  UnitsFault fault = text ? units_number(text, &n) : UNITS_NOT_A_NUMBER;
  if (fault) g_error("scenario: %s is no number", key);
  return n;
}

static int64_t time_at(const Node *n) {
  int64_t ns = 0;
  UnitsFault fault = units_time_ns(n->text, &ns);
  g_assert(!fault); /* validated */
  return ns;
}

Draw scenario_draw(const Scenario *s, const char *key) {
  const Node *n = node_at(s->root, key), *exp = node_child(n, "exp"), *uniform = node_child(n, "uniform");
  g_assert(row_of(key)->types & K_DRAW);
  if (exp) return (Draw){DRAW_EXP, time_at(exp), time_at(exp)};
  if (uniform) return (Draw){DRAW_UNIFORM, time_at(node_at(uniform, "[0]")), time_at(node_at(uniform, "[1]"))};
  int64_t fixed = scenario_ns(s, key);
  return (Draw){DRAW_FIXED, fixed, fixed};
}

/* The node of key, or of the nearest thing around it; NULL: nothing of it is given. */
static const Node *nearest_node(const Scenario *s, const char *key) {
  g_autofree char *path = g_strdup(key);
  for (;;) {
    const Node *n = node_at(s->root, path);
    char *cut = strrchr(path, '.'), *index = strrchr(path, '[');
    if (n) return n;
    if (index > cut) cut = index;
    if (!cut) return NULL;
    *cut = '\0';
  }
}

char *scenario_mark(const Scenario *s, const char *key) {
  const Node *n = nearest_node(s, key);
  return n ? mark_text(&n->mark) : g_strdup(s->file);
}

GError *scenario_complain(const Scenario *s, const char *key, const char *format, ...) {
  const Node *n = nearest_node(s, key);
  const Mark at = n ? n->mark : (Mark){.file = s->file};
  va_list args;
  va_start(args, format);
  g_autofree char *what = g_strdup_vprintf(format, args);
  va_end(args);
  return mark_error(&at, key, "%s", what);
}
