/* build.c - tables of the state, sized by the configuration, and the processes that are there from the start. */
#include "model/pooler/symmetry.h"

enum { SPARE_SERVERS = 1, CANCELS_MORE = 4 };

typedef struct {
  guint clients, stride, cancels, pools, row_servers, direct;
  bool moves;
} Sizes;

static guint copies(const ClientDef *d) {
  return (guint)MAX(d->count > 0 ? d->count : d->at_once, 1);
}

static guint cancels_of(const Script *s) {
  guint n = 0;
  for (int i = 0; i < s->n_cancels; i++) n += (guint)s->cancels[i].times;
  for (int i = 0; i < s->n_queries; i++) n += s->queries[i].on_deadline & ON_DEADLINE_CANCEL ? 1 : 0;
  for (int i = 0; i < s->n_ops; i++) /* in a loop several rounds' may be under way */
    if (s->ops[i].code == OP_LOOP && n) return n + CANCELS_MORE;
  return n;
}

/* Twice what a pool may have: what opens too many must be able to. */
static guint servers_of(const PoolerConfig *c) {
  guint most = 1;
  for (int i = 0; i < c->n_pools; i++)
    most = MAX(most, (guint)(2 * c->pools[i].size + c->pools[i].reserve + SPARE_SERVERS));
  return most;
}

static bool is_done(const PoolerConfig *c, PoolStep step, Deviation how) {
  for (int i = 0; i < c->n_pools; i++)
    if (c->pools[i].steps[step].how == how) return true;
  return false;
}

static bool late_signals(const PoolerConfig *c) {
  for (int i = 0; i < c->n_servers; i++)
    if (c->servers[i].signal != SIGNAL_PROMPT) return true;
  return false;
}

static Sizes sizes_of(const PoolerConfig *c) {
  Sizes z = {.stride = 1, .pools = (guint)(c->n_pools * c->processes), .row_servers = servers_of(c)};
  bool direct = false;
  for (int i = 0; i < c->work.n_clients; i++) {
    const ClientDef *d = &c->work.clients[i];
    z.clients += copies(d);
    z.stride = MAX(z.stride, (guint)MAX(d->script->n_sessions, 1));
    z.cancels += copies(d) * cancels_of(d->script);
    direct |= d->via_server >= 0;
  }
  if (is_done(c, POOLSTEP_CARRIER, DO_TWICE)) z.cancels *= 2;
  if (c->fanout != FANOUT_FIRST && late_signals(c)) z.cancels *= (guint)c->n_pools;
  z.cancels = MIN(z.cancels, (guint)UINT16_MAX - 1);
  for (int i = 0; i < c->work.n_events; i++)
    if (c->work.events[i].verb == EVENT_RELOAD) z.moves = true;
  if (z.moves) z.pools *= 2;
  if (direct) z.direct = z.clients * z.stride;
  return z;
}

size_t pooler_bytes(const PoolerConfig *c) {
  Sizes z = sizes_of(c);
  size_t sessions = (size_t)z.clients * z.stride, servers = (size_t)z.pools * z.row_servers + z.direct;
  size_t each = 1024; /* an entry, its objects, its process, room that tables grow into */
  size_t rows = z.pools * (2 * sessions + z.cancels + z.row_servers) * 8;
  return (8u << 20) + 8 * each * (sessions + z.clients + servers + z.cancels + z.pools) + rows +
         (size_t)c->n_servers * (servers + 16) * sizeof(PgBackend) * 2;
}

/* ---- tables ---- */

static void *table(const Pooler *p, size_t n, size_t size) {
  return n ? arena_alloc(world_arena(p->w), n * size) : NULL;
}

static ObjectId *queues(Pooler *p, guint n, const char *name) {
  ObjectId *q = g_new0(ObjectId, n + 1);
  for (guint i = 0; i < n; i++) q[i] = queue_new(p->w, name);
  return q;
}

