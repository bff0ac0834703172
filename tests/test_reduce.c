/* test_reduce.c - partial-order reduction and symmetry on models that are counted by hand, and what happens where a
 * declaration, or one of the conditions, is wrong. */
#include "checks/reduce_verify.h"
#include "model/world/explore.h"
#include "sim/own_checks.h"
#include "tests/small_models.h"

/* ---- a search with hooks, and the verifier ---- */

static SearchResult *search_with(const ModelPlugin *plugin, SearchOptions o, guint which, const Reduction *r) {
  reduce_hooks(&o.stepper, which, r);
  return small_search(plugin, o);
}

/* Checks of a plugin need a model to come from; it outlives the search. */
static SearchResult *reduced(const ModelPlugin *plugin, SearchOptions o) {
  StepperConfig c = {.build = small_build, .source = (gpointer)plugin};
  g_autoptr(Stepper) s = stepper_new(&c, NULL, NULL);
  CheckTable own = own_checks(stepper_model(s));
  const Check *checks[PLUGIN_CHECKS_MAX];
  for (guint i = 0; i < own.n; i++) checks[i] = &own.checks[i];
  Reduction r = {checks, own.n};
  return search_with(plugin, o, REDUCE_POR, &r);
}

/* NULL: all is as declared. */
static char *wrong_in(const ModelPlugin *plugin, guint which, void (*canon)(Model *m, void *data)) {
  StepperConfig c = {.build = small_build, .source = (gpointer)plugin};
  g_autoptr(Stepper) s = stepper_new(&c, NULL, NULL);
  CheckTable own = own_checks(stepper_model(s));
  const Check *checks[PLUGIN_CHECKS_MAX];
  for (guint i = 0; i < own.n; i++) checks[i] = &own.checks[i];
  Reduction r = {checks, own.n};
  SearchOptions o = {.stepper = c, .checks = checks, .n_checks = own.n};
  o.stepper.canon = canon;
  Verified v;
  bool built = reduce_verify(&o, which, &r, 0, &v, NULL);
  expect(built);
  return v.broken;
}

static void expect_wrong(const ModelPlugin *plugin, const char *words) {
  g_autofree char *broken = wrong_in(plugin, REDUCE_POR, NULL);
  if (!broken || !strstr(broken, words))
    fprintf(stderr, "saw \"%s\", not \"%s\"\n", broken ? broken : "nothing", words);
  expect(broken && strstr(broken, words));
}

static void expect_right(const ModelPlugin *plugin) {
  g_autofree char *broken = wrong_in(plugin, REDUCE_POR, NULL);
  expect_str(broken, NULL);
}

/* ---- counters that do not know of each other: (k+1)^n states; one order of all steps is enough: n k + 1 ---- */
enum { COUNTERS = 3, COUNT = 4 };
static Step count_on(World *w, ProcId p, void *l) {
  (void)w;
  (void)p;
  MachineHead *h = l;
  return h->pc == COUNT ? step_done() : step_ran();
}
static const Stage counter_stages[] = {{"0", count_on}, {"1", count_on}, {"2", count_on}, {"3", count_on}};
MACHINE(counter, MachineHead, counter_stages)
static void counter_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)self;
  if (((const MachineHead *)l)->pc == COUNT - 1) footprint_ends(f, w);
}
static void counter_future(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)self;
  (void)l;
  footprint_ends(f, w);
}
static const TypeGuide counter_guide = {.footprint = counter_touches, .future = counter_future};
static void spawn_guided(World *w, const ProcessType *type, const TypeGuide *guide, void *data, guint n) {
  TypeId t = world_type(w, type);
  world_set_data(w, t, data);
  world_guide(w, t, guide);
  for (guint i = 0; i < n; i++) world_spawn(w, t, 0);
}
static void *counters_build(World *w) {
  return spawn_guided(w, &counter, &counter_guide, NULL, COUNTERS), NULL;
}
static const ModelPlugin counters = {.version = MODEL_PLUGIN_VERSION, .name = "counters", .build = counters_build};

