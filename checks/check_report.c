/* check_report.c - an exploration told: JSON and text. */
#include "checks/check_run.h"
#include "checks/reduce.h"
#include <string.h>

static const char *strategy_word(Strategy s) {
  static const char *const words[] = {"bfs", "dfs", "random", "pct"};
  return words[s];
}

static const CheckPath *path_of(const CheckReport *r, gint check) {
  for (guint i = 0; i < r->paths->len; i++) {
    const CheckPath *p = r->paths->pdata[i];
    if (p->finding ? p->finding->check == check : check == G_MAXINT) return p;
  }
  return NULL;
}

static double per(uint64_t n, double d) {
  return d > 0 ? (double)n / d : 0;
}
static double bytes_a_state(const CheckReport *r) {
  return per(r->search->store_bytes, (double)r->search->states);
}

/* ---- JSON ---- */

static void next(Output *o) {
  output_str(o, ",\n  ");
}
static void real(Output *o, const char *name, double value) {
  output_key(o, name);
  output_double(o, value);
}

/* Where the round of a lasso begins; null: it is none. */
static void lasso(Output *o, const CheckPath *p) {
  output_str(o, ", ");
  output_key(o, "lasso_from");
  if (p && p->finding && p->finding->lasso_from >= 0)
    output_uint(o, (uint64_t)p->finding->lasso_from);
  else
    output_str(o, "null");
}

static void check_row(Output *o, const CheckReport *r, gint check, const char *name, const char *verdict,
                      const char *why) {
  const CheckPath *p = path_of(r, check);
  output_str(o, "{");
  output_key(o, "name");
  output_string(o, name);
  output_str(o, ", ");
  output_key(o, "verdict");
  output_string(o, verdict);
  output_str(o, ", ");
  output_key(o, "steps");
  if (p)
    output_uint(o, p->steps);
  else
    output_str(o, "null");
  output_str(o, ", ");
  output_key(o, "trace");
  output_nullable(o, p ? p->trace : NULL);
  lasso(o, p);
  if (why) {
    output_str(o, ", ");
    output_key(o, "why");
    output_string(o, why);
  }
  output_str(o, "}");
}

/* The deadlock stands beside the checks, as one of its own. */
static void check_rows(Output *o, const CheckReport *r) {
  output_key(o, "checks");
  output_str(o, "[\n    ");
  for (guint i = 0; i < r->run->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->run->checks, CheckResult, i);
    check_row(o, r, (gint)i, c->check->name, check_verdict_word(c->verdict), c->why);
    output_str(o, ",\n    ");
  }
  const CheckPath *p = path_of(r, -1);
  const char *verdict = p ? "violated" : r->search->exhausted ? "holds" : "not-violated";
  check_row(o, r, -1, "deadlock", verdict, p ? p->finding->why : NULL);
  output_str(o, "\n  ]");
  next(o);
}

static void expectation_rows(Output *o, const CheckReport *r) {
  output_key(o, "expectations");
  output_str(o, "[");
  for (guint i = 0; i < r->run->expectations->len; i++) {
    output_str(o, i ? ",\n    " : "\n    ");
    report_json_expectation(o, &g_array_index(r->run->expectations, Expectation, i));
  }
  output_str(o, "]");
  next(o);
}

static void counterexamples(Output *o, const CheckReport *r) {
  output_key(o, "counterexamples");
  output_str(o, "[");
  for (guint i = 0; i < r->paths->len; i++) {
    const CheckPath *p = r->paths->pdata[i];
    if (!p->finding) continue;
    output_str(o, i ? ",\n    {" : "\n    {");
    output_key(o, "signature");
    output_string(o, p->finding->signature);
    output_str(o, ", ");
    output_key(o, "steps");
    output_uint(o, p->steps);
    output_str(o, ", ");
    output_key(o, "trace");
    output_nullable(o, p->trace);
    lasso(o, p);
    output_str(o, "}");
  }
  output_str(o, "]");
  next(o);
}

static void names(Output *o, const char *name, const GPtrArray *list) {
  output_key(o, name);
  output_strings(o, (const char *const *)list->pdata, list->len);
  next(o);
}

static void metrics(Output *o, const CheckReport *r) {
  output_key(o, "metrics");
  output_str(o, "{");
  for (guint i = 0; i < r->run->metrics->len; i++) {
    const Metric *m = &g_array_index(r->run->metrics, Metric, i);
    output_str(o, i ? ",\n    " : "\n    ");
    real(o, m->name, m->value);
  }
  output_str(o, "}");
  next(o);
}

