/* test_viz_graph.c - Graphviz in process: names and order come from what was made, not from where it lies. */
#include "tests/harness.h"
#include "viz/graph.h"
#include <string.h>

static const char *const names[] = {"zebra", "2", "cluster_x", "<b>", "zebra crossing"};

/* agstrdup gives the pool's own string when it has that one. A name from elsewhere is written as HTML or not by what
 * the heap holds before it. */
static void names_lie_in_the_graphs_pool(void) {
  g_autoptr(Agraph_t) g = graph_new("name of the graph");
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *name = g_strdup(names[i]);
    Agnode_t *node = graph_node(g, name);
    char *own = agnameof(node), *pooled = agstrdup(g, name);
    expect_str(own, names[i]);
    expect(own == pooled);
    agstrfree(g, pooled);
  }
}

/* Nodes come out in the order in which they were made, and asking for a name again makes nothing. */
static void order_is_that_of_making(void) {
  g_autoptr(Agraph_t) g = graph_new("g");
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) graph_node(g, names[i]);
  Agnode_t *again = graph_node(g, names[1]);
  graph_edge(g, again, graph_node(g, names[0]));
  guint i = 0;
  for (Agnode_t *n = agfstnode(g); n; n = agnxtnode(g, n), i++) {
    expect(i < G_N_ELEMENTS(names));
    expect_str(agnameof(n), names[i]);
  }
  expect_int(i, ==, G_N_ELEMENTS(names));
  expect_str(agnameof(again), names[1]);
}

int main(void) {
  static const Case cases[] = {{"names lie in the graph's pool", names_lie_in_the_graphs_pool},
                               {"order is that of making", order_is_that_of_making},
                               {0}};
  return suite_run("viz graph", cases);
}