static void strangers_take_turns(void) {
  g_autoptr(SearchResult) plain = small_search(&counters, (SearchOptions){.jobs = 1});
  expect_int(plain->states, ==, 5 * 5 * 5);
  static const SearchOptions ways[] = {{.jobs = 1}, {.jobs = 2}, {.strategy = STRATEGY_DFS}, {.store = STORE_COLLAPSE}};
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    g_autoptr(SearchResult) r = reduced(&counters, ways[i]);
    expect_int(r->states, ==, COUNTERS * COUNT + 1);
    expect_int(r->transitions, ==, COUNTERS * COUNT);
    expect(r->exhausted);
  }
  expect_right(&counters);
}

/* ---- a queue with one writer and one reader, in memory: n words through room for 2. Each has its place, and the queue
 * holds their difference: states are pairs (w, r) with 0 <= w - r <= 2. One order is enough. ---- */
enum { WORDS = 4, ROOM = 2 };
typedef struct {
  uint16_t length, spare;
} Pipe;
static Pipe *pipe_of(const World *w, ProcId p) {
  return world_data(w, p);
}
static Step pipe_step(World *w, ProcId p, void *l) {
  pipe_of(w, p)->length = (uint16_t)(p == 1 ? pipe_of(w, p)->length + 1 : pipe_of(w, p)->length - 1);
  return ((MachineHead *)l)->pc == WORDS ? step_done() : step_ran();
}
static const Stage pipe_stages[] = {{"1", pipe_step}, {"2", pipe_step}, {"3", pipe_step}, {"4", pipe_step}};
MACHINE(plumber, MachineHead, pipe_stages)
static bool pipe_guard(const World *w, ProcId self, const void *l) {
  (void)l;
  return self == 1 ? pipe_of(w, self)->length < ROOM : pipe_of(w, self)->length > 0;
}
static void pipe_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  Pipe *p = pipe_of(w, self);
  bool may = pipe_guard(w, self, l);
  TouchKind how = self == 1 ? TOUCH_SEND : TOUCH_TAKE;
  footprint_touches(f, may ? how : TOUCH_WRITE, p, sizeof *p);
  if (((const MachineHead *)l)->pc == WORDS - 1) footprint_ends(f, w);
}
static void pipe_future(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)l;
  footprint_touches(f, self == 1 ? TOUCH_SEND : TOUCH_TAKE, pipe_of(w, self), sizeof(Pipe));
  footprint_ends(f, w);
}
static const TypeGuide pipe_guide = {.guard = pipe_guard, .footprint = pipe_touches, .future = pipe_future};
static void *pipe_build(World *w) {
  Pipe *p = arena_alloc(world_arena(w), sizeof *p);
  spawn_guided(w, &plumber, &pipe_guide, p, 2);
  return p;
}
static const ModelPlugin pipes = {.version = MODEL_PLUGIN_VERSION, .name = "pipe", .build = pipe_build};

static void one_writer_one_reader(void) {
  g_autoptr(SearchResult) plain = small_search(&pipes, (SearchOptions){.jobs = 1}),
                          r = reduced(&pipes, (SearchOptions){.jobs = 1});
  expect_int(plain->states, ==, 5 + 4 + 3); /* w - r is 0, 1, 2 */
  expect_int(r->states, ==, 2 * WORDS + 1);
  expect(r->exhausted);
  expect_right(&pipes);
}

/* ---- a channel of the world: sent, carried, taken ---- */
typedef struct {
  MachineHead head;
  uint16_t got;
} Post;
static ObjectId mail_of(const World *w, ProcId p) {
  return *(const ObjectId *)world_data(w, p);
}
static Step post_send(World *w, ProcId p, void *l) {
  channel_send(w, mail_of(w, p), (Message){.kind = 1}, 0);
  return ((Post *)l)->head.pc == 2 ? step_done() : step_ran();
}
static Step post_receive(World *w, ProcId p, void *l) {
  Message m;
  Post *r = l;
  if (channel_take(w, mail_of(w, p), &m)) r->got++;
  r->head.pc = 0;
  return r->got == 2 ? step_done() : channel_await(w, mail_of(w, p), p);
}
static const Stage sender_stages[] = {{"send", post_send}, {"send", post_send}},
                   receiver_stages[] = {{"receive", post_receive}};
