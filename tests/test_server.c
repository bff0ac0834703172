/* The server as processes, driven in virtual time: counts and times by closed forms, limits, what versions differ in.
 */
#include "model/postgres/server.h"
#include "sim/engine.h"
#include "tests/harness.h"
#include "tests/pg_versions.h"
#include <math.h>

typedef struct {
  PgConfig pg;
  MemoryConfig memory;
  Costs costs;
  EngineConfig engine;
  PgbenchConfig bench;
  StormConfig storm; /* sessions 0: pgbench */
} Setup;

typedef struct {
  Ledger *ledger;
  World *w;
  PgServer *sv;
  Engine *e;
  EngineEnd end;
} Run;

/* One thread, nothing costs anything, no background processes, no fault-around. */
static Setup setup(int version, int max_connections, int clients) {
  Setup s = {.memory = {.page_size = 4096}, .engine = {.seed = 7}};
  bool known = pg_config_version(version, &s.pg);
  g_assert(known);
  s.pg.max_connections = max_connections;
  s.pg.bg_autovacuum = s.pg.bg_bgworkers = 0;
  s.bench = (PgbenchConfig){.clients = clients, .threads = 1, .iterations = 1, .exit_order = EXIT_IN_ORDER};
  return s;
}

static Run run(const Setup *s) {
  Run r = {0};
  int n = s->storm.sessions ? s->storm.sessions : s->bench.clients;
  r.w = world_new(&s->costs, pg_server_bytes(&s->pg, n));
  r.e = engine_new(r.w, &s->engine);
  g_autoptr(GError) error = NULL;
  r.sv = pg_server_new(r.w, &s->pg, &s->memory, &error);
  if (!r.sv) g_error("%s", error->message);
  if (s->storm.sessions)
    storm_start(r.sv, &s->storm);
  else
    pgbench_start(r.sv, &s->bench);
  r.end = engine_run(r.e, -1);
  r.ledger = world_ledger(r.w);
  return r;
}

static void run_clear(Run *r) {
  engine_free(r->e);
  pg_server_free(r->sv);
  world_free(r->w);
}

static double metric(const Run *r, const char *name) {
  double v;
  if (ledger_get(r->ledger, name, &v)) return v;
  fprintf(stderr, "no metric %s\n", name);
  CU_FAIL("no such metric");
  return NAN;
}

static double iteration(const Run *r, int k, const char *x) {
  g_autofree char *name = g_strdup_printf("iteration[%d].%s", k, x);
  return metric(r, name);
}

static double metric_of(const Setup *s, const char *name) {
  Run r = run(s);
  double v = metric(&r, name);
  run_clear(&r);
  return v;
}

/* ---- counts ---- */

static void fresh_ascending(void) {
  for (int version = 17; version <= 19; version++) {
    Setup s = setup(version, 600, 500);
    expect_int(metric_of(&s, "first.pgxactoff_stores"), ==, 0);
    s.pg.bg_autovacuum = s.pg.bg_bgworkers = 1;
    expect_int(metric_of(&s, "first.pgxactoff_stores"), ==, 2 * 500); /* the two launchers are always behind */
  }
}

static void fresh_descending(void) {
  for (int version = 14; version <= 16; version++) {
    Setup s = setup(version, 600, 500);
    Run r = run(&s);
    expect_int(metric(&r, "first.pgxactoff_stores"), ==, 500 * 499 / 2);
    expect_int(metric(&r, "first.entries_moved"), ==, 500 * 499 / 2);
    run_clear(&r);
  }
}

/* Last in first out with ordered exits turns the order each run: dear, cheap, dear (facts, section 5). Leaving in the
 * order of coming, descending, nobody is behind; ascending, everybody is. */
static void lifo_turns(void) {
  Setup s = setup(14, 300, 300);
  s.bench.iterations = 3;
  Run r = run(&s);
  static const int dear[] = {1, 0, 1};
  for (int k = 1; k <= 3; k++) {
    expect_int(iteration(&r, k, "pgxactoff_stores"), ==, dear[k - 1] * 300 * 299 / 2);
    expect_int(iteration(&r, k, "entries_moved_out"), ==, !dear[k - 1] * 300 * 299 / 2);
  }
  run_clear(&r);
}

