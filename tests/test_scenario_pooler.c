/* test_scenario_pooler.c - scenarios of poolers: every word of the language reaches the model's configuration, and
 * every mistake is told with its place. Expected values are written out by hand from the language's description. */
#include "sim/scenario/keys.h"
#include "sim/scenario/scenario.h"
#include "tests/harness.h"

static const char *const metrics[] = {"wait_ms.mean", "client[].wait_ms", "sv_active.max", NULL};
static const char *const checks[] = {"pool-accounting", NULL};

#define expect_has(text, part)                                                                                         \
  do {                                                                                                                 \
    const char *has_a = (text), *has_b = (part);                                                                       \
    if (!strstr(has_a, has_b)) fprintf(stderr, "%s:%d: \"%s\" has no \"%s\"\n", __FILE__, __LINE__, has_a, has_b);     \
    CU_ASSERT(strstr(has_a, has_b) != NULL);                                                                           \
  } while (0)
#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

static Scenario *read_with(const char *text, const char *const *sets, GError **error) {
  static const char *const dirs[] = {"sim", NULL};
  ScenarioOptions opt = {.sets = sets, .dirs = dirs, .checks = checks, .metrics = metrics};
  return scenario_from_text(text, strlen(text), "t.yaml", &opt, error);
}

static char *complaint(const char *text, const char *const *sets) {
  g_autoptr(GError) error = NULL;
  g_autoptr(Scenario) s = read_with(text, sets, &error);
  return g_strdup(s ? "(none)" : error->message);
}

/* A scenario with its configuration; names in it live as long. */
typedef struct {
  Scenario *s;
  PoolerBinding *b;
  const PoolerConfig *c;
} Bound;

static Bound bound(const char *text, const char *const *sets) {
  g_autoptr(GError) error = NULL;
  Bound r = {.s = read_with(text, sets, &error)};
  if (r.s) r.b = scenario_bind_pooler(r.s, NULL, &error);
  if (error) fprintf(stderr, "not read: %s\n%s\n", error->message, text);
  CU_ASSERT_FATAL(r.b != NULL);
  r.c = pooler_binding_config(r.b);
  return r;
}

static void bound_clear(Bound *r) {
  pooler_binding_free(r->b);
  scenario_free(r->s);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Bound, bound_clear)

#define HEAD   "scenario: s\n"
#define CLIENT "clients: [{name: a, script: [connect, query: {tag: q, runs: 1ms}]}]\n"

/* ---- the table ---- */

static void every_row_is_told(void) {
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const KeyInfo *k = key_row(i);
    if (k->hint) {
      expect(*k->hint && !k->types && !k->alias);
      continue;
    }
    expect(k->about && *k->about);
    if (k->alias) continue;
    if (!(k->types & (K_SCALARS | K_MAP | K_LIST | K_ANY))) fprintf(stderr, "%s has no type\n", k->path);
    expect((k->types & (K_SCALARS | K_MAP | K_LIST | K_ANY)) != 0);
    const bool ours = g_str_has_prefix(k->path, "@pool.") || g_str_has_prefix(k->path, "@step.") ||
                      g_str_has_prefix(k->path, "@link.") || g_str_has_prefix(k->path, "pooler") ||
                      g_str_has_prefix(k->path, "clients") || g_str_has_prefix(k->path, "events") ||
                      g_str_has_prefix(k->path, "servers") || g_str_has_prefix(k->path, "explore");
    if (ours && !k->example) fprintf(stderr, "%s has no example\n", k->path);
    expect(!ours || k->example);
  }
}

/* What the man page shows for a key is taken, beside whatever else a scenario needs. */
static void every_example_is_taken(void) {
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const KeyInfo *k = key_row(i);
    if (k->hint || k->alias || !k->example || !strchr(k->example, ':')) continue;
    const char *sections[] = {"pooler:", "clients:", "events:", "servers:", "network:", "explore:"};
    bool ours = false, clients = g_str_has_prefix(k->example, "clients:");
    for (guint j = 0; j < G_N_ELEMENTS(sections); j++) ours = ours || g_str_has_prefix(k->example, sections[j]);
    if (!ours || g_str_has_prefix(k->path, "workload.")) continue;
    if (g_str_has_prefix(k->path, "explore.without_lock")) continue; /* test_scenario_processes.c takes it */
    g_autofree char *text = g_strdup_printf(HEAD "%s%s\n", clients ? "" : CLIENT, k->example);
    const bool hosts = strstr(k->example, "db1") && !g_str_has_prefix(k->example, "servers");
    g_autofree char *whole =
        g_strconcat(text, hosts ? "servers: [{name: s, host: db1}, {name: t, host: db2}]\n" : "", NULL);
    g_autofree char *wrong = complaint(whole, NULL);
    if (strcmp(wrong, "(none)") != 0) fprintf(stderr, "example of %s: %s\n%s", k->path, wrong, whole);
    CU_ASSERT(!strcmp(wrong, "(none)"));
  }
}

