/* sequence_places.c - where the parts of a sequence chart stand, in points, y downwards; and its arrows. */
#include "viz/sequence_picture.h"

#define ROW_GAP 8.0
#define ARROW   5.0 /* from a message's text down to its line */
#define HEAD    7.0 /* an arrow's head */

static double lane_x(const SequencePicture *p, guint lane) {
  return p->left + p->gap * (lane + 0.5);
}

static double row_height(const SequenceRow *row, guint messages) {
  double height = MAX(row->number.height, row->box.height);
  double said = 0;
  for (guint i = 0; i < messages; i++) said += row->texts[i].height + ARROW;
  return MAX(MAX(height, said), row->notes.height) + ROW_GAP;
}

static double heads_height(const SequencePicture *p) {
  double height = 0;
  for (guint i = 0; i < p->lanes; i++) height = MAX(height, p->heads[i].height);
  return height;
}

static void place(SequencePicture *p) {
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

static void put(const SequencePicture *p, const SequencePart *part, double x, double y) {
  if (!part->node) return;
  g_autoptr(GString) at = g_string_new(NULL);
  graph_append_point(at, p->height, x, y);
  graph_set(part->node, "pos", at->str);
}

static void set_inches(Agnode_t *node, const char *attribute, double points) {
  char text_[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(text_, sizeof text_, "%.4f", points / 72);
  graph_set(node, attribute, text_);
}

static void put_rectangle(const SequencePicture *p, Agnode_t *node, double x, double y, double w, double h) {
  SequencePart part = {.node = node};
  set_inches(node, "width", w);
  set_inches(node, "height", h);
  put(p, &part, x + w / 2, y + h / 2);
}

static guint row_of_step(const SequencePicture *p, int64_t i) {
  return (guint)CLAMP(i - p->c->span->first, 0, (int64_t)p->n - 1);
}

/* Where on its row a step happens: at its last message's line, or in the middle of its box. */
static double event_y(const SequencePicture *p, guint k) {
  if (k == p->n) return p->foot;
  const SequenceRow *row = &p->rows[k];
  const ChartStep *s = p->c->steps->pdata[k];
  if (s->messages->len == 0) return row->top + (row->height - ROW_GAP) / 2;
  double y = row->top;
  for (guint i = 0; i < s->messages->len; i++) y += row->texts[i].height + ARROW;
  return y;
}

/* A lifeline's half width in a row. */
static double half(const SequencePicture *p, guint lane, guint row) {
  double most = 0;
  for (guint i = 0; i < p->bars->bars->len; i++) {
    const ChartBar *b = &g_array_index(p->bars->bars, ChartBar, i);
    if (b->lane != lane || b->first > row || b->last < row) continue;
    most = MAX(most, b->kind == BAR_LOCK ? 3.0 * p->bars->locks->len : BAR / 2);
  }
  return most;
}

/* ---- arrows ---- */

static void put_message(SequencePicture *p, guint k, guint i, double y) {
  const ChartStep *s = p->c->steps->pdata[k];
  const ChartMessage *m = &g_array_index(s->messages, ChartMessage, i);
  const SequencePart *words = &p->rows[k].texts[i];
  Agedge_t *edge = graph_edge(p->g, p->heads[m->from].node, p->heads[m->to].node);
  g_autofree char *id = g_strdup_printf("message%" G_GINT64_FORMAT "_%u", s->i, i);
  graph_set(edge, "id", id);
  graph_set(edge, "class", "message");
  if (sequence_row_is_broken(p, k)) graph_set(edge, "color", BROKEN), graph_set(edge, "penwidth", "2");
  if (s->hidden) graph_set(edge, "style", "dashed");
  double from = lane_x(p, m->from), to = lane_x(p, m->to), way = to > from ? 1 : -1;
  if (m->from == m->to) {
    double x = from + half(p, m->from, k);
    graph_line(edge, p->height, HEAD, (const double[][2]){{x, y - 8}, {x + 22, y - 8}, {x + 22, y}, {x, y}}, 4);
    put(p, words, x + 28 + words->width / 2, y - words->height / 2);
    return;
  }
  const double line[][2] = {{from + way * half(p, m->from, k), y}, {to - way * half(p, m->to, k), y}};
  graph_line(edge, p->height, HEAD, line, 2);
  put(p, words, from + way * p->gap / 2, y - 2 - words->height / 2);
}

static void put_row(SequencePicture *p, guint k) {
  const ChartStep *s = p->c->steps->pdata[k];
  const SequenceRow *row = &p->rows[k];
  double middle = row->top + (row->height - ROW_GAP) / 2, y = row->top;
  for (guint i = 0; i < s->messages->len; i++) {
    y += row->texts[i].height + ARROW;
    put_message(p, k, i, y);
  }
  put(p, &row->box, lane_x(p, s->lane), middle);
  put(p, &row->number, p->left - MARGIN - row->number.width / 2, event_y(p, k));
  put(p, &row->notes, p->left + p->gap * p->lanes + MARGIN + row->notes.width / 2, middle);
  double across = p->left + p->gap * p->lanes;
  if (sequence_row_is_broken(p, k))
    put_rectangle(p, row->stripe, 0, row->top - 2, across, row->height - ROW_GAP + 6);
  else
    put_rectangle(p, row->stripe, 0, row->top + row->height - ROW_GAP / 2, p->width, 0.4);
}

static void put_bar(const SequencePicture *p, guint i) {
  const ChartBar *b = &g_array_index(p->bars->bars, ChartBar, i);
  double x = lane_x(p, b->lane), width = BAR, top = event_y(p, b->first), bottom = event_y(p, b->last);
  if (b->kind == BAR_LOCK) {
    width = 5;
    x += 6.0 * b->of - 3.0 * (p->bars->locks->len - 1);
  }
  put_rectangle(p, p->bar_nodes[i], x - width / 2, top, width, MAX(bottom - top, 2));
}

static void put_lasso(SequencePicture *p) {
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
  graph_line(edge, p->height, HEAD, line, 4);
}

static void put_all(SequencePicture *p) {
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

void sequence_place(SequencePicture *p) {
  place(p);
  put_all(p);
}
