/* store_bits.c - kind bitstate: some bits of an array for each state, named by hashes of it. */
#include "checks/store_parts.h"

enum { BITS_LINE_LOG = 9 };

/* The bits of a state lie in one line of 512, so that asking for them is one access to memory; the line is named by the
 * hash's high bits, places in it by others of a second hash. */
uint64_t *bits_line(const StateStore *s, uint64_t hash) {
  return s->bits + (hash >> (64 - (s->bits_log2 - BITS_LINE_LOG))) * (1 << (BITS_LINE_LOG - 6));
}

static uint64_t bits_places(uint64_t hash) {
  return hash_words(&hash, 1, 1);
}
static uint64_t *bits_word(uint64_t *line, uint64_t places, guint i, uint64_t *bit) {
  guint place = (guint)(places >> (i * BITS_LINE_LOG)) & ((1u << BITS_LINE_LOG) - 1);
  *bit = (uint64_t)1 << (place % 64);
  return &line[place / 64];
}

bool bits_have(const StateStore *s, uint64_t hash) {
  uint64_t *line = bits_line(s, hash), places = bits_places(hash), bit;
  for (guint i = 0; i < BITS_A_STATE; i++)
    if (!(*bits_word(line, places, i, &bit) & bit)) return false;
  return true;
}

uint32_t bits_add(StateStore *s, uint64_t hash) {
  if (bits_have(s, hash)) return STORE_NONE;
  uint64_t *line = bits_line(s, hash), places = bits_places(hash), bit;
  for (guint i = 0; i < BITS_A_STATE; i++) {
    uint64_t *word = bits_word(line, places, i, &bit);
    s->bits_set += !(*word & bit);
    *word |= bit;
  }
  s->n++;
  return 0;
}
