/* test_rng.c - the generator against published outputs, the draws against closed forms.
 *
 * Statistical bounds: five standard errors, so that a correct generator would fail once in about two million seeds; the
 * seeds are fixed, so each test always says the same. */
#include "model/world/rng.h"
#include "tests/harness.h"
#include <math.h>

enum { DRAWS = 1000000, BINS = 64 };

/* From state {1, 2, 3, 4}: what implementations of xoshiro256** publish as their test vector. Three are quick by hand:
 * s[1] is 2, then 2 ^ (3 ^ 1) = 0, then 0 ^ (2 ^ 2 << 17 ^ 7) = 262149; each gives rotl(s[1] * 5, 7) * 9. */
static void is_xoshiro256starstar(void) {
  static const uint64_t published[] = {11520,
                                       0,
                                       1509978240,
                                       1215971899390074240,
                                       1216172134540287360,
                                       607988272756665600,
                                       16172922978634559625u,
                                       8476171486693032832,
                                       10595114339597558777u,
                                       2904607092377533576};
  Rng r = {{1, 2, 3, 4}};
  for (guint i = 0; i < G_N_ELEMENTS(published); i++) expect(rng_next(&r) == published[i]);
}

static void streams_are_named(void) {
  Rng a, b, other_name, other_seed;
  rng_init(&a, 7, "exit-order");
  rng_init(&b, 7, "exit-order");
  rng_init(&other_name, 7, "exit-ordes");
  rng_init(&other_seed, 8, "exit-order");
  uint64_t x = rng_next(&a);
  expect(x == rng_next(&b));
  expect(x != rng_next(&other_name));
  expect(x != rng_next(&other_seed));
}

/* Between the outputs of two streams, as between random words, half of the bits differ. */
static void streams_are_unrelated(void) {
  Rng a, b;
  rng_init(&a, 1, "a");
  rng_init(&b, 1, "b");
  int64_t differ = 0, n = 100000;
  for (int i = 0; i < n; i++) differ += __builtin_popcountll(rng_next(&a) ^ rng_next(&b));
  expect_near((double)differ, 32.0 * (double)n, 5 * sqrt(16.0 * (double)n) / (32.0 * (double)n));
}

/* Pearson's statistic of counts that should all be `each`; mean bins-1, variance 2(bins-1). */
static double chi_square(const int *count, int bins, double each) {
  double sum = 0;
  for (int i = 0; i < bins; i++) sum += (count[i] - each) * (count[i] - each) / each;
  return sum;
}

static void expect_chi_square(double saw, int bins) {
  double freedom = bins - 1, spread = 5 * sqrt(2 * freedom);
  if (fabs(saw - freedom) > spread) fprintf(stderr, "chi-square %g, not %g +- %g\n", saw, freedom, spread);
  CU_ASSERT(fabs(saw - freedom) <= spread);
}

static void below_is_uniform(void) {
  Rng r;
  rng_init(&r, 2, "below");
  int count[7] = {0};
  for (int i = 0; i < 700000; i++) count[rng_below(&r, 7)]++;
  expect_chi_square(chi_square(count, 7, 100000), 7);
  for (int i = 0; i < 100; i++) expect_int(rng_below(&r, 1), ==, 0);
}

/* Where plain multiplication is most biased: for n = 3/4 of 2^64 it would give every third value twice as often as each
 * of the others. The value's rest modulo 3 shows it. */
static void below_is_unbiased(void) {
  Rng r;
  rng_init(&r, 3, "below");
  uint64_t n = (uint64_t)3 << 62;
  int count[3] = {0};
  for (int i = 0; i < 300000; i++) {
    uint64_t x = rng_below(&r, n);
    g_assert(x < n);
    count[x % 3]++;
  }
  expect_chi_square(chi_square(count, 3, 100000), 3);
}

/* Mean m, variance m^2, third central moment 2 m^3; the mean of n draws has standard error m/sqrt(n), their mean square
 * (2 m^2) has sqrt(20/n) m^2. */
