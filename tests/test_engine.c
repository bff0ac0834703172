/* test_engine.c - virtual time against timelines worked out by hand and against queueing theory. */
#include "model/world/rng.h"
#include "sim/engine.h"
#include "sim/rounds.h"
#include "tests/harness.h"

/* A worker: `bursts` pieces of work of `ns`, then notes when it ended. */
typedef struct {
  MachineHead head;
  uint16_t id;
  uint32_t bursts;
  int64_t ns, ended;
} Worker;
typedef struct {
  int64_t ended[64];
  ProcId order[64];
  guint n;
} Log;
static Log seen;
static Step burst(World *w, ProcId self, void *l) {
  Worker *k = l;
  (void)self;
  if (k->bursts == 0) {
    seen.ended[k->id] = world_ledger_time(w);
    seen.order[seen.n++] = k->id;
    return step_done();
  }
  k->bursts--;
  k->head.pc = 0;
  return step_work(k->ns);
}
static const Stage worker_stages[] = {{"burst", burst}};
static Step worker_resume(World *w, ProcId p, void *l) {
  return machine_resume(w, p, l, worker_stages);
}
static const char *worker_at(const World *w, const void *l) {
  return (void)w, machine_at(l, worker_stages);
}
static const ProcessType worker = {"worker", sizeof(Worker), worker_resume, worker_at};

typedef struct {
  World *w;
  Engine *e;
} Fixture;
static Fixture setup(EngineConfig config) {
  Costs costs = {{0}};
  costs.ps[COST_LOCK_HANDOVER] = 5000;
  memset(&seen, 0, sizeof seen);
  Fixture f = {.w = world_new(&costs, 1 << 24)};
  f.e = engine_new(f.w, &config);
  return f;
}
static void teardown(Fixture *f) {
  engine_free(f->e);
  world_free(f->w);
}
static void add_worker(Fixture *f, guint id, guint bursts, int64_t ns) {
  Worker *k = world_locals(f->w, world_spawn(f->w, world_type(f->w, &worker), 0));
  k->id = (uint16_t)id;
  k->bursts = bursts;
  k->ns = ns;
}

static void without_cores_all_run_at_once(void) {
  Fixture f = setup((EngineConfig){.seed = 1});
  for (guint i = 0; i < 8; i++) add_worker(&f, i, 1, 1000);
  expect_int(engine_run(f.e, -1), ==, ENGINE_IDLE);
  expect_int(engine_now(f.e), ==, 1000);
  teardown(&f);
}

/* 8 workers of 1000 ns on 3 cores, no quantum: 3 at a time, ends at 1000, 1000, 1000, 2000, ... 3000, 3000. */
static void cores_run_first_come_first_served(void) {
  Fixture f = setup((EngineConfig){.seed = 1, .cores = 3});
  for (guint i = 0; i < 8; i++) add_worker(&f, i, 1, 1000);
  engine_run(f.e, -1);
  expect_int(engine_now(f.e), ==, 3000);
  guint at[4] = {0};
  for (guint i = 0; i < 8; i++) at[seen.ended[i] / 1000]++;
  expect_int(at[1], ==, 3);
  expect_int(at[2], ==, 3);
  expect_int(at[3], ==, 2);
  teardown(&f);
}

/* Two workers of 1000 ns on one core with a quantum of 400: A 0-400, B 400-800, A 800-1200, B 1200-1600, A 1600-1800,
 * B 1800-2000. */
static void a_quantum_shares_a_core(void) {
  Fixture f = setup((EngineConfig){.seed = 1, .cores = 1, .quantum_ns = 400});
  add_worker(&f, 0, 1, 1000);
  add_worker(&f, 1, 1, 1000);
  engine_run(f.e, -1);
  expect_int(MIN(seen.ended[0], seen.ended[1]), ==, 1800);
  expect_int(MAX(seen.ended[0], seen.ended[1]), ==, 2000);
  teardown(&f);
}

