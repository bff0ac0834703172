/* test_compare.c - verdicts, gates, exit statuses and curves of comparisons whose figures are given; where a side's
 * word leads; what is proved of a run whose seed decides nothing. */
#include "sim/compare_curves.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/suite.h"
#include "sim/side.h"
#include "tests/compared.h"
#include <json-glib/json-glib.h>
#include <math.h>

static char **dirs;
static const Check sorted = {.name = "proc-array-sorted"}, owned = {.name = "slot-owned-once"};

static void begin(Compared *c, guint repeat) {
  compared_init(c, (const char *const *)dirs, NULL, repeat);
}

static const ComparedCase *first_of(const Comparison *c) {
  return c->cases->pdata[0];
}

/* ---- by figures ---- */

static const double about_100[] = {99, 101, 100, 98, 102, 100}, about_90[] = {89, 91, 90, 88, 92, 90},
                    about_101[] = {100, 102, 101, 99, 103, 101}, scattered[] = {90, 118, 95, 116, 91, 120};

static void verdict_of_figures(const char *metric, const double *old, const double *new, CompareVerdict wanted,
                               bool settled) {
  Compared c;
  begin(&c, 6);
  compared_values(&c, 0, metric, old, new);
  g_autoptr(Comparison) k = compare(&c.in);
  expect_str(compare_verdict_word(first_of(k)->verdict), compare_verdict_word(wanted));
  expect_int(first_of(k)->settled, ==, settled);
  expect_str(first_of(k)->metric, metric);
  expect_int(compare_exit(k), ==, 0);
  compared_clear(&c);
}

static void figures(void) {
  verdict_of_figures("warm.connect_ms", about_100, about_90, COMPARED_BETTER, true);
  verdict_of_figures("warm.connect_ms", about_90, about_100, COMPARED_WORSE, true);
  verdict_of_figures("warm.connect_ms", about_100, about_101, COMPARED_SAME, true);
  verdict_of_figures("warm.connect_ms", about_100, about_100, COMPARED_SAME, true);
  /* Pairs differ by -11 % to +20 %, 5 % in the mean: six of them do not show that it is beyond 2 %, nor that it is not.
   */
  verdict_of_figures("warm.connect_ms", about_100, scattered, COMPARED_SAME, false);
}

/* By hand: (90 - 100) / 100, each pair differing by the same 10, so d has no spread to be measured by. */
static void the_figures_themselves(void) {
  Compared c;
  begin(&c, 6);
  compared_values(&c, 0, "warm.connect_ms", about_100, about_90);
  g_autoptr(Comparison) k = compare(&c.in);
  const ComparedCase *k0 = first_of(k);
  expect_int(k0->pairs->len, ==, 6);
  expect_int(g_array_index(k0->pairs, ComparedPair, 5).seed, ==, 10);
  expect_near(k0->mean[SIDE_BASELINE], 100, 1e-12);
  expect_near(k0->mean[SIDE_PATCH], 90, 1e-12);
  expect(k0->relative && !k0->has_effect && !k0->alone);
  expect_near(k0->interval.value, -0.1, 1e-12);
  expect(k0->interval.low >= -10.0 / 98 && k0->interval.high <= -10.0 / 102);
  compared_clear(&c);
}

static void threshold_decides(void) {
  for (guint i = 0; i < 3; i++) {
    Compared c;
    begin(&c, 6);
    c.in.threshold = (const double[]){0.05, 0.2, 0}[i];
    compared_values(&c, 0, "warm.connect_ms", about_100, about_90);
    g_autoptr(Comparison) k = compare(&c.in);
    expect_str(compare_verdict_word(first_of(k)->verdict), i == 1 ? "same" : "better");
    compared_clear(&c);
  }
}

static void more_is_better(void) {
  Compared c;
  begin(&c, 6);
  c.in.metric = "first.tps";
  compared_values(&c, 0, "warm.connect_ms", about_100, about_100);
  compared_values(&c, 0, "first.tps", about_90, about_100);
  g_autoptr(Comparison) k = compare(&c.in);
  expect_str(first_of(k)->metric, "first.tps");
  expect_str(compare_verdict_word(first_of(k)->verdict), "better");
  expect(metric_higher_is_better("pool[p].served") && metric_higher_is_better("tps") &&
         !metric_higher_is_better("queries.refused") && !metric_higher_is_better("first.refused"));
  compared_clear(&c);
}

