/* wire_first.c - what a server says to first packets and passwords, right ones and wrong ones, byte by byte; a line
 * each, so that a real one and the fake one can be compared (tests/e2e_wire.sh).
 *
 *   wire_first DIR|- PORT trust|clear|md5|scram   he is asked for that
 *   wire_first DIR|- PORT encryption              requests for it, granted over loopback alone
 */
#include "tests/wire_words.h"

enum { SILENCE_MS = 20000 };

typedef struct {
  const char *dir, *user;
  int port;
} Server;

/* No more is sent; the line is ended by what comes, up to the end. */
static void hear(int fd, GString *line) {
  g_autoptr(WireStream) in = wire_stream_new(false);
  guint8 piece[4096];
  ssize_t n = -1;
  shutdown(fd, SHUT_WR);
  while (readable(fd, SILENCE_MS) && (n = read(fd, piece, sizeof piece)) > 0) wire_feed(in, piece, (gsize)n);
  if (in->bytes->len > 1 && strncmp((const char *)in->bytes->data, "EFATAL:", 7) == 0)
    g_string_append_printf(line, " %s", (const char *)in->bytes->data); /* an error of 2.0, with its end */
  else
    add_messages(line, in, true);
  printf("%s %s\n", line->str, n == 0 || (n < 0 && errno == ECONNRESET) ? "closed" : "silence");
  close(fd);
}

static void say(const Server *s, const char *about, GByteArray *out) {
  int fd = reach(s->dir, s->port);
  g_autoptr(GString) line = g_string_new(about);
  send_all(fd, out);
  hear(fd, line);
}

static void start(GByteArray *out, const Server *s, int32_t version) {
  const char *const pairs[] = {"user",     s->user,    "database", "postgres", "application_name", "a", "Datestyle",
                               "ISO, MDY", "timezone", "UTC",      NULL};
  wire_startup(out, version, pairs);
}

static void versions(const Server *s) {
  static const int32_t asked[] = {WIRE_30, 65536,  WIRE_30 + 1, WIRE_32, WIRE_30 + 9999,
                                  131072,  262144, 0,           -1,      1234 << 16};
  for (guint i = 0; i < G_N_ELEMENTS(asked); i++) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autofree char *about = g_strdup_printf("version %d", asked[i]);
    start(out, s, asked[i]);
    say(s, about, out);
  }
  g_autoptr(GByteArray) out = g_byte_array_new();
  const char *const pairs[] = {"_pq_.x", "1", "user", s->user, "database", "postgres", "_pq_.yy", "", NULL};
  wire_startup(out, WIRE_30, pairs);
  say(s, "unknown options", out);
  wire_startup(out, WIRE_32, pairs);
  say(s, "a newer version and unknown options", out);
}

/* Hexadecimal, with blanks. */
static void say_hex(const Server *s, const char *about, const char *hex) {
  g_autoptr(GByteArray) out = g_byte_array_new();
  for (; *hex; hex++) {
    if (!g_ascii_isxdigit(hex[0])) continue;
    guint8 byte = (guint8)(g_ascii_xdigit_value(hex[0]) << 4 | g_ascii_xdigit_value(hex[1]));
    g_byte_array_append(out, &byte, 1);
    hex++;
  }
  say(s, about, out);
}

static void wrong_packets(const Server *s) {
  say_hex(s, "nothing", "");
  say_hex(s, "half a length", "00 00");
  say_hex(s, "half a packet", "00 00 00 10 00 03");
  say_hex(s, "a length of 3", "00 00 00 03");
  say_hex(s, "a length of 7", "00 00 00 07 00 03 00");
  say_hex(s, "a length of 10005", "00 00 27 15 00 03 00 00");
  say_hex(s, "a length below zero", "ff ff ff ff 00 03 00 00");
  say_hex(s, "no pairs, no end", "00 00 00 08 00 03 00 00");
  say_hex(s, "no pairs", "00 00 00 09 00 03 00 00 00");
  say_hex(s, "a name without a value", "00 00 00 0d 00 03 00 00 75 73 65 72 00");
  say_hex(s, "a value without an end", "00 00 00 0f 00 03 00 00 75 73 65 72 00 61 62");
  say_hex(s, "more behind the end", "00 00 00 12 00 03 00 00 75 73 65 72 00 61 00 00 62 00");
  say_hex(s, "a newer version, nobody", "00 00 00 09 00 03 00 02 00");
}

static void cancels(const Server *s) {
  static const gsize lengths[] = {0, 1, 3, 4, 5, 8, 32, 256, 300};
  for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autofree char *about = g_strdup_printf("a cancel with a key of %" G_GSIZE_FORMAT, lengths[i]);
    guint8 key[300] = {1};
    wire_cancel(out, 2000000000, key, lengths[i]);
    say(s, about, out);
  }
}

