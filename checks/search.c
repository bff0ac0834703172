/* search.c - what the strategies share: workers, judging, findings. */
#include "checks/search_parts.h"
#include "model/world/rng.h"
#include <string.h>

enum { LEARN_WALKS = 48, LEARN_STEPS = 256 };

/* ---- learning: which bits of the arena vary, and how much comes and goes at once ---- */

typedef struct {
  Rng rng;
  Stepper *s;
} Learner;

static uint64_t draw(void *data, ChoiceId what, uint64_t n) {
  (void)what;
  return rng_below(&((Learner *)data)->rng, n);
}

static void walk(Learner *l, const VectorLayout *layout, VectorGaps *gaps, WorldPeak *peak) {
  Arena *a = world_arena(stepper_model(l->s)->world);
  for (guint i = 0; i < LEARN_STEPS; i++) {
    const GArray *moves = stepper_moves(l->s);
    if (moves->len == 0) break;
    stepper_go(l->s, g_array_index(moves, Move, rng_below(&l->rng, moves->len)));
    if (gaps) vector_gaps_note(gaps, layout, a);
    if (peak) world_peak_note(stepper_model(l->s)->world, peak);
  }
  vector_reset(layout, a);
}

/* The walks are always the same. Into `gaps` goes which bits vary, into `peak` how much there is at once; either may be
 * NULL. Ends at the first state. o: whose time it takes; NULL: nobody's. */
static void learn(Stepper *s, const VectorLayout *layout, VectorGaps *gaps, WorldPeak *peak, const SearchOptions *o) {
  Learner l = {.s = s};
  rng_init(&l.rng, 1, "learn");
  stepper_answer_with(s, draw, &l);
  if (peak) world_peak_note(stepper_model(s)->world, peak);
  for (guint i = 0; i < LEARN_WALKS && !(o && search_late(o)); i++) walk(&l, layout, gaps, peak);
  stepper_answer_with(s, NULL, NULL);
}

static VectorLayout *learned_layout(Stepper *s, const SearchOptions *o) {
  g_autoptr(VectorLayout) narrow = vector_layout_new(world_arena(stepper_model(s)->world));
  g_autoptr(VectorGaps) gaps = vector_gaps_new();
  learn(s, narrow, gaps, NULL, o);
  return vector_layout_extend(narrow, gaps, NULL);
}

/* ---- the crew ---- */

static bool worker_init(Worker *k, const SearchOptions *o, const WorldPeak *room, GError **error) {
  *k = (Worker){.o = o, .stepper = stepper_new(&o->stepper, room, error)};
  if (!k->stepper) return false;
  k->w = stepper_model(k->stepper)->world;
  k->arena = world_arena(k->w);
  k->stand = vector_stand_new(k->arena);
  k->gaps = vector_gaps_new();
  k->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  k->whys = g_new0(GString *, o->n_checks + 1);
  for (guint i = 0; i < o->n_checks; i++) k->whys[i] = g_string_new(NULL);
  k->judged = g_new0(Judgement, o->n_checks + 1);
  k->blind = g_new0(guint, o->n_checks + 1);
  k->liveness = search_has_liveness(o);
  return true;
}

static void worker_clear(Worker *k) {
  if (!k->stepper) return;
  stepper_free(k->stepper);
  vector_stand_free(k->stand);
  vector_gaps_free(k->gaps);
  g_hash_table_unref(k->seen);
  for (guint i = 0; i < k->o->n_checks; i++) g_string_free(k->whys[i], TRUE);
  g_free(k->whys);
  g_free(k->judged);
  g_free(k->blind);
}

/* Without reductions, so that steppers with and without have equal rooms, and their states can be compared. */
static bool measure_room(const StepperConfig *c, WorldPeak *room, const SearchOptions *o, GError **error) {
  StepperConfig plain = *c;
  plain.reduce = NULL;
  plain.canon = NULL;
  g_autoptr(Stepper) first = stepper_new(&plain, NULL, error);
  if (!first) return false;
  g_autoptr(VectorLayout) start = vector_layout_new(world_arena(stepper_model(first)->world));
  learn(first, start, NULL, room, o);
  return true;
}

Stepper *search_stepper(const StepperConfig *c, GError **error) {
  WorldPeak room = {0};
  return measure_room(c, &room, NULL, error) ? stepper_new(c, &room, error) : NULL;
}

Crew *crew_new(const SearchOptions *o, guint n, GError **error) {
  Crew *c = g_new0(Crew, 1);
  c->workers = g_new0(Worker, n);
  bool ok = measure_room(&o->stepper, &c->room, o, error);
  for (; ok && c->n < n; c->n++)
    if (!worker_init(&c->workers[c->n], o, &c->room, error)) ok = false;
  if (!ok) {
    crew_free(c);
    return NULL;
  }
  c->layout = learned_layout(c->workers[0].stepper, o);
  for (guint i = 0; i < n; i++) c->workers[i].layout = c->layout;
  return c;
}

