/* vector.c - see vector.h. Word 0 of the numbering below is the arena's length in use, word i + 1 its i-th word: a step
 * that allocates changes what later steps allocate, so the length belongs to the state.
 *
 * x86-64 gathers and spreads the bits of a word with one instruction each (BMI2, asked for at run time); elsewhere a
 * loop over the mask does, with the same result. */
#include "model/world/vector.h"
#include <string.h>

/* Bits of one word. A word has one segment where the layout was packed, and one more each time it was appended to. */
typedef struct {
  uint64_t mask, template; /* of the word */
  uint32_t word, place;    /* of its first bit in the vector */
  uint32_t width;
} Segment;

struct VectorLayout {
  uint64_t *template, *constant; /* constant: bits that do not differ, as a mask. By word; whole lanes */
  guint n, bits;                 /* n: words known, word 0 included */
  GArray *segments;              /* of Segment */
  GArray *varying;               /* of guint: words with a segment, ascending */
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

static inline void put(uint64_t *out, guint place, guint width, uint64_t bits) {
  guint at = place / 64, shift = place % 64;
  out[at] |= bits << shift;
  if (shift + width > 64) out[at + 1] |= bits >> (64 - shift);
}

static inline uint64_t get(const uint64_t *in, guint place, guint width) {
  guint at = place / 64, shift = place % 64;
  uint64_t bits = in[at] >> shift;
  if (shift + width > 64) bits |= in[at + 1] << (64 - shift);
  return bits;
}

/* Words are compared a lane at a time. Entry 1 of template and constant stands for the arena's first word; behind the
 * last known one they are 0 and all ones up to a whole lane. Where the arena is shorter than the template its bytes are
 * 0, as arena.c keeps them, and are seen to differ; what it has behind the last lane is looked at by itself. */
enum { LANE = 4 };
typedef uint64_t Lane __attribute__((vector_size(LANE * 8), aligned(8), may_alias));

static inline __attribute__((always_inline)) bool fits(const VectorLayout *l, const Arena *a) {
  const uint64_t *words = arena_words(a);
  guint known = l->n - 1, used = words_in_use(a) - 1;
  uint64_t odd = (arena_used(a) ^ l->template[0]) & l->constant[0];
  Lane sum = {0};
  for (guint i = 0; i < known; i += LANE)
    sum |= (*(const Lane *)(words + i) ^ *(const Lane *)(l->template + 1 + i)) & *(const Lane *)(l->constant + 1 + i);
  for (guint i = (known + LANE - 1) / LANE * LANE; i < used; i++) odd |= words[i];
  return (odd | sum[0] | sum[1] | sum[2] | sum[3]) == 0;
}

/* One body for each way to gather and spread; the word that `put` may touch behind the last one is kept here. */
#define ENCODE(name, attribute, gather)                                                                                \
  attribute static bool name(const VectorLayout *l, const Arena *a, uint64_t *out) {                                   \
    if (!fits(l, a)) return false;                                                                                     \
    const uint64_t *words = arena_words(a);                                                                            \
    uint64_t part = 0;                                                                                                 \
    guint filled = 0, at = 0;                                                                                          \
    const Segment *s = (const Segment *)(const void *)l->segments->data, *end = s + l->segments->len;                  \
    for (; s < end; s++) {                                                                                             \
      uint64_t word = s->word ? words[s->word - 1] : arena_used(a), bits = gather(word ^ s->template, s->mask);        \
      guint width = s->width;                                                                                          \
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
    uint64_t *words = arena_words(a), used = arena_used(a);                                                            \
    const Segment *s = (const Segment *)(const void *)l->segments->data, *end = s + l->segments->len;                  \
    for (; s < end; s++) {                                                                                             \
      uint64_t *word = s->word ? &words[s->word - 1] : &used;                                                          \
      *word ^= (*word ^ s->template ^ spread(get(in, s->place, s->width), s->mask)) & s->mask;                         \
    }                                                                                                                  \
    if (used != arena_used(a)) arena_set_used(a, used);                                                                \
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

static void add_segment(VectorLayout *l, guint word, uint64_t mask) {
  guint width = (guint)__builtin_popcountll(mask);
  Segment s = {mask, l->template[word], word, l -> bits, width};
  if (!mask) return;
  g_array_append_val(l->segments, s);
  l->bits += width;
}

static void pack(VectorLayout *l) {
  g_array_set_size(l->segments, 0);
  l->bits = 0;
  for (guint i = 0; i < l->n; i++) add_segment(l, i, ~l->constant[i]);
}

static VectorLayout *layout_of(guint n) {
  VectorLayout *l = g_new0(VectorLayout, 1);
  guint room = 1 + (n - 1 + LANE - 1) / LANE * LANE;
  l->n = n;
  l->template = g_new0(uint64_t, room);
  l->constant = g_new(uint64_t, room);
  memset(l->constant, 0xff, room * sizeof(uint64_t));
  l->segments = g_array_new(FALSE, FALSE, sizeof(Segment));
  l->varying = g_array_new(FALSE, FALSE, sizeof(guint));
  choose_ways(l);
  return l;
}

VectorLayout *vector_layout_new(const Arena *template) {
  VectorLayout *l = layout_of(words_in_use(template));
  l->template[0] = arena_used(template);
  memcpy(l->template + 1, arena_words(template), (l->n - 1) * sizeof(uint64_t));
  return l;
}

void vector_layout_free(VectorLayout *l) {
  if (!l) return;
  g_free(l->template);
  g_free(l->constant);
  g_array_unref(l->segments);
  g_array_unref(l->varying);
  g_free(l);
}

guint vector_varying(const VectorLayout *l) {
  return l->varying->len;
}

void vector_save(const VectorLayout *l, const Arena *a, uint64_t *words) {
  const uint64_t *from = arena_words(a);
  const guint *at = (const guint *)(const void *)l->varying->data;
  for (guint i = 0, n = l->varying->len; i < n; i++) words[i] = at[i] ? from[at[i] - 1] : arena_used(a);
}

void vector_restore(const VectorLayout *l, Arena *a, const uint64_t *words) {
  uint64_t *to = arena_words(a);
  const guint *at = (const guint *)(const void *)l->varying->data;
  guint i = 0, n = l->varying->len;
  if (n && at[0] == 0) arena_set_used(a, words[i++]);
  for (; i < n; i++) to[at[i] - 1] = words[i];
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

static uint64_t gap(const VectorGaps *g, guint i) {
  return g && i < g->masks->len ? g_array_index(g->masks, uint64_t, i) : 0;
}

/* New bits go behind the old ones as long as vectors stay as long as they are: then old vectors are good as they stand,
 * with 0 for the new bits. Else everything is packed anew. */
VectorLayout *vector_layout_extend(const VectorLayout *l, VectorGaps *g, VectorGaps *more) {
  VectorLayout *wider = layout_of(MAX(MAX(l->n, g->masks->len), more ? more->masks->len : 0));
  memcpy(wider->template, l->template, l->n * sizeof(uint64_t));
  memcpy(wider->constant, l->constant, l->n * sizeof(uint64_t));
  g_array_append_vals(wider->segments, l->segments->data, l->segments->len);
  wider->bits = l->bits;
  for (guint i = 0; i < wider->n; i++) {
    uint64_t new = (gap(g, i) | gap(more, i)) & wider->constant[i];
    wider->constant[i] &= ~new;
    add_segment(wider, i, new);
    if (~wider->constant[i]) g_array_append_val(wider->varying, i);
  }
  if (vector_words(wider) != vector_words(l)) pack(wider);
  g_array_set_size(g->masks, 0);
  if (more) g_array_set_size(more->masks, 0);
  return wider;
}

/* Bits by word, then packed: of a layout that is packed, each word has one segment. */
void vector_convert(const VectorLayout *from, const VectorLayout *to, const uint64_t *in, uint64_t *out) {
  if (vector_words(from) == vector_words(to)) {
    memcpy(out, in, vector_words(to) * sizeof *out);
    return;
  }
  g_autofree uint64_t *words = g_new0(uint64_t, to->n);
  for (guint i = 0; i < from->segments->len; i++) {
    const Segment *s = &g_array_index(from->segments, Segment, i);
    words[s->word] |= spread_portable(get(in, s->place, s->width), s->mask);
  }
  memset(out, 0, vector_words(to) * sizeof *out);
  for (guint i = 0; i < to->segments->len; i++) {
    const Segment *s = &g_array_index(to->segments, Segment, i);
    put(out, s->place, s->width, gather_portable(words[s->word], s->mask));
  }
}