/* Alone on its core a process is cut at each quantum and goes on at once: 1000 ns of work end at 1000, not before. */
static void a_quantum_costs_a_lone_process_nothing(void) {
  Fixture f = setup((EngineConfig){.seed = 1, .cores = 2, .quantum_ns = 300});
  add_worker(&f, 0, 2, 1000);
  engine_run(f.e, -1);
  expect_int(seen.ended[0], ==, 2000);
  teardown(&f);
}

/* A process that works on in small pieces keeps its core until the quantum is used: 5 x 100 then the other. */
static void pieces_count_as_one_slice(void) {
  Fixture f = setup((EngineConfig){.seed = 1, .cores = 1, .quantum_ns = 1000});
  add_worker(&f, 0, 5, 100);
  add_worker(&f, 1, 5, 100);
  engine_run(f.e, -1);
  expect_int(MIN(seen.ended[0], seen.ended[1]), ==, 500);
  expect_int(MAX(seen.ended[0], seen.ended[1]), ==, 1000);
  teardown(&f);
}

static void the_clock_stops_at_until(void) {
  Fixture f = setup((EngineConfig){.seed = 1});
  add_worker(&f, 0, 10, 100);
  expect_int(engine_run(f.e, 550), ==, ENGINE_TIME);
  expect_int(engine_now(f.e), ==, 550);
  expect_int(engine_run(f.e, -1), ==, ENGINE_IDLE);
  expect_int(seen.ended[0], ==, 1000);
  teardown(&f);
}

/* Ties: 8 workers that end at one instant. Counted; another seed gives another order, the same seed the same. */
static void order_of(uint64_t seed, Ties ties, ProcId *order) {
  Fixture f = setup((EngineConfig){.seed = seed, .ties = ties});
  for (guint i = 0; i < 8; i++) add_worker(&f, i, 1, 1000);
  engine_run(f.e, -1);
  expect_int(engine_ties(f.e), ==, 14); /* 8 starts at 0 and 8 ends at 1000: 7 pops of each left an equal behind */
  memcpy(order, seen.order, 8 * sizeof *order);
  teardown(&f);
}
static void ties_are_counted_and_seeded(void) {
  ProcId a[8], b[8], c[8], d[8];
  order_of(1, TIES_SEEDED, a);
  order_of(1, TIES_SEEDED, b);
  order_of(2, TIES_SEEDED, c);
  order_of(2, TIES_EVENT_FIRST, d);
  expect(memcmp(a, b, sizeof a) == 0);
  expect(memcmp(a, c, sizeof a) != 0);
  for (guint i = 0; i < 8; i++) expect_int(d[i], ==, i); /* the order of making */
}

/* ---- a limit and a message at one instant ---- */
typedef struct {
  MachineHead head;
  uint16_t fired;
  ObjectId mail;
} Waiter;
static int outcome;
static Step await_mail(World *w, ProcId self, void *l) {
  timer_arm(w, self, true, 100);
  return channel_await(w, ((Waiter *)l)->mail, self);
}
static Step look(World *w, ProcId self, void *l) {
  (void)l;
  outcome = timer_fired(w, self) ? 'T' : 'M';
  return step_done();
}
static const Stage waiter_stages[] = {{"await", await_mail}, {"look", look}};
static Step waiter_resume(World *w, ProcId p, void *l) {
  return machine_resume(w, p, l, waiter_stages);
}
static const char *waiter_at(const World *w, const void *l) {
  return (void)w, machine_at(l, waiter_stages);
}
static const ProcessType waiter = {"waiter", sizeof(Waiter), waiter_resume, waiter_at};
static int race(Ties ties, int64_t message_after) {
  Fixture f = setup((EngineConfig){.seed = 3, .ties = ties});
  ObjectId mail = channel_new(f.w, "mail");
  ((Waiter *)world_locals(f.w, world_spawn(f.w, world_type(f.w, &waiter), 0)))->mail = mail;
  engine_run(f.e, 0);
  channel_send(f.w, mail, (Message){.kind = 1}, message_after);
  engine_run(f.e, -1);
  teardown(&f);
  return outcome;
}
static void limits_race_by_rule(void) {
  expect_int(race(TIES_TIMEOUT_FIRST, 100), ==, 'T');
  expect_int(race(TIES_EVENT_FIRST, 100), ==, 'M');
  expect_int(race(TIES_TIMEOUT_FIRST, 99), ==, 'M');
  expect_int(race(TIES_EVENT_FIRST, 101), ==, 'T');
}

