/* completion-count.c - how a snapshot knows that nobody has ended since it was taken: a miniature of PostgreSQL's
 * xactCompletionCount, from its public history (commit 1fe1f42e3e). Built twice: as it was, and mended (-DMENDED).
 *
 * Who leaves the proc array counts itself, and a backend whose last snapshot has the present count takes that one again
 * without a look at the array. As it was, a prepared transaction left the array with the lock shared only:
 *   X (prepares)          Z (prepares)          W (prepares)          S (takes snapshots)
 *   1. loads the count, 7
 *                         2. loads 7, stores 8
 *                                                                     3. takes one, at count 8: W is in it
 *                                               4. clears its xid, loads 8, stores 9
 *   5. stores 8
 *                                                                     6. the count is 8: takes 3's again, W and all
 * Mended: the lock is held exclusively. */
#include "stampede_subject.h"
#include <stdio.h>

enum { BACKENDS = 4 };

static int *xids; /* of backends, 0: none; with the count under the lock */
static int *completions;
static int *ended, *stale, *left; /* what happened, for the checks: who has left the section; a stale xid; how many */
static StmLock array_lock;

/* This process's */
static int slot = -1;
static int seen[BACKENDS], seen_count = -1;

static void start(void) {
  xids = stm_shared("xids", BACKENDS * sizeof *xids, 64);
  completions = stm_shared("xactCompletionCount", sizeof *completions, 64);
  ended = stm_shared("ended", BACKENDS * sizeof *ended, 64);
  stale = stm_shared("stale", sizeof *stale, 64);
  left = stm_shared("left", sizeof *left, 64);
  array_lock = stm_lock_new("ProcArrayLock");
  for (int i = 0; i < BACKENDS; i++) xids[i] = 100 + i;
}

/* Each backend's transaction runs from the start. */
static void prepare(int64_t own) {
  if (own < 0 || own >= BACKENDS) stm_exit("no such backend");
  slot = (int)own;
#ifdef MENDED
  stm_lock_acquire(array_lock, false);
#else
  stm_lock_acquire(array_lock, true);
#endif
  xids[slot] = 0;
  ++*completions;
  stm_lock_release(array_lock);
  __atomic_store_n(&ended[slot], 1, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(left, 1, __ATOMIC_SEQ_CST);
}

static void scan(void) {
  for (int i = 0; i < BACKENDS; i++) seen[i] = xids[i];
  seen_count = *completions;
}

/* Taken again: nobody who had ended before the call may be in it. */
static void take_again(const int *gone) {
  for (int i = 0; i < BACKENDS; i++)
    if (seen[i] && gone[i]) *stale = seen[i];
}

static void snapshot(int64_t unused) {
  (void)unused;
  int gone[BACKENDS];
  for (int i = 0; i < BACKENDS; i++) gone[i] = seen[i] ? __atomic_load_n(&ended[i], __ATOMIC_SEQ_CST) : 0;
  stm_lock_acquire(array_lock, true);
  if (seen_count == *completions)
    take_again(gone);
  else
    scan();
  stm_lock_release(array_lock);
}

static bool is_stale(char *why, size_t size) {
  if (*stale) snprintf(why, size, "a snapshot was taken again that has transaction %d in it, which had ended", *stale);
  return *stale != 0;
}
static bool is_off(char *why, size_t size) {
  if (*completions == *left) return false;
  snprintf(why, size, "%d transactions have ended, and the count says %d", *left, *completions);
  return true;
}

static const StampedeEntry entries[] = {
    {"prepare", "ends the transaction of backend `with`, as PREPARE does", prepare},
    {"snapshot", "takes a snapshot, or its last one again", snapshot},
};
static const StampedeCheck checks[] = {
    {"snapshot-is-fresh", "no snapshot has a transaction in it that had ended before it was asked for", is_stale, true},
    {"completions-counted", "as many transactions are counted as have ended", is_off, true},
};

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
#ifdef MENDED
    .name = "completion-count-mended",
#else
    .name = "completion-count",
#endif
    .about = "transactions that end are counted, so that a snapshot may be taken again",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .checks = checks,
    .n_checks = sizeof checks / sizeof *checks,
};
