/* compare_report.h - a comparison told: a table for people, Markdown to paste into a mail, JSON (its format: README),
 * JUnit. */
#pragma once
#include "sim/compare.h"

typedef struct {
  const Comparison *comparison;
  const char *subject; /* "suite proc-array", "connect-storm", "3 scenarios" */
  const char *command; /* NULL: compare */
  const char *figures; /* where they come from, in words; NULL: simulated, with the costs of the plan's profile */
  const ScenarioOptions *base;
  double wall_ms; /* of the tool itself: with jobs the only thing that differs between runs */
  guint jobs;
} CompareReport;

void compare_text(const CompareReport *r, GString *out, bool color);
void compare_markdown(const CompareReport *r, GString *out);
bool compare_can_be_drawn(const CompareReport *r); /* results.json has a curve for logarithmic axes */
void compare_json(const CompareReport *r, Output *o);
/* A testsuite each case: that the patch does not break it, its gates, and that it could be judged. */
void compare_junit(const CompareReport *r, Output *o);

/* ---- what the table and Markdown both say; texts are the caller's ---- */
char *compare_number(double v);
/* A gate with what was seen: "warm.connect_ms <= +2%  connect-storm: +3.1 %". */
char *compare_gate_words(const JudgedGate *g);
/* Of a spot that came, went or moved and is worth telling: vanished, appeared, faults no more, faults now, more, less;
 * else NULL. */
const char *compare_spot_word(const ComparedCase *c, const ComparedSpot *s);
/* Of a check that the two sides do not judge alike, or that is violated: "check proc-array-sorted: not-violated, with
 * the patch unknown"; NULL where there is nothing to say that the case's `why` does not. */
char *compare_check_words(const ComparedCase *c, const ComparedCheck *k);
const char *compare_caveat(const Comparison *c, Side side); /* why its figures are worth less; NULL: they are not */
char *compare_interval_words(const ComparedCase *c);
char *compare_change_words(const ComparedCase *c);
char *compare_effect_words(const ComparedCase *c);
