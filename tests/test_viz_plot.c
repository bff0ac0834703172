/* test_viz_plot.c - plots: places of labels, ticks, the script for gnuplot, a sweep's folder, the finished SVG. */
#include "tests/harness.h"
#include "tests/pictures.h"
#include "viz/plot_axes.h"
#include "viz/sweep_plot.h"

static const double clients[] = {512, 1024, 2048, 4096, 8192};

static void places_keep_apart(void) {
  double apart[] = {0.1, 0.5, 0.9};
  places_spread(apart, 3, 0.1);
  expect_near(apart[0], 0.1, 1e-12);
  expect_near(apart[1], 0.5, 1e-12);
  /* Three at one place and step 0.1: centred on it. */
  double same[] = {0.5, 0.5, 0.5};
  places_spread(same, 3, 0.1);
  expect_near(same[0], 0.4, 1e-12);
  expect_near(same[1], 0.5, 1e-12);
  expect_near(same[2], 0.6, 1e-12);
  /* At the edge: 1, 0.95 with step 0.1 would be 1.025 and 0.925; shifted to end at 1. */
  double edge[] = {1, 0.95};
  places_spread(edge, 2, 0.1);
  expect_near(edge[0], 1, 1e-12);
  expect_near(edge[1], 0.9, 1e-12);
}

static void places_keep_their_order(void) {
  double places[] = {0.52, 0.2, 0.5, 0.51, 0.99, 0.98};
  places_spread(places, 6, 0.08);
  expect(places[1] < places[2]);
  expect(places[2] < places[3]);
  expect(places[3] < places[0]);
  expect(places[0] < places[5]);
  expect(places[5] < places[4]);
  for (guint i = 0; i < 6; i++)
    for (guint k = 0; k < i; k++) expect(places[i] - places[k] > 0.0799 || places[k] - places[i] > 0.0799);
  expect(places[4] <= 1 + 1e-12);
}

static void ticks_are_round(void) {
  LogRange narrow = {150, 24000}, wide = {0.5, 3e6}, small = {0.004, 0.03};
  g_autoptr(GArray) n = log_range_ticks(&narrow), w = log_range_ticks(&wide), s = log_range_ticks(&small);
  const double expected[] = {200, 500, 1000, 2000, 5000, 10000, 20000};
  expect_int(n->len, ==, G_N_ELEMENTS(expected));
  for (guint i = 0; i < MIN(n->len, G_N_ELEMENTS(expected)); i++)
    expect_near(g_array_index(n, double, i), expected[i], 1e-12);
  expect_int(w->len, ==, 7); /* 1 to 10^6 */
  expect_int(s->len, ==, 3); /* 0.005 0.01 0.02 */
}

static void refuses_what_has_no_logarithm(void) {
  const double zero[] = {1, 2, 0, 4, 5};
  const PlotSeries bad = {.label = "bad", .n = 5, .x = clients, .y = zero}, none = {.label = "none"};
  const PlotSeries *const all[] = {&bad, &none};
  for (guint i = 0; i < 2; i++) {
    const PlotSpec spec = {"t", NULL, "x", "y", all[i], 1};
    g_autoptr(GError) error = NULL;
    expect(!viz_plot_script(&spec, FORMAT_SVG, &error));
    expect(g_error_matches(error, VIZ_ERROR, VIZ_ERROR_INPUT));
  }
}

/* Text comes from scenario files: gnuplot must not take any of it for a command. */
static void text_stays_text(void) {
  const PlotSeries s = {.label = "it's `id`\nset output 'x'", .n = 5, .x = clients, .y = clients};
  const PlotSpec spec = {"a_b^c", NULL, "x", "y", &s, 1};
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) script = viz_plot_script(&spec, FORMAT_SVG, &error);
  expect(script && strstr(script->str, "'it''s `id` set output ''x''"));
  g_autofree char *path = picture_path("text.svg");
  expect(viz_plot(&spec, path, FORMAT_SVG, &error));
  g_autofree char *svg = picture_read(path);
  expect(strstr(svg, "a_b^c"));
  expect(strstr(svg, "it's `id`") || strstr(svg, "it&apos;s `id`") || strstr(svg, "it&#39;s `id`"));
}

