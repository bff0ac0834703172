/* schedules_tree.c - the searches that go through schedules one after the other; see schedules.h.
 *
 * Source-DPOR: Abdulla, Aronsson, Jonsson, Sagonas, "Source Sets: A Foundation for Optimal Dynamic Partial Order
 * Reduction", JACM 64(4), 2017, algorithm 1. Each step of a schedule has a place (Node): who could go on, who is to be
 * tried, who sleeps (everything that would begin with it has been run). When an operation races with an earlier one,
 * the place before that gets one more process to try, unless one of those that could begin the other order is there
 * already (a source set). The unreduced search is the same loop with everybody to be tried and nobody asleep. */
#include "checks/schedules_parts.h"

static Node *node_at(Search *x, guint i) {
  return &g_array_index(x->nodes, Node, i);
}
static bool reduces(const Search *x) {
  return x->s.options->strategy == SCHEDULES_DPOR;
}

/* ---- where to try what ---- */

static void enqueue(Node *n, guint p) {
  n->try |= process_bit(p);
  if (n->sleep & process_bit(p)) return;
  g_assert(n->queued < SCHEDULE_PROCESSES_MAX);
  n->queue[n->queued++] = (guint8)p;
}

void schedules_try(Search *x, guint i, uint64_t first) {
  Node *n = node_at(x, i);
  if (first & n->try) return;
  const SchedulesOptions *o = x->s.options;
  if (o->mutant_drop && ++x->s.added % o->mutant_drop == 0) return;
  uint64_t can = first & n->ready;
  /* Whether a spin goes on is foretold from what stores changed; where that was wrong, all are tried. */
  for (uint64_t add = can ? process_bit(63 - (guint)__builtin_clzll(can)) : n->ready & ~n->try; add; add &= add - 1)
    enqueue(n, (guint)__builtin_ctzll(add));
}

/* What is tried there by now only grows, so what is no news at a place now will be none then. */
static bool told_before(const Search *x, const Foreign *f) {
  if (f->first & g_array_index(x->nodes, Node, f->node).try) return true;
  for (guint k = 0; k < x->foreign->len; k++) {
    const Foreign *g = &g_array_index(x->foreign, Foreign, k);
    if (g->node == f->node && g->first == f->first) return true;
  }
  return false;
}

static void add_try(void *data, guint i, uint64_t first) {
  Search *x = data;
  Foreign f = {i, first};
  if (i >= x->level)
    schedules_try(x, i, first);
  else if (!told_before(x, &f))
    g_array_append_val(x->foreign, f);
}

/* Those that sleep sleep on as long as what they would do commutes with what is done. */
static uint64_t still_asleep(Search *x, uint64_t sleep, guint p) {
  uint64_t rest = 0;
  for (guint q = 0; q < x->s.program->processes; q++)
    if (q != p && (sleep & process_bit(q)) && !order_next_depend(&x->s.order, p, &x->s.next[p], q, &x->s.next[q]))
      rest |= process_bit(q);
  return rest;
}

/* The one that went last goes first: the first schedule has no preemption. What it stored is written before: the first
 * schedule is sequentially consistent. */
static guint favourite(const Search *x, guint i, uint64_t from) {
  guint last = schedules_last(&x->s, i), buffers = x->s.program->buffers;
  if (last != G_MAXUINT && last < buffers && (from & process_bit(last + buffers))) return last + buffers;
  return last != G_MAXUINT && (from & process_bit(last)) ? last : (guint)__builtin_ctzll(from);
}

/* ---- bounds ---- */

/* Delays: Emmi, Qadeer, Rakamaric, "Delay-Bounded Scheduling", POPL 2011. The scheduler there is lets a process go on
 * until it cannot, then the next by number, round and round; each process that is passed over is a delay. */
