/* tls.h - TLS without sockets: OpenSSL over memory BIOs, both roles. Bytes of the wire in, plain bytes out, and the
 * other way; a key and a self-signed certificate are made at run time. What TLS puts on the wire differs from run to
 * run (its randomness is OpenSSL's); what is inside does not. */
#pragma once
#include <glib.h>
#include <stdbool.h>

typedef struct TlsKeys TlsKeys;
TlsKeys *tls_keys_new(void); /* for CN=localhost; some 1 ms */
void tls_keys_free(TlsKeys *k);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TlsKeys, tls_keys_free)
/* The same as a program reads them from files (PEM); g_free. */
char *tls_certificate_pem(const TlsKeys *k);
char *tls_key_pem(const TlsKeys *k);

/* One end of one connection. A client takes any certificate, as libpq's sslmode=require does. */
typedef struct TlsLine TlsLine;
TlsLine *tls_line_new(const TlsKeys *k, bool server); /* k must outlive it */
void tls_line_free(TlsLine *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TlsLine, tls_line_free)
/* What came over the wire; `plain` gets what was in it, `sealed` what is to be answered (handshake, alerts). false: it
 * is no TLS or breaks it, and no more can be read; `sealed` may hold a last alert. */
bool tls_feed(TlsLine *t, const void *bytes, gsize n, GByteArray *plain, GByteArray *sealed);
bool tls_is_open(const TlsLine *t); /* its handshake is over */
/* What both ends know of the server's certificate alone: its hash (tls-server-end-point, RFC 5929). Open;
 * g_byte_array_unref.
 */
GByteArray *tls_binding(const TlsLine *t);
/* Moves all of `plain`, sealed, into `sealed`; before the handshake is over it stays where it is. */
void tls_seal(TlsLine *t, GByteArray *plain, GByteArray *sealed);
