/* test_liveness.c - checks of liveness on machines whose rounds are known: who can go round for ever, and who must let
 * others go on at last. */
#include "checks/checks.h"
#include "checks/lasso.h"
#include "tests/small_models.h"

/* ---- a spinner goes round two stages for ever; a helper, if there is one, sets a waiter free ---- */
typedef struct {
  MachineHead head;
  ObjectId queue;
  uint16_t again; /* the waiter waits again when it has been served */
} Party;
enum { SERVED = 1 };

static Step spin(World *w, ProcId p, void *l) {
  (void)w, (void)p;
  MachineHead *h = l;
  h->pc = (uint16_t)(h->pc % 2); /* it names the next stage already: 1, then 2, which is 0 */
  return step_ran();
}
static Step help(World *w, ProcId p, void *l) {
  Party *a = l;
  (void)p;
  if (queue_wake_one(w, a->queue, 0)) return step_done();
  a->head.pc = 0; /* nobody waits yet */
  return step_ran();
}
static Step wait_in_queue(World *w, ProcId p, void *l) {
  return queue_wait(w, ((Party *)l)->queue, p);
}
static Step served(World *w, ProcId p, void *l) {
  (void)w, (void)p;
  Party *a = l;
  if (!a->again) return step_done();
  a->head.pc = 0;
  return step_ran();
}
static Step help_again(World *w, ProcId p, void *l) {
  Party *a = l;
  (void)p;
  queue_wake_one(w, a->queue, 0);
  a->head.pc = 0;
  return step_ran();
}
static const Stage spinner_stages[] = {{"tick", spin}, {"tock", spin}}, helper_stages[] = {{"help", help}},
                   waiter_stages[] = {{"wait", wait_in_queue}, {"served", served}},
                   servant_stages[] = {{"serve", help_again}};
MACHINE(spinner, MachineHead, spinner_stages)
MACHINE(helper, Party, helper_stages)
MACHINE(waiter, Party, waiter_stages)
MACHINE(servant, Party, servant_stages)

typedef struct {
  bool spins, helps, unforced, serves;
  guint waiters;
} Cast;

static bool never_forced(const World *w, ProcId self, const void *locals) {
  (void)w, (void)self, (void)locals;
  return true;
}
static const TypeGuide unforced = {.unforced = never_forced};

/* Where the waiters are: kept in the arena, so that the model's functions find it. */
typedef struct {
  ProcId first;
  uint32_t n;
} Waiters;

static Waiters *cast(World *w, Cast c) {
  Waiters *all = arena_alloc(world_arena(w), sizeof *all);
  ObjectId queue = queue_new(w, "queue");
  TypeId helpers = world_type(w, &helper);
  if (c.unforced) world_guide(w, helpers, &unforced);
  for (guint i = 0; i < c.waiters; i++) {
    ProcId p = small_spawn(w, &waiter, NULL);
    Party *a = world_locals(w, p);
    a->queue = queue;
    a->again = c.serves;
    if (i == 0) all->first = p;
  }
  all->n = c.waiters;
  if (c.spins) small_spawn(w, &spinner, NULL);
  if (c.helps) ((Party *)world_locals(w, small_spawn(w, &helper, NULL)))->queue = queue;
  if (c.serves) ((Party *)world_locals(w, small_spawn(w, &servant, NULL)))->queue = queue;
  return all;
}

static bool waits(const World *w, const void *model, guint subject, GString *why) {
  const Waiters *all = model;
  ProcId p = all->first + subject;
  if (subject >= all->n || !world_alive(w, p) || !world_waits_on(w, p)) return false;
  if (why) g_string_printf(why, "waiter %u waits", subject);
  return true;
}
static const PluginLiveness is_served[] = {{"waiter-gets-on", "no waiter waits for ever", 2, waits}};
static bool any_end(const World *w, const void *model) {
  (void)w, (void)model;
  return true;
}

#define CAST(name_, ...)                                                                                               \
  static void *name_##_build(World *w) {                                                                               \
    return cast(w, (Cast){__VA_ARGS__});                                                                               \
  }                                                                                                                    \
  static const ModelPlugin name_ = {.version = MODEL_PLUGIN_VERSION,                                                   \
                                    .name = #name_,                                                                    \
                                    .build = name_##_build,                                                            \
                                    .done = any_end,                                                                   \
                                    .liveness = is_served,                                                             \
                                    .n_liveness = 1}
