/* store.c - see store.h.
 *
 * A part is an open-addressed table of 8-byte slots: 32 bits of hash, and a state's number + 1 (0: free). A slot's home
 * is those 32 bits scaled to the capacity, so a table is rehashed by one walk, without reading a vector. While a wave
 * is claimed, numbers with the top bit set stand for candidates. */
#include "checks/store_parts.h"
#include <string.h>

enum { BLOCK_LOG = 14, BLOCK = 1 << BLOCK_LOG };
#define CLAIM 0x80000000u

/* ---- keys ---- */

/* The key to compare with; `buffer` has room for it. NULL: no state can be equal. */
static const uint64_t *key_of(const StateStore *s, const uint64_t *vector, uint64_t *buffer) {
  if (s->kind == STORE_FULL) return vector;
  if (s->kind == STORE_COLLAPSE) return groups_key(s, vector, buffer) ? buffer : NULL;
  XXH128_hash_t h = XXH3_128bits(vector, s->words * sizeof *vector);
  buffer[0] = h.low64;
  buffer[1] = h.high64;
  return buffer;
}

static inline bool equal(const uint64_t *a, const uint64_t *b, guint n) {
  for (guint i = 0; i < n; i++)
    if (a[i] != b[i]) return false;
  return true;
}

static uint64_t *key_at(const StateStore *s, uint32_t state) {
  return (uint64_t *)s->keys->pdata[state >> BLOCK_LOG] + (size_t)(state & (BLOCK - 1)) * s->key_words;
}

/* ---- life ---- */

StateStore *store_new(StoreKind kind, guint words, guint bits_log2) {
  StateStore *s = g_new0(StateStore, 1);
  s->kind = kind == STORE_COLLAPSE && words <= GROUP_WORDS ? STORE_FULL : kind; /* one group: nothing to share */
  s->words = words;
  s->key_words = s->kind == STORE_FULL ? words : 2;
  s->keys = g_ptr_array_new_with_free_func(g_free);
  s->parents = g_ptr_array_new_with_free_func(g_free);
  s->links = g_ptr_array_new_with_free_func(g_free);
  if (s->kind == STORE_COLLAPSE) groups_init(s);
  s->bits_log2 = bits_log2;
  if (kind == STORE_BITSTATE) s->bits = table_new(((size_t)1 << bits_log2) / 8);
  for (guint i = 0; i < STORE_PARTS; i++) s->parts[i].claims = g_ptr_array_new();
  return s;
}

void store_free(StateStore *s) {
  if (!s) return;
  for (guint i = 0; i < STORE_PARTS; i++) {
    table_free(s->parts[i].slots, s->parts[i].capacity * sizeof(uint64_t));
    g_ptr_array_unref(s->parts[i].claims);
  }
  groups_clear(s);
  g_ptr_array_unref(s->keys);
  g_ptr_array_unref(s->parents);
  g_ptr_array_unref(s->links);
  table_free(s->bits, ((size_t)1 << s->bits_log2) / 8);
  g_free(s);
}

/* ---- looking up ---- */

uint64_t store_hash(const StateStore *s, const uint64_t *vector) {
  return hash_words(vector, s->words, 0);
}

guint store_part(uint64_t hash) {
  return (guint)(hash >> 60);
}
static uint32_t tag_of(uint64_t hash) {
  return (uint32_t)(hash >> 24);
}
static uint32_t home(const Part *p, uint32_t tag) {
  return (uint32_t)(((uint64_t)tag * p->capacity) >> 32);
}

/* gcc 12 takes a function that only asks memory ahead for one without effect and drops the calls of it from other
 * files; an empty asm is an effect. */
static inline void ask_memory(const void *at) {
  __builtin_prefetch(at);
  __asm__ volatile("");
}

void store_prefetch(const StateStore *s, uint64_t hash) {
  if (s->kind == STORE_BITSTATE) {
    ask_memory(bits_line(s, hash));
    return;
  }
  const Part *p = &s->parts[store_part(hash)];
  if (p->capacity) ask_memory(&p->slots[home(p, tag_of(hash))]);
}

void store_prefetch_key(const StateStore *s, uint64_t hash) {
  const Part *p = &s->parts[store_part(hash)];
  if (p->capacity == 0 || s->kind == STORE_BITSTATE) return;
  uint64_t slot = p->slots[home(p, tag_of(hash))];
  if (slot && slot >> 32 == tag_of(hash)) ask_memory(key_at(s, (uint32_t)slot - 1));
}

