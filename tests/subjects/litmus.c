/* litmus.c - single loads, stores, fences and locked instructions, for tests/test_interleave.c to make shapes of. What
 * was loaded is noted where no hook sees it, within the same step. */
#include "litmus.h"
#include "stampede_subject.h"
#include <string.h>

static Litmus *l;
static StmLock lock;
static StmSemaphore bell;
static int64_t mine; /* changes with each call: a process's own variable */

static void start(void) {
  l = stm_shared("litmus", sizeof *l, 64);
  lock = stm_lock_new("lock");
  bell = stm_semaphore_new("bell", 0);
}

/* In shared memory, as what tells about a schedule must not depend on who looks. */
__attribute__((no_sanitize("thread"))) static void note(int64_t which, int value) {
  l->noted[which] = value;
}

static void store_x(int64_t value) {
  l->x = (int)value;
  mine += value;
}
static void store_y(int64_t value) {
  l->y = (int)value;
}
static void load_x(int64_t to) {
  note(to, l->x);
}
static void load_y(int64_t to) {
  note(to, l->y);
}
static void release_x(int64_t value) {
  __atomic_store_n(&l->x, (int)value, __ATOMIC_RELEASE);
}
static void strong_x(int64_t value) {
  __atomic_store_n(&l->x, (int)value, __ATOMIC_SEQ_CST);
}
static void strong_y(int64_t value) {
  __atomic_store_n(&l->y, (int)value, __ATOMIC_SEQ_CST);
}
static void fence(int64_t unused) {
  (void)unused;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static void light_fence(int64_t unused) {
  (void)unused;
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
}
static void add_z(int64_t by) {
  __atomic_fetch_add(&l->z, (int)by, __ATOMIC_RELAXED);
}
static void take_turn(int64_t by) {
  stm_lock_acquire(lock, false);
  l->z += (int)by + (int)mine;
  mine++;
  stm_lock_release(lock);
}
static void store_half(int64_t value) {
  ((short *)&l->x)[0] = (short)value;
}
static void copy_block(int64_t unused) {
  char there[sizeof l->from];
  (void)unused;
  memcpy(there, l->from, sizeof there);
  memcpy(l->to, there, sizeof there);
  memmove(l->from, l->to, sizeof there);
  l->from[0]++;
}
static void ring(int64_t unused) {
  (void)unused;
  stm_semaphore_up(bell);
}
static void wait_for_bell(int64_t unused) {
  (void)unused;
  stm_semaphore_down(bell);
  l->y++;
}
static void leave(int64_t unused) {
  (void)unused;
  l->z++;
  stm_exit("enough");
}

static const StampedeEntry entries[] = {{"store_x", "", store_x},
                                        {"store_y", "", store_y},
                                        {"load_x", "", load_x},
                                        {"load_y", "", load_y},
                                        {"release_x", "", release_x},
                                        {"strong_x", "", strong_x},
                                        {"strong_y", "", strong_y},
                                        {"fence", "", fence},
                                        {"light_fence", "", light_fence},
                                        {"add_z", "", add_z},
                                        {"take_turn", "", take_turn},
                                        {"store_half", "", store_half},
                                        {"copy_block", "", copy_block},
                                        {"ring", "", ring},
                                        {"wait_for_bell", "", wait_for_bell},
                                        {"leave", "", leave}};

const StampedeSubject stampede_subject = {.version = STAMPEDE_SUBJECT_VERSION,
                                          .name = "litmus",
                                          .about = "shapes of memory models",
                                          .start = start,
                                          .entries = entries,
                                          .n_entries = sizeof entries / sizeof *entries};
