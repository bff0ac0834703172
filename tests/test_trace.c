/* test_trace.c - what is written is the format, and reads back the same. */
#include "tests/trace_sample.h"
#include <json-glib/json-glib.h>

static void written_as_documented(void) {
  Sample s;
  sample_init(&s);
  g_autofree char *text = write_sample(&s);
  expect_str(text, sample_text);
}

static void same_fields(const NoteField *a, guint n_a, const NoteField *b, guint n_b) {
  expect_int(n_a, ==, n_b);
  for (guint i = 0; i < MIN(n_a, n_b); i++) {
    expect_str(a[i].name, b[i].name);
    expect_str(a[i].text, b[i].text);
    if (!a[i].text) expect_int(a[i].value, ==, b[i].value);
  }
}

static void same_step(const TraceStep *a, const TraceStep *b) {
  expect_int(a->i, ==, b->i);
  expect_int(a->t_ns, ==, b->t_ns);
  expect_str(a->who, b->who);
  expect_str(a->what, b->what);
  expect_int(a->hidden, ==, b->hidden);
  same_fields(a->args, a->n_args, b->args, b->n_args);
  same_fields(a->changed, a->n_changed, b->changed, b->n_changed);
  expect_int(a->n_choices, ==, b->n_choices);
  for (guint i = 0; i < MIN(a->n_choices, b->n_choices); i++) {
    expect_str(a->choices[i].name, b->choices[i].name);
    expect_int(a->choices[i].n, ==, b->choices[i].n);
    expect_int(a->choices[i].took, ==, b->choices[i].took);
  }
  expect_int(a->hashed, ==, b->hashed);
  if (a->hashed) expect(a->hash.lo == b->hash.lo && a->hash.hi == b->hash.hi);
}

static void same_header(const TraceHeader *a, const TraceHeader *b) {
  expect_str(a->version, b->version);
  expect_str(a->command, b->command);
  expect_str(a->scenario, b->scenario);
  expect_str(a->text, b->text);
  expect(g_strv_equal(a->overrides, b->overrides));
  expect_int(a->n_sources, ==, b->n_sources);
  for (guint i = 0; i < MIN(a->n_sources, b->n_sources); i++) {
    expect_str(a->sources[i].kind, b->sources[i].kind);
    expect_str(a->sources[i].name, b->sources[i].name);
    expect_str(a->sources[i].text, b->sources[i].text);
    expect_str(a->sources[i].hash, b->sources[i].hash);
  }
  expect(a->seed == b->seed);
  expect_str(a->subject, b->subject);
  expect_int(a->k, ==, b->k);
}

static void same_end(const TraceEnd *a, const TraceEnd *b) {
  expect_str(a->verdict, b->verdict);
  expect_int(a->n_checks, ==, b->n_checks);
  for (guint i = 0; i < MIN(a->n_checks, b->n_checks); i++) {
    expect_str(a->checks[i].name, b->checks[i].name);
    expect_str(a->checks[i].verdict, b->checks[i].verdict);
    expect_int(a->checks[i].step, ==, b->checks[i].step);
    expect_str(a->checks[i].why, b->checks[i].why);
  }
  expect_int(a->n_metrics, ==, b->n_metrics);
  for (guint i = 0; i < MIN(a->n_metrics, b->n_metrics); i++) {
    expect_str(a->metrics[i].name, b->metrics[i].name);
    expect(a->metrics[i].value == b->metrics[i].value);
  }
  expect_int(a->lasso_from, ==, b->lasso_from);
  expect_int(a->t_ns, ==, b->t_ns);
  expect_int(a->hashed, ==, b->hashed);
  expect(a->state_hash.lo == b->state_hash.lo && a->state_hash.hi == b->state_hash.hi);
}

/* Written and read, the parts are the same. */
static void round_trip(const TraceHeader *h, const TraceStep *steps, guint n, const TraceEnd *end) {
  g_autofree char *text = write_text(h, steps, n, end);
  g_autoptr(TraceReader) r = text ? read_text(text) : NULL;
  g_autoptr(GError) error = NULL;
  TraceStep step;
  CU_ASSERT_FATAL(r != NULL);
  same_header(trace_reader_header(r), h);
  for (guint i = 0; i < n; i++) {
    CU_ASSERT_EQUAL_FATAL(trace_reader_next(r, &step, &error), TRACE_STEP);
    same_step(&step, &steps[i]);
  }
  CU_ASSERT_EQUAL_FATAL(trace_reader_next(r, &step, &error), TRACE_ENDED);
  same_end(trace_reader_end(r), end);
  expect_int(trace_reader_end(r)->steps, ==, n);
}

static void every_member_returns(void) {
  Sample s;
  sample_init(&s);
  round_trip(&s.header, s.steps, SAMPLE_STEPS, &s.end);
}

static void least_trace_returns(void) {
  static const char *const none[] = {NULL};
  const TraceHeader h = {.version = "", .command = "", .scenario = "", .text = "", .overrides = none, .subject = ""};
  const TraceEnd end = {.verdict = "", .lasso_from = -1, .t_ns = -1};
  round_trip(&h, NULL, 0, &end);
}

static const char *const nasty[] = {"",
                                    "\"",
                                    "\\",
                                    "\\n",
                                    "\\u0000",
                                    "/",
                                    "\n\r\t\b\f\v\a\x1b\x7f",
                                    "\x01\x02\x1f",
                                    "Grüße",
                                    "日本語",
                                    "😀",
                                    "\xef\xbf\xbf\xf4\x8f\xbf\xbf",
                                    "\xe2\x80\xa8",
                                    "{\"end\":{}}",
                                    "</script>",
                                    "null",
                                    "%s%n",
                                    "\xef\xbb\xbf",
                                    "a\xc2\x80"};

