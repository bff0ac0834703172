/* sequence.c - a sequence chart, drawn by Graphviz where we put things (nop2): dot knows no lifelines, and text is
 * measured and SVG, PNG and PDF written in the one way that the state picture uses. Every part is a node with a place;
 * a message is an edge between the heads of two lifelines with a line of our own, so that the graph itself says who
 * tells what to whom. Lifelines, bars and boxes are nodes and lie below the arrows (outputorder: nodesfirst). */
#include "viz/sequence.h"
#include "viz/graph.h"
#include "viz/sequence_bars.h"
#include <math.h>

#define LANE_MAX  170.0 /* between two lifelines */
#define LANE_MIN  58.0
#define NOTES     190.0 /* the column of what else changed */
#define MARGIN    8.0
#define ROW_GAP   8.0
#define ARROW     5.0 /* from a message's text down to its line */
#define HEAD      7.0 /* an arrow's head */
#define BAR       8.0 /* width of a bar */
#define CHAR      5.4 /* of the 9 point font, on the average */
#define BROKEN    "#B3261E"
#define BROKEN_BG "#FBE3E1"
#define QUIET     "#666666"
#define LASSO     "#0072B2"

/* Okabe and Ito's colours, which the colour-blind tell apart; without vermilion, which is near the red of what is
 * broken, and black. */
static const char *const colours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#8C8C8C", "#F0E442"};
static const char *const tints[] = {"#A6CDE6", "#F6DBA6", "#A6DCCB", "#ECCFDF", "#C7E6F7", "#D4D4D4", "#FAF5BC"};
G_STATIC_ASSERT(G_N_ELEMENTS(colours) == G_N_ELEMENTS(tints));

typedef struct {
  Agnode_t *node;
  double width, height; /* measured */
} Part;

typedef struct {
  Agnode_t *stripe; /* a hairline below, or what is behind a broken step */
  Part number, box, notes;
  Part *texts; /* of the messages */
  double top, height;
} Row;

typedef struct {
  const Chart *c;
  const ChartBars *bars;
  Agraph_t *g;
  Part heading, key, end, frame_words;
  Agnode_t *frame, **lines, **bar_nodes; /* of the lasso, of lanes, of bars */
  Part *heads, *feet;                    /* of lifelines */
  Row *rows;
  guint n, lanes;
  bool timed, noted;
  double left, gap, width, height, body, foot; /* body: top of the first row; foot: bottom of the last */
} Picture;

static const char *colour_of(guint i) {
  return colours[i % G_N_ELEMENTS(colours)];
}

static bool is_broken(const Picture *p, guint row) {
  const Span *s = p->c->span;
  const ChartStep *step = p->c->steps->pdata[row];
  return s->check && (s->broken >= 0 ? step->i == s->broken : step->i + 1 == s->total);
}

/* ---- parts ---- */

static void defaults(Agraph_t *g) {
  static const struct {
    int kind;
    const char *name, *value;
  } all[] = {{AGRAPH, "bgcolor", "white"},
             {AGRAPH, "outputorder", "nodesfirst"},
             {AGRAPH, "pad", "0.1"},
             {AGNODE, "fontname", VIZ_FONT},
             {AGNODE, "fontsize", "9"},
             {AGNODE, "shape", "plaintext"},
             {AGNODE, "margin", "0"},
             {AGNODE, "pos", ""},
             {AGNODE, "label", ""},
             {AGNODE, "width", "0"},
             {AGNODE, "height", "0"},
             {AGNODE, "fixedsize", "false"},
             {AGNODE, "style", ""},
             {AGNODE, "color", "#888888"},
             {AGNODE, "fillcolor", "white"},
             {AGNODE, "penwidth", "1"},
             {AGNODE, "class", ""},
             {AGNODE, "peripheries", ""},
             {AGEDGE, "arrowsize", "0.7"},
             {AGEDGE, "color", "#222222"},
             {AGEDGE, "penwidth", "1.2"},
             {AGEDGE, "style", ""},
             {AGEDGE, "pos", ""},
             {AGEDGE, "class", ""}};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) graph_default(g, all[i].kind, all[i].name, all[i].value);
}

