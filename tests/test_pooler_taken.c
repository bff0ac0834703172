/* The table of checked-out connections by generation: each defect of poolers.md B.2, where it is told and nowhere else.
 * Expected values are read off the facts: what each generation's own code did. */
#include "tests/harness.h"
#include "tests/pooler_sample.h"
#include "model/pooler/parts.h"

enum { A = 0, B = 1 };

static const Op nothing[] = {{.code = OP_END}};
static const Script idle = {nothing, NULL, NULL, 1, 0, 0, 1};

/* A pool of two with three clients; no process has run. Server i is taken for opened, with pid and secret. */
typedef struct {
  Sample s;
  Pooler *p;
} Table;

static void table_init(Table *t, TakenGeneration gen, ServerIdentity identity) {
  sample_init(&t->s);
  t->s.pools[0].taken = gen;
  t->s.pools[0].server_identity = identity;
  t->s.pools[0].size = 2;
  sample_client(&t->s, "a", 0, &idle);
  sample_client(&t->s, "b", 0, &idle);
  sample_start(&t->s, 1, TIES_SEEDED);
  t->p = t->s.p;
  for (guint i = 0; i < 2; i++)
    t->p->sessions[i] = (Session){.state = CL_IDLE, .client = (uint16_t)i, .key_secret = 100 + i};
}

static Server *server(Table *t, guint i, uint32_t pid) {
  Server *s = &t->p->servers[i];
  *s = (Server){.state = SV_TAKEN, .pool = 0, .pid = pid, .secret = 500 + i, .seq = i + 1};
  return s;
}

static void table_clear(Table *t) {
  memset(t->p->servers, 0, t->p->n_servers * sizeof(Server));
  sample_clear(&t->s);
}

/* -1: no entry; else the slot it was made for. */
static int entry(const Table *t, guint session) {
  const TakenEntry *e = taken_entry(t->p, 0, session);
  return e ? (int)e->slot - 1 : -1;
}

/* PR #674: a takes s1, takes s2, and only then is s1 checked in. */
static void late_check_in(TakenGeneration gen, int len, int names) {
  Table t;
  table_init(&t, gen, IDENTITY_PID_SECRET4);
  Server *s1 = server(&t, 0, 10), *s2 = server(&t, 1, 11);
  taken_take(t.p, 0, A, s1);
  taken_take(t.p, 0, A, s2);
  expect(taken_check_in(t.p, 0, s1));
  expect_int(taken_len(t.p, 0), ==, len);
  expect_int(entry(&t, A), ==, names);
  table_clear(&t);
}

static void late_check_in_of_g0(void) {
  late_check_in(TAKEN_G0, 1, 1);
}
static void late_check_in_of_g1_loses_count_and_entry(void) {
  late_check_in(TAKEN_G1, 0, -1);
}
static void late_check_in_of_g2_loses_the_entry(void) {
  late_check_in(TAKEN_G2, 1, -1);
}
static void late_check_in_of_g3(void) {
  late_check_in(TAKEN_G3, 1, 1);
}
static void late_check_in_of_g4(void) {
  late_check_in(TAKEN_G4, 1, 1);
}

/* One address, two postmasters, both pid 77. */
static void equal_pids(TakenGeneration gen, ServerIdentity identity, int len, bool second) {
  Table t;
  table_init(&t, gen, identity);
  Server *s1 = server(&t, 0, 77), *s2 = server(&t, 1, 77);
  taken_take(t.p, 0, A, s1);
  taken_take(t.p, 0, B, s2);
  expect_int(taken_len(t.p, 0), ==, len);
  expect(taken_check_in(t.p, 0, s1));
  expect_int(taken_check_in(t.p, 0, s2), ==, second);
  table_clear(&t);
}

static void equal_pids_of_g3_collapse(void) {
  equal_pids(TAKEN_G3, IDENTITY_UNIQUE_SEQ, 1, false);
}
static void equal_pids_of_g4_by_sequence(void) {
  equal_pids(TAKEN_G4, IDENTITY_UNIQUE_SEQ, 2, true);
}
static void equal_pids_of_g4_by_pid_collapse(void) {
  equal_pids(TAKEN_G4, IDENTITY_PID_ONLY, 1, false);
}
static void equal_pids_of_g2_by_secret(void) {
  equal_pids(TAKEN_G2, IDENTITY_PID_SECRET4, 2, true);
}