static guint delays_of(const Search *x, guint i, uint64_t ready, guint p) {
  guint n = x->s.program->buffers ? x->s.program->buffers : x->s.program->processes, passed = 0;
  guint last = schedules_last(&x->s, i);
  if (p >= n) return 0;
  for (guint q = last < n ? last : 0; q != p; q = (q + 1) % n) passed += (ready & process_bit(q)) != 0;
  return passed;
}

static bool within_bound(const Search *x, const Node *n, guint i, guint p) {
  const SchedulesOptions *o = x->s.options;
  if (o->preemptions >= 0 && n->preemptions + schedules_preempts(&x->s, i, n->ready, p) > (guint)o->preemptions)
    return false;
  return o->delays < 0 || n->delays + delays_of(x, i, n->ready, p) <= (guint)o->delays;
}

/* The bound leaves out those who would be one preemption, or one delay, too many. */
static void enqueue_all(Search *x, Node *n, guint i) {
  bool bounded = false;
  for (uint64_t left = n->ready; left;) {
    guint p = favourite(x, i, left);
    left &= ~process_bit(p);
    if (within_bound(x, n, i, p))
      enqueue(n, p);
    else
      bounded = true;
  }
  x->s.result->bounded += bounded;
}

/* ---- a step ---- */

static void make_node(Search *x, uint64_t sleep, guint preemptions, guint delays) {
  guint i = x->nodes->len;
  g_array_set_size(x->nodes, i + 1);
  Node *n = node_at(x, i);
  n->ready = schedules_look(&x->s);
  n->try = 0, n->sleep = sleep;
  n->preemptions = preemptions, n->delays = delays;
  n->queued = n->next = 0;
  uint64_t awake = n->ready & ~sleep;
  if (!reduces(x))
    enqueue_all(x, n, i);
  else if (awake)
    enqueue(n, favourite(x, i, awake));
}

static void do_step(Search *x, guint i) {
  Node *n = node_at(x, i);
  guint p = n->queue[n->next++];
  guint preemptions = n->preemptions + schedules_preempts(&x->s, i, n->ready, p);
  guint delays = n->delays + (x->s.options->delays >= 0 ? delays_of(x, i, n->ready, p) : 0);
  uint64_t sleep = 0;
  if (reduces(x)) {
    order_races(&x->s.order, p, &x->s.next[p], add_try, x);
    sleep = still_asleep(x, n->sleep, p);
  }
  n->sleep |= process_bit(p);
  x->s.preemptions = preemptions;
  schedules_cover_step(&x->s, i, n->ready, p);
  schedules_step(&x->s, p);
  make_node(x, sleep, preemptions, delays);
}

/* ---- one schedule to its end; the next ---- */

/* What waits for ever could have come earlier too. */
static void races_of_waiting(Search *x) {
  for (guint p = 0; reduces(x) && p < x->s.program->processes; p++)
    if (x->s.alive & process_bit(p)) order_races(&x->s.order, p, &x->s.next[p], add_try, x);
}

static void ended(Search *x) {
  races_of_waiting(x);
  schedules_judge(&x->s, true);
  x->s.result->schedules++;
  schedules_cover_end(&x->s);
  schedules_races(&x->s);
  x->s.result->longest = MAX(x->s.result->longest, x->s.order.events->len);
  if (x->s.options->at_end) x->s.options->at_end(x->s.options->user, x->s.program->data);
}

/* Nothing is tried from here on, but what races with what would come next still is, before it. */
static void give_up(Search *x, guint i, uint64_t *count) {
  races_of_waiting(x);
  schedules_races(&x->s);
  node_at(x, i)->next = node_at(x, i)->queued;
  x->s.result->longest = MAX(x->s.result->longest, x->s.order.events->len);
  ++*count;
}

/* What could be found from place i on would be no shorter than what was. */
static bool too_long(const Search *x, guint i) {
  const char *shortest = x->s.options->shortest;
  const ScheduleFinding *f = shortest ? schedule_finding_known(x->s.result, shortest) : NULL;
  return f && i + 1 >= f->order->len;
}

