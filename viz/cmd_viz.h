/* cmd_viz.h - `stampede viz`: pictures of a trace or of a sweep's folder. */
#pragma once
#include "sim/cli.h"

/* Exit status: EXIT_MET drawn, EXIT_INPUT, EXIT_ENVIRONMENT a tool is missing or the file cannot be written. Says what
 * is wrong on stderr, and which file it wrote on stdout (not when that is where it went). */
/* For App: the states of a small model as a picture; the format is as the file ends. Exit status, as cmd_viz. */
int viz_draw_space(const void *app, const Scenario *s, const char *path);
int cmd_viz(const App *app, int argc, char **argv);
