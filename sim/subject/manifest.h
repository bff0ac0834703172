/* manifest.h - a subject's manifest: what it is built of (YAML; `stampede subject new` writes one with every key). */
#pragma once
#include <glib.h>

typedef struct {
  char *file, *by; /* a file that must be there; the command, in the tree, that makes it (NULL: none is known) */
  char *ninja;     /* in a build directory of meson's: the target that makes it (NULL: the file itself) */
} ManifestNeed;

/* A function of the sources that is called from outside: by the glue, or by a scenario's scripts under a name. */
typedef struct {
  char *at;           /* "manifest.yaml:12:5" */
  GStrv functions;    /* one of them must be there; for a script it is one */
  char *word, *about; /* of scripts; NULL: none may call it */
} ManifestEntry;

/* Accesses that the code leaves without order, and why that is right. */
typedef struct {
  /* "FILE:LINE", FILE without its folders; or what is raced for, as reports name it: "PGPROC", "PGPROC.pid" */
  char *at;
  char *reason;
} DeclaredRace;
GArray *declared_races_new(void); /* of DeclaredRace, whose texts it owns; g_array_unref */

typedef struct {
  char *path, *folder; /* of the manifest itself */
  char *subject, *about;
  GStrv sources;  /* instrumented; relative to the tree */
  GStrv includes; /* relative to the tree and the build directory */
  GStrv glue;     /* not instrumented; relative to the manifest */
  GStrv flags;
  char *overlay;   /* include directory that comes first for sources; relative to the manifest; NULL: none */
  GArray *needs;   /* of ManifestNeed */
  GArray *races;   /* of DeclaredRace, each `at` once */
  GArray *entries; /* of ManifestEntry */
} Manifest;

/* NULL and *error (SCENARIO_ERROR): file:line:column: key: what. */
Manifest *manifest_read(const char *path, GError **error);
void manifest_free(Manifest *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Manifest, manifest_free)
