/* test_fair_cycle.c - fair rounds in graphs drawn by hand, in random ones against all sets of states one by one, and in
 * a graph of a million states and five million edges. */
#include "checks/fair_cycle.h"
#include "model/world/rng.h"
#include "tests/harness.h"

typedef struct {
  uint32_t from, to;
  uint16_t mover;
} Edge;
enum { U = GRAPH_UNFORCED };

/* pending: bit i: state i, for a graph of at most 64 states; ends: state UINT32_MAX. Edges of one state are together.
 */
static StateGraph *graph(uint32_t states, uint64_t pending, const Edge *edges) {
  StateGraph *g = state_graph_new(states, 1);
  g_autoptr(GraphFill) f = graph_fill_new(g);
  for (uint32_t s = 0; s < states; s++) {
    graph_fill_state(f);
    if (pending >> s & 1) graph_fill_pending(f, 0);
    for (const Edge *e = edges; e->from != UINT32_MAX; e++)
      if (e->from == s) graph_fill_edge(f, e->to, e->mover);
  }
  graph_fill_block(f, 0);
  return g;
}
#define END                                                                                                            \
  { UINT32_MAX, 0, 0 }

static const GraphStep *steps_of(const GArray *round) {
  return (const GraphStep *)(void *)round->data;
}

/* The round from the lowest fair state, as "0 1 2"; "" when there is none. */
static char *round_of(const StateGraph *g) {
  g_autoptr(FairSearch) s = fair_search_new(g);
  g_autoptr(GArray) c = fair_component(s, 0);
  if (!c) return g_strdup("");
  uint64_t budget = 1000;
  g_autoptr(GArray) round = fair_round_shortest(s, c, g_array_index(c, uint32_t, 0), &budget);
  g_assert(round);
  expect(fair_round_is_fair(g, steps_of(round), round->len));
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < round->len; i++)
    g_string_append_printf(text, i ? " %u" : "%u", g_array_index(round, GraphStep, i).from);
  return g_string_free(text, FALSE);
}

static void expect_round(uint32_t states, uint64_t pending, const Edge *edges, const char *wanted) {
  g_autoptr(StateGraph) g = graph(states, pending, edges);
  g_autofree char *saw = round_of(g);
  expect_str(saw, wanted);
}

static void round_of_one_mover(void) {
  expect_round(3, 7, (const Edge[]){{0, 1, 1}, {1, 2, 1}, {2, 1, 1}, END}, "1 2");
  expect_round(1, 1, (const Edge[]){{0, 0, 1}, END}, "0");
  expect_round(2, 3, (const Edge[]){{0, 1, 1}, END}, ""); /* it ends: a matter of the search, not of rounds */
}

/* 2 can move in both states of the round 0 1 of mover 1, and would end it. */
static void who_is_left_out_makes_it_unfair(void) {
  static const Edge edges[] = {{0, 1, 1}, {0, 2, 2}, {1, 0, 1}, {1, 2, 2}, END};
  expect_round(3, 7, edges, "");
  static const Edge blinks[] = {{0, 1, 1}, {0, 2, 2}, {1, 0, 1}, END}; /* only now and then: weak fairness lets it */
  expect_round(3, 7, blinks, "0 1");
  static const Edge may_never[] = {{0, 1, 1}, {0, 2, 2 | U}, {1, 0, 1}, {1, 2, 2 | U}, END};
  expect_round(3, 7, may_never, "0 1");
}

/* Mover 2 moves within, by a detour over 2: the round has to take it. */
static void round_gives_everybody_a_turn(void) {
  static const Edge edges[] = {{0, 1, 1}, {0, 2, 2}, {1, 0, 1}, {1, 2, 2}, {2, 0, 1}, {2, 2, 2}, END};
  expect_round(3, 7, edges, "0 2");
}

/* What is unforced moves too, but nobody waits for it. */
static void unforced_moves_close_rounds(void) {
  expect_round(2, 3, (const Edge[]){{0, 1, 1}, {1, 0, 2 | U}, END}, "0 1");
}

static void only_where_it_is_pending(void) {
  static const Edge ring[] = {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, END};
  expect_round(3, 7, ring, "0 1 2");
  expect_round(3, 3, ring, ""); /* at 2 it is served */
}

/* The first set is unfair (3 is left out), the second is not. */
static void second_of_two_sets(void) {
  static const Edge edges[] = {{0, 1, 1}, {0, 2, 3}, {1, 0, 1}, {1, 2, 3}, {2, 3, 1}, {3, 2, 1}, END};
  expect_round(4, 15, edges, "2 3");
  static const Edge both[] = {{0, 1, 1}, {1, 0, 1}, {1, 2, 2}, {2, 3, 1}, {3, 2, 1}, END}; /* the lower one is taken */
  expect_round(4, 15, both, "0 1");
}

