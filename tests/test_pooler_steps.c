/* Deviations of the pooler's steps: each on a run of a few milliseconds whose figures are worked out by hand, as it
 * should be and as the deviation makes it. Every step and every word that the reader accepts stands here. */
#include "model/pooler/parts.h"
#include "tests/harness.h"
#include "tests/pooler_sample.h"

/* ---- who does what: a runs q from 0 to 10 ms, b and others come later; the pool has one connection ---- */

#define RUNS(n) .runs = {DELAY_FIXED, (n)*MS, (n)*MS}, .deadline_ns = NO_LIMIT, .lock = NONE
static const QueryDef clean[] = {{.tag = "q", RUNS(10)}}, dirty[] = {{.tag = "q", RUNS(10), .dirty = true}};
static const Op plain[] = {{.code = OP_CONNECT}, {.code = OP_QUERY}, {.code = OP_END}};
/* Stays after its query, so that a cancel of it still finds its session. */
static const Op stays[] = {{.code = OP_CONNECT},
                           {.code = OP_QUERY},
                           {.code = OP_WAIT, .delay = {DELAY_FIXED, 5 * MS, 5 * MS}},
                           {.code = OP_END}};
static const CancelDef at_5[] = {{.when = CANCEL_AT, .delay = {DELAY_FIXED, 5 * MS, 5 * MS}, .times = 1}},
                       at_9[] = {{.when = CANCEL_AT, .delay = {DELAY_FIXED, 9 * MS, 9 * MS}, .times = 1}},
                       at_11[] = {{.when = CANCEL_AT, .delay = {DELAY_FIXED, 11 * MS, 11 * MS}, .times = 1}},
                       at_5_and_9[] = {{.when = CANCEL_AT, .delay = {DELAY_FIXED, 5 * MS, 5 * MS}, .times = 1},
                                       {.when = CANCEL_AT, .delay = {DELAY_FIXED, 9 * MS, 9 * MS}, .times = 1}};
static const Script asks = {plain, clean, NULL, 3, 1, 0, 1}, soils = {plain, dirty, NULL, 3, 1, 0, 1};
static const Script cancels_5 = {plain, clean, at_5, 3, 1, 1, 1}, cancels_9 = {plain, clean, at_9, 3, 1, 1, 1},
                    cancels_11 = {stays, dirty, at_11, 4, 1, 1, 1},
                    cancels_11_clean = {stays, clean, at_11, 4, 1, 1, 1},
                    cancels_5_stays = {stays, clean, at_5, 4, 1, 1, 1},
                    cancels_twice = {plain, clean, at_5_and_9, 3, 1, 2, 1};

