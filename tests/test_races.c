/* Races: what puts two accesses in order, and what does not, schedule by schedule. Each kind of order has the case in
 * which it is there, and the same without it, so that a detector that forgets one, or sees one too many, fails. */
#include "tests/harness.h"
#include "tests/race_events.h"

enum { X = 8, Y = 64 };

#define BY(m, buffers, ...) races_by(m, buffers, (const Did[]){__VA_ARGS__}, G_N_ELEMENTS(((const Did[]){__VA_ARGS__})))
#define RACES(n, ...)       expect_int(BY(RACES_RIGHT, 0, __VA_ARGS__), ==, n)
#define BUFFERED(n, ...)    expect_int(BY(RACES_RIGHT, 3, __VA_ARGS__), ==, n)
/* The mutant is caught: it says something else. */
#define CAUGHT(m, buffers, n, ...)                                                                                     \
  do {                                                                                                                 \
    expect_int(BY(RACES_RIGHT, buffers, __VA_ARGS__), ==, n);                                                          \
    expect_int(BY(m, buffers, __VA_ARGS__), !=, n);                                                                    \
  } while (0)
#define PLAIN(p, kind, x)                                                                                              \
  { p, OPERATION_##kind, x, -1, false, 0, 0, 0 }
#define ATOMIC(p, kind, x, how)                                                                                        \
  { p, OPERATION_##kind, x, __ATOMIC_##how, false, 0, 0, 0 }
#define AFTER(fence, p, kind, x, how)                                                                                  \
  { p, OPERATION_##kind, x, how, false, 0, FENCED_##fence, 0 }
#define EXCHANGE_FAILED(p, x, how, unless)                                                                             \
  { p, OPERATION_UPDATE, x, __ATOMIC_##how, true, 1 + __ATOMIC_##unless, 0, 0 }
/* Process p's nth store goes into its buffer, and comes out of it (of three processes). */
#define STORE(p, x, how, n)                                                                                            \
  { p, OPERATION_BUFFER, x, how, false, 0, 0, n }
#define WRITTEN(p, x, how, n)                                                                                          \
  { 3 + p, OPERATION_WRITE, x, how, false, 0, 0, n }

static void plain_accesses(void) {
  RACES(1, PLAIN(0, WRITE, X), PLAIN(1, WRITE, X));
  RACES(1, PLAIN(0, READ, X), PLAIN(1, WRITE, X));
  RACES(1, PLAIN(0, WRITE, X), PLAIN(1, READ, X + 3)); /* they overlap in a byte */
  RACES(0, PLAIN(0, WRITE, X), PLAIN(1, READ, X + 4));
  RACES(0, PLAIN(0, READ, X), PLAIN(1, READ, X));
  RACES(0, PLAIN(0, WRITE, X), PLAIN(0, WRITE, X));
}

static void locks(void) {
  RACES(0, PLAIN(0, LOCK, 1), PLAIN(0, WRITE, X), PLAIN(0, UNLOCK, 1), PLAIN(1, LOCK, 1), PLAIN(1, WRITE, X));
  RACES(1, PLAIN(0, LOCK, 1), PLAIN(0, WRITE, X), PLAIN(0, UNLOCK, 1), PLAIN(1, LOCK, 2), PLAIN(1, WRITE, X));
  RACES(1, PLAIN(0, LOCK, 1), PLAIN(0, UNLOCK, 1), PLAIN(0, WRITE, X), PLAIN(1, LOCK, 1), PLAIN(1, WRITE, X));
  RACES(0, PLAIN(0, LOCK_SHARED, 1), PLAIN(0, READ, X), PLAIN(0, UNLOCK_SHARED, 1), PLAIN(1, LOCK, 1),
        PLAIN(1, WRITE, X));
  RACES(0, PLAIN(0, LOCK, 1), PLAIN(0, WRITE, X), PLAIN(0, UNLOCK, 1), PLAIN(1, LOCK_SHARED, 1), PLAIN(1, READ, X));
  /* commit 1fe1f42e3e: a counter bumped by two shared holders, here one after the other */
  RACES(1, PLAIN(0, LOCK_SHARED, 1), PLAIN(0, WRITE, X), PLAIN(0, UNLOCK_SHARED, 1), PLAIN(1, LOCK_SHARED, 1),
        PLAIN(1, WRITE, X));
  RACES(0, PLAIN(0, LOCK, 1), PLAIN(0, WRITE, X), PLAIN(0, UNLOCK, 1), PLAIN(1, TRY, 1), PLAIN(1, WRITE, X));
  RACES(1, PLAIN(0, LOCK, 1), PLAIN(0, WRITE, X), PLAIN(0, UNLOCK, 1), {1, OPERATION_TRY, 1, -1, true, 0, 0, 0},
        PLAIN(1, WRITE, X));
}

static void semaphores(void) {
  RACES(0, PLAIN(0, WRITE, X), PLAIN(0, UP, 1), PLAIN(1, DOWN, 1), PLAIN(1, READ, X));
  RACES(1, PLAIN(0, UP, 1), PLAIN(0, WRITE, X), PLAIN(1, DOWN, 1), PLAIN(1, READ, X));
  RACES(1, PLAIN(0, WRITE, X), PLAIN(0, UP, 1), {1, OPERATION_TRY_DOWN, 1, -1, true, 0, 0, 0}, PLAIN(1, READ, X));
}

static void atomics(void) {
  RACES(0, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE), ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, READ, X));
  RACES(1, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELAXED), ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, READ, X));
  RACES(1, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE), ATOMIC(1, READ, Y, RELAXED), PLAIN(1, READ, X));
  RACES(0, ATOMIC(0, WRITE, Y, RELAXED), ATOMIC(1, WRITE, Y, RELAXED));
  RACES(1, ATOMIC(0, WRITE, Y, SEQ_CST), PLAIN(1, READ, Y));
  /* another's relaxed store hides the release; a read-modify-write goes on with it */
  RACES(1, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE), ATOMIC(2, WRITE, Y, RELAXED), ATOMIC(1, READ, Y, ACQUIRE),
        PLAIN(1, READ, X));
  RACES(0, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE), ATOMIC(2, UPDATE, Y, RELAXED), ATOMIC(1, READ, Y, ACQUIRE),
        PLAIN(1, READ, X));
}

