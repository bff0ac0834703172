/* server_parts.h - what the files of a backend share: server.c, server_login.c, server_query.c,
 * server_extended.c; nobody else's. */
#pragma once
#include "sim/live/auth.h"
#include "sim/live/server.h"
#include "sim/live/server_parameters.h"

typedef enum {
  AT_FIRST,
  AT_PASSWORD,
  AT_SCRAM_FIRST,
  AT_SCRAM_ALONE,
  AT_SCRAM_FINAL,
  AT_LOGIN,
  AT_IDLE,
  AT_RUN,
  AT_SKIP,
  AT_END
} At;

typedef struct {
  char *sql, *value; /* value: the first that was bound; NULL */
  bool done;         /* it has been executed to its end */
} BackendPortal;

struct Backend {
  bool ssl_done, gss_done;
  BackendConfig config;
  WireStream *in;
  GByteArray *out; /* messages; `sealed` is what goes out once TLS has been asked for */
  GByteArray *sealed;
  TlsLine *tls;
  bool tls_failed;
  int32_t slipped;                            /* the request for encryption that more came with; 0: none */
  GHashTable *options, *statements, *portals; /* name -> value, SQL, BackendPortal; looked up only */
  Parameters *parameters;
  Scram *scram;
  At at;
  int32_t protocol;
  bool extended;          /* what runs was executed, not queried: no ReadyForQuery behind it */
  BackendPortal *running; /* then; NULL */
  int32_t rows;           /* that it may give; 0: all */
  char status;            /* I, T, E */
  char *text, *value;     /* of what runs */
  char *refusal;          /* backend_take_refusal */
};

/* server.c */
BackendEvent backend_event(BackendEventKind kind);
/* FATAL: the error is put out, and nothing more is read. */
BackendEvent backend_broken(Backend *b, const char *sqlstate, const char *format, ...) G_GNUC_PRINTF(3, 4);
BackendEvent backend_refused(Backend *b, const char *sqlstate, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* server_login.c */
void backend_ask_password(Backend *b);
BackendEvent backend_password(Backend *b, const WireMessage *m);

/* server_query.c */
BackendEvent backend_command(Backend *b, const WireMessage *m); /* a message of a client that is logged in */
BackendEvent backend_run(Backend *b, const char *sql, const char *value);
void backend_ready(Backend *b); /* ParameterStatus of what has changed, ReadyForQuery */
void backend_refuse(Backend *b, const char *sqlstate, const char *format, ...) G_GNUC_PRINTF(3, 4);
bool backend_aborted(Backend *b, const char *sql); /* true: refused, as its transaction is */

/* server_extended.c */
BackendPortal *backend_portal_new(const char *sql, char *value); /* takes value */
void backend_portal_free(gpointer portal);
BackendEvent backend_extended(Backend *b, const WireMessage *m); /* Parse, Bind, Describe, Close, Execute */
