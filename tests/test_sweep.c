/* test_sweep.c - lists, the order of points, the manifest, points written and read back, CSV, curves, errors of points.
 */
#include "sim/metrics.h"
#include "sim/scenario/assets.h"
#include "sim/sweep_report.h"
#include "sim/sweep_store.h"
#include "tests/harness.h"
#include <json-glib/json-glib.h>
#include <unistd.h>

static char **dirs;

/* ---- lists ---- */

static char *joined(const char *list) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) values = sweep_values(list, &error);
  if (!values) return g_strdup(error->message);
  g_ptr_array_add(values, NULL);
  return g_strjoinv(" ", (char **)values->pdata);
}

static void lists(void) {
  static const char *const cases[][2] = {
      {"512:8192:*2", "512 1024 2048 4096 8192"},
      {"512:8191:*2", "512 1024 2048 4096"},
      {"10:50:+10", "10 20 30 40 50"},
      {"10:49:+10", "10 20 30 40"},
      {"0:2:+1", "0 1 2"},
      {"7:7:+1", "7"},
      {"1,2,3", "1 2 3"},
      {" 1, 8:32:*2 ,5", "1 8 16 32 5"},
      {"4KiB:64KiB:*4", "4KiB 16KiB 64KiB"},
      {"1ms:3ms:+1ms", "1ms 2ms 3ms"},
      {"4KiB,2MiB,1GiB", "4KiB 2MiB 1GiB"},
      {"random,in-order", "random in-order"},
      {"{window: 64}", "{window: 64}"},
      {"[a, b]", "[a, b]"},
      {"none,{hold_until: [eof, 1s]},1:4:*2", "none {hold_until: [eof, 1s]} 1 2 4"},
      {"{a: {b: 1, c: 2}},{d: 3}", "{a: {b: 1, c: 2}} {d: 3}"},
      {"[1, 2],[3]", "[1, 2] [3]"},
      {"{a: 'x, {y'},z", "{a: 'x, {y'} z"},
      {"{a: \"x\\\", y}\"},z", "{a: \"x\\\", y}\"} z"},
      {"it's,that's", "it's that's"},
      {"{open, 1", "{open, 1"},
      {"\"a, b\"", "\"a, b\""},
      {"x:y", "x:y"},
      {"9223372036854775806:9223372036854775807:+1", "9223372036854775806 9223372036854775807"},
      {"4611686018427387904:9223372036854775807:*2", "4611686018427387904"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *saw = joined(cases[i][0]);
    expect_str(saw, cases[i][1]);
  }
}

/* All powers of two below 2^63, and not one that wraps. */
static void longest_doubling(void) {
  g_autoptr(GPtrArray) values = sweep_values("1:9223372036854775807:*2", NULL);
  expect(values && values->len == 63);
  if (values) expect_str(values->pdata[62], "4611686018427387904");
}

static void bad_lists(void) {
  static const char *const cases[][2] = {{"", "no value"},
                                         {"1,,2", "empty value"},
                                         {"1,2,", "empty value"},
                                         {"1,2,1", "1 stands in it twice"},
                                         {"4,1:8:*2", "4 stands in it twice"},
                                         {"8:512", "FROM:TO"},
                                         {"1:2:3:4", "FROM:TO"},
                                         {"1:8:2", "step is"},
                                         {"1:8:*x", "step is"},
                                         {"1:8:+-1", "step is"},
                                         {"1:8:*1.5", "step is"},
                                         {"1:8:*1", "never ends"},
                                         {"1:8:*0", "never ends"},
                                         {"1:8:+0", "never ends"},
                                         {"0:8:*2", "never ends"},
                                         {"8:1:*2", "goes up"},
                                         {"1KiB:8MiB:*2", "one unit"},
                                         {"1KiB:8KiB:*2KiB", "a factor none"},
                                         {"1ms:8ms:+1", "unit of the ends"},
                                         {"1.5:8:+1", "whole numbers"},
                                         {"1:9223372036854775808:*2", "below 2^63"},
                                         {"1:8:*99999999999999999999", "step is"},
                                         {"1:1000000000:+1", "more than 10000 values"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) values = sweep_values(cases[i][0], &error);
    expect(!values && error && error->domain == SCENARIO_ERROR);
    if (!error) expect_str("no error", cases[i][0]);
    if (error && !strstr(error->message, cases[i][1])) expect_str(error->message, cases[i][1]);
  }
}

/* ---- plans ---- */

static const char small[] = "scenario: small\n"
                            "seed: 5\n"
                            "postgres: {max_connections: 20, background: none}\n"
                            "workload: {kind: pgbench, clients: 4, iterations: 2}\n";

/* A scenario file of its own, in a folder that the test removes. */
static char *write_scenario(const char *text) {
  g_autofree char *dir = g_dir_make_tmp("stampede-sweep-XXXXXX", NULL);
  char *path = g_build_filename(dir, "small.yaml", NULL);
  g_assert(g_file_set_contents(path, text, -1, NULL));
  return path;
}

static void remove_tree(const char *path) {
  g_autoptr(GDir) d = g_dir_open(path, 0, NULL);
  const char *name;
  while (d && (name = g_dir_read_name(d))) {
    g_autofree char *child = g_build_filename(path, name, NULL);
    remove_tree(child);
  }
  g_assert(remove(path) == 0);
}

static ScenarioOptions base(void) {
  return (ScenarioOptions){.dirs = (const char *const *)dirs, .metrics = metric_patterns()};
}

static SweepPlan *plan_of(const char *text, const SweepRequest *r, GError **error) {
  g_autofree char *path = write_scenario(text), *dir = g_path_get_dirname(path);
  ScenarioOptions o = base();
  SweepPlan *p = sweep_plan((const char *const[]){path, NULL}, r, &o, error);
  remove_tree(dir);
  return p;
}

static SweepPlan *plan(const char *const *sets, const char *variants, gint64 repeat) {
  g_autoptr(GError) error = NULL;
  SweepPlan *p = plan_of(small, &(SweepRequest){.sets = sets, .variants = variants, .repeat = repeat}, &error);
  if (!p) fprintf(stderr, "%s\n", error->message);
  return p;
}

static const char *const two_lists[] = {"workload.clients=2,4", "workload.threads=1", "machine.cores=1,2", NULL};

/* The first list outermost, seeds innermost. */
static void order_of_points(void) {
  static const char *const names[] = {"clients=2 cores=1 dense-arrays seed 5", "clients=2 cores=1 dense-arrays seed 6",
                                      "clients=2 cores=1 unsorted seed 5",     "clients=2 cores=1 unsorted seed 6",
                                      "clients=2 cores=2 dense-arrays seed 5", "clients=2 cores=2 dense-arrays seed 6",
                                      "clients=2 cores=2 unsorted seed 5",     "clients=2 cores=2 unsorted seed 6",
                                      "clients=4 cores=1 dense-arrays seed 5", "clients=4 cores=1 dense-arrays seed 6",
                                      "clients=4 cores=1 unsorted seed 5",     "clients=4 cores=1 unsorted seed 6",
                                      "clients=4 cores=2 dense-arrays seed 5", "clients=4 cores=2 dense-arrays seed 6",
                                      "clients=4 cores=2 unsorted seed 5",     "clients=4 cores=2 unsorted seed 6"};
  g_autoptr(SweepPlan) p = plan(two_lists, "dense-arrays,unsorted", 2);
  CU_ASSERT_FATAL(p != NULL);
  expect_int(sweep_points(p), ==, G_N_ELEMENTS(names));
  for (guint i = 0; i < sweep_points(p); i++) {
    g_autofree char *name = sweep_point_name(p, i);
    expect_str(name, names[i]);
  }
}

/* What a point is loaded as: its own values, the plain override, the seed. */
static void points_are_loaded(void) {
  g_autoptr(SweepPlan) p = plan(two_lists, "huge-pages+unsorted", 2);
  CU_ASSERT_FATAL(p != NULL);
  ScenarioOptions o = {0}; /* no folder: everything is in the plan */
  g_autoptr(Scenario) s = sweep_load(p, 5, &o, NULL);
  CU_ASSERT_FATAL(s != NULL);
  expect_int(scenario_int(s, "workload.clients"), ==, 4);
  expect_int(scenario_int(s, "machine.cores"), ==, 1);
  expect_int(scenario_int(s, "workload.threads"), ==, 1);
  expect_int(scenario_seed(s), ==, 6);
  expect_int(scenario_bytes(s, "machine.page_size"), ==, 2 << 20);
  expect(scenario_is(s, "postgres.proc_array.order", "unsorted"));
}

static void columns_are_told_apart(void) {
  g_autoptr(SweepPlan) p = plan((const char *const[]){"postgres.pgproc.size=832B,896B", NULL}, NULL, 1);
  CU_ASSERT_FATAL(p != NULL);
  const SweptKey *k = p->keys->pdata[0];
  expect_str(k->name, "size");
  expect(k->numeric);
  expect_str(k->unit, "B");
  expect_near(g_array_index(k->x, double, 1), 896, 0);
  g_autoptr(SweepPlan) q = plan(
      (const char *const[]){"postgres.free_list.take=head,lowest", "postgres.free_list.give=head,tail", NULL}, NULL, 1);
  CU_ASSERT_FATAL(q != NULL);
  expect(!((SweptKey *)q->keys->pdata[0])->numeric);
}

static void refused(void) {
  static const struct {
    const char *set, *more, *variants;
    gint64 repeat;
    const char *seed, *says;
  } cases[] = {
      {"workload.clients=1,0", NULL, NULL, 1, NULL, "out of range"},
      {"workload.clients=2,4", "workload.clients=8", NULL, 1, NULL, "named twice"},
      {"workload.clients=8", "workload.clients=2,4", NULL, 1, NULL, "named twice"},
      {"postgres.variant=unsorted,dense-arrays", NULL, NULL, 1, NULL, "--variant"},
      {"seed=1,2", NULL, NULL, 1, NULL, "--repeat"},
      {"workload.clients=1:9:*1", NULL, NULL, 1, NULL, "never ends"},
      {"workload.clients=1:9999:+1", "machine.cores=1:9999:+1", NULL, 1, NULL, "more than 100000 points"},
      {"workload.clients=2", NULL, NULL, 100001, NULL, "more than 100000 points"},
      {"workload.clients=2", NULL, NULL, 0, NULL, "--repeat"},
      {"workload.clients=2", NULL, "unsorted,,pre-14", 1, NULL, "empty name"},
      {"workload.clients=2", NULL, "unsorted,unsorted", 1, NULL, "twice"},
      {"workload.clients=2", NULL, "unsortd", 1, NULL, "the nearest is unsorted"},
      {"workload.clients=2", NULL, NULL, 2, "18446744073709551615", "2^64"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    SweepRequest r = {.sets = (const char *const[]){cases[i].set, cases[i].more, NULL},
                      .variants = cases[i].variants,
                      .repeat = cases[i].repeat,
                      .seed = cases[i].seed};
    g_autoptr(SweepPlan) p = plan_of(small, &r, &error);
    expect(!p && error && error->domain == SCENARIO_ERROR);
    if (error && !strstr(error->message, cases[i].says)) expect_str(error->message, cases[i].says);
  }
}

/* ---- the folder ---- */

static void manifests(void) {
  g_autoptr(SweepPlan) a = plan(two_lists, "dense-arrays,unsorted", 2), b = plan(two_lists, "dense-arrays,unsorted", 2),
                       c = plan(two_lists, "dense-arrays", 2), d = plan(two_lists, "dense-arrays,unsorted", 3);
  CU_ASSERT_FATAL(a && b && c && d);
  g_autofree char *of_a = sweep_manifest(a), *of_b = sweep_manifest(b), *of_c = sweep_manifest(c),
                  *of_d = sweep_manifest(d);
  expect_str(sweep_manifest_difference(of_a, of_b), NULL);
  g_autofree char *variants = sweep_manifest_difference(of_a, of_c), *seeds = sweep_manifest_difference(of_a, of_d);
  expect_str(variants, "variants: [\"dense-arrays\",\"unsorted\"] there, [\"dense-arrays\"] now");
  expect_str(seeds, "seeds: 2 there, 3 now");
  g_autofree char *garbage = sweep_manifest_difference("\x01[[[[", of_a), *empty = sweep_manifest_difference("", of_a);
  expect_str(garbage, "its manifest.json is none");
  expect_str(empty, "its manifest.json is none");
}

/* A changed scenario text is another sweep, even where it means the same. */
static void manifest_of_another_text(void) {
  g_autofree char *text = g_strconcat(small, "# a comment\n", NULL);
  g_autoptr(SweepPlan) a = plan(NULL, NULL, 1), b = plan_of(text, &(SweepRequest){.repeat = 1}, NULL);
  CU_ASSERT_FATAL(a && b);
  g_autofree char *of_a = sweep_manifest(a), *of_b = sweep_manifest(b),
                  *difference = sweep_manifest_difference(of_a, of_b);
  expect(difference && g_str_has_prefix(difference, "text of scenario small: "));
}

static Judgement never(const Model *m, GString *why) {
  (void)m;
  (void)why;
  return JUDGED_FINE;
}
static const Check check = {"a-check", "", SEES_INSIDE, .judge = never};
static const CheckTable checks = {&check, 1};

static RunResult *result(RunVerdict v) {
  RunResult *r = run_result_new();
  r->command = g_strdup("sweep");
  r->scenario = g_strdup("small");
  r->subject = g_strdup("model:dense-arrays");
  r->profile = g_strdup("none");
  r->seed = 5;
  r->verdict = v;
  return r;
}

static void add_metric(RunResult *r, const char *name, double value) {
  Metric m = {g_strdup(name), value};
  g_array_append_val(r->metrics, m);
}

static char *folder(void) {
  return g_dir_make_tmp("stampede-sweep-XXXXXX", NULL);
}

/* Doubles come back with the same bits: ends of the range, thirds, whole numbers beyond 2^53. */
static void points_come_back(void) {
  static const double values[] = {
      0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2.5, 9007199254740994, 123456789012345680, 1e22, 0, -7};
  g_autoptr(SweepPlan) p = plan(NULL, NULL, 1);
  g_autoptr(RunResult) r = result(RUN_FAIL);
  g_autofree char *dir = folder();
  CU_ASSERT_FATAL(p != NULL);
  for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
    g_autofree char *name = g_strdup_printf("iteration[%u].connect_ms", i);
    add_metric(r, name, values[i]);
  }
  CheckResult c = {&check, CHECK_VIOLATED, 17, g_strdup("a \"quoted\"\nwhy")};
  Expectation met = {g_strdup("x within [1, 2]"), true, true, g_strdup("1")},
              unmet = {g_strdup("y within [1, 2]"), false, true, g_strdup("3")},
              open = {g_strdup("z within [1, 2]"), false, false, g_strdup("nothing")};
  g_array_append_val(r->checks, c);
  g_array_append_val(r->expectations, met);
  g_array_append_val(r->expectations, unmet);
  g_array_append_val(r->expectations, open);
  expect(sweep_store_open(dir, p, false, NULL) && sweep_store_keep(dir, p, 0, r, NULL));
  g_autoptr(RunResult) back = sweep_store_load(dir, p, 0, &checks, NULL);
  remove_tree(dir);
  CU_ASSERT_FATAL(back != NULL);
  expect_int(back->verdict, ==, RUN_FAIL);
  expect_int(back->metrics->len, ==, r->metrics->len);
  for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
    const Metric *m = &g_array_index(back->metrics, Metric, i);
    expect_near(m->value, values[i], 0); /* which is: equal */
    expect_str(m->name, g_array_index(r->metrics, Metric, i).name);
  }
  const CheckResult *k = &g_array_index(back->checks, CheckResult, 0);
  expect(k->check == &check && k->verdict == CHECK_VIOLATED && k->step == 17);
  expect_str(k->why, "a \"quoted\"\nwhy");
  for (guint i = 0; i < 3; i++) {
    const Expectation *was = &g_array_index(r->expectations, Expectation, i),
                      *is = &g_array_index(back->expectations, Expectation, i);
    expect(is->met == was->met && is->judged == was->judged);
    expect_str(is->text, was->text);
    expect_str(is->saw, was->saw);
  }
}

