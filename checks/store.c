/* store.c - see store.h.
 *
 * A part is an open-addressed table of 8-byte slots: 32 bits of hash, and a state's number + 1 (0: free). A slot's home
 * is those 32 bits scaled to the capacity, so a table is rehashed by one walk, without reading a vector. While a wave
 * is claimed, numbers with the top bit set stand for candidates. */
#include "checks/store.h"
#include <string.h>
#include <sys/mman.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { BLOCK_LOG = 14, BLOCK = 1 << BLOCK_LOG, GROUP_WORDS = 4, BITS_A_STATE = 3, BITS_LINE_LOG = 9 };
#define CLAIM 0x80000000u

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

/* ---- large tables: read at random, so on huge pages if the system has them (a table's lines then cost a cache miss
 * each, and not a walk of the page table besides) ---- */

enum { HUGE_PAGE = 2 << 20 };

static size_t huge_bytes(size_t bytes) {
  return bytes >= HUGE_PAGE * 3 / 4 ? (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE : 0;
}

static void *table_new(size_t bytes) {
  size_t whole = huge_bytes(bytes);
  if (!whole) return g_malloc0(bytes);
  char *at = mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) g_error("limit: no memory for a table of %" G_GSIZE_FORMAT " bytes", bytes);
  size_t before = -(uintptr_t)at % HUGE_PAGE;
  if (before) munmap(at, before);
  if (before < HUGE_PAGE) munmap(at + before + whole, HUGE_PAGE - before);
  madvise(at + before, whole, MADV_HUGEPAGE);
  return at + before;
}

static void table_free(void *table, size_t bytes) {
  if (table && huge_bytes(bytes))
    munmap(table, huge_bytes(bytes));
  else
    g_free(table);
}

/* ---- keys ---- */

static uint64_t hash_words(const uint64_t *words, guint n, uint64_t seed) {
  return XXH3_64bits_withSeed(words, n * sizeof *words, seed);
}

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

/* The key of a vector; false: it has a group never seen, so no state of the store is equal to it. */
static bool collapse(const StateStore *s, const uint64_t *vector, uint64_t *key) {
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

static void collapse_new(StateStore *s, const uint64_t *vector, uint64_t *key) {
  uint64_t words[GROUP_WORDS];
  memset(key, 0, s->key_words * sizeof *key);
  for (guint g = 0; g < s->n_groups; g++) {
    group_words(s, g, vector, words);
    key[g / 2] |= (uint64_t)group_intern(&s->groups[g], words) << (g % 2 * 32);
  }
}

/* The key to compare with; `buffer` has room for it. NULL: no state can be equal. */
static const uint64_t *key_of(const StateStore *s, const uint64_t *vector, uint64_t *buffer) {
  if (s->kind == STORE_FULL) return vector;
  if (s->kind == STORE_COLLAPSE) return collapse(s, vector, buffer) ? buffer : NULL;
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

static void collapse_init(StateStore *s) {
  s->n_groups = (s->words + GROUP_WORDS - 1) / GROUP_WORDS;
  s->key_words = (s->n_groups + 1) / 2;
  s->groups = g_new0(Group, s->n_groups);
  for (guint i = 0; i < s->n_groups; i++) s->groups[i].values = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

StateStore *store_new(StoreKind kind, guint words, guint bits_log2) {
  StateStore *s = g_new0(StateStore, 1);
  s->kind = kind == STORE_COLLAPSE && words <= GROUP_WORDS ? STORE_FULL : kind; /* one group: nothing to share */
  s->words = words;
  s->key_words = s->kind == STORE_FULL ? words : 2;
  s->keys = g_ptr_array_new_with_free_func(g_free);
  s->parents = g_ptr_array_new_with_free_func(g_free);
  s->links = g_ptr_array_new_with_free_func(g_free);
  if (s->kind == STORE_COLLAPSE) collapse_init(s);
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
  for (guint i = 0; i < s->n_groups; i++) {
    g_array_unref(s->groups[i].values);
    g_free(s->groups[i].slots);
  }
  g_free(s->groups);
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

/* The bits of a state lie in one line of 512, so that asking for them is one access to memory; the line is named by the
 * hash's high bits, places in it by others of a second hash. */
static uint64_t *bits_line(const StateStore *s, uint64_t hash) {
  return s->bits + (hash >> (64 - (s->bits_log2 - BITS_LINE_LOG))) * (1 << (BITS_LINE_LOG - 6));
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

static uint64_t bits_places(uint64_t hash) {
  return hash_words(&hash, 1, 1);
}
static uint64_t *bits_word(uint64_t *line, uint64_t places, guint i, uint64_t *bit) {
  guint place = (guint)(places >> (i * BITS_LINE_LOG)) & ((1u << BITS_LINE_LOG) - 1);
  *bit = (uint64_t)1 << (place % 64);
  return &line[place / 64];
}

static bool bits_have(const StateStore *s, uint64_t hash) {
  uint64_t *line = bits_line(s, hash), places = bits_places(hash), bit;
  for (guint i = 0; i < BITS_A_STATE; i++)
    if (!(*bits_word(line, places, i, &bit) & bit)) return false;
  return true;
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
  if (s->kind == STORE_COLLAPSE) collapse_new(s, c->vector, buffer);
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

static uint32_t bits_add(StateStore *s, uint64_t hash) {
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

static size_t groups_bytes(const StateStore *s) {
  size_t bytes = 0;
  for (guint i = 0; i < s->n_groups; i++)
    bytes += s->groups[i].values->len * sizeof(uint64_t) + s->groups[i].capacity * sizeof(uint32_t);
  return bytes;
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
  return fill * fill * fill;
}

const char *store_word(StoreKind kind) {
  static const char *const words[] = {"full", "collapse", "hash128", "bitstate"};
  return words[kind];
}
