/* history.c - the state of a traced run, step by step. */
#include "viz/history.h"
#include "viz/picture.h"
#include <string.h>

static void variable_free(gpointer data) {
  HistoryVariable *v = data;
  g_free(v->name);
  g_free(v->value);
  g_free(v->old);
  g_free(v);
}

static void step_free(gpointer data) {
  HistoryStep *s = data;
  g_free(s->who);
  g_free(s->what);
  g_free(s->args);
  g_ptr_array_unref(s->variables);
  g_free(s);
}

void history_free(History *h) {
  if (h->span) span_free(h->span);
  g_ptr_array_unref(h->steps);
  g_free(h);
}

static char *field_text(const NoteField *f) {
  return f->text ? g_strdup(f->text) : g_strdup_printf("%" G_GINT64_FORMAT, f->value);
}

/* Who is who in a sequence chart; here the changed variables say it. */
static bool for_charts(const char *name) {
  return strcmp(name, "on") == 0 || strcmp(name, "of") == 0 || g_str_has_prefix(name, "from") ||
         strcmp(name, "to") == 0 || g_str_has_prefix(name, "to_");
}

static char *args_text(const TraceStep *s) {
  GString *out = g_string_new(NULL);
  for (guint a = 0; a < s->n_args; a++) {
    if (for_charts(s->args[a].name)) continue;
    g_autofree char *value = field_text(&s->args[a]);
    g_string_append_printf(out, "%s%s=%s", out->len ? ", " : "", s->args[a].name, value);
  }
  return g_string_free(out, FALSE);
}

/* The state so far: variables in order of first appearance, and where each name is in it. */
typedef struct {
  GPtrArray *variables;
  GHashTable *places;
} State;

static void apply(State *state, const TraceStep *s) {
  for (guint v = 0; v < state->variables->len; v++) {
    HistoryVariable *variable = state->variables->pdata[v];
    g_clear_pointer(&variable->old, g_free);
  }
  for (guint c = 0; c < s->n_changed; c++) {
    const NoteField *f = &s->changed[c];
    gpointer place;
    if (g_hash_table_lookup_extended(state->places, f->name, NULL, &place)) {
      HistoryVariable *v = state->variables->pdata[GPOINTER_TO_UINT(place)];
      v->old = v->value;
      v->value = field_text(f);
      continue;
    }
    HistoryVariable *v = g_new0(HistoryVariable, 1);
    *v =
        (HistoryVariable){.name = g_strdup(f->name), .value = field_text(f), .old = s->i ? g_strdup("(absent)") : NULL};
    g_hash_table_insert(state->places, v->name, GUINT_TO_POINTER(state->variables->len));
    g_ptr_array_add(state->variables, v);
  }
}

static HistoryStep *copy_step(const State *state, const TraceStep *s) {
  HistoryStep *copy = g_new0(HistoryStep, 1);
  *copy = (HistoryStep){.i = s->i,
                        .t_ns = s->t_ns,
                        .who = g_strdup(s->who),
                        .what = g_strdup(s->what),
                        .args = args_text(s),
                        .hidden = s->hidden};
  copy->variables = g_ptr_array_new_with_free_func(variable_free);
  for (guint v = 0; v < state->variables->len; v++) {
    const HistoryVariable *from = state->variables->pdata[v];
    HistoryVariable *to = g_new0(HistoryVariable, 1);
    *to = (HistoryVariable){g_strdup(from->name), g_strdup(from->value), g_strdup(from->old)};
    g_ptr_array_add(copy->variables, to);
  }
  return copy;
}

/* The state after each step of the span. */
static bool read_steps(History *h, const char *path, GError **error) {
  g_autoptr(TraceReader) r = trace_reader_open(path, error);
  if (!r) return false;
  State state = {g_ptr_array_new_with_free_func(variable_free), g_hash_table_new(g_str_hash, g_str_equal)};
  TraceStep step;
  TraceNext next = TRACE_STEP;
  while ((next = trace_reader_next(r, &step, error)) == TRACE_STEP && step.i <= h->span->last) {
    apply(&state, &step);
    if (step.i >= h->span->first) g_ptr_array_add(h->steps, copy_step(&state, &step));
    if (step.i == h->span->last) break;
  }
  bool described = state.variables->len > 0;
  g_hash_table_unref(state.places);
  g_ptr_array_unref(state.variables);
  if (next == TRACE_FAILED) return false;
  if (!described)
    g_set_error(
        error, VIZ_ERROR, VIZ_ERROR_INPUT,
        "%s: no step says what it changed, so there is no state to draw (is the model too large for a picture?)", path);
  return described;
}

History *history_read(const char *path, const SpanWish *wish, GError **error) {
  g_autoptr(History) h = g_new0(History, 1);
  h->steps = g_ptr_array_new_with_free_func(step_free);
  h->span = span_read(path, wish, error);
  if (!h->span || !read_steps(h, path, error)) return NULL;
  g_assert_cmpint(h->steps->len, ==, h->span->last - h->span->first + 1);
  return g_steal_pointer(&h);
}
