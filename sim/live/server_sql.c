/* server_sql.c - see server_sql.h. */
#include "sim/live/server_sql.h"
#include <string.h>

/* ---- tokens that hide what is in them ---- */

/* Each returns what follows; an end that is missing is the end of the text. */
static const char *after_line(const char *p) {
  return p + strcspn(p, "\n");
}

static const char *after_comment(const char *p) { /* they nest */
  guint depth = 0;
  do {
    bool opens = p[0] == '/' && p[1] == '*', closes = p[0] == '*' && p[1] == '/';
    depth = depth + opens - closes;
    p += opens || closes ? 2 : 1;
  } while (*p && depth);
  return p;
}

/* A doubled quote stands for itself, and here ends one text and begins the next. */
static const char *after_quote(const char *p, bool backslashes) {
  char quote = *p++;
  while (*p && *p != quote) p += backslashes && *p == '\\' && p[1] ? 2 : 1;
  return *p ? p + 1 : p;
}

/* $tag$ ... $tag$; p where that is none, as $1. */
static const char *after_dollars(const char *p) {
  const char *end = p + 1;
  while (g_ascii_isalpha(*end) || *end == '_' || (end > p + 1 && g_ascii_isdigit(*end))) end++;
  if (*end != '$') return p;
  g_autofree char *tag = g_strndup(p, (gsize)(end + 1 - p));
  const char *close = strstr(end + 1, tag);
  return close ? close + strlen(tag) : end + strlen(end);
}

static const char *after_word(const char *p) {
  while (g_ascii_isalnum(*p) || *p == '_' || *p == '$' || (guint8)*p >= 0x80) p++;
  return p;
}

