/* What a client does not believe, and TLS in both roles: libpq's rules, and bytes that come one at a time. */
#include "sim/live/auth.h"
#include "sim/live/client.h"
#include "sim/live/server.h"
#include "tests/harness.h"
#include "tests/wire_pair.h"

static BackendConfig config(PasswordKind ask, gsize key_len, int32_t newest) {
  BackendConfig c = {
      .pid = 77, .key_len = key_len, .newest = newest, .ask = ask, .password = "pencil", .server_version = "15.1"};
  memset(c.key, 7, sizeof c.key);
  return c;
}

/* ---- what a client does not believe ---- */

static ClientEvent told(Wired *c, const GByteArray *bytes) {
  wired_feed(c, bytes->data, bytes->len);
  return wired_next(c);
}

/* libpq's rules: a server's newest version is below what was asked for, and it names no option that nobody gave. */
static void negotiations_that_answer_nothing(void) {
  static const struct {
    int32_t asked, newest;
    guint options;
    ClientEventKind kind;
  } known[] = {{WIRE_32, WIRE_30, 0, CLIENT_NOTHING},
               {WIRE_32, WIRE_32, 0, CLIENT_BROKEN},
               {WIRE_30, WIRE_30, 0, CLIENT_BROKEN},
               {WIRE_32, 131072, 0, CLIENT_BROKEN},
               {WIRE_32, WIRE_30, 1, CLIENT_BROKEN}};
  const char *const options[] = {"_pq_.x"};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    g_autoptr(Wired) c = wired_new(known[i].asked, "u", "d", NULL);
    g_autoptr(GByteArray) out = g_byte_array_new();
    wire_negotiate(out, known[i].newest, options, known[i].options);
    expect_int(told(c, out).kind, ==, known[i].kind);
  }
}

/* libpq's limits: four bytes for 3.0, 4 to 256 for 3.2. */
static void keys_of_no_right_length(void) {
  static const struct {
    int32_t protocol;
    gsize n;
    ClientEventKind kind;
  } known[] = {{WIRE_30, 4, CLIENT_NOTHING},   {WIRE_30, 5, CLIENT_BROKEN},  {WIRE_30, 3, CLIENT_BROKEN},
               {WIRE_32, 4, CLIENT_NOTHING},   {WIRE_32, 3, CLIENT_BROKEN},  {WIRE_32, 0, CLIENT_BROKEN},
               {WIRE_32, 256, CLIENT_NOTHING}, {WIRE_32, 257, CLIENT_BROKEN}};
  guint8 key[300] = {0};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    g_autoptr(Wired) c = wired_new(known[i].protocol, "u", "d", NULL);
    g_autoptr(GByteArray) out = g_byte_array_new();
    wire_key(out, 1, key, known[i].n);
    expect_int(told(c, out).kind, ==, known[i].kind);
  }
}

/* Who has not shown that it knows the password is no server. */
static void a_login_that_scram_has_not_ended(void) {
  g_autoptr(Wired) c = wired_new(WIRE_30, "u", "d", "x");
  g_autoptr(GByteArray) out = g_byte_array_new();
  wire_auth(out, AUTH_SASL, "SCRAM-SHA-256\0", sizeof "SCRAM-SHA-256\0");
  wire_auth(out, AUTH_OK, NULL, 0);
  expect_int(told(c, out).kind, ==, CLIENT_BROKEN);
}

/* COPY FROM STDIN waits for data until it is told that there is none. */
static void copies_nothing(void) {
  g_autoptr(Wired) c = wired_new(WIRE_30, "u", "d", NULL);
  g_autoptr(GByteArray) out = g_byte_array_new();
  g_byte_array_set_size(wired_out(c), 0);
  wire_raw(out, 'G', "\0\0", 3);
  expect_int(told(c, out).kind, ==, CLIENT_NOTHING);
  expect_int(wired_out(c)->len > 0 ? wired_out(c)->data[0] : 0, ==, 'f');
}

/* ---- TLS, and what only begins so ---- */

/* A byte at a time in both directions, through handshake, login and a query. */
static void one_byte_each(GByteArray *from, Wired *c, Backend *b) {
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  g_byte_array_append(bytes, from->data, from->len);
  g_byte_array_set_size(from, 0);
  for (guint i = 0; i < bytes->len; i++) {
    if (c)
      wired_feed(c, bytes->data + i, 1);
    else if (b)
      backend_feed(b, bytes->data + i, 1);
  }
}

static void inside_tls(void) {
  g_autoptr(TlsKeys) keys = tls_keys_new();
  BackendConfig config_of = config(PASSWORD_SCRAM, 32, WIRE_32);
  config_of.tls = keys, config_of.tls_only = true;
  g_autoptr(Backend) b = backend_new(&config_of);
  g_autoptr(Wired) c = wired_new_tls(keys, WIRE_32, "u", "d", "pencil");
  g_autoptr(GString) seen = g_string_new(NULL);
  g_autofree char *after_login = g_strdup_printf("%dZ", (int)BACKEND_LOGIN);
  for (guint turn = 0; turn < 20; turn++) {
    one_byte_each(wired_to_send(c), NULL, b);
    for (BackendEvent e = backend_next(b); e.kind != BACKEND_NOTHING; e = backend_next(b)) {
      g_string_append_printf(seen, "%d", (int)e.kind);
      if (e.kind == BACKEND_LOGIN) backend_welcome(b);
      if (e.kind == BACKEND_RUN) backend_answer(b, "1", NULL);
    }
    one_byte_each(backend_out(b), c, NULL);
    for (ClientEvent e = wired_next(c); e.kind != CLIENT_NOTHING; e = wired_next(c)) {
      g_string_append_c(seen, e.kind == CLIENT_READY ? 'Z' : e.kind == CLIENT_ROW ? 'D' : '?');
      if (strcmp(seen->str, after_login) == 0) wire_string(wired_out(c), 'Q', "SELECT 1");
    }
  }
  g_autofree char *wanted = g_strdup_printf("%dZ%dDZ", (int)BACKEND_LOGIN, (int)BACKEND_RUN);
  expect_str(seen->str, wanted);
}

