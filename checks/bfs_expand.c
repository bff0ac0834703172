/* bfs_expand.c - what follows from the states of a chunk. First all successors are made, then all are looked up, so
 * that each part of a look-up can be asked of memory some way ahead. */
#include "checks/bfs.h"

void bfs_add_broken(void *expander, gint check, const char *why) {
  Expander *e = expander;
  Broken br = {check, e->parent, e->link, e->vector, g_strdup(why)};
  g_array_append_val(e->chunk->broken, br);
}

static void make_room(const Bfs *b, Chunk *c) {
  c->room = MAX(256, c->room * 2);
  c->successors = g_renew(Successor, c->successors, c->room);
  c->vectors = g_renew(uint64_t, c->vectors, (gsize)c->room * b->words);
}

/* The state that the last move led to; its parent stands in the arena again. */
static void keep_successor(Expander *e, guint move, guint combo) {
  Worker *k = e->k;
  Chunk *c = e->chunk;
  if (c->n == c->room) make_room(e->b, c);
  uint64_t *vector = c->vectors + (size_t)c->n * e->b->words;
  if (!vector_stand_leave(k->stand, vector, k->gaps)) return;
  bool fits = combo < COMBOS && move < LINK_LOST / COMBOS;
  Successor *s = &c->successors[c->n++];
  *s = (Successor){.hash = store_hash(e->b->store, vector),
                   .marks = world_marks(k->w),
                   .parent = e->parent,
                   .link = fits ? (uint16_t)(move * COMBOS + combo) : LINK_LOST};
  store_prefetch(e->b->store, s->hash);
}

/* The time is over: what is left of the wave is not expanded. */
static bool ends_here(Bfs *b, guint move) {
  if (move % 16 == 0 && search_late(b->o)) g_atomic_int_set(&b->late, 1);
  return g_atomic_int_get(&b->late);
}

static void expand(Expander *e, uint32_t state) {
  Worker *k = e->k;
  e->parent = state;
  e->link = 0;
  e->vector = NULL;
  vector_stand_at(k->stand, bfs_vector(e->b, state));
  worker_judge_rest(k, bfs_add_broken, e);
  const GArray *moves = stepper_moves(k->stepper);
  if (moves->len == 0) {
    g_autofree char *why = worker_stuck(k);
    if (why) bfs_add_broken(e, -1, why);
    return;
  }
  for (guint m = 0; m < moves->len && !ends_here(e->b, m); m++) {
    guint combo = 0;
    do {
      worker_go(k, g_array_index(moves, Move, m));
      keep_successor(e, m, combo++);
    } while (stepper_more(k->stepper));
  }
}

static void judge(Expander *e, const Successor *s, const uint64_t *vector) {
  vector_stand_at(e->k->stand, vector);
  world_marks_clear(e->k->w);
  world_mark(e->k->w, s->marks);
  e->parent = s->parent;
  e->link = s->link;
  e->vector = vector;
  worker_judge(e->k, bfs_add_broken, e);
}

/* What is new, or did something a check must know, is judged; what is new goes on. */
static void look_up(Expander *e, const Successor *s, const uint64_t *vector) {
  Candidate c = {.hash = s->hash, .vector = vector, .parent = s->parent, .link = s->link};
  bool known = store_seek(e->b->store, &c);
  if ((!known || s->marks) && e->b->o->n_checks) judge(e, s, vector);
  if (!known) g_array_append_val(e->chunk->candidates, c);
}

void bfs_expand_chunk(Expander *e, guint chunk) {
  Bfs *b = e->b;
  Chunk *c = e->chunk = &b->chunks[chunk];
  uint32_t from = b->from + chunk * CHUNK, to = MIN(b->to, from + CHUNK);
  vector_stand_start(e->k->stand, e->k->layout);
  for (uint32_t state = from; state < to && !ends_here(b, 0); state++) expand(e, state);
  for (guint j = 0; j < c->n; j++) store_prefetch_key(b->store, c->successors[j].hash);
  for (guint j = 0; j < c->n; j++) look_up(e, &c->successors[j], c->vectors + (size_t)j * b->words);
}
