/* compare_words.c - what the table for people and the Markdown both say of a case. */
#include "sim/compare_report.h"
#include <string.h>

enum { TOLD = 100, MOVED = 20 }; /* a spot is told from a hundredth of all time or faults on, a change of a twentieth */

static char *formatted(const char *format, double v) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup(g_ascii_formatd(text, sizeof text, format, v));
}

char *compare_number(double v) {
  GString *out = g_string_new(NULL);
  report_number(out, 1, v);
  return g_string_free(out, FALSE);
}

/* No "-0.00": what rounds to nothing has no direction. */
static char *percent_digits(double share) {
  const double percent = share * 100;
  return percent > -0.005 && percent < 0.005 ? g_strdup("0.00") : formatted("%+.2f", percent);
}

/* "+2.10 %" */
static char *percent_words(double share) {
  g_autofree char *digits = percent_digits(share);
  return g_strconcat(digits, " %", NULL);
}

/* ---- the change and how sure it is ---- */

static bool has_change(const ComparedCase *c) {
  return c->metric && c->pairs->len > 0;
}

char *compare_change_words(const ComparedCase *c) {
  if (!has_change(c)) return g_strdup("-");
  if (c->relative) return percent_words(c->interval.value);
  g_autofree char *number = compare_number(c->interval.value);
  return g_strconcat(c->interval.value > 0 ? "+" : "", number, NULL);
}

char *compare_interval_words(const ComparedCase *c) {
  if (!has_change(c)) return g_strdup("-");
  if (c->alone) return g_strdup("zero variance: one run says it");
  if (c->pairs->len == 1) return g_strdup("one seed: unknown");
  if (!(c->interval.low < c->interval.high)) return g_strdup("zero variance");
  g_autofree char *low = c->relative ? percent_digits(c->interval.low) : compare_number(c->interval.low),
                  *high = c->relative ? percent_digits(c->interval.high) : compare_number(c->interval.high),
                  *level = formatted("%.0f", c->interval.level * 100);
  const bool full = c->interval.level >= 0.95;
  return g_strdup_printf("[%s, %s]%s%s%s%s", low, high, c->relative ? " %" : "", full ? "" : " at ", full ? "" : level,
                         full ? "" : " %");
}

char *compare_effect_words(const ComparedCase *c) {
  return c->metric && c->has_effect ? formatted("%+.1f", c->effect) : g_strdup("-");
}

/* ---- gates, checks, hot spots ---- */

char *compare_gate_words(const JudgedGate *g) {
  if (!g->judged) return g_strdup_printf("%s  %s: a side has no %s", g->gate->text, g->of->name, g->gate->metric);
  const double b = g->mean[SIDE_BASELINE], p = g->mean[SIDE_PATCH];
  g_autofree char *from = compare_number(b), *to = compare_number(p), *change = percent_words(b > 0 ? (p - b) / b : 0);
  return g_strdup_printf("%s  %s: %s to %s%s%s", g->gate->text, g->of->name, from, to, b > 0 ? ", " : "",
                         b > 0 ? change : "");
}

char *compare_check_words(const ComparedCase *c, const ComparedCheck *k) {
  const CheckVerdict b = k->verdict[SIDE_BASELINE], p = k->verdict[SIDE_PATCH];
  if (b == p && p != CHECK_VIOLATED) return NULL;
  if (c->why && strstr(c->why, k->name)) return NULL;
  const char *why = k->why[SIDE_PATCH] ? k->why[SIDE_PATCH] : k->why[SIDE_BASELINE];
  return g_strdup_printf("check %s: %s, with the patch %s%s%s", k->name, check_verdict_word(b), check_verdict_word(p),
                         why ? "; " : "", why ? why : "");
}

const char *compare_caveat(const Comparison *c, Side side) {
  for (guint i = 0; i < c->cases->len; i++) {
    const RunResult *r = compare_result(c->in, c->cases->pdata[i], side, 0);
    if (r && r->caveat) return r->caveat;
  }
  return NULL;
}

typedef struct {
  double faults, ms;
} Weight;

static Weight weight_of(const ComparedCase *c, Side side) {
  Weight sum = {0, 0};
  for (guint i = 0; i < c->spots->len; i++) {
    sum.faults += g_array_index(c->spots, ComparedSpot, i).faults[side];
    sum.ms += g_array_index(c->spots, ComparedSpot, i).ms[side];
  }
  return sum;
}

static bool weighs(const ComparedSpot *s, Side side, Weight all) {
  return s->ms[side] * TOLD > all.ms || s->faults[side] * TOLD > all.faults;
}

const char *compare_spot_word(const ComparedCase *c, const ComparedSpot *s) {
  const Weight before = weight_of(c, SIDE_BASELINE), after = weight_of(c, SIDE_PATCH);
  if (!s->on[SIDE_PATCH]) return weighs(s, SIDE_BASELINE, before) ? "vanished" : NULL;
  if (!s->on[SIDE_BASELINE]) return weighs(s, SIDE_PATCH, after) ? "appeared" : NULL;
  const bool had = s->faults[SIDE_BASELINE] > 0, has = s->faults[SIDE_PATCH] > 0;
  if (had && !has && weighs(s, SIDE_BASELINE, before)) return "faults no more";
  if (has && !had && weighs(s, SIDE_PATCH, after)) return "faults now";
  const double change = s->ms[SIDE_PATCH] - s->ms[SIDE_BASELINE];
  if (change * MOVED > before.ms) return "more";
  return -change * MOVED > before.ms ? "less" : NULL;
}