static void through_a_third(void) {
  RACES(0, PLAIN(0, WRITE, X), PLAIN(0, UP, 1), PLAIN(2, DOWN, 1), ATOMIC(2, WRITE, Y, RELEASE),
        ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, WRITE, X));
}

/* C17, 7.17.4: a fence makes a release of the store after it, an acquire of the load before it; not of others. */
static void fences(void) {
  const int plain = -1, relaxed = __ATOMIC_RELAXED;
  RACES(0, PLAIN(0, WRITE, X), AFTER(RELEASE, 0, WRITE, Y, relaxed), ATOMIC(1, READ, Y, RELAXED),
        AFTER(ACQUIRE, 1, READ, X, plain));
  RACES(0, PLAIN(0, WRITE, X), AFTER(BOTH, 0, WRITE, Y, relaxed), ATOMIC(1, READ, Y, RELAXED),
        AFTER(BOTH, 1, READ, X, plain));
  RACES(1, PLAIN(0, WRITE, X), AFTER(ACQUIRE, 0, WRITE, Y, relaxed), ATOMIC(1, READ, Y, RELAXED),
        AFTER(ACQUIRE, 1, READ, X, plain));
  RACES(1, PLAIN(0, WRITE, X), AFTER(RELEASE, 0, WRITE, Y, relaxed), ATOMIC(1, READ, Y, RELAXED),
        AFTER(RELEASE, 1, READ, X, plain));
  RACES(1, PLAIN(0, WRITE, X), AFTER(RELEASE, 0, WRITE, Y, relaxed), ATOMIC(1, READ, Y, RELAXED), PLAIN(1, READ, X));
  RACES(1, PLAIN(0, WRITE, X), AFTER(RELEASE, 0, WRITE, Y, relaxed), AFTER(ACQUIRE, 1, READ, Y, relaxed),
        PLAIN(1, READ, X)); /* the fence is before the load */
  RACES(1, AFTER(RELEASE, 0, WRITE, X, plain), ATOMIC(0, WRITE, Y, RELAXED), ATOMIC(1, READ, Y, ACQUIRE),
        PLAIN(1, READ, X)); /* before what it should release */
  RACES(2, PLAIN(0, WRITE, X), AFTER(BOTH, 0, WRITE, Y, plain), PLAIN(1, READ, Y), AFTER(BOTH, 1, READ, X, plain));
}