MACHINE(poster, Post, sender_stages)
MACHINE(reader, Post, receiver_stages)
static void poster_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  footprint_object(f, w, mail_of(w, self), TOUCH_SEND);
  if (((const Post *)l)->head.pc == 1) footprint_ends(f, w);
}
static void poster_future(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)l;
  footprint_object(f, w, mail_of(w, self), TOUCH_SEND);
  footprint_ends(f, w);
}
static void reader_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)l;
  footprint_object(f, w, mail_of(w, self), channel_arrived(w, mail_of(w, self)) ? TOUCH_TAKE : TOUCH_WRITE);
  footprint_ends(f, w);
}
static void reader_future(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)l;
  footprint_object(f, w, mail_of(w, self), TOUCH_WRITE);
  footprint_ends(f, w);
}
static const TypeGuide poster_guide = {.footprint = poster_touches, .future = poster_future},
                       reader_guide = {.footprint = reader_touches, .future = reader_future};
static void *post_build(World *w) {
  ObjectId *mail = arena_alloc(world_arena(w), sizeof *mail);
  *mail = channel_new(w, "mail");
  spawn_guided(w, &poster, &poster_guide, mail, 1);
  spawn_guided(w, &reader, &reader_guide, mail, 1);
  return mail;
}
static const ModelPlugin post = {.version = MODEL_PLUGIN_VERSION, .name = "post", .build = post_build};

static void messages_are_carried(void) {
  g_autoptr(SearchResult) plain = small_search(&post, (SearchOptions){.jobs = 1}),
                          r = reduced(&post, (SearchOptions){.jobs = 1});
  expect(plain->exhausted && r->exhausted);
  expect_int(plain->findings->len, ==, 0);
  expect_int(r->findings->len, ==, 0);
  expect_int(r->states, <, plain->states);
  expect_right(&post);
}

/* ---- a deadlock among three, beside somebody who has nothing to do with it ---- */
typedef struct {
  MachineHead head;
  uint16_t spare;
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
static void locker_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  const Locker *k = l;
  (void)self;
  if (k->head.pc != 1) footprint_object(f, w, k->first, TOUCH_WRITE);
  if (k->head.pc != 0) footprint_object(f, w, k->second, TOUCH_WRITE);
  if (k->head.pc == 2) footprint_ends(f, w);
}
static void locker_future(const World *w, ProcId self, const void *l, Footprint *f) {
  const Locker *k = l;
  (void)self;
  footprint_object(f, w, k->first, TOUCH_WRITE);
  footprint_object(f, w, k->second, TOUCH_WRITE);
  footprint_ends(f, w);
}
static const TypeGuide locker_guide = {.footprint = locker_touches, .future = locker_future};
static void *crossed_build(World *w) {
  ObjectId locks[] = {lock_new(w, "a"), lock_new(w, "b"), lock_new(w, "c")};
  spawn_guided(w, &locker, &locker_guide, NULL, 3);
  for (guint i = 0; i < 3; i++) {
    Locker *l = world_locals(w, i + 1);
    l->first = locks[i];
    l->second = locks[(i + 1) % 3];
  }
  return spawn_guided(w, &counter, &counter_guide, NULL, 1), NULL;
}
static const ModelPlugin crossed = {.version = MODEL_PLUGIN_VERSION, .name = "crossed", .build = crossed_build};

static void deadlocks_are_kept(void) {
  g_autoptr(SearchResult) plain = small_search(&crossed, (SearchOptions){.jobs = 1}),
                          r = reduced(&crossed, (SearchOptions){.jobs = 1});
  expect_int(plain->findings->len, ==, 1);
  expect_int(r->findings->len, ==, 1);
  expect_int(((const Finding *)r->findings->pdata[0])->check, ==, -1);
  expect_int(r->states, <, plain->states);
  expect_right(&crossed);
}

/* ---- a race on x, with a declaration that is right, or lacks something. A writes x, B copies x to y; y must not be 0
 * when B is done (it is, when B comes first). ---- */
typedef struct {
  uint32_t x, y, copied, spare;
} Race;
static Race *race_of(const World *w, ProcId p) {
  return world_data(w, p);
}
static Step race_writes(World *w, ProcId p, void *l) {
  (void)l;
  race_of(w, p)->x = 1;
  return step_done();
}
static Step race_copies(World *w, ProcId p, void *l) {
  Race *r = race_of(w, p);
  (void)l;
  r->y = r->x;
  r->copied = 1;
  return step_done();
}
static const Stage writer_stages[] = {{"write", race_writes}}, copier_stages[] = {{"copy", race_copies}};
MACHINE(writer, MachineHead, writer_stages)
MACHINE(copier, MachineHead, copier_stages)

