/* fair_cycle.c - see fair_cycle.h. */
#include "checks/fair_cycle.h"
#include <string.h>

typedef struct {
  uint32_t state, edge;
} Call;

/* Tarjan: `order` is when a state was come upon (from 1; 0: not yet), `low` the least order that it leads back to, or
 * GONE when its component is known. For rounds: `order` is the round's stamp, `low` whence a state was reached. */
struct FairSearch {
  const StateGraph *g;
  uint32_t *order, *low;
  GArray *stack, *calls; /* of uint32_t, of Call */
  uint32_t count;
  guint subject;
};
#define GONE UINT32_MAX

FairSearch *fair_search_new(const StateGraph *g) {
  FairSearch *s = g_new0(FairSearch, 1);
  s->g = g;
  s->order = g_new0(uint32_t, state_graph_states(g));
  s->low = g_new0(uint32_t, state_graph_states(g));
  s->stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  s->calls = g_array_new(FALSE, FALSE, sizeof(Call));
  return s;
}

void fair_search_free(FairSearch *s) {
  if (!s) return;
  g_free(s->order);
  g_free(s->low);
  g_array_unref(s->stack);
  g_array_unref(s->calls);
  g_free(s);
}

size_t fair_search_bytes(uint32_t states) {
  return (size_t)states * (3 * sizeof(uint32_t) + sizeof(Call));
}

static uint16_t mover_of(uint16_t mover) {
  return mover & (uint16_t)~GRAPH_UNFORCED;
}

/* ---- sets of movers, short enough to be walked ---- */

static GArray *forced_in(const StateGraph *g, uint32_t state) {
  GArray *set = g_array_new(FALSE, FALSE, sizeof(uint16_t));
  GraphEdges e = state_graph_edges_of(g, state);
  for (guint i = 0; i < e.n; i++) {
    bool known = e.movers[i] & GRAPH_UNFORCED;
    for (guint j = 0; j < set->len; j++) known |= g_array_index(set, uint16_t, j) == e.movers[i];
    if (!known) g_array_append_val(set, e.movers[i]);
  }
  return set;
}

/* Owed: movers that have been forced all along and have not moved. Coming to a state takes away those that are not
 * forced there, a move the one who makes it. */
static void pay_state(const StateGraph *g, GArray *owed, uint32_t state) {
  for (guint i = owed->len; i-- > 0;)
    if (!state_graph_forces(g, state, g_array_index(owed, uint16_t, i))) g_array_remove_index_fast(owed, i);
}

static void pay_mover(GArray *owed, uint16_t mover) {
  for (guint i = owed->len; i-- > 0;)
    if (g_array_index(owed, uint16_t, i) == mover_of(mover)) g_array_remove_index_fast(owed, i);
}

/* ---- components ---- */

static bool in_component(const FairSearch *s, uint32_t root, uint32_t state) {
  return s->order[state] >= s->order[root] && s->low[state] != GONE;
}

static void pay_moves_within(const FairSearch *s, GArray *owed, uint32_t root, uint32_t state) {
  GraphEdges e = state_graph_edges_of(s->g, state);
  for (guint i = 0; i < e.n && owed->len; i++)
    if (in_component(s, root, e.to[i])) pay_mover(owed, e.movers[i]);
}

/* The states from stack[at] on, of which `root` is the first, are a component. */
static bool is_fair(const FairSearch *s, guint at, uint32_t root) {
  g_autoptr(GArray) owed = forced_in(s->g, root);
  for (guint i = at; i < s->stack->len && owed->len; i++) pay_state(s->g, owed, g_array_index(s->stack, uint32_t, i));
  for (guint i = at; i < s->stack->len && owed->len; i++)
    pay_moves_within(s, owed, root, g_array_index(s->stack, uint32_t, i));
  return owed->len == 0;
}

static bool leads_to_itself(const FairSearch *s, uint32_t state) {
  GraphEdges e = state_graph_edges_of(s->g, state);
  for (guint i = 0; i < e.n; i++)
    if (e.to[i] == state) return true;
  return false;
}

