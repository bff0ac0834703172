/* tls.c - see tls.h. */
#include "sim/live/tls.h"
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

struct TlsKeys {
  SSL_CTX *server, *client;
};
struct TlsLine {
  SSL *ssl;
  BIO *in, *out; /* the SSL's */
};

enum { DAY = 24 * 60 * 60 };

static X509 *self_signed(EVP_PKEY *key) {
  X509 *cert = X509_new();
  X509_NAME *name = X509_get_subject_name(cert);
  int ok = X509_set_version(cert, X509_VERSION_3) & ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
  ok &= X509_gmtime_adj(X509_getm_notBefore(cert), -DAY) && X509_gmtime_adj(X509_getm_notAfter(cert), DAY);
  ok &= X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const guint8 *)"localhost", -1, -1, 0);
  ok &= X509_set_issuer_name(cert, name) & X509_set_pubkey(cert, key);
  g_assert(ok && X509_sign(cert, key, EVP_sha256()) > 0);
  return cert;
}

TlsKeys *tls_keys_new(void) {
  TlsKeys *k = g_new0(TlsKeys, 1);
  k->server = SSL_CTX_new(TLS_server_method());
  k->client = SSL_CTX_new(TLS_client_method());
  g_assert(k->server && k->client);
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *cert = self_signed(key);
  int ok = SSL_CTX_use_certificate(k->server, cert) & SSL_CTX_use_PrivateKey(k->server, key);
  g_assert(ok == 1);
  for (guint i = 0; i < 2; i++) SSL_CTX_set_min_proto_version(i ? k->client : k->server, TLS1_2_VERSION);
  SSL_CTX_set_verify(k->client, SSL_VERIFY_NONE, NULL);
  X509_free(cert);
  EVP_PKEY_free(key);
  return k;
}

void tls_keys_free(TlsKeys *k) {
  SSL_CTX_free(k->server);
  SSL_CTX_free(k->client);
  g_free(k);
}

/* `bio` is freed. */
static char *text_of(BIO *bio, int written) {
  char *text = NULL;
  long n = BIO_get_mem_data(bio, &text);
  g_assert(written == 1 && n > 0);
  char *copy = g_strndup(text, (gsize)n);
  BIO_free(bio);
  return copy;
}
char *tls_certificate_pem(const TlsKeys *k) {
  BIO *bio = BIO_new(BIO_s_mem());
  return text_of(bio, PEM_write_bio_X509(bio, SSL_CTX_get0_certificate(k->server)));
}
char *tls_key_pem(const TlsKeys *k) {
  BIO *bio = BIO_new(BIO_s_mem());
  return text_of(bio, PEM_write_bio_PrivateKey(bio, SSL_CTX_get0_privatekey(k->server), NULL, NULL, 0, NULL, NULL));
}

TlsLine *tls_line_new(const TlsKeys *k, bool server) {
  TlsLine *t = g_new0(TlsLine, 1);
  t->ssl = SSL_new(server ? k->server : k->client);
  t->in = BIO_new(BIO_s_mem());
  t->out = BIO_new(BIO_s_mem());
  g_assert(t->ssl && t->in && t->out);
  SSL_set_bio(t->ssl, t->in, t->out); /* which are the SSL's from now on */
  if (server)
    SSL_set_accept_state(t->ssl);
  else
    SSL_set_connect_state(t->ssl);
  return t;
}

void tls_line_free(TlsLine *t) {
  SSL_free(t->ssl);
  g_free(t);
}

static void drain(TlsLine *t, GByteArray *sealed) {
  guint8 piece[4096];
  for (int n; (n = BIO_read(t->out, piece, sizeof piece)) > 0;) g_byte_array_append(sealed, piece, (guint)n);
}

/* SSL_get_error reads the thread's queue of errors, so that it must be empty before each call. */
static bool goes_on(TlsLine *t, int result) {
  int why = SSL_get_error(t->ssl, result);
  return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_ZERO_RETURN; /* the latter: closed as one should */
}

bool tls_feed(TlsLine *t, const void *bytes, gsize n, GByteArray *plain, GByteArray *sealed) {
  g_assert(n <= G_MAXINT);
  int taken = n ? BIO_write(t->in, bytes, (int)n) : 0, got;
  g_assert(taken == (int)n); /* a memory BIO grows */
  guint8 piece[4096];
  ERR_clear_error();
  while ((got = SSL_read(t->ssl, piece, sizeof piece)) > 0) g_byte_array_append(plain, piece, (guint)got);
  bool ok = goes_on(t, got);
  drain(t, sealed);
  return ok;
}

bool tls_is_open(const TlsLine *t) {
  return SSL_is_init_finished(t->ssl);
}

/* By the hash of the certificate's own signature, SHA-256 for what is weaker. */
GByteArray *tls_binding(const TlsLine *t) {
  g_assert(tls_is_open(t));
  X509 *cert = SSL_is_server(t->ssl) ? SSL_get_certificate(t->ssl) : SSL_get0_peer_certificate(t->ssl);
  int hash = NID_undef;
  guint8 digest[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  X509_get_signature_info(cert, &hash, NULL, NULL, NULL);
  bool weak = hash == NID_md5 || hash == NID_sha1 || hash == NID_undef;
  int ok = X509_digest(cert, weak ? EVP_sha256() : EVP_get_digestbynid(hash), digest, &n);
  g_assert(ok == 1);
  return g_byte_array_append(g_byte_array_new(), digest, n);
}

void tls_seal(TlsLine *t, GByteArray *plain, GByteArray *sealed) {
  ERR_clear_error();
  if (!SSL_is_init_finished(t->ssl)) {
    int result = SSL_do_handshake(t->ssl); /* a client speaks first */
    g_assert(result == 1 || SSL_get_error(t->ssl, result) != SSL_ERROR_WANT_WRITE);
  } else if (plain->len) {
    int put = SSL_write(t->ssl, plain->data, (int)plain->len);
    if (put > 0) g_assert(put == (int)plain->len); /* else TLS is closed, and nobody reads it */
    g_byte_array_set_size(plain, 0);
  }
  drain(t, sealed);
}
