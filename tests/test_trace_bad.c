/* test_trace_bad.c - what is no trace, or no longer one, is refused with its place; nothing altered passes unseen. */
#include "tests/trace_sample.h"
#include "traces/diff.h"

typedef struct {
  TraceNext last;
  int64_t steps;
  int code; /* TRACE_ERROR_*, -1: none */
  char *message;
} Outcome;

static Outcome read_bytes(const char *data, gsize size) {
  GError *error = NULL;
  Outcome o = {TRACE_FAILED, 0, -1, NULL};
  TraceStep step;
  g_autoptr(TraceReader) r = trace_reader_new(data, size, "t", &error);
  while (r && (o.last = trace_reader_next(r, &step, &error)) == TRACE_STEP) o.steps++;
  if (error) o.code = error->code, o.message = g_strdup(error->message);
  if (r && o.last == TRACE_CUT) o.message = trace_reader_cut(r);
  g_clear_error(&error);
  return o;
}

static char *replaced(const char *from, const char *to) {
  g_auto(GStrv) parts = g_strsplit(sample_text, from, 2);
  g_assert(parts[1]); /* the case is misspelt */
  return g_strconcat(parts[0], to, parts[1], NULL);
}

static void expect_refused(const char *text, int code, const char *message) {
  Outcome o = read_bytes(text, strlen(text));
  expect_int(o.last, ==, TRACE_FAILED);
  expect_int(o.code, ==, code);
  expect_str(o.message, message);
  g_free(o.message);
}

typedef struct {
  const char *from, *to;
  int code;
  const char *message;
} Alteration;

static void refuse_all(const Alteration *cases) {
  for (const Alteration *c = cases; c->from; c++) {
    g_autofree char *text = replaced(c->from, c->to);
    expect_refused(text, c->code, c->message);
  }
}

static void other_version(void) {
  refuse_all(
      (const Alteration[]){{"\"stampede_trace\":1", "\"stampede_trace\":2", TRACE_ERROR_VERSION,
                            "t:1: a trace of format version 2, this stampede reads version 1"},
                           {"\"stampede_trace\":1,\"version\":\"0.1\"", "\"stampede_trace\":9,\"revision\":[0]",
                            TRACE_ERROR_VERSION, "t:1: a trace of format version 9, this stampede reads version 1"},
                           {0}});
}

static void headers_that_are_none(void) {
  refuse_all((const Alteration[]){
      {"{\"stampede_trace\":1,", "{", TRACE_ERROR_FORMAT,
       "t:1: not a stampede trace: member \"stampede_trace\" is missing"},
      {"\"stampede_trace\":1", "\"stampede_trace\":\"1\"", TRACE_ERROR_FORMAT,
       "t:1: not a stampede trace: member \"stampede_trace\" should be an integer"},
      {"\"seed\":7", "\"seed\":-7", TRACE_ERROR_FORMAT, "t:1: not a stampede trace: byte 279: a number out of range"},
      {"\"seed\":7", "\"seed\":18446744073709551616", TRACE_ERROR_FORMAT,
       "t:1: not a stampede trace: byte 279: a number out of range"},
      {"\"seed\":7", "\"seed\":7.5", TRACE_ERROR_FORMAT,
       "t:1: not a stampede trace: member \"seed\" should be an integer"},
      {"\"seed=7\"", "7", TRACE_ERROR_FORMAT, "t:1: not a stampede trace: overrides[1] should be a string"},
      {"\"kind\":\"preset\",", "", TRACE_ERROR_FORMAT,
       "t:1: not a stampede trace: sources[0]: member \"kind\" is missing"},
      {"\"k\":2", "\"k\":2,\"l\":3", TRACE_ERROR_FORMAT, "t:1: not a stampede trace: member \"l\" is unknown here"},
      {0}});
}

