/* estimate.c - see estimate.h. Breadth-first, but of a level of about N states only a sample of n is expanded: those of
 * the lowest hashes among the children that the level before had, so that whether a state is in the sample is a matter
 * of its hash alone. With f = n / N and E edges out of the sample:
 *
 * - edges back to level j are met with the chance f_j that their end is in that level's sample; so hits_j / f_j of E
 * lead back, and the rest, F, lead on;
 * - a child that m edges lead to is met by f m (f m - f) / 2 or so pairs of sampled edges; with P pairs seen,
 *   m = 1 + 2 P / (f F);
 * - the next level has N F / (n m) states. Of a level taken whole it has as many as were seen.
 *
 * Known limit: the guess of m is coarse where few pairs meet (a sample far smaller than the level), and errors multiply
 * from level to level. */
#include "checks/estimate.h"
#include "checks/search_parts.h"
#include <math.h>

enum { LEVELS_MAX = 100000, TAIL = 100 /* a level that much smaller than the largest ends it */ };

typedef struct {
  uint64_t hash;
  guint at;    /* its vector's place among the level's children */
  guint edges; /* that led to it */
} Child;

typedef struct {
  Crew *crew;
  Worker *k;
  GArray *vectors, *next_vectors; /* of uint64_t: the sample, and the children it led to */
  GArray *children;               /* of Child */
  GHashTable *found;              /* hash -> index of the child + 1; looked up only */
  GHashTable *level_of;           /* hash of a sampled state -> its level + 1; likewise */
  GArray *shares;                 /* of double: f by level */
  guint words;
  double edges, back; /* of the level's sample */
  uint64_t looked;    /* states expanded */
} Sampler;