/* ---- two inputs at one instant, each read by a program of its own: small letters ask, digits are the program's,
 * capitals have heard its answer, which takes no time ---- */
typedef struct {
  MachineHead head;
  uint16_t id, in_line;
  ObjectId wakes;
} Asker;
static GString *said;
static Step waits_for_input(World *w, ProcId self, void *l) {
  return queue_wait(w, ((Asker *)l)->wakes, self);
}
static Step reads_input(World *w, ProcId self, void *l) {
  (void)w, (void)self;
  g_string_append_c(said, (char)('1' + ((Asker *)l)->id));
  return step_done();
}
static Step asks(World *w, ProcId self, void *l) {
  const Asker *a = l;
  (void)self;
  g_string_append_c(said, (char)('a' + a->id));
  queue_wake_one(w, a->wakes, 0);
  return a->in_line ? step_in_line() : step_ran();
}
static Step hears(World *w, ProcId self, void *l) {
  (void)w, (void)self;
  g_string_append_c(said, (char)('A' + ((Asker *)l)->id));
  return step_done();
}
static const Stage program_stages[] = {{"wait", waits_for_input}, {"read", reads_input}};
static const Stage asker_stages[] = {{"ask", asks}, {"hear", hears}};
static Step program_resume(World *w, ProcId p, void *l) {
  return machine_resume(w, p, l, program_stages);
}
static Step asker_resume(World *w, ProcId p, void *l) {
  return machine_resume(w, p, l, asker_stages);
}
static const char *asker_at(const World *w, const void *l) {
  return (void)w, machine_at(l, asker_stages);
}
static bool at_once(const World *w, ProcId self, const void *l) {
  return (void)w, (void)self, ((const Asker *)l)->head.pc == 1;
}
static const ProcessType program_type = {"program", sizeof(Asker), program_resume, asker_at},
                         asker_type = {"asker", sizeof(Asker), asker_resume, asker_at};
static const TypeGuide program_guide = {.at_once = at_once};

static void expect_order(bool guided, bool in_line, const char *order) {
  Fixture f = setup((EngineConfig){.seed = 1, .ties = TIES_EVENT_FIRST});
  TypeId program = world_type(f.w, &program_type), asker = world_type(f.w, &asker_type);
  if (guided) world_guide(f.w, program, &program_guide);
  said = g_string_new(NULL);
  for (uint16_t i = 0; i < 2; i++) {
    ObjectId q = queue_new(f.w, "input");
    *(Asker *)world_locals(f.w, world_spawn(f.w, program, 0)) = (Asker){.id = i, .wakes = q};
    *(Asker *)world_locals(f.w, world_spawn(f.w, asker, 1)) = (Asker){.id = i, .wakes = q, .in_line = in_line};
  }
  engine_run(f.e, -1);
  expect_str(said->str, order);
  g_string_free(said, TRUE);
  teardown(&f);
}
static void an_input_is_followed_by_all_it_sets_going(void) {
  expect_order(true, true, "a1b2AB");
  expect_order(true, false, "a1Ab2B");
  expect_order(false, true, "ab1A2B"); /* by nothing, where the program does not say that it follows */
}