CAST(alone, .waiters = 1);
CAST(spun, .waiters = 1, .spins = true);
CAST(helped, .waiters = 1, .spins = true, .helps = true);
CAST(perhaps_helped, .waiters = 1, .spins = true, .helps = true, .unforced = true);
CAST(perhaps_helped_alone, .waiters = 1, .helps = true, .unforced = true);
CAST(one_helper_for_two, .waiters = 2, .spins = true, .helps = true);
CAST(served_again, .waiters = 2, .serves = true);
CAST(one_served_again, .waiters = 1, .serves = true);
CAST(served_again_beside, .waiters = 2, .serves = true, .spins = true);

/* Lengths of way and round; -1, -1: nothing was found; N, 0: it is no lasso. */
static void expect_lasso(const ModelPlugin *m, int stem, int round) {
  for (guint jobs = 1; jobs <= 2; jobs++) {
    g_autoptr(SearchResult) r = small_search(m, (SearchOptions){.jobs = jobs, .max_states = 100000});
    expect(r->exhausted || r->findings->len);
    expect_int(r->findings->len, ==, stem >= 0);
    if (stem < 0) expect(r->loops);
    if (stem < 0 || r->findings->len != 1) continue;
    const Finding *f = r->findings->pdata[0];
    expect_int(f->check, ==, 0);
    expect_int(f->lasso_from, ==, round ? stem : -1);
    expect_int(f->path->len, ==, stem + round);
  }
}

/* It waits in the first step, and nothing else is there. */
static void pending_at_the_end(void) {
  expect_lasso(&alone, 1, 0);
}
static void round_of_a_spinner(void) {
  expect_lasso(&spun, 1, 2);
}
/* The round of the spinner leaves out a helper who could move all along. */
static void a_helper_moves_at_last(void) {
  expect_lasso(&helped, -1, -1);
}
static void nobody_need_help(void) {
  expect_lasso(&perhaps_helped, 1, 2);
  expect_lasso(&perhaps_helped_alone, 1, 0); /* a helper that could move is no round, and no end: it may rest there */
}
/* Both wait, the first is helped and goes on; the other waits for ever. */
static void one_is_left(void) {
  expect_lasso(&one_helper_for_two, 4, 2);
}

/* First in, first out: whoever waits moves up with each turn of the servant. Two waiters and a servant that go round
 * for ever are fair to both; beside a spinner too. */
static void queues_are_fair(void) {
  expect_lasso(&served_again, -1, -1);
  expect_lasso(&served_again_beside, -1, -1);
}

/* ---- a flag that blinks: its reader, who looks only now and then, may never see it up ---- */
typedef struct {
  MachineHead head;
} Blinker;
static Step blink(World *w, ProcId p, void *l) {
  uint32_t *flag = world_data(w, p);
  *flag ^= 1;
  ((Blinker *)l)->head.pc = 0;
  return step_ran();
}
static Step read_flag(World *w, ProcId p, void *l) {
  if (*(const uint32_t *)world_data(w, p)) return step_done();
  ((Blinker *)l)->head.pc = 0;
  return step_ran();
}
static const Stage blinker_stages[] = {{"blink", blink}}, reader_stages[] = {{"read", read_flag}};
MACHINE(blinker, Blinker, blinker_stages)
MACHINE(reader, Blinker, reader_stages)
static void *polls_build(World *w) {
  uint32_t *flag = arena_alloc(world_arena(w), sizeof *flag);
  small_spawn(w, &reader, flag);
  small_spawn(w, &blinker, flag);
  return flag;
}
static bool reads(const World *w, const void *model, guint subject, GString *why) {
  (void)model, (void)subject;
  if (why) g_string_assign(why, "the reader has not seen it up");
  return world_alive(w, 1);
}
static const PluginLiveness sees_it[] = {{"reader-sees", "the reader sees the flag up", 1, reads}};
static bool is_up(const World *w, ProcId self, const void *locals) {
  (void)locals;
  return *(const uint32_t *)world_data(w, self) != 0;
}
static const TypeGuide only_when_up = {.guard = is_up};
static void *guarded_build(World *w) {
  world_guide(w, world_type(w, &reader), &only_when_up);
  return polls_build(w);
}
static const ModelPlugin polls = {.version = MODEL_PLUGIN_VERSION,
                                  .name = "polls",
                                  .build = polls_build,
                                  .done = any_end,
                                  .liveness = sees_it,
                                  .n_liveness = 1},
                         guarded = {.version = MODEL_PLUGIN_VERSION,
                                    .name = "guarded",
                                    .build = guarded_build,
                                    .done = any_end,
                                    .liveness = sees_it,
                                    .n_liveness = 1};

/* Read while it is down (a round of its own: one step), blink, blink. With a guard, which is up only now and then, weak
 * fairness does not help the reader either: blink, blink. */
