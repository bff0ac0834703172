/* json_guard.c - one pass over the bytes; the state is a nesting depth and a count. */
#include "traces/json_guard.h"
#include <errno.h>
#include <string.h>

typedef struct {
  const char *start, *at, *end;
  JsonGuardInts ints;
  guint depth, members;
} Guard;

static char peek(const Guard *g) {
  return g->at < g->end ? *g->at : '\0';
}

static void blanks(Guard *g) {
  while (peek(g) == ' ' || peek(g) == '\t' || peek(g) == '\r') g->at++;
}

/* The fault is said to be at `from`, where the thing began. */
static const char *fault(Guard *g, const char *from, const char *why) {
  if (why) g->at = from;
  return why;
}

static guint digits(Guard *g) {
  guint n = 0;
  for (; g_ascii_isdigit(peek(g)); g->at++) n++;
  return n;
}

/* [0-9A-F]{4} after "\u", or -1. */
static int code_unit(Guard *g) {
  int value = 0;
  if (g->end - g->at < 6 || g->at[0] != '\\' || g->at[1] != 'u') return -1;
  for (guint i = 2; i < 6; i++) {
    int digit = g_ascii_xdigit_value(g->at[i]);
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  g->at += 6;
  return value;
}

static const char *guard_escape(Guard *g) {
  if (g->end - g->at >= 2 && g->at[1] && strchr("\"\\/bfnrt", g->at[1])) {
    g->at += 2;
    return NULL;
  }
  int first = code_unit(g);
  if (first < 0) return "not an escape of JSON";
  if (first == 0) return "a NUL in a string";
  if (first < 0xd800 || first > 0xdfff) return NULL;
  int second = first < 0xdc00 ? code_unit(g) : -1;
  return 0xdc00 <= second && second <= 0xdfff ? NULL : "half a surrogate pair";
}

static const char *guard_string(Guard *g) {
  for (g->at++; g->at < g->end && *g->at != '"';) {
    if ((unsigned char)*g->at < 0x20) return "a control character in a string";
    const char *from = g->at, *why = NULL;
    if (*g->at == '\\')
      why = guard_escape(g);
    else
      g->at++;
    if (why) return fault(g, from, why);
  }
  if (g->at == g->end) return "a string without end";
  g->at++;
  return NULL;
}

static bool fits(const char *from, bool negative, JsonGuardInts ints) {
  errno = 0;
  guint64 magnitude = g_ascii_strtoull(from + negative, NULL, 10);
  if (errno) return false;
  if (ints == JSON_GUARD_UNSIGNED) return !negative;
  return magnitude <= (guint64)G_MAXINT64 + negative;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? The line ends in NUL, so strtoull stops. */
static const char *guard_number(Guard *g) {
  const char *from = g->at;
  bool negative = peek(g) == '-', whole = true;
  g->at += negative;
  bool zero = peek(g) == '0';
  guint n = digits(g);
  if (n == 0 || (zero && n > 1)) return "not a number of JSON";
  if (peek(g) == '.') {
    whole = false;
    g->at++;
    if (!digits(g)) return "not a number of JSON";
  }
  if (peek(g) == 'e' || peek(g) == 'E') {
    whole = false;
    g->at++;
    if (peek(g) == '+' || peek(g) == '-') g->at++;
    if (!digits(g)) return "not a number of JSON";
  }
  return whole && !fits(from, negative, g->ints) ? "a number out of range" : NULL;
}

static const char *guard_word(Guard *g) {
  static const char *const words[] = {"true", "false", "null"};
  for (guint w = 0; w < G_N_ELEMENTS(words); w++) {
    gsize n = strlen(words[w]);
    if ((gsize)(g->end - g->at) < n || memcmp(g->at, words[w], n) != 0) continue;
    g->at += n;
    return g_ascii_isalnum(peek(g)) ? "not JSON" : NULL;
  }
  return "not JSON";
}

static const char *guard_token(Guard *g) {
  const char *from = g->at, c = *from;
  if (c == '"') return guard_string(g);
  if (c == '-' || g_ascii_isdigit(c)) return fault(g, from, guard_number(g));
  if (g_ascii_isalpha(c)) return guard_word(g);
  if (!c || !strchr("{}[]:, \t\r", c)) return "not JSON";
  g->at++;
  if (c == '{' || c == '[') return ++g->depth > JSON_GUARD_DEPTH ? "nested too deeply" : NULL;
  if (c == '}' || c == ']') return g->depth-- == 0 ? "a bracket too many" : NULL;
  if (c == ':') g->members++;
  return NULL;
}

static const char *guard_line(Guard *g) {
  blanks(g);
  if (peek(g) != '{') return "not a JSON object";
  do {
    const char *why = guard_token(g);
    if (why) return why;
  } while (g->depth && g->at < g->end);
  if (g->depth) return "the object does not end";
  blanks(g);
  return g->at < g->end ? "something after the object" : NULL;
}

char *json_guard(const char *line, gsize length, JsonGuardInts ints, guint *members) {
  Guard g = {.start = line, .at = line, .end = line + length, .ints = ints};
  g_assert(line[length] == '\0');
  const char *why = guard_line(&g), *bad;
  if (!why && !g_utf8_validate(line, (gssize)length, &bad)) {
    why = "not UTF-8";
    g.at = bad;
  }
  *members = g.members;
  return why ? g_strdup_printf("byte %ld: %s", (long)(g.at - g.start) + 1, why) : NULL;
}
