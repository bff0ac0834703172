/* fit_parse.c - what the command line of a fit says: constants with their bounds, cells to leave out. */
#include "sim/fit.h"
#include "sim/scenario/units.h"
#include <string.h>

static bool bad(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool bad(GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_propagate_error(error, g_error_new_valist(FIT_ERROR, FIT_ERROR_INPUT, format, args));
  va_end(args);
  return false;
}

static bool fit_find_cost(const char *key, CostId *id, GError **error) {
  for (CostId i = 0; i < COST_COUNT; i++)
    if (!strcmp(cost_info[i].key, key)) return *id = i, true;
  return bad(error, "%s: no such cost; a key of a profile such as %s is meant", key, cost_info[COST_FAULT_WRITE].key);
}

static bool parse_ps(const char *key, const char *text, int64_t *ps, GError **error) {
  UnitsFault fault = units_per_byte_ps(text, ps);
  if (fault == UNITS_OK) return true;
  return bad(error, "%s: \"%s\" %s; write a time such as 2.05us", key, text, units_fault(fault));
}

bool fit_parse_fix(const char *text, CostId *id, int64_t *ps, GError **error) {
  const char *equals = strchr(text, '=');
  if (!equals) return bad(error, "--fix %s: write KEY=VALUE", text);
  g_autofree char *key = g_strndup(text, (gsize)(equals - text));
  return fit_find_cost(key, id, error) && parse_ps(key, equals + 1, ps, error);
}

/* parts: LOW, HIGH or LOW, START, HIGH. */
static bool parse_bounds(const char *key, char **parts, guint n, FitFree *out, GError **error) {
  if (!parse_ps(key, parts[0], &out->low, error) || !parse_ps(key, parts[n - 1], &out->high, error)) return false;
  if (out->low <= 0) return bad(error, "--free %s: the lower bound must be above 0 (the search is in logarithms)", key);
  if (out->low >= out->high) return bad(error, "--free %s: the lower bound must be below the upper one", key);
  if (n == 2) return true;
  if (!parse_ps(key, parts[1], &out->start, error)) return false;
  return (out->start >= out->low && out->start <= out->high) ||
         bad(error, "--free %s: the start is out of bounds", key);
}

bool fit_parse_free(const char *text, FitFree *out, GError **error) {
  const char *equals = strchr(text, '=');
  *out = (FitFree){0};
  g_auto(GStrv) parts = g_strsplit(equals ? equals + 1 : "", ":", -1);
  guint n = g_strv_length(parts);
  if (n != 2 && n != 3) return bad(error, "--free %s: write KEY=LOW:HIGH or KEY=LOW:START:HIGH", text);
  g_autofree char *key = g_strndup(text, (gsize)(equals - text));
  return fit_find_cost(key, &out->id, error) && parse_bounds(key, parts, n, out, error);
}

/* A cell's name is "x/column". */
static bool names(const char *item, const char *cell) {
  const char *slash = strchr(cell, '/');
  g_assert(slash);
  if (g_str_has_prefix(item, "column:")) return !strcmp(item + 7, slash + 1);
  if (g_str_has_prefix(item, "x:"))
    return strlen(item + 2) == (gsize)(slash - cell) && g_str_has_prefix(cell, item + 2);
  return !strcmp(item, cell);
}

bool fit_leave_out(FitCell *cells, guint n, const char *items, GError **error) {
  g_auto(GStrv) list = g_strsplit(items, ",", -1);
  for (char **item = list; *item; item++) {
    guint found = 0;
    for (guint i = 0; i < n; i++)
      if (names(*item, cells[i].name)) cells[i].counted = false, found++;
    if (!found) return bad(error, "--leave-out %s: no such cell; write X/COLUMN, x:X or column:COLUMN", *item);
  }
  for (guint i = 0; i < n; i++)
    if (cells[i].counted) return true;
  return bad(error, "--leave-out %s: no cell is left to fit to", items);
}
