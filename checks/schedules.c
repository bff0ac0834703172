/* schedules.c - see schedules.h: what all searches do with a program, and their result. schedules_tree.c goes through
 * the tree of schedules, schedules_split.c with several processes, schedules_walk.c draws them. */
#include "checks/schedules_parts.h"
#include <time.h>

/* ---- the program, a step at a time ---- */

void schedules_restart(Schedules *s) {
  s->program->restart(s->program->data);
}

/* Rounds of p's loop since anybody else changed anything. */
static guint rounds_alone(const Order *o, guint p, const void *pc) {
  guint rounds = 0;
  for (guint i = o->events->len; i-- > 0;) {
    const ScheduleEvent *e = order_event(o, i);
    if (e->process != p && e->changed && operation_touches(e->op.kind)) break;
    rounds += e->process == p && e->op.kind == OPERATION_SPIN && e->op.pc == pc;
  }
  return rounds;
}

uint64_t schedules_spins_on(const Order *o, const Operation *next, uint64_t waiting) {
  enum { ROUNDS_MOST = 100 };
  for (uint64_t left = waiting; left; left &= left - 1) {
    guint p = (guint)__builtin_ctzll(left);
    if (next[p].kind == OPERATION_SPIN && next[p].counts && rounds_alone(o, p, next[p].pc) < ROUNDS_MOST)
      return process_bit(p);
  }
  return 0;
}

static void note_counted(Schedules *s, guint p) {
  SchedulesResult *r = s->result;
  if (!r->counted_at) r->counted_at = s->next[p].pc, r->counted_in = p;
}

uint64_t schedules_look(Schedules *s) {
  uint64_t ready = 0;
  s->alive = 0;
  for (guint p = 0; p < s->program->processes; p++) {
    ProcessState state = s->program->pending(s->program->data, p, &s->next[p]);
    if (state == PROCESS_ENDED) continue;
    s->alive |= process_bit(p);
    bool waits = s->next[p].kind == OPERATION_SPIN ? !order_spin_ready(&s->order, p) : state == PROCESS_WAITS;
    if (!waits) ready |= process_bit(p);
    if (waits && s->next[p].kind == OPERATION_SPIN && s->next[p].counts) note_counted(s, p);
  }
  return ready ? ready : schedules_spins_on(&s->order, s->next, s->alive);
}

void schedules_step(Schedules *s, guint p) {
  bool failed = false, changed = false;
  Operation op = s->next[p];
  s->program->step(s->program->data, p, &failed, &changed);
  order_push(&s->order, p, &op);
  ScheduleEvent *e = order_event(&s->order, s->order.events->len - 1);
  e->failed = failed;
  e->changed = changed;
  s->result->steps++;
}

bool schedules_is_buffer(const Schedules *s, guint p) {
  return s->program->buffers && p >= s->program->buffers && p < 2 * s->program->buffers;
}

/* Who went last before event i, store buffers aside; G_MAXUINT: nobody. */
guint schedules_last(const Schedules *s, guint i) {
  while (i > 0 && schedules_is_buffer(s, order_event(&s->order, i - 1)->process)) i--;
  return i ? order_event(&s->order, i - 1)->process : G_MAXUINT;
}

/* A process that is left while it could go on was preempted. A round of spinning gives way by itself. */
bool schedules_preempts(const Schedules *s, guint i, uint64_t ready, guint p) {
  guint last = schedules_last(s, i);
  if (last == G_MAXUINT || schedules_is_buffer(s, p)) return false;
  return p != last && (ready & process_bit(last)) && s->next[last].kind != OPERATION_SPIN;
}

/* What is broken is named before the first colon; what else the words say may differ from state to state. */
bool schedules_same(const char *a, const char *b) {
  size_t n = strcspn(a, ":");
  return n == strcspn(b, ":") && strncmp(a, b, n) == 0;
}

ScheduleFinding *schedule_finding_known(const SchedulesResult *r, const char *words) {
  for (guint i = 0; i < r->findings->len; i++) {
    ScheduleFinding *f = r->findings->pdata[i];
    if (schedules_same(f->words, words)) return f;
  }
  return NULL;
}

bool schedules_known(const SchedulesResult *r, const char *words) {
  return schedule_finding_known(r, words) != NULL;
}

static bool all_wanted(const SchedulesOptions *o, const SchedulesResult *r) {
  for (guint i = 0; o->wanted && o->wanted[i]; i++)
    if (!schedules_known(r, o->wanted[i])) return false;
  return true;
}

/* Where the shortest schedule is wanted, a shorter one takes the place of what was found. */
static void keep(Schedules *s, const char *words) {
  const char *shortest = s->options->shortest;
  ScheduleFinding *known = schedule_finding_known(s->result, words);
  if (known && !(shortest && schedules_same(words, shortest) && s->order.events->len < known->order->len)) return;
  if (known) g_ptr_array_remove(s->result->findings, known);
  ScheduleFinding *f = schedule_finding_new(words, s->preemptions);
  for (guint i = 0; i < s->order.events->len; i++) g_array_append_val(f->order, order_event(&s->order, i)->process);
  g_ptr_array_add(s->result->findings, f);
}

bool schedules_judge(Schedules *s, bool end) {
  const ScheduleProgram *p = s->program;
  const char *words = NULL;
  guint n = 0;
  while (p->broken && (words = p->broken(p->data, end, n))) keep(s, words), n++;
  return n > 0;
}