/* The first full-cost iteration under FIFO: ceil(slots/(N + between)) + 1. */
static void first_warm_iteration(void) {
  static const struct { int slots, n, between; } cases[] = {{1000, 90, 5}, {1000, 100, 0}, {512, 200, 3}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Setup s = setup(19, cases[i].slots, cases[i].n);
    s.bench.iterations = 0;
    s.bench.between = cases[i].between;
    s.bench.exit_order = EXIT_RANDOM;
    Run r = run(&s);
    int each = cases[i].n + cases[i].between, want = (cases[i].slots + each - 1) / each + 1;
    double mean = (iteration(&r, want, "connect_faults") + iteration(&r, want + 1, "connect_faults") +
                   iteration(&r, want + 2, "connect_faults")) /
                  3;
    expect_near(metric(&r, "warm.connect_faults"), mean, 1e-12); /* these three, and no others */
    double none;
    g_autofree char *beyond = g_strdup_printf("iteration[%d].connect_faults", want + 3);
    expect(!ledger_get(r.ledger, beyond, &none));
    expect_int(iteration(&r, 1, "pgxactoff_stores"), ==, 0);
    run_clear(&r);
  }
}

static void lifo_is_warm_at_once(void) {
  Setup s = setup(15, 1000, 50);
  s.bench.iterations = 0;
  Run r = run(&s);
  double none;
  expect(ledger_get(r.ledger, "iteration[4].connect_faults", &none));
  expect(!ledger_get(r.ledger, "iteration[5].connect_faults", &none));
  run_clear(&r);
}

/* Random exits make the warm iterations quadratic: N^2/4 stores, give or take the noise of one shuffle. */
static void warm_is_quadratic(void) {
  Setup s = setup(19, 1000, 1000);
  s.bench.iterations = 0;
  s.bench.exit_order = EXIT_RANDOM;
  expect_near(metric_of(&s, "warm.pgxactoff_stores"), 1000.0 * 999 / 4, 0.05);
  s.bench.exit_order = EXIT_IN_ORDER;
  expect_int(metric_of(&s, "warm.pgxactoff_stores"), ==, 0);
  s.bench.exit_order = EXIT_WINDOW;
  s.bench.exit_window = 16;
  double window = metric_of(&s, "warm.pgxactoff_stores");
  expect(window > 0 && window < 1000.0 * 999 / 4 / 8);
}

static void huge_pages_and_split_mend_it(void) {
  Setup s = setup(19, 1000, 1000);
  s.bench.iterations = 0;
  s.bench.exit_order = EXIT_RANDOM;
  double dear = metric_of(&s, "warm.connect_faults_per_backend");
  s.pg.offsets = OFFSETS_SPLIT;
  double split = metric_of(&s, "warm.connect_faults_per_backend");
  s.pg.offsets = OFFSETS_IN_PGPROC;
  s.memory.page_size = 2 << 20;
  double huge = metric_of(&s, "warm.connect_faults_per_backend");
  expect(dear > 60 && split < 30 && huge < 10);
}

/* Every slot is back, nobody holds a lock, the proc array is empty. */
static void all_is_given_back(void) {
  for (int version = 14; version <= 19; version++) {
    Setup s = setup(version, 200, 150);
    s.bench.iterations = 3;
    s.bench.threads = 4;
    s.bench.between = 2;
    s.bench.exit_order = EXIT_RANDOM;
    Run r = run(&s);
    const PgShared *shared = pg_server_shared(r.sv);
    expect(pg_server_done(r.sv) && r.end == ENGINE_IDLE);
    expect_int(pg_members(shared), ==, 0);
    expect_int(pg_free_count(shared, PG_BACKENDS), ==, 200);
    expect_int(pg_server_connected(r.sv), ==, 0);
    expect_int(lock_ended_holding(r.w), ==, 0);
    run_clear(&r);
  }
}

/* ---- limits ---- */

static void too_many_clients(void) {
  Setup s = setup(19, 10, 14);
  expect_int(metric_of(&s, "first.refused"), ==, 4);
  s.pg.superusers = false;
  expect_int(metric_of(&s, "first.refused"), ==, 4 + 3); /* the last three slots are reserved */
}

/* S34: a slotsync worker that no pool was made larger for takes a client's slot. */
static void slotsync_takes_a_slot(void) {
  Setup s = setup(17, 10, 10);
  s.pg.bg_slotsync = 1;
  expect_int(metric_of(&s, "first.refused"), ==, 1);
  s.pg.special_workers = 2;
  expect_int(metric_of(&s, "first.refused"), ==, 0);
}

static void listen_backlog(void) {
  Setup s = setup(19, 100, 1);
  s.costs.ps[COST_FORK] = 1000000000; /* 1 ms */
  s.storm = (StormConfig){.sessions = 50, .arrival = ARRIVE_EVERY, .gap_ns = 0, .hold = HOLD_EVER};
  s.pg.listen_backlog = 20;
  double refused = metric_of(&s, "first.refused");
  expect(refused == 29 || refused == 30); /* the postmaster may have accepted one before the last arrive */
  s.pg.listen_backlog = 0;
  expect_int(metric_of(&s, "first.refused"), ==, 0);
}