/* B.7 I2: the second check-in of one server is an error and changes nothing. */
static void twice(TakenGeneration gen) {
  Table t;
  table_init(&t, gen, IDENTITY_UNIQUE_SEQ);
  Server *s1 = server(&t, 0, 10), *s2 = server(&t, 1, 11);
  taken_take(t.p, 0, A, s1);
  taken_take(t.p, 0, B, s2);
  expect(taken_check_in(t.p, 0, s1));
  expect(!taken_check_in(t.p, 0, s1));
  expect_int(taken_len(t.p, 0), ==, 1);
  expect_int(entry(&t, B), ==, 1);
  table_clear(&t);
}

static void second_check_in_is_an_error(void) {
  for (TakenGeneration gen = TAKEN_G0; gen <= TAKEN_G4; gen++) twice(gen);
}

/* Known limit a of B.2: of two checkouts only the latest is cancelable, and after its check-in none. */
static void two_checkouts_of_g4(void) {
  Table t;
  table_init(&t, TAKEN_G4, IDENTITY_UNIQUE_SEQ);
  Server *s1 = server(&t, 0, 10), *s2 = server(&t, 1, 11);
  taken_take(t.p, 0, A, s1);
  taken_take(t.p, 0, A, s2);
  expect_int(entry(&t, A), ==, 1);
  expect(taken_check_in(t.p, 0, s2));
  expect_int(entry(&t, A), ==, -1);
  expect_int(taken_len(t.p, 0), ==, 1);
  table_clear(&t);
}

/* unique_seq of two bits: the fifth connection is taken for the first. */
static void narrow_sequence(void) {
  Table t;
  table_init(&t, TAKEN_G4, IDENTITY_UNIQUE_SEQ);
  t.s.pools[0].identity_width = 2;
  Server *s1 = server(&t, 0, 10), *s2 = server(&t, 1, 11);
  s2->seq = s1->seq + 4;
  expect(server_identity(t.p, s1) == server_identity(t.p, s2));
  s2->seq = s1->seq + 3;
  expect(server_identity(t.p, s1) != server_identity(t.p, s2));
  table_clear(&t);
}

/* Bytes copied and hashed per check-out: a pid, pid and secret, a sequence. */
static void bytes_of_identity(void) {
  static const struct {
    ServerIdentity identity;
    guint bytes;
  } known[] = {
      {IDENTITY_PID_ONLY, 4}, {IDENTITY_PID_SECRET4, 8}, {IDENTITY_PID_SECRET_VAR, 4 + 256}, {IDENTITY_UNIQUE_SEQ, 8}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    Table t;
    table_init(&t, TAKEN_G4, known[i].identity);
    t.s.pools[0].identity_bytes = 256;
    expect_int(identity_bytes(t.p, 0, 0), ==, known[i].bytes);
    table_clear(&t);
  }
}

int main(void) {
  return suite_run(
      "pooler_taken",
      (const Case[]){{"late check-in, G0", late_check_in_of_g0},
                     {"late check-in, G1 loses the count and the entry", late_check_in_of_g1_loses_count_and_entry},
                     {"late check-in, G2 loses the entry", late_check_in_of_g2_loses_the_entry},
                     {"late check-in, G3", late_check_in_of_g3},
                     {"late check-in, G4", late_check_in_of_g4},
                     {"equal pids, G3 collapse", equal_pids_of_g3_collapse},
                     {"equal pids, G4 by sequence", equal_pids_of_g4_by_sequence},
                     {"equal pids, G4 by pid collapse", equal_pids_of_g4_by_pid_collapse},
                     {"equal pids, G2 by secret", equal_pids_of_g2_by_secret},
                     {"second check-in is an error", second_check_in_is_an_error},
                     {"two checkouts, G4", two_checkouts_of_g4},
                     {"a narrow sequence repeats", narrow_sequence},
                     {"bytes of an identity", bytes_of_identity},
                     {0}});
}
