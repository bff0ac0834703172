/* test_viz_sequence.c - sequence charts: what a trace says is what the picture shows. The DOT text tells who is joined
 * to whom, and where: a message is an edge between two lifelines, its place the height at which it happens. */
#include "tests/pictures.h"
#include "tests/trace_sample.h"
#include "viz/sequence.h"
#include "viz/sequence_bars.h"

/* As in test_viz_states.c. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "fast_unwind_on_malloc=0";
}

#define HEADER                                                                                                         \
  "{\"stampede_trace\":1,\"version\":\"0.1\",\"command\":\"check\",\"scenario\":\"<two & \\\"clients\\\">\","          \
  "\"text\":\"\",\"overrides\":[],\"sources\":[],\"seed\":1,\"subject\":\"x\",\"k\":0}\n"

/* a asks, is given server 10, which b gets afterwards; a late cancel hits b. Server 9 only connects. */
static const char race[] = HEADER
    "{\"i\":0,\"who\":\"client[1]\",\"do\":\"query\",\"args\":{\"on\":\"client a\",\"from\":\"client a\",\"to\":"
    "\"pooler\",\"message\":\"q1\"},\"changed\":{\"server 10\":\"idle\",\"pool p\":\"idle [10]\"}}\n"
    "{\"i\":1,\"who\":\"session[2]\",\"do\":\"request\",\"args\":{\"on\":\"pooler\",\"of\":\"client a\"},"
    "\"changed\":{\"server 10\":\"taken by a, pid 7\",\"pool p\":\"idle []\"}}\n"
    "{\"i\":2,\"who\":\"server[4]\",\"do\":\"start\",\"args\":{\"on\":\"server 10\",\"of\":\"client a\"},"
    "\"changed\":{\"server 10\":\"taken by a, pid 7, q1 runs\"}}\n"
    "{\"i\":3,\"who\":\"server[4]\",\"do\":\"reply\",\"args\":{\"on\":\"server 10\",\"from\":\"server 10\",\"to\":"
    "\"client a\",\"message\":\"q1: done\",\"from_2\":\"server 10\",\"to_2\":\"server 9\",\"message_2\":\"bye\"},"
    "\"changed\":{\"server 10\":\"idle\"}}\n"
    "{\"i\":4,\"who\":\"session[3]\",\"do\":\"request\",\"args\":{\"on\":\"pooler\",\"of\":\"client b\",\"from\":"
    "\"pooler\",\"to\":\"server 10\",\"message\":\"q2\"},\"changed\":{\"server 10\":\"taken by b, pid 7\"}}\n"
    "{\"i\":5,\"who\":\"cancel[5]\",\"do\":\"signal\",\"args\":{\"on\":\"cancel 0\",\"of\":\"client a\",\"from\":"
    "\"cancel 0\",\"to\":\"server 10\",\"message\":\"SIGINT\",\"outcome\":\"MISROUTE\"}}\n"
    "{\"end\":{\"steps\":6,\"verdict\":\"fail\",\"checks\":[{\"name\":\"hits\",\"verdict\":\"violated\",\"step\":5,"
    "\"why\":\"a's cancel hits <b>\"}],\"metrics\":{}}}\n";
static const char *const race_lanes[] = {"client a", "client b", "pooler", "cancel 0", "server 9", "server 10"};

static char *write_file(const char *name, const char *text) {
  char *path = picture_path(name);
  g_file_set_contents(path, text, -1, NULL);
  return path;
}

static SpanWish all_steps(void) {
  return (SpanWish){.from = -1, .to = -1, .last = SEQUENCE_STEPS, .most = SEQUENCE_STEPS_MAX};
}

static Chart *chart_of(const char *text) {
  g_autofree char *path = write_file("chart.jsonl", text);
  g_autoptr(GError) error = NULL;
  SpanWish w = all_steps();
  Chart *c = chart_read(path, &w, &error);
  if (error) fprintf(stderr, "%s\n", error->message);
  return c;
}

static char *drawn(const char *text, const char *name, VizFormat format) {
  g_autofree char *trace = write_file("drawn.jsonl", text), *path = picture_path(name);
  g_autoptr(GError) error = NULL;
  SpanWish w = all_steps();
  expect(viz_sequence(trace, &w, path, format, &error));
  if (error) fprintf(stderr, "%s\n", error->message);
  return picture_read(path);
}

