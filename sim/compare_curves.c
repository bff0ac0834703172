/* compare_curves.c - see compare_curves.h. */
#include "sim/compare_curves.h"
#include <string.h>

/* A case as a point to be. */
typedef struct {
  const ComparedCase *of;
  char *group; /* its name without x, or what the curve of a single scenario is called */
  double x;
  bool drawn;
} Spot;

static void spot_clear(gpointer data) {
  g_free(((Spot *)data)->group);
}

static void curve_free(gpointer data) {
  ComparedCurve *c = data;
  g_free(c->label);
  g_array_unref(c->points);
  g_free(c);
}

void compare_curves_free(ComparedCurves *c) {
  if (!c) return;
  g_free(c->x_key);
  g_free(c->x_name);
  g_ptr_array_unref(c->curves);
  g_free(c);
}

/* ---- which x ---- */

static int numeric_key(const SweepPlan *p) {
  for (guint i = 0; i < p->keys->len; i++)
    if (((SweptKey *)p->keys->pdata[i])->numeric) return (int)i;
  return -1;
}

static const SweptKey *swept_x(const CompareReport *r) {
  const SweepPlan *p = r->comparison->in->plan;
  const int key = numeric_key(p);
  return key < 0 ? NULL : p->keys->pdata[key];
}

/* "proc-array-warm-1024-few" without 1024. */
static char *without_number(const char *name, int64_t number) {
  g_autofree char *digits = g_strdup_printf("%" G_GINT64_FORMAT, number);
  g_auto(GStrv) parts = g_strsplit(name, "-", -1);
  GString *out = g_string_new(NULL);
  for (char **part = parts; *part; part++)
    if (strcmp(*part, digits) != 0) g_string_append_printf(out, "%s%s", out->len ? "-" : "", *part);
  return g_string_free(out, FALSE);
}

/* first.connect_ms and warm.connect_ms are the same on the axis. */
static const char *quantity(const char *metric) {
  const char *dot = strchr(metric, '.');
  return g_str_has_prefix(metric, "first.") || g_str_has_prefix(metric, "warm.") ? dot + 1 : metric;
}

static char *own_name(const ComparedCase *c, int x_key, int64_t clients, bool single) {
  const gsize prefix = (gsize)(quantity(c->metric) - c->metric);
  if (single) return prefix ? g_strndup(c->metric, prefix - 1) : g_strdup(c->metric);
  const char *scenario = sweep_scenario(c->plan, sweep_point(c->plan, c->combination, 0, 0))->name;
  return x_key < 0 ? without_number(scenario, clients) : g_strdup(scenario);
}

static char *group_of(const ComparedCase *c, int x_key, int64_t clients, bool single) {
  char *scenario = own_name(c, x_key, clients, single);
  GString *out = g_string_new(scenario);
  g_free(scenario);
  for (guint i = 0; i < c->plan->keys->len; i++)
    if ((int)i != x_key && !((SweptKey *)c->plan->keys->pdata[i])->scenarios)
      g_string_append_printf(out, ", %s=%s", ((SweptKey *)c->plan->keys->pdata[i])->name,
                             sweep_value(c->plan, i, c->combination));
  return g_string_free(out, FALSE);
}

/* What the scenario says its clients are; -1: it is no storm. */
static int64_t clients_of(const CompareReport *r, const ComparedCase *c) {
  const guint point = sweep_point(c->plan, c->combination, 0, 0);
  g_autoptr(Scenario) s = sweep_refused(c->plan, point) ? NULL : sweep_load(c->plan, point, r->base, NULL);
  if (!s || scenario_has_pooler(s) || scenario_given(s, "model")) return -1;
  return scenario_int(s, "workload.clients");
}

static bool place(const CompareReport *r, const ComparedCase *c, Spot *out) {
  const int key = numeric_key(c->plan);
  const int64_t clients = key < 0 ? clients_of(r, c) : 0;
  if (key < 0 && clients < 0) return false;
  out->x = (double)clients;
  if (key >= 0) {
    const SweptKey *k = c->plan->keys->pdata[key];
    out->x = g_array_index(k->x, double, sweep_value_index(c->plan, (guint)key, c->combination));
  }
  out->of = c;
  out->group = group_of(c, key, clients, r->comparison->in->plan->scenarios->len == 1);
  return true;
}

static GArray *places(const CompareReport *r, const char *y) {
  GArray *all = g_array_new(FALSE, TRUE, sizeof(Spot));
  g_array_set_clear_func(all, spot_clear);
  for (guint i = 0; i < r->comparison->cases->len; i++) {
    const ComparedCase *c = r->comparison->cases->pdata[i];
    Spot s = {0};
    if (c->metric && !strcmp(quantity(c->metric), y) && place(r, c, &s)) g_array_append_val(all, s);
  }
  return all;
}

