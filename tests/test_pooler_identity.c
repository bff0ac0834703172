/* What identities cost: bytes of each generation's table, the closed form of a pooler's workers, and the published
 * table of eleven builds, nine of them predicted from two. */
#include "model/pooler/parts.h"
#include "sim/fit_table.h"
#include "sim/scenario/assets.h"
#include "tests/harness.h"
#include "tests/pooler_sample.h"
#include <math.h>

enum { CLIENTS = 20, TURNS = 50, WORK_US = 10 };

static const QueryDef at_once[] = {{.tag = "q", .deadline_ns = NO_LIMIT, .lock = NONE}};
static const Op turns[] = {{.code = OP_CONNECT},
                           {.code = OP_LOOP, .times = TURNS, .target = 3, .moment = NONE},
                           {.code = OP_QUERY},
                           {.code = OP_END_LOOP, .target = 1},
                           {.code = OP_END}};
static const Script script = {turns, at_once, NULL, 5, 1, 0, 1};

static void run_closed(Sample *s, int workers, int64_t byte_ps, ServerIdentity identity, TakenGeneration taken) {
  sample_init(s);
  s->c.workers = workers;
  s->pools[0].size = 5;
  s->pools[0].taken = taken;
  s->pools[0].server_identity = identity;
  s->pools[0].identity_bytes = 256;
  s->costs.ps[COST_POOLER_WORK] = WORK_US * INT64_C(1000000);
  s->costs.ps[COST_POOLER_BYTE] = byte_ps;
  for (guint i = 0; i < 4; i++) sample_client(s, "a", 0, &script);
  for (guint i = 0; i < 4; i++) s->clients[i].count = CLIENTS / 4;
  sample_run(s);
}

/* All else takes no time: N transactions take N / workers times the work, and not a nanosecond more. */
static void workers_share_the_work(void) {
  for (int workers = 1; workers <= 4; workers *= 2) {
    Sample s;
    run_closed(&s, workers, 0, IDENTITY_UNIQUE_SEQ, TAKEN_G4);
    expect_int(sample_metric(&s, "queries.ok"), ==, CLIENTS * TURNS);
    expect_int(engine_now(s.e), ==, INT64_C(1000) * WORK_US * CLIENTS * TURNS / workers);
    sample_clear(&s);
  }
}

/* The bytes that are paid for are the bytes that are counted where they move. */
static void what_is_counted_is_paid(void) {
  static const ServerIdentity identities[] = {IDENTITY_PID_SECRET4, IDENTITY_PID_SECRET_VAR, IDENTITY_UNIQUE_SEQ};
  for (guint i = 0; i < G_N_ELEMENTS(identities); i++)
    for (int gen = TAKEN_G0; gen <= TAKEN_G4; gen++) {
      Sample s;
      run_closed(&s, 1, 1000, identities[i], (TakenGeneration)gen);
      double bytes = sample_metric(&s, "identity.bytes");
      expect(bytes > 0);
      expect_int(engine_now(s.e), ==, INT64_C(1000) * WORK_US * CLIENTS * TURNS + (int64_t)bytes);
      sample_clear(&s);
    }
}

/* By hand, from the structures of poolers.md B.2; a check-in moves as much as a take. k: a key, 8 or 260 bytes. */
static void bytes_of_each_generation(void) {
  static const struct {
    TakenGeneration gen;
    guint keys, rest;
  } known[] = {
      {TAKEN_G0, 2, 0},          /* a pair */
      {TAKEN_G1, 6, 0},          /* two maps: key hashed, key and value copied */
      {TAKEN_G2, 7, 0},          /* a pair, one map of a key, one of two */
      {TAKEN_G3, 1, 2 * 4 + 12}, /* client pid -> key; server pid -> client pid */
  };
  for (guint i = 0; i < G_N_ELEMENTS(known); i++)
    for (guint k = 8; k <= 260; k += 252) {
      Sample s;
      run_closed(&s, 1, 0, k == 8 ? IDENTITY_PID_SECRET4 : IDENTITY_PID_SECRET_VAR, known[i].gen);
      expect_int(taken_bytes(s.p, 0, 0), ==, known[i].keys * k + known[i].rest);
      expect_int(sample_metric(&s, "identity.bytes"), ==, 2 * CLIENTS * TURNS * taken_bytes(s.p, 0, 0));
      sample_clear(&s);
    }
}

/* 4 bytes of pid and what the server's key has, or the whole array; times of either, or of the bare pid. */
static void moves_beside_the_table(void) {
  Sample s;
  run_closed(&s, 1, 0, IDENTITY_PID_SECRET_VAR, TAKEN_G4);
  PoolConfig *c = &s.pools[0];
  c->moves = 3;
  expect_int(identity_moved(s.p, 0, 0), ==, 3 * 260);
  s.servers[0].key_bytes = 32;
  expect_int(identity_moved(s.p, 0, 0), ==, 3 * 260);
  c->identity_as_sent = true;
  expect_int(identity_moved(s.p, 0, 0), ==, 3 * 36);
  c->moves_pid = true;
  expect_int(identity_moved(s.p, 0, 0), ==, 3 * 4);
  sample_clear(&s);
}

/* data/pooler-identity.csv: every figure within 3 % with the profile that was fitted to two of them. */
static void published_builds(void) {
  g_auto(GStrv) dirs = asset_dirs(NULL);
  const char *const few[] = {"clients[0].script[1].loop.times=100", NULL};
  FitTableRequest r = {.scenario = "pooler-identity-cost", .sets = few, .dirs = (const char *const *)dirs, .jobs = 1};
  GError *error = NULL;
  g_autoptr(FitTable) t = fit_table_new(&r, &error);
  guint n = 0;
  if (!t) CU_FAIL_FATAL("no table");
  const FitCell *cells = fit_table_cells(t, &n);
  double figures[16];
  Costs costs;
  scenario_costs(fit_table_scenario(t), &costs);
  expect_int(n, ==, 11);
  expect(fit_table_exact(t, &costs, figures, &error));
  for (guint i = 0; i < n; i++) expect_near(figures[i], cells[i].observed, 0.03);
}

int main(void) {
  return suite_run("pooler_identity", (const Case[]){{"workers share the work", workers_share_the_work},
                                                     {"what is counted is paid", what_is_counted_is_paid},
                                                     {"bytes of each generation", bytes_of_each_generation},
                                                     {"moves beside the table", moves_beside_the_table},
                                                     {"published builds within 3 %", published_builds},
                                                     {0}});
}
