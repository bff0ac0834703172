/* schedules.c - see schedules.h: the searches that go through schedules one after the other.
 *
 * Source-DPOR: Abdulla, Aronsson, Jonsson, Sagonas, "Source Sets: A Foundation for Optimal Dynamic Partial Order
 * Reduction", JACM 64(4), 2017, algorithm 1. Each step of a schedule has a node: who could go on, who was tried, who is
 * to be tried, who sleeps (everything that would begin with it has been run). When an operation races with an earlier
 * one, the node before that gets one more process to try, unless one of those that could begin the other order is there
 * already (a source set). The unreduced search is the same loop with everybody to be tried and nobody asleep. */
#include "checks/schedules_order.h"
#include "checks/schedules_parts.h"
#include <time.h>

typedef struct {
  uint64_t ready, try, sleep; /* processes; sleep: those done with too */
  guint preemptions;          /* on the way here */
} Node;

typedef struct {
  Schedules s; /* first, so that parts that know only of it may be given one */
  GArray *nodes;
} Search;

static Node *node_at(Search *x, guint i) {
  return &g_array_index(x->nodes, Node, i);
}
static uint64_t bit(guint p) {
  return UINT64_C(1) << p;
}

/* ---- the program, a step at a time ---- */

void schedules_restart(Schedules *s) {
  s->program->restart(s->program->data);
}

