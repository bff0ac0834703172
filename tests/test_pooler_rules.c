/* Rules of the pool and of its surroundings, a test each: bans, reserve, least size, ages, checks, fences of a fixed
 * time, polling waiters, pause, shutdown. Expected values are worked out by hand from the rules (poolers.md A.2, B.5,
 * B.6, D). */
#include "model/pooler/parts.h"
#include "tests/harness.h"
#include "tests/pooler_sample.h"

#define RUNS(n)                                                                                                        \
  { .tag = "q", .runs = {DELAY_FIXED, (n)*MS, (n)*MS}, .deadline_ns = NO_LIMIT, .lock = NONE }
static const QueryDef ten[] = {RUNS(10)}, two_of_one[] = {RUNS(1), RUNS(1)}, hundred[] = {RUNS(100)};
static const Op once[] = {{.code = OP_CONNECT}, {.code = OP_QUERY}, {.code = OP_END}};
#define PAUSE(n)                                                                                                       \
  {                                                                                                                    \
    .code = OP_WAIT, .delay = { DELAY_FIXED, (n)*MS, (n)*MS }                                                          \
  }
static const Op with_pause[] = {
    {.code = OP_CONNECT}, {.code = OP_QUERY}, PAUSE(10), {.code = OP_QUERY, .index = 1}, {.code = OP_END}};
static const Op idles[] = {{.code = OP_CONNECT}, PAUSE(200), {.code = OP_END}};
static const Script asks = {once, ten, NULL, 3, 1, 0, 1}, comes_back = {with_pause, two_of_one, NULL, 5, 2, 0, 1},
                    stays = {idles, NULL, NULL, 3, 0, 0, 1}, runs_long = {once, hundred, NULL, 3, 1, 0, 1};

static void events(Sample *s, const EventDef *e, int n) {
  s->c.work.events = e;
  s->c.work.n_events = n;
}
#define ALL                                                                                                            \
  { .kind = PATH_POOLER, .index = NONE, .copy = NONE }

static double over(const Sample *s, const char *metric, const char *of, int64_t from_ms, int64_t to_ms) {
  double v = -1;
  return pooler_metric(s->p, metric, of, from_ms * MS, to_ms * MS, &v) ? v : -1;
}

/* ---- bans: two servers behind one pool, the first refuses ---- */

static void two_servers(Sample *s) {
  sample_init(s);
  s->c.n_servers = 2;
  s->pools[0].n_servers = 2;
  s->pools[0].servers[1] = 1;
  s->pools[0].size = 2;
  s->pools[0].poke = POKE_EACH;
  s->c.keep_series = true;
  s->links[LINK_POOLER_TO_SERVER][0].fault = FAULT_REFUSE;
}

/* In turn: the first opening fails, and from then on all go to the other one, until the ban is over. */
static void ban_passes_over(void) {
  Sample s;
  two_servers(&s);
  s.pools[0].ban_timeout_ns = 1000 * MS;
  s.pools[0].react.refused = REACT_RETRY;
  for (guint i = 0; i < 4; i++) sample_client(&s, "a", i, &asks);
  sample_run(&s);
  expect_int(sample_metric(&s, "queries.ok"), ==, 4);
  expect_int(sample_metric(&s, "opens"), ==, 3); /* one refused, then two of the other server */
  expect_int(sample_metric(&s, "server[db2].backends.max"), ==, 2);
  sample_clear(&s);
}

/* Not banned: every other opening fails. */
static void no_ban_fails_again(void) {
  Sample s;
  two_servers(&s);
  s.pools[0].react.refused = REACT_RETRY;
  for (guint i = 0; i < 4; i++) sample_client(&s, "a", i, &asks);
  sample_run(&s);
  expect_int(sample_metric(&s, "opens"), >, 3);
  sample_clear(&s);
}

/* After ban_timeout it is let in again, and refuses again. */
static void ban_ends(void) {
  Sample s;
  two_servers(&s);
  s.pools[0].ban_timeout_ns = 5 * MS;
  s.pools[0].react.refused = REACT_RETRY;
  sample_client(&s, "a", 0, &asks);
  sample_client(&s, "b", 6, &asks);
  sample_run(&s);
  expect_int(sample_metric(&s, "opens"), ==, 4); /* refused, served; at 6 refused again, served */
  sample_clear(&s);
}

