/* wire_ask.c - what a server says, a line each, so that a real one and the fake one can be compared
 * (tests/e2e_wire.sh).
 *
 *   wire_ask DIR|- PORT USER PASSWORD 30|32 tls|plain [login]   to a fixed list of questions by our client
 *                                                              (sim/live/client.h); login: to its login alone
 * DIR is where its Unix socket is; -: over loopback. Without TLS each message is told, else what the client makes of
 * it.
 */
#include "sim/live/client.h"
#include "tests/wire_words.h"

/* Not so that it fails when it is planned; the comment is for the fake. */
#define FAILS          "SELECT 1 / (random() * 0)::int -- 1/0"
#define FAILS_SECOND   "SELECT 1; SELECT 1 / (random() * 0)::int -- 1/0"
#define FAILS_IN_BLOCK "SELECT 2; BEGIN; SELECT 1 / (random() * 0)::int -- 1/0"
enum { SILENCE_MS = 20000, WHILE_MS = 300, TRIES = 60 };

typedef struct {
  const char *dir; /* NULL: TCP */
  int port, fd;
  Wired *wired;
  WireStream *tap; /* the same bytes as messages, where there is no TLS */
} Ask;

/* ---- a talk ---- */

static void add_event(GString *line, const ClientEvent *e) {
  if (e->kind == CLIENT_ROW) g_string_append_printf(line, " row");
  if (e->kind == CLIENT_ERROR) g_string_append_printf(line, " error %s", e->sqlstate);
  if (e->kind == CLIENT_READY) g_string_append_printf(line, " ready %c", e->status);
  if (e->kind == CLIENT_BROKEN) g_string_append_printf(line, " broken: %s", e->text);
}

/* One line of all that comes up to READY, the end of the login or of the connection. */
static bool hear(Ask *a, const char *about) {
  g_autoptr(GString) line = g_string_new(about);
  for (;;) {
    ClientEvent e = wired_next(a->wired);
    send_all(a->fd, wired_to_send(a->wired));
    if (!a->tap) add_event(line, &e);
    if (e.kind == CLIENT_READY || e.kind == CLIENT_BROKEN) return puts(line->str), e.kind == CLIENT_READY;
    if (e.kind != CLIENT_NOTHING) continue;
    guint8 piece[4096];
    ssize_t n = readable(a->fd, SILENCE_MS) ? read(a->fd, piece, sizeof piece) : -1;
    if (n <= 0) return printf("%s %s\n", line->str, n == 0 ? "closed" : "silence"), false;
    wired_feed(a->wired, piece, (gsize)n);
    if (a->tap) wire_feed(a->tap, piece, (gsize)n);
    if (a->tap) add_messages(line, a->tap, false);
  }
}

static void simple(Ask *a, const char *sql) {
  wire_string(wired_out(a->wired), 'Q', sql);
  hear(a, sql);
}

/* Parse, Bind, Describe, Execute; Sync, and what came. value NULL: no parameter. */
static void extended(Ask *a, const char *statement, const char *portal, const char *sql, const char *value) {
  GByteArray *out = wired_out(a->wired);
  if (sql) wire_parse(out, statement, sql);
  if (sql) wire_describe(out, 'S', statement);
  wire_bind(out, portal, statement, (const char *const[]){value, NULL});
  wire_describe(out, 'P', portal);
  wire_execute(out, portal, 0);
  wire_simple(out, 'H');
  wire_simple(out, 'S');
  g_autofree char *about = g_strdup_printf("extended %s/%s %s", statement, portal, sql ? sql : "again");
  hear(a, about);
}

static void sync_and_hear(Ask *a, const char *about) {
  wire_simple(wired_out(a->wired), 'S');
  hear(a, about);
}

/* A portal executed three times, a row at a time; once more behind the transaction's end. */
static void portals(Ask *a, const char *sql) {
  GByteArray *out = wired_out(a->wired);
  simple(a, "BEGIN");
  wire_parse(out, "", sql);
  wire_bind(out, "p", "", NULL);
  for (guint i = 0; i < 3; i++) wire_execute(out, "p", 1);
  sync_and_hear(a, sql);
  simple(a, "COMMIT");
  wire_execute(out, "p", 1);
  sync_and_hear(a, "a portal of a transaction that is over");
}

static void extended_queries(Ask *a) {
  GByteArray *out = wired_out(a->wired);
  extended(a, "", "", "SELECT 1", NULL);
  extended(a, "", "", "", NULL);
  extended(a, "", "", "SET application_name TO 'b'", NULL);
  extended(a, "", "", "SELECT 1; SELECT 2", NULL);
  extended(a, "s", "p", "SELECT $1::text || '$2' || $$ $3 $$", "1");
  extended(a, "s", "p", "SELECT 1", NULL); /* there already */
  extended(a, "s", "", NULL, "1");
  extended(a, "s", "", NULL, NULL); /* a value is missing */
  extended(a, "none", "", NULL, NULL);
  extended(a, "", "", FAILS, NULL);
  portals(a, "SELECT 1");
  portals(a, "SET work_mem = '2MB'");
  wire_execute(out, "none", 0);
  sync_and_hear(a, "no such portal");
  wire_close(out, 'S', "s");
  wire_close(out, 'S', "s");
  sync_and_hear(a, "closed twice");
  extended(a, "s", "", NULL, "1");
  simple(a, "BEGIN");
  extended(a, "", "", FAILS, NULL);
  extended(a, "", "", "SELECT 1", NULL);
  extended(a, "", "", "ROLLBACK", NULL);
  wire_simple(out, 'C'); /* without a name, which it must have */
  sync_and_hear(a, "a malformed Close");
  wire_describe(out, 'X', "");
  sync_and_hear(a, "a Describe of nothing");
}

