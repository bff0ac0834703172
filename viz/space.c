/* space.c - the state graph of a small model, laid out by dot. */
#include "viz/space.h"
#include "viz/graph.h"
#include <string.h>

#define BROKEN   "#B3261E"
#define DEADLOCK "#E69F00" /* Okabe and Ito's orange: not to be taken for the red */
#define INITIAL  "#0072B2"

enum { NAME_WIDTH = 20, VALUE_WIDTH = 28, STEP_WIDTH = 22, WHY_WIDTH = 34, ROWS_MAX = 12 };

static const char *value_in(const SpaceState *s, const char *name) {
  for (guint i = 0; i < s->variables->len; i++) {
    const SpaceVariable *v = s->variables->pdata[i];
    if (strcmp(v->name, name) == 0) return v->value;
  }
  return NULL;
}

static void append_variable(GString *out, const char *name, const char *value) {
  g_string_append(out, "<TR><TD ALIGN=\"LEFT\" BALIGN=\"LEFT\">");
  picture_wrap(out, name, NAME_WIDTH, 2, "<BR/>");
  g_string_append(out, "</TD><TD ALIGN=\"LEFT\" BALIGN=\"LEFT\">");
  picture_wrap(out, *value ? value : "(empty)", VALUE_WIDTH, 3, "<BR/>");
  g_string_append(out, "</TD></TR>");
}

static void append_more(GString *out, guint left_out) {
  if (left_out)
    g_string_append_printf(
        out, "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\"><FONT COLOR=\"#555555\">and %u more</FONT></TD></TR>", left_out);
}

/* What it has that the initial state has not, or has otherwise; then what it has no more. Of the initial state: all. */
static void append_variables(GString *out, const Space *space, guint i) {
  const SpaceState *s = space->states->pdata[i], *first = space->states->pdata[0];
  guint rows = 0, left_out = 0;
  for (guint v = 0; v < s->variables->len; v++) {
    const SpaceVariable *variable = s->variables->pdata[v];
    const char *before = i ? value_in(first, variable->name) : NULL;
    if (before && strcmp(before, variable->value) == 0) continue;
    if (rows++ < ROWS_MAX)
      append_variable(out, variable->name, variable->value);
    else
      left_out++;
  }
  for (guint v = 0; i && v < first->variables->len; v++) {
    const SpaceVariable *variable = first->variables->pdata[v];
    if (!value_in(s, variable->name)) append_variable(out, variable->name, "(gone)");
  }
  append_more(out, left_out);
}

static char *state_label(const Space *space, guint i) {
  const SpaceState *s = space->states->pdata[i];
  GString *out = g_string_new("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"1\">");
  g_string_append_printf(out, "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\"><B>%u</B>%s%s%s</TD></TR>", i,
                         i == 0 ? " initial state" : "", s->end ? " all is done" : "", s->deadlock ? " deadlock" : "");
  append_variables(out, space, i);
  if (s->broken) {
    g_string_append(out, "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\" BALIGN=\"LEFT\" BGCOLOR=\"" BROKEN
                         "\"><FONT COLOR=\"white\">");
    picture_wrap(out, s->broken, WHY_WIDTH, 5, "<BR/>");
    g_string_append(out, "</FONT></TD></TR>");
  }
  g_string_append(out, "</TABLE>");
  return g_string_free(out, FALSE);
}

static void defaults(Agraph_t *g) {
  static const struct {
    int kind;
    const char *name, *value;
  } all[] = {{AGRAPH, "fontname", VIZ_FONT}, {AGRAPH, "bgcolor", "white"},   {AGRAPH, "pad", "0.15"},
             {AGRAPH, "nodesep", "0.15"},    {AGRAPH, "ranksep", "0.3"},     {AGRAPH, "labelloc", "t"},
             {AGRAPH, "labeljust", "l"},     {AGRAPH, "fontsize", "11"},     {AGRAPH, "rankdir", "TB"},
             {AGRAPH, "label", ""},          {AGNODE, "fontname", VIZ_FONT}, {AGNODE, "fontsize", "9"},
             {AGNODE, "shape", "box"},       {AGNODE, "style", "rounded"},   {AGNODE, "margin", "0.09,0.05"},
             {AGNODE, "label", ""},          {AGNODE, "color", "#777777"},   {AGNODE, "penwidth", "1"},
             {AGNODE, "peripheries", "1"},   {AGNODE, "class", ""},          {AGEDGE, "fontname", VIZ_FONT},
             {AGEDGE, "fontsize", "8"},      {AGEDGE, "color", "#333333"},   {AGEDGE, "fontcolor", "#333333"},
             {AGEDGE, "arrowsize", "0.6"},   {AGEDGE, "penwidth", "1"},      {AGEDGE, "class", ""}};
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) graph_default(g, all[i].kind, all[i].name, all[i].value);
}

