/* text_table.c - see text_table.h. */
#include "sim/text_table.h"
#include <string.h>

struct TextTable {
  char *align;
  GPtrArray *cells; /* of char *, row by row */
};

TextTable *text_table_new(const char *align) {
  TextTable *t = g_new0(TextTable, 1);
  t->align = g_strdup(align);
  t->cells = g_ptr_array_new_with_free_func(g_free);
  g_assert(*align);
  return t;
}

void text_table_free(TextTable *t) {
  if (!t) return;
  g_free(t->align);
  g_ptr_array_unref(t->cells);
  g_free(t);
}

void text_table_cell(TextTable *t, char *text_taken) {
  g_ptr_array_add(t->cells, text_taken);
}

void text_table_cells(TextTable *t, const char *const *texts, guint n) {
  for (guint i = 0; i < n; i++) text_table_cell(t, g_strdup(texts[i]));
}

static guint columns_of(const TextTable *t) {
  return (guint)strlen(t->align);
}

static glong width_of(const TextTable *t, guint column) {
  glong width = 0;
  for (guint i = column; i < t->cells->len; i += columns_of(t))
    width = MAX(width, g_utf8_strlen(t->cells->pdata[i], -1));
  return width;
}

/* printf counts bytes, columns count characters. */
static void pad(GString *out, const char *text, glong width, bool left) {
  const glong blanks = width - g_utf8_strlen(text, -1);
  if (left) g_string_append(out, text);
  for (glong i = 0; i < blanks; i++) g_string_append_c(out, ' ');
  if (!left) g_string_append(out, text);
}

static void end_line(GString *out) {
  while (out->len && out->str[out->len - 1] == ' ') g_string_truncate(out, out->len - 1);
  g_string_append_c(out, '\n');
}

void text_table_print(const TextTable *t, GString *out) {
  const guint columns = columns_of(t);
  g_assert(t->cells->len % columns == 0);
  for (guint i = 0; i < t->cells->len; i++) {
    g_string_append(out, "  ");
    pad(out, t->cells->pdata[i], width_of(t, i % columns), t->align[i % columns] == 'l');
    if (i % columns == columns - 1) end_line(out);
  }
}

/* A bar would end the cell. */
static void append_cell(GString *out, const char *text) {
  g_string_append(out, " ");
  for (; *text; text++) g_string_append_printf(out, "%s%c", *text == '|' ? "\\" : "", *text);
  g_string_append(out, " |");
}

void text_table_markdown(const TextTable *t, GString *out) {
  const guint columns = columns_of(t);
  g_assert(t->cells->len % columns == 0);
  for (guint i = 0; i < t->cells->len; i++) {
    if (i % columns == 0) g_string_append_c(out, '|');
    append_cell(out, t->cells->pdata[i]);
    if (i % columns == columns - 1) g_string_append_c(out, '\n');
    if (i != columns - 1) continue;
    g_string_append_c(out, '|'); /* below the heading */
    for (guint k = 0; k < columns; k++) g_string_append(out, t->align[k] == 'l' ? "---|" : "---:|");
    g_string_append_c(out, '\n');
  }
}
