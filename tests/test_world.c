/* test_world.c - processes, locks, queues, channels, timers, driven by hand: who goes on is the test's choice. */
#include "model/world/world.h"
#include "tests/harness.h"

/* A driver that only remembers: what became ready, in order; answers every choice with n-1. */
typedef struct {
  ProcId ready[64];
  int64_t after[64];
  guint n, sent;
} Recorder;
static void on_ready(void *d, ProcId p, int64_t after) {
  Recorder *r = d;
  r->ready[r->n] = p;
  r->after[r->n++] = after;
}
static void on_sent(void *d, ObjectId c, int64_t after) {
  (void)c;
  (void)after;
  ((Recorder *)d)->sent++;
}
static void on_timer(void *d, ProcId p, bool limit, int64_t after) {
  (void)d;
  (void)p;
  (void)limit;
  (void)after;
}
static uint64_t on_choose(void *d, ChoiceId what, uint64_t n) {
  (void)d;
  (void)what;
  return n - 1;
}
static const DriverOps ops = {.choose = on_choose, .ready = on_ready, .sent = on_sent, .timer = on_timer};

/* One process type that does what the test puts into its locals. */
typedef struct {
  MachineHead head;
  uint16_t mode;
  ObjectId object;
  uint32_t got;
} Actor;
static Step wants(World *w, ProcId self, void *l) {
  Actor *a = l;
  return lock_acquire(w, a->object, self, a->mode);
}
static Step has(World *w, ProcId self, void *l) {
  Actor *a = l;
  a->got = lock_held(w, a->object, self);
  return step_sleep(1);
}
static Step gives(World *w, ProcId self, void *l) {
  lock_release(w, ((Actor *)l)->object, self);
  return step_done();
}
static const Stage locker_stages[] = {{"wants", wants}, {"has", has}, {"gives", gives}, {NULL, NULL}};
static Step locker_resume(World *w, ProcId p, void *l) {
  return machine_resume(w, p, l, locker_stages);
}
static const char *locker_at(const World *w, const void *l) {
  (void)w;
  return machine_at(l, locker_stages);
}
static const ProcessType locker = {"locker", sizeof(Actor), locker_resume, locker_at};

typedef struct {
  World *w;
  Recorder r;
  ObjectId lock;
} Fixture;
static void setup(Fixture *f) {
  Costs costs = {{0}};
  costs.ps[COST_LOCK_HANDOVER] = 7000;
  *f = (Fixture){.w = world_new(&costs, 1 << 20)};
  world_drive(f->w, &ops, &f->r);
  f->lock = lock_new(f->w, "ProcArrayLock");
}
static ProcId spawn_locker(Fixture *f, LockMode mode) {
  ProcId p = world_spawn(f->w, world_type(f->w, &locker), 0);
  Actor *a = world_locals(f->w, p);
  a->mode = (uint16_t)mode;
  a->object = f->lock;
  return p;
}

static void exclusive_is_alone_and_fifo(void) {
  Fixture f;
  setup(&f);
  ProcId a = spawn_locker(&f, LOCK_EXCLUSIVE), b = spawn_locker(&f, LOCK_EXCLUSIVE),
         c = spawn_locker(&f, LOCK_EXCLUSIVE);
  expect_int(world_resume(f.w, a).kind, ==, STEP_RAN);
  expect_int(world_resume(f.w, c).kind, ==, STEP_BLOCKED);
  expect_int(world_resume(f.w, b).kind, ==, STEP_BLOCKED);
  expect_int(lock_waiters(f.w, f.lock), ==, 2);
  expect(!world_resumable(f.w, c));
  world_resume(f.w, a);
  f.r.n = 0;
  expect_int(world_resume(f.w, a).kind, ==, STEP_DONE);
  expect_int(f.r.n, ==, 1);
  expect_int(f.r.ready[0], ==, c); /* it came first */
  expect_int(f.r.after[0], ==, 7); /* the hand-over */
  expect(lock_held(f.w, f.lock, c));
  expect(!lock_held(f.w, f.lock, b));
  expect(!world_alive(f.w, a));
  world_free(f.w);
}

