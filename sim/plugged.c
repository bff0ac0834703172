/* plugged.c - see plugged.h. */
#include "sim/plugged.h"
#include "model/world/explore.h"
#include "sim/scenario/scenario.h"
#include <gmodule.h>
#include <string.h>

struct Plugged {
  const ModelPlugin *plugin;
  void *model;   /* what its build returned */
  Check *checks; /* counted: results outlive models */
};

/* ---- checks: a Check is judged with the model alone, so each place in the plugin's list has a function ---- */

static Judgement judge(const Model *m, guint i, GString *why) {
  const struct Plugged *p = m->plugged;
  if (i >= p->plugin->n_checks) return JUDGED_FINE; /* of liveness: no state alone breaks it */
  return p->plugin->checks[i].broken(m->world, p->model, why) ? JUDGED_BROKEN : JUDGED_FINE;
}
static const PluginLiveness *liveness(const Model *m, guint i) {
  return &m->plugged->plugin->liveness[i - m->plugged->plugin->n_checks];
}
#define JUDGE(i)                                                                                                       \
  static Judgement judge_##i(const Model *m, GString *why) {                                                           \
    return judge(m, i, why);                                                                                           \
  }                                                                                                                    \
  static guint subjects_##i(const Model *m) {                                                                          \
    return liveness(m, i)->subjects;                                                                                   \
  }                                                                                                                    \
  static bool pending_##i(const Model *m, guint subject, GString *why) {                                               \
    return liveness(m, i)->pending(m->world, m->plugged->model, subject, why);                                         \
  }
JUDGE(0)
JUDGE(1)
JUDGE(2)
JUDGE(3)
JUDGE(4)
JUDGE(5)
JUDGE(6)
JUDGE(7)

static void reads(const Model *m, guint i, Footprint *f) {
  const struct Plugged *p = m->plugged;
  p->plugin->reads(m->world, p->model, i, f);
}
#define READS(i)                                                                                                       \
  static void reads_##i(const Model *m, Footprint *f) {                                                                \
    reads(m, i, f);                                                                                                    \
  }
READS(0)
READS(1)
READS(2)
READS(3)
READS(4)
READS(5)
READS(6)
READS(7)

CheckTable plugged_checks(const Model *m) {
  if (!m->plugged) return (CheckTable){NULL, 0};
  return (CheckTable){m->plugged->checks, m->plugged->plugin->n_checks + m->plugged->plugin->n_liveness};
}

gpointer plugged_checks_keep(const Model *m) {
  return m->plugged ? g_atomic_rc_box_acquire(m->plugged->checks) : NULL;
}

#define EACH(f)                                                                                                        \
  { f##0, f##1, f##2, f##3, f##4, f##5, f##6, f##7 }
static Judgement (*const judges[PLUGIN_CHECKS_MAX])(const Model *, GString *) = EACH(judge_);
static guint (*const subjects[PLUGIN_CHECKS_MAX])(const Model *) = EACH(subjects_);
static bool (*const pendings[PLUGIN_CHECKS_MAX])(const Model *, guint, GString *) = EACH(pending_);

static void (*const readers[PLUGIN_CHECKS_MAX])(const Model *, Footprint *) = EACH(reads_);

static void take_checks(struct Plugged *p) {
  g_assert(p->plugin->n_checks + p->plugin->n_liveness <= PLUGIN_CHECKS_MAX);
  p->checks = g_atomic_rc_box_alloc0(sizeof(Check) * PLUGIN_CHECKS_MAX);
  for (guint i = 0; i < p->plugin->n_checks; i++)
    p->checks[i] = (Check){p->plugin->checks[i].name, p->plugin->checks[i].about, SEES_INSIDE, .judge = judges[i],
                           .reads = p->plugin->reads ? readers[i] : NULL};
  for (guint i = 0, at = p->plugin->n_checks; i < p->plugin->n_liveness; i++, at++)
    p->checks[at] = (Check){p->plugin->liveness[i].name, p->plugin->liveness[i].about, SEES_INSIDE,
                            .judge = judges[at],         .subjects = subjects[at],     .pending = pendings[at]};
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
  g_atomic_rc_box_release(m->plugged->checks);
  g_free(m->plugged);
}

static const ModelOps ops = {.done = done, .size = size, .describe = describe, .free = free_own};

Model *plugged_build(const ModelPlugin *plugin, const Costs *costs, void (*driver)(World *w, void *data), void *data) {
  Model *m = g_new0(Model, 1);
  m->subject = g_strconcat("model:", plugin->name, NULL);
  m->world = world_new(costs, plugin->arena_bytes ? plugin->arena_bytes : 1 << 20);
  m->ops = &ops;
  m->plugged = g_new0(struct Plugged, 1);
  m->plugged->plugin = plugin;
  take_checks(m->plugged);
  driver(m->world, data);
  m->plugged->model = plugin->build(m->world);
  return m;
}

/* ---- loading ---- */

static char *path_of(const char *name, const char *beside) {
  if (strchr(name, '/')) {
    g_autofree char *folder = g_path_get_dirname(beside);
    return g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(folder, name, NULL);
  }
  /* Bundled ones: beside the program where it was built, under lib where it was installed. */
  g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *folder = program ? g_path_get_dirname(program) : g_strdup(".");
  g_autofree char *file = g_strconcat(name, ".so", NULL);
  char *built = g_build_filename(folder, "models", file, NULL);
  if (g_file_test(built, G_FILE_TEST_EXISTS)) return built;
  g_free(built);
  return g_build_filename(folder, "..", "lib", "stampede", "models", file, NULL);
}

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
  g_autofree char *path = path_of(name, beside);
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
