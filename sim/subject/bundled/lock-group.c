/* lock-group.c - how members of a lock group give their slots back to the free list: a miniature of PostgreSQL's
 * ProcKill, from its public history (commit 5631045231; the bug since 9.6). Built twice: as it was, and mended
 * (-DMENDED).
 *
 * A group is led by one process, and others join it. Who leaves takes itself off the group under the group's lock, and
 * returns its slot to the free list. The leader's slot must stay until the last member is gone, as the group's list
 * hangs on it.
 *
 * As it was, "is my slot mine to return" is asked of slot->leader after the lock was given up:
 *   L (leader)                                   F (follower)
 *   1. takes itself off; F is still there
 *   2. gives the lock up
 *                                                3. takes itself off; the last one: L has gone, so it returns L's slot,
 *                                                   and clears L's leader
 *   4. its leader is none: returns its slot, which is on the list already
 *                                                5. its own leader was never cleared: F's slot is lost
 * (5 happens whenever the leader is off first, whether 4 comes before 3 or not.)
 * Mended: who returns what is decided under the lock, where it is known who has gone. */
#include "stampede_subject.h"
#include <stdio.h>

enum { SLOTS = 8, NONE = -1 };

typedef struct {
  int owner;   /* pid; 0: nobody */
  int leader;  /* slot of the group's leader, its own for the leader; NONE: in no group */
  int members; /* of the group that it leads, itself included */
  bool gone;   /* it led a group, and has taken itself off */
  int next_free;
} Slot;

typedef struct {
  uint8_t spin; /* over first_free and every next_free */
  int first_free;
} FreeList;

static Slot *slots;
static FreeList *list;
static StmLock group_lock;
static int mine = NONE;

static void start(void) {
  list = stm_shared("free list", sizeof *list, 64);
  slots = stm_shared("slots", SLOTS * sizeof *slots, 64);
  stm_structure("slots", slots, sizeof *slots, SLOTS, "Slot");
  group_lock = stm_lock_new("group lock");
  for (int i = 0; i < SLOTS; i++) slots[i] = (Slot){.leader = NONE, .next_free = i + 1 < SLOTS ? i + 1 : NONE};
}

static void spin_lock(void) {
  while (__atomic_exchange_n(&list->spin, 1, __ATOMIC_ACQUIRE)) stm_spin();
}
static void spin_unlock(void) {
  __atomic_store_n(&list->spin, 0, __ATOMIC_RELEASE);
}

static void give(int slot) {
  slots[slot].owner = 0;
  spin_lock();
  slots[slot].next_free = list->first_free;
  list->first_free = slot;
  spin_unlock();
}

static void connect(int64_t unused) {
  (void)unused;
  spin_lock();
  mine = list->first_free;
  if (mine != NONE) list->first_free = slots[mine].next_free;
  spin_unlock();
  if (mine == NONE) stm_exit("sorry, too many clients already");
  slots[mine].owner = stm_self(); /* one by one: a whole Slot may be stored in pieces, with a leader 0 in between */
  slots[mine].leader = slots[mine].next_free = NONE;
  slots[mine].members = 0;
  slots[mine].gone = false;
}

static void lead(int64_t unused) {
  (void)unused;
  stm_lock_acquire(group_lock, false);
  slots[mine].leader = mine;
  slots[mine].members = 1;
  stm_lock_release(group_lock);
}

static void join(int64_t leader) {
  if (leader < 0 || leader >= SLOTS) stm_exit("no such slot");
  stm_lock_acquire(group_lock, false);
  bool led = slots[leader].leader == leader && !slots[leader].gone;
  if (led) {
    slots[mine].leader = (int)leader;
    slots[leader].members++;
  }
  stm_lock_release(group_lock);
  if (led) return;
  give(mine);
  stm_exit("nobody leads a group from that slot");
}

#ifndef MENDED
static bool leave_group(int *also) {
  int leader = slots[mine].leader;
  *also = NONE;
  if (leader == NONE) return true;
  stm_lock_acquire(group_lock, false);
  if (--slots[leader].members == 0) {
    slots[leader].leader = NONE;
    if (leader != mine) give(leader); /* it was off first, and left its slot to the last one */
  } else if (leader != mine) {
    slots[mine].leader = NONE;
  }
  stm_lock_release(group_lock);
  return true;
}
static bool returns_own(void) {
  return slots[mine].leader == NONE;
}
#else
static bool own_to_return;
static bool leave_group(int *also) {
  int leader = slots[mine].leader;
  *also = NONE;
  own_to_return = true;
  if (leader == NONE) return true;
  stm_lock_acquire(group_lock, false);
  bool last = --slots[leader].members == 0;
  if (leader == mine) {
    own_to_return = last;
    slots[mine].gone = !last;
  } else if (last && slots[leader].gone) {
    *also = leader;
  }
  slots[mine].leader = leader == mine && !last ? mine : NONE;
  stm_lock_release(group_lock);
  return true;
}
static bool returns_own(void) {
  return own_to_return;
}
#endif

/* between: microseconds from leaving the group to returning the slot. The server gives its latch up there, and does the
 * accounting of waits. */
static void leave(int64_t between) {
  int also;
  leave_group(&also);
  stm_sleep_us(between);
  if (returns_own()) give(mine);
  if (also != NONE) give(also);
  mine = NONE;
}

static const StampedeEntry entries[] = {
    {"connect", "takes a slot", connect},
    {"lead", "makes this process the leader of a lock group", lead},
    {"join", "joins the group whose leader has the slot of the argument", join},
    {"leave", "leaves its group, and returns its slot after so many microseconds", leave},
};

static bool on_list_twice(char *why, size_t size) {
  bool seen[SLOTS] = {false};
  for (int i = list->first_free; i != NONE; i = slots[i].next_free) {
    if (seen[i]) {
      snprintf(why, size, "slot %d is on the free list twice", i);
      return true;
    }
    seen[i] = true;
  }
  return false;
}

static bool lost(char *why, size_t size) {
  bool seen[SLOTS] = {false};
  for (int i = list->first_free, n = 0; i != NONE && n <= SLOTS; i = slots[i].next_free, n++) seen[i] = true;
  for (int i = 0; i < SLOTS; i++) {
    if (seen[i]) continue;
    snprintf(why, size, "slot %d is lost: not on the free list, and everybody has left", i);
    return true;
  }
  return false;
}

static const StampedeCheck checks[] = {
    {"slot-on-list-once", "no slot is on the free list twice", on_list_twice, .at_end = false},
    {"no-slot-lost", "when everybody has left, every slot is on the free list", lost, .at_end = true},
};

static void describe(void (*each)(const char *name, const char *value, void *data), void *data) {
  char text[96], name[16];
  int at = 0, i = list->first_free;
  text[0] = 0;
  for (int n = 0; i != NONE && n <= SLOTS; i = slots[i].next_free, n++)
    at += snprintf(text + at, sizeof text - (size_t)at, "%s%d", n ? " " : "", i);
  each("free list", text, data);
  for (int s = 0; s < 3; s++) {
    snprintf(name, sizeof name, "slot %d", s);
    snprintf(text, sizeof text, "owner %d, leader %d, members %d", slots[s].owner, slots[s].leader, slots[s].members);
    each(name, text, data);
  }
}

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
#ifdef MENDED
    .name = "lock-group-mended",
#else
    .name = "lock-group",
#endif
    .about = "members of a lock group return their slots to the free list",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .checks = checks,
    .n_checks = sizeof checks / sizeof *checks,
    .describe = describe,
};
