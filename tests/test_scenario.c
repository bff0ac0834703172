/* test_scenario.c - the reader of scenario files: units, layers, errors with their places, and the bundled files. */
#include "sim/scenario/assets.h"
#include "sim/scenario/keys.h"
#include "sim/scenario/node.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/units.h"
#include "tests/harness.h"
#include "tests/pg_versions.h"

static const char *const checks[] = {"proc-array-sorted",  "pgxactoff-matches", "slot-owned-once",
                                     "dense-arrays-agree", "locks-released",    NULL};
static const char *const metrics[] = {"first.connect_ms", "warm.connect_ms", "iteration[].connect_ms", NULL};

/* The repository's own files, wherever the test was built. */
static const char *const *dirs(void) {
  static const char *const here[] = {"sim", NULL};
  return here;
}

static Scenario *read_with(const char *text, const char *const *sets, GError **error) {
  ScenarioOptions opt = {.sets = sets, .dirs = dirs(), .checks = checks, .metrics = metrics};
  return scenario_from_text(text, strlen(text), "t.yaml", &opt, error);
}

static Scenario *read_well(const char *text, const char *const *sets) {
  g_autoptr(GError) error = NULL;
  Scenario *s = read_with(text, sets, &error);
  if (error) fprintf(stderr, "not read: %s\n", error->message);
  CU_ASSERT_FATAL(s != NULL);
  return s;
}

