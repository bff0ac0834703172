/* Ways of a cancel and faults of links, a rule each: peers, fan-out, lost, refused, silent, reset, deaf. Expected
 * values by hand: a's query runs from 0 to 10 ms (over three pools to 100) and is cancelled at 5. */
#include "model/pooler/parts.h"
#include "tests/harness.h"
#include "tests/pooler_sample.h"

#define QUERY(n, set)                                                                                                  \
  { .tag = "q", .runs = {DELAY_FIXED, (n)*MS, (n)*MS}, .deadline_ns = NO_LIMIT, .lock = NONE, .pools = (set) }
static const QueryDef ten[] = {QUERY(10, 0)}, shards[] = {QUERY(100, 7)};
static const CancelDef at_5[] = {{.when = CANCEL_AT, .delay = {DELAY_FIXED, 5 * MS, 5 * MS}, .times = 1}};
static const CancelDef many[] = {{.when = CANCEL_AT, .delay = {DELAY_FIXED, 5 * MS, 5 * MS}, .times = 400}};
static const Op once[] = {{.code = OP_CONNECT}, {.code = OP_QUERY}, {.code = OP_END}};
static const Op vanishes[] = {{.code = OP_CONNECT}, {.code = OP_QUERY}, {.code = OP_VANISH}, {.code = OP_END}};
static const Script cancels = {once, ten, at_5, 3, 1, 1, 1}, cancels_shards = {once, shards, at_5, 3, 1, 1, 1},
                    cancels_often = {once, ten, many, 3, 1, 1, 1}, asks = {once, ten, NULL, 3, 1, 0, 1},
                    leaves = {vanishes, ten, NULL, 4, 1, 0, 1};

/* ---- peers ---- */

/* Client at process 0, its cancel at process 1. With peers it is passed on once: 2 ms to the pooler, and 2 ms more. */
static void one_hop(void) {
  for (int peering = 0; peering <= 1; peering++) {
    Sample s;
    sample_init(&s);
    s.c.processes = 3;
    s.c.balance = BALANCE_ROUND_ROBIN;
    s.c.peering = peering;
    s.links[LINK_CANCEL_TO_POOLER][0].delay = ms(2);
    sample_client(&s, "a", 0, &cancels);
    sample_run(&s);
    expect_int(sample_metric(&s, "cancel.hit"), ==, peering);
    expect_int(sample_metric(&s, "cancel.lost"), ==, !peering);
    expect_int(engine_now(s.e), ==, (peering ? 5 + 2 + 2 : 10) * MS);
    sample_clear(&s);
  }
}

/* A peer is asked at most three times, so that a key that is passed round and round comes to an end. */
static void three_hops_at_most(void) {
  for (guint hops = 0; hops <= 3; hops++) {
    Sample s;
    sample_init(&s);
    s.c.processes = 2;
    s.c.peering = true;
    sample_client(&s, "a", 0, &cancels);
    sample_start(&s, 1, TIES_EVENT_FIRST);
    engine_run(s.e, 4 * MS);
    s.p->cancels[0].hops = (uint16_t)hops; /* as if it had come so far */
    engine_run(s.e, -1);
    pooler_write_metrics(s.p);
    expect_int(sample_metric(&s, "cancel.hit"), ==, hops < 3);
    sample_clear(&s);
  }
}

/* ---- fan-out over three pools of a server each ---- */

static void fan_out(Sample *s, Fanout f) {
  sample_init(s);
  s->c.n_pools = s->c.n_servers = 3;
  s->c.fanout = f;
  sample_client(s, "a", 0, &cancels_shards);
}

/* all_nodes: the next one node_gap after the one before; the query is over with the last. */
static void nodes_in_turn(void) {
  static const struct {
    Fanout f;
    int64_t gap_ms, end_ms;
    int hits;
  } known[] = {{FANOUT_ALL_NODES, 10, 25, 3},
               {FANOUT_ALL_NODES, 0, 5, 3},
               {FANOUT_ALL, 10, 5, 3},
               {FANOUT_ALL_STOP, 10, 5, 3},
               {FANOUT_FIRST, 10, 100, 1}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    Sample s;
    fan_out(&s, known[i].f);
    s.c.node_gap_ns = known[i].gap_ms * MS;
    sample_run(&s);
    expect_int(sample_metric(&s, "cancel.hit"), ==, known[i].hits);
    expect_int(engine_now(s.e), ==, known[i].end_ms * MS);
    sample_clear(&s);
  }
}

