/* vector_private.h - what vector.c and stand.c share: a layout, and the bits of a word. Word 0 of the numbering is the
 * arena's length in use, word i + 1 its i-th word: a step that allocates changes what later steps allocate, so the
 * length belongs to the state. */
#pragma once
#include "model/world/vector.h"

/* Bits of one word. A word has one segment where the layout was packed, and one more each time it was appended to. */
typedef struct {
  uint64_t mask, template; /* of the word */
  uint32_t word, place;    /* of its first bit in the vector */
  uint32_t width;
} Segment;

/* What a change of a word means for a vector: its first segment, side by side with those of the words around it. */
typedef struct {
  uint64_t mask;
  uint32_t place, width;
} FirstSegment;

struct VectorLayout {
  uint64_t *template, *constant; /* constant: bits that do not differ, as a mask. By word; whole lanes */
  guint n, bits;                 /* n: words known, word 0 included */
  GArray *segments;              /* of Segment, by place */
  uint32_t *first;               /* by word, one more at the end: where its segments begin in by_word */
  uint32_t *by_word, *by_bit;    /* numbers of segments: those of word 0, of word 1 ...; of each bit of a vector */
  FirstSegment *of_word;         /* by word; all 0: it has none */
  bool (*encode)(const VectorLayout *l, const Arena *a, uint64_t *out);
  void (*decode)(const VectorLayout *l, Arena *a, const uint64_t *in);
};

void vector_gaps_add(VectorGaps *g, guint word, uint64_t bits); /* bits of a word that the layout lacks */

static inline guint words_in_use(const Arena *a) {
  return 1 + (guint)((arena_used(a) + 7) / 8);
}
static inline const Segment *segment_at(const VectorLayout *l, guint i) {
  return &((const Segment *)(const void *)l->segments->data)[i];
}

static inline uint64_t gather_portable(uint64_t word, uint64_t mask) {
  uint64_t out = 0;
  for (guint i = 0; mask; mask &= mask - 1, i++)
    if (word & mask & -mask) out |= (uint64_t)1 << i;
  return out;
}

static inline uint64_t spread_portable(uint64_t bits, uint64_t mask) {
  uint64_t out = 0;
  for (; mask; mask &= mask - 1, bits >>= 1)
    if (bits & 1) out |= mask & -mask;
  return out;
}

/* Flips these bits of a vector. */
static inline void put(uint64_t *out, guint place, guint width, uint64_t bits) {
  guint at = place / 64, shift = place % 64;
  out[at] ^= bits << shift;
  if (shift + width > 64) out[at + 1] ^= bits >> (64 - shift);
}

static inline uint64_t get(const uint64_t *in, guint place, guint width) {
  guint at = place / 64, shift = place % 64;
  uint64_t bits = in[at] >> shift;
  if (shift + width > 64) bits |= in[at + 1] << (64 - shift);
  return bits;
}

/* x86-64 gathers and spreads with one instruction each, where it has BMI2 (asked for at run time); the results are the
 * same. */
#if defined(__x86_64__)
#include <immintrin.h>
#define VECTOR_WIDE __attribute__((target("bmi2,popcnt,avx2")))
static inline bool vector_wide(void) {
  return __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}
#else
static inline bool vector_wide(void) {
  return false;
}
#endif

/* Words are compared a lane at a time. */
enum { LANE = 4 };
typedef uint64_t Lane __attribute__((vector_size(LANE * 8), aligned(8), may_alias));
