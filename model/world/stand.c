/* stand.c - see stand.h. Between calls, but for what a step does: the arena equals `base`, in which only bits differ
 * from the template that the layout knows, and `vector` is its vector. */
#include "model/world/stand.h"
#include "model/world/vector_private.h"
#include <string.h>

enum { BLOCK = 4 * LANE /* words compared at once */, FEW = 32, LINE = 64 };

struct VectorStand {
  Arena *a;
  const VectorLayout *l;
  uint64_t *base, *vector;
  guint room, words; /* of base; of vector */
  size_t used;       /* of the arena */
  bool wide, few;    /* few: words vary */
};

VectorStand *vector_stand_new(Arena *a) {
  VectorStand *s = g_new0(VectorStand, 1);
  s->a = a;
  s->wide = vector_wide();
  return s;
}

void vector_stand_free(VectorStand *s) {
  if (!s) return;
  g_aligned_free(s->base);
  g_free(s->vector);
  g_free(s);
}

void vector_stand_start(VectorStand *s, const VectorLayout *l) {
  vector_reset(l, s->a);
  s->l = l;
  s->used = arena_used(s->a);
  s->words = vector_words(l);
  s->few = l->segments->len <= FEW;
  if (s->room < l->n + BLOCK) {
    s->room = l->n + BLOCK;
    g_aligned_free(s->base);
    s->base = g_aligned_alloc0(s->room, sizeof(uint64_t), LINE); /* lanes that lie in two lines take twice as long */
  }
  memcpy(s->base, l->template + 1, (l->n - 1) * sizeof(uint64_t));
  memset(s->base + l->n - 1, 0, (s->room - (l->n - 1)) * sizeof(uint64_t));
  s->vector = g_renew(uint64_t, s->vector, s->words);
  memset(s->vector, 0, s->words * sizeof(uint64_t));
}

/* ---- taking a state up ---- */

static inline __attribute__((always_inline)) void take_up(VectorStand *s, const Segment *g, const uint64_t *in,
                                                          uint64_t (*spread)(uint64_t bits, uint64_t mask)) {
  uint64_t bits = spread(get(in, g->place, g->width), g->mask);
  if (g->word == 0) {
    s->used ^= (s->used ^ g->template ^ bits) & g->mask;
    arena_set_used(s->a, s->used);
    return;
  }
  uint64_t *word = &s->base[g->word - 1];
  *word ^= (*word ^ g->template ^ bits) & g->mask;
  arena_words(s->a)[g->word - 1] = *word;
}

/* Bits of the vector that differ lead to their segments; one that lies in two words may be taken up twice. */
#define AT(name, attribute, spread)                                                                                    \
  attribute static void name(VectorStand *s, const uint64_t *in) {                                                     \
    const VectorLayout *l = s->l;                                                                                      \
    for (guint k = 0; k < s->words; k++)                                                                               \
      for (uint64_t differ = in[k] ^ s->vector[k]; differ;) {                                                          \
        const Segment *g = segment_at(l, l->by_bit[k * 64 + (guint)__builtin_ctzll(differ)]);                          \
        guint end = g->place + g->width - k * 64;                                                                      \
        differ = end < 64 ? differ & ~UINT64_C(0) << end : 0;                                                          \
        take_up(s, g, in, spread);                                                                                     \
      }                                                                                                                \
    memcpy(s->vector, in, s->words * sizeof *in);                                                                      \
  }

/* Where few words vary, all of them are cheaper than finding out which. */
#define AT_ALL(name, attribute, spread)                                                                                \
  attribute static void name(VectorStand *s, const uint64_t *in) {                                                     \
    const Segment *g = segment_at(s->l, 0), *end = g + s->l->segments->len;                                            \
    for (; g < end; g++) take_up(s, g, in, spread);                                                                    \
    memcpy(s->vector, in, s->words * sizeof *in);                                                                      \
  }

/* ---- leaving it ---- */

/* What of a change lies outside a word's first segment: in later ones, or nowhere. */
static bool leave_rest(const VectorLayout *l, guint word, uint64_t differ, uint64_t *out, VectorGaps *gaps) {
  uint64_t unknown = differ & l->constant[word];
  if (unknown) return vector_gaps_add(gaps, word, unknown), false;
  for (guint k = l->first[word] + 1; k < l->first[word + 1]; k++) {
    const Segment *g = segment_at(l, l->by_word[k]);
    put(out, g->place, g->width, gather_portable(differ, g->mask));
  }
  return true;
}

/* One word of the state that a step led to: into the vector, and back. */
static inline __attribute__((always_inline)) bool leave_word(VectorStand *s, guint i, uint64_t *word, uint64_t *out,
                                                             VectorGaps *gaps,
                                                             uint64_t (*gather)(uint64_t word, uint64_t mask)) {
  const FirstSegment *g = &s->l->of_word[i + 1];
  uint64_t differ = *word ^ s->base[i];
  *word = s->base[i];
  put(out, g->place, g->width, gather(differ, g->mask));
  return G_LIKELY(!(differ & ~g->mask)) || leave_rest(s->l, i + 1, differ, out, gaps);
}

/* It allocates: the length in use differs, and everything is looked at. */
static bool leave_resized(VectorStand *s, uint64_t *out, VectorGaps *gaps) {
  bool fits = vector_encode(s->l, s->a, out);
  if (!fits) vector_gaps_note(gaps, s->l, s->a);
  size_t now = arena_used(s->a);
  if (now > s->used) memset((char *)arena_words(s->a) + s->used, 0, now - s->used);
  memcpy(arena_words(s->a), s->base, s->used);
  arena_set_used(s->a, s->used);
  return fits;
}

