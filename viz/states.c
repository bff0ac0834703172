/* states.c - a history as a graph: a node with a table in a cluster for each step. Graphviz measures the boxes (a first
 * layout by dot), they are placed here in rows, and Graphviz draws them where they stand (nop2). dot alone would put
 * fifteen steps into one line. */
#include "viz/states.h"
#include "viz/graph.h"
#include "viz/states_text.h"
#include <math.h>

enum { COLUMNS_MAX = 5 };
#define MARGIN     8.0  /* points around the table in its cluster */
#define ARROW_ROOM 24.0 /* beside the label of an arrow */
#define ROW_GAP    22.0 /* above and below the label of an arrow between rows */
#define HEAD_GAP   14.0 /* below the heading */
#define HEAD       9.0  /* an arrow's head */

typedef struct {
  double left, right, top, bottom; /* points, y downwards */
} Box;

typedef struct {
  Agraph_t *cluster;
  Agnode_t *node;
  Agedge_t *arrow;                                 /* into it from the step before; NULL for the first */
  double width, height, title_height, title_width; /* of the table; of the cluster's title */
  double label_width, label_height;                /* of the arrow's label */
  Box box;
} Place;

typedef struct {
  Agraph_t *g;
  Agnode_t *heading;
  Place *places;
  guint n, columns;
  double width, height; /* of the whole picture */
  double heading_width, heading_height;
} Picture;

static void defaults(Agraph_t *g) {
  static const struct {
    int kind;
    const char *name, *value;
  } all[] = {{AGRAPH, "fontname", VIZ_FONT},
             {AGRAPH, "fontsize", "11"},
             {AGRAPH, "labeljust", "l"},
             {AGRAPH, "labelloc", "t"},
             {AGRAPH, "style", "rounded"},
             {AGRAPH, "color", "#888888"},
             {AGRAPH, "bgcolor", "white"},
             {AGRAPH, "rankdir", "LR"},
             {AGRAPH, "pad", "0.15"},
             {AGRAPH, "bb", ""},
             {AGRAPH, "lp", ""},
             {AGRAPH, "penwidth", "1"},
             {AGRAPH, "label", ""},
             {AGNODE, "fontname", VIZ_FONT},
             {AGNODE, "fontsize", "11"},
             {AGNODE, "shape", "plaintext"},
             {AGNODE, "margin", "0"},
             {AGNODE, "pos", ""},
             {AGEDGE, "fontname", VIZ_FONT},
             {AGEDGE, "fontsize", "10"},
             {AGEDGE, "arrowsize", "0.8"},
             {AGEDGE, "color", "#333333"},
             {AGEDGE, "pos", ""},
             {AGEDGE, "lp", ""}};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) graph_default(g, all[i].kind, all[i].name, all[i].value);
}

static void add_step(Picture *p, const History *h, guint k, const bool *shown) {
  const HistoryStep *s = h->steps->pdata[k];
  g_autofree char *name = g_strdup_printf("step%" G_GINT64_FORMAT, s->i);
  Place *place = &p->places[k];
  place->cluster = graph_cluster(p->g, name);
  place->node = graph_node(place->cluster, name);
  g_autofree char *title = states_cluster_title(s, k == 0), *table = states_table(h, k, shown);
  graph_set_html(place->cluster, "label", title);
  graph_set_html(place->node, "label", table);
  if (h->span->ends_broken && k + 1 == p->n) {
    graph_set(place->cluster, "color", STATES_BROKEN);
    graph_set(place->cluster, "penwidth", "3");
  }
  if (k == 0) return;
  g_autofree char *arrow = states_arrow(s);
  place->arrow = graph_edge(p->g, p->places[k - 1].node, place->node);
  graph_set_html(place->arrow, "label", arrow);
}

static void build(Picture *p, const History *h) {
  p->g = graph_new(h->span->scenario ? h->span->scenario : "states");
  defaults(p->g);
  p->n = h->steps->len;
  p->places = g_new0(Place, p->n);
  p->heading = graph_node(p->g, "heading");
  g_autofree char *heading = states_heading(h);
  graph_set_html(p->heading, "label", heading);
  g_autofree bool *shown = states_shown(h);
  for (guint k = 0; k < p->n; k++) add_step(p, h, k, shown);
}

/* What Graphviz finds the texts to be, in points. */
static bool measure(Picture *p, GVC_t *gvc, GError **error) {
  if (!graph_layout(gvc, p->g, "dot", error)) return false;
  p->heading_width = ND_width(p->heading) * 72;
  p->heading_height = ND_height(p->heading) * 72;
  for (guint k = 0; k < p->n; k++) {
    Place *place = &p->places[k];
    place->width = ND_width(place->node) * 72;
    place->height = ND_height(place->node) * 72;
    place->title_width = GD_label(place->cluster)->dimen.x;
    place->title_height = GD_label(place->cluster)->dimen.y;
    if (!place->arrow) continue;
    place->label_width = ED_label(place->arrow)->dimen.x;
    place->label_height = ED_label(place->arrow)->dimen.y;
  }
  gvFreeLayout(gvc, p->g);
  return true;
}

static double box_width(const Place *p) {
  return MAX(p->width, p->title_width) + 2 * MARGIN;
}
static double box_height(const Place *p) {
  return p->height + p->title_height + 2 * MARGIN;
}

static double column_width(const Picture *p, guint column) {
  double width = 0;
  for (guint k = column; k < p->n; k += p->columns) width = MAX(width, box_width(&p->places[k]));
  return width;
}

