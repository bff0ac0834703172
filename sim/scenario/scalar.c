/* scalar.c - is one value what its row of the table allows? */
#include "sim/scenario/scalar.h"
#include <string.h>

UnitsFault scalar_number(guint types, const char *text, int64_t *out) {
  uint64_t seed = 0;
  if (types & K_TIME) return units_time_ns(text, out);
  if (types & K_COST) return units_time_ps(text, out);
  if (types & K_PER_BYTE) return units_per_byte_ps(text, out);
  if (types & K_SIZE) return units_size(text, out);
  if (types & K_RATE) return units_gap_ns(text, out);
  if (types & K_SEED) return units_seed(text, &seed);
  g_assert(types & K_INT);
  return units_integer(text, out);
}

bool scalar_is_word(const char *word, const char *words) {
  g_auto(GStrv) list = g_strsplit(words ? words : "", " ", -1);
  return *word && g_strv_contains((const char *const *)list, word);
}

static bool is_name(const char *text) {
  if (!g_ascii_isalnum(*text) || strlen(text) > 100) return false;
  for (; *text; text++)
    if (!g_ascii_isalnum(*text) && !strchr("-_.", *text)) return false;
  return true;
}

static bool within_bounds(const KeyInfo *k, int64_t n) {
  int64_t bound = 0;
  if (k->lo && !scalar_number(k->types, k->lo, &bound) && n < bound) return false;
  if (k->hi && !scalar_number(k->types, k->hi, &bound) && n > bound) return false;
  return true;
}

/* NULL: right. What is wrong otherwise, as the middle of a sentence. */
static const char *number_fault(const KeyInfo *k, const char *text) {
  int64_t n = 0;
  double number = 0;
  UnitsFault fault = k->types & K_NUMBER ? units_number(text, &number) : scalar_number(k->types, text, &n);
  if (fault) return units_fault(fault);
  if (k->types & K_POW2 && n & (n - 1)) return "is no power of two";
  return within_bounds(k, n) ? NULL : "is out of range";
}

static const char *nearest_word(const KeyInfo *k, const char *text) {
  if (!(k->types & K_WORD)) return NULL;
  g_auto(GStrv) words = g_strsplit(k->words, " ", -1);
  const char *near = nearest_name(text, (const char *const *)words);
  return near ? strstr(k->words, near) : NULL; /* in the table, so that it outlives the list */
}

static bool scalar_fits(const KeyInfo *k, const Node *n, const char **fault) {
  const guint numbers = K_INT | K_SEED | K_NUMBER | K_TIME | K_COST | K_PER_BYTE | K_SIZE | K_RATE;
  *fault = "";
  if (k->types & K_WORD && scalar_is_word(n->text, k->words)) return true;
  if (k->types & K_TEXT || (k->types & K_NAME && is_name(n->text))) return true;
  if (k->types & K_BOOL && !n->quoted && scalar_is_word(n->text, "true false")) return true;
  if (!(k->types & numbers)) return false;
  const char *wrong = number_fault(k, n->text);
  if (!wrong && n->quoted) wrong = "is a text in quotes";
  if (wrong) *fault = wrong;
  return !wrong;
}

/* What is wrong, as the middle of a sentence; fault as scalar_fits found it. Where a word may stand as well, "not a
 * number" would mislead. */
static char *what_is_wrong(const KeyInfo *k, const Node *n, const char *fault) {
  const char *near = *n->text ? nearest_word(k, n->text) : NULL;
  g_autofree char *value = quoted(n->text);
  if (!*n->text && !n->quoted) return g_strdup("has no value");
  if (near) return g_strdup_printf("%s is not known; the nearest is %.*s", value, (int)strcspn(near, " "), near);
  const bool plain = !*fault || (k->types & K_WORD && !strcmp(fault, units_fault(UNITS_NOT_A_NUMBER)));
  return g_strdup_printf("%s %s", value, plain ? "is not right" : fault);
}

bool scalar_check(const KeyInfo *k, const Node *n, const char *shown, GError **error) {
  const char *fault = "";
  if (k->types & K_SCALARS && scalar_fits(k, n, &fault)) return true;
  g_autofree char *expected = key_expected(k), *wrong = what_is_wrong(k, n, fault);
  g_propagate_error(error, mark_error(&n->mark, shown, "%s; it must be %s", wrong, expected));
  return false;
}