static void who_polls_may_starve(void) {
  expect_lasso(&polls, 0, 3);
  expect_lasso(&guarded, 0, 2);
}

/* ---- a channel that loses ---- */
typedef struct {
  MachineHead head;
  ObjectId mail;
} Mailer;
static Step send_if_empty(World *w, ProcId p, void *l) {
  Mailer *m = l;
  (void)p;
  if (channel_under_way(w, m->mail) + channel_arrived(w, m->mail) == 0)
    channel_send(w, m->mail, (Message){.kind = 1}, 0);
  m->head.pc = 0;
  return step_ran();
}
static Step await_mail(World *w, ProcId p, void *l) {
  return channel_await(w, ((Mailer *)l)->mail, p);
}
static Step got_mail(World *w, ProcId p, void *l) {
  (void)w, (void)p, (void)l;
  return step_done();
}
static const Stage mailer_stages[] = {{"send", send_if_empty}},
                   box_stages[] = {{"await", await_mail}, {"got", got_mail}};
MACHINE(mailer, Mailer, mailer_stages)
MACHINE(box, Mailer, box_stages)
static ProcId mail_build(World *w, bool lossy) {
  ObjectId mail = channel_new(w, "mail");
  channel_may_lose(w, mail, lossy);
  ProcId b = small_spawn(w, &box, NULL), m = small_spawn(w, &mailer, NULL);
  ((Mailer *)world_locals(w, b))->mail = ((Mailer *)world_locals(w, m))->mail = mail;
  return b;
}
static void *lossy_build(World *w) {
  mail_build(w, true);
  return NULL;
}
static void *sure_build(World *w) {
  mail_build(w, false);
  return NULL;
}
static bool awaits(const World *w, const void *model, guint subject, GString *why) {
  (void)model, (void)subject, (void)why;
  return world_alive(w, 1) && world_waits_on(w, 1);
}
static const PluginLiveness gets_mail[] = {{"mail-comes", "the mail comes", 1, awaits}};
static const ModelPlugin lossy = {.version = MODEL_PLUGIN_VERSION,
                                  .name = "lossy",
                                  .build = lossy_build,
                                  .done = any_end,
                                  .liveness = gets_mail,
                                  .n_liveness = 1},
                         sure = {.version = MODEL_PLUGIN_VERSION,
                                 .name = "sure",
                                 .build = sure_build,
                                 .done = any_end,
                                 .liveness = gets_mail,
                                 .n_liveness = 1};

/* The same, with the mailer's number for the channel's: that it moves is no move of the network. */
static void *same_number_build(World *w) {
  ObjectId mail = channel_new(w, "mail");
  ProcId m = small_spawn(w, &mailer, NULL), b = small_spawn(w, &box, NULL);
  g_assert(m == mail);
  ((Mailer *)world_locals(w, b))->mail = ((Mailer *)world_locals(w, m))->mail = mail;
  return NULL;
}
static bool second_awaits(const World *w, const void *model, guint subject, GString *why) {
  (void)model, (void)subject, (void)why;
  return world_alive(w, 2) && world_waits_on(w, 2);
}
static const PluginLiveness second_gets_mail[] = {{"mail-comes", "the mail comes", 1, second_awaits}};
static const ModelPlugin same_number = {.version = MODEL_PLUGIN_VERSION,
                                        .name = "same-number",
                                        .build = same_number_build,
                                        .done = any_end,
                                        .liveness = second_gets_mail,
                                        .n_liveness = 1};

/* A message under way arrives at last, unless each one is lost. */
static void what_is_under_way_arrives(void) {
  expect_lasso(&same_number, -1, -1);
  expect_lasso(&sure, -1, -1);
  expect_lasso(&lossy, 1, 2);
}

/* ---- limits, jobs, strategies ---- */

static void other_strategies_say_what_they_did_not_look_for(void) {
  static const SearchOptions ways[] = {{.strategy = STRATEGY_DFS},
                                       {.strategy = STRATEGY_RANDOM},
                                       {.strategy = STRATEGY_PCT, .changes = 1},
                                       {.store = STORE_HASH128},
                                       {.store = STORE_COLLAPSE}};
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    SearchOptions o = ways[i];
    o.max_depth = o.strategy == STRATEGY_BFS ? 0 : 50;
    g_autoptr(SearchResult) rests = small_search(&alone, o), round = small_search(&spun, o);
    expect_int(rests->findings->len, ==, 1); /* an end is seen by all */
    expect_int(round->findings->len, ==, 0);
    expect(!round->loops);
  }
}