static void writer_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)l;
  footprint_writes(f, &race_of(w, self)->x, sizeof(uint32_t));
  footprint_ends(f, w);
}
static void writer_says_nothing(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)self;
  (void)l;
  footprint_ends(f, w);
}
static void copier_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  Race *r = race_of(w, self);
  (void)l;
  footprint_reads(f, &r->x, sizeof r->x);
  footprint_writes(f, &r->y, sizeof r->y + sizeof r->copied);
  footprint_ends(f, w);
}
static void copier_hides_its_read(const World *w, ProcId self, const void *l, Footprint *f) {
  Race *r = race_of(w, self);
  (void)l;
  footprint_writes(f, &r->y, sizeof r->y + sizeof r->copied);
  footprint_ends(f, w);
}
static void copier_will_do_nothing(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)self;
  (void)l;
  footprint_ends(f, w);
}
static void writer_owns(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)l;
  footprint_touches(f, TOUCH_OWN, &race_of(w, self)->x, sizeof(uint32_t));
}

static const TypeGuide writer_right = {.footprint = writer_touches, .future = writer_touches},
                       writer_silent = {.footprint = writer_says_nothing, .future = writer_says_nothing},
                       writer_selfish = {.footprint = writer_owns},
                       copier_right = {.footprint = copier_touches, .future = copier_touches},
                       copier_silent = {.footprint = copier_hides_its_read, .future = copier_hides_its_read},
                       copier_short = {.footprint = copier_touches, .future = copier_will_do_nothing};
static void *race_of_guides(World *w, const TypeGuide *a, const TypeGuide *b) {
  Race *r = arena_alloc(world_arena(w), sizeof *r);
  spawn_guided(w, &writer, a, r, 1);
  spawn_guided(w, &copier, b, r, 1);
  return r;
}
static void *race_build(World *w) {
  return race_of_guides(w, &writer_right, &copier_right);
}
static void *race_no_write(World *w) {
  return race_of_guides(w, &writer_silent, &copier_right);
}
static void *race_no_read(World *w) {
  return race_of_guides(w, &writer_right, &copier_silent);
}
static void *race_no_future(World *w) {
  return race_of_guides(w, &writer_right, &copier_short);
}
static void *race_owned(World *w) {
  return race_of_guides(w, &writer_selfish, &copier_right);
}
static bool copied_nothing(const World *w, const void *model, GString *why) {
  const Race *r = model;
  (void)w;
  if (!r->copied || r->y) return false;
  g_string_assign(why, "y is 0");
  return true;
}
static const PluginCheck race_checks[] = {{"copied", "y is 1 when it has been copied", copied_nothing}};
static void reads_y(const World *w, const void *model, guint i, Footprint *f) {
  const Race *r = model;
  (void)w;
  (void)i;
  footprint_reads(f, &r->y, sizeof r->y + sizeof r->copied);
}
#define RACE(name_, build_)                                                                                            \
  static const ModelPlugin name_ = {.version = MODEL_PLUGIN_VERSION,                                                   \
                                    .name = #name_,                                                                    \
                                    .build = build_,                                                                   \
                                    .checks = race_checks,                                                             \
                                    .n_checks = 1,                                                                     \
                                    .reads = reads_y};
RACE(race, race_build)
RACE(race_unwritten, race_no_write)
RACE(race_unread, race_no_read)
RACE(race_unforeseen, race_no_future)
RACE(race_selfish, race_owned)

static void a_race_is_found(void) {
  g_autoptr(SearchResult) r = reduced(&race, (SearchOptions){.jobs = 1});
  expect_int(r->findings->len, ==, 1);
  expect_right(&race);
}

/* What is declared too small is found by the verifier, and would have cost the violation. */
static void what_is_not_said_is_found(void) {
  static const ModelPlugin *const wrong[] = {&race_unwritten, &race_unforeseen};
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autoptr(SearchResult) r = reduced(wrong[i], (SearchOptions){.jobs = 1});
    expect_int(r->findings->len, ==, 0);
  }
  expect_wrong(&race_unwritten, "writes byte");
  expect_wrong(&race_unread, "come to another state in another order");
  expect_wrong(&race_unforeseen, "does what its future does not say");
  expect_wrong(&race_selfish, "owns what copier");
}

