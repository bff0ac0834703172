/* player_say.c - how a client's driver says a query (clients[].query_mode), and whose query a server has been given.
 *
 * A comment in the text says whose it is. A prepared statement has one text for all clients of a script, as with a real
 * driver, so there the value that is bound says it: what then runs may be a statement of another script's that has the
 * same name, as all drivers number theirs. */
#include "sim/live/live.h"
#include <string.h>

#define MARK      "/* stampede "
#define STATEMENT "/* statement "

/* ---- said ---- */

static void put_execute(GByteArray *out, const char *statement, const char *value) {
  const char *const values[] = {value, NULL};
  wire_bind(out, "", statement, values);
  wire_describe(out, 'P', "");
  wire_execute(out, "", 0);
}

static void put_unnamed(GByteArray *out, const char *sql) {
  wire_parse(out, "", sql);
  put_execute(out, "", NULL);
}

/* True: its connection has had to be told what it is. */
static bool put_prepared(const Live *l, guint client, guint session, int query, const char *whose, GByteArray *out) {
  const Player *p = PLAYER(l, client);
  bool has = p->sessions[session].prepared >> query & 1;
  g_autofree char *name = g_strdup_printf("S_%d", query + 1);
  g_autofree char *sql = g_strdup_printf("SELECT " STATEMENT "%u %d */ $1", p->def_index, query);
  if (!has) wire_parse(out, name, sql);
  put_execute(out, name, whose);
  return !has;
}

static const char *put_simple(bool begun, const char *sql, GByteArray *out) {
  g_autofree char *whole = g_strconcat(begun ? "BEGIN; " : "", sql, NULL);
  wire_string(out, 'Q', whole);
  return "Query";
}

const char *player_put_query(const Live *l, guint client, guint session, int query, const char *verb, GByteArray *out) {
  const Player *p = PLAYER(l, client);
  bool begun = p->sessions[session].begun, parsed = true;
  g_autofree char *whose = g_strdup_printf(MARK "%u %d %u */", client, query, session);
  g_autofree char *sql = verb ? g_strconcat(verb, " ", whose, NULL) : g_strconcat("SELECT ", whose, " 1", NULL);
  if (p->def->query_mode == QUERY_SIMPLE) return put_simple(begun, sql, out);
  g_autofree char *begin = g_strdup_printf("BEGIN " MARK "%u %d %u */", client, QUERY_BEGIN, session);
  if (begun) put_unnamed(out, begin);
  if (query >= 0 && p->def->query_mode == QUERY_PREPARED)
    parsed = put_prepared(l, client, session, query, whose, out);
  else
    put_unnamed(out, sql);
  wire_simple(out, 'S');
  return parsed ? "Parse, Execute" : "Execute";
}

/* ---- heard ---- */

bool player_asked(const Live *l, const Backend *b, Conn *c) {
  const char *text = backend_value(b) ? backend_value(b) : backend_text(b), *at = strstr(text, MARK);
  c->client = c->query = -1;
  if (!at) return false;
  char *end;
  gint64 client = g_ascii_strtoll(at + strlen(MARK), &end, 10), query = g_ascii_strtoll(end, &end, 10);
  if (client < 0 || client >= (gint64)l->players->len) return false;
  c->client = (int)client;
  c->query = (int)query;
  c->session = (guint)g_ascii_strtoull(end, NULL, 10);
  return true;
}

char *player_other_statement(const Live *l, const Backend *b, const Conn *c) {
  const char *at = backend_value(b) ? strstr(backend_text(b), STATEMENT) : NULL;
  if (!at) return NULL;
  char *end;
  guint64 def = g_ascii_strtoull(at + strlen(STATEMENT), &end, 10), query = g_ascii_strtoull(end, NULL, 10);
  const Workload *w = &l->config->work;
  if (def == PLAYER(l, (guint)c->client)->def_index && query == (guint64)c->query) return NULL;
  if (def >= (guint64)w->n_clients || query >= (guint64)w->clients[def].script->n_queries) return g_strdup(at);
  return g_strdup_printf("%s of client %s", w->clients[def].script->queries[query].tag, w->clients[def].name);
}
