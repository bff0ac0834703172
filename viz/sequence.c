/* sequence.c - a sequence chart, drawn by Graphviz where we put things (nop2): dot knows no lifelines, and text is
 * measured and SVG, PNG and PDF written in the one way that the state picture uses. Every part is a node with a place;
 * a message is an edge between the heads of two lifelines with a line of our own, so that the graph itself says who
 * tells what to whom. Lifelines, bars and boxes are nodes and lie below the arrows (outputorder: nodesfirst). */
#include "viz/sequence_picture.h"

#define LANE_MAX 170.0 /* between two lifelines */
#define LANE_MIN 58.0

/* ---- measuring ---- */

static void measured(SequencePart *part) {
  if (!part->node) return;
  part->width = ND_width(part->node) * 72;
  part->height = ND_height(part->node) * 72;
}

static bool measure(SequencePicture *p, GVC_t *gvc, GError **error) {
  if (!graph_layout(gvc, p->g, "dot", error)) return false;
  measured(&p->heading);
  measured(&p->key);
  measured(&p->end);
  measured(&p->frame_words);
  for (guint i = 0; i < p->lanes; i++) measured(&p->heads[i]), measured(&p->feet[i]);
  for (guint k = 0; k < p->n; k++) {
    const ChartStep *s = p->c->steps->pdata[k];
    SequenceRow *row = &p->rows[k];
    measured(&row->number);
    measured(&row->box);
    measured(&row->notes);
    for (guint i = 0; i < s->messages->len; i++) measured(&row->texts[i]);
  }
  gvFreeLayout(gvc, p->g);
  return true;
}

/* ---- all of it ---- */

/* How wide the columns may be. */
static bool divide(SequencePicture *p, const char *trace, GError **error) {
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

static bool draw(SequencePicture *p, const char *path, VizFormat format, GError **error) {
  GVC_t *gvc = graph_context(error);
  if (!gvc) return false;
  sequence_build(p);
  bool ok = measure(p, gvc, error);
  if (ok) {
    sequence_place(p);
    ok = graph_layout(gvc, p->g, "nop2", error) && graph_write(gvc, p->g, format, path, error);
    gvFreeLayout(gvc, p->g);
  }
  agclose(p->g);
  return ok;
}

static void clear(SequencePicture *p) {
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
  SequencePicture p = {.c = c, .bars = bars, .n = c->steps->len, .lanes = c->lanes->len};
  bool ok = divide(&p, trace, error) && draw(&p, path, format, error);
  clear(&p);
  return ok;
}
