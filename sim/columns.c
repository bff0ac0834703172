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
