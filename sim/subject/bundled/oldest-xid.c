/* oldest-xid.c - the oldest transaction that is active: a miniature of PostgreSQL's GetNewTransactionId and
 * GetOldestActiveTransactionId, from their public history (commit 74fc83869e). Built twice: as it was, and mended
 * (-DMENDED).
 *
 * A shows its xid while it holds XidGenLock. As it was, the limit of the search was read without that lock:
 *   A (begins)                                   B (asks for the oldest)
 *   1. advances the next xid from 100 to 101
 *                                                2. reads 101 as its limit
 *                                                3. looks through the proc array: nobody; the oldest is 101
 *   4. shows 100 in the proc array
 * Mended: B holds XidGenLock from reading the limit until it has looked. */
#include "stampede_subject.h"
#include <stdio.h>

enum { BACKENDS = 4, FIRST = 100 };

static int *xids; /* 0: none */
static int *next_xid;
static int *oldest, *limit; /* the last answer; 0: none yet */
static StmLock xid_lock, array_lock;

static void start(void) {
  xids = stm_shared("xids", BACKENDS * sizeof *xids, 64);
  next_xid = stm_shared("nextXid", sizeof *next_xid, 64);
  oldest = stm_shared("oldest", sizeof *oldest, 64);
  limit = stm_shared("limit", sizeof *limit, 64);
  xid_lock = stm_lock_new("XidGenLock");
  array_lock = stm_lock_new("ProcArrayLock");
  *next_xid = FIRST;
}

static void begin(int64_t slot) {
  if (slot < 0 || slot >= BACKENDS) stm_exit("no such slot");
  stm_lock_acquire(xid_lock, false);
  int xid = *next_xid;
  *next_xid = xid + 1;
  xids[slot] = xid;
  stm_lock_release(xid_lock);
}

/* The answer and its limit are stored while a lock is held, so that they are of one asker. */
static void look_through(int most) {
  int found = most;
  stm_lock_acquire(array_lock, true);
  for (int i = 0; i < BACKENDS; i++) {
    int xid = xids[i];
    if (xid && xid < found) found = xid;
  }
  *limit = most;
  *oldest = found;
  stm_lock_release(array_lock);
}

static void ask(int64_t unused) {
  (void)unused;
#ifdef MENDED
  stm_lock_acquire(xid_lock, true);
  look_through(*next_xid);
  stm_lock_release(xid_lock);
#else
  look_through(__atomic_load_n(next_xid, __ATOMIC_RELAXED));
#endif
}

/* Nobody ends: whoever had its xid when the limit was read is active. */
static bool missed(char *why, size_t size) {
  for (int i = 0; i < BACKENDS; i++) {
    if (!xids[i] || xids[i] >= *limit || xids[i] >= *oldest) continue;
    snprintf(why, size, "%d was said to be the oldest active, and %d is", *oldest, xids[i]);
    return true;
  }
  return false;
}

static const StampedeEntry entries[] = {
    {"begin", "begins a transaction with an xid, in the slot `with`", begin},
    {"ask", "asks for the oldest xid that is active", ask},
};
static const StampedeCheck checks[] = {
    {"oldest-is-oldest", "no active transaction is older than the one that was said to be the oldest", missed, true}};

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
#ifdef MENDED
    .name = "oldest-xid-mended",
#else
    .name = "oldest-xid",
#endif
    .about = "transactions get xids, and somebody asks for the oldest",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .checks = checks,
    .n_checks = sizeof checks / sizeof *checks,
};