/* The only server is never banned; where both fail, neither is. */
static void never_the_only_one(void) {
  Sample s;
  two_servers(&s);
  s.pools[0].ban_timeout_ns = 1000 * MS;
  s.pools[0].react.refused = REACT_ERROR;
  s.links[LINK_POOLER_TO_SERVER][1].fault = FAULT_REFUSE;
  for (guint i = 0; i < 4; i++) sample_client(&s, "a", 10 * i, &asks);
  sample_run(&s);
  expect_int(sample_metric(&s, "queries.refused"), ==, 4);
  expect_int(s.p->pools[0].banned == 3, ==, 0);
  sample_clear(&s);
  sample_init(&s);
  s.pools[0].ban_timeout_ns = 1000 * MS;
  s.pools[0].react.refused = REACT_ERROR;
  s.links[LINK_POOLER_TO_SERVER][0].fault = FAULT_REFUSE;
  sample_client(&s, "a", 0, &asks);
  sample_run(&s);
  expect_int(s.p->pools[0].banned, ==, 0);
  sample_clear(&s);
}

/* The pass opens one at 10, one at 20; the first server is gone at 25 and nobody is told; the third opening, at 30,
 * finds that out: both idle ones are closed, and three are opened with the other server, at 40, 50, 60. */
static void ban_dumps_idle(void) {
  static const EventDef down[] = {{.at_ns = 25 * MS,
                                   .target = {.kind = PATH_SERVER, .index = 0, .copy = NONE},
                                   .verb = EVENT_CUT,
                                   .for_ns = NO_LIMIT}};
  Sample s;
  two_servers(&s);
  s.links[LINK_POOLER_TO_SERVER][0].fault = FAULT_NONE;
  s.c.tick_ns = 10 * MS;
  s.pools[0].poke = POKE_TICK;
  s.pools[0].balance = BALANCE_FIRST;
  s.pools[0].size = s.pools[0].min = 3;
  s.pools[0].ban_timeout_ns = 1000 * MS;
  sample_client(&s, "a", 0, &stays);
  events(&s, down, 1);
  sample_run(&s);
  expect_near(over(&s, "sockets.last", NULL, 0, 29), 2, 0);
  expect_near(over(&s, "sockets.last", NULL, 0, 31), 0, 0);
  expect_near(over(&s, "sockets.last", NULL, 0, 75), 3, 0);
  expect_int(sample_metric(&s, "server[db2].backends.max"), ==, 3);
  sample_clear(&s);
}

/* ---- reserve ---- */

/* pool_size 1, reserve 1 after 5 ms: b waits from 1 and is served at 6; c, from 7, waits for a's at 10. */
static void reserve_opens_for_the_oldest(void) {
  Sample s;
  sample_init(&s);
  s.pools[0].reserve = 1;
  s.pools[0].reserve_timeout_ns = 5 * MS;
  sample_client(&s, "a", 0, &asks);
  sample_client(&s, "b", 1, &asks);
  sample_client(&s, "c", 7, &asks);
  sample_run(&s);
  expect_near(sample_metric(&s, "wait_ms.max"), 5, 0);
  expect_int(sample_metric(&s, "sockets_max"), ==, 2);
  expect_int(engine_now(s.e), ==, 20 * MS);
  sample_clear(&s);
}

/* It closes again: the connection too many dies of age, and who comes then waits for 5 ms anew. */
static void reserve_closes_again(void) {
  Sample s;
  sample_init(&s);
  s.pools[0].reserve = 1;
  s.pools[0].reserve_timeout_ns = 5 * MS;
  s.pools[0].server_lifetime_ns = 9 * MS; /* every connection is closed after its first query */
  sample_client(&s, "a", 0, &asks);
  sample_client(&s, "b", 1, &asks);  /* 6 to 16 */
  sample_client(&s, "d", 30, &asks); /* 30 to 40 */
  sample_client(&s, "e", 31, &asks); /* not at once: from 36 on */
  sample_run(&s);
  expect_int(engine_now(s.e), ==, 46 * MS);
  expect_near(sample_metric(&s, "wait_ms.max"), 5, 0);
  sample_clear(&s);
}

/* ---- least size, ages, checks ---- */

