/* Slots, places, followers and page faults of whole runs against a second implementation (oracle.h): step by step in
 * the trace, and in total in the metrics. Zero differences are allowed. */
#include "tests/oracle_follow.h"
#include "tests/storm_run.h"
#include <glib/gstdio.h>
#include <unistd.h>

/* ---- a run and its totals ---- */
static void compare_totals(const Oracle *o, const RunResult *r, int iterations, Verdict *v) {
  for (int k = 1; k <= iterations; k++) {
    const OracleTally *t = &o->tally[k];
    const struct {
      const char *name;
      int64_t value;
    } all[] = {{"connect_faults", t->connect_faults},
               {"allprocs_faults", t->allprocs_faults},
               {"disconnect_faults", t->disconnect_faults},
               {"pgxactoff_stores", t->stores},
               {"entries_moved", t->moved},
               {"entries_moved_out", t->moved_out}};
    for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
      const double saw = storm_metric(r, k, all[i].name);
      if (saw == (double)all[i].value || (oracle_blind(o) && strstr(all[i].name, "connect_faults"))) continue;
      if (v->differences++ < 8 && !v->silent)
        fprintf(stderr, "iteration[%d].%s is %g, by the oracle %" G_GINT64_FORMAT "\n", k, all[i].name, saw,
                all[i].value);
    }
  }
}

static const char *const array_variant[] = {"dense-arrays", "split-pgxactoff", "pre-14", "unsorted"};

/* The scenario that `g` describes, with more overrides, followed by the oracle that `believed` describes. */
static Verdict differences(const OracleGiven *g, const OracleGiven *believed, int iterations, const char *more,
                           bool silent) {
  g_autofree char *path = NULL;
  close(g_file_open_tmp("oracle-XXXXXX", &path, NULL));
  g_autoptr(RunResult) r =
      storm_run(path,
                "postgres.version=%d;postgres.max_connections=%d;workload.clients=%d;workload.between_iterations=%d;"
                "workload.iterations=%d;postgres.pgproc.phase=%dB;machine.page_size=%s;machine.fault_around=%dKiB;"
                "postgres.variant=%s;"
                "postgres.background=%s;postgres.free_list.take=%s;postgres.proc_array.read_before_write=%s;%s",
                g->version, g->conns, g->clients, g->between, iterations, (int)g->phase,
                g->page == 4096 ? "4KiB" : "2MiB", (int)(g->around / 1024), array_variant[g->array],
                g->background ? "stock" : "none", g->lowest ? "lowest" : "head", g->loads ? "true" : "false", more);
  g_autoptr(Oracle) o = oracle_new(believed);
  Verdict v = {.silent = silent};
  follow_trace(o, path, &v);
  compare_totals(o, r, iterations, &v);
  g_unlink(path);
  return v;
}

static void agree(OracleGiven g, int iterations, const char *more) {
  Verdict v = differences(&g, &g, iterations, more, false);
  expect_int(v.differences, ==, 0);
  expect(v.steps >= 10 * g.clients * iterations);
  if (v.differences)
    fprintf(stderr, "  version %d, %d of %d, phase %d, around %d, %s%s%s; %s\n", g.version, g.clients, g.conns,
            (int)g.phase, (int)g.around, array_variant[g.array], g.lowest ? ", lowest" : "", g.loads ? ", loads" : "",
            more);
}

static OracleGiven given(int version) {
  return (OracleGiven){
      .version = version, .conns = 140, .clients = 60, .between = 5, .page = 4096, .around = 65536, .background = true};
}

/* Every version, fault-around on and off, exit order, with and without what is in the background. */
static void every_version_and_exit_order(void) {
  static const char *const exits[] = {"workload.exit_order=random", "workload.exit_order=in-order",
                                      "workload.exit_order={window: 8}"};
  for (int version = 14; version <= 19; version++)
    for (int i = 0; i < 6; i++) {
      OracleGiven g = given(version);
      if (i % 2) g.around = 0;
      g.background = i != 4 && i != 1;
      agree(g, 4, exits[i / 2]);
    }
}

/* The array may begin anywhere in 64 KiB; followers then straddle pages and windows otherwise. */
static void any_phase(void) {
  static const int phases[] = {64, 4032, 2176, 20480 + 1024, 61440 + 128, 65408};
  for (int version = 14; version <= 19; version++)
    for (guint i = 0; i < G_N_ELEMENTS(phases); i++) {
      OracleGiven g = given(version);
      g.phase = (uint64_t)(version == 19 ? phases[i] / 128 * 128 : phases[i]);
      g.around = i % 2 ? 65536 : 0;
      agree(g, 3, "");
    }
}

