/* cmd_calibrate.h - the kinds of stampede calibrate. */
#pragma once
#include "sim/cli.h"

/* argv[0] is the kind; the exit status. */
int cmd_calibrate_fit(const App *app, int argc, char **argv);
int cmd_calibrate_machine(const App *app, int argc, char **argv);
int cmd_calibrate_postgres(const App *app, int argc, char **argv);

/* "stampede calibrate fit --free ...", as a shell would read it, in one line. Caller frees. */
char *calibrate_command_words(int argc, char **argv);
/* What a profile written to `output` is called: like its file; `otherwise` on stdout or with NULL. Caller frees. */
char *calibrate_profile_name(const char *output, const char *otherwise);
/* Whether -o `output` (or NULL) can be written and read as a profile: EXIT_MET, or the status after a line of why. */
int calibrate_output(const char *output, bool json);
