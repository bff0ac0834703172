/* compare_text.c - a comparison as tables: cases, hot spots that came, went or moved, and what there is to say of
 * checks and gates. Once for a terminal, once as Markdown. */
#include "sim/columns.h"
#include "sim/compare_report.h"
#include <string.h>

enum { MOST_SPOTS = 6 }; /* of a case; JSON has all */

typedef struct {
  const CompareReport *r;
  const Comparison *c;
  GString *out;
  bool markdown, color;
} Telling;

static const ComparedCase *case_at(const Comparison *c, guint i) {
  return c->cases->pdata[i];
}

static void add_texts(GPtrArray *row, const char *const *texts, guint n) {
  for (guint i = 0; i < n; i++) g_ptr_array_add(row, g_strdup(texts[i]));
}

static void print_table(const Telling *t, const GPtrArray *rows, const char *align) {
  if (t->markdown)
    columns_markdown(t->out, rows, align);
  else
    columns_print(t->out, rows, align);
}

static GPtrArray *table_new(const char *const *heads, guint n) {
  GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  add_texts(columns_row(rows), heads, n);
  return rows;
}

/* A paragraph's line: a list's entry in Markdown. */
static void print_line(const Telling *t, const char *words) {
  g_string_append_printf(t->out, "%s%s\n", t->markdown ? "- " : "  ", words);
}

/* ---- the head ---- */

static void append_seeds(const Comparison *c, GString *out) {
  const SweepPlan *p = c->in->plan;
  g_string_append_printf(out, "seed%s %" G_GUINT64_FORMAT, p->seeds > 1 ? "s" : "", p->seed);
  if (p->seeds > 1) g_string_append_printf(out, " to %" G_GUINT64_FORMAT, p->seed + p->seeds - 1);
  for (guint i = 0; i < p->plain->len; i++) g_string_append_printf(out, "  %s", (char *)p->plain->pdata[i]);
}

static void print_head(const Telling *t) {
  g_autofree char *threshold = compare_number(t->c->in->threshold * 100);
  g_autofree char *costs = g_strconcat("simulated, with the costs of profile ", t->c->in->plan->profile, NULL);
  const char *bold = t->markdown ? "**" : "";
  g_string_append_printf(t->out, "%sstampede %s%s  %s %s  baseline %s  patch %s  ", bold, STAMPEDE_VERSION, bold,
                         t->r->command ? t->r->command : "compare", t->r->subject, t->c->in->side[SIDE_BASELINE],
                         t->c->in->side[SIDE_PATCH]);
  append_seeds(t->c, t->out);
  g_string_append_printf(t->out,
                         "\n%s; better and worse: the whole interval (95 %%, paired bootstrap) is beyond %s %%\n\n",
                         t->r->figures ? t->r->figures : costs, threshold);
}

/* ---- cases ---- */

static char *checks_cell(const ComparedCase *c) {
  guint fine[SIDES] = {0, 0};
  if (!c->checks->len) return g_strdup("-");
  for (guint i = 0; i < c->checks->len; i++)
    for (Side s = 0; s < SIDES; s++)
      fine[s] += g_array_index(c->checks, ComparedCheck, i).verdict[s] == CHECK_NOT_VIOLATED;
  return g_strdup_printf("%u/%u %u/%u", fine[SIDE_BASELINE], c->checks->len, fine[SIDE_PATCH], c->checks->len);
}

static bool is_open(const ComparedCase *c) {
  return c->verdict == COMPARED_SAME && !c->settled;
}

/* Has it an interval of less than 95 %? */
static bool is_narrow(const ComparedCase *c) {
  return c->metric && !c->alone && c->pairs->len > 1 && c->interval.level < 0.95 && c->interval.low < c->interval.high;
}

static char *verdict_cell(const Telling *t, const ComparedCase *c) {
  return g_strdup_printf("%s%s%s", t->markdown && c->verdict != COMPARED_SAME ? "**" : "",
                         compare_verdict_word(c->verdict),
                         is_open(c)                                   ? "?"
                         : t->markdown && c->verdict != COMPARED_SAME ? "**"
                                                                      : "");
}

static void add_case(const Telling *t, GPtrArray *row, const ComparedCase *c) {
  g_ptr_array_add(row, g_strdup(c->name));
  g_ptr_array_add(row, g_strdup(c->metric ? c->metric : "-"));
  for (Side s = 0; s < SIDES; s++) g_ptr_array_add(row, c->metric ? compare_number(c->mean[s]) : g_strdup("-"));
  g_ptr_array_add(row, compare_change_words(c));
  g_ptr_array_add(row, compare_interval_words(c));
  g_ptr_array_add(row, compare_effect_words(c));
  g_ptr_array_add(row, checks_cell(c));
  g_ptr_array_add(row, verdict_cell(t, c));
}

static void print_cases(const Telling *t) {
  static const char *const heads[] = {"scenario", "metric",   "baseline", "patch",  "change",
                                      "interval", "effect d", "checks",   "verdict"};
  g_autoptr(GPtrArray) rows = table_new(heads, G_N_ELEMENTS(heads));
  for (guint i = 0; i < t->c->cases->len; i++) add_case(t, columns_row(rows), case_at(t->c, i));
  print_table(t, rows, "llrrrlrll");
}

/* ---- hot spots ---- */

static void add_spot(GPtrArray *row, const char *name, const ComparedSpot *s, const char *word) {
  const char *const texts[] = {name, word, s->structure, s->site};
  add_texts(row, texts, G_N_ELEMENTS(texts));
  for (Side side = 0; side < SIDES; side++) {
    g_ptr_array_add(row, s->on[side] ? compare_number(s->faults[side]) : g_strdup("-"));
    g_ptr_array_add(row, s->on[side] ? compare_number(s->ms[side]) : g_strdup("-"));
  }
}

