/* tree.c - see tree.h. */
#include "sim/subject/tree.h"
#include "sim/scenario/scenario.h"

static bool wrong(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool wrong(GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error_literal(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, text);
  return false;
}

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

char *tree_as_named(const Tree *t, const char *text) {
  g_autoptr(GString) out = g_string_new(text);
  g_string_replace(out, t->build, t->build_named ? t->build_named : t->named, 0);
  g_string_replace(out, t->path, t->named, 0);
  return g_string_free(g_steal_pointer(&out), FALSE);
}

/* ---- what is missing ---- */

/* In the build directory where there is one: meson's by ninja; one that nothing has set up yet, by meson if the tree
 * knows it. */
static char *what_makes(const Tree *t, const ManifestNeed *n) {
  const char *where = t->build_named ? t->build_named : t->named;
  if (has(t->build, "build.ninja")) return g_strdup_printf("ninja -C %s %s", where, n->ninja ? n->ninja : n->file);
  bool set_up = has(t->build, "config.status") || has(t->build, "Makefile");
  if (t->build_named && !set_up && has(t->path, "meson.build"))
    return g_strdup_printf("meson setup %s %s", where, t->named);
  const char *or_there = !t->build_named && !set_up && n->ninja ? "; or --build DIR, where its build is" : "";
  return n->by ? g_strdup_printf("cd %s && %s%s", where, n->by, or_there) : NULL;
}

static bool has_need(const Tree *t, const ManifestNeed *n, GError **error) {
  g_autofree char *found = tree_find(t, n->file);
  if (found) return true;
  g_autofree char *by = what_makes(t, n);
  return wrong(error, "%s: %s is missing; %s%s", t->build_named ? t->build_named : t->named, n->file,
               by ? "this makes it: " : "the manifest does not say what makes it", by ? by : "");
}

bool tree_has_all(const Tree *t, const Manifest *m, GError **error) {
  if (!g_file_test(t->path, G_FILE_TEST_IS_DIR)) return wrong(error, "--tree %s: no such directory", t->named);
  if (!g_file_test(t->build, G_FILE_TEST_IS_DIR)) return wrong(error, "--build %s: no such directory", t->build_named);
  for (guint i = 0; m->sources[i]; i++) {
    g_autofree char *found = tree_find(t, m->sources[i]);
    if (!found)
      return wrong(error, "--tree %s: there is no %s, which subject %s is built of", t->named, m->sources[i],
                   m->subject);
  }
  for (guint i = 0; i < m->needs->len; i++)
    if (!has_need(t, &g_array_index(m->needs, ManifestNeed, i), error)) return false;
  return true;
}