static void a_then(Sample *s, const Script *a, int64_t b_ms, int64_t c_ms) {
  sample_client(s, "a", 0, a);
  sample_client(s, "b", b_ms, &asks);
  if (c_ms >= 0) sample_client(s, "c", c_ms, &asks);
}
static void b_waits(Sample *s) {
  a_then(s, &asks, 1, -1);
}
static void b_and_c_wait(Sample *s) {
  a_then(s, &asks, 1, 2);
}
static void b_comes_later(Sample *s) {
  a_then(s, &asks, 20, -1);
}
static void b_waits_for_a_warm_pool(Sample *s) { /* opened at 0, so that a need not wait: it runs from 1 to 11 */
  sample_client(s, "a", 1, &asks);
  sample_client(s, "b", 2, &asks);
  s->pools[0].min = 1;
}
static void pairs(Sample *s) {
  sample_client(s, "a", 0, &asks);
  s->pools[0].taken = TAKEN_G2;
}
static void cancelled_alone(Sample *s) {
  sample_client(s, "a", 0, &cancels_5_stays);
}
static void alone(Sample *s) {
  sample_client(s, "a", 0, &asks);
}
static void both_at_once(Sample *s) {
  a_then(s, &asks, 0, -1);
  s->pools[0].opening_max = 0;
}
static void two_slow_logins(Sample *s) {
  both_at_once(s);
  s->pools[0].size = 2;
  s->servers[0].login = ms(5);
}
static void two_idle_then_two(Sample *s) {
  a_then(s, &asks, 0, 20);
  sample_client(s, "d", 21, &asks);
  s->pools[0].size = 2;
  s->pools[0].opening_max = 0;
}
static void queue_and_idle(Sample *s) { /* a and b stand in the queue beside an idle connection; c comes at 20 */
  a_then(s, &asks, 1, 20);
  s->pools[0].steps[POOLSTEP_HAND_OFF].how = DO_SKIP;
}
static void b_gives_up(Sample *s) { /* at 6; c would be served at 10 */
  a_then(s, &asks, 1, 5);
  s->pools[0].query_wait_timeout_ns = 6 * MS;
}
static void cleaned(Sample *s) {
  a_then(s, &soils, 1, -1);
  s->pools[0].own.at_checkin = ms(3);
}
static void cancelled_at_5(Sample *s) {
  a_then(s, &cancels_5, 1, -1);
}
static void cancelled_late(Sample *s) { /* at 11, when b has the connection */
  a_then(s, &cancels_11_clean, 1, -1);
}
static void cancelled_while_cleaned(Sample *s) { /* at 11; the clean-up runs from 10 to 13 */
  a_then(s, &cancels_11, 1, -1);
  s->pools[0].own.at_checkin = ms(3);
}
static void linked(Sample *s) { /* looked up at 9, forwarded at 14 */
  a_then(s, &cancels_9, 1, -1);
  s->links[LINK_CANCEL_TO_SERVER][0].connect = ms(5);
  s->pools[0].lookup = LOOKUP_ARRIVAL_LINK;
  s->pools[0].fence = FENCE_UNLINK;
}
static void held(Sample *s) { /* looked up at 9, delivered at 14 */
  a_then(s, &cancels_9, 1, -1);
  s->links[LINK_CANCEL_TO_SERVER][0].connect = ms(5);
  s->pools[0].fence = FENCE_HOLD;
}
static void held_at_once(Sample *s) {
  a_then(s, &cancels_9, 1, -1);
  s->pools[0].fence = FENCE_HOLD;
}
static void one_carrier(Sample *s) { /* the second is parked at 9, while the first is carried, to 13 */
  sample_client(s, "a", 0, &cancels_twice);
  s->links[LINK_CANCEL_TO_SERVER][0].connect = ms(8);
  s->pools[0].carrier = CARRIER_SEMAPHORE;
  s->pools[0].carrier_slots = 1;
  s->pools[0].carrier_queue_ns = NO_LIMIT;
}
static void held_by_two(Sample *s) { /* delivered at 13 and 17 */
  a_then(s, &cancels_twice, 1, -1);
  s->links[LINK_CANCEL_TO_SERVER][0].connect = ms(8);
  s->pools[0].fence = FENCE_HOLD;
}
static void too_old(Sample *s) { /* a's connection is closed when it comes back; b's is opened then */
  b_waits(s);
  s->pools[0].server_lifetime_ns = 5 * MS;
}
static void reload_at(Sample *s, int64_t at_ms, int64_t takes_ms) {
  static EventDef e;
  e = (EventDef){.verb = EVENT_RELOAD,
                 .at_ns = at_ms * MS,
                 .target = {.kind = PATH_POOLER, .index = NONE, .copy = NONE},
                 .takes_ns = takes_ms * MS,
                 .for_ns = NO_LIMIT};
  s->c.work.events = &e;
  s->c.work.n_events = 1;
}
static void reload_with_idle(Sample *s) {
  b_comes_later(s);
  reload_at(s, 15, 0);
}
static void reload_with_taken(Sample *s) {
  a_then(s, &asks, 20, -1);
  reload_at(s, 5, 0);
}
static void reload_with_waiter(Sample *s) {
  b_waits(s);
  reload_at(s, 5, 0);
}
static void reload_halfway(Sample *s) { /* from 12 to 15; b asks the new pool at 13, and is given the idle one at 15 */
  a_then(s, &asks, 13, -1);
  reload_at(s, 12, 3);
}
static void reload_while_opening(Sample *s) { /* opened from 0 to 5, moved at 2; b comes at 3 */
  a_then(s, &asks, 3, -1);
  s->servers[0].login = ms(5);
  reload_at(s, 2, 0);
}
static void reload_while_opening_of_two(Sample *s) {
  a_then(s, &asks, 7, -1);
  s->pools[0].size = 2;
  s->servers[0].login = ms(5);
  reload_at(s, 2, 0);
}

/* ---- cases ---- */

typedef struct {
  PoolStep step;
  Deviation how;
  int64_t late_ms;
  void (*setup)(Sample *s);
  const char *metric; /* "end": of the run, in ms; "marks"; else a metric */
  double as_is, done_so;
  int workers;
} Deviated;

