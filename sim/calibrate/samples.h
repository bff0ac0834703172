/* samples.h - repeated measurements and what they are worth: median, quartiles, and whether they say anything. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Where time comes from: the machine's clock, or a test's. */
typedef struct {
  int64_t (*now_ns)(void *data);
  void *data;
} SampleClock;
SampleClock sample_clock_real(void); /* CLOCK_MONOTONIC */

enum { SAMPLES = 21, SAMPLE_BATCHES = 5, SAMPLES_LEAST = 9, SPREAD_MOST_PERCENT = 50 };

typedef struct {
  double median, low, high; /* low, high: quartiles */
  guint n;
} SampleStats;
/* Of n values, n > 0, which are sorted. */
SampleStats sample_stats(double *values, guint n);
/* Distance of the quartiles as a share of the median; infinite for a median that is not positive. */
double sample_spread(const SampleStats *s);
/* NULL: worth writing down. Else why not, in words; caller frees. */
char *sample_worthless(const SampleStats *s);

/* `samples` samples of nanoseconds a unit: each is the fastest of SAMPLE_BATCHES batches, since whatever disturbs a
 * batch only ever makes it longer. */
SampleStats sample_batches(const SampleClock *clock, guint samples, void (*batch)(void *state), void *state,
                           double units);
/* The same, where `batch` says itself how many nanoseconds it took; < 0: it failed, and all of it has (n = 0). */
SampleStats sample_told(guint samples, double (*batch)(void *state), void *state, double units);
/* What `more` takes beyond `less`, by unit, both by the same batch and each by its own units: a sample is the
 * difference of two fastest batches taken one after the other, so what drifts cancels. */
typedef struct {
  void *state;
  double units;
} SampleSide;
SampleStats sample_difference(guint samples, double (*batch)(void *state), SampleSide more, SampleSide less,
                              double units);
