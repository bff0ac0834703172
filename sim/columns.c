/* columns.c - see columns.h. */
#include "sim/columns.h"

int columns_width(const GPtrArray *rows, guint column) {
  glong width = 0;
  for (guint i = 0; i < rows->len; i++)
    width = MAX(width, g_utf8_strlen(((const GPtrArray *)rows->pdata[i])->pdata[column], -1));
  return (int)width;
}

void columns_pad(GString *out, const char *text, int width, bool left) {
  const int blanks = width - (int)g_utf8_strlen(text, -1);
  if (left) g_string_append(out, text);
  for (int i = 0; i < blanks; i++) g_string_append_c(out, ' ');
  if (!left) g_string_append(out, text);
}

void columns_end_line(GString *out) {
  while (out->len && out->str[out->len - 1] == ' ') g_string_truncate(out, out->len - 1);
  g_string_append_c(out, '\n');
}

GPtrArray *columns_row(GPtrArray *rows) {
  GPtrArray *row = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(rows, row);
  return row;
}

static bool is_left(const char *align, guint column) {
  return !align || align[column] == 'l';
}

void columns_print(GString *out, const GPtrArray *rows, const char *align) {
  const guint n = rows->len ? ((GPtrArray *)rows->pdata[0])->len : 0;
  g_autofree int *widths = g_new0(int, n + 1);
  for (guint j = 0; j < n; j++) widths[j] = columns_width(rows, j);
  for (guint i = 0; i < rows->len; i++) {
    const GPtrArray *row = rows->pdata[i];
    g_assert(row->len == n);
    for (guint j = 0; j < n; j++) {
      g_string_append(out, "  ");
      columns_pad(out, row->pdata[j], widths[j], is_left(align, j));
    }
    columns_end_line(out);
  }
}

/* A bar would end the cell. */
/* What would end the cell, or begin a tag of HTML, which Markdown lets through. */
static void markdown_cell(GString *out, const char *text) {
  g_string_append_c(out, ' ');
  for (const char *p = text; *p; p++) g_string_append_printf(out, *p == '|' || *p == '<' ? "\\%c" : "%c", *p);
  g_string_append(out, " |");
}

void columns_markdown(GString *out, const GPtrArray *rows, const char *align) {
  for (guint i = 0; i < rows->len; i++) {
    const GPtrArray *row = rows->pdata[i];
    g_string_append_c(out, '|');
    for (guint j = 0; j < row->len; j++) markdown_cell(out, row->pdata[j]);
    g_string_append_c(out, '\n');
    if (i > 0) continue;
    g_string_append_c(out, '|');
    for (guint j = 0; j < row->len; j++) g_string_append(out, is_left(align, j) ? " --- |" : " ---: |");
    g_string_append_c(out, '\n');
  }
}
