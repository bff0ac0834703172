/* explore.c - see explore.h. What a run did before a choice is done again for each, by a pooler that is started anew,
 * or is as fresh (reuse.c). */
#include "sim/live/explore_parts.h"
#include <string.h>

bool explore_strategy(const char *word, ExploreStrategy *s) {
  static const char *const words[] = {"dfs", "random", "pct"};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
    *s = (ExploreStrategy)i;
    if (!word || strcmp(word, words[i]) == 0) return true;
  }
  return false;
}

/* ---- one run ---- */

static bool saw(void *data, const TraceStep *step) {
  const Search *q = data;
  (void)step;
  return !q->redundant && !q->differed;
}

RunResult *explore_run_once(Search *q, LiveReuse *reuse, const char *trace, GError **error) {
  const LiveChooser chooser = {.choose = path_choose, .saw = saw, .data = q, .any_order = true};
  LiveOptions live = *q->live;
  live.chooser = &chooser;
  live.trace_path = trace;
  live.reuse = reuse;
  q->depth = 0;
  q->redundant = q->differed = false;
  q->orders = 1;
  return live_run(q->scenario, &live, error);
}

static bool breaks(const RunResult *r, guint check) {
  return g_array_index(r->checks, CheckResult, check).verdict == CHECK_VIOLATED;
}

/* A pooler that ends, hangs or writes garbage, and clients that go on no more, fail any live run. */
static bool went_wrong(const RunResult *r) {
  return r->stopped && !r->interrupted && !r->limited;
}

const char *explore_wrong(const RunResult *r) {
  for (guint i = 0; i < r->checks->len; i++)
    if (breaks(r, i)) return g_array_index(r->checks, CheckResult, i).check->name;
  return went_wrong(r) ? r->stopped : NULL;
}

bool explore_is_wrong(const RunResult *r, const char *what) {
  for (guint i = 0; i < r->checks->len; i++)
    if (breaks(r, i) && strcmp(g_array_index(r->checks, CheckResult, i).check->name, what) == 0) return true;
  return went_wrong(r) && strcmp(r->stopped, what) == 0;
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
  RunResult *r = explore_run_once(q, q->reuse, NULL, error);
  bool doubted = r && q->reuse && (q->differed || (!q->redundant && explore_wrong(r)));
  if (!doubted || r->interrupted) return r;
  run_result_free(r);
  live_reuse_drop(q->reuse);
  return explore_run_once(q, NULL, NULL, error);
}

static RunResult *search(Search *q, GError **error) {
  gint64 started = g_get_monotonic_time();
  RunResult *last = NULL;
  do {
    if (last && enough(q, started)) return last;
    g_clear_pointer(&last, run_result_free);
    path_before_run(q);
    last = run_in_search(q, error);
    if (!last) return NULL;
    after_run(q, last);
    if (q->differed) return q->x->stop = EXPLORED_DIFFERED, last;
    if (!q->redundant && explore_wrong(last)) return q->x->stop = EXPLORED_FOUND, last;
    if (last->interrupted) return q->x->stop = EXPLORED_INTERRUPTED, last;
  } while (path_next(q));
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

/* Once more, with its trace. */
static RunResult *show(Search *q, RunResult *last, GError **error) {
  bool found = q->x->stop == EXPLORED_FOUND;
  g_autofree char *what = g_strdup(found ? explore_wrong(last) : NULL);
  q->x->went_wrong = found && g_strcmp0(what, last->stopped) == 0;
  run_result_free(last);
  g_autoptr(GArray) path = path_choices(q);
  if (found && !path_shorten(q, what, error)) return NULL;
  if (!found) path_follow(q, path);
  q->fixed = true;
  return explore_run_once(q, NULL, q->live->trace_path, error);
}

static double estimate_of(const Search *q) {
  const Explored *x = q->x;
  bool random_paths = q->o->strategy != EXPLORE_DFS;
  return random_paths && x->runs > x->redundant ? q->estimates / (double)(x->runs - x->redundant) : 0;
}

RunResult *live_explore(const Scenario *s, const LiveOptions *o, const ExploreOptions *e, Explored *x, GError **error) {
  *x = (Explored){.stop = EXPLORED_ALL};
  Search q = {.scenario = s, .live = o, .o = e, .x = x};
  path_start(&q);
  q.reuse = e->reuse ? live_reuse_new() : NULL;
  RunResult *r = search(&q, error);
  x->reused = q.reuse ? live_reuse_kept(q.reuse) : 0;
  g_clear_pointer(&q.reuse, live_reuse_free);
  if (r) x->estimate = estimate_of(&q);
  bool again = x->stop == EXPLORED_FOUND || (x->stop != EXPLORED_DIFFERED && o->trace_path);
  if (r && again) r = show(&q, r, error);
  if (r) tell(&q, r);
  if (r) r->limited |= x->stop == EXPLORED_LIMIT;
  if (r && !expect_judge(s, EXPECT_LIVE_ORDERS, r, error)) g_clear_pointer(&r, run_result_free);
  path_end(&q);
  return r;
}
