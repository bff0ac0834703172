/* sweep_point.c - a finished point read back: what report_json wrote, as far as tables and reports of a sweep need it
 * (no hot spots). Whatever does not read as such a document is no finished point. */
#include "sim/sweep_store.h"
#include "traces/json_line.h"
#include <string.h>

/* A document's values in their order; NULL stands for a value that is not there, and has no member and no text. */
typedef struct {
  const JsonValue *all;
} Document;

static const JsonValue *first(const Document *d, const JsonValue *v) {
  return v && v->next > (guint)(v - d->all) + 1 ? v + 1 : NULL;
}

/* The one after `v` in `around`; NULL at its end. */
static const JsonValue *after(const Document *d, const JsonValue *around, const JsonValue *v) {
  return v->next < around->next ? d->all + v->next : NULL;
}

static const JsonValue *member(const Document *d, const JsonValue *object, const char *name, JsonKind kind) {
  if (!object || object->kind != JSON_OBJECT) return NULL;
  for (const JsonValue *v = first(d, object); v; v = after(d, object, v))
    if (!strcmp(v->name, name)) return v->kind == kind ? v : NULL;
  return NULL;
}

static const char *text(const Document *d, const JsonValue *object, const char *name) {
  const JsonValue *v = member(d, object, name, JSON_STRING);
  return v ? v->text : NULL;
}

static bool number(const JsonValue *v, double *out) {
  if (!v || (v->kind != JSON_INT && v->kind != JSON_DOUBLE)) return false;
  *out = v->kind == JSON_INT ? (double)v->integer : v->number;
  return true;
}

static bool read_verdict(const Document *d, RunResult *r) {
  const char *word = text(d, d->all, "verdict");
  for (RunVerdict v = RUN_PASS; v <= RUN_INCOMPLETE; v++)
    if (!g_strcmp0(word, run_verdict_word(v))) return r->verdict = v, true;
  return false;
}

static bool verdict_of(const char *word, CheckVerdict *v) {
  for (*v = CHECK_HOLDS; *v <= CHECK_UNKNOWN; (*v)++)
    if (!g_strcmp0(word, check_verdict_word(*v))) return true;
  return false;
}

static bool read_check(const Document *d, const JsonValue *o, const CheckTable *table, RunResult *r) {
  const char *name = text(d, o, "name");
  const JsonValue *step = member(d, o, "step", JSON_INT);
  const Check *check = name ? check_find(table, name) : NULL;
  CheckVerdict verdict;
  if (!check || !verdict_of(text(d, o, "verdict"), &verdict)) return false;
  CheckResult c = {check, verdict, step ? step->integer : -1, g_strdup(text(d, o, "why"))};
  g_array_append_val(r->checks, c);
  return true;
}

static bool read_expectation(const Document *d, const JsonValue *o, RunResult *r) {
  const char *words = text(d, o, "text"), *saw = text(d, o, "saw");
  const bool met = member(d, o, "met", JSON_TRUE), open = member(d, o, "met", JSON_NULL);
  if (!words || !saw) return false;
  Expectation e = {g_strdup(words), met, !open, g_strdup(saw)};
  g_array_append_val(r->expectations, e);
  return true;
}

static bool read_judgements(const Document *d, const CheckTable *table, RunResult *r) {
  const JsonValue *checks = member(d, d->all, "checks", JSON_ARRAY);
  const JsonValue *expectations = member(d, d->all, "expectations", JSON_ARRAY);
  for (const JsonValue *v = first(d, checks); v; v = after(d, checks, v))
    if (!read_check(d, v, table, r)) return false;
  for (const JsonValue *v = first(d, expectations); v; v = after(d, expectations, v))
    if (!read_expectation(d, v, r)) return false;
  return checks && expectations;
}

/* In the order of the document, which is the order they were measured in. */
static bool read_metrics(const Document *d, RunResult *r) {
  const JsonValue *metrics = member(d, d->all, "metrics", JSON_OBJECT);
  for (const JsonValue *v = first(d, metrics); v; v = after(d, metrics, v)) {
    double value;
    if (!number(v, &value)) return false;
    Metric m = {g_strdup(v->name), value};
    g_array_append_val(r->metrics, m);
  }
  return metrics != NULL;
}

static bool read_unexplained(const Document *d, RunResult *r) {
  const JsonValue *costs = member(d, d->all, "unexplained", JSON_OBJECT);
  for (const JsonValue *v = first(d, costs); v; v = after(d, costs, v)) {
    Unexplained u = {NULL, 0};
    for (CostId id = 0; id < COST_COUNT; id++)
      if (!strcmp(cost_info[id].key, v->name)) u.key = cost_info[id].key;
    if (!u.key || !number(first(d, v), &u.ms)) return false;
    g_array_append_val(r->unexplained, u);
  }
  return costs != NULL;
}

static bool read_names(const Document *d, const SweepPlan *p, guint point, RunResult *r) {
  const char *scenario = text(d, d->all, "scenario"), *version = text(d, d->all, "stampede");
  r->command = g_strdup("sweep");
  r->scenario = g_strdup(scenario);
  r->subject = g_strdup(text(d, d->all, "subject"));
  r->profile = g_strdup(text(d, d->all, "profile"));
  r->stopped = g_strdup(text(d, d->all, "stopped"));
  r->seed = sweep_seed(p, point);
  return r->subject && r->profile && r->scenario && !g_strcmp0(version, STAMPEDE_VERSION);
}

/* Either sign of whole numbers will do: a seed may be above 2^63, a metric below 0. Parsing changes the line. */
static bool parse(const char *line, gsize length, char **kept, GArray *values) {
  for (JsonInts ints = JSON_SIGNED; ints <= JSON_UNSIGNED; ints++) {
    g_array_set_size(values, 0);
    g_free(*kept);
    *kept = g_strndup(line, length);
    g_autofree char *wrong = json_line_parse(*kept, length, ints, values);
    if (!wrong) return true;
  }
  return false;
}

/* A copy of another point's file, or of another sweep's, reads well and is wrong. One that says nothing is run again.
 */
static bool is_this_point(const Document *d, const SweepPlan *p, guint point, const char *path, GError **error) {
  const char *is = text(d, d->all, "point");
  g_autofree char *key = sweep_store_key(p, point);
  if (!is || !strcmp(is, key)) return is != NULL;
  g_propagate_error(error, g_error_new(SCENARIO_ERROR, SCENARIO_ERROR_INPUT,
                                       "%s: this is the point \"%s\", and here belongs \"%s\"; remove the file, and "
                                       "--resume runs the point again",
                                       path, is, key));
  return false;
}

RunResult *sweep_store_load(const char *dir, const SweepPlan *p, guint point, const CheckTable *checks,
                            GError **error) {
  g_autofree char *path = sweep_store_path(dir, point), *read = NULL, *line = NULL;
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(JsonValue));
  gsize length = 0;
  if (!g_file_get_contents(path, &read, &length, NULL)) return NULL;
  g_strdelimit(read, "\n", ' '); /* between members, never inside of them */
  if (strlen(read) != length || !parse(read, length, &line, values)) return NULL;
  Document d = {&g_array_index(values, JsonValue, 0)};
  g_autoptr(RunResult) r = run_result_new();
  bool whole = is_this_point(&d, p, point, path, error) && read_names(&d, p, point, r) && read_verdict(&d, r) &&
               read_judgements(&d, checks, r) && read_metrics(&d, r) && read_unexplained(&d, r);
  return whole ? g_steal_pointer(&r) : NULL;
}
