/* group-clear.c - backends that end their transactions as a group: a miniature of PostgreSQL's ProcArrayEndTransaction
 * and ProcArrayGroupClearXid, from their public history (commits 0e141c0fbb and 4aec49899e, 2015).
 *
 * Who ends takes the lock and clears its xid. If it cannot have the lock at once it pushes itself on a list. The one
 * who finds that empty leads: it waits for the lock, takes the whole list, clears everybody's xid, then lets each of
 * them go on. The others wait on their semaphore. Built five times:
 *
 * -DMENDED: a follower sleeps first, and looks when it was woken; wake-ups meant for something else it gives back.
 * (nothing): as it was. A follower looked whether it still had to wait before it slept:
 *   L (leader)                               F (follower)
 *                                            1. pushes itself
 *   2. clears F, takes F off the list
 *                                            3. sees that it is off, and does not sleep
 *   4. ups F's semaphore: nobody will take that, and F's next wait, for anything, ends at once
 * -DEARLY: as that, and what the leader stores may be seen in either order, as on a machine of weak order: written out
 * here as F taken off before its xid is cleared. F, woken for something else or not asleep yet, goes on too early.
 * -DSPLIT: no bug there ever was, but the race that the list must stand: its head is taken and emptied in two steps,
 * and who pushes itself in between is lost. -DSINGLE: before there were groups: each waits for the lock itself. */
#include "stampede_subject.h"
#include <stdio.h>

enum { BACKENDS = 64, NONE = -1 };

typedef struct {
  int xid, next;
  int member;  /* waits to be cleared */
  int cleared; /* how often its xid was, for the checks */
} Proc;

static Proc *procs;
static int *first, *early; /* early: somebody went on before its xid was cleared */
static StmSemaphore sems[BACKENDS];
static StmLock array_lock;
static int mine = NONE;

static void start(void) {
  first = stm_shared("group list", sizeof *first, 64);
  early = stm_shared("early", sizeof *early, 64);
  procs = stm_shared("procs", BACKENDS * sizeof *procs, 64);
  stm_structure("procs", procs, sizeof *procs, BACKENDS, "Proc");
  array_lock = stm_lock_new("ProcArrayLock");
  *first = NONE;
  for (int i = 0; i < BACKENDS; i++) {
    procs[i].next = NONE;
    sems[i] = stm_semaphore_new("semaphore", 0);
  }
}

static void begin(int64_t slot) {
  if (slot < 0 || slot >= BACKENDS) stm_exit("no such slot");
  mine = (int)slot;
  procs[mine].xid = 100 + mine;
}

/* Returns who was first before. */
static int push(void) {
  int head = __atomic_load_n(first, __ATOMIC_RELAXED);
  do __atomic_store_n(&procs[mine].next, head, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(first, &head, mine, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return head;
}

static void follow(void) {
#if defined MENDED || defined SPLIT
  int extra = 0;
  for (stm_semaphore_down(sems[mine]); __atomic_load_n(&procs[mine].member, __ATOMIC_ACQUIRE); extra++)
    stm_semaphore_down(sems[mine]);
#else
  int extra = -1;
  for (; __atomic_load_n(&procs[mine].next, __ATOMIC_ACQUIRE) != NONE; extra++) stm_semaphore_down(sems[mine]);
#endif
  while (extra-- > 0) stm_semaphore_up(sems[mine]);
  if (procs[mine].xid != 0) *early = 1;
}

static void clear(int p) {
  procs[p].xid = 0;
  procs[p].cleared++;
}

/* Returns the one after it. */
static int take_off(int p) {
  int next = __atomic_load_n(&procs[p].next, __ATOMIC_RELAXED);
  __atomic_store_n(&procs[p].next, NONE, __ATOMIC_RELEASE);
  return next;
}

static void let_go(int p) {
  __atomic_store_n(&procs[p].member, 0, __ATOMIC_RELEASE);
  if (p != mine) stm_semaphore_up(sems[p]);
}

static int take_list(void) {
#ifdef SPLIT
  int head = __atomic_load_n(first, __ATOMIC_RELAXED);
  __atomic_store_n(first, NONE, __ATOMIC_RELAXED);
  return head;
#else
  return __atomic_exchange_n(first, NONE, __ATOMIC_SEQ_CST);
#endif
}

/* The leader's own next is NONE already, as it found the list empty: it is the last. */
static void lead(void) {
  stm_lock_acquire(array_lock, false);
  int head = take_list();
#ifdef EARLY
  for (int p = head, next; p != NONE; p = next) {
    next = take_off(p);
    clear(p);
    let_go(p);
  }
  stm_lock_release(array_lock);
#else
  for (int p = head; p != NONE; p = __atomic_load_n(&procs[p].next, __ATOMIC_RELAXED)) clear(p);
  stm_lock_release(array_lock);
  for (int p = head, next; p != NONE; p = next) {
    next = take_off(p);
    let_go(p);
  }
#endif
}

static void end(int64_t unused) {
  (void)unused;
#ifdef SINGLE
  stm_lock_acquire(array_lock, false);
#else
  if (!stm_lock_try(array_lock, false)) {
    __atomic_store_n(&procs[mine].member, 1, __ATOMIC_RELAXED);
    if (push() == NONE)
      lead();
    else
      follow();
    return;
  }
#endif
  clear(mine);
  stm_lock_release(array_lock);
}

/* What a snapshot does to the lock, for so long. */
static void hold(int64_t us) {
  stm_lock_acquire(array_lock, true);
  stm_sleep_us(us);
  stm_lock_release(array_lock);
}

/* Semaphores are for other waits too, of an LWLock's queue: who gives one says so, and who waits for it takes it. */
static void give(int64_t slot) {
  if (slot < 0 || slot >= BACKENDS) stm_exit("no such slot");
  stm_semaphore_up(sems[slot]);
}
static void await(int64_t unused) {
  (void)unused;
  stm_semaphore_down(sems[mine]);
}

static bool went_on_early(char *why, size_t size) {
  if (*early) snprintf(why, size, "a follower went on before its xid was cleared");
  return *early != 0;
}
static bool not_once(char *why, size_t size) {
  for (int i = 0; i < BACKENDS; i++) {
    if (!procs[i].xid && procs[i].cleared < 2) continue;
    snprintf(why, size, "the xid of backend %d was cleared %d times, and is %d", i, procs[i].cleared, procs[i].xid);
    return true;
  }
  return false;
}

static const StampedeEntry entries[] = {
    {"begin", "has an xid, in the slot `with`", begin},
    {"end", "ends its transaction, with a group if it must wait", end},
    {"hold", "has the lock for `with` microseconds, as one who takes a snapshot", hold},
    {"give", "wakes the backend of slot `with` for something else than its transaction's end", give},
    {"await", "waits for that", await},
};
static const StampedeCheck checks[] = {
    {"cleared-before-awake", "nobody goes on before its xid is cleared", went_on_early, true},
    {"cleared-once", "when everybody is through, each xid was cleared, and once", not_once, true},
};

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
#if defined MENDED
    .name = "group-clear-mended",
#elif defined EARLY
    .name = "group-clear-early",
#elif defined SPLIT
    .name = "group-clear-split",
#elif defined SINGLE
    .name = "group-clear-single",
#else
    .name = "group-clear",
#endif
    .about = "backends that end their transactions as a group",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .checks = checks,
    .n_checks = sizeof checks / sizeof *checks,
};
