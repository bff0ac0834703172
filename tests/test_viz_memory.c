/* test_viz_memory.c - the heat map: what is counted where, how dots gather, and the SVG. */
#include "tests/harness.h"
#include "tests/pictures.h"
#include "viz/memory.h"

static const char header[] =
    "{\"stampede_trace\":1,\"version\":\"0.1.0\",\"command\":\"run\",\"scenario\":\"hand-made\","
    "\"text\":\"\",\"overrides\":[],\"sources\":[],\"seed\":1,\"subject\":\"model:x\",\"k\":0}\n";

/* A trace under way: steps are numbered as they are added. */
typedef struct {
  GString *text;
  guint steps;
} Hand;

static Hand hand_new(void) {
  return (Hand){g_string_new(header), 0};
}

static void hand_step(Hand *h, const char *who, const char *what, const char *pages) {
  g_string_append_printf(h->text, "{\"i\":%u,\"who\":\"%s\",\"do\":\"%s\"", h->steps++, who, what);
  if (pages) g_string_append_printf(h->text, ",\"args\":{\"pages\":\"%s\"}", pages);
  g_string_append(h->text, "}\n");
}

static char *hand_end(Hand *h, const char *name) {
  g_string_append_printf(h->text, "{\"end\":{\"steps\":%u,\"verdict\":\"pass\",\"checks\":[],\"metrics\":{}}}\n",
                         h->steps);
  char *path = picture_path(name);
  g_file_set_contents(path, h->text->str, (gssize)h->text->len, NULL);
  g_string_free(h->text, TRUE);
  return path;
}

static PageMap *read_map(const char *path) {
  g_autoptr(GError) error = NULL;
  PageMap *m = page_map_read(path, &error);
  if (error) fprintf(stderr, "%s\n", error->message);
  expect(m != NULL);
  g_assert_nonnull(m);
  return m;
}

/* Two iterations of two connects and of one; one connect between them, and one before, that do not count. */
static char *two_iterations(void) {
  Hand h = hand_new();
  hand_step(&h, "launcher[2]", "InitProcess", "0");
  hand_step(&h, "pgbench[1]", "main", NULL);
  hand_step(&h, "backend[3]", "InitProcess", "0");
  hand_step(&h, "backend[4]", "InitProcess", "1"); /* two connect at the same time */
  hand_step(&h, "backend[3]", "ProcArrayAdd", NULL);
  hand_step(&h, "backend[4]", "ProcArrayAdd", "0,2-4");
  hand_step(&h, "backend[4]", "ProcArrayRemove", "5"); /* leaving is not connecting */
  hand_step(&h, "backend[4]", "ProcKill", "5");
  hand_step(&h, "pgbench[1]", "end of run", NULL);
  hand_step(&h, "backend[4]", "InitProcess", "3");
  hand_step(&h, "pgbench[1]", "main", NULL);
  hand_step(&h, "backend[4]", "ProcArrayAdd", "4");
  return hand_end(&h, "two.jsonl");
}

