/* model.c - from a scenario to a model: which parts it has, and what they are told. */
#include "sim/model.h"
#include "sim/pooler_model.h"
#include "model/postgres/server.h"
#include "sim/object_path.h"
#include "sim/own_checks.h"
#include "sim/plugged.h"
#include "sim/subject/pg_subject.h"
#include "sim/subject/plain.h"
#include "sim/subject/subject.h"
#include <string.h>

enum { DESCRIBED_SLOTS = 64, DESCRIBED_PROCESSES = 24 };

/* ---- workloads ---- */

static PgbenchConfig pgbench_config(const Scenario *s) {
  PgbenchConfig c = {.clients = (int)scenario_int(s, "workload.clients"),
                     .transactions = scenario_int(s, "workload.transactions"),
                     .reconnect = scenario_bool(s, "workload.reconnect"),
                     .between = (int)scenario_int(s, "workload.between_iterations"),
                     .before = (int)scenario_int(s, "workload.before_iterations")};
  c.threads = (int)MIN(scenario_int(s, "workload.threads"), c.clients);
  if (!scenario_is(s, "workload.iterations", "warm")) c.iterations = (int)scenario_int(s, "workload.iterations");
  if (scenario_is(s, "workload.exit_order", "in-order")) c.exit_order = EXIT_IN_ORDER;
  if (scenario_is(s, "workload.exit_order", "window")) {
    c.exit_order = EXIT_WINDOW;
    c.exit_window = (int)scenario_int(s, "workload.exit_order.window");
  }
  return c;
}

static void arrival(const Scenario *s, StormConfig *c) {
  if (scenario_is(s, "workload.arrive", "burst")) c->burst_ns = scenario_ns(s, "workload.arrive.burst");
  if (scenario_is(s, "workload.arrive", "every")) c->gap_ns = scenario_ns(s, "workload.arrive.every");
  if (!scenario_is(s, "workload.arrive", "poisson")) return;
  c->arrival = ARRIVE_POISSON;
  c->gap_ns = scenario_gap_ns(s, "workload.arrive.poisson");
}

static StormConfig storm_config(const Scenario *s) {
  StormConfig c = {.sessions = (int)scenario_int(s, "workload.clients"), .arrival = ARRIVE_EVERY, .hold = HOLD_EVER};
  arrival(s, &c);
  if (scenario_is(s, "workload.hold", "none")) return c;
  static const Hold kinds[] = {[DRAW_FIXED] = HOLD_FIXED, [DRAW_EXP] = HOLD_EXPONENTIAL, [DRAW_UNIFORM] = HOLD_UNIFORM};
  Draw d = scenario_draw(s, "workload.hold");
  c.hold = kinds[d.kind];
  c.hold_ns = d.low;
  c.hold_most_ns = d.high;
  return c;
}

/* ---- pictures ---- */

typedef void (*Each)(const char *name, const char *value, void *data);

static void describe_array(const PgShared *s, Each each, void *data) {
  g_autoptr(GString) members = g_string_new(NULL), offsets = g_string_new(NULL), status = g_string_new(NULL);
  for (int i = 0, n = pg_members(s); i < n; i++) {
    PgEntry e = pg_entry(s, i);
    g_string_append_printf(members, "%s%d", i ? " " : "", e.procno);
    if (pg_has_offsets(s) && e.procno >= 0)
      g_string_append_printf(offsets, "%s%d:%d", i ? " " : "", e.procno, pg_slot(s, e.procno).offset);
    if (pg_has_mirrors(s)) g_string_append_printf(status, "%s%d", i ? " " : "", e.status);
  }
  each("pgprocnos", members->str, data);
  if (pg_has_offsets(s)) each("pgxactoff", offsets->str, data);
  if (pg_has_mirrors(s)) each("statusFlags", status->str, data);
}

static void describe_free_list(const PgShared *s, Each each, void *data) {
  g_autoptr(GString) list = g_string_new(NULL);
  int left = DESCRIBED_SLOTS;
  for (int p = pg_free_first(s, PG_BACKENDS); p >= 0 && left-- > 0; p = pg_free_next(s, p))
    g_string_append_printf(list, "%s%d", list->len ? " " : "", p);
  each("free list", list->str, data);
}

/* Who is where, and what it waits for: "ProcArrayAdd" or "ProcArrayLock?". */
void model_describe_processes(const World *w, void (*each)(const char *name, const char *value, void *data),
                              void *data) {
  for (ProcId p = 1; p < world_processes(w) && p <= DESCRIBED_PROCESSES; p++) {
    g_autofree char *name = g_strdup_printf("%s[%u]", world_name_of(w, p), p);
    if (!world_alive(w, p)) {
      each(name, "ended", data);
      continue;
    }
    ObjectId on = world_waits_on(w, p);
    SiteId held[LOCKS_HELD_MAX];
    guint n = lock_held_by(w, p, held, LOCKS_HELD_MAX);
    g_autoptr(GString) state = g_string_new(on ? "waits for " : "at ");
    g_string_append(state, on ? object_name(w, on) : world_at(w, p));
    for (guint i = 0; i < n; i++)
      g_string_append_printf(state, "%s%s", i ? ", " : "; holds ", ledger_site_name(world_ledger((World *)w), held[i]));
    each(name, state->str, data);
  }
}

