/* proc-array-add.c - one ProcArrayAdd: a miniature of PostgreSQL's, version 14 and later, from its public description.
 * Built twice: with its locks, and without (-DUNLOCKED), where two at once may lose one of the two.
 *
 * The array is sorted by proc number, and four arrays run beside each other. Two others are there from the start, the
 * higher of which must move up, and be told so in its PGPROC. */
#include "stampede_subject.h"
#include <string.h>

enum { PROCS = 8, FIRST = 3, LAST = 7 };

typedef struct {
  uint32_t xid;
  uint16_t subxids;
  uint8_t status_flags;
  int pgxactoff;
} PGPROC;

typedef struct {
  int num_procs;
  int pgprocnos[PROCS];
} ProcArray;

static ProcArray *array;
static PGPROC *procs;
static uint32_t *xids;
static uint16_t *subxids;
static uint8_t *status_flags;
static StmLock proc_array_lock, xid_gen_lock;

static void there_from_the_start(int at, int procno) {
  array->pgprocnos[at] = procno;
  procs[procno].pgxactoff = at;
  array->num_procs++;
}

static void start(void) {
  array = stm_shared("proc array", sizeof *array, 64);
  procs = stm_shared("PGPROC", PROCS * sizeof *procs, 64);
  stm_structure("PGPROC", procs, sizeof *procs, PROCS, "PGPROC");
  xids = stm_shared("xids", PROCS * sizeof *xids, 64);
  subxids = stm_shared("subxidStates", PROCS * sizeof *subxids, 64);
  status_flags = stm_shared("statusFlags", PROCS * sizeof *status_flags, 64);
  proc_array_lock = stm_lock_new("ProcArrayLock");
  xid_gen_lock = stm_lock_new("XidGenLock");
  there_from_the_start(0, FIRST);
  there_from_the_start(1, LAST);
}

static void lock_both(void) {
#ifndef UNLOCKED
  stm_lock_acquire(proc_array_lock, false);
  stm_lock_acquire(xid_gen_lock, false);
#endif
}
static void unlock_both(void) {
#ifndef UNLOCKED
  stm_lock_release(xid_gen_lock);
  stm_lock_release(proc_array_lock);
#endif
}

static void make_room(int at, int n) {
  memmove(&array->pgprocnos[at + 1], &array->pgprocnos[at], (size_t)n * sizeof(int));
  memmove(&xids[at + 1], &xids[at], (size_t)n * sizeof *xids);
  memmove(&subxids[at + 1], &subxids[at], (size_t)n * sizeof *subxids);
  memmove(&status_flags[at + 1], &status_flags[at], (size_t)n);
}

static void add(int64_t procno) {
  int at = 0;
  lock_both();
  while (at < array->num_procs && array->pgprocnos[at] <= procno) at++;
  make_room(at, array->num_procs - at);
  array->pgprocnos[at] = (int)procno;
  xids[at] = procs[procno].xid;
  subxids[at] = procs[procno].subxids;
  status_flags[at] = procs[procno].status_flags;
  procs[procno].pgxactoff = at;
  array->num_procs++;
  for (int i = at + 1; i < array->num_procs; i++) procs[array->pgprocnos[i]].pgxactoff = i;
  unlock_both();
}

static const StampedeEntry entries[] = {{"add", "ProcArrayAdd of PGPROC number `with`", add}};

static bool say(char *why, size_t size, const char *words) {
  size_t n = strlen(words) + 1;
  memcpy(why, words, n < size ? n : size);
  return true;
}

static bool disordered(char *why, size_t size) {
  if (array->num_procs != 4) return say(why, size, "a member was lost");
  for (int i = 0; i < array->num_procs; i++) {
    if (i > 0 && array->pgprocnos[i - 1] >= array->pgprocnos[i]) return say(why, size, "not in order of proc numbers");
    if (procs[array->pgprocnos[i]].pgxactoff != i) return say(why, size, "a pgxactoff is not where its member is");
  }
  return false;
}
static const StampedeCheck checks[] = {
    {"array-in-order", "two members more, sorted, each told its place", disordered, true}};

const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION,
                                          .name =
#ifdef UNLOCKED
                                              "proc-array-add-unlocked",
#else
                                              "proc-array-add",
#endif
                                          .about = "one ProcArrayAdd among members that are there",
                                          .start = start,
                                          .entries = entries,
                                          .n_entries = sizeof entries / sizeof *entries,
                                          .checks = checks,
                                          .n_checks = 1};
