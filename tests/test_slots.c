/* PGPROC slots and their free lists: pools by the published formulas, hand-out orders by version, neighbours touched.
 */
#include "tests/pg_sample.h"

/* Facts, section 1: MaxBackends and the number of PGPROCs at max_connections = 16384 with defaults. */
static void pools_by_version(void) {
  static const struct {
    int version, max_backends, total;
  } want[] = {{14, 16406, 16411}, {15, 16406, 16411}, {16, 16406, 16411},
              {17, 16406, 16412}, {18, 16420, 16458}, {19, 16420, 16458}};
  for (guint i = 0; i < G_N_ELEMENTS(want); i++) {
    PgConfig c = sample_config(want[i].version, 16384);
    PgPools p;
    pg_pools(&c, &p);
    expect_int(p.max_backends, ==, want[i].max_backends);
    expect_int(p.total, ==, want[i].total);
  }
}

static void most_connections_of_19(void) {
  PgConfig c = sample_config(19, 262107);
  expect(pg_config_valid(&c, NULL));
  c.max_connections++;
  g_autoptr(GError) error = NULL;
  expect(!pg_config_valid(&c, &error));
  expect(error && strstr(error->message, "262143"));
}

/* PGPROC array in pages at max_connections = 16384 (facts, section 3). */
static void array_pages(void) {
  static const struct { int version, pages; } want[] = {{16, 3526}, {17, 3559}, {18, 3344}, {19, 3601}};
  for (guint i = 0; i < G_N_ELEMENTS(want); i++) {
    PgConfig c = sample_config(want[i].version, 16384);
    Sample x = sample(&c);
    uint64_t first, pages;
    pg_pgproc_pages(x.s, &first, &pages);
    expect_int(pages, ==, want[i].pages);
    sample_clear(&x);
  }
}

static int take(Sample *x, AddressSpace *as) {
  PgCost c = {0};
  return slot_take(x->s, PG_BACKENDS, 1, as, &c);
}
static void give(Sample *x, AddressSpace *as, int procno) {
  PgCost c = {0};
  slot_give(x->s, procno, false, as, &c);
}

/* Four slots: take three, give the second and the first back, take two. */
static void expect_order(PgConfig c, const int want[5]) {
  Sample x = sample(&c);
  AddressSpace *as = sample_process(&x);
  for (int i = 0; i < 3; i++) expect_int(take(&x, as), ==, want[i]);
  give(&x, as, want[1]);
  give(&x, as, want[0]);
  for (int i = 3; i < 5; i++) expect_int(take(&x, as), ==, want[i]);
  address_space_free(as);
  sample_clear(&x);
}

static void orders_by_version(void) {
  expect_order(sample_config(14, 4), (int[]){3, 2, 1, 3, 2}); /* last in first out, from the highest */
  expect_order(sample_config(15, 4), (int[]){3, 2, 1, 3, 2});
  expect_order(sample_config(16, 4), (int[]){3, 2, 1, 0, 2}); /* first in first out, still from the highest */
  expect_order(sample_config(17, 4), (int[]){0, 1, 2, 3, 1});
  expect_order(sample_config(18, 4), (int[]){0, 1, 2, 3, 1});
  expect_order(sample_config(19, 4), (int[]){0, 1, 2, 3, 1});
  PgConfig lowest = sample_config(19, 4);
  lowest.take = TAKE_LOWEST;
  expect_order(lowest, (int[]){0, 1, 2, 0, 1});
}

/* A lock-group leader's slot, given back by its last follower, goes to the head. */
static void leader_at_head(void) {
  PgConfig c = sample_config(19, 4);
  Sample x = sample(&c);
  AddressSpace *as = sample_process(&x);
  for (int i = 0; i < 2; i++) take(&x, as);
  PgCost cost = {0};
  slot_give(x.s, 1, true, as, &cost);
  slot_give(x.s, 0, false, as, &cost);
  static const int want[] = {1, 2, 3, 0};
  for (int i = 0; i < 4; i++) expect_int(take(&x, as), ==, want[i]);
  address_space_free(as);
  sample_clear(&x);
}

static void too_many_clients(void) {
  for (int version = 14; version <= 19; version++) {
    PgConfig c = sample_config(version, 2);
    Sample x = sample(&c);
    AddressSpace *as = sample_process(&x);
    take(&x, as);
    int last = take(&x, as);
    expect_int(take(&x, as), ==, -1);
    give(&x, as, last);
    expect_int(take(&x, as), ==, last);
    address_space_free(as);
    sample_clear(&x);
  }
}

/* With double links a take writes its neighbour's node and a give its old tail's; with single ones neither. */
static void neighbours_touched(void) {
  for (int version = 15; version <= 16; version++) {
    PgConfig c = sample_config(version, 100);
    Sample x = sample(&c);
    AddressSpace *as = sample_process(&x);
    PgCost taken = {0}, given = {0};
    int p = slot_take(x.s, PG_BACKENDS, 1, as, &taken);
    slot_give(x.s, p, false, as, &given);
    expect_int(taken.use[PGF_LINKS].loads, ==, 1);
    expect_int(taken.use[PGF_LINKS].stores, ==, version == 16);
    expect_int(given.use[PGF_LINKS].stores, ==, version == 16 ? 2 : 1);
    address_space_free(as);
    sample_clear(&x);
  }
}

