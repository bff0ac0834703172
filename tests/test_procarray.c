/* ProcArrayAdd and Remove against closed forms (facts, sections 2 and 5), the ways of counting against each other, and
 * what each deviation breaks. */
#include "tests/pg_sample.h"

/* ---- totals over N connects, each by a new process; slots in the order given ---- */
typedef struct {
  int64_t stores, moved, bytes, searched, follower_faults, split_faults;
} Totals;

static Totals connect_all(const PgConfig *c, const MemoryConfig *m, const int *order, int n) {
  Sample x = sample_on(c, m);
  Totals t = {0};
  AddressSpace *as = sample_process(&x);
  for (int i = 0; i < n; i++) {
    PgCost cost = {0};
    address_space_reset(as, ++x.owners);
    procarray_add(x.s, order[i], as, &cost);
    const Touch *f = &cost.use[PGF_PGXACTOFF].touch, *split = &cost.use[PGF_PGXACTOFFS].touch;
    t.stores += cost.followers;
    t.moved += cost.moved;
    t.bytes += cost.bytes_moved;
    t.searched += cost.searched;
    t.follower_faults += f->write_faults + f->read_faults;
    t.split_faults += split->write_faults + split->read_faults;
  }
  address_space_free(as);
  sample_clear(&x);
  return t;
}

static const MemoryConfig plain = {.page_size = 4096}, around = {.page_size = 4096, .fault_around = 65536},
                          huge = {.page_size = 2 << 20};
enum { N = 2048 };

static int *ascending(void) {
  int *order = g_new(int, N);
  for (int i = 0; i < N; i++) order[i] = i;
  return order;
}
static int *descending(void) {
  int *order = g_new(int, N);
  for (int i = 0; i < N; i++) order[i] = N - 1 - i;
  return order;
}

static void counts_descending(void) {
  g_autofree int *order = descending();
  for (int version = 14; version <= 19; version++) {
    PgConfig c = sample_config(version, N);
    Totals t = connect_all(&c, &plain, order, N);
    const int64_t pairs = (int64_t)N * (N - 1) / 2;
    expect_int(t.stores, ==, pairs);
    expect_int(t.moved, ==, pairs);
    expect_int(t.bytes, ==, 11 * pairs);
    expect_int(t.searched, ==, N - 1); /* the first entry is larger already; none to look at for the first */
  }
}

static void counts_ascending(void) {
  g_autofree int *order = ascending();
  for (int version = 14; version <= 19; version++) {
    PgConfig c = sample_config(version, N);
    Totals t = connect_all(&c, &plain, order, N);
    expect_int(t.stores, ==, 0);
    expect_int(t.moved, ==, 0);
    expect_int(t.searched, ==, (int64_t)N * (N - 1) / 2);
    expect_int(t.follower_faults, ==, 0);
  }
}

/* N^2/(2g), g = 4096/S */
static void faults_descending(void) {
  g_autofree int *order = descending();
  for (int version = 14; version <= 19; version++) {
    PgConfig c = sample_config(version, N);
    double g = 4096.0 / c.pgproc_size, want = (double)N * N / (2 * g);
    expect_near(connect_all(&c, &plain, order, N).follower_faults, want, 0.01);
  }
}

/* N^2/(2g) (1 - 1/(g+1)), mean of ten orders */
static void faults_random(void) {
  static const int versions[] = {16, 17, 18, 19}; /* 880, 888, 832, 896 bytes */
  for (guint v = 0; v < G_N_ELEMENTS(versions); v++) {
    PgConfig c = sample_config(versions[v], N);
    c.touch = TOUCH_RANGES;
    double g = 4096.0 / c.pgproc_size, want = (double)N * N / (2 * g) * (1 - 1 / (g + 1)), sum = 0;
    for (guint32 seed = 1; seed <= 10; seed++) {
      g_autofree int *order = sample_shuffled(N, seed);
      sum += (double)connect_all(&c, &plain, order, N).follower_faults;
    }
    expect_near(sum / 10, want, 0.03);
  }
}

/* A load first maps the 64 KiB window: 1/16 of the faults in descending order, and half a window a connect since the
 * lowest one is begun before it is needed whole; g = 65536/S in random order. */