/* ---- the conditions one by one. C1 without its future: the next steps alone. A copies x at once; B first goes one
 * step of its own, then writes x. Their next steps do not meet. ---- */
static Step late_goes(World *w, ProcId p, void *l) {
  (void)w;
  (void)p;
  (void)l;
  return step_ran();
}
static const Stage late_stages[] = {{"go", late_goes}, {"write", race_writes}};
MACHINE(late, MachineHead, late_stages)
static void late_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  if (((const MachineHead *)l)->pc == 1) writer_touches(w, self, l, f);
}
static const TypeGuide late_guide = {.footprint = late_touches, .future = writer_touches};
static void *late_build(World *w) {
  Race *r = arena_alloc(world_arena(w), sizeof *r);
  spawn_guided(w, &copier, &copier_right, r, 1);
  spawn_guided(w, &late, &late_guide, r, 1);
  return r;
}
static bool copied_one(const World *w, const void *model, GString *why) {
  const Race *r = model;
  (void)w;
  if (!r->copied || !r->y) return false;
  g_string_assign(why, "y is 1");
  return true;
}
static const PluginCheck late_checks[] = {{"too-early", "y is 0 when it has been copied", copied_one}};
static const ModelPlugin lates = {.version = MODEL_PLUGIN_VERSION,
                                  .name = "late",
                                  .build = late_build,
                                  .checks = late_checks,
                                  .n_checks = 1,
                                  .reads = reads_y};

/* The first move that meets the next step of nobody is tried alone, as if that were enough. */
static void reduce_without_future(Model *m, GArray *moves, void *data) {
  (void)data;
  for (guint i = 0; i < moves->len; i++) {
    Move move = g_array_index(moves, Move, i);
    Footprint mine, other;
    bool meets = false;
    world_footprint(m->world, move.subject, &mine);
    for (guint j = 0; j < moves->len; j++) {
      world_footprint(m->world, g_array_index(moves, Move, j).subject, &other);
      meets |= j != i && footprints_meet(&mine, &other);
    }
    if (meets) continue;
    g_array_index(moves, Move, 0) = move;
    g_array_set_size(moves, 1);
    return;
  }
}

static bool finds(const ModelPlugin *plugin, void (*reduce)(Model *m, GArray *moves, void *data)) {
  g_autoptr(SearchResult) r = small_search(plugin, (SearchOptions){.stepper = {.reduce = reduce}});
  return r->findings->len > 0;
}

static void c1_without_the_future_misses(void) {
  expect(finds(&lates, NULL));
  expect(!finds(&lates, reduce_without_future));
  g_autoptr(SearchResult) r = reduced(&lates, (SearchOptions){.jobs = 1});
  expect_int(r->findings->len, ==, 1);
  expect_right(&lates);
}

/* C2. Two flags, each its process's own; both up is seen by the check, and so is only one of them: "a without b". */
static Step flag_up(World *w, ProcId p, void *l) {
  (void)l;
  ((uint8_t *)world_data(w, p))[p - 1] = 1;
  return step_done();
}
static const Stage flag_stages[] = {{"up", flag_up}};
MACHINE(flagger, MachineHead, flag_stages)
static void flag_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)l;
  footprint_writes(f, (uint8_t *)world_data(w, self) + self - 1, 1);
  footprint_ends(f, w);
}
static const TypeGuide flag_guide = {.footprint = flag_touches, .future = flag_touches};
static void *flags_build(World *w) {
  uint8_t *flags = arena_alloc(world_arena(w), 16);
  spawn_guided(w, &flagger, &flag_guide, flags, 2);
  return flags;
}
static bool second_alone(const World *w, const void *model, GString *why) {
  const uint8_t *flags = model;
  (void)w;
  if (flags[0] || !flags[1]) return false;
  g_string_assign(why, "the second flag is up, the first is not");
  return true;
}
static const PluginCheck flag_checks[] = {{"in-order", "the first flag goes up first", second_alone}};
static void reads_flags(const World *w, const void *model, guint i, Footprint *f) {
  (void)w;
  (void)i;
  footprint_reads(f, model, 2);
}
static void reads_first_flag(const World *w, const void *model, guint i, Footprint *f) {
  (void)w;
  (void)i;
  footprint_reads(f, (const uint8_t *)model + 1, 1);
}
#define FLAGS(name_, reads_)                                                                                           \
  static const ModelPlugin name_ = {.version = MODEL_PLUGIN_VERSION,                                                   \
                                    .name = #name_,                                                                    \
                                    .build = flags_build,                                                              \
                                    .checks = flag_checks,                                                             \
                                    .n_checks = 1,                                                                     \
                                    .reads = reads_};
