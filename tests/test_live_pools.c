/* test_live_pools.c - pool-accounting on what a pooler's console says, and the wire of model and binary compared: what
 * is right passes, and each way to be wrong (a mutant of the pooler) is caught. */
#include "sim/live/pools.h"
#include "sim/live/wire_log.h"
#include "tests/harness.h"
#include <string.h>

static GPtrArray *table(const char *text) {
  GPtrArray *t = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i] && *lines[i]; i++) g_ptr_array_add(t, g_strsplit(lines[i], "|", -1));
  return t;
}

#define POOLS                                                                                                          \
  "database|user|cl_active_cancel_req|cl_waiting_cancel_req|sv_active|sv_active_cancel|sv_being_canceled|sv_idle|sv_"  \
  "used|sv_tested|sv_login\n"
#define SERVERS "state|ptr|link\n"
#define CLIENTS "ptr|link\n"

typedef struct {
  const char *what, *pools, *servers, *clients, *words; /* words: of the complaint; NULL: all is well */
  PoolSeen seen;
} BooksCase;

#define SEEN(n)                                                                                                        \
  { .name = "p", .database = "p", .user = "u", .size = 2, .sockets = (n) }
static const BooksCase books_cases[] = {
    {"one taken, one idle", "p|u|0|0|1|0|0|1|0|0|0\n", "active|s1|c1\nidle|s2|\n", "c1|s1\n", NULL, SEEN(2)},
    {"another pool's row", "q|u|0|0|9|0|0|0|0|0|0\n", "", "", NULL, SEEN(2)},
    {"under-counted", "p|u|0|0|1|0|0|0|0|0|0\n", "active|s1|c1\n", "c1|s1\n",
     "add up to 1 server connections, 2 are open", SEEN(2)},
    {"counted twice", "p|u|0|0|1|0|0|2|0|0|0\n", "active|s1|c1\n", "c1|s1\n",
     "add up to 3 server connections, 2 are open", SEEN(2)},
    {"one more that may be of another pool",
     "p|u|0|0|1|0|0|2|0|0|0\n",
     "active|s1|c1\n",
     "c1|s1\n",
     NULL,
     {.name = "p", .database = "p", .user = "u", .size = 3, .sockets = 2, .maybe = 1}},
    {"it is of another",
     "p|u|0|0|1|0|0|1|0|0|0\n",
     "active|s1|c1\n",
     "c1|s1\n",
     NULL,
     {.name = "p", .database = "p", .user = "u", .size = 3, .sockets = 2, .maybe = 1}},
    {"over-full", "p|u|0|0|3|0|0|0|0|0|0\n", "", "", "3 server connections, 2 allowed", SEEN(3)},
    {"a carrier beside a full pool", "p|u|1|0|2|1|0|0|0|0|0\n", "", "", NULL, SEEN(3)},
    {"taken by nobody", "p|u|0|0|2|0|0|0|0|0|0\n", "active|s1|\n", "", "has no client", SEEN(2)},
    {"its client is gone", "p|u|0|0|2|0|0|0|0|0|0\n", "active|s1|c9\n", "c1|s1\n", "a client that is not there",
     SEEN(2)},
    {"its client has another", "p|u|0|0|2|0|0|0|0|0|0\n", "active|s1|c1\n", "c1|s2\n", "a client that has another one",
     SEEN(2)},
    {"two of one client", "p|u|0|0|2|0|0|0|0|0|0\n", "active|s1|c1\nactive|s2|c1\n", "c1|s2\n", "has another one",
     SEEN(2)}};

static void test_books(void) {
  for (guint i = 0; i < G_N_ELEMENTS(books_cases); i++) {
    const BooksCase *c = &books_cases[i];
    g_autofree char *pools = g_strconcat(POOLS, c->pools, NULL), *servers = g_strconcat(SERVERS, c->servers, NULL),
                    *clients = g_strconcat(CLIENTS, c->clients, NULL);
    g_autoptr(GPtrArray) a = table(pools);
    g_autoptr(GPtrArray) b = table(servers);
    g_autoptr(GPtrArray) d = table(clients);
    PoolTables t = {a, b, d};
    g_autoptr(GString) why = g_string_new(NULL);
    bool wrong = pools_wrong(&t, &c->seen, 1, why);
    if (wrong != (c->words != NULL) || (c->words && !strstr(why->str, c->words)))
      fprintf(stderr, "%s: \"%s\", wanted \"%s\"\n", c->what, why->str, c->words ? c->words : "nothing");
    expect_int(wrong, ==, c->words != NULL);
    expect(!c->words || strstr(why->str, c->words));
  }
}

