/* cmd_run.c - stampede run. */
#include "sim/annotate.h"
#include "sim/cli.h"
#include <string.h>
#include <unistd.h>

static int say(const RunResult *r, const CliOptions *o, gboolean annotate) {
  int status = EXIT_MET;
  if (!o->json && !o->quiet) {
    g_autoptr(GString) text = g_string_new(NULL);
    report_text(r, text, cli_color(STDOUT_FILENO), annotate ? 1000 : 10);
    if (annotate) annotate_text(r, text);
    status = cli_print(text->str);
  }
  if (status == EXIT_MET) status = cli_write_result(r, o);
  return status == EXIT_MET ? run_result_exit(r) : status;
}

/* What must be equal in two runs of one scenario. */
static const char *difference(const RunResult *a, const RunResult *b) {
  if (a->state_hash.lo != b->state_hash.lo || a->state_hash.hi != b->state_hash.hi) return "state_hash";
  if (a->events != b->events || a->steps != b->steps || a->ties != b->ties) return "events";
  if (a->virtual_ns != b->virtual_ns) return "virtual_ms";
  if (a->metrics->len != b->metrics->len) return "metrics";
  for (guint i = 0; i < a->metrics->len; i++)
    if (g_array_index(a->metrics, Metric, i).value != g_array_index(b->metrics, Metric, i).value)
      return g_array_index(a->metrics, Metric, i).name;
  return NULL;
}

static int repeat(const Scenario *s, RunOptions ro, const RunResult *first, int times) {
  ro.trace_path = NULL;
  for (int i = 1; i < times; i++) {
    GError *error = NULL;
    g_autoptr(RunResult) again = run_scenario(s, &ro, &error);
    if (!again) return cli_fail(error);
    if (again->interrupted) return cli_refuse(EXIT_INTERRUPTED, "interrupted in run %d of %d", i + 1, times);
    const char *what = difference(first, again);
    if (what) return cli_refuse(EXIT_DIFFERED, "run %d differs from the first in %s", i + 1, what);
  }
  return EXIT_MET;
}

static int run_one(const App *app, const char *name, const CliOptions *o, int times, gint64 k, gboolean annotate) {
  GError *error = NULL;
  g_autoptr(Scenario) s = cli_scenario(app, name, o, &error);
  if (!s) return cli_fail(error);
  RunOptions ro = {
      .command = "run", .checks = app->checks, .trace_path = o->trace, .k = k, .interrupted = cli_interrupted()};
  g_autoptr(RunResult) r = run_scenario(s, &ro, &error);
  if (!r) return cli_fail(error);
  int status = r->interrupted ? EXIT_MET : repeat(s, ro, r, times);
  int said = say(r, o, annotate);
  return status == EXIT_MET ? said : status;
}

int cmd_run(const App *app, int argc, char **argv) {
  CliOptions o = {0};
  gint64 k = 0;
  int times = 1;
  gboolean annotate = FALSE;
  GOptionEntry own[] = {
      CLI_SUBJECT(&o),
      {"annotate", 0, 0, G_OPTION_ARG_NONE, &annotate,
       "every hot spot, not the top ten; real code's source lines with their counts", NULL},
      {"repeat", 0, 0, G_OPTION_ARG_INT, &times, "run N times and compare; exit 5 when one differs", "N"},
      {"hash-every", 0, 0, G_OPTION_ARG_INT64, &k, "a state hash every K steps of the trace (default 1024)", "K"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_auto(GStrv) left =
      cli_parse("run", "SCENARIO", "One deterministic run of a scenario in virtual time: verdict, metrics, hot spots.",
                &o, own, argc, argv, 1, 1);
  int status = EXIT_INPUT;
  if (left && (times < 1 || k < 0))
    cli_refuse(EXIT_INPUT, "--repeat and --hash-every take a number of 1 or more");
  else if (left)
    status = run_one(app, left[0], &o, times, k, annotate);
  cli_clear(&o);
  return status;
}
