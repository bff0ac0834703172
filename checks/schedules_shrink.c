/* schedules_shrink.c - the fewest preemptions that break the same: unreduced searches with 0, 1, 2, ... preemptions
 * allowed until one finds it; then all schedules with so many preemptions, for the fewest steps. */
#include "checks/schedules_parts.h"

typedef struct {
  const ScheduleProgram *program;
  const ShrinkLimits *limits;
} Shrinking;

enum { MOMENT_US = 1000 };

/* 0: any time. */
static double seconds_left(const Shrinking *k) {
  double gone = (double)(g_get_monotonic_time() - k->limits->began) / G_USEC_PER_SEC, most = k->limits->max_seconds;
  return most > 0 ? MAX(most - gone, (double)MOMENT_US / G_USEC_PER_SEC) : 0;
}

static SchedulesOptions within(const Shrinking *k, guint bound) {
  return (SchedulesOptions){.strategy = SCHEDULES_DFS,
                            .preemptions = (int)bound,
                            .delays = -1,
                            .max_steps = k->limits->max_steps,
                            .max_schedules = k->limits->budget,
                            .max_seconds = seconds_left(k),
                            .interrupted = k->limits->stopped};
}

static bool take(ScheduleFinding *f, const SchedulesResult *r) {
  ScheduleFinding *better = schedule_finding_known(r, f->words);
  if (!better) return false;
  ScheduleFinding old = *f;
  *f = *better;
  *better = old;
  return true;
}

static bool all_of(const SchedulesResult *r) {
  return r->stop == SCHEDULES_EXHAUSTED && !r->cut;
}

/* True: one with so many preemptions was found. *none: there is none. */
static bool try_bound(const Shrinking *k, ScheduleFinding *f, guint bound, bool *none) {
  SchedulesOptions o = within(k, bound);
  o.findings_max = 1;
  o.wanted = (const char *const[]){f->words, NULL};
  g_autoptr(SchedulesResult) r = schedules_search(k->program, &o);
  *none = all_of(r);
  return take(f, r);
}

/* True: none is shorter. */
static bool shorten(const Shrinking *k, ScheduleFinding *f) {
  g_autofree char *words = g_strdup(f->words);
  guint steps = f->order->len;
  SchedulesOptions o = within(k, f->preemptions);
  o.shortest = words;
  g_autoptr(SchedulesResult) r = schedules_search(k->program, &o);
  const ScheduleFinding *better = schedule_finding_known(r, words);
  if (better && better->order->len < steps) take(f, r);
  return all_of(r);
}

void schedules_shrink(const ScheduleProgram *p, ScheduleFinding *f, const ShrinkLimits *limits) {
  Shrinking k = {p, limits};
  bool fewer = false, none = true;
  for (guint bound = 0, most = f->preemptions; bound < most && !fewer; bound++) {
    bool no_such;
    fewer = try_bound(&k, f, bound, &no_such);
    if (!fewer) none &= no_such;
  }
  f->fewest = shorten(&k, f) && none;
}