static void go_to_end(Search *x) {
  SchedulesResult *r = x->s.result;
  for (;;) {
    guint i = x->nodes->len - 1;
    const Node *n = node_at(x, i);
    if (!n->ready) return ended(x);
    if (schedules_judge(&x->s, false)) return give_up(x, i, &r->schedules);
    if (n->next == n->queued) {
      r->redundant += reduces(x);
      return;
    }
    if (too_long(x, i)) return give_up(x, i, &r->schedules);
    if (i >= x->s.options->max_steps) {
      schedules_note_cut(&x->s);
      return give_up(x, i, &r->cut);
    }
    do_step(x, i);
  }
}

static void lead_back(Search *x, guint steps) {
  const ScheduleProgram *p = x->s.program;
  bool failed = false, changed = false;
  if (p->back) return p->back(p->data, steps);
  schedules_restart(&x->s);
  for (guint k = 0; k < steps; k++) p->step(p->data, order_event(&x->s.order, k)->process, &failed, &changed);
}

/* Back to the last place that has something left to try, and the program with it. */
static bool go_back(Search *x) {
  guint i = x->nodes->len;
  while (i > 0 && node_at(x, i - 1)->next == node_at(x, i - 1)->queued) i--;
  g_array_set_size(x->nodes, i);
  if (!i) return false;
  lead_back(x, i - 1);
  order_truncate(&x->s.order, i - 1);
  uint64_t ready = schedules_look(&x->s);
  g_assert(ready == node_at(x, i - 1)->ready); /* else the program does not come back to its first state */
  return true;
}

/* Of the whole tree: at each place along the schedule the branches are taken for alike. */
static double part_done(const Search *x) {
  double weight = 1, done = 0;
  for (guint i = 0; i < x->nodes->len; i++) {
    const Node *n = &g_array_index(x->nodes, Node, i);
    bool last = i + 1 == x->nodes->len;
    if (!n->queued) return done + weight;
    done += weight * (last ? n->next : n->next - 1) / n->queued;
    weight /= n->queued;
  }
  return x->nodes->len ? done : 1;
}

void schedules_cover_tree(Search *x) {
  x->s.result->coverage.part = part_done(x);
}

bool schedules_go_on(Search *x, uint64_t until) {
  while (schedules_done(x->s.result) < until && go_back(x)) {
    go_to_end(x);
    if (schedules_over(&x->s)) return true;
  }
  return false;
}

void schedules_lead(Search *x, const GByteArray *path) {
  uint64_t steps = x->s.result->steps;
  schedules_restart(&x->s);
  order_truncate(&x->s.order, 0);
  for (guint i = 0; i < path->len; i++) {
    schedules_look(&x->s);
    schedules_step(&x->s, path->data[i]);
  }
  x->s.result->steps = steps;
}

/* Where nobody can go on from the first state, it is the one schedule there is. */
void schedules_first(Search *x) {
  schedules_restart(&x->s);
  make_node(x, 0, 0, 0);
  if (!node_at(x, 0)->ready) ended(x);
}

void schedules_through(Search *x) {
  schedules_first(x);
  schedules_go_on(x, UINT64_MAX);
  schedules_cover_tree(x);
}

/* ---- life ---- */

void schedules_search_init(Search *x, const ScheduleProgram *p, const SchedulesOptions *o, SchedulesResult *r) {
  *x = (Search){
      .s = {.program = p, .options = o, .result = r, .began = g_get_monotonic_time(), .cpu_began = schedules_cpu()}};
  order_init(&x->s.order, p->processes);
  x->s.order.buffers = p->buffers;
  x->s.order.count = p->count;
  x->s.order.data = p->data;
  for (int i = 0; i < 2; i++) x->s.order.mutant_commute[i] = o->mutant_commute[i];
  x->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
  x->foreign = g_array_new(FALSE, FALSE, sizeof(Foreign));
}

void schedules_search_clear(Search *x) {
  g_array_unref(x->nodes);
  g_array_unref(x->foreign);
  order_clear(&x->s.order);
}