/* Cut anywhere, a point is no finished point, and never a crash. */
static void cut_points_are_run_again(void) {
  g_autoptr(SweepPlan) p = plan(NULL, NULL, 1);
  g_autoptr(RunResult) r = result(RUN_PASS);
  g_autofree char *dir = folder(), *path = sweep_store_path(dir, 0), *text = NULL;
  gsize length = 0;
  CU_ASSERT_FATAL(p != NULL);
  add_metric(r, "first.connect_ms", 1.5);
  expect(sweep_store_open(dir, p, false, NULL) && sweep_store_keep(dir, p, 0, r, NULL));
  g_assert(g_file_get_contents(path, &text, &length, NULL));
  for (gsize cut = 0; cut + 2 < length; cut += 7) {
    g_assert(g_file_set_contents(path, text, (gssize)cut, NULL));
    g_autoptr(RunResult) back = sweep_store_load(dir, p, 0, &checks, NULL);
    expect(back == NULL);
  }
  remove_tree(dir);
}

/* A file copied over another's reads well, and would be a wrong result; so would that of another sweep. */
static void copied_points_are_refused(void) {
  g_autoptr(SweepPlan) p = plan(two_lists, NULL, 1), other = plan(two_lists, NULL, 2);
  g_autofree char *dir = folder(), *first = sweep_store_path(dir, 0), *second = sweep_store_path(dir, 1), *text = NULL;
  g_autoptr(GError) error = NULL;
  CU_ASSERT_FATAL(p && other);
  g_autoptr(RunResult) r = result(RUN_PASS);
  expect(sweep_store_open(dir, p, false, NULL) && sweep_store_keep(dir, p, 0, r, NULL));
  g_assert(g_file_get_contents(first, &text, NULL, NULL) && g_file_set_contents(second, text, -1, NULL));
  g_autoptr(RunResult) back = sweep_store_load(dir, p, 0, &checks, &error);
  expect(back && !error);
  g_autoptr(RunResult) copy = sweep_store_load(dir, p, 1, &checks, &error);
  expect(!copy && error && strstr(error->message, "clients=2 cores=1 dense-arrays seed 5 of sweep ") &&
         strstr(error->message, "and here belongs \"clients=2 cores=2 dense-arrays seed 5 of sweep "));
  g_clear_error(&error);
  g_autoptr(RunResult) foreign = sweep_store_load(dir, other, 0, &checks, &error);
  expect(!foreign && error && error->domain == SCENARIO_ERROR);
  remove_tree(dir);
}