/* Requests for encryption before a start: S: SSLRequest, G: GSSENCRequest. Each after the answer to the one before it;
 * `at_once`: the start does not wait for the last answer. */
static void requests(const Server *s, const char *kinds, bool at_once) {
  int fd = reach(s->dir, s->port);
  g_autoptr(GString) line = g_string_new(NULL);
  g_autoptr(GByteArray) out = g_byte_array_new();
  g_string_append_printf(line, "requests %s%s:", kinds, at_once ? " and a start at once" : "");
  char answer = 0;
  for (const char *p = kinds; *p && answer != 'E'; p++) {
    wire_request(out, *p == 'S' ? WIRE_SSL : WIRE_GSS);
    if (at_once && !p[1]) start(out, s, WIRE_30);
    send_all(fd, out);
    if (!readable(fd, SILENCE_MS) || read(fd, &answer, 1) != 1) break;
    g_string_append_printf(line, " %c", answer);
  }
  if (answer == 'E') { /* of an error; what is behind it need not be told */
    puts(line->str);
    close(fd);
    return;
  }
  if (!at_once) start(out, s, WIRE_30);
  send_all(fd, out);
  hear(fd, line);
}

static void after_login(const Server *s) {
  static const struct {
    const char *about, *bytes;
    guint n;
  } sent[] = {{"a Query without an end", "Q\0\0\0\5a", 6},
              {"a Query and more", "Q\0\0\0\7;\0b", 8},
              {"a message of no type", "?\0\0\0\4", 5},
              {"a password too late", "p\0\0\0\5\0", 6},
              {"a message of length 3", "Q\0\0\0\3", 5},
              {"a message of no length", "Q\xff\xff\xff\xff", 5},
              {"CopyData, CopyDone, CopyFail; Sync", "d\0\0\0\5xc\0\0\0\4f\0\0\0\5\0S\0\0\0\4", 22},
              {"Flush; Terminate", "H\0\0\0\4X\0\0\0\4", 10},
              {"a Parse cut short; Sync", "P\0\0\0\5\0S\0\0\0\4", 11},
              {"a Bind cut short; a Query; Sync", "B\0\0\0\5\0Q\0\0\0\6;\0S\0\0\0\4", 18}};
  for (guint i = 0; i < G_N_ELEMENTS(sent); i++) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    start(out, s, WIRE_30);
    g_byte_array_append(out, (const guint8 *)sent[i].bytes, sent[i].n);
    say(s, sent[i].about, out);
  }
}

/* What is said where a password is asked for, whichever. */
static void passwords(const Server *s) {
  static const struct {
    const char *about, *bytes;
    guint n;
  } sent[] = {{"nothing", "", 0},
              {"a wrong one", "p\0\0\0\7ab\0", 8},
              {"an empty one", "p\0\0\0\5\0", 6},
              {"one without an end", "p\0\0\0\6ab", 7},
              {"one and more", "p\0\0\0\10ab\0c", 9},
              {"a Query", "Q\0\0\0\6;\0", 7},
              {"an unknown mechanism", "p\0\0\0\21SCRAM-X\0\0\0\0\1n", 18},
              {"a mechanism alone", "p\0\0\0\26SCRAM-SHA-256\0\377\377\377\377", 23},
              {"a malformed start", "p\0\0\0\31SCRAM-SHA-256\0\0\0\0\3x,,", 26}};
  for (guint i = 0; i < G_N_ELEMENTS(sent); i++) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    start(out, s, WIRE_30);
    g_byte_array_append(out, (const guint8 *)sent[i].bytes, sent[i].n);
    say(s, sent[i].about, out);
  }
}

/* Real servers of Debian grant GSSENCRequest over TCP, and neither over a Unix socket. */
static void encryption(const Server *s) {
  static const char *const granted[] = {"S", "SS", "SG", NULL};
  static const char *const refused[] = {"S", "G", "GS", "SG", "GG", "SS", "GSG", "GSS", NULL};
  for (const char *const *k = s->dir ? refused : granted; *k; k++)
    for (int at_once = 0; at_once < 2; at_once++) requests(s, *k, at_once);
}

int main(int argc, char **argv) {
  if (argc != 4) return fputs("usage: see the source\n", stderr), 2;
  bool asks = strcmp(argv[3], "encryption") == 0, trust = strcmp(argv[3], "trust") == 0;
  Server s = {
      .dir = strcmp(argv[1], "-") == 0 ? NULL : argv[1], .user = asks ? "trust" : argv[3], .port = atoi(argv[2])};
  if (asks) encryption(&s);
  if (trust) versions(&s), wrong_packets(&s), cancels(&s), after_login(&s);
  if (!asks && !trust) passwords(&s);
  return 0;
}
