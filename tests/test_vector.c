/* test_vector.c - state vectors against the bytes they stand for. */
#include "model/world/rng.h"
#include "model/world/stand.h"
#include "tests/harness.h"

enum { BYTES = 328, STATES = 400 }; /* not a whole number of lanes */

typedef struct {
  Arena *a;
  uint8_t *bytes;
  Rng rng;
} Fixture;

static void setup(Fixture *f) {
  f->a = arena_new(1 << 16);
  f->bytes = arena_alloc(f->a, BYTES);
  rng_init(&f->rng, 7, "vector");
  for (guint i = 0; i < BYTES; i++) f->bytes[i] = (uint8_t)rng_next(&f->rng);
}

/* Flips a few bits among the first `span` bytes. */
static void disturb(Fixture *f, guint span) {
  for (guint n = 1 + (guint)rng_below(&f->rng, 5); n > 0; n--)
    f->bytes[rng_below(&f->rng, span)] ^= (uint8_t)(1u << rng_below(&f->rng, 8));
}

static VectorLayout *learned(Fixture *f, VectorLayout *l) {
  g_autoptr(VectorGaps) gaps = vector_gaps_new();
  vector_gaps_note(gaps, l, f->a);
  expect(vector_gaps_any(gaps));
  VectorLayout *wider = vector_layout_extend(l, gaps, NULL);
  vector_layout_free(l);
  return wider;
}

static void decode_gives_the_bytes_back(void) {
  Fixture f;
  setup(&f);
  g_autoptr(VectorLayout) l = vector_layout_new(f.a);
  for (guint i = 0; i < STATES; i++) {
    uint64_t vector[64];
    uint8_t copy[BYTES];
    disturb(&f, BYTES);
    if (!vector_encode(l, f.a, vector)) l = learned(&f, l);
    expect(vector_encode(l, f.a, vector));
    memcpy(copy, f.bytes, BYTES);
    vector_reset(l, f.a);
    vector_decode(l, f.a, vector);
    expect_int(memcmp(copy, f.bytes, BYTES), ==, 0);
  }
  arena_free(f.a);
}

/* Old vectors under every wider layout still stand for the old bytes. */
static void conversion_keeps_the_state(void) {
  Fixture f;
  setup(&f);
  g_autoptr(VectorLayout) l = vector_layout_new(f.a);
  uint64_t kept[64] = {0}, vector[64], other[64];
  uint8_t copy[BYTES];
  disturb(&f, 16);
  l = learned(&f, l);
  expect(vector_encode(l, f.a, kept));
  memcpy(copy, f.bytes, BYTES);
  for (guint i = 0; i < 60; i++) {
    vector_reset(l, f.a);
    for (guint j = 0; j < 4; j++) disturb(&f, BYTES);
    if (vector_encode(l, f.a, vector)) continue;
    g_autoptr(VectorGaps) gaps = vector_gaps_new();
    vector_gaps_note(gaps, l, f.a);
    VectorLayout *wider = vector_layout_extend(l, gaps, NULL);
    vector_convert(l, wider, kept, other);
    memcpy(kept, other, sizeof kept);
    vector_layout_free(l);
    l = wider;
    vector_reset(l, f.a);
    vector_decode(l, f.a, kept);
    expect_int(memcmp(copy, f.bytes, BYTES), ==, 0);
    expect(vector_encode(l, f.a, vector));
    expect_int(memcmp(vector, kept, vector_words(l) * sizeof *vector), ==, 0);
  }
  arena_free(f.a);
}

static void a_bit_that_is_not_known_is_refused(void) {
  Fixture f;
  setup(&f);
  g_autoptr(VectorLayout) l = vector_layout_new(f.a);
  uint64_t vector[64];
  for (guint i = 0; i < BYTES; i++)
    for (guint bit = 0; bit < 8; bit++) {
      f.bytes[i] ^= (uint8_t)(1u << bit);
      expect(!vector_encode(l, f.a, vector));
      f.bytes[i] ^= (uint8_t)(1u << bit);
    }
  expect(vector_encode(l, f.a, vector));
  arena_free(f.a);
}

/* What is allocated later is part of the state: its bytes, and that it is there. */
static void growth_belongs_to_the_state(void) {
  Fixture f;
  setup(&f);
  g_autoptr(VectorLayout) l = vector_layout_new(f.a);
  uint64_t small[64], large[64], vector[64];
  uint8_t *more = arena_alloc(f.a, 100);
  expect(!vector_encode(l, f.a, vector));
  l = learned(&f, l);
  more[99] = 3;
  expect(!vector_encode(l, f.a, vector));
  l = learned(&f, l);
  expect(vector_encode(l, f.a, large));
  size_t used = arena_used(f.a);
  vector_reset(l, f.a);
  expect(vector_encode(l, f.a, small));
  expect(memcmp(small, large, vector_words(l) * sizeof *small) != 0);
  expect_int(more[99], ==, 0);
  vector_decode(l, f.a, large);
  expect_int(arena_used(f.a), ==, used);
  expect_int(more[99], ==, 3);
  vector_decode(l, f.a, small);
  expect_int(more[99], ==, 0);
  arena_free(f.a);
}

