/* side.h - one side of a comparison: what its word on the command line changes in a scenario. The only place that
 * knows.
 *
 *   split-pgxactoff, A+B   variants of the server, the later ones over the earlier: postgres.variant=[A, B]
 *   postgres-18            a version of it: postgres.version=18
 *   pgdog-0.1.54           a pooler's preset: pooler.preset=pgdog-0.1.54
 *   ./mine.so, dir/file    the user's code: subject=FILE
 *   KEY=VALUE              any key of the scenario, as with --set */
#pragma once
#include <glib.h>
#include <stdbool.h>

/* Appends "KEY=VALUE" (owned) to `sets`; whether value and key are right, the reader of scenarios says. False and
 * *error (SCENARIO_ERROR): an empty word, a path to nothing. dirs: where presets are. */
bool side_apply(const char *side, const char *const *dirs, GPtrArray *sets, GError **error);
char *side_variants(const char *names_plus); /* "A+B" as an override; g_free */