/* Nothing is a share of nothing: differences decide. */
static void baseline_of_nothing(void) {
  static const double none[] = {0, 0, 0, 0, 0, 0}, some[] = {3, 3, 4, 5, 3, 3};
  verdict_of_figures("first.connect_ms", none, some, COMPARED_WORSE, true);
  verdict_of_figures("first.connect_ms", some, none, COMPARED_BETTER, true);
  verdict_of_figures("first.connect_ms", none, none, COMPARED_SAME, true);
}

static void usual_metrics(void) {
  static const char *const order[] = {"latency_avg_ms", "first.latency_avg_ms", "wait_ms.p95", "first.connect_ms",
                                      "warm.connect_ms"};
  Compared c;
  begin(&c, 6);
  for (guint i = 0; i < G_N_ELEMENTS(order); i++) { /* each takes precedence of those before */
    compared_values(&c, 0, order[i], about_100, about_90);
    g_autoptr(Comparison) k = compare(&c.in);
    expect_str(first_of(k)->metric, order[i]);
  }
  compared_clear(&c);
}

/* ---- by checks ---- */

/* Verdict and exit status when each side's second and fifth seeds have this verdict of a check; the second is told. */
static void verdict_of_checks(CheckVerdict old, CheckVerdict new, const char *wanted, int status) {
  Compared c;
  begin(&c, 6);
  compared_values(&c, 0, "warm.connect_ms", about_100, about_100);
  for (Side s = 0; s < SIDES; s++)
    for (guint seed = 0; seed < 6; seed++) {
      const CheckVerdict v = seed == 1 || seed == 4 ? s == SIDE_PATCH ? new : old : CHECK_NOT_VIOLATED;
      compared_violation(compared_result(&c, 0, s, seed), &owned, CHECK_NOT_VIOLATED, NULL);
      compared_violation(compared_result(&c, 0, s, seed), &sorted, v,
                         v != CHECK_VIOLATED ? NULL
                         : seed == 1         ? "3 before 2"
                                             : "9 before 8");
    }
  g_autoptr(Comparison) k = compare(&c.in);
  const ComparedCase *k0 = first_of(k);
  expect_str(compare_verdict_word(k0->verdict), wanted);
  expect_int(compare_exit(k), ==, status);
  expect_int(k0->checks->len, ==, 2);
  const ComparedCheck *row = &g_array_index(k0->checks, ComparedCheck, 1);
  expect(row->verdict[SIDE_BASELINE] == old && row->verdict[SIDE_PATCH] == new);
  if (new == CHECK_VIOLATED) expect(row->seed[SIDE_PATCH] == 6 && k0->pairs->len == 4);
  if (new == CHECK_VIOLATED || old == CHECK_VIOLATED) expect(k0->why && strstr(k0->why, "seed 6: 3 before 2"));
  compared_clear(&c);
}

static void checks(void) {
  verdict_of_checks(CHECK_NOT_VIOLATED, CHECK_VIOLATED, "broken", 1);
  verdict_of_checks(CHECK_VIOLATED, CHECK_NOT_VIOLATED, "better", 0);
  verdict_of_checks(CHECK_VIOLATED, CHECK_VIOLATED, "incomplete", 3);
  verdict_of_checks(CHECK_NOT_VIOLATED, CHECK_UNKNOWN, "same", 0);
}

/* A patch that deadlocks breaks, though no check says so. */
static void deadlocks(void) {
  for (Side s = 0; s < SIDES; s++) {
    Compared c;
    begin(&c, 6);
    compared_values(&c, 0, "warm.connect_ms", about_100, about_100);
    compared_result(&c, 0, s, 2)->stopped = g_strdup("deadlock: nothing can go on");
    g_autoptr(Comparison) k = compare(&c.in);
    expect_str(compare_verdict_word(first_of(k)->verdict), s == SIDE_PATCH ? "broken" : "better");
    expect(strstr(first_of(k)->why, "seed 7: deadlock"));
    compared_clear(&c);
  }
}

/* ---- what is missing ---- */

