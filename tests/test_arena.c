/* test_arena.c - bytes against a mirror kept by plain copying; the hash against its definition and against changes. */
#include "model/world/arena.h"
#include "model/world/rng.h"
#include "tests/harness.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

static gboolean same_hash(Hash128 a, Hash128 b) {
  return a.lo == b.lo && a.hi == b.hi;
}

static void allocates_zeroed_and_aligned(void) {
  g_autoptr(Arena) a = arena_new(1 << 20);
  uint8_t *last = NULL;
  for (size_t size = 1; size < 300; size += 7) {
    uint8_t *p = arena_alloc(a, size);
    expect_int((uintptr_t)p % (size >= 64 ? 64 : 16), ==, 0);
    for (size_t i = 0; i < size; i++) g_assert(p[i] == 0);
    memset(p, 0xff, size);
    expect(last == NULL || p > last);
    last = p;
    expect(arena_at(a, arena_offset(a, p)) == p);
    expect_int(arena_used(a), ==, (size_t)arena_offset(a, p) * 16 + size);
  }
}

static void uses_all_of_its_limit(void) {
  g_autoptr(Arena) a = arena_new(1000);
  memset(arena_alloc(a, 1000), 1, 1000);
  expect_int(arena_used(a), ==, 1000);
}

/* The signal that ends a child which allocates `size` of 1000 bytes. */
static int ends_by(size_t size) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    signal(SIGTRAP, SIG_DFL); /* g_error in GLib */
    if (!freopen("/dev/null", "w", stderr)) _exit(3);
    Arena *a = arena_new(1000);
    arena_alloc(a, size);
    arena_free(a); /* valgrind looks for leaks in the child, too */
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void asserts_its_limit(void) {
  expect_int(ends_by(1000), ==, 0);
  expect_int(ends_by(1001), !=, 0);
  expect_int(ends_by(SIZE_MAX), !=, 0);
}

static void restores_what_it_saved(void) {
  g_autoptr(Arena) a = arena_new(1 << 16);
  char *p = arena_alloc(a, 100);
  g_strlcpy(p, "before", 100);
  g_autoptr(ArenaSnapshot) s = arena_save(a, NULL);
  expect_int(arena_snapshot_bytes(s), ==, 100);
  expect_str(arena_snapshot_data(s), "before");
  g_strlcpy(p, "after", 100);
  memset(arena_alloc(a, 5000), 0xaa, 5000);
  arena_restore(a, s);
  expect_str(p, "before");
  expect_int(arena_used(a), ==, 100);
  const uint8_t *again = arena_alloc(a, 5000);
  int set = 0;
  for (int i = 0; i < 5000; i++) set += again[i] != 0;
  expect_int(set, ==, 0); /* given back, so zeroed once more */
}

static void saves_into_an_older_snapshot(void) {
  g_autoptr(Arena) a = arena_new(1 << 16);
  uint8_t *p = arena_alloc(a, 64);
  g_autoptr(ArenaSnapshot) empty = arena_save(a, NULL);
  *p = 7;
  ArenaSnapshot *s = arena_save(a, NULL);
  memset(arena_alloc(a, 9000), 3, 9000);
  s = arena_save(a, s); /* has to grow */
  arena_restore(a, empty);
  expect_int(*p, ==, 0);
  arena_restore(a, s);
  expect_int(*p, ==, 7);
  expect_int(arena_used(a), ==, 9064);
  arena_restore(a, empty);
  s = arena_save(a, s); /* smaller again */
  expect_int(arena_snapshot_bytes(s), ==, 64);
  arena_snapshot_free(s);
}

/* The definition, written down a second time: traces keep these hashes, so it may not drift. */
static Hash128 hash_by_definition(const Arena *a) {
  Hash128 sum = {0, 0};
  const uint8_t *bytes = arena_used(a) ? arena_at(a, 0) : NULL;
  for (size_t at = 0; at < arena_used(a); at += 1024) {
    XXH128_hash_t h = XXH3_128bits_withSeed(bytes + at, MIN((size_t)1024, arena_used(a) - at), at / 1024);
    sum.lo += h.low64;
    sum.hi += h.high64;
  }
  return sum;
}

static void hash_is_as_defined(void) {
  g_autoptr(Arena) a = arena_new(1 << 20);
  expect(same_hash(arena_hash(a), hash_by_definition(a)));
  for (size_t size = 1; size < 20000; size = size * 3 + 1) {
    uint8_t *p = arena_alloc(a, size);
    for (size_t i = 0; i < size; i++) p[i] = (uint8_t)(i * size);
    expect(same_hash(arena_hash(a), hash_by_definition(a)));
  }
}

