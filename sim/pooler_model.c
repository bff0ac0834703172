/* pooler_model.c - see pooler_model.h. What the file says is bound once, and lives as long as the model, which keeps
 * indices into it. */
#include "sim/pooler_model.h"

static bool done(const Model *m) {
  return pooler_done(m->pooler);
}
static uint64_t size(const Model *m) {
  return pooler_sessions(m->pooler) + pooler_pools(m->pooler);
}
static void describe(const Model *m, void (*each)(const char *name, const char *value, void *data), void *data) {
  pooler_describe(m->pooler, each, data);
}
static void measure(const Model *m) {
  pooler_write_metrics(m->pooler);
}
static void clear(Model *m) {
  g_clear_pointer(&m->pooler, pooler_free);
  g_clear_pointer(&m->bound, pooler_binding_free);
}
static void canon(Model *m) {
  pooler_canon(m->pooler);
}
static const ModelOps ops = {
    .done = done, .size = size, .describe = describe, .free = clear, .measure = measure, .canon = canon};

Model *pooler_model_build(const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                          GError **error) {
  PoolerBinding *bound = scenario_bind_pooler(s, costs, error);
  if (!bound) return NULL;
  const PoolerConfig *c = pooler_binding_config(bound);
  GError *problem = NULL;
  Model *m = g_new0(Model, 1);
  m->ops = &ops;
  m->bound = bound;
  m->subject = g_strconcat("model:", c->preset ? c->preset : "pooler", NULL);
  m->world = world_new(costs, pooler_bytes(c));
  driver(m->world, data);
  m->pooler = pooler_new(m->world, c, &problem);
  if (m->pooler) return m;
  g_propagate_error(error, scenario_complain(s, "pooler", "%s", problem->message));
  g_error_free(problem);
  model_free(m);
  return NULL;
}
