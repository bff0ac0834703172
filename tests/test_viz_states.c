/* test_viz_states.c - state pictures: the history behind them, their words, and the structure of what Graphviz drew. */
#include "tests/harness.h"
#include "tests/pictures.h"
#include "viz/states.h"
#include "viz/states_text.h"

/* Graphviz 2.43 loses memory of its own with every label. tests/lsan.supp names its libraries, and LeakSanitizer finds
 * them in a stack only when it unwinds all of it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "fast_unwind_on_malloc=0";
}

static const char trace[] = "tests/traces/states.jsonl"; /* 20 steps; 18 breaks proc-array-sorted */

static SpanWish last(guint steps) {
  return (SpanWish){.from = -1, .to = -1, .last = steps, .most = 200};
}

static History *read_last(guint steps) {
  g_autoptr(GError) error = NULL;
  SpanWish w = last(steps);
  History *h = history_read(trace, &w, &error);
  if (error) fprintf(stderr, "%s\n", error->message);
  return h;
}

static const HistoryVariable *variable(const History *h, guint step, const char *name) {
  const HistoryStep *s = h->steps->pdata[step];
  for (guint v = 0; v < s->variables->len; v++)
    if (!strcmp(((HistoryVariable *)s->variables->pdata[v])->name, name)) return s->variables->pdata[v];
  return NULL;
}

static void history_ends_with_the_broken_step(void) {
  g_autoptr(History) h = read_last(15);
  expect(h != NULL);
  if (!h) return;
  expect_int(h->span->total, ==, 20);
  expect_int(h->steps->len, ==, 15);
  expect_int(((HistoryStep *)h->steps->pdata[0])->i, ==, 4);
  expect_int(((HistoryStep *)h->steps->pdata[14])->i, ==, 18);
  expect_str(h->span->check, "proc-array-sorted");
}

/* From step 0 on, also what happened before the first step shown. */
static void state_is_accumulated(void) {
  g_autoptr(History) h = read_last(3);
  expect(h != NULL);
  if (!h) return;
  expect_str(variable(h, 0, "free list")->value, "3 0"); /* by step 16 */
  expect_str(variable(h, 0, "max_connections")->value, "4");
  expect_str(variable(h, 2, "pgprocnos")->old, "1");
  expect_str(variable(h, 2, "pgprocnos")->value, "2 1");
  expect(!variable(h, 2, "free list")->old);
}

static void names_whole_words(void) {
  expect(states_named("pgxactoff[3] is 2", "pgxactoff"));
  expect(states_named("slot 2 is on the free list and owned", "free list"));
  expect(!states_named("pgxactoffs[3] is 2", "pgxactoff"));
  expect(!states_named("my_numProcs", "numProcs"));
  expect(!states_named(NULL, "numProcs"));
}

/* "x1,y1,x2,y2" of every bb in the text but the first, which is the whole picture's. */
static GArray *boxes(const char *dot) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(double[4]));
  for (const char *at = strstr(dot, "subgraph"); at && (at = strstr(at, "bb=\"")); at += 4) {
    double box[4];
    char *end = (char *)at + 4;
    for (guint i = 0; i < 4; i++) box[i] = g_ascii_strtod(end, &end), end++;
    g_array_append_val(all, box);
  }
  return all;
}

static char *drawn(const char *name, VizFormat format, guint steps) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = picture_path(name);
  SpanWish w = last(steps);
  expect(viz_states(trace, &w, path, format, &error));
  if (error) fprintf(stderr, "%s\n", error->message);
  return picture_read(path);
}

static void clusters_do_not_overlap(void) {
  g_autofree char *dot = drawn("boxes.dot", FORMAT_DOT, 15);
  g_autoptr(GArray) all = boxes(dot);
  expect_int(all->len, ==, 15);
  double right = 0, top = 0;
  for (guint i = 0; i < all->len; i++) {
    const double *a = &g_array_index(all, double, 4 * i);
    right = MAX(right, a[2]);
    top = MAX(top, a[3]);
    for (guint k = 0; k < i; k++) {
      const double *b = &g_array_index(all, double, 4 * k);
      expect(a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1]);
    }
  }
  /* 15 steps are read without zoom: no wider than a page, and no column either. */
  expect(right <= VIZ_PAGE);
  expect(right / top > 0.4 && right / top < 3);
}

