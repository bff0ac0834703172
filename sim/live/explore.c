/* explore.c - see explore.h. A run is made of its choices; the search keeps the path of the last one and changes its
 * end. What a run did before a choice is done again for each, by a pooler that is started anew, or is as fresh
 * (reuse.c).
 */
#include "sim/live/explore.h"
#include "model/world/rng.h"
#include <string.h>

bool explore_strategy(const char *word, ExploreStrategy *s) {
  static const char *const words[] = {"dfs", "random", "pct"};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
    *s = (ExploreStrategy)i;
    if (!word || strcmp(word, words[i]) == 0) return true;
  }
  return false;
}

/* A place where something was chosen. Asleep: what was tried before from here or above, and commutes with all that has
 * been done since; to do it now leads to an order that is equal to one made before. */
typedef struct {
  uint64_t n, took;
  GArray *options, *asleep; /* of LiveOption; options: empty where it is no LIVE_NEXT */
} Place;

typedef struct {
  const Scenario *scenario;
  const LiveOptions *live;
  const ExploreOptions *o;
  Explored *x;
  GArray *path;   /* of Place */
  GArray *wanted; /* of uint64_t: what a fixed run takes, as far as it goes */
  guint depth;    /* in this run */
  bool fixed;     /* the path alone decides, then the first in time */
  bool redundant, differed;
  double orders; /* Knuth's product */
  Rng rng;
  uint64_t run_seed;
  GArray *drops;         /* of guint: depths at which pct lowers a priority */
  GHashTable *lowered;   /* ids, looked up only */
  GHashTable *histories; /* of Hash128 */
  double estimates;
  LiveReuse *reuse; /* NULL: each run starts its own */
} Search;

static void clear_place(gpointer data) {
  Place *p = data;
  g_array_unref(p->options);
  g_array_unref(p->asleep);
}

static Place *place_at(const Search *q, guint i) {
  return &g_array_index(q->path, Place, i);
}

static bool sleeps(const Place *p, uint64_t id) {
  for (guint i = 0; i < p->asleep->len; i++)
    if (g_array_index(p->asleep, LiveOption, i).id == id) return true;
  return false;
}

/* What sleeps above and commutes with what was done there still sleeps. */
static GArray *asleep_below(const Place *above) {
  GArray *a = g_array_new(FALSE, FALSE, sizeof(LiveOption));
  if (!above->options->len) {
    g_array_append_vals(a, above->asleep->data, above->asleep->len);
    return a;
  }
  const LiveOption *done = &g_array_index(above->options, LiveOption, above->took);
  for (guint i = 0; i < above->asleep->len; i++) {
    const LiveOption *o = &g_array_index(above->asleep, LiveOption, i);
    if (!(o->touches & done->touches)) g_array_append_val(a, *o);
  }
  return a;
}

static void new_place(Search *q, uint64_t n, const LiveOption *options) {
  Place p = {.n = n, .options = g_array_new(FALSE, FALSE, sizeof(LiveOption))};
  if (options) g_array_append_vals(p.options, options, (guint)n);
  p.asleep = q->path->len ? asleep_below(place_at(q, q->path->len - 1)) : g_array_new(FALSE, FALSE, sizeof(LiveOption));
  g_array_append_val(q->path, p);
}

/* The first from `from` on that does not sleep; n: all do. */
static uint64_t first_awake(const Place *p, uint64_t from) {
  uint64_t i = from;
  while (i < p->n && p->options->len && sleeps(p, g_array_index(p->options, LiveOption, i).id)) i++;
  return i;
}

/* ---- choosing ---- */

static uint64_t by_priority(Search *q, uint64_t n, const LiveOption *options) {
  uint64_t best = 0, most = 0;
  for (uint64_t i = 0; i < n; i++) {
    const bool low = g_hash_table_contains(q->lowered, &options[i].lane);
    uint64_t rank = rng_mix(q->run_seed, options[i].lane) >> (low ? 33 : 1);
    if (i == 0 || rank > most) best = i, most = rank;
  }
  for (guint i = 0; i < q->drops->len; i++)
    if (g_array_index(q->drops, guint, i) == q->depth)
      g_hash_table_add(q->lowered, g_memdup2(&options[best].lane, sizeof options[best].lane));
  return best;
}

static uint64_t decide(Search *q, const Place *p, const LiveOption *options) {
  if (q->fixed) return q->depth <= q->wanted->len ? g_array_index(q->wanted, uint64_t, q->depth - 1) : 0;
  switch (q->o->strategy) {
  case EXPLORE_RANDOM: return rng_below(&q->rng, p->n);
  case EXPLORE_PCT: return options ? by_priority(q, p->n, options) : rng_below(&q->rng, p->n);
  default: return first_awake(p, 0);
  }
}

/* What may be next is not what it was when the same was chosen before. */
static bool is_another(const Place *p, const LiveOption *options) {
  if (!options != !p->options->len) return true;
  for (guint i = 0; i < p->options->len; i++)
    if (g_array_index(p->options, LiveOption, i).id != options[i].id) return true;
  return false;
}

