/* build_parts.h - what the files of a build share: build.c, build_compile.c; nobody else's. */
#pragma once
#include "sim/subject/build.h"
#include "sim/subject/tree.h"

typedef struct {
  const Manifest *m;
  const BuildOptions *o;
  BuildReport *report;
  Tree tree;
  char *folder, *compiler;
  char *words;           /* the first line of what the compiler says of itself */
  bool clang, own_hooks; /* own_hooks: the glue's are called in place of the runtime's */
  GStrv flags;           /* of the tree's build */
  GPtrArray *objects, *glue;
  GPtrArray *assembly; /* char * */
} Build;

/* build_compile.c: what runs the compiler. Objects and texts are files of the build's folder. False and *error:
 * SCENARIO_ERROR with its words above; G_FILE_ERROR: there may have been no room for what it writes;
 * G_IO_ERROR_CANCELLED. */
bool build_run(const Build *b, GPtrArray *words, const char *what, GError **error);
bool build_ask_compiler(Build *b, GError **error); /* which it is: words, clang */
bool build_sources(Build *b, GError **error);      /* instrumented: objects, assembly */
bool build_glue(Build *b, GError **error);         /* plain: glue */
bool build_traps(const Build *b, const char *source, const char *object, GError **error);
char *build_object(const Build *b, const char *kind, guint i, const char *suffix); /* its path; g_free */