/* The pass opens up to min, one each time; idle ones die of idleness down to min, not below. */
static void min_pool_size(void) {
  Sample s;
  sample_init(&s);
  s.c.tick_ns = 10 * MS;
  s.c.keep_series = true;
  s.pools[0].size = 5;
  s.pools[0].min = 2;
  s.pools[0].server_idle_timeout_ns = 30 * MS;
  sample_client(&s, "a", 0, &stays);
  for (guint i = 0; i < 4; i++) sample_client(&s, "b", 50, &asks);
  sample_run(&s);
  expect_near(over(&s, "sockets.last", NULL, 0, 15), 1, 0);
  expect_near(over(&s, "sockets.last", NULL, 0, 25), 2, 0);
  expect_near(over(&s, "sockets.last", NULL, 0, 62), 4, 0);
  expect_near(over(&s, "sockets.last", NULL, 0, 190), 2, 0);
  sample_clear(&s);
}

/* Four connections of one age, lifetime 100 ms: closed 25 ms apart, from 100 on (PgBouncer: lifetime / pool_size). */
static void kills_are_apart(void) {
  for (int spaced = 0; spaced <= 1; spaced++) {
    Sample s;
    sample_init(&s);
    s.c.keep_series = true;
    s.pools[0].size = 4;
    s.pools[0].opening_max = 0;
    s.pools[0].server_lifetime_ns = 100 * MS;
    s.pools[0].lifetime_spaced = spaced;
    sample_client(&s, "a", 0, &stays);
    for (guint i = 0; i < 4; i++) sample_client(&s, "b", 0, &asks);
    sample_run(&s);
    expect_near(over(&s, "sockets.last", NULL, 0, 99), 4, 0);
    expect_near(over(&s, "sockets.last", NULL, 0, 101), spaced ? 3 : 0, 0);
    expect_near(over(&s, "sockets.last", NULL, 0, 124), spaced ? 3 : 0, 0);
    expect_near(over(&s, "sockets.last", NULL, 0, 126), spaced ? 2 : 0, 0);
    expect_near(over(&s, "sockets.last", NULL, 0, 176), 0, 0);
    sample_clear(&s);
  }
}

/* Idle for 10 ms: longer than 5, so that a check of 3 ms comes before the second query; not longer than 20. */
static void health_check(void) {
  for (int delay = 5; delay <= 20; delay += 15) {
    Sample s;
    sample_init(&s);
    s.pools[0].check_delay_ns = delay * MS;
    s.pools[0].own.check = ms(3);
    sample_client(&s, "a", 0, &comes_back);
    sample_run(&s);
    expect_int(sample_metric(&s, "queries.ok"), ==, 2);
    expect_int(engine_now(s.e), ==, (delay == 5 ? 15 : 12) * MS);
    sample_clear(&s);
  }
}

/* An idle one that is due for a check counts as sv_used, as in SHOW POOLS. */
static void used_ones(void) {
  Sample s;
  sample_init(&s);
  s.c.keep_series = true;
  s.pools[0].check_delay_ns = 5 * MS;
  s.pools[0].own.check = ms(3);
  sample_client(&s, "a", 0, &comes_back);
  sample_run(&s);
  expect_near(over(&s, "sv_idle.last", NULL, 0, 3), 1, 0);
  expect_near(over(&s, "sv_idle.last", NULL, 0, 8), 0, 0);
  expect_near(over(&s, "sv_used.last", NULL, 0, 8), 1, 0);
  expect_near(over(&s, "sv_used.last", NULL, 0, 12), 0, 0);
  sample_clear(&s);
}

/* ---- a fence of a fixed time ---- */

/* Cancelled at 9 at once, held for 20 ms from then, whatever the EOF says: b runs from 29. */
static void fixed_hold(void) {
  static const CancelDef at_9[] = {{.when = CANCEL_AT, .delay = {DELAY_FIXED, 9 * MS, 9 * MS}, .times = 1}};
  static const Script cancels = {once, ten, at_9, 3, 1, 1, 1};
  Sample s;
  sample_init(&s);
  s.pools[0].fence = FENCE_WAIT;
  s.pools[0].fence_ns = 20 * MS;
  sample_client(&s, "a", 0, &cancels);
  sample_client(&s, "b", 1, &asks);
  sample_run(&s);
  expect_int(sample_metric(&s, "cancel.hit"), ==, 1);
  expect_int(engine_now(s.e), ==, 39 * MS);
  expect(pooler_done(s.p));
  sample_clear(&s);
}

/* ---- waiters that poll: first 1 ms, then twice as long each time, at most 4 ms ---- */