static void unfinished_pairs(void) {
  Compared c;
  begin(&c, 6);
  compared_values(&c, 0, "warm.connect_ms", about_100, about_90);
  g_clear_pointer(&c.results->pdata[sweep_point(c.plan, 0, SIDE_PATCH, 3)], run_result_free);
  g_autoptr(Comparison) some = compare(&c.in);
  expect_int(first_of(some)->pairs->len, ==, 5);
  expect_near(first_of(some)->interval.level, 0.9375, 1e-12);
  for (guint point = 0; point < c.results->len; point++) g_clear_pointer(&c.results->pdata[point], run_result_free);
  c.in.interrupted = true;
  g_autoptr(Comparison) none = compare(&c.in);
  expect_str(compare_verdict_word(first_of(none)->verdict), "incomplete");
  expect_str(first_of(none)->why, "no pair of runs has finished");
  expect_int(compare_exit(none), ==, 130);
  compared_clear(&c);
}

static void no_metric_in_common(void) {
  Compared c;
  begin(&c, 1);
  compared_metric(compared_result(&c, 0, SIDE_BASELINE, 0), "warm.connect_ms", 1);
  compared_result(&c, 0, SIDE_PATCH, 0);
  g_autoptr(Comparison) k = compare(&c.in);
  expect_str(compare_verdict_word(first_of(k)->verdict), "incomplete");
  expect_int(compare_exit(k), ==, 3);
  compared_clear(&c);
}

/* One seed: its change is told, but nothing is sure of it unless the seed decides nothing. */
static void one_seed(void) {
  for (guint seeded = 0; seeded < 2; seeded++) {
    Compared c;
    begin(&c, 1);
    compared_values(&c, 0, "warm.connect_ms", about_100, about_90);
    for (guint i = 0; i < 2; i++) ((RunResult *)c.results->pdata[i])->seeded = seeded;
    g_autoptr(Comparison) k = compare(&c.in);
    g_autofree char *words = compare_interval_words(first_of(k));
    expect_int(first_of(k)->alone, ==, !seeded);
    expect_int(first_of(k)->settled, ==, !seeded);
    expect_str(words, seeded ? "one seed: unknown" : "zero variance: one run says it");
    compared_clear(&c);
  }
}

/* ---- hot spots ---- */

static void hot_spots(void) {
  Compared c;
  begin(&c, 2);
  for (guint seed = 0; seed < 2; seed++) {
    RunResult *old = compared_result(&c, 0, SIDE_BASELINE, seed), *new = compared_result(&c, 0, SIDE_PATCH, seed);
    compared_spot(old, "PGPROC", "ProcArrayAdd", 100 + 2 * seed, 10);
    compared_spot(old, "xids", "GetSnapshotData", 50, 30);
    compared_spot(new, "xids", "GetSnapshotData", 50, 30);
    compared_spot(old, "status", "pgstat", 7, 1);
    compared_spot(new, "status", "pgstat", 0, 1);
    compared_spot(old, "tiny", "somewhere", 1, 0.001);
    compared_spot(new, "offsets", "ProcArrayAdd", 4, 3);
  }
  g_autoptr(Comparison) k = compare(&c.in);
  const GArray *spots = first_of(k)->spots;
  static const struct {
    const char *structure, *word;
  } rows[] = {
      {"PGPROC", "vanished"}, {"offsets", "appeared"}, {"tiny", NULL}, {"status", "faults no more"}, {"xids", NULL}};
  CU_ASSERT_FATAL(spots->len == G_N_ELEMENTS(rows));
  for (guint i = 0; i < spots->len; i++) {
    const ComparedSpot *s = &g_array_index(spots, ComparedSpot, i);
    expect_str(s->structure, rows[i].structure);
    expect_str(compare_spot_word(first_of(k), s), rows[i].word);
  }
  expect_near(g_array_index(spots, ComparedSpot, 0).faults[SIDE_BASELINE], 101, 1e-12); /* mean of 100 and 102 */
  compared_clear(&c);
}

/* ---- gates ---- */

