/* abstract_shapes.h - the small programs of the literature, for tests of the search through schedules. */
#pragma once
#include "tests/abstract_program.h"

static inline Program program(const char *name, guint processes) {
  return (Program){.name = name, .processes = processes};
}
static inline void copy(Program *g, guint p, const Op *ops, guint n) {
  memcpy(g->ops[p], ops, n * sizeof *ops);
}
#define PUT(g, p, ...) copy(g, p, (const Op[]){__VA_ARGS__}, G_N_ELEMENTS(((const Op[]){__VA_ARGS__})))

#define LOAD(v, r)                                                                                                     \
  { DO_LOAD, v, r, 0, 0, 0 }
#define STORE(v, x)                                                                                                    \
  { DO_STORE, v, 0, x, 0, 0 }
#define LOCKED(l)                                                                                                      \
  { DO_LOCK, l, 0, 0, 0, 0 }
#define UNLOCKED(l)                                                                                                    \
  { DO_UNLOCK, l, 0, 0, 0, 0 }

static inline Program writers(guint n) {
  Program g = program("n writers", n);
  for (guint p = 0; p < n; p++) PUT(&g, p, STORE(0, (int)p + 1));
  return g;
}
static inline Program readers(guint n) {
  Program g = program("readers", n + 1);
  PUT(&g, 0, STORE(0, 1));
  for (guint p = 1; p <= n; p++) PUT(&g, p, LOAD(0, 0));
  return g;
}
static inline Program twice_read(guint n) {
  Program g = program("readers of two", n + 1);
  PUT(&g, 0, STORE(0, 1));
  for (guint p = 1; p <= n; p++) PUT(&g, p, LOAD(0, 0), LOAD(0, 1));
  return g;
}
static inline Program apart(guint n) {
  Program g = program("apart", n);
  for (guint p = 0; p < n; p++) PUT(&g, p, STORE((int)p, 1), LOAD((int)p, 0));
  return g;
}
static inline Program stores(guint n, guint k) {
  Program g = program("k stores each", n);
  for (guint p = 0; p < n; p++)
    for (guint i = 0; i < k; i++) g.ops[p][i] = (Op)STORE(0, (int)(p * 10 + i));
  return g;
}
static inline Program sections(guint n) {
  Program g = program("critical sections", n);
  for (guint p = 0; p < n; p++) PUT(&g, p, LOCKED(0), LOAD(0, 0), STORE(0, (int)p), UNLOCKED(0));
  return g;
}
static inline Program shared_sections(guint n) {
  Program g = program("one exclusive, n shared", n + 1);
  PUT(&g, 0, LOCKED(0), STORE(0, 1), UNLOCKED(0));
  for (guint p = 1; p <= n; p++)
    PUT(&g, p, {DO_LOCK_SHARED, 0, 0, 0, 0, 0}, LOAD(0, 0), {DO_UNLOCK_SHARED, 0, 0, 0, 0, 0});
  return g;
}
static inline Program philosophers(guint n) {
  Program g = program("philosophers", n);
  for (guint p = 0; p < n; p++) {
    int left = (int)p, right = (int)((p + 1) % n);
    PUT(&g, p, LOCKED(left), LOCKED(right), UNLOCKED(right), UNLOCKED(left));
  }
  return g;
}
/* Two processes, two operations each, and so on: the shapes of memory models, under sequential consistency. */
static inline Program shape(const char *name, const Op a[2], const Op b[2]) {
  Program g = program(name, 2);
  copy(&g, 0, a, 2);
  copy(&g, 1, b, 2);
  return g;
}
static inline Program iriw(void) {
  Program g = program("IRIW", 4);
  PUT(&g, 0, STORE(0, 1));
  PUT(&g, 1, STORE(1, 1));
  PUT(&g, 2, LOAD(0, 0), LOAD(1, 1));
  PUT(&g, 3, LOAD(1, 0), LOAD(0, 1));
  return g;
}
/* Process 0 looks for the last 0 from n down; process i does a[i] := a[i-1] + 1. */
static inline Program last_zero(guint n) {
  Program g = program("last-zero", n + 1);
  PUT(&g, 0, {DO_SET, 0, 0, (int)n, 0, 0}, {DO_LOAD, 0, 1, 0, 1, 0}, {DO_JUMP_IF, 5, 1, 0, 0, 0},
      {DO_PLUS, 0, 0, -1, 0, 0}, {DO_JUMP_UNLESS, 1, 2, 9, 0, 0}, {DO_END, 0, 0, 0, 0, 0});
  for (guint p = 1; p <= n; p++) PUT(&g, p, LOAD((int)p - 1, 0), {DO_STORE, (int)p, 0, 1, 0, 1});
  return g;
}
static inline Program indexer(guint n) {
  Program g = program("indexer", n);
  for (guint p = 0; p < n; p++) {
    Op *op = g.ops[p];
    for (int m = 1; m <= 4; m++) {
      int w = m * 11 + (int)p, top = (m - 1) * 5;
      *op++ = (Op){DO_SET, 0, 0, w * 7 % 128, 0, 0};
      *op++ = (Op){DO_CAS, 0, 1, w, 1, 0};
      *op++ = (Op){DO_JUMP_IF, top + 5, 1, 1, 0, 0};
      *op++ = (Op){DO_PLUS, 0, 0, 1, 0, 128};
      *op++ = (Op){DO_JUMP_UNLESS, top + 1, 2, 9, 0, 0};
    }
  }
  return g;
}
/* Variables: inode i at i, busy b at 64 + b. Locks: of inode i, of block b at 32 + b; register 0 is b. */
static inline Program filesystem(guint n) {
  Program g = program("filesystem", n);
  for (guint p = 0; p < n; p++) {
    int i = (int)p;
    PUT(&g, p, LOCKED(i), LOAD(i, 1), {DO_JUMP_UNLESS, 13, 1, 0, 0, 0}, {DO_SET, 0, 0, i * 2 % 26, 0, 0},
        {DO_LOCK, 32, 0, 0, 1, 0}, {DO_LOAD, 64, 1, 0, 1, 0}, {DO_JUMP_IF, 10, 1, 0, 0, 0}, {DO_UNLOCK, 32, 0, 0, 1, 0},
        {DO_PLUS, 0, 0, 1, 0, 26}, {DO_JUMP_UNLESS, 4, 2, 9, 0, 0}, {DO_STORE, 64, 0, 1, 1, 0},
        {DO_STORE, i, 0, 1, 0, 1}, {DO_UNLOCK, 32, 0, 0, 1, 0}, UNLOCKED(i));
  }
  return g;
}
static inline Program handed_over(guint n) {
  Program g = program("handed over", n + 1);
  for (guint p = 0; p < n; p++) PUT(&g, p, {DO_DOWN, 0, 0, 0, 0, 0}, STORE(0, (int)p), {DO_UP, 0, 0, 0, 0, 0});
  PUT(&g, n, {DO_UP, 0, 0, 0, 0, 0});
  return g;
}

