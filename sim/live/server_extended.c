/* server_extended.c - a backend's extended protocol: Parse, Bind, Describe, Close, which are answered at once, and
 * Execute. Errors are the server's (tcop/postgres.c), which skips to Sync behind one. */
#include "sim/live/server_parts.h"
#include "sim/live/server_sql.h"

BackendPortal *backend_portal_new(const char *sql, char *value) {
  BackendPortal *p = g_new0(BackendPortal, 1);
  p->sql = g_strdup(sql);
  p->value = value;
  return p;
}

void backend_portal_free(gpointer data) {
  BackendPortal *p = data;
  g_free(p->sql);
  g_free(p->value);
  g_free(p);
}

static bool malformed(Backend *b, const WireCursor *c) {
  const char *what = wire_end(c);
  if (what) backend_refuse(b, "08P01", "%s", what);
  return what;
}

static void parse(Backend *b, WireCursor c) {
  const char *name = wire_text(&c), *sql = wire_text(&c);
  for (int types = wire_int16(&c); types > 0 && !c.bad; types--) wire_int32(&c);
  if (malformed(b, &c)) return;
  if (!*name) g_hash_table_remove(b->statements, name);
  if (backend_aborted(b, sql)) return;
  if (*sql_next(sql)) return backend_refuse(b, "42601", "cannot insert multiple commands into a prepared statement");
  if (g_hash_table_contains(b->statements, name))
    return backend_refuse(b, "42P05", "prepared statement \"%s\" already exists", name);
  g_hash_table_replace(b->statements, g_strdup(name), g_strdup(sql));
  wire_simple(b->out, '1');
}

/* Formats, values, formats of the result. What the values are does not matter here but for the first, which tells whose
 * it is; that they are there does. */
static int bound_values(WireCursor *c, char **first) {
  for (int formats = wire_int16(c); formats > 0 && !c->bad; formats--) wire_int16(c);
  int n = wire_int16(c);
  for (int i = 0; i < n && !c->bad; i++) {
    int32_t len = wire_int32(c);
    if (!c->bad && (len < -1 || len > c->end - c->at)) c->bad = "insufficient data left in message"; /* -1: NULL */
    if (!c->bad && len > 0 && i == 0) *first = g_strndup((const char *)c->at, (gsize)len);
    if (!c->bad && len > 0) c->at += len;
  }
  for (int formats = wire_int16(c); formats > 0 && !c->bad; formats--) wire_int16(c);
  return n;
}

static void no_statement(Backend *b, const char *name) {
  if (*name) return backend_refuse(b, "26000", "prepared statement \"%s\" does not exist", name);
  backend_refuse(b, "26000", "unnamed prepared statement does not exist");
}

static void bind_portal(Backend *b, WireCursor c) {
  const char *portal = wire_text(&c), *name = wire_text(&c), *sql = g_hash_table_lookup(b->statements, name);
  g_autofree char *value = NULL;
  int n = bound_values(&c, &value);
  if (malformed(b, &c)) return;
  if (!sql) return no_statement(b, name);
  if (n != (int)sql_parameters(sql))
    return backend_refuse(b, "08P01", "bind message supplies %d parameters, but prepared statement \"%s\" requires %u",
                          n, name, sql_parameters(sql));
  if (backend_aborted(b, sql)) return;
  if (*portal && g_hash_table_contains(b->portals, portal))
    return backend_refuse(b, "42P03", "cursor \"%s\" already exists", portal);
  g_hash_table_replace(b->portals, g_strdup(portal), backend_portal_new(sql, g_steal_pointer(&value)));
  wire_simple(b->out, '2');
}

static void describe(Backend *b, const char *sql, bool statement) {
  if (sql_gives_rows(sql) && backend_aborted(b, sql)) return;
  if (statement) wire_parameters(b->out, sql_parameters(sql));
  if (sql_gives_rows(sql))
    wire_row_description(b->out, "stampede");
  else
    wire_simple(b->out, 'n');
}

/* Describe and Close name one of two kinds; to close what is not there is no error (the protocol's rule). */
static void describe_or_close(Backend *b, char type, WireCursor c) {
  char what = (char)wire_byte(&c);
  const char *name = wire_text(&c);
  if (malformed(b, &c)) return;
  if (what != 'S' && what != 'P')
    return backend_refuse(b, "08P01", "invalid %s message subtype %d", type == 'C' ? "CLOSE" : "DESCRIBE", what);
  bool statement = what == 'S';
  if (type == 'C') {
    g_hash_table_remove(statement ? b->statements : b->portals, name);
    return wire_simple(b->out, '3');
  }
  const BackendPortal *portal = statement ? NULL : g_hash_table_lookup(b->portals, name);
  const char *sql = statement ? g_hash_table_lookup(b->statements, name) : portal ? portal->sql : NULL;
  if (sql) return describe(b, sql, statement);
  if (statement) return no_statement(b, name);
  backend_refuse(b, "34000", "portal \"%s\" does not exist", name);
}

static BackendEvent execute(Backend *b, WireCursor c) {
  const char *name = wire_text(&c);
  BackendPortal *portal = g_hash_table_lookup(b->portals, name);
  b->rows = wire_int32(&c);
  if (malformed(b, &c)) return backend_event(BACKEND_NOTHING);
  if (!portal) {
    backend_refuse(b, "34000", "portal \"%s\" does not exist", name);
  } else if (portal->done && !sql_gives_rows(portal->sql) && sql_kind(portal->sql) != SQL_EMPTY) {
    backend_refuse(b, "55000", "portal \"%s\" cannot be run", name);
  } else {
    b->running = portal;
    return backend_run(b, portal->sql, portal->value);
  }
  return backend_event(BACKEND_NOTHING);
}

BackendEvent backend_extended(Backend *b, const WireMessage *m) {
  WireCursor c = wire_body(m);
  switch (m->type) {
  case 'P': parse(b, c); break;
  case 'B': bind_portal(b, c); break;
  case 'E': return execute(b, c);
  default: describe_or_close(b, m->type, c);
  }
  return backend_event(BACKEND_NOTHING);
}
