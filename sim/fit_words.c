/* fit_words.c - a fit's result as text: cells, constants, what they cannot tell, exponents. See fit_report.h. */
#include "sim/fit_report.h"
#include "sim/loglog.h"
#include <math.h>

char *fit_cost_text(int64_t ps) {
  static const struct {
    int64_t ps;
    const char *unit;
    int decimals;
  } units[] = {{1000000000, "ms", 9}, {1000000, "us", 6}, {1000, "ns", 3}};
  guint u = ps >= 1000000000 ? 0 : ps >= 1000000 ? 1 : 2;
  g_autofree char *digits = g_strdup_printf("%0*" G_GINT64_FORMAT, units[u].decimals, ps % units[u].ps);
  gsize n = (gsize)units[u].decimals;
  while (n && digits[n - 1] == '0') n--;
  return g_strdup_printf("%" G_GINT64_FORMAT "%s%.*s%s", ps / units[u].ps, n ? "." : "", (int)n, digits, units[u].unit);
}

int64_t fit_round(int64_t ps, int digits) {
  int64_t unit = 1;
  g_assert(ps >= 0 && digits > 0);
  for (int64_t rest = ps; digits < 18 && rest >= (int64_t)llround(exp10(digits)); rest /= 10) unit *= 10;
  return (ps + unit / 2) / unit * unit;
}

static const char *bound_words(FitBound b) {
  return b == FIT_AT_LOW ? "at its lower bound" : b == FIT_AT_HIGH ? "at its upper bound" : "";
}

static char *interval_text(const FitStats *s, guint i) {
  if (s->high[i] > 9e18 || s->freedom <= 0) return g_strdup("not known");
  g_autofree char *low = fit_cost_text(fit_round((int64_t)llround(s->low[i]), 3)),
                  *high = fit_cost_text(fit_round((int64_t)llround(s->high[i]), 3));
  return g_strdup_printf("%s .. %s", low, high);
}

const char *fit_stop_words(FitStop stop) {
  return stop == FIT_NOT_RUN     ? "not run"
         : stop == FIT_CONVERGED ? "converged"
         : stop == FIT_LIMIT     ? "ended at its limit"
                                 : "ended where no step was left";
}

/* The limits are the command line's: what ended a search is no property of the figures. */
static void searches(const FitStory *s, GString *out, const char *lead) {
  const FitProblem *p = s->problem;
  g_string_append_printf(
      out, "%ssearch within the whole bounds: %s (--global %u); from the best point: %s (--evals %u)\n", lead,
      fit_stop_words(s->result->global), p->global, fit_stop_words(s->result->local), p->local);
}

static void constants(const FitStory *s, GString *out, const char *lead) {
  const FitProblem *p = s->problem;
  g_string_append_printf(out, "%sfree constant                        value    95 %% interval              searched\n",
                         lead);
  for (guint i = 0; i < p->n_free; i++) {
    const FitFree *f = &p->free[i];
    int64_t ps = s->result->costs.ps[f->id];
    g_autofree char *value = fit_cost_text(ps), *interval = interval_text(&s->stats, i), *low = fit_cost_text(f->low),
                    *high = fit_cost_text(f->high);
    g_string_append_printf(out, "%s%-30s %11s    %-25s %s .. %s%s%s\n", lead, cost_info[f->id].key, value, interval,
                           low, high, fit_at_bound(f, ps) ? "; " : "", bound_words(fit_at_bound(f, ps)));
  }
}

