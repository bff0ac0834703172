/* cmd_live_explore.c - stampede live --explore: what was tried, and the order that breaks a check. */
#include "sim/live/cmd_live_parts.h"
#include "sim/live/explore.h"

static char *covered(const Explored *x, bool reuse) {
  static const char *const stops[] = {"all of them", "one breaks a check", "a limit was reached", "interrupted",
                                      "the pooler did otherwise than before"};
  GString *out = g_string_new(NULL);
  g_string_append_printf(
      out,
      "%" G_GUINT64_FORMAT " orders of events tried, %" G_GUINT64_FORMAT
      " given up as equal to one of them, %" G_GUINT64_FORMAT " different histories, at most %u choices: %s\n",
      x->runs, x->redundant, x->distinct, x->longest, x->went_wrong ? "one goes wrong" : stops[x->stop]);
  if (reuse)
    g_string_append_printf(out, "%" G_GUINT64_FORMAT " of them around a pooler that went on from the one before\n",
                           x->reused);
  if (x->estimate > 0) g_string_append_printf(out, "about %.3g orders there are (Knuth's estimate)\n", x->estimate);
  if (x->stop == EXPLORED_FOUND)
    g_string_append_printf(out, "made shorter in %" G_GUINT64_FORMAT " runs: %u choices are not the first in time\n",
                           x->shrunk_runs, x->deviations);
  return g_string_free(out, FALSE);
}

int live_explore_command(const App *app, const char *name, const LiveOptions *o, const LiveFlags *f,
                         const CliOptions *cli) {
  ExploreOptions e = {
      .max_runs = (guint64)f->max_runs, .max_seconds = f->max_time, .depth = (guint)f->depth, .reuse = f->reuse};
  GError *error = NULL;
  Explored x;
  if (!explore_strategy(f->strategy, &e.strategy))
    return cli_refuse(EXIT_INPUT, "--strategy %s: it is dfs, random or pct", f->strategy);
  if (e.strategy != EXPLORE_DFS && !e.max_runs && !e.max_seconds)
    return cli_refuse(EXIT_INPUT, "--strategy %s has no end of its own: give --max-runs or --max-time", f->strategy);
  g_autoptr(Scenario) s = cli_scenario(app, name, cli, &error);
  if (!s) return live_fail(error);
  g_autoptr(RunResult) r = live_explore(s, o, &e, &x, &error);
  if (!r) return live_fail(error);
  if (x.stop == EXPLORED_DIFFERED)
    return cli_refuse(EXIT_DIFFERED, "the pooler did otherwise with the same choices: it cannot be explored");
  int status = live_say(r, cli);
  g_autofree char *words = covered(&x, e.reuse);
  if (!cli->json && !cli->quiet && cli_print(words) != EXIT_MET) return EXIT_ENVIRONMENT;
  if (x.stop == EXPLORED_INTERRUPTED) return EXIT_INTERRUPTED;
  return status == EXIT_MET && x.stop == EXPLORED_LIMIT ? EXIT_LIMIT : status;
}
