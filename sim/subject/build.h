/* build.h - makes a subject: compiles, looks at what is missing, stands in for it, links. The tree is only read. */
#pragma once
#include "sim/subject/manifest.h"
#include <stdbool.h>

typedef struct {
  const char *tree, *build; /* build: where the configured build is; NULL: in the tree */
  const char *include;      /* folder of stampede_subject.h */
  const char *output;
  const char *manifest;    /* as the user named it; NULL: the bundled one */
  const char *compiler;    /* NULL: $CC, or cc */
  const gint *interrupted; /* goes up when the user has had enough; NULL: nobody will */
} BuildOptions;

/* What came of it, to be told: symbols by name. */
typedef struct {
  char *flags_from; /* file that compiler flags came from, as the user would name it; NULL: none */
  GStrv entries;    /* functions that are called from outside, as entries_found tells them */
  GStrv modelled;   /* needed by the sources, defined by the glue */
  GStrv traps;      /* needed, and modelled by nobody */
  GStrv assembly;   /* "file:line: text": inline assembly that writes memory, which no hook sees */
} BuildReport;

/* NULL and *error: SCENARIO_ERROR for the tree, the manifest and what does not compile (the compiler has said why, on
 * stderr), TRACE_ERROR for output that cannot be written, G_IO_ERROR_CANCELLED: interrupted. Nothing is left behind. */
BuildReport *subject_build(const Manifest *m, const BuildOptions *o, GError **error);
void build_report_free(BuildReport *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BuildReport, build_report_free)
