/* recycled-slot.c - a backend is looked up by its pid and told to end: a miniature of how PostgreSQL used what
 * BackendPidGetProc returns, from its public history (commit 33b392eaab). Built twice: as it was, and mended
 * (-DMENDED).
 *
 * The search returns a slot, found under ProcArrayLock. As it was, the pid to be signalled was read from that slot
 * after the lock was given up: A (ends worker 1)                        T (worker 1)             N (worker 2)
 *   1. finds T's slot by T's pid, under the lock
 *                                            2. leaves
 *                                                                     3. connects: has T's slot
 *   4. reads the pid in the slot, N's, and ends N
 * Mended: what is needed is copied while the lock is held. */
#include "stampede_subject.h"
#include <stdio.h>

enum { SLOTS = 2, WORKERS = 3, NONE = -1 };

typedef struct {
  int pid; /* 0: the slot is free */
} Slot;

static Slot *slots;
static int *registered;        /* pid of each worker, 0: it never was; it stays when the worker has left */
static int *asked, *signalled; /* pids; what happened, for the check */
static StmLock array_lock;
static int mine = NONE;

static void start(void) {
  slots = stm_shared("slots", SLOTS * sizeof *slots, 64);
  registered = stm_shared("registered", WORKERS * sizeof *registered, 64);
  asked = stm_shared("asked", sizeof *asked, 64);
  signalled = stm_shared("signalled", sizeof *signalled, 64);
  stm_structure("slots", slots, sizeof *slots, SLOTS, "Slot");
  array_lock = stm_lock_new("ProcArrayLock");
}

static int find(int pid) {
  for (int i = 0; i < SLOTS; i++)
    if (slots[i].pid == pid) return i;
  return NONE;
}

static void connect(int64_t worker) {
  if (worker < 0 || worker >= WORKERS) stm_exit("no such worker");
  stm_lock_acquire(array_lock, false);
  mine = find(0);
  if (mine != NONE) slots[mine].pid = stm_self();
  stm_lock_release(array_lock);
  if (mine == NONE) stm_exit("sorry, too many clients already");
  __atomic_store_n(&registered[worker], stm_self(), __ATOMIC_SEQ_CST);
}

static void leave(int64_t unused) {
  (void)unused;
  if (mine == NONE) return;
  stm_lock_acquire(array_lock, false);
  slots[mine].pid = 0;
  stm_lock_release(array_lock);
  mine = NONE;
}

static void signal_pid(int wanted, int pid) {
  *asked = wanted;
  *signalled = pid; /* 0: there is nobody to be signalled */
}

static void terminate(int64_t worker) {
  int pid = worker >= 0 && worker < WORKERS ? __atomic_load_n(&registered[worker], __ATOMIC_SEQ_CST) : 0, to = 0;
  if (!pid) return;
  stm_lock_acquire(array_lock, true);
  int slot = find(pid);
#ifdef MENDED
  if (slot != NONE) to = slots[slot].pid;
  stm_lock_release(array_lock);
#else
  stm_lock_release(array_lock);
  if (slot != NONE) to = slots[slot].pid;
#endif
  signal_pid(pid, to);
}

static bool wrong_one(char *why, size_t size) {
  if (!*signalled || *signalled == *asked) return false;
  snprintf(why, size, "the process with pid %d was to end, and %d was told to", *asked, *signalled);
  return true;
}

static const StampedeEntry entries[] = {
    {"connect", "takes a slot, as worker `with`", connect},
    {"leave", "gives it back", leave},
    {"terminate", "looks for the slot of worker `with` by its pid, and tells who is there to end", terminate},
};
static const StampedeCheck checks[] = {
    {"right-one-signalled", "who is told to end is who was looked for", wrong_one, true}};

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
#ifdef MENDED
    .name = "recycled-slot-mended",
#else
    .name = "recycled-slot",
#endif
    .about = "a backend is looked up by its pid and told to end, while slots change hands",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .checks = checks,
    .n_checks = sizeof checks / sizeof *checks,
};
