/* cmd_calibrate_postgres.c - stampede calibrate postgres: a real server's page faults beside the simulation's. */
#include "sim/calibrate/by_function.h"
#include "sim/calibrate/confront.h"
#include "sim/calibrate/need.h"
#include "sim/calibrate/proc_figures.h"
#include "sim/calibrate/real.h"
#include "sim/calibrate/simulated.h"
#include "sim/cmd_calibrate.h"
#include <string.h>
#include <unistd.h>

enum { CLIENTS = 100, ITERATIONS = 3, OLDEST = 14, NEWEST = 19, FAULT_AROUND = 65536 };

enum { NOT_GIVEN = G_MININT };

static bool given_within(gint n, gint most) {
  return n == NOT_GIVEN || (n >= 1 && n <= most);
}

typedef struct {
  char *bin, *dir, *scenario, *huge, *out, *beside;
  gint clients, iterations, connections; /* NOT_GIVEN: as the scenario says */
  gboolean confirm, plain_malloc;
} ServerOptions;

typedef struct {
  const App *app;
  const ServerOptions *o;
  const CliOptions *common;
  GPtrArray *sets; /* over the scenario, NULL-terminated */
  Throwaway *server;
  Confrontation c;
} Calibration;

/* ---- the scenario, as it is asked for and as the server is ---- */

static void set(Calibration *k, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void set(Calibration *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(k->sets, g_strdup_vprintf(format, args));
  va_end(args);
}

static Scenario *load(const Calibration *k, const char *more, GError **error) {
  g_autoptr(GPtrArray) sets = g_ptr_array_new();
  for (guint i = 0; i < k->sets->len; i++) g_ptr_array_add(sets, k->sets->pdata[i]);
  if (more) g_ptr_array_add(sets, (gpointer)more);
  g_ptr_array_add(sets, NULL);
  CliOptions o = {.seed = k->common->seed, .sets = (char **)sets->pdata};
  return cli_scenario(k->app, k->o->scenario ? k->o->scenario : "real-server", &o, error);
}

static int64_t fault_around(Calibration *k) {
  g_autofree char *text = NULL;
  if (g_file_get_contents("/sys/kernel/debug/fault_around_bytes", &text, NULL, NULL)) return atoll(text);
  k->c.fault_around_assumed = true;
  return FAULT_AROUND;
}

static void ask(Calibration *k) {
  const ServerOptions *o = k->o;
  if (o->clients != NOT_GIVEN) set(k, "workload.clients=%d", o->clients);
  if (o->iterations != NOT_GIVEN) set(k, "workload.iterations=%d", o->iterations);
  if (o->connections != NOT_GIVEN)
    set(k, "postgres.max_connections=%d", o->connections);
  else if (o->clients != NOT_GIVEN)
    set(k, "postgres.max_connections=%d", o->clients + MAX(o->clients / 5, 20));
  set(k, "postgres.version=%d", k->c.major);
  k->c.fault_around = (uint64_t)fault_around(k);
  set(k, "machine.fault_around=%" G_GUINT64_FORMAT "KiB", k->c.fault_around / 1024);
  for (char **s = k->common->sets; s && *s; s++) set(k, "%s", *s);
}

/* What the storm on the real server does too: one thread that connects and leaves. */
static const char *cannot_do(const Scenario *s) {
  if (!scenario_is(s, "workload.kind", "pgbench")) return "workload.kind must be pgbench";
  if (scenario_int(s, "workload.threads") != 1) return "workload.threads must be 1: each connect is looked at in peace";
  if (scenario_int(s, "workload.transactions") != 0) return "workload.transactions must be 0";
  if (!scenario_is(s, "workload.login", "superuser")) return "workload.login must be superuser: initdb makes no other";
  if (scenario_is(s, "workload.iterations", "warm")) return "workload.iterations must be a number";
  if (scenario_int(s, "workload.before_iterations") < 2)
    return "workload.before_iterations must be 2 or more: one asks, the others are alone";
  if (scenario_int(s, "workload.clients") > scenario_int(s, "postgres.max_connections"))
    return "workload.clients must not be more than postgres.max_connections";
  return NULL;
}

/* ---- the server ---- */

static void setting(GPtrArray *all, const char *name, int64_t value) {
  g_ptr_array_add(all, g_strdup_printf("%s=%" G_GINT64_FORMAT, name, value));
}

static bool start(Calibration *k, const Scenario *s, GError **error) {
  static const char *const same[] = {
      "max_connections",           "max_worker_processes",           "max_wal_senders",
      "max_prepared_transactions", "superuser_reserved_connections", "autovacuum_max_workers"};
  g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < G_N_ELEMENTS(same); i++) {
    g_autofree char *key = g_strconcat("postgres.", same[i], NULL);
    setting(settings, same[i], scenario_int(s, key));
  }
  if (k->c.major >= 18)
    setting(settings, "autovacuum_worker_slots", scenario_int(s, "postgres.autovacuum_worker_slots"));
  g_ptr_array_add(settings, g_strdup_printf("huge_pages=%s", k->o->huge ? k->o->huge : "off"));
  g_ptr_array_add(settings, g_strdup("shared_buffers=16MB"));
  g_ptr_array_add(settings, NULL);
  ThrowawayRequest r = {.bin = k->o->bin,
                        .dir = k->o->dir,
                        .settings = (const char *const *)settings->pdata,
                        .plain_malloc = k->o->plain_malloc,
                        .interrupted = cli_interrupted()};
  k->c.plain_malloc = k->o->plain_malloc;
  k->server = throwaway_start(&r, error);
  return k->server != NULL;
}

