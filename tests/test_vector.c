/* test_vector.c - state vectors against the bytes they stand for. */
#include "model/world/rng.h"
#include "model/world/vector.h"
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

static void restore_is_decode(void) {
  Fixture f;
  setup(&f);
  g_autoptr(VectorLayout) l = vector_layout_new(f.a);
  disturb(&f, BYTES);
  l = learned(&f, l);
  uint8_t copy[BYTES];
  memcpy(copy, f.bytes, BYTES);
  g_autofree uint64_t *saved = g_new(uint64_t, vector_varying(l));
  vector_save(l, f.a, saved);
  vector_reset(l, f.a);
  expect(memcmp(copy, f.bytes, BYTES) != 0);
  vector_restore(l, f.a, saved);
  expect_int(memcmp(copy, f.bytes, BYTES), ==, 0);
  arena_free(f.a);
}

int main(void) {
  static const Case cases[] = {{"decode gives the bytes back", decode_gives_the_bytes_back},
                               {"conversion keeps the state", conversion_keeps_the_state},
                               {"a bit that is not known is refused", a_bit_that_is_not_known_is_refused},
                               {"growth belongs to the state", growth_belongs_to_the_state},
                               {"restore is decode", restore_is_decode},
                               {0}};
  return suite_run("vector", cases);
}
