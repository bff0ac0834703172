/* export_mermaid.c - a sequence diagram as Mermaid text, to paste into an issue. The lines are kept until the footer
 * has come, as only that knows where the loop of a lasso begins. */
#include "traces/export.h"
#include "traces/output.h"

typedef struct {
  GHashTable *ids;   /* name -> number of the participant; looked up only */
  GString *declared; /* "participant p1 as a" lines, in order of first appearance */
  GPtrArray *lines;  /* one text a step */
} Chart;

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

static guint participant(Chart *c, const char *name) {
  guint id = GPOINTER_TO_UINT(g_hash_table_lookup(c->ids, name));
  if (id) return id;
  id = g_hash_table_size(c->ids) + 1;
  g_hash_table_insert(c->ids, g_strdup(name), GUINT_TO_POINTER(id));
  g_string_append_printf(c->declared, "  participant p%u as ", id);
  append_escaped(c->declared, *name ? name : " ");
  g_string_append_c(c->declared, '\n');
  return id;
}

static const char *target(const TraceStep *s) {
  for (guint i = 0; i < s->n_args; i++)
    if (strcmp(s->args[i].name, "to") == 0) return s->args[i].text;
  return NULL;
}

/* All of the step but who, which the picture shows. */
static void append_step(GString *out, const TraceStep *s) {
  g_autoptr(GString) words = g_string_new(NULL);
  TraceStep anonymous = *s;
  anonymous.who = NULL;
  trace_step_words(&anonymous, words);
  g_string_append_printf(out, "%" G_GINT64_FORMAT " ", s->i);
  append_escaped(out, words->str);
}

static void add_step(Chart *c, const TraceStep *s) {
  GString *line = g_string_new("  ");
  const char *to = target(s);
  guint from = participant(c, s->who ? s->who : "environment");
  if (to)
    g_string_append_printf(line, "p%u%sp%u: ", from, s->hidden ? "-->>" : "->>", participant(c, to));
  else
    g_string_append_printf(line, "Note over p%u: ", from);
  append_step(line, s);
  g_ptr_array_add(c->lines, g_string_free(line, FALSE));
}

static void append_checks(GString *out, const Chart *c, const TraceEnd *end) {
  guint n = g_hash_table_size(c->ids);
  for (guint i = 0; n && i < end->n_checks; i++) {
    const TraceCheck *check = &end->checks[i];
    if (strcmp(check->verdict, "violated") != 0) continue;
    g_string_append(out, "  Note over p1");
    if (n > 1) g_string_append_printf(out, ",p%u", n);
    g_string_append(out, ": ");
    append_escaped(out, check->name);
    g_string_append(out, " violated");
    if (check->why) g_string_append(out, ": ");
    if (check->why) append_escaped(out, check->why);
    g_string_append_c(out, '\n');
  }
}

/* end: NULL when the trace was cut. */
static char *chart_text(const Chart *c, const TraceHeader *h, const TraceEnd *end) {
  GString *out = g_string_new("sequenceDiagram\n  %% ");
  append_escaped(out, h->scenario);
  g_string_append_c(out, ' ');
  append_escaped(out, h->subject);
  g_string_append_printf(out, " seed %" G_GUINT64_FORMAT "\n%s", h->seed, c->declared->str);
  int64_t loop = end ? end->lasso_from : -1;
  for (guint i = 0; i < c->lines->len; i++) {
    if (i == loop) g_string_append(out, "  loop forever\n");
    g_string_append_printf(out, "%s\n", (const char *)c->lines->pdata[i]);
  }
  if (loop >= 0) g_string_append(out, "  end\n");
  if (end) append_checks(out, c, end);
  return g_string_free(out, FALSE);
}

static bool read_chart(Chart *c, TraceReader *r, gint64 max_steps, bool *cut, GError **error) {
  TraceStep step;
  TraceNext next;
  while ((next = trace_reader_next(r, &step, error)) == TRACE_STEP) {
    if (step.i < max_steps) {
      add_step(c, &step);
      continue;
    }
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_LIMIT,
                "%s: more than %" G_GINT64_FORMAT " steps are no sequence diagram", trace_reader_name(r), max_steps);
    return false;
  }
  *cut = next == TRACE_CUT;
  return next != TRACE_FAILED;
}

bool trace_export_mermaid(TraceReader *r, const char *path, gint64 max_steps, GError **error) {
  g_autoptr(GHashTable) ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GString) declared = g_string_new(NULL);
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  Chart c = {ids, declared, lines};
  bool cut;
  if (!read_chart(&c, r, max_steps, &cut, error)) return false;
  g_autofree char *text = chart_text(&c, trace_reader_header(r), cut ? NULL : trace_reader_end(r));
  g_autoptr(Output) out = output_open(path, error);
  if (!out) return false;
  output_str(out, text);
  return output_commit(out, error);
}