static void every_default_is_taken(void) {
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const KeyInfo *k = key_row(i);
    if (!g_str_has_prefix(k->path, "@pool.") || !k->dflt || strchr(k->path, '[')) continue;
    const char *name = k->path + strlen("@pool.");
    if (strstr(name, ".poll.") || strstr(name, "back_off.") || strstr(name, "semaphore.")) continue; /* need others */
    g_autofree char *set = g_strdup_printf("pooler.%s=%s", name, k->dflt);
    g_autofree char *wrong = complaint(HEAD CLIENT, SETS(set));
    if (strcmp(wrong, "(none)") != 0) fprintf(stderr, "default of %s: %s\n", k->path, wrong);
    CU_ASSERT(!strcmp(wrong, "(none)"));
  }
}

static void keys_are_shared(void) {
  expect(key_find("pooler.pool_size") == key_find("@pool.pool_size"));
  expect(key_find("pooler.pools[].pool_size") == key_find("@pool.pool_size"));
  expect(key_find("clients[].script[].loop.do[].loop.do[].query.tag") == key_find("@step.query.tag"));
  expect(key_find("pooler.pools[].processes") == NULL);
  g_autofree char *pool = key_public_path(key_find("@pool.fence")),
                  *step = key_public_path(key_find("@step.query.tag"));
  expect_str(pool, "pooler.fence");
  expect_str(step, "clients[].script[].query.tag");
}

/* ---- what is not said ---- */

static void defaults(void) {
  g_auto(Bound) r = bound(HEAD CLIENT, NULL);
  const PoolConfig *p = &r.c->pools[0];
  expect_int(r.c->n_servers, ==, 1);
  expect_str(r.c->servers[0].name, "s");
  expect_int(r.c->servers[0].pid_start, ==, 1000);
  expect_int(r.c->servers[0].key_bytes, ==, 4);
  expect_int(r.c->servers[0].login.low, ==, 0);
  expect_int(r.c->n_pools, ==, 1);
  expect_str(p->name, "s");
  expect_int(p->mode, ==, MODE_TRANSACTION);
  expect_int(p->fence, ==, FENCE_NONE);
  expect_int(p->taken, ==, TAKEN_G4);
  expect_int(p->opening_max, ==, 1);
  expect_int(p->pending, ==, PENDING_OPENING);
  expect_int(p->query_wait_timeout_ns, ==, NO_LIMIT);
  expect_int(p->own.cancellable, ==, 1);
  expect_int(p->retry_after_carrier, ==, 1);
  expect_int(p->react.offline, ==, REACT_RETRY);
  expect_int(r.c->tick_ns, ==, 333000000);
  expect_int(r.c->processes, ==, 1);
  expect_int(r.c->work.clients[0].count, ==, 1);
  expect_int(r.c->work.clients[0].protocol, ==, 30);
}

/* ---- pooler ---- */