static void cells(const FitStory *s, GString *out, const char *lead) {
  g_string_append_printf(out, "%scell                         published  allowed   simulated      off\n", lead);
  for (guint i = 0; i < s->problem->n_cells; i++) {
    const FitCell *c = &s->problem->cells[i];
    double off = s->result->figures[i] - c->observed;
    g_string_append_printf(out, "%s%-26s %11.1f %8.1f %11.1f %+7.1f %%%s\n", lead, c->name, c->observed, c->tolerance,
                           s->result->figures[i], 100 * off / c->observed,
                           !c->counted                ? "  not counted"
                           : fabs(off) > c->tolerance ? "  MISSED"
                                                      : "");
  }
  const FitResult *r = s->result;
  g_string_append_printf(out, "%sworst counted cell: %.1f %% (%s); %u of the counted cells outside what is allowed\n",
                         lead, 100 * r->worst, s->problem->cells[r->worst_cell].name, r->missed);
  for (guint i = 0; s->seeds && i < s->seeds->len; i++) {
    const FitSeed *d = &g_array_index(s->seeds, FitSeed, i);
    g_string_append_printf(out, "%s  seed %" G_GUINT64_FORMAT ": worst %.1f %% (%s), %u outside\n", lead, d->seed,
                           100 * d->worst, d->cell, d->missed);
  }
}

/* Columns that point the same way, and the direction that the cells see least. */
static void identifiability(const FitStory *s, GString *out, const char *lead) {
  const FitProblem *p = s->problem;
  const FitStats *st = &s->stats;
  guint n = p->n_free, same = 0;
  for (guint i = 0; i < n; i++)
    for (guint j = i + 1; j < n; j++) {
      if (fabs(st->cosine[i][j]) <= 0.95) continue;
      same++;
      g_string_append_printf(out, "%scannot be told apart: %s, %s (cosine %.3f)\n", lead, cost_info[p->free[i].id].key,
                             cost_info[p->free[j].id].key, st->cosine[i][j]);
    }
  if (!same) g_string_append_printf(out, "%sno two free constants act alike (all cosines within 0.95)\n", lead);
  if (n < 2 || !(st->singular[0] > 0)) return;
  g_string_append_printf(out, "%ssingular values:", lead);
  for (guint i = 0; i < n; i++) g_string_append_printf(out, " %.3g", st->singular[i]);
  g_string_append_printf(out, "; least fixed direction:");
  for (guint i = 0; i < n; i++)
    if (fabs(st->weakest[i]) >= 0.15)
      g_string_append_printf(out, " %s^%.2f", cost_info[p->free[i].id].key, st->weakest[i]);
  g_string_append_c(out, '\n');
}

static void withouts(const FitStory *s, GString *out, const char *lead) {
  for (guint i = 0; s->without && i < s->without->len; i++) {
    const FitWithout *w = &g_array_index(s->without, FitWithout, i);
    g_string_append_printf(out, "%swithout %s, the others refitted: worst %.1f %% (%s); with it %.1f %%\n", lead,
                           cost_info[w->id].key, 100 * w->worst, w->cell, 100 * s->result->worst);
  }
}

static void exponent(const char *what, const double *x, const double *y, guint n, GString *out) {
  LoglogFit f;
  if (!loglog_fit(x, y, n, &f)) return;
  g_string_append_printf(out, "  %s %.3f", what, f.exponent);
  if (f.interval) g_string_append_printf(out, " (%.3f .. %.3f)", f.low, f.high);
}

static void exponents(const FitStory *s, GString *out, const char *lead) {
  const Published *p = fit_table_published(s->table);
  for (guint i = 0; i < p->series->len; i++) {
    const PublishedSeries *series = p->series->pdata[i];
    guint n = series->points->len;
    if (n < 3) continue; /* two points lie on any power */
    g_autofree double *x = g_new(double, n), *seen = g_new(double, n), *made = g_new(double, n);
    for (guint k = 0; k < n; k++) {
      guint c = fit_table_cell(s->table, i, k);
      x[k] = g_array_index(series->points, PublishedPoint, k).x;
      seen[k] = s->problem->cells[c].observed;
      made[k] = s->result->figures[c];
    }
    g_string_append_printf(out, "%sexponent of %-16s", lead, series->column);
    exponent("published", x, seen, n, out);
    exponent("simulated", x, made, n, out);
    g_string_append_c(out, '\n');
  }
}

static void predictions(const FitStory *s, GString *out, const char *lead) {
  for (guint i = 0; s->predictions && i < s->predictions->len; i++) {
    const FitPrediction *q = &g_array_index(s->predictions, FitPrediction, i);
    g_string_append_printf(out, "%spredicted with %s, beside the fit:\n", lead, q->set);
    for (guint c = 0; c < s->problem->n_cells; c++)
      g_string_append_printf(out, "%s  %-26s %11.1f %11.1f %+7.1f %%\n", lead, s->problem->cells[c].name,
                             s->result->figures[c], q->figures[c],
                             100 * (q->figures[c] - s->result->figures[c]) / s->result->figures[c]);
  }
}