static bool is_state(const StateStore *s, const Part *p, uint32_t number, const Candidate *c, const uint64_t *key) {
  if (!(number & CLAIM)) return key && equal(key_at(s, number), key, s->key_words);
  const Candidate *claimed = p->claims->pdata[number & ~CLAIM];
  if (s->kind != STORE_HASH128) return equal(claimed->vector, c->vector, s->words);
  uint64_t other[2];
  return equal(key_of(s, claimed->vector, other), key, 2);
}

/* The slot that holds it, or the free one where it would go. What was passed on the way to a free one in a table of the
 * same size is still not equal: nothing is ever taken away. */
static uint32_t find_slot(const StateStore *s, const Part *p, const Candidate *c, const uint64_t *key) {
  uint32_t tag = tag_of(c->hash), at = c->capacity == p->capacity ? c->slot : home(p, tag);
  for (uint64_t slot; (slot = p->slots[at]) != 0; at = at + 1 == p->capacity ? 0 : at + 1)
    if (slot >> 32 == tag && is_state(s, p, (uint32_t)slot - 1, c, key)) break;
  return at;
}

bool store_has(const StateStore *s, const uint64_t *vector, uint64_t hash) {
  if (s->kind == STORE_BITSTATE) return bits_have(s, hash);
  const Part *p = &s->parts[store_part(hash)];
  if (p->capacity == 0) return false;
  uint64_t buffer[s->key_words];
  const uint64_t *key = key_of(s, vector, buffer);
  Candidate c = {.hash = hash, .vector = vector};
  return key && p->slots[find_slot(s, p, &c, key)] != 0;
}

bool store_seek(const StateStore *s, Candidate *c) {
  const Part *p = &s->parts[store_part(c->hash)];
  if (p->capacity == 0) return false;
  uint64_t buffer[s->key_words];
  const uint64_t *key = key_of(s, c->vector, buffer);
  if (!key) return false;
  c->slot = find_slot(s, p, c, key);
  c->capacity = p->capacity;
  return p->slots[c->slot] != 0;
}

uint32_t store_find(const StateStore *s, const uint64_t *vector) {
  uint64_t buffer[s->key_words];
  Candidate c = {.hash = store_hash(s, vector), .vector = vector};
  const Part *p = &s->parts[store_part(c.hash)];
  const uint64_t *key = key_of(s, vector, buffer);
  if (!key || p->capacity == 0) return STORE_NONE;
  return (uint32_t)p->slots[find_slot(s, p, &c, key)] - 1; /* 0 - 1 is STORE_NONE */
}

/* ---- adding ---- */

static void rehash(Part *p, uint32_t capacity) {
  uint64_t *old = p->slots;
  uint32_t had = p->capacity;
  p->slots = table_new(capacity * sizeof(uint64_t));
  p->capacity = capacity;
  for (uint32_t i = 0; i < had; i++) {
    if (old[i] == 0) continue;
    uint32_t at = home(p, (uint32_t)(old[i] >> 32));
    while (p->slots[at]) at = at + 1 == capacity ? 0 : at + 1;
    p->slots[at] = old[i];
  }
  table_free(old, had * sizeof(uint64_t));
}

/* At most four slots of five are taken. */
void store_make_room(StateStore *s, guint part, guint more) {
  Part *p = &s->parts[part];
  uint64_t wanted = ((uint64_t)p->used + more) * 5 / 4 + 8;
  if (wanted > p->capacity) rehash(p, (uint32_t)MAX(wanted, (uint64_t)p->capacity * 3 / 2));
}

void store_claim(StateStore *s, Candidate *c) {
  Part *p = &s->parts[store_part(c->hash)];
  uint64_t buffer[s->key_words];
  c->slot = find_slot(s, p, c, key_of(s, c->vector, buffer));
  c->fresh = p->slots[c->slot] == 0;
  if (!c->fresh) return;
  g_ptr_array_add(p->claims, c);
  p->slots[c->slot] = (uint64_t)tag_of(c->hash) << 32 | ((CLAIM | (p->claims->len - 1)) + 1);
  p->used++;
}

static void add_blocks(StateStore *s) {
  g_ptr_array_add(s->keys, g_new(uint64_t, (gsize)BLOCK * s->key_words));
  g_ptr_array_add(s->parents, g_new(uint32_t, BLOCK));
  g_ptr_array_add(s->links, g_new(uint16_t, BLOCK));
}