/* ---- locks in time: n processes hold an exclusive lock for 100 ns each; each hand-over costs 5. ---- */
typedef struct {
  MachineHead head;
  uint16_t id;
  ObjectId lock;
} Holder;
static Step acquires(World *w, ProcId self, void *l) {
  return lock_acquire(w, ((Holder *)l)->lock, self, LOCK_EXCLUSIVE);
}
static Step holds(World *w, ProcId self, void *l) {
  return (void)w, (void)self, (void)l, step_work(100);
}
static Step releases(World *w, ProcId self, void *l) {
  lock_release(w, ((Holder *)l)->lock, self);
  seen.ended[((Holder *)l)->id] = world_ledger_time(w);
  return step_done();
}
static const Stage holder_stages[] = {{"acquires", acquires}, {"holds", holds}, {"releases", releases}};
static Step holder_resume(World *w, ProcId p, void *l) {
  return machine_resume(w, p, l, holder_stages);
}
static const char *holder_at(const World *w, const void *l) {
  return (void)w, machine_at(l, holder_stages);
}
static const ProcessType holder = {"holder", sizeof(Holder), holder_resume, holder_at};
static void a_lock_serialises_with_handover(void) {
  Fixture f = setup((EngineConfig){.seed = 1});
  ObjectId lock = lock_new(f.w, "L");
  for (guint i = 0; i < 10; i++) {
    Holder *h = world_locals(f.w, world_spawn(f.w, world_type(f.w, &holder), 0));
    h->id = (uint16_t)i;
    h->lock = lock;
  }
  engine_run(f.e, -1);
  expect_int(engine_now(f.e), ==, 10 * 100 + 9 * 5);
  teardown(&f);
}

/* ---- M/M/1: mean time in the system 1/(mu - lambda); lambda = 0.5/us, mu = 1/us gives 2 us ---- */
typedef struct {
  MachineHead head;
  uint16_t spare;
  ObjectId lock;
  uint32_t left;
} Source;
typedef struct {
  MachineHead head;
  uint16_t spare;
  ObjectId lock;
  int64_t came;
} Customer;
static Rng arrivals, services;
static double in_system;
static guint served;
static Step joins(World *w, ProcId self, void *l) {
  ((Customer *)l)->came = world_ledger_time(w);
  return lock_acquire(w, ((Customer *)l)->lock, self, LOCK_EXCLUSIVE);
}
static Step is_served(World *w, ProcId self, void *l) {
  return (void)w, (void)self, (void)l, step_work(rng_exponential(&services, 1000));
}
static Step leaves(World *w, ProcId self, void *l) {
  lock_release(w, ((Customer *)l)->lock, self);
  in_system += (double)(world_ledger_time(w) - ((Customer *)l)->came);
  served++;
  return step_done();
}
static const Stage customer_stages[] = {{"joins", joins}, {"is served", is_served}, {"leaves", leaves}};
static Step customer_resume(World *w, ProcId p, void *l) {
  return machine_resume(w, p, l, customer_stages);
}
static const char *customer_at(const World *w, const void *l) {
  return (void)w, machine_at(l, customer_stages);
}
static const ProcessType customer = {"customer", sizeof(Customer), customer_resume, customer_at};
static Step sends(World *w, ProcId self, void *l) {
  Source *s = l;
  (void)self;
  if (s->left-- == 0) return step_done();
  ((Customer *)world_locals(w, world_spawn(w, world_type(w, &customer), 0)))->lock = s->lock;
  s->head.pc = 0;
  return step_sleep(rng_exponential(&arrivals, 2000));
}
static const Stage source_stages[] = {{"sends", sends}};
static Step source_resume(World *w, ProcId p, void *l) {
  return machine_resume(w, p, l, source_stages);
}
static const char *source_at(const World *w, const void *l) {
  return (void)w, machine_at(l, source_stages);
}
static const ProcessType source = {"source", sizeof(Source), source_resume, source_at};
static void a_queue_obeys_queueing_theory(void) {
  Costs costs = {{0}};
  World *w = world_new(&costs, 1 << 24);
  Engine *e = engine_new(w, &(EngineConfig){.seed = 1});
  rng_init(&arrivals, 1, "arrivals");
  rng_init(&services, 1, "services");
  Source *s = world_locals(w, world_spawn(w, world_type(w, &source), 0));
  s->lock = lock_new(w, "server");
  s->left = 400000;
  engine_run(e, -1);
  expect_int(served, ==, 400000);
  expect_near(in_system / served, 2000, 0.03);
  engine_free(e);
  world_free(w);
}

