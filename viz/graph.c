/* graph.c - Graphviz in process. The casts away from const are safe: libcgraph 2.43 copies every string it is given,
 * its prototypes only do not say so. */
#include "viz/graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

GVC_t *graph_context(GError **error) {
  static GVC_t *gvc;
  static gsize once;
  if (g_once_init_enter(&once)) {
    agseterr(AGMAX); /* keeps messages for tool_error instead of printing them */
    gvc = gvContext();
    g_once_init_leave(&once, 1);
  }
  if (!gvc)
    g_set_error_literal(error, VIZ_ERROR, VIZ_ERROR_TOOL,
                        "Graphviz cannot start: please install it (Debian package libgvc6)");
  return gvc;
}

/* ---- identity of nodes, edges and clusters ----
 *
 * Left to itself libcgraph makes the address of a name its id and keeps clusters in order of id, so that two runs draw
 * them in different orders. Here an id is the number of names and nameless things that came before in the graph.
 *
 * The names are strings of the graph's own pool (agstrdup): when it writes DOT, libcgraph takes every name for one and
 * reads the mark "this is HTML" in the bytes before it. Before a string from elsewhere lies whatever the heap holds,
 * and now and then <number5> was written for number5. */

typedef struct {
  Agraph_t *g;
  GHashTable *ids;  /* name -> id; looked up only */
  GPtrArray *names; /* by id, of the pool, which is freed with the graph; NULL: it has none */
} Ids;

static void *ids_open(Agraph_t *g, Agdisc_t *disc) {
  (void)disc;
  Ids *ids = g_new0(Ids, 1);
  ids->g = g;
  ids->ids = g_hash_table_new(g_str_hash, g_str_equal);
  ids->names = g_ptr_array_new();
  g_ptr_array_add(ids->names, NULL); /* 0 is no id */
  return ids;
}

static void ids_close(void *state) {
  Ids *ids = state;
  g_hash_table_unref(ids->ids);
  g_ptr_array_unref(ids->names);
  g_free(ids);
}

static long ids_map(void *state, int kind, char *name, IDTYPE *id, int create) {
  (void)kind;
  Ids *ids = state;
  gpointer known = name ? g_hash_table_lookup(ids->ids, name) : NULL;
  if (!known && !create) return 0;
  *id = known ? GPOINTER_TO_UINT(known) : ids->names->len;
  if (known) return 1;
  char *copy = name ? agstrdup(ids->g, name) : NULL;
  g_ptr_array_add(ids->names, copy);
  if (copy) g_hash_table_insert(ids->ids, copy, GUINT_TO_POINTER((guint)*id));
  return 1;
}

static long ids_alloc(void *state, int kind, IDTYPE id) {
  (void)state, (void)kind, (void)id;
  return 0; /* nobody chooses one */
}

/* A name keeps its id to the end: an id given twice would be worse than a name too many. */
static void ids_free(void *state, int kind, IDTYPE id) {
  (void)state, (void)kind, (void)id;
}

static char *ids_print(void *state, int kind, IDTYPE id) {
  (void)kind;
  const Ids *ids = state;
  g_assert(id < ids->names->len);
  return ids->names->pdata[id];
}

static void ids_register(void *state, int kind, void *object) {
  (void)state, (void)kind, (void)object;
}

Agraph_t *graph_new(const char *name) {
  static Agiddisc_t ids = {ids_open, ids_map, ids_alloc, ids_free, ids_print, ids_close, ids_register};
  static Agdisc_t disc = {NULL, &ids, NULL}; /* neither is ever written to */
  Agraph_t *g = agopen((char *)name, Agdirected, &disc);
  g_assert_nonnull(g);
  return g;
}

Agraph_t *graph_cluster(Agraph_t *g, const char *name) {
  g_autofree char *full = g_strconcat("cluster_", name, NULL);
  Agraph_t *cluster = agsubg(g, full, 1);
  g_assert_nonnull(cluster);
  return cluster;
}

