/* test_loglog.c - the exponent of a power law and its interval. */
#include "sim/loglog.h"
#include "tests/harness.h"
#include <math.h>

static void power_laws_are_exact(void) {
  static const double exponents[] = {-1, 0, 0.5, 1, 2};
  const double x[] = {512, 1024, 2048, 4096, 8192};
  for (guint e = 0; e < G_N_ELEMENTS(exponents); e++) {
    double y[5];
    for (guint i = 0; i < 5; i++) y[i] = 7 * pow(x[i], exponents[e]);
    LoglogFit f;
    expect(loglog_fit(x, y, 5, &f));
    expect_near(f.exponent + 10, exponents[e] + 10, 1e-7);
    expect_near(f.factor, 7, 1e-5);
    expect_near(1 + f.high - f.low, 1, 1e-5);
  }
}

/* ln x = 0, 1, 2, 3 and ln y = 0, 1, 1, 2 (to 17 digits). By hand: Sxx = 5, Sxy = 3, b = 0.6, residuals -0.1, 0.3,
 * -0.3, 0.1, s^2 = 0.2 / 2 = 0.1, standard error sqrt(0.1 / 5) = 0.141421, t(0.975, 2) = 4.302653:
 * 0.6 -+ 0.608487. ln c = 1 - 0.6 * 1.5 = 0.1, c = 1.105171. */
static void by_hand(void) {
  const double e1 = 2.718281828459045, e2 = 7.38905609893065, e3 = 20.085536923187668;
  const double x[] = {1, e1, e2, e3}, y[] = {1, e1, e1, e2};
  LoglogFit f;
  expect(loglog_fit(x, y, 4, &f));
  expect_near(f.exponent, 0.6, 2e-6);
  expect_near(f.low, 0.6 - 0.608487, 2e-4);
  expect_near(f.high, 0.6 + 0.608487, 2e-6);
  expect_near(f.factor, 1.105171, 1e-5);
}

/* Any table of Student's t. */
static void quantiles(void) {
  static const struct {
    guint df;
    double t;
  } table[] = {{1, 12.7062},  {2, 4.30265},  {3, 3.18245},  {4, 2.77645},  {5, 2.57058},
               {10, 2.22814}, {29, 2.04523}, {30, 2.04227}, {120, 1.97993}};
  for (guint i = 0; i < G_N_ELEMENTS(table); i++) expect_near(student_t_quantile(0.975, table[i].df), table[i].t, 3e-6);
  expect_near(student_t_quantile(0.95, 1), 6.31375, 1e-5);
}

/* connect-storm's first column grows linearly: 480 ... 7440 from 512 to 8192. The slope between the ends alone is
 * log(15.5)/log(16) = 0.98855. */
static void two_points_have_no_interval(void) {
  const double x[] = {512, 8192}, y[] = {480, 7440};
  LoglogFit f;
  expect(loglog_fit(x, y, 2, &f));
  expect_near(f.exponent, 0.98855, 1e-4);
  expect(!f.interval);
}

static void refuses(void) {
  LoglogFit f;
  const double same[] = {5, 5, 5}, y[] = {1, 2, 3}, zero[] = {1, 0, 2};
  expect(!loglog_fit(same, y, 3, &f));
  expect(!loglog_fit(y, zero, 3, &f));
  expect(!loglog_fit(zero, y, 3, &f));
  expect(!loglog_fit(y, y, 1, &f));
  expect_int(f.n, ==, 0);
}

int main(void) {
  return suite_run("loglog", (const Case[]){{"power laws are exact", power_laws_are_exact},
                                            {"an example computed by hand", by_hand},
                                            {"quantiles of Student's t", quantiles},
                                            {"two points have no interval", two_points_have_no_interval},
                                            {"refuses what has no slope", refuses},
                                            {0}});
}
