/* search_bfs.c - breadth-first: the first way found to break a check is a shortest one.
 *
 * States are numbered in the order found; the frontier is the range of numbers that has not been expanded. It is worked
 * off in waves of WAVE states within one level. A wave has three parts: all workers expand chunks of it and look up
 * what follows in the store, which nobody changes meanwhile; then they claim what is new, each worker other parts of
 * the store; then the new states are numbered, in the order of their parents and branches. So numbers, counts and
 * findings do not depend on how many workers there were or who was faster: a finding is the one of the least parent. */
#include "checks/bfs.h"
#include "checks/liveness.h"

/* ---- a wave ---- */

static void chunk_clear(Chunk *c) {
  for (guint i = 0; i < c->broken->len; i++) g_free(g_array_index(c->broken, Broken, i).why);
  g_array_set_size(c->broken, 0);
  g_array_set_size(c->candidates, 0);
  c->n = 0;
}

static void clear_wave(Bfs *b) {
  for (guint i = 0; i < CHUNKS; i++) chunk_clear(&b->chunks[i]);
}

static void take_findings(Bfs *b) {
  for (guint i = 0, n = chunk_count(b); i < n; i++)
    for (guint j = 0; j < b->chunks[i].broken->len; j++) {
      const Broken *br = &g_array_index(b->chunks[i].broken, Broken, j);
      if (!search_wants(b->r, b->o, br->check)) continue;
      GArray *path = bfs_path_to(b, br->parent, br->vector ? br : NULL);
      if (path) search_add_finding(b->r, b->o, &b->crew->workers[0], br->check, br->why, path);
    }
}

/* Numbers the new states, up to the limit; false: it was reached. */
static bool settle(Bfs *b) {
  EACH_CANDIDATE(b, c) {
    if (!c->fresh) continue;
    if (b->o->max_states && store_states(b->store) >= b->o->max_states) return false;
    bfs_keep_vector(b, store_settle(b->store, c), c->vector);
  }
  return true;
}

static void convert(const void *data, const uint64_t *in, uint64_t *out) {
  const VectorLayout *const *layouts = data;
  vector_convert(layouts[0], layouts[1], in, out);
}

static void store_first(Bfs *b) {
  Worker *k = &b->crew->workers[0];
  g_autofree uint64_t *vector = g_new0(uint64_t, b->words);
  vector_reset(k->layout, k->arena);
  bool fits = vector_encode(k->layout, k->arena, vector);
  g_assert(fits);
  bfs_keep_vector(b, store_add(b->store, vector, store_hash(b->store, vector), 0, 0), vector);
}

/* A state had bits that the layout lacks. As long as vectors do not grow the store is good as it is; else it takes
 * longer ones, or, when it no longer has the vectors, the search starts again, which is said by false. */
static bool widen(Bfs *b) {
  g_autoptr(VectorLayout) old = crew_widen(b->crew);
  const VectorLayout *layouts[] = {old, b->crew->layout};
  if (vector_words(old) == vector_words(b->crew->layout)) return true;
  b->words = vector_words(b->crew->layout);
  for (guint i = 0; i < CHUNKS; i++) b->chunks[i].room = 0;
  if (b->o->store == STORE_FULL) {
    store_convert(b->store, b->words, convert, layouts);
    return true;
  }
  store_free(b->store);
  b->store = store_new(b->o->store, b->words, b->o->bits_log2);
  g_ptr_array_set_size(b->frontier, 0);
  store_first(b);
  return false;
}

/* ---- limits ---- */

static bool limit_reached(Bfs *b) {
  const SearchOptions *o = b->o;
  SearchStop *stop = &b->r->stop;
  if (o->interrupted && g_atomic_int_get(o->interrupted)) return *stop = STOP_INTERRUPTED, true;
  if (search_satisfied(b->r, o)) return *stop = STOP_FOUND, true;
  if (o->max_bytes && store_bytes(b->store) > o->max_bytes) return *stop = STOP_MEMORY, true;
  if (search_late(o)) return *stop = STOP_TIME, true;
  return false;
}

static void count(Bfs *b) {
  b->r->states = store_states(b->store);
  b->r->transitions = b->r->waits_limit = 0;
  for (guint i = 0; i < b->crew->n; i++) {
    b->r->transitions += b->crew->workers[i].transitions;
    b->r->waits_limit += b->crew->workers[i].waits_limit;
  }
  if (b->o->progress) b->o->progress(b->o->progress_data, b->r->states, b->r->transitions, b->r->depth);
}

/* What a worker had counted before a wave, in case it is made again. */
typedef struct {
  uint64_t transitions, waits_limit;
} Counts;

static Counts *counts_of(const Bfs *b) {
  Counts *c = g_new0(Counts, b->crew->n);
  for (guint i = 0; i < b->crew->n; i++)
    c[i] = (Counts){b->crew->workers[i].transitions, b->crew->workers[i].waits_limit};
  return c;
}

static void recount(Bfs *b, const Counts *c) {
  for (guint i = 0; i < b->crew->n; i++) {
    b->crew->workers[i].transitions = c[i].transitions;
    b->crew->workers[i].waits_limit = c[i].waits_limit;
  }
}

typedef enum { WAVE_DONE, WAVE_FULL, WAVE_RESTART, WAVE_LATE } WaveEnd;

