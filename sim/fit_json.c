/* fit_json.c - a fit's result as JSON. See fit_report.h. */
#include "sim/fit_report.h"
#include <math.h>

static void member(Output *o, const char *key, double value) {
  output_str(o, ", ");
  output_key(o, key);
  if (isfinite(value))
    output_double(o, value);
  else
    output_str(o, "null");
}

static void list_open(Output *o, const char *key) {
  output_key(o, key);
  output_str(o, "[");
}
static void item_open(Output *o, guint i, const char *key, const char *value) {
  output_str(o, i ? ",\n    {" : "\n    {");
  output_key(o, key);
  output_string(o, value);
}
static void list_close(Output *o) {
  output_str(o, "\n  ],\n  ");
}

static void cells(const FitStory *s, Output *o) {
  list_open(o, "cells");
  for (guint i = 0; i < s->problem->n_cells; i++) {
    const FitCell *c = &s->problem->cells[i];
    item_open(o, i, "name", c->name);
    member(o, "published", c->observed);
    member(o, "allowed", c->tolerance);
    member(o, "simulated", s->result->figures[i]);
    output_str(o, c->counted ? ", \"counted\": true}" : ", \"counted\": false}");
  }
  list_close(o);
}

/* Nanoseconds; an interval that is not known is null. */
static void constants(const FitStory *s, Output *o) {
  static const char *const bound[] = {[FIT_INSIDE] = "", [FIT_AT_LOW] = "low", [FIT_AT_HIGH] = "high"};
  bool known = s->stats.freedom > 0;
  list_open(o, "constants");
  for (guint i = 0; i < s->problem->n_free; i++) {
    const FitFree *f = &s->problem->free[i];
    int64_t ps = s->result->costs.ps[f->id];
    item_open(o, i, "key", cost_info[f->id].key);
    member(o, "ns", (double)ps / 1000);
    member(o, "low_ns", known ? s->stats.low[i] / 1000 : HUGE_VAL);
    member(o, "high_ns", known && s->stats.high[i] < 9e18 ? s->stats.high[i] / 1000 : HUGE_VAL);
    member(o, "searched_from_ns", (double)f->low / 1000);
    member(o, "searched_to_ns", (double)f->high / 1000);
    output_str(o, ", \"at_bound\": ");
    output_string(o, bound[fit_at_bound(f, ps)]);
    output_str(o, "}");
  }
  list_close(o);
}

static void alike(const FitStory *s, Output *o) {
  const FitProblem *p = s->problem;
  guint n = 0;
  list_open(o, "cannot_be_told_apart");
  for (guint i = 0; i < p->n_free; i++)
    for (guint j = i + 1; j < p->n_free; j++) {
      if (fabs(s->stats.cosine[i][j]) <= 0.95) continue;
      item_open(o, n++, "one", cost_info[p->free[i].id].key);
      output_str(o, ", \"other\": ");
      output_string(o, cost_info[p->free[j].id].key);
      member(o, "cosine", s->stats.cosine[i][j]);
      output_str(o, "}");
    }
  list_close(o);
}

static void seeds_and_withouts(const FitStory *s, Output *o) {
  list_open(o, "without");
  for (guint i = 0; s->without && i < s->without->len; i++) {
    const FitWithout *w = &g_array_index(s->without, FitWithout, i);
    item_open(o, i, "key", cost_info[w->id].key);
    member(o, "worst", w->worst);
    output_str(o, "}");
  }
  list_close(o);
  list_open(o, "seeds");
  for (guint i = 0; s->seeds && i < s->seeds->len; i++) {
    const FitSeed *d = &g_array_index(s->seeds, FitSeed, i);
    item_open(o, i, "worst_cell", d->cell);
    member(o, "seed", (double)d->seed);
    member(o, "worst", d->worst);
    member(o, "missed", d->missed);
    output_str(o, "}");
  }
  list_close(o);
}

static void predictions(const FitStory *s, Output *o) {
  list_open(o, "predictions");
  for (guint i = 0; s->predictions && i < s->predictions->len; i++) {
    const FitPrediction *q = &g_array_index(s->predictions, FitPrediction, i);
    item_open(o, i, "set", q->set);
    output_str(o, ", \"cells\": [");
    for (guint c = 0; c < s->problem->n_cells; c++) {
      if (c) output_str(o, ", ");
      output_double(o, q->figures[c]);
    }
    output_str(o, "]}");
  }
  list_close(o);
}

void fit_report_json(const FitStory *s, Output *o) {
  const FitResult *r = s->result;
  output_str(o, "{\n  ");
  report_json_text(o, "stampede", STAMPEDE_VERSION);
  report_json_text(o, "command", "calibrate fit");
  report_json_text(o, "table", fit_table_published(s->table)->table);
  report_json_text(o, "start", s->start);
  report_json_uint(o, "seed", s->seed);
  report_json_uint(o, "simulations", s->evals);
  cells(s, o);
  constants(s, o);
  alike(s, o);
  seeds_and_withouts(s, o);
  predictions(s, o);
  report_json_text(o, "global_search", fit_stop_words(r->global));
  report_json_text(o, "local_search", fit_stop_words(r->local));
  report_json_uint(o, "missed", r->missed);
  report_json_text(o, "worst_cell", s->problem->cells[r->worst_cell].name);
  output_str(o, "\"worst\": ");
  output_double(o, r->worst);
  output_str(o, "\n}\n");
}
