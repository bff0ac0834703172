/* json_line.c - recursive descent over the bytes of a line. Functions return NULL or what is wrong, and leave `at`
 * where the wrong thing begins. */
#include "traces/json_line.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define FEW 16 /* members compared pair by pair; a hash table beyond */

typedef struct {
  char *at, *end;
  JsonInts ints;
  guint depth;
  GArray *values;
} Parser;

static JsonValue *value_at(const Parser *p, guint i) {
  return &g_array_index(p->values, JsonValue, i);
}
static char peek(const Parser *p) {
  return p->at < p->end ? *p->at : '\0';
}

static void blanks(Parser *p) {
  while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\r') p->at++;
}

/* ---- strings ---- */

/* The number after "\u", or -1. */
static int code_unit(const Parser *p, const char *at) {
  int value = 0;
  if (p->end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
  for (guint i = 2; i < 6; i++) {
    int digit = g_ascii_xdigit_value(at[i]);
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  return value;
}

/* What the escape at p->at stands for goes to *out: at most 3 bytes for 6, or 4 for 12. */
static const char *parse_unicode(Parser *p, char **out) {
  int first = code_unit(p, p->at), second = -1;
  if (first < 0) return "not an escape of JSON";
  if (first == 0) return "a NUL in a string";
  gunichar c = (gunichar)first;
  if (0xd800 <= first && first <= 0xdfff) {
    if (first < 0xdc00) second = code_unit(p, p->at + 6);
    if (second < 0xdc00 || second > 0xdfff) return "half a surrogate pair";
    c = 0x10000 + ((c - 0xd800) << 10) + ((gunichar)second - 0xdc00);
  }
  p->at += second < 0 ? 6 : 12;
  *out += g_unichar_to_utf8(c, *out);
  return NULL;
}

static const char *parse_escape(Parser *p, char **out) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  char c = p->end - p->at >= 2 ? p->at[1] : '\0';
  const char *found = c ? strchr(from, c) : NULL;
  if (!found) return parse_unicode(p, out);
  *(*out)++ = to[found - from];
  p->at += 2;
  return NULL;
}

/* In place: what is written never passes what is read, and the NUL falls on the closing quote at the latest. */
static const char *parse_string(Parser *p, const char **text) {
  char *start = p->at, *out = ++p->at;
  *text = out;
  while (p->at < p->end && *p->at != '"') {
    if ((unsigned char)*p->at < 0x20) return "a control character in a string";
    if (*p->at != '\\') {
      *out++ = *p->at++;
      continue;
    }
    const char *why = parse_escape(p, &out);
    if (why) return why;
  }
  if (p->at == p->end) {
    p->at = start;
    return "a string without end";
  }
  g_assert(out <= p->at);
  p->at++;
  *out = '\0';
  return NULL;
}

/* ---- numbers and words ---- */
static guint digits(const char **at) {
  const char *start = *at;
  while (g_ascii_isdigit(**at)) ++*at; /* the line ends in NUL */
  return (guint)(*at - start);
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? Its end, or NULL. */
static const char *number_end(const char *at, bool *whole) {
  bool zero = (at += *at == '-', *at == '0');
  guint n = digits(&at);
  if (n == 0 || (zero && n > 1)) return NULL;
  *whole = *at != '.' && *at != 'e' && *at != 'E';
  if (*at == '.' && (at++, !digits(&at))) return NULL;
  if (*at != 'e' && *at != 'E') return at;
  at++;
  if (*at == '+' || *at == '-') at++;
  return digits(&at) ? at : NULL;
}

static bool whole_number(const char *at, JsonInts ints, int64_t *out) {
  bool negative = *at == '-';
  errno = 0;
  guint64 magnitude = g_ascii_strtoull(at + negative, NULL, 10);
  if (errno) return false;
  *out = (int64_t)(negative ? -magnitude : magnitude); /* modulo 2^64, as gcc and clang define it */
  return ints == JSON_UNSIGNED ? !negative : magnitude <= (guint64)G_MAXINT64 + negative;
}

static const char *parse_number(Parser *p, JsonValue *v) {
  bool whole;
  const char *end = number_end(p->at, &whole);
  if (!end) return "not a number of JSON";
  v->kind = whole ? JSON_INT : JSON_DOUBLE;
  if (whole && !whole_number(p->at, p->ints, &v->integer)) return "a number out of range";
  if (!whole) v->number = g_ascii_strtod(p->at, NULL);
  if (!whole && !isfinite(v->number)) return "a number out of range";
  p->at += end - p->at;
  return NULL;
}

static const char *parse_word(Parser *p, JsonValue *v) {
  static const char *const words[] = {"true", "false", "null"};
  for (guint w = 0; w < G_N_ELEMENTS(words); w++) {
    gsize n = strlen(words[w]);
    if ((gsize)(p->end - p->at) < n || memcmp(p->at, words[w], n) != 0) continue;
    p->at += n;
    v->kind = (JsonKind)(JSON_TRUE + w);
    return NULL;
  }
  return "not JSON";
}

/* ---- objects and arrays ---- */

/* The name that comes for the second time, or NULL. */
static const char *repeated_of_many(const Parser *p, guint object) {
  g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
  guint at = object + 1;
  for (guint i = 0; i < value_at(p, object)->n; i++, at = value_at(p, at)->next)
    if (!g_hash_table_add(names, (gpointer)value_at(p, at)->name)) return value_at(p, at)->name;
  return NULL;
}

static const char *repeated(const Parser *p, guint object) {
  guint n = value_at(p, object)->n, at = object + 1;
  if (n > FEW) return repeated_of_many(p, object);
  for (guint i = 0; i < n; i++, at = value_at(p, at)->next)
    for (guint j = 0, before = object + 1; j < i; j++, before = value_at(p, before)->next)
      if (strcmp(value_at(p, at)->name, value_at(p, before)->name) == 0) return value_at(p, at)->name;
  return NULL;
}

static const char *parse_value(Parser *p, const char *name);

/* One member of an object, or one element of an array. */
static const char *parse_item(Parser *p, bool object) {
  const char *name = NULL;
  blanks(p);
  if (object) {
    if (peek(p) != '"') return "the name of a member should be here";
    const char *why = parse_string(p, &name);
    if (why) return why;
    blanks(p);
    if (peek(p) != ':') return "\":\" should be here";
    p->at++;
    blanks(p);
  }
  return parse_value(p, name);
}

/* What stands between its brackets, and the closing one. */
static const char *parse_inside(Parser *p, guint self) {
  bool object = value_at(p, self)->kind == JSON_OBJECT;
  char closing = object ? '}' : ']';
  p->at++;
  blanks(p);
  for (bool first = true; peek(p) != closing; first = false) {
    if (!first && peek(p) != ',') return p->at == p->end ? "the line ends too early" : "\",\" should be here";
    if (!first) p->at++;
    const char *why = parse_item(p, object);
    if (why) return why;
    value_at(p, self)->n++; /* the array may have moved meanwhile */
    blanks(p);
  }
  p->at++;
  const char *twice = object ? repeated(p, self) : NULL;
  if (twice) p->at -= p->at - (twice - 1); /* back to its quote */
  return twice ? "a member comes twice" : NULL;
}

static const char *parse_nested(Parser *p, guint self) {
  if (p->depth == JSON_LINE_DEPTH) return "nested too deeply";
  p->depth++;
  const char *why = parse_inside(p, self);
  p->depth--;
  return why;
}

static const char *parse_value(Parser *p, const char *name) {
  guint self = p->values->len;
  char c = peek(p);
  JsonValue v = {.name = name, .kind = c == '{' ? JSON_OBJECT : JSON_ARRAY};
  const char *why = NULL;
  if (c == '"') {
    v.kind = JSON_STRING;
    why = parse_string(p, &v.text);
  } else if (c == '-' || g_ascii_isdigit(c)) {
    why = parse_number(p, &v);
  } else if (c != '{' && c != '[') {
    why = parse_word(p, &v);
  }
  if (why) return why;
  g_array_append_val(p->values, v);
  if (c == '{' || c == '[') why = parse_nested(p, self);
  value_at(p, self)->next = p->values->len;
  return why;
}

static const char *parse_line(Parser *p) {
  blanks(p);
  if (peek(p) != '{') return "not a JSON object";
  const char *why = parse_value(p, NULL);
  if (why) return why;
  blanks(p);
  return p->at < p->end ? "something after the object" : NULL;
}

char *json_line_parse(char *line, gsize length, JsonInts ints, GArray *values) {
  Parser p = {.at = line, .end = line + length, .ints = ints, .values = values};
  const char *bad, *why;
  g_assert(line[length] == '\0');
  g_array_set_size(values, 0);
  if (!g_utf8_validate(line, (gssize)length, &bad) && *bad) {
    p.at += bad - line;
    why = "not UTF-8";
  } else {
    why = parse_line(&p); /* finds a NUL by itself */
  }
  return why ? g_strdup_printf("byte %ld: %s", (long)(p.at - line) + 1, why) : NULL;
}