static void policies(void) {
  g_auto(Bound) r = bound(
      HEAD CLIENT
      "pooler:\n"
      "  pool_mode: session\n  pool_size: 3\n  full: equality\n  waiters: {poll: {first: 1ms, factor: 3, max: 9ms}}\n"
      "  handoff: confirm\n  growth: {poke: tick, opening_max: none, pending: [opening, cleaning], back_off: "
      "2s}\n"
      "  query_wait_timeout: 5s\n  own: {at_checkin: {exp: 2ms}, clears: session, cancellable: false, limit: 7s}\n"
      "  react: {refused: error}\n  server_identity: {unique_seq: {width: 8, reset_on_restart: true}}\n  taken: G1\n"
      "  lookup: at_arrival_link\n  fence: {hold_until_eof_with_timeout: 10s}\n  ack: {wait_eof: 1s}\n"
      "  carrier: {semaphore: {slots: 4, queue_timeout: 2s}}\n  login_retry_reset: false\n"
      "  steps: {unlink: skip, check_in: {late: 5ms}, map: twice}\n  client_identity: {counter31_secret: {width: 8}}\n"
      "  fanout: all_nodes\n  node_gap: 1s\n",
      NULL);
  const PoolConfig *p = &r.c->pools[0];
  expect_int(p->mode, ==, MODE_SESSION);
  expect_int(p->size, ==, 3);
  expect_int(p->full_by_equality, ==, 1);
  expect_int(p->waiters, ==, WAITERS_POLL);
  expect_int(p->poll.first_ns, ==, 1000000);
  expect_int(p->poll.factor, ==, 3);
  expect_int(p->poll.max_ns, ==, 9000000);
  expect_int(p->handoff, ==, HANDOFF_CONFIRM);
  expect_int(p->poke, ==, POKE_TICK);
  expect_int(p->opening_max, ==, 0);
  expect_int(p->pending, ==, PENDING_OPENING | PENDING_CLEANING);
  expect_int(p->back_off.first_ns, ==, 2000000000);
  expect_int(p->back_off.factor, ==, 0);
  expect_int(p->query_wait_timeout_ns, ==, 5000000000);
  expect_int(p->own.at_checkin.kind, ==, DELAY_EXP);
  expect_int(p->own.at_checkin.low, ==, 2000000);
  expect_int(p->own.clears, ==, CLEARS_SESSION);
  expect_int(p->own.cancellable, ==, 0);
  expect_int(p->own.limit_ns, ==, 7000000000);
  expect_int(p->react.refused, ==, REACT_ERROR);
  expect_int(p->server_identity, ==, IDENTITY_UNIQUE_SEQ);
  expect_int(p->identity_width, ==, 8);
  expect_int(p->identity_reset, ==, 1);
  expect_int(p->taken, ==, TAKEN_G1);
  expect_int(p->lookup, ==, LOOKUP_ARRIVAL_LINK);
  expect_int(p->fence, ==, FENCE_HOLD_TIMEOUT);
  expect_int(p->fence_ns, ==, 10000000000);
  expect_int(p->ack, ==, ACK_EOF);
  expect_int(p->ack_ns, ==, 1000000000);
  expect_int(p->carrier, ==, CARRIER_SEMAPHORE);
  expect_int(p->carrier_slots, ==, 4);
  expect_int(p->carrier_queue_ns, ==, 2000000000);
  expect_int(p->retry_after_carrier, ==, 0);
  expect_int(p->steps[POOLSTEP_UNLINK].how, ==, DO_SKIP);
  expect_int(p->steps[POOLSTEP_CHECK_IN].how, ==, DO_LATE);
  expect_int(p->steps[POOLSTEP_CHECK_IN].late_ns, ==, 5000000);
  expect_int(p->steps[POOLSTEP_MAP].how, ==, DO_TWICE);
  expect_int(p->steps[POOLSTEP_LINK].how, ==, DO_AS_IS);
  expect_int(r.c->client_identity, ==, CLIENT_COUNTER);
  expect_int(r.c->client_width, ==, 8);
  expect_int(r.c->fanout, ==, FANOUT_ALL_NODES);
  expect_int(r.c->node_gap_ns, ==, 1000000000);
}

static void fences(void) {
  static const struct {
    const char *text;
    Fence fence;
    int64_t ns;
  } cases[] = {{"none", FENCE_NONE, NO_LIMIT},
               {"unlink_unforwarded", FENCE_UNLINK, NO_LIMIT},
               {"hold_until_eof", FENCE_HOLD, NO_LIMIT},
               {"{hold_until_eof_with_timeout: 3s}", FENCE_HOLD_TIMEOUT, 3000000000},
               {"{hold_until: [eof, 3s]}", FENCE_HOLD_TIMEOUT, 3000000000},
               {"{hold_until: eof}", FENCE_HOLD, NO_LIMIT},
               {"{hold_until: [eof]}", FENCE_HOLD, NO_LIMIT},
               {"refcount_hold", FENCE_REFCOUNT, NO_LIMIT},
               {"generation_check", FENCE_GENERATION, NO_LIMIT},
               {"{generation_check: per_command}", FENCE_GENERATION, NO_LIMIT},
               {"retire_session", FENCE_RETIRE, 0},
               {"{retire_session: 10ms}", FENCE_RETIRE, 10000000},
               {"drain_57014", FENCE_DRAIN, NO_LIMIT}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *set = g_strconcat("pooler.fence=", cases[i].text, NULL);
    g_auto(Bound) r = bound(HEAD CLIENT "pooler: {lookup: at_arrival_link}\n", SETS(set));
    expect_int(r.c->pools[0].fence, ==, cases[i].fence);
    expect_int(r.c->pools[0].fence_ns, ==, cases[i].ns);
    if (strstr(cases[i].text, "per_command")) expect_int(r.c->pools[0].generation, ==, GENERATION_COMMAND);
  }
}

static void pools(void) {
  g_auto(Bound) r = bound(
      HEAD CLIENT "servers: [{name: s, host: db1, count: 2}, {name: t, host: db2}]\n"
                  "pooler: {pool_size: 2, growth: {poke: tick}, pools: [{name: p, count: 2, host: db2, pool_size: 5},"
                  " {name: r, hosts: [db1, db2], balance: first, growth: {opening_max: 3}, user: u}]}\n",
      NULL);
  expect_int(r.c->n_servers, ==, 3);
  expect_str(r.c->servers[1].name, "s.2");
  expect_int(r.c->n_pools, ==, 3);
  expect_str(r.c->pools[1].name, "p.2");
  expect_int(r.c->pools[1].size, ==, 5);
  expect_int(r.c->pools[1].n_servers, ==, 1);
  expect_int(r.c->pools[1].servers[0], ==, 2);
  expect_str(r.c->pools[1].db, "db2");
  expect_int(r.c->pools[2].size, ==, 2);
  expect_int(r.c->pools[2].n_servers, ==, 3);
  expect_int(r.c->pools[2].balance, ==, BALANCE_FIRST);
  expect_int(r.c->pools[2].opening_max, ==, 3);
  expect_int(r.c->pools[2].poke, ==, POKE_TICK);
  expect_str(r.c->pools[2].user, "u");
  g_auto(Bound) d =
      bound(HEAD CLIENT "servers: [{name: s, host: db1}, {name: t, host: db1}, {name: u, host: db2}]\n", NULL);
  expect_int(d.c->n_pools, ==, 2);
  expect_int(d.c->pools[0].n_servers, ==, 2);
  expect_str(d.c->pools[1].name, "u");
}

