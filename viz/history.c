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
  g_free(h->scenario);
  g_free(h->check);
  g_free(h->why);
  g_ptr_array_unref(h->steps);
  g_free(h);
}

static void take_footer(History *h, const TraceEnd *end, int64_t *last) {
  for (guint c = 0; c < end->n_checks; c++) {
    const TraceCheck *check = &end->checks[c];
    if (strcmp(check->verdict, "violated") != 0 || (h->check && !(check->step >= 0 && check->step < *last))) continue;
    g_free(h->check);
    g_free(h->why);
    h->check = g_strdup(check->name);
    h->why = g_strdup(check->why);
    if (check->step >= 0 && check->step < h->total) *last = check->step;
  }
}

/* First pass: how many steps there are, and which one (*last) ends the picture. */
static History *read_end(const char *path, int64_t *last, GError **error) {
  g_autoptr(TraceReader) r = trace_reader_open(path, error);
  if (!r) return NULL;
  const TraceHeader *header = trace_reader_header(r);
  g_autoptr(History) h = g_new0(History, 1);
  h->scenario = g_strdup(header->scenario);
  h->seed = header->seed;
  h->steps = g_ptr_array_new_with_free_func(step_free);
  TraceStep step;
  TraceNext next;
  while ((next = trace_reader_next(r, &step, error)) == TRACE_STEP) h->total++;
  if (next == TRACE_FAILED) return NULL;
  h->cut = next == TRACE_CUT;
  *last = h->total - 1;
  if (next == TRACE_ENDED) take_footer(h, trace_reader_end(r), last);
  return g_steal_pointer(&h);
}

static char *field_text(const NoteField *f) {
  return f->text ? g_strdup(f->text) : g_strdup_printf("%" G_GINT64_FORMAT, f->value);
}

static char *args_text(const TraceStep *s) {
  GString *out = g_string_new(NULL);
  for (guint a = 0; a < s->n_args; a++) {
    g_autofree char *value = field_text(&s->args[a]);
    g_string_append_printf(out, "%s%s=%s", a ? ", " : "", s->args[a].name, value);
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

/* Second pass: the state after each step from `first` to `last`. */
static bool read_steps(History *h, const char *path, int64_t first, int64_t last, GError **error) {
  g_autoptr(TraceReader) r = trace_reader_open(path, error);
  if (!r) return false;
  State state = {g_ptr_array_new_with_free_func(variable_free), g_hash_table_new(g_str_hash, g_str_equal)};
  TraceStep step;
  TraceNext next = TRACE_STEP;
  while ((next = trace_reader_next(r, &step, error)) == TRACE_STEP && step.i <= last) {
    apply(&state, &step);
    if (step.i >= first) g_ptr_array_add(h->steps, copy_step(&state, &step));
    if (step.i == last) break;
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

History *history_read(const char *path, guint steps_max, GError **error) {
  g_assert(steps_max > 0);
  int64_t last;
  g_autoptr(History) h = read_end(path, &last, error);
  if (!h) return NULL;
  int64_t first = MAX(0, last + 1 - (int64_t)steps_max);
  if (!read_steps(h, path, first, last, error)) return NULL;
  g_assert_cmpint(h->steps->len, ==, last - first + 1);
  return g_steal_pointer(&h);
}