static void no_login_without_tls(void) {
  g_autoptr(TlsKeys) keys = tls_keys_new();
  BackendConfig config_of = config(PASSWORD_NONE, 4, WIRE_30);
  config_of.tls = keys, config_of.tls_only = true;
  g_autoptr(Backend) b = backend_new(&config_of);
  g_autoptr(Wired) c = wired_new(WIRE_30, "u", "d", NULL);
  to_backend(c, b);
  expect_int(backend_next(b).kind, ==, BACKEND_REFUSED);
  to_client(b, c);
  ClientEvent e = wired_next(c);
  expect_int(e.kind, ==, CLIENT_ERROR);
  expect_str(e.sqlstate, "28000");
}

static void a_server_without_tls(void) {
  g_autoptr(TlsKeys) keys = tls_keys_new();
  BackendConfig config_of = config(PASSWORD_NONE, 4, WIRE_30);
  g_autoptr(Backend) b = backend_new(&config_of);
  g_autoptr(Wired) c = wired_new_tls(keys, WIRE_30, "u", "d", NULL);
  to_backend(c, b);
  expect_int(backend_next(b).kind, ==, BACKEND_NOTHING);
  to_client(b, c);
  expect_int(wired_next(c).kind, ==, CLIENT_BROKEN);
  expect_int(wired_to_send(c)->len, ==, 0); /* and nothing of the login has left in the clear */
}

/* CVE-2021-23214: a start that came before the handshake is not inside TLS. */
static void bytes_slipped_in(void) {
  g_autoptr(TlsKeys) keys = tls_keys_new();
  BackendConfig config_of = config(PASSWORD_NONE, 4, WIRE_30);
  config_of.tls = keys;
  g_autoptr(Backend) b = backend_new(&config_of);
  g_autoptr(Wired) c = wired_new_tls(keys, WIRE_30, "u", "d", NULL), slips = wired_new(WIRE_30, "other", "d", NULL);
  GByteArray *first = wired_to_send(c);
  g_byte_array_append(first, wired_out(slips)->data, wired_out(slips)->len);
  BackendEventKind last = BACKEND_NOTHING;
  ClientEventKind heard = CLIENT_NOTHING;
  for (guint turn = 0; turn < 6; turn++) {
    to_backend(c, b);
    for (BackendEvent e = backend_next(b); e.kind != BACKEND_NOTHING; e = backend_next(b)) last = e.kind;
    to_client(b, c);
    for (ClientEvent e = wired_next(c); e.kind != CLIENT_NOTHING; e = wired_next(c)) heard = e.kind;
  }
  expect_int(last, ==, BACKEND_BROKEN);
  expect_int(heard, ==, CLIENT_ERROR);
}

/* RFC 5802, section 6: who believes that binding was not offered, where it was, has somebody between; who chose it
 * binds, and to the very certificate. */
static void bindings(void) {
  static const struct {
    ScramBinding client, server;
    guint8 theirs;
    bool starts, ends;
  } known[] = {{SCRAM_UNBOUND, SCRAM_UNBOUND, 1, true, true}, {SCRAM_COULD, SCRAM_UNBOUND, 1, true, true},
               {SCRAM_UNBOUND, SCRAM_COULD, 1, true, true},   {SCRAM_COULD, SCRAM_COULD, 1, false, false},
               {SCRAM_BOUND, SCRAM_BOUND, 1, true, true},     {SCRAM_BOUND, SCRAM_BOUND, 2, true, false},
               {SCRAM_BOUND, SCRAM_COULD, 1, false, false},   {SCRAM_UNBOUND, SCRAM_BOUND, 1, false, false}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    g_autoptr(GByteArray) mine = g_byte_array_new(), theirs = g_byte_array_new();
    g_byte_array_append(mine, (const guint8 *)"\1", 1);
    g_byte_array_append(theirs, &known[i].theirs, 1);
    g_autoptr(Scram) client = scram_new("pencil", "abc"), server = scram_new("pencil", "def");
    scram_bind(client, known[i].client, theirs);
    scram_bind(server, known[i].server, mine);
    g_autofree char *first = scram_client_first(client, "");
    g_autofree char *challenge = scram_server_first(server, first, "AQIDBAUGBwg=");
    expect_int(challenge != NULL, ==, known[i].starts);
    g_autofree char *final = challenge ? scram_client_final(client, challenge) : NULL;
    g_autofree char *accepted = final ? scram_server_final(server, final) : NULL;
    expect_int(accepted != NULL, ==, known[i].ends);
  }
}

int main(void) {
  return suite_run("wire_login", (const Case[]){{"negotiations that answer nothing", negotiations_that_answer_nothing},
                                                {"keys of no right length", keys_of_no_right_length},
                                                {"a login that SCRAM has not ended", a_login_that_scram_has_not_ended},
                                                {"copies nothing", copies_nothing},
                                                {"inside TLS", inside_tls},
                                                {"no login without TLS", no_login_without_tls},
                                                {"a server without TLS", a_server_without_tls},
                                                {"bytes slipped in", bytes_slipped_in},
                                                {"bindings", bindings},
                                                {0}});
}
