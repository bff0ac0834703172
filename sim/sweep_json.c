/* sweep_json.c - results.json; its members are told in README.md. */
#include "sim/sweep_report.h"

static void member_text(Output *o, const char *key, const char *value) {
  output_key(o, key);
  output_string(o, value);
}

static void member_number(Output *o, const char *key, double value) {
  output_key(o, key);
  output_double(o, value);
}

/* Between the entries of a list; the first has nothing before it. */
static void next_row(Output *o, bool *first) {
  output_str(o, *first ? "\n    " : ",\n    ");
  *first = false;
}

/* As a number of JSON where it is one, else as a text. */
static void json_value(Output *o, const char *value) {
  g_autoptr(GRegex) number = g_regex_new("^-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,15})?$", G_REGEX_DOLLAR_ENDONLY, 0, NULL);
  if (g_regex_match(number, value, 0, NULL))
    output_str(o, value);
  else
    output_string(o, value);
}

static void json_swept(const SweepPlan *p, Output *o) {
  bool first = true;
  output_key(o, "swept");
  output_str(o, "[");
  for (guint i = 0; i < p->keys->len; i++) {
    const SweptKey *k = p->keys->pdata[i];
    next_row(o, &first);
    output_str(o, "{");
    member_text(o, "key", k->key);
    output_str(o, ", ");
    member_text(o, "name", k->name);
    output_str(o, ", \"values\": [");
    for (guint v = 0; v < k->values->len; v++) {
      if (v) output_str(o, ", ");
      json_value(o, k->values->pdata[v]);
    }
    output_str(o, "]}");
  }
  output_str(o, first ? "],\n  " : "\n  ],\n  ");
}

static void json_axes(const SweepCurves *c, Output *o) {
  const SweptKey *k = c->x < 0 ? NULL : c->plan->keys->pdata[c->x];
  output_key(o, "x");
  if (k) {
    output_str(o, "{");
    member_text(o, "key", k->key);
    output_str(o, ", ");
    member_text(o, "name", k->name);
    output_str(o, ", ");
    member_text(o, "unit", k->unit);
    output_str(o, "}");
  }
  output_str(o, k ? ",\n  " : "null,\n  ");
  output_key(o, "y");
  if (c->y)
    output_string(o, c->y);
  else
    output_str(o, "null");
  output_str(o, ",\n  ");
}

static void json_names(const SweepPlan *p, Output *o) {
  output_key(o, "variants");
  output_strings(o, (const char *const *)p->variants->pdata, p->variants->len);
  output_str(o, ",\n  ");
  output_key(o, "seeds");
  for (guint i = 0; i < p->seeds; i++) {
    output_str(o, i ? ", " : "[");
    output_uint(o, p->seed + i);
  }
  output_str(o, "],\n  ");
}

static void json_check(const CheckResult *c, Output *o) {
  output_str(o, "{");
  member_text(o, "name", c->check->name);
  output_str(o, ", ");
  member_text(o, "verdict", check_verdict_word(c->verdict));
  output_str(o, ", \"steps\": ");
  if (c->verdict == CHECK_VIOLATED)
    output_int(o, c->step + 1);
  else
    output_str(o, "null");
  if (c->why) {
    output_str(o, ", ");
    member_text(o, "why", c->why);
  }
  output_str(o, "}");
}

/* What a search of one point found, and whether it saw everything. */
static void json_verdicts(const RunResult *r, Output *o) {
  double exhausted = 0;
  run_result_metric(r, "exhausted", &exhausted);
  output_str(o, ", \"checks\": [");
  for (guint i = 0; i < r->checks->len; i++) {
    if (i) output_str(o, ", ");
    json_check(&g_array_index(r->checks, CheckResult, i), o);
  }
  output_str(o, exhausted > 0 ? "], \"exhausted\": true" : "], \"exhausted\": false");
  output_str(o, ", \"stopped\": ");
  output_nullable(o, r->stopped);
}

/* r NULL: it contradicts itself. */
static void json_point(const SweepPlan *p, guint point, const RunResult *r, Output *o) {
  output_str(o, "{\"values\": {");
  for (guint i = 0; i < p->keys->len; i++) {
    if (i) output_str(o, ", ");
    output_key(o, ((SweptKey *)p->keys->pdata[i])->name);
    json_value(o, sweep_value(p, i, sweep_combination(p, point)));
  }
  output_str(o, "}, ");
  member_text(o, "variant", sweep_variant(p, point));
  output_str(o, ", \"seed\": ");
  output_uint(o, sweep_seed(p, point));
  output_str(o, ", ");
  member_text(o, "verdict", r ? run_verdict_word(r->verdict) : "refused");
  if (!r) {
    output_str(o, ", ");
    member_text(o, "why", sweep_refused(p, point));
  }
  if (r && p->explores) json_verdicts(r, o);
  output_str(o, ", \"metrics\": {");
  for (guint m = 0; r && m < r->metrics->len; m++) {
    const Metric *metric = &g_array_index(r->metrics, Metric, m);
    if (m) output_str(o, ", ");
    member_number(o, metric->name, metric->value);
  }
  output_str(o, "}}");
}

static void json_points(const SweepCurves *c, Output *o) {
  bool first = true;
  output_key(o, "points");
  output_str(o, "[");
  for (guint point = 0; point < c->results->len; point++) {
    if (!c->results->pdata[point] && !sweep_refused(c->plan, point)) continue;
    next_row(o, &first);
    json_point(c->plan, point, c->results->pdata[point], o);
  }
  output_str(o, "\n  ],\n  ");
}

