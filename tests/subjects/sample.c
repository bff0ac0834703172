/* sample.c - what tests/test_subject.c and tests/e2e_subject.sh ask of the runtime: one entry a thing. */
#include "sample.h"
#include "stampede_subject.h"
#include <stdio.h>
#include <string.h>

static State *state;
static StmLock lock, locks[8];
static StmSemaphore semaphore;
static uint8_t *flag;
static int64_t mine;

static void start(void) {
  if (stm_self() != 0) stm_panic("start has a pid");
  state = stm_shared("state", sizeof *state, 64);
  flag = stm_shared("flag", 1, 64);
  lock = stm_lock_new("lock");
  for (int i = 0; i < 8; i++) locks[i] = stm_lock_new("one of eight");
  semaphore = stm_semaphore_new("bell", 0);
  for (size_t i = 0; i < sizeof *state; i++)
    if (((const char *)state)[i]) stm_panic("shared memory is not zeroed");
}

static void note(int64_t what) {
  if (state->n_order < 64) state->order[state->n_order++] = what;
}

static void hold_shared(int64_t us) {
  stm_lock_acquire(lock, true);
  note(stm_self());
  if (++state->shared_in > state->most_shared) state->most_shared = state->shared_in;
  if (state->exclusive_in) stm_panic("shared beside exclusive");
  stm_sleep_us(us);
  state->shared_in--;
  stm_lock_release(lock);
}
static void hold(int64_t us) {
  stm_lock_acquire(lock, false);
  note(stm_self());
  if (state->shared_in || state->exclusive_in++) stm_panic("exclusive beside another");
  stm_sleep_us(us);
  state->exclusive_in--;
  stm_lock_release(lock);
}
static void try_lock(int64_t unused) {
  (void)unused;
  if (stm_lock_try(lock, false))
    stm_lock_release(lock), note(1);
  else
    note(0);
}
static void down(int64_t unused) {
  (void)unused;
  stm_semaphore_down(semaphore);
  note(stm_self());
}
static void up(int64_t times) {
  while (times-- > 0) stm_semaphore_up(semaphore);
}
static void spin_on(int64_t unused) {
  (void)unused;
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) stm_spin(), state->turns++;
}
static void raise_flag(int64_t unused) {
  (void)unused;
  __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}
static void own(int64_t value) {
  mine += value;
  stm_sleep_us(1); /* another's are in place meanwhile */
  state->seen_private = mine;
}
static void bye(int64_t unused) {
  (void)unused;
  stm_exit("has had enough");
}
static void panic(int64_t unused) {
  (void)unused;
  stm_panic("nothing is right");
}
static int deeper(int n) {
  volatile char room[1024];
  memset((char *)room, n, sizeof room);
  return n <= 0 ? room[0] : deeper(n - 1) + room[1];
}
static void recurse(int64_t n) {
  state->value = deeper((int)n);
}
static void touch(int64_t n) {
  for (int64_t i = 0; i < n; i++) state->value++;
}
static void point(int64_t what) {
  int here = 0;
  state->pointer = what == 0 ? (void *)state : what == 1 ? (void *)(intptr_t)touch : (void *)&here;
  stm_sleep_us(5);
}
static void hold_all(int64_t n) {
  for (int64_t i = 0; i < n; i++) stm_lock_acquire(locks[i], false);
  stm_lock_release_all();
}
static void release_unheld(int64_t unused) {
  (void)unused;
  stm_lock_release(lock);
}
static void wild(int64_t unused) {
  (void)unused;
  *(volatile int *)16 = 1;
}
static void late_shared(int64_t unused) {
  (void)unused;
  stm_shared("too late", 8, 8);
}
static void keep(int64_t unused) {
  (void)unused;
  stm_lock_acquire(lock, false);
}

#define ENTRY(f)                                                                                                       \
  { #f, "see its code", f }
static const StampedeEntry entries[] = {ENTRY(hold_shared), ENTRY(hold),     ENTRY(try_lock),       ENTRY(down),
                                        ENTRY(up),          ENTRY(spin_on),  ENTRY(raise_flag),     ENTRY(own),
                                        ENTRY(bye),         ENTRY(panic),    ENTRY(recurse),        ENTRY(touch),
                                        ENTRY(point),       ENTRY(hold_all), ENTRY(release_unheld), ENTRY(wild),
                                        ENTRY(late_shared), ENTRY(keep)};

static bool value_is_large(char *why, size_t size) {
  if (state->value < 100) return false;
  why[0] = 0; /* its own stores go through the hooks too */
  snprintf(why, size, "value is %lld, not below 100", (long long)state->value);
  return true;
}
static bool somebody_was_here(char *why, size_t size) {
  if (state->n_order) return false;
  snprintf(why, size, "nobody noted anything");
  return true;
}
static bool looks_wild(char *why, size_t size) {
  (void)why, (void)size;
  return state->value == 66 && *(volatile int *)16;
}
static const StampedeCheck checks[] = {{"value-small", "value stays below 100", value_is_large, false},
                                       {"wild", "a check that breaks", looks_wild, false},
                                       {"somebody", "somebody has noted something", somebody_was_here, true}};

static void describe(void (*each)(const char *name, const char *value, void *data), void *data) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)state->value);
  each("value", text, data);
}

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
    .name = "sample",
    .about = "one entry for each thing that code may ask",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .checks = checks,
    .n_checks = sizeof checks / sizeof *checks,
    .describe = describe,
};