FLAGS(flags_seen, reads_flags)
FLAGS(flags_half_seen, reads_first_flag)

/* Nobody ever meets anybody here, so C1 lets the first go alone. */
static void c2_misses_what_is_seen(void) {
  expect(finds(&flags_seen, NULL));
  expect(!finds(&flags_seen, reduce_without_future));
  g_autoptr(SearchResult) r = reduced(&flags_seen, (SearchOptions){.jobs = 1});
  expect_int(r->findings->len, ==, 1);
  expect_right(&flags_seen);
}

/* A check that says too little: both flags are down, then the first goes up unseen. The verifier sees that a hidden
 * step changed a verdict: with the second up, the first one's step mends what was broken. */
static void what_a_check_does_not_say_is_found(void) {
  g_autoptr(SearchResult) r = reduced(&flags_half_seen, (SearchOptions){.jobs = 1});
  expect_int(r->findings->len, ==, 0);
  expect_wrong(&flags_half_seen, "is hidden from the checks, and one of them sees it");
}

/* C3. One goes round for ever, the other raises a flag: with the first one's steps always chosen, the second never
 * comes. */
static Step goes_round(World *w, ProcId p, void *l) {
  (void)w;
  (void)p;
  ((MachineHead *)l)->pc &= 1;
  return step_ran();
}
static const Stage round_stages[] = {{"there", goes_round}, {"back", goes_round}};
MACHINE(rounder, MachineHead, round_stages)
static void rounder_says(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)w;
  (void)self;
  f->loops = ((const MachineHead *)l)->pc == 1;
}
static void rounder_denies(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)w;
  (void)self;
  (void)l;
  f->loops = false;
}
static Step raises(World *w, ProcId p, void *l) {
  (void)l;
  *(uint8_t *)world_data(w, p) = 1;
  return step_done();
}
static const Stage raiser_stages[] = {{"raise", raises}};
MACHINE(raiser, MachineHead, raiser_stages)
static void raiser_touches(const World *w, ProcId self, const void *l, Footprint *f) {
  (void)l;
  footprint_writes(f, world_data(w, self), 1);
  footprint_ends(f, w);
}
static const TypeGuide rounder_right = {.footprint = rounder_says, .future = rounder_denies},
                       rounder_wrong = {.footprint = rounder_denies, .future = rounder_denies},
                       raiser_guide = {.footprint = raiser_touches, .future = raiser_touches};
static void *round_build_with(World *w, const TypeGuide *guide) {
  uint8_t *flag = arena_alloc(world_arena(w), 16);
  spawn_guided(w, &rounder, guide, flag, 1);
  spawn_guided(w, &raiser, &raiser_guide, flag, 1);
  return flag;
}
static void *round_build(World *w) {
  return round_build_with(w, &rounder_right);
}
static void *round_build_denied(World *w) {
  return round_build_with(w, &rounder_wrong);
}
static bool raised(const World *w, const void *model, GString *why) {
  (void)w;
  if (!*(const uint8_t *)model) return false;
  g_string_assign(why, "the flag is up");
  return true;
}
static const PluginCheck round_checks[] = {{"stays-down", "the flag stays down", raised}};
static void reads_flag(const World *w, const void *model, guint i, Footprint *f) {
  (void)w;
  (void)i;
  footprint_reads(f, model, 1);
}
#define ROUND(name_, build_)                                                                                           \
  static const ModelPlugin name_ = {.version = MODEL_PLUGIN_VERSION,                                                   \
                                    .name = #name_,                                                                    \
                                    .build = build_,                                                                   \
                                    .checks = round_checks,                                                            \
                                    .n_checks = 1,                                                                     \
                                    .reads = reads_flag};
ROUND(rounds, round_build)
ROUND(rounds_denied, round_build_denied)

