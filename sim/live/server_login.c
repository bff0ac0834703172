/* server_login.c - how a backend asks for a password, and what it makes of the answer. See server.h. */
#include "sim/live/server_parts.h"
#include <string.h>

static const guint8 salt[AUTH_SALT] = {1, 2, 3, 4};

/* Inside TLS channel binding is offered first, as by a server. */
void backend_ask_password(Backend *b) {
  static const char mechanisms[] = SCRAM_PLUS "\0" SCRAM_PLAIN "\0";
  gsize skipped = b->tls ? 0 : sizeof SCRAM_PLUS;
  if (b->config.ask == PASSWORD_CLEAR) {
    wire_auth(b->out, AUTH_CLEAR, NULL, 0);
    b->at = AT_PASSWORD;
  } else if (b->config.ask == PASSWORD_MD5) {
    wire_auth(b->out, AUTH_MD5, salt, sizeof salt);
    b->at = AT_PASSWORD;
  } else {
    wire_auth(b->out, AUTH_SASL, mechanisms + skipped, sizeof mechanisms - skipped);
    b->at = AT_SCRAM_FIRST;
  }
}

static BackendEvent wrong_password(Backend *b) {
  return backend_refused(b, "28P01", "password authentication failed for user \"%s\"", backend_start_option(b, "user"));
}

static BackendEvent password(Backend *b, WireCursor c) {
  g_autofree char *hash = auth_md5(backend_start_option(b, "user"), b->config.password, salt);
  const char *wanted = b->config.ask == PASSWORD_CLEAR ? b->config.password : hash, *given = wire_text(&c);
  if (wire_end(&c)) return backend_broken(b, "08P01", "invalid password packet size");
  if (!*given) return backend_refused(b, "28P01", "empty password returned by client");
  if (strcmp(given, wanted) != 0) return wrong_password(b);
  b->at = AT_LOGIN;
  return backend_event(BACKEND_LOGIN);
}

/* The client's first message, which came with its choice of a mechanism, or alone. */
static BackendEvent scram_begins(Backend *b, const char *theirs) {
  g_autofree char *mine = scram_server_first(b->scram, theirs, "AQIDBAUGBwg=");
  if (!mine) return backend_broken(b, scram_sqlstate(b->scram), "%s", scram_complaint(b->scram));
  wire_auth(b->out, AUTH_SASL_GOES_ON, mine, strlen(mine));
  b->at = AT_SCRAM_FINAL;
  return backend_event(BACKEND_NOTHING);
}

/* False: there is no such mechanism, or it was not offered. */
static bool choose_mechanism(Backend *b, const char *mechanism) {
  bool plus = b->tls && strcmp(mechanism, SCRAM_PLUS) == 0;
  if (!plus && strcmp(mechanism, SCRAM_PLAIN) != 0) return false;
  g_autoptr(GByteArray) binding = b->tls ? tls_binding(b->tls) : NULL;
  b->scram = scram_new(b->config.password, "c3RhbXBlZGU");
  scram_bind(b->scram, plus ? SCRAM_BOUND : binding ? SCRAM_COULD : SCRAM_UNBOUND, binding);
  return true;
}

static BackendEvent scram_first(Backend *b, WireCursor c) {
  const char *mechanism = wire_text(&c);
  if (!c.bad && !choose_mechanism(b, mechanism))
    return backend_broken(b, "08P01", "client selected an invalid SASL authentication mechanism");
  gsize n;
  int32_t len = wire_int32(&c);
  const guint8 *data = wire_rest(&c, &n);
  if (c.bad) return backend_broken(b, "08P01", "%s", c.bad);
  if (len == -1 && n == 0) { /* it has none, and is asked for it by an empty challenge */
    wire_auth(b->out, AUTH_SASL_GOES_ON, NULL, 0);
    b->at = AT_SCRAM_ALONE;
    return backend_event(BACKEND_NOTHING);
  }
  if (len < 0 || (gsize)len != n) return backend_broken(b, "08P01", "invalid message format");
  g_autofree char *theirs = g_strndup((const char *)data, n);
  return scram_begins(b, theirs);
}

static BackendEvent scram_alone(Backend *b, WireCursor c) {
  g_autofree char *theirs = wire_rest_text(&c);
  return scram_begins(b, theirs);
}

static BackendEvent scram_final(Backend *b, WireCursor c) {
  g_autofree char *theirs = wire_rest_text(&c), *mine = scram_server_final(b->scram, theirs);
  if (!mine) return wrong_password(b);
  wire_auth(b->out, AUTH_SASL_FINAL, mine, strlen(mine));
  b->at = AT_LOGIN;
  return backend_event(BACKEND_LOGIN);
}

BackendEvent backend_password(Backend *b, const WireMessage *m) {
  WireCursor c = wire_body(m);
  if (m->type != 'p')
    return backend_broken(b, "08P01", "expected %s response, got message type %d",
                          b->at == AT_PASSWORD ? "password" : "SASL", m->type);
  switch (b->at) {
  case AT_PASSWORD: return password(b, c);
  case AT_SCRAM_FIRST: return scram_first(b, c);
  case AT_SCRAM_ALONE: return scram_alone(b, c);
  default: return scram_final(b, c);
  }
}
