/* schedules_split.c - the tree of schedules gone through by several processes, with the result of one.
 *
 * What comes of trying a process at a place is a function of the schedule that leads there and of who sleeps; and who
 * sleeps is known as soon as the process stands in the place's queue. So whoever stands in a queue may be tried at
 * once, by anybody. What is found meanwhile is taken over in the order in which one process would have come to it:
 * counts, findings, and who is to be tried at earlier places. Nothing is tried that one process would not try.
 *
 * One task is the deep end of the present schedule (`now`); the others are processes in queues nearer to the root. Each
 * works off a portion and answers with what is left. Where one process might have stopped within a portion (a limit, a
 * finding), that portion is done again here, as one process does it. */
#include "checks/schedules_tasks.h"

enum { PORTION_LEAST = 16, PORTION_MOST = 1000 /* schedules */ };

typedef struct {
  Search *x; /* its places: what is left, as one process would know it now */
  GByteArray *path;
  GPtrArray *tasks; /* of Task */
  Task *now;        /* NULL: none */
  guint jobs;
  Workers *workers;
} Split;

/* ---- taking over ---- */

/* Might one process have stopped within it? */
static bool may_stop(const Split *s, const Portion *p) {
  const SchedulesResult *r = s->x->s.result;
  uint64_t most = s->x->s.options->max_schedules;
  if (most && schedules_done(r) + schedules_done(p->result) >= most) return true;
  for (guint i = 0; i < p->result->findings->len; i++)
    if (!schedules_known(r, ((const ScheduleFinding *)p->result->findings->pdata[i])->words)) return true;
  return false;
}

static void truncate_to(Split *s, guint places) {
  g_array_set_size(s->x->nodes, places);
  g_byte_array_set_size(s->path, places ? places - 1 : 0);
}

/* A side task's process leaves the queue of its place, as if it had been gone through here. */
static void enter(Split *s, Task *t) {
  truncate_to(s, t->level);
  Node *n = place(s->x->nodes, t->level - 1);
  g_assert(n->queue[n->next] == t->process);
  n->next++;
  n->sleep |= process_bit(t->process);
  t->entered = true;
}

/* Here, as one process does it, from what is left: true where it stops. */
static bool again(Split *s, uint64_t schedules) {
  schedules_lead(s->x, s->path);
  bool over = schedules_go_on(s->x, schedules_done(s->x->s.result) + schedules);
  path_of(s->x, s->path);
  return over;
}

static void take_over(Split *s, Task *t, Portion *p) {
  const ScheduleProgram *program = s->x->s.program;
  if (t->side && !t->entered) enter(s, t);
  truncate_to(s, t->level);
  schedules_add(s->x->s.result, p->result);
  if (program->learn) program->learn(program->data, p->told->data, p->told->len);
  for (guint i = 0; i < p->foreign->len; i++) {
    const Foreign *f = &g_array_index(p->foreign, Foreign, i);
    schedules_try(s->x, f->node, f->first);
  }
  if (p->left.nodes->len <= t->level) return;
  g_array_append_vals(s->x->nodes, place(p->left.nodes, t->level), p->left.nodes->len - t->level);
  g_byte_array_set_size(s->path, 0);
  g_byte_array_append(s->path, p->left.path->data, p->left.path->len);
}

static bool stops(Split *s) {
  const SchedulesOptions *o = s->x->s.options;
  if (schedules_over(&s->x->s)) return true;
  bool late = o->max_seconds > 0 && schedules_seconds(&s->x->s) > o->max_seconds;
  if (late) s->x->s.result->stop = SCHEDULES_LIMIT;
  return late;
}

/* True: the search is over. */
static bool take_over_now(Split *s) {
  Task *t = s->now;
  if (!t->portions->length) return false;
  for (Portion *p; (p = g_queue_pop_head(t->portions));) {
    bool over = false;
    if (may_stop(s, p)) {
      over = again(s, schedules_done(p->result));
      if (t->side) t->entered = true;
    } else {
      take_over(s, t, p);
      over = stops(s);
    }
    portion_free(p);
    if (over) return true;
  }
  if (t->state == TASK_RUNS) return false;
  g_ptr_array_remove(s->tasks, t); /* what is left of it is here now */
  s->now = NULL;
  return false;
}

/* ---- what to do next ---- */

static Task *add_task(Split *s, guint level) {
  Task *t = task_new(level);
  g_ptr_array_add(s->tasks, t);
  return t;
}

