/* compare.c - see compare.h: from results to cases, their verdicts, gates and the exit status. */
#include "sim/compare.h"
#include "sim/compare_parts.h"
#include "sim/expect.h"
#include "sim/metrics.h"
#include <string.h>

const char *compare_verdict_word(CompareVerdict v) {
  static const char *const words[] = {"better", "same", "worse", "broken", "incomplete"};
  return words[v];
}

/* ---- results ---- */

static const RunResult *result_at(const SweepPlan *p, const GPtrArray *results, guint combination, Side side,
                                  guint seed) {
  return results->pdata[sweep_point(p, combination, side, seed)];
}

const RunResult *compare_result(const CompareInput *in, const ComparedCase *c, Side side, guint seed) {
  return result_at(in->plan, in->results, c->combination, side, seed);
}

bool compare_alone(const SweepPlan *p, const GPtrArray *results, guint combination) {
  const RunResult *b = result_at(p, results, combination, SIDE_BASELINE, 0),
                  *q = result_at(p, results, combination, SIDE_PATCH, 0);
  return b && q && !b->seeded && !q->seeded && !b->real_clock && !q->real_clock;
}

/* Did it end before its time? Then it measured only a part. */
static bool cut_short(const RunResult *r) {
  return r->stopped && !r->limited;
}

bool compare_pair(const CompareInput *in, const ComparedCase *c, guint seed, const RunResult *pair[SIDES]) {
  for (Side s = 0; s < SIDES; s++) {
    pair[s] = compare_result(in, c, s, seed);
    if (!pair[s] || cut_short(pair[s])) return false;
  }
  return true;
}

static bool values_of(const CompareInput *in, const ComparedCase *c, guint seed, const char *metric,
                      double value[SIDES]) {
  const RunResult *pair[SIDES];
  return compare_pair(in, c, seed, pair) && run_result_metric(pair[SIDE_BASELINE], metric, &value[SIDE_BASELINE]) &&
         run_result_metric(pair[SIDE_PATCH], metric, &value[SIDE_PATCH]);
}

bool compare_means(const CompareInput *in, const ComparedCase *c, const char *metric, double mean[SIDES]) {
  double sum[SIDES] = {0, 0}, value[SIDES];
  guint n = 0;
  for (guint seed = 0; seed < c->plan->seeds; seed++) {
    if (!values_of(in, c, seed, metric, value)) continue;
    for (Side s = 0; s < SIDES; s++) sum[s] += value[s];
    n++;
  }
  for (Side s = 0; s < SIDES && n; s++) mean[s] = sum[s] / n;
  return n > 0;
}

/* ---- the metric that decides ---- */

static const char *choose_metric(const CompareInput *in, const ComparedCase *c) {
  static const char *const usual[] = {"warm.connect_ms",     "first.connect_ms",     "wait_ms.p95",    "wait_ms.mean",
                                      "warm.latency_avg_ms", "first.latency_avg_ms", "latency_avg_ms", "cancel.ms.p95"};
  double mean[SIDES];
  if (in->metric) return compare_means(in, c, in->metric, mean) ? in->metric : NULL;
  for (guint i = 0; i < G_N_ELEMENTS(usual); i++)
    if (compare_means(in, c, usual[i], mean)) return usual[i];
  return NULL;
}

static void measure_pairs(const CompareInput *in, ComparedCase *c) {
  for (guint seed = 0; c->metric && seed < c->plan->seeds; seed++) {
    ComparedPair p = {.seed = c->plan->seed + seed};
    if (values_of(in, c, seed, c->metric, p.value)) g_array_append_val(c->pairs, p);
  }
  g_assert(!c->metric || c->pairs->len);
}

/* ---- how sure ---- */

static void judge_figures(ComparedCase *c, const CompareInput *in) {
  const guint n = c->pairs->len;
  g_autofree double *old = g_new(double, n), *new = g_new(double, n);
  c->relative = true;
  for (guint i = 0; i < n; i++) {
    const ComparedPair *p = &g_array_index(c->pairs, ComparedPair, i);
    old[i] = p->value[SIDE_BASELINE];
    new[i] = p->value[SIDE_PATCH];
    c->relative &= p->value[SIDE_BASELINE] > 0;
  }
  c->interval = bootstrap_paired(old, new, n, c->relative ? BOOTSTRAP_RATIO : BOOTSTRAP_DIFFERENCE, c->plan->seed);
  c->has_effect = bootstrap_effect(old, new, n, &c->effect);
  const double margin = c->relative ? in->threshold : in->threshold * c->mean[SIDE_BASELINE], low = c->interval.low,
               high = c->interval.high;
  const bool more = low > margin, less = high < -margin, within = low >= -margin && high <= margin;
  c->settled = (more || less || within) && (n > 1 || c->alone);
  c->verdict = more == less ? COMPARED_SAME : more == c->higher ? COMPARED_BETTER : COMPARED_WORSE;
}

