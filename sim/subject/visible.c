/* visible.c - see visible.h. A name or a message may hold whatever the code's memory did: an escape sequence would
 * reach the reader's terminal, a bad byte makes a report that no JSON reader takes. */
#include "sim/subject/visible.h"
#include <glib.h>
#include <stdbool.h>
#include <string.h>

static void add_byte(GString *out, guchar c) {
  if (c == '\n')
    g_string_append(out, "\\n");
  else if (c == '\t')
    g_string_append(out, "\\t");
  else
    g_string_append_printf(out, "\\x%02x", c);
}

/* Control characters of Unicode too (U+0080 to U+009F), which some terminals obey, and those that turn the order of
 * what is shown (U+202E and its like are "format"); of a character that is escaped, each byte. */
static bool is_shown(gunichar c) {
  return c < (gunichar)-2 && !g_unichar_iscntrl(c) && g_unichar_type(c) != G_UNICODE_FORMAT;
}

char *visible_text(const char *text) {
  GString *out = g_string_new(NULL);
  for (const char *p = text ? text : ""; *p;) {
    gunichar c = g_utf8_get_char_validated(p, (gssize)MIN(strnlen(p, 6), 6));
    gsize bytes = c < (gunichar)-2 ? (gsize)g_unichar_to_utf8(c, NULL) : 1;
    if (is_shown(c))
      g_string_append_len(out, p, (gssize)bytes);
    else
      for (gsize i = 0; i < bytes; i++) add_byte(out, (guchar)p[i]);
    p += bytes;
  }
  g_assert(g_utf8_validate(out->str, (gssize)out->len, NULL));
  return g_string_free(out, FALSE);
}
