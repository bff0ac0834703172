/* wire.c - see wire.h. */
#include "sim/live/wire.h"
#include <string.h>

/* ---- out of a stream ---- */

enum { HEADER = 5, FIRST_HEADER = 4 };

WireStream *wire_stream_new(bool first) {
  WireStream *s = g_new0(WireStream, 1);
  s->bytes = g_byte_array_new();
  s->first = first;
  return s;
}

void wire_stream_free(WireStream *s) {
  g_byte_array_unref(s->bytes);
  g_free(s);
}

void wire_feed(WireStream *s, const void *bytes, gsize n) {
  if (s->taken) g_byte_array_remove_range(s->bytes, 0, (guint)s->taken);
  s->taken = 0;
  g_byte_array_append(s->bytes, bytes, (guint)n);
}

static int32_t int32_at(const guint8 *p) {
  return (int32_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
}

WireNext wire_next(WireStream *s, WireMessage *m, GError **error) {
  g_assert(s->taken <= s->bytes->len);
  gsize have = s->bytes->len - s->taken, type = s->first ? 0 : 1;
  if (have < type + FIRST_HEADER) return WIRE_MORE;
  const guint8 *p = s->bytes->data + s->taken;
  int32_t len = int32_at(p + type); /* counts itself, not the type */
  int32_t least = s->first ? 8 : 4, most = s->first ? WIRE_STARTUP_MOST : WIRE_MESSAGE_MOST;
  if (len < least || len > most) {
    g_set_error(error, WIRE_ERROR, 0, "a message of %d bytes; %d to %d are right", len, least, most);
    return WIRE_BROKEN;
  }
  if (have < type + (gsize)len) return WIRE_MORE;
  *m = (WireMessage){type ? (char)p[0] : 0, p + type + FIRST_HEADER, (gsize)len - FIRST_HEADER};
  s->taken += type + (gsize)len;
  return WIRE_MESSAGE;
}

WireCursor wire_body(const WireMessage *m) {
  return (WireCursor){m->body, m->body + m->len, false};
}

static const guint8 *take(WireCursor *c, gsize n) {
  static const guint8 nothing[4];
  if ((gsize)(c->end - c->at) < n) {
    c->bad = true;
    c->at = c->end;
    return nothing;
  }
  const guint8 *p = c->at;
  c->at += n;
  return p;
}

uint8_t wire_byte(WireCursor *c) {
  return take(c, 1)[0];
}
int16_t wire_int16(WireCursor *c) {
  const guint8 *p = take(c, 2);
  return (int16_t)(p[0] << 8 | p[1]);
}
int32_t wire_int32(WireCursor *c) {
  return int32_at(take(c, 4));
}

const char *wire_text(WireCursor *c) {
  const guint8 *end = memchr(c->at, 0, (gsize)(c->end - c->at));
  if (!end) {
    c->bad = true;
    c->at = c->end;
    return "";
  }
  const char *text = (const char *)c->at;
  c->at = end + 1;
  return text;
}

const guint8 *wire_rest(WireCursor *c, gsize *n) {
  const guint8 *p = c->at;
  *n = (gsize)(c->end - c->at);
  c->at = c->end;
  return p;
}

bool wire_first(const WireMessage *m, WireFirst *f) {
  WireCursor c = wire_body(m);
  *f = (WireFirst){.code = wire_int32(&c)};
  if (f->code == WIRE_SSL || f->code == WIRE_GSS) return m->len == 4;
  if (f->code == WIRE_CANCEL) {
    f->pid = wire_int32(&c);
    f->key = wire_rest(&c, &f->key_len);
    return !c.bad && f->key_len >= 1 && f->key_len <= WIRE_KEY_MOST;
  }
  f->pairs = c;
  return m->len > 4 && m->body[m->len - 1] == 0;
}

const char *wire_field(const WireMessage *m, char field) {
  WireCursor c = wire_body(m);
  for (;;) {
    char is = (char)wire_byte(&c);
    if (!is || c.bad) return NULL;
    const char *value = wire_text(&c);
    if (is == field) return value;
  }
}

const char *wire_word(char type, bool by_server) {
  static const struct {
    char type;
    const char *server, *client;
  } words[] = {{'R', "Authentication", NULL},
               {'K', "BackendKeyData", NULL},
               {'S', "ParameterStatus", "Sync"},
               {'Z', "ReadyForQuery", NULL},
               {'E', "ErrorResponse", "Execute"},
               {'N', "NoticeResponse", NULL},
               {'C', "CommandComplete", "Close"},
               {'D', "DataRow", "Describe"},
               {'T', "RowDescription", NULL},
               {'I', "EmptyQueryResponse", NULL},
               {'1', "ParseComplete", NULL},
               {'2', "BindComplete", NULL},
               {'3', "CloseComplete", NULL},
               {'n', "NoData", NULL},
               {'t', "ParameterDescription", NULL},
               {'v', "NegotiateProtocolVersion", NULL},
               {'A', "NotificationResponse", NULL},
               {'Q', NULL, "Query"},
               {'P', NULL, "Parse"},
               {'B', NULL, "Bind"},
               {'H', NULL, "Flush"},
               {'X', NULL, "Terminate"},
               {'p', NULL, "PasswordMessage"},
               {'F', NULL, "FunctionCall"},
               {'d', "CopyData", "CopyData"},
               {'c', "CopyDone", "CopyDone"},
               {'f', NULL, "CopyFail"}};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (words[i].type == type) return by_server ? words[i].server : words[i].client;
  return NULL;
}

/* ---- into a buffer ---- */

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

void wire_execute(GByteArray *out, const char *portal) {
  guint at = begin(out, 'E');
  put_text(out, portal);
  put_int32(out, 0); /* all rows */
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

void wire_error(GByteArray *out, const char *severity, const char *sqlstate, const char *message) {
  const struct {
    char field;
    const char *value;
  } fields[] = {{'S', severity}, {'V', severity}, {'C', sqlstate}, {'M', message}};
  guint at = begin(out, 'E');
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    g_byte_array_append(out, (const guint8 *)&fields[i].field, 1);
    put_text(out, fields[i].value);
  }
  put_text(out, "");
  end(out, at);
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