static Part text(Picture *p, const char *name, const char *class, const char *html) {
  Part part = {.node = graph_node(p->g, name)};
  graph_set(part.node, "class", class);
  if (*html) graph_set_html(part.node, "label", html);
  return part;
}

static guint chars(double width) {
  return (guint)MAX(width / CHAR, 6);
}

/* Words in a table cell with a background, so that a lifeline below does not strike them through. */
static char *cell(const char *words, guint width, guint lines, const char *attributes, const char *font) {
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"1\"><TR><TD %s>%s",
                         attributes, font);
  picture_wrap(out, words, width, lines, "<BR/>");
  g_string_append_printf(out, "%s</TD></TR></TABLE>", *font ? "</FONT>" : "");
  return g_string_free(out, FALSE);
}

static char *named(const char *kind, gint64 i) {
  return g_strdup_printf("%s%" G_GINT64_FORMAT, kind, i);
}

/* 1204567 ns is "1.205 ms". */
static void append_number(GString *out, const Picture *p, const ChartStep *s) {
  g_string_append_printf(out, "<FONT COLOR=\"" QUIET "\">%" G_GINT64_FORMAT "</FONT>", s->i);
  if (!p->timed || s->t_ns < 0) return;
  g_string_append(out, "<BR/><FONT COLOR=\"" QUIET "\" POINT-SIZE=\"7.5\">");
  picture_time(out, s->t_ns);
  g_string_append(out, "</FONT>");
}

static void make_box(Picture *p, Row *row, const ChartStep *s, bool broken) {
  g_autoptr(GString) words = g_string_new(NULL);
  const char *lane = p->c->lanes->pdata[s->lane], *of = p->c->lanes->pdata[s->of];
  bool names_it = s->of != s->lane && g_str_has_prefix(lane, "pooler");
  g_string_append_printf(words, "%s%s%s", names_it ? of : "", names_it ? ": " : "", s->act);
  g_autofree char *html = cell(words->str, chars(p->gap - 16), 4, "", broken ? "<FONT COLOR=\"" BROKEN "\">" : "");
  g_autofree char *name = named("step", s->i);
  row->box = text(p, name, "step", html);
  graph_set(row->box.node, "shape", "box");
  graph_set(row->box.node, "style", s->hidden ? "filled,rounded,dashed" : "filled,rounded");
  graph_set(row->box.node, "margin", "0.03,0.01");
  graph_set(row->box.node, "color", broken ? BROKEN : s->of != s->lane ? colour_of(s->of) : "#777777");
}

static void make_texts(Picture *p, Row *row, const ChartStep *s, bool broken) {
  row->texts = g_new0(Part, s->messages->len);
  for (guint i = 0; i < s->messages->len; i++) {
    const ChartMessage *m = &g_array_index(s->messages, ChartMessage, i);
    g_autofree char *html = cell(m->text, chars(p->gap - BAR - 8), 4, broken ? "" : "BGCOLOR=\"white\"",
                                 broken ? "<FONT COLOR=\"" BROKEN "\">" : "");
    g_autofree char *name = g_strdup_printf("says%" G_GINT64_FORMAT "_%u", s->i, i);
    row->texts[i] = text(p, name, "message", html);
  }
}

static void make_row(Picture *p, guint k) {
  const ChartStep *s = p->c->steps->pdata[k];
  Row *row = &p->rows[k];
  bool broken = is_broken(p, k);
  g_autoptr(GString) number = g_string_new(NULL);
  append_number(number, p, s);
  g_autofree char *name = named("number", s->i), *notes_name = named("notes", s->i);
  row->number = text(p, name, "number", number->str);
  if (s->messages->len)
    make_texts(p, row, s, broken);
  else
    make_box(p, row, s, broken);
  g_autofree char *notes = chart_step_notes(p->c, k);
  if (!notes || !p->noted) return;
  g_autoptr(GString) html = g_string_new("<FONT COLOR=\"" QUIET "\" POINT-SIZE=\"8\">");
  picture_wrap(html, notes, chars((NOTES - MARGIN) * 9 / 8), 4, "<BR ALIGN=\"LEFT\"/>");
  g_string_append(html, "<BR ALIGN=\"LEFT\"/></FONT>");
  row->notes = text(p, notes_name, "notes", html->str);
}

