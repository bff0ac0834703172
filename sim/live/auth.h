/* auth.h - passwords on the wire: MD5 (a hash of a hash) and SCRAM-SHA-256 (RFC 5802, 7677), both sides. The hashes are
 * OpenSSL's. Channel binding is tls-server-end-point (RFC 5929). Texts returned are the caller's (g_free). */
#pragma once
#include <glib.h>
#include <stdbool.h>

/* MOST: a peer may ask for any number, and each takes time; servers ask for 4096 unless told otherwise. */
enum { AUTH_SALT = 4, SCRAM_ITERATIONS = 4096, SCRAM_ITERATIONS_MOST = 100000 };

/* "md5" and 32 hex digits, as a PasswordMessage holds it. */
char *auth_md5(const char *user, const char *password, const guint8 salt[AUTH_SALT]);

#define SCRAM_PLAIN "SCRAM-SHA-256"
#define SCRAM_PLUS  "SCRAM-SHA-256-PLUS"
/* UNBOUND: there is nothing to bind to. COULD: there is, but this exchange does not: of a client, as it was not
 * offered; of a server, as the client has chosen so, which it may not have done because it believed that it was not
 * offered (a third party between that took the offer away). */
typedef enum { SCRAM_UNBOUND, SCRAM_COULD, SCRAM_BOUND } ScramBinding;

/* One exchange. A client: scram_client_first, scram_client_final (of the server's first; NULL:
 * malformed, or too many iterations), scram_client_done (of its
 * final; false: it does not know the password). A server: scram_server_first (of the client's first; NULL: malformed),
 * scram_server_final (of the client's final; NULL: wrong password). Nonces and salt are given, so that a run repeats.
 */
typedef struct Scram Scram;
Scram *scram_new(const char *password, const char *nonce);
void scram_free(Scram *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scram, scram_free)
void scram_bind(Scram *s, ScramBinding how, const GByteArray *data); /* before its first; data: copied */
char *scram_client_first(Scram *s, const char *user); /* PostgreSQL takes the name from the start, and leaves it "" */
char *scram_client_final(Scram *s, const char *server_first);
bool scram_client_done(const Scram *s, const char *server_final);
char *scram_server_first(Scram *s, const char *client_first, const char *salt_base64);
char *scram_server_final(Scram *s, const char *client_final);
/* Of a first that was NULL: what a server says of it, and its SQLSTATE. */
const char *scram_complaint(const Scram *s);
const char *scram_sqlstate(const Scram *s);
