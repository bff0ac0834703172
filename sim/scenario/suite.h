/* suite.h - a set of scenarios with a name, for compare: sim/suites/NAME.yaml, or a file of the user's own.
 *
 *   suite: proc-array
 *   about: Connects and disconnects of pgbench.
 *   scenarios: [proc-array-cold-1024, ./mine.yaml]      names, or paths from this file */
#pragma once
#include <glib.h>

typedef struct {
  char *name;
  GPtrArray *scenarios; /* of char *: names, or paths that can be opened; NULL behind the last */
} Suite;

/* By name, or by path where there is a slash or .yaml. NULL and *error (SCENARIO_ERROR). */
Suite *suite_load(const char *name_or_path, const char *const *dirs, GError **error);
void suite_free(Suite *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Suite, suite_free)
