/* schedules_tasks.c - see schedules_tasks.h. */
#include "checks/schedules_tasks.h"

/* ---- life ---- */

static Frontier frontier_new(void) {
  return (Frontier){g_byte_array_new(), g_array_new(FALSE, FALSE, sizeof(Node))};
}
static void frontier_clear(Frontier *f) {
  g_byte_array_unref(f->path);
  g_array_unref(f->nodes);
}
void portion_free(void *data) {
  Portion *p = data;
  schedules_result_free(p->result);
  g_byte_array_unref(p->told);
  g_array_unref(p->foreign);
  frontier_clear(&p->left);
  g_free(p);
}
void task_free(void *data) {
  Task *t = data;
  frontier_clear(&t->left);
  g_queue_free_full(t->portions, portion_free);
  g_free(t);
}
Task *task_new(guint level) {
  Task *t = g_new0(Task, 1);
  t->level = level;
  t->left = frontier_new();
  t->portions = g_queue_new();
  return t;
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

void task_send(Task *t, Workers *workers, int worker, guint64 schedules) {
  g_autoptr(GByteArray) out = g_byte_array_new();
  guint64 head[3] = {t->level, places_from(t), schedules};
  message_put(out, head, sizeof head);
  put_frontier(out, &t->left);
  t->state = TASK_RUNS;
  t->worker = worker;
  workers_send(workers, worker, out);
}

/* ---- in a worker ---- */

void path_of(const Search *x, GByteArray *path) {
  g_byte_array_set_size(path, 0);
  for (guint i = 0; i + 1 < x->nodes->len; i++) {
    guint8 process = (guint8)order_event(&x->s.order, i)->process;
    g_byte_array_append(path, &process, 1);
  }
}

void task_work(void *data, const GByteArray *in, GByteArray *out) {
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
  o.findings_max = 0, o.max_schedules = 0, o.all_cut = NULL;
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
  while (x.nodes->len && !place_is_pending(place(x.nodes, x.nodes->len - 1)))
    g_array_set_size(x.nodes, x.nodes->len - 1);
  path_of(&x, f.path);
  put_frontier(out, &(Frontier){f.path, x.nodes});
  schedules_search_clear(&x);
  frontier_clear(&f);
}

static Task *task_of(const GPtrArray *tasks, int worker) {
  for (guint i = 0; i < tasks->len; i++) {
    Task *t = tasks->pdata[i];
    if (t->state == TASK_RUNS && t->worker == worker) return t;
  }
  g_assert_not_reached();
}

static Portion *take_portion(MessageReader *r) {
  Portion *p = g_new0(Portion, 1);
  guint32 n;
  p->told = g_byte_array_new();
  p->result = message_take_result(r, p->told);
  p->foreign = g_array_new(FALSE, FALSE, sizeof(Foreign));
  message_take(r, &n, sizeof n);
  g_array_set_size(p->foreign, n);
  message_take(r, p->foreign->data, n * sizeof(Foreign));
  p->left = frontier_new();
  take_frontier(r, &p->left);
  return p;
}

void task_take_answer(GPtrArray *tasks, Workers *workers) {
  g_autoptr(GByteArray) in = g_byte_array_new();
  Task *t = task_of(tasks, workers_wait(workers, in));
  MessageReader r = {in->data, in->data + in->len};
  Portion *p = take_portion(&r);
  g_queue_push_tail(t->portions, p);
  g_array_set_size(t->left.nodes, 0);
  g_array_append_vals(t->left.nodes, p->left.nodes->data, p->left.nodes->len);
  g_byte_array_set_size(t->left.path, 0);
  g_byte_array_append(t->left.path, p->left.path->data, p->left.path->len);
  t->state = p->left.nodes->len > places_from(t) ? TASK_WAITS : TASK_DONE;
}
