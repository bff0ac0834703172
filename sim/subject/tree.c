/* tree.c - see tree.h. */
#include "sim/subject/tree.h"
#include "sim/scenario/scenario.h"
#include <string.h>

void tree_open(Tree *t, const char *named, const char *build_named) {
  g_assert(named);
  *t = (Tree){.named = named,
              .build_named = build_named,
              .path = g_canonicalize_filename(named, NULL),
              .build = g_canonicalize_filename(build_named ? build_named : named, NULL)};
}

void tree_clear(Tree *t) {
  g_free(t->path);
  g_free(t->build);
  *t = (Tree){0};
}

static bool has(const char *folder, const char *file) {
  g_autofree char *path = g_build_filename(folder, file, NULL);
  return g_file_test(path, G_FILE_TEST_EXISTS);
}

char *tree_find(const Tree *t, const char *file) {
  const char *folders[] = {t->path, t->build};
  for (guint i = 0; i < G_N_ELEMENTS(folders); i++)
    if (has(folders[i], file)) return g_build_filename(folders[i], file, NULL);
  return NULL;
}

/* Where the folder is named as a whole: /a/b is not in /a/bc. */
static void rename_folder(GString *text, const char *folder, const char *named) {
  size_t length = strlen(folder);
  for (char *at = text->str; (at = strstr(at, folder));) {
    gssize place = at - text->str;
    bool whole = strchr("/ ", at[length]) != NULL; /* or the end */
    if (whole) g_string_erase(text, place, (gssize)length);
    if (whole) g_string_insert(text, place, named);
    at = text->str + place + (whole ? strlen(named) : length);
  }
}

char *tree_as_named(const Tree *t, const char *text) {
  GString *out = g_string_new(text);
  if (t->build_named) rename_folder(out, t->build, t->build_named);
  rename_folder(out, t->path, t->named);
  return g_string_free(out, FALSE);
}

/* ---- what is missing ---- */

/* In the build directory where there is one: meson's by ninja; one that nothing has set up yet, by meson if the tree
 * knows it. */
static char *what_makes(const Tree *t, const ManifestNeed *n) {
  const char *where = t->build_named ? t->build_named : t->named;
  if (has(t->build, "build.ninja")) return g_strdup_printf("ninja -C %s %s", where, n->ninja ? n->ninja : n->file);
  bool configured = has(t->build, "config.status");
  if (t->build_named && !configured && !has(t->build, "Makefile") && has(t->path, "meson.build"))
    return g_strdup_printf("meson setup %s %s", where, t->named);
  const char *or_there = !t->build_named && !configured && n->ninja ? "; or --build DIR, where its build is" : "";
  return n->by ? g_strdup_printf("cd %s && %s%s", where, n->by, or_there) : NULL;
}

static bool has_need(const Tree *t, const ManifestNeed *n, GError **error) {
  g_autofree char *found = tree_find(t, n->file);
  if (found) return true;
  g_autofree char *by = what_makes(t, n);
  return scenario_wrong(error, "%s: %s is missing; %s%s", t->build_named ? t->build_named : t->named, n->file,
                        by ? "this makes it: " : "the manifest does not say what makes it", by ? by : "");
}

/* Without --tree it is the manifest's folder. */
static bool has_source(const Tree *t, const Manifest *m, const char *source, GError **error) {
  if (g_path_is_absolute(source))
    return scenario_wrong(error, "sources: %s: a path within the tree is needed; --tree DIR says where that is",
                          source);
  g_autofree char *found = tree_find(t, source);
  if (found) return true;
  if (strcmp(t->named, m->folder) == 0)
    return scenario_wrong(error,
                          "%s, the manifest's folder: there is no %s, which subject %s is built of; --tree DIR names "
                          "another folder",
                          t->named, source, m->subject);
  return scenario_wrong(error, "--tree %s: there is no %s, which subject %s is built of", t->named, source, m->subject);
}

bool tree_has_all(const Tree *t, const Manifest *m, GError **error) {
  if (!g_file_test(t->path, G_FILE_TEST_IS_DIR)) return scenario_wrong(error, "--tree %s: no such directory", t->named);
  if (!g_file_test(t->build, G_FILE_TEST_IS_DIR))
    return scenario_wrong(error, "--build %s: no such directory", t->build_named);
  for (guint i = 0; m->sources[i]; i++)
    if (!has_source(t, m, m->sources[i], error)) return false;
  for (guint i = 0; i < m->needs->len; i++)
    if (!has_need(t, &g_array_index(m->needs, ManifestNeed, i), error)) return false;
  return true;
}
