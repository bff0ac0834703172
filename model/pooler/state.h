/* state.h - the model's state: its tables in the arena, sized by the configuration, and how entries of one lead to
 * those of others. Private; others use pooler.h.
 *
 * All that can influence the future is there (tables.h); what is only measured is in Measure, outside.
 *
 * Processes: a client runs a script; a session is the pooler's side of a client's connection (check-out, waiting); a
 * server connection runs queries and is checked in by its own steps; a cancel goes through its stages; the tick, the
 * watches (limits of age and idleness) and the environment's events are one process each. */
#pragma once
#include "model/pooler/tables.h"
#include "model/postgres/host.h"
#include <string.h>

typedef struct Measure Measure;

struct Pooler {
  World *w;
  GPtrArray *configs; /* of const PoolerConfig*: the first, then those of events; shared->config says which holds */
  Shared *shared;
  Process *processes;
  Pool *pools; /* [process * n_pools + pool] */
  Server *servers;
  Session *sessions;
  Client *clients;
  Cancel *cancels;
  Lock *locks;
  PgHost **hosts;
  PgHostConfig *host_configs;
  uint16_t *idle, *waiters, *parked;         /* of each pool: rows of max_idle, max_waiters, max_parked */
  TakenEntry *pairs, *by_client, *by_server; /* of each pool: rows of max_servers_per_pool */
  ObjectId *q_client, *q_session, *q_server, *q_cancel, *q_lock, *q_core, *q_watch, *q_age, *q_reserve, *q_pool,
      *q_fence;       /* NULL: nothing of the kind is watched */
  ObjectId *q_worker; /* by process */
  ObjectId q_tick;
  int *cores_free;          /* in the arena */
  uint8_t *cut;             /* there too: links that an event has cut, by link and server */
  guint pools_each, stride; /* pools of a process, sessions of a client */
  guint n_pools, n_servers, n_sessions, n_clients, n_cancels;
  guint row_servers, row_waiters, row_parked;                                   /* lengths of rows */
  ProcId client_procs, session_procs, server_procs, cancel_procs, signal_procs; /* the first; one for each entry */
  TypeId t_tick, t_watch, t_event, t_arrivals, t_moment;
  ChoiceId ch_delay, ch_process, ch_host, ch_loss, ch_signal;
  Measure *measure;
  bool timed, moves; /* moves: a reload may come; there are two sets of pools, and connections change theirs */
  guint n_events;
  ObjectId *q_event, q_shutdown;
  bool calm, left_alone; /* footprint.c */
  struct Naming *naming; /* NULL until symmetry is asked for */
};

/* Behind the pools': the server connection of a session without a pooler. */
static inline guint direct_server(const Pooler *p, guint session) {
  return p->n_pools * p->row_servers + session;
}
static inline Pool *pool_at(const Pooler *p, guint i) {
  g_assert(i < p->n_pools);
  return &p->pools[i];
}
static inline const PoolerConfig *config_of(const Pooler *p) {
  return p->configs->pdata[p->shared->config];
}
static inline const PoolConfig *pool_config(const Pooler *p, guint pool) {
  return &config_of(p)->pools[pool % p->pools_each];
}
static inline guint pool_process(const Pooler *p, guint pool) {
  return pool / p->pools_each % (guint)config_of(p)->processes;
}
/* Pool k of a process, as requests find it now. */
static inline guint pool_of(const Pooler *p, guint process, guint k) {
  return (p->shared->generation * (guint)config_of(p)->processes + process) * p->pools_each + k;
}
static inline guint server_id(const Pooler *p, const Server *s) {
  return (guint)(s - p->servers);
}
static inline guint session_id(const Pooler *p, const Session *e) {
  return (guint)(e - p->sessions);
}
static inline guint cancel_id(const Pooler *p, const Cancel *x) {
  return (guint)(x - p->cancels);
}
static inline guint pool_id(const Pooler *p, const Pool *pl) {
  return (guint)(pl - p->pools);
}
static inline const ClientDef *client_def(const Pooler *p, const Client *c) {
  return &config_of(p)->work.clients[c->def];
}
static inline const Script *client_script(const Pooler *p, const Client *c) {
  return client_def(p, c)->script;
}
static inline Client *session_client(const Pooler *p, const Session *e) {
  return &p->clients[e->client];
}
/* NULL: a commit or rollback. */
static inline const QueryDef *session_query(const Pooler *p, const Session *e) {
  return e->query == QUERY_END ? NULL : &client_script(p, session_client(p, e))->queries[e->query];
}
static inline PgBackend *server_backend(const Pooler *p, const Server *s) {
  return s->backend ? &p->hosts[s->host]->backends[s->backend - 1] : NULL;
}

/* The same pool, before or after a reload. */
static inline bool pool_alike(const Pooler *p, guint a, guint b) {
  return a == b || (p->moves && a != DIRECT && b != DIRECT && a % (p->n_pools / 2) == b % (p->n_pools / 2));
}

/* Server connections of a pool; its own row, unless a reload has moved some. */
static inline Server *pool_first(const Pooler *p, guint pool) {
  return p->servers + (p->moves ? 0 : pool * p->row_servers);
}
static inline Server *pool_last(const Pooler *p, guint pool) {
  return p->servers + (p->moves ? p->n_pools : pool + 1) * p->row_servers;
}
#define EACH_SERVER(p, pool_, s)                                                                                       \
  for (Server *s = pool_first(p, pool_); s < pool_last(p, pool_); s++)                                                 \
    if (s->state != SV_FREE && s->pool == (pool_))

/* The process of an entry of a table: always the same one. */
static inline ProcId spawn_for(const Pooler *p, ProcId first, guint entry, int64_t after_ns) {
  world_spawn_as(p->w, first + entry, after_ns);
  *(uint32_t *)world_locals(p->w, first + entry) = entry;
  return first + entry;
}