static void altered_steps(void) {
  refuse_all((const Alteration[]){
      {"{\"i\":0,\"t_ns\":0,\"who\":\"postmaster[1]\",\"do\":\"fork\"}\n", "", TRACE_ERROR_ALTERED,
       "t:2: step 1 where step 0 should be"},
      {"\"i\":3", "\"i\":2", TRACE_ERROR_ALTERED, "t:5: step 2 where step 3 should be"},
      {"\"i\":3", "\"i\":-3", TRACE_ERROR_ALTERED, "t:5: member \"i\" should be an integer, not negative"},
      {",\"do\":\"fork\"", "", TRACE_ERROR_ALTERED, "t:2: member \"do\" is missing"},
      {"\"do\":\"fork\"", "\"do\":\"fork\",\"x\\ny\":1", TRACE_ERROR_ALTERED, "t:2: member \"x?y\" is unknown here"},
      {"\"do\":\"fork\"", "\"do\":\"fork\",\"do\":\"fork\"", TRACE_ERROR_FORMAT, "t:2: byte 51: a member comes twice"},
      {"\"procno\":3", "\"procno\":true", TRACE_ERROR_ALTERED, "t:3: args.procno should be an integer or a string"},
      {"\"procno\":3", "\"procno\":3.5", TRACE_ERROR_ALTERED, "t:3: args.procno should be an integer or a string"},
      {"\"procno\":3", "\"to\":3", TRACE_ERROR_FORMAT, "t:3: byte 75: a member comes twice"},
      {"\"took\":77", "\"took\":8192", TRACE_ERROR_ALTERED, "t:3: choice: took 8192 of 8192"},
      {"\"hidden\":true", "\"hidden\":false", TRACE_ERROR_ALTERED, "t:4: member \"hidden\" should be true or absent"},
      {"fedcba98", "FEDCBA98", TRACE_ERROR_ALTERED, "t:3: member \"hash\" should be 32 lower-case hex digits"},
      {"\"choice\":[", "\"choice\":[7,", TRACE_ERROR_ALTERED, "t:5: choice[0] should be an object"},
      {"\"choice\":{", "\"choice\":{\"why\":1,", TRACE_ERROR_ALTERED, "t:3: choice: member \"why\" is unknown here"},
      {0}});
}

static void altered_footers(void) {
  refuse_all((const Alteration[]){
      {"\"steps\":4", "\"steps\":5", TRACE_ERROR_ALTERED, "t:6: the footer counts 5 steps, there are 4"},
      {"\"lasso_from\":1", "\"lasso_from\":4", TRACE_ERROR_ALTERED, "t:6: lasso_from names no step"},
      {"12.25", "\"12\"", TRACE_ERROR_ALTERED, "t:6: metrics[\"first.connect_ms\"] should be a number"},
      {"12.25", "1e999", TRACE_ERROR_FORMAT, "t:6: byte 208: a number out of range"},
      {"\"verdict\":\"fail\"", "\"verdict\":null", TRACE_ERROR_ALTERED, "t:6: member \"verdict\" should be a string"},
      {"0000000000000002\"}}\n", "0000000000000002\"}}\n\n", TRACE_ERROR_ALTERED, "t:6: something after the footer"},
      {0}});
}