/* What is compared to tell whether a pooler is as fresh as at its start: nobody's numbers, no empty pool, any order. */
static void test_who_is_there(void) {
  g_autoptr(GPtrArray) pools = table("database|user|cl_active|cl_waiting|sv_idle|maxwait\nq|u|0|0|0|7\np|u|1|0|2|0\n");
  g_autoptr(GPtrArray) servers = table("type|user|database|state|ptr\nS|u|p|idle|0x2\nS|u|p|idle|0x1\n");
  g_autoptr(GPtrArray) clients = table("type|user|database|state|ptr\nC|u|p|active|0x9\n");
  PoolTables t = {pools, servers, clients};
  g_autofree char *text = pools_text(&t);
  expect_str(text, "p|u cl_active=1\np|u sv_idle=2\np|u|active\np|u|idle\np|u|idle");
}

/* pgcat's: its cancels are beside its pools, and nobody is told who has which connection. */
static void test_fewer_columns(void) {
  static const char head[] = "database|user|sv_active|sv_idle|sv_used|sv_tested|sv_login\n";
  PoolSeen beside = SEEN(3), none = SEEN(3);
  beside.carriers = 1;
  g_autofree char *text = g_strconcat(head, "p|u|1|1|0|0|0\n", NULL);
  g_autoptr(GPtrArray) pools = table(text);
  g_autoptr(GPtrArray) servers = table("server_id|state\n1|active\n2|idle\n");
  g_autoptr(GPtrArray) clients = table("client_id\n7\n");
  PoolTables t = {pools, servers, clients};
  g_autoptr(GString) why = g_string_new(NULL);
  expect(!pools_wrong(&t, &beside, 1, why));
  expect(pools_wrong(&t, &none, 1, why));
  expect(strstr(why->str, "add up to 2 server connections, 3 are open"));
}

/* ---- the wire ---- */

static void say(WireLog *w, bool live, int64_t t, const char *from, const char *to, const char *message) {
  const NoteField args[] = {{"from", 0, from}, {"to", 0, to}, {"message", 0, message}};
  TraceStep s = {.t_ns = t, .who = from, .what = message, .args = args, .n_args = G_N_ELEMENTS(args)};
  if (live)
    wire_log_live(w, &s);
  else
    wire_log_model(w, &s);
}

static void model_of(WireLog *w) {
  say(w, false, 0, "client a", "pooler", "connect");
  say(w, false, 0, "server 0", "pooler", "ready");
  say(w, false, 0, "client a", "pooler", "q1");
  say(w, false, 0, "pooler", "server 0", "q1");
  say(w, false, 10, "server 0", "client a", "q1: done");
}

/* what: the binary's answer; at: when. */
static WireCompared against(const char *what, int64_t at, int64_t most) {
  g_autoptr(WireLog) m = wire_log_new();
  g_autoptr(WireLog) l = wire_log_new();
  model_of(m);
  say(l, true, 0, "client a", "pooler", "StartupMessage");
  say(l, true, 0, "server s#1", "pooler", "ReadyForQuery");
  say(l, true, 0, "pooler", "client a", "ReadyForQuery");
  say(l, true, 0, "client a", "pooler", "Query (q1)");
  say(l, true, 0, "pooler", "server s#1", "Query (q1)");
  if (*what != 'R') say(l, true, at, "pooler", "client a", what);
  say(l, true, at, "pooler", "client a", "ReadyForQuery (q1)");
  return wire_logs_compare(m, l, most);
}

static void answer(const char *what, int64_t at, int64_t most, bool same) {
  WireCompared c = against(what, at, most);
  if (c.same != same) printf("%s at %" G_GINT64_FORMAT ": %s\n", what, at, c.where ? c.where : "the same");
  expect(c.same == same);
  expect(same == (c.where == NULL));
  g_free(c.where);
}

static void test_wire(void) {
  answer("ReadyForQuery", 10, 0, true);
  answer("ReadyForQuery", 12, 5, true);
  answer("ReadyForQuery", 20, 5, false);
  answer("ErrorResponse (57014 canceling statement due to user request)", 10, 0, false);
  answer("ErrorResponse (08P01 query_wait_timeout)", 10, 0, false);
}

/* A binary that says nothing more, or more than the model. */
static void test_wire_ends(void) {
  g_autoptr(WireLog) m = wire_log_new();
  g_autoptr(WireLog) l = wire_log_new();
  model_of(m);
  WireCompared c = wire_logs_compare(m, l, 0);
  expect(!c.same && c.where && strstr(c.where, "binary: nothing more") != NULL);
  g_free(c.where);
  c = wire_logs_compare(l, m, 0);
  expect(!c.same && c.where && strstr(c.where, "model: nothing more") != NULL);
  g_free(c.where);
}

int main(void) {
  return suite_run("what a pooler says of its pools; the wire of two",
                   (const Case[]){{"books", test_books},
                                  {"a console that tells less", test_fewer_columns},
                                  {"who is there", test_who_is_there},
                                  {"the same wire", test_wire},
                                  {"ends", test_wire_ends},
                                  {0}});
}
