/* sweep_plot.c - results.json of a sweep as a PlotSpec. Whoever wrote it, it is read with care: a member of another
 * type is as good as none. */
#include "viz/sweep_plot.h"
#include "sim/metrics.h"
#include "sim/scenario/assets.h"
#include <json-glib/json-glib.h>
#include <string.h>

enum { JSON_MAX_BYTES = 256 << 20, JSON_MAX_DEPTH = 32 };

typedef struct {
  char *label, *exponent;
  GArray *x, *y, *spread; /* of double */
  GArray *set_aside;      /* of bool */
  bool published;
} Curve;

struct SweepPlot {
  JsonParser *parser;
  JsonObject *json; /* its root */
  char *path, *title, *subtitle, *x_title, *y_title;
  GPtrArray *curves; /* of Curve */
  GArray *series;    /* of PlotSeries, pointing into curves */
  gint64 runs;       /* most behind one point */
  guint left_out;    /* points that logarithmic axes have no place for: 0, as where nothing costs anything */
  PlotSpec spec;
};

static void curve_free(gpointer data) {
  Curve *c = data;
  g_free(c->label);
  g_free(c->exponent);
  g_array_unref(c->x);
  g_array_unref(c->y);
  g_array_unref(c->spread);
  g_array_unref(c->set_aside);
  g_free(c);
}

void sweep_plot_free(SweepPlot *p) {
  g_clear_object(&p->parser);
  g_ptr_array_unref(p->curves);
  g_array_unref(p->series);
  g_free(p->path);
  g_free(p->title);
  g_free(p->subtitle);
  g_free(p->x_title);
  g_free(p->y_title);
  g_free(p);
}

const PlotSpec *sweep_plot_spec(const SweepPlot *p) {
  return &p->spec;
}

/* ---- members, NULL or 0 where there is none of the type ---- */

static const char *text_of(JsonObject *o, const char *name) {
  JsonNode *n = json_object_get_member(o, name);
  return n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_STRING ? json_node_get_string(n) : NULL;
}

static bool has_number(JsonObject *o, const char *name) {
  JsonNode *n = json_object_get_member(o, name);
  return n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) != G_TYPE_STRING;
}

static double number_of(JsonObject *o, const char *name) {
  return has_number(o, name) ? json_object_get_double_member(o, name) : 0;
}

static JsonArray *array_of(JsonObject *o, const char *name) {
  JsonNode *n = json_object_get_member(o, name);
  return n && JSON_NODE_HOLDS_ARRAY(n) ? json_node_get_array(n) : NULL;
}

static JsonObject *object_of(JsonObject *o, const char *name) {
  JsonNode *n = json_object_get_member(o, name);
  return n && JSON_NODE_HOLDS_OBJECT(n) ? json_node_get_object(n) : NULL;
}

static guint length_of(JsonArray *a) {
  return a ? json_array_get_length(a) : 0;
}

static JsonObject *object_at(JsonArray *a, guint i) {
  JsonNode *n = json_array_get_element(a, i);
  return JSON_NODE_HOLDS_OBJECT(n) ? json_node_get_object(n) : NULL;
}

/* ---- the file ---- */

/* json-glib recurses as deep as its input nests. */
static bool shallow(const char *text) {
  guint depth = 0;
  bool quoted = false;
  for (const char *p = text; *p && depth <= JSON_MAX_DEPTH; p++) {
    if (quoted && *p == '\\' && p[1])
      p++;
    else if (*p == '"')
      quoted = !quoted;
    else if (!quoted && (*p == '[' || *p == '{'))
      depth++;
    else if (!quoted && (*p == ']' || *p == '}') && depth)
      depth--;
  }
  return depth <= JSON_MAX_DEPTH;
}

static bool complain(const SweepPlot *p, const char *what, GError **error) {
  g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT, "%s: %s", p->path, what);
  return false;
}

static bool read_json(SweepPlot *p, GError **error) {
  gsize length;
  g_autofree char *text = asset_read(p->path, JSON_MAX_BYTES, &length, error);
  if (!text) return false;
  g_autoptr(GError) why = NULL;
  p->parser = json_parser_new_immutable();
  if (!shallow(text)) return complain(p, "nests too deeply for a sweep's result", error);
  if (!json_parser_load_from_data(p->parser, text, (gssize)length, &why)) return complain(p, why->message, error);
  JsonNode *root = json_parser_get_root(p->parser);
  p->json = root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
  if (!p->json || !array_of(p->json, "series")) return complain(p, "is not the result of a sweep", error);
  return true;
}

