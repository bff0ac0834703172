/* fuzz_wire.c - the readers of PostgreSQL's protocol, both roles, on any bytes: they end, and what they say of a run
 * does not depend on how the bytes were cut. Byte 0: whose side (bit 0), how the backend asks for its password (bits 1
 * and 2), whether TLS is granted or asked for (bit 3); byte 1: how many bytes come at a time. The rest comes over the
 * wire: behind SSLRequest, or the answer to it, it is no TLS. */
#include "sim/live/client.h"
#include "sim/live/server.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 2, TLS = 8, ASKS = PASSWORD_SCRAM + 1 };

static void said(GString *log, char kind, const char *text) {
  g_string_append_c(log, kind);
  g_string_append(log, text ? text : "");
}

/* Each query is answered well, each second one with an error, each third interrupted. */
static void answer(Backend *b, guint *queries) {
  g_assert(backend_running(b));
  guint nth = ++*queries;
  if (nth % 3 == 0) g_assert(backend_interrupt(b));
  if (nth % 3 != 0) backend_answer(b, "1", nth % 2 ? NULL : "XX000");
  g_assert(!backend_running(b));
}

static void backend_run(Backend *b, GString *log, guint *queries) {
  for (BackendEvent e = backend_next(b); e.kind != BACKEND_NOTHING; e = backend_next(b)) {
    said(log, (char)('a' + (int)e.kind), e.text);
    if (e.kind == BACKEND_CANCEL) g_assert(e.key_len >= 1 && e.key_len <= WIRE_KEY_MOST);
    if (e.kind == BACKEND_LOGIN) backend_welcome(b);
    if (e.kind == BACKEND_RUN) answer(b, queries);
  }
}

/* Whatever came in, what goes out is whole messages of known types: our own client's reader takes it. */
static void check_out(const GByteArray *out) {
  g_autoptr(WireStream) s = wire_stream_new(false);
  WireMessage m;
  guint from = 0;
  if (out->len == 0) return;
  while (from < out->len && out->data[from] == 'N' && from < 2 && (out->len == from + 1 || out->data[from + 1] != 0))
    from++; /* "no" to SSLRequest and GSSENCRequest, before any message */
  if (out->len > from && memcmp(out->data + from, "EFATAL:  ", MIN(9, out->len - from)) == 0)
    return; /* as 2.0 has it */
  wire_feed(s, out->data + from, out->len - from);
  while (wire_next(s, &m, NULL) == WIRE_MESSAGE) g_assert(wire_word(m.type, true));
  g_assert(s->taken == s->bytes->len);
}

/* Made once: they are the same for every input. */
static const TlsKeys *keys(void) {
  static TlsKeys *made;
  if (!made) made = tls_keys_new();
  return made;
}

static char *backend_says(const uint8_t *data, size_t size, uint8_t kind, size_t step) {
  BackendConfig c = {.pid = 7, .key_len = 32, .newest = WIRE_32, .password = "x", .server_version = "15.1"};
  c.ask = (PasswordKind)((kind >> 1) % ASKS);
  if (kind & TLS) c.tls = keys();
  g_autoptr(Backend) b = backend_new(&c);
  GString *log = g_string_new(NULL);
  guint queries = 0;
  for (size_t at = 0; at < size; at += step) {
    backend_feed(b, data + at, MIN(step, size - at));
    backend_run(b, log, &queries);
  }
  if (!(kind & TLS)) check_out(backend_out(b));
  return g_string_free(log, FALSE);
}

static char *client_says(const uint8_t *data, size_t size, uint8_t kind, size_t step) {
  g_autoptr(Wired) c = kind & TLS ? wired_new_tls(keys(), WIRE_32, "u", "d", "x") : wired_new(WIRE_32, "u", "d", "x");
  GString *log = g_string_new(NULL);
  bool broken = false;
  for (size_t at = 0; at < size && !broken; at += step) {
    wired_feed(c, data + at, MIN(step, size - at));
    for (ClientEvent e = wired_next(c); e.kind != CLIENT_NOTHING && !broken; e = wired_next(c)) {
      said(log, (char)('a' + (int)e.kind), e.text);
      broken = e.kind == CLIENT_BROKEN; /* nothing is read behind it */
    }
    g_byte_array_set_size(wired_to_send(c), 0);
  }
  g_auto(GStrv) columns = wired_columns(c), names = wired_names(c);
  g_assert(columns && names);
  return g_string_free(log, FALSE);
}

/* What comes with a request for encryption is refused, what comes after it is not: there the cut says something. */
static bool asks_for_encryption(const uint8_t *data, size_t size) {
  static const uint8_t request[] = {0x04, 0xd2, 0x16}; /* behind a length of any kind; and 0x2f or 0x30 */
  return size > 7 && memcmp(data + 4, request, sizeof request) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size <= HEAD) return 0;
  bool by_client = data[0] & 1;
  uint8_t kind = data[0];
  size_t step = (size_t)data[1] + 1, n = size - HEAD;
  g_autofree char *whole = by_client ? client_says(data + HEAD, n, kind, n) : backend_says(data + HEAD, n, kind, n);
  g_autofree char *cut = by_client ? client_says(data + HEAD, n, kind, step) : backend_says(data + HEAD, n, kind, step);
  if (by_client || !asks_for_encryption(data + HEAD, n)) g_assert_cmpstr(whole, ==, cut);
  return 0;
}