/* throwaway_start's own connection was the first short one; this is the second. */
static bool look(Calibration *k, GError **error) {
  PgSession s;
  if (!pg_session_open(&s, throwaway_socket(k->server), error)) return false;
  bool ok = server_facts(&s, k->c.major, throwaway_postmaster(k->server), &k->c.facts, error);
  if (!pg_session_close(&s, ok ? error : NULL) || !ok) return false;
  k->c.phase_assumed = k->c.facts.phase < 0;
  k->c.huge_asked = k->o->huge && strcmp(k->o->huge, "off") != 0;
  if (k->c.beside && (uint64_t)k->c.beside->page_size != k->c.facts.page_size) {
    g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: its server's pages were of another size",
                k->c.beside->file);
    return false;
  }
  if (!k->c.phase_assumed) set(k, "postgres.pgproc.phase=%" G_GINT64_FORMAT "B", k->c.facts.phase);
  set(k, "machine.page_size=%dKiB", (int)(k->c.facts.page_size / 1024));
  return true;
}

/* ---- both storms ---- */

static void progress(void *data, guint iteration, guint connected) {
  const Calibration *k = data;
  if (!k->common->quiet && isatty(STDERR_FILENO) && connected % 10 == 0)
    fprintf(stderr, "\riteration %u: %u connected  ", iteration, connected);
}

static void full(void *data) {
  Calibration *k = data;
  k->c.by_function = faults_by_function(throwaway_postmaster(k->server), throwaway_socket(k->server));
}

static bool simulate_one(Calibration *k, GError **error) {
  g_autoptr(Scenario) s = load(k, "workload.clients=1", error);
  g_autoptr(StormSeries) one = s ? storm_simulate(s, cli_interrupted(), NULL, error) : NULL;
  if (!one) return false;
  k->c.model_alone = storm_alone(one);
  k->c.model_alone.pagetable_kib = (int64_t)storm_iteration(one, 0)->pagetable_kib;
  return true;
}

static bool both(Calibration *k, GError **error) {
  g_autoptr(Scenario) s = load(k, NULL, error);
  if (!s) return false;
  k->c.model = storm_simulate(s, cli_interrupted(), NULL, error);
  if (!k->c.model || !simulate_one(k, error)) return false;
  RealStorm plan = {.socket = throwaway_socket(k->server),
                    .alone = (guint)scenario_int(s, "workload.before_iterations") - 2,
                    .between = (guint)scenario_int(s, "workload.between_iterations"),
                    .order = k->c.model,
                    .interrupted = cli_interrupted(),
                    .progress = progress,
                    .full = full,
                    .data = k};
  k->c.real = storm_measure(&plan, error);
  if (!k->c.real) return false;
  k->c.real_alone = storm_alone(k->c.real);
  k->c.seed = scenario_seed(s);
  k->c.scenario = g_strdup(scenario_name(s));
  k->c.profile = g_strdup(scenario_word(s, "machine.profile"));
  k->c.exit_order = g_strdup(scenario_word(s, "workload.exit_order"));
  return true;
}

