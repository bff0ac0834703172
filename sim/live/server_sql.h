/* server_sql.h - what a fake backend knows of SQL: where a statement ends, what it begins with, and what that does to
 * the session. Comments and quoting are the server's (documentation, "Lexical Structure"); nothing else is parsed. */
#pragma once
#include <glib.h>
#include <stdbool.h>

typedef enum {
  SQL_OTHER,
  SQL_EMPTY, /* nothing but blanks and comments */
  SQL_BEGIN,
  SQL_COMMIT,
  SQL_ROLLBACK,
  SQL_ROLLBACK_TO,
  SQL_SAVEPOINT, /* or RELEASE */
  SQL_SET,       /* of a parameter: sql_setting */
  SQL_RESET_ALL,
  SQL_FORGET,     /* DEALLOCATE ALL: prepared statements are gone */
  SQL_DISCARD,    /* DISCARD ALL: both */
  SQL_DEALLOCATE, /* of one */
  SQL_COPY
} SqlKind;

/* The bytes of the first statement, with its semicolon; the rest follows. All of it where there is one. */
gsize sql_first(const char *sql);
/* What follows it, without statements that are empty; "": nothing. */
const char *sql_next(const char *sql);
/* Text of a statement without what is blank or a comment before it. */
const char *sql_start(const char *sql);
SqlKind sql_kind(const char *sql);
/* The word of CommandComplete ("SELECT 1", "BEGIN", "CREATE TABLE"); g_free. */
char *sql_tag(const char *sql);
bool sql_gives_rows(const char *sql);
guint sql_parameters(const char *sql); /* the largest n of $n, outside quotes and comments */
/* Of SET x = y, SET x TO y, SET SESSION or LOCAL: x in lower case and y without quotes, each g_free. False: no such.
 * RESET x: y is NULL. */
bool sql_setting(const char *sql, char **name, char **value);
/* Of DEALLOCATE [PREPARE] x: x; g_free. */
char *sql_deallocated(const char *sql);
