/* search_dfs.c - depth-first. Needs no way back to a state, so it goes with every store, bitstate too.
 *
 * With a bound, a state met again on a shorter path must be looked at again, or what lies behind it within the bound is
 * missed: with the stores that number states the least depth of each is kept beside. `deepen` makes the search again
 * with a bound that grows until nothing is cut; then, and only then, a bounded search has seen everything. */
#include "checks/search_parts.h"
#include <string.h>

enum { UNBOUNDED = 50 * 1000 * 1000 };

/* A successor that has not been looked at. Its vector stands at the same place of `vectors`. */
typedef struct {
  Move move;
  guint first_answer, n_answers;
  uint64_t marks;
} Pending;
/* A state on the path: its successors are [next, end) of what is pending, those before are done. */
typedef struct {
  guint first, next, end, first_answer;
} Frame;

typedef struct {
  Worker *k;
  Crew *crew;
  const SearchOptions *o;
  SearchResult *r;
  StateStore *store;
  GArray *depths;                               /* of guint, by state: least depth it was expanded at; NULL: bitstate */
  GArray *frames, *pending, *vectors, *answers; /* of Frame, Pending, uint64_t, Answer */
  uint64_t *vector;                             /* of the state that is looked at */
  guint words, bound;
  bool cut, longer; /* longer: vectors have grown, the search starts again */
  uint64_t ticks;
} Dfs;

/* ---- what was found ---- */

static Branch branch_of(const Dfs *d, guint i) {
  const Pending *p = &g_array_index(d->pending, Pending, i);
  Branch b = {.move = p->move, .n_answers = p->n_answers};
  for (guint j = 0; j < p->n_answers; j++) b.answers[j] = g_array_index(d->answers, Answer, p->first_answer + j);
  return b;
}

/* Each frame's last taken successor; `depth` of them. */
static GArray *path_to(const Dfs *d, guint depth) {
  GArray *path = g_array_new(FALSE, FALSE, sizeof(Branch));
  for (guint i = 0; i < depth; i++) {
    Branch b = branch_of(d, g_array_index(d->frames, Frame, i).next - 1);
    g_array_append_val(path, b);
  }
  return path;
}

/* The path's frames end where the state that is judged was reached from. */
static void add_broken(void *data, gint check, const char *why) {
  Dfs *d = data;
  if (search_wants(d->r, d->o, check)) search_add_finding(d->r, d->o, d->k, check, why, path_to(d, d->frames->len));
}

/* ---- limits ---- */

static bool limit_reached(Dfs *d) {
  const SearchOptions *o = d->o;
  SearchStop *stop = &d->r->stop;
  if (search_satisfied(d->r, o)) return *stop = STOP_FOUND, true;
  if (o->max_states && store_states(d->store) >= o->max_states) return *stop = STOP_STATES, true;
  if (search_late(o)) return *stop = STOP_TIME, true;
  if (d->ticks++ % 1024) return false;
  if (o->interrupted && g_atomic_int_get(o->interrupted)) return *stop = STOP_INTERRUPTED, true;
  if (o->max_bytes && store_bytes(d->store) > o->max_bytes) return *stop = STOP_MEMORY, true;
  if (o->progress) o->progress(o->progress_data, store_states(d->store), d->k->transitions, d->frames->len);
  return false;
}

/* ---- expanding ---- */

/* Whatever a step wrote, the layout has taken in (widen), so decoding undoes it. */
static void take_up(Dfs *d, const uint64_t *vector) {
  vector_decode(d->k->layout, d->k->arena, vector);
}

/* The layout takes in the state that stands in the stepper; vectors stay good unless they get longer. */
static void widen(Dfs *d) {
  vector_gaps_note(d->k->gaps, d->k->layout, d->k->arena);
  vector_layout_free(crew_widen(d->crew));
  d->longer = vector_words(d->crew->layout) != d->words;
}

static void keep_successor(Dfs *d) {
  const Branch *b = stepper_branch(d->k->stepper);
  Pending p = {b->move, d->answers->len, b->n_answers, world_marks(d->k->w)};
  guint at = d->vectors->len;
  g_array_set_size(d->vectors, at + d->words);
  uint64_t *vector = &g_array_index(d->vectors, uint64_t, at);
  if (!vector_encode(d->k->layout, d->k->arena, vector)) {
    widen(d);
    if (d->longer) return;
    bool fits = vector_encode(d->k->layout, d->k->arena, vector);
    g_assert(fits);
  }
  /* Without a bound a known state is of no use, and most are known. */
  if (d->bound == UNBOUNDED && !p.marks && store_has(d->store, vector, store_hash(d->store, vector))) {
    g_array_set_size(d->vectors, at);
    return;
  }
  g_array_append_vals(d->answers, b->answers, b->n_answers);
  g_array_append_val(d->pending, p);
}

/* A wider layout has more words to save: then the state is taken up by its vector. */
static void make_moves(Dfs *d) {
  Worker *k = d->k;
  g_autofree uint64_t *here = g_new(uint64_t, d->words), *saved = g_new(uint64_t, vector_varying(k->layout) + 1);
  guint bits = vector_bits(k->layout);
  bool fits = vector_encode(k->layout, k->arena, here);
  g_assert(fits);
  vector_save(k->layout, k->arena, saved);
  const GArray *moves = stepper_moves(k->stepper);
  for (guint m = 0; m < moves->len && !d->longer && (m % 16 || !search_late(d->o)); m++) do {
      if (vector_bits(k->layout) == bits)
        vector_restore(k->layout, k->arena, saved);
      else
        take_up(d, here);
      worker_go(k, g_array_index(moves, Move, m));
      keep_successor(d);
    } while (!d->longer && stepper_more(k->stepper));
}

