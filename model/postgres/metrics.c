/* metrics.c - an iteration's sums become metrics in the ledger: iteration[K].X, first.X, warm.X (README.md lists them).
 */
#include "model/postgres/backend.h"

enum { WARM_NEEDED = 3, METRICS_MAX = 16, FIRST_AND_LAST = 50, PARTS = 10 };

typedef struct {
  const char *name;
  double value;
} Figure;
typedef struct {
  Figure figure[METRICS_MAX];
  guint n;
} Figures;

static void figure(Figures *f, const char *name, double value) {
  g_assert(f->n < METRICS_MAX);
  f->figure[f->n++] = (Figure){name, value};
}

static double ms(int64_t ns) {
  return (double)ns / 1e6;
}

/* pgbench's latency average: duration times clients by transactions. */
static void transactions(Figures *f, const Sums *s) {
  int64_t ns = s->end_ns - s->connected_ns;
  if (s->transactions == 0 || ns <= 0) return;
  figure(f, "tps", (double)s->transactions * 1e9 / (double)ns);
  figure(f, "latency_avg_ms", ms(ns) * (double)s->clients / (double)s->transactions);
}

static void collect(const PgServer *sv, Figures *f, bool with_connect_time) {
  const Sums *s = &sv->sums;
  if (with_connect_time) figure(f, "connect_ms", ms(s->connected_ns - s->start_ns));
  figure(f, "connect_faults", (double)s->connect_faults);
  figure(f, "connect_faults_per_backend", s->connected ? (double)s->connect_faults / (double)s->connected : 0);
  figure(f, "allprocs_faults", (double)s->allprocs_faults);
  figure(f, "disconnect_faults", (double)s->disconnect_faults);
  figure(f, "pgxactoff_stores", (double)s->stores);
  figure(f, "entries_moved", (double)s->moved);
  figure(f, "entries_moved_out", (double)s->moved_out);
  figure(f, "procarray_lock_wait_ms", ms(s->lock_wait_ns));
  figure(f, "procarray_lock_hold_ms", ms(s->lock_hold_ns));
  figure(f, "pagetable_kib", (double)s->table_bytes / 1024);
  figure(f, "refused", (double)s->refused);
  figure(f, "ghosts", pg_server_ghosts(sv));
  transactions(f, s);
}

/* Mean of the faults of backends [from, to) in the order in which they became ready. */
static double mean_faults(const PgServer *sv, guint from, guint to) {
  int64_t sum = 0;
  g_assert(from < to && to <= sv->faults->len);
  for (guint i = from; i < to; i++) sum += g_array_index(sv->faults, int64_t, i);
  return (double)sum / (to - from);
}

static void set_faults(const PgServer *sv, int iteration, const char *what, double value) {
  g_autofree char *name = g_strdup_printf("iteration[%d].faults_%s", iteration, what);
  ledger_set(world_ledger(sv->w), name, value);
}

/* The same figures as of a real server (sim/calibrate): each backend's faults by its place among the connects. */
static void fault_series(const PgServer *sv, int iteration) {
  guint n = sv->faults->len, ends = MIN(n, FIRST_AND_LAST);
  if (n == 0) return;
  double first = mean_faults(sv, 0, ends), last = mean_faults(sv, n - ends, n);
  set_faults(sv, iteration, "mean", mean_faults(sv, 0, n));
  set_faults(sv, iteration, "first50", first);
  set_faults(sv, iteration, "last50", last);
  set_faults(sv, iteration, "last50_minus_first50", last - first);
  for (guint i = 0; n >= PARTS && i < PARTS; i++) {
    g_autofree char *part = g_strdup_printf("tenth[%u]", i + 1);
    set_faults(sv, iteration, part, mean_faults(sv, n * i / PARTS, n * (i + 1) / PARTS));
  }
}

void iteration_begin(PgServer *sv) {
  g_array_set_size(sv->faults, 0);
  sv->sums = (Sums){.start_ns = server_now(sv)};
}

void iteration_end(PgServer *sv, int iteration, bool warm, bool with_connect_time) {
  Ledger *l = world_ledger(sv->w);
  Figures f = {.n = 0};
  collect(sv, &f, with_connect_time);
  fault_series(sv, iteration);
  if (warm && sv->n_warm++ == 0) g_array_set_size(sv->warm, f.n);
  for (guint i = 0; i < f.n; i++) {
    g_autofree char *name = g_strdup_printf("iteration[%d].%s", iteration, f.figure[i].name);
    g_autofree char *first = g_strconcat("first.", f.figure[i].name, NULL);
    g_autofree char *mean = g_strconcat("warm.", f.figure[i].name, NULL);
    ledger_set(l, name, f.figure[i].value);
    if (iteration == 1) ledger_set(l, first, f.figure[i].value);
    if (!warm || i >= sv->warm->len) continue;
    double *sum = &g_array_index(sv->warm, double, i);
    *sum += f.figure[i].value;
    if (sv->n_warm >= WARM_NEEDED) ledger_set(l, mean, *sum / sv->n_warm);
  }
}