/* ---- curves ---- */

static Curve *curve_new(const char *label, bool published) {
  Curve *c = g_new0(Curve, 1);
  *c = (Curve){.label = g_strdup(label), .published = published};
  c->x = g_array_new(FALSE, FALSE, sizeof(double));
  c->y = g_array_new(FALSE, FALSE, sizeof(double));
  c->spread = g_array_new(FALSE, FALSE, sizeof(double));
  c->set_aside = g_array_new(FALSE, FALSE, sizeof(bool));
  return c;
}

static void add_point(SweepPlot *p, Curve *c, JsonObject *at) {
  const char *height = c->published ? "y" : "mean";
  if (!at || !has_number(at, "x") || !has_number(at, height)) return;
  double x = number_of(at, "x"), y = number_of(at, height), spread = number_of(at, "spread");
  if (!(x > 0) || !(y > 0)) {
    p->left_out++;
    return;
  }
  bool aside = !json_object_get_boolean_member_with_default(at, "counted", TRUE);
  g_array_append_val(c->x, x);
  g_array_append_val(c->y, y);
  g_array_append_val(c->spread, spread);
  g_array_append_val(c->set_aside, aside);
  p->runs = MAX(p->runs, (gint64)number_of(at, "runs"));
}

static bool wanted(const char *const *metrics, const char *metric) {
  return !metrics || (metric && g_strv_contains(metrics, metric));
}

/* "series" or "published": [{label, variant, metric, points}]. */
static void add_curves(SweepPlot *p, const char *member, bool published, const char *const *metrics) {
  JsonArray *all = array_of(p->json, member);
  for (guint i = 0; i < length_of(all); i++) {
    JsonObject *s = object_at(all, i);
    if (!s || !text_of(s, "label") || !wanted(metrics, text_of(s, "metric"))) continue;
    Curve *c = curve_new(text_of(s, "label"), published);
    JsonArray *points = array_of(s, "points");
    for (guint k = 0; k < length_of(points); k++) add_point(p, c, object_at(points, k));
    g_ptr_array_add(p->curves, c);
  }
}

