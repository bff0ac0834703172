/* sweep_plan.c - from a command line to points; see sweep.h. */
#include "sim/scenario/units.h"
#include "sim/side.h"
#include "sim/sweep_parts.h"
#include "sim/sweep_store.h"
#include <string.h>

static void key_free(gpointer p) {
  SweptKey *k = p;
  g_free(k->key);
  g_free(k->name);
  g_ptr_array_unref(k->values);
  g_array_unref(k->x);
  g_free(k);
}

static void scenario_free_one(gpointer data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SweepScenario, scenario_free_one)
static void scenario_free_one(gpointer data) {
  SweepScenario *s = data;
  g_free(s->name);
  g_free(s->file);
  g_free(s->text);
  g_free(s);
}

static SweepPlan *plan_new(void) {
  SweepPlan *p = g_new0(SweepPlan, 1);
  p->scenarios = g_ptr_array_new_with_free_func(scenario_free_one);
  p->refused = g_ptr_array_new_with_free_func(g_free);
  p->plain = g_ptr_array_new_with_free_func(g_free);
  p->keys = g_ptr_array_new_with_free_func(key_free);
  p->variants = g_ptr_array_new_with_free_func(g_free);
  p->variant_sets = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  p->sources = g_ptr_array_new_with_free_func(scenario_source_free);
  p->combinations = 1;
  return p;
}

void sweep_plan_free(SweepPlan *p) {
  if (!p) return;
  g_free(p->scenario);
  g_ptr_array_unref(p->scenarios);
  g_ptr_array_unref(p->refused);
  g_free(p->profile);
  g_free(p->job);
  g_ptr_array_unref(p->plain);
  g_ptr_array_unref(p->keys);
  g_ptr_array_unref(p->variants);
  g_ptr_array_unref(p->variant_sets);
  g_ptr_array_unref(p->sources);
  published_free(p->published);
  g_free(p);
}

/* ---- the lists ---- */

/* Numbers for an axis: in a unit that all values have. */
static void measure(SweptKey *k) {
  static const struct {
    UnitsFault (*parse)(const char *text, int64_t *out);
    const char *unit;
  } kinds[] = {{NULL, ""}, {units_size, "B"}, {units_time_ns, "ns"}};
  for (guint kind = 0; kind < G_N_ELEMENTS(kinds) && !k->numeric; kind++) {
    k->numeric = true;
    k->unit = kinds[kind].unit;
    g_array_set_size(k->x, 0);
    for (guint i = 0; i < k->values->len && k->numeric; i++) {
      int64_t whole = 0;
      double x = 0;
      UnitsFault fault = kind ? kinds[kind].parse(k->values->pdata[i], &whole) : units_number(k->values->pdata[i], &x);
      if (kind) x = (double)whole;
      k->numeric = fault == UNITS_OK;
      g_array_append_val(k->x, x);
    }
  }
}

static SweptKey *key_new(const char *key, GPtrArray *values_taken) {
  SweptKey *k = g_new0(SweptKey, 1);
  k->key = g_strdup(key);
  k->values = values_taken;
  k->x = g_array_new(FALSE, FALSE, sizeof(double));
  measure(k);
  return k;
}

/* A key that is swept is named once: which of two would win? */
static bool named_once(const SweepPlan *p, const char *key, bool list, GError **error) {
  for (guint i = 0; i < p->keys->len; i++)
    if (!((SweptKey *)p->keys->pdata[i])->scenarios && !strcmp(((SweptKey *)p->keys->pdata[i])->key, key))
      return WRONG("--set %s: named twice, and one of them is a list", key);
  for (guint i = 0; list && i < p->plain->len; i++) {
    const char *other = p->plain->pdata[i];
    if (!strncmp(other, key, strlen(key)) && other[strlen(key)] == '=')
      return WRONG("--set %s: named twice, and one of them is a list", key);
  }
  return true;
}

