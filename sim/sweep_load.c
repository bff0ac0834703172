/* sweep_load.c - the scenario of a point, and every one of them loaded once before the first runs; see sweep.h. */
#include "sim/sweep_parts.h"
#include <string.h>

/* What the command line would have been, for this point alone. */
static GPtrArray *overrides_of(const SweepPlan *p, guint point) {
  GPtrArray *sets = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < p->plain->len; i++) g_ptr_array_add(sets, g_strdup(p->plain->pdata[i]));
  for (guint i = 0; i < p->keys->len; i++) {
    const SweptKey *k = p->keys->pdata[i];
    if (!k->scenarios)
      g_ptr_array_add(sets, g_strconcat(k->key, "=", sweep_value(p, i, sweep_combination(p, point)), NULL));
  }
  const GPtrArray *own = p->variant_sets->pdata[point / p->seeds % p->variants->len];
  for (guint i = 0; i < own->len; i++) g_ptr_array_add(sets, g_strdup(own->pdata[i]));
  g_ptr_array_add(sets, NULL);
  return sets;
}

/* embedded: where presets and profiles are; NULL: in files. seed: NULL: the scenario's own. */
static Scenario *load(const SweepPlan *p, guint point, const char *seed, const ScenarioOptions *base,
                      const GPtrArray *embedded, GError **error) {
  g_autoptr(GPtrArray) sets = overrides_of(p, point);
  const SweepScenario *from = sweep_scenario(p, point);
  ScenarioOptions opt = *base;
  opt.sets = (const char *const *)sets->pdata;
  opt.seed = seed;
  opt.embedded = embedded;
  return scenario_from_text(from->text, from->length, from->file, &opt, error);
}

Scenario *sweep_load(const SweepPlan *p, guint point, const ScenarioOptions *base, GError **error) {
  g_assert(!sweep_refused(p, point));
  g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, sweep_seed(p, point));
  return load(p, point, seed, base, p->sources, error);
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

/* The variants that a scenario names itself; what a server is without any, the model calls dense-arrays. A pooler's is
 * its preset. */
static char *own_variant(const Scenario *s) {
  if (scenario_has_pooler(s))
    return g_strdup(scenario_given(s, "pooler.preset") ? scenario_word(s, "pooler.preset") : "-");
  GString *out = g_string_new(NULL);
  for (guint i = 0, n = scenario_count(s, "postgres.variant"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("postgres.variant[%u]", i);
    g_string_append_printf(out, "%s%s", i ? "+" : "", scenario_word(s, key));
  }
  return g_string_free(out->len ? out : g_string_assign(out, "dense-arrays"), FALSE);
}

/* "FILE:LINE:COLUMN: KEY: what" without the place, which is not the same on every machine. */
static char *without_place(const char *message) {
  const char *key = strstr(message, ": "), *what = key ? strstr(key + 2, ": ") : NULL;
  return g_strdup(what ? what + 2 : message);
}

/* What is the same for all points is known from the first. With several scenarios their own variants may differ. */
static bool take_first(SweepPlan *p, const Scenario *s, const ScenarioOptions *base, GError **error) {
  GError *problem = NULL;
  p->seed = scenario_seed(s);
  if (p->seed > G_MAXUINT64 - (p->seeds - 1))
    return WRONG("--repeat %u: the seeds from %" G_GUINT64_FORMAT " on would pass 2^64", p->seeds, p->seed);
  if (p->own_variant) {
    g_free(p->variants->pdata[0]);
    p->variants->pdata[0] = own_variant(s);
  }
  if (p->scenarios->len > 1) return true;
  p->scenario = g_strdup(scenario_name(s));
  p->published = published_load(s, base->dirs, &problem);
  return problem ? g_propagate_error(error, problem), false : true;
}

static void take_each(SweepPlan *p, const Scenario *s, GPtrArray *profiles) {
  g_autofree char *variant = p->own_variant ? own_variant(s) : NULL;
  if (variant && strcmp(variant, p->variants->pdata[0]) != 0) {
    g_free(p->variants->pdata[0]);
    p->variants->pdata[0] = g_strdup("own");
  }
  keep_sources(p, s);
  keep_profile(profiles, s);
}

/* False: *error. A contradiction is kept, as what the point shows. */
static bool load_one(SweepPlan *p, guint point, const char *seed, const ScenarioOptions *base, GPtrArray *profiles,
                     GError **error) {
  GError *problem = NULL;
  g_autoptr(Scenario) s = load(p, point, seed, base, base->embedded, &problem);
  if (s) {
    if (profiles->len == 0 && !take_first(p, s, base, error)) return false;
    take_each(p, s, profiles);
    return true;
  }
  if (!g_error_matches(problem, SCENARIO_ERROR, SCENARIO_ERROR_CONTRADICTION))
    return g_propagate_error(error, problem), false;
  p->refused->pdata[point / p->seeds] = without_place(problem->message);
  const bool all = profiles->len == 0 && point / p->seeds + 1 == p->refused->len;
  if (all) g_propagate_error(error, g_steal_pointer(&problem));
  g_clear_error(&problem);
  return !all;
}

static void join_names(SweepPlan *p) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < p->scenarios->len; i++)
    g_string_append_printf(out, "%s%s", i ? ", " : "", ((SweepScenario *)p->scenarios->pdata[i])->name);
  if (!p->scenario) p->scenario = g_strdup(out->str);
  g_string_free(out, TRUE);
}

/* Seeds change nothing about a scenario but the draws: one of each combination and variant stands for all. */
bool sweep_load_all(SweepPlan *p, const SweepRequest *r, const ScenarioOptions *base, GError **error) {
  g_autoptr(GPtrArray) profiles = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_set_size(p->refused, (gint)(p->combinations * p->variants->len));
  for (guint point = 0; point < sweep_points(p); point += p->seeds) {
    if (r->interrupted && g_atomic_int_get(r->interrupted)) return false;
    if (!load_one(p, point, r->seed, base, profiles, error)) return false;
  }
  g_ptr_array_add(profiles, NULL);
  p->profile = g_strjoinv(", ", (char **)profiles->pdata);
  join_names(p);
  return true;
}
