/* state_graph.c - see state_graph.h. A block is as long as what is in it: nothing is ever moved to a larger place, so
 * the most that is used at once is what is kept. */
#include "checks/state_graph.h"
#include <string.h>

typedef struct {
  uint32_t *to;
  uint16_t *movers;
  uint64_t *pending;               /* `words` for each state */
  uint32_t first[GRAPH_BLOCK + 1]; /* edge of each state, and behind the last */
} Block;

struct StateGraph {
  uint32_t states;
  guint words, blocks;
  Block **block;
};

struct GraphFill {
  StateGraph *g;
  GArray *to, *movers, *pending, *first;
};

StateGraph *state_graph_new(uint32_t states, guint subjects) {
  StateGraph *g = g_new0(StateGraph, 1);
  g->states = states;
  g->words = (subjects + 63) / 64;
  g->blocks = (states + GRAPH_BLOCK - 1) / GRAPH_BLOCK;
  g->block = g_new0(Block *, g->blocks + 1);
  return g;
}

void state_graph_free(StateGraph *g) {
  if (!g) return;
  for (guint i = 0; i < g->blocks; i++) {
    Block *b = g->block[i];
    if (!b) continue;
    g_free(b->to);
    g_free(b->movers);
    g_free(b->pending);
    g_free(b);
  }
  g_free(g->block);
  g_free(g);
}

uint32_t state_graph_states(const StateGraph *g) {
  return g->states;
}
guint state_graph_blocks(const StateGraph *g) {
  return g->blocks;
}

static uint32_t states_in(const StateGraph *g, guint block) {
  return MIN((uint32_t)GRAPH_BLOCK, g->states - block * GRAPH_BLOCK);
}

uint64_t state_graph_edges(const StateGraph *g) {
  uint64_t n = 0;
  for (guint i = 0; i < g->blocks; i++)
    if (g->block[i]) n += g->block[i]->first[states_in(g, i)];
  return n;
}

static size_t bytes_of(const StateGraph *g, guint block) {
  const Block *b = g->block[block];
  uint32_t n = states_in(g, block);
  return sizeof *b + n * g->words * sizeof(uint64_t) + b->first[n] * (sizeof(uint32_t) + sizeof(uint16_t));
}

size_t state_graph_bytes(const StateGraph *g) {
  size_t bytes = sizeof *g + g->blocks * sizeof(Block *);
  for (guint i = 0; i < g->blocks; i++)
    if (g->block[i]) bytes += bytes_of(g, i);
  return bytes;
}

/* ---- filling ---- */

GraphFill *graph_fill_new(StateGraph *g) {
  GraphFill *f = g_new(GraphFill, 1);
  *f = (GraphFill){.g = g,
                   .to = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                   .movers = g_array_new(FALSE, FALSE, sizeof(uint16_t)),
                   .pending = g_array_new(FALSE, TRUE, sizeof(uint64_t)),
                   .first = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
  return f;
}

void graph_fill_free(GraphFill *f) {
  if (!f) return;
  g_array_unref(f->to);
  g_array_unref(f->movers);
  g_array_unref(f->pending);
  g_array_unref(f->first);
  g_free(f);
}

void graph_fill_state(GraphFill *f) {
  uint32_t at = f->to->len;
  g_assert(f->first->len < GRAPH_BLOCK);
  g_array_append_val(f->first, at);
  g_array_set_size(f->pending, f->pending->len + f->g->words);
}

void graph_fill_edge(GraphFill *f, uint32_t to, uint16_t mover) {
  g_assert(to < f->g->states);
  for (guint i = g_array_index(f->first, uint32_t, f->first->len - 1); i < f->to->len; i++)
    if (g_array_index(f->to, uint32_t, i) == to && g_array_index(f->movers, uint16_t, i) == mover) return;
  g_array_append_val(f->to, to);
  g_array_append_val(f->movers, mover);
}

void graph_fill_pending(GraphFill *f, guint subject) {
  guint state = f->first->len - 1;
  g_assert(subject / 64 < f->g->words);
  g_array_index(f->pending, uint64_t, state * f->g->words + subject / 64) |= UINT64_C(1) << subject % 64;
}

size_t graph_fill_block(GraphFill *f, guint block) {
  g_assert(f->first->len == states_in(f->g, block) && !f->g->block[block]);
  Block *b = g_new(Block, 1);
  b->to = g_memdup2(f->to->data, f->to->len * sizeof(uint32_t));
  b->movers = g_memdup2(f->movers->data, f->movers->len * sizeof(uint16_t));
  b->pending = g_memdup2(f->pending->data, f->pending->len * sizeof(uint64_t));
  memcpy(b->first, f->first->data, f->first->len * sizeof(uint32_t));
  b->first[f->first->len] = f->to->len;
  f->g->block[block] = b;
  GArray *all[] = {f->to, f->movers, f->pending, f->first};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) g_array_set_size(all[i], 0);
  return bytes_of(f->g, block);
}

/* ---- reading ---- */

GraphEdges state_graph_edges_of(const StateGraph *g, uint32_t state) {
  const Block *b = g->block[state / GRAPH_BLOCK];
  const uint32_t *first = &b->first[state % GRAPH_BLOCK];
  return (GraphEdges){b->to + first[0], b->movers + first[0], first[1] - first[0]};
}

bool state_graph_pending(const StateGraph *g, uint32_t state, guint subject) {
  const Block *b = g->block[state / GRAPH_BLOCK];
  return b->pending[state % GRAPH_BLOCK * g->words + subject / 64] >> subject % 64 & 1;
}

bool state_graph_forces(const StateGraph *g, uint32_t state, uint16_t mover) {
  GraphEdges e = state_graph_edges_of(g, state);
  for (guint i = 0; i < e.n; i++)
    if (e.movers[i] == mover) return true;
  return false;
}