static char *complaint(const char *text, const char *const *sets) {
  g_autoptr(GError) error = NULL;
  g_autoptr(Scenario) s = read_with(text, sets, &error);
  expect((s == NULL) == (error != NULL));
  return g_strdup(error ? error->message : "(none)");
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define expect_has(text, part)                                                                                         \
  do {                                                                                                                 \
    const char *has_a = (text), *has_b = (part);                                                                       \
    if (!strstr(has_a, has_b)) fprintf(stderr, "%s:%d: \"%s\" has no \"%s\"\n", __FILE__, __LINE__, has_a, has_b);     \
    CU_ASSERT(strstr(has_a, has_b) != NULL);                                                                           \
  } while (0)

/* ---- units ---- */
typedef UnitsFault (*Reader)(const char *, int64_t *);

static void unit(Reader read, const char *text, UnitsFault fault, int64_t value) {
  int64_t n = -7;
  UnitsFault saw = read(text, &n);
  if (saw != fault || n != (fault ? -7 : value))
    fprintf(stderr, "%s: saw %s, %lld\n", text, units_fault(saw), (long long)n);
  CU_ASSERT(saw == fault && n == (fault ? -7 : value));
}

static void times(void) {
  unit(units_time_ns, "2.05us", UNITS_OK, 2050);
  unit(units_time_ns, "1.5h", UNITS_OK, INT64_C(5400000000000));
  unit(units_time_ns, "0s", UNITS_OK, 0);
  unit(units_time_ns, "0.000000000000000000000000000s", UNITS_OK, 0);
  unit(units_time_ns, "1.50000000000000000000000000s", UNITS_OK, 1500000000);
  unit(units_time_ns, "106751d", UNITS_OK, INT64_C(9223286400000000000));
  unit(units_time_ns, "106752d", UNITS_TOO_LARGE, 0);
  unit(units_time_ns, "9223372036854775807ns", UNITS_OK, INT64_MAX);
  unit(units_time_ns, "9223372036854775808ns", UNITS_TOO_LARGE, 0);
  unit(units_time_ns, "0.1ns", UNITS_TOO_FINE, 0);
  unit(units_time_ns, "0.00000000000000000000000000001s", UNITS_TOO_FINE, 0);
  unit(units_time_ps, "0.08ns", UNITS_OK, 80);
  unit(units_time_ps, "106d", UNITS_OK, INT64_C(9158400000000000000));
  unit(units_time_ps, "107d", UNITS_TOO_LARGE, 0);
  unit(units_time_ns, "5", UNITS_NO_UNIT, 0);
  unit(units_time_ns, "-5ms", UNITS_NEGATIVE, 0);
  unit(units_time_ns, "5 ms", UNITS_UNKNOWN_UNIT, 0);
  unit(units_time_ns, "5MS", UNITS_UNKNOWN_UNIT, 0);
  unit(units_time_ns, "1e3ms", UNITS_UNKNOWN_UNIT, 0);
  unit(units_time_ns, "1.ms", UNITS_NOT_A_NUMBER, 0);
  unit(units_time_ns, ".5ms", UNITS_NOT_A_NUMBER, 0);
  unit(units_time_ns, "+5ms", UNITS_NOT_A_NUMBER, 0);
  unit(units_time_ns, "ms", UNITS_NOT_A_NUMBER, 0);
  unit(units_time_ns, "", UNITS_NOT_A_NUMBER, 0);
}

static void sizes_and_rates(void) {
  unit(units_size, "64KiB", UNITS_OK, 65536);
  unit(units_size, "0.5KiB", UNITS_OK, 512);
  unit(units_size, "2GB", UNITS_OK, 2000000000);
  unit(units_size, "0.3KiB", UNITS_TOO_FINE, 0);
  unit(units_size, "8589934591GiB", UNITS_OK, INT64_C(9223372035781033984)); /* 2^63 - 2^30 */
  unit(units_size, "8589934592GiB", UNITS_TOO_LARGE, 0);
  unit(units_size, "64kib", UNITS_UNKNOWN_UNIT, 0);
  unit(units_gap_ns, "500/s", UNITS_OK, 2000000);
  unit(units_gap_ns, "0.5/s", UNITS_OK, 2000000000);
  unit(units_gap_ns, "3/s", UNITS_OK, 333333333);
  unit(units_gap_ns, "0/s", UNITS_TOO_LARGE, 0);
  unit(units_per_byte_ps, "12GB/s", UNITS_OK, 83); /* 83.3 */
  unit(units_per_byte_ps, "0.08ns", UNITS_OK, 80);
  unit(units_per_byte_ps, "12GB", UNITS_UNKNOWN_UNIT, 0);
  unit(units_integer, "0", UNITS_OK, 0);
  unit(units_integer, "9223372036854775807", UNITS_OK, INT64_MAX);
  unit(units_integer, "9223372036854775808", UNITS_TOO_LARGE, 0);
  unit(units_integer, "1_000", UNITS_UNKNOWN_UNIT, 0);
}

static void seeds(void) {
  g_autoptr(Scenario) s = read_well("scenario: s\nseed: 18446744073709551615\n", NULL);
  expect(scenario_seed(s) == UINT64_MAX);
}

/* ---- values and layers ---- */
static void defaults(void) {
  g_autoptr(Scenario) s = read_well("scenario: s\n", NULL);
  expect_int(scenario_seed(s), ==, 1);
  expect_int(scenario_bytes(s, "machine.fault_around"), ==, 65536);
  expect_int(scenario_ns(s, "machine.quantum"), ==, 3000000);
  expect(scenario_is(s, "machine.cores", "none"));
  expect(!scenario_given(s, "machine.cores"));
  expect_int(scenario_count(s, "checks"), ==, 0);
  expect_int(scenario_sources(s)->len, ==, 0);
}

/* Keys of poolers and clients: test_scenario_pooler.c; of processes: test_scenario_processes.c. */
static bool told_elsewhere(const char *path) {
  static const char *const sections[] = {"pooler", "clients", "servers",   "network",
                                         "events", "explore", "processes", NULL};
  g_autofree char *section = g_strndup(path, strcspn(path, ".["));
  return g_strv_contains(sections, section);
}

static void every_default_is_right(void) {
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const KeyInfo *k = key_row(i);
    if (k->hint || told_elsewhere(k->path)) continue;
    expect(k->about && *k->about);
    if (!k->dflt || *k->path == '@' || !strcmp(k->path, "about") || strchr(k->path, '[')) continue;
    if (!strcmp(k->path, "workload.kind")) continue; /* goes with any */
    const bool storm = !strcmp(k->path, "workload.arrive") || !strcmp(k->path, "workload.hold");
    const char *kind = storm ? "storm" : "pgbench";
    g_autofree char *set = g_strconcat(k->path, "=", k->dflt, NULL), *of = g_strconcat("workload.kind=", kind, NULL);
    if (g_str_has_prefix(k->path, "published.")) continue; /* needs a table beside it */
    g_autofree char *wrong = complaint("scenario: s\n", SETS(of, set));
    if (strcmp(wrong, "(none)") != 0) fprintf(stderr, "default of %s: %s\n", k->path, wrong);
    CU_ASSERT(!strcmp(wrong, "(none)"));
  }
}

