/* Report S01 by a timeline computed by hand: pool_size 1; a's q1 runs 0..10 ms, b queues at 1 ms; a's cancel at 9 ms
 * takes 5 ms to the server. Without a fence b runs from 10 ms, and the cancel, delivered at 14 ms, hits b. Held until
 * EOF, b waits until 14 ms, and the cancel finds the backend idle. */
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

int main(void) {
  return suite_run(
      "pooler", (const Case[]){{"S01 without a fence", without_a_fence}, {"S01 held until EOF", held_until_eof}, {0}});
}
