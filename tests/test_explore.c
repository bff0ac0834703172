/* test_explore.c - the explorer on models whose state graphs are counted by hand. */
#include "checks/checks.h"
#include "checks/estimate.h"
#include "tests/small_models.h"

/* ---- independent counters: n processes of k steps. States (k+1)^n, transitions n k (k+1)^(n-1), depth n k ---- */
enum { COUNTERS = 4, COUNT = 5 };
static Step count_on(World *w, ProcId p, void *l) {
  (void)w;
  (void)p;
  MachineHead *h = l;
  return h->pc == COUNT ? step_done() : step_ran();
}
static const Stage counter_stages[] = {
    {"0", count_on}, {"1", count_on}, {"2", count_on}, {"3", count_on}, {"4", count_on}};
MACHINE(counter, MachineHead, counter_stages)
static void *counters_build(World *w) {
  for (int i = 0; i < COUNTERS; i++) small_spawn(w, &counter, NULL);
  return NULL;
}
static const ModelPlugin counters = {.version = MODEL_PLUGIN_VERSION, .name = "counters", .build = counters_build};
enum { COUNTERS_STATES = 6 * 6 * 6 * 6, COUNTERS_TRANSITIONS = COUNTERS * COUNT * 6 * 6 * 6, COUNTERS_DEPTH = 20 };

static void counters_by_closed_form(void) {
  g_autoptr(SearchResult) r = small_search(&counters, (SearchOptions){.jobs = 1});
  expect_int(r->states, ==, COUNTERS_STATES);
  expect_int(r->transitions, ==, COUNTERS_TRANSITIONS);
  expect_int(r->depth, ==, COUNTERS_DEPTH);
  expect(r->exhausted);
  expect_int(r->stop, ==, STOP_EXHAUSTED);
  expect_int(r->findings->len, ==, 0);
}

/* A counter's pc needs 3 bits, and what says that it has ended at most a few more: far below the raw arena. */
static void vectors_are_short(void) {
  g_autoptr(SearchResult) r = small_search(&counters, (SearchOptions){.jobs = 1});
  expect_int(r->vector_bits, >=, COUNTERS * 3);
  expect_int(r->vector_bits, <=, 128);
  expect_int(r->store_bytes / r->states, <=, 64);
}

static void every_store_and_order_sees_the_same(void) {
  static const SearchOptions ways[] = {{.store = STORE_COLLAPSE},
                                       {.store = STORE_HASH128},
                                       {.strategy = STRATEGY_DFS},
                                       {.strategy = STRATEGY_DFS, .store = STORE_COLLAPSE},
                                       {.strategy = STRATEGY_DFS, .store = STORE_HASH128},
                                       {.jobs = 2},
                                       {.jobs = 3, .store = STORE_COLLAPSE}};
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    g_autoptr(SearchResult) r = small_search(&counters, ways[i]);
    expect_int(r->states, ==, COUNTERS_STATES);
    expect_int(r->transitions, ==, COUNTERS_TRANSITIONS);
    expect_int(r->exhausted, ==, ways[i].store != STORE_HASH128);
  }
}

static void bitstate_never_exhausts(void) {
  g_autoptr(SearchResult) r =
      small_search(&counters, (SearchOptions){.strategy = STRATEGY_DFS, .store = STORE_BITSTATE, .bits_log2 = 24});
  expect_int(r->states, ==, COUNTERS_STATES); /* 1296 states in 2^24 bits: a collision is a matter of 1e-8 */
  expect(!r->exhausted);
  expect(r->omission > 0);
  g_autoptr(SearchResult) small =
      small_search(&counters, (SearchOptions){.strategy = STRATEGY_DFS, .store = STORE_BITSTATE, .bits_log2 = 10});
  expect_int(small->states, <, COUNTERS_STATES);
  expect(small->omission > r->omission);
}

