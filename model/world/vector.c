/* vector.c - see vector.h. Word 0 of the numbering below is the arena's length in use, word i + 1 its i-th word: a step
 * that allocates changes what later steps allocate, so the length belongs to the state.
 *
 * x86-64 gathers and spreads the bits of a word with one instruction each (BMI2, asked for at run time); elsewhere a
 * loop over the mask does, with the same result. */
#include "model/world/vector.h"
#include <string.h>

typedef struct {
  uint64_t mask, template; /* of the word */
  uint32_t word, place;    /* of its first bit in the vector */
} Segment;

struct VectorLayout {
  uint64_t *template, *constant; /* constant: bits that do not differ, as a mask. By word, `n` of them */
  guint n, bits;
  Segment *segments;
  guint n_segments;
  bool (*encode)(const VectorLayout *l, const Arena *a, uint64_t *out);
  void (*decode)(const VectorLayout *l, Arena *a, const uint64_t *in);
};

struct VectorGaps {
  GArray *masks; /* of uint64_t, by word */
};

static guint words_in_use(const Arena *a) {
  return 1 + (guint)((arena_used(a) + 7) / 8);
}

/* ---- bits of a word ---- */

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

static inline void put(uint64_t *out, guint place, uint64_t bits) {
  guint at = place / 64, shift = place % 64;
  out[at] |= bits << shift;
  if (shift) out[at + 1] |= bits >> (64 - shift); /* vectors are handed out with a word to spare: see vector_words */
}

static inline uint64_t get(const uint64_t *in, guint place, guint width) {
  guint at = place / 64, shift = place % 64;
  uint64_t bits = in[at] >> shift;
  if (shift + width > 64) bits |= in[at + 1] << (64 - shift);
  return bits;
}

/* Every word that is constant must be so, to the last bit. */
static inline bool fits(const VectorLayout *l, const Arena *a) {
  const uint64_t *words = arena_words(a);
  guint used = words_in_use(a) - 1, known = MIN(used, l->n - 1);
  uint64_t odd = (arena_used(a) ^ l->template[0]) & l->constant[0];
  for (guint i = 0; i < known; i++) odd |= (words[i] ^ l->template[i + 1]) & l->constant[i + 1];
  for (guint i = known; i < used; i++) odd |= words[i];
  for (guint i = known; i + 1 < l->n; i++) odd |= l->template[i + 1] & l -> constant[i + 1];
  return odd == 0;
}

/* One body for each way to gather and spread; the word that `put` may touch behind the last one is kept here. */
#define ENCODE(name, attribute, gather)                                                                                \
  attribute static bool name(const VectorLayout *l, const Arena *a, uint64_t *out) {                                   \
    if (!fits(l, a)) return false;                                                                                     \
    const uint64_t *words = arena_words(a);                                                                            \
    uint64_t part = 0;                                                                                                 \
    guint filled = 0, at = 0;                                                                                          \
    for (guint i = 0; i < l->n_segments; i++) {                                                                        \
      const Segment *s = &l->segments[i];                                                                              \
      uint64_t word = s->word ? words[s->word - 1] : arena_used(a), bits = gather(word ^ s->template, s->mask);        \
      guint width = (guint)__builtin_popcountll(s->mask);                                                              \
      part |= bits << filled;                                                                                          \
      if (filled + width >= 64) {                                                                                      \
        out[at++] = part;                                                                                              \
        part = filled ? bits >> (64 - filled) : 0;                                                                     \
        filled = filled + width - 64;                                                                                  \
        if (filled == 0) part = 0;                                                                                     \
      } else                                                                                                           \
        filled += width;                                                                                               \
    }                                                                                                                  \
    if (filled || at == 0) out[at] = part;                                                                             \
    return true;                                                                                                       \
  }
#define DECODE(name, attribute, spread)                                                                                \
  attribute static void name(const VectorLayout *l, Arena *a, const uint64_t *in) {                                    \
    uint64_t *words = arena_words(a);                                                                                  \
    for (guint i = 0; i < l->n_segments; i++) {                                                                        \
      const Segment *s = &l->segments[i];                                                                              \
      uint64_t word = s->template ^ spread(get(in, s->place, (guint)__builtin_popcountll(s->mask)), s->mask);          \
      if (s->word)                                                                                                     \
        words[s->word - 1] = word;                                                                                     \
      else                                                                                                             \
        arena_set_used(a, word);                                                                                       \
    }                                                                                                                  \
  }
ENCODE(encode_portable, , gather_portable)
DECODE(decode_portable, , spread_portable)
#if defined(__x86_64__)
#include <immintrin.h>
#define WITH_BMI2 __attribute__((target("bmi2,popcnt,avx2")))
ENCODE(encode_bmi2, WITH_BMI2, _pext_u64)
DECODE(decode_bmi2, WITH_BMI2, _pdep_u64)
#endif

bool vector_encode(const VectorLayout *l, const Arena *a, uint64_t *out) {
  return l->encode(l, a, out);
}
void vector_decode(const VectorLayout *l, Arena *a, const uint64_t *in) {
  l->decode(l, a, in);
}

/* ---- layouts ---- */