static void meet(Sampler *s, const uint64_t *vector) {
  uint64_t hash = 0;
  for (guint i = 0; i < s->words; i++) hash = (hash ^ vector[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
  gpointer key = GSIZE_TO_POINTER(hash);
  guint level = GPOINTER_TO_UINT(g_hash_table_lookup(s->level_of, key));
  s->edges++;
  if (level) {
    s->back += 1 / g_array_index(s->shares, double, level - 1);
    return;
  }
  guint known = GPOINTER_TO_UINT(g_hash_table_lookup(s->found, key));
  if (known) {
    g_array_index(s->children, Child, known - 1).edges++;
    return;
  }
  Child c = {hash, s->children->len, 1};
  g_array_append_val(s->children, c);
  g_array_append_vals(s->next_vectors, vector, s->words);
  g_hash_table_insert(s->found, key, GUINT_TO_POINTER(s->children->len));
}

/* False: vectors have grown, the sampling starts again. */
static bool meet_state(Sampler *s) {
  g_autofree uint64_t *vector = g_new0(uint64_t, s->words);
  if (!vector_encode(s->k->layout, s->k->arena, vector)) {
    vector_gaps_note(s->k->gaps, s->k->layout, s->k->arena);
    vector_layout_free(crew_widen(s->crew));
    if (vector_words(s->k->layout) != s->words) return false;
    vector_encode(s->k->layout, s->k->arena, vector);
  }
  meet(s, vector);
  return true;
}

static bool expand(Sampler *s, const uint64_t *vector) {
  vector_decode(s->k->layout, s->k->arena, vector);
  g_autoptr(GArray) moves = g_array_copy((GArray *)stepper_moves(s->k->stepper));
  for (guint m = 0; m < moves->len; m++) do {
      vector_decode(s->k->layout, s->k->arena, vector);
      worker_go(s->k, g_array_index(moves, Move, m));
      if (!meet_state(s)) return false;
    } while (stepper_more(s->k->stepper));
  return true;
}

static gint by_hash(gconstpointer a, gconstpointer b) {
  const Child *x = a, *y = b;
  return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* How many states the next level has, of which the sample's children were met. */
static double next_level(const Sampler *s, double n, double size) {
  double share = n / size, pairs = 0, kept = 0;
  for (guint i = 0; i < s->children->len; i++) {
    double e = g_array_index(s->children, Child, i).edges;
    pairs += e * (e - 1) / 2;
    kept += e;
  }
  if (kept == 0) return 0;
  double on = fmax(s->edges - s->back, 0), to_new = fmin(on / kept, 1);
  if (share == 1) return s->children->len * to_new;
  double meet_again = 1 + 2 * pairs / (share * kept);
  return size * (on / n) / meet_again;
}

/* The children of the lowest hashes become the sample. */
static void take_sample(Sampler *s, guint most, guint level, double size) {
  g_array_sort(s->children, by_hash);
  guint n = MIN(s->children->len, most);
  double share = fmin(n / fmax(size, 1), 1);
  g_array_append_val(s->shares, share);
  g_array_set_size(s->vectors, 0);
  for (guint i = 0; i < n; i++) {
    const Child *c = &g_array_index(s->children, Child, i);
    g_array_append_vals(s->vectors, &g_array_index(s->next_vectors, uint64_t, c->at * s->words), s->words);
    g_hash_table_insert(s->level_of, GSIZE_TO_POINTER(c->hash), GUINT_TO_POINTER(level + 1));
  }
}

static bool limit_reached(const Sampler *s, const SearchOptions *o, Estimate *e) {
  if (o->interrupted && g_atomic_int_get(o->interrupted)) return e->stop = STOP_INTERRUPTED, true;
  if (search_late(o)) return e->stop = STOP_TIME, true;
  if (o->max_states && s->looked >= o->max_states) return e->stop = STOP_STATES, true;
  return false;
}

static void level_begins(Sampler *s) {
  g_array_set_size(s->children, 0);
  g_array_set_size(s->next_vectors, 0);
  g_hash_table_remove_all(s->found);
  s->edges = s->back = 0;
}

static void first_level(Sampler *s) {
  s->words = vector_words(s->k->layout);
  g_hash_table_remove_all(s->level_of);
  g_array_set_size(s->shares, 0);
  level_begins(s);
  vector_reset(s->k->layout, s->k->arena);
  meet_state(s);
  take_sample(s, 1, 0, 1);
}

/* False: to be begun again. */
static bool sample_levels(Sampler *s, const SearchOptions *o, guint most, Estimate *e) {
  double size = 1, largest = 1;
  first_level(s);
  *e = (Estimate){.exact = true, .states = 1, .reduce = o->reduce, .stop = STOP_EXHAUSTED};
  for (guint level = 0; level < LEVELS_MAX; level++) {
    guint n = s->vectors->len / s->words;
    e->depth = level;
    if (o->max_depth && level >= o->max_depth) return e->stop = STOP_DEPTH, e->exact = false, true;
    level_begins(s);
    for (guint i = 0; i < n; i++, s->looked++) {
      if (limit_reached(s, o, e)) return e->exact = false, true; /* this level's edges are not counted */
      g_autofree uint64_t *vector =
          g_memdup2(&g_array_index(s->vectors, uint64_t, i * s->words), s->words * sizeof *vector);
      if (!expand(s, vector)) return false;
    }
    e->transitions += s->edges * size / n;
    size = next_level(s, n, size);
    largest = fmax(largest, size);
    if (size < 0.5 || s->children->len == 0 || (!e->exact && size < largest / TAIL)) return e->depth = level, true;
    e->states += size;
    e->exact = e->exact && s->children->len <= most;
    take_sample(s, most, level + 1, size);
  }
  return true;
}

bool estimate_states(const SearchOptions *o, guint sample, Estimate *e, GError **error) {
  gint64 started = g_get_monotonic_time();
  SearchOptions timed = *o;
  if (o->max_seconds > 0 && !o->deadline_us) timed.deadline_us = started + (gint64)(o->max_seconds * G_USEC_PER_SEC);
  Sampler s = {.crew = crew_new(&timed, 1, error)};
  if (!s.crew) return false;
  s.k = &s.crew->workers[0];
  s.vectors = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  s.next_vectors = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  s.children = g_array_new(FALSE, FALSE, sizeof(Child));
  s.shares = g_array_new(FALSE, FALSE, sizeof(double));
  s.found = g_hash_table_new(NULL, NULL);
  s.level_of = g_hash_table_new(NULL, NULL);
  while (!sample_levels(&s, &timed, sample, e)) continue;
  e->seconds = (double)(g_get_monotonic_time() - started) / 1e6;
  e->rate = e->seconds > 0 ? (double)s.k->transitions / e->seconds : 0;
  crew_free(s.crew);
  g_array_unref(s.vectors);
  g_array_unref(s.next_vectors);
  g_array_unref(s.children);
  g_array_unref(s.shares);
  g_hash_table_unref(s.found);
  g_hash_table_unref(s.level_of);
  return true;
}
