/* output_json.c - numbers and strings of JSON into the buffer. By hand, and not by json-glib, because a trace takes
 * millions of steps a second; tests/test_trace.c has json-glib read back what is written here. */
#include "traces/output_buffer.h"
#include <math.h>
#include <string.h>

gsize output_pending(const Output *o) {
  return o->used;
}

static char *room(Output *o, gsize n) {
  if (G_UNLIKELY(o->used + n > o->size)) {
    while (o->used + n > o->size) o->size *= 2;
    o->buffer = g_realloc(o->buffer, o->size);
  }
  return o->buffer + o->used;
}

void output_bytes(Output *o, const char *bytes, gsize n) {
  if (o->error) return;
  memcpy(room(o, n), bytes, n);
  o->used += n;
}

void output_str(Output *o, const char *s) {
  output_bytes(o, s, strlen(s));
}

void output_uint(Output *o, uint64_t v) {
  char digits[20], *p = digits + sizeof digits;
  do *--p = (char)('0' + v % 10);
  while (v /= 10);
  output_bytes(o, p, (gsize)(digits + sizeof digits - p));
}

void output_int(Output *o, int64_t v) {
  if (v < 0) output_bytes(o, "-", 1);
  output_uint(o, v < 0 ? -(uint64_t)v : (uint64_t)v); /* unsigned: INT64_MIN has no negative in int64 */
}

void output_double(Output *o, double v) {
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  g_assert(isfinite(v));
  for (int digits = 15; digits <= 17; digits++) {
    g_snprintf(format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd(text, sizeof text, format, v);
    if (g_ascii_strtod(text, NULL) == v) break; /* 17 digits always do (IEEE 754) */
  }
  output_str(o, text);
}

/* What stands for byte c in a JSON string, in at most 6 bytes; returns how many. */
static gsize escape(char *out, unsigned char c) {
  static const char hex[] = "0123456789abcdef";
  const char *at = c ? strchr("\"\"\\\\\nn\tt\rr\bb\ff", c) : NULL;
  out[0] = '\\';
  if (at) {
    out[1] = at[1];
    return 2;
  }
  memcpy(out + 1, "u00", 3);
  out[4] = hex[c >> 4];
  out[5] = hex[c & 15];
  return 6;
}

/* Six times the length is room for the worst, every byte escaped; 2 for the quotes. */
void output_string(Output *o, const char *s) {
  if (o->error) return;
  gsize length = strlen(s);
  unsigned char all = 0; /* has the top bit when some byte is not ASCII */
  char *start = room(o, 6 * length + 2), *p = start;
  *p++ = '"';
  for (gsize i = 0; i < length; i++) {
    unsigned char c = (unsigned char)s[i];
    all |= c;
    if (G_LIKELY(c >= 0x20 && c != '"' && c != '\\' && c != 0x7f))
      *p++ = (char)c;
    else
      p += escape(p, c);
  }
  *p++ = '"';
  o->used += (gsize)(p - start);
  if (G_UNLIKELY(all & 0x80) && !g_utf8_validate(s, (gssize)length, NULL)) {
    g_autofree char *shown = g_strescape(s, NULL);
    g_autofree char *why = g_strdup_printf("text is not UTF-8: \"%.60s\"", shown);
    output_fail(o, why);
  }
}

void output_key(Output *o, const char *name) {
  output_string(o, name);
  output_str(o, ": ");
}

void output_nullable(Output *o, const char *s) {
  if (s)
    output_string(o, s);
  else
    output_str(o, "null");
}

void output_strings(Output *o, const char *const *texts, guint n) {
  output_str(o, "[");
  for (guint i = 0; i < n; i++) {
    if (i) output_str(o, ", ");
    output_string(o, texts[i]);
  }
  output_str(o, "]");
}