static Task *side_of(const Split *s, guint node, guint8 process) {
  for (guint i = 0; i < s->tasks->len; i++) {
    Task *t = s->tasks->pdata[i];
    if (t->side && !t->entered && t->level == node + 1 && t->process == process) return t;
  }
  return NULL;
}

static bool has_side(const Split *s, guint node) {
  const Node *n = place(s->x->nodes, node);
  for (guint k = n->next; k < n->queued; k++)
    if (side_of(s, node, n->queue[k])) return true;
  return false;
}

static Task *make_side(Split *s, guint node, guint k) {
  Task *t = add_task(s, node + 1);
  Node n = *place(s->x->nodes, node);
  t->side = true;
  t->process = n.queue[k];
  bool mutant = s->x->s.options->mutant_awake;
  for (guint j = mutant ? k : n.next; j < k; j++) n.sleep |= process_bit(n.queue[j]); /* they will have been tried */
  n.queue[0] = t->process;
  n.next = 0, n.queued = 1;
  g_byte_array_append(t->left.path, s->path->data, node);
  g_array_append_vals(t->left.nodes, s->x->nodes->data, node);
  g_array_append_val(t->left.nodes, n);
  return t;
}

/* Where the deep end begins: a few processes nearer to the root are left to others. */
static guint deep_from(const Split *s, guint deepest) {
  guint level = 0, left = 2 * (s->jobs - 1);
  for (guint i = 0; i < deepest; i++) {
    const Node *n = place(s->x->nodes, i);
    if (has_side(s, i)) level = i + 1;
    if (left && place_is_pending(n)) level = i + 1, left -= MIN(left, (guint)(n->queued - n->next));
  }
  return level;
}

static Task *make_deep(Split *s, guint deepest) {
  Task *t = add_task(s, deep_from(s, deepest));
  g_byte_array_append(t->left.path, s->path->data, s->path->len);
  g_array_append_vals(t->left.nodes, s->x->nodes->data, s->x->nodes->len);
  return t;
}

/* The task that one process would do now; NULL: nothing is left. */
static Task *choose(Split *s) {
  guint n = s->x->nodes->len;
  while (n && !place_is_pending(place(s->x->nodes, n - 1))) n--;
  truncate_to(s, n);
  if (!n) return NULL;
  const Node *last = place(s->x->nodes, n - 1);
  Task *t = side_of(s, n - 1, last->queue[last->next]);
  if (t) return t;
  return has_side(s, n - 1) ? make_side(s, n - 1, last->next) : make_deep(s, n - 1);
}

/* Another that will have to be done: the nearest to its turn. Places from the present task's on are not known now. */
static Task *another(Split *s) {
  for (guint i = MIN(s->now->level, s->x->nodes->len); i-- > 0;) {
    const Node *n = place(s->x->nodes, i);
    for (guint k = n->next; k < n->queued; k++) {
      Task *t = side_of(s, i, n->queue[k]);
      if (!t) return make_side(s, i, k);
      if (t != s->now && t->state == TASK_WAITS) return t;
    }
  }
  return NULL;
}

static void send(Split *s, int worker, Task *t) {
  guint64 done = schedules_done(s->x->s.result);
  task_send(t, s->workers, worker, CLAMP(done / (8 * s->jobs), PORTION_LEAST, PORTION_MOST));
}

static void keep_busy(Split *s) {
  int worker;
  if (s->now->state == TASK_WAITS && (worker = workers_idle(s->workers)) >= 0) send(s, worker, s->now);
  while ((worker = workers_idle(s->workers)) >= 0) {
    Task *t = another(s);
    if (!t) return;
    send(s, worker, t);
  }
}

static void search_together(Split *s) {
  while ((s->now = s->now ? s->now : choose(s))) {
    if (take_over_now(s)) return;
    if (!s->now) continue;
    keep_busy(s);
    task_take_answer(s->tasks, s->workers);
  }
}

void schedules_split(Search *x) {
  Split s = {.x = x, .jobs = x->s.options->jobs, .path = g_byte_array_new()};
  g_assert(!x->s.options->at_end);
  s.tasks = g_ptr_array_new_with_free_func(task_free);
  s.workers = workers_new(s.jobs, task_work, x);
  schedules_first(x);
  if (s.workers)
    search_together(&s);
  else
    schedules_go_on(x, UINT64_MAX);
  schedules_cover_tree(x);
  if (s.workers) x->s.result->cpu += workers_end(s.workers);
  workers_free(s.workers);
  g_ptr_array_unref(s.tasks);
  g_byte_array_unref(s.path);
}