static void exponential_has_its_moments(void) {
  Rng r;
  rng_init(&r, 4, "exponential");
  double m = 1e9, sum = 0, squares = 0;
  for (int i = 0; i < DRAWS; i++) {
    double x = (double)rng_exponential(&r, 1000000000) / m;
    sum += x;
    squares += x * x;
  }
  expect_near(sum / DRAWS, 1.0, 5 / sqrt(DRAWS));
  expect_near(squares / DRAWS, 2.0, 5 * sqrt(20.0 / DRAWS) / 2);
}

/* BINS intervals of equal chance: F(x) = 1 - e^-x falls in each of them equally often. Covers the tail to 4.2 means. */
static void exponential_has_its_distribution(void) {
  Rng r;
  rng_init(&r, 5, "exponential");
  int count[BINS] = {0}, beyond = 0;
  for (int i = 0; i < DRAWS; i++) {
    double x = (double)rng_exponential(&r, (int64_t)1 << 40) / (double)((int64_t)1 << 40);
    count[MIN(BINS - 1, (int)(-expm1(-x) * BINS))]++;
    beyond += x > 10;
  }
  expect_chi_square(chi_square(count, BINS, (double)DRAWS / BINS), BINS);
  double tail = DRAWS * exp(-10); /* 45.4, Poisson */
  expect(fabs(beyond - tail) < 5 * sqrt(tail));
}

/* Rounded half up, k comes with chance e^-(k-1/2)/m - e^-(k+1/2)/m; m = 2 shows a wrong rounding at once. */
static void exponential_rounds_half_up(void) {
  Rng r;
  rng_init(&r, 6, "exponential");
  int count[4] = {0};
  for (int i = 0; i < DRAWS; i++) {
    int64_t x = rng_exponential(&r, 2);
    if (x < 4) count[x]++;
  }
  for (int k = 0; k < 4; k++) {
    double p = (k ? exp(-(k - 0.5) / 2) : 1) - exp(-(k + 0.5) / 2);
    expect_near(count[k], DRAWS * p, 5 * sqrt((1 - p) / (DRAWS * p)));
  }
}

static void exponential_at_its_ends(void) {
  Rng r;
  rng_init(&r, 7, "exponential");
  int saturated = 0;
  for (int i = 0; i < 1000; i++) {
    expect_int(rng_exponential(&r, 0), ==, 0);
    expect_int(rng_exponential_of((uint32_t)rng_next(&r), INT64_MAX), >=, 0);
    int64_t x = rng_exponential(&r, INT64_MAX);
    if (x < 0) expect_int(x, >=, 0);
    saturated += x == INT64_MAX;
  }
  double p = exp(-1); /* of being above the mean */
  expect_near(saturated, 1000 * p, 5 * sqrt((1 - p) / (1000 * p)));
}

/* Any one input bit flips each output bit half of the time. */
static void mix_scatters(void) {
  int n = 2000;
  for (int bit = 0; bit < 128; bit++) {
    int64_t flipped = 0;
    for (int i = 0; i < n; i++) {
      uint64_t a = (uint64_t)i, b = (uint64_t)i / 3, x = bit < 64 ? (uint64_t)1 << bit : 0;
      uint64_t y = bit < 64 ? 0 : (uint64_t)1 << (bit - 64);
      flipped += __builtin_popcountll(rng_mix(a, b) ^ rng_mix(a ^ x, b ^ y));
    }
    expect_near((double)flipped, 32.0 * n, 0.02);
  }
  expect(rng_mix(1, 2) != rng_mix(2, 1));
}

int main(void) {
  return suite_run("rng", (const Case[]){{"is xoshiro256**", is_xoshiro256starstar},
                                         {"streams are named", streams_are_named},
                                         {"streams are unrelated", streams_are_unrelated},
                                         {"below is uniform", below_is_uniform},
                                         {"below is unbiased", below_is_unbiased},
                                         {"exponential has its moments", exponential_has_its_moments},
                                         {"exponential has its distribution", exponential_has_its_distribution},
                                         {"exponential rounds half up", exponential_rounds_half_up},
                                         {"exponential at its ends", exponential_at_its_ends},
                                         {"mix scatters", mix_scatters},
                                         {0}});
}