static double figure(const Sample *s, const char *metric) {
  if (!strcmp(metric, "end")) return (double)engine_now(s->e) / 1e6;
  if (!strcmp(metric, "marks")) return (double)world_marks(s->w);
  if (!strcmp(metric, "counted")) return pooler_pool(s->p, 0).counted_taken;
  return sample_metric(s, metric);
}

static double run_with(const Deviated *d, bool deviate) {
  Sample s;
  sample_init(&s);
  s.c.workers = d->workers ? d->workers : 1;
  s.pools[0].fence = FENCE_NONE;
  d->setup(&s);
  if (deviate) s.pools[0].steps[d->step] = (StepChange){.how = (uint8_t)d->how, .late_ns = d->late_ms * MS};
  sample_run(&s);
  double v = figure(&s, d->metric);
  sample_clear(&s);
  return v;
}

static const char *const words[] = {"as is", "skip", "twice", "early", "split", "others", "late"};
static const char *const names[] = {
#define NAME(id, word, ...) word,
    POOLER_STEPS(NAME)
#undef NAME
};

#define ONE         "queries.unfinished", 0, 1
#define ROGUE(mark) "marks", 0, (double)(mark)
static const Deviated cases[] = {
    {POOLSTEP_OPEN, DO_SKIP, 0, b_waits, "queries.unfinished", 0, 2, 0},
    {POOLSTEP_OPEN, DO_TWICE, 0, b_waits, "sockets_max", 1, 2, 0},
    {POOLSTEP_OPEN, DO_SPLIT, 0, both_at_once, "sockets_max", 1, 2, 2},
    {POOLSTEP_OPEN, DO_SPLIT, 0, both_at_once, "sockets_max", 1, 1, 1}, /* nobody is there to look in between */
    {POOLSTEP_OPEN, DO_LATE, 5, b_waits, "end", 20, 25, 0},
    {POOLSTEP_COUNT_OPENING, DO_SKIP, 0, both_at_once, "sockets_max", 1, 2, 0},
    {POOLSTEP_COUNT_OPENING, DO_TWICE, 0, two_slow_logins, "end", 15, 25, 0}, /* one opening fills a pool of two */
    {POOLSTEP_LOGIN, DO_SKIP, 0, alone, "queries.error", 0, 1, 0},
    {POOLSTEP_LOGIN, DO_LATE, 5, b_waits, "end", 20, 25, 0},
    {POOLSTEP_CHECK_OUT, DO_SKIP, 0, b_comes_later, ONE, 0},
    {POOLSTEP_CHECK_OUT, DO_TWICE, 0, two_idle_then_two, "end", 31, 40, 0}, /* d waits for c's, as the other is lost */
    {POOLSTEP_CHECK_OUT, DO_EARLY, 0, queue_and_idle, "overtakes", 0, 2, 0},
    {POOLSTEP_HAND_OFF, DO_SKIP, 0, b_waits, "queries.unfinished", 0, 2, 0},
    {POOLSTEP_HAND_OFF, DO_TWICE, 0, b_and_c_wait, ROGUE(POOLER_DOUBLE_FREE), 0},
    {POOLSTEP_WAIT, DO_SKIP, 0, b_waits, "queries.unfinished", 0, 2, 0},
    {POOLSTEP_WAIT, DO_TWICE, 0, b_and_c_wait, "queries.unfinished", 0, 2, 0}, /* a's second place gets b's turn */
    {POOLSTEP_WAIT, DO_EARLY, 0, b_and_c_wait, "wait_ms.max", 18, 19, 0},
    {POOLSTEP_WAIT, DO_LATE, 20, b_waits_for_a_warm_pool, ONE, 0}, /* looks at 2, queues at 22; idle from 11 */
    {POOLSTEP_LEAVE, DO_SKIP, 0, b_gives_up, "timeouts", 1, 2, 0},
    {POOLSTEP_LEAVE, DO_OTHERS, 0, b_gives_up, "timeouts", 1, 2, 0},
    {POOLSTEP_WAKE, DO_SKIP, 0, b_waits, "queries.unfinished", 0, 2, 0}, /* a waits for the first opening */
    {POOLSTEP_WAKE, DO_EARLY, 0, b_and_c_wait, "overtakes", 0, 1, 0},
    {POOLSTEP_WAKE, DO_LATE, 5, b_waits, "end", 20, 30, 0},
    {POOLSTEP_CLEAN, DO_SKIP, 0, cleaned, "end", 23, 20, 0},
    {POOLSTEP_CLEAN, DO_TWICE, 0, cleaned, "end", 23, 26, 0},
    {POOLSTEP_CLEAN, DO_LATE, 5, cleaned, "end", 23, 28, 0},
    {POOLSTEP_CHECK_IN, DO_SKIP, 0, b_waits, ONE, 0},
    {POOLSTEP_CHECK_IN, DO_TWICE, 0, alone, ROGUE(POOLER_DOUBLE_FREE), 0},
    {POOLSTEP_CHECK_IN, DO_LATE, 5, b_waits, "end", 20, 30, 0}, /* a's and b's */
    {POOLSTEP_MAP, DO_SKIP, 0, cancelled_at_5, "cancel.hit", 1, 0, 0},
    {POOLSTEP_MAP, DO_TWICE, 0, pairs, "counted", 0, 1, 0},
    {POOLSTEP_MAP, DO_LATE, 7, cancelled_at_5, "cancel.hit", 1, 0, 0},
    {POOLSTEP_MAP, DO_LATE, 3, cancelled_at_5, "cancel.hit", 1, 1, 0},
    {POOLSTEP_UNMAP, DO_SKIP, 0, alone, "map_entries.last", 0, 1, 0},
    {POOLSTEP_UNMAP, DO_EARLY, 0, cancelled_while_cleaned, "cancel.pooler_own", 1, 0, 0},
    {POOLSTEP_UNMAP, DO_LATE, 5, cancelled_late, "cancel.misroute", 0, 1, 0},
    {POOLSTEP_UNMAP, DO_LATE, 0, cancelled_late, "cancel.misroute", 0, 0, 0},
    {POOLSTEP_LINK, DO_SKIP, 0, linked, "cancel.misroute", 0, 1, 0},
    {POOLSTEP_UNLINK, DO_SKIP, 0, linked, "cancel.misroute", 0, 1, 0},
    {POOLSTEP_UNLINK, DO_LATE, 6, linked, "cancel.misroute", 0, 1, 0},
    {POOLSTEP_UNLINK, DO_LATE, 2, linked, "cancel.misroute", 0, 0, 0},
    {POOLSTEP_UNFENCE, DO_SKIP, 0, held, ONE, 0},
    {POOLSTEP_UNFENCE, DO_TWICE, 0, held, ROGUE(POOLER_DOUBLE_FREE), 0},
    {POOLSTEP_UNFENCE, DO_EARLY, 0, held_by_two, "cancel.misroute", 0, 1, 0},
    {POOLSTEP_UNFENCE, DO_LATE, 5, held, "end", 24, 29, 0},
    {POOLSTEP_CARRIER, DO_SKIP, 0, cancelled_at_5, "cancel.lost", 0, 1, 0},
    {POOLSTEP_CARRIER, DO_TWICE, 0, cancelled_alone, "cancel.noop", 0, 1, 0}, /* the first ends the query at once */
    {POOLSTEP_CARRIER, DO_LATE, 7, cancelled_at_5, "cancel.misroute", 0, 1, 0},
    {POOLSTEP_TURN, DO_SKIP, 0, one_carrier, "cancel.noop", 2, 1, 0},
    {POOLSTEP_CLOSE_CARRIER, DO_SKIP, 0, held_at_once, ONE, 0},
    {POOLSTEP_CLOSE_CARRIER, DO_EARLY, 0, held, "cancel.misroute", 0, 1, 0},
    {POOLSTEP_CLOSE_CARRIER, DO_LATE, 5, held_at_once, "end", 19, 24, 0},
    {POOLSTEP_CLOSE, DO_SKIP, 0, too_old, ONE, 0},
    {POOLSTEP_CLOSE, DO_TWICE, 0, too_old, ROGUE(POOLER_DOUBLE_FREE), 0},
    {POOLSTEP_CLOSE, DO_LATE, 5, too_old, "end", 20, 30, 0}, /* a's from 10 to 15, b's from 25 to 30 */
    {POOLSTEP_MOVE_IDLE, DO_SKIP, 0, reload_with_idle, ROGUE(POOLER_MOVE_LOST), 0},
    {POOLSTEP_MOVE_TAKEN, DO_SKIP, 0, reload_with_taken, ROGUE(POOLER_MOVE_LOST), 0},
    {POOLSTEP_MOVE_WAITERS, DO_SKIP, 0, reload_with_waiter, ONE, 0},
    {POOLSTEP_MERGE_TAKEN, DO_SKIP, 0, reload_halfway, ROGUE(POOLER_MOVE_LOST), 0},
    {POOLSTEP_MERGE_COUNT, DO_SKIP, 0, reload_while_opening, "sockets_max", 1, 2, 0},
    {POOLSTEP_MERGE_COUNT, DO_TWICE, 0, reload_while_opening_of_two, "end", 22, 25, 0}, /* b waits for a's, at 15 */
};