static void other_spellings(void) {
  g_auto(Bound) r =
      bound(HEAD CLIENT "pooler: {checkout_timeout: 5s, max_pool_size: 4, idle_timeout: 1min, ban_time: 60s}\n",
            SETS("pooler.default_pool_size=6"));
  expect_int(r.c->pools[0].query_wait_timeout_ns, ==, 5000000000);
  expect_int(r.c->pools[0].size, ==, 6);
  expect_int(r.c->pools[0].server_idle_timeout_ns, ==, 60000000000);
  expect_int(r.c->pools[0].ban_timeout_ns, ==, 60000000000);
}

/* ---- servers and network ---- */

static void servers(void) {
  g_auto(Bound) r =
      bound(HEAD CLIENT
            "servers:\n"
            "  - {name: s, signal: {delayed: 120ms}, pids: {start: 7, max: 9, reuse: at_once}, secret: \"0badcafe\"}\n"
            "  - {name: t, signal: delayed, key: none, cores: 4, login_cpu: {uniform: [1ms, 2ms]}}\n"
            "  - {name: u, signal: {bounded: 1ms}, key: 32, login: 5ms, max_connections: 3}\n",
            NULL);
  const ServerConfig *s = r.c->servers;
  expect_int(s[0].signal, ==, SIGNAL_EXACT);
  expect_int(s[0].signal_ns, ==, 120000000);
  expect_int(s[0].pid_start, ==, 7);
  expect_int(s[0].pid_max, ==, 9);
  expect_int(s[0].pid_at_once, ==, 1);
  expect_int(s[0].secret, ==, 0x0badcafe);
  expect_int(s[1].signal, ==, SIGNAL_ANY);
  expect_int(s[1].key_bytes, ==, 0);
  expect_int(s[1].cores, ==, 4);
  expect_int(s[1].login_cpu.kind, ==, DELAY_UNIFORM);
  expect_int(s[1].login_cpu.high, ==, 2000000);
  expect_int(s[2].signal, ==, SIGNAL_BOUNDED);
  expect_int(s[2].key_bytes, ==, 32);
  expect_int(s[2].login.low, ==, 5000000);
  expect_int(s[2].max_connections, ==, 3);
}

static void network(void) {
  g_auto(Bound) r = bound(HEAD CLIENT "servers: [{name: s, count: 2}, {name: t}]\n"
                                      "network:\n"
                                      "  client_to_pooler: {exp: 1ms}\n"
                                      "  cancel_to_server: 5ms\n"
                                      "  cancel_to_server[t]: {fault: silent, loss: 0.5}\n"
                                      "  cancel_to_server[s.2]: {delay: 2ms, connect: 9ms}\n"
                                      "  pooler_to_server[s]: 3ms\n",
                          NULL);
  const LinkConfig *cancel = r.c->links[LINK_CANCEL_TO_SERVER], *server = r.c->links[LINK_POOLER_TO_SERVER];
  expect_int(r.c->links[LINK_CLIENT_TO_POOLER][0].delay.kind, ==, DELAY_EXP);
  expect_int(r.c->links[LINK_CLIENT_TO_POOLER][0].connect.low, ==, 2000000);
  expect_int(cancel[0].delay.low, ==, 5000000);
  expect_int(cancel[0].connect.low, ==, 10000000);
  expect_int(cancel[1].delay.low, ==, 2000000);
  expect_int(cancel[1].connect.low, ==, 9000000);
  expect_int(cancel[2].delay.low, ==, 5000000);
  expect_int(cancel[2].fault, ==, FAULT_SILENT);
  expect(cancel[2].loss > 0.49 && cancel[2].loss < 0.51);
  expect_int(server[1].delay.low, ==, 3000000);
  expect_int(server[2].delay.low, ==, 0);
  g_auto(Bound) set =
      bound(HEAD CLIENT, SETS("network.cancel_to_server[s].fault=refuse", "network.cancel_to_server=1ms"));
  expect_int(set.c->links[LINK_CANCEL_TO_SERVER][0].fault, ==, FAULT_REFUSE);
  expect_int(set.c->links[LINK_CANCEL_TO_SERVER][0].delay.low, ==, 1000000);
}

/* ---- scripts ---- */

