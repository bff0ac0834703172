/* checks.c - the table of checks. */
#include "checks/checks.h"

const Check checks_all[] = {
    {"proc-array-sorted", "the proc array lists its members by ascending proc number", SEES_INSIDE,
     .judge = check_proc_array_sorted, .unasked = true},
    {"pgxactoff-matches", "each member's pgxactoff is its place in the proc array", SEES_INSIDE,
     .judge = check_pgxactoff_matches, .unasked = true},
    {"slot-owned-once", "every PGPROC slot is on exactly one free list once, or owned by exactly one live backend",
     SEES_INSIDE, .judge = check_slot_owned_once, .unasked = true},
    {"dense-arrays-agree", "xids, subxidStates and statusFlags of a place are those of the PGPROC that stands there",
     SEES_INSIDE, .judge = check_dense_arrays_agree, .unasked = true},
    {"locks-released", "no backend holds an LWLock when it ends or waits for its client", SEES_INSIDE,
     .judge = check_locks_released},
    {"no-deadlock", "something can go on until all is done", SEES_WIRE, .judge = check_no_deadlock,
     .steps_alone = true},
    {"no-panic", "real code does not stop the server: no PANIC, no failed assertion", SEES_INSIDE,
     .judge = check_no_panic, .faults = true},
    {"semaphores-conserved", "when all real code has ended, each semaphore has the count it was made with", SEES_INSIDE,
     .judge = check_semaphores_conserved},
    {"cancel-hits-its-query", "no cancel hits another client's query, or a backend that is not the pooler's", SEES_WIRE,
     .judge = check_cancel_hits_its_query, .steps_alone = true},
    {"cancel-hits-only-its-query", "no cancel hits anything but the query that it was meant for", SEES_WIRE,
     .judge = check_cancel_hits_only_its_query, .steps_alone = true},
    {"pool-accounting", "a pool's sets are disjoint, its counts right, and it has no more connections than it may",
     SEES_POOLS, .judge = check_pool_accounting, .reads = reads_pools},
    {"cancel-map-complete", "a client whose query runs has an entry that names the connection it runs on", SEES_INSIDE,
     .judge = check_cancel_map_complete, .reads = reads_map},
    {"cancel-map-sound", "no entry of a client that owns nothing, none that names what is idle or closed", SEES_INSIDE,
     .judge = check_cancel_map_sound, .reads = reads_pools},
    {"no-lost-wakeup", "nobody waits while a connection is idle, or may be opened and nobody does", SEES_POOLS,
     .judge = check_no_lost_wakeup, .reads = reads_pools},
    {"fifo-bound", "no waiter is served before one that came first", SEES_POOLS, .judge = check_fifo_bound,
     .steps_alone = true},
    {"reload-conserves", "a reload moves every connection, and the table of those checked out, once", SEES_INSIDE,
     .judge = check_reload_conserves, .steps_alone = true},
    {"no-double-free", "no connection is given, checked in or closed twice", SEES_INSIDE, .judge = check_no_double_free,
     .steps_alone = true},
    {"row-from-one-shard", "a query over shards is given the rows of one", SEES_WIRE, .judge = check_row_from_one_shard,
     .steps_alone = true},
    {"no-crash", "the pooler does not end for what a server or a client does", SEES_WIRE, .judge = check_no_crash,
     .steps_alone = true},
    {"no-client-error", "no client sees an error that no server gave", SEES_WIRE, .judge = check_no_client_error,
     .steps_alone = true},
    {"session-is-clean", "no connection with a lock or an open transaction goes to another client", SEES_INSIDE,
     .judge = check_session_is_clean, .steps_alone = true},
    {"waiter-is-served", "no client waits for ever for a server connection", SEES_POOLS, .judge = check_seen_by_pooler,
     .subjects = subjects_waiters, .pending = pending_waiter},
    {"cancel-arrives", "no cancel is lost, waits for ever, or is left waiting past the end of its query", SEES_WIRE,
     .judge = check_cancel_arrives, .subjects = subjects_cancels, .pending = pending_cancel},
    {"shutdown-ends", "a graceful shutdown comes to its end", SEES_WIRE, .judge = check_seen_by_pooler,
     .subjects = subjects_shutdowns, .pending = pending_shutdown},
};
const guint checks_all_len = G_N_ELEMENTS(checks_all);

const char *const *checks_names(void) {
  static const char *names[G_N_ELEMENTS(checks_all) + 1];
  static gsize once;
  if (g_once_init_enter(&once)) {
    for (guint i = 0; i < checks_all_len; i++) names[i] = checks_all[i].name;
    g_once_init_leave(&once, 1);
  }
  return names;
}
