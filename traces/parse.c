/* parse.c - a header, a step, a footer from the JSON of its line. */
#include "traces/parse.h"
#include <math.h>

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

/* ---- arrays of objects, all alike ---- */
typedef char *(*ParseElement)(JsonObject *object, GArray *into);

static char *parse_elements(const char *name, JsonArray *array, ParseElement parse, GArray *into) {
  g_array_set_size(into, 0);
  for (guint i = 0; array && i < json_array_get_length(array); i++) {
    JsonNode *node = json_array_get_element(array, i);
    if (!JSON_NODE_HOLDS_OBJECT(node)) return g_strdup_printf("%s[%u] should be an object", name, i);
    g_autofree char *why = parse(json_node_get_object(node), into);
    if (why) return g_strdup_printf("%s[%u]: %s", name, i, why);
  }
  return NULL;
}

static char *parse_source(JsonObject *object, GArray *into) {
  static const Member table[] = {{"kind", MEMBER_TEXT, true, offsetof(TraceSource, kind), 0},
                                 {"name", MEMBER_TEXT, true, offsetof(TraceSource, name), 0},
                                 {"text", MEMBER_TEXT, false, offsetof(TraceSource, text), 0},
                                 {"hash", MEMBER_TEXT, false, offsetof(TraceSource, hash), 0},
                                 {0}};
  TraceSource source = {0};
  char *why = members_read(object, table, &source);
  g_array_append_val(into, source);
  return why;
}

static char *parse_check(JsonObject *object, GArray *into) {
  static const Member table[] = {{"name", MEMBER_TEXT, true, offsetof(TraceCheck, name), 0},
                                 {"verdict", MEMBER_TEXT, true, offsetof(TraceCheck, verdict), 0},
                                 {"step", MEMBER_COUNT, false, offsetof(TraceCheck, step), 0},
                                 {"why", MEMBER_TEXT, false, offsetof(TraceCheck, why), 0},
                                 {0}};
  TraceCheck check = {.step = -1};
  char *why = members_read(object, table, &check);
  g_array_append_val(into, check);
  return why;
}

