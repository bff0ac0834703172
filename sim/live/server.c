/* server.c - see server.h: a connection, from its first packet to its welcome. Passwords are server_login.c's, queries
 * server_query.c's. */
#include "sim/live/auth.h"
#include "sim/live/server_parts.h"
#include <string.h>

Backend *backend_new(const BackendConfig *c) {
  Backend *b = g_new0(Backend, 1);
  b->config = *c;
  b->in = wire_stream_new(true);
  b->out = g_byte_array_new();
  b->sealed = g_byte_array_new();
  b->options = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->statements = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->portals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, backend_portal_free);
  b->parameters = parameters_new();
  b->status = 'I';
  return b;
}

void backend_free(Backend *b) {
  wire_stream_free(b->in);
  g_byte_array_unref(b->out);
  g_byte_array_unref(b->sealed);
  g_clear_pointer(&b->tls, tls_line_free);
  g_hash_table_unref(b->options);
  g_hash_table_unref(b->statements);
  g_hash_table_unref(b->portals);
  g_clear_pointer(&b->scram, scram_free);
  parameters_free(b->parameters);
  g_free(b->text);
  g_free(b->value);
  g_free(b->refusal);
  g_free(b);
}

void backend_feed(Backend *b, const void *bytes, gsize n) {
  if (!b->tls) {
    wire_feed(b->in, bytes, n);
    return;
  }
  g_autoptr(GByteArray) plain = g_byte_array_new();
  if (!b->tls_failed) b->tls_failed = !tls_feed(b->tls, bytes, n, plain, b->sealed);
  if (plain->len) wire_feed(b->in, plain->data, plain->len);
}
GByteArray *backend_out(Backend *b) {
  if (!b->tls) return b->out;
  tls_seal(b->tls, b->out, b->sealed);
  return b->sealed;
}
bool backend_running(const Backend *b) {
  return b->at == AT_RUN;
}
const char *backend_start_option(const Backend *b, const char *name) {
  return g_hash_table_lookup(b->options, name);
}
int32_t backend_protocol(const Backend *b) {
  return b->protocol;
}
bool backend_in_transaction(const Backend *b) {
  return b->status != 'I';
}
const BackendConfig *backend_config(const Backend *b) {
  return &b->config;
}
const char *backend_text(const Backend *b) {
  return b->text ? b->text : "";
}
const char *backend_value(const Backend *b) {
  return b->value;
}
char *backend_take_refusal(Backend *b) {
  return g_steal_pointer(&b->refusal);
}
void backend_identify(Backend *b, const BackendConfig *c) {
  b->config = *c;
}
gsize backend_key_len(const Backend *b) {
  return b->protocol >= WIRE_32 ? b->config.key_len : MIN(b->config.key_len, WIRE_KEY_LEAST);
}

BackendEvent backend_event(BackendEventKind kind) {
  return (BackendEvent){.kind = kind};
}

BackendEvent backend_broken(Backend *b, const char *sqlstate, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_free(b->text);
  b->text = g_strdup_vprintf(format, args);
  va_end(args);
  wire_error(b->out, "FATAL", sqlstate, b->text);
  b->at = AT_END;
  return (BackendEvent){.kind = BACKEND_BROKEN, .text = b->text};
}

BackendEvent backend_refused(Backend *b, const char *sqlstate, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *why = g_strdup_vprintf(format, args);
  va_end(args);
  BackendEvent e = backend_broken(b, sqlstate, "%s", why);
  e.kind = BACKEND_REFUSED;
  return e;
}

void backend_turn_away(Backend *b, const char *sqlstate, const char *why) {
  g_assert(b->at == AT_LOGIN);
  backend_refused(b, sqlstate, "%s", why);
}

/* As a server that has lost its client's thread: it logs that, closes, and says nothing. */
static BackendEvent lost(Backend *b, const char *what) {
  g_free(b->text);
  b->text = g_strdup(what);
  b->at = AT_END;
  return (BackendEvent){.kind = BACKEND_BROKEN, .text = b->text};
}

/* ---- login ---- */

/* A newer minor version is answered with the newest that is spoken here, unknown options are named (3.2's rules). */
static void negotiate(Backend *b, int32_t asked, GPtrArray *unknown) {
  b->protocol = MIN(asked, b->config.newest);
  if (asked <= b->config.newest && unknown->len == 0) return;
  wire_negotiate(b->out, b->config.newest, (const char *const *)unknown->pdata, unknown->len);
}

static BackendEvent not_encrypted(Backend *b) {
  const char *user = backend_start_option(b, "user"), *database = backend_start_option(b, "database");
  return backend_refused(b, "28000",
                         "no pg_hba.conf entry for host \"127.0.0.1\", user \"%s\", database \"%s\", no encryption",
                         user, database ? database : user);
}

