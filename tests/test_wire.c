/* The protocol library: bytes as the documentation gives them, streams cut anywhere, passwords by the RFC's example,
 * and a backend's rules of cancels (postgres.md 7). */
#include "sim/live/auth.h"
#include "sim/live/client.h"
#include "sim/live/server.h"
#include "tests/harness.h"
#include "tests/wire_pair.h"

static char *hex(const GByteArray *b) {
  GString *s = g_string_new(NULL);
  for (guint i = 0; i < b->len; i++) g_string_append_printf(s, "%02x", b->data[i]);
  return g_string_free(s, FALSE);
}

/* CancelRequest of 3.0: length 16, 80877102 = 04d2162e, pid, four bytes. */
static void cancel_of_30(void) {
  g_autoptr(GByteArray) b = g_byte_array_new();
  wire_cancel(b, 77, "\x01\x02\x03\x04", 4);
  g_autofree char *text = hex(b);
  expect_str(text, "0000001004d2162e0000004d01020304");
}

static void cancel_of_32(void) {
  g_autoptr(GByteArray) b = g_byte_array_new();
  guint8 key[32] = {0xab};
  wire_cancel(b, 1, key, sizeof key);
  expect_int(b->len, ==, 12 + 32);
  expect_int(b->data[3], ==, 44);
}

static void startup_of_32(void) {
  g_autoptr(GByteArray) b = g_byte_array_new();
  const char *const pairs[] = {"user", "a", NULL};
  wire_startup(b, WIRE_32, pairs);
  g_autofree char *text = hex(b);
  expect_str(text, "0000001000030002757365720061000"
                   "0");
}

static void backend_key_data(void) {
  g_autoptr(GByteArray) b = g_byte_array_new();
  wire_key(b, 77, "\x01\x02\x03\x04", 4);
  g_autofree char *text = hex(b);
  expect_str(text, "4b0000000c0000004d01020304");
}

static void negotiation(void) {
  g_autoptr(GByteArray) b = g_byte_array_new();
  const char *const unknown[] = {"_pq_.x"};
  wire_negotiate(b, WIRE_32, unknown, 1);
  g_autofree char *text = hex(b);
  expect_str(text, "76000000130003000200000001"
                   "5f70715f2e7800");
}

/* Every message of a login and a query, a byte at a time, is what it is in one piece. */
static void cut_anywhere(void) {
  g_autoptr(GByteArray) b = g_byte_array_new();
  wire_auth(b, AUTH_OK, NULL, 0);
  wire_parameter(b, "server_version", "15.1");
  wire_error(b, "ERROR", "57014", "canceling");
  wire_ready(b, 'I');
  g_autoptr(WireStream) s = wire_stream_new(false);
  g_autoptr(GString) types = g_string_new(NULL);
  for (guint i = 0; i < b->len; i++) {
    WireMessage m;
    wire_feed(s, b->data + i, 1);
    if (wire_next(s, &m, NULL) != WIRE_MESSAGE) continue;
    g_string_append_c(types, m.type);
    if (m.type == 'E') expect_str(wire_field(&m, 'C'), "57014");
  }
  expect_str(types->str, "RSEZ");
}

static void lengths_that_no_message_has(void) {
  static const guint8 bad[][5] = {{'Q', 0, 0, 0, 3}, {'Q', 0x7f, 0xff, 0xff, 0xff}, {'Q', 0xff, 0xff, 0xff, 0xff}};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(WireStream) s = wire_stream_new(false);
    WireMessage m;
    g_autoptr(GError) error = NULL;
    wire_feed(s, bad[i], sizeof bad[i]);
    expect_int(wire_next(s, &m, &error), ==, WIRE_BROKEN);
    expect(error != NULL);
  }
}

