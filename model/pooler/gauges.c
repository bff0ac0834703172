/* gauges.c - values over time, integrated as they change. */
#include "model/pooler/measure.h"

const char *const gauge_names[GAUGE_COUNT] = {
#define GAUGE_NAME(id, name) name,
    GAUGES(GAUGE_NAME)
#undef GAUGE_NAME
};

static void change(Gauge *g, int64_t now, int64_t value) {
  g->area += (double)g->value * (double)(now - g->since_ns);
  g->since_ns = now;
  g->value = value;
  g->max = MAX(g->max, value);
  if (!g->series) return;
  Point pt = {now, value};
  g_array_append_val(g->series, pt);
}

void gauge_add(Pooler *p, GaugeId id, guint row, int64_t by) {
  int64_t now = world_ledger_time(p->w);
  Gauge *rows = p->measure->gauges[id];
  g_assert(row < p->measure->rows);
  change(&rows[0], now, rows[0].value + by);
  if (row) change(&rows[row], now, rows[row].value + by);
}

void gauge_set(Pooler *p, GaugeId id, guint row, int64_t value) {
  gauge_add(p, id, row, value - p->measure->gauges[id][row].value);
}

static int64_t value_at(const Gauge *g, int64_t t) {
  int64_t v = 0;
  for (guint i = 0; i < g->series->len && g_array_index(g->series, Point, i).t_ns <= t; i++)
    v = g_array_index(g->series, Point, i).value;
  return v;
}

static void over_series(const Gauge *g, int64_t from, int64_t to, double *mean, double *max, double *last) {
  int64_t at = from, v = value_at(g, from), top = v;
  double area = 0;
  for (guint i = 0; i < g->series->len; i++) {
    Point pt = g_array_index(g->series, Point, i);
    if (pt.t_ns <= from || pt.t_ns > to) continue;
    area += (double)v * (double)(pt.t_ns - at);
    at = pt.t_ns;
    v = pt.value;
    top = MAX(top, v);
  }
  area += (double)v * (double)(to - at);
  *mean = to > from ? area / (double)(to - from) : (double)v;
  *max = (double)top;
  *last = (double)v;
}

bool gauge_over(const Gauge *g, int64_t from, int64_t to, int64_t end, double *mean, double *max, double *last) {
  if (to < 0) to = end;
  if (from > 0 || to < end) {
    if (!g->series) return false;
    over_series(g, from, to, mean, max, last);
    return true;
  }
  double area = g->area + (double)g->value * (double)(end - g->since_ns);
  *mean = end > 0 ? area / (double)end : (double)g->value;
  *max = (double)g->max;
  *last = (double)g->value;
  return true;
}