/* The example that the man page gives for a key under a section is taken there. */
static void every_example_is_right(void) {
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const char *path = key_row(i)->path, *dot = strchr(path, '.');
    if (*path == '@' || strchr(path, '[') || g_str_has_prefix(path, "published.") || !strcmp(path, "preset") ||
        key_row(i)->hint || key_row(i)->alias || told_elsewhere(path))
      continue;
    g_autofree char *told = scenario_explain(path);
    g_auto(GStrv) parts = g_strsplit(g_strchomp(told), "example: ", 2);
    g_autofree char *section = g_strndup(path, dot ? (gsize)(dot - path) : 0);
    const bool whole = !dot || g_str_has_prefix(parts[1], section);
    const char *kind = strstr(path, "arrive") || strstr(path, "hold") ? "workload.kind=storm" : "workload.kind=pgbench";
    g_autofree char *text =
        whole ? g_strdup_printf("%s\n", parts[1]) : g_strdup_printf("%s: {%s}\n", section, parts[1]);
    g_autofree char *named = strcmp(path, "scenario") ? g_strconcat("scenario: s\n", text, NULL) : g_strdup(text);
    g_autofree char *wrong = complaint(named, SETS(kind));
    if (strcmp(wrong, "(none)") != 0) fprintf(stderr, "example of %s: %s%s\n", path, named, wrong);
    CU_ASSERT(!strcmp(wrong, "(none)"));
  }
}

static void layers(void) {
  const char *text = "scenario: s\npostgres: {version: 16, pgproc: {size: 832B}, variant: [unsorted, pre-14]}\n";
  g_autoptr(Scenario) s = read_well(text, NULL);
  expect_int(scenario_bytes(s, "postgres.pgproc.size"), ==, 832);        /* the scenario's */
  expect_int(scenario_bytes(s, "postgres.pgproc.pgxactoff"), ==, 68);    /* the version's */
  expect_str(scenario_word(s, "postgres.proc_array.order"), "unsorted"); /* the first variant's */
  expect_str(scenario_word(s, "postgres.proc_array.offsets"), "none");   /* the second's */
  expect_int(scenario_int(s, "postgres.max_wal_senders"), ==, 10);       /* the table's */
  g_autoptr(Scenario) t = read_well(text, SETS("postgres.version=19", "postgres.pgproc.size=1024B"));
  expect_int(scenario_bytes(t, "postgres.pgproc.size"), ==, 1024);
  expect_int(scenario_bytes(t, "postgres.pgproc.pgxactoff"), ==, 44);
}

static void variant_of_the_command_line(void) {
  const char *text = "scenario: s\nmachine: {page_size: 4KiB}\npostgres: {variant: huge-pages}\n";
  g_autoptr(Scenario) in_file = read_well(text, NULL);
  g_autoptr(Scenario) asked = read_well(text, SETS("postgres.variant=huge-pages"));
  g_autoptr(Scenario) both = read_well(text, SETS("machine.page_size=1GiB", "postgres.variant=huge-pages"));
  expect_int(scenario_bytes(in_file, "machine.page_size"), ==, 4096);
  expect_int(scenario_bytes(asked, "machine.page_size"), ==, 2 << 20);
  expect_int(scenario_bytes(both, "machine.page_size"), ==, 1 << 30);
}

static void overrides(void) {
  const char *text = "scenario: s\nworkload: {kind: pgbench, exit_order: {window: 3}}\n"
                     "expect: [{metric: warm.connect_ms, within: [1, 2]}]\n";
  g_autoptr(Scenario) s =
      read_well(text, SETS("expect[0].within[1]=7.5", "workload.clients=5", "workload={clients: 6}"));
  expect(scenario_number(s, "expect[0].within[1]") == 7.5);
  expect(scenario_number(s, "expect[0].within[0]") == 1);
  expect_int(scenario_int(s, "workload.clients"), ==, 6);
  expect_str(scenario_word(s, "workload.exit_order"), "window");
  expect_int(scenario_int(s, "workload.exit_order.window"), ==, 3);
  g_autoptr(Scenario) t = read_well(text, SETS("workload.exit_order.window=9"));
  expect_int(scenario_int(t, "workload.exit_order.window"), ==, 9);
  g_autoptr(Scenario) u = read_well(text, SETS("workload.exit_order=in-order"));
  expect_str(scenario_word(u, "workload.exit_order"), "in-order");
  expect_str(scenario_overrides(u)[0], "workload.exit_order=in-order");
}