static void sweep_folder(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(SweepPlot) p = sweep_plot_read("tests/traces/sweep", NULL, &error);
  if (error) fprintf(stderr, "%s\n", error->message);
  expect(p != NULL);
  if (!p) return;
  const PlotSpec *spec = sweep_plot_spec(p);
  expect_int(spec->n_series, ==, 4);
  expect_str(spec->title, "connect-storm: connect_ms by clients");
  expect_str(spec->y_title, "connect_ms (ms)");
  expect_str(spec->series[0].label, "dense-arrays, warm");
  expect_str(spec->series[0].exponent, "exponent 1.31 (95 %: 1.02 to 1.60)");
  expect_str(spec->series[1].exponent, "exponent 0.99");
  expect(spec->series[2].published && spec->series[3].published && !spec->series[0].published);
  expect_near(spec->series[2].spread[4], 140, 0);
  expect(spec->series[3].set_aside[0] && !spec->series[3].set_aside[1]);
}

static void one_metric_of_a_sweep(void) {
  g_autoptr(GError) error = NULL;
  const char *const there[] = {"warm.connect_ms", NULL}, *const absent[] = {"warm.tps", NULL};
  g_autoptr(SweepPlot) p = sweep_plot_read("tests/traces/sweep", there, &error);
  expect(p != NULL);
  g_autoptr(SweepPlot) q = sweep_plot_read("tests/traces/sweep", absent, &error);
  expect(!q && g_error_matches(error, VIZ_ERROR, VIZ_ERROR_INPUT));
}

static void not_a_sweep(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(SweepPlot) p = sweep_plot_read("tests/traces", NULL, &error);
  expect(!p && error != NULL);
}

static void picture_is_whole(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *a = picture_path("a.svg"), *b = picture_path("b.svg"), *pdf = picture_path("a.pdf"),
                  *png = picture_path("a.png");
  expect(viz_plot_sweep("tests/traces/sweep", NULL, a, FORMAT_SVG, &error));
  expect(viz_plot_sweep("tests/traces/sweep", NULL, b, FORMAT_SVG, &error));
  expect(viz_plot_sweep("tests/traces/sweep", NULL, pdf, FORMAT_PDF, &error));
  expect(viz_plot_sweep("tests/traces/sweep", NULL, png, FORMAT_PNG, &error));
  if (error) fprintf(stderr, "%s\n", error->message);
  expect(picture_is_xml(a));
  expect(picture_same(a, b));
  g_autofree char *svg = picture_read(a);
  const char *const words[] = {
      "dense-arrays, warm",    "exponent 1.31 (95 %: 1.02 to 1.60)", "published, with its spread", "8192", "20000",
      "published, not counted"};
  for (guint i = 0; i < G_N_ELEMENTS(words); i++) expect(strstr(svg, words[i]));
  expect(picture_starts(pdf, "%PDF-"));
  expect(picture_starts(png, "\x89PNG"));
}

static void pdf_has_no_date_of_today(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = picture_path("date.pdf");
  expect(viz_plot_sweep("tests/traces/sweep", NULL, path, FORMAT_PDF, &error));
  gsize size = 0;
  g_autofree char *data = NULL;
  expect(g_file_get_contents(path, &data, &size, NULL));
  const char *date = data ? memmem(data, size, "/CreationDate (D:", 17) : NULL;
  expect(!date || strncmp(date + 17, "20000101000000", 14) == 0);
}

int main(void) {
  pictures_begin();
  int status = suite_run("viz plot", (const Case[]){{"labels keep apart", places_keep_apart},
                                                    {"labels keep their order", places_keep_their_order},
                                                    {"ticks are round", ticks_are_round},
                                                    {"refuses what has no logarithm", refuses_what_has_no_logarithm},
                                                    {"text stays text", text_stays_text},
                                                    {"a sweep's folder", sweep_folder},
                                                    {"one metric of a sweep", one_metric_of_a_sweep},
                                                    {"a folder that is no sweep's", not_a_sweep},
                                                    {"picture is whole, twice the same", picture_is_whole},
                                                    {"PDF has no date of today", pdf_has_no_date_of_today},
                                                    {0}});
  pictures_end();
  return status;
}
