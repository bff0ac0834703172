/* search_walks.c - random walks, and PCT: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi,
 * Nagarakatte 2010). A PCT walk gives every subject a random priority and always moves the highest that can; at
 * `changes` steps, drawn beforehand among the steps of the longest walk so far, the one that would move falls below all
 * others. A bug that needs d orderings is then found with a chance of at least 1 / (n k^(d-1)) a walk. */
#include "checks/search_parts.h"
#include "model/world/rng.h"
#include <string.h>

enum { STEPS_DEFAULT = 10000, CHANGES_MAX = 64 };

typedef struct {
  Worker *k;
  const SearchOptions *o;
  SearchResult *r;
  StateStore *store; /* of what was seen: only counted */
  Crew *crew;
  GArray *path;           /* of Branch */
  GHashTable *priorities; /* (kind of subject, id) -> priority; looked up only */
  guint change_at[CHANGES_MAX], falls;
  guint longest;
  Rng rng;
} Walks;

static uint64_t draw(void *data, ChoiceId what, uint64_t n) {
  (void)what;
  return rng_below(&((Walks *)data)->rng, n);
}

/* ---- who moves ---- */

static gpointer subject_of(Move m) {
  bool network = m.kind == MOVE_DELIVER || m.kind == MOVE_LOSE;
  return GSIZE_TO_POINTER((gsize)m.subject << 1 | network);
}

/* Random ones are above 2^32, fallen ones below, each lower than the one before. */
static guint64 priority_of(Walks *s, Move m) {
  gpointer found = g_hash_table_lookup(s->priorities, subject_of(m));
  if (found) return GPOINTER_TO_SIZE(found);
  guint64 p = ((guint64)1 << 32) + (rng_next(&s->rng) >> 33);
  g_hash_table_insert(s->priorities, subject_of(m), GSIZE_TO_POINTER(p));
  return p;
}

static guint highest(Walks *s, const GArray *moves) {
  guint best = 0;
  for (guint i = 1; i < moves->len; i++)
    if (priority_of(s, g_array_index(moves, Move, i)) > priority_of(s, g_array_index(moves, Move, best))) best = i;
  return best;
}

static guint choose_pct(Walks *s, const GArray *moves, guint step) {
  guint best = highest(s, moves);
  for (guint i = 0; i < s->o->changes; i++) {
    if (s->change_at[i] != step) continue;
    gpointer low = GSIZE_TO_POINTER((gsize)CHANGES_MAX + 1 - s->falls++);
    g_hash_table_insert(s->priorities, subject_of(g_array_index(moves, Move, best)), low);
    best = highest(s, moves);
  }
  return best;
}

static guint choose(Walks *s, const GArray *moves, guint step) {
  return s->o->strategy == STRATEGY_PCT ? choose_pct(s, moves, step) : (guint)rng_below(&s->rng, moves->len);
}

/* ---- a walk ---- */

static void add_broken(void *data, gint check, const char *why) {
  Walks *s = data;
  if (search_wants(s->r, s->o, check)) search_add_finding(s->r, s->o, s->k, check, why, g_array_copy(s->path));
}

/* States are counted, as far as the layout goes; a new one is judged. Judging walks about, so afterwards the walk must
 * be over if something was found. True: the walk is over. */
static bool look(Walks *s) {
  guint before = s->r->findings->len;
  worker_judge(s->k, add_broken, s);
  return s->r->findings->len > before;
}

static void count(Walks *s) {
  g_autofree uint64_t *vector = g_new0(uint64_t, vector_words(s->crew->layout));
  if (vector_encode(s->crew->layout, s->k->arena, vector)) {
    store_add(s->store, vector, store_hash(s->store, vector), 0, 0);
    return;
  }
  guint words = vector_words(s->crew->layout);
  vector_gaps_note(s->k->gaps, s->k->layout, s->k->arena);
  vector_layout_free(crew_widen(s->crew));
  if (vector_words(s->crew->layout) == words) return count(s);
  store_free(s->store); /* counted anew: what the walks before saw and these do not is not counted */
  s->store = store_new(STORE_HASH128, vector_words(s->crew->layout), 0);
}

static void begin(Walks *s, guint walk) {
  g_autofree char *stream = g_strdup_printf("walk %u", walk);
  rng_init(&s->rng, s->o->seed, stream);
  vector_reset(s->k->layout, s->k->arena);
  world_marks_clear(s->k->w);
  g_array_set_size(s->path, 0);
  g_hash_table_remove_all(s->priorities);
  s->falls = 0;
  for (guint i = 0; i < s->o->changes; i++) s->change_at[i] = (guint)rng_below(&s->rng, MAX(s->longest, 16));
}

/* Nothing moves, or nothing need move and something pending was found to stay so. */
static bool ends(Walks *s, guint n_moves) {
  guint before = s->r->findings->len;
  g_autofree char *stuck = n_moves ? NULL : worker_stuck(s->k);
  worker_judge_rest(s->k, add_broken, s);
  if (stuck) add_broken(s, -1, stuck);
  return n_moves == 0 || s->r->findings->len > before;
}

static void walk(Walks *s, guint number) {
  guint most = s->o->max_depth ? s->o->max_depth : STEPS_DEFAULT;
  begin(s, number);
  for (guint i = 0; i < most && (i % 16 || !search_late(s->o)); i++) {
    const GArray *moves = stepper_moves(s->k->stepper);
    if (ends(s, moves->len)) break;
    worker_go(s->k, g_array_index(moves, Move, choose(s, moves, i)));
    g_array_append_vals(s->path, stepper_branch(s->k->stepper), 1);
    count(s);
    if (look(s)) break;
  }
  s->longest = MAX(s->longest, s->path->len);
}

static bool limit_reached(Walks *s) {
  const SearchOptions *o = s->o;
  SearchStop *stop = &s->r->stop;
  if (search_satisfied(s->r, o)) return *stop = STOP_FOUND, true;
  if (o->interrupted && g_atomic_int_get(o->interrupted)) return *stop = STOP_INTERRUPTED, true;
  if (o->max_states && store_states(s->store) >= o->max_states) return *stop = STOP_STATES, true;
  if (o->max_bytes && store_bytes(s->store) > o->max_bytes) return *stop = STOP_MEMORY, true;
  if (search_late(o)) return *stop = STOP_TIME, true;
  if (o->progress) o->progress(o->progress_data, store_states(s->store), s->k->transitions, s->longest);
  return false;
}

void search_walks(Crew *c, const SearchOptions *o, SearchResult *r) {
  g_assert(o->changes <= CHANGES_MAX);
  Walks s = {.k = &c->workers[0], .crew = c, .o = o, .r = r};
  s.store = store_new(STORE_HASH128, vector_words(c->layout), 0);
  s.path = g_array_new(FALSE, FALSE, sizeof(Branch));
  s.priorities = g_hash_table_new(NULL, NULL);
  stepper_answer_with(s.k->stepper, draw, &s);
  r->stop = STOP_WALKS;
  begin(&s, 0);
  count(&s);
  look(&s);
  for (guint i = 0; i < o->walks && !limit_reached(&s); i++) walk(&s, i);
  if (search_satisfied(r, o)) r->stop = STOP_FOUND;
  stepper_answer_with(s.k->stepper, NULL, NULL);
  r->states = store_states(s.store);
  r->transitions = s.k->transitions;
  r->waits_limit = s.k->waits_limit;
  r->depth = s.longest;
  r->store_bytes = store_bytes(s.store);
  store_free(s.store);
  g_array_unref(s.path);
  g_hash_table_unref(s.priorities);
}
