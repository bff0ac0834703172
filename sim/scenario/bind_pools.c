/* bind_pools.c - the pooler as a whole, and its pools: what a pool does not say itself, `pooler` says for all. Rows
 * name a key and the member it fills; words are in the order of the member's enum. */
#include "sim/scenario/binding.h"
#include <stddef.h>
#include <string.h>

#define AT(member)          offsetof(PoolConfig, member)
#define MEMBER(c, at, type) ((type *)(void *)((char *)(c) + (at)))
typedef struct {
  const char *key;
  size_t at;
} Row;

/* Where the value for a pool stands: in its entry, else under pooler. */
static char *key_for(const Scenario *s, int entry, const char *key) {
  g_autofree char *own = entry == NONE ? NULL : g_strdup_printf("pooler.pools[%d].%s", entry, key);
  return own && scenario_given(s, own) ? g_steal_pointer(&own) : g_strconcat("pooler.", key, NULL);
}

static void bind_limits(const Scenario *s, int entry, PoolConfig *c) {
  static const Row rows[] = {{"reserve_pool_timeout", AT(reserve_timeout_ns)},
                             {"query_wait_timeout", AT(query_wait_timeout_ns)},
                             {"server_connect_timeout", AT(server_connect_timeout_ns)},
                             {"server_login_retry", AT(server_login_retry_ns)},
                             {"server_idle_timeout", AT(server_idle_timeout_ns)},
                             {"server_lifetime", AT(server_lifetime_ns)},
                             {"server_check_delay", AT(check_delay_ns)},
                             {"ban_timeout", AT(ban_timeout_ns)},
                             {"growth.look", AT(look_ns)},
                             {"own.limit", AT(own.limit_ns)},
                             {"cancel_wait_timeout", AT(cancel_wait_timeout_ns)},
                             {"cancel_connect_timeout", AT(cancel_connect_timeout_ns)}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *key = key_for(s, entry, rows[i].key);
    *MEMBER(c, rows[i].at, int64_t) = bind_limit(s, key);
  }
}

static void bind_numbers(const Scenario *s, int entry, PoolConfig *c) {
  static const Row numbers[] = {{"pool_size", AT(size)},
                                {"min_pool_size", AT(min)},
                                {"reserve_pool_size", AT(reserve)},
                                {"key_moves.times", AT(moves)}},
                   delays[] = {{"own.at_checkout", AT(own.at_checkout)},
                               {"own.at_checkin", AT(own.at_checkin)},
                               {"own.check", AT(own.check)}},
                   flags[] = {{"peek", AT(peek)},
                              {"own.cancellable", AT(own.cancellable)},
                              {"own.always", AT(own.always)},
                              {"carrier_starves", AT(carrier_starves)},
                              {"idle_below_min", AT(idle_below_min)},
                              {"cancel_forgets", AT(cancel_forgets)},
                              {"min_evicts", AT(min_evicts)},
                              {"release_evicts", AT(loop_evicts)},
                              {"pause_stops_growth", AT(pause_stops_growth)},
                              {"min_by_tick", AT(min_by_tick)},
                              {"limits_by_tick", AT(limits_by_tick)},
                              {"error_closes_client", AT(error_closes)},
                              {"first_login_waits", AT(login_waits)},
                              {"first_login_takes", AT(login_takes)},
                              {"openings_carry", AT(openings_carry)},
                              {"fast_fail", AT(fast_fail)},
                              {"waiters_unread", AT(waiters_unread)},
                              {"lifetime_spaced", AT(lifetime_spaced)}};
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    g_autofree char *key = key_for(s, entry, numbers[i].key);
    *MEMBER(c, numbers[i].at, int) = (int)scenario_int(s, key);
  }
  for (guint i = 0; i < G_N_ELEMENTS(delays); i++) {
    g_autofree char *key = key_for(s, entry, delays[i].key);
    *MEMBER(c, delays[i].at, Delay) = bind_delay(s, key);
  }
  for (guint i = 0; i < G_N_ELEMENTS(flags); i++) {
    g_autofree char *key = key_for(s, entry, flags[i].key);
    *MEMBER(c, flags[i].at, bool) = scenario_bool(s, key);
  }
  g_autofree char *opening = key_for(s, entry, "growth.opening_max");
  c->opening_max = bind_count(s, opening, 0);
}

