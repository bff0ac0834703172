/* server.c - see server.h. */
#include "sim/live/server.h"
#include "sim/live/auth.h"
#include <string.h>

typedef enum { AT_FIRST, AT_PASSWORD, AT_SCRAM_FIRST, AT_SCRAM_FINAL, AT_LOGIN, AT_IDLE, AT_RUN, AT_SKIP, AT_END } At;

struct Backend {
  bool ssl_refused, gss_refused;
  BackendConfig config;
  WireStream *in;
  GByteArray *out; /* messages; `sealed` is what goes out once TLS has been asked for */
  GByteArray *sealed;
  TlsLine *tls;
  bool tls_failed;
  GHashTable *options, *statements, *portals; /* name -> value, SQL, SQL; looked up only */
  Scram *scram;
  At at;
  int32_t protocol;
  bool extended; /* what runs was executed, not queried: no ReadyForQuery behind it */
  char status;   /* I, T, E */
  char *text;    /* of what runs */
};

static const guint8 salt[AUTH_SALT] = {1, 2, 3, 4};

Backend *backend_new(const BackendConfig *c) {
  Backend *b = g_new0(Backend, 1);
  b->config = *c;
  b->in = wire_stream_new(true);
  b->out = g_byte_array_new();
  b->sealed = g_byte_array_new();
  b->options = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->statements = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->portals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->status = 'I';
  return b;
}

void backend_free(Backend *b) {
  wire_stream_free(b->in);
  g_byte_array_unref(b->out);
  g_byte_array_unref(b->sealed);
  g_clear_pointer(&b->tls, tls_line_free);
  g_hash_table_unref(b->options);
  g_hash_table_unref(b->statements);
  g_hash_table_unref(b->portals);
  g_clear_pointer(&b->scram, scram_free);
  g_free(b->text);
  g_free(b);
}

void backend_feed(Backend *b, const void *bytes, gsize n) {
  if (!b->tls) {
    wire_feed(b->in, bytes, n);
    return;
  }
  g_autoptr(GByteArray) plain = g_byte_array_new();
  if (!b->tls_failed) b->tls_failed = !tls_feed(b->tls, bytes, n, plain, b->sealed);
  if (plain->len) wire_feed(b->in, plain->data, plain->len);
}
GByteArray *backend_out(Backend *b) {
  if (!b->tls) return b->out;
  tls_seal(b->tls, b->out, b->sealed);
  return b->sealed;
}
bool backend_running(const Backend *b) {
  return b->at == AT_RUN;
}
const char *backend_start_option(const Backend *b, const char *name) {
  return g_hash_table_lookup(b->options, name);
}
int32_t backend_protocol(const Backend *b) {
  return b->protocol;
}
bool backend_in_transaction(const Backend *b) {
  return b->status != 'I';
}
const BackendConfig *backend_config(const Backend *b) {
  return &b->config;
}
const char *backend_text(const Backend *b) {
  return b->text ? b->text : "";
}
void backend_identify(Backend *b, const BackendConfig *c) {
  b->config = *c;
}
gsize backend_key_len(const Backend *b) {
  return b->protocol >= WIRE_32 ? b->config.key_len : MIN(b->config.key_len, WIRE_KEY_LEAST);
}

static BackendEvent event(BackendEventKind kind) {
  return (BackendEvent){.kind = kind};
}

static BackendEvent broken(Backend *b, const char *sqlstate, const char *format, ...) G_GNUC_PRINTF(3, 4);
static BackendEvent broken(Backend *b, const char *sqlstate, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_free(b->text);
  b->text = g_strdup_vprintf(format, args);
  va_end(args);
  wire_error(b->out, "FATAL", sqlstate, b->text);
  b->at = AT_END;
  return (BackendEvent){.kind = BACKEND_BROKEN, .text = b->text};
}

/* ---- login ---- */

static void ask_password(Backend *b) {
  static const char mechanisms[] = "SCRAM-SHA-256\0";
  if (b->config.ask == PASSWORD_CLEAR) {
    wire_auth(b->out, AUTH_CLEAR, NULL, 0);
    b->at = AT_PASSWORD;
  } else if (b->config.ask == PASSWORD_MD5) {
    wire_auth(b->out, AUTH_MD5, salt, sizeof salt);
    b->at = AT_PASSWORD;
  } else {
    wire_auth(b->out, AUTH_SASL, mechanisms, sizeof mechanisms);
    b->at = AT_SCRAM_FIRST;
  }
}