static void bad_overrides(void) {
  static const char *const bad[][2] = {
      {"workload.clients", "write KEY=VALUE"},
      {"workload.clients=", "has no value"},
      {"workload.clients=0", "--set workload.clients=0: workload.clients: \"0\" is out of range"},
      {"workload.clinets=1", "unknown key; the nearest is clients"},
      {"expect[0].within=[1,2]", "the scenario has no such entry"},
      {"a..b=1", "the key must be"},
      {"[0]=1", "the key must be"},
      {"checks[x]=1", "the scenario has no such entry"},
      {"checks[=1", "the scenario has no such entry"},
      {"workload=5", "it must be a map"},
      {"seed=[[[[", "not YAML"}};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *wrong = complaint("scenario: s\nworkload: {kind: pgbench}\n", SETS(bad[i][0]));
    expect_has(wrong, bad[i][1]);
  }
}

static void dotted_keys(void) {
  g_autoptr(Scenario) s =
      read_well("scenario: s\nmachine.cores: 4\nmachine: {page_size: 2MiB}\ncosts: {lock.handover: 5us, "
                "memory: {move_per_byte: 10GB/s}}\n",
                NULL);
  Costs costs;
  scenario_costs(s, &costs);
  expect_int(scenario_int(s, "machine.cores"), ==, 4);
  expect_int(scenario_bytes(s, "machine.page_size"), ==, 2 << 20);
  expect_int(costs.ps[COST_LOCK_HANDOVER], ==, 5000000);
  expect_int(costs.ps[COST_MOVE_BYTE], ==, 100);
  expect_str(scenario_cost_source(s, COST_LOCK_HANDOVER).from, "scenario");
  expect_str(scenario_cost_source(s, COST_FORK).from, "unset");
}

static void draws(void) {
  static const struct {
    const char *text;
    Draw draw;
  } cases[] = {{"5s", {DRAW_FIXED, 5000000000, 5000000000}},
               {"{exp: 2ms}", {DRAW_EXP, 2000000, 2000000}},
               {"{uniform: [1ms, 2ms]}", {DRAW_UNIFORM, 1000000, 2000000}}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "scenario: s\nworkload: {kind: storm, hold: %s}\n", cases[i].text);
    g_autoptr(Scenario) s = read_well(text->str, NULL);
    Draw d = scenario_draw(s, "workload.hold");
    expect_int(d.kind, ==, cases[i].draw.kind);
    expect_int(d.low, ==, cases[i].draw.low);
    expect_int(d.high, ==, cases[i].draw.high);
  }
}

static void single_value_is_a_list_of_one(void) {
  g_autoptr(Scenario) s = read_well("scenario: s\nchecks: slot-owned-once\n", NULL);
  expect_int(scenario_count(s, "checks"), ==, 1);
  expect_str(scenario_word(s, "checks[0]"), "slot-owned-once");
}

static void marks(void) {
  g_autoptr(Scenario) s = read_well("scenario: s\nworkload: {kind: pgbench,\n  clients: 7}\n", NULL);
  g_autofree char *own = scenario_mark(s, "workload.clients"), *around = scenario_mark(s, "workload.threads");
  g_autoptr(GError) error = scenario_complain(s, "workload.clients", "is %d", 7);
  expect_str(own, "t.yaml:3:12");
  expect_str(around, "t.yaml:2:11");
  expect_str(error->message, "t.yaml:3:12: workload.clients: is 7");
}

/* A trace carries text, overrides and sources, and nothing else is needed. */
static void embedded(void) {
  const char *text = "scenario: s\nmachine: {profile: assumed}\npostgres: {version: 17, variant: unsorted}\n";
  g_autoptr(Scenario) s = read_well(text, NULL);
  const GPtrArray *sources = scenario_sources(s);
  expect_int(sources->len, ==, 3);
  ScenarioOptions opt = {.embedded = sources};
  g_autoptr(GError) error = NULL;
  g_autoptr(Scenario) again = scenario_from_text(text, strlen(text), "trace", &opt, &error);
  CU_ASSERT_FATAL(again != NULL);
  Costs a, b;
  scenario_costs(s, &a);
  scenario_costs(again, &b);
  expect_int(memcmp(&a, &b, sizeof a), ==, 0);
  expect_int(scenario_bytes(again, "postgres.pgproc.size"), ==, 888);
  expect_str(((ScenarioSource *)scenario_sources(again)->pdata[2])->hash, ((ScenarioSource *)sources->pdata[2])->hash);
  static const GPtrArray none = {0};
  ScenarioOptions nothing = {.embedded = &none};
  g_autoptr(Scenario) cannot = scenario_from_text(text, strlen(text), "trace", &nothing, &error);
  expect(cannot == NULL);
  expect_has(error ? error->message : "", "no preset postgres-17");
}