/* To 17 all children count, since 18 clients have a pool of their own; beyond it a dead-end child says so. */
static void child_limit(void) {
  for (int version = 17; version <= 18; version++) {
    Setup s = setup(version, 100, 30);
    s.pg.children_max = 12;
    expect_int(metric_of(&s, "first.refused"), ==, 18);
  }
}

/* S18: a listing by slot shows dead backends where ProcKill leaves the pid (16 and earlier). */
static void ghosts(void) {
  Setup s = setup(16, 20, 8);
  s.pg.listing = LIST_BY_SLOT;
  expect_int(metric_of(&s, "first.ghosts"), ==, 8);
  s.pg.listing = LIST_BY_PROC_ARRAY;
  expect_int(metric_of(&s, "first.ghosts"), ==, 0);
  s = setup(17, 20, 8);
  s.pg.listing = LIST_BY_SLOT;
  expect_int(metric_of(&s, "first.ghosts"), ==, 0);
}

/* ---- times ---- */

/* One thread waits for each connection: N times all that one costs. */
static void serial_connects(void) {
  Setup s = setup(19, 100, 40);
  const CostId each[] = {COST_FORK,    COST_ACCEPT,         COST_STARTUP_BEFORE, COST_STARTUP_AFTER,
                         COST_SECTION, COST_CLIENT_CONNECT, COST_SPIN_SECTION,   COST_LOGIN_CPU};
  int64_t us = 0;
  for (guint i = 0; i < G_N_ELEMENTS(each); i++) {
    s.costs.ps[each[i]] = (int64_t)(i + 3) * 1000000;
    us += i + 3;
  }
  s.costs.ps[COST_SNAPSHOT] = 1000000;
  s.costs.ps[COST_NETWORK] = 2000000;
  s.costs.ps[COST_UNEXPLAINED_RUN] = 500000000;
  s.costs.ps[COST_CLIENT_THREAD] = 9000000;
  double want_us = 40.0 * (double)(us + s.pg.snapshots + 2 * 2) + 500 + 9;
  expect_near(metric_of(&s, "first.connect_ms"), want_us / 1000, 1e-9);
}

/* The postmaster is one process: with many threads forks come one after the other, the rest side by side. */
static void forks_are_serial(void) {
  Setup s = setup(19, 200, 100);
  s.bench.threads = 100;
  s.costs.ps[COST_FORK] = 1000000000;
  s.costs.ps[COST_STARTUP_AFTER] = 50000000000;
  expect_near(metric_of(&s, "first.connect_ms"), 100 * 1 + 50, 1e-9);
  s.costs.ps[COST_FORK_PER_PTE] = 1000000;
  s.pg.postmaster_ptes = 500;
  expect_near(metric_of(&s, "first.connect_ms"), 100 * 1.5 + 50, 1e-9);
  s.engine.cores = 10; /* 100 x 50 ms of work on ten, less than the forks' share of one */
  double cores = metric_of(&s, "first.connect_ms");
  expect(cores >= 100 * 51.5 / 10 && cores < 100 * 51.5 / 10 + 200);
}

/* To 17 each connect walks the list of children: k of them at the k-th. Reaping walks in every version. */
static void child_list_walks(void) {
  for (int version = 17; version <= 18; version++) {
    Setup s = setup(version, 100, 60);
    s.costs.ps[COST_CHILD_LIST_ENTRY] = 1000000;
    double want_us = version == 17 ? 60 * 59 / 2 : 0;
    expect_near(metric_of(&s, "first.connect_ms"), want_us / 1000, 1e-9);
  }
}

/* Exclusive sections queue: with everybody at once the last waits for all others. */
static void lock_waits(void) {
  enum { N = 50 };
  Setup s = setup(19, 100, N);
  s.bench.threads = N;
  s.pg.snapshots = 0;
  s.costs.ps[COST_SECTION] = 1000000000;
  Run r = run(&s);
  expect_near(metric(&r, "first.connect_ms"), N, 1e-9);
  expect_near(metric(&r, "first.procarray_lock_hold_ms"), N, 1e-9);
  expect_near(metric(&r, "first.procarray_lock_wait_ms"), N * (N - 1) / 2, 1e-9);
  SiteId lock = ledger_site(r.ledger, "ProcArrayLock");
  expect_int(ledger_lock(r.ledger, lock).stores, >, 0);
  run_clear(&r);
}