static void make_tables(Pooler *p, const PoolerConfig *c, const Sizes *z) {
  p->pools_each = (guint)c->n_pools;
  p->stride = z->stride;
  p->moves = z->moves;
  p->n_events = (guint)c->work.n_events;
  p->n_pools = z->pools;
  p->n_clients = z->clients;
  p->n_sessions = z->clients * z->stride;
  p->n_cancels = z->cancels;
  p->row_servers = z->row_servers;
  p->row_waiters = p->n_sessions * (is_done(c, POOLSTEP_WAIT, DO_TWICE) ? 2 : 1);
  p->row_parked = z->cancels;
  p->n_servers = z->pools * z->row_servers + z->direct;
  p->shared = table(p, 1, sizeof(Shared));
  p->processes = table(p, (size_t)c->processes, sizeof(Process));
  p->pools = table(p, p->n_pools, sizeof(Pool));
  p->servers = table(p, p->n_servers, sizeof(Server));
  p->sessions = table(p, p->n_sessions, sizeof(Session));
  p->clients = table(p, p->n_clients, sizeof(Client));
  p->cancels = table(p, p->n_cancels, sizeof(Cancel));
  p->locks = table(p, (size_t)c->work.n_locks, sizeof(Lock));
  size_t rows = (size_t)p->n_pools * p->row_servers;
  p->idle = table(p, rows, sizeof(uint16_t));
  p->waiters = table(p, (size_t)p->n_pools * p->row_waiters, sizeof(uint16_t));
  p->parked = table(p, (size_t)p->n_pools * p->row_parked, sizeof(uint16_t));
  p->pairs = table(p, rows, sizeof(TakenEntry));
  p->by_client = table(p, rows, sizeof(TakenEntry));
  p->by_server = table(p, rows, sizeof(TakenEntry));
  p->cut = table(p, (size_t)(LINK_COUNT * c->n_servers), sizeof(uint8_t));
  p->cores_free = table(p, (size_t)c->n_servers, sizeof(int));
}

static bool watched(const PoolerConfig *c, bool age) {
  for (int i = 0; i < c->n_pools; i++) {
    const PoolConfig *o = &c->pools[i];
    if (age ? o->server_lifetime_ns >= 0 : o->server_idle_timeout_ns >= 0 || o->check_delay_ns >= 0) return true;
  }
  return false;
}

static bool reserves(const PoolerConfig *c) {
  for (int i = 0; i < c->n_pools; i++)
    if (c->pools[i].reserve > 0) return true;
  return false;
}

/* Some limit of a pool as a whole: a ban, kills that are apart. */
static bool pools_watched(const PoolerConfig *c) {
  for (int i = 0; i < c->n_pools; i++) {
    const PoolConfig *o = &c->pools[i];
    if ((o->ban_timeout_ns >= 0 && o->n_servers > 1) || o->lifetime_spaced) return true;
  }
  return false;
}

static bool fences_end(const PoolerConfig *c) {
  for (int i = 0; i < c->n_pools; i++)
    if (c->pools[i].fence == FENCE_HOLD_TIMEOUT) return true;
  return false;
}

static bool fence_waits(const PoolerConfig *c) {
  for (int i = 0; i < c->n_pools; i++)
    if (c->pools[i].fence == FENCE_WAIT) return true;
  return false;
}

static void make_queues(Pooler *p, const PoolerConfig *c) {
  bool limits = p->timed || c->limits_fire;
  p->q_client = queues(p, p->n_clients, "answer");
  p->q_session = queues(p, p->n_sessions, "server connection");
  p->q_server = queues(p, p->n_servers, "work");
  p->q_cancel = queues(p, p->n_cancels, "turn");
  p->q_lock = queues(p, (guint)c->work.n_locks, "lock");
  p->q_worker = queues(p, (guint)c->processes, "worker");
  p->q_core = queues(p, (guint)c->n_servers, "core");
  if (limits && watched(c, true)) p->q_age = queues(p, p->n_servers, "age");
  if (limits && watched(c, false)) p->q_watch = queues(p, p->n_servers, "idle time");
  if ((limits && fences_end(c)) || fence_waits(c)) p->q_fence = queues(p, p->n_cancels, "fence");
  if (limits && reserves(c)) p->q_reserve = queues(p, p->n_sessions, "reserve");
  if (pools_watched(c)) p->q_pool = queues(p, p->n_pools, "pool");
  if (c->work.n_events) p->q_event = queues(p, (guint)c->work.n_events, "event");
  if (c->work.n_events) p->q_shutdown = queue_new(p->w, "shutdown");
  if (c->tick_ns >= 0) p->q_tick = queue_new(p->w, "work for the tick");
}

static void make_hosts(Pooler *p, const PoolerConfig *c) {
  p->hosts = g_new0(PgHost *, (gsize)c->n_servers + 1);
  p->host_configs = g_new0(PgHostConfig, (gsize)c->n_servers + 1);
  for (int i = 0; i < c->n_servers; i++) {
    const ServerConfig *s = &c->servers[i];
    int most = (int)MIN(p->n_servers, (guint)(s->pid_max - s->pid_start + 1));
    if (s->max_connections > 0) most = MIN(most, s->max_connections);
    p->host_configs[i] = (PgHostConfig){.pid_start = s->pid_start,
                                        .pid_max = s->pid_max,
                                        .at_once = s->pid_at_once,
                                        .secret_given = s->secret_given,
                                        .secret = (uint32_t)s->secret,
                                        .key_bytes = s->key_bytes,
                                        .backends_max = most};
    p->hosts[i] = host_new(world_arena(p->w), &p->host_configs[i]);
    p->hosts[i]->forked = (uint32_t)i << 24; /* no secret of one host is another's */
    p->cores_free[i] = s->cores;
  }
}