/* A ring within a ring: one set. 2 can move in 1 and 2 alone, so the outer way round, 0 1 3, needs no turn of 2; within
 * 1 2 it is owed one, and gets it there. */
static void rings_within_rings(void) {
  static const Edge edges[] = {{0, 1, 1}, {1, 2, 2}, {1, 3, 1}, {2, 1, 2}, {3, 0, 1}, END};
  expect_round(4, 15, edges, "0 1 3");
  expect_round(4, 6, edges, "1 2"); /* pending in 1 and 2 alone */
}

/* Entry 0 is left by its own way round of 5; mover 2's turn, which is owed, costs a detour by 2 that is cut short. */
static void rounds_are_short(void) {
  static const Edge edges[] = {{0, 1, 1}, {0, 3, 2}, {1, 2, 1}, {1, 3, 2}, {2, 0, 1},
                               {2, 3, 2}, {3, 0, 1}, {3, 3, 2}, END};
  expect_round(4, 15, edges, "0 3");
}

/* ---- random graphs: a set of states is a fair round when it is connected by edges within, and fair. All of them are
 * tried, by the definition. ---- */
enum { SMALL = 7, MOVERS = 3 };
typedef struct {
  uint8_t reach[SMALL];         /* by state: states one edge away */
  uint8_t moves[MOVERS][SMALL]; /* likewise, by mover; unforced ones too */
  uint8_t forced[MOVERS];       /* states in which the mover is forced */
  Edge edges[64];
  guint n;
} Random;

static void draw(Random *r, Rng *rng) {
  memset(r, 0, sizeof *r);
  for (uint32_t s = 0; s < SMALL; s++)
    for (guint k = (guint)rng_below(rng, 4); k-- > 0;) {
      uint32_t to = (uint32_t)rng_below(rng, SMALL);
      uint16_t m = (uint16_t)rng_below(rng, MOVERS);
      bool forced = rng_below(rng, 5) != 0;
      r->reach[s] |= (uint8_t)(1 << to);
      r->moves[m][s] |= (uint8_t)(1 << to);
      if (forced) r->forced[m] |= (uint8_t)(1 << s);
      r->edges[r->n++] = (Edge){s, to, (uint16_t)(m | (forced ? 0 : U))};
    }
  r->edges[r->n] = (Edge)END;
}

static bool connected(const Random *r, uint8_t set) {
  for (guint from = 0; from < SMALL; from++) {
    if (!(set >> from & 1)) continue;
    uint8_t seen = r->reach[from] & set, before = 0;
    while (seen != before) {
      before = seen;
      for (guint s = 0; s < SMALL; s++)
        if (before >> s & 1) seen |= r->reach[s] & set;
    }
    if (seen != set) return false;
  }
  return true;
}

static bool fair(const Random *r, uint8_t set) {
  for (guint m = 0; m < MOVERS; m++) {
    bool moved = false;
    for (guint s = 0; s < SMALL; s++) moved |= set >> s & 1 && r->moves[m][s] & set;
    if ((r->forced[m] & set) == set && !moved) return false;
  }
  return true;
}

static uint8_t all_fair_states(const Random *r, uint8_t pending) {
  uint8_t in = 0;
  for (guint set = 1; set < 1 << SMALL; set++)
    if ((set & ~pending) == 0 && connected(r, (uint8_t)set) && fair(r, (uint8_t)set)) in |= (uint8_t)set;
  return in;
}

/* Every way of up to `most` steps from `here`: does one close a fair round? */
static bool closes_within(const StateGraph *g, GArray *way, uint8_t pending, uint32_t entry, uint32_t here,
                          guint most) {
  if (way->len && here == entry && fair_round_is_fair(g, steps_of(way), way->len)) return true;
  GraphEdges e = state_graph_edges_of(g, here);
  for (guint i = 0; i < e.n && most > 0; i++) {
    if (!(pending >> e.to[i] & 1)) continue;
    GraphStep step = {here, i};
    g_array_append_val(way, step);
    bool closes = closes_within(g, way, pending, entry, e.to[i], most - 1);
    g_array_set_size(way, way->len - 1);
    if (closes) return true;
  }
  return false;
}

static bool is_shortest(const StateGraph *g, uint8_t pending, const GArray *round) {
  enum { TRIED = 6 };
  g_autoptr(GArray) way = g_array_new(FALSE, FALSE, sizeof(GraphStep));
  uint32_t entry = steps_of(round)[0].from;
  return round->len > TRIED || !closes_within(g, way, pending, entry, entry, round->len - 1);
}