static void shared_joins_and_wakes_together(void) {
  Fixture f;
  setup(&f);
  ProcId s1 = spawn_locker(&f, LOCK_SHARED), x = spawn_locker(&f, LOCK_EXCLUSIVE), s2 = spawn_locker(&f, LOCK_SHARED);
  ProcId s3 = spawn_locker(&f, LOCK_SHARED), y = spawn_locker(&f, LOCK_EXCLUSIVE), s4 = spawn_locker(&f, LOCK_SHARED);
  expect_int(world_resume(f.w, s1).kind, ==, STEP_RAN);
  expect_int(world_resume(f.w, x).kind, ==, STEP_BLOCKED);
  expect_int(world_resume(f.w, s2).kind, ==, STEP_RAN); /* joins although x waits, as LWLockAttemptLock does */
  world_resume(f.w, s1), world_resume(f.w, s1);
  expect(lock_waiters(f.w, f.lock) == 1);
  world_resume(f.w, s2), world_resume(f.w, s2);
  expect(lock_held(f.w, f.lock, x));
  world_resume(f.w, s3), world_resume(f.w, y), world_resume(f.w, s4); /* queue: shared, exclusive, shared */
  world_resume(f.w, x), world_resume(f.w, x);
  expect(lock_held(f.w, f.lock, s3) && lock_held(f.w, f.lock, s4)); /* all shared ones, wherever they stand */
  expect(!lock_held(f.w, f.lock, y));
  expect_int(lock_waiters(f.w, f.lock), ==, 1);
  world_free(f.w);
}

static void release_by_a_stranger_is_told(void) {
  Fixture f;
  setup(&f);
  ProcId a = spawn_locker(&f, LOCK_EXCLUSIVE), b = spawn_locker(&f, LOCK_EXCLUSIVE);
  world_resume(f.w, a);
  expect(!lock_release(f.w, f.lock, b));
  expect(lock_held(f.w, f.lock, a));
  world_free(f.w);
}

static void ended_holding_is_counted(void) {
  Fixture f;
  setup(&f);
  ProcId a = spawn_locker(&f, LOCK_EXCLUSIVE);
  world_resume(f.w, a), world_resume(f.w, a);
  ObjectId other = lock_new(f.w, "XidGenLock");
  lock_try(f.w, other, a, LOCK_EXCLUSIVE);
  world_resume(f.w, a); /* gives back the first, ends with the second */
  expect_int(lock_ended_holding(f.w), ==, 1);
  world_free(f.w);
}

/* ---- channels, queues, timers ---- */
typedef struct {
  MachineHead head;
  ObjectId object;
  uint32_t seen[4], n, fired;
} Reader;
static Step reads(World *w, ProcId self, void *l) {
  Reader *r = l;
  Message m;
  r->fired |= timer_fired(w, self);
  while (channel_take(w, r->object, &m)) r->seen[r->n++] = m.kind;
  r->head.pc = 0;
  return channel_await(w, r->object, self);
}
static const Stage reader_stages[] = {{"reads", reads}};
static Step reader_resume(World *w, ProcId p, void *l) {
  return machine_resume(w, p, l, reader_stages);
}
static const char *reader_at(const World *w, const void *l) {
  return (void)w, machine_at(l, reader_stages);
}
static const ProcessType reader = {"reader", sizeof(Reader), reader_resume, reader_at};

static Reader *reader_setup(Fixture *f, ProcId *p) {
  setup(f);
  *p = world_spawn(f->w, world_type(f->w, &reader), 0);
  Reader *r = world_locals(f->w, *p);
  r->object = channel_new(f->w, "mail");
  world_resume(f->w, *p);
  return r;
}

static void messages_arrive_in_order(void) {
  Fixture f;
  ProcId p;
  Reader *r = reader_setup(&f, &p);
  for (uint32_t k = 1; k <= 3; k++) channel_send(f.w, r->object, (Message){.kind = k}, 5);
  expect_int(f.r.sent, ==, 3);
  expect_int(channel_under_way(f.w, r->object), ==, 3);
  expect(!world_resumable(f.w, p));
  channel_deliver(f.w, r->object);
  expect(world_resumable(f.w, p));
  channel_deliver(f.w, r->object);
  world_resume(f.w, p);
  expect_int(r->n, ==, 2);
  expect_int(r->seen[0], ==, 1);
  expect_int(r->seen[1], ==, 2);
  world_free(f.w);
}

static void lost_is_the_first_under_way(void) {
  Fixture f;
  ProcId p;
  Reader *r = reader_setup(&f, &p);
  for (uint32_t k = 1; k <= 3; k++) channel_send(f.w, r->object, (Message){.kind = k}, 0);
  channel_deliver(f.w, r->object);
  expect(channel_lose(f.w, r->object)); /* 2 */
  channel_deliver(f.w, r->object);
  expect(!channel_lose(f.w, r->object));
  world_resume(f.w, p);
  expect_int(r->n, ==, 2);
  expect_int(r->seen[1], ==, 3);
  world_free(f.w);
}

