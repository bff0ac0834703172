/* parse.c - a header, a step, a footer from the values of its line. */
#include "traces/parse.h"

void trace_parts_init(TraceParts *p) {
  p->args = g_array_new(FALSE, FALSE, sizeof(NoteField));
  p->changed = g_array_new(FALSE, FALSE, sizeof(NoteField));
  p->choices = g_array_new(FALSE, FALSE, sizeof(TraceChoice));
  p->checks = g_array_new(FALSE, FALSE, sizeof(TraceCheck));
  p->metrics = g_array_new(FALSE, FALSE, sizeof(TraceMetric));
  p->sources = g_array_new(FALSE, FALSE, sizeof(TraceSource));
  p->overrides = g_ptr_array_new();
}

void trace_parts_clear(TraceParts *p) {
  GArray *arrays[] = {p->args, p->changed, p->choices, p->checks, p->metrics, p->sources};
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) g_array_unref(arrays[i]);
  g_ptr_array_unref(p->overrides);
}

static const JsonValue *value_at(const GArray *values, guint i) {
  return &g_array_index(values, JsonValue, i);
}

/* ---- arrays of objects, all alike ---- */
typedef char *(*ParseElement)(const GArray *values, guint object, GArray *into);

/* array 0: none. */
static char *parse_elements(const char *name, const GArray *values, guint array, ParseElement parse, GArray *into) {
  guint n = array ? value_at(values, array)->n : 0;
  g_array_set_size(into, 0);
  for (guint i = 0, at = array + 1; i < n; i++, at = value_at(values, at)->next) {
    if (value_at(values, at)->kind != JSON_OBJECT) return g_strdup_printf("%s[%u] should be an object", name, i);
    g_autofree char *why = parse(values, at, into);
    if (why) return g_strdup_printf("%s[%u]: %s", name, i, why);
  }
  return NULL;
}

static char *parse_source(const GArray *values, guint object, GArray *into) {
  static const Member table[] = {{"kind", MEMBER_TEXT, true, offsetof(TraceSource, kind), 0},
                                 {"name", MEMBER_TEXT, true, offsetof(TraceSource, name), 0},
                                 {"text", MEMBER_TEXT, false, offsetof(TraceSource, text), 0},
                                 {"hash", MEMBER_TEXT, false, offsetof(TraceSource, hash), 0},
                                 {0}};
  TraceSource source = {0};
  char *why = members_read(values, object, table, &source);
  g_array_append_val(into, source);
  return why;
}

static char *parse_check(const GArray *values, guint object, GArray *into) {
  static const Member table[] = {{"name", MEMBER_TEXT, true, offsetof(TraceCheck, name), 0},
                                 {"verdict", MEMBER_TEXT, true, offsetof(TraceCheck, verdict), 0},
                                 {"step", MEMBER_COUNT, false, offsetof(TraceCheck, step), 0},
                                 {"why", MEMBER_TEXT, false, offsetof(TraceCheck, why), 0},
                                 {0}};
  TraceCheck check = {.step = -1};
  char *why = members_read(values, object, table, &check);
  g_array_append_val(into, check);
  return why;
}

