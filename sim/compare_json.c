/* compare_json.c - a comparison as one document (its members are told in README.md), and as JUnit. */
#include "sim/compare_curves.h"

/* Between the entries of a list; the first has nothing before it. */
static void next_row(Output *o, bool *first) {
  output_str(o, *first ? "\n    " : ",\n    ");
  *first = false;
}

static void end_rows(Output *o, bool first) {
  output_str(o, first ? "],\n  " : "\n  ],\n  ");
}

static void member_text(Output *o, const char *key, const char *value) {
  output_key(o, key);
  output_nullable(o, value);
  output_str(o, ", ");
}

static void member_number(Output *o, const char *key, bool known, double value) {
  output_key(o, key);
  if (known)
    output_double(o, value);
  else
    output_str(o, "null");
  output_str(o, ", ");
}

static void member_bool(Output *o, const char *key, bool value) {
  output_key(o, key);
  output_str(o, value ? "true, " : "false, ");
}

/* Two values, the last members of their object. */
static void sides_number(Output *o, const bool known[SIDES], const double v[SIDES]) {
  member_number(o, "baseline", known[SIDE_BASELINE], v[SIDE_BASELINE]);
  output_key(o, "patch");
  if (known[SIDE_PATCH])
    output_double(o, v[SIDE_PATCH]);
  else
    output_str(o, "null");
}

static const bool both[SIDES] = {true, true};

/* ---- a case ---- */

static void case_pairs(Output *o, const ComparedCase *c) {
  output_key(o, "pairs");
  output_str(o, "[");
  for (guint i = 0; i < c->pairs->len; i++) {
    const ComparedPair *p = &g_array_index(c->pairs, ComparedPair, i);
    output_str(o, i ? ", {" : "{");
    output_key(o, "seed");
    output_uint(o, p->seed);
    output_str(o, ", ");
    sides_number(o, both, p->value);
    output_str(o, "}");
  }
  output_str(o, "], ");
}

static void case_checks(Output *o, const ComparedCase *c) {
  output_key(o, "checks");
  output_str(o, "[");
  for (guint i = 0; i < c->checks->len; i++) {
    const ComparedCheck *k = &g_array_index(c->checks, ComparedCheck, i);
    output_str(o, i ? ", {" : "{");
    member_text(o, "name", k->name);
    member_text(o, "baseline", check_verdict_word(k->verdict[SIDE_BASELINE]));
    member_text(o, "patch", check_verdict_word(k->verdict[SIDE_PATCH]));
    output_key(o, "why");
    output_nullable(o, k->why[SIDE_PATCH] ? k->why[SIDE_PATCH] : k->why[SIDE_BASELINE]);
    output_str(o, "}");
  }
  output_str(o, "], ");
}

static const char *spot_change(const ComparedSpot *s) {
  return !s->on[SIDE_PATCH] ? "vanished" : !s->on[SIDE_BASELINE] ? "appeared" : "both";
}

static void case_spots(Output *o, const ComparedCase *c) {
  output_key(o, "hotspots");
  output_str(o, "[");
  for (guint i = 0; i < c->spots->len; i++) {
    const ComparedSpot *s = &g_array_index(c->spots, ComparedSpot, i);
    output_str(o, i ? ",\n      {" : "\n      {");
    member_text(o, "structure", s->structure);
    member_text(o, "site", s->site);
    member_text(o, "change", spot_change(s));
    output_str(o, "\"faults\": {");
    sides_number(o, both, s->faults);
    output_str(o, "}, \"ms\": {");
    sides_number(o, both, s->ms);
    output_str(o, "}}");
  }
  output_str(o, "], ");
}

static bool knows(GPtrArray *names, const char *name) {
  return g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL);
}

/* Every metric that both sides have; means over the pairs that have it. */
static void case_metrics(Output *o, const CompareInput *in, const ComparedCase *c) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  output_str(o, "\"metrics\": {");
  for (guint seed = 0; seed < c->plan->seeds; seed++) {
    const RunResult *r = compare_result(in, c, SIDE_BASELINE, seed);
    for (guint i = 0; r && i < r->metrics->len; i++) {
      char *name = g_array_index(r->metrics, Metric, i).name;
      double mean[SIDES];
      if (knows(names, name) || !compare_means(in, c, name, mean)) continue;
      output_str(o, names->len ? ",\n      " : "\n      ");
      g_ptr_array_add(names, name);
      output_key(o, name);
      output_str(o, "{");
      sides_number(o, both, mean);
      output_str(o, "}");
    }
  }
  output_str(o, "}}");
}

static void case_figures(Output *o, const ComparedCase *c) {
  const bool known = c->metric != NULL;
  member_text(o, "metric", c->metric);
  member_text(o, "better", c->higher ? "higher" : "lower");
  member_number(o, "baseline", known, c->mean[SIDE_BASELINE]);
  member_number(o, "patch", known, c->mean[SIDE_PATCH]);
  member_number(o, "difference", known, c->mean[SIDE_PATCH] - c->mean[SIDE_BASELINE]);
  member_text(o, "interval_of", !known ? NULL : c->relative ? "ratio" : "difference");
  member_number(o, "change", known, c->interval.value);
  member_number(o, "low", known, c->interval.low);
  member_number(o, "high", known, c->interval.high);
  member_number(o, "level", known && !c->alone, c->interval.level);
  member_number(o, "effect", known && c->has_effect, c->effect);
  member_bool(o, "zero_variance", known && !(c->interval.low < c->interval.high) && (c->alone || c->pairs->len > 1));
  member_bool(o, "seed_decides_nothing", c->alone);
}