/* The second pool's carrier fails: the third is reached where the pooler does not stop. */
static void errors_stop_some(void) {
  static const LinkFault faults[] = {FAULT_REFUSE, FAULT_RESET};
  for (guint k = 0; k < G_N_ELEMENTS(faults); k++)
    for (int f = FANOUT_ALL_STOP; f <= FANOUT_ALL; f++) {
      Sample s;
      fan_out(&s, (Fanout)f);
      s.links[LINK_CANCEL_TO_SERVER][1].fault = faults[k];
      sample_run(&s);
      expect_int(sample_metric(&s, "cancel.hit"), ==, f == FANOUT_ALL_STOP ? 1 : 2);
      sample_clear(&s);
    }
}

/* Signals that are handled 1 ms later do not keep it from going on. */
static void late_signals_go_on(void) {
  Sample s;
  fan_out(&s, FANOUT_ALL_NODES);
  for (guint i = 0; i < 3; i++) s.servers[i].signal = SIGNAL_EXACT, s.servers[i].signal_ns = MS;
  s.c.node_gap_ns = 10 * MS;
  sample_run(&s);
  expect_int(sample_metric(&s, "cancel.hit"), ==, 3);
  expect_int(engine_now(s.e), ==, 26 * MS);
  expect(pooler_done(s.p));
  sample_clear(&s);
}

/* ---- faults of links ---- */

static void cancel_faults(void) {
  static const struct {
    PoolerLink link;
    LinkFault fault;
    double loss;
    int hit, lost;
  } known[] = {{LINK_CANCEL_TO_SERVER, FAULT_NONE, 0, 1, 0},   {LINK_CANCEL_TO_SERVER, FAULT_REFUSE, 0, 0, 1},
               {LINK_CANCEL_TO_SERVER, FAULT_SILENT, 0, 0, 1}, {LINK_CANCEL_TO_SERVER, FAULT_RESET, 0, 0, 1},
               {LINK_CANCEL_TO_SERVER, FAULT_NO_EOF, 0, 1, 0}, {LINK_CANCEL_TO_SERVER, FAULT_NONE, 1, 0, 1},
               {LINK_CANCEL_TO_POOLER, FAULT_NONE, 0, 1, 0},   {LINK_CANCEL_TO_POOLER, FAULT_REFUSE, 0, 0, 1},
               {LINK_CANCEL_TO_POOLER, FAULT_SILENT, 0, 0, 1}, {LINK_CANCEL_TO_POOLER, FAULT_RESET, 0, 0, 1},
               {LINK_CANCEL_TO_POOLER, FAULT_NO_EOF, 0, 1, 0}, {LINK_CANCEL_TO_POOLER, FAULT_NONE, 1, 0, 1}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    Sample s;
    sample_init(&s);
    s.links[known[i].link][0].fault = known[i].fault;
    s.links[known[i].link][0].loss = known[i].loss;
    s.pools[0].cancel_connect_timeout_ns = s.pools[0].ack_ns = 20 * MS;
    sample_client(&s, "a", 0, &cancels);
    sample_run(&s);
    expect_int(sample_metric(&s, "cancel.hit"), ==, known[i].hit);
    expect_int(sample_metric(&s, "cancel.lost"), ==, known[i].lost);
    sample_clear(&s);
  }
}

/* A driver that waits for the EOF of its cancel: where that is not seen it never asks again. */
static void the_sender_is_not_told(void) {
  static const QueryDef two[] = {QUERY(10, 0), QUERY(10, 0)};
  static const Op again[] = {
      {.code = OP_CONNECT}, {.code = OP_QUERY}, {.code = OP_QUERY, .index = 1}, {.code = OP_END}};
  static const Script asks_again = {again, two, at_5, 4, 2, 1, 1};
  static const LinkFault faults[] = {FAULT_NONE, FAULT_NO_EOF, FAULT_SILENT};
  for (guint i = 0; i < G_N_ELEMENTS(faults); i++) {
    Sample s;
    sample_init(&s);
    s.links[LINK_CANCEL_TO_POOLER][0].fault = faults[i];
    sample_client(&s, "a", 0, &asks_again);
    s.clients[0].fence = (ClientFence){FENCE_HOLD, NO_LIMIT};
    sample_run(&s);
    expect_int(pooler_done(s.p), ==, faults[i] == FAULT_NONE);
    sample_clear(&s);
  }
}