/* The state that stands in the stepper, `depth` steps from the first, becomes the path's end. */
static void expand(Dfs *d, guint depth) {
  Frame f = {d->pending->len, d->pending->len, 0, d->answers->len};
  guint n_moves = stepper_moves(d->k->stepper)->len;
  d->r->depth = MAX(d->r->depth, depth);
  if (n_moves == 0) {
    g_autofree char *why = worker_stuck(d->k);
    if (why) add_broken(d, -1, why);
  } else if (depth >= d->bound)
    d->cut = true;
  else
    make_moves(d);
  f.end = d->pending->len;
  g_array_append_val(d->frames, f);
}

/* Findings walk about, so the state is taken up again after each judgement. */
static void expand_from(Dfs *d, const uint64_t *vector, guint depth) {
  take_up(d, vector);
  worker_judge_rest(d->k, add_broken, d);
  take_up(d, vector);
  expand(d, depth);
}

/* Is this state to be expanded at this depth? */
static bool is_news(Dfs *d, const uint64_t *vector, guint depth, bool *fresh) {
  *fresh = store_add(d->store, vector, 0, 0) != STORE_NONE;
  if (!d->depths || *fresh) {
    if (d->depths) g_array_append_val(d->depths, depth);
    return *fresh;
  }
  guint *least = &g_array_index(d->depths, guint, store_find(d->store, vector));
  if (d->bound == UNBOUNDED || *least <= depth) return false;
  *least = depth;
  return true;
}

static void pop(Dfs *d) {
  const Frame *f = &g_array_index(d->frames, Frame, d->frames->len - 1);
  g_array_set_size(d->pending, f->first);
  g_array_set_size(d->vectors, f->first * d->words);
  g_array_set_size(d->answers, f->first_answer);
  g_array_set_size(d->frames, d->frames->len - 1);
}

static void step(Dfs *d) {
  Frame *f = &g_array_index(d->frames, Frame, d->frames->len - 1);
  if (f->next == f->end) return pop(d);
  guint i = f->next++, depth = d->frames->len;
  g_autofree uint64_t *vector =
      g_memdup2(&g_array_index(d->vectors, uint64_t, i * d->words), d->words * sizeof(uint64_t));
  uint64_t marks = g_array_index(d->pending, Pending, i).marks;
  bool fresh, news = is_news(d, vector, depth, &fresh);
  if (!news && !marks) return;
  take_up(d, vector);
  world_marks_clear(d->k->w);
  world_mark(d->k->w, marks);
  if (fresh || marks) worker_judge(d->k, add_broken, d);
  if (!news) return;
  expand_from(d, vector, depth);
}

/* ---- one search, one bound after the other ---- */

static void start(Dfs *d) {
  d->words = vector_words(d->crew->layout);
  d->longer = d->cut = false;
  d->vector = g_renew(uint64_t, d->vector, d->words);
  store_free(d->store);
  d->store = store_new(d->o->store, d->words, d->o->bits_log2);
  if (d->depths) g_array_set_size(d->depths, 0);
  g_array_set_size(d->frames, 0);
  g_array_set_size(d->pending, 0);
  g_array_set_size(d->vectors, 0);
  g_array_set_size(d->answers, 0);
  d->k->transitions = d->k->waits_limit = 0;
  vector_reset(d->k->layout, d->k->arena);
}

static void run_bound(Dfs *d) {
  do {
    start(d);
    g_autofree uint64_t *first = g_new0(uint64_t, d->words);
    bool fresh;
    is_news(d, first, 0, &fresh);
    world_marks_clear(d->k->w);
    worker_judge(d->k, add_broken, d);
    expand_from(d, first, 0);
    while (d->frames->len && !d->longer && !limit_reached(d)) step(d);
  } while (d->longer);
}

static bool bound_was_all(Dfs *d) {
  if (d->frames->len) return true; /* a limit stopped it; r->stop says which */
  d->r->stop = d->cut ? STOP_DEPTH : STOP_EXHAUSTED;
  if (!d->cut || !d->o->deepen) return true;
  return d->o->max_depth && d->bound >= d->o->max_depth;
}

static void run(Dfs *d) {
  guint most = d->o->max_depth ? d->o->max_depth : UNBOUNDED;
  d->bound = d->o->deepen ? MIN(d->o->deepen, most) : most;
  for (;;) {
    run_bound(d);
    if (search_satisfied(d->r, d->o)) d->r->stop = STOP_FOUND;
    if (d->r->stop == STOP_FOUND || bound_was_all(d)) return;
    d->bound = MIN(d->bound + d->o->deepen, most);
  }
}

void search_dfs(Crew *c, const SearchOptions *o, SearchResult *r) {
  Dfs d = {.k = &c->workers[0], .crew = c, .o = o, .r = r};
  d.frames = g_array_new(FALSE, FALSE, sizeof(Frame));
  d.pending = g_array_new(FALSE, FALSE, sizeof(Pending));
  d.vectors = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  d.answers = g_array_new(FALSE, FALSE, sizeof(Answer));
  if (o->store != STORE_BITSTATE) d.depths = g_array_new(FALSE, FALSE, sizeof(guint));
  run(&d);
  r->states = store_states(d.store);
  r->transitions = d.k->transitions;
  r->waits_limit = d.k->waits_limit;
  r->store_bytes = store_bytes(d.store) + (d.depths ? d.depths->len * sizeof(guint) : 0);
  r->omission = store_omission(d.store);
  r->exhausted = r->stop == STOP_EXHAUSTED && store_exact(d.store);
  store_free(d.store);
  g_free(d.vector);
  g_array_unref(d.frames);
  g_array_unref(d.pending);
  g_array_unref(d.vectors);
  g_array_unref(d.answers);
  if (d.depths) g_array_unref(d.depths);
}
