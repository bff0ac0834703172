/* pg_sample.h - a server's shared structures with what a test needs around them: an arena, a cost record, processes
 * that are address spaces. */
#pragma once
#include "model/postgres/shared.h"
#include "tests/harness.h"
#include "tests/pg_versions.h"

typedef struct {
  Arena *arena;
  PgShared *s;
  guint owners;
} Sample;

/* A version without background processes, on 4 KiB pages without fault-around. */
static inline PgConfig sample_config(int version, int max_connections) {
  PgConfig c;
  bool known = pg_config_version(version, &c);
  g_assert(known);
  c.max_connections = max_connections;
  c.bg_autovacuum = c.bg_bgworkers = 0;
  return c;
}

static inline Sample sample_on(const PgConfig *c, const MemoryConfig *m) {
  Sample x = {.arena = arena_new(pg_shared_bytes(c))};
  g_autoptr(GError) error = NULL;
  x.s = pg_shared_new(x.arena, c, m, &error);
  if (!x.s) g_error("%s", error->message);
  return x;
}

static inline Sample sample(const PgConfig *c) {
  const MemoryConfig m = {.page_size = 4096};
  return sample_on(c, &m);
}

static inline void sample_clear(Sample *x) {
  pg_shared_free(x->s);
  arena_free(x->arena);
}

static inline AddressSpace *sample_process(Sample *x) {
  return address_space_new(pg_segment(x->s), ++x->owners);
}

/* One whole connect of a new process, so far as slots and the proc array go. The slot; -1: none was free. */
static inline int sample_connect(Sample *x, AddressSpace *as, PgCost *c) {
  int p = slot_take(x->s, PG_BACKENDS, 1, as, c);
  if (p < 0) return -1;
  slot_initialize(x->s, p, 1000, as, c);
  procarray_add(x->s, p, as, c);
  return p;
}

static inline void sample_leave(Sample *x, int procno, AddressSpace *as, PgCost *c) {
  procarray_remove(x->s, procno, as, c);
  slot_give(x->s, procno, false, as, c);
}

/* A permutation of 0..n-1. */
static inline int *sample_shuffled(int n, guint32 seed) {
  GRand *r = g_rand_new_with_seed(seed);
  int *order = g_new(int, n);
  for (int i = 0; i < n; i++) {
    int j = g_rand_int_range(r, 0, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  g_rand_free(r);
  return order;
}