static inline Program peterson(bool broken) {
  Program g = program("Peterson", 2);
  for (int p = 0; p < 2; p++) {
    int o = 1 - p;
    Op set_flag = STORE(p, 1), set_turn = STORE(2, o);
    PUT(&g, (guint)p, broken ? set_turn : set_flag, broken ? set_flag : set_turn, LOAD(o, 0),
        {DO_JUMP_IF, 8, 0, 0, 0, 0}, LOAD(2, 0), {DO_JUMP_UNLESS, 8, 0, o, 0, 0}, {DO_SPIN, 0, 0, 0, 0, 0},
        {DO_JUMP_UNLESS, 2, 2, 9, 0, 0}, {DO_ADD, 3, 1, 1, 0, 0}, {DO_JUMP_IF, 11, 1, 0, 0, 0},
        {DO_FAIL, 0, 0, 0, 0, 0}, {DO_ADD, 3, 1, -1, 0, 0}, STORE(p, 0));
  }
  return g;
}

/* Sections guarded by a spin lock: test-and-set, spin, again. */
static inline Program spin_lock(guint n) {
  Program g = program("spin lock", n);
  for (guint p = 0; p < n; p++)
    PUT(&g, p, {DO_CAS, 0, 0, 1, 0, 0}, {DO_JUMP_IF, 4, 0, 1, 0, 0}, {DO_SPIN, 0, 0, 0, 0, 0},
        {DO_JUMP_UNLESS, 0, 2, 9, 0, 0}, {DO_ADD, 1, 1, 1, 0, 0}, STORE(0, 0));
  return g;
}
