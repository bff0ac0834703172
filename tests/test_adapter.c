/* test_adapter.c - what adapters write, read back by a small reader of INI and TOML: each setting of a scenario in the
 * place that the pooler's own documentation gives it (PgBouncer's config.md, pgcat's CONFIG.md, docs.pgdog.dev), pools,
 * users and peers each once, and nothing that is no line of such a file. */
#include "sim/live/adapter.h"
#include "sim/scenario/scenario.h"
#include "tests/harness.h"
#include <string.h>

static const char *const dirs[] = {"sim", NULL};

typedef struct {
  Scenario *s;
  PoolerBinding *b;
  const PoolerConfig *c;
} Bound;

static Bound bound(const char *text) {
  g_autoptr(GError) error = NULL;
  ScenarioOptions opt = {.dirs = dirs};
  Bound r = {.s = scenario_from_text(text, strlen(text), "t.yaml", &opt, &error)};
  if (r.s) r.b = scenario_bind_pooler(r.s, NULL, &error);
  if (error) g_error("%s", error->message);
  r.c = pooler_binding_config(r.b);
  return r;
}
static void bound_clear(Bound *r) {
  pooler_binding_free(r->b);
  scenario_free(r->s);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Bound, bound_clear)

/* Two pools of sizes 3 and 5; times that no default has. */
static const char two_pools[] =
    "scenario: s\n"
    "pooler: {preset: pgbouncer-1.25, processes: 2, balance: round_robin, peering: all, client_identity: "
    "peer_encoded,\n"
    "  pool_mode: transaction, query_wait_timeout: 7s, server_idle_timeout: 11s, server_lifetime: 13s,\n"
    "  pools: [{name: p, host: db1, pool_size: 3}, {name: q, host: db2, pool_size: 5, min_pool_size: 2}]}\n"
    "servers: [{name: s1, host: db1}, {name: s2, host: db2}]\n"
    "clients: [{name: a, pool: p, script: [connect, query: {tag: q1, runs: 1ms}]}]\n";

/* ---- files, read back ---- */

static char *unquoted(const char *text) {
  gsize n = strlen(text);
  return n > 1 && text[0] == '"' && text[n - 1] == '"' ? g_strndup(text + 1, n - 2) : g_strdup(text);
}

/* "section.key" to its value; [[section]] is section.0, section.1 and so on. */
static GHashTable *read_back(const char *text) {
  GHashTable *all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autofree char *section = g_strdup("");
  guint tables = 0;
  for (char **line = lines; *line; line++) {
    const char *l = g_strstrip(*line), *is = strchr(l, '=');
    bool many = g_str_has_prefix(l, "[["), one = !many && *l == '[';
    if (!*l || *l == '#') continue;
    if (many || one) {
      int edge = many ? 2 : 1;
      g_autofree char *name = g_strndup(l + edge, strlen(l) - 2 * (gsize)edge);
      g_free(section);
      section = many ? g_strdup_printf("%s.%u", name, tables++) : g_strdup(name);
      continue;
    }
    if (!is) g_error("no line of such a file: %s", l);
    g_autofree char *key = g_strstrip(g_strndup(l, (gsize)(is - l))), *value = g_strstrip(g_strdup(is + 1));
    char *name = g_strdup_printf("%s.%s", section, key);
    expect(g_hash_table_insert(all, name, unquoted(value))); /* each once */
  }
  return all;
}

typedef struct {
  const char *key, *value; /* NULL: it is not there */
} Wanted;

static void has(const char *text, const Wanted *wanted, guint n) {
  g_autoptr(GHashTable) all = read_back(text);
  for (guint i = 0; i < n; i++) {
    const char *value = g_hash_table_lookup(all, wanted[i].key);
    if (g_strcmp0(value, wanted[i].value) != 0) fprintf(stderr, "%s:\n", wanted[i].key);
    expect_str(value, wanted[i].value);
  }
}
#define HAS(text, ...) has(text, (const Wanted[]){__VA_ARGS__}, G_N_ELEMENTS(((const Wanted[]){__VA_ARGS__})))

/* The same without peers: poolers that know none refuse their file. */
static Bound alone(void) {
  static const char peers[] = "peering: all, client_identity: peer_encoded,";
  g_auto(GStrv) parts = g_strsplit(two_pools, peers, 2);
  g_autofree char *text = g_strconcat(parts[0], parts[1], NULL);
  return bound(text);
}

static const char *file_of(const Adapter *a, const char *name) {
  for (guint i = 0; i < a->files->len; i++)
    if (strcmp(g_array_index(a->files, AdapterFile, i).name, name) == 0)
      return g_array_index(a->files, AdapterFile, i).text;
  return "";
}

static const AdapterPeer over_unix[] = {{"/run", 0}, {"/run/process-1", 0}};
static const AdapterPeer over_tcp[] = {{"/run", 7001}, {"/run/process-1", 7002}};
static const guint ports[] = {7101, 7102};

