/* auth.c - see auth.h. Names as in RFC 5802, section 3. */
#include "sim/live/auth.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

enum { SHA = 32, MD5 = 16 };

static void md5_hex(const void *bytes, gsize n, char hex[2 * MD5 + 1]) {
  guint8 digest[MD5];
  int ok = EVP_Digest(bytes, n, digest, NULL, EVP_md5(), NULL);
  g_assert(ok == 1);
  for (guint i = 0; i < MD5; i++) g_snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

char *auth_md5(const char *user, const char *password, const guint8 salt[AUTH_SALT]) {
  g_autofree char *both = g_strconcat(password, user, NULL);
  char inner[2 * MD5 + 1 + AUTH_SALT], outer[2 * MD5 + 1];
  md5_hex(both, strlen(both), inner);
  memcpy(inner + (gsize)2 * MD5, salt, AUTH_SALT);
  md5_hex(inner, (gsize)2 * MD5 + AUTH_SALT, outer);
  return g_strconcat("md5", outer, NULL);
}

/* ---- SCRAM ---- */

struct Scram {
  char *password, *nonce;
  char *first_bare, *server_first; /* what AuthMessage is made of */
  ScramBinding binding;
  GByteArray *data;      /* of the binding; NULL: none */
  const char *header;    /* what the client's first began with */
  const char *complaint; /* of a server; NULL: malformed */
  guint8 salted[SHA], server_signature[SHA];
};

Scram *scram_new(const char *password, const char *nonce) {
  Scram *s = g_new0(Scram, 1);
  s->password = g_strdup(password);
  s->nonce = g_strdup(nonce);
  return s;
}

void scram_bind(Scram *s, ScramBinding how, const GByteArray *data) {
  g_assert(how == SCRAM_UNBOUND || data);
  s->binding = how;
  g_clear_pointer(&s->data, g_byte_array_unref);
  if (how == SCRAM_UNBOUND) return;
  s->data = g_byte_array_new();
  g_byte_array_append(s->data, data->data, data->len);
}

void scram_free(Scram *s) {
  g_clear_pointer(&s->data, g_byte_array_unref);
  gpointer texts[] = {s->password, s->nonce, s->first_bare, s->server_first};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  g_free(s);
}

static void hmac(const guint8 key[SHA], const char *text, guint8 out[SHA]) {
  unsigned n = SHA;
  guint8 *ok = HMAC(EVP_sha256(), key, SHA, (const guint8 *)text, strlen(text), out, &n);
  g_assert(ok && n == SHA);
}

static bool salt_password(Scram *s, const char *salt_base64, guint iterations) {
  gsize n;
  g_autofree guint8 *salt = g_base64_decode(salt_base64, &n);
  if (n == 0) return false;
  int ok = PKCS5_PBKDF2_HMAC(s->password, (int)strlen(s->password), salt, (int)n, (int)iterations, EVP_sha256(), SHA,
                             s->salted);
  g_assert(ok == 1);
  return true;
}

/* The value of "x=..." in a list of such with commas; NULL: none. */
static char *attribute(const char *message, char name) {
  g_auto(GStrv) parts = g_strsplit(message, ",", -1);
  for (guint i = 0; parts[i]; i++)
    if (parts[i][0] == name && parts[i][1] == '=') return g_strdup(parts[i] + 2);
  return NULL;
}

/* ClientProof, and what the server must answer. */
static void prove(Scram *s, const char *without_proof, guint8 proof[SHA], guint8 stored[SHA]) {
  g_autofree char *message = g_strjoin(",", s->first_bare, s->server_first, without_proof, NULL);
  guint8 client_key[SHA], server_key[SHA], signature[SHA];
  hmac(s->salted, "Client Key", client_key);
  hmac(s->salted, "Server Key", server_key);
  int ok = EVP_Digest(client_key, SHA, stored, NULL, EVP_sha256(), NULL);
  g_assert(ok == 1);
  hmac(stored, message, signature);
  hmac(server_key, message, s->server_signature);
  for (guint i = 0; i < SHA; i++) proof[i] = client_key[i] ^ signature[i];
}

/* c=: the header, and where it is bound the data, in base 64. */
static char *binding_text(const Scram *s) {
  g_autoptr(GByteArray) all = g_byte_array_new();
  g_byte_array_append(all, (const guint8 *)s->header, (guint)strlen(s->header));
  if (s->binding == SCRAM_BOUND) g_byte_array_append(all, s->data->data, s->data->len);
  return g_base64_encode(all->data, all->len);
}

static const char bound_header[] = "p=tls-server-end-point,,";

char *scram_client_first(Scram *s, const char *user) {
  s->header = s->binding == SCRAM_BOUND ? bound_header : s->binding == SCRAM_COULD ? "y,," : "n,,";
  g_free(s->first_bare);
  s->first_bare = g_strdup_printf("n=%s,r=%s", user, s->nonce);
  return g_strconcat(s->header, s->first_bare, NULL);
}

char *scram_client_final(Scram *s, const char *server_first) {
  g_autofree char *nonce = attribute(server_first, 'r'), *salt = attribute(server_first, 's'),
                  *count = attribute(server_first, 'i');
  guint64 iterations;
  if (!nonce || !salt || !count || !g_str_has_prefix(nonce, s->nonce)) return NULL;
  if (!g_ascii_string_to_unsigned(count, 10, 1, SCRAM_ITERATIONS_MOST, &iterations, NULL)) return NULL;
  if (!salt_password(s, salt, (guint)iterations)) return NULL;
  g_free(s->server_first);
  s->server_first = g_strdup(server_first);
  g_autofree char *bound = binding_text(s), *without_proof = g_strconcat("c=", bound, ",r=", nonce, NULL);
  guint8 proof[SHA], stored[SHA];
  prove(s, without_proof, proof, stored);
  g_autofree char *text = g_base64_encode(proof, SHA);
  return g_strconcat(without_proof, ",p=", text, NULL);
}

bool scram_client_done(const Scram *s, const char *server_final) {
  g_autofree char *text = attribute(server_final, 'v'), *wanted = g_base64_encode(s->server_signature, SHA);
  return g_strcmp0(text, wanted) == 0;
}

const char *scram_complaint(const Scram *s) {
  return s->complaint ? s->complaint : "malformed SCRAM message";
}
const char *scram_sqlstate(const Scram *s) {
  return s->complaint ? "28000" : "08P01";
}

/* "n": does not know channel binding; "y": knows it, and takes it that we do not; "p=": binds. NULL: it does not go
 * with the mechanism that was chosen. */
static const char *header_of(Scram *s, const char *client_first) {
  bool believes_not = g_str_has_prefix(client_first, "y,,");
  if (s->binding == SCRAM_BOUND) return g_str_has_prefix(client_first, bound_header) ? bound_header : NULL;
  if (believes_not && s->binding == SCRAM_COULD) s->complaint = "SCRAM channel binding negotiation error";
  if (believes_not && !s->complaint) return "y,,";
  return g_str_has_prefix(client_first, "n,,") ? "n,," : NULL;
}

char *scram_server_first(Scram *s, const char *client_first, const char *salt_base64) {
  s->header = header_of(s, client_first);
  if (!s->header) return NULL;
  g_free(s->first_bare);
  s->first_bare = g_strdup(client_first + strlen(s->header));
  g_autofree char *theirs = attribute(s->first_bare, 'r');
  if (!theirs) return NULL;
  g_free(s->server_first);
  s->server_first = g_strdup_printf("r=%s%s,s=%s,i=%d", theirs, s->nonce, salt_base64, SCRAM_ITERATIONS);
  return salt_password(s, salt_base64, SCRAM_ITERATIONS) ? g_strdup(s->server_first) : NULL;
}

char *scram_server_final(Scram *s, const char *client_final) {
  const char *p = strstr(client_final, ",p=");
  if (!p || !s->server_first) return NULL;
  g_autofree char *without_proof = g_strndup(client_final, (gsize)(p - client_final));
  g_autofree char *said = attribute(without_proof, 'r'), *meant = attribute(s->server_first, 'r'),
                  *binding = attribute(without_proof, 'c'), *bound = binding_text(s);
  guint8 proof[SHA], stored[SHA];
  prove(s, without_proof, proof, stored);
  g_autofree char *wanted = g_base64_encode(proof, SHA);
  if (g_strcmp0(said, meant) != 0 || g_strcmp0(binding, bound) != 0 || strcmp(p + 3, wanted) != 0) return NULL;
  g_autofree char *signature = g_base64_encode(s->server_signature, SHA);
  return g_strconcat("v=", signature, NULL);
}
