/* cmd_diff.c - stampede diff: the first difference of two traces, in words. */
#include "sim/cli.h"
#include "traces/diff.h"

static int compare(const char *path_a, const char *path_b, const CliOptions *o) {
  GError *error = NULL;
  g_autoptr(TraceReader) a = trace_reader_open(path_a, &error);
  if (!a) return cli_fail(error);
  g_autoptr(TraceReader) b = trace_reader_open(path_b, &error);
  if (!b) return cli_fail(error);
  g_autoptr(TraceDiff) d = trace_diff(a, b, &error);
  if (!d) return cli_fail(error);
  g_autoptr(GString) words = g_string_new(NULL);
  trace_diff_words(d, path_a, path_b, words);
  if (!o->quiet) fputs(words->str, stdout);
  return trace_diff_identical(d) ? EXIT_MET : EXIT_UNMET;
}

int cmd_diff(const App *app, int argc, char **argv) {
  (void)app;
  CliOptions o = {0};
  g_auto(GStrv) left = cli_parse("diff", "TRACE TRACE",
                                 "Says in words where two traces first differ: 0 when they are identical, 1 when not.",
                                 &o, NULL, argc, argv, 2, 2);
  int status = EXIT_INPUT;
  if (left && (o.json || o.trace || o.junit || o.sets || o.seed))
    cli_refuse(EXIT_INPUT, "diff takes two traces and --quiet, nothing else");
  else if (left)
    status = compare(left[0], left[1], &o);
  cli_clear(&o);
  return status;
}