/* ---- draws ---- */
static void streams_do_not_disturb_each_other(void) {
  uint64_t plain[4], mixed[4];
  for (int more = 0; more < 2; more++) {
    Fixture f = setup((EngineConfig){.seed = 9});
    ChoiceId a = world_choice(f.w, "exit-order"), b = world_choice(f.w, "arrivals");
    for (int i = 0; i < 4; i++) {
      (more ? mixed : plain)[i] = world_choose(f.w, a, 1000000);
      if (more) world_choose(f.w, b, 1000000);
    }
    teardown(&f);
  }
  expect(memcmp(plain, mixed, sizeof plain) == 0);
}

/* ---- ends of what has none ---- */

/* Goes on for ever: `pause` ns between two steps, with a counter below `period`, or a draw of `dice` sides. */
typedef struct {
  uint32_t n, period, dice;
  int64_t pause;
} Spinner;
static Step spinner_resume(World *w, ProcId self, void *l) {
  Spinner *s = l;
  (void)self;
  s->n = (s->n + 1) % s->period;
  if (s->dice) world_choose(w, world_choice(w, "die"), s->dice);
  return s->pause < 0 ? step_ran() : step_sleep(s->pause);
}
static const char *spinner_at(const World *w, const void *l) {
  (void)w;
  return ((const Spinner *)l)->n % 2 ? "tack" : "tick";
}
static const ProcessType spinner = {"spinner", sizeof(Spinner), spinner_resume, spinner_at};
static void add_spinner(Fixture *f, int64_t after_ns, Spinner s) {
  *(Spinner *)world_locals(f->w, world_spawn(f->w, world_type(f->w, &spinner), after_ns)) = s;
}

/* One that only runs, and two that take turns with sleeps of nothing: the instant counts, not the process. */
static void a_loop_without_time_is_stuck(void) {
  for (int64_t pause = -1; pause <= 0; pause++) {
    Fixture f = setup((EngineConfig){.seed = 1, .max_steps_at_once = 1000});
    add_spinner(&f, 7, (Spinner){.period = 2, .pause = pause});
    if (pause == 0) add_spinner(&f, 7, (Spinner){.period = 2, .pause = pause});
    expect_int(engine_run(f.e, -1), ==, ENGINE_STUCK);
    expect_int(engine_steps(f.e), ==, 1000);
    expect_int(engine_now(f.e), ==, 7);
    teardown(&f);
  }
}

/* 900 steps at each of two instants: no limit of 1000 at one of them. The limit on the whole counts both. */
static void the_instant_begins_anew(void) {
  Fixture f = setup((EngineConfig){.seed = 1, .max_steps_at_once = 1000, .max_steps = 1500});
  for (guint i = 0; i < 900; i++) add_spinner(&f, 0, (Spinner){.period = 2, .pause = 5});
  expect_int(engine_run(f.e, -1), ==, ENGINE_STEPS);
  expect_int(engine_steps(f.e), ==, 1500);
  expect_int(engine_now(f.e), ==, 5);
  teardown(&f);
}

static void the_place_names_each_once(void) {
  Fixture f = setup((EngineConfig){.seed = 1, .max_steps = 100});
  g_autoptr(GString) place = g_string_new(NULL);
  add_spinner(&f, 0, (Spinner){.period = 2, .pause = 1});
  engine_run(f.e, -1);
  engine_place(f.e, place);
  expect_str(place->str, "spinner[1] tick, spinner[1] tack");
  teardown(&f);
}