static void counts_by_hand(void) {
  static const uint64_t expected[3][5] = {{1, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {0, 0, 0, 0, 1}};
  g_autofree char *path = two_iterations();
  g_autoptr(PageMap) m = read_map(path);
  expect_int(m->columns, ==, 5);
  expect_int(m->rows, ==, 3);
  expect_int(m->bands->len, ==, 2);
  for (guint row = 0; row < 3; row++)
    for (guint column = 0; column < 5; column++) expect_int(m->counts[row * 5 + column], ==, expected[row][column]);
  const PageBand *first = &g_array_index(m->bands, PageBand, 0);
  expect_int(first->connects, ==, 2);
  expect_int(first->touches, ==, 6);
}

static void dots_gather(void) {
  Hand h = hand_new();
  for (guint connect = 0; connect < 1001; connect++) {
    hand_step(&h, "backend[7]", "InitProcess", "0-1199");
    hand_step(&h, "backend[7]", "ProcKill", NULL);
  }
  g_autofree char *path = hand_end(&h, "gather.jsonl");
  g_autoptr(PageMap) m = read_map(path);
  expect_int(m->pages_per_dot, ==, 2);    /* ceil(1200 / 600) */
  expect_int(m->connects_per_dot, ==, 3); /* ceil(1001 / 440) */
  expect_int(m->columns, ==, 600);
  expect_int(m->rows, ==, 334); /* ceil(1001 / 3) */
  const PageBand *band = &g_array_index(m->bands, PageBand, 0);
  uint64_t sum = 0;
  for (guint row = 0; row < m->rows; row++)
    for (guint column = 0; column < m->columns; column++) {
      sum += m->counts[row * m->columns + column];
      expect(m->counts[row * m->columns + column] == page_map_pairs(m, band, column, row));
    }
  expect_int(sum, ==, 1001 * 1200);
}

static void nothing_to_draw(void) {
  Hand h = hand_new();
  hand_step(&h, "backend[7]", "InitProcess", NULL);
  g_autofree char *empty = hand_end(&h, "empty.jsonl");
  h = hand_new();
  hand_step(&h, "backend[7]", "InitProcess", "5-2");
  g_autofree char *wrong = hand_end(&h, "wrong.jsonl");
  h = hand_new();
  hand_step(&h, "backend[7]", "InitProcess", "0-18446744073709551615");
  g_autofree char *huge = hand_end(&h, "huge.jsonl");
  const char *const paths[] = {empty, wrong, huge};
  for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
    g_autoptr(GError) error = NULL;
    expect(!page_map_read(paths[i], &error));
    expect(g_error_matches(error, VIZ_ERROR, VIZ_ERROR_INPUT));
  }
}

static void picture_is_whole(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *trace = two_iterations(), *a = picture_path("a.svg"), *b = picture_path("b.svg"),
                  *png = picture_path("a.png");
  expect(viz_memory(trace, a, FORMAT_SVG, &error));
  expect(viz_memory(trace, b, FORMAT_SVG, &error));
  expect(viz_memory(trace, png, FORMAT_PNG, &error));
  if (error) fprintf(stderr, "%s\n", error->message);
  expect(picture_is_xml(a));
  expect(picture_same(a, b));
  expect(picture_starts(png, "\x89PNG"));
  g_autofree char *svg = picture_read(a);
  /* The first band's dots: page 0 of the first connect, all five of the second. */
  expect(strstr(svg, "d=\"M0 0m0 0h1m-1 1h5\""));
  expect(strstr(svg, "d=\"M0 0m4 0h1\""));
  expect(strstr(svg, "iteration 1: 2 connects"));
  expect(strstr(svg, "3.0 pages each"));
  expect(strstr(svg, "Each dark dot: this connect mapped this page."));
}

/* The worst case for run-length: no two neighbours alike, in the largest map there is. */
static void never_large(void) {
  PageMap m = {.pages = PAGE_MAP_COLUMNS * 10,
               .connects_per_dot = 1,
               .pages_per_dot = 10,
               .columns = PAGE_MAP_COLUMNS,
               .rows = PAGE_MAP_ROWS};
  PageBand band = {.connects = PAGE_MAP_ROWS, .rows = PAGE_MAP_ROWS};
  m.bands = g_array_new(FALSE, FALSE, sizeof(PageBand));
  g_array_append_val(m.bands, band);
  m.counts = g_new0(uint64_t, PAGE_MAP_COLUMNS * PAGE_MAP_ROWS);
  for (guint i = 0; i < PAGE_MAP_COLUMNS * PAGE_MAP_ROWS; i++) m.counts[i] = 2 * (i % 5 + 1);
  g_autoptr(GString) svg = g_string_new(NULL);
  viz_memory_svg(&m, svg);
  expect_int(svg->len, <, 2000000);
  g_array_unref(m.bands);
  g_free(m.counts);
}

int main(void) {
  pictures_begin();
  int status = suite_run("viz memory", (const Case[]){{"counts of a trace made by hand", counts_by_hand},
                                                      {"dots gather connects and pages", dots_gather},
                                                      {"nothing to draw", nothing_to_draw},
                                                      {"picture is whole, twice the same", picture_is_whole},
                                                      {"an SVG is never large", never_large},
                                                      {0}});
  pictures_end();
  return status;
}
