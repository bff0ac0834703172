/* sweep_text.c - a sweep as a table: a row a combination and variant, a group of columns a metric (simulated; and where
 * a published table is compared: its value, its plus or minus, how far off), then exponents, the worst cell, verdicts.
 */
#include "sim/columns.h"
#include "sim/sweep_report.h"
#include <string.h>

enum { MOST_FAILURES = 10, GROUP = 4 };

typedef struct {
  const SweepReport *r;
  const SweepCurves *c;
  const SweepPlan *p;
  GPtrArray *rows; /* of GPtrArray of char *: cells, the last one a note without a column */
  double worst;    /* deviation of a counted cell, in percent, absolute */
  char *worst_cell;
} Text;

/* ---- cells ---- */

static char *number_cell(double v) {
  GString *out = g_string_new(NULL);
  report_number(out, 1, v);
  return g_string_free(out, FALSE);
}

static char *percent_cell(double v, bool counted) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(text, sizeof text, "%+.1f", v);
  return g_strdup_printf(counted ? "%s %%" : "[%s %%]", text);
}

static void keep_worst(Text *t, const GPtrArray *row, const char *metric, double deviation) {
  const double off = deviation < 0 ? -deviation : deviation;
  if (t->worst_cell && off <= t->worst) return;
  GString *cell = g_string_new(NULL);
  for (guint i = 0; i < t->p->keys->len; i++)
    g_string_append_printf(cell, "%s=%s ", ((SweptKey *)t->p->keys->pdata[i])->name, (char *)row->pdata[i]);
  g_string_append_printf(cell, "%s %s", (char *)row->pdata[t->p->keys->len], metric);
  g_free(t->worst_cell);
  t->worst_cell = g_string_free(cell, FALSE);
  t->worst = off;
}

static void add_published(Text *t, GPtrArray *row, const PublishedPoint *pub, const char *metric, bool has, double mean,
                          GString *note) {
  g_autofree char *y = pub ? number_cell(pub->y) : NULL;
  if (pub && !pub->counted) g_string_append_printf(note, "%snot counted", note->len ? ", " : "");
  g_ptr_array_add(row, pub ? pub->counted ? g_strdup(y) : g_strdup_printf("[%s]", y) : g_strdup("-"));
  g_ptr_array_add(row, pub && pub->spread > 0 ? number_cell(pub->spread) : g_strdup("-"));
  g_ptr_array_add(row, pub && has ? percent_cell(sweep_deviation(pub, mean), pub->counted) : g_strdup("-"));
  if (pub && has && pub->counted) keep_worst(t, row, metric, sweep_deviation(pub, mean));
}

static void add_row(Text *t, guint combination, guint variant) {
  GPtrArray *row = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GString) note = g_string_new(NULL);
  for (guint i = 0; i < t->p->keys->len; i++) g_ptr_array_add(row, g_strdup(sweep_value(t->p, i, combination)));
  g_ptr_array_add(row, g_strdup(t->p->variants->pdata[variant]));
  for (guint m = 0; m < t->c->metrics->len; m++) {
    const char *metric = t->c->metrics->pdata[m];
    double mean = 0;
    bool has = sweep_mean(t->c, combination, variant, metric, &mean, NULL);
    g_ptr_array_add(row, has ? number_cell(mean) : g_strdup("-"));
    if (t->c->compared)
      add_published(t, row, sweep_published(t->c, combination, variant, metric), metric, has, mean, note);
  }
  g_ptr_array_add(row, g_strdup(note->str));
  g_ptr_array_add(t->rows, row);
}

static void add_header(Text *t) {
  static const char *const group[GROUP] = {"simulated", "published", "+-", "off"};
  GPtrArray *row = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < t->p->keys->len; i++) g_ptr_array_add(row, g_strdup(((SweptKey *)t->p->keys->pdata[i])->name));
  g_ptr_array_add(row, g_strdup("variant"));
  for (guint m = 0; m < t->c->metrics->len; m++)
    for (guint i = 0; i < (t->c->compared ? GROUP : 1); i++)
      g_ptr_array_add(row, g_strdup(t->c->compared ? group[i] : t->c->metrics->pdata[m]));
  g_ptr_array_add(row, g_strdup(""));
  g_ptr_array_add(t->rows, row);
}

/* ---- columns ---- */

/* Names of the metrics over their groups. */
static void print_groups(const Text *t, GString *out, const int *widths) {
  const guint fixed = t->p->keys->len + 1;
  for (guint i = 0; i < fixed; i++) columns_pad(out, "", widths[i] + 2, true);
  for (guint m = 0; m < t->c->metrics->len; m++) {
    int width = 0;
    for (guint i = 0; i < GROUP; i++) width += widths[fixed + m * GROUP + i] + 2;
    g_string_append(out, "  ");
    columns_pad(out, t->c->metrics->pdata[m], width - 2, true);
  }
  columns_end_line(out);
}

