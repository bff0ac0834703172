/* schedules_raced.c - races that a search has seen: each pair of places and addresses once, with the schedule that is
 * easiest to follow. */
#include "checks/schedules_parts.h"
#include "checks/schedules_races.h"

static bool same_access(const Operation *a, const Operation *b) {
  return a->pc == b->pc && a->object == b->object;
}
static bool same_accesses(const ScheduleRace *a, const Operation *first, const Operation *second) {
  return (same_access(&a->first, first) && same_access(&a->second, second)) ||
         (same_access(&a->first, second) && same_access(&a->second, first));
}

static ScheduleRace *known(const SchedulesResult *r, const Operation *first, const Operation *second) {
  for (guint i = 0; i < r->races->len; i++)
    if (same_accesses(r->races->pdata[i], first, second)) return r->races->pdata[i];
  return NULL;
}

static bool easier(guint changes, guint steps, const ScheduleRace *than) {
  return changes != than->changes ? changes < than->changes : steps < than->order->len;
}

/* How often another process went on, up to event `last`. */
static guint changes_until(const Schedules *s, guint last) {
  guint n = 0, before = G_MAXUINT;
  for (guint i = 0; i <= last; i++) {
    guint p = order_event(&s->order, i)->process;
    if (schedules_is_buffer(s, p)) continue;
    n += before != G_MAXUINT && p != before;
    before = p;
  }
  return n;
}

static ScheduleRace *race_new(void) {
  ScheduleRace *r = g_new0(ScheduleRace, 1);
  r->order = g_array_new(FALSE, FALSE, sizeof(guint));
  return r;
}

void schedule_race_free(void *race) {
  ScheduleRace *r = race;
  g_array_unref(r->order);
  g_free(r);
}

static void put(const Schedules *s, ScheduleRace *to, const Race *r, guint changes) {
  GArray *order = to->order;
  g_array_set_size(order, 0);
  for (guint i = 0; i <= r->at[1]; i++) g_array_append_val(order, order_event(&s->order, i)->process);
  *to = (ScheduleRace){r->first, r->second, {r->processes[0], r->processes[1]}, r->at[0], changes, order};
}

static void keep(void *data, const Race *r) {
  Schedules *s = data;
  ScheduleRace *old = known(s->result, &r->first, &r->second);
  guint changes = changes_until(s, r->at[1]);
  if (old && !easier(changes, r->at[1] + 1, old)) return;
  if (!old) g_ptr_array_add(s->result->races, old = race_new());
  put(s, old, r, changes);
}

void schedules_races(Schedules *s) {
  if (s->options->races) races_find(&s->order, RACES_RIGHT, keep, s);
}

/* In the order of one process, so that what it would have kept is kept. */
void schedules_races_add(SchedulesResult *all, SchedulesResult *part) {
  for (guint i = 0; i < part->races->len; i++) {
    ScheduleRace *new = part->races->pdata[i], *old = known(all, &new->first, &new->second);
    if (old && !easier(new->changes, new->order->len, old)) continue;
    if (!old) g_ptr_array_add(all->races, old = race_new());
    ScheduleRace swap = *old;
    *old = *new;
    *new = swap;
  }
}
