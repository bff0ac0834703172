/* pg_session.h - one connection to a server over its Unix socket, protocol 3.0, as user and database "postgres" with
 * trust: as little as counting a backend's faults needs. Not for pooler work. */
#pragma once
#include "sim/calibrate/calibrate.h"
#include <stdbool.h>
#include <sys/types.h>

typedef struct {
  int fd;
  pid_t pid; /* of the backend, from BackendKeyData */
} PgSession;

/* Returns at the first ReadyForQuery. False: CALIBRATE_ERROR with the server's message, nothing is left open. */
bool pg_session_open(PgSession *s, const char *socket_path, GError **error);
/* First column of the first row, as text ("" where there is none); NULL and *error. Caller frees. */
char *pg_session_query(PgSession *s, const char *sql, GError **error);
/* Says goodbye and waits for the end of file, which a backend's exit brings after its shared memory is in order. */
bool pg_session_close(PgSession *s, GError **error);
void pg_session_drop(PgSession *s); /* without a goodbye */
