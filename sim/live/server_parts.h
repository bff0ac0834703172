/* server_parts.h - what server.c (login) and server_query.c (queries) share of a backend; nobody else's. */
#pragma once
#include "sim/live/auth.h"
#include "sim/live/server.h"

typedef enum { AT_FIRST, AT_PASSWORD, AT_SCRAM_FIRST, AT_SCRAM_FINAL, AT_LOGIN, AT_IDLE, AT_RUN, AT_SKIP, AT_END } At;

struct Backend {
  bool ssl_done, gss_done;
  BackendConfig config;
  WireStream *in;
  GByteArray *out; /* messages; `sealed` is what goes out once TLS has been asked for */
  GByteArray *sealed;
  TlsLine *tls;
  bool tls_failed;
  GHashTable *options, *statements, *portals; /* name -> value, SQL, SQL; looked up only */
  Scram *scram;
  At at;
  int32_t protocol;
  bool extended; /* what runs was executed, not queried: no ReadyForQuery behind it */
  char status;   /* I, T, E */
  char *text;    /* of what runs */
};

BackendEvent backend_event(BackendEventKind kind);
/* FATAL: the error is put out, and nothing more is read. */
BackendEvent backend_broken(Backend *b, const char *sqlstate, const char *format, ...) G_GNUC_PRINTF(3, 4);
BackendEvent backend_command(Backend *b, const WireMessage *m); /* a message of a client that is logged in */