static void each_deviates(void) {
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const Deviated *d = &cases[i];
    double as_is = run_with(d, false), done_so = run_with(d, true);
    bool well = as_is >= d->as_is && as_is <= d->as_is && done_so >= d->done_so && done_so <= d->done_so;
    if (!well)
      fprintf(stderr, "%s: %s %" G_GINT64_FORMAT " ms: %s is %g and %g, not %g and %g\n", names[d->step], words[d->how],
              d->late_ms, d->metric, as_is, done_so, d->as_is, d->done_so);
    CU_ASSERT(well);
  }
}

/* ---- what only some orders of one instant bring out: tried by seed, and with one worker never there ---- */

static guint seeds_with(int workers, PoolStep split, void (*setup)(Sample *s), bool (*amiss)(const Sample *s)) {
  enum { SEEDS = 40 };
  guint n = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    Sample s;
    sample_init(&s);
    s.c.workers = workers;
    s.pools[0].steps[split].how = DO_SPLIT;
    setup(&s);
    sample_start(&s, seed, TIES_SEEDED);
    engine_run(s.e, -1);
    pooler_write_metrics(s.p);
    n += amiss(&s);
    sample_clear(&s);
  }
  return n;
}

static void two_come_at_once(Sample *s) {
  a_then(s, &asks, 20, 20);
}
static bool taken_twice(const Sample *s) {
  return world_marks(s->w) & POOLER_DOUBLE_FREE;
}
static void two_see_one_idle(void) {
  expect_int(seeds_with(1, POOLSTEP_CHECK_OUT, two_come_at_once, taken_twice), ==, 0);
  expect_int(seeds_with(2, POOLSTEP_CHECK_OUT, two_come_at_once, taken_twice), >, 0);
}

