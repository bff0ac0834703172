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
#include "checks/schedules_workers.h"

enum { PORTION_LEAST = 16, PORTION_MOST = 1000 /* schedules */ };

typedef struct {
  SchedulesResult *result;
  GByteArray *told;
  GArray *foreign;
  Frontier left;
} Portion;

typedef enum { TASK_WAITS, TASK_RUNS, TASK_DONE } TaskState;

typedef struct {
  guint level;  /* its places are this one and those after it */
  bool side;    /* a process in the queue of place `level` - 1 */
  bool entered; /* side: its turn has come, and its process has left the queue */
  guint8 process;
  TaskState state;
  int worker;
  Frontier left;    /* of a side task first the place before its own, with no other process to try */
  GQueue *portions; /* of Portion, done and not yet taken over */
} Task;

typedef struct {
  Search *x; /* its places: what is left, as one process would know it now */
  GByteArray *path;
  GPtrArray *tasks; /* of Task */
  Task *now;        /* NULL: none */
  guint jobs;
  Workers *workers;
} Split;

/* ---- life ---- */

static Frontier frontier_new(void) {
  return (Frontier){g_byte_array_new(), g_array_new(FALSE, FALSE, sizeof(Node))};
}
static void frontier_clear(Frontier *f) {
  g_byte_array_unref(f->path);
  g_array_unref(f->nodes);
}
static void portion_free(void *data) {
  Portion *p = data;
  schedules_result_free(p->result);
  g_byte_array_unref(p->told);
  g_array_unref(p->foreign);
  frontier_clear(&p->left);
  g_free(p);
}
static void task_free(void *data) {
  Task *t = data;
  frontier_clear(&t->left);
  g_queue_free_full(t->portions, portion_free);
  g_free(t);
}
static Task *task_new(Split *s, guint level) {
  Task *t = g_new0(Task, 1);
  t->level = level;
  t->left = frontier_new();
  t->portions = g_queue_new();
  g_ptr_array_add(s->tasks, t);
  return t;
}

static Node *place(const GArray *nodes, guint i) {
  return &g_array_index(nodes, Node, i);
}
static bool pending(const Node *n) {
  return n->next < n->queued;
}

/* ---- messages: a task's level, where its places begin, how much to do; the schedule; the places ---- */

static void put_frontier(GByteArray *out, const Frontier *f) {
  guint32 sizes[2] = {f->path->len, f->nodes->len};
  message_put(out, sizes, sizeof sizes);
  message_put(out, f->path->data, f->path->len);
  message_put(out, f->nodes->data, f->nodes->len * sizeof(Node));
}

static void take_frontier(MessageReader *r, Frontier *f) {
  guint32 sizes[2];
  message_take(r, sizes, sizeof sizes);
  g_byte_array_set_size(f->path, sizes[0]);
  message_take(r, f->path->data, sizes[0]);
  g_array_set_size(f->nodes, sizes[1]);
  message_take(r, f->nodes->data, sizes[1] * sizeof(Node));
}

static guint places_from(const Task *t) {
  return t->level - t->side;
}

static void send_task(Split *s, int worker, Task *t) {
  const SchedulesResult *r = s->x->s.result;
  g_autoptr(GByteArray) out = g_byte_array_new();
  guint64 portion = CLAMP(schedules_done(r) / (8 * s->jobs), PORTION_LEAST, PORTION_MOST);
  guint64 head[3] = {t->level, places_from(t), portion};
  message_put(out, head, sizeof head);
  put_frontier(out, &t->left);
  t->state = TASK_RUNS;
  t->worker = worker;
  workers_send(s->workers, worker, out);
}

/* ---- in a worker ---- */

static void path_of(const Search *x, GByteArray *path) {
  g_byte_array_set_size(path, 0);
  for (guint i = 0; i + 1 < x->nodes->len; i++) {
    guint8 process = (guint8)order_event(&x->s.order, i)->process;
    g_byte_array_append(path, &process, 1);
  }
}

