/* sweep_list.c - the lists of --set: ranges and commas into values. */
#include "sim/sweep.h"
#include <errno.h>
#include <string.h>

/* "64KiB": 64 and "KiB". A unit is letters; no sign, no fraction. */
static bool whole(const char *text, int64_t *n, const char **unit) {
  char *end = NULL;
  if (!g_ascii_isdigit(*text)) return false;
  errno = 0;
  guint64 v = g_ascii_strtoull(text, &end, 10);
  if (errno || v > G_MAXINT64) return false;
  for (const char *p = *unit = end; *p; p++)
    if (!g_ascii_isalpha(*p)) return false;
  *n = (int64_t)v;
  return true;
}

typedef struct {
  int64_t from, to, by;
  bool times; /* *by, not +by */
  const char *unit;
} Range;

static bool range_parse(char **parts, Range *r, GError **error) {
  const char *to_unit, *by_unit, *step = parts[2];
  if (!whole(parts[0], &r->from, &r->unit) || !whole(parts[1], &r->to, &to_unit))
    return scenario_wrong(error, "a range runs between whole numbers below 2^63, with one unit if any");
  if (strcmp(r->unit, to_unit) != 0)
    return scenario_wrong(error, "a range has one unit at both ends, not \"%s\" and \"%s\"", r->unit, to_unit);
  r->times = *step == '*';
  if ((*step != '*' && *step != '+') || !whole(step + 1, &r->by, &by_unit))
    return scenario_wrong(error, "a step is *FACTOR or +STEP, a whole number, not \"%.40s\"", step);
  if (strcmp(by_unit, r->times ? "" : r->unit) != 0)
    return scenario_wrong(error, "a step has the unit of the ends, a factor none");
  if (r->from > r->to) return scenario_wrong(error, "a range goes up, and %s is more than %s", parts[0], parts[1]);
  if (r->by < (r->times ? 2 : 1) || (r->times && r->from == 0))
    return scenario_wrong(error, "a step of %s from %s never ends", step, parts[0]);
  return true;
}

static bool add(GPtrArray *values, const char *value, GError **error) {
  if (!*value) return scenario_wrong(error, "an empty value in the list");
  if (values->len == SWEEP_MAX_VALUES) return scenario_wrong(error, "more than %d values", SWEEP_MAX_VALUES);
  g_ptr_array_add(values, g_strdup(value));
  return true;
}

/* The next value is known to be in range before it is computed, so nothing overflows. */
static bool add_range(GPtrArray *values, const Range *r, GError **error) {
  for (int64_t v = r->from;; v = r->times ? v * r->by : v + r->by) {
    g_assert(r->from <= v && v <= r->to);
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT "%s", v, r->unit);
    if (!add(values, text, error)) return false;
    if (r->times ? v > r->to / r->by : v > r->to - r->by) return true;
  }
}

static bool add_item(GPtrArray *values, const char *item, GError **error) {
  g_auto(GStrv) parts = g_strsplit(item, ":", -1);
  Range r = {0};
  if (!g_ascii_isdigit(*item) || !parts[1]) return add(values, item, error);
  if (g_strv_length(parts) != 3)
    return scenario_wrong(error, "\"%.40s\" is no range; write FROM:TO:*FACTOR or FROM:TO:+STEP", item);
  return range_parse(parts, &r, error) && add_range(values, &r, error);
}

static bool each_once(const GPtrArray *values, GError **error) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < values->len; i++)
    if (!g_hash_table_add(seen, values->pdata[i]))
      return scenario_wrong(error, "%s stands in it twice", (char *)values->pdata[i]);
  return true;
}

/* Where the item that begins at `from` ends: at a comma outside of brackets and quotes, or at the end. What is not
 * closed goes on to the end; the reader of scenarios says what is wrong with it. */
static const char *item_end(const char *from) {
  int depth = 0;
  char quote = 0;
  const char *p = from;
  for (; *p; p++) {
    if (quote) {
      if (*p == '\\' && quote == '"' && p[1])
        p++;
      else if (*p == quote)
        quote = 0;
    } else if ((*p == '"' || *p == '\'') && (p == from || strchr("{[,: ", p[-1])))
      quote = *p;
    else if (strchr("{[", *p))
      depth++;
    else if (strchr("}]", *p))
      depth--;
    else if (*p == ',' && depth <= 0)
      break;
  }
  return p;
}

GPtrArray *sweep_values(const char *list, GError **error) {
  g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
  if (!*list) return scenario_wrong(error, "no value"), NULL;
  for (const char *from = list, *end;; from = end + 1) {
    end = item_end(from);
    g_autofree char *item = g_strndup(from, (gsize)(end - from));
    if (!add_item(values, g_strstrip(item), error)) return NULL;
    if (!*end) break;
  }
  return each_once(values, error) ? g_steal_pointer(&values) : NULL;
}
