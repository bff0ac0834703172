/* export_mermaid.c - a sequence diagram as Mermaid text, to paste into an issue. */
#include "traces/export.h"
#include "traces/output.h"

/* Mermaid ends a statement at ; and a comment or entity starts at #; < would be HTML. Its entities are #DECIMAL; */
static void append_escaped(GString *out, const char *text) {
  for (const char *c = text; *c; c++) {
    if (strchr("#;<>&\"%{}", *c))
      g_string_append_printf(out, "#%d;", *c);
    else if (*c == '\n')
      g_string_append(out, "<br/>");
    else
      g_string_append_c(out, (unsigned char)*c < 0x20 ? ' ' : *c);
  }
}

static void append_participants(GString *out, const Chart *c) {
  for (guint i = 0; i < c->lanes->len; i++) {
    const char *name = c->lanes->pdata[i];
    g_string_append_printf(out, "  participant p%u as ", i + 1);
    append_escaped(out, *name ? name : " ");
    g_string_append_c(out, '\n');
  }
}

static void append_note(GString *out, const Chart *c, guint step) {
  const ChartStep *s = c->steps->pdata[step];
  g_string_append_printf(out, "  Note over p%u: %" G_GINT64_FORMAT " ", s->lane + 1, s->i);
  if (s->of != s->lane) {
    append_escaped(out, c->lanes->pdata[s->of]);
    g_string_append(out, ": ");
  }
  append_escaped(out, s->act);
  g_string_append_c(out, '\n');
}

static void append_step(GString *out, const Chart *c, guint step) {
  const ChartStep *s = c->steps->pdata[step];
  if (s->messages->len == 0) append_note(out, c, step);
  for (guint i = 0; i < s->messages->len; i++) {
    const ChartMessage *m = &g_array_index(s->messages, ChartMessage, i);
    g_string_append_printf(out, "  p%u%sp%u: %" G_GINT64_FORMAT " ", m->from + 1, s->hidden ? "-->>" : "->>", m->to + 1,
                           s->i);
    append_escaped(out, m->text);
    g_string_append_c(out, '\n');
  }
  g_autofree char *notes = chart_step_notes(c, step);
  if (!notes || step == 0) return;
  g_string_append_printf(out, "  Note right of p%u: ", c->lanes->len);
  append_escaped(out, notes);
  g_string_append_c(out, '\n');
}

static void append_broken(GString *out, const Chart *c) {
  const Span *span = c->span;
  if (!span->check || c->lanes->len == 0) return;
  g_string_append(out, "  Note over p1");
  if (c->lanes->len > 1) g_string_append_printf(out, ",p%u", c->lanes->len);
  g_string_append(out, ": ");
  append_escaped(out, span->check);
  g_string_append(out, span->why ? " violated: " : " violated");
  if (span->why) append_escaped(out, span->why);
  g_string_append_c(out, '\n');
}

static char *chart_text(const Chart *c) {
  const Span *span = c->span;
  GString *out = g_string_new("sequenceDiagram\n  %% ");
  append_escaped(out, span->scenario);
  g_string_append_c(out, ' ');
  append_escaped(out, span->subject);
  g_string_append_printf(out, " seed %" G_GUINT64_FORMAT "\n", span->seed);
  append_participants(out, c);
  bool loops = span->lasso_from >= 0 && span->last >= span->lasso_from;
  for (guint i = 0; i < c->steps->len; i++) {
    const ChartStep *s = c->steps->pdata[i];
    if (loops && s->i == MAX(span->lasso_from, span->first)) g_string_append(out, "  loop for ever\n");
    append_step(out, c, i);
  }
  if (loops) g_string_append(out, "  end\n");
  append_broken(out, c);
  return g_string_free(out, FALSE);
}

bool trace_export_mermaid(const Chart *c, const char *path, GError **error) {
  g_autofree char *text = chart_text(c);
  g_autoptr(Output) out = output_open(path, error);
  if (!out) return false;
  output_str(out, text);
  return output_commit(out, error);
}