static bool take_beside(Calibration *k, const Scenario *s, GError **error) {
  k->c.beside = beside_read(k->o->beside, error);
  return k->c.beside &&
         beside_fits(k->c.beside, k->c.version, (guint)scenario_int(s, "workload.clients"), k->o->plain_malloc,
                     scenario_int(s, "postgres.max_connections"), (int64_t)scenario_seed(s), error);
}

static bool prepare(Calibration *k, GError **error) {
  k->c.major = throwaway_version(k->o->bin, &k->c.version, error);
  if (!k->c.major) return false;
  if (k->c.major < OLDEST || k->c.major > NEWEST) {
    g_set_error(error, CALIBRATE_ERROR, CALIBRATE_ERROR_ENVIRONMENT, "%s: version %s; versions %d to %d are simulated",
                k->o->bin, k->c.version, OLDEST, NEWEST);
    return false;
  }
  ask(k);
  g_autoptr(Scenario) s = load(k, NULL, error);
  if (!s) return false;
  const char *not_so = cannot_do(s);
  if (not_so) {
    g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: %s", scenario_file(s), not_so);
    return false;
  }
  if (k->o->beside && !take_beside(k, s, error)) return false;
  Need need = need_of((int)scenario_int(s, "workload.clients"), (int)scenario_int(s, "postgres.max_connections")),
       there = need_available(need.descriptors);
  return need_met(&need, &there, error) && start(k, s, error);
}

/* ---- output ---- */

typedef struct {
  const Confrontation *c;
  const GArray *agreements;
} Told;

static void fill_json(Output *o, const void *data) {
  const Told *t = data;
  confront_json(t->c, t->agreements, o);
}
static void fill_csv(Output *o, const void *data) {
  confront_csv(((const Told *)data)->c, o);
}

static int write_folder(const Calibration *k, const Told *t) {
  g_autofree char *json = g_build_filename(k->o->out, "results.json", NULL),
                  *csv = g_build_filename(k->o->out, "backends.csv", NULL);
  int status = cli_write(json, fill_json, t);
  if (status == EXIT_MET) status = cli_write(csv, fill_csv, t);
  GError *error = NULL;
  if (status == EXIT_MET && k->app->plot_backends && !k->app->plot_backends(k->o->out, &error)) return cli_fail(error);
  return status;
}

static int tell(const Calibration *k) {
  g_autoptr(GArray) agreements = confront_judge(&k->c);
  Told told = {&k->c, agreements};
  int status = EXIT_MET;
  if (isatty(STDERR_FILENO) && !k->common->quiet) fputs("\r\033[K", stderr);
  if (k->common->json) {
    status = cli_write("-", fill_json, &told);
  } else if (!k->common->quiet) {
    g_autoptr(GString) text = g_string_new(NULL);
    confront_text(&k->c, agreements, text);
    status = cli_print(text->str);
  }
  if (status == EXIT_MET && k->o->out) status = write_folder(k, &told);
  if (status == EXIT_MET && k->o->confirm && !confront_all_agree(agreements)) status = EXIT_UNMET;
  return status;
}

static int give_up(GError *error) {
  if (error && error->domain == CALIBRATE_ERROR && error->code == CALIBRATE_ERROR_INTERRUPTED) g_clear_error(&error);
  return error ? cli_fail(error) : cli_refuse(EXIT_INTERRUPTED, "interrupted; the server is stopped and removed");
}

static int run(const App *app, const ServerOptions *o, const CliOptions *common) {
  Calibration k = {.app = app, .o = o, .common = common, .sets = g_ptr_array_new_with_free_func(g_free)};
  GError *error = NULL;
  gint64 from = g_get_monotonic_time();
  bool ok = prepare(&k, &error) && look(&k, &error) && both(&k, &error);
  throwaway_stop(k.server);
  k.c.wall_ms = (double)(g_get_monotonic_time() - from) / 1e3;
  int status = ok ? tell(&k) : give_up(error);
  confrontation_clear(&k.c);
  g_ptr_array_unref(k.sets);
  return status;
}

