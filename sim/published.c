/* published.c - see published.h. */
#include "sim/published.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/units.h"
#include <string.h>

enum { PUBLISHED_MAX_BYTES = 1 << 20 };

static void series_free(gpointer p) {
  PublishedSeries *s = p;
  g_free(s->metric);
  g_free(s->column);
  g_free(s->variant);
  g_array_unref(s->points);
  g_free(s);
}

void published_free(Published *p) {
  if (!p) return;
  g_free(p->table);
  g_free(p->x);
  g_free(p->text);
  g_ptr_array_unref(p->series);
  g_free(p);
}

/* ---- the file: a line is cells; where it stood is kept for messages ---- */

typedef struct {
  const char *file;
  GPtrArray *rows; /* of GStrv; the first one names the columns */
  GArray *lines;   /* of guint: where each row stood, from 1 */
} Csv;

static bool complain(const Csv *c, guint row, GError **error, const char *what, const char *about) {
  g_propagate_error(error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s:%u: %s%s", c->file,
                                       g_array_index(c->lines, guint, row), what, about));
  return false;
}

static bool names_differ(const Csv *c, GError **error) {
  char **names = c->rows->pdata[0];
  for (guint i = 0; names[i]; i++)
    for (guint k = 0; k < i; k++)
      if (!strcmp(g_strstrip(names[i]), g_strstrip(names[k])))
        return complain(c, 0, error, "two columns of one name: ", names[i]);
  return true;
}

static bool csv_split(Csv *c, const char *text, GError **error) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    const guint line = i + 1;
    g_strstrip(lines[i]);
    if (!*lines[i] || *lines[i] == '#') continue;
    g_ptr_array_add(c->rows, g_strsplit(lines[i], ",", -1));
    g_array_append_val(c->lines, line);
    const guint row = c->rows->len - 1;
    if (g_strv_length(c->rows->pdata[row]) != g_strv_length(c->rows->pdata[0]))
      return complain(c, row, error, "has more or fewer cells than the line of names", "");
  }
  if (c->rows->len > 1) return names_differ(c, error);
  g_propagate_error(error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: no line of figures", c->file));
  return false;
}

static int column_of(const Csv *c, const char *name) {
  char **names = c->rows->pdata[0];
  for (int i = 0; names[i]; i++)
    if (!strcmp(g_strstrip(names[i]), name)) return i;
  return -1;
}

/* *there false: an empty cell. */
static bool cell(const Csv *c, guint row, int column, double *value, bool *there, GError **error) {
  char *text = g_strstrip(((char **)c->rows->pdata[row])[column]);
  *there = *text != '\0';
  if (!*there || units_number(text, value) == UNITS_OK) return true;
  return complain(c, row, error, "not a number: ", text);
}

/* ---- the scenario's series ---- */

static bool not_counted(const Scenario *s, guint series, double x) {
  g_autofree char *list = g_strdup_printf("published.series[%u].not_counted", series);
  for (guint i = 0, n = scenario_count(s, list); i < n; i++) {
    g_autofree char *key = g_strdup_printf("%s[%u]", list, i);
    double v = (double)scenario_int(s, key);
    if (!(v < x) && !(v > x)) return true;
  }
  return false;
}

static bool add_points(const Scenario *s, const Csv *c, guint i, int y, int spread, PublishedSeries *out,
                       GError **error) {
  for (guint row = 1; row < c->rows->len; row++) {
    PublishedPoint p = {0};
    bool has_x, has_y, has_spread;
    if (!cell(c, row, 0, &p.x, &has_x, error) || !cell(c, row, y, &p.y, &has_y, error)) return false;
    if (spread >= 0 && !cell(c, row, spread, &p.spread, &has_spread, error)) return false;
    if (spread >= 0 && has_spread && p.spread < 0)
      return complain(c, row, error, "a plus or minus below 0: ", ((char **)c->rows->pdata[row])[spread]);
    if (!has_x || !has_y) continue;
    for (guint k = 0; k < out->points->len; k++)
      if (g_array_index(out->points, PublishedPoint, k).x == p.x)
        return complain(c, row, error, "another line for the same: ", ((char **)c->rows->pdata[row])[0]);
    p.counted = !not_counted(s, i, p.x);
    g_array_append_val(out->points, p);
  }
  return true;
}