static char *parse_choice(const GArray *values, guint object, GArray *into) {
  static const Member table[] = {{"name", MEMBER_TEXT, true, offsetof(TraceChoice, name), 0},
                                 {"n", MEMBER_COUNT, true, offsetof(TraceChoice, n), 0},
                                 {"took", MEMBER_COUNT, true, offsetof(TraceChoice, took), 0},
                                 {0}};
  TraceChoice choice = {0};
  char *why = members_read(values, object, table, &choice);
  g_array_append_val(into, choice);
  if (why || choice.took < choice.n) return why;
  return g_strdup_printf("took %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, choice.took, choice.n);
}

/* ---- header ---- */
typedef struct {
  TraceHeader header;
  guint overrides, sources;
  int64_t format, seed;
} HeaderMembers;

static const Member header_table[] = {{"stampede_trace", MEMBER_INT, true, offsetof(HeaderMembers, format), 0},
                                      {"version", MEMBER_TEXT, true, offsetof(HeaderMembers, header.version), 0},
                                      {"command", MEMBER_TEXT, true, offsetof(HeaderMembers, header.command), 0},
                                      {"scenario", MEMBER_TEXT, true, offsetof(HeaderMembers, header.scenario), 0},
                                      {"text", MEMBER_TEXT, true, offsetof(HeaderMembers, header.text), 0},
                                      {"overrides", MEMBER_ARRAY, true, offsetof(HeaderMembers, overrides), 0},
                                      {"sources", MEMBER_ARRAY, true, offsetof(HeaderMembers, sources), 0},
                                      {"seed", MEMBER_INT, true, offsetof(HeaderMembers, seed), 0},
                                      {"subject", MEMBER_TEXT, true, offsetof(HeaderMembers, header.subject), 0},
                                      {"k", MEMBER_COUNT, true, offsetof(HeaderMembers, header.k), 0},
                                      {0}};

static char *parse_overrides(const GArray *values, guint array, GPtrArray *into) {
  for (guint i = 0, at = array + 1; i < value_at(values, array)->n; i++, at = value_at(values, at)->next) {
    const JsonValue *v = value_at(values, at);
    if (v->kind != JSON_STRING) return g_strdup_printf("overrides[%u] should be a string", i);
    g_ptr_array_add(into, (gpointer)v->text); /* the line's; only read */
  }
  g_ptr_array_add(into, NULL);
  return NULL;
}

char *trace_parse_header(const GArray *values, TraceParts *p, TraceHeader *header) {
  HeaderMembers m = {0};
  char *why = members_read(values, 0, header_table, &m);
  if (!why) why = parse_overrides(values, m.overrides, p->overrides);
  if (!why) why = parse_elements("sources", values, m.sources, parse_source, p->sources);
  if (why) return why;
  *header = m.header;
  header->seed = (uint64_t)m.seed; /* its bits: the header is read with JSON_UNSIGNED */
  header->overrides = (const char *const *)p->overrides->pdata;
  header->sources = (const TraceSource *)(const void *)p->sources->data;
  header->n_sources = p->sources->len;
  return NULL;
}

/* ---- step ---- */
typedef struct {
  TraceStep step;
  guint args, changed, choice;
} StepMembers;

static const Member step_table[] = {
    {"i", MEMBER_COUNT, true, offsetof(StepMembers, step.i), 0},
    {"t_ns", MEMBER_COUNT, false, offsetof(StepMembers, step.t_ns), 0},
    {"who", MEMBER_TEXT, false, offsetof(StepMembers, step.who), 0},
    {"do", MEMBER_TEXT, true, offsetof(StepMembers, step.what), 0},
    {"hidden", MEMBER_TRUE, false, offsetof(StepMembers, step.hidden), 0},
    {"args", MEMBER_OBJECT, false, offsetof(StepMembers, args), 0},
    {"changed", MEMBER_OBJECT, false, offsetof(StepMembers, changed), 0},
    {"choice", MEMBER_VALUE, false, offsetof(StepMembers, choice), 0},
    {"hash", MEMBER_HASH, false, offsetof(StepMembers, step.hash), offsetof(StepMembers, step.hashed)},
    {0}};

/* object 0: none. */
static char *parse_fields(const char *name, const GArray *values, guint object, GArray *into) {
  guint n = object ? value_at(values, object)->n : 0;
  g_array_set_size(into, n);
  NoteField *fields = (NoteField *)(void *)into->data;
  for (guint i = 0, at = object + 1; i < n; i++, at = value_at(values, at)->next) {
    const JsonValue *v = value_at(values, at);
    if (v->kind == JSON_INT)
      fields[i] = (NoteField){.name = v->name, .value = v->integer};
    else if (v->kind == JSON_STRING)
      fields[i] = (NoteField){.name = v->name, .text = v->text};
    else
      return g_strdup_printf("%s.%s should be an integer or a string", name, v->name);
  }
  return NULL;
}

static char *parse_choices(const GArray *values, guint choice, GArray *into) {
  if (choice && value_at(values, choice)->kind == JSON_ARRAY)
    return parse_elements("choice", values, choice, parse_choice, into);
  g_array_set_size(into, 0);
  if (!choice) return NULL;
  if (value_at(values, choice)->kind != JSON_OBJECT) return g_strdup("member \"choice\" should be an object");
  g_autofree char *why = parse_choice(values, choice, into);
  return why ? g_strdup_printf("choice: %s", why) : NULL;
}

char *trace_parse_step(const GArray *values, TraceParts *p, TraceStep *step) {
  StepMembers m = {.step = {.t_ns = -1}};
  char *why = members_read(values, 0, step_table, &m);
  if (!why) why = parse_fields("args", values, m.args, p->args);
  if (!why) why = parse_fields("changed", values, m.changed, p->changed);
  if (!why) why = parse_choices(values, m.choice, p->choices);
  if (why) return why;
  *step = m.step;
  step->args = (const NoteField *)(const void *)p->args->data;
  step->n_args = p->args->len;
  step->changed = (const NoteField *)(const void *)p->changed->data;
  step->n_changed = p->changed->len;
  step->choices = (const TraceChoice *)(const void *)p->choices->data;
  step->n_choices = p->choices->len;
  return NULL;
}

/* ---- footer ---- */
typedef struct {
  TraceEnd end;
  guint checks, metrics;
} EndMembers;

static const Member end_table[] = {
    {"steps", MEMBER_COUNT, true, offsetof(EndMembers, end.steps), 0},
    {"verdict", MEMBER_TEXT, true, offsetof(EndMembers, end.verdict), 0},
    {"checks", MEMBER_ARRAY, true, offsetof(EndMembers, checks), 0},
    {"metrics", MEMBER_OBJECT, true, offsetof(EndMembers, metrics), 0},
    {"lasso_from", MEMBER_COUNT, false, offsetof(EndMembers, end.lasso_from), 0},
    {"t_ns", MEMBER_COUNT, false, offsetof(EndMembers, end.t_ns), 0},
    {"state_hash", MEMBER_HASH, false, offsetof(EndMembers, end.state_hash), offsetof(EndMembers, end.hashed)},
    {0}};

static char *parse_metrics(const GArray *values, guint object, GArray *into) {
  for (guint i = 0, at = object + 1; i < value_at(values, object)->n; i++, at = value_at(values, at)->next) {
    const JsonValue *v = value_at(values, at);
    if (v->kind != JSON_INT && v->kind != JSON_DOUBLE)
      return g_strdup_printf("metrics[\"%s\"] should be a number", v->name);
    const TraceMetric metric = {v->name, v->kind == JSON_INT ? (double)v->integer : v->number};
    g_array_append_val(into, metric);
  }
  return NULL;
}

char *trace_parse_end(const GArray *values, TraceParts *p, TraceEnd *end) {
  static const Member outer[] = {{"end", MEMBER_OBJECT, true, 0, 0}, {0}};
  EndMembers m = {.end = {.lasso_from = -1, .t_ns = -1}};
  guint inner = 0;
  char *why = members_read(values, 0, outer, &inner);
  if (!why) why = members_read(values, inner, end_table, &m);
  if (!why) why = parse_elements("checks", values, m.checks, parse_check, p->checks);
  if (!why) why = parse_metrics(values, m.metrics, p->metrics);
  if (why) return why;
  *end = m.end;
  end->checks = (const TraceCheck *)(const void *)p->checks->data;
  end->n_checks = p->checks->len;
  end->metrics = (const TraceMetric *)(const void *)p->metrics->data;
  end->n_metrics = p->metrics->len;
  return NULL;
}
