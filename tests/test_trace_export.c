/* test_trace_export.c - the exports say what the trace says; json-glib reads the JSON, Mermaid text is compared whole.
 */
#include "tests/trace_sample.h"
#include "traces/export.h"
#include <json-glib/json-glib.h>

typedef bool (*ExportFunc)(const char *trace, const char *path, GError **error);
static const char *const counters[] = {"faults", "procarray.numProcs", NULL};
static bool perfetto(const char *trace, const char *path, GError **error) {
  g_autoptr(TraceReader) r = read_text(trace);
  return trace_export_perfetto(r, path, counters, error);
}

/* A chart is read from a file, which is read twice. */
static Chart *chart_of(const char *trace, guint most, GError **error) {
  const SpanWish w = {.from = -1, .to = -1, .last = 10, .most = most};
  g_autofree char *folder = g_dir_make_tmp("stampede-trace-XXXXXX", NULL), *path = g_build_filename(folder, "t", NULL);
  g_file_set_contents(path, trace, -1, NULL);
  Chart *c = chart_read(path, &w, error);
  g_remove(path);
  g_rmdir(folder);
  return c;
}
static bool mermaid(const char *trace, const char *path, GError **error) {
  g_autoptr(Chart) c = chart_of(trace, 10, error);
  return c && trace_export_mermaid(c, path, error);
}

static char *exported(ExportFunc export, const char *trace) {
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp("stampede-trace-XXXXXX", NULL), *path = g_build_filename(folder, "t", NULL);
  char *text = NULL;
  if (export(trace, path, &error)) g_file_get_contents(path, &text, NULL, &error);
  if (error) fprintf(stderr, "%s\n", error->message);
  g_remove(path);
  g_rmdir(folder);
  CU_ASSERT_FATAL(text != NULL);
  return text;
}

/* a works for 700 ns, then b for as long as its argument says, a again without end. */
static char *timed_trace(void) {
  static const char *const none[] = {NULL};
  const TraceHeader h = {"0.1", "run", "s", "", none, NULL, 0, 1, "model:x", 0};
  const NoteField first[] = {{"faults", 5, NULL}}, second[] = {{"ns", 250, NULL}, {"faults", 2, NULL}};
  const NoteField changed[] = {{"procarray.numProcs", 9, NULL}};
  const TraceStep steps[] = {{.i = 0, .t_ns = 1001, .who = "a", .what = "fork", .args = first, .n_args = 1},
                             {.i = 1,
                              .t_ns = 1500,
                              .who = "b",
                              .what = "add",
                              .args = second,
                              .n_args = 2,
                              .changed = changed,
                              .n_changed = 1},
                             {.i = 2, .t_ns = 1701, .who = "a", .what = "reap"}};
  const TraceEnd end = {.verdict = "pass", .lasso_from = -1, .t_ns = -1};
  return write_text(&h, steps, 3, &end);
}

/* Each event in one line: phase, track, name, ts, dur, argument. Doubles of microseconds with three decimals are exact
 * enough for %.3f. */
static void event_words(JsonArray *array, guint index, JsonNode *node, gpointer out) {
  (void)array, (void)index;
  JsonObject *e = json_node_get_object(node);
  JsonObject *args = json_object_has_member(e, "args") ? json_object_get_object_member(e, "args") : NULL;
  g_string_append_printf(out, "%s %d %s", json_object_get_string_member(e, "ph"),
                         (int)json_object_get_int_member(e, "tid"), json_object_get_string_member(e, "name"));
  if (json_object_has_member(e, "ts")) g_string_append_printf(out, " at %.3f", json_object_get_double_member(e, "ts"));
  if (json_object_has_member(e, "dur"))
    g_string_append_printf(out, " for %.3f", json_object_get_double_member(e, "dur"));
  if (args && json_object_has_member(args, "name"))
    g_string_append_printf(out, " %s", json_object_get_string_member(args, "name"));
  if (args && json_object_has_member(args, "value"))
    g_string_append_printf(out, " = %d", (int)json_object_get_int_member(args, "value"));
  g_string_append_c(out, '\n');
}

static char *events_of(const char *json) {
  g_autoptr(JsonParser) parser = json_parser_new();
  CU_ASSERT_FATAL(json_parser_load_from_data(parser, json, -1, NULL));
  JsonObject *root = json_node_get_object(json_parser_get_root(parser));
  GString *out = g_string_new(NULL);
  json_array_foreach_element(json_object_get_array_member(root, "traceEvents"), event_words, out);
  return g_string_free(out, FALSE);
}

static void slices_last_until_the_next_step(void) {
  g_autofree char *trace = timed_trace(), *json = exported(perfetto, trace), *events = events_of(json);
  expect_str(events, "M 1 thread_name a\nM 1 thread_sort_index\n"
                     "C 0 faults at 1.001 = 5\n"
                     "M 2 thread_name b\nM 2 thread_sort_index\n"
                     "C 0 faults at 1.500 = 7\nC 0 procarray.numProcs at 1.500 = 9\n"
                     "X 2 add at 1.500 for 0.250\n"
                     "X 1 fork at 1.001 for 0.700\n"
                     "i 1 reap at 1.701\n");
}