Agnode_t *graph_node(Agraph_t *g, const char *name) {
  Agnode_t *node = agnode(g, (char *)name, 1);
  g_assert_nonnull(node);
  return node;
}

Agedge_t *graph_edge(Agraph_t *g, Agnode_t *tail, Agnode_t *head) {
  Agedge_t *edge = agedge(g, tail, head, NULL, 1);
  g_assert_nonnull(edge);
  return edge;
}

void graph_set(void *object, const char *attribute, const char *value) {
  int failed = agsafeset(object, (char *)attribute, (char *)value, (char *)"");
  g_assert_cmpint(failed, ==, 0);
}

/* agset keeps the HTML mark of a string that agstrdup_html has made known to the graph. */
void graph_set_html(void *object, const char *attribute, const char *html) {
  Agraph_t *root = agroot(object);
  int kind = AGTYPE(object) == AGINEDGE ? AGEDGE : (int)AGTYPE(object);
  if (!agattr(root, kind, (char *)attribute, NULL)) agattr(root, kind, (char *)attribute, (char *)"");
  char *marked = agstrdup_html(root, (char *)html);
  int failed = agset(object, (char *)attribute, marked);
  g_assert_cmpint(failed, ==, 0);
  agstrfree(root, marked);
}

void graph_default(Agraph_t *root, int kind, const char *attribute, const char *value) {
  agattr(root, kind, (char *)attribute, (char *)value);
}

static void tool_error(GError **error, const char *doing) {
  char *last = aglasterr();
  g_set_error(error, VIZ_ERROR, VIZ_ERROR_TOOL, "Graphviz cannot %s: %s (Debian packages libgvc6 and graphviz)", doing,
              last ? g_strchomp(last) : "no reason given");
  free(last);
}

void graph_append_point(GString *out, double height, double x, double y) {
  char bx[G_ASCII_DTOSTR_BUF_SIZE], by[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(bx, sizeof bx, "%.2f", x);
  g_ascii_formatd(by, sizeof by, "%.2f", height - y);
  g_string_append_printf(out, "%s%s,%s", out->len ? " " : "", bx, by);
}

void graph_line(Agedge_t *edge, double height, double head, const double (*corner)[2], guint n) {
  const double *tip = corner[n - 1], *before = corner[n - 2];
  double dx = tip[0] - before[0], dy = tip[1] - before[1], length = hypot(dx, dy);
  g_assert(length > 0);
  double end[2] = {tip[0] - dx / length * head, tip[1] - dy / length * head};
  g_autoptr(GString) text = g_string_new(NULL);
  graph_append_point(text, height, tip[0], tip[1]);
  g_string_prepend(text, "e,");
  graph_append_point(text, height, corner[0][0], corner[0][1]);
  for (guint i = 1; i < n; i++) {
    const double *to = i + 1 < n ? corner[i] : end;
    graph_append_point(text, height, corner[i - 1][0], corner[i - 1][1]);
    graph_append_point(text, height, to[0], to[1]);
    graph_append_point(text, height, to[0], to[1]);
  }
  graph_set(edge, "pos", text->str);
}

bool graph_layout(GVC_t *gvc, Agraph_t *g, const char *engine, GError **error) {
  bool ok = gvLayout(gvc, g, engine) == 0;
  if (!ok) tool_error(error, "lay the picture out");
  return ok;
}

bool graph_write(GVC_t *gvc, Agraph_t *g, VizFormat format, const char *path, GError **error) {
  g_assert(format <= FORMAT_DOT);
  char *data = NULL;
  unsigned size = 0;
  /* "png:cairo" would be exact, but "png" is the same where the plugin is there, and says so where it is not. */
  if (gvRenderData(gvc, g, viz_format_word(format), &data, &size) != 0 || !size) {
    tool_error(error, "draw this format");
    return false;
  }
  bool ok = picture_write(data, size, format, path, error);
  gvFreeRenderData(data);
  return ok;
}
