/* cmd_viz.h - `stampede viz`: pictures of a trace or of a sweep's folder. */
#pragma once

/* argv[0] is the subcommand. Exit status: 0 drawn, 2 bad usage or input, 4 a tool is missing or the file cannot be
 * written. Says what is wrong on stderr, and which file it wrote on stdout (not when that is where it went). */
int cmd_viz(int argc, char **argv);
