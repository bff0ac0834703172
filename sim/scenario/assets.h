/* assets.h - files that come with the program: scenarios, suites, presets, profiles, data. Each directory searched
 * holds one folder of each kind; in the repository that is sim/, installed PREFIX/share/stampede/. */
#pragma once
#include <glib.h>
#include <stdbool.h>

/* Directories that exist, in order: $STAMPEDE_DATA, then beside the program: ../sim, ../../sim (a test), and
 * ../share/stampede. NULL-terminated; free with g_strfreev. argv0 serves where /proc does not. */
char **asset_dirs(const char *argv0);

/* kind: "scenarios", "suites", "presets", "profiles", "data". The path of NAME.yaml (data: NAME), or NULL. */
char *asset_path(const char *const *dirs, const char *kind, const char *name);

typedef struct {
  char *name, *about, *path;
} Asset;                                                          /* about: its `about` key, "" when there is none */
GPtrArray *asset_list(const char *const *dirs, const char *kind); /* of Asset, by name; a name once, the first wins */

/* A whole text file of at most `most` bytes; errors (SCENARIO_ERROR) name it: absent, a directory, unreadable, too
 * long. */
char *asset_read(const char *path, gsize most, gsize *length, GError **error);