static void limits_of_the_second_look(void) {
  g_autoptr(SearchResult) r = small_search(&helped, (SearchOptions){.max_bytes = 2000000});
  expect(r->loops);
  size_t of_states = r->store_bytes, of_all = of_states + r->graph_bytes;
  expect_int(r->graph_bytes, >, 0);
  g_autoptr(SearchResult) less = small_search(&helped, (SearchOptions){.max_bytes = (of_states + of_all) / 2});
  expect(less->exhausted && !less->loops);
  expect_int(less->loops_stop, ==, STOP_MEMORY);
}

/* ---- the second look is interrupted, or late: its first question does it, which no other part of a search asks ----
 */
static gint stop_now;
static bool interrupts(const World *w, const void *model, guint subject, GString *why) {
  g_atomic_int_set(&stop_now, 1);
  return waits(w, model, subject, why);
}
static bool is_slow(const World *w, const void *model, guint subject, GString *why) {
  if (!g_atomic_int_get(&stop_now)) g_usleep(1200000);
  return interrupts(w, model, subject, why);
}
static const PluginLiveness interrupting[] = {{"interrupts", "", 2, interrupts}},
                            slow[] = {{"is-slow", "", 2, is_slow}};

static void an_end_to_the_second_look(void) {
  ModelPlugin m = spun;
  m.liveness = interrupting;
  g_atomic_int_set(&stop_now, 0);
  g_autoptr(SearchResult) cut = small_search(&m, (SearchOptions){.interrupted = &stop_now});
  expect_int(cut->stop, ==, STOP_EXHAUSTED);
  expect(!cut->loops);
  expect_int(cut->loops_stop, ==, STOP_INTERRUPTED);
  expect_int(cut->findings->len, ==, 0);
  m.liveness = slow;
  g_atomic_int_set(&stop_now, 0);
  g_autoptr(SearchResult) late = small_search(&m, (SearchOptions){.max_seconds = 1});
  expect_int(late->stop, ==, STOP_EXHAUSTED);
  expect(!late->loops);
  expect_int(late->loops_stop, ==, STOP_TIME);
}

static void reductions_can_ask(void) {
  static const Check safe = {"safe", "", SEES_INSIDE, .judge = check_no_deadlock};
  const Check *checks[] = {&safe, NULL};
  for (guint i = 0; i < checks_all_len; i++)
    if (strcmp(checks_all[i].name, "waiter-is-served") == 0) checks[1] = &checks_all[i];
  SearchOptions o = {.checks = checks, .n_checks = 1};
  expect(!search_has_liveness(&o));
  o.n_checks = 2;
  expect(search_has_liveness(&o));
}

/* ---- the second look: lasso.h, on the way that the search found ---- */

typedef struct {
  Stepper *s;
  Lasso *l;
  CheckTable checks;
} Walked;

/* From step `from` on, without the last `less` steps. */
static char *confirmed(const ModelPlugin *m, guint from, guint less) {
  SearchOptions o = {.stepper = {.build = small_build, .source = (gpointer)m}};
  g_autoptr(SearchResult) r = small_search(m, o);
  const Finding *f = r->findings->pdata[0];
  g_autoptr(Stepper) s = search_stepper(&o.stepper, NULL);
  CheckTable checks = own_checks(stepper_model(s));
  g_autoptr(Lasso) l = NULL;
  for (guint i = 0; i + less < f->path->len; i++) {
    if (i == from) l = lasso_new(s);
    if (i == from) lasso_watch(l, &checks.checks[0]);
    const Branch *b = &g_array_index(f->path, Branch, i);
    stepper_follow(s, b);
    if (l) lasso_step(l, b->move);
  }
  return lasso_confirms(l, &checks.checks[0]);
}

static void a_lasso_is_confirmed(void) {
  g_autofree char *whole = confirmed(&spun, 1, 0), *open = confirmed(&spun, 1, 1), *early = confirmed(&spun, 0, 0);
  expect_str(whole, "waiter 0 waits, while 2 step(s) go round for ever");
  expect_str(open, NULL);  /* not back yet */
  expect_str(early, NULL); /* begins where nobody waits */
}

