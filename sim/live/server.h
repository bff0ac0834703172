/* server.h - a fake PostgreSQL backend: one connection, as bytes in and out. It logs its client in, keeps prepared
 * statements and the transaction's state, and says what it was asked to run; when that ends is the caller's to say. No
 * I/O and no clock: whoever owns the socket moves the bytes.
 *
 * Messages after one that runs are left unread until it is over, as with a real backend: an interrupt of an idle one
 * is swallowed even when the next query has come already (postgres.md 7, DoingCommandRead). */
#pragma once
#include "sim/live/tls.h"
#include "sim/live/wire.h"

typedef enum { PASSWORD_NONE, PASSWORD_CLEAR, PASSWORD_MD5, PASSWORD_SCRAM } PasswordKind;
typedef struct {
  int32_t pid;
  guint8 key[WIRE_KEY_MOST];
  gsize key_len;  /* for 3.2; 3.0 gets the first four. 0: no BackendKeyData */
  int32_t newest; /* version that it speaks: WIRE_30, WIRE_32 */
  PasswordKind ask;
  const char *password; /* kept, not copied */
  const char *server_version;
  const TlsKeys *tls; /* kept, not copied; NULL: SSLRequest is answered with N */
  bool tls_only;      /* nobody logs in without (hostssl) */
} BackendConfig;

typedef enum {
  BACKEND_NOTHING, /* needs more bytes, or waits for its caller */
  BACKEND_LOGIN,   /* the client has shown who it is: backend_welcome, when its login is over */
  BACKEND_RUN,     /* `text` is to be run: backend_answer or backend_interrupt ends it */
  BACKEND_CANCEL,  /* this connection is a cancel: pid, key; nothing follows */
  BACKEND_BYE,     /* Terminate */
  BACKEND_REFUSED, /* a login, for what `text` says; to be closed once what is in `out` is sent */
  BACKEND_BROKEN   /* `text` says what; to be closed, once what is in `out` is sent (an error, or nothing) */
} BackendEventKind;
typedef struct {
  BackendEventKind kind;
  const char *text; /* until the next call */
  int32_t pid;
  const guint8 *key;
  gsize key_len;
} BackendEvent;

typedef struct Backend Backend;
Backend *backend_new(const BackendConfig *c); /* copied */
void backend_free(Backend *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Backend, backend_free)
void backend_feed(Backend *b, const void *bytes, gsize n);
BackendEvent backend_next(Backend *b); /* until it is NOTHING */
GByteArray *backend_out(Backend *b);   /* what is to be sent, sealed where TLS is on; whoever sends it empties it */

void backend_identify(Backend *b, const BackendConfig *c); /* before its welcome: who it is */
void backend_welcome(Backend *b);
void backend_turn_away(Backend *b, const char *sqlstate, const char *why); /* in its place: FATAL, to be closed */
bool backend_running(const Backend *b);
void backend_answer(Backend *b, const char *row, const char *sqlstate); /* row NULL: none; sqlstate NULL: well */
/* A cancel's signal: true, and 57014 is sent, where something runs; false: swallowed. */
bool backend_interrupt(Backend *b);
const char *backend_start_option(const Backend *b, const char *name); /* "user", "database"; NULL */
int32_t backend_protocol(const Backend *b);
const char *backend_text(const Backend *b);  /* what runs, or ran last; "" */
const char *backend_value(const Backend *b); /* the first value bound to it; NULL: none, or no text */
/* The error that it has said by itself since it was last asked: nobody has answered so (backend_answer); g_free. */
char *backend_take_refusal(Backend *b);
bool backend_in_transaction(const Backend *b);
const BackendConfig *backend_config(const Backend *b);
gsize backend_key_len(const Backend *b); /* of the key that it gave */
