/* pooler_sample.h - small poolers for tests: one server, one pool, clients whose scripts are given as ops. */
#pragma once
#include "model/pooler/pooler.h"
#include "sim/engine.h"

enum { MS = 1000000 };

static inline Delay ms(int64_t n) {
  return (Delay){DELAY_FIXED, n * MS, n * MS};
}

/* A sample to change before sample_run. Members that point at others are set by sample_init. */
typedef struct {
  PoolerConfig c;
  PoolConfig pools[3];
  ServerConfig servers[3];
  LinkConfig links[LINK_COUNT][3];
  ClientDef clients[8];
  Costs costs;
  World *w;
  Engine *e;
  Pooler *p;
} Sample;

static inline void sample_init(Sample *s) {
  memset(s, 0, sizeof *s);
  for (guint i = 0; i < 3; i++) {
    static const char *const hosts[] = {"db1", "db2", "db3"}, *const pools[] = {"p", "p2", "p3"};
    pool_config_default(&s->pools[i]);
    server_config_default(&s->servers[i]);
    s->pools[i].servers[0] = (uint8_t)i;
    s->pools[i].name = pools[i];
    s->servers[i].name = s->servers[i].host = hosts[i];
  }
  s->c = (PoolerConfig){.preset = "sample",
                        .processes = 1,
                        .workers = 1,
                        .tick_ns = NO_LIMIT,
                        .client_identity = CLIENT_RANDOM64,
                        .client_width = 31,
                        .auth = AUTH_SECRET,
                        .shutdown_timeout_ns = NO_LIMIT,
                        .pools = s->pools,
                        .servers = s->servers,
                        .n_pools = 1,
                        .n_servers = 1};
  for (guint k = 0; k < LINK_COUNT; k++) s->c.links[k] = s->links[k];
  s->c.work.clients = s->clients;
}

static inline void sample_client(Sample *s, const char *name, int64_t start_ms, const Script *script) {
  s->clients[s->c.work.n_clients++] = (ClientDef){.name = name,
                                                  .count = 1,
                                                  .script = script,
                                                  .start = ms(start_ms),
                                                  .via_server = NONE,
                                                  .protocol = 30,
                                                  .fence = {FENCE_NONE, NO_LIMIT}};
}

static inline void sample_start(Sample *s, uint64_t seed, Ties ties) {
  GError *error = NULL;
  s->w = world_new(&s->costs, pooler_bytes(&s->c));
  EngineConfig ec = {.seed = seed, .ties = ties};
  s->e = engine_new(s->w, &ec);
  s->p = pooler_new(s->w, &s->c, &error);
  if (!s->p) g_error("sample: %s", error->message);
}

static inline void sample_run(Sample *s) {
  sample_start(s, 1, TIES_EVENT_FIRST);
  engine_run(s->e, -1);
  pooler_write_metrics(s->p);
}

static inline double sample_metric(const Sample *s, const char *name) {
  double v = 0;
  return ledger_get(world_ledger(s->w), name, &v) ? v : -1;
}

static inline void sample_clear(Sample *s) {
  engine_free(s->e);
  pooler_free(s->p);
  world_free(s->w);
}