static void work(void *data, const GByteArray *in, GByteArray *out) {
  const Search *parent = data;
  MessageReader r = {in->data, in->data + in->len};
  guint64 head[3];
  Frontier f = frontier_new();
  SchedulesOptions o = *parent->s.options;
  g_autoptr(SchedulesResult) result = schedules_result_new();
  Search x;
  message_take(&r, head, sizeof head);
  take_frontier(&r, &f);
  for (guint i = 0; i < head[1]; i++) place(f.nodes, i)->next = place(f.nodes, i)->queued; /* another's to try */
  o.findings_max = 0, o.max_schedules = 0;
  schedules_search_init(&x, parent->s.program, &o, result);
  x.s.began = parent->s.began;
  x.level = (guint)head[0];
  g_array_append_vals(x.nodes, f.nodes->data, f.nodes->len);
  schedules_lead(&x, f.path);
  schedules_go_on(&x, head[2]);
  message_put_result(out, parent->s.program, result);
  const guint32 foreign = x.foreign->len;
  message_put(out, &foreign, sizeof foreign);
  message_put(out, x.foreign->data, x.foreign->len * sizeof(Foreign));
  while (x.nodes->len && !pending(place(x.nodes, x.nodes->len - 1))) g_array_set_size(x.nodes, x.nodes->len - 1);
  path_of(&x, f.path);
  put_frontier(out, &(Frontier){f.path, x.nodes});
  schedules_search_clear(&x);
  frontier_clear(&f);
}

static void take_answer(Split *s) {
  g_autoptr(GByteArray) in = g_byte_array_new();
  int worker = workers_wait(s->workers, in);
  MessageReader r = {in->data, in->data + in->len};
  Task *t = NULL;
  for (guint i = 0; i < s->tasks->len; i++) {
    Task *u = s->tasks->pdata[i];
    if (u->state == TASK_RUNS && u->worker == worker) t = u;
  }
  g_assert(t);
  Portion *p = g_new0(Portion, 1);
  guint32 n;
  p->told = g_byte_array_new();
  p->result = message_take_result(&r, p->told);
  p->foreign = g_array_new(FALSE, FALSE, sizeof(Foreign));
  message_take(&r, &n, sizeof n);
  g_array_set_size(p->foreign, n);
  message_take(&r, p->foreign->data, n * sizeof(Foreign));
  p->left = frontier_new();
  take_frontier(&r, &p->left);
  g_queue_push_tail(t->portions, p);
  g_array_set_size(t->left.nodes, 0);
  g_array_append_vals(t->left.nodes, p->left.nodes->data, p->left.nodes->len);
  g_byte_array_set_size(t->left.path, 0);
  g_byte_array_append(t->left.path, p->left.path->data, p->left.path->len);
  t->state = p->left.nodes->len > places_from(t) ? TASK_WAITS : TASK_DONE;
}

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
  Task *t = task_new(s, node + 1);
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
    if (left && pending(n)) level = i + 1, left -= MIN(left, (guint)(n->queued - n->next));
  }
  return level;
}

static Task *make_deep(Split *s, guint deepest) {
  Task *t = task_new(s, deep_from(s, deepest));
  g_byte_array_append(t->left.path, s->path->data, s->path->len);
  g_array_append_vals(t->left.nodes, s->x->nodes->data, s->x->nodes->len);
  return t;
}

/* The task that one process would do now; NULL: nothing is left. */
static Task *choose(Split *s) {
  guint n = s->x->nodes->len;
  while (n && !pending(place(s->x->nodes, n - 1))) n--;
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

static void keep_busy(Split *s) {
  int worker;
  if (s->now->state == TASK_WAITS && (worker = workers_idle(s->workers)) >= 0) send_task(s, worker, s->now);
  while ((worker = workers_idle(s->workers)) >= 0) {
    Task *t = another(s);
    if (!t) return;
    send_task(s, worker, t);
  }
}

static void search_together(Split *s) {
  while ((s->now = s->now ? s->now : choose(s))) {
    if (take_over_now(s)) return;
    if (!s->now) continue;
    keep_busy(s);
    take_answer(s);
  }
}

void schedules_split(Search *x) {
  Split s = {.x = x, .jobs = x->s.options->jobs, .path = g_byte_array_new()};
  g_assert(!x->s.options->at_end);
  s.tasks = g_ptr_array_new_with_free_func(task_free);
  s.workers = workers_new(s.jobs, work, x);
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
