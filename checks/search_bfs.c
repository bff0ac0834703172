/* search_bfs.c - breadth-first: the first way found to break a check is a shortest one.
 *
 * States are numbered in the order found; the frontier is the range of numbers that has not been expanded. It is worked
 * off in waves of WAVE states within one level. A wave has three parts: all workers expand chunks of it and look up
 * what follows in the store, which nobody changes meanwhile; then they claim what is new, each worker other parts of
 * the store; then the new states are numbered, in the order of their parents and branches. So numbers, counts and
 * findings do not depend on how many workers there were or who was faster: a finding is the one of the least parent. */
#include "checks/liveness.h"
#include <string.h>

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

typedef struct {
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
} Bfs;

typedef struct {
  Bfs *b;
  Worker *k;
  Chunk *chunk;
  uint64_t *saved; /* the parent, to be taken up again */
  uint32_t parent;
  uint16_t link;
  const uint64_t *vector;
} Expander;

/* ---- vectors of the frontier ---- */

enum { FRONTIER_LOG = 12, FRONTIER_BLOCK = 1 << FRONTIER_LOG };

static uint64_t *kept_vector(const Bfs *b, uint32_t state) {
  return (uint64_t *)b->frontier->pdata[state >> FRONTIER_LOG] + (size_t)(state & (FRONTIER_BLOCK - 1)) * b->words;
}

static const uint64_t *vector_of(const Bfs *b, uint32_t state) {
  return b->o->store == STORE_FULL ? store_vector(b->store, state) : kept_vector(b, state);
}

static void keep_vector(Bfs *b, uint32_t state, const uint64_t *vector) {
  if (b->o->store == STORE_FULL) return;
  while (state >> FRONTIER_LOG >= b->frontier->len)
    g_ptr_array_add(b->frontier, g_new(uint64_t, (gsize)FRONTIER_BLOCK * b->words));
  memcpy(kept_vector(b, state), vector, b->words * sizeof *vector);
}

static void forget_vectors(Bfs *b, uint32_t before) {
  if (b->o->store == STORE_FULL) return;
  for (guint i = 0; i < before >> FRONTIER_LOG; i++) g_clear_pointer(&b->frontier->pdata[i], g_free);
}

/* ---- expanding: workers only read the store here ---- */

static void add_broken(void *data, gint check, const char *why) {
  Expander *e = data;
  Broken br = {check, e->parent, e->link, e->vector, g_strdup(why)};
  g_array_append_val(e->chunk->broken, br);
}

static uint64_t *room_for_vector(const Bfs *b, Chunk *c) {
  if (c->n == c->room) {
    c->room = MAX(256, c->room * 2);
    c->successors = g_renew(Successor, c->successors, c->room);
    c->vectors = g_renew(uint64_t, c->vectors, (gsize)c->room * b->words);
  }
  return c->vectors + (size_t)c->n * b->words;
}

static void keep_successor(Expander *e, guint move, guint combo) {
  Worker *k = e->k;
  Chunk *c = e->chunk;
  uint64_t *vector = room_for_vector(e->b, c);
  if (!vector_encode(k->layout, k->arena, vector)) {
    vector_gaps_note(k->gaps, k->layout, k->arena);
    vector_reset(k->layout, k->arena);
    return;
  }
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
  vector_decode(k->layout, k->arena, vector_of(e->b, state));
  const GArray *moves = stepper_moves(k->stepper);
  e->link = 0;
  e->vector = NULL;
  worker_judge_rest(k, add_broken, e);
  if (moves->len == 0) {
    g_autofree char *why = worker_stuck(k);
    if (why) add_broken(e, -1, why);
    return;
  }
  vector_save(k->layout, k->arena, e->saved);
  for (guint m = 0; m < moves->len && !ends_here(e->b, m); m++) {
    guint combo = 0;
    do {
      if (m + combo > 0) vector_restore(k->layout, k->arena, e->saved);
      worker_go(k, g_array_index(moves, Move, m));
      keep_successor(e, m, combo++);
    } while (stepper_more(k->stepper));
  }
}

/* What is new, or did something a check must know, is judged; what is new goes on. */
static void look_up(Expander *e, const Successor *s, const uint64_t *vector) {
  bool known = store_has(e->b->store, vector, s->hash);
  if (known && !s->marks) return;
  vector_decode(e->k->layout, e->k->arena, vector);
  world_marks_clear(e->k->w);
  world_mark(e->k->w, s->marks);
  e->parent = s->parent;
  e->link = s->link;
  e->vector = vector;
  worker_judge(e->k, add_broken, e);
  if (known) return;
  Candidate c = {.hash = s->hash, .vector = vector, .parent = s->parent, .link = s->link};
  g_array_append_val(e->chunk->candidates, c);
}