static Part make_head(Picture *p, guint lane, const char *kind) {
  g_autoptr(GString) html = g_string_new("<B>");
  picture_wrap(html, p->c->lanes->pdata[lane], chars((p->gap - 12) * 0.85), 3, "<BR/>");
  g_string_append(html, "</B>");
  g_autofree char *name = named(kind, lane);
  Part part = text(p, name, "lane", html->str);
  bool is_client = g_str_has_prefix(p->c->lanes->pdata[lane], "client");
  graph_set(part.node, "shape", "box");
  graph_set(part.node, "style", "filled");
  graph_set(part.node, "margin", "0.07,0.04");
  graph_set(part.node, "fillcolor", "#F2F2F2");
  graph_set(part.node, "color", is_client ? colour_of(lane) : "#777777");
  if (is_client) graph_set(part.node, "penwidth", "2.5");
  return part;
}

static void append_key(GString *out, const char *colour, const char *words) {
  g_string_append_printf(out, "<TD BGCOLOR=\"%s\" WIDTH=\"12\"> </TD><TD ALIGN=\"LEFT\">", colour);
  picture_xml(out, words);
  g_string_append(out, "</TD>");
}

static bool any_bar(const Picture *p, BarKind kind) {
  for (guint i = 0; i < p->bars->bars->len; i++)
    if (g_array_index(p->bars->bars, ChartBar, i).kind == kind) return true;
  return false;
}

static void make_heading(Picture *p) {
  const Span *s = p->c->span;
  g_autoptr(GString) out = g_string_new("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"2\"><TR>"
                                        "<TD ALIGN=\"LEFT\"><FONT POINT-SIZE=\"14\"><B>");
  picture_wrap(out, s->scenario, 80, 1, "");
  if (s->check) g_string_append(out, ": ");
  if (s->check) picture_wrap(out, s->check, 80, 1, "");
  g_string_append(out, s->check ? " is violated</B></FONT></TD></TR><TR>" : "</B></FONT></TD></TR><TR>");
  g_string_append_printf(out,
                         "<TD ALIGN=\"LEFT\">steps %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                         " of 0 to %" G_GINT64_FORMAT ", seed %" G_GUINT64_FORMAT ", ",
                         s->first, s->last, s->total - 1, s->seed);
  picture_wrap(out, s->subject, 60, 1, "");
  g_string_append_printf(out, "%s</TD></TR></TABLE>", s->cut ? "; the trace was cut" : "");
  p->heading = text(p, "heading", "heading", out->str);
}

static void make_key(Picture *p) {
  g_autoptr(GString) out =
      g_string_new("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"3\" CELLPADDING=\"1\"><TR>");
  gsize empty = out->len;
  if (any_bar(p, BAR_OF)) append_key(out, "#9FC5DD", "bar: works for the client of this colour");
  if (any_bar(p, BAR_RUNS)) append_key(out, "#0072B2", "runs a query of that client");
  for (guint i = 0; i < p->bars->locks->len; i++) {
    g_autofree char *words = g_strconcat("holds ", p->bars->locks->pdata[i], NULL);
    append_key(out, colour_of(i), words);
  }
  if (out->len == empty) return;
  g_string_append(out, "</TR></TABLE>");
  p->key = text(p, "key", "key", out->str);
}

static void make_end(Picture *p) {
  const Span *s = p->c->span;
  bool shown = s->check && s->last >= s->broken;
  g_autoptr(GString) out = g_string_new(NULL);
  if (shown) {
    g_string_append(out, "<FONT COLOR=\"white\"><B>");
    picture_wrap(out, s->check, 100, 1, "");
    g_string_append(out, " is violated</B>");
    if (s->why) g_string_append(out, "<BR/>");
    if (s->why) picture_wrap(out, s->why, 120, 4, "<BR/>");
    g_string_append(out, "</FONT>");
  } else if (s->cut)
    g_string_append(out, "<FONT COLOR=\"" QUIET "\">here the trace was cut</FONT>");
  else if (s->last + 1 < s->total)
    g_string_append_printf(out, "<FONT COLOR=\"" QUIET "\">%" G_GINT64_FORMAT " more steps follow</FONT>",
                           s->total - 1 - s->last);
  else
    return;
  p->end = text(p, "end", shown ? "broken" : "end", out->str);
  if (!shown) return;
  graph_set(p->end.node, "shape", "box");
  graph_set(p->end.node, "style", "filled");
  graph_set(p->end.node, "margin", "0.12,0.06");
  graph_set(p->end.node, "fillcolor", BROKEN);
  graph_set(p->end.node, "color", BROKEN);
}

