/* bootstrap.h - how sure is the difference of two means that were measured in pairs, a pair a seed?
 *
 * Pairs are drawn again, with replacement, as many as there are; that BOOTSTRAP_RESAMPLES times, and an interval is cut
 * from the sorted values of the statistic. Draws come from a seeded stream: the same pairs and seed give the same
 * interval. Where it is cut: the expanded percentiles of Hesterberg, "What Teachers Should Know about the Bootstrap"
 * (The American Statistician 69, 2015), Phi(-sqrt(n / (n - 1)) t) with t the 97.5 % quantile of Student's distribution
 * for n - 1 degrees of freedom. The plain 2.5 % are too narrow for few pairs: resampled means spread less than means
 * do, by sqrt((n - 1) / n), and their normal shape knows nothing of a spread that was itself estimated.
 *
 * What no resampling can give with fewer than six pairs is 95 %: all its values lie between the least and the largest
 * pair, and the median lies outside of these with the probability 2^(1-n). There the interval is that range, and its
 * level 1 - 2^(1-n): 75 % with three pairs, 94 % with five. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { BOOTSTRAP_RESAMPLES = 10000, BOOTSTRAP_LEAST = 6 };

typedef enum {
  BOOTSTRAP_DIFFERENCE, /* mean(b) - mean(a) */
  BOOTSTRAP_RATIO       /* mean(b) / mean(a) - 1; every a > 0 */
} BootstrapStatistic;

typedef struct {
  double value, low, high; /* of the statistic */
  double level;            /* 0.95, or less (above); 0 with one pair, which has no interval */
} BootstrapInterval;

BootstrapInterval bootstrap_paired(const double *a, const double *b, guint n, BootstrapStatistic what, uint64_t seed);
double bootstrap_tail(guint n); /* what is cut off at each side, to nine decimals; n > 1 */
/* The statistic of each resample, ascending; BOOTSTRAP_RESAMPLES of them, to be freed. */
double *bootstrap_resamples(const double *a, const double *b, guint n, BootstrapStatistic what, uint64_t seed);

/* Cohen's d of paired values: the mean of b - a by its standard deviation (Cohen 1988, section 2.3.5). False: one pair,
 * or no spread. */
bool bootstrap_effect(const double *a, const double *b, guint n, double *effect);