/* ---- bad input ---- */
static void check_bad_file(const char *path) {
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL) || !g_str_has_prefix(text, "# expect: ")) {
    CU_FAIL("no first line");
    return;
  }
  ScenarioOptions opt = {.dirs = dirs(), .checks = checks, .metrics = metrics};
  g_autofree char *part = g_strndup(text + 10, strcspn(text + 10, "\n"));
  scenario_free(scenario_load(path, &opt, &error));
  const char *saw = error ? error->message : "(read)";
  g_autofree char *place = g_strconcat(path, ":", NULL);
  if (!strstr(saw, part)) fprintf(stderr, "%s: saw \"%s\", not \"%s\"\n", path, saw, part);
  CU_ASSERT(strstr(saw, part) != NULL);
  expect(g_str_has_prefix(saw, place));
  expect(strchr(saw, '\n') == NULL);
  expect(g_ascii_isdigit(saw[strlen(place)])); /* a line */
}

static void bad_files(void) {
  g_autoptr(GDir) dir = g_dir_open("tests/bad", 0, NULL);
  const char *name;
  guint n = 0;
  CU_ASSERT_FATAL(dir != NULL);
  for (; (name = g_dir_read_name(dir)); n++) {
    g_autofree char *path = g_build_filename("tests/bad", name, NULL);
    check_bad_file(path);
  }
  expect_int(n, >, 40);
}

static char *refusal(const char *text, gsize length) {
  g_autoptr(GError) error = NULL;
  scenario_free(scenario_from_text(text, length, "b", NULL, &error));
  return g_strdup(error ? error->message : "(read)");
}

static void a_byte_order_mark_is_skipped(void) {
  g_autoptr(Scenario) s = read_well("\xef\xbb\xbfscenario: s\nseed: 9\n", NULL);
  expect(scenario_seed(s) == 9);
  g_autofree char *says = complaint("\xef\xbb\xbfscenary: s\n", NULL);
  expect_has(says, "t.yaml:1:1: scenary: unknown key");
}

static void bytes_that_are_no_text(void) {
  static const struct {
    const char *text;
    gsize length;
    const char *says;
  } cases[] = {{"", 0, "b:1:1: empty"},
               {"\n# only a comment\n", 18, "empty"},
               {"scenario: s\n\0", 13, "b:2:1: byte 0x00"},
               {"scenario: \xff\n", 12, "b:1:11: byte 0xff"},
               {"\xff\xfe"
                "s\0",
                4, "b:1:1: byte 0xff"},
               {"scenario: \"a\\u0000\"", 19, "b:1:11: a text with a NUL"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *saw = refusal(cases[i].text, cases[i].length);
    expect_has(saw, cases[i].says);
  }
}

static void a_hundred_megabytes_of_nesting(void) {
  const gsize length = 100 << 20;
  g_autofree char *text = g_malloc(length);
  const gint64 begin = g_get_monotonic_time();
  memset(text, '[', length);
  g_autofree char *whole = refusal(text, length), *part = refusal(text, NODE_MAX_BYTES);
  expect_has(whole, "larger than");
  expect_has(part, "nested too deeply");
  expect_int(g_get_monotonic_time() - begin, <, 2000000);
}

static void many_nodes(void) {
  g_autoptr(GString) wide = g_string_new("scenario: s\nchecks: [");
  for (int i = 0; i < 2000; i++) g_string_append(wide, "a,");
  g_string_append(wide, "]\n");
  g_autofree char *saw = refusal(wide->str, wide->len);
  expect_has(saw, "more than 1000 entries");
  g_autoptr(GString) many = g_string_new("scenario: s\n");
  for (int i = 0; i < 900; i++)
    g_string_append_printf(many, "k%d: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n", i);
  g_autofree char *too = refusal(many->str, many->len);
  expect_has(too, "too many values");
}

static void files_that_cannot_be_read(void) {
  static const char *const cases[][2] = {{"/nonexistent/x.yaml", "/nonexistent/x.yaml: cannot be read"},
                                         {"tests/bad/", "a directory, not a file"},
                                         {"conect-storm", "the nearest is connect-storm"},
                                         {"", "no such scenario"},
                                         {"/dev/zero", "larger than"},
                                         {"/dev/null", "/dev/null:1:1: empty"}};
  ScenarioOptions opt = {.dirs = dirs()};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    scenario_free(scenario_load(cases[i][0], &opt, &error));
    expect_has(error ? error->message : "(read)", cases[i][1]);
    if (error) expect(error->domain == SCENARIO_ERROR);
  }
}