uint64_t schedules_done(const SchedulesResult *r) {
  return r->schedules + r->redundant + r->cut;
}

bool schedules_exhausted(const SchedulesResult *r) {
  return r->stop == SCHEDULES_EXHAUSTED && !r->cut && !r->counted_at && !r->bounded;
}

static void tell_cut(Schedules *s, uint64_t done) {
  enum { ENOUGH = 100 };
  if (s->told_cut || !s->options->all_cut || done < ENOUGH) return;
  s->told_cut = true;
  if (s->result->cut == done) s->options->all_cut(s->program->data, s->result->cut_in, s->result->cut_at);
}

bool schedules_over(Schedules *s) {
  const SchedulesOptions *o = s->options;
  SchedulesResult *r = s->result;
  uint64_t done = schedules_done(r);
  tell_cut(s, done);
  if (o->findings_max && r->findings->len >= o->findings_max && all_wanted(o, r))
    return r->stop = SCHEDULES_FOUND, true;
  if (o->interrupted && *o->interrupted) return r->stop = SCHEDULES_INTERRUPTED, true;
  if (o->max_schedules && done >= o->max_schedules) return r->stop = SCHEDULES_LIMIT, true;
  bool late = o->max_seconds > 0 && schedules_seconds(s) > o->max_seconds;
  if (late) r->stop = SCHEDULES_LIMIT;
  return late;
}

void schedules_note_cut(Schedules *s) {
  SchedulesResult *r = s->result;
  const ScheduleEvent *last = order_event(&s->order, s->order.events->len - 1);
  if (!r->cut) r->cut_at = last->op.pc, r->cut_in = last->process;
}

double schedules_seconds(const Schedules *s) {
  return (double)(g_get_monotonic_time() - s->began) / G_USEC_PER_SEC;
}

double schedules_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- coverage ---- */

static uint64_t buffers_of(const Schedules *s) {
  guint n = s->program->buffers;
  return n ? ((UINT64_C(1) << n) - 1) << n : 0;
}

void schedules_cover_step(Schedules *s, guint i, uint64_t ready, guint p) {
  guint last = schedules_last(s, i);
  if (last == G_MAXUINT || !(ready & process_bit(last)) || s->next[last].kind == OPERATION_SPIN) return;
  if (!(ready & ~buffers_of(s) & ~process_bit(last))) return;
  bool taken = p != last && !schedules_is_buffer(s, p);
  *tally_at(&s->result->coverage.points, (uintptr_t)s->next[last].pc) |= POINT_SEEN | (taken ? POINT_TAKEN : 0);
}

/* What happened before what, of each event, is what a class is; their sum does not know the order. Reduced, each
 * schedule is a class of its own. */
void schedules_cover_end(Schedules *s) {
  uint64_t sum = 0;
  if (s->options->strategy == SCHEDULES_DPOR) return;
  for (guint i = 0; i < s->order.events->len; i++) sum += order_hash(&s->order, i);
  ++*tally_at(&s->result->coverage.classes, sum);
}

uint64_t schedules_classes(const SchedulesResult *r, SchedulesStrategy strategy) {
  return strategy == SCHEDULES_DPOR ? r->schedules : r->coverage.classes.used;
}

double schedules_estimate(const SchedulesResult *r) {
  return r->coverage.part > 0 ? (double)r->schedules / r->coverage.part : 0;
}

double schedules_chance_of_news(const SchedulesResult *r) {
  return r->schedules ? (double)tally_count(&r->coverage.classes, 1) / (double)r->schedules : 1;
}

/* ---- results ---- */

ScheduleFinding *schedule_finding_new(const char *words, guint preemptions) {
  ScheduleFinding *f = g_new0(ScheduleFinding, 1);
  f->words = g_strdup(words);
  f->preemptions = preemptions;
  f->order = g_array_new(FALSE, FALSE, sizeof(guint));
  return f;
}

void schedule_finding_free(void *data) {
  ScheduleFinding *f = data;
  g_free(f->words);
  g_array_unref(f->order);
  g_free(f);
}

SchedulesResult *schedules_result_new(void) {
  SchedulesResult *r = g_new0(SchedulesResult, 1);
  r->findings = g_ptr_array_new_with_free_func(schedule_finding_free);
  r->races = g_ptr_array_new_with_free_func(schedule_race_free);
  return r;
}

void schedules_result_free(SchedulesResult *r) {
  if (!r) return;
  g_ptr_array_unref(r->findings);
  g_ptr_array_unref(r->races);
  coverage_clear(&r->coverage);
  g_free(r);
}

SchedulesResult *schedules_search(const ScheduleProgram *p, const SchedulesOptions *o) {
  g_assert(p->processes && p->processes <= SCHEDULE_PROCESSES_MAX && o->max_steps);
  SchedulesResult *r = schedules_result_new();
  Search x;
  schedules_search_init(&x, p, o, r);
  if (o->strategy == SCHEDULES_RANDOM || o->strategy == SCHEDULES_PCT)
    schedules_walk(&x.s);
  else if (o->jobs > 1)
    schedules_split(&x);
  else
    schedules_through(&x);
  r->seconds = schedules_seconds(&x.s);
  r->cpu += schedules_cpu() - x.s.cpu_began;
  schedules_search_clear(&x);
  return r;
}