static void limits_are_kept(void) {
  g_autoptr(SearchResult) states = small_search(&counters, (SearchOptions){.max_states = 100});
  expect_int(states->states, ==, 100);
  expect_int(states->stop, ==, STOP_STATES);
  expect(!states->exhausted);
  g_autoptr(SearchResult) depth = small_search(&counters, (SearchOptions){.max_depth = 1});
  expect_int(depth->states, ==, 1 + COUNTERS);
  expect_int(depth->stop, ==, STOP_DEPTH);
  /* Level d has as many states as there are ways to write d as a sum of four numbers of 0 to 5: 1, 4, 10. */
  g_autoptr(SearchResult) dfs = small_search(&counters, (SearchOptions){.strategy = STRATEGY_DFS, .max_depth = 2});
  expect_int(dfs->states, ==, 1 + 4 + 10);
  expect_int(dfs->stop, ==, STOP_DEPTH);
  g_autoptr(SearchResult) memory = small_search(&counters, (SearchOptions){.max_bytes = 64});
  expect_int(memory->stop, ==, STOP_MEMORY);
  gint yes = 1;
  g_autoptr(SearchResult) interrupted = small_search(&counters, (SearchOptions){.interrupted = &yes});
  expect_int(interrupted->stop, ==, STOP_INTERRUPTED);
  expect_int(interrupted->states, ==, 1);
}

static void deepening_ends_when_nothing_is_cut(void) {
  g_autoptr(SearchResult) r = small_search(&counters, (SearchOptions){.strategy = STRATEGY_DFS, .deepen = 7});
  expect_int(r->states, ==, COUNTERS_STATES);
  expect_int(r->depth, ==, COUNTERS_DEPTH);
  expect(r->exhausted);
  g_autoptr(SearchResult) short_of =
      small_search(&counters, (SearchOptions){.strategy = STRATEGY_DFS, .deepen = 7, .max_depth = 19});
  expect(!short_of->exhausted);
  expect_int(short_of->stop, ==, STOP_DEPTH);
}

/* Whole levels are counted; samples of 40 from levels of up to 146 must still come near. */
static void estimates_come_near(void) {
  SearchOptions o = {.stepper = {.build = small_build, .source = (gpointer)&counters}};
  Estimate e;
  expect(estimate_states(&o, 1000, &e, NULL));
  expect(e.exact);
  expect_int(e.states, ==, COUNTERS_STATES);
  expect_int(e.transitions, ==, COUNTERS_TRANSITIONS);
  expect_int(e.depth, ==, COUNTERS_DEPTH);
  expect(estimate_states(&o, 40, &e, NULL));
  expect(!e.exact);
  expect_near(e.states, COUNTERS_STATES, 0.3);
  expect_near(e.transitions, COUNTERS_TRANSITIONS, 0.3);
}

/* ---- choices: one of 3, then one of 2 in the same step, then one of 100 in the next ---- */
typedef struct {
  MachineHead head;
  uint16_t a, b, c;
} Chooser;
static Step choose_two(World *w, ProcId p, void *l) {
  Chooser *c = l;
  (void)p;
  c->a = (uint16_t)(1 + world_choose(w, world_choice(w, "a"), 3));
  c->b = (uint16_t)(1 + world_choose(w, world_choice(w, "b"), 2));
  return step_ran();
}
static Step choose_many(World *w, ProcId p, void *l) {
  Chooser *c = l;
  (void)p;
  c->c = (uint16_t)(1 + world_choose(w, world_choice(w, "c"), 100));
  return step_ran();
}
static Step choosing_ends(World *w, ProcId p, void *l) {
  (void)w;
  (void)p;
  (void)l;
  return step_done();
}
static const Stage chooser_stages[] = {{"two", choose_two}, {"many", choose_many}, {"end", choosing_ends}};
MACHINE(chooser, Chooser, chooser_stages)
static void *chooser_build(World *w) {
  ProcId *p = arena_alloc(world_arena(w), sizeof *p);
  *p = small_spawn(w, &chooser, NULL);
  return p;
}
static bool is_99(const World *w, const void *model, GString *why) {
  ProcId p = *(const ProcId *)model;
  const Chooser *c = world_alive(w, p) ? world_locals((World *)w, p) : NULL;
  if (!c || c->c != 99 || c->a != 3) return false;
  g_string_assign(why, "c is 99");
  return true;
}
static const PluginCheck chooser_checks[] = {{"not-99", "c is not 99 with a at 3", is_99}};
static const ModelPlugin choosers = {.version = MODEL_PLUGIN_VERSION,
                                     .name = "chooser",
                                     .build = chooser_build,
                                     .checks = chooser_checks,
                                     .n_checks = 1};