/* ---- who takes part, and bars ---- */

static void participants_have_an_order(void) {
  g_autoptr(Chart) c = chart_of(race);
  expect_int(c->lanes->len, ==, G_N_ELEMENTS(race_lanes));
  for (guint i = 0; i < c->lanes->len; i++) expect_str(c->lanes->pdata[i], race_lanes[i]);
  const ChartStep *request = c->steps->pdata[1];
  expect_str(c->lanes->pdata[request->lane], "pooler");
  expect_str(c->lanes->pdata[request->of], "client a");
  expect_str(request->act, "request");
  expect_int(request->messages->len, ==, 0);
  expect_int(((ChartStep *)c->steps->pdata[3])->messages->len, ==, 2);
}

static void notes_are_what_nobody_owns(void) {
  g_autoptr(Chart) c = chart_of(race);
  g_autofree char *first = chart_step_notes(c, 0), *second = chart_step_notes(c, 1), *third = chart_step_notes(c, 2);
  expect_str(first, "pool p: idle [10]");
  expect_str(second, "pool p: idle []");
  expect_str(third, NULL);
}

/* Taken by a from 1 to 3, its query from 2 to 3, taken by b from 4 to the end. */
static void bars_say_whom_it_works_for(void) {
  static const ChartBar expected[] = {{BAR_OF, 5, 0, 1, 3}, {BAR_RUNS, 5, 0, 2, 3}, {BAR_OF, 5, 1, 4, 6}};
  g_autoptr(Chart) c = chart_of(race);
  g_autoptr(ChartBars) b = chart_bars(c);
  expect_int(b->bars->len, ==, G_N_ELEMENTS(expected));
  for (guint i = 0; i < MIN(b->bars->len, G_N_ELEMENTS(expected)); i++) {
    const ChartBar *bar = &g_array_index(b->bars, ChartBar, i);
    expect_int(bar->kind, ==, expected[i].kind);
    expect_int(bar->lane, ==, expected[i].lane);
    expect_int(bar->of, ==, expected[i].of);
    expect_int(bar->first, ==, expected[i].first);
    expect_int(bar->last, ==, expected[i].last);
  }
}

static void locks_are_bars(void) {
  g_autoptr(Chart) c = chart_of(
      HEADER "{\"i\":0,\"who\":\"backend[4]\",\"do\":\"lock\",\"changed\":{\"backend[4]\":\"at x; holds A\"}}\n"
             "{\"i\":1,\"who\":\"backend[4]\",\"do\":\"lock\",\"changed\":{\"backend[4]\":\"at y; holds A, B\"}}\n"
             "{\"i\":2,\"who\":\"backend[4]\",\"do\":\"unlock\",\"changed\":{\"backend[4]\":\"at z; holds B\"}}\n"
             "{\"i\":3,\"who\":\"backend[4]\",\"do\":\"unlock\",\"changed\":{\"backend[4]\":\"at end\"}}\n");
  g_autoptr(ChartBars) b = chart_bars(c);
  expect_int(b->locks->len, ==, 2);
  expect_int(b->bars->len, ==, 2);
  const ChartBar *first = &g_array_index(b->bars, ChartBar, 0), *second = &g_array_index(b->bars, ChartBar, 1);
  expect_str(b->locks->pdata[first->of], "A");
  expect_int(first->last, ==, 2);
  expect_str(b->locks->pdata[second->of], "B");
  expect_int(second->first, ==, 1);
  expect_int(second->last, ==, 3);
}

/* ---- the picture ---- */

typedef struct {
  guint from, to;
  double x1, y, x2;
} Arrow;