static void scripts(void) {
  g_auto(Bound) r =
      bound(HEAD "clients:\n"
                 "  - name: a\n"
                 "    script:\n"
                 "      - connect\n"
                 "      - connect: {as: n}\n"
                 "      - begin\n"
                 "      - query: {tag: q1, runs: {exp: 1ms}, ends: error, dirty: true, session: n, lock: l}\n"
                 "      - cancel: {of: q2, after: 5ms, times: 3}\n"
                 "      - commit: {runs: 1ms}\n"
                 "      - loop: {times: 3, do: [query: {tag: q2, async: true}, loop: {until: 10s, do: [wait: 1ms]}]}\n"
                 "      - cancel: {of: q1}\n"
                 "      - await: q2\n"
                 "      - vanish\n",
            NULL);
  const Script *s = r.c->work.clients[0].script;
  static const OpCode codes[] = {OP_CONNECT,  OP_CONNECT, OP_BEGIN, OP_QUERY,  OP_COMMIT,
                                 OP_LOOP,     OP_QUERY,   OP_LOOP,  OP_WAIT,   OP_END_LOOP,
                                 OP_END_LOOP, OP_CANCEL,  OP_AWAIT, OP_VANISH, OP_END};
  CU_ASSERT_FATAL(s->n_ops == (int)G_N_ELEMENTS(codes));
  for (int i = 0; i < s->n_ops; i++) expect_int(s->ops[i].code, ==, codes[i]);
  expect_int(s->n_sessions, ==, 2);
  expect_int(s->ops[1].session, ==, 1);
  expect_int(s->ops[3].session, ==, 1);
  expect_int(s->ops[5].target, ==, 10);
  expect_int(s->ops[5].times, ==, 3);
  expect_int(s->ops[5].moment, ==, NONE);
  expect_int(s->ops[10].target, ==, 5);
  expect_int(s->ops[7].target, ==, 9);
  expect_int(r.c->work.moments[s->ops[7].moment], ==, 10000000000);
  expect_int(s->ops[12].index, ==, 1);
  expect_int(s->n_queries, ==, 2);
  expect_int(s->queries[0].runs.kind, ==, DELAY_EXP);
  expect_int(s->queries[0].ends_in_error, ==, 1);
  expect_int(s->queries[0].dirty, ==, 1);
  expect_str(r.c->work.locks[s->queries[0].lock], "l");
  expect_int(s->queries[1].async, ==, 1);
  expect_int(s->queries[1].lock, ==, NONE);
  expect_int(s->queries[1].deadline_ns, ==, NO_LIMIT);
  expect_int(s->n_cancels, ==, 2);
  expect_int(s->cancels[0].when, ==, CANCEL_AFTER);
  expect_int(s->cancels[0].query, ==, 1);
  expect_int(s->cancels[0].times, ==, 3);
  expect_int(s->cancels[1].when, ==, CANCEL_HERE);
  expect_int(s->cancels[1].query, ==, 0);
}

static void queries(void) {
  g_auto(Bound) r = bound(HEAD "servers: [{name: s}, {name: t}]\n"
                               "clients: [{name: a, pool: t, script: [connect, query: {tag: q, deadline: 5ms, "
                               "on_deadline: [cancel, disconnect], pool: [s, t], hold: session, lock: m}, query]}]\n",
                          NULL);
  const QueryDef *q = r.c->work.clients[0].script->queries;
  expect_int(r.c->work.clients[0].pool, ==, 1);
  expect_int(q->deadline_ns, ==, 5000000);
  expect_int(q->on_deadline, ==, ON_DEADLINE_CANCEL | ON_DEADLINE_DISCONNECT);
  expect_int(q->pools, ==, 3);
  expect_int(q->hold, ==, HOLD_SESSION);
  expect_str(q[1].tag, "#2");
  expect_int(q[1].pools, ==, 0);
}

static void arrivals(void) {
  g_auto(Bound) r = bound(
      HEAD
      "end: 9s\nclients:\n"
      "  - {name: a, arrive: [{every: 1ms, for: 1s}, {poisson: 100/s}], script: [connect]}\n"
      "  - {name: b, count: 3, arrive: {every: 2ms}, start: {uniform: [0s, 1s]}, via: s, script: [connect]}\n"
      "  - {name: c, count: 2, protocol: 3.2, fence: {hold_until: 100ms}, after_error: reconnect, script: [connect]}\n",
      NULL);
  const ClientDef *c = r.c->work.clients;
  expect_int(c[0].count, ==, 0);
  expect_int(c[0].at_once, ==, 100);
  expect_int(c[0].n_arrive, ==, 2);
  expect_int(c[0].arrive[0].gap_ns, ==, 1000000);
  expect_int(c[0].arrive[0].for_ns, ==, 1000000000);
  expect_int(c[0].arrive[1].kind, ==, CLIENTS_POISSON);
  expect_int(c[0].arrive[1].gap_ns, ==, 10000000);
  expect_int(c[0].arrive[1].for_ns, ==, NO_LIMIT);
  expect_int(c[1].count, ==, 3);
  expect_int(c[1].via_server, ==, 0);
  expect_int(c[1].start.kind, ==, DELAY_UNIFORM);
  expect_int(c[2].protocol, ==, 32);
  expect_int(c[2].fence.kind, ==, FENCE_WAIT);
  expect_int(c[2].fence.limit_ns, ==, 100000000);
  expect_int(c[2].after_error, ==, AFTER_ERROR_RECONNECT);
  expect_int(c[2].via_server, ==, NONE);
}