static uint64_t choose(void *data, LiveChoice what, uint64_t n, const LiveOption *options) {
  Search *q = data;
  (void)what;
  if (q->redundant || q->differed) return 0;
  guint at = q->depth++;
  q->orders *= (double)n;
  if (at == q->path->len) {
    new_place(q, n, options);
    uint64_t took = decide(q, place_at(q, at), options);
    q->redundant = !q->fixed && took == n;
    place_at(q, at)->took = q->redundant ? 0 : took;
  }
  Place *p = place_at(q, at);
  q->differed |= p->n != n || p->took >= n || is_another(p, options);
  q->x->longest = MAX(q->x->longest, q->depth);
  return q->differed ? 0 : p->took;
}

static bool saw(void *data, const TraceStep *step) {
  const Search *q = data;
  (void)step;
  return !q->redundant && !q->differed;
}

/* ---- one run ---- */

static RunResult *run_once(Search *q, LiveReuse *reuse, const char *trace, GError **error) {
  const LiveChooser chooser = {.choose = choose, .saw = saw, .data = q, .any_order = true};
  LiveOptions live = *q->live;
  live.chooser = &chooser;
  live.trace_path = trace;
  live.reuse = reuse;
  q->depth = 0;
  q->redundant = q->differed = false;
  q->orders = 1;
  return live_run(q->scenario, &live, error);
}

static bool violates(const RunResult *r, const char *check) {
  for (guint i = 0; i < r->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    if (c->verdict == CHECK_VIOLATED && (!check || strcmp(c->check->name, check) == 0)) return true;
  }
  return false;
}

static const char *broken_check(const RunResult *r) {
  for (guint i = 0; i < r->checks->len; i++)
    if (g_array_index(r->checks, CheckResult, i).verdict == CHECK_VIOLATED)
      return g_array_index(r->checks, CheckResult, i).check->name;
  return NULL;
}

/* To the next path; false: there is none. */
static bool next_path(Search *q) {
  if (q->o->strategy != EXPLORE_DFS) return g_array_set_size(q->path, 0), true;
  while (q->path->len) {
    Place *p = place_at(q, q->path->len - 1);
    if (p->options->len) g_array_append_val(p->asleep, g_array_index(p->options, LiveOption, p->took));
    p->took = first_awake(p, p->took + 1);
    if (p->took < p->n) return true;
    g_array_set_size(q->path, q->path->len - 1);
  }
  return false;
}

static void before_run(Search *q) {
  enum { STEPS_ABOUT = 64 };
  q->run_seed = rng_next(&q->rng);
  g_array_set_size(q->drops, 0);
  g_hash_table_remove_all(q->lowered);
  guint within = MAX(q->x->longest, STEPS_ABOUT);
  for (guint i = 1; i < q->o->depth; i++) {
    guint at = (guint)rng_below(&q->rng, within) + 1;
    g_array_append_val(q->drops, at);
  }
}

static void after_run(Search *q, const RunResult *r) {
  Explored *x = q->x;
  x->runs++;
  if (q->redundant) {
    x->redundant++;
    return;
  }
  q->estimates += q->orders;
  if (g_hash_table_add(q->histories, g_memdup2(&r->state_hash, sizeof r->state_hash))) x->distinct++;
}

/* ---- the finding, made shorter: each choice the first in time, where that breaks the same ---- */

static bool still_breaks(Search *q, const char *check, GError **error) {
  g_autoptr(RunResult) r = run_once(q, NULL, NULL, error);
  q->x->shrunk_runs++;
  return r && !q->differed && violates(r, check);
}

static GArray *tooks(const Search *q) {
  GArray *t = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (guint i = 0; i < q->path->len; i++) g_array_append_val(t, place_at(q, i)->took);
  return t;
}

/* Only as far as the choices say: what comes behind is the first in time, and has other options than before. */
static void follow(Search *q, const GArray *choices, guint n) {
  g_array_set_size(q->path, 0);
  g_array_set_size(q->wanted, 0);
  g_array_append_vals(q->wanted, choices->data, n);
}

static void shorten(Search *q, const char *check, GError **error) {
  enum { BUDGET = 400 };
  g_autoptr(GArray) best = tooks(q);
  q->fixed = true;
  for (guint i = best->len; i-- > 0 && q->x->shrunk_runs < BUDGET && !*error;) {
    uint64_t was = g_array_index(best, uint64_t, i);
    bool last = i + 1 == best->len;
    if (was == 0 && !last) continue;
    if (was == 0) { /* the tail says nothing */
      g_array_set_size(best, i);
      continue;
    }
    g_array_index(best, uint64_t, i) = 0;
    follow(q, best, best->len);
    if (still_breaks(q, check, error)) continue;
    g_array_index(best, uint64_t, i) = was;
  }
  while (best->len && g_array_index(best, uint64_t, best->len - 1) == 0) g_array_set_size(best, best->len - 1);
  follow(q, best, best->len);
  q->x->deviations = 0;
  for (guint i = 0; i < best->len; i++) q->x->deviations += g_array_index(best, uint64_t, i) > 0;
}

