/* Races once more, by a second implementation: what synchronizes with what is written down as a relation of events, as
 * the C standard words it, closed by brute force, and compared with the vector clocks on random schedules. */
#include "model/world/rng.h"
#include "tests/harness.h"
#include "tests/race_events.h"

enum { EVENTS = 24, THREADS = 3, NODES = 2 * EVENTS };

typedef struct {
  Did did[EVENTS];
  guint n;
  bool before[NODES][NODES]; /* of each event two: the fence before it, if it has one, and itself */
} Relation;

static guint fence_node(guint event) {
  return 2 * event;
}
static guint own_node(guint event) {
  return 2 * event + 1;
}

static bool is_atomic(const Did *d) {
  return d->order >= 0;
}
static bool failed_swap(const Did *d) {
  return d->unless && d->failed;
}
static bool does_load(const Did *d) {
  return d->kind == OPERATION_READ || d->kind == OPERATION_UPDATE;
}
static bool does_store(const Did *d) {
  return d->kind == OPERATION_WRITE || (d->kind == OPERATION_UPDATE && !failed_swap(d));
}
static int its_order(const Did *d) {
  return failed_swap(d) ? d->unless - 1 : d->order;
}

/* What of its process does store i release from: itself, or the last release fence; -1: nothing. */
static int releases_from(const Relation *r, guint i) {
  int order = its_order(&r->did[i]);
  if (order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST) return (int)own_node(i);
  for (guint k = i + 1; k-- > 0;)
    if (r->did[k].process == r->did[i].process && r->did[k].fences >= FENCED_RELEASE) return (int)fence_node(k);
  return -1;
}

/* What of its process acquires what load i read: itself, or the next acquire fence; NODES: nothing. */
static guint acquired_by(const Relation *r, guint i) {
  int order = its_order(&r->did[i]);
  if (order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST) return own_node(i);
  for (guint k = i + 1; k < r->n; k++) {
    uint8_t f = r->did[k].fences;
    if (r->did[k].process == r->did[i].process && (f == FENCED_ACQUIRE || f == FENCED_BOTH)) return fence_node(k);
  }
  return NODES;
}

/* Load i reads store k, or a chain of read-modify-writes that began with it. */
static void reads_from(Relation *r, guint i) {
  for (guint k = i; k-- > 0;) {
    const Did *d = &r->did[k];
    if (d->object != r->did[i].object || !does_store(d)) continue;
    int from = is_atomic(d) ? releases_from(r, k) : -1;
    guint by = acquired_by(r, i);
    if (from >= 0 && by < NODES) r->before[from][by] = true;
    if (d->kind != OPERATION_UPDATE) return;
  }
}

static void locked(Relation *r, guint i) {
  const Did *d = &r->did[i];
  for (guint k = 0; k < i; k++) {
    const Did *e = &r->did[k];
    if (e->object != d->object) continue;
    if (d->kind == OPERATION_LOCK)
      r->before[own_node(k)][own_node(i)] |= e->kind == OPERATION_UNLOCK || e->kind == OPERATION_UNLOCK_SHARED;
    if (d->kind == OPERATION_LOCK_SHARED) r->before[own_node(k)][own_node(i)] |= e->kind == OPERATION_UNLOCK;
    if (d->kind == OPERATION_DOWN) r->before[own_node(k)][own_node(i)] |= e->kind == OPERATION_UP;
  }
}

static int races_by_relation(Relation *r) {
  int found = 0;
  for (guint i = 0; i < r->n; i++) {
    const Did *d = &r->did[i];
    r->before[fence_node(i)][own_node(i)] = true;
    for (guint k = 0; k < i; k++) r->before[own_node(k)][fence_node(i)] |= r->did[k].process == d->process;
    if (does_load(d) && is_atomic(d)) reads_from(r, i);
    if (operation_lock(d->kind) || operation_semaphore(d->kind)) locked(r, i);
  }
  for (guint k = 0; k < 2 * r->n; k++)
    for (guint i = 0; i < 2 * r->n; i++)
      for (guint j = 0; j < 2 * r->n; j++) r->before[i][j] |= r->before[i][k] && r->before[k][j];
  for (guint j = 0; j < r->n; j++)
    for (guint i = 0; i < j; i++) {
      const Did *a = &r->did[i], *b = &r->did[j];
      bool memory = operation_memory(a->kind) && operation_memory(b->kind) && a->object == b->object;
      bool harmless = (is_atomic(a) && is_atomic(b)) || (!does_store(a) && !does_store(b));
      found += memory && !harmless && !r->before[own_node(i)][own_node(j)];
    }
  return found;
}

static Did any_event(Rng *g) {
  static const int orders[] = {-1,
                               -1,
                               __ATOMIC_RELAXED,
                               __ATOMIC_RELAXED,
                               __ATOMIC_ACQUIRE,
                               __ATOMIC_RELEASE,
                               __ATOMIC_ACQ_REL,
                               __ATOMIC_SEQ_CST};
  static const OperationKind others[] = {OPERATION_LOCK,          OPERATION_UNLOCK, OPERATION_LOCK_SHARED,
                                         OPERATION_UNLOCK_SHARED, OPERATION_DOWN,   OPERATION_UP};
  Did d = {.process = (guint)rng_below(g, THREADS), .order = orders[rng_below(g, G_N_ELEMENTS(orders))]};
  if (rng_below(g, 4) == 0) d.fences = (uint8_t)(1 + rng_below(g, 3));
  if (rng_below(g, 5) == 0) {
    d.kind = others[rng_below(g, G_N_ELEMENTS(others))];
    d.order = -1;
    d.object = 1;
    return d;
  }
  d.kind = (OperationKind)rng_below(g, d.order < 0 ? 2 : 3); /* a read, a write, an update */
  d.object = 8 * rng_below(g, 3);
  if (d.kind != OPERATION_UPDATE || rng_below(g, 2)) return d;
  d.unless = 1 + (rng_below(g, 2) ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED);
  d.failed = rng_below(g, 2);
  return d;
}

/* Event by event as anybody might make them: locks need not be free here, order is all that counts. */
static void as_a_relation_has_them(void) {
  Rng g;
  int some = 0, none = 0;
  bool mutant_differs[RACES_MUTANTS] = {false};
  rng_init(&g, 11, "races");
  for (int round = 0; round < 20000; round++) {
    g_autofree Relation *r = g_new0(Relation, 1);
    r->n = 2 + (guint)rng_below(&g, EVENTS - 1);
    for (guint i = 0; i < r->n; i++) r->did[i] = any_event(&g);
    int clocks = races_by(RACES_RIGHT, 0, r->did, r->n), relation = races_by_relation(r);
    expect_int(clocks, ==, relation);
    relation ? some++ : none++;
    for (RacesMutant m = RACES_ACQUIRE_TAKEN_FOR_RELAXED; round < 200 && m < RACES_STORES_SEEN_AT_ONCE; m++)
      mutant_differs[m] |= races_by(m, 0, r->did, r->n) != relation;
  }
  expect_int(some, >, 1000);
  expect_int(none, >, 1000);
  for (RacesMutant m = RACES_ACQUIRE_TAKEN_FOR_RELAXED; m < RACES_STORES_SEEN_AT_ONCE; m++) expect(mutant_differs[m]);
}

int main(void) {
  return suite_run("races, as a relation",
                   (const Case[]){{"as a relation has them", as_a_relation_has_them}, {NULL, NULL}});
}