/* ---- a state taken up, and steps from it (stand.h), against encode and decode of whole arenas ---- */

typedef struct {
  Fixture f;
  Arena *plain; /* the same states by encode and decode */
  VectorLayout *l;
  VectorStand *stand;
  VectorGaps *gaps;
} Standing;

/* A layout that knows bits of the first `span` bytes. */
static void standing_setup(Standing *t, guint span) {
  *t = (Standing){.gaps = vector_gaps_new()};
  setup(&t->f);
  t->plain = arena_new(1 << 16);
  memcpy(arena_alloc(t->plain, BYTES), t->f.bytes, BYTES);
  t->l = vector_layout_new(t->f.a);
  uint64_t vector[64];
  for (guint i = 0; i < STATES; i++) {
    disturb(&t->f, span);
    if (!vector_encode(t->l, t->f.a, vector)) t->l = learned(&t->f, t->l);
  }
  t->stand = vector_stand_new(t->f.a);
  vector_stand_start(t->stand, t->l);
}

static void standing_clear(Standing *t) {
  vector_stand_free(t->stand);
  vector_gaps_free(t->gaps);
  vector_layout_free(t->l);
  arena_free(t->plain);
  arena_free(t->f.a);
}

static bool same_bytes(const Standing *t) {
  return arena_used(t->f.a) == arena_used(t->plain) && memcmp(arena_words(t->f.a), arena_words(t->plain), BYTES) == 0;
}

static void steps_from(guint span) {
  Standing t;
  standing_setup(&t, span);
  uint64_t at[64] = {0}, out[64], expected[64];
  for (guint i = 0; i < STATES; i++) {
    vector_stand_at(t.stand, at);
    vector_decode(t.l, t.plain, at);
    expect(same_bytes(&t));
    disturb(&t.f, span);
    if (!vector_encode(t.l, t.f.a, expected)) {
      expect(!vector_stand_leave(t.stand, out, t.gaps));
      continue;
    }
    expect(vector_stand_leave(t.stand, out, t.gaps));
    expect_int(memcmp(out, expected, vector_words(t.l) * sizeof *out), ==, 0);
    expect(same_bytes(&t));
    if (i % 3) memcpy(at, out, vector_words(t.l) * sizeof *out);
  }
  standing_clear(&t);
}
static void steps_where_much_varies(void) {
  steps_from(BYTES);
}
static void steps_where_few_words_vary(void) {
  steps_from(40);
}

static void a_gap_is_noted_and_undone(void) {
  for (guint span = 40; span <= 300; span += 260) {
    Standing t;
    standing_setup(&t, span);
    uint64_t out[64];
    vector_decode(t.l, t.plain, (uint64_t[64]){0});
    t.f.bytes[BYTES - 1] ^= 16;
    expect(!vector_stand_leave(t.stand, out, t.gaps));
    expect(same_bytes(&t));
    g_autoptr(VectorLayout) wider = vector_layout_extend(t.l, t.gaps, NULL);
    expect_int(vector_bits(wider), ==, vector_bits(t.l) + 1);
    vector_stand_start(t.stand, wider);
    t.f.bytes[BYTES - 1] ^= 16;
    expect(vector_stand_leave(t.stand, out, t.gaps));
    vector_decode(wider, t.f.a, out);
    expect_int(t.f.bytes[BYTES - 1], ==, ((const uint8_t *)arena_words(t.plain))[BYTES - 1] ^ 16);
    standing_clear(&t);
  }
}

static void a_step_that_allocates_is_undone(void) {
  Standing t;
  standing_setup(&t, BYTES);
  uint64_t out[64];
  vector_decode(t.l, t.plain, (uint64_t[64]){0});
  memset(arena_alloc(t.f.a, 64), 7, 64);
  expect(!vector_stand_leave(t.stand, out, t.gaps));
  expect(same_bytes(&t));
  expect_int(((const uint8_t *)arena_alloc(t.f.a, 64))[63], ==, 0); /* as arena.h promises */
  standing_clear(&t);
}

int main(void) {
  static const Case cases[] = {{"decode gives the bytes back", decode_gives_the_bytes_back},
                               {"conversion keeps the state", conversion_keeps_the_state},
                               {"a bit that is not known is refused", a_bit_that_is_not_known_is_refused},
                               {"growth belongs to the state", growth_belongs_to_the_state},
                               {"steps, much varies", steps_where_much_varies},
                               {"steps, few words vary", steps_where_few_words_vary},
                               {"a gap is noted and undone", a_gap_is_noted_and_undone},
                               {"a step that allocates is undone", a_step_that_allocates_is_undone},
                               {0}};
  return suite_run("vector", cases);
}