static void folder_of_another(void) {
  g_autoptr(SweepPlan) a = plan(NULL, NULL, 1), b = plan(NULL, NULL, 2);
  g_autofree char *dir = folder();
  CU_ASSERT_FATAL(a && b);
  expect(sweep_store_open(dir, a, true, NULL)); /* nothing there: begins */
  expect(sweep_store_open(dir, a, true, NULL)); /* the same: goes on */
  for (guint resume = 0; resume < 2; resume++) {
    g_autoptr(GError) error = NULL;
    expect(!sweep_store_open(dir, resume ? b : a, resume, &error));
    expect(error && error->domain == SCENARIO_ERROR &&
           strstr(error->message, resume ? "seeds: 1 there, 2 now" : "--resume"));
  }
  remove_tree(dir);
}

/* ---- reports ---- */

static GPtrArray *results_of(const SweepPlan *p) {
  GPtrArray *results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
  g_ptr_array_set_size(results, (gint)sweep_points(p));
  return results;
}

static char *written(const SweepReport *r, void (*fill)(const SweepReport *r, Output *o)) {
  g_autofree char *dir = folder(), *path = g_build_filename(dir, "file", NULL);
  char *text = NULL;
  g_autoptr(Output) o = output_open(path, NULL);
  fill(r, o);
  expect(output_commit(o, NULL));
  g_assert(g_file_get_contents(path, &text, NULL, NULL));
  remove_tree(dir);
  return text;
}