/* ---- curves ---- */

static ComparedCurve *curve_new(const CompareReport *r, Side side, const char *metric, const char *group) {
  ComparedCurve *c = g_new0(ComparedCurve, 1);
  c->metric = metric;
  c->side = side;
  c->label = g_strdup_printf("%s, %s", r->comparison->in->side[side], group);
  c->points = g_array_new(FALSE, TRUE, sizeof(ComparedPoint));
  return c;
}

static int by_x(gconstpointer a, gconstpointer b) {
  const ComparedPoint *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

static bool is_curve(const GArray *points) {
  return points->len > 1 &&
         by_x(&g_array_index(points, ComparedPoint, 0), &g_array_index(points, ComparedPoint, points->len - 1)) != 0;
}

static void add_group(const CompareReport *r, GArray *all, guint first, ComparedCurves *out) {
  const char *group = g_array_index(all, Spot, first).group, *metric = g_array_index(all, Spot, first).of->metric;
  for (Side side = 0; side < SIDES; side++) {
    ComparedCurve *curve = curve_new(r, side, metric, group);
    for (guint i = first; i < all->len; i++) {
      Spot *s = &g_array_index(all, Spot, i);
      if (strcmp(s->group, group) != 0 || strcmp(s->of->metric, metric) != 0) continue;
      ComparedPoint p = {s->x, s->of->mean[side], s->of->pairs->len};
      g_array_append_val(curve->points, p);
      s->drawn = true;
    }
    g_array_sort(curve->points, by_x);
    if (is_curve(curve->points))
      g_ptr_array_add(out->curves, curve);
    else
      curve_free(curve);
  }
}

static void add_seeds(const CompareReport *r, ComparedCurves *out) {
  for (guint i = 0; i < r->comparison->cases->len; i++) {
    const ComparedCase *c = r->comparison->cases->pdata[i];
    if (!c->metric || strcmp(quantity(c->metric), out->y) != 0 || c->pairs->len < 2) continue;
    for (Side side = 0; side < SIDES; side++) {
      ComparedCurve *curve = curve_new(r, side, c->metric, c->name);
      for (guint k = 0; k < c->pairs->len; k++) {
        const ComparedPair *pair = &g_array_index(c->pairs, ComparedPair, k);
        ComparedPoint p = {(double)(pair->seed - c->plan->seed + 1), pair->value[side], 1};
        g_array_append_val(curve->points, p);
      }
      g_ptr_array_add(out->curves, curve);
    }
  }
}

static const char *first_quantity(const Comparison *c) {
  for (guint i = 0; i < c->cases->len; i++)
    if (((ComparedCase *)c->cases->pdata[i])->metric) return quantity(((ComparedCase *)c->cases->pdata[i])->metric);
  return NULL;
}

static void name_axis(const CompareReport *r, ComparedCurves *c) {
  const SweptKey *k = c->seeds ? NULL : swept_x(r);
  c->x_key = g_strdup(c->seeds ? "seed" : k ? k->key : "workload.clients");
  c->x_name = g_strdup(c->seeds ? "pair of runs, a seed each" : k ? k->name : "clients");
  c->unit = k ? k->unit : "";
}

ComparedCurves *compare_curves(const CompareReport *r) {
  ComparedCurves *c = g_new0(ComparedCurves, 1);
  c->curves = g_ptr_array_new_with_free_func(curve_free);
  c->y = first_quantity(r->comparison);
  if (c->y) {
    g_autoptr(GArray) all = places(r, c->y);
    for (guint i = 0; i < all->len; i++)
      if (!g_array_index(all, Spot, i).drawn) add_group(r, all, i, c);
  }
  c->seeds = c->curves->len == 0;
  if (c->seeds && c->y) add_seeds(r, c);
  name_axis(r, c);
  return c;
}

bool compare_curve_fit(const ComparedCurve *c, LoglogFit *fit) {
  const guint n = c->points->len;
  g_autofree double *x = g_new(double, n), *y = g_new(double, n);
  for (guint i = 0; i < n; i++) {
    x[i] = g_array_index(c->points, ComparedPoint, i).x;
    y[i] = g_array_index(c->points, ComparedPoint, i).mean;
  }
  return loglog_fit(x, y, n, fit);
}

bool compare_can_be_drawn(const CompareReport *r) {
  g_autoptr(ComparedCurves) all = compare_curves(r);
  for (guint i = 0; i < all->curves->len; i++) {
    const ComparedCurve *c = all->curves->pdata[i];
    for (guint k = 0; k < c->points->len; k++) {
      const ComparedPoint *p = &g_array_index(c->points, ComparedPoint, k);
      if (p->x > 0 && p->mean > 0) return true;
    }
  }
  return false;
}