static void polling_waiters(void) {
  Sample s;
  sample_init(&s);
  s.pools[0].waiters = WAITERS_POLL;
  s.pools[0].poll = (BackOff){MS, 4 * MS, 2};
  s.pools[0].min = 1;
  sample_client(&s, "a", 1, &asks); /* 1 to 11 */
  sample_client(&s, "b", 2, &asks); /* looks at 2, 3, 5, 9, 13 */
  sample_run(&s);
  expect_near(sample_metric(&s, "wait_ms.max"), 11, 0);
  expect_int(engine_now(s.e), ==, 23 * MS);
  sample_clear(&s);
}

/* ---- pause, resume: idle ones are closed, taken ones when they come back, nothing is handed out ---- */

static void pause_and_resume(void) {
  static const EventDef e[] = {{.at_ns = 5 * MS, .target = ALL, .verb = EVENT_PAUSE, .for_ns = NO_LIMIT},
                               {.at_ns = 30 * MS, .target = ALL, .verb = EVENT_RESUME, .for_ns = NO_LIMIT}};
  Sample s;
  sample_init(&s);
  s.c.keep_series = true;
  s.pools[0].size = 2;
  s.pools[0].min = 2;
  s.pools[0].poke = POKE_EACH;
  sample_client(&s, "a", 0, &asks);
  sample_client(&s, "b", 15, &asks);
  events(&s, e, 2);
  sample_run(&s);
  expect_near(over(&s, "sockets.last", NULL, 0, 4), 2, 0);
  expect_near(over(&s, "sockets.last", NULL, 0, 6), 1, 0);  /* a's */
  expect_near(over(&s, "sockets.last", NULL, 0, 14), 0, 0); /* it came back at 10 */
  expect_near(sample_metric(&s, "wait_ms.max"), 15, 0);
  expect_int(engine_now(s.e), ==, 40 * MS);
  sample_clear(&s);
}

/* ---- shutdown: no new clients; those that are there finish, or are cut off or cancelled when its time is over ---- */

static void shut_down(Sample *s, int64_t timeout_ms, bool cancels) {
  static const EventDef e[] = {{.at_ns = 5 * MS, .target = ALL, .verb = EVENT_SHUTDOWN, .for_ns = NO_LIMIT}};
  sample_init(s);
  s->c.shutdown_timeout_ns = timeout_ms < 0 ? NO_LIMIT : timeout_ms * MS;
  s->c.shutdown_cancels = cancels;
  sample_client(s, "a", 0, &runs_long);
  sample_client(s, "b", 6, &asks);
  events(s, e, 1);
  sample_run(s);
}
static void shutdown_waits(void) {
  Sample s;
  shut_down(&s, -1, false);
  expect_int(sample_metric(&s, "queries.ok"), ==, 1);
  expect_int(sample_metric(&s, "queries.refused"), ==, 1); /* b */
  expect_int(engine_now(s.e), ==, 100 * MS);
  sample_clear(&s);
}
static void shutdown_cuts_off(void) {
  Sample s;
  shut_down(&s, 20, false);
  expect_int(sample_metric(&s, "queries.ok"), ==, 0);
  expect_int(sample_metric(&s, "queries.cancelled"), ==, 0);
  expect_int(engine_now(s.e), ==, 25 * MS);
  sample_clear(&s);
}
static void shutdown_cancels(void) {
  Sample s;
  shut_down(&s, 20, true);
  expect_int(sample_metric(&s, "queries.cancelled"), ==, 1);
  expect_int(engine_now(s.e), ==, 25 * MS);
  expect(pooler_done(s.p));
  sample_clear(&s);
}

/* ---- bytes that nobody asked for, on an idle connection at 5 ms; it is used again at 11 ---- */

static void unasked(Sample *s, int bytes, bool peek, React react) {
  static EventDef e;
  e = (EventDef){.at_ns = 5 * MS,
                 .target = {.kind = PATH_POOLER, .index = NONE, .copy = NONE},
                 .verb = EVENT_SEND,
                 .bytes = bytes,
                 .for_ns = NO_LIMIT};
  sample_init(s);
  s->pools[0].peek = peek;
  s->pools[0].react.unexpected = react;
  sample_client(s, "a", 0, &comes_back);
  events(s, &e, 1);
  sample_run(s);
}
static void unasked_bytes(void) {
  static const struct {
    int bytes;
    bool peek;
    React react;
    int opens, errors, crash;
  } known[] = {
      {5, false, REACT_CLOSE, 2, 0, 0}, /* a message: closed at once */
      {4, false, REACT_CLOSE, 1, 1, 0}, /* no message yet: they come before the next answer */
      {4, true, REACT_CLOSE, 2, 0, 0},  /* seen when it is looked at */
      {5, false, REACT_WAIT, 1, 1, 0},  {5, true, REACT_WAIT, 2, 0, 0}, {5, true, REACT_FATAL, 2, 0, POOLER_CRASH},
      {4, true, REACT_FATAL, 2, 0, 0}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    Sample s;
    unasked(&s, known[i].bytes, known[i].peek, known[i].react);
    expect_int(sample_metric(&s, "opens"), ==, known[i].opens);
    expect_int(sample_metric(&s, "queries.error"), ==, known[i].errors);
    expect_int(world_marks(s.w) & POOLER_CRASH, ==, known[i].crash);
    sample_clear(&s);
  }
}

