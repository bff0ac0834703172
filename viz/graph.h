/* graph.h - Graphviz in process: libcgraph holds a graph, libgvc lays it out and draws it. A thin layer for the views:
 * const-correct setters, errors as GError, pictures written aside and renamed.
 * Everything in a picture follows from the order in which nodes and edges were made; no name is drawn from an address.
 */
#pragma once
#include "viz/picture.h"
#include <graphviz/gvc.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Agraph_t, agclose)

/* The process's one context, made at first use and never freed: the Pango plugin of 2.43 remembers a font's name beyond
 * the context that owned it, and reads it when there is a second one. Single-threaded. VIZ_ERROR_TOOL: Graphviz cannot
 * start. */
GVC_t *graph_context(GError **error);
Agraph_t *graph_new(const char *name); /* directed; free with agclose */

Agraph_t *graph_cluster(Agraph_t *g, const char *name); /* "cluster_" is put before it */
Agnode_t *graph_node(Agraph_t *g, const char *name);    /* made in g and in every graph above it */
Agedge_t *graph_edge(Agraph_t *g, Agnode_t *tail, Agnode_t *head);

/* Of a graph, node or edge; an attribute not known yet is declared with an empty default. */
void graph_set(void *object, const char *attribute, const char *value);
void graph_set_html(void *object, const char *attribute, const char *html);             /* without the outer < > */
void graph_default(Agraph_t *root, int kind, const char *attribute, const char *value); /* AGRAPH, AGNODE, AGEDGE */

/* Places for "nop2", in points, y growing downwards in a picture of that height. Points of a list are set apart by a
 * blank. */
void graph_append_point(GString *out, double height, double x, double y);
/* A line through n corners, at least two, as a spline: each straight piece is a curve whose control points lie on its
 * ends. The last corner is the tip of the arrow's head, which is so long; the line ends where it begins. */
void graph_line(Agedge_t *edge, double height, double head, const double (*corner)[2], guint n);

/* engine: "dot", "nop2" (as placed by pos, bb and lp). Free the layout with gvFreeLayout. */
bool graph_layout(GVC_t *gvc, Agraph_t *g, const char *engine, GError **error);
/* A graph that has been laid out; svg, png, pdf or dot. */
bool graph_write(GVC_t *gvc, Agraph_t *g, VizFormat format, const char *path, GError **error);
