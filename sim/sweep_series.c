/* sweep_series.c - see sweep_series.h. */
#include "sim/sweep_series.h"
#include <string.h>

enum { MOST_SHOWN = 4 }; /* metrics, where nobody said which */

static SweptKey *key_at(const SweepPlan *p, guint i) {
  return p->keys->pdata[i];
}

bool sweep_mean(const SweepCurves *c, guint combination, guint variant, const char *metric, double *mean, guint *runs) {
  double sum = 0, value;
  guint n = 0;
  for (guint seed = 0; seed < c->plan->seeds; seed++) {
    const RunResult *r = c->results->pdata[sweep_point(c->plan, combination, variant, seed)];
    if (!r || !run_result_metric(r, metric, &value)) continue;
    sum += value;
    n++;
  }
  if (runs) *runs = n;
  if (n) *mean = sum / n;
  return n > 0;
}

/* ---- which metrics ---- */

static void add_metric(GPtrArray *metrics, const char *name) {
  if (!g_ptr_array_find_with_equal_func(metrics, name, g_str_equal, NULL)) g_ptr_array_add(metrics, g_strdup(name));
}

static bool measured(const GPtrArray *results, const char *metric) {
  double v;
  for (guint i = 0; i < results->len; i++)
    if (results->pdata[i] && run_result_metric(results->pdata[i], metric, &v)) return true;
  return false;
}

static void add_first_ones(GPtrArray *metrics, const GPtrArray *results) {
  for (guint i = 0; i < results->len; i++) {
    const RunResult *r = results->pdata[i];
    for (guint m = 0; r && m < r->metrics->len && metrics->len < MOST_SHOWN; m++)
      add_metric(metrics, g_array_index(r->metrics, Metric, m).name);
  }
}

static void choose_metrics(SweepCurves *c, const char *const *asked) {
  static const char *const usual[] = {"first.connect_ms", "warm.connect_ms", "states", "transitions"};
  for (; asked && *asked; asked++) add_metric(c->metrics, *asked);
  if (c->metrics->len) return;
  for (guint i = 0; c->plan->published && i < c->plan->published->series->len; i++)
    add_metric(c->metrics, ((PublishedSeries *)c->plan->published->series->pdata[i])->metric);
  if (c->metrics->len) return;
  for (guint i = 0; i < G_N_ELEMENTS(usual); i++)
    if (measured(c->results, usual[i])) add_metric(c->metrics, usual[i]);
  if (!c->metrics->len) add_first_ones(c->metrics, c->results);
}

static const char *after_dot(const char *metric) {
  const char *dot = strchr(metric, '.');
  return dot ? dot + 1 : "";
}

static void find_common(SweepCurves *c) {
  for (guint i = 0; i < c->metrics->len; i++)
    if (!*after_dot(c->metrics->pdata[i]) ||
        strcmp(after_dot(c->metrics->pdata[i]), after_dot(c->metrics->pdata[0])) != 0)
      return;
  if (c->metrics->len) c->y = g_strdup(after_dot(c->metrics->pdata[0]));
}

/* ---- the axis ---- */

/* The published table's x if it is swept, else the first numeric key. */
static void choose_x(SweepCurves *c) {
  const Published *pub = c->plan->published;
  for (guint i = c->plan->keys->len; i-- > 0;) {
    const SweptKey *k = key_at(c->plan, i);
    if (k->numeric) c->x = (int)i;
  }
  for (guint i = 0; pub && i < c->plan->keys->len; i++)
    if (key_at(c->plan, i)->numeric && !strcmp(key_at(c->plan, i)->key, pub->x)) c->x = (int)i;
  if (!pub) return;
  if (c->plan->keys->len == 0) c->compared = pub->x_known;
  if (c->plan->keys->len == 1) c->compared = c->x == 0 && !strcmp(key_at(c->plan, 0)->key, pub->x);
}

static double x_of(const SweepCurves *c, guint combination) {
  g_assert(c->x >= 0);
  const SweptKey *k = key_at(c->plan, (guint)c->x);
  return g_array_index(k->x, double, sweep_value_index(c->plan, (guint)c->x, combination));
}

const PublishedPoint *sweep_published(const SweepCurves *c, guint combination, guint variant, const char *metric) {
  if (!c->compared) return NULL;
  double x = c->x < 0 ? c->plan->published->x_value : x_of(c, combination);
  return published_at(published_find(c->plan->published, metric, c->plan->variants->pdata[variant]), x);
}

double sweep_deviation(const PublishedPoint *p, double simulated) {
  return (simulated - p->y) / p->y * 100;
}

/* ---- curves ---- */