/* What has no words and lies below the rest; nodes are drawn in the order in which they were made. Sizes come later. */
static Agnode_t *rectangle(Picture *p, const char *kind, gint64 i, const char *colour) {
  g_autofree char *name = named(kind, i);
  Agnode_t *node = graph_node(p->g, name);
  graph_set(node, "class", kind);
  graph_set(node, "shape", "box");
  graph_set(node, "style", "filled");
  graph_set(node, "fixedsize", "true");
  graph_set(node, "color", colour);
  graph_set(node, "fillcolor", colour);
  graph_set(node, "peripheries", "0");
  return node;
}

static void make_ground(Picture *p) {
  for (guint k = 0; k < p->n; k++) {
    const ChartStep *s = p->c->steps->pdata[k];
    p->rows[k].stripe = rectangle(p, "row", s->i, is_broken(p, k) ? BROKEN_BG : "#E8E8E8");
  }
  for (guint i = 0; i < p->lanes; i++) p->lines[i] = rectangle(p, "lifeline", i, "#9A9A9A");
  for (guint i = 0; i < p->bars->bars->len; i++) {
    const ChartBar *b = &g_array_index(p->bars->bars, ChartBar, i);
    const char *colour = b->kind == BAR_OF ? tints[b->of % G_N_ELEMENTS(tints)] : colour_of(b->of);
    p->bar_nodes[i] = rectangle(p, "bar", i, colour);
    graph_set(p->bar_nodes[i], "color", colour_of(b->of));
    graph_set(p->bar_nodes[i], "penwidth", "0.6");
    graph_set(p->bar_nodes[i], "peripheries", "1");
  }
}

static void make_lasso(Picture *p) {
  const Span *s = p->c->span;
  if (s->lasso_from < 0 || s->last < s->lasso_from || s->last + 1 < s->total) return;
  p->frame = rectangle(p, "frame", s->lasso_from, LASSO);
  graph_set(p->frame, "style", "");
  graph_set(p->frame, "penwidth", "2");
  graph_set(p->frame, "peripheries", "1");
  g_autofree char *words = g_strdup_printf(
      "<FONT COLOR=\"" LASSO "\"><B>for ever: then step %" G_GINT64_FORMAT " again</B></FONT>", s->lasso_from);
  p->frame_words = text(p, "again", "lasso", words);
}

static void build(Picture *p) {
  p->g = graph_new(p->c->span->scenario);
  defaults(p->g);
  p->rows = g_new0(Row, p->n);
  p->lines = g_new0(Agnode_t *, p->lanes);
  p->bar_nodes = g_new0(Agnode_t *, p->bars->bars->len + 1);
  make_ground(p);
  make_lasso(p);
  make_heading(p);
  make_key(p);
  p->heads = g_new0(Part, p->lanes);
  p->feet = g_new0(Part, p->lanes);
  for (guint i = 0; i < p->lanes; i++) p->heads[i] = make_head(p, i, "lane");
  for (guint i = 0; i < p->lanes && p->n > 25; i++) p->feet[i] = make_head(p, i, "foot");
  for (guint k = 0; k < p->n; k++) make_row(p, k);
  make_end(p);
}

/* ---- measuring ---- */

static void measured(Part *part) {
  if (!part->node) return;
  part->width = ND_width(part->node) * 72;
  part->height = ND_height(part->node) * 72;
}

