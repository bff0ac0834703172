/* client.c - see client.h. */
#include "sim/live/client.h"
#include "sim/live/auth.h"
#include "sim/live/tls.h"
#include <string.h>

struct Wired {
  WireStream *in;
  GByteArray *out;
  TlsLine *tls; /* NULL: none */
  GByteArray *sealed;
  enum { TLS_NONE, TLS_ASKED, TLS_ON, TLS_FAILED } tls_at;
  Scram *scram;
  bool proven; /* the server has shown in the exchange that it knows the password too */
  char *user, *password, *text, *sqlstate;
  int32_t protocol, pid;
  guint8 key[WIRE_KEY_MOST];
  gsize key_len;
  GPtrArray *row, *names; /* of char * */
};

Wired *wired_new_tls(const TlsKeys *keys, int32_t protocol, const char *user, const char *database,
                     const char *password) {
  Wired *c = wired_new(protocol, user, database, password);
  c->tls = tls_line_new(keys, false);
  c->tls_at = TLS_ASKED;
  wire_request(c->sealed, WIRE_SSL);
  return c;
}

Wired *wired_new(int32_t protocol, const char *user, const char *database, const char *password) {
  Wired *c = g_new0(Wired, 1);
  c->in = wire_stream_new(false);
  c->out = g_byte_array_new();
  c->sealed = g_byte_array_new();
  c->user = g_strdup(user);
  c->password = g_strdup(password);
  c->protocol = protocol;
  c->row = g_ptr_array_new_with_free_func(g_free);
  c->names = g_ptr_array_new_with_free_func(g_free);
  const char *const pairs[] = {"user", user, "database", database, NULL};
  wire_startup(c->out, protocol, pairs);
  return c;
}

void wired_free(Wired *c) {
  wire_stream_free(c->in);
  g_byte_array_unref(c->out);
  g_byte_array_unref(c->sealed);
  g_clear_pointer(&c->tls, tls_line_free);
  g_ptr_array_unref(c->row);
  g_ptr_array_unref(c->names);
  g_clear_pointer(&c->scram, scram_free);
  gpointer texts[] = {c->user, c->password, c->text, c->sqlstate};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
  g_free(c);
}

/* The answer to SSLRequest is one byte, before any message: S, and what follows is TLS; anything else is a refusal. */
static void feed_tls(Wired *c, const guint8 *bytes, gsize n) {
  if (n == 0 || c->tls_at == TLS_FAILED) return;
  if (c->tls_at == TLS_ASKED) {
    c->tls_at = *bytes == 'S' ? TLS_ON : TLS_FAILED;
    bytes++, n--;
  }
  g_autoptr(GByteArray) plain = g_byte_array_new();
  if (c->tls_at == TLS_ON && !tls_feed(c->tls, bytes, n, plain, c->sealed)) c->tls_at = TLS_FAILED;
  if (plain->len) wire_feed(c->in, plain->data, plain->len);
}

void wired_feed(Wired *c, const void *bytes, gsize n) {
  if (c->tls)
    feed_tls(c, bytes, n);
  else
    wire_feed(c->in, bytes, n);
}
GByteArray *wired_to_send(Wired *c) {
  if (!c->tls) return c->out;
  if (c->tls_at == TLS_ON) tls_seal(c->tls, c->out, c->sealed);
  return c->sealed;
}
GByteArray *wired_out(Wired *c) {
  return c->out;
}
int32_t wired_protocol(const Wired *c) {
  return c->protocol;
}
static char **texts(const GPtrArray *from) {
  char **all = g_new0(char *, from->len + 1);
  for (guint i = 0; i < from->len; i++) all[i] = g_strdup(from->pdata[i]);
  return all;
}
char **wired_names(const Wired *c) {
  return texts(c->names);
}
char **wired_columns(const Wired *c) {
  return texts(c->row);
}
bool wired_key(const Wired *c, int32_t *pid, const guint8 **key, gsize *n) {
  *pid = c->pid;
  *key = c->key;
  *n = c->key_len;
  return c->key_len > 0;
}

static ClientEvent say(Wired *c, ClientEventKind kind, const char *text) {
  g_free(c->text);
  c->text = g_strdup(text);
  return (ClientEvent){.kind = kind, .text = c->text, .sqlstate = c->sqlstate};
}

static ClientEvent nothing(void) {
  return (ClientEvent){.kind = CLIENT_NOTHING};
}

static bool offers(WireCursor b, const char *mechanism) {
  for (const char *name = wire_text(&b); *name; name = wire_text(&b))
    if (strcmp(name, mechanism) == 0) return true;
  return false;
}

/* Bound to TLS where the server offers that (libpq's channel_binding=prefer). */
static void scram_starts(Wired *c, const char *password, bool plus) {
  g_autoptr(GByteArray) binding = c->tls_at == TLS_ON ? tls_binding(c->tls) : NULL;
  g_clear_pointer(&c->scram, scram_free);
  c->proven = false;
  c->scram = scram_new(password, "c3RhbXBlZGUtY2xpZW50");
  scram_bind(c->scram, plus ? SCRAM_BOUND : binding ? SCRAM_COULD : SCRAM_UNBOUND, binding);
  g_autofree char *first = scram_client_first(c->scram, "");
  wire_sasl_initial(c->out, plus ? SCRAM_PLUS : SCRAM_PLAIN, first);
}