static void series_free(gpointer data) {
  SweepSeries *s = data;
  g_free(s->label);
  g_array_unref(s->points);
  g_free(s);
}

/* Do two combinations differ at most in x? */
static bool same_others(const SweepCurves *c, guint a, guint b) {
  for (guint i = 0; i < c->plan->keys->len; i++)
    if ((int)i != c->x && sweep_value_index(c->plan, i, a) != sweep_value_index(c->plan, i, b)) return false;
  return true;
}

static char *label_of(const SweepCurves *c, guint combination, guint variant, const char *metric) {
  GString *out = g_string_new(c->plan->variants->pdata[variant]);
  if (!strcmp(out->str, "-"))
    g_string_truncate(out, 0);
  else
    g_string_append(out, ", ");
  g_string_append_printf(out, "%.*s", c->y ? (int)strcspn(metric, ".") : (int)strlen(metric), metric);
  for (guint i = 0; i < c->plan->keys->len; i++)
    if ((int)i != c->x)
      g_string_append_printf(out, ", %s=%s", key_at(c->plan, i)->name, sweep_value(c->plan, i, combination));
  return g_string_free(out, FALSE);
}

static bool fit_points(const GArray *points, gsize size, gsize x, gsize y, LoglogFit *fit) {
  g_autofree double *xs = g_new(double, points->len), *ys = g_new(double, points->len);
  for (guint i = 0; i < points->len; i++) {
    const char *at = points->data + i * size;
    xs[i] = *(const double *)(const void *)(at + x);
    ys[i] = *(const double *)(const void *)(at + y);
  }
  return loglog_fit(xs, ys, points->len, fit);
}

static bool has_x(const GArray *points, double x) {
  for (guint i = 0; i < points->len; i++) {
    const double there = g_array_index(points, SeriesPoint, i).x;
    if (!(there < x) && !(there > x)) return true;
  }
  return false;
}

/* Over the same x as the sweep's, or the two exponents could not be compared. */
static void fit_published(SweepSeries *s) {
  g_autoptr(GArray) counted = g_array_new(FALSE, FALSE, sizeof(PublishedPoint));
  for (guint i = 0; i < s->published->points->len; i++) {
    PublishedPoint p = g_array_index(s->published->points, PublishedPoint, i);
    if (p.counted && has_x(s->points, p.x)) g_array_append_val(counted, p);
  }
  s->published_fitted = fit_points(counted, sizeof(PublishedPoint), offsetof(PublishedPoint, x),
                                   offsetof(PublishedPoint, y), &s->published_fit);
}

static void add_series(SweepCurves *c, guint combination, guint variant, const char *metric) {
  SweepSeries *s = g_new0(SweepSeries, 1);
  s->label = label_of(c, combination, variant, metric);
  s->variant = variant;
  s->metric = metric;
  s->points = g_array_new(FALSE, FALSE, sizeof(SeriesPoint));
  for (guint i = combination; i < c->plan->combinations; i++) {
    SeriesPoint p = {.combination = i, .x = x_of(c, i)};
    if (same_others(c, combination, i) && sweep_mean(c, i, variant, metric, &p.mean, &p.runs))
      g_array_append_val(s->points, p);
  }
  s->fitted =
      fit_points(s->points, sizeof(SeriesPoint), offsetof(SeriesPoint, x), offsetof(SeriesPoint, mean), &s->fit);
  if (c->compared) s->published = published_find(c->plan->published, metric, c->plan->variants->pdata[variant]);
  if (s->published) fit_published(s);
  g_ptr_array_add(c->series, s);
}

static bool begins_curve(const SweepCurves *c, guint combination) {
  return sweep_value_index(c->plan, (guint)c->x, combination) == 0;
}

SweepCurves *sweep_curves(const SweepPlan *p, const GPtrArray *results, const char *const *metrics) {
  SweepCurves *c = g_new0(SweepCurves, 1);
  *c = (SweepCurves){.plan = p, .results = results, .x = -1};
  c->metrics = g_ptr_array_new_with_free_func(g_free);
  c->series = g_ptr_array_new_with_free_func(series_free);
  choose_metrics(c, metrics);
  find_common(c);
  choose_x(c);
  for (guint i = 0; c->x >= 0 && i < p->combinations; i++)
    for (guint v = 0; begins_curve(c, i) && v < p->variants->len; v++)
      for (guint m = 0; m < c->metrics->len; m++) add_series(c, i, v, c->metrics->pdata[m]);
  return c;
}

void sweep_curves_free(SweepCurves *c) {
  if (!c) return;
  g_ptr_array_unref(c->metrics);
  g_ptr_array_unref(c->series);
  g_free(c->y);
  g_free(c);
}
