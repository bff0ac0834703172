/* cmd_live.c - stampede live SCENARIO --pooler PATH. */
#include "sim/live/cmd_live.h"
#include "sim/live/adapter.h"
#include "sim/live/cmd_live_parts.h"
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

int live_say(const RunResult *r, const CliOptions *o) {
  int status = EXIT_MET;
  if (!o->json && !o->quiet) {
    g_autoptr(GString) text = g_string_new(NULL);
    report_text(r, text, cli_color(STDOUT_FILENO), 0);
    status = cli_print(text->str);
  }
  if (status == EXIT_MET) status = cli_write_result(r, o);
  return status == EXIT_MET ? run_result_exit(r) : status;
}

int live_fail(GError *error) {
  if (error->domain == SCENARIO_ERROR || error->domain == TRACE_ERROR) return cli_fail(error);
  bool cut = cli_is_interrupted();
  int status = cli_refuse(cut                              ? EXIT_INTERRUPTED
                          : error->domain == ADAPTER_ERROR ? EXIT_INPUT
                                                           : EXIT_ENVIRONMENT,
                          "%s", error->message);
  g_error_free(error);
  return status;
}

enum { PATIENCE_MOST = 86400 };

static bool clock_kind(const char *word, GateClockKind *kind) {
  static const char *const words[] = {"own", "faketime", "real"};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
    *kind = (GateClockKind)i;
    if (!word || strcmp(word, words[i]) == 0) return true;
  }
  return false;
}

static int drive(const App *app, const char *name, const LiveOptions *live, const CliOptions *o) {
  GError *error = NULL;
  g_autoptr(Scenario) s = cli_scenario(app, name, o, &error);
  if (!s) return live_fail(error);
  g_autoptr(RunResult) r = live_run(s, live, &error);
  return r ? live_say(r, o) : live_fail(error);
}

enum { DEPTH = 3, REPEAT = 10 };

/* What is said of a way to go about it that is not the one asked for; NULL: nothing. */
static const char *stray(const LiveFlags *f) {
  if (f->explore && f->conform) return "--explore and --conform are two ways to go about it; give one of them";
  bool searches = f->strategy || f->depth != DEPTH || f->max_runs || f->max_time;
  if (searches && !f->explore) return "--strategy, --depth, --max-runs and --max-time go with --explore";
  if (f->max_runs < 0 || f->max_time < 0) return "--max-runs and --max-time take 1 or more; none: without a limit";
  if ((f->gates || f->repeat != REPEAT) && !f->against) return "--gate and --repeat go with --against";
  if (f->preset && !f->conform) return "--preset goes with --conform";
  return f->markdown && !f->conform && !f->against ? "--markdown goes with --conform or --against" : NULL;
}

static int start(const App *app, char **names, const LiveFlags *f, const CliOptions *o) {
  const char *pooler = f->pooler;
  GateClockKind clock;
  if (!clock_kind(f->clock, &clock)) return cli_refuse(EXIT_INPUT, "--clock %s: it is own, faketime or real", f->clock);
  if (!(f->patience > 0 && f->patience <= PATIENCE_MOST))
    return cli_refuse(EXIT_INPUT, "--patience takes seconds, more than 0 and up to a day");
  if (!g_file_test(pooler, G_FILE_TEST_IS_EXECUTABLE) || g_file_test(pooler, G_FILE_TEST_IS_DIR))
    return cli_refuse(EXIT_INPUT, "--pooler %s: not a program", pooler);
  g_autofree char *library = find_library(app->program);
  if (!library) return cli_refuse(EXIT_ENVIRONMENT, "stampede-gate.so is not where the program is");
  LiveOptions live = {.checks = app->checks,
                      .dirs = app->dirs,
                      .program = pooler,
                      .adapter = f->adapter,
                      .clock = clock,
                      .patience_ms = (guint)(f->patience * 1e3 + 0.5),
                      .library = library,
                      .trace_path = o->trace,
                      .tcp = f->tcp,
                      .interrupted = cli_interrupted()};
  if (f->against &&
      (!g_file_test(f->against, G_FILE_TEST_IS_EXECUTABLE) || g_file_test(f->against, G_FILE_TEST_IS_DIR)))
    return cli_refuse(EXIT_INPUT, "--against %s: not a program", f->against);
  if (f->against && (f->conform || f->explore || f->replay || !names[0] || f->repeat < 1))
    return cli_refuse(EXIT_INPUT,
                      "--against takes SCENARIOs, a --repeat of 1 or more, and no --conform, --explore or --replay");
  if (f->against && o->trace)
    return cli_refuse(EXIT_INPUT, "--against writes no trace; --trace with --pooler alone does, for one of the two");
  if (f->markdown && o->json) return cli_refuse(EXIT_INPUT, "--json and --markdown both want stdout; give one of them");
  if (f->reuse && (!f->explore || clock == GATE_CLOCK_REAL))
    return cli_refuse(EXIT_INPUT, "--reuse goes with --explore, and with a clock that is not real");
  const char *wrong = stray(f);
  if (wrong) return cli_refuse(EXIT_INPUT, "%s", wrong);
  if (f->against) return live_against(app, names, &live, f, o);
  if (f->conform) return live_conform(app, names, &live, f, o);
  if (f->replay && names[0]) return cli_refuse(EXIT_INPUT, "--replay takes the scenario from the trace");
  if (f->replay) return live_replay(app, f->replay, &live, o);
  if (!names[0] || names[1]) return cli_refuse(EXIT_INPUT, "live takes one SCENARIO");
  if (f->explore) return live_explore_command(app, names[0], &live, f, o);
  return drive(app, names[0], &live, o);
}

