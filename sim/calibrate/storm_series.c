/* storm_series.c - see storm_series.h. */
#include "sim/calibrate/storm_series.h"

static void iteration_free(gpointer data) {
  StormIteration *it = data;
  g_array_unref(it->backends);
  g_array_unref(it->leaving);
  g_free(it);
}

StormSeries *storm_series_new(guint iterations) {
  StormSeries *s = g_new0(StormSeries, 1);
  s->iterations = g_ptr_array_new_with_free_func(iteration_free);
  s->alone = g_array_new(FALSE, TRUE, sizeof(StormBackend));
  for (guint k = 0; k < iterations; k++) {
    StormIteration *it = g_new0(StormIteration, 1);
    it->backends = g_array_new(FALSE, TRUE, sizeof(StormBackend));
    it->leaving = g_array_new(FALSE, TRUE, sizeof(guint));
    g_ptr_array_add(s->iterations, it);
  }
  return s;
}

void storm_series_free(StormSeries *s) {
  if (!s) return;
  g_ptr_array_unref(s->iterations);
  g_array_unref(s->alone);
  g_free(s);
}

static const StormBackend *backend(const GArray *a, guint i) {
  return &g_array_index(a, StormBackend, i);
}

static double mean_faults(const GArray *a, guint from, guint to) {
  int64_t sum = 0;
  g_assert(from < to && to <= a->len);
  for (guint i = from; i < to; i++) sum += backend(a, i)->faults;
  return (double)sum / (to - from);
}

StormFigures storm_figures(const StormIteration *it, double faults, double pagetable_kib) {
  const GArray *a = it->backends;
  guint n = a->len, ends = MIN(n, STORM_ENDS);
  g_assert(n > 0);
  StormFigures f = {.mean = faults + mean_faults(a, 0, n),
                    .first = faults + mean_faults(a, 0, ends),
                    .last = faults + mean_faults(a, n - ends, n),
                    .tenths = n >= STORM_TENTHS,
                    .pagetable_kib = it->pagetable_kib + pagetable_kib * n,
                    .connect_ms = it->connect_ms};
  for (guint i = 0; f.tenths && i < STORM_TENTHS; i++)
    f.tenth[i] = faults + mean_faults(a, n * i / STORM_TENTHS, n * (i + 1) / STORM_TENTHS);
  for (guint i = 0; i < n; i++) {
    f.resident_kib += (double)backend(a, i)->resident_kib / n;
    f.own_pages += (double)backend(a, i)->own_pages / n;
  }
  return f;
}

static gint by_value(gconstpointer a, gconstpointer b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t median(const GArray *a, gsize member) {
  g_autofree int64_t *v = g_new(int64_t, a->len);
  for (guint i = 0; i < a->len; i++) v[i] = *(const int64_t *)(const void *)((const char *)backend(a, i) + member);
  qsort(v, a->len, sizeof *v, by_value);
  return v[a->len / 2];
}

StormBackend storm_alone(const StormSeries *s) {
  g_assert(s->alone->len > 0);
  return (StormBackend){.faults = median(s->alone, G_STRUCT_OFFSET(StormBackend, faults)),
                        .pagetable_kib = median(s->alone, G_STRUCT_OFFSET(StormBackend, pagetable_kib)),
                        .own_pages = median(s->alone, G_STRUCT_OFFSET(StormBackend, own_pages)),
                        .resident_kib = median(s->alone, G_STRUCT_OFFSET(StormBackend, resident_kib))};
}
