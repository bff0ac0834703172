/* expect.c - see expect.h. */
#include "sim/expect.h"
#include "sim/own_checks.h"
#include <string.h>

static char *key_of(guint i, const char *member) {
  return g_strdup_printf("expect[%u].%s", i, member);
}

static const char *word_of(const Scenario *s, guint i, const char *member) {
  g_autofree char *key = key_of(i, member);
  return scenario_given(s, key) ? scenario_word(s, key) : NULL;
}

static bool is_live(const char *way) {
  return g_str_has_prefix(way, "live");
}

static bool is_orders(const char *way) {
  return strcmp(way, EXPECT_LIVE_ORDERS) == 0;
}

bool expect_judged_by(const Scenario *s, guint i, const char *way) {
  g_autofree char *by = key_of(i, "by");
  guint n = scenario_count(s, by);
  for (guint j = 0; j < n; j++) {
    g_autofree char *key = g_strdup_printf("%s[%u]", by, j);
    if (strcmp(scenario_word(s, key), is_live(way) ? "live" : way) == 0) return true;
  }
  return n == 0;
}

static char *number_text(double v) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup(g_ascii_formatd(buffer, sizeof buffer, "%.10g", v));
}

/* ---- one line ---- */

/* How a result names what line i asks for: of one pool, over a part of the run. */
static char *metric_name(const Scenario *s, guint i) {
  g_autofree char *of = key_of(i, "of"), *from = key_of(i, "during[0]"), *to = key_of(i, "during[1]");
  const char *metric = word_of(s, i, "metric");
  GString *name = g_string_new(NULL);
  if (scenario_given(s, of)) g_string_append_printf(name, "%s.", scenario_word(s, of));
  g_string_append(name, metric);
  if (scenario_given(s, from))
    g_string_append_printf(name, " during [%s, %s]", scenario_word(s, from), scenario_word(s, to));
  return g_string_free(name, FALSE);
}

void expect_measure(const Scenario *s, const Model *m, RunResult *r) {
  for (guint i = 0, n = scenario_count(s, "expect"); i < n && m->pooler; i++) {
    g_autofree char *of = key_of(i, "of"), *from = key_of(i, "during[0]"), *to = key_of(i, "during[1]");
    if (!word_of(s, i, "metric")) continue;
    Metric x = {metric_name(s, i), 0};
    const bool part = scenario_given(s, from);
    if (run_result_metric(r, x.name, &x.value) ||
        !pooler_metric(m->pooler, word_of(s, i, "metric"), scenario_given(s, of) ? scenario_word(s, of) : NULL,
                       part ? scenario_ns(s, from) : 0, part ? scenario_ns(s, to) : -1, &x.value))
      g_free(x.name);
    else
      g_array_append_val(r->metrics, x);
  }
}

static bool judge_metric(const Scenario *s, guint i, const RunResult *r, const char *way, Expectation *e,
                         GError **error) {
  g_autofree char *metric = metric_name(s, i);
  g_autofree char *lo_key = key_of(i, "within[0]"), *hi_key = key_of(i, "within[1]"), *key = key_of(i, "metric");
  double lo = scenario_number(s, lo_key), hi = scenario_number(s, hi_key), v;
  g_autofree char *lo_text = number_text(lo), *hi_text = number_text(hi);
  e->text = g_strdup_printf("%s within [%s, %s]", metric, lo_text, hi_text);
  if (!e->judged) return e->saw = g_strdup("judged by another way"), true;
  if (is_orders(way)) return e->judged = false, e->saw = g_strdup("nothing: each order has its own"), true;
  if (run_result_metric(r, metric, &v)) {
    e->met = lo <= v && v <= hi;
    e->saw = number_text(v);
    return true;
  }
  e->judged = false;
  e->saw = g_strdup(is_live(way) ? "nothing: live does not see it" : "nothing: the run ended before");
  if (r->stopped || r->limited || is_live(way)) return true;
  GError *problem = scenario_complain(s, key, "this run has no metric %s%s", metric,
                                      g_str_has_prefix(metric, "warm.") ? "; warm needs three warm iterations" : "");
  g_propagate_error(error, problem);
  return false;
}

static bool is_explored(const char *way) {
  return strcmp(way, "check") == 0;
}

/* One run cannot show that a check holds; an exploration can. */
static bool verdict_meets(const char *wanted, CheckVerdict v, bool explored) {
  const char *saw = check_verdict_word(v);
  if (!explored && strcmp(wanted, "holds") == 0) wanted = "not-violated";
  return strcmp(wanted, saw) == 0 || (strcmp(wanted, "not-violated") == 0 && v == CHECK_HOLDS);
}

/* An exploration that ended at a limit, or is not of the kind that can exhaust, says nothing against what it did not
 * see. */
static bool is_open(const char *wanted, CheckVerdict v, const char *way, const RunResult *r) {
  if ((!is_explored(way) && !is_orders(way)) || v != CHECK_NOT_VIOLATED) return false;
  return (is_explored(way) && strcmp(wanted, "holds") == 0) || (r->limited && strcmp(wanted, "violated") == 0);
}

static bool broke(const RunResult *r) {
  for (guint i = 0; i < r->checks->len; i++)
    if (g_array_index(r->checks, CheckResult, i).verdict == CHECK_VIOLATED) return true;
  return false;
}

static char *line_of(const char *check, const char *wanted) {
  return g_strdup_printf("%s %s", check, wanted);
}

