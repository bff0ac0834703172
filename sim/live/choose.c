/* choose.c - what nobody but the run decides: draws, losses, and, where time orders nothing, which event is next. */
#include "sim/live/live.h"

/* Draws of the model have the same names, so that a seed gives a balancer the same ones (model/pooler/build.c). */
const char *const live_choice_names[LIVE_CHOICES] = {"next", "delay", "loss", "signal", "postmaster", "pooler-process"};

void live_choices_start(Live *l) {
  l->choices = g_array_new(FALSE, FALSE, sizeof(TraceChoice));
  for (guint i = 0; i < LIVE_CHOICES; i++) rng_init(&l->draws[i], scenario_seed(l->scenario), live_choice_names[i]);
}

bool live_fires(const Live *l, const char *limit) {
  for (guint i = 0, n = scenario_count(l->scenario, "explore.fire"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("explore.fire[%u]", i);
    if (scenario_is(l->scenario, key, limit)) return true;
  }
  return false;
}

static uint64_t choose(Live *l, LiveChoice what, uint64_t n, const LiveOption *options) {
  const LiveChooser *c = l->o->chooser;
  if (n < 2) return c && options ? c->choose(c->data, what, n, options) : 0; /* told, but nothing to record */
  uint64_t took = c ? c->choose(c->data, what, n, options) : rng_below(&l->draws[what], n);
  g_assert(took < n);
  l->drew |= !c;
  TraceChoice x = {live_choice_names[what], (int64_t)n, (int64_t)took};
  g_array_append_val(l->choices, x);
  return took;
}

uint64_t live_choose(Live *l, LiveChoice what, uint64_t n) {
  return choose(l, what, n, NULL);
}

/* ---- what an event touches ---- */

enum {
  POOLS = 1,
  POOL_BITS = 12,
  HOSTS = 13,
  HOST_BITS = 11,
  CONNS = 24,
  CONN_BITS = 20,
  CLIENTS = 44,
  CLIENT_BITS = 20
};

static uint64_t bit(guint base, guint bits, guint i) {
  return UINT64_C(1) << (base + i % bits);
}

/* Pools that share a limit are one, as far as order goes: bit 0. */
static uint64_t pool_bit(const Live *l, guint pool) {
  const PoolerConfig *c = l->config;
  bool shared = c->max_db_connections || c->max_user_connections || c->max_client_conn;
  return shared ? 1 : bit(POOLS, POOL_BITS, pool);
}

/* Before it has said who it is it may be of any pool of its database. */
static uint64_t pools_of(const Live *l, const Conn *c) {
  uint64_t all = 0;
  for (guint i = 0; i < (guint)l->config->n_pools; i++)
    if (host_may_be_of(l, c, i)) all |= pool_bit(l, i);
  return all;
}

static uint64_t of_client(const Live *l, guint client) {
  const Player *p = PLAYER(l, client);
  return bit(CLIENTS, CLIENT_BITS, client) | pool_bit(l, (guint)p->def->pool);
}

static uint64_t of_server(const Live *l, Doing what, guint conn) {
  const Conn *c = CONN(l, conn);
  uint64_t pool = pools_of(l, c), host = bit(HOSTS, HOST_BITS, c->owner), own = bit(CONNS, CONN_BITS, conn);
  switch (what) {
  case DO_START:
  case DO_END: return own | (l->locks->len ? host : 0);
  case DO_SIGNAL: return own;
  case DO_MATCH: return host;
  case DO_REPLY: return own | pool;
  case DO_CLOSE: return pool;
  default: return own | pool | host;
  }
}

static uint64_t touches(const Live *l, const EventPayload *e) {
  switch ((Doing)e->kind) {
  case DO_SCRIPT:
  case DO_WAITED:
  case DO_DEADLINE: return of_client(l, e->subject);
  case DO_PACKET:
  case DO_HEARD: return of_client(l, CONN(l, e->subject)->owner);
  case DO_CANCEL:
  case DO_CANCEL_IN:
  case DO_GIVE_UP: return of_client(l, SENT(l, e->subject)->client);
  case DO_ARRIVE:
  case DO_EVENT:
  case DO_AFTER:
  case DO_UNDO:
  case DO_LIMIT: return UINT64_MAX;
  default: return of_server(l, (Doing)e->kind, e->subject);
  }
}

static uint64_t lane(const Live *l, const EventPayload *e) {
  switch ((Doing)e->kind) {
  case DO_SCRIPT:
  case DO_WAITED:
  case DO_DEADLINE: return rng_mix(1, e->subject);
  case DO_PACKET:
  case DO_HEARD: return rng_mix(1, CONN(l, e->subject)->owner);
  case DO_CANCEL:
  case DO_CANCEL_IN:
  case DO_GIVE_UP: return rng_mix(2, e->subject);
  case DO_ARRIVE:
  case DO_EVENT:
  case DO_AFTER:
  case DO_UNDO:
  case DO_LIMIT: return rng_mix(3, e->subject);
  default: return rng_mix(4, e->subject);
  }
}

guint live_next(Live *l) {
  guint n = l->pending->len;
  g_autofree LiveOption *options = g_new(LiveOption, n);
  for (guint i = 0; i < n; i++) {
    const Event *e = &g_array_index(l->pending, Event, i);
    options[i] = (LiveOption){.id = rng_mix(rng_mix(e->payload.kind, e->payload.subject), e->payload.data),
                              .lane = lane(l, &e->payload),
                              .touches = touches(l, &e->payload)};
  }
  return (guint)choose(l, LIVE_NEXT, n, options);
}
