/* state_graph.h - the moves between numbered states, kept compactly: 6 bytes an edge, 4 a state, and a bit for each
 * state and subject that says whether the subject is pending there.
 *
 * Filled block by block, by one thread each; then read by any number of threads. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct StateGraph StateGraph;
enum { GRAPH_BLOCK = 4096, GRAPH_MOVERS = 1 << 15 };
#define GRAPH_UNFORCED ((uint16_t)GRAPH_MOVERS) /* beside a mover: this move need never be made */

StateGraph *state_graph_new(uint32_t states, guint subjects);
void state_graph_free(StateGraph *g);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StateGraph, state_graph_free)
uint32_t state_graph_states(const StateGraph *g);
size_t state_graph_bytes(const StateGraph *g);
uint64_t state_graph_edges(const StateGraph *g);

/* ---- filling: block b has states [b * GRAPH_BLOCK, ...), given in order ---- */
guint state_graph_blocks(const StateGraph *g);
typedef struct GraphFill GraphFill;
GraphFill *graph_fill_new(StateGraph *g);
void graph_fill_free(GraphFill *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GraphFill, graph_fill_free)
void graph_fill_state(GraphFill *f);                             /* the next state of the block */
void graph_fill_edge(GraphFill *f, uint32_t to, uint16_t mover); /* of it; the same twice is one edge */
void graph_fill_pending(GraphFill *f, guint subject);            /* in it */
size_t graph_fill_block(GraphFill *f, guint block);              /* all of its states are given; returns its bytes */

/* ---- reading ---- */
typedef struct {
  const uint32_t *to;
  const uint16_t *movers; /* with GRAPH_UNFORCED */
  guint n;
} GraphEdges;
GraphEdges state_graph_edges_of(const StateGraph *g, uint32_t state);
bool state_graph_pending(const StateGraph *g, uint32_t state, guint subject);
/* Is a move of this mover possible in the state, and forced? */
bool state_graph_forces(const StateGraph *g, uint32_t state, uint16_t mover);
