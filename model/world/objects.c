/* objects.c - what processes wait for: locks, wait queues, channels, timers. */
#include "model/world/world_private.h"

Object *object_at(const World *w, ObjectId o) {
  return table_at(w, &w->root->objects, o, sizeof(Object));
}
Node *message_node(const World *w, uint32_t n) {
  return table_at(w, &w->root->nodes, n, sizeof(Node));
}

static Object *object_of(const World *w, ObjectId o, ObjectKind kind) {
  Object *ob = object_at(w, o);
  g_assert(ob->kind == kind);
  return ob;
}

static ObjectId object_new(World *w, ObjectKind kind, const char *name) {
  Root *r = w->root;
  ObjectId o = r->free_object;
  if (o)
    r->free_object = object_at(w, o)->link;
  else
    o = table_add(w, &r->objects, sizeof(Object));
  *object_at(w, o) = (Object){.kind = (uint8_t)kind, .name = world_intern(w, name)};
  w->reshaped = true;
  return o;
}

const char *object_name(const World *w, ObjectId o) {
  return w->names->pdata[object_at(w, o)->name];
}

bool object_is_lock(const World *w, ObjectId o) {
  return object_at(w, o)->kind == OBJECT_LOCK;
}

/* ---- FIFO of waiting processes ---- */

static Step wait_in(World *w, Object *ob, ObjectId o, ProcId self) {
  Proc *pr = proc_at(w, self);
  g_assert(pr->state == PROC_READY && pr->waits_on == 0);
  pr->state = PROC_BLOCKED;
  pr->waits_on = o;
  pr->link = 0;
  if (ob->tail)
    proc_at(w, ob->tail)->link = self;
  else
    ob->head = self;
  ob->tail = self;
  ob->waiters++;
  return step_blocked(o);
}

/* Takes p, whose predecessor is `before` (0: none), out of the queue; it may go on. */
static void take_out(World *w, Object *ob, ProcId p, ProcId before) {
  Proc *pr = proc_at(w, p);
  g_assert(pr->state == PROC_BLOCKED);
  if (before)
    proc_at(w, before)->link = pr->link;
  else
    ob->head = pr->link;
  if (ob->tail == p) ob->tail = before;
  ob->waiters--;
  pr->state = PROC_READY;
  pr->waits_on = 0;
  pr->link = 0;
}

static bool take_out_of(World *w, Object *ob, ProcId p) {
  for (ProcId q = ob->head, before = 0; q; before = q, q = proc_at(w, q)->link)
    if (q == p) return take_out(w, ob, p, before), true;
  return false;
}

/* ---- locks ---- */

ObjectId lock_new(World *w, const char *name) {
  return object_new(w, OBJECT_LOCK, name);
}

static void hold(World *w, Object *ob, ObjectId lock, ProcId p, LockMode mode) {
  Proc *pr = proc_at(w, p);
  g_assert(pr->n_held < LOCKS_HELD_MAX);
  pr->held[pr->n_held++] = lock;
  ob->holders++;
  ob->exclusive = mode == LOCK_EXCLUSIVE;
}

static bool free_for(const Object *ob, LockMode mode) {
  return ob->holders == 0 || (mode == LOCK_SHARED && !ob->exclusive);
}

Step lock_acquire(World *w, ObjectId lock, ProcId self, LockMode mode) {
  Object *ob = object_of(w, lock, OBJECT_LOCK);
  if (free_for(ob, mode)) return hold(w, ob, lock, self, mode), step_ran();
  proc_at(w, self)->wants = (uint8_t)mode;
  return wait_in(w, ob, lock, self);
}

bool lock_try(World *w, ObjectId lock, ProcId self, LockMode mode) {
  Object *ob = object_of(w, lock, OBJECT_LOCK);
  if (!free_for(ob, mode)) return false;
  hold(w, ob, lock, self, mode);
  return true;
}

static void grant(World *w, Object *ob, ObjectId lock, ProcId p, ProcId before) {
  LockMode mode = proc_at(w, p)->wants;
  take_out(w, ob, p, before);
  hold(w, ob, lock, p, mode);
  w->ops.ready(w->driver, p, world_cost(w, COST_LOCK_HANDOVER, 1));
}