static void case_row(Output *o, const CompareInput *in, const ComparedCase *c) {
  output_str(o, "{");
  member_text(o, "name", c->name);
  member_text(o, "verdict", compare_verdict_word(c->verdict));
  member_text(o, "why", c->why);
  member_bool(o, "settled", c->settled);
  output_str(o, "\n      ");
  case_figures(o, c);
  output_str(o, "\n      ");
  case_pairs(o, c);
  output_str(o, "\n      ");
  case_checks(o, c);
  output_str(o, "\n      ");
  case_spots(o, c);
  output_str(o, "\n      ");
  case_metrics(o, in, c);
}

/* ---- the rest ---- */

static void gate_rows(Output *o, const Comparison *c) {
  bool first = true;
  output_key(o, "gates");
  output_str(o, "[");
  for (guint i = 0; i < c->gates->len; i++) {
    const JudgedGate *g = &g_array_index(c->gates, JudgedGate, i);
    const bool known[SIDES] = {g->judged, g->judged};
    next_row(o, &first);
    output_str(o, "{");
    member_text(o, "text", g->gate->text);
    member_text(o, "case", g->of->name);
    output_key(o, "met");
    output_str(o, !g->judged ? "null, " : g->met ? "true, " : "false, ");
    sides_number(o, known, g->mean);
    output_str(o, "}");
  }
  end_rows(o, first);
}

static void curve_row(Output *o, const ComparedCurve *c) {
  output_str(o, "{");
  member_text(o, "label", c->label);
  member_text(o, "side", c->side == SIDE_PATCH ? "patch" : "baseline");
  member_text(o, "metric", c->metric);
  output_str(o, "\"points\": [");
  for (guint i = 0; i < c->points->len; i++) {
    const ComparedPoint *p = &g_array_index(c->points, ComparedPoint, i);
    output_str(o, i ? ", {" : "{");
    member_number(o, "x", true, p->x);
    member_number(o, "mean", true, p->mean);
    output_key(o, "runs");
    output_uint(o, p->runs);
    output_str(o, "}");
  }
  output_str(o, "]}");
}

/* The exponent of y = c x^b, as sweep tells it; seeds are no size of anything. */
static void fit_rows(Output *o, const ComparedCurves *all) {
  bool first = true;
  output_key(o, "fits");
  output_str(o, "[");
  for (guint i = 0; i < all->curves->len && !all->seeds; i++) {
    const ComparedCurve *c = all->curves->pdata[i];
    LoglogFit f;
    if (!compare_curve_fit(c, &f)) continue;
    next_row(o, &first);
    output_str(o, "{");
    member_text(o, "label", c->label);
    member_text(o, "metric", c->metric);
    member_number(o, "exponent", true, f.exponent);
    member_number(o, "low", f.interval, f.low);
    member_number(o, "high", f.interval, f.high);
    output_key(o, "points");
    output_uint(o, f.n);
    output_str(o, "}");
  }
  end_rows(o, first);
}

static void curve_rows(Output *o, const CompareReport *r) {
  g_autoptr(ComparedCurves) all = compare_curves(r);
  bool first = true;
  output_str(o, "\"x\": {");
  member_text(o, "key", all->x_key);
  member_text(o, "name", all->x_name);
  output_key(o, "unit");
  output_string(o, all->unit);
  output_str(o, "},\n  ");
  report_json_text(o, "y", all->y);
  output_key(o, "series");
  output_str(o, "[");
  for (guint i = 0; i < all->curves->len; i++) {
    next_row(o, &first);
    curve_row(o, all->curves->pdata[i]);
  }
  end_rows(o, first);
  fit_rows(o, all);
}

static bool complete(const Comparison *c) {
  for (guint i = 0; i < c->cases->len; i++) {
    const ComparedCase *k = c->cases->pdata[i];
    for (guint seed = 0; seed < (k->alone ? 1 : k->plan->seeds); seed++)
      for (Side s = 0; s < SIDES; s++)
        if (!compare_result(c->in, k, s, seed)) return false;
  }
  return true;
}

static void head(Output *o, const CompareReport *r) {
  const Comparison *c = r->comparison;
  const SweepPlan *p = c->in->plan;
  report_json_text(o, "stampede", STAMPEDE_VERSION);
  report_json_text(o, "command", r->command ? r->command : "compare");
  report_json_text(o, "scenario", r->subject);
  report_json_text(o, "baseline", c->in->side[SIDE_BASELINE]);
  report_json_text(o, "patch", c->in->side[SIDE_PATCH]);
  report_json_text(o, "profile", r->figures ? NULL : p->profile);
  if (r->figures) report_json_text(o, "figures", r->figures);
  output_str(o, "\"caveats\": {");
  member_text(o, "baseline", compare_caveat(c, SIDE_BASELINE));
  output_key(o, "patch");
  output_nullable(o, compare_caveat(c, SIDE_PATCH));
  output_str(o, "},\n  ");
  report_json_uint(o, "seed", p->seed);
  report_json_uint(o, "repeat", p->seeds);
  output_key(o, "threshold");
  output_double(o, c->in->threshold);
  output_str(o, complete(c) ? ",\n  \"complete\": true,\n  " : ",\n  \"complete\": false,\n  ");
}

void compare_json(const CompareReport *r, Output *o) {
  const Comparison *c = r->comparison;
  bool first = true;
  output_str(o, "{\n  ");
  head(o, r);
  output_str(o, "\"cases\": [");
  for (guint i = 0; i < c->cases->len; i++) {
    next_row(o, &first);
    case_row(o, c->in, c->cases->pdata[i]);
  }
  end_rows(o, first);
  gate_rows(o, c);
  curve_rows(o, r);
  output_str(o, "\"measured\": {");
  member_number(o, "wall_ms", true, r->wall_ms);
  output_key(o, "jobs");
  output_uint(o, r->jobs);
  output_str(o, "}\n}\n");
}
