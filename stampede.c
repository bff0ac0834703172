/* stampede.c - the front door: a table of subcommands and the table of checks, nothing else. */
#include "checks/check_run.h"
#include "checks/checks.h"
#include "sim/cli.h"
#include "sim/live/cmd_live.h"
#include "sim/scenario/assets.h"
#include "sim/subject/cmd_subject.h"
#include "viz/backends_plot.h"
#include "viz/cmd_viz.h"
#include "viz/sweep_plot.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool plot(const char *dir, GError **error) {
  g_autofree char *path = g_build_filename(dir, "plot.svg", NULL);
  return viz_plot_sweep(dir, NULL, path, FORMAT_SVG, error);
}

static const Command commands[] = {
    {"run", "one deterministic run: verdict, metrics, hot spots", cmd_run},
    {"check", "explore: can it go wrong at all, in any order; the shortest way", cmd_check},
    {"sweep", "many runs over lists of values: table, plot, fitted exponent", cmd_sweep},
    {"compare", "two sides of a patch: a verdict per scenario, with interval and effect", cmd_compare},
    {"replay", "run a trace again and confirm every step and hash of it", cmd_replay},
    {"diff", "the first difference of two traces, in words", cmd_diff},
    {"viz", "pictures: states, sequence, space (of check), memory, plot; exports of a trace", cmd_viz},
    {"subject", "your own C code as the model: build, info, new", cmd_subject},
    {"live", "the same scenario around a real pooler's program, on a virtual clock", cmd_live},
    {"list", "scenarios, presets, variants, checks, metrics; explains one", cmd_list},
    {"calibrate", "costs of this machine, or fitted to figures; a real server beside the simulation", cmd_calibrate},
};

static void usage(FILE *out) {
  fprintf(out, "usage: stampede COMMAND [OPTION...]\n\n"
               "A deterministic simulator and model checker of PostgreSQL's connection handling.\n\n");
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].about);
  fprintf(out, "\nstampede COMMAND --help explains one; stampede(1) and stampede-scenario(5) tell the rest.\n");
}

static int dispatch(int argc, char **argv, const char *const *dirs) {
  App app = {.checks = {checks_all, checks_all_len},
             .check_names = checks_names(),
             .dirs = dirs,
             .program = argv[0],
             .replay_check = walk_replay,
             .plot = plot,
             .space = viz_draw_space,
             .plot_backends = viz_plot_backends,
             .check_job = &check_job};
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    if (strcmp(argv[1], commands[i].name) == 0) return commands[i].main(&app, argc - 1, argv + 1);
  fprintf(stderr, "stampede: unknown command \"%s\"; stampede --help lists them\n", argv[1]);
  return EXIT_INPUT;
}

/* Workers of these commands are threads, and one that runs a subject forks. A fork leaves the locks of GLib's slices
 * (to 2.74) as another thread had them, so that the child may wait for ever; malloc's it does not. Slices are malloc's
 * where the environment says so when the program begins, and only then. */
static void begin_with_malloc(int argc, char **argv) {
  static const char *const threaded[] = {"sweep", "compare", "calibrate", NULL};
  if (argc < 2 || !g_strv_contains(threaded, argv[1]) || getenv("G_SLICE")) return;
  if (setenv("G_SLICE", "always-malloc", 1) == 0) execv("/proc/self/exe", argv); /* that failed: as it was */
}

int main(int argc, char **argv) {
  begin_with_malloc(argc, argv);
  cli_prepare();
  setlocale(LC_ALL, "C");         /* numbers and messages are the same everywhere */
  setlocale(LC_CTYPE, "C.UTF-8"); /* and words of the command line may have umlauts */
  if (argc > 1 && strcmp(argv[1], "--version") == 0) return printf("stampede %s\n", STAMPEDE_VERSION) < 0;
  bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0);
  if (argc < 2 || help) return usage(help ? stdout : stderr), help ? EXIT_MET : EXIT_INPUT;
  g_auto(GStrv) dirs = asset_dirs(argv[0]);
  return dispatch(argc, argv, (const char *const *)dirs);
}