static bool add_set(SweepPlan *p, const char *set, GError **error) {
  const char *equals = strchr(set, '=');
  if (!equals) return g_ptr_array_add(p->plain, g_strdup(set)), true; /* the reader of scenarios says what is wrong */
  g_autofree char *key = g_strndup(set, (gsize)(equals - set));
  g_autoptr(GPtrArray) values = sweep_values(equals + 1, error);
  if (!values) return g_prefix_error(error, "--set %.100s: ", set), false;
  const bool list = values->len > 1;
  if (!named_once(p, key, list, error)) return false;
  if (list && !strcmp(key, "postgres.variant"))
    return WRONG("--set postgres.variant: for several, write --variant A,B");
  if (list && !strcmp(key, "seed")) return WRONG("--set seed: for several, write --seed N --repeat N");
  if (!list) return g_ptr_array_add(p->plain, g_strconcat(key, "=", (char *)values->pdata[0], NULL)), true;
  if (values->len > SWEEP_MAX_POINTS / p->combinations) return WRONG("more than %d points", SWEEP_MAX_POINTS);
  p->combinations *= values->len;
  g_ptr_array_add(p->keys, key_new(key, g_steal_pointer(&values)));
  return true;
}

static const char *last_part(const char *key) {
  const char *dot = strrchr(key, '.');
  return dot ? dot + 1 : key;
}

static void name_columns(SweepPlan *p) {
  static const char *const taken[] = {"variant", "seed", "verdict", NULL};
  for (guint i = 0; i < p->keys->len; i++) {
    SweptKey *k = p->keys->pdata[i];
    if (k->scenarios) {
      k->name = g_strdup("scenario");
      continue;
    }
    bool ambiguous = g_strv_contains(taken, last_part(k->key));
    for (guint j = 0; j < p->keys->len; j++)
      ambiguous |= i != j && !strcmp(last_part(k->key), last_part(((SweptKey *)p->keys->pdata[j])->key));
    k->name = g_strdup(ambiguous ? k->key : last_part(k->key));
  }
}

static void add_variant(SweepPlan *p, const char *name, GPtrArray *sets_taken) {
  g_ptr_array_add(p->variants, g_strdup(name));
  g_ptr_array_add(p->variant_sets, sets_taken);
}

static bool add_sides(SweepPlan *p, const SweepRequest *r) {
  for (guint i = 0; i < r->n_sides; i++) {
    GPtrArray *sets = g_ptr_array_new_with_free_func(g_free);
    for (guint k = 0; k < r->sides[i].sets->len; k++) g_ptr_array_add(sets, g_strdup(r->sides[i].sets->pdata[k]));
    add_variant(p, r->sides[i].name, sets);
  }
  return true;
}

static bool add_variants(SweepPlan *p, const char *list, GError **error) {
  p->own_variant = !list;
  if (!list) return add_variant(p, "", g_ptr_array_new()), true;
  g_auto(GStrv) names = g_strsplit(list, ",", -1);
  for (char **name = names; *name; name++) {
    g_auto(GStrv) parts = g_strsplit(g_strstrip(*name), "+", -1);
    bool empty = !*parts;
    for (char **part = parts; *part; part++) empty |= !**part;
    if (empty)
      return WRONG("--variant %.100s: an empty name in the list; A,B are two, A+B is one over the other", list);
    if (g_ptr_array_find_with_equal_func(p->variants, *name, g_str_equal, NULL))
      return WRONG("--variant %.100s: %s stands in it twice", list, *name);
    GPtrArray *sets = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(sets, side_variants(*name));
    add_variant(p, *name, sets);
  }
  return p->variants->len > 0 || WRONG("--variant: no name");
}

/* Scenarios that are compared are the outermost list. */
static bool add_scenarios(SweepPlan *p, const char *const *names, const ScenarioOptions *base, GError **error) {
  GPtrArray *values = g_ptr_array_new_with_free_func(g_free);
  for (; *names; names++) {
    g_autoptr(SweepScenario) s = g_new0(SweepScenario, 1);
    g_autofree char *file = g_path_get_basename(*names);
    s->name = g_strndup(file, strlen(file) - (g_str_has_suffix(file, ".yaml") ? strlen(".yaml") : 0));
    g_ptr_array_add(values, g_strdup(s->name));
    if (!scenario_find(*names, base, &s->file, &s->text, &s->length, error)) return g_ptr_array_unref(values), false;
    for (guint i = 0; i < p->scenarios->len; i++)
      if (!strcmp(((SweepScenario *)p->scenarios->pdata[i])->name, s->name))
        return g_ptr_array_unref(values), WRONG("%s is named twice", s->name);
    g_ptr_array_add(p->scenarios, g_steal_pointer(&s));
  }
  if (p->scenarios->len < 2) return g_ptr_array_unref(values), true;
  SweptKey *k = key_new("", values);
  k->scenarios = true;
  k->numeric = false;
  p->combinations = values->len;
  g_ptr_array_add(p->keys, k);
  return true;
}