/* Every truncation of a good file ends in a scenario or one line. */
static void cut_anywhere(void) {
  g_autofree char *text = NULL;
  gsize length = 0;
  CU_ASSERT_FATAL(g_file_get_contents("sim/scenarios/warm-connect-storm.yaml", &text, &length, NULL));
  for (gsize cut = 0; cut < length; cut += 3) {
    g_autofree char *saw = refusal(text, cut);
    expect(strchr(saw, '\n') == NULL);
  }
}

static void suggestions(void) {
  const char *const names[] = {"clients", "threads", "exit_order", "x", NULL};
  expect_str(nearest_name("client", names), "clients");
  expect_str(nearest_name("clinets", names), "clients");
  expect_str(nearest_name("Exit-Order", names), "exit_order");
  expect(nearest_name("q", names) == NULL);
  expect(nearest_name("nothing_like_it", names) == NULL);
}

static void threads_within_clients(void) {
  g_autoptr(Scenario) s = read_well("scenario: s\nworkload: {kind: pgbench, clients: 4, threads: 6}\n", NULL);
  expect_int(scenario_int(s, "workload.threads"), ==, 4);
}

/* ---- the bundled files ---- */
static void bundled_scenarios(void) {
  ScenarioOptions opt = {.dirs = dirs()};
  g_autoptr(GPtrArray) list = asset_list(dirs(), "scenarios");
  expect_int(list->len, >=, 2);
  for (guint i = 0; i < list->len; i++) {
    const Asset *a = list->pdata[i];
    g_autoptr(GError) error = NULL;
    g_autoptr(Scenario) s = scenario_load(a->name, &opt, &error);
    if (error) fprintf(stderr, "%s: %s\n", a->name, error->message);
    CU_ASSERT_FATAL(s != NULL);
    expect_str(scenario_name(s), a->name);
    expect(*a->about != '\0');
    PgConfig c;
    MemoryConfig m;
    Costs costs;
    expect(scenario_bind_postgres(s, &c, &error));
    scenario_costs(s, &costs);
    scenario_bind_memory(s, &costs, &m);
    expect(memory_config_complaint(&m) == NULL);
  }
}

/* Two independent tables of the same facts: presets, and the model's own. */
#define SAME(member) expect_int(mine->member, ==, theirs->member)
static void same_layout(const PgConfig *mine, const PgConfig *theirs) {
  SAME(pgproc_size);
  SAME(pgproc_align);
  SAME(off_pgxactoff);
  SAME(off_links);
  SAME(off_pid);
  SAME(tail_bytes);
  SAME(array_phase);
  SAME(one_chunk);
  SAME(header_place);
  SAME(fast_path_bytes);
  SAME(proc_hdr_bytes);
  SAME(proc_array_header_bytes);
  SAME(sinval_entry_bytes);
  SAME(proc_signal_bytes);
  SAME(backend_status_bytes);
  SAME(ssl_status_bytes);
  SAME(gss_status_bytes);
}

static void same_sizes(const PgConfig *mine, const PgConfig *theirs) {
  SAME(version);
  SAME(max_connections);
  SAME(autovacuum_max_workers);
  SAME(autovacuum_worker_slots);
  SAME(max_worker_processes);
  SAME(max_wal_senders);
  SAME(max_prepared_transactions);
  SAME(superuser_reserved_connections);
  SAME(reserved_connections);
  SAME(autovacuum_pool_by_slots);
  SAME(special_workers);
  SAME(auxiliary_procs);
  SAME(auxiliary_types);
  SAME(bg_autovacuum);
  SAME(bg_bgworkers);
  SAME(bg_walsenders);
  SAME(bg_prepared);
  SAME(bg_slotsync);
}

