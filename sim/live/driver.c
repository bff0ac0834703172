/* driver.c - see driver.h: what a run is made of, from its start to its end; the loop is in loop.c. */
#include "sim/expect.h"
#include "sim/live/live.h"
#include "sim/pooler_model.h"
#include "sim/tracing.h"
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- the model: checks are shown it, and nobody drives it ---- */

static uint64_t choose_first(void *driver, ChoiceId what, uint64_t n) {
  (void)driver, (void)what, (void)n;
  return 0;
}
static void ready_nothing(void *driver, ProcId p, int64_t after_ns) {
  (void)driver, (void)p, (void)after_ns;
}
static void sent_nothing(void *driver, ObjectId channel, int64_t after_ns) {
  (void)driver, (void)channel, (void)after_ns;
}
static void timer_nothing(void *driver, ProcId p, bool limit, int64_t after_ns) {
  (void)driver, (void)p, (void)limit, (void)after_ns;
}
static void never_driven(World *w, void *data) {
  static const DriverOps ops = {
      .choose = choose_first, .ready = ready_nothing, .sent = sent_nothing, .timer = timer_nothing};
  world_drive(w, &ops, data);
}

static Model *build_model(const Scenario *s, GError **error) {
  Costs costs;
  scenario_costs(s, &costs);
  if (scenario_has_pooler(s)) return pooler_model_build(s, &costs, never_driven, NULL, error);
  g_propagate_error(error, scenario_complain(s, "pooler", "live drives a pooler, and this scenario has none"));
  return NULL;
}

GError *live_refuses_scenario(const Scenario *s) {
  GError *error = NULL;
  Model *m = build_model(s, &error);
  if (!m) return error;
  error = live_refuses(s, pooler_binding_config(m->bound));
  model_free(m);
  return error;
}

/* How many may be open at a time, here and in the pooler, which gets our limit: what is to be raised is raised, and
 * what cannot be is said before anything is started. */
static bool room_for_descriptors(const Live *l, GError **error) {
  enum { BESIDE = 128 };
  rlim_t need = BESIDE;
  for (int i = 0; i < l->config->n_pools; i++)
    need += 2 * (rlim_t)MAX(l->config->pools[i].size, 0) * (rlim_t)l->config->processes;
  for (int i = 0; i < l->config->work.n_clients; i++) {
    const ClientDef *d = &l->config->work.clients[i];
    need += (rlim_t)(d->count ? d->count : d->at_once) * (rlim_t)(d->script->n_sessions + MIN(d->script->n_cancels, 1));
  }
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return true;
  limit.rlim_cur = MIN(need, limit.rlim_max);
  if (limit.rlim_cur == need && setrlimit(RLIMIT_NOFILE, &limit) == 0) return true;
  g_set_error(error, GATE_ERROR, 0,
              "so many clients need %" G_GUINT64_FORMAT " open files; no more than %" G_GUINT64_FORMAT
              " are allowed (ulimit -Hn)",
              (guint64)need, (guint64)limit.rlim_max);
  return false;
}

static bool build(Live *l, GError **error) {
  l->model = build_model(l->scenario, error);
  if (!l->model) return false;
  l->config = pooler_binding_config(l->model->bound);
  GError *refused = live_refuses(l->scenario, l->config);
  if (refused) return g_propagate_error(error, refused), false;
  if (!expect_checks(l->scenario, l->model, &l->o->checks, l->result, error)) return false;
  l->cut = g_new0(guint8, LINK_COUNT * (gsize)l->config->n_servers);
  l->arrivals = g_new0(Arrivals, (gsize)l->config->work.n_clients);
  for (int i = 0; i < l->config->work.n_locks; i++) {
    DbLock lock = {-1, g_array_new(FALSE, FALSE, sizeof(guint))};
    g_array_append_val(l->locks, lock);
  }
  for (int i = 0; i < l->config->work.n_clients; i++) l->has_direct |= l->config->work.clients[i].via_server != NONE;
  if (!room_for_descriptors(l, error)) return false;
  live_choices_start(l);
  measure_start(l);
  return true;
}

/* ---- the trace ---- */

static bool open_trace(Live *l, GError **error) {
  if (!l->o->trace_path) return true;
  TraceHeader *h = run_trace_header(l->scenario, l->pending ? LIVE_EXPLORE : "live", l->result->subject, 0);
  l->trace = trace_writer_open(l->o->trace_path, h, error);
  run_trace_header_free(h);
  return l->trace != NULL;
}