static void read_before_write(void) {
  PgConfig c = sample_config(19, N);
  g_autofree int *down = descending();
  double stores_only = (double)connect_all(&c, &around, down, N).follower_faults;
  c.read_before_write = true;
  expect_near(connect_all(&c, &around, down, N).follower_faults, stores_only / 16 + N / 2.0, 0.01);
  double g = 65536.0 / c.pgproc_size, want = (double)N * N / (2 * g) * (1 - 1 / (g + 1)), sum = 0;
  for (guint32 seed = 1; seed <= 10; seed++) {
    g_autofree int *order = sample_shuffled(N, seed);
    sum += (double)connect_all(&c, &around, order, N).follower_faults;
  }
  expect_near(sum / 10, want, 0.03);
}

/* With 2 MiB pages the followers of 2048 lie on one page (two where the array straddles). */
static void huge_pages(void) {
  PgConfig c = sample_config(19, N);
  g_autofree int *down = descending();
  expect_int(connect_all(&c, &huge, down, N).follower_faults, <=, 2 * N);
}

/* The split array: as many stores, at most N*4/4096 + 1 pages a connect. */
static void split(void) {
  PgConfig c = sample_config(19, N);
  c.offsets = OFFSETS_SPLIT;
  g_autofree int *down = descending();
  Totals t = connect_all(&c, &plain, down, N);
  expect_int(t.stores, ==, (int64_t)N * (N - 1) / 2);
  expect_int(t.follower_faults, ==, 0);
  expect_int(t.split_faults, <=, (int64_t)N * (N * 4 / 4096 + 1));
}

/* 13 and earlier: no stores, and 4 bytes an entry moved. */
static void before_14(void) {
  PgConfig c = sample_config(14, N);
  c.offsets = OFFSETS_NONE;
  g_autofree int *down = descending();
  Totals t = connect_all(&c, &plain, down, N);
  expect_int(t.stores, ==, 0);
  expect_int(t.bytes, ==, 4 * ((int64_t)N * (N - 1) / 2));
}

static void unsorted(void) {
  PgConfig c = sample_config(19, N);
  c.order = ORDER_UNSORTED;
  g_autofree int *order = sample_shuffled(N, 3);
  Totals t = connect_all(&c, &plain, order, N);
  expect_int(t.stores + t.moved + t.searched, ==, 0);
  Sample x = sample(&c);
  AddressSpace *as = sample_process(&x);
  PgCost cost = {0};
  for (int i = 0; i < 5; i++) procarray_add(x.s, i, as, &cost);
  cost = (PgCost){0};
  procarray_remove(x.s, 1, as, &cost);
  expect_int(cost.followers, ==, 1);
  expect_int(pg_entry(x.s, 1).procno, ==, 4);
  expect_int(pg_slot(x.s, 4).offset, ==, 1);
  cost = (PgCost){0};
  procarray_remove(x.s, 3, as, &cost); /* the last one */
  expect_int(cost.followers, ==, 0);
  expect_int(pg_members(x.s), ==, 3);
  address_space_free(as);
  sample_clear(&x);
}

/* ---- the state, judged with nothing but its definition ---- */
typedef struct {
  int unsorted, wrong_offsets, wrong_mirrors;
} Faulty;

static Faulty judge(const PgShared *s) {
  Faulty f = {0};
  for (int i = 0; i < pg_members(s); i++) {
    PgEntry e = pg_entry(s, i);
    if (i > 0 && e.procno <= pg_entry(s, i - 1).procno) f.unsorted++;
    if (e.procno < 0) continue;
    PgSlot p = pg_slot(s, e.procno);
    f.wrong_offsets += p.offset != i;
    f.wrong_mirrors += e.xid != p.xid || e.status != p.status || e.subxids != p.subxids;
  }
  return f;
}