/* Between `column` and the one before it. */
static double column_gap(const Picture *p, guint column) {
  double gap = 0;
  for (guint k = column; column > 0 && k < p->n; k += p->columns) gap = MAX(gap, p->places[k].label_width + ARROW_ROOM);
  return gap;
}

static double row_height(const Picture *p, guint row) {
  double height = 0;
  for (guint k = row * p->columns; k < MIN((row + 1) * p->columns, p->n); k++)
    height = MAX(height, box_height(&p->places[k]));
  return height;
}

/* Between `row` and the one above it: the label of the arrow that leads down. */
static double row_gap(const Picture *p, guint row) {
  return row ? p->places[row * p->columns].label_height + 2 * ROW_GAP : p->heading_height + HEAD_GAP;
}

/* Puts every box in its place in rows of `columns`. */
static void place_boxes(Picture *p, guint columns) {
  p->columns = columns;
  double left = 0, top = 0;
  for (guint column = 0; column < columns; column++) {
    left += column_gap(p, column);
    for (guint k = column; k < p->n; k += columns) p->places[k].box.left = left;
    left += column_width(p, column);
  }
  for (guint row = 0; row * columns < p->n; row++) {
    top += row_gap(p, row);
    for (guint k = row * columns; k < MIN((row + 1) * columns, p->n); k++) p->places[k].box.top = top;
    top += row_height(p, row);
  }
  for (guint k = 0; k < p->n; k++) {
    p->places[k].box.right = p->places[k].box.left + column_width(p, k % columns);
    p->places[k].box.bottom = p->places[k].box.top + box_height(&p->places[k]);
  }
  p->width = MAX(left, p->heading_width);
  p->height = top;
}

/* As many columns as make the picture nearest to a screen's form, and no wider than a page. */
static void arrange(Picture *p) {
  guint best = 1;
  double best_error = 0;
  for (guint columns = 1; columns <= MIN(p->n, COLUMNS_MAX); columns++) {
    place_boxes(p, columns);
    if (columns > 1 && p->width > VIZ_PAGE) break;
    double off = fabs(log(p->width / p->height / 1.6));
    if (columns == 1 || off < best_error) best = columns, best_error = off;
  }
  place_boxes(p, best);
}

/* Appends "x,y" for Graphviz, whose y goes upwards. */
static void set_point(const Picture *p, void *object, const char *attribute, double x, double y) {
  g_autoptr(GString) text = g_string_new(NULL);
  graph_append_point(text, p->height, x, y);
  graph_set(object, attribute, text->str);
}

static void write_box(const Picture *p, const Place *place) {
  const Box *b = &place->box;
  g_autoptr(GString) low = g_string_new(NULL), high = g_string_new(NULL);
  graph_append_point(low, p->height, b->left, b->bottom);
  graph_append_point(high, p->height, b->right, b->top);
  g_string_append_printf(low, ",%s", high->str);
  graph_set(place->cluster, "bb", low->str);
  set_point(p, place->cluster, "lp", b->left + MARGIN + place->title_width / 2,
            b->top + MARGIN + place->title_height / 2);
  set_point(p, place->node, "pos", b->left + MARGIN + place->width / 2, b->bottom - MARGIN - place->height / 2);
}

/* Beside: straight, at the height of the boxes' heads. To the next row: down, back to the left through the gap between
 * the rows, and down into the first box. */
static void write_arrow(const Picture *p, guint k) {
  const Place *place = &p->places[k];
  const Box *from = &p->places[k - 1].box, *to = &place->box;
  if (k % p->columns) {
    double y = to->top + place->label_height + ROW_GAP;
    const double line[][2] = {{from->right, y}, {to->left, y}};
    graph_line(place->arrow, p->height, HEAD, line, 2);
    set_point(p, place->arrow, "lp", to->left - ARROW_ROOM / 2 - place->label_width / 2,
              y - 3 - place->label_height / 2);
    return;
  }
  double y = to->top - ROW_GAP, x = (from->left + from->right) / 2, x2 = to->left + 40;
  const double line[][2] = {{x, from->bottom}, {x, y}, {x2, y}, {x2, to->top}};
  if (p->columns == 1)
    graph_line(place->arrow, p->height, HEAD, (const double[][2]){{x2, from->bottom}, {x2, to->top}}, 2);
  else
    graph_line(place->arrow, p->height, HEAD, line, 4);
  set_point(p, place->arrow, "lp", x2 + 10 + place->label_width / 2, y - 3 - place->label_height / 2);
}

static void write_places(const Picture *p) {
  set_point(p, p->heading, "pos", p->heading_width / 2, p->heading_height / 2);
  for (guint k = 0; k < p->n; k++) write_box(p, &p->places[k]);
  for (guint k = 1; k < p->n; k++) write_arrow(p, k);
}

static bool draw(Picture *p, GVC_t *gvc, const char *path, VizFormat format, GError **error) {
  if (!measure(p, gvc, error)) return false;
  arrange(p);
  write_places(p);
  if (!graph_layout(gvc, p->g, "nop2", error)) return false;
  bool ok = graph_write(gvc, p->g, format, path, error);
  gvFreeLayout(gvc, p->g);
  return ok;
}

bool viz_states(const char *trace, const SpanWish *wish, const char *path, VizFormat format, GError **error) {
  g_assert(format <= FORMAT_DOT);
  g_autoptr(History) h = history_read(trace, wish, error);
  if (!h) return false;
  GVC_t *gvc = graph_context(error);
  if (!gvc) return false;
  Picture p = {0};
  build(&p, h);
  bool ok = draw(&p, gvc, path, format, error);
  agclose(p.g);
  g_free(p.places);
  return ok;
}