static void timer_ends_a_wait_once(void) {
  Fixture f;
  ProcId p;
  Reader *r = reader_setup(&f, &p);
  timer_arm(f.w, p, true, 100);
  timer_fire(f.w, p);
  expect(world_resumable(f.w, p));
  world_resume(f.w, p);
  expect(r->fired);
  r->fired = 0;
  channel_send(f.w, r->object, (Message){.kind = 1}, 0);
  channel_deliver(f.w, r->object);
  world_resume(f.w, p);
  expect(!r->fired);
  world_free(f.w);
}

/* ---- identity ---- */
static void restore_brings_state_and_hash_back(void) {
  Fixture f;
  setup(&f);
  ProcId a = spawn_locker(&f, LOCK_EXCLUSIVE), b = spawn_locker(&f, LOCK_EXCLUSIVE);
  world_resume(f.w, a);
  Hash128 before = world_hash(f.w);
  g_autoptr(ArenaSnapshot) s = arena_save(world_arena(f.w), NULL);
  world_resume(f.w, b);
  for (int i = 0; i < 100; i++) spawn_locker(&f, LOCK_SHARED), f.r.n = 0; /* tables grow */
  Hash128 other = world_hash(f.w);
  expect(other.lo != before.lo || other.hi != before.hi);
  arena_restore(world_arena(f.w), s);
  Hash128 again = world_hash(f.w);
  expect(again.lo == before.lo && again.hi == before.hi);
  expect(world_resumable(f.w, b));
  expect_int(world_live(f.w), ==, 2);
  expect_int(lock_waiters(f.w, f.lock), ==, 0);
  world_free(f.w);
}

static void ids_and_locals_are_used_again(void) {
  Fixture f;
  setup(&f);
  ProcId first = spawn_locker(&f, LOCK_SHARED);
  for (int i = 0; i < 3; i++) world_resume(f.w, first);
  size_t used = arena_used(world_arena(f.w));
  ProcId second = spawn_locker(&f, LOCK_SHARED);
  expect_int(second, ==, first);
  expect_int(arena_used(world_arena(f.w)), ==, used);
  expect_int(((Actor *)world_locals(f.w, second))->got, ==, 0);
  expect_str(world_at(f.w, second), "wants");
  world_free(f.w);
}

/* Both are spawned in either order, one of them ends and comes again: the state is the same. */
static Hash128 hash_of_kept(guint first) {
  Fixture f;
  setup(&f);
  ProcId kept = world_keep_ids(f.w, world_type(f.w, &locker), 2);
  world_spawn_as(f.w, kept + first, 0);
  world_spawn_as(f.w, kept + 1 - first, 0);
  for (guint i = 0; i < 2; i++) ((Actor *)world_locals(f.w, kept + i))->object = f.lock;
  for (guint i = 0; first && i < 3; i++) world_resume(f.w, kept);
  expect(!first || !world_alive(f.w, kept));
  expect_int(spawn_locker(&f, LOCK_SHARED), ==, kept + 2); /* not one of the kept */
  if (first) world_spawn_as(f.w, kept, 0);
  expect_int(((Actor *)world_locals(f.w, kept))->got, ==, 0);
  ((Actor *)world_locals(f.w, kept))->object = f.lock;
  expect_int(world_live(f.w), ==, 3);
  Hash128 h = world_hash(f.w);
  world_free(f.w);
  return h;
}
static void kept_ids_forget_who_came_first(void) {
  Hash128 a = hash_of_kept(0), b = hash_of_kept(1);
  expect(a.lo == b.lo && a.hi == b.hi);
}

int main(void) {
  return suite_run("world", (const Case[]){{"exclusive is alone, first come first served", exclusive_is_alone_and_fifo},
                                           {"shared joins and wakes together", shared_joins_and_wakes_together},
                                           {"release by a stranger is told", release_by_a_stranger_is_told},
                                           {"ended holding is counted", ended_holding_is_counted},
                                           {"messages arrive in order", messages_arrive_in_order},
                                           {"lost is the first under way", lost_is_the_first_under_way},
                                           {"a timer ends a wait once", timer_ends_a_wait_once},
                                           {"restore brings state and hash back", restore_brings_state_and_hash_back},
                                           {"ids and locals are used again", ids_and_locals_are_used_again},
                                           {"kept ids forget who came first", kept_ids_forget_who_came_first},
                                           {0}});
}