/* RFC 4180: quotes doubled, within quotes. Metrics stand in order of first appearance; what a point has not, is empty.
 */
static void csv(void) {
  g_autoptr(SweepPlan) p = plan((const char *const[]){"about=a\"b,plain", NULL}, NULL, 1);
  CU_ASSERT_FATAL(p != NULL);
  g_autoptr(GPtrArray) results = results_of(p);
  results->pdata[0] = result(RUN_PASS);
  results->pdata[1] = result(RUN_INCOMPLETE);
  add_metric(results->pdata[0], "first.tps", 0.5);
  add_metric(results->pdata[1], "first.refused", 3);
  add_metric(results->pdata[1], "first.tps", 1e-7);
  g_autoptr(SweepCurves) curves = sweep_curves(p, results, NULL);
  SweepReport r = {.curves = curves, .jobs = 1};
  g_autofree char *text = written(&r, sweep_csv);
  expect_str(text, "about,variant,seed,verdict,first.tps,first.refused\n"
                   "\"a\"\"b\",dense-arrays,5,pass,0.5,\n"
                   "plain,dense-arrays,5,incomplete,1e-07,3\n");
  expect_int(sweep_exit(&r), ==, 3);
  ((RunResult *)results->pdata[0])->verdict = RUN_FAIL;
  expect_int(sweep_exit(&r), ==, 1);
  r.interrupted = true;
  expect_int(sweep_exit(&r), ==, 130);
}