static void c3_ignores_nobody(void) {
  expect(finds(&rounds, NULL));
  expect(!finds(&rounds_denied, reduce_without_future));
  g_autoptr(SearchResult) r = reduced(&rounds, (SearchOptions){.jobs = 1});
  expect_int(r->findings->len, ==, 1);
  g_autoptr(SearchResult) denied = reduced(&rounds_denied, (SearchOptions){.jobs = 1});
  expect_int(denied->findings->len, ==, 0);
  expect_right(&rounds);
  expect_wrong(&rounds_denied, "close a cycle");
}

/* ---- symmetry: n equal counters are told apart by nothing: multisets of n out of k + 1. A form that also takes a
 * stranger for one of them is found, and misses. ---- */
typedef struct {
  uint8_t at[4];
} Row;
static Step row_goes(World *w, ProcId p, void *l) {
  (void)l;
  ((Row *)world_data(w, p))->at[p - 1]++;
  ((MachineHead *)l)->pc = 0;
  return step_ran();
}
static const Stage row_stages[] = {{"go", row_goes}};
MACHINE(rower, MachineHead, row_stages)
static bool row_guard(const World *w, ProcId self, const void *l) {
  (void)l;
  return ((const Row *)world_data(w, self))->at[self - 1] < 3;
}
static const TypeGuide row_guide = {.guard = row_guard};
static void *row_build(World *w) {
  Row *r = arena_alloc(world_arena(w), 16);
  spawn_guided(w, &rower, &row_guide, r, 4);
  return r;
}
static bool always(const World *w, const void *model) {
  (void)w;
  (void)model;
  return true;
}
static bool last_is_first(const World *w, const void *model, GString *why) {
  const Row *r = model;
  (void)w;
  if (r->at[3] != 3 || r->at[0] + r->at[1] + r->at[2]) return false;
  g_string_assign(why, "the last has come to its end, and no other has begun");
  return true;
}
static const PluginCheck row_checks[] = {
    {"not-last-first", "the last does not end before the others begin", last_is_first}};
static const ModelPlugin rows = {.version = MODEL_PLUGIN_VERSION,
                                 .name = "row",
                                 .build = row_build,
                                 .done = always,
                                 .checks = row_checks,
                                 .n_checks = 1};
static void sort_row(Model *m, guint n) {
  Row *r = world_data(m->world, 1);
  for (guint i = 1; i < n; i++)
    for (guint j = i; j > 0 && r->at[j - 1] < r->at[j]; j--) {
      uint8_t kept = r->at[j];
      r->at[j] = r->at[j - 1];
      r->at[j - 1] = kept;
    }
}
static void sort_three(Model *m, void *data) {
  (void)data;
  sort_row(m, 3);
}
static void sort_four(Model *m, void *data) {
  (void)data;
  sort_row(m, 4);
}

static void forms_keep_verdicts(void) {
  SearchOptions none = {.findings_max = 9}, three = none, four = none;
  three.stepper.canon = sort_three;
  four.stepper.canon = sort_four;
  g_autoptr(SearchResult) plain = small_search(&rows, none), r = small_search(&rows, three),
                          wrong = small_search(&rows, four);
  expect_int(plain->states, ==, 4 * 4 * 4 * 4);
  expect_int(r->states, ==, 20 * 4); /* multisets of 3 of 4: (6 choose 3) = 20; the fourth is told apart */
  expect_int(plain->findings->len, ==, 1);
  expect_int(r->findings->len, ==, 1);
  expect_int(wrong->findings->len, ==, 0);
  g_autofree char *fine = wrong_in(&rows, REDUCE_SYMMETRY, sort_three),
                  *broken = wrong_in(&rows, REDUCE_SYMMETRY, sort_four);
  expect_str(fine, NULL);
  expect_str(broken, "a check judges a state otherwise than its form");
}

/* The path of a search over forms is told as one of the plain model, which breaks the same check in as many steps. */
static void paths_are_lifted(void) {
  StepperConfig c = {.build = small_build, .source = (gpointer)&rows, .canon = sort_three};
  g_autoptr(Stepper) s = stepper_new(&c, NULL, NULL);
  CheckTable own = own_checks(stepper_model(s));
  const Check *checks[] = {&own.checks[0]};
  SearchOptions o = {.stepper = c, .checks = checks, .n_checks = 1, .findings_max = 1};
  g_autoptr(SearchResult) r = search_run(&o, NULL);
  expect_int(r->findings->len, ==, 1);
  expect(reduce_lift(&o, r, NULL));
  const Finding *f = r->findings->pdata[0];
  expect_int(f->path->len, ==, 3);
  for (guint i = 0; i < f->path->len; i++) expect_int(g_array_index(f->path, Branch, i).move.subject, ==, 4);
}

