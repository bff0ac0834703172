/* samples.c - see samples.h. */
#include "sim/calibrate/samples.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

static int64_t monotonic(void *data) {
  struct timespec t;
  (void)data;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
SampleClock sample_clock_real(void) {
  return (SampleClock){monotonic, NULL};
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Between the two values that the place falls between. */
static double quantile(const double *sorted, guint n, double q) {
  double place = q * (n - 1);
  guint below = (guint)place;
  return below + 1 < n ? sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]) : sorted[n - 1];
}

SampleStats sample_stats(double *v, guint n) {
  g_assert(n > 0);
  qsort(v, n, sizeof *v, by_value);
  return (SampleStats){quantile(v, n, 0.5), quantile(v, n, 0.25), quantile(v, n, 0.75), n};
}

double sample_spread(const SampleStats *s) {
  return s->median > 0 ? (s->high - s->low) / s->median : HUGE_VAL;
}

char *sample_worthless(const SampleStats *s) {
  if (s->n < SAMPLES_LEAST) return g_strdup_printf("%u samples, at least %d are needed", s->n, SAMPLES_LEAST);
  if (!(s->median > 0)) return g_strdup_printf("a median of %.3g ns is no cost", s->median);
  double percent = 100 * sample_spread(s);
  if (percent <= SPREAD_MOST_PERCENT) return NULL;
  return g_strdup_printf(
      "half of the samples lie between %.4g and %.4g ns around a median of %.4g: a spread of %.0f %%, "
      "more than %d %%; is the machine busy?",
      s->low, s->high, s->median, percent, SPREAD_MOST_PERCENT);
}

typedef struct {
  const SampleClock *clock;
  void (*batch)(void *state);
  void *state;
} Timed;

static double time_one(void *data) {
  const Timed *t = data;
  int64_t from = t->clock->now_ns(t->clock->data);
  t->batch(t->state);
  return (double)(t->clock->now_ns(t->clock->data) - from);
}

SampleStats sample_batches(const SampleClock *clock, guint samples, void (*batch)(void *state), void *state,
                           double units) {
  Timed t = {clock, batch, state};
  batch(state); /* warms caches and branches */
  return sample_told(samples, time_one, &t, units);
}

/* < 0: it failed. */
static double fastest(double (*batch)(void *state), void *state) {
  double best = HUGE_VAL;
  for (guint k = 0; k < SAMPLE_BATCHES; k++) {
    double ns = batch(state);
    if (ns < 0) return -1;
    best = MIN(best, ns);
  }
  return best;
}

SampleStats sample_told(guint samples, double (*batch)(void *state), void *state, double units) {
  g_autofree double *v = g_new(double, samples);
  g_assert(samples > 0 && units > 0);
  for (guint i = 0; i < samples; i++) {
    double ns = fastest(batch, state);
    if (ns < 0) return (SampleStats){0};
    v[i] = ns / units;
  }
  return sample_stats(v, samples);
}

SampleStats sample_difference(guint samples, double (*batch)(void *state), SampleSide more, SampleSide less,
                              double units) {
  g_autofree double *v = g_new(double, samples);
  g_assert(samples > 0 && units > 0 && more.units > 0 && less.units > 0);
  for (guint i = 0; i < samples; i++) {
    double a = fastest(batch, more.state), b = fastest(batch, less.state);
    if (a < 0 || b < 0) return (SampleStats){0};
    v[i] = (a / more.units - b / less.units) / units;
  }
  return sample_stats(v, samples);
}