/* ---- counts: b waits from 1 to 10, c from 2 and at the end of the run, at 15, still ---- */

static void waits_and_attempts(void) {
  static const CancelDef at_5[] = {{.when = CANCEL_AT, .delay = {DELAY_FIXED, 14 * MS, 14 * MS}, .times = 1}};
  static const Script cancels = {once, ten, at_5, 3, 1, 1, 1};
  Sample s;
  double v = -1;
  sample_init(&s);
  sample_client(&s, "a", 0, &asks);
  sample_client(&s, "b", 1, &cancels);
  sample_client(&s, "c", 2, &runs_long);
  sample_start(&s, 1, TIES_EVENT_FIRST);
  engine_run(s.e, 13 * MS);
  expect(pooler_metric(s.p, "maxwait.last", NULL, 0, -1, &v));
  expect_near(v, (double)(world_ledger_time(s.w) - 2 * MS) / 1e9, 1e-9);
  engine_run(s.e, -1);
  pooler_write_metrics(s.p);
  double seconds = (double)engine_now(s.e) / 1e9;
  expect(pooler_metric(s.p, "maxwait.max", NULL, 0, -1, &v));
  expect_near(v, 0.012, 1e-9); /* c, until b is cancelled at 14 */
  /* b is the longest from 1 to 10, then c from 10, when it has waited 8, to 14: (9^2 + 12^2 - 8^2) / 2 */
  expect(pooler_metric(s.p, "maxwait.mean", NULL, 0, -1, &v));
  expect_near(v * seconds, 80.5e-6, 1e-12);
  expect(pooler_metric(s.p, "maxwait.mean", NULL, 8 * MS, 12 * MS, &v));
  expect_near(v, (9 * 9 - 7 * 7 + 10 * 10 - 8 * 8) / 2 / 4e3, 1e-12); /* b to 10, then c */
  expect(pooler_metric(s.p, "wakeups_per_s", NULL, 0, -1, &v));
  expect_near(v * seconds, 3, 1e-9); /* a for the opening, b, c */
  expect(pooler_metric(s.p, "attempts_per_s", NULL, 0, -1, &v));
  expect_near(v * seconds, 2, 1e-9); /* one opening, one carrier */
  sample_clear(&s);
}

/* ---- outages of a server that meet ---- */

#define OF_DB1                                                                                                         \
  { .kind = PATH_SERVER, .index = 0, .copy = NONE }
#define RESTART(at_ms, takes)                                                                                          \
  { .verb = EVENT_RESTART, .at_ns = (at_ms)*MS, .takes_ns = takes, .for_ns = NO_LIMIT, .target = OF_DB1 }

/* The second one stops what the first is about to start: down from 2 to 11.5. Tried at 4, 5, ... 12. */
static void restart_within_a_restart(void) {
  Sample s;
  static const EventDef two[] = {RESTART(2, 4 * MS), RESTART(3, 8 * MS + MS / 2)};
  sample_init(&s);
  s.pools[0].react.refused = REACT_WAIT;
  s.pools[0].server_login_retry_ns = MS;
  events(&s, two, 2);
  sample_client(&s, "a", 4, &asks);
  sample_run(&s);
  expect_int(sample_metric(&s, "queries.ok"), ==, 1);
  expect_near(sample_metric(&s, "wait_ms.max"), 8, 1e-9);
  expect_int(sample_metric(&s, "opens"), ==, 9);
  sample_clear(&s);
}