static void gates_are_met(void) {
  static const struct {
    const char *text;
    double baseline, patch;
    bool met;
  } cases[] = {{"warm.connect_ms <= +2%", 100, 102, true},
               {"warm.connect_ms <= +2%", 100, 102.1, false},
               {"warm.connect_ms<=+2 %", 100, 90, true},
               {" warm.connect_ms  <  -10% ", 100, 90, false},
               {"warm.connect_ms < -9.5%", 100, 90, true},
               {"first.tps >= -1%", 100, 99, true},
               {"first.tps > +0%", 100, 100, false},
               {"warm.connect_ms <= 0.5s", 900, 500, true},
               {"warm.connect_ms <= 500ms", 100, 501, false},
               {"first.refused = 0", 5, 0, true},
               {"first.refused = 0", 0, 1, false},
               {"first.refused <= +0%", 0, 0, true},
               {"first.refused <= +50%", 0, 1, false},
               {"warm.pagetable_kib < 1MiB", 0, 1023, true},
               {"warm.pagetable_kib < 1MiB", 0, 1024, false},
               {"first.tps >= 100/s", 0, 100, true},
               {"jain > 0.9", 0, 0.95, true},
               {"iteration[3].connect_ms = -0%", 7, 7, true}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Gate) g = gate_parse(cases[i].text, &error);
    if (!g) fprintf(stderr, "%s: %s\n", cases[i].text, error->message);
    CU_ASSERT_FATAL(g != NULL);
    if (gate_met(g, cases[i].baseline, cases[i].patch) != cases[i].met)
      expect_str(cases[i].text, cases[i].met ? "met" : "not met");
  }
}

static void gates_are_refused(void) {
  static const char *const cases[][2] = {
      {"", "gate:1: a metric's name is missing"},
      {"<= +2%", "gate:1: a metric's name"},
      {"warm.conect_ms <= +2%", "gate:1: no metric warm.conect_ms; the nearest is warm.connect_ms"},
      {"warm.connect_ms", "gate:16: an operator is missing"},
      {"warm.connect_ms != 3ms", "gate:17: an operator is missing"},
      {"warm.connect_ms <=", "gate:19: a value is missing"},
      {"warm.connect_ms <= 2%", "gate:20: 2% has no sign"},
      {"warm.connect_ms <= +-2%", "gate:20: +-2% is no percentage"},
      {"warm.connect_ms <= +%", "gate:20: +% is no percentage"},
      {"warm.connect_ms <= 500", "gate:20: 500 has no unit"},
      {"warm.connect_ms <= 500KiB", "gate:20: 500KiB"},
      {"first.tps >= 100", "gate:14: 100 has no unit"},
      {"first.refused = 0ms", "gate:17: 0ms"},
      {"warm.connect_ms <= +2% or less", "gate:20: +2% or less"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Gate) g = gate_parse(cases[i][0], &error);
    expect(!g && error && error->domain == SCENARIO_ERROR);
    if (error && !g_str_has_prefix(error->message, cases[i][1])) expect_str(error->message, cases[i][1]);
  }
}

static void thresholds(void) {
  double share = 7;
  expect(gate_share("2%", &share) && fabs(share - 0.02) < 1e-15);
  expect(gate_share("0.5 %", &share) && fabs(share - 0.005) < 1e-15);
  expect(!gate_share("2", &share) && !gate_share("-1%", &share) && !gate_share("%", &share) && !gate_share("", &share));
}

/* A gate is judged where its metric is; one that is lost on a side cannot be. */
static void gates_and_exit(void) {
  static const struct {
    const char *text;
    guint judged;
    int status;
  } cases[] = {{"warm.connect_ms <= -5%", 1, 0},
               {"warm.connect_ms <= -15%", 1, 1},
               {"first.refused = 0", 0, 0},
               {"first.tps > 1/s", 1, 3}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Compared c;
    begin(&c, 6);
    compared_values(&c, 0, "warm.connect_ms", about_100, about_90);
    compared_metric(compared_result(&c, 0, SIDE_BASELINE, 0), "first.tps", 5);
    g_ptr_array_add(c.in.gates, gate_parse(cases[i].text, NULL));
    g_autoptr(Comparison) k = compare(&c.in);
    expect_int(k->gates->len, ==, cases[i].judged);
    expect_int(compare_exit(k), ==, cases[i].status);
    compared_clear(&c);
  }
}

/* ---- sides ---- */

