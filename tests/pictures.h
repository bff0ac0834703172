/* pictures.h - for the suites of viz: a folder for pictures, and what can be asked of one. */
#pragma once
#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>

static char pictures_folder[] = "/tmp/stampede-pictures-XXXXXX";

static inline void pictures_begin(void) {
  char *made = g_mkdtemp(pictures_folder);
  g_assert_nonnull(made);
}

static inline void pictures_end(void) {
  g_autoptr(GDir) dir = g_dir_open(pictures_folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(pictures_folder, name, NULL);
    g_unlink(path);
  }
  g_rmdir(pictures_folder);
}

static inline char *picture_path(const char *name) {
  return g_build_filename(pictures_folder, name, NULL);
}

static inline char *picture_read(const char *path) {
  char *data = NULL;
  return g_file_get_contents(path, &data, NULL, NULL) ? data : g_strdup("");
}

static inline bool picture_starts(const char *path, const char *magic) {
  g_autofree char *data = picture_read(path);
  return g_str_has_prefix(data, magic);
}

static inline bool picture_same(const char *a, const char *b) {
  g_autofree char *da = NULL, *db = NULL;
  gsize na, nb;
  return g_file_get_contents(a, &da, &na, NULL) && g_file_get_contents(b, &db, &nb, NULL) && na == nb &&
         memcmp(da, db, na) == 0;
}

/* Well-formed, as far as GMarkup can tell; it knows no DOCTYPE with a subset, and pictures have none. */
static inline bool picture_is_xml(const char *path) {
  static const GMarkupParser nothing = {0};
  g_autofree char *data = picture_read(path);
  g_autoptr(GError) error = NULL;
  g_autoptr(GMarkupParseContext) context = g_markup_parse_context_new(&nothing, G_MARKUP_IGNORE_QUALIFIED, NULL, NULL);
  bool ok = *data && g_markup_parse_context_parse(context, data, -1, &error) &&
            g_markup_parse_context_end_parse(context, &error);
  if (error) g_printerr("%s: %s\n", path, error->message);
  return ok;
}

/* How often `what` stands in `text`, without overlap. */
static inline guint picture_count(const char *text, const char *what) {
  guint n = 0;
  for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) n++;
  return n;
}