static void shows_the_broken_condition(void) {
  g_autofree char *svg = drawn("broken.svg", FORMAT_SVG, 15);
  expect_int(picture_count(svg, "class=\"cluster\""), ==, 15);
  expect_int(picture_count(svg, "class=\"edge\""), ==, 14);
  expect_int(picture_count(svg, "proc&#45;array&#45;sorted is violated"), ==, 2); /* title and last cluster */
  expect(strstr(svg, "pgprocnos[0] = 2 is not below"));
  expect_int(picture_count(svg, "fill=\"#b3261e\""), ==, 2 + 3); /* key and condition; three texts in that colour */
}

static void marks_what_changed(void) {
  g_autofree char *svg = drawn("changed.svg", FORMAT_SVG, 1);
  /* Step 18 changes three variables; one more box in the key. */
  expect_int(picture_count(svg, "fill=\"#ffe08a\""), ==, 4);
  expect_int(picture_count(svg, "class=\"cluster\""), ==, 1);
}

static void the_same_twice_and_well_formed(void) {
  g_autofree char *one = drawn("one.svg", FORMAT_SVG, 15), *two = drawn("two.svg", FORMAT_SVG, 15);
  g_autofree char *path = picture_path("one.svg");
  expect(picture_is_xml(path));
  expect(!strcmp(one, two));
  g_autofree char *pdf = drawn("one.pdf", FORMAT_PDF, 15), *png = drawn("one.png", FORMAT_PNG, 15);
  expect(g_str_has_prefix(pdf, "%PDF-"));
  expect(g_str_has_prefix(png, "\x89PNG"));
}

static char *write_trace(const char *name, const char *steps) {
  g_autofree char *text =
      g_strconcat("{\"stampede_trace\":1,\"version\":\"0.1.0\",\"command\":\"run\",\"scenario\":\"<&>\","
                  "\"text\":\"\",\"overrides\":[],\"sources\":[],\"seed\":1,\"subject\":\"x\",\"k\":0}\n",
                  steps, NULL);
  char *path = picture_path(name);
  g_file_set_contents(path, text, -1, NULL);
  return path;
}

/* A trace that was cut, with values that would be markup, and one longer than its cell. */
static void hostile_values(void) {
  g_autofree char *path = write_trace(
      "hostile.jsonl",
      "{\"i\":0,\"do\":\"<b>\",\"changed\":{\"a<b\":\"</TABLE>&\\u0001\",\"long\":\"1 2 3 4 5 6 7 8 9 10 11 12 13 "
      "14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 "
      "51 52 53 54 55 56 57 58 59 60\",\"empty\":\"\"}}\n"
      "{\"i\":1,\"do\":\"x\",\"changed\":{\"new\":\"1\"}}\n");
  g_autofree char *out = picture_path("hostile.svg");
  g_autoptr(GError) error = NULL;
  SpanWish w = last(15);
  expect(viz_states(path, &w, out, FORMAT_SVG, &error));
  if (error) fprintf(stderr, "%s\n", error->message);
  expect(picture_is_xml(out));
  g_autofree char *svg = picture_read(out);
  expect(strstr(svg, "the trace was cut"));
  expect(strstr(svg, "(absent)"));
  expect(strstr(svg, "…"));
}

static void nothing_to_draw(void) {
  g_autofree char *path = write_trace("bare.jsonl", "{\"i\":0,\"do\":\"x\"}\n"), *none = write_trace("none.jsonl", ""),
                  *out = picture_path("never.svg");
  const char *const paths[] = {path, none};
  for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
    g_autoptr(GError) error = NULL;
    SpanWish w = last(15);
    expect(!viz_states(paths[i], &w, out, FORMAT_SVG, &error));
    expect(g_error_matches(error, VIZ_ERROR, VIZ_ERROR_INPUT));
  }
  expect(!g_file_test(out, G_FILE_TEST_EXISTS));
}

int main(void) {
  pictures_begin();
  int status =
      suite_run("viz states", (const Case[]){{"history ends with the broken step", history_ends_with_the_broken_step},
                                             {"state is accumulated", state_is_accumulated},
                                             {"names are whole words", names_whole_words},
                                             {"clusters do not overlap", clusters_do_not_overlap},
                                             {"shows the broken condition", shows_the_broken_condition},
                                             {"marks what changed", marks_what_changed},
                                             {"the same twice, well-formed", the_same_twice_and_well_formed},
                                             {"hostile values", hostile_values},
                                             {"nothing to draw", nothing_to_draw},
                                             {0}});
  pictures_end();
  return status;
}
