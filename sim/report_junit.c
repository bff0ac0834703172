/* report_junit.c - results as JUnit: a suite each, a case for each check and expectation. */
#include "sim/result.h"
#include <string.h>

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