static void judge_check(const Scenario *s, guint i, const char *check, const char *way, const RunResult *r,
                        Expectation *e) {
  const char *wanted = word_of(s, i, "verdict");
  e->text = line_of(check, wanted);
  for (guint j = 0; j < r->checks->len; j++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, j);
    if (strcmp(c->check->name, check) != 0) continue;
    if (is_open(wanted, c->verdict, way, r) || (is_live(way) && c->verdict == CHECK_UNKNOWN)) e->judged = false;
    e->met = e->judged && verdict_meets(wanted, c->verdict, is_explored(way));
    e->saw = g_strdup(check_verdict_word(c->verdict));
  }
  g_assert(e->saw);
}

bool expect_foretold(const RunResult *r, const char *check) {
  g_autofree char *line = line_of(check, check_verdict_word(CHECK_VIOLATED));
  for (guint i = 0; i < r->expectations->len; i++) {
    const Expectation *e = &g_array_index(r->expectations, Expectation, i);
    if (e->met && strcmp(e->text, line) == 0) return true;
  }
  return false;
}

/* ---- the verdict ---- */

static bool expected(const Scenario *s, const char *check) {
  for (guint i = 0, n = scenario_count(s, "expect"); i < n; i++)
    if (g_strcmp0(word_of(s, i, "check"), check) == 0) return true;
  return false;
}

/* A broken expectation or an unexpected violation fails; one that could not be judged leaves the run incomplete. */
static RunVerdict verdict_of(const Scenario *s, const RunResult *r, const char *way) {
  bool open = r->interrupted || (r->stopped && !broke(r));
  bool unseen = is_live(way) && !r->limited; /* what live cannot observe is listed, and does not count */
  for (guint i = 0; i < r->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    if (c->verdict == CHECK_VIOLATED && !expected(s, c->check->name)) return RUN_FAIL;
  }
  for (guint i = 0; i < r->expectations->len; i++) {
    const Expectation *e = &g_array_index(r->expectations, Expectation, i);
    if (e->judged && !e->met) return RUN_FAIL;
    if (!e->judged && !unseen && expect_judged_by(s, i, way)) open = true;
  }
  if (r->stopped && !r->interrupted && !r->limited && !broke(r))
    return RUN_FAIL; /* a deadlock, or a process that loops */
  return open ? RUN_INCOMPLETE : RUN_PASS;
}

bool expect_judge(const Scenario *s, const char *way, RunResult *r, GError **error) {
  g_array_set_size(r->expectations, 0);
  for (guint i = 0, n = scenario_count(s, "expect"); i < n; i++) {
    Expectation e = {.judged = expect_judged_by(s, i, way)};
    const char *metric = word_of(s, i, "metric"), *check = word_of(s, i, "check");
    bool ok = true;
    if (metric)
      ok = judge_metric(s, i, r, way, &e, error);
    else
      judge_check(s, i, check, way, r, &e);
    g_array_append_val(r->expectations, e);
    if (!ok) return false;
  }
  r->verdict = verdict_of(s, r, way);
  return true;
}

/* ---- which checks ---- */

static const Check *find(const Model *m, const CheckTable *table, const char *name) {
  CheckTable own = own_checks(m);
  const Check *c = check_find(&own, name);
  return c ? c : check_find(table, name);
}

static void add_once(RunResult *r, const Check *check) {
  for (guint i = 0; i < r->checks->len; i++)
    if (g_array_index(r->checks, CheckResult, i).check == check) return;
  CheckResult c = {.check = check, .verdict = CHECK_NOT_VIOLATED, .step = -1};
  g_array_append_val(r->checks, c);
}

static bool add_named(const Scenario *s, const Model *m, const CheckTable *table, const char *key, RunResult *r,
                      GError **error) {
  const char *name = scenario_word(s, key);
  const Check *check = find(m, table, name);
  if (check)
    add_once(r, check);
  else
    g_propagate_error(error, scenario_complain(s, key, "neither a check nor one of the model's own: %s", name));
  return check != NULL;
}

/* What a scenario asks for in other words is asked for: an empty list is one. */
static bool asks_nothing(const Scenario *s) {
  return !scenario_given(s, "checks") && !scenario_count(s, "checks") && !scenario_count(s, "expect");
}

/* Those that this code cannot show would say nothing. */
static void add_unasked(const Model *m, const CheckTable *table, RunResult *r) {
  for (guint i = 0; i < table->n; i++) {
    g_autoptr(GString) why = g_string_new(NULL);
    const Check *c = &table->checks[i];
    if (c->unasked && c->judge(m, why) != JUDGED_BLIND) add_once(r, c);
  }
}

bool expect_checks(const Scenario *s, const Model *m, const CheckTable *table, RunResult *r, GError **error) {
  for (guint i = 0, n = scenario_count(s, "checks"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("checks[%u]", i);
    if (!add_named(s, m, table, key, r, error)) return false;
  }
  for (guint i = 0, n = scenario_count(s, "expect"); i < n; i++) {
    g_autofree char *key = key_of(i, "check");
    if (scenario_given(s, key) && !add_named(s, m, table, key, r, error)) return false;
  }
  if (m->plain && m->server && asks_nothing(s)) add_unasked(m, table, r);
  CheckTable own = own_checks(m);
  for (guint i = 0; i < own.n; i++) add_once(r, &own.checks[i]);
  r->kept_checks = own_checks_keep(m);
  return true;
}
