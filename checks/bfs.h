/* bfs.h - what the files of the breadth-first search share. Private to checks/search_bfs.c and checks/bfs_*.c. */
#pragma once
#include "checks/search_parts.h"

enum { WAVE = 2048, CHUNK = 32, CHUNKS = WAVE / CHUNK, COMBOS = 64, LINK_LOST = 0xffff };

typedef struct {
  gint check; /* -1: deadlock */
  uint32_t parent;
  uint16_t link;
  const uint64_t *vector; /* of the broken state; NULL: the parent, where nothing goes on */
  char *why;
} Broken;

/* A successor, before it is looked up. */
typedef struct {
  uint64_t hash, marks;
  uint32_t parent;
  uint16_t link;
} Successor;

/* What a chunk of the frontier led to. */
typedef struct {
  GArray *candidates; /* of Candidate */
  GArray *broken;     /* of Broken */
  Successor *successors;
  uint64_t *vectors; /* of the successors, one after the other */
  guint n, room;     /* of both */
} Chunk;

typedef enum { TASK_EXPAND, TASK_CLAIM, TASK_END } Task;

typedef struct Bfs Bfs;
typedef struct {
  Bfs *b;
  Worker *k;
  Chunk *chunk; /* being worked off */
  uint32_t parent;
  uint16_t link;
  const uint64_t *vector;
} Expander;

struct Bfs {
  Crew *crew;
  const SearchOptions *o;
  SearchResult *r;
  StateStore *store;
  GPtrArray *frontier; /* hash128, collapse: blocks of vectors, by state number; full: the store has them */
  guint words;
  uint32_t from, to; /* of the wave */
  Chunk chunks[CHUNKS];
  Task task;
  gint late;          /* the time was over within a wave */
  gint next, running; /* next chunk or part; workers that have not ended this task */
  guint round;
  GMutex lock;
  GCond start, ended;
};

static inline guint chunk_count(const Bfs *b) {
  return (b->to - b->from + CHUNK - 1) / CHUNK;
}
#define EACH_CANDIDATE(b, c)                                                                                           \
  for (guint i_ = 0, n_ = chunk_count(b); i_ < n_; i_++)                                                               \
    for (Candidate *c = (Candidate *)(void *)(b)->chunks[i_].candidates->data,                                         \
                   *end_ = c + (b)->chunks[i_].candidates->len;                                                        \
         c < end_; c++)

/* ---- bfs_frontier.c: vectors of states that are to be expanded; the store of kind full has them itself ---- */
const uint64_t *bfs_vector(const Bfs *b, uint32_t state);
void bfs_keep_vector(Bfs *b, uint32_t state, const uint64_t *vector);
void bfs_forget_vectors(Bfs *b, uint32_t before);

/* ---- bfs_expand.c ---- */
void bfs_expand_chunk(Expander *e, guint chunk); /* the store is only read */
void bfs_add_broken(void *expander, gint check, const char *why);

/* ---- bfs_crew.c ---- */
gpointer bfs_helper_main(gpointer expander);           /* a thread of its own, until TASK_END */
void bfs_together(Bfs *b, Expander *first, Task task); /* everybody takes part, the caller as the first worker */

/* ---- bfs_path.c: from the first state to `state`, then the branch to the broken one (NULL: there is none). NULL: a
 * link does not lead where it should, which only a store that takes states for others can make. ---- */
GArray *bfs_path_to(Bfs *b, uint32_t state, const Broken *last);