/* Every edge of the DOT text that is a message, in the order in which they stand. */
static GArray *arrows(const char *dot) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Arrow));
  g_autoptr(GRegex) edge = g_regex_new("lane(\\d+) -> lane(\\d+)\\s*\\[([^\\]]*)\\]", G_REGEX_DOTALL, 0, NULL),
                    pos = g_regex_new("pos=\"e,([-\\d.]+),([-\\d.]+) ([-\\d.]+),", 0, 0, NULL);
  g_autoptr(GMatchInfo) m = NULL;
  for (g_regex_match(edge, dot, 0, &m); g_match_info_matches(m); g_match_info_next(m, NULL)) {
    g_autofree char *from = g_match_info_fetch(m, 1), *to = g_match_info_fetch(m, 2), *rest = g_match_info_fetch(m, 3);
    g_autoptr(GMatchInfo) at = NULL;
    expect(g_regex_match(pos, rest, 0, &at));
    g_autofree char *x2 = g_match_info_fetch(at, 1), *y = g_match_info_fetch(at, 2), *x1 = g_match_info_fetch(at, 3);
    Arrow a = {(guint)atoi(from), (guint)atoi(to), g_ascii_strtod(x1, NULL), g_ascii_strtod(y, NULL),
               g_ascii_strtod(x2, NULL)};
    g_array_append_val(all, a);
  }
  return all;
}

static gint later(gconstpointer a, gconstpointer b) {
  double ya = ((const Arrow *)a)->y, yb = ((const Arrow *)b)->y;
  return ya > yb ? -1 : ya < yb; /* y goes upwards */
}

/* Each message once, in its time's order downwards, from the sender's column to the receiver's. */
static void messages_are_arrows(void) {
  static const guint expected[][2] = {{0, 2}, {5, 0}, {5, 4}, {2, 5}, {3, 5}};
  g_autofree char *dot = drawn(race, "race.dot", FORMAT_DOT);
  g_autoptr(GArray) all = arrows(dot);
  g_array_sort(all, later);
  expect_int(all->len, ==, G_N_ELEMENTS(expected));
  for (guint i = 0; i < MIN(all->len, G_N_ELEMENTS(expected)); i++) {
    const Arrow *a = &g_array_index(all, Arrow, i);
    expect_int(a->from, ==, expected[i][0]);
    expect_int(a->to, ==, expected[i][1]);
    expect((a->x2 > a->x1) == (a->to > a->from));
    if (i) expect(a->y < g_array_index(all, Arrow, i - 1).y - 5);
  }
}

/* A step without a message is a box on its participant's line. */
static void acts_are_boxes(void) {
  g_autofree char *svg = drawn(race, "race.svg", FORMAT_SVG);
  expect_int(picture_count(svg, "class=\"node step\""), ==, 2);
  expect_int(picture_count(svg, "class=\"edge message\""), ==, 5);
  expect_int(picture_count(svg, ">client a: request<"), ==, 1);
  expect_int(picture_count(svg, ">start<"), ==, 1);
  expect_int(picture_count(svg, "class=\"node bar\""), ==, 3);
  expect_int(picture_count(svg, "class=\"node lifeline\""), ==, 6);
}

static void shows_the_broken_condition(void) {
  g_autofree char *svg = drawn(race, "broken.svg", FORMAT_SVG), *path = picture_path("broken.svg");
  expect(picture_is_xml(path));
  expect_int(picture_count(svg, "class=\"node broken\""), ==, 1);
  expect(strstr(svg, "a&#39;s cancel hits &lt;b&gt;"));
  expect(strstr(svg, "outcome=MISROUTE"));
  expect_int(picture_count(svg, "stroke=\"#b3261e\" stroke-width=\"2\""), ==,
             2); /* line and head of the arrow that breaks it */
}

static void a_lasso_is_framed(void) {
  g_autofree char *text = g_strdup(race), *at = NULL;
  g_auto(GStrv) parts = g_strsplit(text, "\"metrics\":{}", 2);
  at = g_strconcat(parts[0], "\"metrics\":{},\"lasso_from\":2", parts[1], NULL);
  g_autofree char *svg = drawn(at, "lasso.svg", FORMAT_SVG), *dot = drawn(at, "lasso.dot", FORMAT_DOT);
  expect_int(picture_count(svg, "class=\"node frame\""), ==, 1);
  expect_int(picture_count(svg, "class=\"edge lasso\""), ==, 1);
  expect(strstr(svg, "for ever: then step 2 again"));
  expect(strstr(dot, "number5 -> number2"));
}

