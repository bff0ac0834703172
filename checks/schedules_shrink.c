/* schedules_shrink.c - the fewest preemptions that break the same: unreduced searches with 0, 1, 2, ... preemptions
 * allowed, each of so many schedules at most; then, of the same number, the shortest that was met. */
#include "checks/schedules_parts.h"

static ScheduleFinding *same_among(SchedulesResult *r, const char *words) {
  for (guint i = 0; i < r->findings->len; i++) {
    ScheduleFinding *f = r->findings->pdata[i];
    if (schedules_same(f->words, words)) return f;
  }
  return NULL;
}

static bool try_bound(const ScheduleProgram *p, ScheduleFinding *f, guint max_steps, guint bound, uint64_t budget) {
  SchedulesOptions o = {.strategy = SCHEDULES_DFS,
                        .preemptions = (int)bound,
                        .delays = -1,
                        .max_steps = max_steps,
                        .max_schedules = budget,
                        .findings_max = 1,
                        .wanted = (const char *const[]){f->words, NULL}};
  g_autoptr(SchedulesResult) r = schedules_search(p, &o);
  ScheduleFinding *better = same_among(r, f->words);
  if (!better) return false;
  ScheduleFinding old = *f;
  *f = *better;
  *better = old;
  return true;
}

void schedules_shrink(const ScheduleProgram *p, ScheduleFinding *f, guint max_steps, uint64_t budget) {
  for (guint bound = 0; bound < f->preemptions; bound++)
    if (try_bound(p, f, max_steps, bound, budget)) return;
}