static void head(Output *o, const CheckReport *r) {
  output_str(o, "{\n  ");
  report_json_text(o, "stampede", STAMPEDE_VERSION);
  report_json_text(o, "command", r->run->command);
  report_json_text(o, "scenario", r->run->scenario);
  report_json_uint(o, "seed", r->run->seed);
  report_json_text(o, "subject", r->run->subject);
  report_json_text(o, "profile", r->run->profile);
  report_json_text(o, "time", r->time);
  report_json_text(o, "strategy", strategy_word(r->options.strategy));
  report_json_text(o, "store", store_word(r->options.store));
  report_json_text(o, "verdict", run_verdict_word(r->run->verdict));
  report_json_text(o, "stopped", search_stop_words(r->search->stop));
}

static void counts(Output *o, const CheckReport *r) {
  const SearchResult *s = r->search;
  report_json_uint(o, "states", s->states);
  report_json_uint(o, "transitions", s->transitions);
  report_json_uint(o, "depth", s->depth);
  output_key(o, "exhausted");
  output_str(o, s->exhausted ? "true" : "false");
  next(o);
  real(o, "bytes_per_state", bytes_a_state(r));
  next(o);
  report_json_uint(o, "vector_bits", s->vector_bits);
  real(o, "omission", s->omission);
  next(o);
  report_json_uint(o, "waits_for_a_limit", s->waits_limit);
  output_key(o, "reductions");
  output_str(o, "[");
  for (guint i = 0; reduce_word(r->options.reduce, i); i++) {
    output_str(o, i ? ", " : "");
    output_string(o, reduce_word(r->options.reduce, i));
  }
  output_str(o, "]");
  next(o);
}

/* Of checks of liveness: were rounds looked for, and in what. */
static void rounds(Output *o, const CheckReport *r) {
  const SearchResult *s = r->search;
  output_str(o, "\"rounds\": {");
  output_key(o, "looked_for");
  output_str(o, s->loops ? "true, " : "false, ");
  output_key(o, "edges");
  output_uint(o, s->graph_edges);
  output_str(o, ", ");
  output_key(o, "bytes");
  output_uint(o, s->graph_bytes);
  output_str(o, "}");
  next(o);
}

void check_report_json(const CheckReport *r, Output *o) {
  head(o, r);
  counts(o, r);
  rounds(o, r);
  check_rows(o, r);
  counterexamples(o, r);
  expectation_rows(o, r);
  metrics(o, r);
  names(o, "done", r->search->seen);
  names(o, "never", r->never);
  output_str(o, "\"measured\": {");
  real(o, "seconds", r->search->seconds);
  output_str(o, ", ");
  real(o, "states_per_s", per(r->search->states, r->search->seconds));
  output_str(o, ", ");
  real(o, "transitions_per_s", per(r->search->transitions, r->search->seconds));
  output_str(o, ", ");
  real(o, "peak_rss_mb", r->peak_rss_mb);
  output_str(o, "}\n}\n");
}

/* ---- text ---- */

static void text_lasso(const CheckPath *p, GString *out) {
  if (!p || !p->finding || p->finding->lasso_from < 0) return;
  g_string_append_printf(out, ", the last %u for ever", p->steps - (guint)p->finding->lasso_from);
}

static void text_verdicts(const CheckReport *r, GString *out, bool color) {
  for (guint i = 0; i < r->run->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->run->checks, CheckResult, i);
    bool bad = c->verdict == CHECK_VIOLATED;
    g_string_append_printf(out, "  check %-28s %s%s%s", c->check->name, color && bad ? "\033[31m" : "",
                           check_verdict_word(c->verdict), color && bad ? "\033[0m" : "");
    if (bad) g_string_append_printf(out, " in %" G_GINT64_FORMAT " steps", c->step + 1);
    text_lasso(path_of(r, (gint)i), out);
    if (c->why) g_string_append_printf(out, ": %s", c->why);
    g_string_append_c(out, '\n');
  }
  if (r->run->stopped) g_string_append_printf(out, "  %s\n", r->run->stopped);
  for (guint i = 0; i < r->run->expectations->len; i++) {
    const Expectation *e = &g_array_index(r->run->expectations, Expectation, i);
    const char *word = e->met ? "met    " : e->judged ? "NOT MET" : "open   ";
    g_string_append_printf(out, "  %s %s (saw %s)\n", word, e->text, e->saw);
  }
}

/* A scenario that asks for no check finds nothing: that must not read as if all were well. */
static void text_unasked(const CheckReport *r, GString *out) {
  if (r->run->checks->len || r->run->expectations->len) return;
  g_string_append(out, "  no check is judged: the scenario names none (checks: [...]; `stampede list checks`)\n");
}

