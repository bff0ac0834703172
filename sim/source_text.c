/* source_text.c - see source_text.h. */
#include "sim/source_text.h"
#include <stdbool.h>
#include <string.h>

enum { TAB = 4 /* columns, as PostgreSQL's own sources have them */, FILE_MOST = 16 << 20 };

struct SourceTexts {
  GHashTable *files; /* path -> GStrv, empty where it cannot be read */
};

SourceTexts *source_texts_new(void) {
  SourceTexts *s = g_new0(SourceTexts, 1);
  s->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_strfreev);
  return s;
}

void source_texts_free(SourceTexts *s) {
  if (!s) return;
  g_hash_table_unref(s->files);
  g_free(s);
}

static char *plain_line(const char *line) {
  g_autoptr(GString) out = g_string_new(NULL);
  for (; *line; line++) {
    if (*line == '\t') g_string_append_printf(out, "%*s", TAB - (int)(out->len % TAB), "");
    if (*line != '\t' && !g_ascii_iscntrl(*line)) g_string_append_c(out, *line);
  }
  g_autofree char *valid = g_utf8_make_valid(out->str, (gssize)out->len);
  return g_strdup(g_strchomp(valid));
}

static GStrv read_file(const char *path) {
  g_autofree char *text = NULL;
  gsize length;
  bool there = g_file_test(path, G_FILE_TEST_IS_REGULAR) && g_file_get_contents(path, &text, &length, NULL);
  if (!there || length > FILE_MOST) return g_new0(char *, 1);
  GStrv lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    char *plain = plain_line(lines[i]);
    g_free(lines[i]);
    lines[i] = plain;
  }
  return lines;
}

const char *source_line(SourceTexts *s, const char *path, int line) {
  GStrv lines = g_hash_table_lookup(s->files, path);
  if (!lines) g_hash_table_insert(s->files, g_strdup(path), lines = read_file(path));
  return line >= 1 && (guint)line <= g_strv_length(lines) ? lines[line - 1] : NULL;
}
