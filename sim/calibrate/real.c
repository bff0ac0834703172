/* real.c - see real.h. */
#include "sim/calibrate/real.h"
#include "sim/calibrate/proc_figures.h"
#include "sim/calibrate/pg_session.h"

static bool go_on(const RealStorm *p, GError **error) {
  if (!p->interrupted || !g_atomic_int_get(p->interrupted)) return true;
  g_set_error(error, CALIBRATE_ERROR, CALIBRATE_ERROR_INTERRUPTED, "interrupted");
  return false;
}

static bool connect_one(const RealStorm *p, PgSession *s, StormBackend *b, GError **error) {
  ProcFigures f;
  gint64 from = g_get_monotonic_time();
  if (!go_on(p, error)) return false;
  if (!pg_session_open(s, p->socket, error)) return false;
  *b = (StormBackend){.connect_ms = (double)(g_get_monotonic_time() - from) / 1e3};
  if (!proc_figures(s->pid, &f, error)) {
    pg_session_drop(s);
    return false;
  }
  b->pid = s->pid;
  b->faults = f.minor_faults;
  b->pagetable_kib = f.pagetable_kib;
  b->resident_kib = f.resident_kib;
  b->own_pages = f.own_pages;
  return true;
}

static bool alone(const RealStorm *p, guint n, GArray *out, GError **error) {
  for (guint i = 0; i < n; i++) {
    PgSession s;
    StormBackend b;
    if (!connect_one(p, &s, &b, error) || !pg_session_close(&s, error)) return false;
    if (out) g_array_append_val(out, b);
  }
  return true;
}

static bool iteration(const RealStorm *p, guint k, PgSession *open, StormIteration *out, GError **error) {
  const GArray *leaving = storm_iteration(p->order, k)->leaving;
  for (guint i = 0; i < leaving->len; i++) {
    StormBackend b;
    if (!connect_one(p, &open[i], &b, error)) return false;
    g_array_append_val(out->backends, b);
    out->connect_ms += b.connect_ms;
    out->pagetable_kib += (double)b.pagetable_kib;
    if (p->progress) p->progress(p->data, k + 1, i + 1);
  }
  if (p->full && k + 1 == p->order->iterations->len) p->full(p->data);
  for (guint i = 0; i < leaving->len; i++) {
    guint who = g_array_index(leaving, guint, i);
    if (!go_on(p, error) || !pg_session_close(&open[who], error)) return false;
    g_array_append_val(out->leaving, who);
  }
  return true;
}

StormSeries *storm_measure(const RealStorm *p, GError **error) {
  guint iterations = p->order->iterations->len, n = storm_iteration(p->order, 0)->leaving->len;
  g_autoptr(StormSeries) series = storm_series_new(iterations);
  g_autofree PgSession *open = g_new(PgSession, n);
  for (guint i = 0; i < n; i++) open[i].fd = -1;
  bool ok = alone(p, p->alone, series->alone, error);
  for (guint k = 0; ok && k < iterations; k++)
    ok = iteration(p, k, open, storm_iteration(series, k), error) &&
         (k + 1 == iterations || alone(p, p->between, NULL, error));
  for (guint i = 0; i < n; i++) pg_session_drop(&open[i]);
  return ok ? g_steal_pointer(&series) : NULL;
}
