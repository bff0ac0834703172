/* server_query.c - a backend after its login: queries, transactions, the extended protocol. See server.h. */
#include "sim/live/server_parts.h"
#include <string.h>

static const char *verb_of(const char *sql, const char *const *verbs) {
  while (g_ascii_isspace(*sql)) sql++;
  for (; *verbs; verbs++)
    if (g_ascii_strncasecmp(sql, *verbs, strlen(*verbs)) == 0 && !g_ascii_isalpha(sql[strlen(*verbs)])) return *verbs;
  return NULL;
}

static BackendEvent run(Backend *b, const char *sql, bool extended) {
  g_free(b->text);
  b->text = g_strdup(sql);
  b->extended = extended;
  b->at = AT_RUN;
  return (BackendEvent){.kind = BACKEND_RUN, .text = b->text};
}

/* After an error in the extended protocol all is skipped up to Sync. */
static void over(Backend *b, bool failed) {
  if (failed && b->status == 'T') b->status = 'E';
  b->at = failed && b->extended ? AT_SKIP : AT_IDLE;
  if (!b->extended) wire_ready(b->out, b->status);
}

/* The command's tag, and what it does to the transaction. */
static const char *tag_of(Backend *b) {
  enum { AS_IT_IS, TO_T, TO_I, TO_SAVEPOINT, COMMITS, FORGETS };
  static const struct {
    const char *verb, *tag;
    int does;
  } tags[] = {{"BEGIN", "BEGIN", TO_T},
              {"START TRANSACTION", "START TRANSACTION", TO_T},
              {"COMMIT", "COMMIT", COMMITS},
              {"END", "COMMIT", COMMITS},
              {"ROLLBACK TO", "ROLLBACK", TO_SAVEPOINT},
              {"ROLLBACK", "ROLLBACK", TO_I},
              {"ABORT", "ROLLBACK", TO_I},
              {"SAVEPOINT", "SAVEPOINT", AS_IT_IS},
              {"RELEASE", "RELEASE", AS_IT_IS},
              {"SET", "SET", AS_IT_IS},
              {"RESET", "RESET", AS_IT_IS},
              {"INSERT", "INSERT 0 1", AS_IT_IS},
              {"UPDATE", "UPDATE 1", AS_IT_IS},
              {"DELETE", "DELETE 1", AS_IT_IS},
              {"DISCARD ALL", "DISCARD ALL", FORGETS},
              {"DEALLOCATE ALL", "DEALLOCATE ALL", FORGETS}};
  for (guint i = 0; i < G_N_ELEMENTS(tags); i++) {
    if (!verb_of(b->text, (const char *const[]){tags[i].verb, NULL})) continue;
    bool undone = tags[i].does == COMMITS && b->status == 'E';
    if (tags[i].does == TO_T || tags[i].does == TO_SAVEPOINT) b->status = 'T';
    if (tags[i].does == TO_I || tags[i].does == COMMITS) b->status = 'I';
    if (tags[i].does == FORGETS) g_hash_table_remove_all(b->statements);
    return undone ? "ROLLBACK" : tags[i].tag;
  }
  return NULL;
}

static bool ends_transaction(const char *sql) {
  static const char *const ends[] = {"COMMIT", "END", "ROLLBACK", "ABORT", NULL};
  return verb_of(sql, ends);
}

static bool is_empty(const char *sql) {
  return !sql[strspn(sql, " \t\n;")];
}

