/* entries.h - entry points of a manifest: functions of the sources that are called from outside. */
#pragma once
#include "sim/subject/build.h"
#include "sim/subject/include/stampede_subject.h"
#include "sim/subject/symbols.h"

/* Into r->entries, in words. False and *error (SCENARIO_ERROR, with the manifest's line): the sources define none of
 * those that would do. */
bool entries_found(const Manifest *m, const Symbols *sources, BuildReport *r, GError **error);
/* What scripts may call must take one number or nothing. `linked` has the debug information that says so. */
bool entries_callable(const Manifest *m, const char *linked, GError **error);
/* C that exports those of scripts: ENTRIES_SYMBOL, an array of StampedeEntry with an empty one at its end. g_free. */
char *entries_text(const Manifest *m);
#define ENTRIES_SYMBOL "stampede_subject_entries"
/* In words what is wrong with its lists of entries and checks (no name, two of one, nothing to call); NULL: nothing.
 * g_free. */
char *entries_wrong(const StampedeSubject *s);
/* Those of the code and, behind them, what ENTRIES_SYMBOL names (NULL: none): n of them, g_free. *twice: a name that
 * both have, or NULL. */
StampedeEntry *entries_together(const StampedeSubject *code, const StampedeEntry *more, unsigned *n,
                                const char **twice);