static WaveEnd wave(Bfs *b, Expander *first, uint32_t from, uint32_t to) {
  g_autofree Counts *before = counts_of(b);
  b->from = from;
  b->to = to;
  for (;;) {
    clear_wave(b);
    bfs_together(b, first, TASK_EXPAND);
    if (b->late) return take_findings(b), WAVE_LATE;
    if (!crew_gaps(b->crew)) break;
    recount(b, before); /* the wave is made again with the wider layout */
    if (!widen(b)) return WAVE_RESTART;
  }
  bfs_together(b, first, TASK_CLAIM);
  bool all = settle(b);
  store_wave_over(b->store);
  take_findings(b);
  return all ? WAVE_DONE : WAVE_FULL;
}

static bool judge_first(Bfs *b, Expander *e) {
  e->chunk = &b->chunks[0];
  e->parent = 0;
  vector_reset(e->k->layout, e->k->arena);
  world_marks_clear(e->k->w);
  worker_judge(e->k, bfs_add_broken, e);
  for (guint i = 0; i < e->chunk->broken->len; i++) {
    const Broken *br = &g_array_index(e->chunk->broken, Broken, i);
    search_add_finding(b->r, b->o, e->k, br->check, br->why, g_array_new(FALSE, FALSE, sizeof(Branch)));
  }
  clear_wave(b);
  return search_satisfied(b->r, b->o);
}

static void restart(Bfs *b) {
  for (guint i = 0; i < b->crew->n; i++) b->crew->workers[i].transitions = b->crew->workers[i].waits_limit = 0;
  g_ptr_array_set_size(b->r->findings, 0);
  b->r->depth = 0;
}

/* Level by level: states [level, level_end) have depth r->depth. */
static void run_levels(Bfs *b, Expander *first) {
  if (judge_first(b, first)) {
    b->r->stop = STOP_FOUND;
    return;
  }
  for (uint32_t at = 0, level_end = 1; at < store_states(b->store);) {
    if (limit_reached(b)) return;
    if (b->o->max_depth && b->r->depth >= b->o->max_depth) {
      b->r->stop = STOP_DEPTH;
      return;
    }
    uint32_t to = MIN(level_end, at + WAVE);
    WaveEnd end = wave(b, first, at, to);
    if (end == WAVE_RESTART) {
      restart(b);
      at = 0, level_end = 1;
      continue;
    }
    at = to;
    count(b);
    bfs_forget_vectors(b, at);
    if (end == WAVE_FULL || end == WAVE_LATE) {
      b->r->stop = end == WAVE_FULL ? STOP_STATES : STOP_TIME;
      return;
    }
    if (at == level_end && level_end < store_states(b->store)) {
      level_end = store_states(b->store);
      b->r->depth++;
    }
  }
  b->r->stop = STOP_EXHAUSTED;
}

static void bfs_init(Bfs *b, Crew *c, const SearchOptions *o, SearchResult *r) {
  *b = (Bfs){.crew = c, .o = o, .r = r, .words = vector_words(c->layout)};
  b->store = store_new(o->store, b->words, o->bits_log2);
  b->frontier = g_ptr_array_new_with_free_func(g_free);
  g_mutex_init(&b->lock);
  g_cond_init(&b->start);
  g_cond_init(&b->ended);
  for (guint i = 0; i < CHUNKS; i++) {
    b->chunks[i] = (Chunk){.candidates = g_array_new(FALSE, FALSE, sizeof(Candidate)),
                           .broken = g_array_new(FALSE, FALSE, sizeof(Broken))};
  }
}

static void bfs_clear(Bfs *b) {
  clear_wave(b);
  for (guint i = 0; i < CHUNKS; i++) {
    g_array_unref(b->chunks[i].candidates);
    g_free(b->chunks[i].successors);
    g_free(b->chunks[i].vectors);
    g_array_unref(b->chunks[i].broken);
  }
  store_free(b->store);
  g_ptr_array_unref(b->frontier);
  g_mutex_clear(&b->lock);
  g_cond_clear(&b->start);
  g_cond_clear(&b->ended);
}

static GArray *way_to(void *data, uint32_t state) {
  return bfs_path_to(data, state, NULL);
}

/* Rounds are looked for in the states of an exact store that gives them back. */
static void look_for_rounds(Bfs *b) {
  if (b->r->stop != STOP_EXHAUSTED || b->o->store != STORE_FULL || !search_has_liveness(b->o)) return;
  LivenessSearch l = {.crew = b->crew, .o = b->o, .r = b->r, .store = b->store, .path_to = way_to, .data = b};
  liveness_search(&l);
}

void search_bfs(Crew *c, const SearchOptions *o, SearchResult *r) {
  Bfs b;
  bfs_init(&b, c, o, r);
  g_autofree Expander *e = g_new0(Expander, c->n);
  g_autofree GThread **threads = g_new0(GThread *, c->n);
  for (guint i = 0; i < c->n; i++) e[i] = (Expander){.b = &b, .k = &c->workers[i]};
  for (guint i = 1; i < c->n; i++) threads[i] = g_thread_new("explore", bfs_helper_main, &e[i]);
  store_first(&b);
  run_levels(&b, &e[0]);
  count(&b);
  look_for_rounds(&b);
  bfs_together(&b, &e[0], TASK_END);
  for (guint i = 1; i < c->n; i++) g_thread_join(threads[i]);
  r->store_bytes = store_bytes(b.store);
  r->omission = store_omission(b.store);
  r->exhausted = r->stop == STOP_EXHAUSTED && store_exact(b.store);
  bfs_clear(&b);
}