static bool measure(Picture *p, GVC_t *gvc, GError **error) {
  if (!graph_layout(gvc, p->g, "dot", error)) return false;
  measured(&p->heading);
  measured(&p->key);
  measured(&p->end);
  measured(&p->frame_words);
  for (guint i = 0; i < p->lanes; i++) measured(&p->heads[i]), measured(&p->feet[i]);
  for (guint k = 0; k < p->n; k++) {
    const ChartStep *s = p->c->steps->pdata[k];
    Row *row = &p->rows[k];
    measured(&row->number);
    measured(&row->box);
    measured(&row->notes);
    for (guint i = 0; i < s->messages->len; i++) measured(&row->texts[i]);
  }
  gvFreeLayout(gvc, p->g);
  return true;
}

/* ---- places, in points, y downwards ---- */

static double lane_x(const Picture *p, guint lane) {
  return p->left + p->gap * (lane + 0.5);
}

static double row_height(const Row *row, guint messages) {
  double height = MAX(row->number.height, row->box.height);
  double said = 0;
  for (guint i = 0; i < messages; i++) said += row->texts[i].height + ARROW;
  return MAX(MAX(height, said), row->notes.height) + ROW_GAP;
}

static double heads_height(const Picture *p) {
  double height = 0;
  for (guint i = 0; i < p->lanes; i++) height = MAX(height, p->heads[i].height);
  return height;
}

static void place(Picture *p) {
  p->body = p->heading.height + p->key.height + heads_height(p) + 3 * MARGIN;
  double y = p->body;
  for (guint k = 0; k < p->n; k++) {
    const ChartStep *s = p->c->steps->pdata[k];
    p->rows[k].top = y;
    p->rows[k].height = row_height(&p->rows[k], s->messages->len);
    y += p->rows[k].height;
  }
  p->foot = y;
  if (p->frame) y += p->frame_words.height + 4;
  p->height = y + MARGIN + (p->feet[0].node ? heads_height(p) + MARGIN : 0) + p->end.height;
}

