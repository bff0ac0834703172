/* wire.h - PostgreSQL's protocol 3.0 and 3.2 as bytes, in both roles: messages into a buffer, messages out of a stream.
 * Incremental, without I/O, without state of its own. The formats are those of the protocol chapter of PostgreSQL's
 * documentation ("Message Formats"); lengths that are checked here are the server's own limits. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  WIRE_30 = 196608, /* 3 << 16 */
  WIRE_32 = 196610,
  WIRE_CANCEL = 80877102, /* 1234 << 16 | 5678 */
  WIRE_SSL = 80877103,
  WIRE_GSS = 80877104,
  WIRE_STARTUP_MOST = 10000,   /* bytes of a first packet */
  WIRE_MESSAGE_MOST = 1 << 24, /* of any other: far above what a scenario says */
  WIRE_KEY_LEAST = 4,          /* bytes of a cancel key that a server may give */
  WIRE_KEY_MOST = 256
};

#define WIRE_ERROR (g_quark_from_static_string("wire-error"))

/* ---- out of a stream ---- */

/* `type` 0: a first packet, which has none. body belongs to the stream, until the next call on it. */
typedef struct {
  char type;
  const guint8 *body;
  gsize len;
} WireMessage;
typedef struct {
  GByteArray *bytes;
  gsize taken;
  bool first; /* what comes next is a first packet (a server's side of a new connection) */
} WireStream;
typedef enum { WIRE_MESSAGE, WIRE_MORE, WIRE_BROKEN } WireNext;

WireStream *wire_stream_new(bool first);
void wire_stream_free(WireStream *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WireStream, wire_stream_free)
void wire_feed(WireStream *s, const void *bytes, gsize n);
/* MORE: no whole message yet. BROKEN, and *error: a length that no message has; nothing more can be read. */
WireNext wire_next(WireStream *s, WireMessage *m, GError **error);

/* A cursor over a body. What is not there reads as 0 or "", and `bad` says what is wrong first, in a server's words.
 * Text and bytes are not copied. */
typedef struct {
  const guint8 *at, *end;
  const char *bad; /* NULL: nothing */
} WireCursor;
WireCursor wire_body(const WireMessage *m);
uint8_t wire_byte(WireCursor *c);
int16_t wire_int16(WireCursor *c);
int32_t wire_int32(WireCursor *c);
const char *wire_text(WireCursor *c); /* zero-terminated */
const guint8 *wire_rest(WireCursor *c, gsize *n);
char *wire_rest_text(WireCursor *c);       /* as text, which has no end of its own (SASL); g_free */
const char *wire_end(const WireCursor *c); /* NULL: all was there, and there is no more; else what is wrong */

typedef struct {
  int32_t code;     /* WIRE_CANCEL, WIRE_SSL, WIRE_GSS, else a protocol version */
  WireCursor pairs; /* of a start: name, value, ..., and an empty name */
  int32_t pid;      /* of a cancel */
  const guint8 *key;
  gsize key_len;
} WireFirst;
bool wire_first(const WireMessage *m, WireFirst *f); /* false: malformed */
/* The value of a field of an ErrorResponse or NoticeResponse ('C': SQLSTATE, 'M': message); NULL: none. */
const char *wire_field(const WireMessage *m, char field);
/* Of a message's type, as its sender says it: "Query", "ErrorResponse". NULL: no such type. */
const char *wire_word(char type, bool by_server);

/* ---- into a buffer: one message each ---- */

void wire_startup(GByteArray *out, int32_t version, const char *const *pairs); /* NULL-terminated: name, value, ... */
void wire_cancel(GByteArray *out, int32_t pid, const void *key, gsize n);
void wire_request(GByteArray *out, int32_t code); /* WIRE_SSL, WIRE_GSS */
void wire_simple(GByteArray *out, char type);     /* without a body: Sync, Terminate, ParseComplete, NoData, ... */
void wire_string(GByteArray *out, char type, const char *text); /* Query, PasswordMessage, CommandComplete */
void wire_parse(GByteArray *out, const char *statement, const char *sql);
/* values: as text, NULL-terminated; NULL: none. */
void wire_bind(GByteArray *out, const char *portal, const char *statement, const char *const *values);
void wire_close(GByteArray *out, char what, const char *name);        /* what: S | P */
void wire_describe(GByteArray *out, char what, const char *name);     /* what: S | P */
void wire_execute(GByteArray *out, const char *portal, int32_t rows); /* rows: no more than these; 0: all */
void wire_raw(GByteArray *out, char type, const void *body, gsize n); /* SASLResponse, CopyData */
void wire_sasl_initial(GByteArray *out, const char *mechanism, const char *data);

/* Authentication: `code` is AUTH_*; body follows as it is. */
enum { AUTH_OK = 0, AUTH_CLEAR = 3, AUTH_MD5 = 5, AUTH_SASL = 10, AUTH_SASL_GOES_ON = 11, AUTH_SASL_FINAL = 12 };
void wire_auth(GByteArray *out, int32_t code, const void *body, gsize n);
void wire_parameter(GByteArray *out, const char *name, const char *value);
void wire_key(GByteArray *out, int32_t pid, const void *key, gsize n);
void wire_ready(GByteArray *out, char status); /* I | T | E */
void wire_error(GByteArray *out, const char *severity, const char *sqlstate, const char *message);
void wire_warning(GByteArray *out, const char *sqlstate, const char *message); /* NoticeResponse */
/* n: how many names of options follow, NULL: none. */
void wire_negotiate(GByteArray *out, int32_t newest, const char *const *options, guint n);
void wire_parameters(GByteArray *out, guint n);                 /* ParameterDescription: n of type text */
void wire_row_description(GByteArray *out, const char *column); /* one column of type text */
void wire_row(GByteArray *out, const char *value);