static void tables(const FitStory *s, GString *out, const char *lead) {
  cells(s, out, lead);
  searches(s, out, lead);
  constants(s, out, lead);
  identifiability(s, out, lead);
  withouts(s, out, lead);
  exponents(s, out, lead);
  predictions(s, out, lead);
}

void fit_report_text(const FitStory *s, GString *out) {
  g_string_append_printf(
      out, "stampede %s  calibrate fit  table %s  seed %" G_GUINT64_FORMAT "  %u simulations of the table\n",
      STAMPEDE_VERSION, fit_table_published(s->table)->table, s->seed, s->evals);
  g_string_append_printf(out, "other constants: profile %s\n\n", s->start);
  tables(s, out, "");
}

/* ---- the profile ---- */

static void entry(const FitStory *s, CostId id, GString *out) {
  const FitProblem *p = s->problem;
  const char *name = strchr(cost_info[id].key, '.') + 1;
  g_autofree char *value = fit_cost_text(s->result->costs.ps[id]);
  for (guint i = 0; i < p->n_free; i++) {
    if (p->free[i].id != id) continue;
    FitBound bound = fit_at_bound(&p->free[i], s->result->costs.ps[id]);
    g_string_append_printf(out, "  %s: {value: %s, from: fitted, by: \"calibrate fit to %s%s%s\"", name, value,
                           fit_table_published(s->table)->table, bound ? "; " : "", bound_words(bound));
    if (s->stats.freedom > 0 && s->stats.high[i] < 9e18) {
      g_autofree char *low = fit_cost_text(fit_round((int64_t)llround(s->stats.low[i]), 3)),
                      *high = fit_cost_text(fit_round((int64_t)llround(s->stats.high[i]), 3));
      g_string_append_printf(out, ", low: %s, high: %s", low, high);
    }
    g_string_append(out, "}\n");
    return;
  }
  for (guint i = 0; i < s->fixed->len; i++)
    if (!strcmp(s->fixed->pdata[i], cost_info[id].key)) {
      g_string_append_printf(out, "  %s: {value: %s, from: assumed, by: \"--fix on the command line of the fit\"}\n",
                             name, value);
      return;
    }
  CostSource source = scenario_cost_source(fit_table_scenario(s->table), id);
  g_autofree char *by = g_strdup(source.by);
  g_strdelimit(by, "\"\\", '\'');
  bool known = !strcmp(source.from, "measured") || !strcmp(source.from, "fitted");
  g_string_append_printf(out, "  %s: {value: %s, from: %s, by: \"%s: %s\"}\n", name, value,
                         known ? source.from : "assumed", s->start, *by ? by : "not given there");
}

void fit_report_profile(const FitStory *s, GString *out) {
  g_string_append_printf(out,
                         "# Made by `%s`\n# stampede %s, seed %" G_GUINT64_FORMAT ", %u simulations of the table.\n",
                         s->command, STAMPEDE_VERSION, s->seed, s->evals);
  g_string_append_printf(
      out,
      "# One set of constants that fits; the figures do not say that it is the true one. Constants that are"
      " not free\n# are those of profile %s.\n#\n",
      s->start);
  tables(s, out, "# ");
  g_autofree char *about = g_strdup(s->about);
  g_strdelimit(about, "\"\\", '\'');
  g_string_append_printf(out, "profile: %s\nabout: \"%s\"\n", s->name, about);
  const char *section = "";
  for (CostId id = 0; id < COST_COUNT; id++) {
    gsize n = (gsize)(strchr(cost_info[id].key, '.') - cost_info[id].key);
    if (strncmp(section, cost_info[id].key, n + 1) != 0)
      g_string_append_printf(out, "%.*s:\n", (int)n, section = cost_info[id].key);
    entry(s, id, out);
  }
}