static guint word(const Scenario *s, int entry, const char *name, const char *const *words) {
  g_autofree char *key = key_for(s, entry, name);
  return scenario_choice(s, key, words);
}
#define WORD(name, ...) word(s, entry, name, (const char *const[]){__VA_ARGS__, NULL})
#define REACT(name)     (React) WORD("react." name, "error", "wait", "retry", "cancel", "close", "fatal", "spend")

static void bind_words(const Scenario *s, int entry, PoolConfig *c) {
  c->mode = (PoolMode)WORD("pool_mode", "session", "transaction", "statement");
  c->idle_order = (IdleOrder)WORD("idle_order", "lifo", "fifo");
  c->waiters = (WaiterOrder)WORD("waiters", "fifo", "poll");
  c->handoff = (Handoff)WORD("handoff", "confirm", "record_then_send");
  c->poke = (Poke)WORD("growth.poke", "request", "tick", "each_opening");
  c->full_by_equality = WORD("full", "at_least", "equality");
  c->carrier_opens_once = WORD("carrier_opens", "until_carried", "arrival");
  c->retry_from_start = WORD("login_retry_from", "failure", "attempt");
  c->own.clears = (Clears)WORD("own.clears", "none", "transaction", "session");
  c->react.refused = REACT("refused");
  c->react.offline = REACT("offline");
  c->react.client_eof = REACT("client_eof");
  c->react.unexpected = REACT("unexpected");
  c->react.lost = REACT("lost");
  const guint key = WORD("server_key", "optional", "needed", "zero");
  c->key_needed = key == 1;
  c->key_zero = key == 2;
  c->server_identity = (ServerIdentity)WORD("server_identity", "pid_only", "pid_secret4", "pid_secret_var",
                                            "host_pid_secret", "unique_seq", "object_link");
  c->taken = (TakenGeneration)WORD("taken", "G0", "G1", "G2", "G3", "G4");
  c->lookup = (Lookup)WORD("lookup", "at_arrival_copy", "at_arrival_link", "at_forward");
  c->moves_pid = WORD("key_moves.of", "full", "pid");
  c->cancel_to_first = WORD("cancel_address", "pool", "first");
  c->ack = (Ack)WORD("ack", "fire_and_forget", "wait_eof");
  c->carrier = (Carrier)WORD("carrier", "unlimited", "one_at_a_time_cap", "semaphore", "child");
  c->queued_client = (QueuedClient)WORD("queued_client", "ignore", "dequeue_and_error");
  g_autofree char *reset = key_for(s, entry, "login_retry_reset");
  c->retry_after_carrier = scenario_bool(s, reset);
}

static bool bind_back_off(const Scenario *s, const char *key, BackOff *out, GError **error) {
  g_autofree char *first = g_strconcat(key, ".first", NULL), *factor = g_strconcat(key, ".factor", NULL),
                  *max = g_strconcat(key, ".max", NULL);
  if (!scenario_given(s, first)) {
    const int64_t ns = scenario_given(s, key) ? scenario_ns(s, key) : 0;
    *out = (BackOff){ns, ns, 0};
    return true;
  }
  *out = (BackOff){scenario_ns(s, first), scenario_ns(s, max), (int)scenario_int(s, factor)};
  if (out->first_ns <= out->max_ns) return true;
  g_propagate_error(error, scenario_complain(s, max, "is less than the first wait"));
  return false;
}

/* Arguments of policies. */
static void bind_arguments(const Scenario *s, int entry, PoolConfig *c) {
  g_autofree char *identity = key_for(s, entry, "server_identity"), *ack = key_for(s, entry, "ack"),
                  *carrier = key_for(s, entry, "carrier");
  g_autofree char *bytes = g_strconcat(identity, ".pid_secret_var.bytes", NULL),
                  *stored = g_strconcat(identity, ".pid_secret_var.stored", NULL),
                  *width = g_strconcat(identity, ".unique_seq.width", NULL),
                  *reset = g_strconcat(identity, ".unique_seq.reset_on_restart", NULL),
                  *eof = g_strconcat(ack, ".wait_eof", NULL), *cap = g_strconcat(carrier, ".one_at_a_time_cap", NULL),
                  *slots = g_strconcat(carrier, ".semaphore.slots", NULL),
                  *queue = g_strconcat(carrier, ".semaphore.queue_timeout", NULL);
  c->identity_bytes = (int)scenario_int(s, bytes);
  c->identity_as_sent = scenario_is(s, stored, "as_sent");
  c->identity_width = (int)scenario_int(s, width);
  c->identity_reset = scenario_bool(s, reset);
  c->ack_ns = scenario_given(s, eof) ? scenario_ns(s, eof) : NO_LIMIT;
  c->carrier_queue_ns = NO_LIMIT;
  if (c->carrier == CARRIER_ONE) c->carrier_slots = (int)scenario_int(s, cap);
  if (c->carrier != CARRIER_SEMAPHORE) return;
  c->carrier_slots = (int)scenario_int(s, slots);
  c->carrier_queue_ns = bind_limit(s, queue);
}

