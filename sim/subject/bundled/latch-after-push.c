/* latch-after-push.c - when a backend that leaves may put its slot on the free list: a miniature of the end of
 * PostgreSQL's ProcKill, from its public history (commit 84b9d6bcea). Built twice: as it was, and mended (-DMENDED).
 *
 * A slot has a latch, which the backend that has the slot owns. As it was:
 *   A (leaves)                               B (connects)
 *   1. puts its slot on the free list
 *                                            2. takes it, and would own its latch, which has an owner: PANIC
 *   3. gives its latch up
 * Mended: 3 comes before 1, when nobody else can have the slot. */
#include "stampede_subject.h"

enum { NONE = -1, SLOTS = 2 };

typedef struct {
  int latch_owner; /* pid; 0: nobody */
  int next_free;
} Slot;

static Slot *slots;
static int *first_free;
static StmLock list_lock;
static int mine = NONE;

static void start(void) {
  first_free = stm_shared("free list", sizeof *first_free, 64);
  slots = stm_shared("slots", SLOTS * sizeof *slots, 64);
  stm_structure("slots", slots, sizeof *slots, SLOTS, "Slot");
  list_lock = stm_lock_new("free list lock");
  for (int i = 0; i < SLOTS; i++) slots[i].next_free = i + 1 < SLOTS ? i + 1 : NONE;
}

static void connect(int64_t unused) {
  (void)unused;
  stm_lock_acquire(list_lock, false);
  mine = *first_free;
  if (mine != NONE) *first_free = slots[mine].next_free;
  stm_lock_release(list_lock);
  if (mine == NONE) stm_exit("sorry, too many clients already");
  if (slots[mine].latch_owner != 0) stm_panic("latch already owned");
  slots[mine].latch_owner = stm_self();
}

static void give_latch_up(void) {
  slots[mine].latch_owner = 0;
}

static void push(void) {
  stm_lock_acquire(list_lock, false);
  slots[mine].next_free = *first_free;
  *first_free = mine;
  stm_lock_release(list_lock);
}

static void leave(int64_t unused) {
  (void)unused;
#ifdef MENDED
  give_latch_up();
  push();
#else
  push();
  give_latch_up();
#endif
  mine = NONE;
}

static const StampedeEntry entries[] = {{"connect", "takes a slot and owns its latch", connect},
                                        {"leave", "gives both back", leave}};

const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION,
                                          .name =
#ifdef MENDED
                                              "latch-after-push-mended",
#else
                                              "latch-after-push",
#endif
                                          .about = "a slot that goes back to the free list, and its latch",
                                          .start = start,
                                          .entries = entries,
                                          .n_entries = sizeof entries / sizeof *entries};