/* Who waits although nothing is pending: the first that waits for a lock, else the first. */
static ProcId stuck_process(const World *w) {
  ProcId first = 0;
  for (ProcId p = 1; p < world_processes(w); p++) {
    if (!world_alive(w, p) || !world_waits_on(w, p)) continue;
    if (object_is_lock(w, world_waits_on(w, p))) return p;
    if (!first) first = p;
  }
  return first;
}

char *model_deadlock_words(const World *w) {
  ProcId p = stuck_process(w);
  if (!p) return g_strdup("deadlock: nothing can go on");
  return g_strdup_printf("deadlock: nothing can go on; %s[%u] waits for %s at %s", world_name_of(w, p), p,
                         object_name(w, world_waits_on(w, p)), world_at(w, p));
}

static bool server_describe_state(const Model *m, Each each, void *data) {
  const PgShared *s = pg_server_shared(m->server);
  if (pg_shared_pools(s)->backends > DESCRIBED_SLOTS || !pg_shared_words(s)) return false;
  describe_array(s, each, data);
  describe_free_list(s, each, data);
  return true;
}

static void server_describe(const Model *m, Each each, void *data) {
  if (server_describe_state(m, each, data)) model_describe_processes(m->world, each, data);
}

/* ---- building ---- */

static bool server_done(const Model *m) {
  return pg_server_done(m->server);
}
static uint64_t server_size(const Model *m) {
  return (uint64_t)pg_shared_pools(pg_server_shared(m->server))->total;
}
static void server_free(Model *m) {
  g_clear_pointer(&m->server, pg_server_free);
  g_clear_pointer(&m->code, pg_subject_free);
  g_clear_pointer(&m->image, image_free);
}
static const ModelOps server_ops = {
    .done = server_done, .size = server_size, .describe = server_describe, .free = server_free};

/* ---- processes that call a subject's entries ---- */

static bool processes_done(const Model *m) {
  return plain_done(m->plain);
}
static uint64_t processes_size(const Model *m) {
  return m->server ? server_size(m) : 1; /* 1: judged after every step */
}
static void processes_describe(const Model *m, Each each, void *data) {
  if (m->server) server_describe_state(m, each, data);
  plain_describe(m, each, data);
}
void model_describe_code(const Model *m, Each each, void *data) {
  if (m->server) server_describe_state(m, each, data);
  plain_describe_code(m, each, data);
}
static void processes_free(Model *m) {
  g_clear_pointer(&m->plain, plain_free);
  server_free(m);
}
static void processes_measure(const Model *m) {
  subject_measure_locks(model_subject(m));
}
static const ModelOps processes_ops = {.done = processes_done,
                                       .size = processes_size,
                                       .describe = processes_describe,
                                       .free = processes_free,
                                       .measure = processes_measure};

/* Who owns which slot is seen each time that code has run. */
static void code_went(void *data, int process, ProcId self) {
  const Model *m = data;
  pg_server_owns(m->server, self, process < 0 ? -1 : pg_subject_note_own(m->code, process));
}

static bool start_workload(Model *m, const Scenario *s, GError **error) {
  if (scenario_is(s, "workload.kind", "pgbench")) {
    PgbenchConfig c = pgbench_config(s);
    pgbench_start(m->server, &c);
    return true;
  }
  if (scenario_is(s, "workload.kind", "storm")) {
    StormConfig c = storm_config(s);
    storm_start(m->server, &c);
    return true;
  }
  g_propagate_error(error,
                    scenario_complain(s, "workload.kind", "nothing to simulate; pgbench or storm would be right"));
  return false;
}

static bool take_image(Model *m, const Scenario *s, GError **error) {
  g_autofree char *path = object_path(scenario_word(s, "subject"), "subjects", scenario_file(s));
  GError *problem = NULL;
  if (!strchr(scenario_word(s, "subject"), '/') && !g_file_test(path, G_FILE_TEST_EXISTS)) {
    g_propagate_error(error, scenario_complain(s, "subject",
                                               "no bundled subject of this name beside the program or at %s; `make` "
                                               "builds those that there are, a file of yours is named with its folder",
                                               path));
    return false;
  }
  m->image = image_load(path, &problem);
  if (m->image) {
    m->subject = g_strdup_printf("subject:%s@%s", image_subject(m->image)->name, image_hash(m->image));
    return true;
  }
  g_propagate_error(error, scenario_complain(s, "subject", "%s", problem->message));
  g_error_free(problem);
  return false;
}

static bool image_is_server(const Model *m) {
  return g_strcmp0(image_subject(m->image)->kind, "postgres") == 0;
}