/* A quarter of 400 cancels: 100, give or take three times the root of 400 / 4 * 3 / 4. */
static void a_share_is_lost(void) {
  Sample s;
  sample_init(&s);
  s.links[LINK_CANCEL_TO_POOLER][0].loss = 0.25;
  sample_client(&s, "a", 0, &cancels_often);
  sample_run(&s);
  expect_int(sample_metric(&s, "cancel.lost"), >=, 74);
  expect_int(sample_metric(&s, "cancel.lost"), <=, 126);
  sample_clear(&s);
}

static void server_faults(void) {
  static const struct {
    LinkFault fault;
    int ok, refused;
    int64_t end_ms;
  } known[] = {{FAULT_NONE, 1, 0, 10}, {FAULT_REFUSE, 0, 1, 0}, {FAULT_SILENT, 0, 1, 7}, {FAULT_RESET, 0, 1, 0}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    Sample s;
    sample_init(&s);
    s.links[LINK_POOLER_TO_SERVER][0].fault = known[i].fault;
    s.pools[0].server_connect_timeout_ns = 7 * MS;
    s.pools[0].react.refused = REACT_ERROR;
    sample_client(&s, "a", 0, &asks);
    sample_run(&s);
    expect_int(sample_metric(&s, "queries.ok"), ==, known[i].ok);
    expect_int(sample_metric(&s, "queries.refused"), ==, known[i].refused);
    expect_int(engine_now(s.e), ==, known[i].end_ms * MS);
    sample_clear(&s);
  }
}

/* In session mode a vanished client's connection goes to the next one, unless the pooler does not see it go. */
static void client_faults(void) {
  static const struct {
    LinkFault fault;
    int ok, refused, errors;
    bool done;
  } known[] = {{FAULT_NONE, 2, 0, 0, true},
               {FAULT_REFUSE, 0, 2, 0, true},
               {FAULT_SILENT, 0, 0, 0, false},
               {FAULT_RESET, 0, 0, 2, true},
               {FAULT_NO_EOF, 1, 0, 0, false}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    Sample s;
    sample_init(&s);
    s.links[LINK_CLIENT_TO_POOLER][0].fault = known[i].fault;
    s.pools[0].mode = MODE_SESSION;
    sample_client(&s, "a", 0, &leaves);
    sample_client(&s, "b", 20, &leaves);
    sample_run(&s);
    expect_int(sample_metric(&s, "queries.ok"), ==, known[i].ok);
    expect_int(sample_metric(&s, "queries.refused"), ==, known[i].refused);
    expect_int(sample_metric(&s, "queries.error"), ==, known[i].errors);
    expect_int(pooler_done(s.p), ==, known[i].done);
    sample_clear(&s);
  }
}

/* Cut from 5 to 25: the answer of 10 is there at 25. */
static void cut_for_a_while(void) {
  static const EventDef cut[] = {
      {.at_ns = 5 * MS,
       .target = {.kind = PATH_LINK, .index = NONE, .copy = NONE, .link = LINK_POOLER_TO_SERVER},
       .verb = EVENT_CUT,
       .for_ns = 20 * MS}};
  Sample s;
  sample_init(&s);
  sample_client(&s, "a", 0, &asks);
  s.c.work.events = cut;
  s.c.work.n_events = 1;
  sample_run(&s);
  expect_int(sample_metric(&s, "queries.ok"), ==, 1);
  expect_int(engine_now(s.e), ==, 25 * MS);
  sample_clear(&s);
}

int main(void) {
  return suite_run("pooler_links", (const Case[]){{"peers: one hop more", one_hop},
                                                  {"peers: three hops at most", three_hops_at_most},
                                                  {"fan-out in turn", nodes_in_turn},
                                                  {"errors stop some fan-outs", errors_stop_some},
                                                  {"late signals do not stop it", late_signals_go_on},
                                                  {"faults of cancels", cancel_faults},
                                                  {"the sender is not told", the_sender_is_not_told},
                                                  {"a share is lost", a_share_is_lost},
                                                  {"faults to servers", server_faults},
                                                  {"faults to clients", client_faults},
                                                  {"a cut link comes back", cut_for_a_while},
                                                  {0}});
}