static bool never(const World *w, const void *model, GString *why) {
  (void)w;
  (void)model;
  (void)why;
  return false;
}
static const PluginCheck no_checks[] = {{"never", "is never broken", never}};
static const ModelPlugin choosers_fine = {
    .version = MODEL_PLUGIN_VERSION, .name = "chooser", .build = chooser_build, .checks = no_checks, .n_checks = 1};

static void every_answer_is_tried(void) {
  g_autoptr(SearchResult) r = small_search(&choosers_fine, (SearchOptions){.jobs = 1});
  expect_int(r->states, ==, 1 + 6 + 600 + 1); /* all ends are one state: the locals are gone */
  expect_int(r->transitions, ==, 6 + 600 + 600);
  expect(r->exhausted);
  g_autoptr(SearchResult) dfs = small_search(&choosers_fine, (SearchOptions){.strategy = STRATEGY_DFS});
  expect_int(dfs->states, ==, r->states);
  expect_int(dfs->transitions, ==, r->transitions);
}

/* The 99th answer is beyond what a state's link to its parent can name: it is found again by its child. */
static void answers_stand_in_the_path(void) {
  g_autoptr(SearchResult) r = small_search(&choosers, (SearchOptions){.jobs = 1});
  expect_int(r->findings->len, ==, 1);
  const Finding *f = r->findings->pdata[0];
  expect_int(f->path->len, ==, 2);
  const Branch *first = &g_array_index(f->path, Branch, 0), *second = &g_array_index(f->path, Branch, 1);
  expect_int(first->n_answers, ==, 2);
  expect_int(first->answers[0].took, ==, 2);
  expect_int(first->answers[1].took, ==, 0); /* the least of two ways */
  expect_int(second->answers[0].took, ==, 98);
  expect_str(f->why, "c is 99");
}

/* ---- two locks taken in opposite order ---- */
typedef struct {
  MachineHead head;
  ObjectId first, second;
} Locker;
static Step take_first(World *w, ProcId p, void *l) {
  return lock_acquire(w, ((Locker *)l)->first, p, LOCK_EXCLUSIVE);
}
static Step take_second(World *w, ProcId p, void *l) {
  return lock_acquire(w, ((Locker *)l)->second, p, LOCK_EXCLUSIVE);
}
static Step give_both(World *w, ProcId p, void *l) {
  lock_release(w, ((Locker *)l)->second, p);
  lock_release(w, ((Locker *)l)->first, p);
  return step_done();
}
static const Stage locker_stages[] = {{"first", take_first}, {"second", take_second}, {"give", give_both}};
MACHINE(locker, Locker, locker_stages)
static void lockers(World *w, bool crossed) {
  ObjectId a = lock_new(w, "a"), b = lock_new(w, "b");
  for (int i = 0; i < 2; i++) {
    Locker *l = world_locals(w, small_spawn(w, &locker, NULL));
    l->first = crossed && i ? b : a;
    l->second = crossed && i ? a : b;
  }
}
static void *crossed_build(World *w) {
  return lockers(w, true), NULL;
}
static void *ordered_build(World *w) {
  return lockers(w, false), NULL;
}
static const ModelPlugin crossed = {.version = MODEL_PLUGIN_VERSION, .name = "crossed", .build = crossed_build};
static const ModelPlugin ordered = {.version = MODEL_PLUGIN_VERSION, .name = "ordered", .build = ordered_build};

