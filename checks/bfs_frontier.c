/* bfs_frontier.c - see bfs.h. */
#include "checks/bfs.h"
#include <string.h>

enum { FRONTIER_LOG = 12, FRONTIER_BLOCK = 1 << FRONTIER_LOG };

static uint64_t *kept_vector(const Bfs *b, uint32_t state) {
  return (uint64_t *)b->frontier->pdata[state >> FRONTIER_LOG] + (size_t)(state & (FRONTIER_BLOCK - 1)) * b->words;
}

const uint64_t *bfs_vector(const Bfs *b, uint32_t state) {
  return b->o->store == STORE_FULL ? store_vector(b->store, state) : kept_vector(b, state);
}

void bfs_keep_vector(Bfs *b, uint32_t state, const uint64_t *vector) {
  if (b->o->store == STORE_FULL) return;
  while (state >> FRONTIER_LOG >= b->frontier->len)
    g_ptr_array_add(b->frontier, g_new(uint64_t, (gsize)FRONTIER_BLOCK * b->words));
  memcpy(kept_vector(b, state), vector, b->words * sizeof *vector);
}

void bfs_forget_vectors(Bfs *b, uint32_t before) {
  if (b->o->store == STORE_FULL) return;
  for (guint i = 0; i < before >> FRONTIER_LOG; i++) g_clear_pointer(&b->frontier->pdata[i], g_free);
}
