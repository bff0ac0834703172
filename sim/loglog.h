/* loglog.h - how does y grow with x? The exponent of y = c x^b and how sure it is.
 *
 * Ordinary least squares of Y = ln y on X = ln x over n points: b = Sxy / Sxx, ln c = mean(Y) - b mean(X). With
 * residuals r, s^2 = sum(r^2) / (n - 2), the 95 % interval of b is b +- t(0.975, n - 2) s / sqrt(Sxx), t the quantile
 * of Student's distribution (Draper and Smith, Applied Regression Analysis, section 1.4). It supposes independent
 * residuals of one spread in log space: a curve that bends has a wide interval, which is what it should say. Results
 * are rounded to six decimals, so that the last bit of a machine's log() does not show. */
#pragma once
#include <glib.h>
#include <stdbool.h>

typedef struct {
  guint n;
  double exponent, factor; /* b; c, to six significant digits */
  bool interval;           /* n > 2: low and high are set, else both are the exponent */
  double low, high;        /* the 95 % interval of the exponent */
} LoglogFit;

/* false: fewer than two different x, or a value that is not positive and finite; *out is all zero then. */
bool loglog_fit(const double *x, const double *y, guint n, LoglogFit *out);

/* The p-quantile of Student's t with df degrees of freedom, 0.5 <= p < 1, df >= 1, to about 1e-12. */
double student_t_quantile(double p, guint df);