static void the_same_twice(void) {
  g_autofree char *one = drawn(race, "one.svg", FORMAT_SVG), *two = drawn(race, "two.svg", FORMAT_SVG);
  expect(!strcmp(one, two));
  g_autofree char *pdf = drawn(race, "one.pdf", FORMAT_PDF), *png = drawn(race, "one.png", FORMAT_PNG);
  expect(g_str_has_prefix(pdf, "%PDF-"));
  expect(g_str_has_prefix(png, "\x89PNG"));
}

/* ---- which steps ---- */

static char *refused(const char *text, SpanWish w) {
  g_autofree char *trace = write_file("refused.jsonl", text), *path = picture_path("never.svg");
  g_autoptr(GError) error = NULL;
  expect(!viz_sequence(trace, &w, path, FORMAT_SVG, &error));
  expect(!g_file_test(path, G_FILE_TEST_EXISTS));
  return g_strdup(error ? error->message : "");
}

static void a_part_knows_what_came_before(void) {
  g_autofree char *path = write_file("part.jsonl", race);
  SpanWish w = all_steps();
  w.from = 2;
  w.to = 3;
  g_autoptr(GError) error = NULL;
  g_autoptr(Chart) c = chart_read(path, &w, &error);
  expect_int(c->steps->len, ==, 2);
  expect_int(((ChartStep *)c->steps->pdata[0])->i, ==, 2);
  g_autofree char *notes = chart_step_notes(c, 0);
  expect_str(notes, "pool p: idle []"); /* as step 1 left it */
  expect(!c->span->ends_broken);
}

/* Of two that are violated the one that was so first, whatever their order; without --to the first `last` from there.
 */
static void which_check_and_how_far(void) {
  g_autofree char *before = g_strndup(race, (gsize)(strstr(race, "{\"end\"") - race)),
                  *text = g_strconcat(before,
                                      "{\"end\":{\"steps\":6,\"verdict\":\"fail\",\"checks\":[{\"name\":\"late\","
                                      "\"verdict\":\"violated\",\"step\":5},{\"name\":\"early\",\"verdict\":"
                                      "\"violated\",\"step\":3}],\"metrics\":{}}}\n",
                                      NULL);
  g_autoptr(Chart) c = chart_of(text);
  expect_str(c->span->check, "early");
  expect_int(c->span->broken, ==, 3);
  expect_int(c->span->last, ==, 3);
  g_autofree char *path = write_file("far.jsonl", text);
  SpanWish w = all_steps();
  w.from = 4;
  g_autoptr(Span) s = span_read(path, &w, NULL);
  expect_int(s ? s->last : -1, ==, 5); /* beyond what broke it */
}

/* "q1 runs" is a query that runs; a query named "runs late" that waits is none. */
static void a_query_runs_when_it_says_so(void) {
  g_autoptr(Chart) c =
      chart_of(HEADER "{\"i\":0,\"who\":\"client a\",\"do\":\"x\",\"args\":{\"on\":\"server 1\",\"of\":\"client a\"},"
                      "\"changed\":{\"server 1\":\"taken by a, q1 runs late\"}}\n");
  g_autoptr(ChartBars) b = chart_bars(c);
  expect_int(b->bars->len, ==, 1);
  expect_int(g_array_index(b->bars, ChartBar, 0).kind, ==, BAR_OF);
}

static void steps_that_are_not_there(void) {
  SpanWish behind = all_steps(), turned = all_steps();
  behind.to = 6;
  turned.from = 4;
  turned.to = 3;
  g_autofree char *a = refused(race, behind), *b = refused(race, turned);
  expect(strstr(a, "the trace has steps 0 to 5; --from and --to name the first and the last to show"));
  expect(strstr(b, "--from and --to"));
}

static void empty_and_cut_traces(void) {
  g_autofree char *empty = refused(HEADER, all_steps());
  expect(strstr(empty, "there is no step to draw"));
  g_autofree char *cut = g_strndup(race, (gsize)(strstr(race, "{\"i\":3") - race)),
                  *svg = drawn(cut, "cut.svg", FORMAT_SVG);
  expect(strstr(svg, "here the trace was cut"));
  expect_int(picture_count(svg, "class=\"node number\""), ==, 3);
  g_autofree char *garbage = refused(HEADER "x\n", all_steps());
  expect(*garbage);
}