static void nasty_strings_return(void) {
  Sample s;
  sample_init(&s);
  for (guint i = 0; i < G_N_ELEMENTS(nasty); i++) {
    s.header.scenario = s.header.text = s.header.subject = s.overrides[0] = s.sources[0].name = nasty[i];
    s.steps[1].who = s.steps[1].what = s.args[1].text = s.choices[0].name = nasty[i];
    s.checks[0].why = s.end.verdict = nasty[i];
    round_trip(&s.header, s.steps, SAMPLE_STEPS, &s.end);
  }
}

/* json-glib, which knows nothing of our escapes, sees the same text. */
static void json_glib_reads_our_strings(void) {
  Sample s;
  sample_init(&s);
  for (guint i = 0; i < G_N_ELEMENTS(nasty); i++) {
    s.header.text = nasty[i];
    g_autofree char *text = write_sample(&s);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autoptr(JsonParser) parser = json_parser_new();
    CU_ASSERT_FATAL(json_parser_load_from_data(parser, lines[0], -1, NULL));
    expect_str(json_object_get_string_member(json_node_get_object(json_parser_get_root(parser)), "text"), nasty[i]);
  }
}

static void extreme_numbers_return(void) {
  static const int64_t values[] = {0,
                                   -1,
                                   9,
                                   10,
                                   -10,
                                   G_MAXINT32,
                                   G_MININT32,
                                   G_MAXINT64,
                                   G_MAXINT64 - 1,
                                   G_MININT64,
                                   G_MININT64 + 1,
                                   999999999999999999,
                                   1000000000000000000};
  Sample s;
  sample_init(&s);
  for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
    s.args[0].value = values[i];
    s.header.seed = (uint64_t)values[i];
    s.header.k = s.steps[1].t_ns = s.end.t_ns = values[i] < 0 ? G_MAXINT64 : values[i];
    s.choices[0] = (TraceChoice){"n", G_MAXINT64, G_MAXINT64 - 1};
    round_trip(&s.header, s.steps, SAMPLE_STEPS, &s.end);
  }
}

static void extreme_metrics_return(void) {
  static const double values[] = {0,
                                  0.1,
                                  -0.1,
                                  1.0 / 3,
                                  1e17,
                                  1e22,
                                  5e-324,
                                  G_MAXDOUBLE,
                                  -G_MAXDOUBLE,
                                  9007199254740993.0,
                                  123456789012345678.0,
                                  2.2250738585072014e-308};
  Sample s;
  sample_init(&s);
  for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
    s.metrics[0].value = values[i];
    round_trip(&s.header, s.steps, SAMPLE_STEPS, &s.end);
  }
}

/* 17 digits of 0.1 end in 1; a reader of the file should see what a person would write. */
static void metrics_are_short(void) {
  Sample s;
  sample_init(&s);
  s.metrics[0].value = 0.1;
  g_autofree char *text = write_sample(&s);
  expect(strstr(text, "\"first.connect_ms\":0.1,") != NULL);
}

static void long_line_returns(void) {
  Sample s;
  sample_init(&s);
  g_autofree char *text = g_strnfill(2 << 20, '\n'); /* each is two bytes in the file, and many chunks */
  s.header.text = s.args[1].text = text;
  round_trip(&s.header, s.steps, SAMPLE_STEPS, &s.end);
}

static void hashes_as_text(void) {
  const Hash128 h = {.hi = 0x0123456789abcdef, .lo = 0xfedcba9876543210};
  Hash128 back = {0, 0};
  char text[33];
  trace_hash_text(h, text);
  expect_str(text, "0123456789abcdeffedcba9876543210");
  expect(trace_hash_parse(text, &back) && back.hi == h.hi && back.lo == h.lo);
  static const char *const bad[] = {"",
                                    "0",
                                    "0123456789abcdeffedcba987654321",
                                    "0123456789abcdeffedcba98765432100",
                                    "0123456789ABCDEFfedcba9876543210",
                                    "0x23456789abcdeffedcba9876543210"};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) expect(!trace_hash_parse(bad[i], &back));
}

static void processes_as_text(void) {
  char text[32];
  expect_str(trace_who(text, sizeof text, "backend", 0), "backend[0]");
  expect_str(trace_who(text, sizeof text, "backend", 1203), "backend[1203]");
  expect_str(trace_who(text, sizeof text, "b", G_MAXUINT32), "b[4294967295]");
}

static void steps_as_words(void) {
  Sample s;
  sample_init(&s);
  g_autoptr(GString) words = g_string_new(NULL);
  trace_step_words(&s.steps[1], words);
  expect_str(words->str, "backend[12] ProcArrayAdd procno=3, to=server \"s\" (exit-order: 77 of 8192) "
                         "-> procarray.numProcs=1, free_list.head=-4");
}

int main(void) {
  return suite_run("trace", (const Case[]){{"a trace is written as documented", written_as_documented},
                                           {"every member returns", every_member_returns},
                                           {"the least trace returns", least_trace_returns},
                                           {"nasty strings return", nasty_strings_return},
                                           {"json-glib reads our strings", json_glib_reads_our_strings},
                                           {"extreme numbers return", extreme_numbers_return},
                                           {"extreme metrics return", extreme_metrics_return},
                                           {"metrics are short", metrics_are_short},
                                           {"a long line returns", long_line_returns},
                                           {"hashes as text", hashes_as_text},
                                           {"processes as text", processes_as_text},
                                           {"steps as words", steps_as_words},
                                           {0}});
}