static void bind_pending(const Scenario *s, int entry, PoolConfig *c) {
  g_autofree char *key = key_for(s, entry, "growth.pending");
  const guint n = scenario_count(s, key);
  if (!scenario_given(s, key)) c->pending = PENDING_OPENING;
  for (guint i = 0; i < n; i++) {
    g_autofree char *of = g_strdup_printf("%s[%u]", key, i);
    c->pending |= 1u << CHOICE(s, of, "opening", "checked", "cleaning");
  }
}

static void bind_steps(const Scenario *s, int entry, PoolConfig *c) {
#define STEP_WORD(id, name, ...) name,
  static const char *const names[] = {POOLER_STEPS(STEP_WORD)};
#undef STEP_WORD
  G_STATIC_ASSERT(G_N_ELEMENTS(names) == POOLSTEP_COUNT);
  for (guint i = 0; i < POOLSTEP_COUNT; i++) {
    g_autofree char *name = g_strconcat("steps.", names[i], NULL), *key = key_for(s, entry, name),
                    *late = g_strconcat(key, ".late", NULL);
    if (!scenario_given(s, key)) continue;
    c->steps[i].how = (uint8_t)(1 + CHOICE(s, key, "skip", "twice", "early", "split", "others", "late"));
    if (c->steps[i].how == DO_LATE) c->steps[i].late_ns = scenario_ns(s, late);
  }
}

static bool bind_policies(const Scenario *s, int entry, PoolConfig *c, GError **error) {
  g_autofree char *fence = key_for(s, entry, "fence"), *poll = key_for(s, entry, "waiters"),
                  *growth = key_for(s, entry, "growth.back_off");
  g_autofree char *waits = g_strconcat(poll, ".poll", NULL);
  bind_limits(s, entry, c);
  bind_numbers(s, entry, c);
  bind_words(s, entry, c);
  bind_arguments(s, entry, c);
  bind_pending(s, entry, c);
  bind_steps(s, entry, c);
  return bind_fence(s, fence, &c->fence, &c->fence_ns, &c->generation, error) &&
         bind_back_off(s, growth, &c->back_off, error) && bind_back_off(s, waits, &c->poll, error);
}

/* ---- which servers a pool has ---- */

static bool add_host(const PoolerBinding *b, const Scenario *s, const char *key, const char *host, PoolConfig *c,
                     GError **error) {
  const guint before = c->n_servers;
  g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(Named));
  for (int i = 0; i < b->config.n_servers; i++) {
    const Named named = {(char *)b->config.servers[i].host, i, i};
    g_array_append_val(hosts, named);
    if (strcmp(named.name, host) != 0) continue;
    if (c->n_servers == POSTMASTERS_MAX) {
      g_propagate_error(error, scenario_complain(s, key, "at most %d servers behind one pool", POSTMASTERS_MAX));
      return false;
    }
    c->servers[c->n_servers++] = (uint8_t)i;
  }
  if (c->n_servers > before) return true;
  g_propagate_error(error, named_unknown(s, key, "server with host", host, hosts));
  return false;
}

static bool bind_hosts(const PoolerBinding *b, const Scenario *s, int entry, PoolConfig *c, GError **error) {
  g_autofree char *host = g_strdup_printf("pooler.pools[%d].host", entry),
                  *hosts = g_strdup_printf("pooler.pools[%d].hosts", entry);
  const guint n = scenario_count(s, hosts);
  if (n && scenario_given(s, host)) {
    g_propagate_error(error, scenario_complain(s, hosts, "host is given too; one of them would be right"));
    return false;
  }
  if (!n) {
    const char *one = scenario_given(s, host) ? scenario_word(s, host) : b->config.servers[0].host;
    return add_host(b, s, host, one, c, error);
  }
  for (guint i = 0; i < n; i++) {
    g_autofree char *key = g_strdup_printf("%s[%u]", hosts, i);
    if (!add_host(b, s, key, scenario_word(s, key), c, error)) return false;
  }
  return true;
}