/* Connects and exits in random order, members with different xids; a set of numbers keeps what should be there. */
static Faulty churn(PgConfig c, guint32 seed, bool members_agree) {
  const MemoryConfig m = {.page_size = 4096};
  Sample x = sample_on(&c, &m);
  GRand *r = g_rand_new_with_seed(seed);
  AddressSpace *as = sample_process(&x);
  g_autofree bool *in = g_new0(bool, c.max_connections);
  int n = 0;
  Faulty worst = {0};
  for (int i = 0; i < 400; i++) {
    int p = g_rand_int_range(r, 0, c.max_connections);
    PgCost cost = {0};
    slot_advertise(x.s, p, in[p] ? 0 : (uint32_t)p + 700, in[p] ? 0 : (uint16_t)p, (uint8_t)p);
    if (in[p])
      procarray_remove(x.s, p, as, &cost);
    else
      procarray_add(x.s, p, as, &cost);
    in[p] = !in[p];
    n += in[p] ? 1 : -1;
    Faulty f = judge(x.s);
    worst = (Faulty){MAX(worst.unsorted, f.unsorted), MAX(worst.wrong_offsets, f.wrong_offsets),
                     MAX(worst.wrong_mirrors, f.wrong_mirrors)};
    if (members_agree) expect_int(pg_members(x.s), ==, n);
    for (int q = 0; members_agree && q < c.max_connections; q++)
      if (in[q]) expect_int(pg_entry(x.s, pg_slot(x.s, q).offset).procno, ==, q);
  }
  g_rand_free(r);
  address_space_free(as);
  sample_clear(&x);
  return worst;
}

static void invariants_hold(void) {
  for (int version = 14; version <= 19; version++)
    for (OffsetsPlace where = OFFSETS_IN_PGPROC; where <= OFFSETS_SPLIT; where++)
      for (TouchMode touch = TOUCH_WORDS; touch <= TOUCH_RANGES; touch++) {
        PgConfig c = sample_config(version, 30);
        c.offsets = where;
        c.touch = touch;
        Faulty f = churn(c, 5, true);
        expect_int(f.unsorted + f.wrong_offsets + f.wrong_mirrors, ==, 0);
      }
  PgConfig c = sample_config(19, 30);
  c.order = ORDER_UNSORTED;
  Faulty f = churn(c, 5, true);
  expect_int(f.wrong_offsets + f.wrong_mirrors, ==, 0);
}

static void deviations_break(void) {
  static const struct {
    PgStep step;
    StepDeviation how;
    bool order, offsets, mirrors;
  } cases[] = {
      {PGSTEP_SEARCH, STEP_SKIP, true, false, false},           {PGSTEP_STORE_OFFSETS, STEP_SKIP, false, true, false},
      {PGSTEP_STORE_OWN_OFFSET, STEP_SKIP, false, true, false}, {PGSTEP_MOVE_XIDS, STEP_SKIP, false, false, true},
      {PGSTEP_MOVE_SUBXIDS, STEP_SKIP, false, false, true},     {PGSTEP_MOVE_STATUS, STEP_SKIP, false, false, true},
      {PGSTEP_MOVE_STATUS, STEP_TWICE, false, false, true},     {PGSTEP_MOVE_PGPROCNOS, STEP_SKIP, true, false, false},
      {PGSTEP_REMOVE, STEP_SKIP, true, false, false},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    PgConfig c = sample_config(19, 30);
    c.steps[cases[i].step] = cases[i].how;
    Faulty f = churn(c, 5, false);
    if (cases[i].order) expect_int(f.unsorted, >, 0);
    if (cases[i].offsets) expect_int(f.wrong_offsets, >, 0);
    if (cases[i].mirrors) expect_int(f.wrong_mirrors, >, 0);
  }
}

/* ---- the ways of counting agree, operation by operation ---- */

static void same_cost(const PgCost *a, const PgCost *b, const char *what, int step) {
  for (PgField f = 0; f < PGF_COUNT; f++)
    if (memcmp(&a->use[f], &b->use[f], sizeof a->use[f]) != 0) {
      fprintf(stderr, "%s, step %d: %s differs: faults %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT "\n", what, step,
              pg_field_name(f), a->use[f].touch.write_faults + a->use[f].touch.read_faults,
              b->use[f].touch.write_faults + b->use[f].touch.read_faults);
      CU_FAIL("costs differ");
      return;
    }
  expect(memcmp(a, b, sizeof *a) == 0);
}

enum { LIVE = 48, STEPS = 300 };

/* One operation of a random history on one of the samples. procno, and who does it, are the same for all. */
static int act(Sample *x, AddressSpace *as, int live, PgCost *c) {
  PgShared *s = x->s;
  if (live >= 0) {
    proc_signal_write(s, live, as, c);
    backend_status_write(s, live, true, as, c);
    sinval_remove(s, live, as, c);
    sample_leave(x, live, as, c);
    return live;
  }
  int p = sample_connect(x, as, c);
  sinval_add(s, p, as, c);
  procarray_scan(s, as, c);
  backend_status_write(s, p, false, as, c);
  return p;
}