/* json-glib is the second reader of results.json: members, and numbers as numbers. */
static void json(void) {
  g_autoptr(SweepPlan) p = plan((const char *const[]){"machine.fault_around=4KiB,64KiB", "about=007,8", NULL}, NULL, 2);
  CU_ASSERT_FATAL(p != NULL);
  g_autoptr(GPtrArray) results = results_of(p);
  results->pdata[5] = result(RUN_FAIL);
  add_metric(results->pdata[5], "first.tps", 2.5);
  g_autoptr(SweepCurves) curves = sweep_curves(p, results, NULL);
  SweepReport r = {.curves = curves, .jobs = 1, .interrupted = true};
  g_autofree char *text = written(&r, sweep_json);
  g_autoptr(JsonNode) root = json_from_string(text, NULL);
  CU_ASSERT_FATAL(root != NULL && JSON_NODE_HOLDS_OBJECT(root));
  JsonObject *o = json_node_get_object(root);
  expect(!json_object_get_boolean_member(o, "complete"));
  expect_str(json_object_get_string_member(json_object_get_object_member(o, "x"), "unit"), "B");
  JsonArray *points = json_object_get_array_member(o, "points");
  expect_int(json_array_get_length(points), ==, 1);
  JsonObject *point = json_array_get_object_element(points, 0),
             *values = json_object_get_object_member(point, "values");
  expect_str(json_object_get_string_member(values, "fault_around"), "64KiB"); /* point 5 of 2 x 2 x 2 */
  expect_str(json_object_get_string_member(values, "about"), "007");          /* no number of JSON */
  expect_int(json_object_get_int_member(point, "seed"), ==, 6);
  expect_near(json_object_get_double_member(json_object_get_object_member(point, "metrics"), "first.tps"), 2.5, 0);
  JsonObject *series = json_array_get_object_element(json_object_get_array_member(o, "series"), 0);
  JsonObject *at = json_array_get_object_element(json_object_get_array_member(series, "points"), 0);
  expect_near(json_object_get_double_member(at, "x"), 65536, 0);
  expect_int(json_object_get_int_member(at, "runs"), ==, 1);
}