static Agnode_t *add_state(Agraph_t *g, const Space *space, guint i) {
  const SpaceState *s = space->states->pdata[i];
  g_autofree char *name = g_strdup_printf("state%u", i), *label = state_label(space, i);
  Agnode_t *node = graph_node(g, name);
  graph_set_html(node, "label", label);
  graph_set(node, "class", s->broken ? "broken" : s->deadlock ? "deadlock" : i == 0 ? "initial" : "state");
  if (s->broken || s->deadlock || i == 0) {
    graph_set(node, "color", s->broken ? BROKEN : s->deadlock ? DEADLOCK : INITIAL);
    graph_set(node, "penwidth", "2.5");
  }
  if (s->end) graph_set(node, "peripheries", "2");
  return node;
}

static void add_step(Agraph_t *g, Agnode_t *const *nodes, const SpaceStep *step) {
  Agedge_t *edge = graph_edge(g, nodes[step->from], nodes[step->to]);
  g_autoptr(GString) label = g_string_new(NULL);
  picture_wrap(label, step->words, STEP_WIDTH, 3, "<BR/>");
  graph_set_html(edge, "label", label->str);
  graph_set(edge, "class", step->broken ? "broken" : "step");
  if (!step->broken) return;
  graph_set(edge, "color", BROKEN);
  graph_set(edge, "fontcolor", BROKEN);
  graph_set(edge, "penwidth", "2");
}

static Agraph_t *graph_of(const Space *s, const char *scenario) {
  Agraph_t *g = graph_new(scenario);
  defaults(g);
  g_autoptr(GString) label = g_string_new("<FONT POINT-SIZE=\"14\"><B>");
  picture_wrap(label, scenario, 80, 1, "");
  g_string_append_printf(label,
                         "</B></FONT><BR ALIGN=\"LEFT\"/>%u states, %u steps; a state says what is otherwise than in "
                         "the initial one<BR ALIGN=\"LEFT\"/>",
                         s->states->len, s->steps->len);
  graph_set_html(g, "label", label->str);
  g_autofree Agnode_t **nodes = g_new0(Agnode_t *, s->states->len);
  for (guint i = 0; i < s->states->len; i++) nodes[i] = add_state(g, s, i);
  for (guint i = 0; i < s->steps->len; i++) add_step(g, nodes, &g_array_index(s->steps, SpaceStep, i));
  return g;
}

/* From above downwards; from the left, where that is narrower and the first is too wide for a page. */
static bool lay_out(GVC_t *gvc, Agraph_t *g, GError **error) {
  if (!graph_layout(gvc, g, "dot", error)) return false;
  double across = GD_bb(g).UR.x, down = GD_bb(g).UR.y;
  if (across <= VIZ_PAGE || down > across) return true;
  gvFreeLayout(gvc, g);
  graph_set(g, "rankdir", "LR");
  return graph_layout(gvc, g, "dot", error);
}

bool viz_space(const Space *s, const char *scenario, const char *path, VizFormat format, GError **error) {
  g_assert(format <= FORMAT_DOT);
  if (s->more) {
    g_set_error(
        error, VIZ_ERROR, VIZ_ERROR_INPUT,
        "%s has more than %u states, which no picture shows; fewer clients or shorter scripts have fewer states",
        scenario, s->states->len);
    return false;
  }
  GVC_t *gvc = graph_context(error);
  if (!gvc) return false;
  g_autoptr(Agraph_t) g = graph_of(s, scenario);
  bool ok = lay_out(gvc, g, error) && graph_write(gvc, g, format, path, error);
  gvFreeLayout(gvc, g);
  return ok;
}
