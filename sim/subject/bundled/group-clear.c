/* group-clear.c - backends that end their transactions as a group: a miniature of PostgreSQL's ProcArrayGroupClearXid,
 * from its public history (commit 4aec49899e, 2015). Built twice: as it was, and mended (-DMENDED).
 *
 * Who ends pushes itself on a list. The one who finds it empty leads: it takes the lock and the whole list, clears
 * everybody's xid, then lets each of them go on. The others wait on their semaphore. As it was, a follower looked
 * whether it still had to wait before it slept:
 *   L (leader)                               F (follower)
 *                                            1. pushes itself
 *   2. clears F, takes F off the list
 *                                            3. sees that it is off, and does not sleep
 *   4. ups F's semaphore: nobody will take that, and F's next wait, for anything, ends at once
 * Mended: a follower sleeps first, and looks when it was woken; wake-ups meant for something else it gives back. */
#include "stampede_subject.h"
#include <string.h>

enum { BACKENDS = 4, NONE = -1 };

typedef struct {
  int xid, next;
  int member; /* waits to be cleared */
} Proc;

static Proc *procs;
static int *first, *early;
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
#ifdef MENDED
  int extra = 0;
  for (stm_semaphore_down(sems[mine]); __atomic_load_n(&procs[mine].member, __ATOMIC_ACQUIRE); extra++)
    stm_semaphore_down(sems[mine]);
  while (extra-- > 0) stm_semaphore_up(sems[mine]);
#else
  while (__atomic_load_n(&procs[mine].next, __ATOMIC_ACQUIRE) != NONE) stm_semaphore_down(sems[mine]);
#endif
  if (procs[mine].xid != 0) *early = 1;
}

static void let_go(int head) {
  while (head != NONE) {
    int p = head;
    head = __atomic_load_n(&procs[p].next, __ATOMIC_RELAXED);
    __atomic_store_n(&procs[p].next, NONE, __ATOMIC_RELEASE);
    __atomic_store_n(&procs[p].member, 0, __ATOMIC_RELEASE);
    if (p != mine) stm_semaphore_up(sems[p]);
  }
}

static void end(int64_t unused) {
  (void)unused;
  __atomic_store_n(&procs[mine].member, 1, __ATOMIC_RELAXED);
  if (push() != NONE) {
    follow();
    return;
  }
  stm_lock_acquire(array_lock, false);
  int head = __atomic_exchange_n(first, NONE, __ATOMIC_SEQ_CST);
  for (int p = head; p != NONE; p = __atomic_load_n(&procs[p].next, __ATOMIC_RELAXED)) procs[p].xid = 0;
  stm_lock_release(array_lock);
  let_go(head);
}

static bool say(bool broken, const char *words, char *why, size_t size) {
  size_t n = strlen(words) + 1;
  if (broken) memcpy(why, words, n < size ? n : size);
  return broken;
}
static bool count_is_off(char *why, size_t size) {
  bool off = false;
  for (int i = 0; i < BACKENDS; i++)
    if (stm_semaphore_try(sems[i])) {
      off = true;
      stm_semaphore_up(sems[i]); /* as it was */
    }
  return say(off, "everybody has left, and a semaphore was upped once too often", why, size);
}
static bool went_on_early(char *why, size_t size) {
  return say(*early != 0, "a follower went on before its xid was cleared", why, size);
}

static const StampedeEntry entries[] = {{"begin", "has an xid, in the slot `with`", begin},
                                        {"end", "ends its transaction, with a group", end}};
static const StampedeCheck checks[] = {
    {"semaphores-conserved", "each up was meant for a down", count_is_off, true},
    {"cleared-before-awake", "nobody goes on before its xid is cleared", went_on_early, true}};

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
#ifdef MENDED
    .name = "group-clear-mended",
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
