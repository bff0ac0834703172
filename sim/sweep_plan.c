/* sweep_plan.c - from a command line to points, every one of them loaded once; see sweep.h. */
#include "sim/scenario/units.h"
#include "sim/side.h"
#include "sim/sweep.h"
#include <string.h>

#define WRONG(...) (g_propagate_error(error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT, __VA_ARGS__)), false)

static void key_free(gpointer p) {
  SweptKey *k = p;
  g_free(k->key);
  g_free(k->name);
  g_ptr_array_unref(k->values);
  g_array_unref(k->x);
  g_free(k);
}

static SweepPlan *plan_new(void) {
  SweepPlan *p = g_new0(SweepPlan, 1);
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
  g_free(p->file);
  g_free(p->text);
  g_free(p->profile);
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
    if (!strcmp(((SweptKey *)p->keys->pdata[i])->key, key))
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
    if (!*g_strstrip(*name)) return WRONG("--variant %.100s: an empty name in the list", list);
    if (g_ptr_array_find_with_equal_func(p->variants, *name, g_str_equal, NULL))
      return WRONG("--variant %.100s: %s stands in it twice", list, *name);
    GPtrArray *sets = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(sets, side_variants(*name));
    add_variant(p, *name, sets);
  }
  return p->variants->len > 0 || WRONG("--variant: no name");
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

char *sweep_point_name(const SweepPlan *p, guint point) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < p->keys->len; i++)
    g_string_append_printf(out, "%s=%s ", ((SweptKey *)p->keys->pdata[i])->name,
                           sweep_value(p, i, sweep_combination(p, point)));
  g_string_append_printf(out, "%s seed %" G_GUINT64_FORMAT, sweep_variant(p, point), sweep_seed(p, point));
  return g_string_free(out, FALSE);
}

/* What the command line would have been, for this point alone. */
static GPtrArray *overrides_of(const SweepPlan *p, guint point) {
  GPtrArray *sets = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < p->plain->len; i++) g_ptr_array_add(sets, g_strdup(p->plain->pdata[i]));
  for (guint i = 0; i < p->keys->len; i++)
    g_ptr_array_add(sets, g_strconcat(((SweptKey *)p->keys->pdata[i])->key, "=",
                                      sweep_value(p, i, sweep_combination(p, point)), NULL));
  const GPtrArray *own = p->variant_sets->pdata[point / p->seeds % p->variants->len];
  for (guint i = 0; i < own->len; i++) g_ptr_array_add(sets, g_strdup(own->pdata[i]));
  g_ptr_array_add(sets, NULL);
  return sets;
}

/* embedded: where presets and profiles are; NULL: in files. */
static Scenario *load(const SweepPlan *p, guint point, const ScenarioOptions *base, const GPtrArray *embedded,
                      GError **error) {
  g_autoptr(GPtrArray) sets = overrides_of(p, point);
  g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, sweep_seed(p, point));
  ScenarioOptions opt = *base;
  opt.sets = (const char *const *)sets->pdata;
  opt.seed = seed;
  opt.embedded = embedded;
  return scenario_from_text(p->text, strlen(p->text), p->file, &opt, error);
}

Scenario *sweep_load(const SweepPlan *p, guint point, const ScenarioOptions *base, GError **error) {
  return load(p, point, base, p->sources, error);
}

/* ---- loading every one ---- */

static void keep_sources(SweepPlan *p, const Scenario *s) {
  const GPtrArray *used = scenario_sources(s);
  for (guint i = 0; i < used->len; i++) {
    const ScenarioSource *from = used->pdata[i];
    bool known = false;
    for (guint j = 0; j < p->sources->len && !known; j++) {
      const ScenarioSource *old = p->sources->pdata[j];
      known = !strcmp(old->kind, from->kind) && !strcmp(old->name, from->name);
    }
    if (!known) g_ptr_array_add(p->sources, scenario_source_copy(from));
  }
}

static void keep_profile(GPtrArray *names, const Scenario *s) {
  const char *name = scenario_word(s, "machine.profile");
  if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) g_ptr_array_add(names, g_strdup(name));
}

/* The variants that a scenario names itself; what it is without any, the model calls dense-arrays. A pooler's is its
 * preset. */
static char *own_variant(const Scenario *s) {
  if (scenario_given(s, "pooler.preset")) return g_strdup(scenario_word(s, "pooler.preset"));
  GString *out = g_string_new(NULL);
  for (guint i = 0, n = scenario_count(s, "postgres.variant"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("postgres.variant[%u]", i);
    g_string_append_printf(out, "%s%s", i ? "+" : "", scenario_word(s, key));
  }
  return g_string_free(out->len ? out : g_string_assign(out, "dense-arrays"), FALSE);
}

/* Finds the file, with the first point's overrides; what else there is to know is the same for all points. */
static Scenario *load_first(SweepPlan *p, const char *name, const SweepRequest *r, const ScenarioOptions *base,
                            GError **error) {
  g_autoptr(GPtrArray) sets = overrides_of(p, 0);
  ScenarioOptions opt = *base;
  opt.sets = (const char *const *)sets->pdata;
  opt.seed = r->seed;
  Scenario *s = scenario_load(name, &opt, error);
  if (!s) return NULL;
  p->scenario = g_strdup(scenario_name(s));
  p->file = g_strdup(scenario_file(s));
  p->text = g_strdup(scenario_text(s));
  p->seed = scenario_seed(s);
  return s;
}

/* Seeds change nothing about a scenario but the draws: one of each combination and variant stands for all. */
static bool load_all(SweepPlan *p, const SweepRequest *r, const ScenarioOptions *base, GError **error) {
  g_autoptr(GPtrArray) profiles = g_ptr_array_new_with_free_func(g_free);
  for (guint point = 0; point < sweep_points(p); point += p->seeds) {
    if (r->interrupted && g_atomic_int_get(r->interrupted)) return false;
    g_autoptr(Scenario) s = load(p, point, base, base->embedded, error);
    if (!s) return false;
    keep_sources(p, s);
    keep_profile(profiles, s);
  }
  g_ptr_array_add(profiles, NULL);
  p->profile = g_strjoinv(", ", (char **)profiles->pdata);
  return true;
}

static bool seeds_fit(const SweepPlan *p, GError **error) {
  return p->seed <= G_MAXUINT64 - (p->seeds - 1) ||
         WRONG("--repeat %u: the seeds from %" G_GUINT64_FORMAT " on would pass 2^64", p->seeds, p->seed);
}

SweepPlan *sweep_plan(const char *scenario, const SweepRequest *r, const ScenarioOptions *base, GError **error) {
  g_autoptr(SweepPlan) p = plan_new();
  if (!parse_request(p, r, error)) return NULL;
  g_autoptr(Scenario) first = load_first(p, scenario, r, base, error);
  if (!first) return NULL;
  if (!seeds_fit(p, error)) return NULL;
  if (p->own_variant) {
    g_free(p->variants->pdata[0]);
    p->variants->pdata[0] = own_variant(first);
  }
  GError *problem = NULL;
  p->published = published_load(first, base->dirs, &problem);
  if (problem) return g_propagate_error(error, problem), NULL;
  return load_all(p, r, base, error) ? g_steal_pointer(&p) : NULL;
}
