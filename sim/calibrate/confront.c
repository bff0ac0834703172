/* confront.c - see confront.h. */
#include "sim/calibrate/confront.h"
#include <math.h>

void confrontation_clear(Confrontation *c) {
  g_free(c->version);
  g_free(c->exit_order);
  g_free(c->scenario);
  g_free(c->profile);
  storm_series_free(c->real);
  storm_series_free(c->model);
  beside_free(c->beside);
  if (c->by_function) g_string_free(c->by_function, TRUE);
}

int64_t confront_own(const Confrontation *c, guint k, guint i) {
  return g_array_index(storm_iteration(c->real, k)->backends, StormBackend, i).own_pages - c->real_alone.own_pages;
}

int64_t confront_added(const Confrontation *c, guint k, guint i) {
  return c->beside ? beside_own(c->beside, k, i) : confront_own(c, k, i);
}

/* The simulated iteration with what was measured beside it added to each backend. */
static StormFigures with_measured(const Confrontation *c, guint k) {
  const StormIteration *model = storm_iteration(c->model, k);
  g_autoptr(GArray) backends = g_array_copy(model->backends);
  StormIteration sum = {.backends = backends, .pagetable_kib = model->pagetable_kib, .connect_ms = model->connect_ms};
  for (guint i = 0; i < backends->len; i++) {
    StormBackend *b = &g_array_index(backends, StormBackend, i);
    b->own_pages = confront_added(c, k, i);
    b->faults += b->own_pages;
  }
  return storm_figures(&sum, (double)(c->real_alone.faults - c->model_alone.faults),
                       (double)(c->real_alone.pagetable_kib - c->model_alone.pagetable_kib));
}

StormFigures confront_figures(const Confrontation *c, guint k, bool real) {
  return real ? storm_figures(storm_iteration(c->real, k), 0, 0) : with_measured(c, k);
}

guint confront_named(const Confrontation *c, guint k, bool real, ConfrontFigure out[CONFRONT_FIGURES]) {
  static const char *const tenths[STORM_TENTHS] = {
      "faults_tenth[1]", "faults_tenth[2]", "faults_tenth[3]", "faults_tenth[4]", "faults_tenth[5]",
      "faults_tenth[6]", "faults_tenth[7]", "faults_tenth[8]", "faults_tenth[9]", "faults_tenth[10]"};
  StormFigures f = confront_figures(c, k, real);
  guint n = 0;
  out[n++] = (ConfrontFigure){"faults_mean", f.mean};
  out[n++] = (ConfrontFigure){"faults_mean_minus_first", f.mean - confront_figures(c, 0, real).mean};
  out[n++] = (ConfrontFigure){"faults_first50", f.first};
  out[n++] = (ConfrontFigure){"faults_last50", f.last};
  out[n++] = (ConfrontFigure){"faults_last50_minus_first50", f.last - f.first};
  out[n++] = (ConfrontFigure){"pagetable_kib", f.pagetable_kib};
  out[n++] = (ConfrontFigure){"connect_ms", f.connect_ms};
  out[n++] = (ConfrontFigure){"own_pages_beyond_alone", f.own_pages - (real ? (double)c->real_alone.own_pages : 0)};
  if (real) out[n++] = (ConfrontFigure){"resident_kib", f.resident_kib};
  for (guint i = 0; f.tenths && i < STORM_TENTHS; i++) out[n++] = (ConfrontFigure){tenths[i], f.tenth[i]};
  g_assert(n <= CONFRONT_FIGURES);
  return n;
}

static void agreement_clear(gpointer a) {
  g_free(((Agreement *)a)->what);
}

static void judge(GArray *all, guint k, const char *what, double real, double model, double allowed) {
  Agreement a = {.what = g_strdup_printf("iteration[%u].%s", k + 1, what),
                 .real = real,
                 .model = model,
                 .allowed = allowed,
                 .agrees = fabs(real - model) <= allowed};
  g_array_append_val(all, a);
}

static double allowed_faults(double real) {
  return MAX(1, fabs(real) * CONFRONT_PERCENT / 100);
}

GArray *confront_judge(const Confrontation *c) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Agreement));
  g_array_set_clear_func(all, agreement_clear);
  StormFigures first_real = confront_figures(c, 0, true), first_model = confront_figures(c, 0, false);
  for (guint k = 0; k < c->real->iterations->len; k++) {
    StormFigures r = confront_figures(c, k, true), m = confront_figures(c, k, false);
    double real = r.last - r.first;
    judge(all, k, "faults_last50_minus_first50", real, m.last - m.first, allowed_faults(real));
    real = r.mean - first_real.mean;
    if (k) judge(all, k, "faults_mean_minus_first", real, m.mean - first_model.mean, allowed_faults(real));
    judge(all, k, "pagetable_kib", r.pagetable_kib, m.pagetable_kib, r.pagetable_kib * CONFRONT_TABLE_PERCENT / 100);
  }
  return all;
}

bool confront_all_agree(const GArray *all) {
  for (guint i = 0; i < all->len; i++)
    if (!g_array_index(all, Agreement, i).agrees) return false;
  return true;
}
