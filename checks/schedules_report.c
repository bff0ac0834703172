/* schedules_report.c - a search through schedules told: text and JSON. */
#include "checks/schedules_subject.h"
#include <math.h>

static const char *strategy_word(SchedulesStrategy s) {
  static const char *const words[] = {"dpor", "dfs", "random", "pct"};
  return words[s];
}

static const char *stop_words(const SubjectCheck *c) {
  static const char *const words[] = {"every order was tried", "enough was found", "a limit was reached",
                                      "interrupted"};
  if (c->search->stop != SCHEDULES_EXHAUSTED) return words[c->search->stop];
  if (c->search->cut) return "some orders were cut by --max-steps";
  if (c->counted) return "more rounds of a loop that counts them were not tried";
  return c->search->bounded ? "every order within the bound was tried" : words[0];
}

/* ---- text ---- */

/* Code without checks of its own, and a scenario that names none: that must not read as if all were well. */
static void text_unasked(const SubjectCheck *c, GString *out) {
  if (c->run->checks->len || c->run->expectations->len) return;
  g_string_append(out,
                  "  no check is judged: the scenario names none (checks: [...]; `stampede list checks`), the subject "
                  "has none; deadlocks and faults are told\n");
}

static void text_verdicts(const SubjectCheck *c, GString *out) {
  for (guint i = 0; i < c->run->checks->len; i++) {
    const CheckResult *k = &g_array_index(c->run->checks, CheckResult, i);
    g_string_append_printf(out, "  check %-28s %s%s%s\n", k->check->name, check_verdict_word(k->verdict),
                           k->why ? ": " : "", k->why ? k->why : "");
  }
  if (c->run->stopped) g_string_append_printf(out, "  %s\n", c->run->stopped);
  for (guint i = 0; i < c->run->expectations->len; i++) {
    const Expectation *e = &g_array_index(c->run->expectations, Expectation, i);
    const char *word = e->met ? "met    " : e->judged ? "NOT MET" : "open   ";
    g_string_append_printf(out, "  %s %s (saw %s)\n", word, e->text, e->saw);
  }
}

static void text_told(const SubjectCheck *c, GString *out) {
  for (guint i = 0; i < c->told->len; i++) {
    const ScheduleTold *t = c->told->pdata[i];
    g_string_append_printf(out, "\ncounterexample %u: %u preemptions, %u steps%s\n", i + 1, t->preemptions,
                           t->steps->len, t->fewest ? " (the fewest)" : "");
    for (guint k = 0; k < t->steps->len; k++)
      g_string_append_printf(out, "%6u %s\n", k, (const char *)t->steps->pdata[k]);
    g_string_append_printf(out, "       broken: %s\n", t->words);
    if (t->trace) g_string_append_printf(out, "       trace: %s\n", t->trace);
  }
}

