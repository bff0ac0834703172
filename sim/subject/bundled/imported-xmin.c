/* imported-xmin.c - a backend takes over another's snapshot while VACUUM computes its horizon: a miniature of
 * PostgreSQL's ProcArrayInstallImportedXmin, from its public history (commit 0ebeec35fc). Built twice: as it was, and
 * mended (-DMENDED).
 *
 * VACUUM keeps what any advertised xmin may still see. As it was, an importer advertised the source's xmin as its own
 * with ProcArrayLock shared, as VACUUM has it:
 *   I (imports)                        S (its source)            V (VACUUM)
 *                                                                1. looks at I's slot: no xmin
 *   2. sees S's xmin, 50, and makes it its own
 *                                      3. ends without an xid, so without the lock: its xmin is gone
 *                                                                4. looks at S's slot: no xmin. Nobody needs 50
 * Mended: the lock is held exclusively for the import. */
#include "stampede_subject.h"
#include <stdio.h>

enum { BACKENDS = 3, SOURCE = 1, SOURCE_XMIN = 50, NEXT_XID = 100 };

static int *xmins; /* as advertised; 0: none */
static int *horizon;
static StmLock array_lock;

static void start(void) {
  xmins = stm_shared("xmins", BACKENDS * sizeof *xmins, 64);
  horizon = stm_shared("horizon", sizeof *horizon, 64);
  array_lock = stm_lock_new("ProcArrayLock");
  xmins[SOURCE] = SOURCE_XMIN;
}

/* Without an xid there is nothing that others would have to see as one with the end. */
static void end(int64_t slot) {
  if (slot < 0 || slot >= BACKENDS) stm_exit("no such slot");
  __atomic_store_n(&xmins[slot], 0, __ATOMIC_RELAXED);
}

static void import(int64_t own) {
  if (own < 0 || own >= BACKENDS || own == SOURCE) stm_exit("no such slot");
#ifdef MENDED
  stm_lock_acquire(array_lock, false);
#else
  stm_lock_acquire(array_lock, true);
#endif
  int xmin = __atomic_load_n(&xmins[SOURCE], __ATOMIC_RELAXED);
  if (xmin) __atomic_store_n(&xmins[own], xmin, __ATOMIC_RELAXED);
  stm_lock_release(array_lock);
  if (!xmin) stm_exit("the source process is not running any more");
}

static void vacuum(int64_t unused) {
  (void)unused;
  int oldest = NEXT_XID;
  stm_lock_acquire(array_lock, true);
  for (int i = 0; i < BACKENDS; i++) {
    int xmin = __atomic_load_n(&xmins[i], __ATOMIC_RELAXED);
    if (xmin && xmin < oldest) oldest = xmin;
  }
  *horizon = oldest;
  stm_lock_release(array_lock);
}

/* The source has advertised its xmin from the start, and the importer has not ended. */
static bool passed(char *why, size_t size) {
  for (int i = 0; i < BACKENDS; i++) {
    if (!xmins[i] || *horizon <= xmins[i]) continue;
    snprintf(why, size, "VACUUM's horizon is %d, and backend %d needs %d", *horizon, i, xmins[i]);
    return true;
  }
  return false;
}

static const StampedeEntry entries[] = {
    {"end", "the transaction of backend `with`, which has no xid, ends", end},
    {"import", "backend `with` imports the snapshot of backend 1", import},
    {"vacuum", "computes the horizon", vacuum},
};
static const StampedeCheck checks[] = {
    {"horizon-keeps", "the horizon is not beyond the xmin of any backend whose transaction runs", passed, true}};

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
#ifdef MENDED
    .name = "imported-xmin-mended",
#else
    .name = "imported-xmin",
#endif
    .about = "a backend takes over another's snapshot while VACUUM computes its horizon",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .checks = checks,
    .n_checks = sizeof checks / sizeof *checks,
};
