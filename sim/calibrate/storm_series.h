/* storm_series.h - what each backend of a storm took, real or simulated, by iteration and in the order of connecting;
 * and the figures made of it. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  int64_t faults, pagetable_kib;
  int64_t pid, resident_kib, own_pages; /* of real ones only */
  double connect_ms;
} StormBackend;

typedef struct {
  GArray *backends;                 /* of StormBackend */
  GArray *leaving;                  /* of guint: who leaves first, second, ...; places among the connects */
  double pagetable_kib, connect_ms; /* sums over backends */
} StormIteration;

typedef struct {
  GPtrArray *iterations; /* of StormIteration */
  GArray *alone;         /* of StormBackend: connects while nobody else is connected, before the first iteration */
} StormSeries;

StormSeries *storm_series_new(guint iterations);
void storm_series_free(StormSeries *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StormSeries, storm_series_free)
static inline StormIteration *storm_iteration(const StormSeries *s, guint k) {
  return s->iterations->pdata[k];
}

enum { STORM_ENDS = 50, STORM_TENTHS = 10 };
typedef struct {
  double mean, first, last; /* faults: of all, of the first and the last 50 (all, if fewer) */
  double own_pages;         /* mean of all */
  double tenth[STORM_TENTHS];
  bool tenths; /* from 10 backends on */
  double pagetable_kib, connect_ms, resident_kib;
} StormFigures;
/* `faults`, `pagetable_kib`: added to each backend's. */
StormFigures storm_figures(const StormIteration *it, double faults, double pagetable_kib);
/* Median of what those alone took: immune to the first, which builds caches. */
StormBackend storm_alone(const StormSeries *s);
