/* store_parts.h - what the files of the store share. Private to checks/store*.c. */
#pragma once
#include "checks/store.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { GROUP_WORDS = 4, BITS_A_STATE = 3 };

typedef struct {
  uint64_t *slots;
  uint32_t capacity, used;
  GPtrArray *claims; /* Candidate */
} Part;

/* Interned values of one group of words: number -> words, and back. */
typedef struct {
  GArray *values; /* of uint64_t, GROUP_WORDS each */
  uint32_t *slots;
  uint32_t capacity;
} Group;

struct StateStore {
  StoreKind kind;
  guint words, key_words, n_groups;
  uint32_t n;
  Part parts[STORE_PARTS];
  GPtrArray *keys, *parents, *links; /* blocks of uint64_t[key_words], uint32_t, uint16_t */
  Group *groups;
  uint64_t *bits;
  guint bits_log2;
  uint64_t bits_set;
};

static inline uint64_t hash_words(const uint64_t *words, guint n, uint64_t seed) {
  return XXH3_64bits_withSeed(words, n * sizeof *words, seed);
}

/* ---- store_table.c: large tables, zeroed, read at random ---- */
void *table_new(size_t bytes);
void table_free(void *table, size_t bytes); /* of the same size; NULL is none */

/* ---- store_groups.c: kind collapse ---- */
void groups_init(StateStore *s); /* and key_words */
void groups_clear(StateStore *s);
/* The key of a vector; false: it has a group never seen, so no state of the store is equal to it. */
bool groups_key(const StateStore *s, const uint64_t *vector, uint64_t *key);
void groups_key_new(StateStore *s, const uint64_t *vector, uint64_t *key); /* what was never seen is kept */
size_t groups_bytes(const StateStore *s);

/* ---- store_bits.c: kind bitstate ---- */
uint64_t *bits_line(const StateStore *s, uint64_t hash); /* where all bits of that state are */
bool bits_have(const StateStore *s, uint64_t hash);
uint32_t bits_add(StateStore *s, uint64_t hash); /* 0, or STORE_NONE: it was there */