static bool close_trace(Live *l, GError **error) {
  XXH128_hash_t h = XXH3_128bits_digest(l->hash);
  l->result->state_hash = (Hash128){.hi = h.high64, .lo = h.low64};
  if (l->trace_error) return g_propagate_error(error, g_steal_pointer(&l->trace_error)), false;
  if (!l->trace) return true;
  TraceEnd end;
  tracing_footer(l->result, &end);
  bool ok = trace_writer_close(l->trace, &end, error);
  tracing_footer_clear(&end);
  return ok;
}

/* ---- a run ---- */

static bool run(Live *l, GError **error) {
  pooler_name(l);
  if (!build(l, error)) return false;
  if (!reuse_take(l) && !(pooler_prepare(l, error) && pooler_start(l, error) && reuse_first(l, error))) return false;
  if (!open_trace(l, error)) return false;
  players_new(l);
  events_start(l);
  live_loop(l);
  pooler_look_for_leaks(l);
  l->result->seeded = l->drew;
  if (!verdict_conclude(l, error) || !close_trace(l, error)) return false;
  reuse_keep(l);
  return true;
}

static void clear_parts(Live *l) {
  for (guint i = 0; i < l->conns->len; i++) {
    Conn *c = CONN(l, i);
    if (c->fd >= 0) close(c->fd);
    g_clear_pointer(&c->wired, wired_free);
    g_clear_pointer(&c->backend, backend_free);
    g_clear_pointer(&c->outbox, g_byte_array_unref);
  }
  for (guint i = 0; i < l->listeners->len; i++) close(g_array_index(l->listeners, Listener, i).fd);
  for (guint i = 0; i < l->players->len; i++) {
    g_free(PLAYER(l, i)->name);
    for (guint k = 0; k < SESSIONS_MAX; k++) g_free(PLAYER(l, i)->sessions[k].told);
  }
  for (guint i = 0; i < l->locks->len; i++) g_array_unref(g_array_index(l->locks, DbLock, i).waiting);
}

static void clear(Live *l) {
  clear_parts(l);
  g_clear_pointer(&l->gate, live_gate_free);
  for (guint i = 0; i < l->members->len; i++) g_clear_pointer(&MEMBER(l, i)->adapter, adapter_free);
  g_clear_pointer(&l->tls, tls_keys_free);
  g_clear_pointer(&l->trace, trace_writer_free);
  g_clear_error(&l->trace_error);
  g_clear_pointer(&l->model, model_free);
  GArray *arrays[] = {l->members, l->conns, l->players, l->sent,    l->listeners,
                      l->hosts,   l->locks, l->choices, l->pending, l->measure.waits};
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) g_clear_pointer(&arrays[i], g_array_unref);
  gpointer parts[] = {l->cut, l->arrivals, l->event_done, l->measure.by_def};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) g_free(parts[i]);
  event_queue_free(l->queue);
  g_hash_table_unref(l->refusals);
  XXH3_freeState(l->hash);
  close(l->poll);
}

static RunResult *result_of(const Scenario *s) {
  RunResult *r = run_result_new();
  r->command = g_strdup("live");
  r->scenario = g_strdup(scenario_name(s));
  r->profile = g_strdup(scenario_word(s, "machine.profile"));
  r->seed = scenario_seed(s);
  return r;
}

RunResult *live_run(const Scenario *s, const LiveOptions *o, GError **error) {
  gint64 started = g_get_monotonic_time();
  bool any_order = o->chooser && o->chooser->any_order;
  Live l = {.scenario = s,
            .o = o,
            .result = result_of(s),
            .queue = event_queue_new(),
            .pending = any_order ? g_array_new(FALSE, FALSE, sizeof(Event)) : NULL,
            .poll = epoll_create1(EPOLL_CLOEXEC),
            .members = g_array_new(FALSE, TRUE, sizeof(Member)),
            .conns = g_array_new(FALSE, TRUE, sizeof(Conn)),
            .players = g_array_new(FALSE, TRUE, sizeof(Player)),
            .sent = g_array_new(FALSE, TRUE, sizeof(Sent)),
            .listeners = g_array_new(FALSE, TRUE, sizeof(Listener)),
            .hosts = g_array_new(FALSE, TRUE, sizeof(Host)),
            .locks = g_array_new(FALSE, TRUE, sizeof(DbLock)),
            .refusals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
            .hash = XXH3_createState()};
  g_assert(l.poll >= 0 && l.hash);
  XXH3_128bits_reset(l.hash);
  bool ok = run(&l, error);
  clear(&l);
  l.result->wall_ms = (double)(g_get_monotonic_time() - started) / 1e3;
  l.result->peak_rss_mb = run_peak_rss_mb();
  if (ok) return l.result;
  run_result_free(l.result);
  return NULL;
}
