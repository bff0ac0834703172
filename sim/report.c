/* report.c - a result as one JSON document, as a short table for people (after perf report), as JUnit. */
#include "sim/result.h"
#include <string.h>

/* ---- JSON ---- */

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
  output_str(o, "}\n}\n");
}

/* ---- text ---- */

static const char *paint(bool color, const char *code) {
  return color ? code : "";
}

static const char *verdict_color(RunVerdict v) {
  static const char *const codes[] = {"\033[32m", "\033[31m", "\033[33m"};
  return codes[v];
}

void report_number(GString *out, int width, double v) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  bool whole = v == (double)(int64_t)v;
  g_ascii_formatd(buffer, sizeof buffer, whole ? "%.0f" : v >= 100 || v <= -100 ? "%.1f" : "%.3f", v);
  g_string_append_printf(out, "%*s", width, buffer);
}

static const char *const text_names[] = {"connect_ms",
                                         "connect_faults",
                                         "connect_faults_per_backend",
                                         "allprocs_faults",
                                         "disconnect_faults",
                                         "pgxactoff_stores",
                                         "entries_moved",
                                         "entries_moved_out",
                                         "procarray_lock_wait_ms",
                                         "procarray_lock_hold_ms",
                                         "pagetable_kib",
                                         "refused",
                                         "tps",
                                         "latency_avg_ms"};

/* first.X and warm.X side by side; a - where there is no warm one. */
static void text_metrics(const RunResult *r, GString *out) {
  bool any = false;
  for (guint i = 0; i < G_N_ELEMENTS(text_names); i++) {
    g_autofree char *first = g_strconcat("first.", text_names[i], NULL),
                    *warm = g_strconcat("warm.", text_names[i], NULL);
    double a, b;
    if (!run_result_metric(r, first, &a)) continue;
    if (!any) g_string_append(out, "                                    first          warm\n");
    any = true;
    g_string_append_printf(out, "  %-26s", text_names[i]);
    report_number(out, 13, a);
    if (run_result_metric(r, warm, &b))
      report_number(out, 14, b);
    else
      g_string_append(out, "             -");
    g_string_append_c(out, '\n');
  }
}

/* Metrics that are no iteration's: storms, pools. */
static void text_other_metrics(const RunResult *r, GString *out) {
  for (guint i = 0; i < r->metrics->len; i++) {
    const Metric *m = &g_array_index(r->metrics, Metric, i);
    if (g_str_has_prefix(m->name, "first.") || g_str_has_prefix(m->name, "warm.") ||
        g_str_has_prefix(m->name, "iteration["))
      continue;
    g_string_append_printf(out, "  %-26s", m->name);
    report_number(out, 13, m->value);
    g_string_append_c(out, '\n');
  }
}

