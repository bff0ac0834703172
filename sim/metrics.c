/* metrics.c - see metrics.h. */
#include "sim/metrics.h"
#include <string.h>

/* Each of an iteration's metrics exists as first.X (iteration 1), warm.X (mean of the warm ones) and iteration[K].X. */
#define OF_ITERATION(x, unit, about)                                                                                   \
  {"first." x, unit, about}, {"warm." x, unit, about}, {                                                               \
    "iteration[]." x, unit, about                                                                                      \
  }

/* A gauge of the pooler, named as a column of SHOW POOLS where it is one: over time. All pools, or of one. */
#define GAUGE(x, about)                                                                                                \
  {x ".max", "connections", about ": most at a time"}, {x ".mean", "connections", about ": mean over time"}, {         \
    x ".last", "connections", about ": at the end"                                                                     \
  }
#define OF_POOL(x, about)                                                                                              \
  GAUGE(x, about), {"pool[]." x ".max", "connections", about " of one pool: most at a time"},                          \
      {"pool[]." x ".mean", "connections", about " of one pool: mean over time"}, {                                    \
    "pool[]." x ".last", "connections", about " of one pool: at the end"                                               \
  }
/* A sample: one value each time it happens. */
#define SAMPLE(x, about)                                                                                               \
  {x ".mean", "ms", about ": mean"}, {x ".p50", "ms", about ": median (nearest rank)"},                                \
      {x ".p95", "ms", about ": 95 % are no longer"}, {x ".p99", "ms", about ": 99 % are no longer"}, {                \
    x ".max", "ms", about ": longest"                                                                                  \
  }
#define OUTCOME(x, about)                                                                                              \
  { "cancel." x, "cancels", about }
#define WAIT_ABOUT                                                                                                     \
  "wait of a check-out for a server connection, served, timed out or left; of a storm: from arrival to ReadyForQuery"

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
    {"iteration[].faults_mean", "faults", "faults of a backend while connecting: mean over the clients' backends"},
    {"iteration[].faults_first50", "faults", "that of the first 50 to connect (of all, if fewer)"},
    {"iteration[].faults_last50", "faults", "that of the last 50 to connect (of all, if fewer)"},
    {"iteration[].faults_last50_minus_first50", "faults", "how much more the last 50 take than the first 50"},
    {"iteration[].faults_tenth[]", "faults", "that of each tenth of the connects, 1 to 10 (from 10 clients on)"},
    {"wait_ms.last", "ms", "of a storm's sessions: arrival to ReadyForQuery of the one that was served last"},
    SAMPLE("wait_ms", WAIT_ABOUT),
    {"wait_ms", "ms", WAIT_ABOUT ": mean"},
    {"client[].wait_ms", "ms", "mean wait of one client, or of all its copies"},
    SAMPLE("client[].wait_ms", "wait of one client, or of all its copies"),
    {"client[].queries.ok", "queries", "answered queries of one client, or of all its copies"},
    {"pool[].wait_ms", "ms", "mean wait in one pool"},
    SAMPLE("pool[].wait_ms", "wait in one pool"),
    SAMPLE("cancel.ms", "from a cancel's sending until it was handled"),
    OF_POOL("cl_active", "clients with a server connection, or idle"),
    OF_POOL("cl_waiting", "clients that wait for a server connection"),
    OF_POOL("cl_active_cancel_req", "cancels forwarded, waiting for the server"),
    OF_POOL("cl_waiting_cancel_req", "cancels that were not forwarded yet"),
    OF_POOL("sv_active", "server connections checked out"),
    OF_POOL("sv_active_cancel", "server connections that carry a cancel"),
    OF_POOL("sv_being_canceled", "server connections that a fence holds"),
    OF_POOL("sv_idle", "idle server connections"),
    OF_POOL("sv_used", "idle ones that are due for a check"),
    OF_POOL("sv_tested", "ones that the pooler's own query runs on"),
    OF_POOL("sv_login", "ones that are being opened"),
    OF_POOL("sockets", "live server sockets, carriers and dying ones too"),
    OF_POOL("map_entries", "entries of the cancel map"),
    GAUGE("backends", "backends of the servers"),
    {"server[].backends.max", "backends", "backends of one server: most at a time"},
    {"server[].backends.mean", "backends", "backends of one server: mean over time"},
    {"server[].backends.last", "backends", "backends of one server: at the end"},
    {"lock[].taken", "times", "of processes that run real code: how often a lock was taken, in either mode"},
    {"served", "check-outs", "check-outs that got a server connection"},
    {"timeouts", "check-outs", "check-outs that reached a limit"},
    {"pool[].served", "check-outs", "those of one pool"},
    {"pool[].timeouts", "check-outs", "those of one pool"},
    {"utilisation", "share", "mean share of pool_size that is checked out"},
    {"pool[].utilisation", "share", "that of one pool"},
    {"overtakes", "check-outs", "served before one that had waited longer"},
    {"collisions", "entries", "identities or client keys that another had already"},
    {"sockets_max", "sockets", "most live server sockets at a time"},
    {"opens", "attempts", "attempts to open a server connection"},
    {"opens_per_s", "1/s", "attempts a second"},
    {"attempts_per_s", "1/s", "attempts to connect to a server a second, those for cancels too"},
    {"wakeups_per_s", "1/s", "wake-ups of waiters a second"},
    {"maxwait.max", "s", "the longest wait for a server connection, of those still waiting too"},
    {"maxwait.mean", "s", "how long the longest waiter has waited, on average over time"},
    {"maxwait.last", "s", "how long the longest waiter has waited at the end"},
    {"jain", "index", "fairness of served queries over clients, 1/n to 1 (Jain)"},
    {"tps", "1/s", "answered queries a second"},
    {"latency_avg_ms", "ms", "mean time from a query's sending to its answer"},
    {"identity.bytes", "bytes", "bytes of identities copied and hashed"},
    {"queries.ok", "queries", "queries answered"},
    {"queries.error", "queries", "queries that failed"},
    {"queries.cancelled", "queries", "queries that ended with 57014"},
    {"queries.timeout", "queries", "queries that reached a limit"},
    {"queries.refused", "queries", "queries and clients that were refused"},
    {"queries.unfinished", "queries", "queries that had no answer at the end"},
    OUTCOME("hit", "cancels that ended the query they were meant for"),
    OUTCOME("self_late", "cancels that hit a later query of the same client"),
    OUTCOME("misroute", "cancels that hit another client's query"),
    OUTCOME("pooler_own", "cancels that hit a query of the pooler's own"),
    OUTCOME("noop", "cancels that reached a backend that was idle"),
    OUTCOME("foreign", "cancels that hit a backend that was none of the pooler's"),
    OUTCOME("lost", "cancels that reached no backend and were not dropped by a rule"),
    OUTCOME("dropped", "cancels that the pooler dropped by a declared rule"),
    OUTCOME("unsent", "cancels that the client's driver did not send"),
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

gboolean metric_higher_is_better(const char *name) {
  static const char *const good[] = {"tps", "served", "queries.ok", "jain", "cancel.hit"};
  for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
    /* Of an iteration, a pool or a client, too: first.tps, pool[p].served. */
    const gsize rest = g_str_has_suffix(name, good[i]) ? strlen(name) - strlen(good[i]) : 0;
    if (!strcmp(name, good[i]) || (rest && name[rest - 1] == '.')) return TRUE;
  }
  return FALSE;
}
