/* report_text.c - a result as a short table for people, after perf report. */
#include "sim/result.h"
#include <string.h>

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

static void text_hot_spot(const HotSpotRow *h, GString *out) {
  char share[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(share, sizeof share, "%.1f", h->share_of_faults * 100);
  g_string_append_printf(out, "%8" G_GINT64_FORMAT "  %5s", h->faults, share);
  report_number(out, 10, h->ms);
  report_number(out, 12, h->under_lock_ms);
  g_string_append_printf(out, h->source ? "  %-24s  %-32s  %s\n" : "  %-24s  %s\n", h->structure, h->site, h->source);
}

/* What costs neither faults nor time that could be read here is no hot spot. */
static void text_hot_spots(const RunResult *r, GString *out, guint most) {
  guint shown = 0;
  for (guint i = 0; i < r->hotspots->len && shown < most; i++) {
    const HotSpotRow *h = &g_array_index(r->hotspots, HotSpotRow, i);
    if (h->faults == 0 && h->ms < 0.0005) continue;
    if (!shown++) g_string_append(out, "\n  faults      %        ms  under lock  structure                 site\n");
    text_hot_spot(h, out);
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
  if (r->stopped) g_string_append_printf(out, "\n  ended early: %s", r->stopped);
  if (r->stopped && r->last_words) g_string_append_printf(out, "; its last words:\n%s", r->last_words);
  if (r->stopped) g_string_append_c(out, '\n');
  if (r->caveat) g_string_append_printf(out, "\n  %s\n", r->caveat);
  g_string_append_printf(out, "\n%s%s%s  ", paint(color, verdict_color(r->verdict)), run_verdict_word(r->verdict),
                         paint(color, "\033[0m"));
  report_number(out, 1, (double)r->virtual_ns / 1e6);
  g_string_append_printf(out, " %s ms, %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT " ties\n",
                         r->real_clock ? "real" : "virtual", r->events, r->ties);
}
