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
  uint64_t hash, marks;
  Move move;
  guint first_answer, n_answers;
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
  GArray *depths;           /* of guint, by state: least depth it was expanded at; NULL: bitstate */
  GArray *frames, *answers; /* of Frame, Answer */
  Pending *pending;
  uint64_t *vectors;
  guint n_pending, room; /* of both */
  uint64_t *vector;      /* of the state that is looked at */
  guint words, bound;
  bool cut, longer; /* longer: vectors have grown, the search starts again */
  bool strayed;     /* the stepper has walked about */
  uint64_t ticks;
} Dfs;

/* ---- what was found ---- */

static Branch branch_of(const Dfs *d, guint i) {
  const Pending *p = &d->pending[i];
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
  d->strayed = true;
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

static void take_up(Dfs *d, const uint64_t *vector) {
  if (d->strayed) vector_stand_start(d->k->stand, d->k->layout);
  d->strayed = false;
  vector_stand_at(d->k->stand, vector);
}

static void make_room(Dfs *d) {
  d->room = MAX(256, d->room * 2);
  d->pending = g_renew(Pending, d->pending, d->room);
  d->vectors = g_renew(uint64_t, d->vectors, (gsize)d->room * d->words);
}

static uint64_t *vector_at(const Dfs *d, guint i) {
  return d->vectors + (gsize)i * d->words;
}

/* The layout takes in what the last move led to, and the move is made again; vectors stay good unless they get longer.
 */
static void widen(Dfs *d, uint64_t *vector) {
  Branch again = *stepper_branch(d->k->stepper);
  vector_layout_free(crew_widen(d->crew));
  d->longer = vector_words(d->crew->layout) != d->words;
  if (d->longer) return;
  d->strayed = true;
  take_up(d, d->vector);
  bool same = stepper_follow(d->k->stepper, &again), fits = vector_stand_leave(d->k->stand, vector, d->k->gaps);
  g_assert(same && fits);
}

static void keep_successor(Dfs *d) {
  if (d->n_pending == d->room) make_room(d);
  uint64_t *vector = vector_at(d, d->n_pending);
  if (!vector_stand_leave(d->k->stand, vector, d->k->gaps)) widen(d, vector);
  if (d->longer) return;
  const Branch *b = stepper_branch(d->k->stepper);
  Pending p = {store_hash(d->store, vector), world_marks(d->k->w), b->move, d->answers->len, b->n_answers};
  store_prefetch(d->store, p.hash);
  if (b->n_answers) g_array_append_vals(d->answers, b->answers, b->n_answers);
  d->pending[d->n_pending++] = p;
}

/* Without a bound a known state is of no use, and most are known. */
static void drop_known(Dfs *d, guint first) {
  guint kept = first;
  if (d->bound != UNBOUNDED) return;
  for (guint i = first; i < d->n_pending; i++) {
    if (!d->pending[i].marks && store_has(d->store, vector_at(d, i), d->pending[i].hash)) continue;
    d->pending[kept] = d->pending[i];
    memmove(vector_at(d, kept++), vector_at(d, i), d->words * sizeof(uint64_t));
  }
  d->n_pending = kept;
}

static void make_moves(Dfs *d) {
  Worker *k = d->k;
  guint first = d->n_pending;
  const GArray *moves = stepper_moves(k->stepper);
  for (guint m = 0; m < moves->len && !d->longer && (m % 16 || !search_late(d->o)); m++) do {
      worker_go(k, g_array_index(moves, Move, m));
      keep_successor(d);
    } while (!d->longer && stepper_more(k->stepper));
  drop_known(d, first);
}

/* The state at d->vector, which stands in the stepper, `depth` steps from the first, becomes the path's end. */
static void expand(Dfs *d, guint depth) {
  Frame f = {d->n_pending, d->n_pending, 0, d->answers->len};
  guint n_moves = stepper_moves(d->k->stepper)->len;
  d->r->depth = MAX(d->r->depth, depth);
  if (n_moves == 0) {
    g_autofree char *why = worker_stuck(d->k);
    if (why) add_broken(d, -1, why);
  } else if (depth >= d->bound)
    d->cut = true;
  else
    make_moves(d);
  f.end = d->n_pending;
  g_array_append_val(d->frames, f);
}

/* Findings walk about, so the state is taken up again after each judgement. */
static void expand_from(Dfs *d, guint depth) {
  take_up(d, d->vector);
  worker_judge_rest(d->k, add_broken, d);
  take_up(d, d->vector);
  expand(d, depth);
}

/* Is d->vector to be expanded at this depth? */
static bool is_news(Dfs *d, uint64_t hash, guint depth, bool *fresh) {
  *fresh = store_add(d->store, d->vector, hash, 0, 0) != STORE_NONE;
  if (!d->depths || *fresh) {
    if (d->depths) g_array_append_val(d->depths, depth);
    return *fresh;
  }
  if (d->bound == UNBOUNDED) return false;
  guint *least = &g_array_index(d->depths, guint, store_find(d->store, d->vector));
  if (*least <= depth) return false;
  *least = depth;
  return true;
}

static void pop(Dfs *d) {
  const Frame *f = &g_array_index(d->frames, Frame, d->frames->len - 1);
  d->n_pending = f->first;
  g_array_set_size(d->answers, f->first_answer);
  g_array_set_size(d->frames, d->frames->len - 1);
}

static void step(Dfs *d) {
  Frame *f = &g_array_index(d->frames, Frame, d->frames->len - 1);
  if (f->next == f->end) return pop(d);
  guint i = f->next++, depth = d->frames->len;
  Pending p = d->pending[i];
  memcpy(d->vector, vector_at(d, i), d->words * sizeof(uint64_t));
  bool fresh, news = is_news(d, p.hash, depth, &fresh);
  if (!news && !p.marks) return;
  take_up(d, d->vector);
  world_marks_clear(d->k->w);
  world_mark(d->k->w, p.marks);
  if (fresh || p.marks) worker_judge(d->k, add_broken, d);
  if (news) expand_from(d, depth);
}

/* ---- one search, one bound after the other ---- */

static void start(Dfs *d) {
  d->words = vector_words(d->crew->layout);
  d->longer = d->cut = false;
  d->vector = g_renew(uint64_t, d->vector, d->words);
  memset(d->vector, 0, d->words * sizeof(uint64_t));
  d->room = d->n_pending = 0;
  store_free(d->store);
  d->store = store_new(d->o->store, d->words, d->o->bits_log2);
  if (d->depths) g_array_set_size(d->depths, 0);
  g_array_set_size(d->frames, 0);
  g_array_set_size(d->answers, 0);
  d->k->transitions = d->k->waits_limit = 0;
  d->strayed = true;
  take_up(d, d->vector);
}

static void run_bound(Dfs *d) {
  do {
    start(d);
    bool fresh;
    is_news(d, store_hash(d->store, d->vector), 0, &fresh);
    world_marks_clear(d->k->w);
    worker_judge(d->k, add_broken, d);
    expand_from(d, 0);
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
  g_free(d.pending);
  g_free(d.vectors);
  g_array_unref(d.answers);
  if (d.depths) g_array_unref(d.depths);
}
