/* client.h - a client's side of one connection, as bytes in and out: startup, password, and what the server says. No
 * I/O and no clock. */
#pragma once
#include "sim/live/tls.h"
#include "sim/live/wire.h"

typedef enum {
  CLIENT_NOTHING,
  CLIENT_READY,  /* may send the next query; after the login, and after each answer */
  CLIENT_ROW,    /* text: its first column, "" for NULL */
  CLIENT_PARSED, /* a Parse has made its statement */
  CLIENT_ERROR,  /* text: the message; sqlstate */
  CLIENT_BROKEN  /* text: what is no protocol, or a password asked for in a way that is not known */
} ClientEventKind;
typedef struct {
  ClientEventKind kind;
  const char *text, *sqlstate; /* until the next call */
  char status;                 /* of READY: I | T | E */
} ClientEvent;

typedef struct Wired Wired; /* a client's connection */
Wired *wired_new(int32_t protocol, const char *user, const char *database, const char *password); /* starts in `out` */
/* The same inside TLS: it asks first, and a server that has none is BROKEN (libpq's sslmode=require). keys: not copied.
 */
Wired *wired_new_tls(const TlsKeys *keys, int32_t protocol, const char *user, const char *database,
                     const char *password);
void wired_free(Wired *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Wired, wired_free)
void wired_feed(Wired *c, const void *bytes, gsize n);
ClientEvent wired_next(Wired *c);
char **wired_names(const Wired *c);   /* of the columns of the rows that come; likewise */
char **wired_columns(const Wired *c); /* of the row that came last, "" for NULL; g_strfreev */
GByteArray *wired_out(Wired *c);      /* the next messages go here, and in it; whoever sends it empties it */
GByteArray *
wired_to_send(Wired *c); /* inside TLS: what is to be sent of it, sealed; without TLS the same as wired_out */
bool wired_key(const Wired *c, int32_t *pid, const guint8 **key, gsize *n); /* false: none was given */
int32_t wired_protocol(const Wired *c);                                     /* as negotiated */
