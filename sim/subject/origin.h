/* origin.h - what a subject knows of how it was built: JSON in a section of the object, put there by `subject build`.
 *
 * {"stampede": version, "subject", "about", "tree", "build" (null: in the tree), "manifest" (null: the bundled one),
 *  "compiler", "flags", "flags_from" (null: the manifest's alone), "sources", "entries", "modelled", "traps",
 * "assembly", "races": [{"at", "reason"}]} Places are as the user named them, so that no path of a machine gets in. */
#pragma once
#include "sim/subject/build.h"
#include "traces/output.h"

#define ORIGIN_SECTION "stampede_build"

/* A line of C that defines the section. `compiler` is what it says of itself, flags those of the tree's build. */
char *origin_text(const Manifest *m, const BuildOptions *o, const char *compiler, const char *const *flags,
                  const BuildReport *r);

typedef struct {
  char *stampede, *tree, *build, *manifest, *compiler, *flags_from, *about; /* NULL: null */
  GStrv flags, sources, entries, modelled, traps, assembly;
  GArray *races; /* of DeclaredRace */
} Origin;
void declared_race_json(const char *at, const char *reason, Output *o); /* {"at": AT, "reason": REASON} */
/* Of the bytes of an object, of whatever machine. NULL: `subject build` has not made it. */
Origin *origin_read(const char *contents, gsize length);
void origin_free(Origin *o);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Origin, origin_free)

/* The last bytes of a subject's file say what is before them, so that one that was damaged is not loaded: a loader that
 * believes a wrong header does anything. */
char *origin_seal(const char *contents, gsize length); /* what is appended; g_free */
bool origin_is_sealed(const char *contents, gsize length);