/* RFC 7677, section 3. */
static void scram_of_the_rfc(void) {
  static const char server_first[] =
      "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
  g_autoptr(Scram) client = scram_new("pencil", "rOprNGfwEbeRWgbNEkqO");
  g_autofree char *first = scram_client_first(client, "user");
  expect_str(first, "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
  g_autofree char *final = scram_client_final(client, server_first);
  expect_str(final, "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                    "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  expect(scram_client_done(client, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
  expect(!scram_client_done(client, "v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
  g_autoptr(Scram) server = scram_new("pencil", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
  g_autofree char *said = scram_server_first(server, first, "W22ZaJ0SNY7soEsUEjb6gQ==");
  expect_str(said, server_first);
  g_autofree char *accepted = scram_server_final(server, final);
  expect_str(accepted, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

/* ---- our client against our backend ---- */

/* Until neither has anything to say; the last event but NOTHING of each. */
static void talk(Wired *c, Backend *b, ClientEvent *seen, BackendEvent *asked) {
  while (wired_to_send(c)->len || backend_out(b)->len) {
    to_backend(c, b);
    for (BackendEvent e = backend_next(b); e.kind != BACKEND_NOTHING; e = backend_next(b)) {
      *asked = e;
      if (e.kind == BACKEND_LOGIN) backend_welcome(b);
    }
    to_client(b, c);
    for (ClientEvent e = wired_next(c); e.kind != CLIENT_NOTHING; e = wired_next(c)) *seen = e;
  }
}

static BackendConfig config(PasswordKind ask, gsize key_len, int32_t newest) {
  BackendConfig c = {
      .pid = 77, .key_len = key_len, .newest = newest, .ask = ask, .password = "pencil", .server_version = "15.1"};
  memset(c.key, 7, sizeof c.key);
  return c;
}

static ClientEventKind login(PasswordKind ask, const char *password) {
  BackendConfig c = config(ask, 4, WIRE_30);
  g_autoptr(Backend) b = backend_new(&c);
  g_autoptr(Wired) w = wired_new(WIRE_30, "u", "d", password);
  ClientEvent seen = {0};
  BackendEvent asked = {0};
  talk(w, b, &seen, &asked);
  return seen.kind;
}

static void passwords(void) {
  for (PasswordKind k = PASSWORD_NONE; k <= PASSWORD_SCRAM; k++) expect_int(login(k, "pencil"), ==, CLIENT_READY);
  expect_int(login(PASSWORD_CLEAR, "wrong"), ==, CLIENT_ERROR);
  expect_int(login(PASSWORD_MD5, "wrong"), ==, CLIENT_ERROR);
  expect_int(login(PASSWORD_SCRAM, "wrong"), ==, CLIENT_ERROR);
}

static gsize key_len_of(int32_t asked, int32_t newest, gsize key_len) {
  BackendConfig c = config(PASSWORD_NONE, key_len, newest);
  g_autoptr(Backend) b = backend_new(&c);
  g_autoptr(Wired) w = wired_new(asked, "u", "d", NULL);
  ClientEvent seen = {0};
  BackendEvent asked_for = {0};
  talk(w, b, &seen, &asked_for);
  expect_int(wired_protocol(w), ==, MIN(asked, newest));
  int32_t pid;
  const guint8 *key;
  gsize n;
  wired_key(w, &pid, &key, &n);
  return n;
}

/* 3.0 gets four bytes, 3.2 what there is, whoever of the two is the older. */
static void keys_by_version(void) {
  expect_int(key_len_of(WIRE_32, WIRE_32, 256), ==, 256);
  expect_int(key_len_of(WIRE_32, WIRE_32, 32), ==, 32);
  expect_int(key_len_of(WIRE_30, WIRE_32, 32), ==, 4);
  expect_int(key_len_of(WIRE_32, WIRE_30, 32), ==, 4);
  expect_int(key_len_of(WIRE_32, WIRE_32, 0), ==, 0);
}

/* An idle backend swallows an interrupt though the next query has come; one that runs is interrupted, and goes on. */
static void interrupts(void) {
  BackendConfig c = config(PASSWORD_NONE, 4, WIRE_30);
  g_autoptr(Backend) b = backend_new(&c);
  g_autoptr(Wired) w = wired_new(WIRE_30, "u", "d", NULL);
  ClientEvent seen = {0};
  BackendEvent asked = {0};
  talk(w, b, &seen, &asked);
  wire_string(wired_out(w), 'Q', "SELECT 1");
  to_backend(w, b);
  expect(!backend_interrupt(b));
  expect_int(backend_next(b).kind, ==, BACKEND_RUN);
  expect(backend_interrupt(b));
  to_client(b, w);
  ClientEvent e = wired_next(w);
  expect_int(e.kind, ==, CLIENT_ERROR);
  expect_str(e.sqlstate, "57014");
  expect_int(wired_next(w).kind, ==, CLIENT_READY);
  expect(!backend_interrupt(b));
}

static char run_status(Wired *w, Backend *b, const char *sql) {
  wire_string(wired_out(w), 'Q', sql);
  ClientEvent seen = {0};
  BackendEvent asked = {0};
  talk(w, b, &seen, &asked);
  backend_answer(b, "1", NULL);
  to_client(b, w);
  for (ClientEvent e = wired_next(w); e.kind != CLIENT_NOTHING; e = wired_next(w)) seen = e;
  return seen.status;
}

static void transactions(void) {
  BackendConfig c = config(PASSWORD_NONE, 4, WIRE_30);
  g_autoptr(Backend) b = backend_new(&c);
  g_autoptr(Wired) w = wired_new(WIRE_30, "u", "d", NULL);
  ClientEvent seen = {0};
  BackendEvent asked = {0};
  talk(w, b, &seen, &asked);
  expect_int(run_status(w, b, "BEGIN"), ==, 'T');
  expect_int(run_status(w, b, "SELECT 1"), ==, 'T');
  wire_string(wired_out(w), 'Q', "SELECT 2");
  talk(w, b, &seen, &asked);
  backend_interrupt(b);
  expect_int(run_status(w, b, "SELECT 3"), ==, 'E');
  expect_int(run_status(w, b, "COMMIT"), ==, 'I');
}

int main(void) {
  return suite_run("wire", (const Case[]){{"cancel of 3.0", cancel_of_30},
                                          {"cancel of 3.2", cancel_of_32},
                                          {"startup of 3.2", startup_of_32},
                                          {"BackendKeyData", backend_key_data},
                                          {"NegotiateProtocolVersion", negotiation},
                                          {"a stream cut anywhere", cut_anywhere},
                                          {"lengths that no message has", lengths_that_no_message_has},
                                          {"SCRAM of the RFC", scram_of_the_rfc},
                                          {"passwords", passwords},
                                          {"keys by version", keys_by_version},
                                          {"interrupts", interrupts},
                                          {"transactions", transactions},
                                          {0}});
}