static bool find_column(const Scenario *s, const Csv *c, const char *key, int *column, GError **error) {
  *column = column_of(c, scenario_word(s, key));
  if (*column >= 0) return true;
  g_propagate_error(error, scenario_complain(s, key, "%s has no such column", c->file));
  return false;
}

static bool add_series(const Scenario *s, const Csv *c, guint i, GPtrArray *all, GError **error) {
  g_autofree char *metric = g_strdup_printf("published.series[%u].metric", i),
                  *column = g_strdup_printf("published.series[%u].column", i),
                  *spread = g_strdup_printf("published.series[%u].spread", i),
                  *variant = g_strdup_printf("published.series[%u].variant", i),
                  *preset = g_strdup_printf("published.series[%u].preset", i);
  int y = -1, pm = -1;
  if (!find_column(s, c, column, &y, error)) return false;
  if (scenario_given(s, spread) && !find_column(s, c, spread, &pm, error)) return false;
  if (scenario_given(s, variant) && scenario_given(s, preset)) {
    g_propagate_error(error, scenario_complain(s, preset, "variant is given too; one of them would be right"));
    return false;
  }
  PublishedSeries *out = g_new0(PublishedSeries, 1);
  out->metric = g_strdup(scenario_word(s, metric));
  out->column = g_strdup(scenario_word(s, column));
  out->preset = scenario_given(s, preset);
  if (out->preset) out->variant = g_strdup(scenario_word(s, preset));
  if (scenario_given(s, variant)) out->variant = g_strdup(scenario_word(s, variant));
  out->points = g_array_new(FALSE, FALSE, sizeof(PublishedPoint));
  g_ptr_array_add(all, out);
  return add_points(s, c, i, y, pm, out, error);
}

static bool fill(const Scenario *s, const char *path, Published *p, GError **error) {
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(guint));
  Csv c = {path, rows, lines};
  if (!csv_split(&c, p->text, error)) return false;
  for (guint i = 0, n = scenario_count(s, "published.series"); i < n; i++)
    if (!add_series(s, &c, i, p->series, error)) return false;
  return true;
}

/* The key that varies is a name to the reader of scenarios; here it must be a key. */
static bool fill_x(const Scenario *s, Published *p, GError **error) {
  p->x = g_strdup(scenario_word(s, "published.x"));
  g_autofree char *known = scenario_explain(p->x);
  if (!known) {
    g_propagate_error(error, scenario_complain(s, "published.x", "no such key: %s", p->x));
    return false;
  }
  const char *value = scenario_word(s, p->x);
  p->x_known = value && units_number(value, &p->x_value) == UNITS_OK;
  return true;
}

Published *published_read(const Scenario *s, const char *path, GError **error) {
  if (!scenario_given(s, "published")) return NULL;
  gsize length = 0;
  g_autoptr(Published) p = g_new0(Published, 1);
  p->series = g_ptr_array_new_with_free_func(series_free);
  p->table = g_path_get_basename(path);
  p->text = asset_read(path, PUBLISHED_MAX_BYTES, &length, error);
  if (!p->text || !fill_x(s, p, error) || !fill(s, path, p, error)) return NULL;
  return g_steal_pointer(&p);
}

Published *published_load(const Scenario *s, const char *const *dirs, GError **error) {
  if (!scenario_given(s, "published")) return NULL;
  const char *table = scenario_word(s, "published.table");
  g_autofree char *path = asset_path(dirs, "data", table);
  if (path) return published_read(s, path, error);
  g_propagate_error(error, scenario_complain(s, "published.table", "no table %s among the program's data", table));
  return NULL;
}

const PublishedSeries *published_find(const Published *p, const char *metric, const char *variant) {
  for (guint i = 0; p && i < p->series->len; i++) {
    const PublishedSeries *s = p->series->pdata[i];
    if (!strcmp(s->metric, metric) && (!s->variant || !strcmp(s->variant, variant))) return s;
  }
  return NULL;
}

const PublishedPoint *published_at(const PublishedSeries *s, double x) {
  for (guint i = 0; s && i < s->points->len; i++) {
    const PublishedPoint *p = &g_array_index(s->points, PublishedPoint, i);
    if (!(p->x < x) && !(p->x > x)) return p;
  }
  return NULL;
}