static bool is_comment(const char *p) {
  return (p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*');
}

/* What follows the token at p, which is not the end. A $ inside a word is part of it. */
static const char *after_token(const char *p) {
  if (p[0] == '-' && p[1] == '-') return after_line(p);
  if (p[0] == '/' && p[1] == '*') return after_comment(p);
  if ((*p == 'e' || *p == 'E') && p[1] == '\'') return after_quote(p + 1, true);
  if (*p == '\'' || *p == '"') return after_quote(p, false);
  if (*p == '$' && after_dollars(p) != p) return after_dollars(p);
  const char *end = *p == '$' ? p : after_word(p);
  return end > p ? end : p + 1;
}

gsize sql_first(const char *sql) {
  const char *p = sql;
  while (*p && *p != ';') p = after_token(p);
  return (gsize)(p - sql) + (*p == ';');
}

const char *sql_start(const char *sql) {
  while (g_ascii_isspace(*sql) || is_comment(sql)) sql = is_comment(sql) ? after_token(sql) : sql + 1;
  return sql;
}

guint sql_parameters(const char *sql) {
  guint most = 0;
  for (const char *p = sql; *p; p = after_token(p))
    if (*p == '$' && g_ascii_isdigit(p[1]))
      most = MAX(most, (guint)CLAMP(g_ascii_strtoll(p + 1, NULL, 10), 0, G_MAXINT16));
  return most;
}

/* ---- words ---- */

/* What follows `words` where the statement begins with them, whatever is between; NULL: it does not. */
static const char *behind(const char *sql, const char *words) {
  sql = sql_start(sql);
  while (*words) {
    gsize n = strcspn(words, " ");
    if (g_ascii_strncasecmp(sql, words, n) != 0 || (gsize)(after_word(sql) - sql) != n) return NULL;
    sql = sql_start(sql + n);
    words += n + (words[n] == ' ');
  }
  return sql;
}

static const struct {
  const char *words, *tag; /* tag NULL: the first word */
  SqlKind kind;
} verbs[] = {{"BEGIN", NULL, SQL_BEGIN},
             {"START TRANSACTION", "START TRANSACTION", SQL_BEGIN},
             {"COMMIT", NULL, SQL_COMMIT},
             {"END", "COMMIT", SQL_COMMIT},
             {"ROLLBACK TO", NULL, SQL_ROLLBACK_TO},
             {"ROLLBACK WORK TO", NULL, SQL_ROLLBACK_TO},
             {"ROLLBACK TRANSACTION TO", NULL, SQL_ROLLBACK_TO},
             {"ROLLBACK", NULL, SQL_ROLLBACK},
             {"ABORT", "ROLLBACK", SQL_ROLLBACK},
             {"SAVEPOINT", NULL, SQL_SAVEPOINT},
             {"RELEASE", NULL, SQL_SAVEPOINT},
             {"SET TRANSACTION", NULL, SQL_OTHER},
             {"SET", NULL, SQL_SET},
             {"RESET ALL", "RESET", SQL_RESET_ALL},
             {"RESET", NULL, SQL_SET},
             {"DISCARD ALL", "DISCARD ALL", SQL_DISCARD},
             {"DEALLOCATE ALL", "DEALLOCATE ALL", SQL_FORGET},
             {"DEALLOCATE PREPARE ALL", "DEALLOCATE ALL", SQL_FORGET},
             {"DEALLOCATE", NULL, SQL_DEALLOCATE},
             {"COPY", NULL, SQL_COPY},
             {"SELECT", "SELECT 1", SQL_OTHER},
             {"VALUES", "SELECT 1", SQL_OTHER},
             {"TABLE", "SELECT 1", SQL_OTHER},
             {"WITH", "SELECT 1", SQL_OTHER},
             {"INSERT", "INSERT 0 1", SQL_OTHER},
             {"UPDATE", "UPDATE 1", SQL_OTHER},
             {"DELETE", "DELETE 1", SQL_OTHER},
             {"LOCK", "LOCK TABLE", SQL_OTHER}};

static int verb_of(const char *sql) {
  for (guint i = 0; i < G_N_ELEMENTS(verbs); i++)
    if (behind(sql, verbs[i].words)) return (int)i;
  return -1;
}

SqlKind sql_kind(const char *sql) {
  const char *start = sql_start(sql);
  if (!*start || *start == ';') return SQL_EMPTY;
  int verb = verb_of(start);
  return verb < 0 ? SQL_OTHER : verbs[verb].kind;
}

const char *sql_next(const char *sql) {
  do sql += sql_first(sql);
  while (*sql && sql_kind(sql) == SQL_EMPTY);
  return sql;
}

/* What stands between CREATE and what it makes. */
static const char *behind_kinds(const char *p) {
  static const char *const kinds[] = {"OR REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "UNIQUE", "GLOBAL", "LOCAL"};
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    const char *next = behind(p, kinds[i]);
    if (next) return behind_kinds(next);
  }
  return p;
}

/* CREATE and its like name what they made by their second word too: CREATE TABLE. */
char *sql_tag(const char *sql) {
  int known = verb_of(sql);
  if (known >= 0 && verbs[known].tag) return g_strdup(verbs[known].tag);
  const char *start = sql_start(sql), *end = after_word(start), *made = behind_kinds(sql_start(end));
  bool two = behind(start, "CREATE") || behind(start, "DROP") || behind(start, "ALTER");
  g_autofree char *verb = g_strndup(start, (gsize)(end - start)),
                  *what = g_strndup(made, (gsize)(after_word(made) - made)),
                  *words = two ? g_strjoin(" ", verb, what, NULL) : g_strdup(verb);
  return g_ascii_strup(words, -1);
}

bool sql_gives_rows(const char *sql) {
  static const char *const words[] = {"SELECT", "VALUES", "TABLE", "WITH", "SHOW", "EXPLAIN", "FETCH"};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (behind(sql, words[i])) return true;
  return false;
}

/* ---- settings ---- */

/* The token at p, without quotes; *p is moved behind it and what is blank. */
static char *token(const char **p) {
  const char *from = *p, *end = *from && *from != ';' ? after_token(from) : from;
  while (g_ascii_isalnum(*end) || *end == '.' || *end == '-' || *end == '/') end++; /* 1.5, Europe/Berlin */
  bool quoted = end >= from + 2 && (*from == '\'' || *from == '"') && end[-1] == *from;
  *p = sql_start(end);
  return quoted ? g_strndup(from + 1, (gsize)(end - from - 2)) : g_strndup(from, (gsize)(end - from));
}

bool sql_setting(const char *sql, char **name, char **value) {
  const char *reset = behind(sql, "RESET"), *p = reset ? reset : behind(sql, "SET");
  if (!p || sql_kind(sql) != SQL_SET) return false;
  const char *session = behind(p, "SESSION"), *local = behind(p, "LOCAL");
  p = session ? session : local ? local : p;
  g_autofree char *word = token(&p);
  const char *to = *p == '=' ? sql_start(p + 1) : behind(p, "TO");
  if (!*word || (!to && !reset)) return false;
  *name = g_ascii_strdown(word, -1);
  *value = reset || behind(to, "DEFAULT") ? NULL : token(&to);
  return true;
}

char *sql_deallocated(const char *sql) {
  const char *named = behind(sql, "DEALLOCATE PREPARE"), *p = named ? named : behind(sql, "DEALLOCATE");
  return p ? token(&p) : g_strdup("");
}
