/* child.h - a process of its own for a subject: what its code breaks is its own, and several may run side by side. */
#pragma once
#include "sim/run.h"

/* run_scenario in a child. What ends the child from outside (a signal that the code provoked and nobody caught, too
 * little memory) becomes a result that says so. NULL and *error as run_scenario. */
RunResult *child_run(const Scenario *s, const RunOptions *o,
                     RunResult *(*run)(const Scenario *s, const RunOptions *o, GError **error), GError **error);
/* A whole command in a child, for those that look at each step; its exit status. */
int child_command(int (*command)(void *data), void *data);
bool child_here(void); /* this process is such a child */