static void text_counts(const SubjectCheck *c, GString *out) {
  const SchedulesResult *r = c->search;
  g_string_append_printf(out, "%s: %" G_GUINT64_FORMAT " schedules",
                         schedules_exhausted(c->search) ? "exhausted" : "not exhausted", r->schedules);
  if (c->options.strategy == SCHEDULES_DPOR)
    g_string_append_printf(out, ", %" G_GUINT64_FORMAT " redundant", r->redundant);
  if (r->cut) g_string_append_printf(out, ", %" G_GUINT64_FORMAT " cut", r->cut);
  g_string_append_printf(out, ", at most %u steps; %s\n%s: ", r->longest, stop_words(c),
                         strategy_word(c->options.strategy));
  report_number(out, 1, r->seconds > 0 ? (double)r->schedules / r->seconds : 0);
  g_string_append_printf(out, " schedules/s; %s\n", c->tso ? "total store order" : "sequentially consistent");
  if (c->cut) g_string_append_printf(out, "cut after %u steps (--max-steps): first %s\n", c->options.max_steps, c->cut);
  if (c->counted)
    g_string_append_printf(out, "counts its rounds: %s; explore: {fire: [spin]} tries any number of them\n",
                           c->counted);
  if (c->options.strategy != SCHEDULES_PCT) return;
  char bound[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(bound, sizeof bound, "%.3g", r->bound);
  g_string_append_printf(out, "each schedule finds a bug of depth %u with a probability of at least %s\n",
                         c->options.changes + 1, bound);
}

static bool walks(const SubjectCheck *c) {
  return c->options.strategy == SCHEDULES_RANDOM || c->options.strategy == SCHEDULES_PCT;
}

static void text_share(GString *out, double share) {
  char percent[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(percent, sizeof percent, "%.3g", share * 100);
  g_string_append_printf(out, "%s %%", percent);
}

static void text_rest(const SubjectCheck *c, GString *out) {
  if (walks(c)) {
    g_string_append(out, "the next schedule would be of a new class with a chance of about ");
    text_share(out, schedules_chance_of_news(c->search));
    g_string_append(out, " (Good)\n");
  } else if (c->search->coverage.part < 1) {
    g_string_append(out, "about ");
    text_share(out, c->search->coverage.part);
    g_string_append(out, " of the tree was gone through, which has about ");
    report_number(out, 1, round(schedules_estimate(c->search)));
    g_string_append(out, " schedules (Knuth's guess)\n");
  }
}

static void text_coverage(const SubjectCheck *c, GString *out) {
  enum { PLACES_TOLD = 10 };
  g_string_append_printf(out,
                         "coverage: %" G_GUINT64_FORMAT
                         " classes of schedules; %u lines where a process could be preempted, %u never: ",
                         schedules_classes(c->search, c->options.strategy), c->points, c->never->len);
  for (guint i = 0; i < MIN(c->never->len, PLACES_TOLD); i++)
    g_string_append_printf(out, "%s%s", i ? ", " : "", (const char *)c->never->pdata[i]);
  if (!c->never->len) g_string_truncate(out, out->len - 2);
  if (c->never->len > PLACES_TOLD) g_string_append_printf(out, " and %u more", c->never->len - PLACES_TOLD);
  g_string_append_c(out, '\n');
  text_rest(c, out);
}

static void text_without(const SubjectCheck *c, GString *out) {
  for (guint i = 0; i < c->without->len; i++)
    g_string_append_printf(out, "%s%s", i ? ", " : "  without ", (const char *)c->without->pdata[i]);
}

void subject_check_text(const SubjectCheck *c, GString *out) {
  g_string_append_printf(out, "stampede %s  check %s  seed %" G_GUINT64_FORMAT "  subject %s  schedules",
                         STAMPEDE_VERSION, c->run->scenario, c->options.seed, c->run->subject);
  text_without(c, out);
  g_string_append(out, "\n\n");
  text_verdicts(c, out);
  text_unasked(c, out);
  text_told(c, out);
  g_string_append_printf(out, "\n%s  ", run_verdict_word(c->run->verdict));
  text_counts(c, out);
  text_coverage(c, out);
  if (c->races) races_told_text(c->races, out);
}

/* ---- JSON ---- */

static void json_checks(const SubjectCheck *c, Output *o) {
  output_str(o, "  \"checks\": [");
  for (guint i = 0; i < c->run->checks->len; i++) {
    const CheckResult *k = &g_array_index(c->run->checks, CheckResult, i);
    output_str(o, i ? ",\n    {" : "\n    {");
    output_key(o, "name");
    output_string(o, k->check->name);
    output_str(o, ", ");
    output_key(o, "verdict");
    output_string(o, check_verdict_word(k->verdict));
    output_str(o, ", ");
    output_key(o, "why");
    k->why ? output_string(o, k->why) : output_str(o, "null");
    output_str(o, "}");
  }
  output_str(o, "],\n  \"expectations\": [");
  for (guint i = 0; i < c->run->expectations->len; i++) {
    output_str(o, i ? ",\n    " : "\n    ");
    report_json_expectation(o, &g_array_index(c->run->expectations, Expectation, i));
  }
  output_str(o, "],\n");
}

static void json_told(const SubjectCheck *c, Output *o) {
  output_str(o, "  \"counterexamples\": [");
  for (guint i = 0; i < c->told->len; i++) {
    const ScheduleTold *t = c->told->pdata[i];
    output_str(o, i ? ",\n    {" : "\n    {");
    output_key(o, "broken");
    output_string(o, t->words);
    output_str(o, ", ");
    output_key(o, "trace");
    t->trace ? output_string(o, t->trace) : output_str(o, "null");
    output_str(o, ", ");
    output_key(o, "preemptions");
    output_uint(o, t->preemptions);
    output_str(o, t->fewest ? ", \"fewest\": true, " : ", \"fewest\": false, ");
    output_key(o, "steps");
    output_str(o, "[");
    for (guint k = 0; k < t->steps->len; k++) {
      output_str(o, k ? ",\n      " : "\n      ");
      output_string(o, t->steps->pdata[k]);
    }
    output_str(o, "]}");
  }
  output_str(o, "],\n");
}

static void json_coverage(const SubjectCheck *c, Output *o) {
  output_str(o, "  \"coverage\": {\"classes\": ");
  output_uint(o, schedules_classes(c->search, c->options.strategy));
  output_str(o, ", \"lines\": ");
  output_uint(o, c->points);
  output_str(o, ", \"never_preempted\": ");
  output_strings(o, (const char *const *)c->never->pdata, c->never->len);
  output_str(o, walks(c) ? ", \"chance_of_a_new_class\": " : ", \"part_of_the_tree\": ");
  output_double(o, walks(c) ? schedules_chance_of_news(c->search) : c->search->coverage.part);
  if (!walks(c)) {
    output_str(o, ", \"schedules_estimated\": ");
    output_double(o, schedules_estimate(c->search));
  }
  output_str(o, "},\n");
}

static void json_without(const SubjectCheck *c, Output *o) {
  output_str(o, "  \"without_locks\": ");
  output_strings(o, (const char *const *)c->without->pdata, c->without->len);
  output_str(o, ",\n");
}

void subject_check_json(const SubjectCheck *c, Output *o) {
  const SchedulesResult *r = c->search;
  output_str(o, "{\n");
  report_json_text(o, "stampede", STAMPEDE_VERSION);
  report_json_text(o, "command", "check");
  report_json_text(o, "scenario", c->run->scenario);
  report_json_text(o, "subject", c->run->subject);
  report_json_uint(o, "seed", c->options.seed);
  report_json_text(o, "verdict", run_verdict_word(c->run->verdict));
  report_json_text(o, "strategy", strategy_word(c->options.strategy));
  report_json_text(o, "memory_order", c->tso ? "tso" : "sc");
  report_json_uint(o, "processes", c->processes);
  json_without(c, o);
  report_json_text(o, "stopped", c->run->stopped);
  report_json_text(o, "end", stop_words(c));
  report_json_uint(o, "schedules", r->schedules);
  report_json_uint(o, "redundant", r->redundant);
  report_json_uint(o, "cut", r->cut);
  report_json_text(o, "cut_at", c->cut);
  report_json_text(o, "counts_rounds", c->counted);
  report_json_uint(o, "longest", r->longest);
  json_checks(c, o);
  json_told(c, o);
  json_coverage(c, o);
  if (c->races)
    races_told_json(c->races, o);
  else
    output_str(o, "  \"races\": null,\n");
  output_str(o, "  \"measured\": {\"seconds\": ");
  output_double(o, r->seconds);
  output_str(o, ", \"schedules_per_s\": ");
  output_double(o, r->seconds > 0 ? (double)r->schedules / r->seconds : 0);
  output_str(o, ", \"cpu_seconds\": ");
  output_double(o, r->cpu);
  output_str(o, "}\n}\n");
}