static void print_rows(const Text *t, GString *out, const int *widths, guint columns) {
  for (guint i = 0; i < t->rows->len; i++) {
    const GPtrArray *row = t->rows->pdata[i];
    for (guint j = 0; j < columns; j++) {
      g_string_append(out, "  ");
      columns_pad(out, row->pdata[j], widths[j], j == t->p->keys->len);
    }
    g_string_append_printf(out, "  %s", (char *)row->pdata[columns]);
    columns_end_line(out);
  }
}

static void print_table(Text *t, GString *out) {
  const guint columns = t->p->keys->len + 1 + t->c->metrics->len * (t->c->compared ? GROUP : 1);
  g_autofree int *widths = g_new0(int, columns);
  t->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  add_header(t);
  for (guint i = 0; i < t->p->combinations; i++)
    for (guint v = 0; v < t->p->variants->len; v++) add_row(t, i, v);
  g_assert(((GPtrArray *)t->rows->pdata[0])->len == columns + 1);
  for (guint j = 0; j < columns; j++) widths[j] = columns_width(t->rows, j);
  if (t->c->compared) print_groups(t, out, widths);
  print_rows(t, out, widths, columns);
  g_ptr_array_unref(t->rows);
  if (t->worst_cell) {
    char off[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(off, sizeof off, "%.1f", t->worst);
    g_string_append_printf(out, "\n  worst counted cell: %s %% off (%s); what stands in [] is not counted\n", off,
                           t->worst_cell);
  }
  g_free(t->worst_cell);
}

/* ---- what else there is to say ---- */

static void print_fit(GString *out, const LoglogFit *f) {
  char b[G_ASCII_DTOSTR_BUF_SIZE], low[G_ASCII_DTOSTR_BUF_SIZE], high[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(b, sizeof b, "%.3f", f->exponent);
  g_ascii_formatd(low, sizeof low, "%.3f", f->low);
  g_ascii_formatd(high, sizeof high, "%.3f", f->high);
  g_string_append(out, b);
  if (f->interval) g_string_append_printf(out, " (%s to %s)", low, high);
}

static void print_fits(const Text *t, GString *out) {
  int width = 0;
  for (guint i = 0; i < t->c->series->len; i++) {
    const SweepSeries *s = t->c->series->pdata[i];
    if (s->fitted) width = MAX(width, (int)g_utf8_strlen(s->label, -1));
  }
  if (width)
    g_string_append_printf(out, "\n  grows with %s to the power of (95 %% interval):\n",
                           ((SweptKey *)t->p->keys->pdata[t->c->x])->name);
  for (guint i = 0; i < t->c->series->len; i++) {
    const SweepSeries *s = t->c->series->pdata[i];
    if (!s->fitted) continue;
    g_string_append(out, "  ");
    columns_pad(out, s->label, width + 2, true);
    print_fit(out, &s->fit);
    if (s->published_fitted) {
      g_string_append(out, "  published: ");
      print_fit(out, &s->published_fit);
    }
    g_string_append_c(out, '\n');
  }
}

static void print_knees(const Text *t, GString *out) {
  guint said = 0;
  for (guint i = 0; i < t->c->series->len; i++) {
    const SweepSeries *s = t->c->series->pdata[i];
    SweepKnee k;
    if (g_strcmp0(s->metric, t->r->knee) != 0 || !sweep_knee(s, &k)) continue;
    const char *name = ((SweptKey *)t->p->keys->pdata[t->c->x])->name;
    if (!said++)
      g_string_append_printf(out, "\n  knee of %s, the smallest %s within %.0f %% of the way from worst to best:\n",
                             t->r->knee, name, KNEE_SHARE * 100);
    g_string_append_printf(out, "  %s  %s=%s, ", s->label, name, sweep_value(t->p, (guint)t->c->x, k.combination));
    report_number(out, 1, k.value);
    g_string_append(out, " (worst ");
    report_number(out, 1, k.worst);
    g_string_append(out, ", best ");
    report_number(out, 1, k.best);
    g_string_append(out, ")\n");
  }
}

static void print_broken(const RunResult *r, GString *out) {
  for (guint i = 0; i < r->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    if (c->verdict == CHECK_VIOLATED)
      g_string_append_printf(out, "; check %s violated: %s", c->check->name, c->why ? c->why : "");
  }
  for (guint i = 0; i < r->expectations->len; i++) {
    const Expectation *e = &g_array_index(r->expectations, Expectation, i);
    if (e->judged && !e->met) g_string_append_printf(out, "; not met: %s (saw %s)", e->text, e->saw);
  }
  if (r->stopped) g_string_append_printf(out, "; ended early: %s", r->stopped);
}

static void print_failures(const Text *t, GString *out) {
  guint said = 0, bad = 0;
  for (guint point = 0; point < t->c->results->len; point++) {
    const RunResult *r = t->c->results->pdata[point];
    if (!r || r->verdict == RUN_PASS) continue;
    if (++bad > MOST_FAILURES) continue;
    g_autofree char *name = sweep_point_name(t->p, point);
    g_string_append_printf(out, "%s  %s: %s", said++ ? "" : "\n", name, run_verdict_word(r->verdict));
    print_broken(r, out);
    g_string_append_c(out, '\n');
  }
  if (bad > said) g_string_append_printf(out, "  and %u more\n", bad - said);
}

static void print_refused(const Text *t, GString *out) {
  guint said = 0, n = sweep_refusals(t->p);
  for (guint point = 0; n && point < t->c->results->len && said < MOST_FAILURES; point += t->p->seeds) {
    if (!sweep_refused(t->p, point)) continue;
    g_autofree char *name = sweep_point_name(t->p, point);
    g_string_append_printf(out, "%s  -  %s: %s\n", said++ ? "" : "\n", name, sweep_refused(t->p, point));
  }
  if (n > said * t->p->seeds) g_string_append_printf(out, "  and %u more\n", n / t->p->seeds - said);
}

static void print_verdict(const Text *t, GString *out, bool color) {
  static const char *const paint[] = {"\033[32m", "\033[31m", "\033[33m"};
  const guint fail = sweep_with_verdict(t->r, RUN_FAIL), open = sweep_with_verdict(t->r, RUN_INCOMPLETE);
  const RunVerdict v = fail ? RUN_FAIL : open || t->r->interrupted ? RUN_INCOMPLETE : RUN_PASS;
  g_string_append_printf(out, "\n%s%s%s  %u of %u points", color ? paint[v] : "", run_verdict_word(v),
                         color ? "\033[0m" : "", sweep_finished(t->r), t->c->results->len);
  if (sweep_refusals(t->p)) g_string_append_printf(out, ", %u contradict themselves", sweep_refusals(t->p));
  if (fail) g_string_append_printf(out, ", %u fail", fail);
  if (open) g_string_append_printf(out, ", %u incomplete", open);
  g_string_append(out, t->r->interrupted ? ", interrupted\n" : "\n");
}

static void print_head(const Text *t, GString *out) {
  const bool many = t->p->seeds > 1;
  g_string_append_printf(out, "stampede %s  sweep %s  seed%s %" G_GUINT64_FORMAT, STAMPEDE_VERSION, t->p->scenario,
                         many ? "s" : "", t->p->seed);
  if (many) g_string_append_printf(out, " to %" G_GUINT64_FORMAT ", their mean", t->p->seed + t->p->seeds - 1);
  for (guint i = 0; i < t->p->plain->len; i++) g_string_append_printf(out, "  %s", (char *)t->p->plain->pdata[i]);
  if (t->p->explores) {
    g_string_append_printf(out, "\nexplored: %s\n\n", t->p->job);
    return;
  }
  g_string_append_printf(out, "\nsimulated, with the costs of profile %s%s%s\n\n", t->p->profile,
                         t->c->compared ? "; published: " : "", t->c->compared ? t->p->published->table : "");
}

static void print_unexplained(const Text *t, GString *out) {
  g_autoptr(GArray) all = sweep_unexplained(t->r);
  for (guint i = 0; i < all->len; i++) {
    const Unexplained *u = &g_array_index(all, Unexplained, i);
    g_string_append_printf(out, "%s  uses %s = ", i ? "" : "\n", u->key);
    report_number(out, 1, u->ms);
    g_string_append(out, " ms, which no mechanism explains\n");
  }
}

void sweep_text(const SweepReport *r, GString *out, bool color) {
  Text t = {.r = r, .c = r->curves, .p = r->curves->plan};
  print_head(&t, out);
  if (r->grid)
    sweep_grid_text(r->grid, out);
  else
    print_table(&t, out);
  if (!t.p->explores) {
    print_fits(&t, out);
    print_knees(&t, out);
    print_unexplained(&t, out);
    print_failures(&t, out);
    if (!r->grid) print_refused(&t, out);
  }
  print_verdict(&t, out, color);
}