static void ways_agree_on(const PgConfig *base, const MemoryConfig *m, const char *what) {
  Sample x[3];
  AddressSpace *as[3][LIVE];
  int procno[LIVE];
  for (int w = 0; w < 3; w++) {
    PgConfig c = *base;
    c.touch = w == 0 ? TOUCH_WORDS : w == 1 ? TOUCH_RANGES : TOUCH_AUTO;
    x[w] = sample_on(&c, m);
    for (int i = 0; i < LIVE; i++) as[w][i] = sample_process(&x[w]), procno[i] = -1;
  }
  expect(pg_shared_words(x[0].s));
  GRand *r = g_rand_new_with_seed(11);
  for (int step = 0; step < STEPS; step++) {
    int i = g_rand_int_range(r, 0, LIVE), p[3];
    PgCost c[3] = {0};
    for (int w = 0; w < 3; w++) {
      if (procno[i] < 0) address_space_reset(as[w][i], ++x[w].owners);
      p[w] = act(&x[w], as[w][i], procno[i], &c[w]);
    }
    same_cost(&c[0], &c[1], what, step);
    same_cost(&c[0], &c[2], what, step);
    expect(p[0] == p[1] && p[0] == p[2]);
    procno[i] = procno[i] < 0 ? p[0] : -1;
  }
  for (int i = 0; i < pg_members(x[0].s); i++) expect_int(pg_entry(x[0].s, i).procno, ==, pg_entry(x[1].s, i).procno);
  g_rand_free(r);
  for (int w = 0; w < 3; w++) {
    for (int i = 0; i < LIVE; i++) address_space_free(as[w][i]);
    sample_clear(&x[w]);
  }
}

static void ways_agree(void) {
  const MemoryConfig machines[] = {plain,
                                   around,
                                   huge,
                                   {.page_size = 4096, .fault_around = 65536, .lines = true},
                                   {.page_size = 4096, .tlb_l1 = 16, .tlb_l2 = 64, .lines = true}};
  for (int version = 14; version <= 19; version++)
    for (guint m = 0; m < G_N_ELEMENTS(machines); m++)
      for (OffsetsPlace where = OFFSETS_IN_PGPROC; where <= OFFSETS_NONE; where++)
        for (int variant = 0; variant < 3; variant++) {
          PgConfig c = sample_config(version, 1100); /* beyond what TOUCH_AUTO takes word by word */
          c.offsets = where;
          c.array_phase = 128 * 37;
          c.read_before_write = variant == 1;
          if (variant == 2) c.take = TAKE_LOWEST;
          g_autofree char *what =
              g_strdup_printf("version %d, machine %u, offsets %d, variant %d", version, m, (int)where, variant);
          ways_agree_on(&c, &machines[m], what);
        }
}

/* Prepared transactions and the like: higher numbers than any client's, so always behind it. */
static void constant_tail(void) {
  PgConfig c = sample_config(19, 10);
  c.max_prepared_transactions = 2;
  Sample x = sample(&c);
  AddressSpace *as = sample_process(&x);
  PgCost cost = {0};
  static const PgPool pools[] = {PG_AUTOVACUUM, PG_BGWORKERS, PG_PREPARED};
  for (guint i = 0; i < G_N_ELEMENTS(pools); i++)
    procarray_add(x.s, slot_take(x.s, pools[i], PG_BACKGROUND, as, &cost), as, &cost);
  for (int i = 0; i < 10; i++) {
    cost = (PgCost){0};
    expect_int(procarray_add(x.s, slot_take(x.s, PG_BACKENDS, 1, as, &cost), as, &cost), ==, i);
    expect_int(cost.followers, ==, 3);
  }
  address_space_free(as);
  sample_clear(&x);
}

int main(void) {
  return suite_run("procarray", (const Case[]){{"counts, descending", counts_descending},
                                               {"counts, ascending", counts_ascending},
                                               {"faults, descending", faults_descending},
                                               {"faults, random", faults_random},
                                               {"read before write", read_before_write},
                                               {"huge pages", huge_pages},
                                               {"split pgxactoff", split},
                                               {"before 14", before_14},
                                               {"unsorted", unsorted},
                                               {"invariants hold", invariants_hold},
                                               {"deviations break them", deviations_break},
                                               {"words and ranges agree", ways_agree},
                                               {"constant tail", constant_tail},
                                               {0}});
}