/* Handed on by who acquires and releases with one fence, or first acquires; not by who released before. */
static void fences_in_a_row(void) {
  const int relaxed = __ATOMIC_RELAXED;
  RACES(0, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE), ATOMIC(2, READ, Y, RELAXED),
        AFTER(BOTH, 2, WRITE, Y + 8, relaxed), ATOMIC(1, READ, Y + 8, ACQUIRE), PLAIN(1, READ, X));
  RACES(1, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE), ATOMIC(2, READ, Y, RELAXED),
        AFTER(RELEASE_ACQUIRE, 2, WRITE, Y + 8, relaxed), ATOMIC(1, READ, Y + 8, ACQUIRE), PLAIN(1, READ, X));
}

/* A compare-and-exchange that fails is a load of its own order, and no store. */
static void failed_exchanges(void) {
  RACES(0, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE), EXCHANGE_FAILED(1, Y, ACQ_REL, ACQUIRE),
        PLAIN(1, READ, X));
  RACES(1, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE), EXCHANGE_FAILED(1, Y, ACQ_REL, RELAXED),
        PLAIN(1, READ, X));
  RACES(1, PLAIN(0, WRITE, X), EXCHANGE_FAILED(0, Y, SEQ_CST, SEQ_CST), ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, READ, X));
  RACES(0, PLAIN(0, READ, Y), EXCHANGE_FAILED(1, Y, SEQ_CST, SEQ_CST));
  RACES(1, PLAIN(0, READ, Y), ATOMIC(1, UPDATE, Y, SEQ_CST));
}

/* What is still in a buffer was read by nobody else: only its write hands on what was released. */
static void store_buffers(void) {
  const int plain = -1, release = __ATOMIC_RELEASE, relaxed = __ATOMIC_RELAXED;
  BUFFERED(0, STORE(0, X, plain, 1), STORE(0, Y, release, 2), WRITTEN(0, X, plain, 1), WRITTEN(0, Y, release, 2),
           ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, READ, X));
  BUFFERED(1, STORE(0, X, plain, 1), STORE(0, Y, release, 2), WRITTEN(0, X, plain, 1), ATOMIC(1, READ, Y, ACQUIRE),
           PLAIN(1, READ, X), WRITTEN(0, Y, release, 2));
  BUFFERED(1, STORE(0, X, plain, 1), STORE(0, Y, relaxed, 2), WRITTEN(0, X, plain, 1), WRITTEN(0, Y, relaxed, 2),
           ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, READ, X));
  /* stored after it was released, written before it is read */
  BUFFERED(1, STORE(0, Y, release, 1), STORE(0, X, plain, 2), WRITTEN(0, Y, release, 1), WRITTEN(0, X, plain, 2),
           ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, READ, X));
  BUFFERED(1, STORE(0, X, plain, 1), STORE(1, X, plain, 1), WRITTEN(1, X, plain, 1), WRITTEN(0, X, plain, 1));
}

static void mutants_are_caught(void) {
  const int plain = -1, relaxed = __ATOMIC_RELAXED, release = __ATOMIC_RELEASE;
  CAUGHT(RACES_ACQUIRE_TAKEN_FOR_RELAXED, 0, 0, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE),
         ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, READ, X));
  CAUGHT(RACES_RELEASE_IGNORED, 0, 0, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE), ATOMIC(1, READ, Y, ACQUIRE),
         PLAIN(1, READ, X));
  CAUGHT(RACES_FENCES_IGNORED, 0, 0, PLAIN(0, WRITE, X), AFTER(RELEASE, 0, WRITE, Y, relaxed),
         ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, READ, X));
  CAUGHT(RACES_FAILURE_TAKEN_FOR_SUCCESS, 0, 1, PLAIN(0, WRITE, X), ATOMIC(0, WRITE, Y, RELEASE),
         EXCHANGE_FAILED(1, Y, ACQUIRE, RELAXED), PLAIN(1, READ, X));
  CAUGHT(RACES_STORES_SEEN_AT_ONCE, 3, 1, STORE(0, X, plain, 1), STORE(0, Y, release, 2), WRITTEN(0, X, plain, 1),
         ATOMIC(1, READ, Y, ACQUIRE), PLAIN(1, READ, X), WRITTEN(0, Y, release, 2));
}

int main(void) {
  return suite_run("races", (const Case[]){{"plain accesses", plain_accesses},
                                           {"locks", locks},
                                           {"semaphores", semaphores},
                                           {"atomics", atomics},
                                           {"through a third", through_a_third},
                                           {"fences", fences},
                                           {"fences in a row", fences_in_a_row},
                                           {"failed exchanges", failed_exchanges},
                                           {"store buffers", store_buffers},
                                           {"mutants are caught", mutants_are_caught},
                                           {NULL, NULL}});
}
