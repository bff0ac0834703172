/* chart.c - a trace as a sequence chart. Participants are numbered as they are met, then put into their order. */
#include "traces/chart.h"
#include <string.h>

static void variable_free(gpointer data) {
  ChartVariable *v = data;
  g_free(v->name);
  g_free(v->value);
  g_free(v);
}

static void message_clear(gpointer data) {
  g_free(((ChartMessage *)data)->text);
}

static void step_free(gpointer data) {
  ChartStep *s = data;
  g_free(s->act);
  g_array_unref(s->messages);
  g_ptr_array_unref(s->changed);
  g_free(s);
}

void chart_free(Chart *c) {
  if (c->span) span_free(c->span);
  g_ptr_array_unref(c->lanes);
  g_ptr_array_unref(c->steps);
  g_free(c);
}

/* ---- while reading ---- */

typedef struct {
  Chart *c;
  GHashTable *lanes;    /* name -> number + 1; looked up only */
  GPtrArray *state;     /* of ChartVariable: the state after the first step shown */
  GHashTable *state_of; /* name -> its ChartVariable; likewise */
} Reading;

static guint lane(Reading *r, const char *name) {
  guint known = GPOINTER_TO_UINT(g_hash_table_lookup(r->lanes, name));
  if (known) return known - 1;
  char *copy = g_strdup(name);
  g_ptr_array_add(r->c->lanes, copy);
  g_hash_table_insert(r->lanes, copy, GUINT_TO_POINTER(r->c->lanes->len));
  return r->c->lanes->len - 1;
}

static const char *argument(const TraceStep *s, const char *name) {
  for (guint i = 0; i < s->n_args; i++)
    if (strcmp(s->args[i].name, name) == 0) return s->args[i].text;
  return NULL;
}

/* "from", then "from_2". */
static const char *numbered(const TraceStep *s, const char *name, guint n) {
  g_autofree char *full = n ? g_strdup_printf("%s_%u", name, n + 1) : g_strdup(name);
  return argument(s, full);
}

static bool told_elsewhere(const char *name) {
  static const char *const words[] = {"on", "of", "timer"}, *const numbers[] = {"from", "to", "message"};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (strcmp(name, words[i]) == 0) return true;
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    gsize length = strlen(numbers[i]);
    if (strncmp(name, numbers[i], length) == 0 && (!name[length] || name[length] == '_')) return true;
  }
  return false;
}

static void append_details(GString *out, const TraceStep *s) {
  for (guint i = 0, n = 0; i < s->n_args; i++) {
    const NoteField *f = &s->args[i];
    if (told_elsewhere(f->name)) continue;
    g_string_append_printf(out, "%s%s=", n++ ? ", " : out->len ? " " : "", f->name);
    if (f->text)
      g_string_append(out, f->text);
    else
      g_string_append_printf(out, "%" G_GINT64_FORMAT, f->value);
  }
  for (guint i = 0; i < s->n_choices; i++)
    if (strcmp(s->choices[i].name, "process") != 0) /* whose turn it was: the lane says so */
      g_string_append_printf(out, " (%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT ")", s->choices[i].name,
                             s->choices[i].took, s->choices[i].n);
}

static char *words(const char *text, const TraceStep *s) {
  GString *out = g_string_new(text);
  append_details(out, s);
  return g_string_free(out, FALSE);
}

static const char *own_name(const TraceStep *s) {
  const char *on = argument(s, "on"), *from = argument(s, "from");
  if (on) return on;
  return s->who ? s->who : from ? from : "environment";
}

static void read_messages(Reading *r, ChartStep *to, const TraceStep *s) {
  const char *target;
  for (guint n = 0; (target = numbered(s, "to", n)); n++) {
    const char *from = numbered(s, "from", n), *text = numbered(s, "message", n);
    ChartMessage m = {.from = from ? lane(r, from) : to->lane, .to = lane(r, target)};
    m.text = n ? g_strdup(text ? text : "") : words(text ? text : s->what, s);
    g_array_append_val(to->messages, m);
  }
}

static char *value_of(const NoteField *f) {
  return f->text ? g_strdup(f->text) : g_strdup_printf("%" G_GINT64_FORMAT, f->value);
}

static void add_variable(GPtrArray *all, const NoteField *f) {
  ChartVariable *v = g_new0(ChartVariable, 1);
  *v = (ChartVariable){g_strdup(f->name), value_of(f)};
  g_ptr_array_add(all, v);
}

static void keep_state(Reading *r, const TraceStep *s) {
  for (guint i = 0; i < s->n_changed; i++) {
    const NoteField *f = &s->changed[i];
    ChartVariable *known = g_hash_table_lookup(r->state_of, f->name);
    if (known) {
      g_free(known->value);
      known->value = value_of(f);
      continue;
    }
    add_variable(r->state, f);
    ChartVariable *v = r->state->pdata[r->state->len - 1];
    g_hash_table_insert(r->state_of, v->name, v);
  }
}