static void window_sizes(void) {
  for (int kib = 4; kib <= 1024; kib *= 4) {
    OracleGiven g = given(kib == 16 ? 16 : 18);
    g.around = (uint64_t)kib * 1024;
    agree(g, 3, "");
    g.loads = true;
    agree(g, 3, "");
  }
}

static void every_array(void) {
  for (int version = 14; version <= 19; version++)
    for (OracleArray array = ARRAY_SPLIT; array <= ARRAY_UNSORTED; array++)
      for (int around = 0; around <= 65536; around += 65536) {
        OracleGiven g = given(version);
        g.array = array;
        g.around = (uint64_t)around;
        g.phase = 4096 - 128;
        agree(g, 4, "");
      }
}

static void other_policies(void) {
  for (int version = 14; version <= 19; version++)
    for (int around = 0; around <= 65536; around += 65536) {
      OracleGiven g = given(version);
      g.around = (uint64_t)around;
      g.loads = true;
      agree(g, 4, "");
      g.lowest = true;
      agree(g, 3, "");
      g.loads = false;
      agree(g, 3, "");
    }
}

static void huge_pages(void) {
  for (int version = 14; version <= 19; version++) {
    OracleGiven g = given(version);
    g.page = 2 << 20;
    g.conns = 600;
    g.around = 0;
    agree(g, 2, "");
  }
}

static void larger(void) {
  for (int version = 14; version <= 19; version++) {
    OracleGiven g = given(version);
    g.conns = 600;
    g.clients = 200;
    g.phase = 1024;
    g.around = version % 2 ? 0 : 65536;
    agree(g, 5, "workload.threads=6"); /* connects that overtake each other */
  }
}

static void smallest(void) {
  for (int version = 14; version <= 19; version++)
    for (int clients = 1; clients <= 5; clients++) {
      OracleGiven g = given(version);
      g.clients = clients;
      g.conns = 5; /* every slot in use */
      g.between = clients - 1;
      agree(g, 5, "");
    }
}

static void ways_of_touching(void) {
  for (int version = 14; version <= 19; version++)
    for (OracleArray array = ARRAY_DENSE; array <= ARRAY_PRE_14; array++) {
      OracleGiven g = given(version);
      g.array = array;
      g.phase = 896;
      g.loads = version % 2;
      agree(g, 3, "machine.touch=words");
      agree(g, 3, "machine.touch=ranges");
    }
}

/* ---- can it fail? ---- */
static void differ(const OracleGiven *g, const OracleGiven *believed, const char *more, const char *what) {
  Verdict v = differences(g, believed, 3, more, true);
  expect_int(v.differences, >, 0);
  if (!v.differences) fprintf(stderr, "  not seen: %s\n", what);
}

/* An oracle that believes what is not so. Each is one small error of a model. The array begins where the offset of
 * every 64th slot is the last word of a page. */
static void wrong_beliefs(void) {
  OracleGiven g = given(18), b;
  g.phase = 4096 - (832 - 40); /* what InitProcess fills of the first PGPROC ends with a page */
  g.around = 0;
  b = g, b.phase += 4;
  differ(&g, &b, "", "an array four bytes aside");
  g.around = 65536;
  b = g, b.around = 32768;
  differ(&g, &b, "", "half a window");
  b = g, b.loads = true;
  differ(&g, &b, "", "a load before each store");
  b = g, b.lowest = true;
  differ(&g, &b, "", "another slot given");
  b = g, b.background = false;
  differ(&g, &b, "", "nobody behind the clients");
  b = g, b.array = ARRAY_SPLIT;
  differ(&g, &b, "", "offsets elsewhere");
  b = g, b.version = 19, b.phase = 3200;
  differ(&g, &b, "", "64 bytes more a slot");
  b = g, b.version = 16;
  differ(&g, &b, "", "a list the other way round");
}

/* The product with a step left out or done twice (postgres.steps). push_free=twice is not among them: a doubly linked
 * list's tail then points at itself until the next push mends it, and no count shows it (a check does). */
static void deviating_product(void) {
  static const char *const steps[] = {"pop_free=twice", "push_free=skip", "search=skip", "store_offsets=skip",
                                      "remove=skip"};
  const OracleGiven g = given(18);
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    g_autofree char *set = g_strdup_printf("postgres.steps.%s", steps[i]);
    differ(&g, &g, set, set);
  }
}

int main(void) {
  return suite_run("counts", (const Case[]){{"every version and exit order", every_version_and_exit_order},
                                            {"any phase", any_phase},
                                            {"window sizes", window_sizes},
                                            {"every array", every_array},
                                            {"other policies", other_policies},
                                            {"huge pages", huge_pages},
                                            {"larger, six threads", larger},
                                            {"smallest", smallest},
                                            {"ways of touching", ways_of_touching},
                                            {"an oracle that is wrong", wrong_beliefs},
                                            {"a product that deviates", deviating_product},
                                            {0}});
}
