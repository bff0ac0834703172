/* metrics.c - see metrics.h. */
#include "sim/metrics.h"

/* Each of an iteration's metrics exists as first.X (iteration 1), warm.X (mean of the warm ones) and iteration[K].X. */
#define OF_ITERATION(x, unit, about)                                                                                   \
  {"first." x, unit, about}, {"warm." x, unit, about}, {                                                               \
    "iteration[]." x, unit, about                                                                                      \
  }

const MetricInfo metric_info[] = {
    OF_ITERATION("connect_ms", "ms",
                 "initial connection time as pgbench prints it: from before its threads are created until "
                 "all are connected"),
    OF_ITERATION("connect_faults", "faults", "minor faults on shared memory of the clients' backends while connecting"),
    OF_ITERATION("connect_faults_per_backend", "faults", "connect_faults by backend"),
    OF_ITERATION("allprocs_faults", "faults", "those of connect_faults that are on the PGPROC array"),
    OF_ITERATION("disconnect_faults", "faults", "minor faults of the clients' backends while they leave"),
    OF_ITERATION("pgxactoff_stores", "stores", "stores of followers' pgxactoff by ProcArrayAdd"),
    OF_ITERATION("entries_moved", "entries", "entries of each dense array moved by ProcArrayAdd"),
    OF_ITERATION("entries_moved_out", "entries", "entries of each dense array moved by ProcArrayRemove"),
    OF_ITERATION("procarray_lock_wait_ms", "ms", "waiting for ProcArrayLock, summed over backends"),
    OF_ITERATION("procarray_lock_hold_ms", "ms", "holding ProcArrayLock, summed over backends"),
    OF_ITERATION("pagetable_kib", "KiB",
                 "page tables of the connected backends for shared memory, once all are connected"),
    OF_ITERATION("refused", "connects", "connects refused: too many clients, or a full listen queue"),
    OF_ITERATION("ghosts", "entries", "entries of a listing of backends that no live backend owns, once all have left"),
    OF_ITERATION("tps", "1/s", "transactions a second, without initial connection time"),
    OF_ITERATION("latency_avg_ms", "ms", "mean latency of a transaction"),
    {"wait_ms.last", "ms", "of a storm's sessions: arrival to ReadyForQuery of the one that was served last"},
    {"wait_ms.mean", "ms", "mean over those served"},
    {"wait_ms.p50", "ms", "median (nearest rank)"},
    {"wait_ms.p95", "ms", "95 % waited no longer"},
    {"wait_ms.p99", "ms", "99 % waited no longer"},
    {"wait_ms.max", "ms", "longest wait"},
};
const guint metric_info_len = G_N_ELEMENTS(metric_info);

const char *const *metric_patterns(void) {
  static const char *names[G_N_ELEMENTS(metric_info) + 1];
  static gsize once;
  if (g_once_init_enter(&once)) {
    for (guint i = 0; i < metric_info_len; i++) names[i] = metric_info[i].pattern;
    g_once_init_leave(&once, 1);
  }
  return names;
}