/* A newer minor version is answered with the newest that is spoken here, unknown options are named (3.2's rules). */
static void negotiate(Backend *b, int32_t asked, GPtrArray *unknown) {
  b->protocol = MIN(asked, b->config.newest);
  if (asked <= b->config.newest && unknown->len == 0) return;
  wire_negotiate(b->out, b->config.newest, (const char *const *)unknown->pdata, unknown->len);
}

static BackendEvent start(Backend *b, const WireFirst *f) {
  if (f->code >> 16 != 3)
    return broken(b, "0A000", "unsupported frontend protocol %d.%d", f->code >> 16, f->code & 65535);
  g_autoptr(GPtrArray) unknown = g_ptr_array_new();
  WireCursor c = f->pairs;
  for (;;) {
    const char *name = wire_text(&c);
    if (!*name) break;
    const char *value = wire_text(&c);
    if (g_str_has_prefix(name, "_pq_.")) g_ptr_array_add(unknown, (gpointer)name);
    g_hash_table_replace(b->options, g_strdup(name), g_strdup(value));
  }
  if (c.bad) return broken(b, "08P01", "invalid startup packet layout: expected terminator as last byte");
  if (!backend_start_option(b, "user"))
    return broken(b, "28000", "no PostgreSQL user name specified in startup packet");
  negotiate(b, f->code, unknown);
  b->at = AT_LOGIN;
  if (b->config.ask != PASSWORD_NONE) return ask_password(b), event(BACKEND_NOTHING);
  return event(BACKEND_LOGIN);
}

/* Nothing may come with an SSLRequest that is granted: who slips bytes in before the handshake would have them read as
 * if they had come inside it (CVE-2021-23214; the server's words). Inside TLS there is no second one. */
static BackendEvent encrypt(Backend *b, int32_t code) {
  bool yes = code == WIRE_SSL && b->config.tls && !b->tls;
  if (yes && b->in->taken < b->in->bytes->len) return broken(b, "08P01", "received unencrypted data after SSL request");
  g_byte_array_append(b->out, (const guint8 *)(yes ? "S" : "N"), 1);
  if (!yes) return event(BACKEND_NOTHING);
  g_byte_array_append(b->sealed, b->out->data, b->out->len); /* a "no" to GSSENCRequest may still be there */
  g_byte_array_set_size(b->out, 0);
  b->tls = tls_line_new(b->config.tls, true);
  return event(BACKEND_NOTHING);
}

static BackendEvent first(Backend *b, const WireMessage *m) {
  WireFirst f;
  if (!wire_first(m, &f)) return broken(b, "08P01", "invalid length of startup packet");
  if (f.code == WIRE_SSL || f.code == WIRE_GSS) return encrypt(b, f.code);
  b->in->first = false;
  if (f.code != WIRE_CANCEL) return start(b, &f);
  b->at = AT_END;
  return (BackendEvent){.kind = BACKEND_CANCEL, .pid = f.pid, .key = f.key, .key_len = f.key_len};
}

static BackendEvent wrong_password(Backend *b) {
  return broken(b, "28P01", "password authentication failed for user \"%s\"", backend_start_option(b, "user"));
}

static BackendEvent password(Backend *b, WireCursor c) {
  g_autofree char *hash = auth_md5(backend_start_option(b, "user"), b->config.password, salt);
  const char *wanted = b->config.ask == PASSWORD_CLEAR ? b->config.password : hash;
  if (strcmp(wire_text(&c), wanted) != 0) return wrong_password(b);
  b->at = AT_LOGIN;
  return event(BACKEND_LOGIN);
}

static BackendEvent scram_first(Backend *b, WireCursor c) {
  bool right = strcmp(wire_text(&c), "SCRAM-SHA-256") == 0;
  gsize n;
  wire_int32(&c);
  const guint8 *data = wire_rest(&c, &n);
  g_autofree char *theirs = g_strndup((const char *)data, n);
  b->scram = scram_new(b->config.password, "c3RhbXBlZGU");
  g_autofree char *mine = right && !c.bad ? scram_server_first(b->scram, theirs, "AQIDBAUGBwg=") : NULL;
  if (!mine) return broken(b, "08P01", "malformed SCRAM message");
  wire_auth(b->out, AUTH_SASL_GOES_ON, mine, strlen(mine));
  b->at = AT_SCRAM_FINAL;
  return event(BACKEND_NOTHING);
}