void crew_free(Crew *c) {
  for (guint i = 0; i < c->n; i++) worker_clear(&c->workers[i]);
  vector_layout_free(c->layout);
  g_free(c->workers);
  g_free(c);
}

bool crew_gaps(Crew *c) {
  for (guint i = 0; i < c->n; i++)
    if (vector_gaps_any(c->workers[i].gaps)) return true;
  return false;
}

VectorLayout *crew_widen(Crew *c) {
  VectorLayout *old = c->layout;
  c->layout = vector_layout_extend(old, c->workers[0].gaps, NULL);
  for (guint i = 1; i < c->n; i++) {
    VectorLayout *between = c->layout;
    c->layout = vector_layout_extend(between, c->workers[i].gaps, NULL);
    vector_layout_free(between);
  }
  for (guint i = 0; i < c->n; i++) c->workers[i].layout = c->layout;
  return old;
}

static gint by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void crew_tell(Crew *c, SearchResult *r) {
  g_autoptr(GHashTable) all = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < c->n; i++) {
    Worker *k = &c->workers[i];
    r->narrowed |= stepper_narrowed(k->stepper);
    for (guint j = 0; j < k->o->n_checks; j++) r->blind[j] += k->blind[j];
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, k->seen);
    while (g_hash_table_iter_next(&it, &key, NULL))
      if (g_hash_table_add(all, key)) g_ptr_array_add(r->seen, g_strdup(key));
  }
  g_ptr_array_sort(r->seen, by_name);
  r->vector_bits = vector_bits(c->layout);
}

/* ---- steps ---- */

/* A name is a text of the model's, at one address, but perhaps shared by two types: those met are kept in a small table
 * by address and type, which saves making and looking up the words. No address uses the top byte. */
static void see(Worker *k, ProcId p) {
  const char *at = world_at(k->w, p);
  guintptr key = (guintptr)at ^ (guintptr)world_type_of(k->w, p) << 56;
  guint home = (guint)((key * 0x9e3779b97f4a7c15u) >> 54);
  G_STATIC_ASSERT(G_N_ELEMENTS(k->recent) == 1 << 10);
  for (guint i = 0; i < 8; i++) {
    guintptr *slot = &k->recent[(home + i) % G_N_ELEMENTS(k->recent)];
    if (*slot == key) return;
    if (*slot) continue;
    *slot = key;
    break;
  }
  g_hash_table_add(k->seen, g_strconcat(world_name_of(k->w, p), " ", at, NULL));
}

void worker_go(Worker *k, Move m) {
  if (m.kind == MOVE_RESUME || m.kind == MOVE_FIRE) see(k, m.subject);
  stepper_go(k->stepper, m);
  k->transitions++;
}

/* ---- judging ---- */

void worker_judge(Worker *k, void (*broken)(void *data, gint check, const char *why), void *data) {
  const Model *m = stepper_model(k->stepper);
  bool any = false;
  for (guint i = 0; i < k->o->n_checks; i++) {
    if (k->whys[i]->len) g_string_truncate(k->whys[i], 0);
    k->judged[i] = k->o->checks[i]->judge(m, k->whys[i]);
    if (k->judged[i] == JUDGED_BLIND) k->blind[i] = 1;
    any |= k->judged[i] == JUDGED_BROKEN;
  }
  if (!any) return;
  for (guint i = 0; i < k->o->n_checks; i++) /* only now: `broken` may walk about */
    if (k->judged[i] == JUDGED_BROKEN) broken(data, (gint)i, k->whys[i]->str);
}

void worker_judge_rest(Worker *k, void (*broken)(void *data, gint check, const char *why), void *data) {
  if (!k->liveness || !stepper_may_rest(k->stepper)) return;
  g_autoptr(GPtrArray) whys = g_ptr_array_new_with_free_func(g_free); /* by check: `broken` may walk about */
  for (guint i = 0; i < k->o->n_checks; i++) g_ptr_array_add(whys, stepper_rests_pending(k->stepper, k->o->checks[i]));
  for (guint i = 0; i < k->o->n_checks; i++)
    if (whys->pdata[i]) broken(data, (gint)i, whys->pdata[i]);
}

char *worker_stuck(Worker *k) {
  const Model *m = stepper_model(k->stepper);
  if (m->ops->done(m)) return NULL;
  if (stepper_waits_for_limit(k->stepper)) {
    k->waits_limit++;
    return NULL;
  }
  return model_deadlock_words(k->w);
}