/* ---- the verdict ---- */

static bool violated(const ComparedCheck *k, Side side) {
  return k->verdict[side] == CHECK_VIOLATED;
}

/* The first check that is violated on `side` alone. */
static const ComparedCheck *find_violated(const ComparedCase *c, Side side) {
  for (guint i = 0; i < c->checks->len; i++) {
    const ComparedCheck *k = &g_array_index(c->checks, ComparedCheck, i);
    if (violated(k, side) && !violated(k, !side)) return k;
  }
  return NULL;
}

/* A run that no check ended, and that ended early all the same: a deadlock. */
static const RunResult *find_stuck(const CompareInput *in, const ComparedCase *c, Side side) {
  for (guint seed = 0; seed < c->plan->seeds; seed++) {
    const RunResult *r = compare_result(in, c, side, seed);
    bool broke = false;
    for (guint i = 0; r && i < r->checks->len; i++)
      broke |= g_array_index(r->checks, CheckResult, i).verdict == CHECK_VIOLATED;
    if (r && !broke && cut_short(r)) return r;
  }
  return NULL;
}

static char *violation(const ComparedCheck *k, Side side) {
  return g_strdup_printf("check %s violated with seed %" G_GUINT64_FORMAT ": %s", k->name, k->seed[side],
                         k->why[side] ? k->why[side] : "");
}

static char *early_end(const RunResult *r) {
  return g_strdup_printf("ended early with seed %" G_GUINT64_FORMAT ": %s", r->seed, r->stopped);
}

/* What only one side does. True: it decides. */
static bool judge_breakage(const CompareInput *in, ComparedCase *c, Side side) {
  const ComparedCheck *k = find_violated(c, side);
  const RunResult *stuck = find_stuck(in, c, side);
  if (!k && (!stuck || find_stuck(in, c, !side))) return false;
  g_autofree char *what = k ? violation(k, side) : early_end(stuck);
  c->verdict = side == SIDE_PATCH ? COMPARED_BROKEN : COMPARED_BETTER;
  c->why = side == SIDE_PATCH ? g_steal_pointer(&what) : g_strdup_printf("mended: on the baseline %s", what);
  return true;
}

/* Violated on both sides, and the scenario says so of either. */
static bool is_foretold(const CompareInput *in, const ComparedCase *c, const ComparedCheck *k) {
  for (Side s = 0; s < SIDES; s++) {
    const RunResult *r = compare_result(in, c, s, (guint)(k->seed[s] - c->plan->seed));
    if (!violated(k, s) || !r || !expect_foretold(r, k->name)) return false;
  }
  return true;
}

/* The first check that is violated on both sides; foretold, where there are figures to compare beside, or not. */
static const ComparedCheck *find_both(const CompareInput *in, const ComparedCase *c, bool foretold) {
  for (guint i = 0; i < c->checks->len; i++) {
    const ComparedCheck *k = &g_array_index(c->checks, ComparedCheck, i);
    bool both = violated(k, SIDE_BASELINE) && violated(k, SIDE_PATCH);
    if (both && (c->metric && is_foretold(in, c, k)) == foretold) return k;
  }
  return NULL;
}

static bool judge_both_broken(const CompareInput *in, ComparedCase *c) {
  const ComparedCheck *k = find_both(in, c, false);
  const RunResult *stuck = find_stuck(in, c, SIDE_PATCH);
  if (!k && !stuck) return false;
  g_autofree char *what = k ? violation(k, SIDE_PATCH) : early_end(stuck);
  c->verdict = COMPARED_INCOMPLETE;
  c->why = g_strdup_printf("on both sides %s", what);
  return true;
}

static bool finished_pair(const CompareInput *in, const ComparedCase *c) {
  const RunResult *pair[SIDES];
  for (guint seed = 0; seed < c->plan->seeds; seed++)
    if (compare_pair(in, c, seed, pair)) return true;
  return false;
}

static char *nothing_to_measure(const CompareInput *in, const ComparedCase *c) {
  for (Side s = 0; s < SIDES; s++) {
    const char *refused = sweep_refused(c->plan, sweep_point(c->plan, c->combination, s, 0));
    if (refused) return g_strdup_printf("%s cannot be run: %s", in->side[s], refused);
  }
  if (!finished_pair(in, c)) return g_strdup("no pair of runs has finished");
  return in->metric ? g_strdup_printf("the two sides have no %s in common", in->metric)
                    : g_strdup("no metric decides by itself here; --metric names one");
}