/* Nanoseconds beyond 2^53 would not survive a double; the text keeps them. */
static void nanoseconds_are_exact(void) {
  g_auto(GStrv) parts = g_strsplit(sample_text, "\"t_ns\":1500", 2);
  g_autofree char *trace = g_strconcat(parts[0], "\"t_ns\":9223372036854775807", parts[1], NULL);
  g_autofree char *json = exported(perfetto, trace);
  expect(strstr(json, "\"ts\":9223372036854775.807") != NULL);
}

static void untimed_steps_take_a_microsecond(void) {
  static const char *const none[] = {NULL};
  const TraceHeader h = {"0.1", "check", "s", "", none, NULL, 0, 1, "model:x", 0};
  const TraceStep steps[] = {{.i = 0, .t_ns = -1, .who = "a", .what = "x"},
                             {.i = 1, .t_ns = -1, .who = "a", .what = "y"}};
  const TraceEnd end = {.verdict = "pass", .lasso_from = -1, .t_ns = -1};
  g_autofree char *trace = write_text(&h, steps, 2, &end), *json = exported(perfetto, trace), *events = events_of(json);
  expect_str(events, "M 1 thread_name a\nM 1 thread_sort_index\nX 1 x at 0.000 for 1.000\ni 1 y at 1.000\n");
}

static void sequence_chart(void) {
  g_autofree char *text = exported(mermaid, sample_text);
  expect_str(text, "sequenceDiagram\n"
                   "  %% storm model:dense-arrays seed 7\n"
                   "  participant p1 as postmaster[1]\n"
                   "  participant p2 as server #34;s#34;\n"
                   "  participant p3 as backend[12]\n"
                   "  participant p4 as environment\n"
                   "  Note over p1: 0 fork\n"
                   "  loop for ever\n"
                   "  p3->>p2: 1 ProcArrayAdd procno=3 (exit-order: 77 of 8192)\n"
                   "  Note right of p4: procarray.numProcs: 1#59; free_list.head: -4\n"
                   "  Note over p4: 2 deliver\n"
                   "  Note over p1: 3 reap (exit-order: 77 of 8192) (tie: 0 of 2)\n"
                   "  end\n"
                   "  Note over p1,p4: slot-owned-once violated: slot 3 has two owners\n");
}

static void chart_escapes(void) {
  Sample s;
  sample_init(&s);
  s.steps[0].what = "a;b#c<d>\ne\x01%%";
  g_autofree char *trace = write_sample(&s), *text = exported(mermaid, trace);
  expect(strstr(text, "Note over p1: 0 a#59;b#35;c#60;d#62;<br/>e #37;#37;\n") != NULL);
}

static void chart_has_a_limit(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(Chart) c = chart_of(sample_text, 3, &error);
  expect(!c);
  expect(g_error_matches(error, TRACE_ERROR, TRACE_ERROR_LIMIT));
  expect(error && g_str_has_suffix(error->message, "steps 0 to 3 are more than the 3 that one picture takes; choose "
                                                   "fewer with --from and --to"));
}

static void cut_traces_are_exported(void) {
  g_autofree char *trace = g_strndup(sample_text, (gsize)(strstr(sample_text, "{\"i\":2") - sample_text));
  g_autofree char *json = exported(perfetto, trace), *events = events_of(json), *text = exported(mermaid, trace);
  expect(g_str_has_suffix(events, "i 1 fork at 0.000\ni 2 ProcArrayAdd at 1.500\n"));
  expect(g_str_has_suffix(text, "free_list.head: -4\n"));
}

static void broken_traces_leave_no_file(void) {
  g_autofree char *trace = g_strconcat(sample_text, "x\n", NULL),
                  *folder = g_dir_make_tmp("stampede-trace-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "t", NULL);
  const ExportFunc exports[] = {perfetto, mermaid};
  for (guint i = 0; i < G_N_ELEMENTS(exports); i++) {
    g_autoptr(GError) error = NULL;
    expect(!exports[i](trace, path, &error));
    expect(g_error_matches(error, TRACE_ERROR, TRACE_ERROR_ALTERED));
  }
  expect_int(g_rmdir(folder), ==, 0); /* it is empty */
}

static void full_disk(void) {
  const ExportFunc exports[] = {perfetto, mermaid};
  for (guint i = 0; i < G_N_ELEMENTS(exports); i++) {
    g_autoptr(GError) error = NULL;
    expect(!exports[i](sample_text, "/dev/full", &error));
    expect_str(error ? error->message : NULL, "/dev/full: cannot write: No space left on device");
  }
}

int main(void) {
  return suite_run("trace_export",
                   (const Case[]){{"slices last until the next step", slices_last_until_the_next_step},
                                  {"nanoseconds are exact", nanoseconds_are_exact},
                                  {"untimed steps take a microsecond", untimed_steps_take_a_microsecond},
                                  {"sequence chart", sequence_chart},
                                  {"a chart escapes", chart_escapes},
                                  {"a chart has a limit", chart_has_a_limit},
                                  {"cut traces are exported", cut_traces_are_exported},
                                  {"broken traces leave no file", broken_traces_leave_no_file},
                                  {"a full disk", full_disk},
                                  {0}});
}