static void finding_free(Finding *f) {
  g_free(f->why);
  g_free(f->signature);
  g_array_unref(f->path);
  g_free(f);
}

/* ---- results ---- */

static SearchResult *search_result_new(const SearchOptions *o) {
  SearchResult *r = g_new0(SearchResult, 1);
  r->findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  r->seen = g_ptr_array_new_with_free_func(g_free);
  r->blind = g_new0(guint, o->n_checks + 1);
  return r;
}

void search_result_free(SearchResult *r) {
  if (!r) return;
  g_ptr_array_unref(r->findings);
  g_ptr_array_unref(r->seen);
  g_free(r->blind);
  g_free(r);
}

static guint found(const SearchResult *r, gint check) {
  guint n = 0;
  for (guint i = 0; i < r->findings->len; i++) n += ((const Finding *)r->findings->pdata[i])->check == check;
  return n;
}

bool search_wants(const SearchResult *r, const SearchOptions *o, gint check) {
  return found(r, check) == 0 || r->findings->len < o->findings_max;
}

/* Each check once, and as many different ones as asked for. */
bool search_satisfied(const SearchResult *r, const SearchOptions *o) {
  if (r->findings->len < o->findings_max || r->findings->len == 0) return false;
  for (guint i = 0; i < o->n_checks; i++)
    if (found(r, (gint)i) == 0) return false;
  return o->n_checks > 0 || found(r, -1) > 0;
}

/* Walks the path in the worker's stepper, up to its last step. */
static char *signature_of(Worker *k, const SearchOptions *o, gint check, const GArray *path) {
  const char *name = check < 0 ? "deadlock" : o->checks[check]->name;
  if (path->len == 0) return g_strdup(name);
  vector_reset(k->layout, k->arena);
  for (guint i = 0; i + 1 < path->len; i++) stepper_follow(k->stepper, &g_array_index(path, Branch, i));
  Move last = g_array_index(path, Branch, path->len - 1).move;
  if (last.kind == MOVE_DELIVER || last.kind == MOVE_LOSE)
    return g_strdup_printf("%s %s %s", name, last.kind == MOVE_LOSE ? "lose" : "deliver",
                           object_name(k->w, last.subject));
  return g_strdup_printf("%s %s %s", name, world_name_of(k->w, last.subject), world_at(k->w, last.subject));
}

bool search_add_finding(SearchResult *r, const SearchOptions *o, Worker *k, gint check, const char *why, GArray *path) {
  g_autofree char *signature = signature_of(k, o, check, path);
  bool known = !search_wants(r, o, check);
  for (guint i = 0; i < r->findings->len; i++)
    known |= strcmp(((const Finding *)r->findings->pdata[i])->signature, signature) == 0;
  if (known) return g_array_unref(path), false;
  Finding *f = g_new0(Finding, 1);
  *f = (Finding){check, g_strdup(why), path, -1, g_steal_pointer(&signature)};
  g_ptr_array_add(r->findings, f);
  return true;
}

bool search_has_liveness(const SearchOptions *o) {
  for (guint i = 0; i < o->n_checks; i++)
    if (check_is_liveness(o->checks[i])) return true;
  return false;
}

const char *search_stop_words(SearchStop s) {
  static const char *const words[] = {
      "nothing is left to try", "found what was wanted", "the limit of states", "the limit of depth",
      "the limit of time",      "the limit of memory",   "all walks were made", "interrupted"};
  return words[s];
}

bool search_late(const SearchOptions *o) {
  return o->deadline_us > 0 && g_get_monotonic_time() >= o->deadline_us;
}

SearchResult *search_run(const SearchOptions *given, GError **error) {
  gint64 started = g_get_monotonic_time();
  SearchOptions timed = *given, *o = &timed; /* workers point to it; all end with this call */
  guint n = o->strategy == STRATEGY_BFS ? MAX(o->jobs, 1) : 1;
  if (o->max_seconds > 0 && !o->deadline_us) o->deadline_us = started + (gint64)(o->max_seconds * G_USEC_PER_SEC);
  Crew *c = crew_new(o, n, error);
  if (!c) return NULL;
  SearchResult *r = search_result_new(o);
  switch (o->strategy) {
  case STRATEGY_BFS: search_bfs(c, o, r); break;
  case STRATEGY_DFS: search_dfs(c, o, r); break;
  case STRATEGY_RANDOM:
  case STRATEGY_PCT: search_walks(c, o, r); break;
  }
  crew_tell(c, r);
  crew_free(c);
  r->seconds = (double)(g_get_monotonic_time() - started) / 1e6;
  return r;
}
