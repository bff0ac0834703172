/* result.c - the life of a result and what its verdict means. */
#include "sim/result.h"
#include <string.h>

static void clear_check(gpointer p) {
  g_free(((CheckResult *)p)->why);
}
static void clear_metric(gpointer p) {
  g_free(((Metric *)p)->name);
}
static void clear_expectation(gpointer p) {
  Expectation *e = p;
  g_free(e->text);
  g_free(e->saw);
}
static void clear_row(gpointer p) {
  HotSpotRow *h = p;
  g_free(h->structure);
  g_free(h->site);
  g_free(h->source);
  g_free(h->path);
}
static void clear_stack(gpointer p) {
  StackRow *s = p;
  g_free(s->frames);
  g_free(s->structure);
}

static GArray *array_of(guint size, GDestroyNotify clear) {
  GArray *a = g_array_new(FALSE, TRUE, size);
  g_array_set_clear_func(a, clear);
  return a;
}

RunResult *run_result_new(void) {
  RunResult *r = g_new0(RunResult, 1);
  r->lasso_from = -1;
  r->checks = array_of(sizeof(CheckResult), clear_check);
  r->expectations = array_of(sizeof(Expectation), clear_expectation);
  r->metrics = array_of(sizeof(Metric), clear_metric);
  r->hotspots = array_of(sizeof(HotSpotRow), clear_row);
  r->stacks = array_of(sizeof(StackRow), clear_stack);
  r->unexplained = g_array_new(FALSE, TRUE, sizeof(Unexplained));
  return r;
}

void run_result_free(RunResult *r) {
  if (!r) return;
  g_free(r->command);
  g_free(r->scenario);
  g_free(r->subject);
  g_free(r->profile);
  g_free(r->stopped);
  g_free(r->last_words);
  g_free(r->caveat);
  g_free(r->point);
  g_array_unref(r->checks);
  if (r->kept_checks) g_atomic_rc_box_release(r->kept_checks);
  g_array_unref(r->expectations);
  g_array_unref(r->metrics);
  g_array_unref(r->hotspots);
  g_array_unref(r->stacks);
  g_array_unref(r->unexplained);
  g_free(r);
}

bool run_result_metric(const RunResult *r, const char *name, double *value) {
  for (guint i = 0; i < r->metrics->len; i++) {
    const Metric *m = &g_array_index(r->metrics, Metric, i);
    if (strcmp(m->name, name) == 0) return *value = m->value, true;
  }
  return false;
}

const char *run_verdict_word(RunVerdict v) {
  static const char *const words[] = {"pass", "fail", "incomplete"};
  return words[v];
}

int run_result_exit(const RunResult *r) {
  if (r->interrupted) return EXIT_INTERRUPTED;
  static const int status[] = {EXIT_MET, EXIT_UNMET, EXIT_LIMIT};
  return status[r->verdict];
}

bool check_is_liveness(const Check *c) {
  return c->pending != NULL;
}

bool check_any_pending(const Check *c, const Model *m, GString *why) {
  for (guint i = 0, n = c->pending ? c->subjects(m) : 0; i < n; i++)
    if (c->pending(m, i, why)) return true;
  return false;
}

const Check *check_find(const CheckTable *t, const char *name) {
  for (guint i = 0; i < t->n; i++)
    if (strcmp(t->checks[i].name, name) == 0) return &t->checks[i];
  return NULL;
}

const char *check_verdict_word(CheckVerdict v) {
  static const char *const words[] = {"holds", "violated", "not-violated", "unknown"};
  return words[v];
}
