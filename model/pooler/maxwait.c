/* maxwait.c - how long the longest waiter of a pool has waited, on average over time (SHOW POOLS shows the moment).
 *
 * At each moment that is the one of those who wait that came first. So by order of coming each wait stands for the time
 * that no earlier one covers: from `covered`, or from its own begin, to its end; over [a, b] of it the mean of t -
 * begin is ((b - begin)^2 - (a - begin)^2) / 2, over the length of the run. */
#include "model/pooler/measure.h"

typedef struct {
  int64_t begin, end;
} Wait;

static gint by_begin(gconstpointer a, gconstpointer b) {
  const Wait *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

/* Those that are over, and those that are not at `now`. */
static GArray *waits_of(const Pooler *p, guint row, int64_t now) {
  const Measure *m = p->measure;
  GArray *out = g_array_new(FALSE, FALSE, sizeof(Wait));
  for (guint i = 0; i < m->waits->len; i++) {
    const Sample *s = &g_array_index(m->waits, Sample, i);
    Wait w = {s->t_ns - s->ns, s->t_ns};
    if (!row || s->pool + 1u == row) g_array_append_val(out, w);
  }
  for (guint i = 0; i < p->n_sessions; i++) {
    const Session *e = &p->sessions[i];
    Wait w = {m->wait_since[i], now};
    if (w.begin < 0 || e->state == CL_NONE || (row && e->pool % p->pools_each + 1u != row)) continue;
    g_array_append_val(out, w);
  }
  g_array_sort(out, by_begin);
  return out;
}

double maxwait_mean(const Pooler *p, guint row, int64_t from, int64_t to, int64_t now) {
  g_autoptr(GArray) waits = waits_of(p, row, now);
  if (to < 0 || to > now) to = now;
  double area = 0;
  int64_t covered = from;
  for (guint i = 0; i < waits->len; i++) {
    const Wait *w = &g_array_index(waits, Wait, i);
    int64_t a = MAX(w->begin, covered), b = MIN(w->end, to);
    if (a >= b) continue;
    double late = (double)(b - w->begin) / 1e9, early = (double)(a - w->begin) / 1e9;
    area += (late * late - early * early) / 2;
    covered = b;
  }
  return to > from ? area / ((double)(to - from) / 1e9) : 0;
}