/* y = 3 x^2, given as two seeds whose mean it is: the exponent is 2, in each of the two curves. */
static void curves_and_means(void) {
  g_autoptr(SweepPlan) p = plan((const char *const[]){"machine.cores=1,2", "workload.clients=2,4,8", NULL}, NULL, 2);
  CU_ASSERT_FATAL(p != NULL);
  g_autoptr(GPtrArray) results = results_of(p);
  for (guint point = 0; point < results->len; point++) {
    const guint combination = sweep_combination(p, point);
    const double clients = g_ascii_strtod(sweep_value(p, 1, combination), NULL);
    const double cores = g_ascii_strtod(sweep_value(p, 0, combination), NULL);
    results->pdata[point] = result(RUN_PASS);
    add_metric(results->pdata[point], "first.tps", 3 * cores * cores * clients + (point % 2 ? 0.5 : -0.5));
  }
  g_autoptr(SweepCurves) c = sweep_curves(p, results, (const char *const[]){"first.tps", NULL});
  expect_int(c->series->len, ==, 3); /* x is cores, the first key; a curve for each number of clients */
  for (guint i = 0; i < c->series->len; i++) {
    const SweepSeries *s = c->series->pdata[i];
    expect(s->fitted && s->points->len == 2);
    expect_near(s->fit.exponent, 2, 1e-6);
    expect_int(g_array_index(s->points, SeriesPoint, 0).runs, ==, 2);
  }
  if (c->series->len == 3) expect_str(((SweepSeries *)c->series->pdata[1])->label, "dense-arrays, first, clients=4");
}

