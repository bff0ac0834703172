/* arena.c - one reserved mapping, grown by moving `used` upwards.
 *
 * Bytes from `used` to the limit are zero at all times, so that arena_alloc has nothing to clear; arena_restore keeps
 * that by clearing what it gives back.
 *
 * The hash is the sum over all blocks of XXH3-128 seeded with the block's index. A sum, so that one block can be
 * exchanged without the others; seeded, so that equal blocks at different places differ; the last block's length is
 * part of its XXH3. A shadow keeps the bytes of the last arena_hash, and only what differs from it is hashed. */
#include "model/world/arena.h"
#include <string.h>
#include <sys/mman.h>
#define XXH_INLINE_ALL /* short inputs: a call costs as much as the hash */
#include <xxhash.h>

enum {
  UNIT = 16, /* of arena_offset */
  LINE = 64,
  SLACK = 128, /* behind the limit: vector.c and stand.c compare blocks of words, the last of which may end there */
  BLOCK = 1024 /* of the hash: comparing is by the kilobyte, a changed word costs one XXH3 of this (about 60 ns) */
};

struct Arena {
  uint8_t *base;
  size_t limit, used;
  uint8_t *shadow;    /* NULL before the first arena_hash; then `limit` bytes, and `blocks` behind them */
  Hash128 *blocks;    /* of each block of the shadow */
  size_t shadow_used; /* `used` at the last arena_hash */
  Hash128 sum;        /* of blocks[], up to shadow_used */
};

struct ArenaSnapshot {
  size_t bytes, capacity;
  uint8_t data[] __attribute__((aligned(UNIT)));
};

static size_t round_up(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

/* Zeroed address space; pages get memory when they are first written. */
static void *reserve(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) g_error("arena: no address space for %" G_GSIZE_FORMAT " bytes", bytes);
  return p;
}

static size_t block_count(size_t used) {
  return (used + BLOCK - 1) / BLOCK;
}
static size_t block_length(size_t used, size_t i) {
  return MIN(used - i * BLOCK, (size_t)BLOCK);
}
static size_t shadow_bytes(size_t limit) {
  return round_up(limit, LINE) + block_count(limit) * sizeof(Hash128);
}

Arena *arena_new(size_t limit) {
  g_assert(limit > 0 && limit / UNIT <= UINT32_MAX); /* arena_offset is 32 bits of 16-byte units: 64 GiB */
  Arena *a = g_new0(Arena, 1);
  a->limit = limit;
  a->base = reserve(limit + SLACK);
  return a;
}

void arena_free(Arena *a) {
  if (!a) return;
  munmap(a->base, a->limit + SLACK);
  if (a->shadow) munmap(a->shadow, shadow_bytes(a->limit));
  g_free(a);
}

void *arena_alloc(Arena *a, size_t size) {
  g_assert(size > 0);
  size_t at = round_up(a->used, size >= LINE ? LINE : UNIT);
  if (at > a->limit || size > a->limit - at)
    g_error("arena: %" G_GSIZE_FORMAT " bytes more than %" G_GSIZE_FORMAT " in use pass the limit of %" G_GSIZE_FORMAT,
            size, a->used, a->limit);
  a->used = at + size;
  return a->base + at;
}

uint32_t arena_offset(const Arena *a, const void *p) {
  size_t at = (size_t)((const uint8_t *)p - a->base);
  g_assert(at < a->used && at % UNIT == 0);
  return (uint32_t)(at / UNIT);
}

void *arena_at(const Arena *a, uint32_t offset) {
  size_t at = (size_t)offset * UNIT;
  g_assert(at < a->used);
  return a->base + at;
}

size_t arena_used(const Arena *a) {
  return a->used;
}

uint64_t *arena_words(const Arena *a) {
  return (uint64_t *)(void *)a->base;
}
void arena_set_used(Arena *a, size_t used) {
  g_assert(used <= a->limit);
  a->used = used;
}

ArenaSnapshot *arena_save(const Arena *a, ArenaSnapshot *into) {
  if (!into || into->capacity < a->used) {
    g_free(into); /* not g_realloc: the old bytes are not worth copying */
    into = g_malloc(sizeof *into + a->used);
    into->capacity = a->used;
  }
  into->bytes = a->used;
  memcpy(into->data, a->base, a->used);
  return into;
}

void arena_restore(Arena *a, const ArenaSnapshot *s) {
  g_assert(s->bytes <= a->limit);
  if (a->used > s->bytes) memset(a->base + s->bytes, 0, a->used - s->bytes);
  memcpy(a->base, s->data, s->bytes);
  a->used = s->bytes;
}

void arena_snapshot_free(ArenaSnapshot *s) {
  g_free(s);
}
size_t arena_snapshot_bytes(const ArenaSnapshot *s) {
  return s->bytes;
}
const void *arena_snapshot_data(const ArenaSnapshot *s) {
  return s->data;
}

static Hash128 hash_block(const uint8_t *bytes, size_t length, size_t index) {
  XXH128_hash_t h = XXH3_128bits_withSeed(bytes, length, index);
  return (Hash128){.lo = h.low64, .hi = h.high64};
}

static Hash128 hash_plus(Hash128 a, Hash128 b) {
  return (Hash128){.lo = a.lo + b.lo, .hi = a.hi + b.hi};
}
static Hash128 hash_minus(Hash128 a, Hash128 b) {
  return (Hash128){.lo = a.lo - b.lo, .hi = a.hi - b.hi};
}

/* Block i, `length` bytes long now, differs from the shadow's, which had `was` bytes (0: there was none). */
static void block_renew(Arena *a, size_t i, size_t length, size_t was) {
  Hash128 h = hash_block(a->base + i * BLOCK, length, i);
  memcpy(a->shadow + i * BLOCK, a->base + i * BLOCK, length);
  if (was) a->sum = hash_minus(a->sum, a->blocks[i]);
  a->sum = hash_plus(a->sum, h);
  a->blocks[i] = h;
}

static void shadow_ensure(Arena *a) {
  if (a->shadow) return;
  a->shadow = reserve(shadow_bytes(a->limit));
  a->blocks = (Hash128 *)(void *)(a->shadow + round_up(a->limit, LINE));
}

Hash128 arena_hash(Arena *a) {
  if (a->used <= BLOCK) return arena_hash_whole(a); /* comparing first would only add to it; the shadow stays valid */
  shadow_ensure(a);
  size_t n = block_count(a->used), had = block_count(a->shadow_used);
  for (size_t i = n; i < had; i++) a->sum = hash_minus(a->sum, a->blocks[i]);
  for (size_t i = 0; i < n; i++) {
    size_t length = block_length(a->used, i), was = i < had ? block_length(a->shadow_used, i) : 0;
    if (length != was || memcmp(a->base + i * BLOCK, a->shadow + i * BLOCK, length) != 0)
      block_renew(a, i, length, was);
  }
  a->shadow_used = a->used;
  return a->sum;
}

Hash128 arena_hash_whole(const Arena *a) {
  Hash128 sum = {0, 0};
  for (size_t i = 0, n = block_count(a->used); i < n; i++)
    sum = hash_plus(sum, hash_block(a->base + i * BLOCK, block_length(a->used, i), i));
  return sum;
}