static void same_policies(const PgConfig *mine, const PgConfig *theirs) {
  expect_str(mine->variant, theirs->variant);
  SAME(take);
  SAME(give);
  SAME(initial);
  SAME(links);
  SAME(leader_at_head);
  SAME(offsets);
  SAME(order);
  SAME(read_before_write);
  SAME(child_list);
  SAME(sinval);
  SAME(snapshots);
  SAME(superusers);
  SAME(listen_backlog);
  SAME(clear_pid_at_exit);
  SAME(listing);
  SAME(postmaster_ptes);
  SAME(touch);
}
#undef SAME

static void presets_agree_with_the_model(void) {
  for (int version = 14; version <= 19; version++) {
    PgConfig mine = {0}, theirs = {0};
    g_autofree char *set = g_strdup_printf("postgres.version=%d", version);
    g_autoptr(Scenario) s = read_well("scenario: s\npostgres: {listen_backlog: none}\n", SETS(set));
    expect(scenario_bind_postgres(s, &mine, NULL));
    expect(pg_config_version(version, &theirs));
    same_layout(&mine, &theirs);
    same_sizes(&mine, &theirs);
    same_policies(&mine, &theirs);
  }
}

/* MaxBackends and PGPROCs at max_connections=16384 with defaults, as published in facts section 1. */
static void pool_sizes(void) {
  static const int published[][3] = {{14, 16406, 16411}, {15, 16406, 16411}, {16, 16406, 16411},
                                     {17, 16406, 16412}, {18, 16420, 16458}, {19, 16420, 16458}};
  for (guint i = 0; i < G_N_ELEMENTS(published); i++) {
    PgConfig c;
    PgPools p;
    g_autofree char *set = g_strdup_printf("postgres.version=%d", published[i][0]);
    g_autoptr(Scenario) s = read_well("scenario: s\npostgres: {max_connections: 16384}\n", SETS(set));
    CU_ASSERT_FATAL(scenario_bind_postgres(s, &c, NULL));
    pg_pools(&c, &p);
    expect_int(p.max_backends, ==, published[i][1]);
    expect_int(p.total, ==, published[i][2]);
  }
}

static void backlogs(void) {
  static const struct {
    const char *version, *max, *somaxconn;
    int backlog;
  } cases[] = {{"14", "100", "1000000", 2 * 122}, /* MaxBackends: 100 + 3 + 1 + 8 + 10 */
               {"15", "16384", "1000000", 10000},
               {"16", "16384", "1000000", 32768},
               {"19", "16384", "4096", 4096}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    PgConfig c;
    g_autofree char *v = g_strconcat("postgres.version=", cases[i].version, NULL),
                    *m = g_strconcat("postgres.max_connections=", cases[i].max, NULL),
                    *k = g_strconcat("machine.somaxconn=", cases[i].somaxconn, NULL);
    g_autoptr(Scenario) s = read_well("scenario: s\npostgres: {}\n", SETS(v, m, k));
    CU_ASSERT_FATAL(scenario_bind_postgres(s, &c, NULL));
    expect_int(c.listen_backlog, ==, cases[i].backlog);
  }
}