/* Random writes, growth, saves and restores; the incremental hash is asked for only now and then. */
static void incremental_hash_follows_everything(void) {
  g_autoptr(Arena) a = arena_new(1 << 20);
  ArenaSnapshot *saved[8] = {NULL};
  Rng r;
  rng_init(&r, 1, "arena");
  uint8_t *base = arena_alloc(a, 3000);
  int wrong = 0;
  for (int i = 0; i < 20000; i++) {
    uint64_t k = rng_below(&r, 8), what = rng_below(&r, 100);
    if (what < 70) base[rng_below(&r, arena_used(a))] = (uint8_t)rng_next(&r);
    if (what >= 70 && what < 80) saved[k] = arena_save(a, saved[k]);
    if (what >= 80 && what < 90 && saved[k]) arena_restore(a, saved[k]);
    if (what >= 90 && what < 95 && arena_used(a) < 30000) arena_alloc(a, 1 + rng_below(&r, 3000));
    if (what >= 95) wrong += !same_hash(arena_hash(a), arena_hash_whole(a));
  }
  expect_int(wrong, ==, 0);
  for (int k = 0; k < 8; k++) arena_snapshot_free(saved[k]);
}

/* The same against a mirror of bytes: restore brings back each byte, also after other restores. */
static void restores_are_exact(void) {
  enum { SIZE = 5000, KEPT = 16 };
  g_autoptr(Arena) a = arena_new(1 << 16);
  uint8_t *p = arena_alloc(a, SIZE);
  static uint8_t mirror[KEPT][SIZE];
  ArenaSnapshot *saved[KEPT];
  Hash128 hash[KEPT];
  Rng r;
  rng_init(&r, 2, "arena");
  for (int k = 0; k < KEPT; k++) {
    for (int i = 0; i < 100; i++) p[rng_below(&r, SIZE)] = (uint8_t)rng_next(&r);
    saved[k] = arena_save(a, NULL);
    hash[k] = arena_hash(a);
    memcpy(mirror[k], p, SIZE);
  }
  for (int i = 0; i < 200; i++) {
    uint64_t k = rng_below(&r, KEPT);
    arena_restore(a, saved[k]);
    expect_int(memcmp(p, mirror[k], SIZE), ==, 0);
    expect(same_hash(arena_hash(a), hash[k]));
    p[rng_below(&r, SIZE)] ^= 1;
  }
  for (int k = 0; k < KEPT; k++) arena_snapshot_free(saved[k]);
}

static guint hash_key(gconstpointer h) {
  return (guint)((const Hash128 *)h)->lo;
}
static gboolean hash_equal(gconstpointer a, gconstpointer b) {
  return same_hash(*(const Hash128 *)a, *(const Hash128 *)b);
}

/* Each single bit of three blocks, the last one short, and each length of an arena of zeroes: no two hashes agree. */
static void near_states_have_different_hashes(void) {
  enum { SIZE = 2148 };
  g_autoptr(GHashTable) seen = g_hash_table_new_full(hash_key, hash_equal, g_free, NULL);
  g_autoptr(Arena) a = arena_new(1 << 16);
  uint8_t *p = arena_alloc(a, SIZE);
  for (int bit = 0; bit < SIZE * 8; bit++) {
    p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    Hash128 h = arena_hash(a);
    g_hash_table_add(seen, g_memdup2(&h, sizeof h));
    p[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  expect_int(g_hash_table_size(seen), ==, SIZE * 8);
  for (size_t size = 1; size <= 3000; size++) {
    g_autoptr(Arena) zero = arena_new(4096);
    arena_alloc(zero, size);
    Hash128 h = arena_hash_whole(zero);
    g_hash_table_add(seen, g_memdup2(&h, sizeof h));
  }
  expect_int(g_hash_table_size(seen), ==, SIZE * 8 + 3000);
}

static void exchanged_blocks_have_a_different_hash(void) {
  g_autoptr(Arena) a = arena_new(1 << 16), b = arena_new(1 << 16), c = arena_new(1 << 16);
  uint8_t *x = arena_alloc(a, 4096), *y = arena_alloc(b, 4096), *z = arena_alloc(c, 4096);
  memset(x, 1, 1024);
  memset(y + 1024, 1, 1024);
  memset(z, 1, 1024);
  expect(!same_hash(arena_hash(a), arena_hash(b)));
  expect(same_hash(arena_hash(a), arena_hash(c))); /* another arena, another address, the same bytes */
}

int main(void) {
  return suite_run("arena",
                   (const Case[]){{"allocates zeroed and aligned", allocates_zeroed_and_aligned},
                                  {"uses all of its limit", uses_all_of_its_limit},
                                  {"asserts its limit", asserts_its_limit},
                                  {"restores what it saved", restores_what_it_saved},
                                  {"saves into an older snapshot", saves_into_an_older_snapshot},
                                  {"hash is as defined", hash_is_as_defined},
                                  {"incremental hash follows everything", incremental_hash_follows_everything},
                                  {"restores are exact", restores_are_exact},
                                  {"near states have different hashes", near_states_have_different_hashes},
                                  {"exchanged blocks have a different hash", exchanged_blocks_have_a_different_hash},
                                  {0}});
}