/* The first waiter gets it; when that one is shared, so do all other shared waiters, wherever they stand. */
static void hand_over(World *w, Object *ob, ObjectId lock) {
  if (!ob->head) return;
  bool exclusive = proc_at(w, ob->head)->wants == LOCK_EXCLUSIVE;
  grant(w, ob, lock, ob->head, 0);
  if (exclusive) return;
  for (ProcId p = ob->head, before = 0; p;) {
    ProcId next = proc_at(w, p)->link;
    if (proc_at(w, p)->wants == LOCK_SHARED)
      grant(w, ob, lock, p, before);
    else
      before = p;
    p = next;
  }
}

static bool forget_held(Proc *pr, ObjectId lock) {
  guint i = 0;
  while (i < pr->n_held && pr->held[i] != lock) i++;
  if (i == pr->n_held) return false;
  for (; i + 1 < pr->n_held; i++) pr->held[i] = pr->held[i + 1];
  pr->held[--pr->n_held] = 0;
  return true;
}

bool lock_release(World *w, ObjectId lock, ProcId self) {
  Object *ob = object_of(w, lock, OBJECT_LOCK);
  if (!forget_held(proc_at(w, self), lock)) return false;
  g_assert(ob->holders > 0);
  if (--ob->holders == 0) {
    ob->exclusive = 0;
    hand_over(w, ob, lock);
  }
  return true;
}

bool lock_held(const World *w, ObjectId lock, ProcId self) {
  const Proc *pr = proc_at(w, self);
  for (guint i = 0; i < pr->n_held; i++)
    if (pr->held[i] == lock) return true;
  return false;
}

guint lock_held_by(const World *w, ProcId p, SiteId *sites, guint max) {
  const Proc *pr = proc_at(w, p);
  guint n = MIN(pr->n_held, max);
  for (guint i = 0; i < n; i++) sites[i] = g_array_index(w->sites, SiteId, object_at(w, pr->held[i])->name);
  return n;
}

guint lock_ended_holding(const World *w) {
  return w->root->ended_holding;
}
guint lock_waiters(const World *w, ObjectId lock) {
  return object_of(w, lock, OBJECT_LOCK)->waiters;
}

/* ---- wait queues ---- */

ObjectId queue_new(World *w, const char *name) {
  return object_new(w, OBJECT_QUEUE, name);
}
Step queue_wait(World *w, ObjectId queue, ProcId self) {
  return wait_in(w, object_of(w, queue, OBJECT_QUEUE), queue, self);
}

bool queue_wake_one(World *w, ObjectId queue, int64_t after_ns) {
  Object *ob = object_of(w, queue, OBJECT_QUEUE);
  ProcId p = ob->head;
  if (!p) return false;
  take_out(w, ob, p, 0);
  w->ops.ready(w->driver, p, after_ns);
  return true;
}

guint queue_wake_all(World *w, ObjectId queue, int64_t after_ns) {
  guint n = 0;
  for (guint waiting = object_of(w, queue, OBJECT_QUEUE)->waiters; n < waiting; n++) queue_wake_one(w, queue, after_ns);
  return n;
}

bool queue_leave(World *w, ObjectId queue, ProcId p) {
  if (!take_out_of(w, object_of(w, queue, OBJECT_QUEUE), p)) return false;
  w->ops.ready(w->driver, p, 0);
  return true;
}

/* ---- channels ---- */

ObjectId channel_new(World *w, const char *name) {
  return object_new(w, OBJECT_CHANNEL, name);
}

static uint32_t node_new(World *w, Message m) {
  Root *r = w->root;
  uint32_t n = r->free_node;
  if (n)
    r->free_node = message_node(w, n)->next;
  else
    n = table_add(w, &r->nodes, sizeof(Node));
  *message_node(w, n) = (Node){.m = m};
  w->reshaped = true;
  return n;
}

static void node_free(World *w, uint32_t n) {
  *message_node(w, n) = (Node){.next = w->root->free_node};
  w->root->free_node = n;
  w->reshaped = true;
}

