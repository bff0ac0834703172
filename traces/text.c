/* text.c - steps, names and hashes as text. */
#include "traces/trace.h"
#include <string.h>

void trace_hash_text(Hash128 h, char out[33]) {
  static const char hex[] = "0123456789abcdef";
  for (guint i = 0; i < 32; i++) {
    uint64_t half = i < 16 ? h.hi : h.lo;
    out[i] = hex[half >> (60 - 4 * (i % 16)) & 15];
  }
  out[32] = '\0';
}

/* Strict, so that each hash has one text. */
bool trace_hash_parse(const char *text, Hash128 *h) {
  uint64_t half[2] = {0, 0};
  for (guint i = 0; i < 32; i++) {
    char c = text[i];
    if (!g_ascii_isxdigit(c) || g_ascii_isupper(c)) return false; /* the NUL of a shorter text too */
    half[i / 16] = half[i / 16] << 4 | (uint64_t)g_ascii_xdigit_value(c);
  }
  if (text[32]) return false;
  *h = (Hash128){.hi = half[0], .lo = half[1]};
  return true;
}

/* By hand: a trace asks for a name at every step, and g_snprintf costs more than the rest of the line. */
const char *trace_who(char *buffer, gsize size, const char *name, uint32_t id) {
  char digits[10];
  gsize length = strlen(name), n = 0;
  do digits[n++] = (char)('0' + id % 10);
  while (id /= 10);
  g_assert_cmpuint(length + n + 3, <=, size);
  memcpy(buffer, name, length);
  buffer[length++] = '[';
  while (n) buffer[length++] = digits[--n];
  buffer[length++] = ']';
  buffer[length] = '\0';
  return buffer;
}

static void fields_words(const NoteField *fields, guint n, const char *before, GString *out) {
  for (guint f = 0; f < n; f++) {
    g_string_append_printf(out, "%s%s=", f ? ", " : before, fields[f].name);
    if (fields[f].text)
      g_string_append(out, fields[f].text);
    else
      g_string_append_printf(out, "%" G_GINT64_FORMAT, fields[f].value);
  }
}

static const char *argument(const TraceStep *s, const char *name) {
  for (guint i = 0; i < s->n_args; i++)
    if (strcmp(s->args[i].name, name) == 0) return s->args[i].text;
  return NULL;
}

/* Whom it belongs to in a chart: "server[6] (server 0, client a)". */
static void lane_words(const TraceStep *s, GString *out) {
  const char *on = argument(s, "on"), *of = argument(s, "of");
  if (on && of)
    g_string_append_printf(out, "(%s, %s) ", on, of);
  else if (on || of)
    g_string_append_printf(out, "(%s) ", on ? on : of);
}

void trace_step_words(const TraceStep *s, GString *out) {
  g_autofree NoteField *others = g_new(NoteField, s->n_args + 1);
  guint n = 0;
  for (guint i = 0; i < s->n_args; i++)
    if (!s->args[i].text || (strcmp(s->args[i].name, "on") != 0 && strcmp(s->args[i].name, "of") != 0))
      others[n++] = s->args[i];
  if (s->who) g_string_append_printf(out, "%s ", s->who);
  lane_words(s, out);
  g_string_append(out, s->what);
  fields_words(others, n, " ", out);
  for (guint c = 0; c < s->n_choices; c++)
    g_string_append_printf(out, " (%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT ")", s->choices[c].name,
                           s->choices[c].took, s->choices[c].n);
  fields_words(s->changed, s->n_changed, " -> ", out);
}