static void json_whose(const SweepCurves *c, const SweepSeries *s, Output *o) {
  output_str(o, "{");
  member_text(o, "label", s->label);
  output_str(o, ", ");
  member_text(o, "variant", c->plan->variants->pdata[s->variant]);
  output_str(o, ", ");
  member_text(o, "metric", s->metric);
  output_str(o, ", ");
}

static void json_series_row(const SweepCurves *c, const SweepSeries *s, Output *o) {
  json_whose(c, s, o);
  output_str(o, "\"points\": [");
  for (guint i = 0; i < s->points->len; i++) {
    const SeriesPoint *p = &g_array_index(s->points, SeriesPoint, i);
    output_str(o, i ? ", {" : "{");
    member_number(o, "x", p->x);
    output_str(o, ", ");
    member_number(o, "mean", p->mean);
    output_str(o, ", \"runs\": ");
    output_uint(o, p->runs);
    output_str(o, "}");
  }
  output_str(o, "]}");
}

static void json_fit(Output *o, const LoglogFit *f) {
  member_number(o, "exponent", f->exponent);
  output_str(o, ", \"low\": ");
  if (f->interval)
    output_double(o, f->low);
  else
    output_str(o, "null");
  output_str(o, ", \"high\": ");
  if (f->interval)
    output_double(o, f->high);
  else
    output_str(o, "null");
}

static void json_fit_row(const SweepCurves *c, const SweepSeries *s, Output *o) {
  if (!s->fitted) return;
  json_whose(c, s, o);
  json_fit(o, &s->fit);
  output_str(o, ", \"points\": ");
  output_uint(o, s->fit.n);
  output_str(o, "}");
}

static void json_published_row(const SweepCurves *c, const SweepSeries *s, Output *o) {
  if (!s->published) return;
  json_whose(c, s, o);
  if (s->published_fitted) {
    json_fit(o, &s->published_fit);
    output_str(o, ", ");
  }
  output_str(o, "\"points\": [");
  for (guint i = 0; i < s->published->points->len; i++) {
    const PublishedPoint *p = &g_array_index(s->published->points, PublishedPoint, i);
    output_str(o, i ? ", {" : "{");
    member_number(o, "x", p->x);
    output_str(o, ", ");
    member_number(o, "y", p->y);
    output_str(o, ", ");
    member_number(o, "spread", p->spread);
    output_str(o, p->counted ? ", \"counted\": true}" : ", \"counted\": false}");
  }
  output_str(o, "]}");
}

static void json_rows(const SweepCurves *c, Output *o, const char *key, bool (*has)(const SweepSeries *),
                      void (*row)(const SweepCurves *, const SweepSeries *, Output *)) {
  bool first = true;
  output_key(o, key);
  output_str(o, "[");
  for (guint i = 0; i < c->series->len; i++) {
    if (has && !has(c->series->pdata[i])) continue;
    next_row(o, &first);
    row(c, c->series->pdata[i], o);
  }
  output_str(o, first ? "],\n  " : "\n  ],\n  ");
}

static void json_knees(const SweepReport *r, Output *o) {
  const SweepCurves *c = r->curves;
  bool first = true;
  output_key(o, "knees");
  output_str(o, "[");
  for (guint i = 0; i < c->series->len; i++) {
    const SweepSeries *s = c->series->pdata[i];
    SweepKnee k;
    if (g_strcmp0(s->metric, r->knee) != 0 || !sweep_knee(s, &k)) continue;
    next_row(o, &first);
    json_whose(c, s, o);
    member_number(o, "x", k.x);
    output_str(o, ", ");
    member_number(o, "value", k.value);
    output_str(o, ", ");
    member_number(o, "worst", k.worst);
    output_str(o, ", ");
    member_number(o, "best", k.best);
    output_str(o, "}");
  }
  output_str(o, first ? "],\n  " : "\n  ],\n  ");
}

static bool has_fit(const SweepSeries *s) {
  return s->fitted;
}
static bool has_published(const SweepSeries *s) {
  return s->published != NULL;
}

static void json_unexplained(const SweepReport *r, Output *o) {
  g_autoptr(GArray) all = sweep_unexplained(r);
  output_key(o, "unexplained");
  output_str(o, "{");
  for (guint i = 0; i < all->len; i++) {
    const Unexplained *u = &g_array_index(all, Unexplained, i);
    if (i) output_str(o, ", ");
    output_key(o, u->key);
    output_str(o, "{");
    member_number(o, "ms", u->ms);
    output_str(o, "}");
  }
  output_str(o, "},\n  ");
}

void sweep_json(const SweepReport *r, Output *o) {
  const SweepCurves *c = r->curves;
  output_str(o, "{\n  ");
  const char *const texts[][2] = {{"stampede", STAMPEDE_VERSION},
                                  {"command", "sweep"},
                                  {"scenario", c->plan->scenario},
                                  {"job", c->plan->job},
                                  {"profile", c->plan->profile}};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    member_text(o, texts[i][0], texts[i][1]);
    output_str(o, ",\n  ");
  }
  output_str(o, sweep_finished(r) + sweep_refusals(c->plan) == c->results->len ? "\"complete\": true,\n  "
                                                                               : "\"complete\": false,\n  ");
  json_swept(c->plan, o);
  json_axes(c, o);
  json_names(c->plan, o);
  json_points(c, o);
  json_rows(c, o, "series", NULL, json_series_row);
  json_rows(c, o, "fits", has_fit, json_fit_row);
  json_knees(r, o);
  json_rows(c, o, "published", has_published, json_published_row);
  json_unexplained(r, o);
  output_str(o, "\"measured\": {");
  member_number(o, "wall_ms", r->wall_ms);
  output_str(o, ", \"jobs\": ");
  output_uint(o, r->jobs);
  output_str(o, "}\n}\n");
}