static BackendEvent scram_final(Backend *b, WireCursor c) {
  gsize n;
  const guint8 *data = wire_rest(&c, &n);
  g_autofree char *theirs = g_strndup((const char *)data, n), *mine = scram_server_final(b->scram, theirs);
  if (!mine) return wrong_password(b);
  wire_auth(b->out, AUTH_SASL_FINAL, mine, strlen(mine));
  b->at = AT_LOGIN;
  return event(BACKEND_LOGIN);
}

void backend_welcome(Backend *b) {
  g_assert(b->at == AT_LOGIN);
  const char *const said[][2] = {{"server_version", b->config.server_version},
                                 {"server_encoding", "UTF8"},
                                 {"client_encoding", "UTF8"},
                                 {"DateStyle", "ISO, MDY"},
                                 {"TimeZone", "UTC"},
                                 {"integer_datetimes", "on"},
                                 {"standard_conforming_strings", "on"}};
  wire_auth(b->out, AUTH_OK, NULL, 0);
  for (guint i = 0; i < G_N_ELEMENTS(said); i++) wire_parameter(b->out, said[i][0], said[i][1]);
  if (b->config.key_len) wire_key(b->out, b->config.pid, b->config.key, backend_key_len(b));
  wire_ready(b->out, b->status);
  b->at = AT_IDLE;
}

/* ---- queries ---- */

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
  return event(BACKEND_NOTHING);
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
  return event(BACKEND_NOTHING);
}

/* A Sync outside a transaction ends one, and portals with it. */
static BackendEvent synchronize(Backend *b) {
  b->at = AT_IDLE;
  if (b->status == 'I') g_hash_table_remove_all(b->portals);
  wire_ready(b->out, b->status);
  return event(BACKEND_NOTHING);
}

static BackendEvent command(Backend *b, const WireMessage *m) {
  WireCursor c = wire_body(m);
  if (m->type == 'X') return b->at = AT_END, event(BACKEND_BYE);
  if (m->type == 'S') return synchronize(b);
  /* CopyData and its like may still come after COPY was refused, and are dropped, as by a server. */
  if (b->at == AT_SKIP || strchr("Hdcf", m->type)) return event(BACKEND_NOTHING);
  if (m->type == 'Q') return query(b, c);
  b->extended = m->type != 'F';
  switch (m->type) {
  case 'P': parse(b, c); break;
  case 'B': bind_portal(b, c); break;
  case 'C':
  case 'D': describe_or_close(b, m->type, c); break;
  case 'E': return execute(b, c);
  case 'F': refuse(b, "0A000", "function calls are not supported by this server"); break;
  default: return broken(b, "08P01", "invalid frontend message type %d", m->type);
  }
  return event(BACKEND_NOTHING);
}

static BackendEvent message(Backend *b, const WireMessage *m) {
  if (b->at == AT_FIRST) return first(b, m);
  if (b->at == AT_IDLE || b->at == AT_SKIP) return command(b, m);
  if (m->type != 'p') return broken(b, "08P01", "expected password response, got message type %d", m->type);
  if (b->at == AT_PASSWORD) return password(b, wire_body(m));
  return b->at == AT_SCRAM_FIRST ? scram_first(b, wire_body(m)) : scram_final(b, wire_body(m));
}

BackendEvent backend_next(Backend *b) {
  while (b->at != AT_RUN && b->at != AT_LOGIN && b->at != AT_END) {
    if (b->tls_failed) return broken(b, "08P01", "could not accept SSL connection");
    WireMessage m;
    g_autoptr(GError) error = NULL;
    WireNext next = wire_next(b->in, &m, &error);
    if (next == WIRE_MORE) break;
    BackendEvent e = next == WIRE_BROKEN ? broken(b, "08P01", "%s", error->message) : message(b, &m);
    if (e.kind != BACKEND_NOTHING) return e;
  }
  return event(BACKEND_NOTHING);
}
