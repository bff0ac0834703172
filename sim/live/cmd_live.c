/* cmd_live.c - stampede live SCENARIO --pooler PATH. */
#include "sim/live/cmd_live.h"
#include "sim/live/adapter.h"
#include "sim/live/driver.h"
#include <string.h>
#include <unistd.h>

/* Beside the program where it was built, or in PREFIX/lib/stampede. */
static char *find_library(const char *argv0) {
  static const char *const places[] = {"stampede-gate.so", "../lib/stampede/stampede-gate.so"};
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *dir = g_path_get_dirname(self ? self : argv0);
  for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
    g_autofree char *path = g_build_filename(dir, places[i], NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS)) return g_steal_pointer(&path);
  }
  return NULL;
}

static int say(const RunResult *r, const CliOptions *o) {
  int status = EXIT_MET;
  if (!o->json && !o->quiet) {
    g_autoptr(GString) text = g_string_new(NULL);
    report_text(r, text, cli_color(STDOUT_FILENO), 0);
    status = cli_print(text->str);
  }
  if (status == EXIT_MET) status = cli_write_result(r, o);
  return status == EXIT_MET ? run_result_exit(r) : status;
}

static int fail(GError *error) {
  if (error->domain == SCENARIO_ERROR || error->domain == TRACE_ERROR) return cli_fail(error);
  bool cut = g_atomic_int_get(cli_interrupted());
  int status = cli_refuse(cut                              ? EXIT_INTERRUPTED
                          : error->domain == ADAPTER_ERROR ? EXIT_INPUT
                                                           : EXIT_ENVIRONMENT,
                          "%s", error->message);
  g_error_free(error);
  return status;
}

enum { PATIENCE_MOST = 86400 };
typedef struct {
  char *pooler, *adapter, *clock;
  double patience;
} Flags;

static bool clock_kind(const char *word, GateClockKind *kind) {
  static const char *const words[] = {"own", "faketime", "real"};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
    *kind = (GateClockKind)i;
    if (!word || strcmp(word, words[i]) == 0) return true;
  }
  return false;
}

static int drive(const App *app, const char *name, const Flags *f, const CliOptions *o) {
  const char *pooler = f->pooler;
  GateClockKind clock;
  if (!clock_kind(f->clock, &clock)) return cli_refuse(EXIT_INPUT, "--clock %s: it is own, faketime or real", f->clock);
  if (!(f->patience > 0 && f->patience <= PATIENCE_MOST))
    return cli_refuse(EXIT_INPUT, "--patience takes seconds, more than 0 and up to a day");
  if (!g_file_test(pooler, G_FILE_TEST_IS_EXECUTABLE) || g_file_test(pooler, G_FILE_TEST_IS_DIR))
    return cli_refuse(EXIT_INPUT, "--pooler %s: not a program", pooler);
  g_autofree char *library = find_library(app->program);
  if (!library) return cli_refuse(EXIT_ENVIRONMENT, "stampede-gate.so is not where the program is");
  GError *error = NULL;
  g_autoptr(Scenario) s = cli_scenario(app, name, o, &error);
  if (!s) return fail(error);
  LiveOptions live = {.checks = app->checks,
                      .dirs = app->dirs,
                      .program = pooler,
                      .adapter = f->adapter,
                      .clock = clock,
                      .patience_ms = (guint)(f->patience * 1e3 + 0.5),
                      .library = library,
                      .trace_path = o->trace,
                      .interrupted = cli_interrupted()};
  g_autoptr(RunResult) r = live_run(s, &live, &error);
  return r ? say(r, o) : fail(error);
}

int cmd_live(const App *app, int argc, char **argv) {
  CliOptions o = {0};
  Flags f = {.patience = 10};
  GOptionEntry own[] = {
      {"pooler", 0, 0, G_OPTION_ARG_FILENAME, &f.pooler, "the pooler's program", "PATH"},
      {"adapter", 0, 0, G_OPTION_ARG_FILENAME, &f.adapter,
       "how it is configured and started: a known one's name or a file (as the program is called)", "NAME"},
      {"clock", 0, 0, G_OPTION_ARG_STRING, &f.clock,
       "own: virtual and exact (the default); faketime: virtual, by libfaketime; real: nothing is gated", "CLOCK"},
      {"patience", 0, 0, G_OPTION_ARG_DOUBLE, &f.patience,
       "how long the pooler may take for one step, in real time, before it counts as stuck (10)", "SECONDS"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_auto(GStrv) left =
      cli_parse("live", "SCENARIO --pooler PATH",
                "Plays the servers and clients of a scenario around a real pooler, one input at a time "
                "and on a virtual clock, and judges what is seen on the wire.",
                &o, own, argc, argv, 1, 1);
  int status = EXIT_INPUT;
  if (left && !f.pooler)
    cli_refuse(EXIT_INPUT, "live needs --pooler PATH, for example --pooler /usr/sbin/pgbouncer");
  else if (left)
    status = drive(app, left[0], &f, &o);
  char *texts[] = {f.pooler, f.adapter, f.clock};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  cli_clear(&o);
  return status;
}