static void text_hot_spots(const RunResult *r, GString *out, guint most) {
  if (r->hotspots->len == 0) return;
  g_string_append(out, "\n  faults      %        ms  under lock  structure                 site\n");
  for (guint i = 0; i < MIN(most, r->hotspots->len); i++) {
    const HotSpotRow *h = &g_array_index(r->hotspots, HotSpotRow, i);
    char share[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(share, sizeof share, "%.1f", h->share_of_faults * 100);
    g_string_append_printf(out, "%8" G_GINT64_FORMAT "  %5s", h->faults, share);
    report_number(out, 10, h->ms);
    report_number(out, 12, h->under_lock_ms);
    g_string_append_printf(out, h->source ? "  %-24s  %-32s  %s\n" : "  %-24s  %s\n", h->structure, h->site, h->source);
  }
}

static void text_judgements(const RunResult *r, GString *out, bool color) {
  for (guint i = 0; i < r->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    bool bad = c->verdict == CHECK_VIOLATED;
    g_string_append_printf(out, "  check %-24s %s%s%s", c->check->name, paint(color && bad, "\033[31m"),
                           check_verdict_word(c->verdict), paint(color && bad, "\033[0m"));
    if (c->step >= 0) g_string_append_printf(out, " after step %" G_GINT64_FORMAT, c->step);
    if (c->why) g_string_append_printf(out, ": %s", c->why);
    g_string_append_c(out, '\n');
  }
  if (r->checks->len && r->judged < r->steps)
    g_string_append_printf(out, "  judged after %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " steps\n", r->judged,
                           r->steps);
  for (guint i = 0; i < r->expectations->len; i++) {
    const Expectation *e = &g_array_index(r->expectations, Expectation, i);
    g_string_append_printf(out, "  %s %s (saw %s)\n",
                           e->met      ? "met    "
                           : e->judged ? "NOT MET"
                                       : "not judged",
                           e->text, e->saw);
  }
}

void report_text(const RunResult *r, GString *out, bool color, guint hot_spots) {
  g_string_append_printf(out, "stampede %s  %s %s  seed %" G_GUINT64_FORMAT "  subject %s\n", STAMPEDE_VERSION,
                         r->command, r->scenario, r->seed, r->subject);
  if (strcmp(r->command, "live") == 0)
    g_string_append_printf(out, "a real pooler between simulated clients and servers, on a %s clock\n\n",
                           r->real_clock ? "real" : "virtual");
  else
    g_string_append_printf(out, "simulated, with the costs of profile %s\n\n", r->profile);
  text_metrics(r, out);
  text_other_metrics(r, out);
  text_hot_spots(r, out, hot_spots);
  if (r->checks->len + r->expectations->len) g_string_append_c(out, '\n');
  text_judgements(r, out, color);
  for (guint i = 0; i < r->unexplained->len; i++) {
    const Unexplained *u = &g_array_index(r->unexplained, Unexplained, i);
    g_string_append_printf(out, "\n  uses %s = ", u->key);
    report_number(out, 1, u->ms);
    g_string_append(out, " ms, which no mechanism explains\n");
  }
  if (r->stopped) g_string_append_printf(out, "\n  ended early: %s\n", r->stopped);
  if (r->caveat) g_string_append_printf(out, "\n  %s\n", r->caveat);
  g_string_append_printf(out, "\n%s%s%s  ", paint(color, verdict_color(r->verdict)), run_verdict_word(r->verdict),
                         paint(color, "\033[0m"));
  report_number(out, 1, (double)r->virtual_ns / 1e6);
  g_string_append_printf(out, " %s ms, %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT " ties\n",
                         r->real_clock ? "real" : "virtual", r->events, r->ties);
}

/* ---- JUnit ---- */

static void xml(Output *o, const char *s) {
  g_autofree char *escaped = g_markup_escape_text(s, -1);
  output_str(o, escaped);
}

typedef enum { CASE_PASSED, CASE_FAILED, CASE_SKIPPED } CaseEnd;

static void junit_case(Output *o, const RunResult *r, const char *name, CaseEnd end, const char *message) {
  output_str(o, "    <testcase classname=\"");
  xml(o, r->scenario);
  output_str(o, "\" name=\"");
  xml(o, name);
  output_str(o, "\">");
  if (end != CASE_PASSED) {
    output_str(o, end == CASE_FAILED ? "<failure message=\"" : "<skipped message=\"");
    xml(o, message);
    output_str(o, "\"/>");
  }
  output_str(o, "</testcase>\n");
}

/* The text of an expectation on a check is its name, a blank, the verdict. */
static bool expected_of(const RunResult *r, const Check *c) {
  gsize n = strlen(c->name);
  for (guint i = 0; i < r->expectations->len; i++) {
    const char *words = g_array_index(r->expectations, Expectation, i).text;
    if (strncmp(words, c->name, n) == 0 && words[n] == ' ') return true;
  }
  return false;
}

static void junit_result(Output *o, const RunResult *r) {
  for (guint i = 0; i < r->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    bool failed = c->verdict == CHECK_VIOLATED && !expected_of(r, c->check);
    junit_case(o, r, c->check->name, failed ? CASE_FAILED : CASE_PASSED, c->why ? c->why : "violated");
  }
  for (guint i = 0; i < r->expectations->len; i++) {
    const Expectation *e = &g_array_index(r->expectations, Expectation, i);
    g_autofree char *message = g_strdup_printf("saw %s", e->saw);
    junit_case(o, r, e->text, !e->judged ? CASE_SKIPPED : e->met ? CASE_PASSED : CASE_FAILED, message);
  }
  bool open = r->verdict == RUN_INCOMPLETE;
  junit_case(o, r, "run", open ? CASE_FAILED : CASE_PASSED, r->stopped ? r->stopped : "incomplete");
}

void report_junit(const RunResult *const *results, guint n, Output *o) {
  output_str(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
  for (guint i = 0; i < n; i++) {
    output_str(o, "  <testsuite name=\"");
    xml(o, results[i]->scenario);
    output_str(o, "\">\n");
    junit_result(o, results[i]);
    output_str(o, "  </testsuite>\n");
  }
  output_str(o, "</testsuites>\n");
}
