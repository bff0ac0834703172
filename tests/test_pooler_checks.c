/* Each check of the pooler must be able to fail: a pooler with one step or policy amiss (the mutant) is caught, and the
 * same without it is not. Judged after every step of a run in virtual time. */
#include "checks/checks.h"
#include "tests/harness.h"
#include "tests/pooler_sample.h"

typedef Judgement (*JudgeFn)(const Model *m, GString *why);

#define QUERY(name, ms_, ...)                                                                                          \
  { .tag = name, .runs = {DELAY_FIXED, (ms_)*MS, (ms_)*MS}, .deadline_ns = NO_LIMIT, .lock = NONE, __VA_ARGS__ }

static const QueryDef q1[] = {QUERY("q1", 10, .dirty = false)}, q2[] = {QUERY("q2", 10, .dirty = false)};
static const QueryDef both[] = {QUERY("q1", 10, .pools = 3)},
                      twice[] = {QUERY("q1", 10, .dirty = false), QUERY("q2", 10, .dirty = false)};
static const QueryDef locks[] = {
    {.tag = "q1", .runs = {DELAY_FIXED, MS, MS}, .deadline_ns = NO_LIMIT, .lock = 0, .hold = HOLD_SESSION}};
static const Op once[] = {{.code = OP_CONNECT}, {.code = OP_QUERY, .index = 0}, {.code = OP_END}};
static const Op again[] = {
    {.code = OP_CONNECT}, {.code = OP_QUERY, .index = 0}, {.code = OP_QUERY, .index = 1}, {.code = OP_END}};
static const Op rests[] = {{.code = OP_CONNECT},
                           {.code = OP_QUERY, .index = 0},
                           {.code = OP_WAIT, .delay = {DELAY_FIXED, 20 * MS, 20 * MS}},
                           {.code = OP_QUERY, .index = 1},
                           {.code = OP_END}};
static const CancelDef at_9ms[] = {{.query = 0, .when = CANCEL_AT, .delay = {DELAY_FIXED, 9 * MS, 9 * MS}, .times = 1}};
static const Script plain = {once, q1, NULL, 3, 1, 0, 1}, other = {once, q2, NULL, 3, 1, 0, 1},
                    cancels = {once, q1, at_9ms, 3, 1, 1, 1}, late = {again, twice, at_9ms, 4, 2, 1, 1},
                    shards = {once, both, NULL, 3, 1, 0, 1}, locker = {once, locks, NULL, 3, 1, 0, 1},
                    resting = {rests, twice, NULL, 5, 2, 0, 1};
static const EventDef kill_idle[] = {{.at_ns = 15 * MS,
                                      .target = {.kind = PATH_CLIENT_SERVER, .index = 0, .copy = NONE},
                                      .verb = EVENT_KILL,
                                      .for_ns = NO_LIMIT}};
static const EventDef reload[] = {
    {.at_ns = 5 * MS, .target = {.kind = PATH_POOLER, .index = NONE}, .verb = EVENT_RELOAD, .for_ns = NO_LIMIT}};
static const EventDef reload_at_15[] = {
    {.at_ns = 15 * MS, .target = {.kind = PATH_POOLER, .index = NONE}, .verb = EVENT_RELOAD, .for_ns = NO_LIMIT}};
static const char *const lock_names[] = {"l"};

typedef struct {
  Model m;
  JudgeFn judge;
  GString *why;
  bool broken;
} Judge;

static bool after(void *data) {
  Judge *j = data;
  j->broken = j->broken || j->judge(&j->m, j->why) == JUDGED_BROKEN;
  return j->broken;
}

/* Three clients of one pool of one connection, a's query cancelled at 9 ms; `change` makes of it what is wanted. */
static bool broken(JudgeFn judge, void (*change)(Sample *s), void (*mutate)(Sample *s)) {
  Sample s;
  sample_init(&s);
  s.c.work.locks = lock_names;
  s.c.work.n_locks = 1;
  if (change) change(&s);
  if (mutate) mutate(&s);
  if (s.c.work.n_clients == 0) {
    sample_client(&s, "a", 0, &cancels);
    sample_client(&s, "b", 1, &other);
    sample_client(&s, "c", 2, &plain);
  }
  sample_start(&s, 1, TIES_EVENT_FIRST);
  Judge j = {.m = {.world = s.w, .pooler = s.p}, .judge = judge, .why = g_string_new(NULL)};
  EngineListener l = {.after = after};
  engine_listen(s.e, &l, &j);
  engine_run(s.e, 1000 * MS);
  g_string_free(j.why, TRUE);
  sample_clear(&s);
  return j.broken;
}

static void caught(JudgeFn judge, void (*change)(Sample *s), void (*mutate)(Sample *s)) {
  expect(!broken(judge, change, NULL));
  expect(broken(judge, change, mutate));
}