static void append_point(const Picture *p, GString *out, double x, double y) {
  char bx[G_ASCII_DTOSTR_BUF_SIZE], by[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(bx, sizeof bx, "%.2f", x);
  g_ascii_formatd(by, sizeof by, "%.2f", p->height - y);
  g_string_append_printf(out, "%s%s,%s", out->len ? " " : "", bx, by);
}

static void put(const Picture *p, const Part *part, double x, double y) {
  if (!part->node) return;
  g_autoptr(GString) at = g_string_new(NULL);
  append_point(p, at, x, y);
  graph_set(part->node, "pos", at->str);
}

static void set_inches(Agnode_t *node, const char *attribute, double points) {
  char text_[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(text_, sizeof text_, "%.4f", points / 72);
  graph_set(node, attribute, text_);
}

static void put_rectangle(const Picture *p, Agnode_t *node, double x, double y, double w, double h) {
  Part part = {.node = node};
  set_inches(node, "width", w);
  set_inches(node, "height", h);
  put(p, &part, x + w / 2, y + h / 2);
}

static guint row_of_step(const Picture *p, int64_t i) {
  return (guint)CLAMP(i - p->c->span->first, 0, (int64_t)p->n - 1);
}

/* Where on its row a step happens: at its last message's line, or in the middle of its box. */
static double event_y(const Picture *p, guint k) {
  if (k == p->n) return p->foot;
  const Row *row = &p->rows[k];
  const ChartStep *s = p->c->steps->pdata[k];
  if (s->messages->len == 0) return row->top + (row->height - ROW_GAP) / 2;
  double y = row->top;
  for (guint i = 0; i < s->messages->len; i++) y += row->texts[i].height + ARROW;
  return y;
}

/* A lifeline's half width in a row. */
static double half(const Picture *p, guint lane, guint row) {
  double most = 0;
  for (guint i = 0; i < p->bars->bars->len; i++) {
    const ChartBar *b = &g_array_index(p->bars->bars, ChartBar, i);
    if (b->lane != lane || b->first > row || b->last < row) continue;
    most = MAX(most, b->kind == BAR_LOCK ? 3.0 * p->bars->locks->len : BAR / 2);
  }
  return most;
}

/* ---- arrows ---- */

/* A line through the corners as a spline whose control points lie on the ends of each piece; the last corner is the tip
 * of the head. */
static void put_line(const Picture *p, Agedge_t *edge, const double (*corner)[2], guint n) {
  const double *tip = corner[n - 1], *before = corner[n - 2];
  double dx = tip[0] - before[0], dy = tip[1] - before[1], length = hypot(dx, dy);
  g_assert(length > 0);
  double end[2] = {tip[0] - dx / length * HEAD, tip[1] - dy / length * HEAD};
  g_autoptr(GString) at = g_string_new(NULL);
  append_point(p, at, tip[0], tip[1]);
  g_string_prepend(at, "e,");
  append_point(p, at, corner[0][0], corner[0][1]);
  for (guint i = 1; i < n; i++) {
    const double *to = i + 1 < n ? corner[i] : end;
    append_point(p, at, corner[i - 1][0], corner[i - 1][1]);
    append_point(p, at, to[0], to[1]);
    append_point(p, at, to[0], to[1]);
  }
  graph_set(edge, "pos", at->str);
}

static void put_message(Picture *p, guint k, guint i, double y) {
  const ChartStep *s = p->c->steps->pdata[k];
  const ChartMessage *m = &g_array_index(s->messages, ChartMessage, i);
  const Part *words = &p->rows[k].texts[i];
  Agedge_t *edge = graph_edge(p->g, p->heads[m->from].node, p->heads[m->to].node);
  g_autofree char *id = g_strdup_printf("message%" G_GINT64_FORMAT "_%u", s->i, i);
  graph_set(edge, "id", id);
  graph_set(edge, "class", "message");
  if (is_broken(p, k)) graph_set(edge, "color", BROKEN), graph_set(edge, "penwidth", "2");
  if (s->hidden) graph_set(edge, "style", "dashed");
  double from = lane_x(p, m->from), to = lane_x(p, m->to), way = to > from ? 1 : -1;
  if (m->from == m->to) {
    double x = from + half(p, m->from, k);
    put_line(p, edge, (const double[][2]){{x, y - 8}, {x + 22, y - 8}, {x + 22, y}, {x, y}}, 4);
    put(p, words, x + 28 + words->width / 2, y - words->height / 2);
    return;
  }
  const double line[][2] = {{from + way * half(p, m->from, k), y}, {to - way * half(p, m->to, k), y}};
  put_line(p, edge, line, 2);
  put(p, words, from + way * p->gap / 2, y - 2 - words->height / 2);
}

static void put_row(Picture *p, guint k) {
  const ChartStep *s = p->c->steps->pdata[k];
  const Row *row = &p->rows[k];
  double middle = row->top + (row->height - ROW_GAP) / 2, y = row->top;
  for (guint i = 0; i < s->messages->len; i++) {
    y += row->texts[i].height + ARROW;
    put_message(p, k, i, y);
  }
  put(p, &row->box, lane_x(p, s->lane), middle);
  put(p, &row->number, p->left - MARGIN - row->number.width / 2, event_y(p, k));
  put(p, &row->notes, p->left + p->gap * p->lanes + MARGIN + row->notes.width / 2, middle);
  double across = p->left + p->gap * p->lanes;
  if (is_broken(p, k))
    put_rectangle(p, row->stripe, 0, row->top - 2, across, row->height - ROW_GAP + 6);
  else
    put_rectangle(p, row->stripe, 0, row->top + row->height - ROW_GAP / 2, p->width, 0.4);
}

static void put_bar(const Picture *p, guint i) {
  const ChartBar *b = &g_array_index(p->bars->bars, ChartBar, i);
  double x = lane_x(p, b->lane), width = BAR, top = event_y(p, b->first), bottom = event_y(p, b->last);
  if (b->kind == BAR_LOCK) {
    width = 5;
    x += 6.0 * b->of - 3.0 * (p->bars->locks->len - 1);
  }
  put_rectangle(p, p->bar_nodes[i], x - width / 2, top, width, MAX(bottom - top, 2));
}

static void put_lasso(Picture *p) {
  if (!p->frame) return;
  guint first = row_of_step(p, p->c->span->lasso_from);
  double top = p->rows[first].top - ROW_GAP / 2, right = p->left + p->gap * p->lanes;
  put_rectangle(p, p->frame, 1, top, right - 1, p->foot - top);
  put(p, &p->frame_words, right - MARGIN - p->frame_words.width / 2, p->foot + 2 + p->frame_words.height / 2);
  Agedge_t *edge = graph_edge(p->g, p->rows[p->n - 1].number.node, p->rows[first].number.node);
  graph_set(edge, "class", "lasso");
  graph_set(edge, "color", LASSO);
  graph_set(edge, "penwidth", "2");
  const double line[][2] = {{right, p->foot - 6}, {right + 12, p->foot - 6}, {right + 12, top + 8}, {right, top + 8}};
  put_line(p, edge, line, 4);
}

static void put_all(Picture *p) {
  put(p, &p->heading, p->heading.width / 2, p->heading.height / 2);
  put(p, &p->key, p->key.width / 2, p->heading.height + p->key.height / 2);
  double heads = heads_height(p), head_y = p->body - MARGIN - heads / 2;
  for (guint i = 0; i < p->lanes; i++) {
    put(p, &p->heads[i], lane_x(p, i), head_y);
    put(p, &p->feet[i], lane_x(p, i), p->foot + MARGIN + heads / 2);
    put_rectangle(p, p->lines[i], lane_x(p, i) - 0.4, head_y, 0.8, p->foot + MARGIN / 2 - head_y);
  }
  for (guint i = 0; i < p->bars->bars->len; i++) put_bar(p, i);
  for (guint k = 0; k < p->n; k++) put_row(p, k);
  put_lasso(p);
  put(p, &p->end, MAX(p->end.width, p->left + p->gap * p->lanes) / 2, p->height - p->end.height / 2);
}

/* ---- all of it ---- */

/* How wide the columns may be. */
static bool divide(Picture *p, const char *trace, GError **error) {
  const Chart *c = p->c;
  for (guint k = 0; k < p->n; k++) {
    const ChartStep *s = c->steps->pdata[k];
    g_autofree char *notes = chart_step_notes(c, k);
    p->timed |= s->t_ns >= 0;
    p->noted |= notes != NULL;
  }
  p->left = p->timed ? 62 : 34;
  p->noted &= p->left + NOTES + p->lanes * LANE_MIN * 1.3 < VIZ_PAGE;
  double room = VIZ_PAGE - p->left - (p->noted ? NOTES : MARGIN);
  p->gap = MIN(room / p->lanes, LANE_MAX);
  p->width = p->left + p->gap * p->lanes + (p->noted ? NOTES : MARGIN);
  if (p->gap >= LANE_MIN) return true;
  g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT,
              "%s: %u take part in steps %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
              ", and a page has room for %d; choose fewer steps with --from and --to",
              trace, p->lanes, c->span->first, c->span->last, (int)((VIZ_PAGE - p->left - MARGIN) / LANE_MIN));
  return false;
}

static bool draw(Picture *p, const char *path, VizFormat format, GError **error) {
  GVC_t *gvc = graph_context(error);
  if (!gvc) return false;
  build(p);
  bool ok = measure(p, gvc, error);
  if (ok) {
    place(p);
    put_all(p);
    ok = graph_layout(gvc, p->g, "nop2", error) && graph_write(gvc, p->g, format, path, error);
    gvFreeLayout(gvc, p->g);
  }
  agclose(p->g);
  return ok;
}

static void clear(Picture *p) {
  for (guint k = 0; p->rows && k < p->n; k++) g_free(p->rows[k].texts);
  g_free(p->rows);
  g_free(p->heads);
  g_free(p->feet);
  g_free(p->lines);
  g_free(p->bar_nodes);
}

bool viz_sequence(const char *trace, const SpanWish *wish, const char *path, VizFormat format, GError **error) {
  g_assert(format <= FORMAT_DOT);
  g_autoptr(Chart) c = chart_read(trace, wish, error);
  if (!c) return false;
  if (c->steps->len == 0) {
    g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT, "%s: there is no step to draw", trace);
    return false;
  }
  g_autoptr(ChartBars) bars = chart_bars(c);
  Picture p = {.c = c, .bars = bars, .n = c->steps->len, .lanes = c->lanes->len};
  bool ok = divide(&p, trace, error) && draw(&p, path, format, error);
  clear(&p);
  return ok;
}