static void sides(void) {
  static const char *const cases[][2] = {{"split-pgxactoff", "postgres.variant=[split-pgxactoff]"},
                                         {"huge-pages+unsorted", "postgres.variant=[huge-pages, unsorted]"},
                                         {"no-such-thing", "postgres.variant=[no-such-thing]"},
                                         {"postgres-16", "postgres.version=16"},
                                         {"pgdog-0.1.54", "pooler.preset=pgdog-0.1.54"},
                                         {"./Makefile", "subject=%s"},
                                         {"mine.so", "subject=%s"},
                                         {"sim/side.c", "subject=%s"},
                                         {"machine.cores=4", "machine.cores=4"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
    expect(side_apply(cases[i][0], (const char *const *)dirs, sets, NULL) && sets->len == 1);
    if (sets->len && !strstr(cases[i][1], "%s")) expect_str(sets->pdata[0], cases[i][1]);
    if (!sets->len || !strstr(cases[i][1], "%s")) continue;
    g_autofree char *path = g_canonicalize_filename(cases[i][0], NULL); /* from the working directory */
    g_autofree char *wanted = g_strconcat("subject=\"", path, "\"", NULL);
    expect_str(sets->pdata[0], wanted);
  }
  g_autoptr(GPtrArray) none = g_ptr_array_new();
  g_autoptr(GError) error = NULL;
  expect(!side_apply("", (const char *const *)dirs, none, &error) && error);
  g_clear_error(&error);
  expect(!side_apply("./no/such.so", (const char *const *)dirs, none, &error) && error);
}

/* ---- the seed ---- */

static RunResult *run(const char *exit_order, const char *ties, const char *seed) {
  g_autofree char *order = g_strconcat("workload.exit_order=", exit_order, NULL),
                  *rule = g_strconcat("ties=", ties, NULL);
  const char *const sets[] = {order, rule, NULL};
  ScenarioOptions o = {.dirs = (const char *const *)dirs, .sets = sets, .seed = seed, .metrics = metric_patterns()};
  g_autoptr(Scenario) s = scenario_from_text(compared_scenario, strlen(compared_scenario), "small", &o, NULL);
  CU_ASSERT_FATAL(s != NULL);
  return run_scenario(s, &(RunOptions){.command = "run"}, NULL);
}

/* Where a run says that its seed decided nothing, twenty others must give that very run. */
static void seed_that_decides_nothing(void) {
  g_autoptr(RunResult) one = run("in-order", "event_first", "1"), drawn = run("random", "event_first", "1"),
                       tied = run("in-order", "seeded", "1");
  expect(!one->seeded && drawn->seeded && tied->seeded);
  for (guint i = 2; i < 22; i++) {
    g_autofree char *seed = g_strdup_printf("%u", i);
    g_autoptr(RunResult) other = run("in-order", "event_first", seed);
    expect(!other->seeded && other->state_hash.lo == one->state_hash.lo && other->state_hash.hi == one->state_hash.hi);
    expect_int(other->virtual_ns, ==, one->virtual_ns);
    expect_int(other->steps, ==, one->steps);
  }
}

/* ---- reports ---- */

static char *report_of(const Compared *c, void (*fill)(const CompareReport *, Output *)) {
  g_autoptr(Comparison) k = compare(&c->in);
  CompareReport r = {.comparison = k, .subject = "small", .base = &c->base, .jobs = 1};
  g_autofree char *dir = g_dir_make_tmp("stampede-compare-XXXXXX", NULL), *path = g_build_filename(dir, "out", NULL);
  char *text = NULL;
  g_autoptr(Output) o = output_open(path, NULL);
  fill(&r, o);
  g_assert(output_commit(o, NULL) && g_file_get_contents(path, &text, NULL, NULL));
  g_assert(unlink(path) == 0 && rmdir(dir) == 0);
  return text;
}

/* json-glib is the second reader. */
static void json(void) {
  Compared c;
  begin(&c, 6);
  compared_values(&c, 0, "warm.connect_ms", about_100, about_90);
  g_ptr_array_add(c.in.gates, gate_parse("warm.connect_ms <= -5%", NULL));
  g_autofree char *text = report_of(&c, compare_json);
  g_autoptr(JsonNode) root = json_from_string(text, NULL);
  CU_ASSERT_FATAL(root != NULL && JSON_NODE_HOLDS_OBJECT(root));
  JsonObject *o = json_node_get_object(root);
  JsonObject *k = json_array_get_object_element(json_object_get_array_member(o, "cases"), 0);
  expect_str(json_object_get_string_member(k, "verdict"), "better");
  expect_near(json_object_get_double_member(k, "change"), -0.1, 1e-12);
  expect_near(json_object_get_double_member(k, "difference"), -10, 1e-12);
  expect(json_object_get_null_member(k, "effect"));
  expect_int(json_array_get_length(json_object_get_array_member(k, "pairs")), ==, 6);
  JsonObject *m = json_object_get_object_member(json_object_get_object_member(k, "metrics"), "warm.connect_ms");
  expect_near(json_object_get_double_member(m, "patch"), 90, 1e-12);
  JsonObject *gate = json_array_get_object_element(json_object_get_array_member(o, "gates"), 0);
  expect(json_object_get_boolean_member(gate, "met") && json_object_get_boolean_member(o, "complete"));
  expect_int(json_array_get_length(json_object_get_array_member(o, "series")), ==, 2); /* over seeds, a side each */
  compared_clear(&c);
}

/* Two lists: cores is no axis of clients, so a curve a side for each number of clients. */
static void curves(void) {
  Compared c;
  compared_init(&c, (const char *const *)dirs, (const char *const[]){"machine.cores=1,2", "workload.clients=2,4", NULL},
                2);
  for (guint i = 0; i < c.plan->combinations; i++) compared_values(&c, i, "warm.connect_ms", about_100, about_90);
  g_autoptr(Comparison) k = compare(&c.in);
  CompareReport r = {.comparison = k, .subject = "small", .base = &c.base, .jobs = 1};
  g_autoptr(ComparedCurves) all = compare_curves(&r);
  expect_str(all->x_key, "machine.cores");
  expect_str(all->y, "connect_ms");
  CU_ASSERT_FATAL(all->curves->len == 4);
  const ComparedCurve *last = all->curves->pdata[3];
  expect_str(last->label, "new, warm, clients=4");
  expect_int(last->points->len, ==, 2);
  expect_near(g_array_index(last->points, ComparedPoint, 1).x, 2, 0);
  expect_near(g_array_index(last->points, ComparedPoint, 1).mean, 90, 1e-12); /* of 89 and 91 */
  expect(compare_can_be_drawn(&r));
  compared_clear(&c);
}

/* A bar in a cell must not end it. */
static void markdown(void) {
  Compared c;
  begin(&c, 6);
  c.in.side[SIDE_PATCH] = "a|b";
  compared_values(&c, 0, "warm.connect_ms", about_100, about_90);
  compared_spot(compared_result(&c, 0, SIDE_PATCH, 0), "a|b", "f", 100, 5);
  g_autoptr(Comparison) k = compare(&c.in);
  CompareReport r = {.comparison = k, .subject = "small", .base = &c.base, .jobs = 1};
  g_autoptr(GString) text = g_string_new(NULL);
  compare_markdown(&r, text);
  expect(strstr(text->str, "| --- | --- | ---: | ---: | ---: | --- | ---: | --- | --- |\n"));
  expect(strstr(text->str, "| small | warm.connect_ms | 100 | 90 | -10.00 % |"));
  expect(strstr(text->str, "| a\\|b | f |"));
  compared_clear(&c);
}

/* Two programs, one of them on a clock of its own: where figures come from is told, and that a seed says nothing of the
 * next one. */
static void of_programs(void) {
  Compared c;
  begin(&c, 6);
  compared_values(&c, 0, "warm.connect_ms", about_100, about_90);
  RunResult *one = compared_result(&c, 0, SIDE_PATCH, 0);
  one->seeded = compared_result(&c, 0, SIDE_BASELINE, 0)->seeded = false;
  one->caveat = g_strdup("best effort: it is not gated");
  expect(compare_alone(c.plan, c.in.results, 0));
  one->real_clock = true;
  expect(!compare_alone(c.plan, c.in.results, 0));
  g_autoptr(Comparison) k = compare(&c.in);
  CompareReport r = {.comparison = k, .subject = "small", .command = "live --against", .figures = "two programs"};
  r.base = &c.base;
  g_autoptr(GString) text = g_string_new(NULL);
  compare_text(&r, text, false);
  expect(strstr(text->str, "  live --against small  baseline "));
  expect(strstr(text->str, "\ntwo programs; better and worse: "));
  expect(strstr(text->str, "\n  patch: best effort: it is not gated\n"));
  expect(!strstr(text->str, "baseline: best effort") && !strstr(text->str, "simulated"));
  compared_clear(&c);
}

/* ---- suites ---- */

static void bundled_suite(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(Suite) s = suite_load("proc-array", (const char *const *)dirs, &error);
  CU_ASSERT_FATAL(s != NULL);
  ScenarioOptions o = {.dirs = (const char *const *)dirs};
  expect(s->scenarios->len > 10 && !s->scenarios->pdata[s->scenarios->len - 1]);
  for (char **name = (char **)s->scenarios->pdata; *name; name++) {
    g_autoptr(Scenario) loaded = scenario_load(*name, &o, &error);
    expect(loaded != NULL);
  }
}

static void bad_suites(void) {
  static const char *const cases[][2] = {
      {"[]", "1:1: is a list"},
      {"suite: a\nscenario: [b]", "2:1: scenario: no such key in a suite; the nearest"},
      {"scenarios: [b]", "suite: the suite's name"},
      {"suite: a", "scenarios: must be a list"},
      {"suite: a\nscenarios: []", "2:12: scenarios: must be a list"},
      {"suite: a\nscenarios: [b, b]", "2:16: scenarios: b stands in it twice"},
      {"suite: a\nscenarios: [[b]]", "2:13: scenarios: is a list"}};
  g_autofree char *dir = g_dir_make_tmp("stampede-suite-XXXXXX", NULL), *path = g_build_filename(dir, "s.yaml", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert(g_file_set_contents(path, cases[i][0], -1, NULL));
    g_autoptr(Suite) s = suite_load(path, (const char *const *)dirs, &error);
    expect(!s && error && error->domain == SCENARIO_ERROR);
    if (error && !strstr(error->message, cases[i][1])) expect_str(error->message, cases[i][1]);
  }
  g_assert(unlink(path) == 0 && rmdir(dir) == 0);
}

/* What rounds to nothing has no sign, and what does not has one. */
static void no_direction_of_nothing(void) {
  static const struct {
    double share;
    const char *words;
  } cases[] = {
      {-0.000049, "0.00 %"}, {0.000049, "0.00 %"}, {-0.0, "0.00 %"}, {-0.000051, "-0.01 %"}, {0.000051, "+0.01 %"}};
  g_autoptr(GArray) pairs = g_array_new(FALSE, TRUE, sizeof(ComparedPair));
  g_array_set_size(pairs, 2);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    ComparedCase c = {.metric = "wait_ms.mean", .pairs = pairs, .relative = true};
    c.interval = (BootstrapInterval){cases[i].share, cases[i].share, cases[i].share + 1, 0.95};
    g_autofree char *change = compare_change_words(&c), *interval = compare_interval_words(&c);
    expect_str(change, cases[i].words);
    expect(!strstr(interval, "[-0.00,"));
  }
}

