/* sweep_run.c - running a plan's points on threads. A worker takes points in order and shares nothing with the others
 * but the array of results and what stands under the lock. */
#include "sim/sweep.h"

typedef struct {
  const SweepPlan *plan;
  const SweepRunOptions *o;
  GPtrArray *results;
  GMutex lock; /* over results and what follows */
  guint done;
  guint failed; /* the least point that has an error; none yet: the number of points */
  GError *error;
} Sweep;

static bool interrupted(const Sweep *s) {
  return s->o->interrupted && g_atomic_int_get(s->o->interrupted);
}

/* Points are begun in order, so when `failed` is known, each point before it has been begun; it must also end, since
 * its error would come first. Later ones need not be begun. */
static bool wanted(Sweep *s, guint point) {
  g_mutex_lock(&s->lock);
  bool yes = point < s->failed;
  g_mutex_unlock(&s->lock);
  return yes && !interrupted(s);
}

static void fail(Sweep *s, guint point, GError *error_taken) {
  if (point < s->failed) {
    g_clear_error(&s->error);
    s->error = error_taken;
    s->failed = point;
  } else {
    g_error_free(error_taken);
  }
}

static void finish(Sweep *s, guint point, RunResult *r_taken) {
  GError *error = NULL;
  s->results->pdata[point] = r_taken;
  s->done++;
  if (s->o->finished && !s->o->finished(s->o->data, point, r_taken, s->done, &error)) fail(s, point, error);
}

static RunResult *run(const Sweep *s, guint point, GError **error) {
  g_autoptr(Scenario) scenario = sweep_load(s->plan, point, s->o->base, error);
  if (!scenario) return NULL;
  return s->o->run(s->o->data, scenario, error);
}

/* data: the point's number plus one, as NULL is not to be pushed. */
static void work(gpointer data, gpointer user) {
  Sweep *s = user;
  const guint point = GPOINTER_TO_UINT(data) - 1;
  if (!wanted(s, point)) return;
  GError *error = NULL;
  RunResult *r = run(s, point, &error);
  g_assert((r == NULL) == (error != NULL));
  g_mutex_lock(&s->lock);
  if (error) {
    g_autofree char *name = sweep_point_name(s->plan, point);
    g_prefix_error(&error, "%s: ", name);
    fail(s, point, error);
  } else if (r->interrupted) {
    run_result_free(r);
  } else {
    finish(s, point, r);
  }
  g_mutex_unlock(&s->lock);
}

bool sweep_run(const SweepPlan *p, const SweepRunOptions *o, GPtrArray *results, GError **error) {
  g_assert(o->jobs > 0 && results->len == sweep_points(p));
  Sweep s = {.plan = p, .o = o, .results = results, .failed = results->len};
  g_mutex_init(&s.lock);
  for (guint point = 0; point < results->len; point++) s.done += results->pdata[point] != NULL;
  GThreadPool *pool = g_thread_pool_new(work, &s, (gint)o->jobs, TRUE, error);
  for (guint point = 0; pool && point < results->len; point++) /* a worker writes only to its own, pushed point */
    if (!results->pdata[point] && !sweep_refused(p, point) && (!o->wanted || o->wanted(o->data, point)))
      g_thread_pool_push(pool, GUINT_TO_POINTER(point + 1), NULL);
  if (pool) g_thread_pool_free(pool, FALSE, TRUE);
  g_mutex_clear(&s.lock);
  if (s.error) g_propagate_error(error, s.error);
  return pool && !s.error;
}
