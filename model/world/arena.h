/* arena.h - the memory a model's state lives in: what can influence the future, and nothing else.
 *
 * One contiguous block that never moves while it lives, so that a snapshot is a copy and a restore puts everything
 * back, pointers included. What is kept here has an identity: a 128-bit hash. Costs, counters and outcomes belong in
 * the ledger (ledger.h), outside identity. Models keep ids and offsets here, not pointers: an address would make
 * the hash depend on the machine. Single-threaded; searches on two cores use two arenas. */
#pragma once
#include <glib.h>
#include <stdint.h>

typedef struct Arena Arena;
typedef struct ArenaSnapshot ArenaSnapshot;
typedef struct {
  uint64_t lo, hi;
} Hash128;

/* An arena that may grow to `limit` bytes (address space is reserved, memory is used as touched). Free with
 * arena_free. */
Arena *arena_new(size_t limit);
void arena_free(Arena *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Arena, arena_free)

/* `size` zeroed bytes, aligned to 64 when size >= 64, else to 16; they live as long as the arena. Asserts when the
 * limit is passed: a model sizes its arena from its configuration, and the reader of scenario files refuses what does
 * not fit. */
void *arena_alloc(Arena *a, size_t size);
uint32_t arena_offset(const Arena *a, const void *p); /* of memory handed out by it; in units of 16 bytes */
void *arena_at(const Arena *a, uint32_t offset);      /* inverse of arena_offset */
size_t arena_used(const Arena *a);

/* A copy of all that is in use now; `into` (may be NULL) is reused. Free with arena_snapshot_free.
 * Restoring also gives back what was allocated after the snapshot. */
ArenaSnapshot *arena_save(const Arena *a, ArenaSnapshot *into);
void arena_restore(Arena *a, const ArenaSnapshot *s);
void arena_snapshot_free(ArenaSnapshot *s);
size_t arena_snapshot_bytes(const ArenaSnapshot *s);
const void *arena_snapshot_data(const ArenaSnapshot *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArenaSnapshot, arena_snapshot_free)

/* The identity of the bytes in use, incremental: only blocks changed since the last call are hashed anew (each is
 * compared with a shadow copy, so nobody has to say what he wrote). Equal to arena_hash_whole at all times. The same
 * on every little- or big-endian 64-bit machine as far as the model writes the same bytes. */
Hash128 arena_hash(Arena *a);
Hash128 arena_hash_whole(const Arena *a);

/* For vector.h: the bytes as 64-bit words, and how many bytes are in use. Whoever lowers the latter clears what he
 * gives back. */
uint64_t *arena_words(const Arena *a);
void arena_set_used(Arena *a, size_t used);