static void server_that_cannot_be(void) {
  static const char *const cases[][2] = {
      {"postgres: {max_connections: 3}", "t.yaml:2:29: postgres.max_connections: is 3; superuser_reserved"},
      {"postgres: {max_connections: 262143}", "MaxBackends"},
      {"postgres: {pgproc: {pgxactoff: 2KiB}}", "t.yaml:2:32: postgres.pgproc.pgxactoff: 2048 is not"},
      {"postgres: {pgproc: {size: 832B}}", "pgproc.size: 832 is not a multiple of pgproc.align, 128"},
      {"postgres: {pgproc: {phase: 64B}}", "pgproc.phase: 64 is not"},
      {"postgres: {background: {walsenders: 11}}", "t.yaml:2:37: postgres.background.walsenders: max_wal_senders"},
      {"postgres: {steps: {release_XidGenLock: twice}}", "t.yaml:2:40: postgres.steps.release_XidGenLock: cannot"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    PgConfig c;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strconcat("scenario: s\n", cases[i][0], "\n", NULL);
    g_autoptr(Scenario) s = read_well(text, NULL);
    expect(!scenario_bind_postgres(s, &c, &error));
    expect_has(error ? error->message : "(bound)", cases[i][1]);
  }
}

static void variants_change_what_they_say(void) {
  PgConfig c;
  g_autoptr(Scenario) a = read_well("scenario: s\npostgres: {variant: split-pgxactoff}\n", NULL);
  expect(scenario_bind_postgres(a, &c, NULL) && c.offsets == OFFSETS_SPLIT);
  expect_str(c.variant, "split-pgxactoff");
  g_autoptr(Scenario) b = read_well("scenario: s\npostgres: {variant: lowest-free-slot, background: none}\n", NULL);
  expect(scenario_bind_postgres(b, &c, NULL) && c.take == TAKE_LOWEST && c.bg_autovacuum + c.bg_bgworkers == 0);
  g_autoptr(Scenario) d =
      read_well("scenario: s\npostgres: {steps: {store_offsets: skip}, background: {walsenders: 2}}\n", NULL);
  expect(scenario_bind_postgres(d, &c, NULL) && c.steps[PGSTEP_STORE_OFFSETS] == STEP_SKIP);
  expect_int(c.bg_walsenders, ==, 2);
  expect_int(c.bg_autovacuum, ==, 1);
}

static void profiles_are_whole(void) {
  static const char *const names[] = {"assumed", "ramdisk-2026"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *set = g_strconcat("machine.profile=", names[i], NULL);
    g_autoptr(Scenario) s = read_well("scenario: s\n", SETS(set));
    for (CostId id = 0; id < COST_COUNT; id++) {
      if (!strcmp(scenario_cost_source(s, id).from, "unset"))
        fprintf(stderr, "%s: no %s\n", names[i], cost_info[id].key);
      expect(strcmp(scenario_cost_source(s, id).from, "unset") != 0);
    }
  }
}

static void man_page(void) {
  g_autofree char *page = scenario_man_page();
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const char *path = *key_row(i)->path == '@' ? strchr(key_row(i)->path, '.') : key_row(i)->path;
    if (!path || key_row(i)->hint) continue;
    g_autofree char *entry = g_strconcat(".B ", path + (*path == '.'), "\n", NULL);
    g_auto(GStrv) parts = g_strsplit(entry, "-", -1);
    g_autofree char *troff = g_strjoinv("\\-", parts);
    expect_has(strstr(page, troff) ? troff : "(absent)", troff);
  }
  g_autofree char *cores = scenario_explain("machine.cores");
  expect_has(cores, "default: none");
  expect(scenario_explain("machine.no") == NULL);
}

int main(void) {
  const Case cases[] = {{"times", times},
                        {"sizes and rates", sizes_and_rates},
                        {"seeds", seeds},
                        {"defaults", defaults},
                        {"every default is right", every_default_is_right},
                        {"layers", layers},
                        {"a variant of the command line lies over the scenario", variant_of_the_command_line},
                        {"overrides", overrides},
                        {"bad overrides", bad_overrides},
                        {"dotted keys, costs", dotted_keys},
                        {"draws", draws},
                        {"a single value is a list of one", single_value_is_a_list_of_one},
                        {"marks", marks},
                        {"embedded texts", embedded},
                        {"bad files", bad_files},
                        {"a byte order mark is skipped", a_byte_order_mark_is_skipped},
                        {"bytes that are no text", bytes_that_are_no_text},
                        {"100 MB of nesting", a_hundred_megabytes_of_nesting},
                        {"many nodes", many_nodes},
                        {"files that cannot be read", files_that_cannot_be_read},
                        {"a file cut anywhere", cut_anywhere},
                        {"suggestions", suggestions},
                        {"no more threads than clients", threads_within_clients},
                        {"every example is right", every_example_is_right},
                        {"bundled scenarios", bundled_scenarios},
                        {"presets agree with the model", presets_agree_with_the_model},
                        {"pool sizes", pool_sizes},
                        {"backlogs", backlogs},
                        {"a server that cannot be", server_that_cannot_be},
                        {"variants", variants_change_what_they_say},
                        {"profiles are whole", profiles_are_whole},
                        {"man page", man_page},
                        {0}};
  return suite_run("scenario", cases);
}