static void b_comes_as_a_ends(Sample *s) {
  b_waits_for_a_warm_pool(s);
  s->clients[1].start = ms(11);
}
static bool never_served(const Sample *s) {
  return sample_metric(s, "queries.unfinished") > 0;
}
static void checked_in_between_look_and_queue(void) {
  expect_int(seeds_with(1, POOLSTEP_WAIT, b_comes_as_a_ends, never_served), ==, 0);
  expect_int(seeds_with(2, POOLSTEP_WAIT, b_comes_as_a_ends, never_served), >, 0);
}

/* Every word of steps.h has a case here, or is tried by seed. */
static void none_is_missing(void) {
  static const struct {
    const char *how;
    bool late;
  } accepted[] = {
#define WORDS(id, word, how, late, what) {how, late},
      POOLER_STEPS(WORDS)
#undef WORDS
  };
  for (guint step = 0; step < POOLSTEP_COUNT; step++)
    for (guint how = DO_SKIP; how <= DO_LATE; how++) {
      g_auto(GStrv) list = g_strsplit(accepted[step].how, " ", -1);
      bool taken = how == DO_LATE ? accepted[step].late : g_strv_contains((const char *const *)list, words[how]);
      bool by_seed = (step == POOLSTEP_CHECK_OUT || step == POOLSTEP_WAIT) && how == DO_SPLIT;
      bool found = by_seed;
      for (guint i = 0; i < G_N_ELEMENTS(cases); i++) found |= cases[i].step == step && cases[i].how == how;
      if (taken != found) fprintf(stderr, "%s: %s: read %d, tested %d\n", names[step], words[how], taken, found);
      CU_ASSERT(taken == found);
    }
}

int main(void) {
  return suite_run("pooler_steps", (const Case[]){{"each deviates as it says", each_deviates},
                                                  {"check_out: split", two_see_one_idle},
                                                  {"wait: split", checked_in_between_look_and_queue},
                                                  {"none is missing", none_is_missing},
                                                  {0}});
}
