/* vector.c - see vector.h. */
#include "model/world/vector_private.h"
#include <string.h>

struct VectorGaps {
  GArray *masks; /* of uint64_t, by word */
};

/* Entry 1 of template and constant stands for the arena's first word; behind the
 * last known one they are 0 and all ones up to a whole lane. Where the arena is shorter than the template its bytes are
 * 0, as arena.c keeps them, and are seen to differ; what it has behind the last lane is looked at by itself. */
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
ENCODE(encode_wide, VECTOR_WIDE, _pext_u64)
DECODE(decode_wide, VECTOR_WIDE, _pdep_u64)
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
  if (!vector_wide()) return;
  l->encode = encode_wide;
  l->decode = decode_wide;
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

/* Which segments a word has, and which one a bit of a vector is of. */
static void index_segments(VectorLayout *l) {
  guint n = l->segments->len, at = 0;
  g_free(l->first);
  g_free(l->by_word);
  g_free(l->by_bit);
  g_free(l->of_word);
  l->of_word = g_new0(FirstSegment, l->n);
  l->first = g_new0(uint32_t, l->n + 1);
  l->by_word = g_new(uint32_t, n + 1);
  l->by_bit = g_new(uint32_t, l->bits + 1);
  for (guint i = 0; i < n; i++) l->first[segment_at(l, i)->word + 1]++;
  for (guint i = 0; i < l->n; i++) l->first[i + 1] += l->first[i];
  g_autofree uint32_t *next = g_memdup2(l->first, l->n * sizeof *next);
  for (guint i = 0; i < n; i++) {
    const Segment *s = segment_at(l, i);
    l->by_word[next[s->word]++] = i;
    if (!l->of_word[s->word].mask) l->of_word[s->word] = (FirstSegment){s->mask, s->place, s->width};
    for (guint bit = 0; bit < s->width; bit++, at++) l->by_bit[at] = i;
  }
  g_assert(at == l->bits);
}

static VectorLayout *layout_of(guint n) {
  VectorLayout *l = g_new0(VectorLayout, 1);
  guint room = 1 + (n - 1 + LANE - 1) / LANE * LANE;
  l->n = n;
  l->template = g_new0(uint64_t, room);
  l->constant = g_new(uint64_t, room);
  memset(l->constant, 0xff, room * sizeof(uint64_t));
  l->segments = g_array_new(FALSE, FALSE, sizeof(Segment));
  choose_ways(l);
  return l;
}

VectorLayout *vector_layout_new(const Arena *template) {
  VectorLayout *l = layout_of(words_in_use(template));
  l->template[0] = arena_used(template);
  memcpy(l->template + 1, arena_words(template), (l->n - 1) * sizeof(uint64_t));
  index_segments(l);
  return l;
}

void vector_layout_free(VectorLayout *l) {
  if (!l) return;
  g_free(l->template);
  g_free(l->constant);
  g_array_unref(l->segments);
  g_free(l->first);
  g_free(l->by_word);
  g_free(l->by_bit);
  g_free(l->of_word);
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
  guint used = words_in_use(a), both = MIN(used, l->n), i = 1;
  if (g->masks->len < MAX(used, l->n)) g_array_set_size(g->masks, MAX(used, l->n));
  uint64_t *masks = (uint64_t *)(void *)g->masks->data;
  masks[0] |= (arena_used(a) ^ l->template[0]) & l->constant[0];
  for (; i + LANE <= both; i += LANE)
    *(Lane *)(masks + i) |=
        (*(const Lane *)(words + i - 1) ^ *(const Lane *)(l->template + i)) & *(const Lane *)(l->constant + i);
  for (; i < both; i++) masks[i] |= (words[i - 1] ^ l->template[i]) & l->constant[i];
  for (; i < used; i++) masks[i] |= words[i - 1];
  for (; i < l->n; i++) masks[i] |= l->template[i] & l -> constant[i];
}

void vector_gaps_add(VectorGaps *g, guint word, uint64_t bits) {
  if (g->masks->len <= word) g_array_set_size(g->masks, word + 1);
  g_array_index(g->masks, uint64_t, word) |= bits;
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
  }
  if (vector_words(wider) != vector_words(l)) pack(wider);
  index_segments(wider);
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