/* Both take their first, then both wait for the other's: four steps, and no way is shorter. */
static void deadlock_is_found_in_four(void) {
  static const SearchOptions ways[] = {{.jobs = 1}, {.jobs = 2}};
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    g_autoptr(SearchResult) r = small_search(&crossed, ways[i]);
    expect_int(r->findings->len, ==, 1);
    const Finding *f = r->findings->pdata[0];
    expect_int(f->check, ==, -1);
    expect_int(f->path->len, ==, 4);
    expect(g_str_has_prefix(f->why, "deadlock"));
    expect_int(r->stop, ==, STOP_FOUND);
  }
  g_autoptr(SearchResult) fine = small_search(&ordered, (SearchOptions){.jobs = 1});
  expect_int(fine->findings->len, ==, 0);
  expect(fine->exhausted);
}

/* As a check it is broken where the search says deadlock, and nowhere else. */
static void the_check_sees_the_deadlock(void) {
  static const Check check = {"no-deadlock", "", SEES_WIRE, .judge = check_no_deadlock}, *const checks[] = {&check};
  SearchOptions o = {.stepper = {.build = small_build, .source = (gpointer)&crossed}, .findings_max = 1};
  o.checks = checks;
  o.n_checks = 1;
  g_autoptr(SearchResult) r = search_run(&o, NULL);
  expect_int(r->findings->len, ==, 1);
  const Finding *f = r->findings->pdata[0];
  expect_int(f->check, ==, 0);
  expect_int(f->path->len, ==, 4);
  o.stepper.source = (gpointer)&ordered;
  g_autoptr(SearchResult) fine = search_run(&o, NULL);
  expect_int(fine->findings->len, ==, 0);
  expect(fine->exhausted);
}

static void other_strategies_find_the_deadlock(void) {
  for (Strategy s = STRATEGY_DFS; s <= STRATEGY_PCT; s++) {
    g_autoptr(SearchResult) r = small_search(&crossed, (SearchOptions){.strategy = s, .seed = 1, .changes = 2});
    expect_int(r->findings->len, ==, 1);
  }
}

/* ---- a lost update: read, then write one more; both read 0 ---- */
typedef struct {
  MachineHead head;
  uint16_t read;
} Adder;
static Step adder_reads(World *w, ProcId p, void *l) {
  ((Adder *)l)->read = *(const uint16_t *)world_data(w, p);
  return step_ran();
}
static Step adder_writes(World *w, ProcId p, void *l) {
  *(uint16_t *)world_data(w, p) = (uint16_t)(((Adder *)l)->read + 1);
  return step_done();
}
static const Stage adder_stages[] = {{"read", adder_reads}, {"write", adder_writes}};
MACHINE(adder, Adder, adder_stages)
static void *adders_build(World *w) {
  uint16_t *sum = arena_alloc(world_arena(w), sizeof *sum);
  for (int i = 0; i < 3; i++) small_spawn(w, &adder, sum);
  return sum;
}
static bool lost(const World *w, const void *model, GString *why) {
  if (world_live(w) || *(const uint16_t *)model == 3) return false;
  g_string_printf(why, "the sum is %u, not 3", *(const uint16_t *)model);
  return true;
}
static const PluginCheck adder_checks[] = {{"nothing-lost", "three additions add three", lost}};
static const ModelPlugin adders = {
    .version = MODEL_PLUGIN_VERSION, .name = "adders", .build = adders_build, .checks = adder_checks, .n_checks = 1};

