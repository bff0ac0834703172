/* fit_stats.c - how well fitted constants are known: the Jacobian of the residuals by central differences.
 *
 * With J = d(residual / tolerance) / d(ln constant) and s^2 = objective / (cells - constants), the covariance of the
 * logarithms is s^2 (J'J)^-1 (Draper and Smith, Applied Regression Analysis, section 24.1), and a constant's 95 %
 * interval is value * exp(-+ t s sqrt((J'J)^-1_ii)). It supposes that the miss is scatter and the constants act
 * smoothly over FIT_STEP_PERCENT; neither holds exactly of a piecewise simulator, so the interval is a measure, not a
 * promise. Columns that point the same way (cosine near 1) belong to constants that the figures cannot tell apart. */
#include "sim/fit.h"
#include "sim/loglog.h"
#include <math.h>
#include <string.h>

typedef double Matrix[FIT_MAX_FREE][FIT_MAX_FREE];

/* One rotation of Jacobi's method: makes a[p][q] zero. */
static void rotate(Matrix a, Matrix v, guint p, guint q, guint n) {
  double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
  for (guint k = 0; k < n; k++) {
    double kp = a[k][p], kq = a[k][q];
    a[k][p] = c * kp - s * kq;
    a[k][q] = s * kp + c * kq;
  }
  for (guint k = 0; k < n; k++) {
    double pk = a[p][k], qk = a[q][k], vp = v[k][p], vq = v[k][q];
    a[p][k] = c * pk - s * qk;
    a[q][k] = s * pk + c * qk;
    v[k][p] = c * vp - s * vq;
    v[k][q] = s * vp + c * vq;
  }
}

static void order(Matrix a, Matrix v, double *value, guint n) {
  for (guint i = 0; i < n; i++) value[i] = a[i][i];
  for (guint i = 0; i < n; i++)
    for (guint j = i + 1; j < n; j++) {
      if (value[j] <= value[i]) continue;
      double swap = value[i];
      value[i] = value[j];
      value[j] = swap;
      for (guint k = 0; k < n; k++) swap = v[k][i], v[k][i] = v[k][j], v[k][j] = swap;
    }
}

void symmetric_eigen(Matrix a, Matrix v, double *value, guint n) {
  enum { SWEEPS = 60 };
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++) v[i][j] = i == j;
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (guint p = 0; p < n; p++)
      for (guint q = p + 1; q < n; q++)
        if (fabs(a[p][q]) > 1e-300 && fabs(a[p][q]) > 1e-15 * sqrt(fabs(a[p][p] * a[q][q]))) rotate(a, v, p, q, n);
  order(a, v, value, n);
}

/* Column i: how the cells move with ln(constant i). */
static bool column(const FitProblem *p, const FitResult *best, guint i, double *down, double *up, GError **error) {
  CostId id = p->free[i].id;
  Costs less = best->costs, more = best->costs;
  const double step = FIT_STEP_PERCENT / 100.0;
  less.ps[id] = (int64_t)llround((double)best->costs.ps[id] * (1 - step));
  more.ps[id] = (int64_t)llround((double)best->costs.ps[id] * (1 + step));
  if (!p->simulate(p->data, &less, down, error) || !p->simulate(p->data, &more, up, error)) return false;
  for (guint c = 0; c < p->n_cells; c++)
    up[c] = p->cells[c].counted ? (up[c] - down[c]) / p->cells[c].tolerance / log((1 + step) / (1 - step)) : 0;
  return true;
}

static void products(const double *jacobian, guint cells, guint n, Matrix a) {
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++) {
      a[i][j] = 0;
      for (guint c = 0; c < cells; c++) a[i][j] += jacobian[i * cells + c] * jacobian[j * cells + c];
    }
}

static void intervals(const FitProblem *p, const FitResult *best, Matrix v, const double *value, FitStats *out) {
  guint n = p->n_free;
  double t = out->freedom > 0 ? student_t_quantile(0.975, (guint)out->freedom) : 0;
  for (guint i = 0; i < n; i++) {
    double variance = 0, x = (double)best->costs.ps[p->free[i].id];
    for (guint k = 0; k < n; k++) {
      double w = v[i][k] * v[i][k];
      if (w > 1e-12) variance += value[k] > 1e-10 * value[0] ? w / value[k] : HUGE_VAL;
    }
    double wide = out->freedom > 0 && value[0] > 0 ? t * out->scatter * sqrt(variance) : HUGE_VAL;
    out->low[i] = x * exp(-wide);
    out->high[i] = x * exp(wide);
  }
}

bool fit_stats(const FitProblem *p, const FitResult *best, FitStats *out, GError **error) {
  guint n = p->n_free, counted = 0;
  *out = (FitStats){0};
  if (n == 0) return true;
  g_autofree double *jacobian = g_new0(double, (gsize)n * p->n_cells), *down = g_new0(double, p->n_cells);
  for (guint i = 0; i < n; i++)
    if (!column(p, best, i, down, &jacobian[i * p->n_cells], error)) return false;
  for (guint c = 0; c < p->n_cells; c++) counted += p->cells[c].counted;
  out->freedom = (int)counted - (int)n;
  out->scatter = out->freedom > 0 ? sqrt(best->objective / out->freedom) : 0;
  Matrix a = {{0}}, v = {{0}};
  double value[FIT_MAX_FREE] = {0};
  products(jacobian, p->n_cells, n, a);
  for (guint i = 0; i < n; i++) out->effect[i] = sqrt(a[i][i]);
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      out->cosine[i][j] = a[i][i] > 0 && a[j][j] > 0 ? a[i][j] / (out->effect[i] * out->effect[j]) : 0;
  symmetric_eigen(a, v, value, n);
  for (guint k = 0; k < n; k++) out->singular[k] = sqrt(MAX(value[k], 0));
  for (guint i = 0; i < n; i++) out->weakest[i] = v[i][n - 1];
  intervals(p, best, v, value, out);
  return true;
}