uint64_t schedules_look(Schedules *s) {
  uint64_t ready = 0;
  s->alive = 0;
  for (guint p = 0; p < s->program->processes; p++) {
    ProcessState state = s->program->pending(s->program->data, p, &s->next[p]);
    if (state == PROCESS_ENDED) continue;
    s->alive |= bit(p);
    bool waits = s->next[p].kind == OPERATION_SPIN ? !order_spin_ready(&s->order, p) : state == PROCESS_WAITS;
    if (!waits) ready |= bit(p);
  }
  return ready;
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

static bool is_buffer(const Schedules *s, guint p) {
  return s->program->buffers && p >= s->program->buffers && p < 2 * s->program->buffers;
}

/* Who went last before event i, store buffers aside; G_MAXUINT: nobody. */
guint schedules_last(const Schedules *s, guint i) {
  while (i > 0 && is_buffer(s, order_event(&s->order, i - 1)->process)) i--;
  return i ? order_event(&s->order, i - 1)->process : G_MAXUINT;
}

/* A process that is left while it could go on was preempted. A round of spinning gives way by itself. */
bool schedules_preempts(const Schedules *s, guint i, uint64_t ready, guint p) {
  guint last = schedules_last(s, i);
  if (last == G_MAXUINT || is_buffer(s, p)) return false;
  return p != last && (ready & bit(last)) && s->next[last].kind != OPERATION_SPIN;
}

/* What is broken is named before the first colon; what else the words say may differ from state to state. */
bool schedules_same(const char *a, const char *b) {
  size_t n = strcspn(a, ":");
  return n == strcspn(b, ":") && strncmp(a, b, n) == 0;
}

static bool known(const SchedulesResult *r, const char *words) {
  for (guint i = 0; i < r->findings->len; i++)
    if (schedules_same(((const ScheduleFinding *)r->findings->pdata[i])->words, words)) return true;
  return false;
}

static bool all_wanted(const SchedulesOptions *o, const SchedulesResult *r) {
  for (guint i = 0; o->wanted && o->wanted[i]; i++)
    if (!known(r, o->wanted[i])) return false;
  return true;
}

static void keep(Schedules *s, const char *words) {
  if (known(s->result, words)) return;
  ScheduleFinding *f = g_new0(ScheduleFinding, 1);
  f->words = g_strdup(words);
  f->preemptions = s->preemptions;
  f->order = g_array_new(FALSE, FALSE, sizeof(guint));
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

bool schedules_over(Schedules *s) {
  const SchedulesOptions *o = s->options;
  SchedulesResult *r = s->result;
  uint64_t done = r->schedules + r->redundant + r->cut;
  if (o->findings_max && r->findings->len >= o->findings_max && all_wanted(o, r))
    return r->stop = SCHEDULES_FOUND, true;
  if (o->interrupted && *o->interrupted) return r->stop = SCHEDULES_INTERRUPTED, true;
  if (o->max_schedules && done >= o->max_schedules) return r->stop = SCHEDULES_LIMIT, true;
  bool late = o->max_seconds > 0 && !(done & 63) && schedules_seconds(s) > o->max_seconds;
  if (late) r->stop = SCHEDULES_LIMIT;
  return late;
}

double schedules_seconds(const Schedules *s) {
  return (double)(g_get_monotonic_time() - s->began) / G_USEC_PER_SEC;
}

double schedules_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- where to try what ---- */

static void add_try(void *data, guint i, uint64_t first) {
  Search *x = data;
  Node *n = node_at(x, i);
  if (first & n->try) return;
  const SchedulesOptions *o = x->s.options;
  if (o->mutant_drop && ++x->s.added % o->mutant_drop == 0) return;
  uint64_t can = first & n->ready;
  /* Whether a spin goes on is foretold from what stores changed; where that was wrong, all are tried. */
  n->try |= can ? can & -can : n->ready;
}

/* Those that sleep sleep on as long as what they would do commutes with what is done. */
static uint64_t still_asleep(Search *x, uint64_t sleep, guint p) {
  uint64_t rest = 0;
  for (guint q = 0; q < x->s.program->processes; q++)
    if (q != p && (sleep & bit(q)) && !order_next_depend(&x->s.order, p, &x->s.next[p], q, &x->s.next[q]))
      rest |= bit(q);
  return rest;
}

static bool reduces(const Search *x) {
  return x->s.options->strategy == SCHEDULES_DPOR;
}

/* The bound leaves out those who would be one preemption too many. */
static uint64_t within_bound(Search *x, const Node *n, guint i) {
  int most = x->s.options->preemptions;
  if (most < 0 || n->preemptions < (guint)most) return n->ready;
  uint64_t may = 0;
  for (guint p = 0; p < x->s.program->processes; p++)
    if ((n->ready & bit(p)) && !schedules_preempts(&x->s, i, n->ready, p)) may |= bit(p);
  if (may != n->ready) x->s.result->bounded++;
  return may;
}

/* The one that went last goes first: the first schedule has no preemption. What it stored is written before: the first
 * schedule is sequentially consistent. */
static guint favourite(const Search *x, guint i, uint64_t from) {
  guint last = schedules_last(&x->s, i), buffers = x->s.program->buffers;
  if (last != G_MAXUINT && last < buffers && (from & bit(last + buffers))) return last + buffers;
  return last != G_MAXUINT && (from & bit(last)) ? last : (guint)__builtin_ctzll(from);
}

static void make_node(Search *x, uint64_t sleep, guint preemptions) {
  guint i = x->nodes->len;
  Node n = {.ready = schedules_look(&x->s), .sleep = sleep, .preemptions = preemptions};
  uint64_t awake = n.ready & ~sleep;
  if (!reduces(x))
    n.try = within_bound(x, &n, i);
  else if (awake)
    n.try = bit(favourite(x, i, awake));
  g_array_append_val(x->nodes, n);
}

static void do_step(Search *x, guint i, guint p) {
  Node *n = node_at(x, i);
  guint preemptions = n->preemptions + schedules_preempts(&x->s, i, n->ready, p);
  uint64_t sleep = 0;
  if (reduces(x)) {
    order_races(&x->s.order, p, &x->s.next[p], add_try, x);
    n = node_at(x, i);
    sleep = still_asleep(x, n->sleep, p);
  }
  n->sleep |= bit(p);
  x->s.preemptions = preemptions;
  schedules_step(&x->s, p);
  make_node(x, sleep, preemptions);
}

/* ---- one schedule to its end; the next ---- */

/* What waits for ever could have come earlier too. */
static void races_of_waiting(Search *x) {
  for (guint p = 0; reduces(x) && p < x->s.program->processes; p++)
    if (x->s.alive & bit(p)) order_races(&x->s.order, p, &x->s.next[p], add_try, x);
}

static void ended(Search *x) {
  races_of_waiting(x);
  schedules_judge(&x->s, true);
  x->s.result->schedules++;
  x->s.result->longest = MAX(x->s.result->longest, x->s.order.events->len);
  if (x->s.options->at_end) x->s.options->at_end(x->s.options->user, x->s.program->data);
}

/* Nothing is tried from here on, but what races with what would come next still is, before it. */
static void give_up(Search *x, Node *n, uint64_t *count) {
  races_of_waiting(x);
  n->sleep |= n->ready;
  ++*count;
}

static void go_to_end(Search *x) {
  SchedulesResult *r = x->s.result;
  for (;;) {
    guint i = x->nodes->len - 1;
    Node *n = node_at(x, i);
    uint64_t todo = n->try & ~n->sleep;
    if (!n->ready) return ended(x);
    if (schedules_judge(&x->s, false)) return give_up(x, n, &r->schedules);
    if (!todo) {
      r->redundant += reduces(x);
      return;
    }
    if (i >= x->s.options->max_steps) return give_up(x, n, &r->cut);
    do_step(x, i, favourite(x, i, todo));
  }
}

static void lead_back(Search *x, guint steps) {
  const ScheduleProgram *p = x->s.program;
  bool failed, changed;
  if (p->back) return p->back(p->data, steps);
  schedules_restart(&x->s);
  for (guint k = 0; k < steps; k++) p->step(p->data, order_event(&x->s.order, k)->process, &failed, &changed);
}

/* Back to the last node that has something left to try, and the program with it. */
static bool go_back(Search *x) {
  guint i = x->nodes->len;
  while (i > 0 && !(node_at(x, i - 1)->try & ~node_at(x, i - 1)->sleep)) i--;
  if (!i) return false;
  g_array_set_size(x->nodes, i);
  lead_back(x, i - 1);
  order_truncate(&x->s.order, i - 1);
  uint64_t ready = schedules_look(&x->s);
  g_assert(ready == node_at(x, i - 1)->ready); /* else the program does not come back to its first state */
  return true;
}

static void go_through(Search *x) {
  schedules_restart(&x->s);
  make_node(x, 0, 0);
  do go_to_end(x);
  while (!schedules_over(&x->s) && go_back(x));
}

/* ---- the whole ---- */

static void finding_of_schedule_free(void *data) {
  ScheduleFinding *f = data;
  g_free(f->words);
  g_array_unref(f->order);
  g_free(f);
}

void schedules_result_free(SchedulesResult *r) {
  if (!r) return;
  g_ptr_array_unref(r->findings);
  g_free(r);
}

SchedulesResult *schedules_search(const ScheduleProgram *p, const SchedulesOptions *o) {
  g_assert(p->processes && p->processes <= SCHEDULE_PROCESSES_MAX && o->max_steps);
  SchedulesResult *r = g_new0(SchedulesResult, 1);
  r->findings = g_ptr_array_new_with_free_func(finding_of_schedule_free);
  Search x = {
      .s = {.program = p, .options = o, .result = r, .began = g_get_monotonic_time(), .cpu_began = schedules_cpu()}};
  order_init(&x.s.order, p->processes);
  x.s.order.buffers = p->buffers;
  x.s.order.count = p->count;
  x.s.order.data = p->data;
  for (int i = 0; i < 2; i++) x.s.order.mutant_commute[i] = o->mutant_commute[i];
  x.nodes = g_array_new(FALSE, FALSE, sizeof(Node));
  if (o->strategy == SCHEDULES_RANDOM || o->strategy == SCHEDULES_PCT)
    schedules_walk(&x.s);
  else
    go_through(&x);
  r->seconds = schedules_seconds(&x.s);
  r->cpu = schedules_cpu() - x.s.cpu_began;
  g_array_unref(x.nodes);
  order_clear(&x.s.order);
  return r;
}