static void judge(const CompareInput *in, ComparedCase *c) {
  c->metric = choose_metric(in, c);
  c->higher = c->metric && metric_higher_is_better(c->metric);
  measure_pairs(in, c);
  if (c->metric) {
    compare_means(in, c, c->metric, c->mean);
    judge_figures(c, in);
  }
  if (judge_breakage(in, c, SIDE_PATCH) || judge_both_broken(in, c) || judge_breakage(in, c, SIDE_BASELINE)) return;
  const ComparedCheck *k = find_both(in, c, true);
  g_autofree char *what = k ? violation(k, SIDE_PATCH) : NULL;
  if (k) c->why = g_strdup_printf("on both sides, as the scenario expects, %s", what);
  if (c->metric) return;
  c->verdict = COMPARED_INCOMPLETE;
  c->why = nothing_to_measure(in, c);
}

/* ---- cases ---- */

/* "connect-storm clients=512" */
static char *case_name(const SweepPlan *p, guint combination) {
  GString *out = g_string_new(sweep_scenario(p, sweep_point(p, combination, 0, 0))->name);
  for (guint i = 0; i < p->keys->len; i++) {
    const SweptKey *k = p->keys->pdata[i];
    if (!k->scenarios) g_string_append_printf(out, " %s=%s", k->name, sweep_value(p, i, combination));
  }
  return g_string_free(out, FALSE);
}

static void case_free(gpointer data) {
  ComparedCase *c = data;
  g_free(c->name);
  g_free(c->why);
  g_array_unref(c->pairs);
  g_array_unref(c->checks);
  g_array_unref(c->spots);
  g_free(c);
}

static ComparedCase *case_new(const CompareInput *in, guint combination) {
  ComparedCase *c = g_new0(ComparedCase, 1);
  c->plan = in->plan;
  c->combination = combination;
  c->name = case_name(c->plan, combination);
  c->alone = compare_alone(c->plan, in->results, combination);
  c->pairs = g_array_new(FALSE, TRUE, sizeof(ComparedPair));
  c->checks = compare_checks(in, c);
  c->spots = compare_spots(in, c);
  judge(in, c);
  return c;
}

/* ---- gates ---- */

/* A gate on a metric that neither side knows is not about this case; one that a broken side lost is. */
static bool is_about(const CompareInput *in, const ComparedCase *c, const Gate *g) {
  double v;
  for (guint seed = 0; seed < c->plan->seeds; seed++)
    for (Side s = 0; s < SIDES; s++) {
      const RunResult *r = compare_result(in, c, s, seed);
      if (r && run_result_metric(r, g->metric, &v)) return true;
    }
  return false;
}

static void judge_gates(Comparison *c) {
  for (guint i = 0; i < c->in->gates->len; i++) {
    for (guint k = 0; k < c->cases->len; k++) {
      JudgedGate j = {.gate = c->in->gates->pdata[i], .of = c->cases->pdata[k]};
      if (!is_about(c->in, j.of, j.gate)) continue;
      j.judged = compare_means(c->in, j.of, j.gate->metric, j.mean);
      j.met = j.judged && gate_met(j.gate, j.mean[SIDE_BASELINE], j.mean[SIDE_PATCH]);
      g_array_append_val(c->gates, j);
    }
  }
}

Comparison *compare(const CompareInput *in) {
  Comparison *c = g_new0(Comparison, 1);
  c->in = in;
  c->cases = g_ptr_array_new_with_free_func(case_free);
  c->gates = g_array_new(FALSE, TRUE, sizeof(JudgedGate));
  for (guint i = 0; i < in->plan->combinations; i++) g_ptr_array_add(c->cases, case_new(in, i));
  judge_gates(c);
  return c;
}

void comparison_free(Comparison *c) {
  if (!c) return;
  g_ptr_array_unref(c->cases);
  g_array_unref(c->gates);
  g_free(c);
}

guint compare_count(const Comparison *c, CompareVerdict v) {
  guint n = 0;
  for (guint i = 0; i < c->cases->len; i++) n += ((ComparedCase *)c->cases->pdata[i])->verdict == v;
  return n;
}

int compare_exit(const Comparison *c) {
  bool unmet = compare_count(c, COMPARED_BROKEN) > 0, open = compare_count(c, COMPARED_INCOMPLETE) > 0;
  for (guint i = 0; i < c->gates->len; i++) {
    const JudgedGate *g = &g_array_index(c->gates, JudgedGate, i);
    unmet |= g->judged && !g->met;
    open |= !g->judged;
  }
  if (c->in->interrupted) return EXIT_INTERRUPTED;
  return unmet ? EXIT_UNMET : open ? EXIT_LIMIT : EXIT_MET;
}
