/* bits.c - BitTree and Fenwick (bits.h). */
#include "model/memory/bits.h"

void bit_tree_init(BitTree *b, uint64_t n, bool full) {
  g_assert(n > 0);
  *b = (BitTree){.n = n};
  uint64_t bits = n;
  do {
    uint64_t words = (bits + 63) / 64;
    g_assert(b->levels < G_N_ELEMENTS(b->level));
    b->words[b->levels] = words;
    b->level[b->levels] = g_new0(uint64_t, words);
    if (full)
      for (uint64_t w = 0; w < words; w++) b->level[b->levels][w] = bits_below(MIN(bits - w * 64, 64));
    b->levels++;
    bits = words;
  } while (bits > 1);
}

void bit_tree_clear(BitTree *b) {
  for (guint l = 0; l < b->levels; l++) g_free(b->level[l]);
  *b = (BitTree){0};
}

uint64_t bit_tree_bytes(const BitTree *b) {
  uint64_t words = 0;
  for (guint l = 0; l < b->levels; l++) words += b->words[l];
  return words * sizeof(uint64_t);
}

/* A word that was not 0 before has its bits above already. */
void bit_tree_set(BitTree *b, uint64_t i) {
  g_assert(i < b->n);
  for (guint l = 0; l < b->levels; l++, i >>= 6) {
    uint64_t *word = &b->level[l][i >> 6], before = *word;
    *word |= UINT64_C(1) << (i & 63);
    if (before) return;
  }
}

void bit_tree_unset(BitTree *b, uint64_t i) {
  g_assert(i < b->n);
  for (guint l = 0; l < b->levels; l++, i >>= 6) {
    uint64_t *word = &b->level[l][i >> 6];
    *word &= ~(UINT64_C(1) << (i & 63));
    if (*word) return;
  }
}

uint64_t bit_tree_next(const BitTree *b, uint64_t from) {
  for (guint l = 0; l < b->levels && from >> 6 < b->words[l]; l++) {
    uint64_t bits = b->level[l][from >> 6] >> (from & 63);
    if (bits) {
      uint64_t at = from + bits_lowest(bits);
      while (l-- > 0) at = at << 6 | bits_lowest(b->level[l][at]);
      return at;
    }
    from = (from >> 6) + 1; /* the words after this one are this bit and later ones of the level above */
  }
  return BITS_NONE;
}

uint64_t bit_tree_previous(const BitTree *b, uint64_t from) {
  g_assert(from < b->n);
  for (guint l = 0; l < b->levels; l++) {
    uint64_t bits = b->level[l][from >> 6] << (63 - (from & 63));
    if (bits) {
      uint64_t at = from - (uint64_t)__builtin_clzll(bits);
      while (l-- > 0) at = at << 6 | (63 - (uint64_t)__builtin_clzll(b->level[l][at]));
      return at;
    }
    if (from < 64) return BITS_NONE;
    from = (from >> 6) - 1;
  }
  return BITS_NONE;
}

void fenwick_init(Fenwick *f, uint64_t n) {
  *f = (Fenwick){.n = n, .sum = g_new0(int64_t, n + 1)};
}

void fenwick_clear(Fenwick *f) {
  g_free(f->sum);
  *f = (Fenwick){0};
}

void fenwick_add(Fenwick *f, uint64_t i, int64_t by) {
  g_assert(i < f->n);
  for (i++; i <= f->n; i += i & -i) f->sum[i] += by;
}

int64_t fenwick_before(const Fenwick *f, uint64_t i) {
  g_assert(i <= f->n);
  int64_t sum = 0;
  for (; i > 0; i &= i - 1) sum += f->sum[i];
  return sum;
}
