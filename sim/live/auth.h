/* auth.h - passwords on the wire: MD5 (a hash of a hash) and SCRAM-SHA-256 (RFC 5802, 7677), both sides. The hashes are
 * OpenSSL's. No channel binding: it is not offered, and who insists on it is refused. Texts returned are the caller's
 * (g_free). */
#pragma once
#include <glib.h>
#include <stdbool.h>

/* MOST: a peer may ask for any number, and each takes time; servers ask for 4096 unless told otherwise. */
enum { AUTH_SALT = 4, SCRAM_ITERATIONS = 4096, SCRAM_ITERATIONS_MOST = 100000 };

/* "md5" and 32 hex digits, as a PasswordMessage holds it. */
char *auth_md5(const char *user, const char *password, const guint8 salt[AUTH_SALT]);

/* One exchange. A client: scram_client_first, scram_client_final (of the server's first; NULL:
 * malformed, or too many iterations), scram_client_done (of its
 * final; false: it does not know the password). A server: scram_server_first (of the client's first; NULL: malformed),
 * scram_server_final (of the client's final; NULL: wrong password). Nonces and salt are given, so that a run repeats.
 */
typedef struct Scram Scram;
Scram *scram_new(const char *password, const char *nonce);
void scram_free(Scram *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scram, scram_free)
char *scram_client_first(Scram *s, const char *user); /* PostgreSQL takes the name from the start, and leaves it "" */
char *scram_client_final(Scram *s, const char *server_first);
bool scram_client_done(const Scram *s, const char *server_final);
char *scram_server_first(Scram *s, const char *client_first, const char *salt_base64);
char *scram_server_final(Scram *s, const char *client_final);