/* A fault's price reaches the connect time: faults x price, no more and no less. */
static void faults_cost(void) {
  Setup s = setup(16, 300, 300); /* descending: dear at once */
  double faults = metric_of(&s, "first.connect_faults");
  s.costs.ps[COST_FAULT_WRITE] = s.costs.ps[COST_FAULT_READ] = 1000000;
  expect_near(metric_of(&s, "first.connect_ms"), faults / 1000, 1e-9);
}

static void transactions(void) {
  Setup s = setup(19, 100, 10);
  s.bench.transactions = 20;
  s.costs.ps[COST_QUERY] = 1000000000;
  Run r = run(&s); /* ten clients side by side, each twenty times 1 ms */
  expect_near(metric(&r, "first.tps"), 10 * 20 / 0.020, 1e-9);
  expect_near(metric(&r, "first.latency_avg_ms"), 1, 1e-9);
  run_clear(&r);
  s.bench.reconnect = true; /* -C: the thread stands still for each connect */
  s.costs.ps[COST_FORK] = 1000000000;
  r = run(&s);
  double none;
  expect(!ledger_get(r.ledger, "first.connect_ms", &none));
  expect(metric(&r, "first.tps") < 1000.001 && metric(&r, "first.tps") > 900);
  expect_near(metric(&r, "first.latency_avg_ms"), 10 * 1000 / metric(&r, "first.tps"), 1e-9); /* as pgbench has it */
  expect(pg_server_done(r.sv));
  run_clear(&r);
}

/* S32: one server of 1400 connects a second, N over T: the last waits N/1400 - T. */
static void storm_wait(void) {
  Setup s = setup(19, 3000, 1);
  s.pg.touch = TOUCH_RANGES;
  s.costs.ps[COST_FORK] = 1000000000000 / 1400;
  s.storm = (StormConfig){.sessions = 2800, .burst_ns = 1000000000, .hold = HOLD_EVER};
  Run r = run(&s);
  expect_near(metric(&r, "wait_ms.last"), 1000.0 * (2800 / 1400.0 - 1), 0.01);
  expect_near(metric(&r, "wait_ms.max"), metric(&r, "wait_ms.last"), 0.001);
  expect_near(metric(&r, "wait_ms.mean"), metric(&r, "wait_ms.last") / 2, 0.01);
  run_clear(&r);
}

/* M/D/1 at 70 % load: the mean time in the system is s (1 + rho / (2 (1 - rho))). */
static void storm_poisson(void) {
  Setup s = setup(19, 1000, 1);
  s.costs.ps[COST_FORK] = 1000000000;
  s.storm =
      (StormConfig){.sessions = 40000, .arrival = ARRIVE_POISSON, .gap_ns = 1428571, .hold = HOLD_FIXED, .hold_ns = 1};
  expect_near(metric_of(&s, "wait_ms.mean"), 1 + 0.7 / (2 * 0.3), 0.06);
}

/* ---- determinism ---- */
static void same_again(void) {
  Setup s = setup(19, 300, 200);
  s.bench.exit_order = EXIT_RANDOM;
  s.bench.iterations = 4;
  s.bench.threads = 6;
  s.costs.ps[COST_FORK] = 200000000;
  s.costs.ps[COST_FAULT_WRITE] = 1000000;
  Run a = run(&s), b = run(&s);
  Hash128 x = world_hash(a.w), y = world_hash(b.w);
  expect(x.lo == y.lo && x.hi == y.hi);
  expect_int(engine_now(a.e), ==, engine_now(b.e));
  expect(iteration(&a, 4, "connect_ms") == iteration(&b, 4, "connect_ms"));
  run_clear(&a);
  run_clear(&b);
}

int main(void) {
  return suite_run("server", (const Case[]){{"fresh, ascending", fresh_ascending},
                                            {"fresh, descending", fresh_descending},
                                            {"LIFO turns", lifo_turns},
                                            {"first warm iteration", first_warm_iteration},
                                            {"LIFO is warm at once", lifo_is_warm_at_once},
                                            {"warm is quadratic", warm_is_quadratic},
                                            {"huge pages and split mend it", huge_pages_and_split_mend_it},
                                            {"all is given back", all_is_given_back},
                                            {"too many clients", too_many_clients},
                                            {"slotsync takes a slot", slotsync_takes_a_slot},
                                            {"listen backlog", listen_backlog},
                                            {"child limit", child_limit},
                                            {"ghosts", ghosts},
                                            {"serial connects", serial_connects},
                                            {"forks are serial", forks_are_serial},
                                            {"child list walks", child_list_walks},
                                            {"lock waits", lock_waits},
                                            {"faults cost", faults_cost},
                                            {"transactions", transactions},
                                            {"storm: wait", storm_wait},
                                            {"storm: Poisson", storm_poisson},
                                            {"same again", same_again},
                                            {0}});
}