static bool bind_pool(const PoolerBinding *b, const Scenario *s, const Named *n, PoolConfig *c, GError **error) {
  g_autofree char *db = g_strdup_printf("pooler.pools[%d].db", n->entry),
                  *user = g_strdup_printf("pooler.pools[%d].user", n->entry),
                  *balance = g_strdup_printf("pooler.pools[%d].balance", n->entry);
  c->name = n->name;
  if (!bind_hosts(b, s, n->entry, c, error)) return false;
  c->db = scenario_given(s, db) ? scenario_word(s, db) : b->config.servers[c->servers[0]].host;
  c->user = scenario_word(s, user);
  c->balance = (Balance)CHOICE(s, balance, "round_robin", "random", "first");
  return bind_policies(s, n->entry, c, error);
}

/* No pools are named: one for each address, under the name of its first server. */
static void name_default_pools(PoolerBinding *b) {
  for (int i = 0; i < b->config.n_servers; i++) {
    bool seen = false;
    for (int j = 0; j < i; j++) seen = seen || !strcmp(b->config.servers[i].host, b->config.servers[j].host);
    const Named n = {g_strdup(b->config.servers[i].name), NONE, i};
    if (seen)
      g_free(n.name);
    else
      g_array_append_val(b->pools, n);
  }
}

static bool bind_default_pool(const PoolerBinding *b, const Scenario *s, const Named *n, PoolConfig *c,
                              GError **error) {
  const char *host = b->config.servers[n->server].host;
  c->name = n->name;
  c->db = host;
  c->user = "user";
  return add_host(b, s, "servers", host, c, error) && bind_policies(s, NONE, c, error);
}

/* ---- the pooler as a whole ---- */

static void bind_process(const Scenario *s, PoolerConfig *c) {
  c->preset = scenario_given(s, "pooler.preset") ? scenario_word(s, "pooler.preset") : NULL;
  c->processes = (int)scenario_int(s, "pooler.processes");
  c->workers = (int)scenario_int(s, "pooler.workers");
  c->balance = (Balance)CHOICE(s, "pooler.balance", "round_robin", "random", "first");
  c->peering = scenario_is(s, "pooler.peering", "all");
  c->tick_ns = bind_limit(s, "pooler.tick");
  c->client_identity = (ClientIdentity)CHOICE(s, "pooler.client_identity", "real_key_passthrough", "random64",
                                              "random63", "counter31_secret", "peer_encoded", "random31x2");
  c->client_width = (int)scenario_int(s, "pooler.client_identity.counter31_secret.width");
  c->auth = (Auth)CHOICE(s, "pooler.auth", "none", "secret_eq", "secret_const_time");
  c->fanout = (Fanout)CHOICE(s, "pooler.fanout", "first_match", "all_pools_stop_on_error", "all_nodes", "all_pools");
  c->node_gap_ns = scenario_ns(s, "pooler.node_gap");
  c->max_db_connections = bind_count(s, "pooler.max_db_connections", 0);
  c->max_user_connections = bind_count(s, "pooler.max_user_connections", 0);
  c->max_client_conn = bind_count(s, "pooler.max_client_conn", 0);
  c->pools_in_turn = scenario_is(s, "pooler.pools_order", "round_robin");
  c->shutdown_timeout_ns = bind_limit(s, "pooler.shutdown_timeout");
  c->shutdown_by_servers = scenario_is(s, "pooler.shutdown_waits", "servers");
  c->tick_steady = scenario_bool(s, "pooler.tick_steady");
  c->connect_at_once = scenario_bool(s, "pooler.connect_at_once");
  c->shutdown_cancels = scenario_bool(s, "pooler.shutdown_cancels");
  c->refuses_newer = scenario_is(s, "pooler.newer_protocol", "refuse");
  c->client_auth = bind_login(s, "pooler.client_auth");
  c->pause_survives_reload = scenario_bool(s, "pooler.pause_survives_reload");
}

bool bind_pools(PoolerBinding *b, const Scenario *s, GError **error) {
  bind_process(s, &b->config);
  if (b->pools->len == 0) name_default_pools(b);
  PoolConfig *pools = binding_new(b, b->pools->len, sizeof *pools);
  for (guint i = 0; i < b->pools->len; i++) {
    const Named *n = &g_array_index(b->pools, Named, i);
    const bool bound =
        n->entry >= 0 ? bind_pool(b, s, n, &pools[i], error) : bind_default_pool(b, s, n, &pools[i], error);
    if (!bound) return false;
  }
  b->config.pools = pools;
  b->config.n_pools = (int)b->pools->len;
  return true;
}