static bool parse_request(SweepPlan *p, const SweepRequest *r, GError **error) {
  for (guint i = 0; r->sets && r->sets[i]; i++)
    if (!add_set(p, r->sets[i], error)) return false;
  name_columns(p);
  if (!(r->sides ? add_sides(p, r) : add_variants(p, r->variants, error))) return false;
  if (r->repeat < 1) return WRONG("--repeat takes a number of 1 or more");
  if (p->variants->len > SWEEP_MAX_POINTS / p->combinations ||
      r->repeat > SWEEP_MAX_POINTS / (p->combinations * p->variants->len))
    return WRONG("more than %d points", SWEEP_MAX_POINTS);
  p->seeds = (guint)r->repeat;
  p->job = g_strdup(r->job ? r->job : "run");
  p->explores = g_str_has_prefix(p->job, "check");
  return true;
}

/* ---- points ---- */

guint sweep_points(const SweepPlan *p) {
  return p->combinations * p->variants->len * p->seeds;
}

guint sweep_point(const SweepPlan *p, guint combination, guint variant, guint seed) {
  g_assert(combination < p->combinations && variant < p->variants->len && seed < p->seeds);
  return (combination * p->variants->len + variant) * p->seeds + seed;
}

guint sweep_value_index(const SweepPlan *p, guint key, guint combination) {
  guint inner = 1;
  for (guint i = key + 1; i < p->keys->len; i++) inner *= ((SweptKey *)p->keys->pdata[i])->values->len;
  return combination / inner % ((SweptKey *)p->keys->pdata[key])->values->len;
}

const char *sweep_value(const SweepPlan *p, guint key, guint combination) {
  return ((SweptKey *)p->keys->pdata[key])->values->pdata[sweep_value_index(p, key, combination)];
}

guint sweep_combination(const SweepPlan *p, guint point) {
  return point / p->seeds / p->variants->len;
}

const char *sweep_variant(const SweepPlan *p, guint point) {
  return p->variants->pdata[point / p->seeds % p->variants->len];
}

uint64_t sweep_seed(const SweepPlan *p, guint point) {
  return p->seed + point % p->seeds;
}

bool sweep_has_axis(const SweepPlan *p) {
  for (guint i = 0; i < p->keys->len; i++) {
    const SweptKey *k = p->keys->pdata[i];
    if (k->numeric && k->values->len >= 3) return true;
  }
  return false;
}

const SweepScenario *sweep_scenario(const SweepPlan *p, guint point) {
  const guint i = p->scenarios->len > 1 ? sweep_value_index(p, 0, sweep_combination(p, point)) : 0;
  return p->scenarios->pdata[i];
}

const char *sweep_refused(const SweepPlan *p, guint point) {
  return p->refused->pdata[point / p->seeds];
}

char *sweep_point_name(const SweepPlan *p, guint point) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < p->keys->len; i++)
    g_string_append_printf(out, "%s=%s ", ((SweptKey *)p->keys->pdata[i])->name,
                           sweep_value(p, i, sweep_combination(p, point)));
  if (strcmp(sweep_variant(p, point), "-") != 0) g_string_append_printf(out, "%s ", sweep_variant(p, point));
  g_string_append_printf(out, "seed %" G_GUINT64_FORMAT, sweep_seed(p, point));
  return g_string_free(out, FALSE);
}

SweepPlan *sweep_plan(const char *const *scenarios, const SweepRequest *r, const ScenarioOptions *base,
                      GError **error) {
  g_autoptr(SweepPlan) p = plan_new();
  if (!add_scenarios(p, scenarios, base, error) || !parse_request(p, r, error)) return NULL;
  if (!sweep_load_all(p, r, base, error)) return NULL;
  sweep_manifest_hash(p, p->hash);
  return g_steal_pointer(&p);
}