static gint ascending(gconstpointer a, gconstpointer b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static uint32_t lowest(const FairSearch *s, guint at) {
  uint32_t least = UINT32_MAX;
  for (guint i = at; i < s->stack->len; i++) least = MIN(least, g_array_index(s->stack, uint32_t, i));
  return least;
}

static void keep(const FairSearch *s, guint at, GArray *component) {
  g_array_set_size(component, 0);
  g_array_append_vals(component, &g_array_index(s->stack, uint32_t, at), s->stack->len - at);
  g_array_sort(component, ascending);
}

/* Takes the component of `root` from the stack; it is `best` now if it is fair and lower. */
static void take_component(FairSearch *s, uint32_t root, GArray *best) {
  guint at = s->stack->len;
  while (g_array_index(s->stack, uint32_t, --at) != root) {
  }
  bool round = s->stack->len - at > 1 || leads_to_itself(s, root);
  bool better = best->len == 0 || lowest(s, at) < g_array_index(best, uint32_t, 0);
  if (round && better && is_fair(s, at, root)) keep(s, at, best);
  for (guint i = at; i < s->stack->len; i++) s->low[g_array_index(s->stack, uint32_t, i)] = GONE;
  g_array_set_size(s->stack, at);
}

static void enter(FairSearch *s, uint32_t state) {
  Call call = {state, 0};
  s->order[state] = s->low[state] = ++s->count;
  g_array_append_val(s->stack, state);
  g_array_append_val(s->calls, call);
}

/* The next edge of the innermost call that leads to a state not yet come upon is gone down; false: there is none. */
static bool descend(FairSearch *s, Call *c) {
  GraphEdges e = state_graph_edges_of(s->g, c->state);
  while (c->edge < e.n) {
    uint32_t to = e.to[c->edge++];
    if (!state_graph_pending(s->g, to, s->subject)) continue;
    if (s->order[to] == 0) return enter(s, to), true; /* the calls may have moved */
    if (s->low[to] != GONE) s->low[c->state] = MIN(s->low[c->state], s->order[to]);
  }
  return false;
}

static void search_from(FairSearch *s, uint32_t start, GArray *best) {
  enter(s, start);
  while (s->calls->len) {
    Call *c = &g_array_index(s->calls, Call, s->calls->len - 1);
    if (descend(s, c)) continue;
    uint32_t state = c->state;
    g_array_set_size(s->calls, s->calls->len - 1);
    uint32_t low = s->low[state];
    if (low == s->order[state]) take_component(s, state, best);
    if (s->calls->len == 0) return;
    uint32_t *up = &s->low[g_array_index(s->calls, Call, s->calls->len - 1).state];
    *up = MIN(*up, low);
  }
}

GArray *fair_component(FairSearch *s, guint subject) {
  uint32_t n = state_graph_states(s->g);
  g_autoptr(GArray) best = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  s->subject = subject;
  s->count = 0;
  memset(s->order, 0, n * sizeof *s->order);
  memset(s->low, 0, n * sizeof *s->low);
  for (uint32_t i = 0; i < n; i++)
    if (s->order[i] == 0 && state_graph_pending(s->g, i, subject)) search_from(s, i, best);
  g_assert(s->stack->len == 0 && s->calls->len == 0);
  return best->len ? g_steal_pointer(&best) : NULL;
}

/* ---- a round ---- */

static uint64_t *members_of(const StateGraph *g, const GArray *component) {
  uint64_t *members = g_new0(uint64_t, state_graph_states(g) / 64 + 1);
  for (guint i = 0; i < component->len; i++) {
    uint32_t state = g_array_index(component, uint32_t, i);
    members[state / 64] |= UINT64_C(1) << state % 64;
  }
  return members;
}

static bool is_member(const uint64_t *members, uint32_t state) {
  return members[state / 64] >> state % 64 & 1;
}

/* ---- the shortest: breadth-first over states and who is still owed a turn ---- */

enum { OWED_MAX = 16 };

typedef struct {
  uint32_t state, owed; /* bit i: the i-th mover owed at the entry */
  uint32_t before, edge;
} Node;

typedef struct {
  const StateGraph *g;
  const GArray *owed;
  GArray *nodes;
  GHashTable *seen; /* looked up only */
} Shortest;

static uint32_t still_owed(const Shortest *r, uint32_t owed, uint16_t mover, uint32_t to) {
  for (guint i = 0; i < r->owed->len; i++) {
    uint16_t who = g_array_index(r->owed, uint16_t, i);
    if (owed >> i & 1 && (who == mover_of(mover) || !state_graph_forces(r->g, to, who))) owed &= ~(1u << i);
  }
  return owed;
}

static void add_node(Shortest *r, Node n) {
  if (g_hash_table_add(r->seen, GSIZE_TO_POINTER((gsize)n.state << OWED_MAX | n.owed))) g_array_append_val(r->nodes, n);
}

/* The way to node `at`, then the edge that closes the round. */
static GArray *way_round(const Shortest *r, uint32_t at, uint32_t edge) {
  GArray *steps = g_array_new(FALSE, FALSE, sizeof(GraphStep));
  for (;;) {
    const Node *n = &g_array_index(r->nodes, Node, at);
    GraphStep step = {n->state, edge};
    g_array_prepend_val(steps, step);
    if (at == 0) return steps;
    edge = n->edge;
    at = n->before;
  }
}

static GArray *search_round(Shortest *r, const uint64_t *members, uint32_t entry, uint64_t *budget) {
  add_node(r, (Node){.state = entry, .owed = (1u << r->owed->len) - 1});
  for (uint32_t at = 0; at < r->nodes->len; at++) {
    const Node n = g_array_index(r->nodes, Node, at);
    GraphEdges e = state_graph_edges_of(r->g, n.state);
    for (guint i = 0; i < e.n; i++) {
      if (!is_member(members, e.to[i])) continue;
      if (*budget == 0) return NULL;
      --*budget;
      uint32_t owed = still_owed(r, n.owed, e.movers[i], e.to[i]);
      if (e.to[i] == entry && owed == 0) return way_round(r, at, i);
      add_node(r, (Node){e.to[i], owed, at, i});
    }
  }
  g_assert_not_reached(); /* a fair component has a round from each of its states */
}

GArray *fair_round_shortest(const FairSearch *s, const GArray *component, uint32_t entry, uint64_t *budget) {
  g_autoptr(GArray) owed = forced_in(s->g, entry), nodes = g_array_new(FALSE, FALSE, sizeof(Node));
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  g_autofree uint64_t *members = members_of(s->g, component);
  Shortest r = {s->g, owed, nodes, seen};
  return owed->len > OWED_MAX ? NULL : search_round(&r, members, entry, budget);
}

/* ---- any: to the nearest who is owed, one after the other, and back ---- */

typedef struct {
  FairSearch *s;
  GArray *owed, *steps; /* of uint16_t, of GraphStep */
  uint32_t entry, here;
} Round;

static bool pays(const Round *r, uint32_t to, uint16_t mover) {
  if (r->owed->len == 0) return to == r->entry;
  for (guint i = 0; i < r->owed->len; i++) {
    uint16_t owed = g_array_index(r->owed, uint16_t, i);
    if (owed == mover_of(mover) || !state_graph_forces(r->s->g, to, owed)) return true;
  }
  return false;
}

static uint32_t edge_between(const StateGraph *g, uint32_t from, uint32_t to) {
  GraphEdges e = state_graph_edges_of(g, from);
  guint i = 0;
  while (i < e.n && e.to[i] != to) i++;
  g_assert(i < e.n);
  return i;
}

static void walk(Round *r, GraphStep step) {
  GraphEdges e = state_graph_edges_of(r->s->g, step.from);
  pay_mover(r->owed, e.movers[step.edge]);
  pay_state(r->s->g, r->owed, e.to[step.edge]);
  r->here = e.to[step.edge];
  g_array_append_val(r->steps, step);
}

/* The way to `last.from` as the search before found it, then `last`. */
static void take_leg(Round *r, GraphStep last) {
  g_autoptr(GArray) back = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t at = last.from; at != r->here; at = r->s->low[at]) g_array_append_val(back, at);
  for (guint i = back->len; i-- > 0;) {
    uint32_t to = g_array_index(back, uint32_t, i);
    walk(r, (GraphStep){r->here, edge_between(r->s->g, r->here, to)});
  }
  walk(r, last);
}

