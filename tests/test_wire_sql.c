/* What a fake backend knows of SQL, and the settings that it reports. Expected values are what PostgreSQL 15 does
 * (tests/e2e_wire.sh asks one); quoting is its documentation's, "Lexical Structure". */
#include "sim/live/server_parameters.h"
#include "sim/live/server_sql.h"
#include "sim/live/wire.h"
#include "tests/harness.h"

static void statements_end(void) {
  static const struct {
    const char *sql;
    gsize first;
  } known[] = {{"SELECT 1", 8},
               {"SELECT 1; x", 9},
               {"SELECT ';'; x", 11},
               {"SELECT 'a'';'; x", 14},
               {"SELECT E'\\';'; x", 14},
               {"SELECT '\\'; x", 11}, /* standard_conforming_strings */
               {"SELECT \";\"; x", 11},
               {"SELECT $$;$$; x", 13},
               {"SELECT $a$;$b$;$a$; x", 19},
               {"SELECT $1; x", 10},
               {"SELECT a$b;c$b; x", 11}, /* a $ in a word opens nothing */
               {"SELECT 1 -- ;\n; x", 15},
               {"/* ; /* ; */ ; */; x", 18},
               {"/* ;", 4},
               {"'a;", 3},
               {"$$;", 3},
               {"", 0}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    gsize n = sql_first(known[i].sql);
    if (n != known[i].first) g_printerr("%s\n", known[i].sql);
    expect_int(n, ==, known[i].first);
  }
}

static void parameters_are_counted(void) {
  expect_int(sql_parameters("SELECT $1, $12"), ==, 12);
  expect_int(sql_parameters("SELECT '$1', \"$2\", $$ $3 $$, a$4 -- $5\n/* $6 */"), ==, 0);
  expect_int(sql_parameters("SELECT $99999999999999999999"), ==, G_MAXINT16);
}

static void tags(void) {
  static const char *const known[][2] = {{"select 1", "SELECT 1"},
                                         {" /* a */ -- b\n begin work", "BEGIN"},
                                         {"START  TRANSACTION", "START TRANSACTION"},
                                         {"END", "COMMIT"},
                                         {"abort", "ROLLBACK"},
                                         {"ROLLBACK TO a", "ROLLBACK"},
                                         {"INSERT INTO t VALUES (1)", "INSERT 0 1"},
                                         {"set a = 1", "SET"},
                                         {"reset all", "RESET"},
                                         {"SHOW x", "SHOW"},
                                         {"create or replace function f()", "CREATE FUNCTION"},
                                         {"CREATE TEMP TABLE t (a int)", "CREATE TABLE"},
                                         {"DROP TABLE t", "DROP TABLE"},
                                         {"VACUUM t", "VACUUM"},
                                         {"BEGINNING", "BEGINNING"}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    g_autofree char *tag = sql_tag(known[i][0]);
    expect_str(tag, known[i][1]);
  }
}

static void kinds(void) {
  static const struct {
    const char *sql;
    SqlKind kind;
  } known[] = {{"", SQL_EMPTY},
               {" ; ", SQL_EMPTY},
               {"-- a", SQL_EMPTY},
               {"BEGIN", SQL_BEGIN},
               {"COMMIT AND CHAIN", SQL_COMMIT},
               {"ROLLBACK TO SAVEPOINT a", SQL_ROLLBACK_TO},
               {"ROLLBACK WORK", SQL_ROLLBACK},
               {"RELEASE a", SQL_SAVEPOINT},
               {"SET TRANSACTION READ ONLY", SQL_OTHER},
               {"DISCARD ALL", SQL_DISCARD},
               {"DEALLOCATE ALL", SQL_FORGET},
               {"DEALLOCATE a", SQL_DEALLOCATE},
               {"COPY t TO STDOUT", SQL_COPY}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) expect_int(sql_kind(known[i].sql), ==, known[i].kind);
}

static char *setting(const char *sql) {
  g_autofree char *name = NULL, *value = NULL;
  if (!sql_setting(sql, &name, &value)) return g_strdup("none");
  return g_strconcat(name, "=", value ? value : "(start's)", NULL);
}

static void settings(void) {
  static const char *const known[][2] = {{"SET application_name = 'a b'", "application_name=a b"},
                                         {"set session TimeZone to Europe/Berlin", "timezone=Europe/Berlin"},
                                         {"SET x TO 1.5", "x=1.5"},
                                         {"SET x = DEFAULT", "x=(start's)"},
                                         {"RESET IntervalStyle", "intervalstyle=(start's)"},
                                         {"SET \"a\"='b';", "a=b"},
                                         {"SET", "none"},
                                         {"SET ROLE x", "none"},
                                         {"SELECT 1", "none"}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    g_autofree char *is = setting(known[i][0]);
    expect_str(is, known[i][1]);
  }
}

/* Names and values of what is reported now. */
static char *reports(Parameters *p) {
  g_autoptr(GByteArray) out = g_byte_array_new();
  g_autoptr(WireStream) s = wire_stream_new(false);
  GString *all = g_string_new(NULL);
  WireMessage m;
  parameters_report(p, out);
  if (out->len) wire_feed(s, out->data, out->len);
  while (wire_next(s, &m, NULL) == WIRE_MESSAGE) {
    WireCursor c = wire_body(&m);
    const char *name = wire_text(&c);
    g_string_append_printf(all, "%s=%s;", name, wire_text(&c));
  }
  return g_string_free(all, FALSE);
}

static void changes_are_reported(void) {
  g_autoptr(Parameters) p = parameters_new();
  parameters_start(p, "timezone", "CET");       /* whatever its case */
  parameters_start(p, "server_version", "9.6"); /* which nobody may set */
  g_autofree char *all = reports(p), *again = reports(p);
  expect(strstr(all, "TimeZone=CET;") != NULL);
  expect(strstr(all, "server_version=;") != NULL);
  expect_str(again, "");
  parameters_set(p, "TimeZone", "EET");
  parameters_set(p, "work_mem", "1MB"); /* which is not reported */
  g_autofree char *set = reports(p);
  expect_str(set, "TimeZone=EET;");
  parameters_set(p, "TimeZone", NULL);
  g_autofree char *reset = reports(p);
  expect_str(reset, "TimeZone=CET;");
}

static void a_transaction_is_undone(void) {
  g_autoptr(Parameters) p = parameters_new();
  g_autofree char *all = reports(p);
  expect(strstr(all, "TimeZone=UTC;") != NULL);
  parameters_set(p, "TimeZone", "EET");
  parameters_begin(p);
  parameters_set(p, "TimeZone", "CET");
  g_autofree char *inside = reports(p);
  expect_str(inside, "TimeZone=CET;");
  parameters_undo(p);
  g_autofree char *undone = reports(p);
  expect_str(undone, "TimeZone=EET;");
}

int main(void) {
  return suite_run("wire_sql", (const Case[]){{"statements end", statements_end},
                                              {"parameters are counted", parameters_are_counted},
                                              {"tags", tags},
                                              {"kinds", kinds},
                                              {"settings", settings},
                                              {"changes are reported", changes_are_reported},
                                              {"a transaction is undone", a_transaction_is_undone},
                                              {0}});
}