/* First all successors, then all look-ups, each part of which is asked of memory some way ahead. */
static void expand_chunk(Expander *e, guint i) {
  Bfs *b = e->b;
  Chunk *c = e->chunk = &b->chunks[i];
  uint32_t from = b->from + i * CHUNK, to = MIN(b->to, from + CHUNK);
  e->saved = g_renew(uint64_t, e->saved, vector_varying(e->k->layout) + 1);
  for (uint32_t state = from; state < to && !ends_here(b, 0); state++) expand(e, state);
  for (guint j = 0; j < c->n; j++) store_prefetch_key(b->store, c->successors[j].hash);
  for (guint j = 0; j < c->n; j++) look_up(e, &c->successors[j], c->vectors + (size_t)j * b->words);
}

/* ---- claiming ---- */

static guint chunk_count(const Bfs *b) {
  return (b->to - b->from + CHUNK - 1) / CHUNK;
}

#define EACH_CANDIDATE(b, c)                                                                                           \
  for (guint i_ = 0, n_ = chunk_count(b); i_ < n_; i_++)                                                               \
    for (Candidate *c = (Candidate *)(void *)(b)->chunks[i_].candidates->data,                                         \
                   *end_ = c + (b)->chunks[i_].candidates->len;                                                        \
         c < end_; c++)

/* The parts of one worker: every n-th. */
static void claim_parts(Bfs *b, guint worker) {
  guint n = b->crew->n, wanted[STORE_PARTS] = {0};
  EACH_CANDIDATE(b, c) wanted[store_part(c->hash)]++;
  for (guint part = worker; part < STORE_PARTS; part += n) store_make_room(b->store, part, wanted[part]);
  EACH_CANDIDATE(b, c2)
  if (store_part(c2->hash) % n == worker) store_claim(b->store, c2);
}

/* ---- workers ---- */

static void take_part(Expander *e) {
  Bfs *b = e->b;
  guint n = b->task == TASK_EXPAND ? chunk_count(b) : b->crew->n;
  for (guint i; (i = (guint)g_atomic_int_add(&b->next, 1)) < n;)
    if (b->task == TASK_EXPAND)
      expand_chunk(e, i);
    else
      claim_parts(b, i);
}

static gpointer helper_main(gpointer data) {
  Expander *e = data;
  Bfs *b = e->b;
  for (guint round = 1;; round++) {
    g_mutex_lock(&b->lock);
    while (b->round != round) g_cond_wait(&b->start, &b->lock);
    g_mutex_unlock(&b->lock);
    if (b->task == TASK_END) return NULL;
    take_part(e);
    g_mutex_lock(&b->lock);
    if (--b->running == 0) g_cond_signal(&b->ended);
    g_mutex_unlock(&b->lock);
  }
}

/* Everybody takes part in the task, the caller as the first worker. */
static void together(Bfs *b, Expander *first, Task task) {
  g_mutex_lock(&b->lock);
  b->task = task;
  b->next = 0;
  b->running = (gint)b->crew->n - 1;
  b->round++;
  g_cond_broadcast(&b->start);
  g_mutex_unlock(&b->lock);
  if (task == TASK_END) return;
  take_part(first);
  g_mutex_lock(&b->lock);
  while (b->running > 0) g_cond_wait(&b->ended, &b->lock);
  g_mutex_unlock(&b->lock);
}

/* ---- paths ---- */

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

/* From the first state to `state`, then the branch to the broken one (NULL: a deadlock, there is none). NULL: a link
 * does not lead where it should, which only a store that takes states for others can make. */
static GArray *path_to(Bfs *b, uint32_t state, const Broken *last) {
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
      GArray *path = path_to(b, br->parent, br->vector ? br : NULL);
      if (path) search_add_finding(b->r, b->o, &b->crew->workers[0], br->check, br->why, path);
    }
}

/* Numbers the new states, up to the limit; false: it was reached. */
static bool settle(Bfs *b) {
  EACH_CANDIDATE(b, c) {
    if (!c->fresh) continue;
    if (b->o->max_states && store_states(b->store) >= b->o->max_states) return false;
    keep_vector(b, store_settle(b->store, c), c->vector);
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
  keep_vector(b, store_add(b->store, vector, 0, 0), vector);
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
    together(b, first, TASK_EXPAND);
    if (b->late) return take_findings(b), WAVE_LATE;
    if (!crew_gaps(b->crew)) break;
    recount(b, before); /* the wave is made again with the wider layout */
    if (!widen(b)) return WAVE_RESTART;
  }
  together(b, first, TASK_CLAIM);
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
  worker_judge(e->k, add_broken, e);
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
    forget_vectors(b, at);
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
  return path_to(data, state, NULL);
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
  for (guint i = 1; i < c->n; i++) threads[i] = g_thread_new("explore", helper_main, &e[i]);
  store_first(&b);
  run_levels(&b, &e[0]);
  count(&b);
  look_for_rounds(&b);
  together(&b, &e[0], TASK_END);
  for (guint i = 1; i < c->n; i++) g_thread_join(threads[i]);
  r->store_bytes = store_bytes(b.store);
  r->omission = store_omission(b.store);
  r->exhausted = r->stop == STOP_EXHAUSTED && store_exact(b.store);
  for (guint i = 0; i < c->n; i++) g_free(e[i].saved);
  bfs_clear(&b);
}
