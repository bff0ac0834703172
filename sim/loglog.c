/* loglog.c - least squares in log space. Reporting only: nothing that is decided depends on these doubles. */
#include "sim/loglog.h"
#include <math.h>

/* P(|T| <= t) for integer df, the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4, theta = atan(t / sqrt df). */
static double student_t_within(double t, guint df) {
  double theta = atan(t / sqrt(df)), c = cos(theta), s = sin(theta), term, sum;
  bool odd = df % 2;
  if (df == 1) return 2 / G_PI * theta;
  sum = term = odd ? c : 1;
  for (guint k = odd ? 3 : 2; k <= df - 2; k += 2) {
    term *= c * c * (k - 1) / k;
    sum += term;
  }
  return odd ? 2 / G_PI * (theta + s * sum) : s * sum;
}

double student_t_quantile(double p, guint df) {
  g_assert(p >= 0.5 && p < 1 && df >= 1);
  double low = 0, high = 1, within = 2 * p - 1;
  while (student_t_within(high, df) < within) high *= 2;
  for (guint halvings = 0; halvings < 80; halvings++) {
    double middle = (low + high) / 2;
    if (student_t_within(middle, df) < within)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

static double rounded(double v) {
  return floor(v * 1e6 + 0.5) / 1e6;
}

/* To six significant digits: a factor may be 1e-9 or 1e9. */
static double rounded_factor(double v) {
  if (!(v > 0) || !isfinite(v)) return v;
  double scale = pow(10, 5 - floor(log10(v)));
  return isfinite(scale) && scale > 0 ? floor(v * scale + 0.5) / scale : v;
}

static bool positive(const double *v, guint n) {
  for (guint i = 0; i < n; i++)
    if (!isfinite(v[i]) || v[i] <= 0) return false;
  return true;
}

static double mean_log(const double *v, guint n) {
  double sum = 0;
  for (guint i = 0; i < n; i++) sum += log(v[i]);
  return sum / n;
}

bool loglog_fit(const double *x, const double *y, guint n, LoglogFit *out) {
  *out = (LoglogFit){0};
  if (n < 2 || !positive(x, n) || !positive(y, n)) return false;
  bool different = false;
  for (guint i = 1; i < n; i++) different = different || x[i] < x[0] || x[i] > x[0];
  if (!different) return false;
  double mx = mean_log(x, n), my = mean_log(y, n), sxx = 0, sxy = 0, rest = 0, half = 0;
  for (guint i = 0; i < n; i++) {
    sxx += (log(x[i]) - mx) * (log(x[i]) - mx);
    sxy += (log(x[i]) - mx) * (log(y[i]) - my);
  }
  g_assert(sxx > 0);
  double b = sxy / sxx;
  for (guint i = 0; i < n; i++) {
    double r = log(y[i]) - my - b * (log(x[i]) - mx);
    rest += r * r;
  }
  if (n > 2) half = student_t_quantile(0.975, n - 2) * sqrt(rest / (n - 2) / sxx);
  *out = (LoglogFit){n, rounded(b), rounded_factor(exp(my - b * mx)), n > 2, rounded(b - half), rounded(b + half)};
  return true;
}
