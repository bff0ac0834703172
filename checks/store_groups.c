/* store_groups.c - kind collapse: each group of words of a vector is kept once, under a number; a state's key is the
 * numbers of its groups, two in a word. */
#include "checks/store_parts.h"
#include <string.h>

static guint group_length(const StateStore *s, guint g) {
  return MIN((guint)GROUP_WORDS, s->words - g * GROUP_WORDS);
}
static uint32_t group_count(const Group *g) {
  return g->values->len / GROUP_WORDS;
}

/* Where these words stand or would stand; a slot holds a number + 1. */
static uint32_t group_slot(const Group *g, const uint64_t words[GROUP_WORDS]) {
  uint32_t at = (uint32_t)(((hash_words(words, GROUP_WORDS, 0) >> 32) * g->capacity) >> 32);
  for (; g->slots[at]; at = at + 1 == g->capacity ? 0 : at + 1)
    if (memcmp(&g_array_index(g->values, uint64_t, (g->slots[at] - 1) * GROUP_WORDS), words,
               GROUP_WORDS * sizeof *words) == 0)
      break;
  return at;
}

static void group_words(const StateStore *s, guint g, const uint64_t *vector, uint64_t words[GROUP_WORDS]) {
  memset(words, 0, GROUP_WORDS * sizeof *words);
  memcpy(words, vector + g * GROUP_WORDS, group_length(s, g) * sizeof *words);
}

static void group_grow(Group *g) {
  if (group_count(g) * 2 < g->capacity) return;
  g_free(g->slots);
  g->capacity = MAX(64, g->capacity * 2);
  g->slots = g_new0(uint32_t, g->capacity);
  for (uint32_t i = 0; i < group_count(g); i++)
    g->slots[group_slot(g, &g_array_index(g->values, uint64_t, i * GROUP_WORDS))] = i + 1;
}

static uint32_t group_intern(Group *g, const uint64_t words[GROUP_WORDS]) {
  group_grow(g);
  uint32_t at = group_slot(g, words);
  if (g->slots[at] == 0) {
    g_array_append_vals(g->values, words, GROUP_WORDS);
    g->slots[at] = group_count(g);
  }
  return g->slots[at];
}

bool groups_key(const StateStore *s, const uint64_t *vector, uint64_t *key) {
  uint64_t words[GROUP_WORDS];
  memset(key, 0, s->key_words * sizeof *key);
  for (guint g = 0; g < s->n_groups; g++) {
    if (s->groups[g].capacity == 0) return false;
    group_words(s, g, vector, words);
    uint64_t number = s->groups[g].slots[group_slot(&s->groups[g], words)];
    if (number == 0) return false;
    key[g / 2] |= number << (g % 2 * 32);
  }
  return true;
}

void groups_key_new(StateStore *s, const uint64_t *vector, uint64_t *key) {
  uint64_t words[GROUP_WORDS];
  memset(key, 0, s->key_words * sizeof *key);
  for (guint g = 0; g < s->n_groups; g++) {
    group_words(s, g, vector, words);
    key[g / 2] |= (uint64_t)group_intern(&s->groups[g], words) << (g % 2 * 32);
  }
}

void groups_init(StateStore *s) {
  s->n_groups = (s->words + GROUP_WORDS - 1) / GROUP_WORDS;
  s->key_words = (s->n_groups + 1) / 2;
  s->groups = g_new0(Group, s->n_groups);
  for (guint i = 0; i < s->n_groups; i++) s->groups[i].values = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

void groups_clear(StateStore *s) {
  for (guint i = 0; i < s->n_groups; i++) {
    g_array_unref(s->groups[i].values);
    g_free(s->groups[i].slots);
  }
  g_free(s->groups);
}

size_t groups_bytes(const StateStore *s) {
  size_t bytes = 0;
  for (guint i = 0; i < s->n_groups; i++)
    bytes += s->groups[i].values->len * sizeof(uint64_t) + s->groups[i].capacity * sizeof(uint32_t);
  return bytes;
}