/* The read of the own node maps the 64 KiB window around it, before anything is written. */
static void pop_maps_the_window(void) {
  PgConfig c = sample_config(19, 1000);
  const MemoryConfig m = {.page_size = 4096, .fault_around = 65536};
  Sample x = sample_on(&c, &m);
  AddressSpace *as = sample_process(&x);
  PgCost cost = {0};
  slot_take(x.s, PG_BACKENDS, 1, as, &cost);
  expect_int(cost.use[PGF_LINKS].touch.read_faults, ==, 1);
  expect_int(cost.use[PGF_LINKS].touch.around, ==, 15);
  cost = (PgCost){0};
  slot_initialize(x.s, 0, 1000, as, &cost);
  expect_int(cost.use[PGF_PGPROC].touch.write_faults, ==, 0);
  address_space_free(as);
  sample_clear(&x);
}

static void have_n_free(void) {
  PgConfig c = sample_config(17, 5);
  Sample x = sample(&c);
  AddressSpace *as = sample_process(&x);
  PgCost cost = {0};
  expect(slots_have_free(x.s, 3, as, &cost));
  expect_int(cost.use[PGF_LINKS].loads, ==, 3); /* it walks no further */
  for (int i = 0; i < 3; i++) take(&x, as);
  expect(!slots_have_free(x.s, 3, as, &cost));
  expect(slots_have_free(x.s, 2, as, &cost));
  address_space_free(as);
  sample_clear(&x);
}

/* Every slot of every pool but the auxiliary one is on its own pool's list, once. */
static void lists_hold_all_slots(void) {
  for (int version = 14; version <= 19; version++)
    for (int lowest = 0; lowest < 2; lowest++) {
      PgConfig c = sample_config(version, 70);
      c.max_prepared_transactions = 3;
      if (lowest) c.take = TAKE_LOWEST;
      Sample x = sample(&c);
      int seen = 0;
      for (PgPool pool = 0; pool < PG_POOL_COUNT; pool++)
        for (int p = pg_free_first(x.s, pool); p >= 0 && seen < 1000; p = pg_free_next(x.s, p), seen++)
          expect_int(pg_slot(x.s, p).pool, ==, pool);
      expect_int(seen, ==, pg_shared_pools(x.s)->total - c.auxiliary_procs);
      sample_clear(&x);
    }
}

/* First in first out hands out every slot once before any a second time; last in first out does not. */
static void handed_out(void) {
  static const struct { int version, want; } cases[] = {{14, 1}, {19, 7}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    PgConfig c = sample_config(cases[i].version, 7);
    Sample x = sample(&c);
    AddressSpace *as = sample_process(&x);
    for (int n = 0; n < 7; n++) give(&x, as, take(&x, as));
    expect_int(pg_handed_out(x.s), ==, cases[i].want);
    address_space_free(as);
    sample_clear(&x);
  }
}

/* To 16 a free slot keeps its last pid. */
static void stale_pid(void) {
  for (int version = 16; version <= 17; version++) {
    PgConfig c = sample_config(version, 3);
    Sample x = sample(&c);
    AddressSpace *as = sample_process(&x);
    PgCost cost = {0};
    int p = sample_connect(&x, as, &cost);
    sample_leave(&x, p, as, &cost);
    expect_int(pg_slot(x.s, p).pid, ==, version == 16 ? 1000 : 0);
    address_space_free(as);
    sample_clear(&x);
  }
}

/* What mutants do to a list. */
static void deviations(void) {
  PgConfig c = sample_config(19, 5);
  c.steps[PGSTEP_POP_FREE] = STEP_SKIP;
  expect_order(c, (int[]){0, 0, 0, 0, 0});
  c.steps[PGSTEP_POP_FREE] = STEP_TWICE;
  Sample x = sample(&c);
  AddressSpace *as = sample_process(&x);
  expect_int(take(&x, as), ==, 1); /* 0 is lost */
  expect(!pg_slot(x.s, 0).listed && pg_slot(x.s, 0).owner == 0);
  address_space_free(as);
  sample_clear(&x);
  c.steps[PGSTEP_POP_FREE] = STEP_AS_IS;
  c.steps[PGSTEP_PUSH_FREE] = STEP_SKIP;
  x = sample(&c);
  as = sample_process(&x);
  give(&x, as, take(&x, as));
  expect(!pg_slot(x.s, 0).listed && pg_slot(x.s, 0).owner == 0);
  address_space_free(as);
  sample_clear(&x);
}

int main(void) {
  return suite_run("slots", (const Case[]){{"pools by version", pools_by_version},
                                           {"most connections of 19", most_connections_of_19},
                                           {"pages of the PGPROC array", array_pages},
                                           {"orders by version", orders_by_version},
                                           {"leader at head", leader_at_head},
                                           {"too many clients", too_many_clients},
                                           {"neighbours touched", neighbours_touched},
                                           {"pop maps the window", pop_maps_the_window},
                                           {"HaveNFreeProcs", have_n_free},
                                           {"lists hold all slots", lists_hold_all_slots},
                                           {"handed out", handed_out},
                                           {"stale pid", stale_pid},
                                           {"deviations", deviations},
                                           {0}});
}