/* ---- events ---- */

static void events(void) {
  g_auto(Bound) r = bound(HEAD "servers: [{name: s}]\n"
                               "clients: [{name: a, count: 2, script: [connect, query: {tag: q}]}]\n"
                               "network: {cancel_to_server: 1ms}\n"
                               "pooler: {pool_size: 3}\n"
                               "events:\n"
                               "  - {at: 10ms, reload: pooler, set: {pooler.pool_size: 2}}\n"
                               "  - {when: \"client[a.2].server fenced\", kill: \"client[a.2].server\"}\n"
                               "  - {at: 1s, set: {network: {cancel_to_server: 9ms}}, for: 2s}\n"
                               "  - {when: \"query[q] sent\", pause: \"pool[s]\"}\n"
                               "  - {at: 2s, restart: \"server[s]\", takes: 1s}\n"
                               "  - {at: 3s, cut: \"link.cancel_to_server[s]\"}\n",
                          NULL);
  const EventDef *e = r.c->work.events;
  expect_int(r.c->work.n_events, ==, 6);
  expect_int(e[0].verb, ==, EVENT_RELOAD);
  expect_int(e[0].at_ns, ==, 10000000);
  expect_int(e[0].config->pools[0].size, ==, 2);
  expect_int(r.c->pools[0].size, ==, 3);
  expect_int(e[1].when, ==, STATE_FENCED);
  expect_int(e[1].target.kind, ==, PATH_CLIENT_SERVER);
  expect_int(e[1].target.copy, ==, 1);
  expect_int(e[2].verb, ==, EVENT_SET);
  expect_int(e[2].for_ns, ==, 2000000000);
  expect_int(e[2].config->links[LINK_CANCEL_TO_SERVER][0].delay.low, ==, 9000000);
  expect_int(e[2].config->pools[0].size, ==, 3);
  expect_int(r.c->links[LINK_CANCEL_TO_SERVER][0].delay.low, ==, 1000000);
  expect_int(e[3].seen.kind, ==, PATH_QUERY);
  expect_int(e[3].target.kind, ==, PATH_POOL);
  expect_int(e[4].takes_ns, ==, 1000000000);
  expect_int(e[5].target.kind, ==, PATH_LINK);
  expect_int(e[5].target.link, ==, LINK_CANCEL_TO_SERVER);
}

/* ---- mistakes ---- */