/* Most of these json-glib would take, or break on. */
static void lines_that_are_no_json(void) {
  refuse_all((const Alteration[]){
      {"\"t_ns\":0", "\"t_ns\":00", TRACE_ERROR_FORMAT, "t:2: byte 15: not a number of JSON"},
      {"\"t_ns\":0", "\"t_ns\":0x1f", TRACE_ERROR_FORMAT, "t:2: byte 16: \",\" should be here"},
      {"\"t_ns\":0", "\"t_ns\":99999999999999999999", TRACE_ERROR_FORMAT, "t:2: byte 15: a number out of range"},
      {"\"t_ns\":0", "\"t_ns\":9223372036854775808", TRACE_ERROR_FORMAT, "t:2: byte 15: a number out of range"},
      {"\"fork\"", "'fork'", TRACE_ERROR_FORMAT, "t:2: byte 44: not JSON"},
      {"\"fork\"", "/**/\"fork\"", TRACE_ERROR_FORMAT, "t:2: byte 44: not JSON"},
      {"\"fork\"", "\"\\u0000\"", TRACE_ERROR_FORMAT, "t:2: byte 45: a NUL in a string"},
      {"\"fork\"", "\"\\ud83d\"", TRACE_ERROR_FORMAT, "t:2: byte 45: half a surrogate pair"},
      {"\"fork\"", "\"\\ud83dxxxxxx\"", TRACE_ERROR_FORMAT, "t:2: byte 45: half a surrogate pair"},
      {"\"fork\"", "\"\\q\"", TRACE_ERROR_FORMAT, "t:2: byte 45: not an escape of JSON"},
      {"\"fork\"", "\"\t\"", TRACE_ERROR_FORMAT, "t:2: byte 45: a control character in a string"},
      {"\"fork\"", "\"\xff\"", TRACE_ERROR_FORMAT, "t:2: byte 45: not UTF-8"},
      {"\"fork\"}", "\"fork\"} {}", TRACE_ERROR_FORMAT, "t:2: byte 52: something after the object"},
      {"\"fork\"}", "[[[[[[[[1]]]]]]]]}", TRACE_ERROR_FORMAT, "t:2: byte 51: nested too deeply"},
      {"\"fork\"}", "\"fork\",}", TRACE_ERROR_FORMAT, "t:2: byte 51: the name of a member should be here"},
      {"\"do\":\"fork\"", "\"do\" \"fork\"", TRACE_ERROR_FORMAT, "t:2: byte 44: \":\" should be here"},
      {0}});
}

/* Beyond a few members names are looked up another way. */
static void repeated_among_many(void) {
  g_autoptr(GString) members = g_string_new("\"do\":\"fork\",\"args\":{");
  for (guint i = 0; i < 40; i++) g_string_append_printf(members, "\"f%u\":%u,", i, i);
  g_autofree char *fine = g_strconcat(members->str, "\"f40\":0}", NULL);
  g_autofree char *twice = g_strconcat(members->str, "\"f7\":0}", NULL);
  g_autofree char *fine_text = replaced("\"do\":\"fork\"", fine), *twice_text = replaced("\"do\":\"fork\"", twice);
  Outcome o = read_bytes(fine_text, strlen(fine_text));
  expect_int(o.last, ==, TRACE_ENDED);
  g_free(o.message);
  gsize before = strlen("{\"i\":0,\"t_ns\":0,\"who\":\"postmaster[1]\",") + members->len;
  g_autofree char *should = g_strdup_printf("t:2: byte %zu: a member comes twice", before + 1);
  expect_refused(twice_text, TRACE_ERROR_FORMAT, should);
}

static void other_spellings_are_accepted(void) {
  g_autofree char *text = replaced("\"do\":\"fork\"", "\t\"do\" : \"\\u0066\\u006F\\/\\ud83d\\ude00\" ");
  Outcome o = read_bytes(text, strlen(text));
  expect_int(o.last, ==, TRACE_ENDED);
  g_free(o.message);
}

static void garbage(void) {
  expect_refused("", TRACE_ERROR_FORMAT, "t:1: not a stampede trace: the file is empty");
  expect_refused("\n", TRACE_ERROR_FORMAT, "t:1: not a stampede trace: byte 1: not a JSON object");
  expect_refused("scenario: storm\n", TRACE_ERROR_FORMAT, "t:1: not a stampede trace: byte 1: not a JSON object");
  expect_refused("\x7f"
                 "ELF\x02",
                 TRACE_ERROR_FORMAT, "t:1: not a stampede trace: byte 1: not a JSON object");
  expect_refused("[{}]", TRACE_ERROR_FORMAT, "t:1: not a stampede trace: byte 1: not a JSON object");
  Outcome o = read_bytes("{\0}\n", 4);
  expect_str(o.message, "t:1: not a stampede trace: byte 2: the name of a member should be here");
  g_free(o.message);
}

/* 100 MB without a newline, as brackets or anything: refused at the limit, without that much memory or stack. */
static void endless_line(void) {
  gsize size = 100u << 20;
  g_autofree char *text = g_malloc(size);
  memset(text, '[', size);
  memcpy(text, "{\"x\":", 5);
  Outcome o = read_bytes(text, size);
  expect_int(o.code, ==, TRACE_ERROR_FORMAT);
  expect_str(o.message, "t:1: the line is longer than 16 MiB");
  g_free(o.message);
}

