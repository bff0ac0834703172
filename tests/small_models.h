/* small_models.h - models so small that their state graphs can be counted by hand, as plugins (model/world/plugin.h),
 * and a search over one of them. */
#pragma once
#include "checks/search.h"
#include "sim/own_checks.h"
#include "sim/plugged.h"
#include "tests/harness.h"

static inline Model *small_build(void (*driver)(World *w, void *data), void *data, void *source, GError **error) {
  static const Costs costs;
  (void)error;
  return plugged_build(source, &costs, driver, data);
}

/* Judges the plugin's own checks. A searched-over copy of its check list lives in a model of its own. */
static inline SearchResult *small_search(const ModelPlugin *plugin, SearchOptions o) {
  o.stepper.build = small_build;
  o.stepper.source = (gpointer)plugin;
  if (o.findings_max == 0) o.findings_max = 1;
  if (o.bits_log2 == 0) o.bits_log2 = 20;
  if (o.walks == 0) o.walks = 200;
  g_autoptr(Stepper) s = search_stepper(&o.stepper, NULL);
  CheckTable own = own_checks(stepper_model(s));
  const Check *checks[PLUGIN_CHECKS_MAX];
  for (guint i = 0; i < own.n; i++) checks[i] = &own.checks[i];
  o.checks = checks;
  o.n_checks = own.n;
  return search_run(&o, NULL);
}

/* A machine of up to 15 stages over whatever `data` points to in the arena. */
#define MACHINE(type, Locals, stages)                                                                                  \
  static Step type##_resume(World *w, ProcId p, void *l) {                                                             \
    return machine_resume(w, p, l, stages);                                                                            \
  }                                                                                                                    \
  static const char *type##_at(const World *w, const void *l) {                                                        \
    return (void)w, machine_at(l, stages);                                                                             \
  }                                                                                                                    \
  static const ProcessType type = {#type, sizeof(Locals), type##_resume, type##_at};

static inline ProcId small_spawn(World *w, const ProcessType *type, void *data) {
  TypeId t = world_type(w, type);
  world_set_data(w, t, data);
  return world_spawn(w, t, 0);
}