static char *parse_choice(JsonObject *object, GArray *into) {
  static const Member table[] = {{"name", MEMBER_TEXT, true, offsetof(TraceChoice, name), 0},
                                 {"n", MEMBER_COUNT, true, offsetof(TraceChoice, n), 0},
                                 {"took", MEMBER_COUNT, true, offsetof(TraceChoice, took), 0},
                                 {0}};
  TraceChoice choice = {0};
  char *why = members_read(object, table, &choice);
  g_array_append_val(into, choice);
  if (why || choice.took < choice.n) return why;
  return g_strdup_printf("took %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, choice.took, choice.n);
}

/* ---- header ---- */
typedef struct {
  TraceHeader header;
  JsonArray *overrides, *sources;
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

static char *parse_overrides(JsonArray *array, GPtrArray *into) {
  for (guint i = 0; i < json_array_get_length(array); i++) {
    JsonNode *node = json_array_get_element(array, i);
    if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING)
      return g_strdup_printf("overrides[%u] should be a string", i);
    g_ptr_array_add(into, (gpointer)json_node_get_string(node)); /* the tree's; only read */
  }
  g_ptr_array_add(into, NULL);
  return NULL;
}

char *trace_parse_header(JsonObject *object, TraceParts *p, TraceHeader *header) {
  HeaderMembers m = {0};
  char *why = members_read(object, header_table, &m);
  if (!why) why = parse_overrides(m.overrides, p->overrides);
  if (!why) why = parse_elements("sources", m.sources, parse_source, p->sources);
  if (why) return why;
  *header = m.header;
  header->seed = (uint64_t)m.seed; /* json-glib wraps what is above INT64_MAX; json_guard saw that it is unsigned */
  header->overrides = (const char *const *)p->overrides->pdata;
  header->sources = (const TraceSource *)(const void *)p->sources->data;
  header->n_sources = p->sources->len;
  return NULL;
}

/* ---- step ---- */
typedef struct {
  TraceStep step;
  JsonObject *args, *changed;
  JsonNode *choice;
} StepMembers;

static const Member step_table[] = {
    {"i", MEMBER_COUNT, true, offsetof(StepMembers, step.i), 0},
    {"t_ns", MEMBER_COUNT, false, offsetof(StepMembers, step.t_ns), 0},
    {"who", MEMBER_TEXT, false, offsetof(StepMembers, step.who), 0},
    {"do", MEMBER_TEXT, true, offsetof(StepMembers, step.what), 0},
    {"hidden", MEMBER_TRUE, false, offsetof(StepMembers, step.hidden), 0},
    {"args", MEMBER_OBJECT, false, offsetof(StepMembers, args), 0},
    {"changed", MEMBER_OBJECT, false, offsetof(StepMembers, changed), 0},
    {"choice", MEMBER_NODE, false, offsetof(StepMembers, choice), 0},
    {"hash", MEMBER_HASH, false, offsetof(StepMembers, step.hash), offsetof(StepMembers, step.hashed)},
    {0}};

typedef struct {
  GArray *into;
  const char *bad; /* the first member of a wrong type */
} FieldsWalk;

static void parse_field(JsonObject *object, const char *name, JsonNode *node, gpointer data) {
  (void)object;
  FieldsWalk *walk = data;
  NoteField field = {.name = name};
  GType type = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;
  if (type == G_TYPE_INT64)
    field.value = json_node_get_int(node);
  else if (type == G_TYPE_STRING)
    field.text = json_node_get_string(node);
  else if (!walk->bad)
    walk->bad = name;
  g_array_append_val(walk->into, field);
}

static char *parse_fields(const char *name, JsonObject *object, GArray *into) {
  FieldsWalk walk = {.into = into};
  g_array_set_size(into, 0);
  if (object) json_object_foreach_member(object, parse_field, &walk); /* in the order of the line */
  return walk.bad ? g_strdup_printf("%s.%s should be an integer or a string", name, walk.bad) : NULL;
}

static char *parse_choices(JsonNode *node, GArray *into) {
  if (node && JSON_NODE_HOLDS_ARRAY(node))
    return parse_elements("choice", json_node_get_array(node), parse_choice, into);
  g_array_set_size(into, 0);
  if (!node) return NULL;
  if (!JSON_NODE_HOLDS_OBJECT(node)) return g_strdup("member \"choice\" should be an object");
  g_autofree char *why = parse_choice(json_node_get_object(node), into);
  return why ? g_strdup_printf("choice: %s", why) : NULL;
}

char *trace_parse_step(JsonObject *object, TraceParts *p, TraceStep *step) {
  StepMembers m = {.step = {.t_ns = -1}};
  char *why = members_read(object, step_table, &m);
  if (!why) why = parse_fields("args", m.args, p->args);
  if (!why) why = parse_fields("changed", m.changed, p->changed);
  if (!why) why = parse_choices(m.choice, p->choices);
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
  JsonArray *checks;
  JsonObject *metrics;
} EndMembers;

static const Member end_table[] = {
    {"steps", MEMBER_COUNT, true, offsetof(EndMembers, end.steps), 0},
    {"verdict", MEMBER_TEXT, true, offsetof(EndMembers, end.verdict), 0},
    {"checks", MEMBER_ARRAY, true, offsetof(EndMembers, checks), 0},
    {"metrics", MEMBER_OBJECT, true, offsetof(EndMembers, metrics), 0},
    {"loop", MEMBER_COUNT, false, offsetof(EndMembers, end.loop), 0},
    {"t_ns", MEMBER_COUNT, false, offsetof(EndMembers, end.t_ns), 0},
    {"state_hash", MEMBER_HASH, false, offsetof(EndMembers, end.state_hash), offsetof(EndMembers, end.hashed)},
    {0}};

static void parse_metric(JsonObject *object, const char *name, JsonNode *node, gpointer data) {
  (void)object;
  FieldsWalk *walk = data;
  GType type = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;
  bool number = type == G_TYPE_INT64 || type == G_TYPE_DOUBLE;
  TraceMetric metric = {name, number ? json_node_get_double(node) : NAN};
  if (!isfinite(metric.value) && !walk->bad) walk->bad = name;
  g_array_append_val(walk->into, metric);
}

static char *parse_metrics(JsonObject *object, GArray *into) {
  FieldsWalk walk = {.into = into};
  json_object_foreach_member(object, parse_metric, &walk);
  return walk.bad ? g_strdup_printf("metrics[\"%s\"] should be a finite number", walk.bad) : NULL;
}

char *trace_parse_end(JsonObject *object, TraceParts *p, TraceEnd *end) {
  static const Member outer[] = {{"end", MEMBER_OBJECT, true, 0, 0}, {0}};
  EndMembers m = {.end = {.loop = -1, .t_ns = -1}};
  JsonObject *inner = NULL;
  char *why = members_read(object, outer, &inner);
  if (!why) why = members_read(inner, end_table, &m);
  if (!why) why = parse_elements("checks", m.checks, parse_check, p->checks);
  if (!why) why = parse_metrics(m.metrics, p->metrics);
  if (why) return why;
  *end = m.end;
  end->checks = (const TraceCheck *)(const void *)p->checks->data;
  end->n_checks = p->checks->len;
  end->metrics = (const TraceMetric *)(const void *)p->metrics->data;
  end->n_metrics = p->metrics->len;
  return NULL;
}