static BackendEvent start(Backend *b, const WireFirst *f) {
  g_autoptr(GPtrArray) unknown = g_ptr_array_new();
  WireCursor c = f->pairs;
  for (;;) {
    const char *name = wire_text(&c);
    if (!*name) break;
    const char *value = wire_text(&c);
    if (g_str_has_prefix(name, "_pq_.")) g_ptr_array_add(unknown, (gpointer)name);
    g_hash_table_replace(b->options, g_strdup(name), g_strdup(value));
    parameters_start(b->parameters, name, value);
  }
  if (c.bad || c.at != c.end)
    return backend_broken(b, "08P01", "invalid startup packet layout: expected terminator as last byte");
  negotiate(b, f->code, unknown);
  if (!backend_start_option(b, "user"))
    return backend_refused(b, "28000", "no PostgreSQL user name specified in startup packet");
  if (b->config.tls_only && !b->tls) return not_encrypted(b);
  b->at = AT_LOGIN;
  if (b->config.ask != PASSWORD_NONE) return backend_ask_password(b), backend_event(BACKEND_NOTHING);
  return backend_event(BACKEND_LOGIN);
}

/* Nothing may come with such a request: who slips bytes in before the handshake would have them read as if they had
 * come inside it (CVE-2021-23214). A server says so behind its answer, once TLS is up where it granted it. */
static BackendEvent encrypt(Backend *b, int32_t code) {
  bool yes = code == WIRE_SSL && b->config.tls;
  b->ssl_done |= code == WIRE_SSL;
  b->gss_done |= code == WIRE_GSS || yes;
  b->slipped = b->in->taken < b->in->bytes->len ? code : 0;
  g_byte_array_append(b->out, (const guint8 *)(yes ? "S" : "N"), 1);
  if (!yes) return backend_event(BACKEND_NOTHING);
  g_byte_array_append(b->sealed, b->out->data, b->out->len); /* a "no" to GSSENCRequest may still be there */
  g_byte_array_set_size(b->out, 0);
  b->tls = tls_line_new(b->config.tls, true);
  return backend_event(BACKEND_NOTHING);
}

/* Before 3.0 an error was a text with an end, and no length. */
static BackendEvent unsupported(Backend *b, int32_t code) {
  guint major = (guint)code >> 16, minor = (guint)code & 65535;
  g_autofree char *what = g_strdup_printf("unsupported frontend protocol %u.%u: server supports 3.0 to 3.%d", major,
                                          minor, b->config.newest & 65535);
  if (major != 1 && major != 2) return backend_refused(b, "0A000", "%s", what);
  g_autofree char *old = g_strdup_printf("EFATAL:  %s\n", what);
  g_byte_array_append(b->out, (const guint8 *)old, (guint)strlen(old) + 1);
  return lost(b, what);
}

static BackendEvent first(Backend *b, const WireMessage *m) {
  WireFirst f;
  bool whole = wire_first(m, &f);
  if (!whole && f.code == WIRE_CANCEL) return lost(b, "invalid length of startup packet");
  /* A second time, or inside TLS, it is a protocol that nobody speaks. */
  bool ssl = f.code == WIRE_SSL && !b->ssl_done, gss = f.code == WIRE_GSS && !b->gss_done;
  if (ssl || gss) return encrypt(b, f.code);
  b->in->first = false;
  if (f.code != WIRE_CANCEL && f.code >> 16 != 3) return unsupported(b, f.code);
  if (!whole) return backend_broken(b, "08P01", "invalid startup packet layout: expected terminator as last byte");
  if (f.code != WIRE_CANCEL) return start(b, &f);
  b->at = AT_END;
  return (BackendEvent){.kind = BACKEND_CANCEL, .pid = f.pid, .key = f.key, .key_len = f.key_len};
}

void backend_welcome(Backend *b) {
  g_assert(b->at == AT_LOGIN);
  parameters_fix(b->parameters, "server_version", b->config.server_version);
  parameters_fix(b->parameters, "session_authorization", backend_start_option(b, "user"));
  wire_auth(b->out, AUTH_OK, NULL, 0);
  parameters_report(b->parameters, b->out);
  if (b->config.key_len) wire_key(b->out, b->config.pid, b->config.key, backend_key_len(b));
  backend_ready(b);
  b->at = AT_IDLE;
}

static BackendEvent message(Backend *b, const WireMessage *m) {
  if (b->at == AT_FIRST) return first(b, m);
  if (b->at == AT_IDLE || b->at == AT_SKIP) return backend_command(b, m);
  return backend_password(b, m);
}

BackendEvent backend_next(Backend *b) {
  while (b->at != AT_RUN && b->at != AT_LOGIN && b->at != AT_END) {
    if (b->tls_failed) return lost(b, "could not accept SSL connection");
    if (b->slipped && b->tls && !tls_is_open(b->tls)) break;
    if (b->slipped)
      return backend_broken(b, "08P01", "received unencrypted data after %s request",
                            b->slipped == WIRE_SSL ? "SSL" : "GSSAPI encryption");
    WireMessage m;
    g_autoptr(GError) error = NULL;
    WireNext next = wire_next(b->in, &m, &error);
    if (next == WIRE_MORE) break;
    BackendEvent e = next == WIRE_BROKEN ? lost(b, error->message) : message(b, &m);
    if (e.kind != BACKEND_NOTHING) return e;
  }
  return backend_event(BACKEND_NOTHING);
}