static void findings_of_two_jobs_are_those_of_one(void) {
  g_autoptr(SearchResult) one = small_search(&adders, (SearchOptions){.findings_max = 5});
  g_autoptr(SearchResult) two = small_search(&adders, (SearchOptions){.findings_max = 5, .jobs = 2});
  expect_int(one->findings->len, >=, 1);
  expect_int(one->findings->len, ==, two->findings->len);
  expect_int(one->states, ==, two->states);
  expect_int(one->transitions, ==, two->transitions);
  for (guint i = 0; i < MIN(one->findings->len, two->findings->len); i++) {
    const Finding *a = one->findings->pdata[i], *b = two->findings->pdata[i];
    expect_str(a->signature, b->signature);
    expect_str(a->why, b->why);
    expect_int(a->path->len, ==, 6);
    expect_int(b->path->len, ==, 6);
    for (guint j = 0; j < MIN(a->path->len, b->path->len); j++)
      expect_int(g_array_index(a->path, Branch, j).move.subject, ==, g_array_index(b->path, Branch, j).move.subject);
  }
}

/* ---- messages: two sent, delivered in order or (lossy) lost, then read ---- */
typedef struct {
  MachineHead head;
  uint16_t got;
  ObjectId mail;
} Party;
static Step send_two(World *w, ProcId p, void *l) {
  const Party *s = l;
  (void)p;
  channel_send(w, s->mail, (Message){.kind = 1}, 5);
  channel_send(w, s->mail, (Message){.kind = 2}, 5);
  return step_done();
}
static Step receive(World *w, ProcId p, void *l) {
  Party *r = l;
  Message m;
  while (channel_take(w, r->mail, &m)) r->got = (uint16_t)(r->got * 10 + m.kind);
  r->head.pc = 0;
  return channel_await(w, r->mail, p);
}
static const Stage sender_stages[] = {{"send", send_two}}, receiver_stages[] = {{"receive", receive}};
MACHINE(sender, Party, sender_stages)
MACHINE(receiver, Party, receiver_stages)
static void mail_build(World *w, bool lossy) {
  ObjectId mail = channel_new(w, "mail");
  channel_may_lose(w, mail, lossy);
  Party *s = world_locals(w, small_spawn(w, &sender, NULL)), *r = world_locals(w, small_spawn(w, &receiver, NULL));
  s->mail = r->mail = mail;
}
static void *sure_build(World *w) {
  return mail_build(w, false), NULL;
}
static void *lossy_build(World *w) {
  return mail_build(w, true), NULL;
}
static bool always(const World *w, const void *model) {
  (void)w;
  (void)model;
  return true;
}
static const ModelPlugin sure = {.version = MODEL_PLUGIN_VERSION, .name = "sure", .build = sure_build, .done = always};
static const ModelPlugin lossy = {
    .version = MODEL_PLUGIN_VERSION, .name = "lossy", .build = lossy_build, .done = always};

/* By hand. The receiver is ready (r, at first and after a delivery) or waits (w); written under way | arrived | got.
 * Not sent: r, w: 2. Sent: 12|-|- r and w: 2. One delivered: 2|1|- r: 1; read 2|-|1 w: 1. Both: -|12|- r: 1;
 * -|2|1 r: 1; end -|-|12 w: 1. Nine states. Moves: r-: 2, w-: 1; 12 r: 2, 12 w: 1; 2|1 r: 2; 2|-|1 w: 1; -|12 r: 1;
 * -|2|1 r: 1; end: 0. Eleven. */
static void messages_by_hand(void) {
  g_autoptr(SearchResult) r = small_search(&sure, (SearchOptions){.jobs = 1});
  expect_int(r->states, ==, 9);
  expect_int(r->transitions, ==, 11);
  expect_int(r->depth, ==, 4); /* send, deliver, deliver, receive: depth is that of shortest paths */
}

/* Lossy: ends are what was got: nothing, 1, 2, 12, each with the receiver waiting; it may be ready before. */
static void lost_messages_by_hand(void) {
  g_autoptr(SearchResult) r = small_search(&lossy, (SearchOptions){.jobs = 1});
  /* Beside the nine: 2|-|- r, w (first lost); -|-|- r, w (both); -|1|- r (second lost); -|-|1 w; -|2|- r; -|-|2 w. */
  expect_int(r->states, ==, 9 + 8);
  expect(r->exhausted);
}