static void mistakes(void) {
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"clients: []\n", "t.yaml:2:10: clients: nobody connects"},
      {"pooler: {pool_size: 2}\n", "t.yaml: clients: nobody connects"},
      {"clients: [{name: a, count: 0, script: [connect]}]\n", "t.yaml:2:28: clients[0].count: \"0\" is out of range"},
      {"clients: [{name: a, count: 2147483648, script: [connect]}]\n",
       "t.yaml:2:28: clients[0].count: \"2147483648\" is out of range"},
      {"clients: [{name: a}]\n", "t.yaml:2:11: clients[0].script: is missing"},
      {"clients: [{name: a, script: []}]\n", "t.yaml:2:29: clients[0].script: an empty script"},
      {"clients: [{name: a, script: [conect]}]\n",
       "t.yaml:2:30: clients[0].script[0]: \"conect\" is not known; the nearest is connect"},
      {"clients: [{name: a, script: [qurey: {}]}]\n",
       "t.yaml:2:30: clients[0].script[0].qurey: unknown key; the nearest is query"},
      {"clients: [{name: a, script: [{connect: {}, wait: 1s}]}]\n", "t.yaml:2:30: clients[0].script[0]: has 2 keys"},
      {"clients: [{name: a, script: [wait: 5]}]\n", "clients[0].script[0].wait: \"5\" has no unit"},
      {"clients: [{name: a, script: [connect, query: {tag: q}, cancel: {of: w}]}]\n",
       "t.yaml:2:69: clients[0].script[2].cancel.of: no query \"w\" is ever sent by this script"},
      {"clients: [{name: a, script: [connect, query: {tag: query1}, await: qeury1}]}]\n", "not YAML"},
      {"clients: [{name: a, script: [connect, query: {tag: query1}, await: qeury1]}]\n", "the nearest is query1"},
      {"clients: [{name: a, script: [connect, query: {tag: q}]}, {name: b, script: [connect, cancel: {of: q}]}]\n",
       "query \"q\" is client a's"},
      {"clients: [{name: a, script: [query: {tag: q}, query: {tag: q}]}]\n", "q is the tag of another query"},
      {"clients: [{name: a, script: [cancel: {of: q, at: 1s, after: 1s}, query: {tag: q}]}]\n", "at is given too"},
      {"clients: [{name: a, script: [query: {session: n}]}]\n", "no session n is opened before this"},
      {"clients: [{name: a, script: [query: {on_deadline: cancel}]}]\n", "there is no deadline"},
      {"clients: [{name: a, script: [query: {deadline: 1s, on_deadline: [wait, disconnect]}]}]\n",
       "exclude each other"},
      {"clients: [{name: a, script: [query: {hold: session}]}]\n", "there is no lock to hold"},
      {"clients: [{name: a, script: [loop: {do: [query]}]}]\n", "either times: N or until: T"},
      {"clients: [{name: a, script: [loop: {times: 2, do: []}]}]\n", "a loop with nothing to do"},
      {"clients: [{name: a, pool: nn, script: [connect]}]\nservers: [{name: n1}]\n",
       "t.yaml:2:27: clients[0].pool: no pool \"nn\"; the nearest is n1"},
      {"clients: [{name: a, via: x, script: [connect]}]\n", "no server \"x\"; there is s"},
      {"clients: [{name: a, script: [connect]}, {name: a, script: [connect]}]\n",
       "t.yaml:2:48: clients[1].name: a is the name of another entry too, at t.yaml:2:18"},
      {"clients: [{name: a, arrive: {poisson: 5/s}, script: [connect]}]\n", "never ends"},
      {"clients: [{name: a, arrive: [{every: 1s}, {every: 2s}], script: [connect]}]\n", "never comes"},
      {"clients: [{name: a, arrive: {for: 2s}, script: [connect]}]\n", "either every: T or by poisson"},
      {"clients: [{name: a, at_once: 4, script: [connect]}]\n", "belongs to clients that arrive"},
      {"clients: [{name: a, count: 65000, script: [connect]}, {name: b, script: [connect]}]\n", "65001 in all"},
      {CLIENT "workload: {kind: pgbench}\n", "t.yaml:3:11: workload: a scenario has either a workload or clients"},
      {"network: {cancel_to_server: 1ms}\n", "belongs to clients"},
      {CLIENT "explore: {jitter: 1ms}\n", "belongs to time: timed"},
      {CLIENT "explore: {fire: [checkout]}\n", "explore.fire[0]: \"checkout\" is not right"},
      {CLIENT "pooler: {pool_size: 0}\n", "out of range"},
      {CLIENT "pooler: {fence: hold}\n", "t.yaml:3:17: pooler.fence: \"hold\""},
      {CLIENT "pooler: {fence: {hold_until_eof: 1s}}\n", "unknown key; the nearest is hold_until"},
      {CLIENT "pooler: {fence: {hold_until: [eof, eof]}}\n", "eof, a time, or one of each"},
      {CLIENT "pooler: {query_wait_timeout: 120}\n", "\"120\" has no unit"},
      {CLIENT "pooler: {checkout_timeout: 5000}\n", "\"5000\" has no unit"},
      {CLIENT "pooler: {checkout_timeout: 5s, query_wait_timeout: 5s}\n",
       "t.yaml:3:10: checkout_timeout: is another spelling of query_wait_timeout"},
      {CLIENT "pooler: {server_round_robin: 1}\n",
       "t.yaml:3:10: pooler.server_round_robin: no key here; write idle_order"},
      {CLIENT "pooler: {pools: [{name: p, processes: 2}]}\n", "unknown key here; there is pooler.processes"},
      {CLIENT "pooler: {pools: [{name: p, host: db9}]}\n", "no server with host \"db9\"; there is s"},
      {CLIENT "pooler: {pools: [{name: p, host: s, hosts: [s]}]}\n", "host is given too"},
      {CLIENT "pooler: {fence: hold_until_eof, ack: fire_and_forget}\n",
       "t.yaml:3:9: pooler: pool s: ack: fire_and_forget"},
      {CLIENT "pooler: {fence: unlink_unforwarded}\n", "needs lookup: at_arrival_link"},
      {CLIENT "pooler: {fence: {hold_until: 1s}, fanout: all_pools}\n",
       "holds one server, and fanout goes on to others"},
      {CLIENT "network: {client_to_pooler: {loss: 0.1}}\n", "a session's lost packets are sent again"},
      {CLIENT "pooler: {react: {unexpected: cancel}}\n", "it must be one of wait close fatal"},
      {CLIENT "pooler: {waiters: {poll: {first: 1ms, max: 1s}}, handoff: record_then_send}\n", "waiters that poll"},
      {CLIENT "pooler: {client_identity: real_key_passthrough}\n", "needs pool_mode: session"},
      {CLIENT "events: [{at: 1s, set: {pooler.fence: unlink_unforwarded}}]\n", "events[0].set: pool s: fence"},
      {CLIENT "pooler: {steps: {forward: skip}}\n", "pooler.steps.forward: unknown key"},
      {CLIENT "pooler: {preset: postgres-19}\n", "postgres-19 is a preset, but no pooler's"},
      {CLIENT "pooler: {preset: pgbounce-1.25}\n", "no preset pgbounce-1.25; the nearest is pgbouncer-1.25"},
      {CLIENT "pooler: {growth: {back_off: {first: 2s, max: 1s}}}\n", "less than the first"},
      {CLIENT "servers: [{name: s, secret: xyz}]\n", "hexadecimal"},
      {CLIENT "servers: [{name: s, pids: {start: 9, max: 4}}]\n", "9 is above the largest"},
      {CLIENT "network: {\"cancel_to_server[x]\": 1ms}\n",
       "t.yaml:3:34: network.cancel_to_server[x]: no server \"x\"; there is s"},
      {CLIENT "network: {\"client_to_pooler[s]\": 1ms}\n", "unknown key"},
      {CLIENT "network: {cancel_to_server: {loss: 1.5}}\n", "from 0 to 1"},
      {CLIENT "events: [{at: 1s}]\n", "t.yaml:3:10: events[0]: has no verb"},
      {CLIENT "events: [{kill: \"server[s]\"}]\n", "either at: T or when"},
      {CLIENT "events: [{at: 1s, kill: \"server[s]\", pause: pooler}]\n", "one verb"},
      {CLIENT "events: [{at: 1s, kill: \"server[z]\"}]\n", "t.yaml:3:25: events[0].kill: no server \"z\"; there is s"},
      {CLIENT "events: [{at: 1s, kill: \"client[b]\"}]\n", "no client \"b\""},
      {CLIENT "events: [{at: 1s, cut: \"client[a]\"}]\n",
       "cut acts on server[s], client[a].server, link.NAME[s], not on client[a]"},
      {CLIENT "events: [{at: 1s, reload: \"pools\"}]\n", "is no path; write pooler"},
      {CLIENT "events: [{at: 1s, pause: \"pooler[1]\"}]\n", "no such process; pooler[0] is the first of 1"},
      {CLIENT "events: [{at: 1s, cut: \"link.cancel_to_sever[s]\"}]\n", "the nearest is cancel_to_server"},
      {CLIENT "events: [{when: \"client[a]\", pause: pooler}]\n", "a path and a state"},
      {CLIENT "events: [{when: \"client[a] fenced\", pause: pooler}]\n", "such a path is never fenced"},
      {CLIENT "events: [{when: \"query[z] sent\", pause: pooler}]\n", "no query \"z\""},
      {CLIENT "events: [{at: 1s, takes: 1s, pause: pooler}]\n", "only a restart takes time"},
      {CLIENT "events: [{at: 1s, set: {pooler.pool_sise: 2}}]\n", "the nearest is pool_size"},
      {CLIENT "events: [{at: 1s, set: {clients: []}}]\n", "clients cannot change while it runs"},
      {CLIENT "events: [{at: 1s, set: {\"pooler.pools[p].pool_size\": 2}}]\n", "the scenario has no pooler.pools[p]"},
      {CLIENT "expect: [{metric: \"client[zz].wait_ms\", within: [0, 1]}]\n",
       "t.yaml:3:19: expect[0].metric: no client \"zz\""},
      {CLIENT "expect: [{metric: wait_ms.mean, of: \"pool[p]\", within: [0, 1]}]\n", "no pool \"p\"; there is s"},
      {CLIENT "expect: [{metric: wait_ms.mean, verdict: holds}]\n", "a metric goes with within"},
      {CLIENT "expect: [{metric: sv_activ.max, within: [0, 1]}]\n", "the nearest is sv_active.max"},
      {CLIENT "expect: [{check: pool-accounting, within: [0, 1]}]\n", "a check goes with verdict"},
      {CLIENT "expect: [{check: pool-accounting, verdict: holds, of: \"pool[s]\"}]\n", "belongs to a metric"},
      {CLIENT "expect: [{check: pool-acounting, verdict: holds}]\n", "the nearest is pool-accounting"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strconcat(HEAD, cases[i].text, NULL), *saw = complaint(text, NULL);
    expect_has(saw, cases[i].says);
  }
}

int main(void) {
  const Case cases[] = {{"every row is told", every_row_is_told},
                        {"every example is taken", every_example_is_taken},
                        {"every default is taken", every_default_is_taken},
                        {"shared keys", keys_are_shared},
                        {"defaults", defaults},
                        {"policies", policies},
                        {"fences", fences},
                        {"pools", pools},
                        {"other spellings", other_spellings},
                        {"servers", servers},
                        {"network", network},
                        {"scripts", scripts},
                        {"queries", queries},
                        {"arrivals", arrivals},
                        {"events", events},
                        {"mistakes", mistakes},
                        {0}};
  return suite_run("scenario of poolers", cases);
}