static void unreadable(void) {
  g_autoptr(GError) missing = NULL, folder = NULL;
  expect(!trace_reader_open("/nonexistent/t.jsonl", &missing));
  expect(g_error_matches(missing, TRACE_ERROR, TRACE_ERROR_READ));
  expect_str(missing->message, "/nonexistent/t.jsonl: cannot open: No such file or directory");
  expect(!trace_reader_open("/", &folder));
  expect(g_error_matches(folder, TRACE_ERROR, TRACE_ERROR_READ));
  expect_str(folder->message, "/: cannot read: Is a directory");
}

/* A trace cut after any byte: not a trace as long as the header is not whole; then as many steps as there are whole
 * lines, a line lacking only its newline being whole. */
static void cut_anywhere(void) {
  gsize size = sizeof sample_text - 1;
  int64_t whole = -1; /* lines, the header apart */
  for (gsize n = 0; n < size; n++) {
    bool ends_line = sample_text[n] == '\n';
    Outcome o = read_bytes(sample_text, n);
    int64_t steps = whole + ends_line;
    if (steps < 0)
      expect_int(o.code, ==, TRACE_ERROR_FORMAT);
    else if (steps > SAMPLE_STEPS)
      expect_int(o.last, ==, TRACE_ENDED);
    else {
      expect_int(o.last, ==, TRACE_CUT);
      expect_int(o.steps, ==, steps);
    }
    g_free(o.message);
    whole += ends_line;
  }
}

static void cut_says_where(void) {
  const char *third = strstr(sample_text, "{\"i\":2");
  Outcome between = read_bytes(sample_text, (gsize)(third - sample_text));
  expect_str(between.message, "t:4: the trace was cut here, after 2 steps");
  Outcome within = read_bytes(sample_text, (gsize)(third - sample_text) + 8);
  expect_str(within.message, "t:4: the trace was cut within this line, after 2 steps");
  g_free(between.message);
  g_free(within.message);
}

/* One byte altered anywhere: the reader refuses the trace, or finds it cut, or diff names a difference. */
static bool seen(const char *text, gsize size) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TraceReader) a = trace_reader_new(sample_text, sizeof sample_text - 1, "a", NULL);
  g_autoptr(TraceReader) b = trace_reader_new(text, size, "b", &error);
  if (!b) return true;
  g_autoptr(TraceDiff) d = trace_diff(a, b, &error);
  return !d || !trace_diff_identical(d);
}

static void no_altered_byte_passes(void) {
  static const char flips[] = {1, 2, 0x10, 0x40, (char)0x80};
  gsize size = sizeof sample_text - 1;
  for (gsize n = 0; n + 1 < size; n++) /* but the last newline: without it the trace is whole */
    for (guint f = 0; f < G_N_ELEMENTS(flips); f++) {
      g_autofree char *text = g_strdup(sample_text);
      text[n] = (char)(text[n] ^ flips[f]);
      if (seen(text, size)) continue;
      fprintf(stderr, "byte %zu '%c' -> '%c'\n", n, sample_text[n], text[n]);
      expect(seen(text, size));
    }
}

int main(void) {
  return suite_run("trace_bad", (const Case[]){{"another format version", other_version},
                                               {"headers that are none", headers_that_are_none},
                                               {"altered steps", altered_steps},
                                               {"altered footers", altered_footers},
                                               {"lines that are no JSON", lines_that_are_no_json},
                                               {"a name comes twice among many", repeated_among_many},
                                               {"other spellings are accepted", other_spellings_are_accepted},
                                               {"garbage", garbage},
                                               {"an endless line", endless_line},
                                               {"unreadable files", unreadable},
                                               {"cut after any byte", cut_anywhere},
                                               {"a cut trace says where", cut_says_where},
                                               {"no altered byte passes", no_altered_byte_passes},
                                               {0}});
}