/* The published table, with a cell that is not counted: off by 10 % from it, and in x only where the sweep has points.
 */
static void published(void) {
  ScenarioOptions o = base();
  SweepRequest request = {.sets = (const char *const[]){"workload.clients=512,1024,3000", NULL},
                          .variants = "dense-arrays,split-pgxactoff",
                          .repeat = 1};
  g_autoptr(SweepPlan) p = sweep_plan((const char *const[]){"connect-storm", NULL}, &request, &o, NULL);
  CU_ASSERT_FATAL(p != NULL && p->published != NULL);
  g_autoptr(GPtrArray) results = results_of(p);
  for (guint point = 0; point < results->len; point++) results->pdata[point] = result(RUN_PASS);
  g_autoptr(SweepCurves) c = sweep_curves(p, results, NULL);
  expect(c->compared);
  const PublishedPoint *odd = sweep_published(c, 0, 1, "warm.connect_ms"),
                       *even = sweep_published(c, 1, 0, "first.connect_ms");
  expect(odd && !odd->counted && even && even->counted);
  if (odd) expect_near(odd->y, 215, 0);
  if (even) expect_near(even->y, 920, 0);
  if (even) expect_near(even->spread, 20, 0);
  if (even) expect_near(sweep_deviation(even, 1012), 10, 1e-12);
  expect(!sweep_published(c, 2, 0, "first.connect_ms"));
}

/* ---- running ---- */

static const char needs_warm[] = "scenario: small\n"
                                 "postgres: {max_connections: 20, background: none}\n"
                                 "workload: {kind: pgbench, clients: 4, iterations: warm}\n"
                                 "expect: [{metric: warm.connect_ms, within: [0, 1]}]\n";

static RunResult *run_it(void *data, const Scenario *s, GError **error) {
  RunOptions ro = {.command = "sweep", .checks = checks};
  (void)data;
  return run_scenario(s, &ro, error);
}

