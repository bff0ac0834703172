/* explore_shorten.c - a finding, made shorter: from its end on, each choice the first in time where the same is
 * wrong. */
#include "sim/live/explore_parts.h"

static bool is_still_wrong(Search *q, const GArray *choices, const char *what, GError **error) {
  path_follow(q, choices);
  g_autoptr(RunResult) r = explore_run_once(q, NULL, NULL, error);
  q->x->shrunk_runs++;
  return r && !q->differed && explore_is_wrong(r, what);
}

/* The first in time is taken beyond the end too. */
static void drop_tail(GArray *choices) {
  while (choices->len && g_array_index(choices, uint64_t, choices->len - 1) == 0)
    g_array_set_size(choices, choices->len - 1);
}

static guint deviations(const GArray *choices) {
  guint n = 0;
  for (guint i = 0; i < choices->len; i++) n += g_array_index(choices, uint64_t, i) > 0;
  return n;
}

/* False: the same choices do not show it, as it came by itself, or nobody waits for them. */
static bool comes_again(Search *q, const GArray *choices, const char *what, GError **error) {
  if (is_still_wrong(q, choices, what, error)) return true;
  const gint *interrupted = q->live->interrupted;
  q->x->stop = interrupted && g_atomic_int_get(interrupted) ? EXPLORED_INTERRUPTED : EXPLORED_DIFFERED;
  return false;
}

bool path_shorten(Search *q, const char *what, GError **error) {
  enum { BUDGET = 400 };
  GError *problem = NULL;
  g_autoptr(GArray) best = path_choices(q);
  q->fixed = true;
  drop_tail(best);
  bool again = comes_again(q, best, what, &problem);
  for (guint i = best->len; again && i-- > 0 && q->x->shrunk_runs < BUDGET && !problem;) {
    uint64_t *took = &g_array_index(best, uint64_t, i), was = *took;
    *took = 0;
    if (was && !is_still_wrong(q, best, what, &problem)) *took = was;
  }
  drop_tail(best);
  path_follow(q, best);
  q->x->deviations = deviations(best);
  if (problem) g_propagate_error(error, problem);
  return !problem;
}