/* "exponent 1.32 (95 %: 1.06 to 1.58)" */
static char *exponent_text(JsonObject *fit) {
  char b[3][G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(b[0], sizeof b[0], "%.2f", number_of(fit, "exponent"));
  g_ascii_formatd(b[1], sizeof b[1], "%.2f", number_of(fit, "low"));
  g_ascii_formatd(b[2], sizeof b[2], "%.2f", number_of(fit, "high"));
  bool interval = has_number(fit, "low") && has_number(fit, "high");
  return interval ? g_strdup_printf("exponent %s (95 %%: %s to %s)", b[0], b[1], b[2])
                  : g_strdup_printf("exponent %s", b[0]);
}

/* Where the sweep was asked for a knee, its curve says where it is. */
static void add_knees(SweepPlot *p) {
  JsonArray *knees = array_of(p->json, "knees");
  for (guint i = 0; knees && i < json_array_get_length(knees); i++) {
    JsonObject *k = object_at(knees, i);
    for (guint j = 0; k && j < p->curves->len; j++) {
      Curve *c = p->curves->pdata[j];
      if (c->published || g_strcmp0(c->label, text_of(k, "label")) != 0) continue;
      char x[G_ASCII_DTOSTR_BUF_SIZE], *label = c->label;
      c->label = g_strdup_printf("%s, knee at %s", label, g_ascii_formatd(x, sizeof x, "%.6g", number_of(k, "x")));
      g_free(label);
    }
  }
}

static void add_exponents(SweepPlot *p) {
  JsonArray *fits = array_of(p->json, "fits");
  for (guint i = 0; i < length_of(fits); i++) {
    JsonObject *fit = object_at(fits, i);
    for (guint k = 0; fit && k < p->curves->len; k++) {
      Curve *c = p->curves->pdata[k];
      if (!c->published && !c->exponent && has_number(fit, "exponent") && !g_strcmp0(c->label, text_of(fit, "label")))
        c->exponent = exponent_text(fit);
    }
  }
}

/* Each metric asked for must be one of the curves'. */
static bool check_metrics(const SweepPlot *p, const char *const *metrics, GError **error) {
  JsonArray *all = array_of(p->json, "series");
  for (guint m = 0; metrics && metrics[m]; m++) {
    bool found = false;
    for (guint i = 0; i < length_of(all) && !found; i++)
      found = object_at(all, i) && !g_strcmp0(text_of(object_at(all, i), "metric"), metrics[m]);
    if (found) continue;
    g_autofree char *what = g_strdup_printf("has no curve of %s", metrics[m]);
    return complain(p, what, error);
  }
  return true;
}

/* ---- titles ---- */

/* The unit of "connect_ms", from the table of metrics; NULL: unknown. */
static const char *unit_of(const char *y) {
  for (guint i = 0; y && i < metric_info_len; i++) {
    const char *dot = strchr(metric_info[i].pattern, '.');
    if (!strcmp(dot ? dot + 1 : metric_info[i].pattern, y) || !strcmp(metric_info[i].pattern, y))
      return metric_info[i].unit;
  }
  return NULL;
}

static char *with_unit(const char *name, const char *unit) {
  return unit && *unit ? g_strdup_printf("%s (%s)", name, unit) : g_strdup(name);
}

static void add_titles(SweepPlot *p) {
  JsonObject *axis = object_of(p->json, "x");
  const char *scenario = text_of(p->json, "scenario"), *profile = text_of(p->json, "profile"),
             *y = text_of(p->json, "y");
  const char *x = axis ? text_of(axis, "name") : NULL;
  p->x_title = with_unit(x ? x : "x", axis ? text_of(axis, "unit") : NULL);
  p->y_title = with_unit(y ? y : "value", unit_of(y));
  p->title = g_strdup_printf("%s: %s by %s", scenario ? scenario : "sweep", y ? y : "metrics", x ? x : "x");
  g_autoptr(GString) sub = g_string_new("simulated");
  if (profile && *profile) g_string_append_printf(sub, ", profile %s", profile);
  if (p->runs > 1) g_string_append_printf(sub, ", means of %" G_GINT64_FORMAT " seeds", p->runs);
  if (p->left_out) g_string_append_printf(sub, "; %u points at 0 left out", p->left_out);
  g_string_append(sub, "; exponent: b of y = c x^b, least squares");
  p->subtitle = g_strdup(sub->str);
}

static void make_spec(SweepPlot *p) {
  for (guint i = 0; i < p->curves->len; i++) {
    const Curve *c = p->curves->pdata[i];
    PlotSeries s = {.label = c->label,
                    .n = c->x->len,
                    .published = c->published,
                    .exponent = c->exponent,
                    .x = (const double *)(const void *)c->x->data,
                    .y = (const double *)(const void *)c->y->data};
    if (c->published) s.spread = (const double *)(const void *)c->spread->data;
    if (c->published) s.set_aside = (const bool *)(const void *)c->set_aside->data;
    g_array_append_val(p->series, s);
  }
  p->spec = (PlotSpec){
      p->title, p->subtitle, p->x_title, p->y_title, (const PlotSeries *)(const void *)p->series->data, p->series->len};
}

SweepPlot *sweep_plot_read(const char *dir, const char *const *metrics, GError **error) {
  g_autoptr(SweepPlot) p = g_new0(SweepPlot, 1);
  p->path = g_build_filename(dir, "results.json", NULL);
  p->curves = g_ptr_array_new_with_free_func(curve_free);
  p->series = g_array_new(FALSE, FALSE, sizeof(PlotSeries));
  if (!read_json(p, error) || !check_metrics(p, metrics, error)) return NULL;
  add_curves(p, "series", false, metrics);
  if (!p->curves->len) {
    complain(p, "has no curve: none of the swept keys is a number", error);
    return NULL;
  }
  add_curves(p, "published", true, metrics);
  add_exponents(p);
  add_knees(p);
  add_titles(p);
  make_spec(p);
  return g_steal_pointer(&p);
}

bool viz_plot_sweep(const char *dir, const char *const *metrics, const char *path, VizFormat format, GError **error) {
  g_autoptr(SweepPlot) p = sweep_plot_read(dir, metrics, error);
  return p && viz_plot(sweep_plot_spec(p), path, format, error);
}