static void queries(Ask *a) {
  static const char *const asked[] = {
      "SELECT 1", "", ";", "/* a -- b */ -- c\n", "BEGIN", "SELECT 1", FAILS, "SELECT 1", "COMMIT",
      /* savepoints */
      "BEGIN", "SAVEPOINT a", FAILS, "ROLLBACK TO a", "RELEASE a", "SELECT 1", "ROLLBACK", "SAVEPOINT a",
      "ROLLBACK TO a",
      /* what one has not begun, or twice */
      "COMMIT", "ROLLBACK", "BEGIN", "begin work", "end",
      /* several at once */
      "SELECT 1; SELECT 2;", "BEGIN; SELECT 1", "SELECT 1; COMMIT; SELECT 1", FAILS_IN_BLOCK,
      "ROLLBACK; SELECT ';' /* ; */; ;", FAILS_SECOND,
      /* what is reported */
      "SET application_name = 'c'", "set session intervalstyle to iso_8601", "BEGIN; SET application_name = 'd'",
      "ROLLBACK", "RESET application_name", "SET work_mem = '1MB'", "DISCARD ALL",
      /* others */
      "SHOW work_mem", "VALUES (1)", "WITH x AS (SELECT 1) SELECT * FROM x", "CREATE TEMP TABLE t (a int)",
      "INSERT INTO t VALUES (1)", "UPDATE t SET a = 2", "DELETE FROM t", "DROP TABLE t", "DEALLOCATE ALL", "RESET ALL"};
  for (guint i = 0; i < G_N_ELEMENTS(asked); i++) simple(a, asked[i]);
}

/* ---- cancels: postgres.md 7 ---- */

static void cancel(const Ask *a, const char *about, gint32 other_pid, guint wrong, gsize more) {
  int32_t pid;
  const guint8 *key;
  gsize n;
  if (!wired_key(a->wired, &pid, &key, &n)) g_error("no key");
  guint8 sent[WIRE_KEY_MOST + 1] = {0};
  memcpy(sent, key, n);
  sent[n - 1] ^= (guint8)wrong;
  g_autoptr(GByteArray) out = g_byte_array_new();
  wire_cancel(out, pid + other_pid, sent, n + more);
  int fd = reach(a->dir, a->port);
  guint8 byte;
  send_all(fd, out);
  ssize_t got = read(fd, &byte, 1);
  if (about) printf("cancel %s: %s\n", about, got == 0 ? "closed without a word" : "an answer");
  close(fd);
}

/* An idle one swallows it; who runs is hit, whatever query was meant; a wrong key or pid does nothing. */
static void cancels(Ask *a) {
  cancel(a, "of one that idles", 0, 0, 0);
  simple(a, "SELECT 1");
  wire_string(wired_out(a->wired), 'Q', "SELECT pg_sleep(60)");
  send_all(a->fd, wired_to_send(a->wired));
  cancel(a, "with a wrong key", 0, 1, 0);
  cancel(a, "with a key too long", 0, 0, 1);
  cancel(a, "of another pid", 100000000, 0, 0);
  printf("%s\n", readable(a->fd, WHILE_MS) ? "it ends" : "it goes on");
  for (guint i = 0; i < TRIES && !readable(a->fd, i ? WHILE_MS : 0); i++) cancel(a, NULL, 0, 0, 0);
  hear(a, "a late cancel hits the query that runs now:");
  simple(a, "SELECT 1");
}

static int talk(Ask *a, const char *user, const char *password, bool newer, bool tls, bool login) {
  g_autoptr(TlsKeys) keys = tls_keys_new();
  int32_t protocol = newer ? WIRE_32 : WIRE_30, pid;
  a->wired =
      tls ? wired_new_tls(keys, protocol, user, "postgres", password) : wired_new(protocol, user, "postgres", password);
  a->tap = tls ? NULL : wire_stream_new(false);
  a->fd = reach(a->dir, a->port);
  bool in = hear(a, "login");
  const guint8 *key;
  gsize n;
  if (in && wired_key(a->wired, &pid, &key, &n))
    printf("protocol 3.%d, a key of %" G_GSIZE_FORMAT "\n", wired_protocol(a->wired) & 65535, n);
  if (in && login) simple(a, "SELECT 1");
  if (in && !login) queries(a), extended_queries(a), cancels(a);
  close(a->fd);
  wired_free(a->wired);
  g_clear_pointer(&a->tap, wire_stream_free);
  return in ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc < 7) return fputs("usage: see the source\n", stderr), 2;
  Ask a = {.dir = strcmp(argv[1], "-") == 0 ? NULL : argv[1], .port = atoi(argv[2])};
  return talk(&a, argv[3], argv[4], strcmp(argv[5], "32") == 0, strcmp(argv[6], "tls") == 0, argc > 7);
}