static void choose_ways(VectorLayout *l) {
  l->encode = encode_portable;
  l->decode = decode_portable;
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("popcnt")) return;
  l->encode = encode_bmi2;
  l->decode = decode_bmi2;
#endif
}

static void lay_out(VectorLayout *l) {
  l->segments = g_new0(Segment, l->n + 1);
  for (guint i = 0; i < l->n; i++) {
    uint64_t mask = ~l->constant[i];
    if (!mask) continue;
    l->segments[l->n_segments++] = (Segment){mask, l->template[i], i, l -> bits};
    l->bits += (guint)__builtin_popcountll(mask);
  }
  choose_ways(l);
}

VectorLayout *vector_layout_new(const Arena *template) {
  VectorLayout *l = g_new0(VectorLayout, 1);
  l->n = words_in_use(template);
  l->template = g_new(uint64_t, l->n);
  l->constant = g_new(uint64_t, l->n);
  l->template[0] = arena_used(template);
  memcpy(l->template + 1, arena_words(template), (l->n - 1) * sizeof(uint64_t));
  memset(l->constant, 0xff, l->n * sizeof(uint64_t));
  lay_out(l);
  return l;
}

void vector_layout_free(VectorLayout *l) {
  if (!l) return;
  g_free(l->template);
  g_free(l->constant);
  g_free(l->segments);
  g_free(l);
}

guint vector_bits(const VectorLayout *l) {
  return l->bits;
}
guint vector_words(const VectorLayout *l) {
  return MAX(1, (l->bits + 63) / 64);
}

void vector_reset(const VectorLayout *l, Arena *a) {
  uint64_t *words = arena_words(a);
  for (guint i = l->n - 1, used = words_in_use(a) - 1; i < used; i++) words[i] = 0;
  memcpy(words, l->template + 1, (l->n - 1) * sizeof(uint64_t));
  arena_set_used(a, l->template[0]);
}

/* ---- gaps ---- */

VectorGaps *vector_gaps_new(void) {
  VectorGaps *g = g_new(VectorGaps, 1);
  g->masks = g_array_new(FALSE, TRUE, sizeof(uint64_t));
  return g;
}

void vector_gaps_free(VectorGaps *g) {
  if (!g) return;
  g_array_unref(g->masks);
  g_free(g);
}

void vector_gaps_note(VectorGaps *g, const VectorLayout *l, const Arena *a) {
  const uint64_t *words = arena_words(a);
  guint used = words_in_use(a), n = MAX(used, l->n);
  if (g->masks->len < n) g_array_set_size(g->masks, n);
  uint64_t *masks = (uint64_t *)(void *)g->masks->data;
  for (guint i = 0; i < n; i++) {
    uint64_t word = i == 0 ? arena_used(a) : i < used ? words[i - 1] : 0;
    masks[i] |= i < l->n ? (word ^ l->template[i]) & l->constant[i] : word;
  }
}

bool vector_gaps_any(const VectorGaps *g) {
  for (guint i = 0; i < g->masks->len; i++)
    if (g_array_index(g->masks, uint64_t, i)) return true;
  return false;
}

static void close_gaps(VectorLayout *l, VectorGaps *g) {
  for (guint i = 0; g && i < g->masks->len; i++) l->constant[i] &= ~g_array_index(g->masks, uint64_t, i);
  if (g) g_array_set_size(g->masks, 0);
}

VectorLayout *vector_layout_extend(const VectorLayout *l, VectorGaps *g, VectorGaps *more) {
  VectorLayout *wider = g_new0(VectorLayout, 1);
  wider->n = MAX(MAX(l->n, g->masks->len), more ? more->masks->len : 0);
  wider->template = g_new0(uint64_t, wider->n);
  wider->constant = g_new(uint64_t, wider->n);
  memset(wider->constant, 0xff, wider->n * sizeof(uint64_t));
  memcpy(wider->template, l->template, l->n * sizeof(uint64_t));
  memcpy(wider->constant, l->constant, l->n * sizeof(uint64_t));
  close_gaps(wider, g);
  close_gaps(wider, more);
  lay_out(wider);
  return wider;
}

/* Both layouts have the template in common, and `to` has every bit of `from`: one walk over both, by word. */
void vector_convert(const VectorLayout *from, const VectorLayout *to, const uint64_t *in, uint64_t *out) {
  uint64_t buffer[2];
  memset(out, 0, vector_words(to) * sizeof *out);
  for (guint i = 0, j = 0; i < from->n_segments; i++) {
    const Segment *s = &from->segments[i];
    while (to->segments[j].word < s->word) j++;
    const Segment *t = &to->segments[j];
    g_assert(t->word == s->word && (s->mask & ~t->mask) == 0);
    guint width = (guint)__builtin_popcountll(s->mask), room = (guint)__builtin_popcountll(t->mask);
    uint64_t bits = gather_portable(spread_portable(get(in, s->place, width), s->mask), t->mask);
    buffer[0] = buffer[1] = 0;
    put(buffer, t->place % 64, bits);
    out[t->place / 64] |= buffer[0];
    if (t->place % 64 + room > 64) out[t->place / 64 + 1] |= buffer[1];
  }
}