/* ---- the search ---- */

static bool enough(Search *q, gint64 started) {
  if (q->live->interrupted && g_atomic_int_get(q->live->interrupted)) q->x->stop = EXPLORED_INTERRUPTED;
  bool runs = q->o->max_runs && q->x->runs >= q->o->max_runs;
  bool time = q->o->max_seconds && g_get_monotonic_time() - started >= q->o->max_seconds * G_USEC_PER_SEC;
  if (runs || time) q->x->stop = EXPLORED_LIMIT;
  return runs || time || q->x->stop == EXPLORED_INTERRUPTED;
}

/* What a pooler that went on did otherwise, or breaks, counts only if one that is started anew does so too. */
static RunResult *run_in_search(Search *q, GError **error) {
  RunResult *r = run_once(q, q->reuse, NULL, error);
  bool doubted = r && q->reuse && (q->differed || (!q->redundant && violates(r, NULL)));
  if (!doubted || r->interrupted) return r;
  run_result_free(r);
  live_reuse_drop(q->reuse);
  return run_once(q, NULL, NULL, error);
}

static RunResult *search(Search *q, GError **error) {
  gint64 started = g_get_monotonic_time();
  RunResult *last = NULL;
  do {
    if (last && enough(q, started)) return last;
    g_clear_pointer(&last, run_result_free);
    before_run(q);
    last = run_in_search(q, error);
    if (!last) return NULL;
    after_run(q, last);
    if (q->differed) return q->x->stop = EXPLORED_DIFFERED, last;
    if (!q->redundant && violates(last, NULL)) return q->x->stop = EXPLORED_FOUND, last;
    if (last->interrupted) return q->x->stop = EXPLORED_INTERRUPTED, last;
  } while (next_path(q));
  return last;
}

static void keep(RunResult *r, const char *name, double value) {
  Metric m = {g_strdup(name), value};
  g_array_append_val(r->metrics, m);
}

static void tell(const Search *q, RunResult *r) {
  const Explored *x = q->x;
  keep(r, "explore.runs", (double)x->runs);
  keep(r, "explore.redundant", (double)x->redundant);
  keep(r, "explore.distinct", (double)x->distinct);
  keep(r, "explore.longest", x->longest);
  keep(r, "explore.exhausted", x->stop == EXPLORED_ALL);
  if (x->estimate > 0) keep(r, "explore.estimate", x->estimate);
  if (x->stop == EXPLORED_FOUND) keep(r, "explore.deviations", x->deviations);
}

static guint hash_of(gconstpointer key) {
  return (guint)((const Hash128 *)key)->lo;
}
static gboolean same_hash(gconstpointer a, gconstpointer b) {
  return memcmp(a, b, sizeof(Hash128)) == 0;
}

/* Once more, with its trace. */
static RunResult *show(Search *q, RunResult *last, GError **error) {
  bool found = q->x->stop == EXPLORED_FOUND;
  g_autofree char *check = g_strdup(found ? broken_check(last) : NULL);
  run_result_free(last);
  g_autoptr(GArray) path = tooks(q);
  if (found) shorten(q, check, error);
  if (*error) return NULL;
  if (!found) follow(q, path, path->len);
  q->fixed = true;
  return run_once(q, NULL, q->live->trace_path, error);
}

RunResult *live_explore(const Scenario *s, const LiveOptions *o, const ExploreOptions *e, Explored *x, GError **error) {
  GError *problem = NULL;
  *x = (Explored){.stop = EXPLORED_ALL};
  Search q = {.scenario = s,
              .live = o,
              .o = e,
              .x = x,
              .path = g_array_new(FALSE, TRUE, sizeof(Place)),
              .wanted = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
              .drops = g_array_new(FALSE, FALSE, sizeof(guint)),
              .lowered = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
              .histories = g_hash_table_new_full(hash_of, same_hash, g_free, NULL)};
  g_array_set_clear_func(q.path, clear_place);
  rng_init(&q.rng, scenario_seed(s), "explore");
  q.reuse = e->reuse ? live_reuse_new() : NULL;
  RunResult *r = search(&q, &problem);
  x->reused = q.reuse ? live_reuse_kept(q.reuse) : 0;
  g_clear_pointer(&q.reuse, live_reuse_free);
  if (r && x->runs > x->redundant) x->estimate = q.estimates / (double)(x->runs - x->redundant);
  if (e->strategy == EXPLORE_DFS) x->estimate = 0; /* its paths are no random ones */
  if (r && x->stop != EXPLORED_DIFFERED && (x->stop == EXPLORED_FOUND || o->trace_path)) r = show(&q, r, &problem);
  if (r) tell(&q, r);
  g_array_unref(q.path);
  g_array_unref(q.wanted);
  g_array_unref(q.drops);
  g_hash_table_unref(q.lowered);
  g_hash_table_unref(q.histories);
  if (problem) g_propagate_error(error, problem);
  return r;
}