static ClientEvent authenticate(Wired *c, WireCursor b) {
  int32_t code = wire_int32(&b);
  if (code == AUTH_OK && c->scram && !c->proven) return say(c, CLIENT_BROKEN, "a login that SCRAM has not ended");
  if (code == AUTH_OK) return nothing();
  const char *password = c->password ? c->password : "";
  if (code == AUTH_CLEAR) return wire_string(c->out, 'p', password), nothing();
  if (code == AUTH_MD5) {
    guint8 salt[AUTH_SALT];
    for (guint i = 0; i < AUTH_SALT; i++) salt[i] = wire_byte(&b);
    g_autofree char *hash = auth_md5(c->user, password, salt);
    return wire_string(c->out, 'p', hash), nothing();
  }
  bool plus = code == AUTH_SASL && c->tls_at == TLS_ON && offers(b, SCRAM_PLUS);
  if (plus || (code == AUTH_SASL && offers(b, SCRAM_PLAIN))) return scram_starts(c, password, plus), nothing();
  g_autofree char *theirs = wire_rest_text(&b);
  if (code == AUTH_SASL_GOES_ON && c->scram) {
    g_autofree char *final = scram_client_final(c->scram, theirs);
    if (final) return wire_raw(c->out, 'p', final, strlen(final)), nothing();
  }
  c->proven = code == AUTH_SASL_FINAL && c->scram && scram_client_done(c->scram, theirs);
  if (c->proven) return nothing();
  return say(c, CLIENT_BROKEN, "an authentication that is not known here, or is wrong");
}

static ClientEvent keep_key(Wired *c, WireCursor b) {
  gsize n;
  c->pid = wire_int32(&b);
  const guint8 *key = wire_rest(&b, &n);
  gsize most = c->protocol >= WIRE_32 ? WIRE_KEY_MOST : WIRE_KEY_LEAST; /* libpq's own limits (e411a8d25a) */
  if (b.bad || n < WIRE_KEY_LEAST || n > most) return say(c, CLIENT_BROKEN, "a cancel key of no right length");
  memcpy(c->key, key, n);
  c->key_len = n;
  return nothing();
}

static ClientEvent keep_error(Wired *c, const WireMessage *m) {
  g_free(c->sqlstate);
  c->sqlstate = g_strdup(wire_field(m, 'C'));
  const char *text = wire_field(m, 'M');
  return say(c, CLIENT_ERROR, text ? text : "");
}

static ClientEvent keep_row(Wired *c, WireCursor b) {
  g_ptr_array_set_size(c->row, 0);
  for (int columns = wire_int16(&b); columns > 0 && !b.bad; columns--) {
    int32_t len = wire_int32(&b);
    GString *text = g_string_new(NULL);
    for (int32_t i = 0; i < len && !b.bad; i++) g_string_append_c(text, (char)wire_byte(&b));
    g_ptr_array_add(c->row, g_string_free(text, FALSE));
  }
  return say(c, CLIENT_ROW, c->row->len ? c->row->pdata[0] : "");
}

/* Of each column its name, and 18 bytes about it that nobody here needs. */
static ClientEvent keep_names(Wired *c, WireCursor b) {
  g_ptr_array_set_size(c->names, 0);
  for (int columns = wire_int16(&b); columns > 0 && !b.bad; columns--) {
    g_ptr_array_add(c->names, g_strdup(wire_text(&b)));
    for (guint i = 0; i < 18; i++) wire_byte(&b);
  }
  return nothing();
}

/* A server may know less than what was asked for, never more; and of options it names none, as none was asked for. */
static ClientEvent negotiated(Wired *c, WireCursor b) {
  int32_t newest = wire_int32(&b), options = wire_int32(&b);
  if (b.bad || b.at != b.end || newest < WIRE_30 || newest >= c->protocol || options != 0)
    return say(c, CLIENT_BROKEN, "a negotiation of the protocol that answers nothing");
  c->protocol = newest;
  return nothing();
}

/* Nothing is ever copied from here: the server's statement ends in an error. */
static ClientEvent copies_nothing(Wired *c) {
  wire_string(c->out, 'f', "COPY is not supported by this client");
  return nothing();
}

static ClientEvent message(Wired *c, const WireMessage *m) {
  WireCursor b = wire_body(m);
  switch (m->type) {
  case 'R': return authenticate(c, b);
  case 'K': return keep_key(c, b);
  case 'E': return keep_error(c, m);
  case 'D': return keep_row(c, b);
  case '1': return (ClientEvent){.kind = CLIENT_PARSED};
  case 'T': return keep_names(c, b);
  case 'v': return negotiated(c, b);
  case 'G':
  case 'W': return copies_nothing(c);
  case 'Z': return (ClientEvent){.kind = CLIENT_READY, .status = (char)wire_byte(&b)};
  default: return wire_word(m->type, true) ? nothing() : say(c, CLIENT_BROKEN, "a message of an unknown type");
  }
}

ClientEvent wired_next(Wired *c) {
  for (;;) {
    WireMessage m;
    g_autoptr(GError) error = NULL;
    if (c->tls_at == TLS_FAILED) return say(c, CLIENT_BROKEN, "the server has no TLS, or breaks it");
    WireNext next = wire_next(c->in, &m, &error);
    if (next == WIRE_MORE) return nothing();
    ClientEvent e = next == WIRE_BROKEN ? say(c, CLIENT_BROKEN, error->message) : message(c, &m);
    if (e.kind != CLIENT_NOTHING) return e;
  }
}