/* A round may begin at any of its states: who can move there, but not in the next, is owed nothing. */
static void a_round_begins_anywhere(void) {
  SearchOptions o = {.stepper = {.build = small_build, .source = (gpointer)&guarded}};
  g_autoptr(SearchResult) r = small_search(&guarded, o);
  const Finding *f = r->findings->pdata[0];
  guint stem = (guint)f->lasso_from, round = f->path->len - stem;
  for (guint turn = 0; turn < round; turn++) {
    g_autoptr(Stepper) s = search_stepper(&o.stepper, NULL);
    CheckTable checks = own_checks(stepper_model(s));
    for (guint i = 0; i < stem + turn; i++) stepper_follow(s, &g_array_index(f->path, Branch, i));
    g_autoptr(Lasso) l = lasso_new(s);
    lasso_watch(l, &checks.checks[0]);
    for (guint i = 0; i < round; i++) {
      const Branch *b = &g_array_index(f->path, Branch, stem + (turn + i) % round);
      stepper_follow(s, b);
      lasso_step(l, b->move);
    }
    g_autofree char *why = lasso_confirms(l, &checks.checks[0]);
    if (!why) fprintf(stderr, "not confirmed from its step %u on\n", turn);
    expect(why != NULL);
  }
}

/* A mover that can move only in some states of a round is owed nothing. */
static void who_cannot_always_move_is_not_owed(void) {
  g_autofree char *polling = confirmed(&polls, 0, 0), *unforced_one = confirmed(&perhaps_helped, 1, 0),
                  *lost = confirmed(&lossy, 1, 0);
  expect(polling && strstr(polling, "while 3 step(s) go round for ever"));
  expect(unforced_one && strstr(unforced_one, "while 2 step(s) go round for ever"));
  expect(lost && strstr(lost, "while 2 step(s) go round for ever"));
}

/* Served and waiting again: it leads back, all have moved, and nobody waited all along. */
static void who_is_served_is_not_pending(void) {
  StepperConfig c = {.build = small_build, .source = (gpointer)&one_served_again};
  g_autoptr(Stepper) s = search_stepper(&c, NULL);
  CheckTable checks = own_checks(stepper_model(s));
  const Move wait = {MOVE_RESUME, 1}, serve = {MOVE_RESUME, 2}, round[] = {serve, wait, wait};
  stepper_go(s, wait);
  Hash128 first = arena_hash_whole(world_arena(stepper_model(s)->world));
  g_autoptr(Lasso) l = lasso_new(s);
  lasso_watch(l, &checks.checks[0]);
  for (guint i = 0; i < G_N_ELEMENTS(round); i++) {
    stepper_go(s, round[i]);
    lasso_step(l, round[i]);
  }
  Hash128 last = arena_hash_whole(world_arena(stepper_model(s)->world));
  expect(first.lo == last.lo && first.hi == last.hi);
  g_autofree char *why = lasso_confirms(l, &checks.checks[0]);
  expect_str(why, NULL);
}

/* The spinner's round beside a helper, put together by hand: it leads back, and is not fair. */
static void an_unfair_lasso_is_not(void) {
  StepperConfig c = {.build = small_build, .source = (gpointer)&helped};
  g_autoptr(Stepper) s = search_stepper(&c, NULL);
  CheckTable checks = own_checks(stepper_model(s));
  const Move wait = {MOVE_RESUME, 1}, tick = {MOVE_RESUME, 2}, ticks[] = {tick, tick};
  stepper_go(s, wait);
  g_autoptr(Lasso) l = lasso_new(s);
  lasso_watch(l, &checks.checks[0]);
  for (guint i = 0; i < G_N_ELEMENTS(ticks); i++) {
    stepper_go(s, ticks[i]);
    lasso_step(l, ticks[i]);
  }
  g_autofree char *why = lasso_confirms(l, &checks.checks[0]);
  expect_str(why, NULL);
}

int main(void) {
  static const Case cases[] = {
      {"pending at the end", pending_at_the_end},
      {"the round of a spinner", round_of_a_spinner},
      {"a helper moves at last", a_helper_moves_at_last},
      {"nobody need help", nobody_need_help},
      {"one is left", one_is_left},
      {"queues are fair", queues_are_fair},
      {"who polls may starve", who_polls_may_starve},
      {"what is under way arrives", what_is_under_way_arrives},
      {"other strategies say what they did not look for", other_strategies_say_what_they_did_not_look_for},
      {"limits of the second look", limits_of_the_second_look},
      {"an end to the second look", an_end_to_the_second_look},
      {"reductions can ask", reductions_can_ask},
      {"a round begins anywhere", a_round_begins_anywhere},
      {"who cannot always move is not owed", who_cannot_always_move_is_not_owed},
      {"who is served is not pending", who_is_served_is_not_pending},
      {"a lasso is confirmed", a_lasso_is_confirmed},
      {"an unfair lasso is not", an_unfair_lasso_is_not},
      {0}};
  return suite_run("liveness", cases);
}