/* On a terminal a name stands once. */
static void add_spots(const Telling *t, GPtrArray *rows, const ComparedCase *c) {
  guint said = 0;
  for (guint i = 0; i < c->spots->len && said < MOST_SPOTS; i++) {
    const ComparedSpot *s = &g_array_index(c->spots, ComparedSpot, i);
    const char *word = compare_spot_word(c, s);
    if (word) add_spot(columns_row(rows), said++ && !t->markdown ? "" : c->name, s, word);
  }
}

static void print_spots(const Telling *t) {
  static const char *const heads[] = {"scenario", "hot spot", "structure",     "site",
                                      "faults",   "ms",       "patch: faults", "ms"};
  g_autoptr(GPtrArray) rows = table_new(heads, G_N_ELEMENTS(heads));
  for (guint i = 0; i < t->c->cases->len; i++) add_spots(t, rows, case_at(t->c, i));
  if (rows->len < 2) return;
  g_string_append_c(t->out, '\n');
  print_table(t, rows, "llllrrrr");
}

/* ---- checks, reasons, gates ---- */

static void say_of_case(const Telling *t, const ComparedCase *c, GPtrArray *lines) {
  (void)t;
  if (c->why) g_ptr_array_add(lines, g_strdup_printf("%s: %s: %s", c->name, compare_verdict_word(c->verdict), c->why));
  for (guint i = 0; i < c->checks->len; i++) {
    g_autofree char *words = compare_check_words(c, &g_array_index(c->checks, ComparedCheck, i));
    if (words) g_ptr_array_add(lines, g_strdup_printf("%s: %s", c->name, words));
  }
  if (c->higher) g_ptr_array_add(lines, g_strdup_printf("%s: more of %s is better", c->name, c->metric));
}

static void add_gates(const Telling *t, GPtrArray *lines) {
  for (guint i = 0; i < t->c->gates->len; i++) {
    const JudgedGate *g = &g_array_index(t->c->gates, JudgedGate, i);
    g_autofree char *words = compare_gate_words(g);
    g_ptr_array_add(lines, g_strdup_printf("gate %s  %s",
                                           !g->judged ? "not judged"
                                           : g->met   ? "met    "
                                                      : "NOT MET",
                                           words));
  }
}

static void add_unexplained(const Telling *t, GPtrArray *lines) {
  const ComparedCase *c = case_at(t->c, 0);
  const RunResult *r = compare_result(t->c->in, c, SIDE_BASELINE, 0);
  for (guint i = 0; r && i < r->unexplained->len; i++) {
    const Unexplained *u = &g_array_index(r->unexplained, Unexplained, i);
    g_autofree char *ms = compare_number(u->ms);
    g_ptr_array_add(lines, g_strdup_printf("uses %s = %s ms, which no mechanism explains", u->key, ms));
  }
}

static void add_caveats(const Telling *t, GPtrArray *lines) {
  static const char *const words[SIDES] = {"baseline", "patch"};
  for (Side s = 0; s < SIDES; s++) {
    const char *caveat = compare_caveat(t->c, s);
    if (caveat) g_ptr_array_add(lines, g_strdup_printf("%s: %s", words[s], caveat));
  }
}

static void print_lines(const Telling *t) {
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  bool open = false, few = false;
  for (guint i = 0; i < t->c->cases->len; i++) {
    say_of_case(t, case_at(t->c, i), lines);
    open |= is_open(case_at(t->c, i));
    few |= is_narrow(case_at(t->c, i));
  }
  if (open)
    g_ptr_array_add(lines, g_strdup("same?: the interval holds both what counts as the same and what does not; more "
                                    "seeds (--repeat) would tell"));
  if (few)
    g_ptr_array_add(lines,
                    g_strdup_printf("at N %%: fewer than %d seeds give no interval of 95 %% by resampling; theirs "
                                    "is the range of the pairs",
                                    BOOTSTRAP_LEAST));
  add_gates(t, lines);
  add_unexplained(t, lines);
  add_caveats(t, lines);
  if (lines->len) g_string_append_c(t->out, '\n');
  for (guint i = 0; i < lines->len; i++) print_line(t, lines->pdata[i]);
}

static void print_verdict(const Telling *t) {
  static const char *const paint[] = {"\033[32m", "\033[31m", "\033[33m"};
  const int status = compare_exit(t->c);
  const char *color = !t->color ? "" : status == EXIT_MET ? paint[0] : status == EXIT_UNMET ? paint[1] : paint[2];
  g_string_append_printf(t->out, "\n%s", color);
  for (CompareVerdict v = 0; v < COMPARE_VERDICTS; v++) {
    const guint n = compare_count(t->c, v);
    if (n || v < COMPARED_BROKEN) g_string_append_printf(t->out, "%s%u %s", v ? ", " : "", n, compare_verdict_word(v));
  }
  g_string_append_printf(t->out, "%s%s\n", t->color ? "\033[0m" : "", t->c->in->interrupted ? "; interrupted" : "");
}

static void tell(const Telling *t) {
  print_head(t);
  print_cases(t);
  print_spots(t);
  print_lines(t);
  print_verdict(t);
}

void compare_text(const CompareReport *r, GString *out, bool color) {
  const Telling t = {.r = r, .c = r->comparison, .out = out, .color = color};
  tell(&t);
}

void compare_markdown(const CompareReport *r, GString *out) {
  const Telling t = {.r = r, .c = r->comparison, .out = out, .markdown = true};
  tell(&t);
}