static void random_graphs_by_the_definition(void) {
  Rng rng;
  rng_init(&rng, 1, "graphs");
  guint found = 0, wrong = 0;
  for (guint i = 0; i < 20000; i++) {
    Random r;
    draw(&r, &rng);
    uint8_t pending = (uint8_t)rng_below(&rng, 1 << SMALL), wanted = all_fair_states(&r, pending);
    g_autoptr(StateGraph) g = graph(SMALL, pending, r.edges);
    g_autoptr(FairSearch) s = fair_search_new(g);
    g_autoptr(GArray) c = fair_component(s, 0);
    int lowest = wanted ? __builtin_ctz(wanted) : -1, saw = c ? (int)g_array_index(c, uint32_t, 0) : -1;
    wrong += lowest != saw;
    found += c != NULL;
    for (guint j = 0; c && j < c->len; j++) { /* from each of its states there is a round, and it is fair */
      uint64_t budget = 1000;
      uint32_t entry = g_array_index(c, uint32_t, j);
      g_autoptr(GArray) best = fair_round_shortest(s, c, entry, &budget), any = fair_round(s, c, entry);
      wrong += !best || !fair_round_is_fair(g, steps_of(best), best->len) || !is_shortest(g, pending, best);
      wrong += !fair_round_is_fair(g, steps_of(any), any->len) || best->len > any->len;
    }
  }
  expect_int(wrong, ==, 0);
  expect_int(found, >, 2000); /* or the test looks at nothing */
  expect_int(found, <, 18000);
}

/* ---- size ---- */
enum { STATES = 1000000, EDGES_EACH = 5 };

/* A ring of mover 0, and four random edges a state; mover 9 is forced everywhere and moves within nothing but at the
 * last state: everything has to be looked at before the one set is known to be fair. */
static void million_states(void) {
  Rng rng;
  rng_init(&rng, 1, "large");
  g_autoptr(StateGraph) g = state_graph_new(STATES, 1);
  g_autoptr(GraphFill) f = graph_fill_new(g);
  for (uint32_t s = 0; s < STATES; s++) {
    graph_fill_state(f);
    graph_fill_pending(f, 0);
    graph_fill_edge(f, (s + 1) % STATES, s == STATES - 1 ? 9 : 0);
    for (guint i = 2; i < EDGES_EACH; i++) graph_fill_edge(f, (uint32_t)rng_below(&rng, STATES), (uint16_t)i);
    graph_fill_edge(f, s, 9);
    if (s % GRAPH_BLOCK == GRAPH_BLOCK - 1 || s == STATES - 1) graph_fill_block(f, s / GRAPH_BLOCK);
  }
  gint64 started = g_get_monotonic_time();
  g_autoptr(FairSearch) s = fair_search_new(g);
  g_autoptr(GArray) c = fair_component(s, 0);
  double seconds = (double)(g_get_monotonic_time() - started) / 1e6;
  size_t bytes = state_graph_bytes(g) + fair_search_bytes(STATES);
  printf(" %.1f s, %.1f MB ", seconds, (double)bytes / 1048576);
  expect_int(c->len, ==, STATES);
  expect_int(state_graph_edges(g), >=, 4900000);
  expect_int(bytes, <, 150 << 20);
  g_autoptr(GArray) round = fair_round(s, c, 0);
  expect(fair_round_is_fair(g, steps_of(round), round->len));
}

static void a_round_has_a_budget(void) {
  static const Edge ring[] = {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, END};
  g_autoptr(StateGraph) g = graph(3, 7, ring);
  g_autoptr(FairSearch) s = fair_search_new(g);
  g_autoptr(GArray) c = fair_component(s, 0);
  uint64_t budget = 2;
  expect(fair_round_shortest(s, c, 0, &budget) == NULL);
  expect_int(budget, ==, 0);
}

int main(void) {
  static const Case cases[] = {{"a round of one mover", round_of_one_mover},
                               {"who is left out makes it unfair", who_is_left_out_makes_it_unfair},
                               {"a round gives everybody a turn", round_gives_everybody_a_turn},
                               {"unforced moves close rounds", unforced_moves_close_rounds},
                               {"only where it is pending", only_where_it_is_pending},
                               {"the second of two sets", second_of_two_sets},
                               {"rings within rings", rings_within_rings},
                               {"rounds are short", rounds_are_short},
                               {"random graphs by the definition", random_graphs_by_the_definition},
                               {"a million states", million_states},
                               {"a round has a budget", a_round_has_a_budget},
                               {0}};
  return suite_run("fair_cycle", cases);
}