void channel_free(World *w, ObjectId channel) {
  Object *ob = object_of(w, channel, OBJECT_CHANNEL);
  g_assert(ob->waiters == 0 && ob->under_way == 0);
  for (uint32_t n = ob->first, next; n; n = next) {
    next = message_node(w, n)->next;
    node_free(w, n);
  }
  *ob = (Object){.kind = OBJECT_FREE, .link = w->root->free_object};
  w->root->free_object = channel;
  w->reshaped = true;
}

void channel_send(World *w, ObjectId channel, Message m, int64_t after_ns) {
  Object *ob = object_of(w, channel, OBJECT_CHANNEL);
  uint32_t n = node_new(w, m);
  if (ob->last)
    message_node(w, ob->last)->next = n;
  else
    ob->first = n;
  ob->last = n;
  ob->under_way++;
  w->ops.sent(w->driver, channel, after_ns);
}

bool channel_take(World *w, ObjectId channel, Message *m) {
  Object *ob = object_of(w, channel, OBJECT_CHANNEL);
  if (ob->arrived == 0) return false;
  uint32_t n = ob->first;
  *m = message_node(w, n)->m;
  ob->first = message_node(w, n)->next;
  if (!ob->first) ob->last = 0;
  ob->arrived--;
  node_free(w, n);
  return true;
}

Step channel_await(World *w, ObjectId channel, ProcId self) {
  Object *ob = object_of(w, channel, OBJECT_CHANNEL);
  g_assert(ob->waiters == 0);
  return ob->arrived ? step_ran() : wait_in(w, ob, channel, self);
}

void channel_may_lose(World *w, ObjectId channel, bool lossy) {
  object_of(w, channel, OBJECT_CHANNEL)->exclusive = lossy;
}

bool channel_lossy(const World *w, ObjectId channel) {
  return object_of(w, channel, OBJECT_CHANNEL)->exclusive;
}

guint channel_arrived(const World *w, ObjectId channel) {
  return object_of(w, channel, OBJECT_CHANNEL)->arrived;
}
guint channel_under_way(const World *w, ObjectId channel) {
  return object_of(w, channel, OBJECT_CHANNEL)->under_way;
}

void channel_deliver(World *w, ObjectId channel) {
  Object *ob = object_of(w, channel, OBJECT_CHANNEL);
  g_assert(ob->under_way > 0);
  ob->under_way--;
  ob->arrived++;
  if (!ob->head) return;
  ProcId reader = ob->head;
  take_out(w, ob, reader, 0);
  w->ops.ready(w->driver, reader, 0);
}

/* The first under way stands behind the arrived ones. */
bool channel_lose(World *w, ObjectId channel) {
  Object *ob = object_of(w, channel, OBJECT_CHANNEL);
  if (ob->under_way == 0) return false;
  uint32_t before = 0, n = ob->first;
  for (guint i = 0; i < ob->arrived; i++) before = n, n = message_node(w, n)->next;
  uint32_t next = message_node(w, n)->next;
  if (before)
    message_node(w, before)->next = next;
  else
    ob->first = next;
  if (ob->last == n) ob->last = before;
  ob->under_way--;
  node_free(w, n);
  return true;
}

/* ---- timers ---- */

void timer_arm(World *w, ProcId self, bool limit, int64_t after_ns) {
  proc_at(w, self)->timer = limit ? 2 : 1;
  w->ops.timer(w->driver, self, limit, after_ns);
}

void timer_drop(World *w, ProcId self) {
  Proc *pr = proc_at(w, self);
  if (!pr->timer) return;
  pr->timer = 0;
  w->ops.timer(w->driver, self, false, -1);
}

void timer_fire(World *w, ProcId p) {
  Proc *pr = proc_at(w, p);
  g_assert(pr->timer);
  pr->timer = 0;
  if (pr->state != PROC_BLOCKED) return; /* what it waited for came first; it has not run yet */
  take_out_of(w, object_at(w, pr->waits_on), p);
  pr->fired = 1;
}

bool world_timer_armed(const World *w, ProcId p) {
  return proc_at(w, p)->timer != 0;
}
bool timer_fired(const World *w, ProcId self) {
  return proc_at(w, self)->fired;
}