static void text_paths(const CheckReport *r, GString *out) {
  for (guint i = 0; i < r->paths->len; i++) {
    const CheckPath *p = r->paths->pdata[i];
    if (p->finding)
      g_string_append_printf(out, "\ncounterexample %u: %s, %u steps\n", i + 1, p->finding->signature, p->steps);
    else
      g_string_append_printf(out, "\n%s; for example %u steps go so:\n",
                             r->run->checks->len ? "nothing is broken" : "nothing was looked for", p->steps);
    g_string_append(out, p->words->str);
    if (p->finding) g_string_append_printf(out, "       broken: %s\n", p->finding->why);
    if (p->trace) g_string_append_printf(out, "       trace: %s\n", p->trace);
  }
}

static bool asked_for_liveness(const CheckReport *r) {
  for (guint i = 0; i < r->run->checks->len; i++)
    if (check_is_liveness(g_array_index(r->run->checks, CheckResult, i).check)) return true;
  return false;
}

static void text_rounds(const CheckReport *r, GString *out) {
  const SearchResult *s = r->search;
  if (!asked_for_liveness(r)) return;
  if (s->loops) {
    g_string_append_printf(out, "  rounds that may go on for ever were looked for: %" G_GUINT64_FORMAT " edges, ",
                           s->graph_edges);
    report_number(out, 1, (double)s->graph_bytes / 1048576);
    g_string_append(out, " MB\n");
    return;
  }
  const char *why = s->loops_stop != STOP_EXHAUSTED ? search_stop_words(s->loops_stop)
                    : s->stop != STOP_EXHAUSTED     ? "they need all states"
                                                    : "that takes --strategy bfs and --store full";
  g_string_append_printf(out, "  rounds that may go on for ever were not looked for: %s\n", why);
}

static void text_coverage(const CheckReport *r, GString *out) {
  const SearchResult *s = r->search;
  g_string_append_printf(out, "\n  %u kinds of steps were taken", s->seen->len);
  if (r->never->len) g_string_append_printf(out, "; never: ");
  for (guint i = 0; i < r->never->len; i++)
    g_string_append_printf(out, "%s%s", i ? ", " : "", (const char *)r->never->pdata[i]);
  g_string_append_c(out, '\n');
  if (s->waits_limit)
    g_string_append_printf(out,
                           "  in %" G_GUINT64_FORMAT " states nothing moves until a limit fires, which it does not "
                           "untimed (explore.fire)\n",
                           s->waits_limit);
  text_rounds(r, out);
  if (s->narrowed) g_string_append(out, "  a choice had too many answers to try them all\n");
}

static void text_counts(const CheckReport *r, GString *out) {
  const SearchResult *s = r->search;
  g_string_append_printf(out, "%s: %" G_GUINT64_FORMAT " states, %" G_GUINT64_FORMAT " transitions, depth %u; %s\n",
                         s->exhausted ? "exhausted" : "not exhausted", s->states, s->transitions, s->depth,
                         search_stop_words(s->stop));
  g_string_append_printf(out, "%s, store %s: ", strategy_word(r->options.strategy), store_word(r->options.store));
  report_number(out, 1, bytes_a_state(r));
  g_string_append_printf(out, " bytes a state (%u bits of state); ", s->vector_bits);
  report_number(out, 1, per(s->states, s->seconds));
  g_string_append(out, " states/s, ");
  report_number(out, 1, per(s->transitions, s->seconds));
  g_string_append(out, " transitions/s, peak ");
  report_number(out, 1, r->peak_rss_mb);
  g_string_append(out, " MB; reductions: ");
  for (guint i = 0; reduce_word(r->options.reduce, i); i++)
    g_string_append_printf(out, i ? ", %s" : "%s", reduce_word(r->options.reduce, i));
  g_string_append(out, r->options.reduce ? "\n" : "none\n");
  if (s->omission > 0) {
    char chance[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(chance, sizeof chance, "%.2e", s->omission);
    g_string_append_printf(out, "%s, so nothing holds: %s\n",
                           r->options.store == STORE_BITSTATE ? "share of states taken for others, about"
                                                              : "chance that a state was taken for another, at most",
                           chance);
  }
}

void check_report_text(const CheckReport *r, GString *out, bool color) {
  g_string_append_printf(out, "stampede %s  check %s  seed %" G_GUINT64_FORMAT "  subject %s  %s\n\n", STAMPEDE_VERSION,
                         r->run->scenario, r->run->seed, r->run->subject, r->time);
  text_verdicts(r, out, color);
  text_unasked(r, out);
  text_paths(r, out);
  text_coverage(r, out);
  g_string_append_printf(out, "\n%s  ", run_verdict_word(r->run->verdict));
  text_counts(r, out);
}
