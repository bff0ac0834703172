/* bootstrap.c - see bootstrap.h. Sums run over pairs in a fixed order and nothing here depends on a machine's libm but
 * the tail, which is rounded. */
#include "sim/bootstrap.h"
#include "model/world/rng.h"
#include "sim/loglog.h"
#include <math.h>
#include <stdlib.h>

typedef struct {
  double a, b;
} Sums;

static double statistic_of(Sums s, guint n, BootstrapStatistic what) {
  g_assert(what == BOOTSTRAP_DIFFERENCE || s.a > 0);
  return what == BOOTSTRAP_DIFFERENCE ? (s.b - s.a) / n : (s.b - s.a) / s.a;
}

static int ascending(const void *p, const void *q) {
  const double x = *(const double *)p, y = *(const double *)q;
  return (x > y) - (x < y);
}

double *bootstrap_resamples(const double *a, const double *b, guint n, BootstrapStatistic what, uint64_t seed) {
  double *all = g_new(double, BOOTSTRAP_RESAMPLES);
  Rng r;
  rng_init(&r, seed, "bootstrap");
  for (guint i = 0; i < BOOTSTRAP_RESAMPLES; i++) {
    Sums s = {0, 0};
    for (guint k = 0; k < n; k++) {
      const uint64_t pair = rng_below(&r, n);
      s.a += a[pair];
      s.b += b[pair];
    }
    all[i] = statistic_of(s, n, what);
  }
  qsort(all, BOOTSTRAP_RESAMPLES, sizeof *all, ascending);
  return all;
}

/* Phi(-x) = erfc(x / sqrt 2) / 2. */
double bootstrap_tail(guint n) {
  g_assert(n > 1);
  const double x = sqrt((double)n / (n - 1)) * student_t_quantile(0.975, n - 1);
  return floor(erfc(x / sqrt(2)) / 2 * 1e9 + 0.5) / 1e9;
}

/* A ratio of sums lies between the least and the largest ratio of a pair, as a mean does. */
static void range_of_pairs(const double *a, const double *b, guint n, BootstrapStatistic what, BootstrapInterval *out) {
  out->low = out->high = statistic_of((Sums){a[0], b[0]}, 1, what);
  double outside = 1;
  for (guint i = 1; i < n; i++) {
    const double v = statistic_of((Sums){a[i], b[i]}, 1, what);
    out->low = MIN(out->low, v);
    out->high = MAX(out->high, v);
    outside /= 2;
  }
  out->level = MIN(0.95, 1 - outside);
}

static bool alike(const double *v, guint n) {
  for (guint i = 1; i < n; i++)
    if (v[i] < v[0] || v[i] > v[0]) return false;
  return true;
}

BootstrapInterval bootstrap_paired(const double *a, const double *b, guint n, BootstrapStatistic what, uint64_t seed) {
  g_assert(n > 0);
  BootstrapInterval out = {.level = 0.95};
  Sums s = {0, 0};
  for (guint i = 0; i < n; i++) s = (Sums){s.a + a[i], s.b + b[i]};
  out.value = statistic_of(s, n, what);
  if (n < BOOTSTRAP_LEAST || (alike(a, n) && alike(b, n))) {
    range_of_pairs(a, b, n, what, &out);
    return out;
  }
  g_autofree double *all = bootstrap_resamples(a, b, n, what, seed);
  const guint cut = (guint)(bootstrap_tail(n) * BOOTSTRAP_RESAMPLES);
  out.low = all[cut];
  out.high = all[BOOTSTRAP_RESAMPLES - 1 - cut];
  g_assert(out.low <= out.high);
  return out;
}

bool bootstrap_effect(const double *a, const double *b, guint n, double *effect) {
  g_autofree double *d = g_new(double, n);
  double mean = 0, squares = 0;
  for (guint i = 0; i < n; i++) mean += (d[i] = b[i] - a[i]) / n;
  for (guint i = 0; i < n; i++) squares += (d[i] - mean) * (d[i] - mean);
  if (n < 2 || alike(d, n)) return false; /* the sum of squares may be off 0 by a rounding */
  *effect = mean / sqrt(squares / (n - 1));
  return true;
}