/* ---- timers ---- */
typedef struct {
  MachineHead head;
  uint16_t fired;
  ObjectId queue;
  int64_t after;
  uint32_t limit, order;
} Waiter;
static Step waiter_waits(World *w, ProcId p, void *l) {
  Waiter *a = l;
  timer_arm(w, p, a->limit, a->after);
  return queue_wait(w, a->queue, p);
}
static Step waiter_notes(World *w, ProcId p, void *l) {
  Waiter *a = l;
  uint32_t *turn = world_data(w, p);
  a->fired = timer_fired(w, p);
  a->order = ++*turn;
  return queue_wait(w, a->queue, p);
}
static const Stage waiter_stages[] = {{"wait", waiter_waits}, {"note", waiter_notes}, {"never", waiter_notes}};
MACHINE(waiter, Waiter, waiter_stages)
static uint32_t *waiters_build(World *w, bool limit, int64_t first, int64_t second) {
  uint32_t *turn = arena_alloc(world_arena(w), sizeof *turn);
  ObjectId queue = queue_new(w, "queue");
  for (int i = 0; i < 2; i++) {
    Waiter *a = world_locals(w, small_spawn(w, &waiter, turn));
    a->queue = queue;
    a->limit = limit;
    a->after = i ? second : first;
  }
  return turn;
}
static void *limits_build(World *w) {
  return waiters_build(w, true, 5, 5);
}
static void *timers_build(World *w) {
  return waiters_build(w, false, 5, 9);
}
static void *tied_build(World *w) {
  return waiters_build(w, false, 5, 5);
}
static bool second_first(const World *w, const void *model, GString *why) {
  const Waiter *b = world_locals((World *)w, 2);
  (void)model;
  if (b->order != 1) return false;
  g_string_assign(why, "the second came first");
  return true;
}
static const PluginCheck order_checks[] = {{"first-is-first", "the first timer fires first", second_first}};
#define TIMED_MODEL(model, build_)                                                                                     \
  static const ModelPlugin model = {.version = MODEL_PLUGIN_VERSION,                                                   \
                                    .name = #model,                                                                    \
                                    .build = build_,                                                                   \
                                    .done = always,                                                                    \
                                    .checks = order_checks,                                                            \
                                    .n_checks = 1}
TIMED_MODEL(limits, limits_build);
TIMED_MODEL(timers, timers_build);
TIMED_MODEL(tied, tied_build);

static bool is_broken(const ModelPlugin *m, SearchOptions o) {
  g_autoptr(SearchResult) r = small_search(m, o);
  return r->findings->len > 0;
}

static void limits_do_not_fire_untimed(void) {
  g_autoptr(SearchResult) r = small_search(&limits, (SearchOptions){.jobs = 1});
  expect_int(r->states, ==, 5); /* none, a, b; both, in one order of the queue or the other */
  expect(!is_broken(&limits, (SearchOptions){.jobs = 1}));
  const char *const fire[] = {"waiter", NULL};
  expect(is_broken(&limits, (SearchOptions){.stepper = {.fire = fire}}));
}

/* 5 and 9 ns from the same moment; ties, and jitters that may or may not make them cross. */
static void time_orders_timers(void) {
  expect(is_broken(&timers, (SearchOptions){.jobs = 1}));
  expect(!is_broken(&timers, (SearchOptions){.stepper = {.timed = true}}));
  expect(is_broken(&tied, (SearchOptions){.stepper = {.timed = true}}));
  expect(is_broken(&limits, (SearchOptions){.stepper = {.timed = true}}));
  expect(!is_broken(&timers, (SearchOptions){.stepper = {.timed = true, .jitter_ns = 1}}));
  expect(is_broken(&timers, (SearchOptions){.stepper = {.timed = true, .jitter_ns = 2}}));
}