/* What the server says itself cannot be asked for. */
static const char *servers_own(const CliOptions *common) {
  static const char *const keys[] = {"postgres.version=", "postgres.pgproc.phase=", "machine.page_size="};
  for (char **s = common->sets; s && *s; s++)
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
      if (g_str_has_prefix(*s, keys[i])) return *s;
  return NULL;
}

static int check_options(const ServerOptions *o, const CliOptions *common) {
  if (!o->bin) return cli_refuse(EXIT_INPUT, "calibrate postgres needs --bin DIR: where initdb and postgres are");
  if (!given_within(o->clients, 262143) || !given_within(o->iterations, 1000) ||
      !given_within(o->connections, G_MAXINT))
    return cli_refuse(EXIT_INPUT, "--clients: 1 to 262143; --iterations: 1 to 1000; --max-connections: 1 or more");
  if (o->huge && strcmp(o->huge, "on") != 0 && strcmp(o->huge, "off") != 0 && strcmp(o->huge, "try") != 0)
    return cli_refuse(EXIT_INPUT, "--huge-pages %s: on, off or try", o->huge);
  if (common->junit || common->trace) return cli_refuse(EXIT_INPUT, "calibrate postgres writes no --junit or --trace");
  if (servers_own(common))
    return cli_refuse(EXIT_INPUT, "--set %s: that is read from the server; --bin says which, --huge-pages which pages",
                      servers_own(common));
  if (o->out && g_mkdir_with_parents(o->out, 0777) != 0)
    return cli_refuse(EXIT_ENVIRONMENT, "%s: the folder cannot be made", o->out);
  return EXIT_MET;
}

static void options_clear(ServerOptions *o) {
  g_free(o->bin);
  g_free(o->dir);
  g_free(o->scenario);
  g_free(o->huge);
  g_free(o->out);
  g_free(o->beside);
}

int cmd_calibrate_postgres(const App *app, int argc, char **argv) {
  CliOptions common = {0};
  ServerOptions o = {.clients = NOT_GIVEN, .iterations = NOT_GIVEN, .connections = NOT_GIVEN};
  GOptionEntry own[] = {
      {"bin", 0, 0, G_OPTION_ARG_FILENAME, &o.bin, "folder of the server's initdb and postgres (14 to 19)", "DIR"},
      {"clients", 0, 0, G_OPTION_ARG_INT, &o.clients, "backends at once (100)", "N"},
      {"iterations", 0, 0, G_OPTION_ARG_INT, &o.iterations, "how often all connect and leave (3)", "K"},
      {"max-connections", 0, 0, G_OPTION_ARG_INT, &o.connections, "of the server (a fifth more than N, at least 20)",
       "M"},
      {"huge-pages", 0, 0, G_OPTION_ARG_STRING, &o.huge, "of the server: off (default), on or try", "WORD"},
      {"scenario", 0, 0, G_OPTION_ARG_STRING, &o.scenario, "what both do, in place of real-server", "FILE"},
      {"dir", 0, 0, G_OPTION_ARG_FILENAME, &o.dir,
       "where the server lives; not there yet, or empty (a new temporary one)", "DIR"},
      {"out", 0, 0, G_OPTION_ARG_FILENAME, &o.out, "write results.json, backends.csv and backends.svg there", "DIR"},
      {"plain-malloc", 0, 0, G_OPTION_ARG_NONE, &o.plain_malloc,
       "glibc's malloc of the server without lists of freed pieces: private pages depend on no storm before", NULL},
      {"beside", 0, 0, G_OPTION_ARG_FILENAME, &o.beside,
       "private pages that grow with a storm, of an earlier run with another seed (its --json), not of this one",
       "FILE"},
      {"confirm", 0, 0, G_OPTION_ARG_NONE, &o.confirm, "exit 1 when a figure is further off than is allowed", NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_auto(GStrv) left = cli_parse(
      "calibrate postgres", "--bin DIR",
      "Starts a throwaway server, opens and closes connections as the scenario says, and prints each backend's minor\n"
      "faults and page tables beside those of the simulation. The server is stopped and removed whatever happens.",
      &common, own, argc, argv, 0, 0);
  int status = left ? check_options(&o, &common) : EXIT_INPUT;
  if (left && status == EXIT_MET) status = run(app, &o, &common);
  options_clear(&o);
  cli_clear(&common);
  return status;
}
