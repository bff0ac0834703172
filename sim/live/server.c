/* server.c - see server.h: a connection and its login. What it asks then is server_query.c's. */
#include "sim/live/auth.h"
#include "sim/live/server_parts.h"
#include <string.h>

static const guint8 salt[AUTH_SALT] = {1, 2, 3, 4};

Backend *backend_new(const BackendConfig *c) {
  Backend *b = g_new0(Backend, 1);
  b->config = *c;
  b->in = wire_stream_new(true);
  b->out = g_byte_array_new();
  b->sealed = g_byte_array_new();
  b->options = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->statements = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->portals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
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
  g_free(b->text);
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

/* ---- login ---- */

static void ask_password(Backend *b) {
  static const char mechanisms[] = "SCRAM-SHA-256\0";
  if (b->config.ask == PASSWORD_CLEAR) {
    wire_auth(b->out, AUTH_CLEAR, NULL, 0);
    b->at = AT_PASSWORD;
  } else if (b->config.ask == PASSWORD_MD5) {
    wire_auth(b->out, AUTH_MD5, salt, sizeof salt);
    b->at = AT_PASSWORD;
  } else {
    wire_auth(b->out, AUTH_SASL, mechanisms, sizeof mechanisms);
    b->at = AT_SCRAM_FIRST;
  }
}

/* A newer minor version is answered with the newest that is spoken here, unknown options are named (3.2's rules). */
static void negotiate(Backend *b, int32_t asked, GPtrArray *unknown) {
  b->protocol = MIN(asked, b->config.newest);
  if (asked <= b->config.newest && unknown->len == 0) return;
  wire_negotiate(b->out, b->config.newest, (const char *const *)unknown->pdata, unknown->len);
}

static BackendEvent start(Backend *b, const WireFirst *f) {
  if (f->code >> 16 != 3)
    return backend_broken(b, "0A000", "unsupported frontend protocol %d.%d", f->code >> 16, f->code & 65535);
  g_autoptr(GPtrArray) unknown = g_ptr_array_new();
  WireCursor c = f->pairs;
  for (;;) {
    const char *name = wire_text(&c);
    if (!*name) break;
    const char *value = wire_text(&c);
    if (g_str_has_prefix(name, "_pq_.")) g_ptr_array_add(unknown, (gpointer)name);
    g_hash_table_replace(b->options, g_strdup(name), g_strdup(value));
  }
  if (c.bad) return backend_broken(b, "08P01", "invalid startup packet layout: expected terminator as last byte");
  if (!backend_start_option(b, "user"))
    return backend_broken(b, "28000", "no PostgreSQL user name specified in startup packet");
  negotiate(b, f->code, unknown);
  b->at = AT_LOGIN;
  if (b->config.ask != PASSWORD_NONE) return ask_password(b), backend_event(BACKEND_NOTHING);
  return backend_event(BACKEND_LOGIN);
}

/* Nothing may come with an SSLRequest that is granted: who slips bytes in before the handshake would have them read as
 * if they had come inside it (CVE-2021-23214; the server's words). */
static BackendEvent encrypt(Backend *b, int32_t code) {
  bool yes = code == WIRE_SSL && b->config.tls;
  b->ssl_done |= code == WIRE_SSL;
  b->gss_done |= code == WIRE_GSS || yes;
  if (yes && b->in->taken < b->in->bytes->len)
    return backend_broken(b, "08P01", "received unencrypted data after SSL request");
  g_byte_array_append(b->out, (const guint8 *)(yes ? "S" : "N"), 1);
  if (!yes) return backend_event(BACKEND_NOTHING);
  g_byte_array_append(b->sealed, b->out->data, b->out->len); /* a "no" to GSSENCRequest may still be there */
  g_byte_array_set_size(b->out, 0);
  b->tls = tls_line_new(b->config.tls, true);
  return backend_event(BACKEND_NOTHING);
}

static BackendEvent first(Backend *b, const WireMessage *m) {
  WireFirst f;
  if (!wire_first(m, &f)) return backend_broken(b, "08P01", "invalid length of startup packet");
  /* A second time, or inside TLS, it is a protocol that nobody speaks. */
  bool ssl = f.code == WIRE_SSL && !b->ssl_done, gss = f.code == WIRE_GSS && !b->gss_done;
  if (ssl || gss) return encrypt(b, f.code);
  b->in->first = false;
  if (f.code != WIRE_CANCEL) return start(b, &f);
  b->at = AT_END;
  return (BackendEvent){.kind = BACKEND_CANCEL, .pid = f.pid, .key = f.key, .key_len = f.key_len};
}

static BackendEvent wrong_password(Backend *b) {
  return backend_broken(b, "28P01", "password authentication failed for user \"%s\"", backend_start_option(b, "user"));
}

static BackendEvent password(Backend *b, WireCursor c) {
  g_autofree char *hash = auth_md5(backend_start_option(b, "user"), b->config.password, salt);
  const char *wanted = b->config.ask == PASSWORD_CLEAR ? b->config.password : hash;
  if (strcmp(wire_text(&c), wanted) != 0) return wrong_password(b);
  b->at = AT_LOGIN;
  return backend_event(BACKEND_LOGIN);
}

static BackendEvent scram_first(Backend *b, WireCursor c) {
  bool right = strcmp(wire_text(&c), "SCRAM-SHA-256") == 0;
  gsize n;
  wire_int32(&c);
  const guint8 *data = wire_rest(&c, &n);
  g_autofree char *theirs = g_strndup((const char *)data, n);
  b->scram = scram_new(b->config.password, "c3RhbXBlZGU");
  g_autofree char *mine = right && !c.bad ? scram_server_first(b->scram, theirs, "AQIDBAUGBwg=") : NULL;
  if (!mine) return backend_broken(b, "08P01", "malformed SCRAM message");
  wire_auth(b->out, AUTH_SASL_GOES_ON, mine, strlen(mine));
  b->at = AT_SCRAM_FINAL;
  return backend_event(BACKEND_NOTHING);
}

static BackendEvent scram_final(Backend *b, WireCursor c) {
  gsize n;
  const guint8 *data = wire_rest(&c, &n);
  g_autofree char *theirs = g_strndup((const char *)data, n), *mine = scram_server_final(b->scram, theirs);
  if (!mine) return wrong_password(b);
  wire_auth(b->out, AUTH_SASL_FINAL, mine, strlen(mine));
  b->at = AT_LOGIN;
  return backend_event(BACKEND_LOGIN);
}

void backend_welcome(Backend *b) {
  g_assert(b->at == AT_LOGIN);
  const char *const said[][2] = {{"server_version", b->config.server_version},
                                 {"server_encoding", "UTF8"},
                                 {"client_encoding", "UTF8"},
                                 {"DateStyle", "ISO, MDY"},
                                 {"TimeZone", "UTC"},
                                 {"integer_datetimes", "on"},
                                 {"standard_conforming_strings", "on"}};
  wire_auth(b->out, AUTH_OK, NULL, 0);
  for (guint i = 0; i < G_N_ELEMENTS(said); i++) wire_parameter(b->out, said[i][0], said[i][1]);
  if (b->config.key_len) wire_key(b->out, b->config.pid, b->config.key, backend_key_len(b));
  wire_ready(b->out, b->status);
  b->at = AT_IDLE;
}

static BackendEvent message(Backend *b, const WireMessage *m) {
  if (b->at == AT_FIRST) return first(b, m);
  if (b->at == AT_IDLE || b->at == AT_SKIP) return backend_command(b, m);
  if (m->type != 'p') return backend_broken(b, "08P01", "expected password response, got message type %d", m->type);
  if (b->at == AT_PASSWORD) return password(b, wire_body(m));
  return b->at == AT_SCRAM_FIRST ? scram_first(b, wire_body(m)) : scram_final(b, wire_body(m));
}

BackendEvent backend_next(Backend *b) {
  while (b->at != AT_RUN && b->at != AT_LOGIN && b->at != AT_END) {
    if (b->tls_failed) return backend_broken(b, "08P01", "could not accept SSL connection");
    WireMessage m;
    g_autoptr(GError) error = NULL;
    WireNext next = wire_next(b->in, &m, &error);
    if (next == WIRE_MORE) break;
    BackendEvent e = next == WIRE_BROKEN ? backend_broken(b, "08P01", "%s", error->message) : message(b, &m);
    if (e.kind != BACKEND_NOTHING) return e;
  }
  return backend_event(BACKEND_NOTHING);
}
