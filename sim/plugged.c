/* plugged.c - see plugged.h. */
#include "sim/plugged.h"
#include "sim/object_path.h"
#include "sim/own_checks.h"
#include "sim/scenario/scenario.h"
#include <gmodule.h>

struct Plugged {
  const ModelPlugin *plugin;
  void *model; /* what its build returned */
};

/* ---- checks ---- */

static Judgement judge(const Model *m, guint i, GString *why) {
  const struct Plugged *p = m->plugged;
  if (i >= p->plugin->n_checks) return JUDGED_FINE; /* of liveness: no state alone breaks it */
  return p->plugin->checks[i].broken(m->world, p->model, why) ? JUDGED_BROKEN : JUDGED_FINE;
}
static const PluginLiveness *liveness(const Model *m, guint i) {
  return &m->plugged->plugin->liveness[i - m->plugged->plugin->n_checks];
}
static guint subjects(const Model *m, guint i) {
  return liveness(m, i)->subjects;
}
static bool pending(const Model *m, guint i, guint subject, GString *why) {
  return liveness(m, i)->pending(m->world, m->plugged->model, subject, why);
}
static void reads(const Model *m, guint i, Footprint *f) {
  const struct Plugged *p = m->plugged;
  p->plugin->reads(m->world, p->model, i, f);
}

static void take_checks(Model *m) {
  static const OwnChecksOps all = {judge, subjects, pending, NULL}, footprints = {judge, subjects, pending, reads};
  const ModelPlugin *p = m->plugged->plugin;
  own_checks_open(m, p->reads ? &footprints : &all);
  for (guint i = 0; i < p->n_checks; i++) own_checks_put(m, p->checks[i].name, p->checks[i].about, false);
  for (guint i = 0; i < p->n_liveness; i++) own_checks_put(m, p->liveness[i].name, p->liveness[i].about, true);
}

/* ---- the model ---- */

static bool done(const Model *m) {
  const struct Plugged *p = m->plugged;
  return p->plugin->done ? p->plugin->done(m->world, p->model) : world_live(m->world) == 0;
}

static uint64_t size(const Model *m) {
  (void)m;
  return 1; /* judged after every step */
}

static void describe(const Model *m, void (*each)(const char *name, const char *value, void *data), void *data) {
  const struct Plugged *p = m->plugged;
  if (p->plugin->describe)
    p->plugin->describe(m->world, p->model, each, data);
  else
    model_describe_processes(m->world, each, data);
}

static void free_own(Model *m) {
  if (m->plugged->plugin->free) m->plugged->plugin->free(m->plugged->model);
  g_free(m->plugged);
}

G_STATIC_ASSERT((int)PLUGIN_CHECKS_MAX == (int)OWN_CHECKS_MAX);

static const ModelOps ops = {.done = done, .size = size, .describe = describe, .free = free_own};

Model *plugged_build(const ModelPlugin *plugin, const Costs *costs, void (*driver)(World *w, void *data), void *data) {
  Model *m = g_new0(Model, 1);
  m->subject = g_strconcat("model:", plugin->name, NULL);
  m->world = world_new(costs, plugin->arena_bytes ? plugin->arena_bytes : 1 << 20);
  m->ops = &ops;
  m->plugged = g_new0(struct Plugged, 1);
  m->plugged->plugin = plugin;
  take_checks(m);
  driver(m->world, data);
  m->plugged->model = plugin->build(m->world);
  return m;
}

/* ---- loading ---- */

static bool complain(GError **error, const char *path, const char *what) {
  g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: %s", path, what);
  return false;
}

static bool is_right(const ModelPlugin *p, const char *path, GError **error) {
  if (p->version != MODEL_PLUGIN_VERSION)
    return complain(error, path, "made for another version of model/world/plugin.h; build it again");
  if (!p->name || !p->build) return complain(error, path, "a model needs a name and a build function");
  if (p->n_checks > PLUGIN_CHECKS_MAX || p->n_liveness > PLUGIN_CHECKS_MAX - p->n_checks)
    return complain(error, path, "has more checks than a model may have (8)");
  return true;
}

const ModelPlugin *plugged_load(const char *name, const char *beside, GError **error) {
  g_autofree char *path = object_path(name, "models", beside);
  if (!g_file_test(path, G_FILE_TEST_EXISTS)) return complain(error, path, "there is no such model"), NULL;
  GModule *module = g_module_open(path, G_MODULE_BIND_LOCAL);
  if (!module) return complain(error, path, g_module_error()), NULL;
  gpointer symbol;
  if (!g_module_symbol(module, MODEL_PLUGIN_SYMBOL, &symbol)) {
    complain(error, path, "exports no " MODEL_PLUGIN_SYMBOL "; it is no model");
    g_module_close(module);
    return NULL;
  }
  g_module_make_resident(module); /* its types and texts are used to the end */
  return is_right(symbol, path, error) ? symbol : NULL;
}