/* 10^6 steps: the last hundred are shown; more than 500 are refused, and the sentence says what helps. */
static void a_million_steps(void) {
  enum { MILLION = 1000000 };
  GString *text = g_string_new(HEADER);
  for (guint i = 0; i < MILLION; i++)
    g_string_append_printf(text, "{\"i\":%u,\"who\":\"a[%u]\",\"do\":\"x\"}\n", i, i % 3);
  SpanWish w = all_steps();
  w.from = 0;
  w.to = MILLION - 1;
  g_autofree char *no = refused(text->str, w), *svg = drawn(text->str, "million.svg", FORMAT_SVG);
  g_string_free(text, TRUE);
  expect(
      strstr(no, "steps 0 to 999999 are more than the 500 that one picture takes; choose fewer with --from and --to"));
  expect_int(picture_count(svg, "class=\"node number\""), ==, SEQUENCE_STEPS);
  expect(strstr(svg, "steps 999900 to 999999 of 0 to 999999"));
}

static void too_many_take_part(void) {
  g_autoptr(GString) text = g_string_new(HEADER);
  for (guint i = 0; i < 40; i++) g_string_append_printf(text, "{\"i\":%u,\"who\":\"a[%u]\",\"do\":\"x\"}\n", i, i);
  g_autofree char *no = refused(text->str, all_steps());
  expect(strstr(no, "40 take part in steps 0 to 39"));
  expect(strstr(no, "--from and --to"));
}

/* Quotes, markup, UTF-8, and a name and words that no column has room for. */
static void hostile_names(void) {
  g_autofree char *longest = g_strnfill(300, 'w');
  g_autofree char *text =
      g_strconcat(HEADER "{\"i\":0,\"who\":\"<&\\\"'>\",\"do\":\"</TABLE>\",\"args\":{\"from\":\"<&\\\"'>\",\"to\":"
                         "\"sérvér ⚙\",\"message\":\"&#38; \\u0001 <b>\"}}\n{\"i\":1,\"who\":\"",
                  longest, "\",\"do\":\"", longest, "\",\"changed\":{\"v\":\"", longest, "\"}}\n", NULL);
  g_autofree char *svg = drawn(text, "hostile.svg", FORMAT_SVG), *path = picture_path("hostile.svg");
  expect(picture_is_xml(path));
  expect(strstr(svg, "sérvér ⚙"));
  expect(strstr(svg, "…"));
  expect(!strstr(svg, longest + 200)); /* cut */
  double width = g_ascii_strtod(strstr(svg, "width=\"") + 7, NULL);
  expect(width <= VIZ_PAGE + 20);
}

static void full_disk(void) {
  g_autofree char *trace = write_file("full.jsonl", race);
  g_autoptr(GError) error = NULL;
  SpanWish w = all_steps();
  expect(!viz_sequence(trace, &w, "/dev/full", FORMAT_SVG, &error));
  expect_str(error ? error->message : NULL, "/dev/full: cannot write: No space left on device");
}

int main(void) {
  pictures_begin();
  int status =
      suite_run("viz sequence", (const Case[]){{"participants have an order", participants_have_an_order},
                                               {"notes are what nobody owns", notes_are_what_nobody_owns},
                                               {"bars say whom it works for", bars_say_whom_it_works_for},
                                               {"locks are bars", locks_are_bars},
                                               {"messages are arrows", messages_are_arrows},
                                               {"acts are boxes", acts_are_boxes},
                                               {"shows the broken condition", shows_the_broken_condition},
                                               {"a lasso is framed", a_lasso_is_framed},
                                               {"the same twice", the_same_twice},
                                               {"a part knows what came before", a_part_knows_what_came_before},
                                               {"which check and how far", which_check_and_how_far},
                                               {"a query runs when it says so", a_query_runs_when_it_says_so},
                                               {"steps that are not there", steps_that_are_not_there},
                                               {"empty and cut traces", empty_and_cut_traces},
                                               {"a million steps", a_million_steps},
                                               {"too many take part", too_many_take_part},
                                               {"hostile names", hostile_names},
                                               {"a full disk", full_disk},
                                               {0}});
  pictures_end();
  return status;
}
