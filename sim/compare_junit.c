/* compare_junit.c - a comparison for who reads JUnit: a case is a result whose expectations are that the patch does not
 * break it, and the gates. */
#include "sim/compare_report.h"

static void add_expectation(RunResult *r, char *text_taken, bool judged, bool met, char *saw_taken) {
  Expectation e = {.text = text_taken, .judged = judged, .met = met, .saw = saw_taken};
  g_array_append_val(r->expectations, e);
}

static void add_verdict(RunResult *r, const ComparedCase *c) {
  g_autofree char *change = compare_change_words(c);
  char *saw = c->why ? g_strdup_printf("%s: %s", compare_verdict_word(c->verdict), c->why)
                     : g_strdup_printf("%s: %s %s", compare_verdict_word(c->verdict), c->metric, change);
  add_expectation(r, g_strdup("not broken by the patch"), c->verdict != COMPARED_INCOMPLETE,
                  c->verdict != COMPARED_BROKEN, saw);
}

static void add_gates(RunResult *r, const Comparison *c, const ComparedCase *of) {
  for (guint i = 0; i < c->gates->len; i++) {
    const JudgedGate *g = &g_array_index(c->gates, JudgedGate, i);
    if (g->of == of) add_expectation(r, g_strdup(g->gate->text), g->judged, g->met, compare_gate_words(g));
  }
}

static RunResult *result_of(const Comparison *c, const ComparedCase *k) {
  RunResult *r = run_result_new();
  r->scenario = g_strdup(k->name);
  r->verdict = k->verdict == COMPARED_INCOMPLETE ? RUN_INCOMPLETE : RUN_PASS;
  if (r->verdict == RUN_INCOMPLETE) r->stopped = g_strdup(k->why);
  add_verdict(r, k);
  add_gates(r, c, k);
  return r;
}

void compare_junit(const CompareReport *r, Output *o) {
  const Comparison *c = r->comparison;
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
  for (guint i = 0; i < c->cases->len; i++) g_ptr_array_add(all, result_of(c, c->cases->pdata[i]));
  report_junit((const RunResult *const *)all->pdata, all->len, o);
}
