/* wire_put.c - see wire.h: messages into a buffer. */
#include "sim/live/wire.h"
#include <string.h>

static void put_int16(GByteArray *out, int v) {
  guint16 u = (guint16)v;
  guint8 p[2] = {(guint8)(u >> 8), (guint8)u};
  g_byte_array_append(out, p, 2);
}
static void put_int32(GByteArray *out, int32_t v) {
  guint32 u = (guint32)v;
  guint8 p[4] = {(guint8)(u >> 24), (guint8)(u >> 16), (guint8)(u >> 8), (guint8)u};
  g_byte_array_append(out, p, 4);
}
static void put_text(GByteArray *out, const char *text) {
  g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text) + 1);
}

/* The length stands where `begin` said; `end` fills it in. */
static guint begin(GByteArray *out, char type) {
  if (type) g_byte_array_append(out, (const guint8 *)&type, 1);
  put_int32(out, 0);
  return out->len - 4;
}
static void end(GByteArray *out, guint at) {
  guint32 len = out->len - at;
  guint8 p[4] = {(guint8)(len >> 24), (guint8)(len >> 16), (guint8)(len >> 8), (guint8)len};
  memcpy(out->data + at, p, 4);
}

void wire_startup(GByteArray *out, int32_t version, const char *const *pairs) {
  guint at = begin(out, 0);
  put_int32(out, version);
  for (; *pairs; pairs++) put_text(out, *pairs);
  put_text(out, "");
  end(out, at);
}

void wire_cancel(GByteArray *out, int32_t pid, const void *key, gsize n) {
  guint at = begin(out, 0);
  put_int32(out, WIRE_CANCEL);
  put_int32(out, pid);
  g_byte_array_append(out, key, (guint)n);
  end(out, at);
}

void wire_request(GByteArray *out, int32_t code) {
  guint at = begin(out, 0);
  put_int32(out, code);
  end(out, at);
}

void wire_simple(GByteArray *out, char type) {
  end(out, begin(out, type));
}

void wire_string(GByteArray *out, char type, const char *text) {
  guint at = begin(out, type);
  put_text(out, text);
  end(out, at);
}

void wire_parse(GByteArray *out, const char *statement, const char *sql) {
  guint at = begin(out, 'P');
  put_text(out, statement);
  put_text(out, sql);
  put_int16(out, 0);
  end(out, at);
}

static void put_value(GByteArray *out, const char *value) {
  put_int32(out, (int32_t)strlen(value));
  g_byte_array_append(out, (const guint8 *)value, (guint)strlen(value));
}

void wire_bind(GByteArray *out, const char *portal, const char *statement, const char *const *values) {
  guint at = begin(out, 'B'), n = values ? g_strv_length((char **)values) : 0;
  put_text(out, portal);
  put_text(out, statement);
  put_int16(out, 0); /* formats: all are text */
  put_int16(out, (int)n);
  for (guint i = 0; i < n; i++) put_value(out, values[i]);
  put_int16(out, 0); /* likewise the result's */
  end(out, at);
}

static void put_named(GByteArray *out, char type, char what, const char *name) {
  guint at = begin(out, type);
  g_byte_array_append(out, (const guint8 *)&what, 1);
  put_text(out, name);
  end(out, at);
}
void wire_describe(GByteArray *out, char what, const char *name) {
  put_named(out, 'D', what, name);
}
void wire_close(GByteArray *out, char what, const char *name) {
  put_named(out, 'C', what, name);
}

void wire_execute(GByteArray *out, const char *portal, int32_t rows) {
  guint at = begin(out, 'E');
  put_text(out, portal);
  put_int32(out, rows);
  end(out, at);
}

void wire_raw(GByteArray *out, char type, const void *body, gsize n) {
  guint at = begin(out, type);
  if (n) g_byte_array_append(out, body, (guint)n);
  end(out, at);
}

void wire_sasl_initial(GByteArray *out, const char *mechanism, const char *data) {
  guint at = begin(out, 'p');
  put_text(out, mechanism);
  put_value(out, data);
  end(out, at);
}

void wire_auth(GByteArray *out, int32_t code, const void *body, gsize n) {
  guint at = begin(out, 'R');
  put_int32(out, code);
  if (n) g_byte_array_append(out, body, (guint)n);
  end(out, at);
}

void wire_parameter(GByteArray *out, const char *name, const char *value) {
  guint at = begin(out, 'S');
  put_text(out, name);
  put_text(out, value);
  end(out, at);
}

void wire_key(GByteArray *out, int32_t pid, const void *key, gsize n) {
  guint at = begin(out, 'K');
  put_int32(out, pid);
  g_byte_array_append(out, key, (guint)n);
  end(out, at);
}

void wire_ready(GByteArray *out, char status) {
  guint at = begin(out, 'Z');
  g_byte_array_append(out, (const guint8 *)&status, 1);
  end(out, at);
}

static void put_report(GByteArray *out, char type, const char *severity, const char *sqlstate, const char *message) {
  const struct {
    char field;
    const char *value;
  } fields[] = {{'S', severity}, {'V', severity}, {'C', sqlstate}, {'M', message}};
  guint at = begin(out, type);
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    g_byte_array_append(out, (const guint8 *)&fields[i].field, 1);
    put_text(out, fields[i].value);
  }
  put_text(out, "");
  end(out, at);
}
void wire_error(GByteArray *out, const char *severity, const char *sqlstate, const char *message) {
  put_report(out, 'E', severity, sqlstate, message);
}
void wire_warning(GByteArray *out, const char *sqlstate, const char *message) {
  put_report(out, 'N', "WARNING", sqlstate, message);
}

void wire_negotiate(GByteArray *out, int32_t newest, const char *const *options, guint n) {
  guint at = begin(out, 'v');
  put_int32(out, newest);
  put_int32(out, (int32_t)n);
  for (guint i = 0; i < n; i++) put_text(out, options[i]);
  end(out, at);
}

enum { TYPE_TEXT = 25 }; /* its oid in pg_type */

void wire_parameters(GByteArray *out, guint n) {
  guint at = begin(out, 't');
  put_int16(out, (int)n);
  for (guint i = 0; i < n; i++) put_int32(out, TYPE_TEXT);
  end(out, at);
}

void wire_row_description(GByteArray *out, const char *column) {
  guint at = begin(out, 'T');
  put_int16(out, 1);
  put_text(out, column);
  put_int32(out, 0); /* of no table */
  put_int16(out, 0);
  put_int32(out, TYPE_TEXT);
  put_int16(out, -1);
  put_int32(out, -1);
  put_int16(out, 0); /* as text */
  end(out, at);
}

void wire_row(GByteArray *out, const char *value) {
  guint at = begin(out, 'D');
  put_int16(out, 1);
  put_value(out, value);
  end(out, at);
}
