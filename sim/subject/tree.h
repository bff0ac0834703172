/* tree.h - the sources that a subject is built of, and the build that they are configured by: in their own folder, or
 * in one of its own (autoconf's or meson's). Both are only read. */
#pragma once
#include "sim/subject/manifest.h"
#include <stdbool.h>

typedef struct {
  const char *named, *build_named; /* as the user has them; build_named NULL: in the tree */
  char *path, *build;              /* absolute */
} Tree;

void tree_open(Tree *t, const char *named, const char *build_named);
void tree_clear(Tree *t);
/* A file's path: in the tree, or in the build directory where it is not there. NULL: in neither. g_free. */
char *tree_find(const Tree *t, const char *file);
/* False and *error (SCENARIO_ERROR): a folder, a source or a file that the sources need is missing; for the last, with
 * the command that makes it. */
bool tree_has_all(const Tree *t, const Manifest *m, GError **error);
/* A text with paths of it, by the names that the user has for them. g_free. */
char *tree_as_named(const Tree *t, const char *text);
