/* server_query.c - a backend after its login: queries, transactions, their answers. The extended protocol is
 * server_extended.c's. See server.h. */
#include "sim/live/server_parts.h"
#include "sim/live/server_sql.h"
#include <string.h>

BackendEvent backend_run(Backend *b, const char *sql, const char *value) {
  g_free(b->text);
  g_free(b->value);
  b->text = g_strdup(sql);
  b->value = g_strdup(value);
  b->at = AT_RUN;
  return (BackendEvent){.kind = BACKEND_RUN, .text = b->text};
}

void backend_ready(Backend *b) {
  parameters_report(b->parameters, b->out);
  wire_ready(b->out, b->status);
}

/* After an error in the extended protocol all is skipped up to Sync. Portals do not outlive a transaction. */
static void over(Backend *b, bool failed) {
  if (failed && b->status == 'T') b->status = 'E';
  b->at = failed && b->extended ? AT_SKIP : AT_IDLE;
  if (b->extended) return;
  if (b->status == 'I') g_hash_table_remove_all(b->portals);
  backend_ready(b);
}

void backend_refuse(Backend *b, const char *sqlstate, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_free(b->refusal);
  b->refusal = g_strdup_vprintf(format, args);
  va_end(args);
  wire_error(b->out, "ERROR", sqlstate, b->refusal);
  over(b, true);
}

bool backend_aborted(Backend *b, const char *sql) {
  static const SqlKind allowed[] = {SQL_EMPTY, SQL_COMMIT, SQL_ROLLBACK, SQL_ROLLBACK_TO};
  if (b->status != 'E') return false;
  for (guint i = 0; i < G_N_ELEMENTS(allowed); i++)
    if (sql_kind(sql) == allowed[i]) return false;
  backend_refuse(b, "25P02", "current transaction is aborted, commands ignored until end of transaction block");
  return true;
}

/* ---- what a statement does to the session ---- */

static bool refuses(Backend *b, const char *sql) {
  SqlKind kind = sql_kind(sql);
  bool outside = b->status == 'I' && (kind == SQL_SAVEPOINT || kind == SQL_ROLLBACK_TO);
  g_autofree char *tag = sql_tag(sql);
  if (backend_aborted(b, sql)) return true;
  if (kind == SQL_COPY) return backend_refuse(b, "0A000", "COPY is not supported by this server"), true;
  if (outside) return backend_refuse(b, "25P01", "%s can only be used in transaction blocks", tag), true;
  if (kind != SQL_DISCARD || b->status == 'I') return false;
  return backend_refuse(b, "25001", "%s cannot run inside a transaction block", tag), true;
}

static void begins(Backend *b) {
  if (b->status == 'T') wire_warning(b->out, "25001", "there is already a transaction in progress");
  if (b->status == 'I') parameters_begin(b->parameters);
  b->status = 'T';
}

static void ends(Backend *b, bool undo) {
  if (b->status == 'I') wire_warning(b->out, "25P01", "there is no transaction in progress");
  if (b->status != 'I' && undo) parameters_undo(b->parameters);
  b->status = 'I';
}

static void sets(Backend *b, const char *sql) {
  g_autofree char *name = NULL, *value = NULL;
  if (sql_setting(sql, &name, &value)) parameters_set(b->parameters, name, value);
}

static void forgets(Backend *b, const char *sql) {
  g_autofree char *one = sql_deallocated(sql);
  SqlKind kind = sql_kind(sql);
  if (kind == SQL_DEALLOCATE)
    g_hash_table_remove(b->statements, one);
  else if (kind != SQL_RESET_ALL)
    g_hash_table_remove_all(b->statements);
  if (kind == SQL_DISCARD || kind == SQL_RESET_ALL) parameters_reset(b->parameters);
}

/* The command's tag, g_free. */
static char *does(Backend *b, const char *sql) {
  bool undone = b->status == 'E';
  switch (sql_kind(sql)) {
  case SQL_BEGIN: begins(b); break;
  case SQL_COMMIT: ends(b, undone); return g_strdup(undone ? "ROLLBACK" : "COMMIT");
  case SQL_ROLLBACK: ends(b, true); break;
  case SQL_ROLLBACK_TO: b->status = 'T'; break;
  case SQL_SET: sets(b, sql); break;
  case SQL_FORGET:
  case SQL_RESET_ALL:
  case SQL_DISCARD:
  case SQL_DEALLOCATE: forgets(b, sql); break;
  default: break;
  }
  return sql_tag(sql);
}

/* ---- what it answers ---- */

/* Which goes out before a query's first row, and so before an error of it too; who executes has asked for it, or not.
 */