/* Points 1 and 2 of four have no warm iterations, so what is expected cannot be: the error is always point 1's. */
static void first_error_wins(void) {
  SweepRequest request = {.sets = (const char *const[]){"workload.iterations=warm,1,2,10", NULL}, .repeat = 1};
  g_autoptr(SweepPlan) p = plan_of(needs_warm, &request, NULL);
  CU_ASSERT_FATAL(p != NULL);
  ScenarioOptions o = base();
  for (guint jobs = 1; jobs <= 4; jobs++) {
    g_autoptr(GPtrArray) results = results_of(p);
    g_autoptr(GError) error = NULL;
    SweepRunOptions ro = {.run = run_it, .base = &o, .jobs = jobs};
    expect(!sweep_run(p, &ro, results, &error));
    expect(error && error->domain == SCENARIO_ERROR && g_str_has_prefix(error->message, "iterations=1 "));
    if (error && !g_str_has_prefix(error->message, "iterations=1 ")) expect_str(error->message, "iterations=1 ...");
  }
}

static void interrupted_before_it_began(void) {
  g_autoptr(SweepPlan) p = plan(two_lists, NULL, 1);
  CU_ASSERT_FATAL(p != NULL);
  ScenarioOptions o = base();
  const gint raised = 1;
  g_autoptr(GPtrArray) results = results_of(p);
  SweepRunOptions ro = {.run = run_it, .base = &o, .jobs = 2, .interrupted = &raised};
  expect(sweep_run(p, &ro, results, NULL));
  for (guint i = 0; i < results->len; i++) expect(results->pdata[i] == NULL);
}

/* ---- the knee: within a twentieth of the way from the worst to the best, the least x that is ---- */

static bool knee_of(const char *metric, const SeriesPoint *points, guint n, SweepKnee *k) {
  g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof *points);
  g_array_append_vals(all, points, n);
  return sweep_knee(&(SweepSeries){.metric = metric, .points = all}, k);
}

static void knee_by_hand(void) {
  /* Less is better, not in order; from 105 to 5 a twentieth is 5: 10 is just within, and so is all that is better. */
  static const SeriesPoint waits[] = {{0, 4, 5, 1}, {1, 1, 105, 1}, {2, 2, 10, 1}, {3, 3, 7, 1}},
                           beyond[] = {{0, 1, 105, 1}, {1, 2, 10.5, 1}, {2, 3, 5, 1}},
                           /* More is better: 0 to 100. */
      rates[] = {{0, 1, 0, 1}, {1, 2, 95, 1}, {2, 3, 100, 1}};
  SweepKnee k;
  expect(knee_of("wait_ms.mean", waits, 4, &k));
  expect(k.x == 2 && k.value == 10 && k.combination == 2 && k.best == 5 && k.worst == 105);
  expect(knee_of("wait_ms.mean", beyond, 3, &k));
  expect(k.x == 3 && k.value == 5);
  expect(knee_of("tps", rates, 3, &k));
  expect(k.x == 2 && k.value == 95 && k.best == 100 && k.worst == 0);
  expect(!knee_of("tps", rates, 2, &k));
}

int main(void) {
  g_setenv("STAMPEDE_DATA", "sim", FALSE); /* the suites run in the top folder */
  dirs = asset_dirs(NULL);
  int status = suite_run("sweep", (const Case[]){{"lists", lists},
                                                 {"longest doubling", longest_doubling},
                                                 {"bad lists", bad_lists},
                                                 {"order of points", order_of_points},
                                                 {"points are loaded", points_are_loaded},
                                                 {"columns are told apart", columns_are_told_apart},
                                                 {"refused", refused},
                                                 {"manifests", manifests},
                                                 {"manifest of another text", manifest_of_another_text},
                                                 {"points come back", points_come_back},
                                                 {"cut points are run again", cut_points_are_run_again},
                                                 {"copied points are refused", copied_points_are_refused},
                                                 {"folder of another", folder_of_another},
                                                 {"csv", csv},
                                                 {"json", json},
                                                 {"curves and means", curves_and_means},
                                                 {"published", published},
                                                 {"first error wins", first_error_wins},
                                                 {"interrupted before it began", interrupted_before_it_began},
                                                 {"the knee by hand", knee_by_hand},
                                                 {0}});
  g_strfreev(dirs);
  return status;
}
