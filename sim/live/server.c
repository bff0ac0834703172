/* server.c - see server.h. */
#include "sim/live/server.h"
#include "sim/live/auth.h"
#include <string.h>

typedef enum { AT_FIRST, AT_PASSWORD, AT_SCRAM_FIRST, AT_SCRAM_FINAL, AT_LOGIN, AT_IDLE, AT_RUN, AT_SKIP, AT_END } At;

struct Backend {
  bool ssl_refused, gss_refused;
  BackendConfig config;
  WireStream *in;
  GByteArray *out;
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
  b->options = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->statements = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->portals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->status = 'I';
  return b;
}

void backend_free(Backend *b) {
  wire_stream_free(b->in);
  g_byte_array_unref(b->out);
  g_hash_table_unref(b->options);
  g_hash_table_unref(b->statements);
  g_hash_table_unref(b->portals);
  g_clear_pointer(&b->scram, scram_free);
  g_free(b->text);
  g_free(b);
}

void backend_feed(Backend *b, const void *bytes, gsize n) {
  wire_feed(b->in, bytes, n);
}
GByteArray *backend_out(Backend *b) {
  return b->out;
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
  if (b->config.ask == PASSWORD_MD5) {
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

static BackendEvent first(Backend *b, const WireMessage *m) {
  WireFirst f;
  if (!wire_first(m, &f)) return broken(b, "08P01", "invalid length of startup packet");
  bool ssl = f.code == WIRE_SSL, gss = f.code == WIRE_GSS;
  if ((ssl && !b->ssl_refused) || (gss && !b->gss_refused)) { /* a second time it is a protocol that nobody speaks */
    b->ssl_refused |= ssl;
    b->gss_refused |= gss;
    g_byte_array_append(b->out, (const guint8 *)"N", 1);
    return event(BACKEND_NOTHING);
  }
  b->in->first = false;
  if (f.code != WIRE_CANCEL) return start(b, &f);
  b->at = AT_END;
  return (BackendEvent){.kind = BACKEND_CANCEL, .pid = f.pid, .key = f.key, .key_len = f.key_len};
}

static BackendEvent wrong_password(Backend *b) {
  return broken(b, "28P01", "password authentication failed for user \"%s\"", backend_start_option(b, "user"));
}

static BackendEvent password(Backend *b, WireCursor c) {
  g_autofree char *wanted = auth_md5(backend_start_option(b, "user"), b->config.password, salt);
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
static char *tag_of(Backend *b, bool row) {
  static const char *const verbs[] = {"BEGIN", "COMMIT", "END", "ROLLBACK", "SET", "DISCARD ALL", "RESET", NULL};
  const char *verb = verb_of(b->text, verbs);
  if (!verb) return g_strdup_printf("SELECT %d", row);
  if (strcmp(verb, "BEGIN") == 0) b->status = 'T';
  if (strcmp(verb, "COMMIT") != 0 && strcmp(verb, "END") != 0) {
    if (strcmp(verb, "ROLLBACK") == 0) b->status = 'I';
    return g_strdup(verb);
  }
  bool undone = b->status == 'E';
  b->status = 'I';
  return g_strdup(undone ? "ROLLBACK" : "COMMIT");
}

void backend_answer(Backend *b, const char *row, const char *sqlstate) {
  g_assert(b->at == AT_RUN);
  g_autofree char *version = g_strdup_printf("PostgreSQL %s", b->config.server_version);
  if (row && strstr(b->text, "version()")) row = version; /* which poolers ask, and read */
  static const char *const ends[] = {"COMMIT", "END", "ROLLBACK", NULL};
  if (!sqlstate && b->status == 'E' && !verb_of(b->text, ends)) sqlstate = "25P02";
  if (sqlstate) {
    wire_error(b->out, "ERROR", sqlstate, "an error that the scenario asks for");
    over(b, true);
    return;
  }
  const char *rest = b->text + strspn(b->text, " \t\n;");
  if (!*rest) {
    wire_simple(b->out, 'I');
  } else {
    g_autofree char *tag = tag_of(b, row != NULL);
    bool rows = row && g_str_has_prefix(tag, "SELECT");
    if (rows && !b->extended) wire_row_description(b->out, "stampede");
    if (rows) wire_row(b->out, row);
    wire_string(b->out, 'C', tag);
  }
  over(b, false);
}

bool backend_interrupt(Backend *b) {
  if (b->at != AT_RUN) return false;
  wire_error(b->out, "ERROR", "57014", "canceling statement due to user request");
  over(b, true);
  return true;
}

/* Parse, Bind, Describe, Close: answered at once. */
static void prepare(Backend *b, const WireMessage *m) {
  WireCursor c = wire_body(m);
  const char *a = wire_text(&c), *z = m->type == 'P' || m->type == 'B' ? wire_text(&c) : "";
  const char *sql = m->type == 'B' ? g_hash_table_lookup(b->statements, z) : NULL;
  if (m->type == 'P') {
    g_hash_table_replace(b->statements, g_strdup(a), g_strdup(z));
    wire_simple(b->out, '1');
  } else if (m->type == 'B' && sql) {
    g_hash_table_replace(b->portals, g_strdup(a), g_strdup(sql));
    wire_simple(b->out, '2');
  } else if (m->type == 'B') {
    wire_error(b->out, "ERROR", "26000", "prepared statement does not exist");
    b->extended = true;
    over(b, true);
  } else if (m->type == 'C') {
    g_hash_table_remove(*a == 'S' ? b->statements : b->portals, a + 1);
    wire_simple(b->out, '3');
  }
}

static bool gives_row(const char *sql) {
  static const char *const selects[] = {"SELECT", "SHOW", NULL};
  return sql && verb_of(sql, selects);
}

static void describe(Backend *b, WireCursor c) {
  char what = (char)wire_byte(&c);
  const char *sql = g_hash_table_lookup(what == 'S' ? b->statements : b->portals, wire_text(&c));
  if (what == 'S') {
    static const guint8 no_parameters[] = {'t', 0, 0, 0, 6, 0, 0};
    g_byte_array_append(b->out, no_parameters, sizeof no_parameters);
  }
  if (gives_row(sql))
    wire_row_description(b->out, "stampede");
  else
    wire_simple(b->out, 'n');
}

static BackendEvent command(Backend *b, const WireMessage *m) {
  WireCursor c = wire_body(m);
  if (m->type == 'X') return b->at = AT_END, event(BACKEND_BYE);
  if (m->type == 'S') {
    b->at = AT_IDLE;
    wire_ready(b->out, b->status);
    return event(BACKEND_NOTHING);
  }
  if (b->at == AT_SKIP || m->type == 'H') return event(BACKEND_NOTHING);
  if (m->type == 'Q') return run(b, wire_text(&c), false);
  if (m->type == 'E') {
    const char *sql = g_hash_table_lookup(b->portals, wire_text(&c));
    return run(b, sql ? sql : "", true);
  }
  if (m->type == 'D') return describe(b, c), event(BACKEND_NOTHING);
  if (!strchr("PBC", m->type)) return broken(b, "08P01", "invalid frontend message type %d", m->type);
  prepare(b, m);
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
    WireMessage m;
    g_autoptr(GError) error = NULL;
    WireNext next = wire_next(b->in, &m, &error);
    if (next == WIRE_MORE) break;
    BackendEvent e = next == WIRE_BROKEN ? broken(b, "08P01", "%s", error->message) : message(b, &m);
    if (e.kind != BACKEND_NOTHING) return e;
  }
  return event(BACKEND_NOTHING);
}