int cmd_live(const App *app, int argc, char **argv) {
  CliOptions o = {0};
  LiveFlags f = {.depth = DEPTH, .repeat = REPEAT, .patience = 10};
  GOptionEntry own[] = {
      {"pooler", 0, 0, G_OPTION_ARG_FILENAME, &f.pooler, "the pooler's program", "PATH"},
      {"adapter", 0, 0, G_OPTION_ARG_FILENAME, &f.adapter,
       "how it is configured and started: a known one's name or a file (as the program is called)", "NAME"},
      {"clock", 0, 0, G_OPTION_ARG_STRING, &f.clock,
       "own: virtual and exact (the default); faketime: virtual, by libfaketime; real: nothing is gated", "CLOCK"},
      {"patience", 0, 0, G_OPTION_ARG_DOUBLE, &f.patience,
       "how long the pooler may take for one step, in real time, before it counts as stuck (10)", "SECONDS"},
      {"tcp", 0, 0, G_OPTION_ARG_NONE, &f.tcp, "over loopback in place of Unix sockets", NULL},
      {"explore", 0, 0, G_OPTION_ARG_NONE, &f.explore, "many orders of its events, each around a pooler of its own",
       NULL},
      {"strategy", 0, 0, G_OPTION_ARG_STRING, &f.strategy,
       "with --explore: dfs (every order, those that commute once; the default), random, pct", "WORD"},
      {"depth", 0, 0, G_OPTION_ARG_INT64, &f.depth, "with pct: of the bug (3)", "N"},
      {"max-runs", 0, 0, G_OPTION_ARG_INT64, &f.max_runs, "with --explore: orders that are tried", "N"},
      {"max-time", 0, 0, G_OPTION_ARG_INT64, &f.max_time, "with --explore: seconds", "S"},
      {"reuse", 0, 0, G_OPTION_ARG_NONE, &f.reuse,
       "with --explore: one pooler for many orders, where its console shows it as fresh as at its start", NULL},
      {"replay", 0, 0, G_OPTION_ARG_FILENAME, &f.replay, "a trace's choices once more, every step compared", "TRACE"},
      {"against", 0, 0, G_OPTION_ARG_FILENAME, &f.against,
       "another pooler's program: the table and the gates of compare, PATH of --pooler being what is", "PATH"},
      {"gate", 0, 0, G_OPTION_ARG_STRING_ARRAY, &f.gates,
       "with --against: exit 1 unless this is so ('wait_ms.mean <= +2%'); may be repeated", "CONDITION"},
      {"repeat", 0, 0, G_OPTION_ARG_INT64, &f.repeat,
       "with --against: pairs of runs, a seed each (10); one where the seed decides nothing", "N"},
      {"conform", 0, 0, G_OPTION_ARG_NONE, &f.conform,
       "the preset and the program side by side, compared on the wire: the scenarios named, or all that are bundled",
       NULL},
      {"preset", 0, 0, G_OPTION_ARG_STRING, &f.preset, "with --conform: which one (that of the pooler's adapter)",
       "NAME"},
      {"markdown", 0, 0, G_OPTION_ARG_NONE, &f.markdown,
       "with --conform: the table for a README; with --against: for a mail", NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_auto(GStrv) left =
      cli_parse("live", "[SCENARIO...] --pooler PATH",
                "Plays the servers and clients of a scenario around a real pooler, one input at a time "
                "and on a virtual clock, and judges what is seen on the wire.",
                &o, own, argc, argv, 0, 10000);
  int status = EXIT_INPUT;
  if (left && !f.pooler)
    cli_refuse(EXIT_INPUT, "live needs --pooler PATH, for example --pooler /usr/sbin/pgbouncer");
  else if (left)
    status = start(app, left, &f, &o);
  char *texts[] = {f.pooler, f.adapter, f.clock, f.preset, f.against, f.replay, f.strategy};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  g_strfreev(f.gates);
  cli_clear(&o);
  return status;
}
