/* @NAME@.c - a subject of stampede: code of your own, run as a model. Change it, then
 *
 *   stampede subject build --manifest @NAME@.yaml -o @NAME@.so
 *   stampede run @NAME@-scenario.yaml
 *   stampede check @NAME@-scenario.yaml
 *
 * This one is a counter that several processes add to. `add_unlocked` is wrong: it reads, is elsewhere for a moment,
 * and writes, without the lock; put it in place of `add` in the scenario, and `run` and `check` say what went wrong.
 * stampede_subject.h tells what else may be asked; @NAME@.yaml what is built of what. */
#include "stampede_subject.h"
#include <stdio.h>

/* Seen by all processes: memory from stm_shared. Variables, like `mine`, are each process's own, as after fork. */
typedef struct {
  int64_t value, added;
} Counter;
static Counter *counter;
static StmLock lock;
static int mine;

/* Once, before there is any process. */
static void start(void) {
  counter = stm_shared("counter", sizeof *counter, 64);
  stm_structure("counter", counter, sizeof *counter, 1, "Counter");
  lock = stm_lock_new("counter lock");
}

static void add(int64_t amount) {
  stm_lock_acquire(lock, false);
  counter->value += amount;
  counter->added += amount;
  stm_lock_release(lock);
  mine++;
}

static void add_unlocked(int64_t amount) {
  int64_t seen = counter->value;
  stm_sleep_us(5); /* whatever takes time: others go on meanwhile */
  counter->value = seen + amount;
  counter->added += amount;
  mine++;
}

static void leave(int64_t unused) {
  (void)unused;
  if (!mine) stm_exit("left without having added");
}

/* What a scenario's scripts may call. */
static const StampedeEntry entries[] = {
    {"add", "adds its argument, under the lock", add},
    {"add_unlocked", "adds its argument, and does it wrong", add_unlocked},
    {"leave", "ends; one that has added nothing complains", leave},
};

/* What must hold. At the end: who has the lock has changed the one and not yet the other, and `check` looks after every
 * load and store. What holds all the time has at_end = false. */
static bool nothing_lost(char *why, size_t size) {
  if (counter->value == counter->added) return false;
  snprintf(why, size, "the counter is %lld, and %lld were added", (long long)counter->value, (long long)counter->added);
  return true;
}
static const StampedeCheck checks[] = {
    {"nothing-lost", "the counter is what was added to it", nothing_lost, .at_end = true},
};

/* Named values, for traces (--trace FILE) and pictures of them (stampede viz). */
static void describe(void (*each)(const char *name, const char *value, void *data), void *data) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)counter->value);
  each("counter", text, data);
}

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
    .name = "@NAME@",
    .about = "a counter that several processes add to",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .checks = checks,
    .n_checks = sizeof checks / sizeof *checks,
    .describe = describe,
};