typedef struct {
  Fixture *f;
  Rounds rounds;
  Round found;
  bool ends;
} Looker;
static bool look_for_rounds(void *data) {
  Looker *l = data;
  return rounds_look(&l->rounds, l->f->e, l->f->w, l->ends, &l->found);
}
/* Steps after which a round was seen; 0: never, in the first window. */
static uint64_t round_seen(EngineConfig config, const Spinner *s, guint n, bool ends, Round *found) {
  config.max_steps = ROUNDS_FIRST + ROUNDS_WINDOW + 10;
  Fixture f = setup(config);
  Looker l = {.f = &f, .ends = ends};
  for (guint i = 0; i < n; i++) add_spinner(&f, 0, s[i]);
  engine_listen(f.e, &(EngineListener){.after = look_for_rounds}, &l);
  EngineEnd end = engine_run(f.e, -1);
  uint64_t at = end == ENGINE_STOPPED ? engine_steps(f.e) : 0;
  *found = l.found;
  teardown(&f);
  return at;
}

/* A round is as long as the counters' common period, and takes its time; a window ends where the round does or not. */
static void a_state_that_comes_back(void) {
  Round r;
  Spinner six = {.period = 6, .pause = 5}, longest = {.period = ROUNDS_WINDOW, .pause = 5},
          too_long = {.period = ROUNDS_WINDOW + 1, .pause = 5}, at_once = {.period = 6, .pause = -1};
  expect_int(round_seen((EngineConfig){.seed = 1}, &six, 1, false, &r), ==, ROUNDS_FIRST + 6);
  expect_int(r.steps, ==, 6);
  expect_int(r.ns, ==, 30);
  expect_int(round_seen((EngineConfig){.seed = 1}, &longest, 1, false, &r), ==, ROUNDS_FIRST + ROUNDS_WINDOW);
  expect_int(round_seen((EngineConfig){.seed = 1}, &too_long, 1, false, &r), ==, 0);
  expect_int(round_seen((EngineConfig){.seed = 1}, &six, 1, true, &r), ==, 0); /* its `end` will come */
  expect_int(round_seen((EngineConfig){.seed = 1}, &at_once, 1, true, &r), ==, ROUNDS_FIRST + 6);
  expect_int(r.ns, ==, 0);
}

/* Where chance has a say the same state may go on otherwise. */
static void no_round_by_chance(void) {
  Round r;
  Spinner die = {.period = 6, .pause = 5, .dice = 2}, certain = {.period = 6, .pause = 5, .dice = 1};
  Spinner tied[] = {{.period = 2, .pause = 5}, {.period = 3, .pause = 5}};
  expect_int(round_seen((EngineConfig){.seed = 1}, &die, 1, false, &r), ==, 0);
  expect_int(round_seen((EngineConfig){.seed = 1}, &certain, 1, false, &r), ==, ROUNDS_FIRST + 6);
  expect_int(round_seen((EngineConfig){.seed = 1}, tied, 2, false, &r), ==, 0);
  expect_int(round_seen((EngineConfig){.seed = 1, .ties = TIES_EVENT_FIRST}, tied, 2, false, &r), ==,
             ROUNDS_FIRST + 12);
}

int main(void) {
  return suite_run(
      "engine", (const Case[]){{"without cores all run at once", without_cores_all_run_at_once},
                               {"cores: first come first served", cores_run_first_come_first_served},
                               {"a quantum shares a core", a_quantum_shares_a_core},
                               {"a quantum costs a lone process nothing", a_quantum_costs_a_lone_process_nothing},
                               {"pieces count as one slice", pieces_count_as_one_slice},
                               {"the clock stops at until", the_clock_stops_at_until},
                               {"ties are counted and seeded", ties_are_counted_and_seeded},
                               {"limits race by the rule", limits_race_by_rule},
                               {"an input is followed by all it sets going", an_input_is_followed_by_all_it_sets_going},
                               {"a lock serialises with its hand-over", a_lock_serialises_with_handover},
                               {"a queue obeys queueing theory", a_queue_obeys_queueing_theory},
                               {"streams do not disturb each other", streams_do_not_disturb_each_other},
                               {"a loop without time is stuck", a_loop_without_time_is_stuck},
                               {"the instant begins anew", the_instant_begins_anew},
                               {"the place names each once", the_place_names_each_once},
                               {"a state that comes back", a_state_that_comes_back},
                               {"no round by chance", no_round_by_chance},
                               {0}});
}
