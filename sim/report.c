/* report.c - a result as one JSON document. */
#include "sim/result.h"

void report_json_text(Output *o, const char *key, const char *value) {
  output_key(o, key);
  output_nullable(o, value);
  output_str(o, ",\n  ");
}
void report_json_uint(Output *o, const char *key, uint64_t value) {
  output_key(o, key);
  output_uint(o, value);
  output_str(o, ",\n  ");
}

/* Opens an array or object, then `each` row on a line of its own. */
static void rows(Output *o, const char *key, const char *brackets, guint n,
                 void (*each)(Output *, const RunResult *, guint), const RunResult *r) {
  output_key(o, key);
  output_bytes(o, brackets, 1);
  for (guint i = 0; i < n; i++) {
    output_str(o, i ? ",\n    " : "\n    ");
    each(o, r, i);
  }
  output_str(o, n ? "\n  " : "");
  output_bytes(o, brackets + 1, 1);
  output_str(o, ",\n  ");
}

static void check_row(Output *o, const RunResult *r, guint i) {
  const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
  output_str(o, "{\"name\": ");
  output_string(o, c->check->name);
  output_str(o, ", \"verdict\": ");
  output_string(o, check_verdict_word(c->verdict));
  output_str(o, ", \"step\": ");
  if (c->step < 0)
    output_str(o, "null");
  else
    output_int(o, c->step);
  if (c->why) {
    output_str(o, ", \"why\": ");
    output_string(o, c->why);
  }
  output_str(o, "}");
}

void report_json_expectation(Output *o, const Expectation *e) {
  output_str(o, "{\"text\": ");
  output_string(o, e->text);
  output_str(o, e->met ? ", \"met\": true" : e->judged ? ", \"met\": false" : ", \"met\": null");
  output_str(o, ", \"saw\": ");
  output_nullable(o, e->saw);
  output_str(o, "}");
}

static void expectation_row(Output *o, const RunResult *r, guint i) {
  report_json_expectation(o, &g_array_index(r->expectations, Expectation, i));
}

static void metric_row(Output *o, const RunResult *r, guint i) {
  const Metric *m = &g_array_index(r->metrics, Metric, i);
  output_key(o, m->name);
  output_double(o, m->value);
}

static void hot_spot_row(Output *o, const RunResult *r, guint i) {
  const HotSpotRow *h = &g_array_index(r->hotspots, HotSpotRow, i);
  output_str(o, "{\"structure\": ");
  output_string(o, h->structure);
  output_str(o, ", \"site\": ");
  output_string(o, h->site);
  output_str(o, ", \"faults\": ");
  output_int(o, h->faults);
  output_str(o, ", \"stores\": ");
  output_int(o, h->stores);
  output_str(o, ", \"share_of_faults\": ");
  output_double(o, h->share_of_faults);
  output_str(o, ", \"ms\": ");
  output_double(o, h->ms);
  output_str(o, ", \"under_lock_ms\": ");
  output_double(o, h->under_lock_ms);
  if (h->source) output_str(o, ", \"source\": "), output_string(o, h->source);
  output_str(o, "}");
}

static void stack_row(Output *o, const RunResult *r, guint i) {
  const StackRow *k = &g_array_index(r->stacks, StackRow, i);
  g_auto(GStrv) frames = g_strsplit(k->frames, ";", -1);
  output_str(o, "{\"frames\": [");
  for (guint f = 0; frames[f]; f++) {
    if (f) output_str(o, ", ");
    output_string(o, frames[f]);
  }
  output_str(o, "], \"structure\": ");
  output_string(o, k->structure);
  output_str(o, ", \"faults\": ");
  output_int(o, k->faults);
  output_str(o, ", \"stores\": ");
  output_int(o, k->stores);
  output_str(o, ", \"ms\": ");
  output_double(o, k->ms);
  output_str(o, "}");
}

static void unexplained_row(Output *o, const RunResult *r, guint i) {
  const Unexplained *u = &g_array_index(r->unexplained, Unexplained, i);
  output_key(o, u->key);
  output_str(o, "{\"ms\": ");
  output_double(o, u->ms);
  output_str(o, "}");
}

static void head(const RunResult *r, Output *o) {
  report_json_text(o, "stampede", STAMPEDE_VERSION);
  report_json_text(o, "command", r->command);
  report_json_text(o, "scenario", r->scenario);
  if (r->point) report_json_text(o, "point", r->point);
  report_json_uint(o, "seed", r->seed);
  report_json_text(o, "subject", r->subject);
  report_json_text(o, "profile", r->profile);
  report_json_text(o, "verdict", run_verdict_word(r->verdict));
  if (r->stopped) report_json_text(o, "stopped", r->stopped);
  if (r->caveat) report_json_text(o, "caveat", r->caveat);
}

/* What came of the run as a whole. */
static void totals(const RunResult *r, Output *o) {
  char hash[33];
  trace_hash_text(r->state_hash, hash);
  report_json_uint(o, "events", r->events);
  report_json_uint(o, "ties", r->ties);
  report_json_uint(o, "steps", r->steps);
  report_json_uint(o, "judged", MIN(r->judged, r->steps));
  output_key(o, "virtual_ms");
  output_double(o, (double)r->virtual_ns / 1e6);
  output_str(o, ",\n  ");
  report_json_text(o, "state_hash", hash);
}

void report_json(const RunResult *r, Output *o) {
  output_str(o, "{\n  ");
  head(r, o);
  rows(o, "checks", "[]", r->checks->len, check_row, r);
  rows(o, "expectations", "[]", r->expectations->len, expectation_row, r);
  rows(o, "metrics", "{}", r->metrics->len, metric_row, r);
  rows(o, "hotspots", "[]", r->hotspots->len, hot_spot_row, r);
  if (r->stacks->len) rows(o, "stacks", "[]", r->stacks->len, stack_row, r);
  rows(o, "unexplained", "{}", r->unexplained->len, unexplained_row, r);
  totals(r, o);
  output_str(o, "\"measured\": {\"wall_ms\": ");
  output_double(o, r->wall_ms);
  output_str(o, ", \"events_per_s\": ");
  output_double(o, r->wall_ms > 0 ? (double)r->events / r->wall_ms * 1e3 : 0);
  output_str(o, ", \"peak_rss_mb\": ");
  output_double(o, r->peak_rss_mb);
  if (r->start_ms > 0) output_str(o, ", \"start_ms\": "), output_double(o, r->start_ms);
  if (r->last_words) output_str(o, ", \"last_words\": "), output_nullable(o, r->last_words);
  output_str(o, "}\n}\n");
}