/* A form that is another one each time it is asked for: no state of the plain model has it. */
static void sort_anew(Model *m, void *data) {
  ((uint8_t *)world_data(m->world, 1))[sizeof(Row)] = ++*(uint8_t *)data;
}

static void a_wrong_form_is_an_error(void) {
  uint8_t calls = 0;
  StepperConfig c = {.build = small_build, .source = (gpointer)&rows, .canon = sort_three};
  g_autoptr(Stepper) s = stepper_new(&c, NULL, NULL);
  CheckTable own = own_checks(stepper_model(s));
  const Check *checks[] = {&own.checks[0]};
  SearchOptions o = {.stepper = c, .checks = checks, .n_checks = 1, .findings_max = 1};
  g_autoptr(SearchResult) r = search_run(&o, NULL);
  g_autoptr(GError) error = NULL;
  o.stepper.canon = sort_anew;
  o.stepper.reducer = &calls;
  expect(!reduce_lift(&o, r, &error));
  expect(g_error_matches(error, REDUCE_ERROR, 0));
  expect(error && strstr(error->message, "step 0 of what the reduced search found"));
}

/* ---- what would be wrong together is refused ---- */
static Judgement sees_all(const Model *m, GString *why) {
  (void)m;
  (void)why;
  return JUDGED_FINE;
}
static guint subjects(const Model *m) {
  (void)m;
  return 0;
}
static bool pending(const Model *m, guint subject, GString *why) {
  (void)m;
  (void)subject;
  (void)why;
  return false;
}

static void refused_with_a_sentence(void) {
  static const Check blind_to_nothing = {.name = "all", .judge = sees_all},
                     marks = {.name = "marks", .judge = sees_all, .steps_alone = true},
                     live = {.name = "live", .judge = sees_all, .subjects = subjects, .pending = pending};
  StepperConfig c = {.build = small_build, .source = (gpointer)&counters};
  g_autoptr(Stepper) s = stepper_new(&c, NULL, NULL);
  const Model *m = stepper_model(s);
  const Check *checks[] = {&marks};
  const char *why;
  SearchOptions o = {.stepper = c, .checks = checks, .n_checks = 1};
  expect_int(reduce_sound(REDUCE_ALL, m, &o, &why), ==, REDUCE_POR); /* it has no names to take for one another */
  expect_str(why, NULL);
  checks[0] = &blind_to_nothing;
  expect_int(reduce_sound(REDUCE_POR, m, &o, &why), ==, 0);
  expect(why && strstr(why, "does not say what it looks at"));
  checks[0] = &live;
  expect_int(reduce_sound(REDUCE_ALL, m, &o, &why), ==, 0);
  expect(why && strstr(why, "liveness"));
  checks[0] = &marks;
  o.stepper.timed = true;
  expect_int(reduce_sound(REDUCE_ALL, m, &o, &why), ==, 0);
  expect(why && strstr(why, "timed"));
  o.stepper.timed = false;
  o.strategy = STRATEGY_PCT;
  expect_int(reduce_sound(REDUCE_SYMMETRY, m, &o, &why), ==, 0);
  expect(why && strstr(why, "random walk"));
}

int main(void) {
  static const Case cases[] = {{"strangers take turns", strangers_take_turns},
                               {"one writer, one reader", one_writer_one_reader},
                               {"messages are carried", messages_are_carried},
                               {"deadlocks are kept", deadlocks_are_kept},
                               {"a race is found", a_race_is_found},
                               {"what is not said is found", what_is_not_said_is_found},
                               {"C1 without the future misses", c1_without_the_future_misses},
                               {"C2 misses what is seen", c2_misses_what_is_seen},
                               {"what a check does not say is found", what_a_check_does_not_say_is_found},
                               {"C3 ignores nobody", c3_ignores_nobody},
                               {"forms keep verdicts", forms_keep_verdicts},
                               {"paths are lifted", paths_are_lifted},
                               {"a wrong form is an error", a_wrong_form_is_an_error},
                               {"refused with a sentence", refused_with_a_sentence},
                               {0}};
  return suite_run("reduce", cases);
}
