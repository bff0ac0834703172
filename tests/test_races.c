/* Races: what puts two accesses in order, and what does not, schedule by schedule. Each kind of order has the case in
 * which it is there, and the same without it, so that a detector that forgets one, or sees one too many, fails. */
#include "checks/schedules_races.h"
#include "tests/harness.h"

enum { X = 8, Y = 64 };
static char code[64]; /* places: one for each event */

typedef struct {
  guint process;
  OperationKind kind;
  uint64_t object;
  int order; /* of memory; -1: plain */
  bool failed;
} Did;

static void count(void *data, const Race *r) {
  ++*(int *)data;
  g_assert(r->first.bytes && r->second.bytes);
}

static int races(const Did *did, guint n) {
  Order o;
  int found = 0;
  order_init(&o, 3);
  for (guint i = 0; i < n; i++) {
    Operation op = {
        .kind = did[i].kind, .object = did[i].object, .pc = &code[i], .atomic = (uint8_t)(did[i].order + 1)};
    op.bytes = operation_memory(op.kind) ? 4 : 0;
    order_push(&o, did[i].process, &op);
    order_event(&o, i)->failed = did[i].failed;
  }
  races_find(&o, RACES_RIGHT, count, &found);
  order_clear(&o);
  return found;
}
#define RACES(n, ...) expect_int(races((const Did[]){__VA_ARGS__}, G_N_ELEMENTS(((const Did[]){__VA_ARGS__}))), ==, n)
#define PLAIN(p, kind, x)                                                                                              \
  { p, OPERATION_##kind, x, -1, false }
#define ATOMIC(p, kind, x, how)                                                                                        \
  { p, OPERATION_##kind, x, __ATOMIC_##how, false }

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
  RACES(1, PLAIN(0, LOCK, 1), PLAIN(0, WRITE, X), PLAIN(0, UNLOCK, 1), {1, OPERATION_TRY, 1, -1, true},
        PLAIN(1, WRITE, X));
}

static void semaphores(void) {
  RACES(0, PLAIN(0, WRITE, X), PLAIN(0, UP, 1), PLAIN(1, DOWN, 1), PLAIN(1, READ, X));
  RACES(1, PLAIN(0, UP, 1), PLAIN(0, WRITE, X), PLAIN(1, DOWN, 1), PLAIN(1, READ, X));
  RACES(1, PLAIN(0, WRITE, X), PLAIN(0, UP, 1), {1, OPERATION_TRY_DOWN, 1, -1, true}, PLAIN(1, READ, X));
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

int main(void) {
  return suite_run("races", (const Case[]){{"plain accesses", plain_accesses},
                                           {"locks", locks},
                                           {"semaphores", semaphores},
                                           {"atomics", atomics},
                                           {"through a third", through_a_third},
                                           {NULL, NULL}});
}