#define STEP_MUTANT(name, step, how_)                                                                                  \
  static void name(Sample *s) {                                                                                        \
    s->pools[0].steps[POOLSTEP_##step].how = how_;                                                                     \
  }
STEP_MUTANT(skip_check_in, CHECK_IN, DO_SKIP)
STEP_MUTANT(twice_check_in, CHECK_IN, DO_TWICE)
STEP_MUTANT(twice_close, CLOSE, DO_TWICE)
STEP_MUTANT(skip_map, MAP, DO_SKIP)
STEP_MUTANT(skip_unmap, UNMAP, DO_SKIP)
STEP_MUTANT(skip_hand_off, HAND_OFF, DO_SKIP)
STEP_MUTANT(wake_the_last, WAKE, DO_EARLY)
STEP_MUTANT(skip_clean, CLEAN, DO_SKIP)
STEP_MUTANT(skip_move_taken, MOVE_TAKEN, DO_SKIP)
STEP_MUTANT(skip_move_idle, MOVE_IDLE, DO_SKIP)

static void slow_cancel(Sample *s) {
  s->pools[0].fence = FENCE_HOLD;
  s->links[LINK_CANCEL_TO_SERVER][0].delay = ms(5);
}
static void no_fence(Sample *s) {
  s->pools[0].fence = FENCE_NONE;
}
static void hits_its_query(void) {
  caught(check_cancel_hits_its_query, slow_cancel, no_fence);
}

/* No pooler between: the driver's own fence. */
static void direct(Sample *s) {
  s->links[LINK_CANCEL_TO_SERVER][0].delay = ms(5);
  sample_client(s, "a", 0, &late);
  s->clients[0].via_server = 0;
  s->clients[0].fence.kind = FENCE_HOLD;
}
static void careless(Sample *s) {
  s->clients[0].fence.kind = FENCE_NONE;
}
static void hits_only_its_query(void) {
  caught(check_cancel_hits_only_its_query, direct, careless);
}

static void accounting(void) {
  caught(check_pool_accounting, NULL, skip_check_in);
  caught(check_pool_accounting, NULL, twice_check_in);
}
static void map_complete(void) {
  caught(check_cancel_map_complete, NULL, skip_map);
}
static void map_sound(void) {
  caught(check_cancel_map_sound, NULL, skip_unmap);
}
static void lost_wakeup(void) {
  caught(check_no_lost_wakeup, NULL, skip_hand_off);
}
static void fifo(void) {
  caught(check_fifo_bound, NULL, wake_the_last);
}

static void with_old_age(Sample *s) {
  s->pools[0].server_lifetime_ns = 5 * MS;
}
static void double_free(void) {
  caught(check_no_double_free, with_old_age, twice_close);
}

static void two_shards(Sample *s) {
  s->c.n_pools = s->c.n_servers = 2;
  sample_client(s, "a", 0, &shards);
}
static void by_pid(Sample *s) {
  s->pools[0].server_identity = s->pools[1].server_identity = IDENTITY_PID_ONLY;
}
static void one_row(void) {
  caught(check_row_from_one_shard, two_shards, by_pid);
}

static void dies_idle(Sample *s) {
  s->c.work.events = kill_idle;
  s->c.work.n_events = 1;
  sample_client(s, "a", 0, &resting);
}
static void fatal(Sample *s) {
  s->pools[0].react.unexpected = REACT_FATAL;
}
static void blind(Sample *s) {
  s->pools[0].react.unexpected = REACT_WAIT;
  s->pools[0].peek = false;
}
static void crash(void) {
  caught(check_no_crash, dies_idle, fatal);
}
static void client_error(void) {
  caught(check_no_client_error, dies_idle, blind);
}

static void a_lock(Sample *s) {
  s->pools[0].own.clears = CLEARS_SESSION;
  sample_client(s, "a", 0, &locker);
  sample_client(s, "b", 1, &other);
}
static void clean_session(void) {
  caught(check_session_is_clean, a_lock, skip_clean);
}

static void reloaded(Sample *s) {
  s->c.work.events = reload;
  s->c.work.n_events = 1;
}
static void reload_conserves(void) {
  caught(check_reload_conserves, reloaded, skip_move_taken);
}
static void idle_at_reload(Sample *s) {
  reloaded(s);
  sample_client(s, "a", 0, &resting);
  s->c.work.events = reload_at_15;
}
static void reload_keeps_idle(void) {
  caught(check_reload_conserves, idle_at_reload, skip_move_idle);
}

int main(void) {
  return suite_run("pooler_checks", (const Case[]){{"cancel-hits-its-query", hits_its_query},
                                                   {"cancel-hits-only-its-query", hits_only_its_query},
                                                   {"pool-accounting", accounting},
                                                   {"cancel-map-complete", map_complete},
                                                   {"cancel-map-sound", map_sound},
                                                   {"no-lost-wakeup", lost_wakeup},
                                                   {"fifo-bound", fifo},
                                                   {"no-double-free", double_free},
                                                   {"row-from-one-shard", one_row},
                                                   {"no-crash", crash},
                                                   {"no-client-error", client_error},
                                                   {"session-is-clean", clean_session},
                                                   {"reload-conserves", reload_conserves},
                                                   {"reload-conserves, idle", reload_keeps_idle},
                                                   {0}});
}
