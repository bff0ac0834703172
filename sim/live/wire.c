/* wire.c - see wire.h: out of a stream. What goes into a buffer is wire_put.c's. */
#include "sim/live/wire.h"
#include <string.h>

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
  return (WireCursor){m->body, m->body + m->len, NULL};
}

static void cut_short(WireCursor *c, const char *what) {
  if (!c->bad) c->bad = what;
  c->at = c->end;
}

static const guint8 *take(WireCursor *c, gsize n) {
  static const guint8 nothing[4];
  if ((gsize)(c->end - c->at) < n) {
    cut_short(c, c->at == c->end && n == 1 ? "no data left in message" : "insufficient data left in message");
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
    cut_short(c, "invalid string in message");
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

char *wire_rest_text(WireCursor *c) {
  gsize n;
  const guint8 *p = wire_rest(c, &n);
  return g_strndup((const char *)p, n);
}

const char *wire_end(const WireCursor *c) {
  return c->bad ? c->bad : c->at == c->end ? NULL : "invalid message format";
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
               {'s', "PortalSuspended", NULL},
               {'W', "CopyBothResponse", NULL},
               {'G', "CopyInResponse", NULL},
               {'H', "CopyOutResponse", "Flush"},
               {'V', "FunctionCallResponse", NULL},
               {'t', "ParameterDescription", NULL},
               {'v', "NegotiateProtocolVersion", NULL},
               {'A', "NotificationResponse", NULL},
               {'Q', NULL, "Query"},
               {'P', NULL, "Parse"},
               {'B', NULL, "Bind"},
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
