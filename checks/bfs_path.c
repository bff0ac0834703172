/* bfs_path.c - see bfs.h. */
#include "checks/bfs.h"
#include <string.h>

/* A state to stand at: by its number, or, not yet numbered, by its vector. */
typedef struct {
  uint32_t number;
  const uint64_t *vector;
} Target;

static bool stands_at(const Bfs *b, const Worker *k, Target t) {
  g_autofree uint64_t *here = g_new(uint64_t, b->words);
  if (!vector_encode(k->layout, k->arena, here)) return false;
  if (t.vector) return memcmp(here, t.vector, b->words * sizeof *here) == 0;
  return store_find(b->store, here) == t.number;
}

/* Makes the branch that a link stands for; a lost link is found again by where it leads. */
static bool follow_link(Bfs *b, Worker *k, uint16_t link, Target t) {
  g_autofree uint64_t *here = g_new(uint64_t, b->words);
  bool fits = vector_encode(k->layout, k->arena, here);
  g_assert(fits);
  g_autoptr(GArray) moves = g_array_copy((GArray *)stepper_moves(k->stepper));
  for (guint m = 0; m < moves->len; m++) {
    if (link != LINK_LOST && m != link / COMBOS) continue;
    guint combo = 0;
    do {
      vector_decode(k->layout, k->arena, here);
      stepper_go(k->stepper, g_array_index(moves, Move, m));
      if (link == LINK_LOST ? stands_at(b, k, t) : combo == link % COMBOS) return true;
      combo++;
    } while (stepper_more(k->stepper));
  }
  return false;
}

GArray *bfs_path_to(Bfs *b, uint32_t state, const Broken *last) {
  g_autoptr(GArray) chain = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t s = state; s != 0; s = store_parent(b->store, s)) g_array_append_val(chain, s);
  GArray *path = g_array_new(FALSE, FALSE, sizeof(Branch));
  Worker *k = &b->crew->workers[0];
  vector_reset(k->layout, k->arena);
  bool ok = true;
  for (guint i = chain->len; ok && i-- > 0;) {
    uint32_t next = g_array_index(chain, uint32_t, i);
    ok = follow_link(b, k, store_link(b->store, next), (Target){.number = next});
    if (ok) g_array_append_vals(path, stepper_branch(k->stepper), 1);
  }
  if (ok && last) {
    ok = follow_link(b, k, last->link, (Target){.vector = last->vector});
    if (ok) g_array_append_vals(path, stepper_branch(k->stepper), 1);
  }
  if (ok) return path;
  g_array_unref(path);
  return NULL;
}