static void describe(Backend *b, const char *sql) {
  if (!b->extended && sql_gives_rows(sql)) wire_row_description(b->out, "stampede");
}

/* A query has one row or none. One that is executed with a limit of one row is suspended behind it, and says that there
 * are no more when it is executed again, as a server does that has not looked further. */
static void rows(Backend *b, const char *sql, const char *row) {
  g_autofree char *version = g_strdup_printf("PostgreSQL %s", b->config.server_version), *tag = sql_tag(sql);
  bool given = row && !(b->running && b->running->done);
  if (row && strstr(sql, "version()")) row = version; /* which poolers ask, and read */
  describe(b, sql);
  if (given) wire_row(b->out, row);
  if (given && b->rows == 1)
    wire_simple(b->out, 's');
  else
    wire_string(b->out, 'C', strcmp(tag, "SELECT 1") == 0 && !given ? "SELECT 0" : tag);
}

/* One statement that has run. False: it failed, and those behind it do not run. */
static bool statement(Backend *b, const char *sql, const char *row) {
  if (refuses(b, sql)) return false;
  if (sql_gives_rows(sql)) {
    rows(b, sql, row);
  } else {
    g_autofree char *tag = does(b, sql);
    wire_string(b->out, 'C', tag);
  }
  return true;
}

/* What a Query has before its last statement ran at once, and well; how it goes on is said of the last one. NULL: one
 * of the others failed, and all is said. g_free. */
static char *last_statement(Backend *b) {
  const char *p = b->text;
  for (;;) {
    g_autofree char *one = g_strndup(p, sql_first(p));
    const char *rest = sql_next(p);
    if (!*rest) return g_steal_pointer(&one);
    if (sql_kind(one) != SQL_EMPTY && !statement(b, one, "1")) return NULL;
    p = rest;
  }
}

static void fails(Backend *b, const char *sql, const char *sqlstate, const char *message) {
  if (backend_aborted(b, sql)) return;
  describe(b, sql);
  backend_refuse(b, sqlstate, "%s", message);
  g_clear_pointer(&b->refusal, g_free); /* that is no wish of its own */
}

void backend_answer(Backend *b, const char *row, const char *sqlstate) {
  g_assert(b->at == AT_RUN);
  g_autofree char *last = last_statement(b);
  if (!last) return;
  if (sqlstate) {
    fails(b, last, sqlstate, "an error that the scenario asks for");
    return;
  }
  if (sql_kind(last) == SQL_EMPTY)
    wire_simple(b->out, 'I');
  else if (!statement(b, last, row))
    return;
  if (b->running) b->running->done = true;
  over(b, false);
}

bool backend_interrupt(Backend *b) {
  if (b->at != AT_RUN) return false;
  g_autofree char *last = last_statement(b);
  if (last) fails(b, last, "57014", "canceling statement due to user request");
  return true;
}

/* ---- messages ---- */

static BackendEvent query(Backend *b, WireCursor c) {
  const char *sql = wire_text(&c);
  b->extended = false;
  b->running = NULL;
  b->rows = 0;
  const char *wrong = wire_end(&c);
  if (!wrong) {
    g_hash_table_remove(b->statements, ""); /* a Query ends the unnamed ones (the protocol's rule) */
    g_hash_table_remove(b->portals, "");
    return backend_run(b, sql, NULL);
  }
  backend_refuse(b, "08P01", "%s", wrong);
  return backend_event(BACKEND_NOTHING);
}

/* A Sync outside a transaction ends one, and portals with it. */
static BackendEvent synchronize(Backend *b) {
  b->at = AT_IDLE;
  if (b->status == 'I') g_hash_table_remove_all(b->portals);
  backend_ready(b);
  return backend_event(BACKEND_NOTHING);
}

BackendEvent backend_command(Backend *b, const WireMessage *m) {
  if (m->type == 'X') return b->at = AT_END, backend_event(BACKEND_BYE);
  if (m->type == 'S') return synchronize(b);
  if (!m->type || !strchr("QPBDECFHdcf", m->type))
    return backend_broken(b, "08P01", "invalid frontend message type %d", m->type);
  /* CopyData and its like may still come after COPY was refused, and are dropped, as by a server. */
  if (b->at == AT_SKIP || strchr("Hdcf", m->type)) return backend_event(BACKEND_NOTHING);
  if (m->type == 'Q') return query(b, wire_body(m));
  b->extended = m->type != 'F';
  if (m->type != 'F') return backend_extended(b, m);
  backend_refuse(b, "0A000", "function calls are not supported by this server");
  return backend_event(BACKEND_NOTHING);
}