static void add_step(Reading *r, const TraceStep *s) {
  Chart *c = r->c;
  ChartStep *to = g_new0(ChartStep, 1);
  const char *of = argument(s, "of");
  *to = (ChartStep){.i = s->i, .t_ns = s->t_ns, .lane = lane(r, own_name(s)), .hidden = s->hidden};
  to->of = of ? lane(r, of) : to->lane;
  to->act = words(s->what, s);
  to->messages = g_array_new(FALSE, FALSE, sizeof(ChartMessage));
  g_array_set_clear_func(to->messages, message_clear);
  to->changed = c->steps->len ? g_ptr_array_new_with_free_func(variable_free) : g_ptr_array_ref(r->state);
  read_messages(r, to, s);
  if (c->steps->len)
    for (guint i = 0; i < s->n_changed; i++) add_variable(to->changed, &s->changed[i]);
  g_ptr_array_add(c->steps, to);
}

/* ---- order of participants ---- */

static guint kind_of(const char *name) {
  static const char *const kinds[] = {"client", "pgbench", "pooler", "cancel", "postmaster", "server", "backend"};
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    gsize length = strlen(kinds[i]);
    if (strncmp(name, kinds[i], length) == 0 && !g_ascii_isalnum(name[length])) return i;
  }
  return G_N_ELEMENTS(kinds);
}

/* "server 9" before "server 10". */
static int natural(const char *a, const char *b) {
  while (*a && *b) {
    if (g_ascii_isdigit(*a) && g_ascii_isdigit(*b)) {
      char *ea, *eb;
      guint64 na = g_ascii_strtoull(a, &ea, 10), nb = g_ascii_strtoull(b, &eb, 10);
      if (na != nb) return na < nb ? -1 : 1;
      a = ea;
      b = eb;
    } else if (*a != *b)
      return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
    else
      a++, b++;
  }
  return (*a != 0) - (*b != 0);
}

typedef struct {
  char *name;
  guint kind, met;
} Placed;

static gint compare_placed(gconstpointer pa, gconstpointer pb) {
  const Placed *a = pa, *b = pb;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  int by_name = natural(a->name, b->name);
  return by_name ? by_name : a->met < b->met ? -1 : 1;
}

static void order_lanes(Chart *c) {
  guint n = c->lanes->len;
  g_autofree Placed *all = g_new0(Placed, n + 1);
  g_autofree guint *to = g_new0(guint, n + 1);
  for (guint i = 0; i < n; i++) all[i] = (Placed){c->lanes->pdata[i], kind_of(c->lanes->pdata[i]), i};
  qsort(all, n, sizeof *all, compare_placed);
  for (guint i = 0; i < n; i++) {
    c->lanes->pdata[i] = all[i].name;
    to[all[i].met] = i;
  }
  for (guint i = 0; i < c->steps->len; i++) {
    ChartStep *s = c->steps->pdata[i];
    s->lane = to[s->lane];
    s->of = to[s->of];
    for (guint m = 0; m < s->messages->len; m++) {
      ChartMessage *message = &g_array_index(s->messages, ChartMessage, m);
      message->from = to[message->from];
      message->to = to[message->to];
    }
  }
}

/* ---- all of it ---- */

static bool read_steps(Reading *r, const char *path, GError **error) {
  const Span *span = r->c->span;
  g_autoptr(TraceReader) reader = trace_reader_open(path, error);
  if (!reader) return false;
  TraceStep step;
  TraceNext next = TRACE_ENDED;
  while (span->last >= 0 && (next = trace_reader_next(reader, &step, error)) == TRACE_STEP) {
    if (step.i <= span->first) keep_state(r, &step);
    if (step.i >= span->first) add_step(r, &step);
    if (step.i == span->last) break;
  }
  return next != TRACE_FAILED;
}

Chart *chart_read(const char *path, const SpanWish *wish, GError **error) {
  g_autoptr(Chart) c = g_new0(Chart, 1);
  c->lanes = g_ptr_array_new_with_free_func(g_free);
  c->steps = g_ptr_array_new_with_free_func(step_free);
  c->span = span_read(path, wish, error);
  if (!c->span) return NULL;
  g_autoptr(GPtrArray) state = g_ptr_array_new_with_free_func(variable_free);
  g_autoptr(GHashTable) lanes = g_hash_table_new(g_str_hash, g_str_equal),
                        state_of = g_hash_table_new(g_str_hash, g_str_equal);
  Reading r = {c, lanes, state, state_of};
  if (!read_steps(&r, path, error)) return NULL;
  order_lanes(c);
  return g_steal_pointer(&c);
}

static bool is_lane(const Chart *c, const char *name) {
  for (guint i = 0; i < c->lanes->len; i++)
    if (strcmp(c->lanes->pdata[i], name) == 0) return true;
  return false;
}

char *chart_step_notes(const Chart *c, guint step) {
  const ChartStep *s = c->steps->pdata[step];
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < s->changed->len; i++) {
    const ChartVariable *v = s->changed->pdata[i];
    if (!is_lane(c, v->name)) g_string_append_printf(out, "%s%s: %s", out->len ? "; " : "", v->name, v->value);
  }
  return g_string_free(out, out->len == 0);
}
