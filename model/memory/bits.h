/* bits.h - sets of numbers below n with what page tables and cache lines ask of them: next, previous, how many before.
 *
 * BitTree: a bitmap under 64-ary summaries (a summary bit is set when its word below is not 0): next and previous in
 * O(log64 n). Fenwick: sums of prefixes in O(log n) (P. Fenwick, Software: Practice and Experience 24, 1994). */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define BITS_NONE UINT64_MAX

typedef struct {
  uint64_t n;
  guint levels;
  uint64_t words[8];  /* how many in each level */
  uint64_t *level[8]; /* level 0: the bitmap itself; the last level is one word */
} BitTree;

void bit_tree_init(BitTree *b, uint64_t n, bool full);
void bit_tree_clear(BitTree *b); /* frees what init made */
void bit_tree_set(BitTree *b, uint64_t i);
void bit_tree_unset(BitTree *b, uint64_t i);
uint64_t bit_tree_next(const BitTree *b, uint64_t from);     /* least member >= from; BITS_NONE (also from >= n) */
uint64_t bit_tree_previous(const BitTree *b, uint64_t from); /* greatest member <= from (from < n); BITS_NONE */
uint64_t bit_tree_bytes(const BitTree *b);

static inline bool bit_tree_has(const BitTree *b, uint64_t i) {
  return b->level[0][i >> 6] >> (i & 63) & 1;
}
/* Bits below `i` of a word: all when i is 64. */
static inline uint64_t bits_below(uint64_t i) {
  return i < 64 ? (UINT64_C(1) << i) - 1 : UINT64_MAX;
}
static inline int bits_count(uint64_t word) {
  return __builtin_popcountll(word);
}
static inline uint64_t bits_lowest(uint64_t word) {
  return (uint64_t)__builtin_ctzll(word);
}

typedef struct {
  uint64_t n;
  int64_t *sum;
} Fenwick;

void fenwick_init(Fenwick *f, uint64_t n);
void fenwick_clear(Fenwick *f);
void fenwick_add(Fenwick *f, uint64_t i, int64_t by);
int64_t fenwick_before(const Fenwick *f, uint64_t i); /* sum of [0, i), i <= n */