/* Real code in place of slots.c and procarray.c, where the scenario names a subject. */
static void take_code(Model *m, PgConfig *pg) {
  if (!m->image) return;
  m->code = pg_subject_new(m->image, 0);
  pg->code = pg_subject_code(m->code);
}

/* A server's code without its server: nobody connects but who the scenario says. */
static bool start_processes(Model *m, const Scenario *s, GError **error) {
  m->ops = &processes_ops;
  return plain_drive(m, s, pg_subject_runtime(m->code), pg_segment(pg_server_shared(m->server)), code_went, m, error);
}

static bool build(Model *m, const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                  bool saved, GError **error) {
  PgConfig pg;
  MemoryConfig memory;
  if (!scenario_bind_postgres(s, &pg, error)) return false;
  if (saved) pg.touch = TOUCH_WORDS; /* the set behind ranges lies outside the arena */
  scenario_bind_memory(s, costs, &memory);
  m->ops = &server_ops;
  take_code(m, &pg);
  if (!m->subject) m->subject = g_strconcat("model:", pg.variant, NULL);
  m->world = world_new(costs, pg_server_bytes(&pg, (int)scenario_int(s, "workload.clients")) + plain_bytes(s));
  driver(m->world, data);
  GError *problem = NULL;
  m->server = pg_server_new(m->world, &pg, &memory, &problem);
  if (m->server && scenario_given(s, "processes")) return start_processes(m, s, error);
  if (m->server) return start_workload(m, s, error);
  g_propagate_error(error, scenario_complain(s, "postgres", "%s", problem->message));
  g_error_free(problem);
  return false;
}

static Model *build_plugged(const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                            GError **error) {
  GError *problem = NULL;
  const ModelPlugin *plugin = plugged_load(scenario_word(s, "model"), scenario_file(s), &problem);
  if (plugin) return plugged_build(plugin, costs, driver, data);
  g_propagate_error(error, scenario_complain(s, "model", "%s", problem->message));
  g_error_free(problem);
  return NULL;
}

/* With a subject: a server's code takes a workload or processes, any other processes. */
static bool build_subject(Model *m, const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data),
                          void *data, bool saved, GError **error) {
  if (saved) {
    g_propagate_error(error, scenario_complain(s, "subject",
                                               "a search saves and restores states, which code on stacks "
                                               "of its own does not let it; run simulates it, and "
                                               "a scenario with `processes` is searched, order by order"));
    return false;
  }
  if (!take_image(m, s, error)) return false;
  const char *name = image_subject(m->image)->name;
  bool processes = scenario_given(s, "processes"), workload = !scenario_is(s, "workload.kind", "none");
  if (image_is_server(m) && (processes || workload)) return build(m, s, costs, driver, data, false, error);
  m->ops = &processes_ops;
  if (!image_is_server(m) && processes) return plain_build(m, s, costs, driver, data, error);
  g_propagate_error(error, image_is_server(m)
                               ? scenario_complain(s, "subject",
                                                   "%s is a server's code, and nobody connects; a "
                                                   "workload or processes would be right",
                                                   name)
                               : scenario_complain(s, workload ? "workload" : "subject",
                                                   "%s is no server's code; processes that call its entries would be "
                                                   "right",
                                                   name));
  return false;
}

static Model *build_any(const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                        bool saved, GError **error) {
  if (scenario_given(s, "model")) return build_plugged(s, costs, driver, data, error);
  if (scenario_has_pooler(s)) return pooler_model_build(s, costs, driver, data, error);
  Model *m = g_new0(Model, 1);
  bool code = scenario_given(s, "subject");
  if (code ? build_subject(m, s, costs, driver, data, saved, error) : build(m, s, costs, driver, data, saved, error))
    return m;
  model_free(m);
  return NULL;
}

Model *model_build(const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                   GError **error) {
  return build_any(s, costs, driver, data, false, error);
}
Model *model_build_saved(const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                         GError **error) {
  return build_any(s, costs, driver, data, true, error);
}

struct Subject *model_subject(const Model *m) {
  return m->code ? pg_subject_runtime(m->code) : m->plain ? plain_subject(m->plain) : NULL;
}

bool model_trapped(const Model *m) {
  return model_subject(m) && subject_trapped(model_subject(m));
}

const char *model_fault(const Model *m) {
  return model_subject(m) ? subject_fault(model_subject(m)) : NULL;
}

Hash128 model_hash(const Model *m) {
  Hash128 h = world_hash(m->world);
  if (!model_subject(m)) return h;
  Hash128 code = subject_hash(model_subject(m));
  uint64_t lo = h.lo + code.lo;
  return (Hash128){lo, h.hi + code.hi + (lo < h.lo)};
}

void model_free(Model *m) {
  if (m->ops) m->ops->free(m);
  own_checks_close(m);
  g_clear_pointer(&m->image, image_free);
  g_clear_pointer(&m->world, world_free);
  g_free(m->subject);
  g_free(m);
}
