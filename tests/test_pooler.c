/* Report S01 by a timeline computed by hand: pool_size 1; a's q1 runs 0..10 ms, b queues at 1 ms; a's cancel at 9 ms
 * takes 5 ms to the server. Without a fence b runs from 10 ms, and the cancel, delivered at 14 ms, hits b. Held until
 * EOF, b waits until 14 ms, and the cancel finds the backend idle. */
#include "model/postgres/host.h"
#include "tests/harness.h"
#include "tests/pooler_sample.h"

static const QueryDef q1[] = {
    {.tag = "q1", .runs = {DELAY_FIXED, 10 * MS, 10 * MS}, .deadline_ns = NO_LIMIT, .lock = NONE}};
static const QueryDef q2[] = {
    {.tag = "q2", .runs = {DELAY_FIXED, 10 * MS, 10 * MS}, .deadline_ns = NO_LIMIT, .lock = NONE}};
static const CancelDef at_9ms[] = {{.query = 0, .when = CANCEL_AT, .delay = {DELAY_FIXED, 9 * MS, 9 * MS}, .times = 1}};
static const Op plain[] = {{.code = OP_CONNECT}, {.code = OP_QUERY, .index = 0}, {.code = OP_END}};
static const Script script_a = {plain, q1, at_9ms, 3, 1, 1, 1}, script_b = {plain, q2, NULL, 3, 1, 0, 1};

static void stale_cancel(Sample *s, Fence fence) {
  sample_init(s);
  s->pools[0].fence = fence;
  s->links[LINK_CANCEL_TO_SERVER][0].delay = ms(5);
  sample_client(s, "a", 0, &script_a);
  sample_client(s, "b", 1, &script_b);
  sample_run(s);
}

static void without_a_fence(void) {
  Sample s;
  stale_cancel(&s, FENCE_NONE);
  expect_int(sample_metric(&s, "cancel.misroute"), ==, 1);
  expect(world_marks(s.w) & POOLER_MISROUTE);
  expect_str(pooler_words(s.p, POOLER_MISROUTE), "MISROUTE: the cancel of q1 by client a hits q2 of client b");
  expect_int(engine_now(s.e), ==, 14 * MS + 5 * MS); /* b's query ends at 14; the EOF is at the pooler at 19 */
  expect(pooler_done(s.p));
  sample_clear(&s);
}

static void held_until_eof(void) {
  Sample s;
  stale_cancel(&s, FENCE_HOLD);
  expect_int(sample_metric(&s, "cancel.noop"), ==, 1);
  expect_int(world_marks(s.w) & POOLER_MISROUTE, ==, 0);
  expect_int(engine_now(s.e), ==, 29 * MS); /* signalled at 14, EOF at 19, then b runs for 10 */
  expect(pooler_done(s.p));
  sample_clear(&s);
}

/* A query fails and leaves its session dirty; the clean-up does not fail: one connection serves both clients. */
static void clean_up_after_an_error(void) {
  static const QueryDef fails[] = {{.tag = "q",
                                    .runs = {DELAY_FIXED, MS, MS},
                                    .deadline_ns = NO_LIMIT,
                                    .lock = NONE,
                                    .ends_in_error = true,
                                    .dirty = true}};
  static const Script script = {plain, fails, NULL, 3, 1, 0, 1};
  Sample s;
  sample_init(&s);
  sample_client(&s, "a", 0, &script);
  sample_client(&s, "b", 1, &script_b);
  sample_run(&s);
  expect_int(sample_metric(&s, "queries.error"), ==, 1);
  expect_int(sample_metric(&s, "queries.ok"), ==, 1);
  expect_int(sample_metric(&s, "sockets_max"), ==, 1);
  expect_int(sample_metric(&s, "opens"), ==, 1);
  sample_clear(&s);
}

/* M/M/4 at rate 320/s, mean service 10 ms: the load is 3.2 of 4, Erlang C is 0.59643, the mean wait C / (400/s - 320/s)
 * = 7.455 ms. 64,000 waits are autocorrelated over some 1/(1 - 0.8)^2 of each other: a deviation of 4 % is three sigma.
 */
static void erlang_c(void) {
  static const QueryDef served[] = {
      {.tag = "q", .runs = {DELAY_EXP, 10 * MS, 10 * MS}, .deadline_ns = NO_LIMIT, .lock = NONE}};
  static const Script script = {plain, served, NULL, 3, 1, 0, 1};
  static const ArrivalPhase poisson[] = {
      {.kind = CLIENTS_POISSON, .gap_ns = 3125000, .for_ns = INT64_C(200) * 1000 * MS}};
  Sample s;
  sample_init(&s);
  s.pools[0].size = 4;
  sample_client(&s, "a", 0, &script);
  s.clients[0].count = 0;
  s.clients[0].at_once = 500;
  s.clients[0].arrive = poisson;
  s.clients[0].n_arrive = 1;
  sample_run(&s);
  expect_near(sample_metric(&s, "utilisation"), 0.8, 0.01);
  expect_near(sample_metric(&s, "wait_ms.mean"), 7.455, 0.04);
  expect_int(sample_metric(&s, "queries.refused"), ==, 0);
  sample_clear(&s);
}

/* Pids of a host: in turn from start to max and round; at once the lowest free one; none of two lives is equal. */
static void pids(void) {
  g_autoptr(Arena) a = arena_new(1 << 20);
  PgHostConfig turn = {.pid_start = 77, .pid_max = 79, .key_bytes = 4, .backends_max = 3}, once = turn;
  once.at_once = true;
  PgHost *h = host_new(a, &turn), *o = host_new(a, &once);
  int first = host_fork(h, &turn, 1);
  uint32_t secret = h->backends[first].secret;
  expect_int(h->backends[first].pid, ==, 77);
  host_exit(h, first);
  expect_int(h->backends[host_fork(h, &turn, 1)].pid, ==, 78);
  expect_int(host_match(h, 78, secret, true), ==, -1); /* another's key */
  expect_int(host_match(h, 78, secret, false), ==, host_find(h, 78));
  expect_int(h->backends[host_fork(h, &turn, 1)].pid, ==, 79);
  expect_int(h->backends[host_fork(h, &turn, 1)].pid, ==, 77);
  expect_int(host_fork(h, &turn, 1), ==, -1);
  int again = host_fork(o, &once, 1);
  host_exit(o, again);
  expect_int(o->backends[host_fork(o, &once, 1)].pid, ==, 77);
  expect_int(host_signal(o, 78), ==, -1);
}

int main(void) {
  return suite_run("pooler", (const Case[]){{"S01 without a fence", without_a_fence},
                                            {"S01 held until EOF", held_until_eof},
                                            {"clean-up after an error", clean_up_after_an_error},
                                            {"waits of M/M/4", erlang_c},
                                            {"pid spaces", pids},
                                            {0}});
}