/* A start of a server that was started since is no second one: the backend forked at 7 lives on. */
static void restart_ends_a_kill(void) {
  Sample s;
  static const EventDef kill_restart[] = {{.verb = EVENT_KILL, .at_ns = MS, .for_ns = 10 * MS, .target = OF_DB1},
                                          RESTART(2, 4 * MS)};
  sample_init(&s);
  s.pools[0].react.refused = REACT_WAIT;
  s.pools[0].server_login_retry_ns = MS + MS / 2;
  events(&s, kill_restart, 2);
  sample_client(&s, "a", 4, &asks); /* tried at 4, 5.5, 7; runs over the kill's end at 11 */
  sample_run(&s);
  expect_int(sample_metric(&s, "queries.ok"), ==, 1);
  expect_near(sample_metric(&s, "wait_ms.max"), 3, 1e-9);
  sample_clear(&s);
}

/* Its backend is gone although its pooler has not closed it yet. */
static void restart_while_one_closes(void) {
  Sample s;
  static const EventDef paused[] = {{.verb = EVENT_PAUSE, .at_ns = 12 * MS, .for_ns = NO_LIMIT, .target = ALL},
                                    RESTART(13, MS)};
  sample_init(&s);
  s.pools[0].steps[POOLSTEP_CLOSE] = (StepChange){DO_LATE, 10 * MS};
  events(&s, paused, 2);
  sample_client(&s, "a", 0, &asks);
  sample_run(&s);
  expect_int(sample_metric(&s, "queries.ok"), ==, 1);
  expect_int(sample_metric(&s, "backends.last"), ==, 0);
  sample_clear(&s);
}

/* ---- own queries ---- */

/* The settings ran at check-out: what runs behind the transaction is the clean-up, 3 ms, not the settings again (which
 * once sent the client's query a second time). b waits for 1 + 5 + 5 + 3 ms. */
static void settings_run_once(void) {
  Sample s;
  static const QueryDef dirty[] = {
      {.tag = "q", .runs = {DELAY_FIXED, 5 * MS, 5 * MS}, .dirty = true, .deadline_ns = NO_LIMIT, .lock = NONE},
      {.tag = "r", .runs = {DELAY_FIXED, 5 * MS, 5 * MS}, .deadline_ns = NO_LIMIT, .lock = NONE}};
  static const Op two[] = {{.code = OP_CONNECT},           {.code = OP_BEGIN},  {.code = OP_QUERY},
                           {.code = OP_QUERY, .index = 1}, {.code = OP_COMMIT}, {.code = OP_END}};
  static const Script in_transaction = {two, dirty, NULL, 6, 2, 0, 1};
  sample_init(&s);
  s.pools[0].own.at_checkout = ms(1);
  s.pools[0].own.at_checkin = ms(3);
  s.pools[0].mode = MODE_TRANSACTION;
  sample_client(&s, "a", 0, &in_transaction);
  sample_client(&s, "b", 0, &asks);
  sample_run(&s);
  expect_int(sample_metric(&s, "queries.ok"), ==, 3);
  expect_near(sample_metric(&s, "wait_ms.max"), 14, 1e-9);
  sample_clear(&s);
}

int main(void) {
  return suite_run("pooler_rules", (const Case[]){{"a ban passes over", ban_passes_over},
                                                  {"without a ban it fails again", no_ban_fails_again},
                                                  {"a ban ends", ban_ends},
                                                  {"never the only one, never all", never_the_only_one},
                                                  {"a ban dumps idle ones", ban_dumps_idle},
                                                  {"reserve, for the oldest waiter", reserve_opens_for_the_oldest},
                                                  {"reserve closes again", reserve_closes_again},
                                                  {"min_pool_size", min_pool_size},
                                                  {"kills for age are apart", kills_are_apart},
                                                  {"health check", health_check},
                                                  {"sv_used", used_ones},
                                                  {"hold_until: [T]", fixed_hold},
                                                  {"polling waiters", polling_waiters},
                                                  {"pause and resume", pause_and_resume},
                                                  {"shutdown waits", shutdown_waits},
                                                  {"shutdown cuts off", shutdown_cuts_off},
                                                  {"shutdown cancels", shutdown_cancels},
                                                  {"unasked bytes", unasked_bytes},
                                                  {"waits, wake-ups, attempts", waits_and_attempts},
                                                  {"settings run once", settings_run_once},
                                                  {"restart within a restart", restart_within_a_restart},
                                                  {"restart ends a kill", restart_ends_a_kill},
                                                  {"restart while one closes", restart_while_one_closes},
                                                  {0}});
}