/* Which blocks differ is found first, without a branch for each: the processor guesses those wrong. */
#define LEAVE(name, attribute, gather, block_differs, differing)                                                       \
  attribute static bool name(VectorStand *s, uint64_t *out, VectorGaps *gaps) {                                        \
    uint64_t *words = arena_words(s->a), *base = s->base;                                                              \
    guint n = (guint)((s->used + 7) / 8);                                                                              \
    bool fits = true;                                                                                                  \
    for (guint k = 0; k < s->words; k++) out[k] = s->vector[k];                                                        \
    for (guint from = 0; from < n; from += 64 * BLOCK) {                                                               \
      uint64_t blocks = 0;                                                                                             \
      for (guint i = from, bit = 0; i < n && bit < 64; i += BLOCK, bit++)                                              \
        blocks |= (uint64_t)block_differs(words + i, base + i) << bit;                                                 \
      for (; blocks; blocks &= blocks - 1) {                                                                           \
        guint i = from + (guint)__builtin_ctzll(blocks) * BLOCK;                                                       \
        for (uint32_t differ = differing(words + i, base + i); differ; differ &= differ - 1) {                         \
          guint at = i + (guint)__builtin_ctz(differ);                                                                 \
          fits &= leave_word(s, at, words + at, out, gaps, gather);                                                    \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    return fits;                                                                                                       \
  }

static void undo_all(const VectorStand *s) {
  const Segment *g = segment_at(s->l, 0), *end = g + s->l->segments->len;
  uint64_t *words = arena_words(s->a);
  for (; g < end; g++)
    if (g->word) words[g->word - 1] = s->base[g->word - 1];
}

/* Which words of a block differ, as bits. */
static inline uint32_t differing_portable(const uint64_t *a, const uint64_t *b) {
  uint32_t differ = 0;
  for (guint i = 0; i < BLOCK; i++) differ |= (uint32_t)(a[i] != b[i]) << i;
  return differ;
}
static inline bool block_differs_portable(const uint64_t *a, const uint64_t *b) {
  uint64_t differ = 0;
  for (guint i = 0; i < BLOCK; i++) differ |= a[i] ^ b[i];
  return differ != 0;
}
AT(at_portable, , spread_portable)
AT_ALL(at_all_portable, , spread_portable)
LEAVE(leave_portable, , gather_portable, block_differs_portable, differing_portable)

#if defined(__x86_64__)
VECTOR_WIDE static inline __attribute__((always_inline)) uint64_t gather_wide(uint64_t word, uint64_t mask) {
  return _pext_u64(word, mask);
}
VECTOR_WIDE static inline __attribute__((always_inline)) uint64_t spread_wide(uint64_t bits, uint64_t mask) {
  return _pdep_u64(bits, mask);
}
/* Four lanes by hand: gcc 12 keeps an array of them in memory and not in registers. */
VECTOR_WIDE static inline __attribute__((always_inline)) __m256i lane_differs(const uint64_t *a, const uint64_t *b) {
  return (__m256i)(*(const Lane *)(const void *)a ^ *(const Lane *)(const void *)b);
}
VECTOR_WIDE static inline __attribute__((always_inline)) bool block_differs_wide(const uint64_t *a, const uint64_t *b) {
  __m256i low = _mm256_or_si256(lane_differs(a, b), lane_differs(a + LANE, b + LANE));
  __m256i high = _mm256_or_si256(lane_differs(a + 2 * LANE, b + 2 * LANE), lane_differs(a + 3 * LANE, b + 3 * LANE));
  __m256i any = _mm256_or_si256(low, high);
  return !_mm256_testz_si256(any, any);
}
VECTOR_WIDE static inline __attribute__((always_inline)) uint32_t lane_same(const uint64_t *a, const uint64_t *b) {
  __m256i same = _mm256_cmpeq_epi64(lane_differs(a, b), _mm256_setzero_si256());
  return (uint32_t)_mm256_movemask_pd((__m256d)same);
}
VECTOR_WIDE static inline __attribute__((always_inline)) uint32_t differing_wide(const uint64_t *a, const uint64_t *b) {
  uint32_t same = lane_same(a, b) | lane_same(a + LANE, b + LANE) << LANE;
  same |= lane_same(a + 2 * LANE, b + 2 * LANE) << 2 * LANE | lane_same(a + 3 * LANE, b + 3 * LANE) << 3 * LANE;
  return ~same & ((1u << BLOCK) - 1);
}
AT(at_wide, VECTOR_WIDE, spread_wide)
AT_ALL(at_all_wide, VECTOR_WIDE, spread_wide)
LEAVE(leave_wide, VECTOR_WIDE, gather_wide, block_differs_wide, differing_wide)
#else
#define at_wide     at_portable
#define at_all_wide at_all_portable
#define leave_wide  leave_portable
#endif

void vector_stand_at(VectorStand *s, const uint64_t *in) {
  if (s->few)
    s->wide ? at_all_wide(s, in) : at_all_portable(s, in);
  else
    s->wide ? at_wide(s, in) : at_portable(s, in);
}

bool vector_stand_leave(VectorStand *s, uint64_t *out, VectorGaps *gaps) {
  if (arena_used(s->a) != s->used) return leave_resized(s, out, gaps);
  if (!s->few) return s->wide ? leave_wide(s, out, gaps) : leave_portable(s, out, gaps);
  if (!vector_encode(s->l, s->a, out)) return leave_resized(s, out, gaps);
  undo_all(s);
  return true;
}