/* ---- processes ---- */

static TypeId type_of(Pooler *p, const ProcessType *t) {
  TypeId id = world_type(p->w, t);
  world_set_data(p->w, id, p);
  return id;
}

static ProcId ids_of(Pooler *p, const ProcessType *t, guint n) {
  return world_keep_ids(p->w, type_of(p, t), n);
}

static void make_types(Pooler *p) {
  p->client_procs = ids_of(p, &client_type, p->n_clients);
  p->session_procs = ids_of(p, &session_type, p->n_sessions);
  p->server_procs = ids_of(p, &server_type, p->n_servers);
  p->cancel_procs = ids_of(p, &cancel_type, p->n_cancels);
  p->signal_procs = ids_of(p, &signal_type, p->n_cancels);
  p->t_tick = type_of(p, &tick_type);
  p->t_watch = type_of(p, &watch_type);
  p->t_event = type_of(p, &event_type);
  p->t_arrivals = type_of(p, &arrivals_type);
  p->t_moment = type_of(p, &moment_type);
  world_guide(p->w, world_type(p->w, &client_type), &client_guide);
  world_guide(p->w, world_type(p->w, &session_type), &session_guide);
  world_guide(p->w, world_type(p->w, &server_type), &server_guide);
  world_guide(p->w, world_type(p->w, &cancel_type), &cancel_guide);
  world_guide(p->w, world_type(p->w, &signal_type), &signal_guide);
  world_guide(p->w, p->t_tick, &tick_guide);
  world_guide(p->w, p->t_watch, &watch_guide);
  world_guide(p->w, p->t_event, &event_guide);
  world_guide(p->w, p->t_moment, &moment_guide);
  world_guide(p->w, p->t_arrivals, &arrivals_guide);
  p->ch_delay = world_choice(p->w, "delay");
  p->ch_process = world_choice(p->w, "pooler-process");
  p->ch_host = world_choice(p->w, "postmaster");
  p->ch_loss = world_choice(p->w, "loss");
  p->ch_signal = world_choice(p->w, "signal");
}

static void make_clients(Pooler *p, const PoolerConfig *c) {
  guint at = 0;
  for (int i = 0; i < c->work.n_clients; i++) {
    const ClientDef *d = &c->work.clients[i];
    for (guint k = 0; k < copies(d); k++) {
      p->clients[at + k] = (Client){.def = (uint16_t)i, .copy = (uint16_t)(k + 1), .flags = d->n_arrive ? CLF_OVER : 0};
      if (d->n_arrive) continue;
      p->shared->clients_left++;
      client_start(p, at + k, draw_ns(p, &d->start));
      client_drawn(p, at + k);
    }
    if (d->n_arrive) arrivals_start(p, (guint)i, at, copies(d));
    at += copies(d);
  }
}

static void start(Pooler *p, const PoolerConfig *c) {
  make_clients(p, c);
  for (int i = 0; i < c->work.n_events; i++) event_start(p, (guint)i);
  for (int i = 0; i < c->work.n_moments; i++) moment_start(p, (guint)i);
  for (guint i = 0; i < (guint)c->processes && p->q_tick; i++)
    *(uint32_t *)world_locals(p->w, world_spawn(p->w, p->t_tick, 0)) = i;
  for (guint i = 0; i < p->n_pools && !p->q_tick; i++) pool_grow(p, i, POKE_TICK);
}

Pooler *pooler_new(World *w, const PoolerConfig *c, GError **error) {
  if (!pooler_config_valid(c, error)) return NULL;
  Pooler *p = g_new0(Pooler, 1);
  p->w = w;
  p->timed = world_has_clock(w);
  p->configs = g_ptr_array_new();
  g_ptr_array_add(p->configs, (gpointer)c);
  for (int i = 0; i < c->work.n_events; i++)
    if (c->work.events[i].config) g_ptr_array_add(p->configs, (gpointer)c->work.events[i].config);
  Sizes z = sizes_of(c);
  make_tables(p, c, &z);
  make_types(p);
  make_queues(p, c);
  make_hosts(p, c);
  p->measure = measure_new(p);
  footprints_prepare(p);
  start(p, c);
  return p;
}

void pooler_free(Pooler *p) {
  if (!p) return;
  ObjectId *all[] = {p->q_client, p->q_session, p->q_server, p->q_cancel, p->q_lock,  p->q_worker, p->q_reserve,
                     p->q_pool,   p->q_core,    p->q_watch,  p->q_age,    p->q_fence, p->q_event};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) g_free(all[i]);
  measure_free(p->measure);
  naming_free(p->naming, (guint)config_of(p)->n_servers);
  g_ptr_array_unref(p->configs);
  g_free(p->hosts);
  g_free(p->host_configs);
  g_free(p);
}

bool pooler_done(const Pooler *p) {
  return p->shared->clients_left == 0;
}