uint32_t store_settle(StateStore *s, const Candidate *c) {
  g_assert(c->fresh && s->n < STORE_STATES_MAX);
  if (s->n >> BLOCK_LOG == s->keys->len) add_blocks(s);
  uint64_t buffer[s->key_words];
  if (s->kind == STORE_COLLAPSE) groups_key_new(s, c->vector, buffer);
  const uint64_t *key = s->kind == STORE_COLLAPSE ? buffer : key_of(s, c->vector, buffer);
  memcpy(key_at(s, s->n), key, s->key_words * sizeof *key);
  ((uint32_t *)s->parents->pdata[s->n >> BLOCK_LOG])[s->n & (BLOCK - 1)] = c->parent;
  ((uint16_t *)s->links->pdata[s->n >> BLOCK_LOG])[s->n & (BLOCK - 1)] = c->link;
  s->parts[store_part(c->hash)].slots[c->slot] = (uint64_t)tag_of(c->hash) << 32 | (s->n + 1);
  return s->n++;
}

void store_wave_over(StateStore *s) {
  for (guint i = 0; i < STORE_PARTS; i++) g_ptr_array_set_size(s->parts[i].claims, 0);
}

uint32_t store_add(StateStore *s, const uint64_t *vector, uint64_t hash, uint32_t parent, uint16_t link) {
  Candidate c = {.hash = hash, .vector = vector, .parent = parent, .link = link};
  if (s->kind == STORE_BITSTATE) return bits_add(s, c.hash);
  store_make_room(s, store_part(c.hash), 1);
  store_claim(s, &c);
  uint32_t number = c.fresh ? store_settle(s, &c) : STORE_NONE;
  g_ptr_array_set_size(s->parts[store_part(c.hash)].claims, 0);
  return number;
}

/* ---- reading ---- */

uint32_t store_states(const StateStore *s) {
  return s->n;
}
const uint64_t *store_vector(const StateStore *s, uint32_t state) {
  g_assert(s->kind == STORE_FULL && state < s->n);
  return key_at(s, state);
}
uint32_t store_parent(const StateStore *s, uint32_t state) {
  return ((const uint32_t *)s->parents->pdata[state >> BLOCK_LOG])[state & (BLOCK - 1)];
}
uint16_t store_link(const StateStore *s, uint32_t state) {
  return ((const uint16_t *)s->links->pdata[state >> BLOCK_LOG])[state & (BLOCK - 1)];
}
bool store_exact(const StateStore *s) {
  return s->kind == STORE_FULL || s->kind == STORE_COLLAPSE;
}

void store_convert(StateStore *s, guint words, void (*convert)(const void *data, const uint64_t *in, uint64_t *out),
                   const void *data) {
  g_assert(s->kind == STORE_FULL);
  GPtrArray *old = s->keys;
  guint old_words = s->words;
  s->keys = g_ptr_array_new_with_free_func(g_free);
  s->words = s->key_words = words;
  for (guint i = 0; i < STORE_PARTS; i++)
    if (s->parts[i].capacity) memset(s->parts[i].slots, 0, s->parts[i].capacity * sizeof(uint64_t));
  for (guint i = 0; i < STORE_PARTS; i++) s->parts[i].used = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    if (i >> BLOCK_LOG == s->keys->len) g_ptr_array_add(s->keys, g_new(uint64_t, (gsize)BLOCK * words));
    uint64_t *key = key_at(s, i);
    convert(data, (const uint64_t *)old->pdata[i >> BLOCK_LOG] + (size_t)(i & (BLOCK - 1)) * old_words, key);
    uint64_t hash = store_hash(s, key);
    store_make_room(s, store_part(hash), 1);
    Part *p = &s->parts[store_part(hash)];
    Candidate c = {.hash = hash, .vector = key};
    p->slots[find_slot(s, p, &c, key)] = (uint64_t)tag_of(hash) << 32 | (i + 1);
    p->used++;
  }
  g_ptr_array_unref(old);
}

size_t store_bytes(const StateStore *s) {
  if (s->kind == STORE_BITSTATE) return ((size_t)1 << s->bits_log2) / 8;
  size_t bytes = (size_t)s->n * (s->key_words * sizeof(uint64_t) + sizeof(uint32_t) + sizeof(uint16_t));
  for (guint i = 0; i < STORE_PARTS; i++) bytes += (size_t)s->parts[i].capacity * sizeof(uint64_t);
  return bytes + groups_bytes(s);
}

double store_omission(const StateStore *s) {
  if (store_exact(s)) return 0;
  double n = s->n;
  if (s->kind == STORE_HASH128) return n * n / 0x1p129;
  double fill = (double)s->bits_set / (double)((uint64_t)1 << s->bits_log2);
  return fill * fill * fill; /* BITS_A_STATE times */
}

const char *store_word(StoreKind kind) {
  static const char *const words[] = {"full", "collapse", "hash128", "bitstate"};
  return words[kind];
}