static Adapter *load(const char *name, const PoolerConfig *c, bool tcp, guint process) {
  const AdapterPeer *peers = tcp ? over_tcp : over_unix;
  AdapterPlace at = {.program = "/bin/pooler",
                     .dir = peers[process].dir,
                     .port = peers[process].port,
                     .server_ports = tcp ? ports : NULL,
                     .process = process,
                     .peers = peers,
                     .n_peers = 2};
  g_autoptr(GError) error = NULL;
  Adapter *a = adapter_load(dirs, name, c, &at, &error);
  if (error) fprintf(stderr, "%s\n", error->message);
  CU_ASSERT_FATAL(a != NULL);
  return a;
}

/* ---- each ---- */

static void pgbouncer(void) {
  g_auto(Bound) b = bound(two_pools);
  g_autoptr(Adapter) a = load("pgbouncer", b.c, false, 1);
  g_autoptr(Adapter) t = load("pgbouncer", b.c, true, 0);
  expect_str(a->socket, "/run/process-1/.s.PGSQL.6432");
  HAS(file_of(a, "pgbouncer.ini"), {"pgbouncer.peer_id", "2"}, {"peers.1", "host=/run port=6432 pool_size=101"},
      {"peers.2", "host=/run/process-1 port=6432 pool_size=101"}, {"peers.3", NULL},
      {"pgbouncer.unix_socket_dir", "/run/process-1"}, {"pgbouncer.listen_addr", NULL},
      {"pgbouncer.query_wait_timeout", "7"}, {"pgbouncer.server_idle_timeout", "11"},
      {"pgbouncer.server_lifetime", "13"});
  expect(strstr(file_of(a, "pgbouncer.ini"), "\np = host=/run/process-1/pool-0 port=5432 "));
  expect(strstr(file_of(a, "pgbouncer.ini"), "\nq = host=/run/process-1/pool-1 port=5432 "));
  expect(!t->socket);
  HAS(file_of(t, "pgbouncer.ini"), {"pgbouncer.peer_id", "1"}, {"peers.1", "host=127.0.0.1 port=7001 pool_size=101"},
      {"peers.2", "host=127.0.0.1 port=7002 pool_size=101"}, {"pgbouncer.unix_socket_dir", ""},
      {"pgbouncer.listen_addr", "127.0.0.1"}, {"pgbouncer.listen_port", "7001"});
}

static void no_peers(void) {
  g_auto(Bound) b = alone();
  g_autoptr(Adapter) a = load("pgbouncer", b.c, false, 1);
  expect(!strstr(file_of(a, "pgbouncer.ini"), "peer"));
}

static void pgcat(void) {
  g_auto(Bound) b = alone();
  g_autoptr(Adapter) a = load("pgcat", b.c, true, 0);
  HAS(file_of(a, "pgcat.toml"), {"general.host", "127.0.0.1"}, {"general.port", "7001"},
      {"general.worker_threads", "1"}, {"general.connect_timeout", "7000"}, {"general.idle_timeout", "11000"},
      {"general.server_lifetime", "13000"}, {"pools.p.pool_mode", "transaction"}, {"pools.p.users.0.pool_size", "3"},
      {"pools.q.users.0.pool_size", "5"}, {"pools.q.users.0.min_pool_size", "2"},
      {"pools.p.users.0.username", ADAPTER_USER}, {"pools.p.shards.0.database", "p"},
      {"pools.p.shards.0.servers", "[[\"127.0.0.1\", 7101, \"primary\"]]"},
      {"pools.q.shards.0.servers", "[[\"127.0.0.1\", 7102, \"primary\"]]"});
}

static void pgdog(void) {
  g_auto(Bound) b = alone();
  g_autoptr(Adapter) a = load("pgdog", b.c, true, 0);
  HAS(file_of(a, "pgdog.toml"), {"general.host", "127.0.0.1"}, {"general.port", "7001"}, {"general.workers", "0"},
      {"general.checkout_timeout", "7000"}, {"general.idle_timeout", "11000"}, {"general.server_lifetime", "13000"},
      {"general.auth_type", "trust"}, {"general.tls_verify", "disabled"}, {"databases.0.name", "p"},
      {"databases.0.port", "7101"}, {"databases.0.pool_size", "3"}, {"databases.1.name", "q"},
      {"databases.1.port", "7102"}, {"databases.1.pool_size", "5"}, {"databases.1.min_pool_size", "2"},
      {"databases.0.pooler_mode", "transaction"}, {"databases.2.name", NULL}, {"admin.name", "admin"});
  HAS(file_of(a, "users.toml"), {"users.0.name", ADAPTER_USER}, {"users.0.database", "p"}, {"users.1.database", "q"},
      {"users.2.name", NULL});
  expect(a->untried);
}

/* What an adapter does not say is refused, with its key. */
static void refusals(void) {
  g_auto(Bound) b = bound(two_pools);
  AdapterPlace at = {
      .program = "/bin/pooler", .dir = "/run", .port = 7001, .server_ports = ports, .peers = over_tcp, .n_peers = 2};
  g_autoptr(GError) error = NULL;
  g_autoptr(Adapter) a = adapter_load(dirs, "pgdog", b.c, &at, &error);
  expect(!a && error && strstr(error->message, "peering: this adapter does not say how processes know each other"));
}

int main(void) {
  return suite_run("adapter", (const Case[]){{"pgbouncer, with peers", pgbouncer},
                                             {"no peers where there are none", no_peers},
                                             {"pgcat", pgcat},
                                             {"pgdog", pgdog},
                                             {"refusals", refusals},
                                             {0}});
}
