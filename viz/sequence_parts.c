/* sequence_parts.c - the parts of a sequence chart: nodes with their words and looks. */
#include "viz/sequence_picture.h"

#define CHAR      5.4 /* of the 9 point font, on the average */
#define BROKEN_BG "#FBE3E1"
#define QUIET     "#666666"

/* Okabe and Ito's colours, which the colour-blind tell apart; without vermilion, which is near the red of what is
 * broken, and black. */
static const char *const colours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#8C8C8C", "#F0E442"};
static const char *const tints[] = {"#A6CDE6", "#F6DBA6", "#A6DCCB", "#ECCFDF", "#C7E6F7", "#D4D4D4", "#FAF5BC"};
G_STATIC_ASSERT(G_N_ELEMENTS(colours) == G_N_ELEMENTS(tints));

static const char *colour_of(guint i) {
  return colours[i % G_N_ELEMENTS(colours)];
}

bool sequence_row_is_broken(const SequencePicture *p, guint row) {
  const Span *s = p->c->span;
  const ChartStep *step = p->c->steps->pdata[row];
  return s->check && (s->broken >= 0 ? step->i == s->broken : step->i + 1 == s->total);
}

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

static SequencePart text(SequencePicture *p, const char *name, const char *class, const char *html) {
  SequencePart part = {.node = graph_node(p->g, name)};
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

static void append_number(GString *out, const SequencePicture *p, const ChartStep *s) {
  g_string_append_printf(out, "<FONT COLOR=\"" QUIET "\">%" G_GINT64_FORMAT "</FONT>", s->i);
  if (!p->timed || s->t_ns < 0) return;
  g_string_append(out, "<BR/><FONT COLOR=\"" QUIET "\" POINT-SIZE=\"7.5\">");
  picture_time(out, s->t_ns);
  g_string_append(out, "</FONT>");
}

static void make_box(SequencePicture *p, SequenceRow *row, const ChartStep *s, bool broken) {
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

static void make_texts(SequencePicture *p, SequenceRow *row, const ChartStep *s, bool broken) {
  row->texts = g_new0(SequencePart, s->messages->len);
  for (guint i = 0; i < s->messages->len; i++) {
    const ChartMessage *m = &g_array_index(s->messages, ChartMessage, i);
    g_autofree char *html = cell(m->text, chars(p->gap - BAR - 8), 4, broken ? "" : "BGCOLOR=\"white\"",
                                 broken ? "<FONT COLOR=\"" BROKEN "\">" : "");
    g_autofree char *name = g_strdup_printf("says%" G_GINT64_FORMAT "_%u", s->i, i);
    row->texts[i] = text(p, name, "message", html);
  }
}

static void make_row(SequencePicture *p, guint k) {
  const ChartStep *s = p->c->steps->pdata[k];
  SequenceRow *row = &p->rows[k];
  bool broken = sequence_row_is_broken(p, k);
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

static SequencePart make_head(SequencePicture *p, guint lane, const char *kind) {
  g_autoptr(GString) html = g_string_new("<B>");
  picture_wrap(html, p->c->lanes->pdata[lane], chars((p->gap - 12) * 0.85), 3, "<BR/>");
  g_string_append(html, "</B>");
  g_autofree char *name = named(kind, lane);
  SequencePart part = text(p, name, "lane", html->str);
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

static bool any_bar(const SequencePicture *p, BarKind kind) {
  for (guint i = 0; i < p->bars->bars->len; i++)
    if (g_array_index(p->bars->bars, ChartBar, i).kind == kind) return true;
  return false;
}

static void make_heading(SequencePicture *p) {
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

static void make_key(SequencePicture *p) {
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

static void make_end(SequencePicture *p) {
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
static Agnode_t *rectangle(SequencePicture *p, const char *kind, gint64 i, const char *colour) {
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

static void make_ground(SequencePicture *p) {
  for (guint k = 0; k < p->n; k++) {
    const ChartStep *s = p->c->steps->pdata[k];
    p->rows[k].stripe = rectangle(p, "row", s->i, sequence_row_is_broken(p, k) ? BROKEN_BG : "#E8E8E8");
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

static void make_lasso(SequencePicture *p) {
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

void sequence_build(SequencePicture *p) {
  p->g = graph_new(p->c->span->scenario);
  defaults(p->g);
  p->rows = g_new0(SequenceRow, p->n);
  p->lines = g_new0(Agnode_t *, p->lanes);
  p->bar_nodes = g_new0(Agnode_t *, p->bars->bars->len + 1);
  make_ground(p);
  make_lasso(p);
  make_heading(p);
  make_key(p);
  p->heads = g_new0(SequencePart, p->lanes);
  p->feet = g_new0(SequencePart, p->lanes);
  for (guint i = 0; i < p->lanes; i++) p->heads[i] = make_head(p, i, "lane");
  for (guint i = 0; i < p->lanes && p->n > 25; i++) p->feet[i] = make_head(p, i, "foot");
  for (guint k = 0; k < p->n; k++) make_row(p, k);
  make_end(p);
}