static void refuse(Backend *b, const char *sqlstate, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void refuse(Backend *b, const char *sqlstate, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  wire_error(b->out, "ERROR", sqlstate, text);
  over(b, true);
}

/* What no scenario asks for, and a real server would refuse or do in another way. */
static bool refuses(Backend *b) {
  static const char *const copy[] = {"COPY", NULL};
  if (b->status == 'E' && !ends_transaction(b->text) && !is_empty(b->text))
    refuse(b, "25P02", "current transaction is aborted, commands ignored until end of transaction block");
  else if (verb_of(b->text, copy))
    refuse(b, "0A000", "COPY is not supported by this server");
  else
    return false;
  return true;
}

void backend_answer(Backend *b, const char *row, const char *sqlstate) {
  g_assert(b->at == AT_RUN);
  g_autofree char *version = g_strdup_printf("PostgreSQL %s", b->config.server_version);
  if (row && strstr(b->text, "version()")) row = version; /* which poolers ask, and read */
  if (sqlstate) {
    refuse(b, sqlstate, "an error that the scenario asks for");
    return;
  }
  if (refuses(b)) return;
  const char *tag = is_empty(b->text) ? NULL : tag_of(b);
  if (is_empty(b->text)) {
    wire_simple(b->out, 'I');
  } else {
    if (!tag && row && !b->extended) wire_row_description(b->out, "stampede");
    if (!tag && row) wire_row(b->out, row);
    wire_string(b->out, 'C', tag ? tag : row ? "SELECT 1" : "SELECT 0");
  }
  over(b, false);
}

bool backend_interrupt(Backend *b) {
  if (b->at != AT_RUN) return false;
  wire_error(b->out, "ERROR", "57014", "canceling statement due to user request");
  over(b, true);
  return true;
}

/* ---- the extended protocol: answered at once, but Execute ---- */

/* How many parameters a statement has: the largest n of $n. */
static guint parameters_of(const char *sql) {
  guint most = 0;
  for (const char *p = strchr(sql, '$'); p; p = strchr(p + 1, '$'))
    most = MAX(most, (guint)CLAMP(g_ascii_strtoll(p + 1, NULL, 10), 0, G_MAXINT16));
  return most;
}

static bool aborted(Backend *b, const char *sql) {
  if (b->status != 'E' || ends_transaction(sql) || is_empty(sql)) return false;
  refuse(b, "25P02", "current transaction is aborted, commands ignored until end of transaction block");
  return true;
}

static void parse(Backend *b, WireCursor c) {
  const char *name = wire_text(&c), *sql = wire_text(&c);
  for (int types = wire_int16(&c); types > 0 && !c.bad; types--) wire_int32(&c);
  if (c.bad || c.at != c.end) return refuse(b, "08P01", "invalid message format");
  if (aborted(b, sql)) return;
  if (*name && g_hash_table_contains(b->statements, name))
    return refuse(b, "42P05", "prepared statement \"%s\" already exists", name);
  g_hash_table_replace(b->statements, g_strdup(name), g_strdup(sql));
  wire_simple(b->out, '1');
}

/* Formats, values, formats of the result. What the values are does not matter here; that they are there does. */
static int bound_values(WireCursor *c) {
  for (int formats = wire_int16(c); formats > 0 && !c->bad; formats--) wire_int16(c);
  int n = wire_int16(c);
  for (int i = 0; i < n && !c->bad; i++) {
    int32_t len = wire_int32(c);
    c->bad |= len < -1 || len > c->end - c->at; /* -1: NULL */
    if (!c->bad && len > 0) c->at += len;
  }
  for (int formats = wire_int16(c); formats > 0 && !c->bad; formats--) wire_int16(c);
  return n;
}

static void bind_portal(Backend *b, WireCursor c) {
  const char *portal = wire_text(&c), *name = wire_text(&c), *sql = g_hash_table_lookup(b->statements, name);
  int n = bound_values(&c);
  if (c.bad || c.at != c.end) return refuse(b, "08P01", "invalid message format");
  if (!sql) return refuse(b, "26000", "prepared statement \"%s\" does not exist", name);
  if (n != (int)parameters_of(sql))
    return refuse(b, "08P01", "bind message supplies %d parameters, but prepared statement \"%s\" requires %u", n, name,
                  parameters_of(sql));
  if (aborted(b, sql)) return;
  if (*portal && g_hash_table_contains(b->portals, portal))
    return refuse(b, "42P03", "cursor \"%s\" already exists", portal);
  g_hash_table_replace(b->portals, g_strdup(portal), g_strdup(sql));
  wire_simple(b->out, '2');
}

static bool gives_row(const char *sql) {
  static const char *const selects[] = {"SELECT", "SHOW", NULL};
  return verb_of(sql, selects);
}

static void no_such(Backend *b, bool statement, const char *name) {
  refuse(b, statement ? "26000" : "34000", "%s \"%s\" does not exist", statement ? "prepared statement" : "portal",
         name);
}

/* Describe and Close name one of two kinds; to close what is not there is no error (the protocol's rule). */
static void describe_or_close(Backend *b, char type, WireCursor c) {
  char what = (char)wire_byte(&c);
  const char *name = wire_text(&c);
  GHashTable *in = what == 'S' ? b->statements : b->portals;
  if (c.bad || c.at != c.end || (what != 'S' && what != 'P')) return refuse(b, "08P01", "invalid message format");
  if (type == 'C') {
    g_hash_table_remove(in, name);
    return wire_simple(b->out, '3');
  }
  const char *sql = g_hash_table_lookup(in, name);
  if (!sql) return no_such(b, what == 'S', name);
  if (what == 'S') wire_parameters(b->out, parameters_of(sql));
  if (gives_row(sql))
    wire_row_description(b->out, "stampede");
  else
    wire_simple(b->out, 'n');
}

static BackendEvent execute(Backend *b, WireCursor c) {
  const char *name = wire_text(&c), *sql = g_hash_table_lookup(b->portals, name);
  wire_int32(&c);
  if (c.bad || c.at != c.end)
    refuse(b, "08P01", "invalid message format");
  else if (!sql)
    no_such(b, false, name);
  else
    return run(b, sql, true);
  return backend_event(BACKEND_NOTHING);
}

static BackendEvent query(Backend *b, WireCursor c) {
  const char *sql = wire_text(&c);
  b->extended = false;
  if (!c.bad && c.at == c.end) {
    g_hash_table_remove(b->statements, ""); /* a Query ends the unnamed ones (the protocol's rule) */
    g_hash_table_remove(b->portals, "");
    return run(b, sql, false);
  }
  refuse(b, "08P01", "invalid message format");
  return backend_event(BACKEND_NOTHING);
}

/* A Sync outside a transaction ends one, and portals with it. */
static BackendEvent synchronize(Backend *b) {
  b->at = AT_IDLE;
  if (b->status == 'I') g_hash_table_remove_all(b->portals);
  wire_ready(b->out, b->status);
  return backend_event(BACKEND_NOTHING);
}

BackendEvent backend_command(Backend *b, const WireMessage *m) {
  WireCursor c = wire_body(m);
  if (m->type == 'X') return b->at = AT_END, backend_event(BACKEND_BYE);
  if (m->type == 'S') return synchronize(b);
  /* CopyData and its like may still come after COPY was refused, and are dropped, as by a server. */
  if (b->at == AT_SKIP || strchr("Hdcf", m->type)) return backend_event(BACKEND_NOTHING);
  if (m->type == 'Q') return query(b, c);
  b->extended = m->type != 'F';
  switch (m->type) {
  case 'P': parse(b, c); break;
  case 'B': bind_portal(b, c); break;
  case 'C':
  case 'D': describe_or_close(b, m->type, c); break;
  case 'E': return execute(b, c);
  case 'F': refuse(b, "0A000", "function calls are not supported by this server"); break;
  default: return backend_broken(b, "08P01", "invalid frontend message type %d", m->type);
  }
  return backend_event(BACKEND_NOTHING);
}