/* Breadth-first within the component: the nearest move that pays something, or, when nothing is owed, that closes the
 * round. `order` says which search has reached a state. */
static void leg(Round *r, const uint64_t *members) {
  FairSearch *s = r->s;
  s->count++;
  g_array_set_size(s->stack, 0);
  g_array_append_val(s->stack, r->here);
  s->order[r->here] = s->count;
  for (guint at = 0; at < s->stack->len; at++) {
    uint32_t from = g_array_index(s->stack, uint32_t, at);
    GraphEdges e = state_graph_edges_of(s->g, from);
    for (guint i = 0; i < e.n; i++) {
      uint32_t to = e.to[i];
      if (!is_member(members, to)) continue;
      if (pays(r, to, e.movers[i])) return take_leg(r, (GraphStep){from, i});
      if (s->order[to] == s->count) continue;
      s->order[to] = s->count;
      s->low[to] = from;
      g_array_append_val(s->stack, to);
    }
  }
  g_assert_not_reached(); /* a fair component has what pays, and leads back */
}

GArray *fair_round(FairSearch *s, const GArray *component, uint32_t entry) {
  g_autofree uint64_t *members = members_of(s->g, component);
  g_autoptr(GArray) owed = forced_in(s->g, entry);
  memset(s->order, 0, state_graph_states(s->g) * sizeof *s->order);
  s->count = 0;
  Round r = {s, owed, g_array_new(FALSE, FALSE, sizeof(GraphStep)), entry, entry};
  do leg(&r, members);
  while (owed->len || r.here != entry);
  g_array_set_size(s->stack, 0);
  return r.steps;
}

bool fair_round_is_fair(const StateGraph *g, const GraphStep *steps, guint n) {
  if (n == 0) return false;
  g_autoptr(GArray) owed = forced_in(g, steps[0].from);
  for (guint i = 0; i < n && owed->len; i++) {
    pay_state(g, owed, steps[i].from);
    pay_mover(owed, state_graph_edges_of(g, steps[i].from).movers[steps[i].edge]);
  }
  return owed->len == 0;
}
