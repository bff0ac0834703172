/* cli.h - what every subcommand shares: what stampede.c hands down, common options, exit statuses, output. */
#pragma once
#include "sim/run.h"
#include <stdio.h>

typedef struct App App;

/* The explorer as what sweep does with a point (--job check). `flags` is the caller's handle on its options. */
typedef struct {
  gpointer (*flags_new)(void);
  void (*flags_free)(gpointer flags);
  GOptionEntry *(*entries)(gpointer flags, const GOptionEntry *own); /* to be parsed, `own` behind them; g_free */
  char *(*words)(gpointer flags);                                    /* those given, "--max-states 300"; g_free */
  char *(*set)(gpointer flags);  /* an override that they come to, or NULL; g_free */
  bool (*ready)(gpointer flags); /* false: said what makes no sense */
  /* Verdicts, no expectations; a limit leaves the result incomplete. Called by several threads at a time. */
  RunResult *(*run)(const App *app, const Scenario *s, gpointer flags, GError **error);
} CheckJob;

/* Handed to each subcommand. Nothing in it changes after start. */
struct App {
  CheckTable checks;
  const char *const *check_names; /* of the table, NULL-terminated */
  const char *const *dirs;        /* where scenarios, presets, profiles and data are */
  const char *program;            /* argv[0] */
  /* Walks a trace that `check` wrote: `recorded` gives the step that is due, NULL at the end; o->saw sees each step
   * made. As run_scenario beside. */
  RunResult *(*replay_check)(const Scenario *s, const RunOptions *o, const TraceStep *(*recorded)(void *replay),
                             GError **error);
  /* Draws the states of a small model to a file (stampede check --view space). Exit status; says what is wrong. NULL:
   * nobody can. */
  int (*space)(const void *app, const Scenario *s, const char *path);
  /* Draws DIR/plot.svg from DIR/results.json (sim/README.md): true, or false and *error. NULL: nobody can. */
  bool (*plot)(const char *dir, GError **error);
  const CheckJob *check_job;
  /* Draws DIR/backends.svg from DIR/backends.csv (sim/calibrate/README.md). NULL: nobody can. */
  bool (*plot_backends)(const char *dir, GError **error);
};
typedef struct {
  const char *name, *about;                           /* "run", one line */
  int (*main)(const App *app, int argc, char **argv); /* argv[0] is the subcommand; returns the exit status */
} Command;

/* Options common to all subcommands; zero before cli_parse, then cli_clear. */
typedef struct {
  char *seed, *trace, *junit;
  char **sets;
  char *subject; /* CLI_SUBJECT; cli_parse makes `subject=PATH` of it, in `sets` */
  gboolean json, quiet;
} CliOptions;

/* For the own entries of a command that makes models. */
#define CLI_SUBJECT(o)                                                                                                 \
  {                                                                                                                    \
    "subject", 0, 0, G_OPTION_ARG_FILENAME, &(o)->subject,                                                             \
        "real code in place of the built-in model (stampede subject)", "FILE"                                          \
  }

/* To be called before anything is opened: closed standard streams, a full stdout, a file-size limit and memory that is
 * not there become messages and EXIT_ENVIRONMENT, whatever the command. */
void cli_prepare(void);

/* Parses argv; `own` are the subcommand's entries (may be NULL), `usage` the words after the name ("SCENARIO"), `about`
 * a paragraph for --help. Returns what is left (argv without options, NULL-terminated), to be freed with g_strfreev;
 * NULL: said what is wrong, end with EXIT_INPUT. Between `least` and `most` words must be left. */
char **cli_parse(const char *command, const char *usage, const char *about, CliOptions *common, GOptionEntry *own,
                 int argc, char **argv, guint least, guint most);
void cli_clear(CliOptions *o);

/* Prints "stampede: MESSAGE" to stderr, frees the error, returns its exit status: what is wrong with the input after a
 * signal came is the signal's. */
int cli_fail(GError *error);
int cli_refuse(int status, const char *format, ...) G_GNUC_PRINTF(2, 3);

Scenario *cli_scenario(const App *app, const char *name, const CliOptions *o, GError **error);
/* A document to a path or "-" (stdout): `fill` writes it. EXIT_MET or EXIT_ENVIRONMENT, said. */
int cli_write(const char *path, void (*fill)(Output *o, const void *data), const void *data);
/* Whether it could be written, before work is done for it: EXIT_MET, or said. Leaves nothing behind. */
int cli_writable(const char *path);
int cli_print(const char *text); /* to stdout, likewise */
/* A result as the common options ask for it: JSON on stdout with --json, the JUnit report. Status as cli_write. */
int cli_write_result(const RunResult *r, const CliOptions *o);
bool cli_color(int fd); /* a terminal, and NO_COLOR is not set */
/* Goes up at SIGINT, SIGTERM, in this process and in those that it forks from then on, whichever of them gets it; a
 * process's second one ends it at once, if it comes later than a fifth of a second. */
const gint *cli_interrupted(void);
bool cli_is_interrupted(void); /* false also where nobody has asked for it yet */

int cmd_run(const App *app, int argc, char **argv);
int cmd_replay(const App *app, int argc, char **argv);
int cmd_diff(const App *app, int argc, char **argv);
int cmd_list(const App *app, int argc, char **argv);
int cmd_compare(const App *app, int argc, char **argv);
int cmd_sweep(const App *app, int argc, char **argv);
int cmd_calibrate(const App *app, int argc, char **argv);