/* ---- coming and going: a parent starts two children, one after the other or both at once ---- */
static Step child_ends(World *w, ProcId p, void *l) {
  (void)w;
  (void)p;
  (void)l;
  return step_done();
}
static const Stage child_stages[] = {{"end", child_ends}};
MACHINE(child, MachineHead, child_stages)
static Step parent_spawns(World *w, ProcId p, void *l) {
  (void)p;
  (void)l;
  world_spawn(w, world_type(w, &child), 0);
  return step_ran();
}
static const Stage parent_stages[] = {{"1", parent_spawns}, {"2", parent_spawns}, {"end", child_ends}};
MACHINE(parent, MachineHead, parent_stages)
static void *family_build(World *w) {
  world_type(w, &child);
  return small_spawn(w, &parent, NULL), NULL;
}
static const ModelPlugin family = {.version = MODEL_PLUGIN_VERSION, .name = "family", .build = family_build};

/* By hand: parent at 1, 2, end, gone; children (by id) alive. At 1: none. At 2: {1}, {}. At end: {1,2} and {2} or {1}
 * alone ({1}, {2}), {}. Gone: the same four. 1 + 2 + 4 + 4, whichever id was free first. */
static void ids_come_and_go(void) {
  g_autoptr(SearchResult) r = small_search(&family, (SearchOptions){.jobs = 1});
  expect_int(r->states, ==, 11);
  expect(r->exhausted);
}

/* ---- marks: what a step did, judged even where the state is known ---- */
static Step slip(World *w, ProcId p, void *l) {
  (void)p;
  MachineHead *h = l;
  h->pc = 0;
  if (world_choose(w, world_choice(w, "slip"), 2)) world_mark(w, 4);
  return step_ran();
}
static const Stage slipper_stages[] = {{"slip", slip}};
MACHINE(slipper, MachineHead, slipper_stages)
static void *slipper_build(World *w) {
  return small_spawn(w, &slipper, NULL), NULL;
}
static bool slipped(const World *w, const void *model, GString *why) {
  (void)model;
  if (!(world_marks(w) & 4)) return false;
  g_string_assign(why, "it slipped");
  return true;
}
static const PluginCheck slipper_checks[] = {{"no-slip", "it does not slip", slipped}};
static const ModelPlugin slippers = {.version = MODEL_PLUGIN_VERSION,
                                     .name = "slipper",
                                     .build = slipper_build,
                                     .checks = slipper_checks,
                                     .n_checks = 1};

static void marks_are_judged_on_known_states(void) {
  for (Strategy s = STRATEGY_BFS; s <= STRATEGY_RANDOM; s++) {
    g_autoptr(SearchResult) r = small_search(&slippers, (SearchOptions){.strategy = s});
    expect_int(r->states, ==, 1);
    expect_int(r->findings->len, ==, 1);
  }
}

int main(void) {
  static const Case cases[] = {{"independent counters by closed form", counters_by_closed_form},
                               {"vectors are short", vectors_are_short},
                               {"every store and order sees the same", every_store_and_order_sees_the_same},
                               {"bitstate never exhausts", bitstate_never_exhausts},
                               {"limits are kept", limits_are_kept},
                               {"deepening ends when nothing is cut", deepening_ends_when_nothing_is_cut},
                               {"estimates come near", estimates_come_near},
                               {"every answer is tried", every_answer_is_tried},
                               {"answers stand in the path", answers_stand_in_the_path},
                               {"a deadlock is found in four steps", deadlock_is_found_in_four},
                               {"the check sees the deadlock", the_check_sees_the_deadlock},
                               {"other strategies find the deadlock", other_strategies_find_the_deadlock},
                               {"findings of two jobs are those of one", findings_of_two_jobs_are_those_of_one},
                               {"messages by hand", messages_by_hand},
                               {"lost messages by hand", lost_messages_by_hand},
                               {"limits do not fire untimed", limits_do_not_fire_untimed},
                               {"time orders timers", time_orders_timers},
                               {"ids come and go", ids_come_and_go},
                               {"marks are judged on known states", marks_are_judged_on_known_states},
                               {0}};
  return suite_run("explore", cases);
}