int main(void) {
  g_setenv("STAMPEDE_DATA", "sim", FALSE); /* the suites run in the top folder */
  dirs = asset_dirs(NULL);
  int status = suite_run("compare", (const Case[]){{"figures", figures},
                                                   {"the figures themselves", the_figures_themselves},
                                                   {"threshold decides", threshold_decides},
                                                   {"more is better", more_is_better},
                                                   {"baseline of nothing", baseline_of_nothing},
                                                   {"usual metrics", usual_metrics},
                                                   {"checks", checks},
                                                   {"deadlocks", deadlocks},
                                                   {"unfinished pairs", unfinished_pairs},
                                                   {"no metric in common", no_metric_in_common},
                                                   {"one seed", one_seed},
                                                   {"hot spots", hot_spots},
                                                   {"gates are met", gates_are_met},
                                                   {"gates are refused", gates_are_refused},
                                                   {"thresholds", thresholds},
                                                   {"gates and exit", gates_and_exit},
                                                   {"sides", sides},
                                                   {"seed that decides nothing", seed_that_decides_nothing},
                                                   {"json", json},
                                                   {"curves", curves},
                                                   {"markdown", markdown},
                                                   {"of_programs", of_programs},
                                                   {"bundled suite", bundled_suite},
                                                   {"bad suites", bad_suites},
                                                   {"no direction of nothing", no_direction_of_nothing},
                                                   {0}});
  g_strfreev(dirs);
  return status;
}
