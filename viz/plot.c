/* plot.c - a PlotSpec as a gnuplot script. Places that depend on data are computed here, so that labels can be moved
 * apart and no two versions of gnuplot choose other ticks. */
#include "viz/plot.h"
#include "viz/plot_axes.h"
#include <math.h>
#include <string.h>

/* Fractions of the picture that the axes take; labels of curves stand to their right. */
#define LEFT   0.085
#define RIGHT  0.68
#define TOP    0.82
#define BOTTOM 0.115
#define WIDTH  1040
#define HEIGHT 640

#define LABEL_STEP (40.0 / HEIGHT / (TOP - BOTTOM)) /* a label of two lines, in heights of the plot */
#define TICK_STEP  0.055                            /* a number below the x axis, in widths of the plot */

typedef struct {
  const char *colour, *dash;
} Style;
static const Style styles[] = {{"#0072B2", "1"},          {"#D55E00", "1"},     {"#009E73", "(10,6)"},
                               {"#CC79A7", "(10,6)"},     {"#E69F00", "(3,4)"}, {"#56B4E9", "(3,4)"},
                               {"#000000", "(12,4,3,4)"}, {"#7F7F7F", "1"}};

typedef struct {
  const PlotSpec *spec;
  LogRange x, y;
  double font_px; /* what the terminal calls a pixel of the SVG */
  GString *out;
} Plot;

static bool measure(Plot *p, GError **error) {
  for (guint s = 0; s < p->spec->n_series; s++) {
    const PlotSeries *series = &p->spec->series[s];
    for (guint i = 0; i < series->n; i++) {
      double x = series->x[i], y = series->y[i];
      if (!(x > 0) || !(y > 0) || !isfinite(x) || !isfinite(y)) {
        g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT,
                    "%s: point %u is (%g, %g), and logarithmic axes need positive values", series->label, i + 1, x, y);
        return false;
      }
      log_range_hold(&p->x, x);
      log_range_hold(&p->y, y);
    }
  }
  if (!(p->x.low > 0)) {
    g_set_error_literal(error, VIZ_ERROR, VIZ_ERROR_INPUT, "there is no point to plot");
    return false;
  }
  log_range_pad(&p->x, 1.15);
  log_range_pad(&p->y, 1.3);
  return true;
}

static bool first_of_label(const PlotSpec *spec, guint s) {
  for (guint b = 0; b < s; b++)
    if (strcmp(spec->series[b].label, spec->series[s].label) == 0) return false;
  return true;
}

/* One label, one style: the number of distinct labels before it. */
static const Style *style_of(const PlotSpec *spec, const char *label) {
  guint style = 0;
  for (guint s = 0; strcmp(spec->series[s].label, label) != 0; s++) style += first_of_label(spec, s);
  return &styles[style % G_N_ELEMENTS(styles)];
}

static const char *number(char *buffer, double v) {
  return g_ascii_formatd(buffer, G_ASCII_DTOSTR_BUF_SIZE, "%.15g", v);
}

static void append_number(GString *out, double v) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append(out, number(buffer, v));
}

/* A string of gnuplot in single quotes, where nothing is special but the quote itself. */
static void append_quoted(GString *out, const char *s) {
  g_autofree char *valid = g_utf8_make_valid(s, -1);
  g_string_append_c(out, '\'');
  for (const char *p = valid; *p; p++) {
    if (*p == '\'') g_string_append_c(out, '\'');
    g_string_append_c(out, (guchar)*p < 0x20 ? ' ' : *p);
  }
  g_string_append_c(out, '\'');
}

/* Text at x, y (fractions of the picture), as large as `px` pixels of the SVG. */
static void text_at(const Plot *p, const char *text, double x, double y, double px, const char *colour) {
  GString *out = p->out;
  g_string_append(out, "set label ");
  append_quoted(out, text);
  g_string_append(out, " at screen ");
  append_number(out, x);
  g_string_append(out, ", screen ");
  append_number(out, y);
  g_string_append(out, " left noenhanced font ',");
  append_number(out, px * p->font_px);
  g_string_append_printf(out, "' textcolor rgb '%s'\n", colour);
}

/* Sizes are given in pixels of the SVG; cairo's terminals count in points of 1/72 inch. */
static void terminal(GString *out, VizFormat format) {
  static const char *const terminals[] = {
      [FORMAT_SVG] = "svg size 1040,640 dynamic background '#ffffff' font '" VIZ_FONT ",13'",
      [FORMAT_PNG] = ("pngcairo size 1560,960 background '#ffffff' fontscale 1.5 linewidth 1.5 pointscale 1.5 "
                      "font 'DejaVu Sans,9.75'"),
      [FORMAT_PDF] = "pdfcairo size 10.4in,6.4in background '#ffffff' font 'DejaVu Sans,9.36'"};
  g_string_append_printf(out, "set encoding utf8\nset terminal %s\nset termoption noenhanced\n", terminals[format]);
}

static void range(GString *out, const char *axis, const LogRange *r) {
  g_string_append_printf(out, "set logscale %s\nset %srange [", axis, axis);
  append_number(out, r->low);
  g_string_append_c(out, ':');
  append_number(out, r->high);
  g_string_append(out, "]\n");
}

static void tick(GString *out, double v, bool named, bool first) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append(out, first ? "" : ", ");
  append_quoted(out, named ? number(buffer, v) : "");
  g_string_append_c(out, ' ');
  append_number(out, v);
}

static int ascending(gconstpointer a, gconstpointer b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The x of the points themselves: a sweep has few, and they are what a reader looks for. */
static GArray *measured_x(const PlotSpec *spec) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(double));
  for (guint s = 0; s < spec->n_series; s++) g_array_append_vals(all, spec->series[s].x, spec->series[s].n);
  g_array_sort(all, ascending);
  for (guint i = all->len; i-- > 1;)
    if (!ascending(&g_array_index(all, double, i), &g_array_index(all, double, i - 1))) g_array_remove_index(all, i);
  return all;
}

static void x_ticks(const Plot *p) {
  g_autoptr(GArray) ticks = measured_x(p->spec);
  double last = -1;
  if (ticks->len > 16) {
    g_array_unref(ticks);
    ticks = log_range_ticks(&p->x);
  }
  g_string_append(p->out, "set xtics nomirror (");
  for (guint i = 0; i < ticks->len; i++) {
    double v = g_array_index(ticks, double, i), place = log_range_place(&p->x, v);
    bool named = place - last >= TICK_STEP;
    tick(p->out, v, named, i == 0);
    if (named) last = place;
  }
  g_string_append(p->out, ")\n");
}

static void y_ticks(const Plot *p) {
  g_autoptr(GArray) ticks = log_range_ticks(&p->y);
  g_string_append(p->out, "set ytics nomirror (");
  for (guint i = 0; i < ticks->len; i++) tick(p->out, g_array_index(ticks, double, i), true, i == 0);
  g_string_append(p->out, ")\n");
}

static void axes(const Plot *p) {
  GString *out = p->out;
  range(out, "x", &p->x);
  range(out, "y", &p->y);
  x_ticks(p);
  y_ticks(p);
  g_string_append(out, "set mxtics 1\nset mytics 1\nset grid xtics ytics lt 1 lc rgb '#DDDDDD' lw 1\n"
                       "set border 3 lc rgb '#444444'\nset xlabel ");
  append_quoted(out, p->spec->x_title);
  g_string_append(out, " noenhanced\nset ylabel ");
  append_quoted(out, p->spec->y_title);
  g_string_append(out, " noenhanced\n");
}

static void header(const Plot *p, VizFormat format) {
  GString *out = p->out;
  terminal(out, format);
  g_string_append(out, "set key at screen 0.985, screen 0.985 right top Left reverse samplen 3 spacing 1.2\n");
  g_string_append_printf(out,
                         "set lmargin at screen %s\nset rmargin at screen %s\nset tmargin at screen %s\n"
                         "set bmargin at screen %s\n",
                         G_STRINGIFY(LEFT), G_STRINGIFY(RIGHT), G_STRINGIFY(TOP), G_STRINGIFY(BOTTOM));
  text_at(p, p->spec->title, 0.02, 0.952, 17, "#000000");
  if (p->spec->subtitle) text_at(p, p->spec->subtitle, 0.02, 0.898, 13, "#555555");
  axes(p);
}

/* Names a curve at its right end; a thin line leads from the end to the label when that had to move. */
static void end_label(const Plot *p, const PlotSeries *s, double place) {
  const Style *style = style_of(p->spec, s->label);
  guint last = 0;
  for (guint i = 1; i < s->n; i++)
    if (s->x[i] >= s->x[last]) last = i;
  double y = BOTTOM + place * (TOP - BOTTOM), lift = s->exponent ? 0.014 : 0;
  g_string_append(p->out, "set arrow from ");
  append_number(p->out, s->x[last]);
  g_string_append_c(p->out, ',');
  append_number(p->out, s->y[last]);
  g_string_append(p->out, " to screen 0.695, screen ");
  append_number(p->out, y);
  g_string_append_printf(p->out, " nohead lw 1 lc rgb '%s'\n", style->colour);
  text_at(p, s->label, 0.70, y + lift, 13, style->colour);
  if (s->exponent) text_at(p, s->exponent, 0.70, y - 0.015, 11, "#333333");
}

static void end_labels(const Plot *p) {
  const PlotSpec *spec = p->spec;
  g_autofree double *places = g_new0(double, spec->n_series + 1);
  g_autofree const PlotSeries **named = g_new0(const PlotSeries *, spec->n_series + 1);
  guint n = 0;
  for (guint s = 0; s < spec->n_series; s++) {
    const PlotSeries *series = &spec->series[s];
    if (!series->n || !first_of_label(spec, s)) continue;
    guint last = 0;
    for (guint i = 1; i < series->n; i++)
      if (series->x[i] >= series->x[last]) last = i;
    places[n] = log_range_place(&p->y, series->y[last]);
    named[n++] = series;
  }
  places_spread(places, n, LABEL_STEP);
  for (guint i = 0; i < n; i++) end_label(p, named[i], places[i]);
}

/* A data block of "x y low high", once the counted points and once those set aside. */
static void data(const Plot *p, guint s, bool set_aside) {
  const PlotSeries *series = &p->spec->series[s];
  g_string_append_printf(p->out, "$%s%u << EOD\n", set_aside ? "aside" : "data", s);
  for (guint i = 0; i < series->n; i++) {
    if ((series->set_aside && series->set_aside[i]) != set_aside) continue;
    double y = series->y[i], spread = series->spread ? series->spread[i] : 0;
    const double row[] = {series->x[i], y, MAX(y - spread, p->y.low), y + spread};
    for (guint c = 0; c < G_N_ELEMENTS(row); c++) {
      append_number(p->out, row[c]);
      g_string_append_c(p->out, c + 1 < G_N_ELEMENTS(row) ? ' ' : '\n');
    }
  }
  g_string_append(p->out, "EOD\n");
}

static guint count_aside(const PlotSeries *s) {
  guint n = 0;
  for (guint i = 0; s->set_aside && i < s->n; i++) n += s->set_aside[i];
  return n;
}

static void curve(const Plot *p, guint s) {
  const PlotSeries *series = &p->spec->series[s];
  const Style *style = style_of(p->spec, series->label);
  guint aside = count_aside(series);
  if (aside < series->n && series->published)
    g_string_append_printf(p->out, "$data%u using 1:2:3:4 with yerrorbars pt 6 ps 1.1 lw 1.6 lc rgb '%s' notitle, ", s,
                           style->colour);
  else if (aside < series->n)
    g_string_append_printf(p->out, "$data%u using 1:2 with lines lw 2.4 dt %s lc rgb '%s' notitle, ", s, style->dash,
                           style->colour);
  if (aside)
    g_string_append_printf(p->out, "$aside%u using 1:2 with points pt 2 ps 1.3 lw 2 lc rgb '%s' notitle, ", s,
                           style->colour);
}

static void curves(const Plot *p) {
  bool published = false, simulated = false, aside = false;
  for (guint s = 0; s < p->spec->n_series; s++) {
    const PlotSeries *series = &p->spec->series[s];
    published |= series->published;
    simulated |= !series->published;
    aside |= count_aside(series) > 0;
    data(p, s, false);
    if (count_aside(series)) data(p, s, true);
  }
  g_string_append(p->out, "plot ");
  for (guint s = 0; s < p->spec->n_series; s++) curve(p, s);
  if (simulated) g_string_append(p->out, "keyentry with lines lw 2.4 lc rgb '#444444' title 'simulated', ");
  if (published)
    g_string_append(
        p->out, "keyentry with yerrorbars pt 6 ps 1.1 lw 1.6 lc rgb '#444444' title 'published, with its spread', ");
  if (aside)
    g_string_append(p->out, "keyentry with points pt 2 ps 1.3 lw 2 lc rgb '#444444' title 'published, not counted', ");
  g_string_truncate(p->out, p->out->len - 2);
  g_string_append_c(p->out, '\n');
}

GString *viz_plot_script(const PlotSpec *spec, VizFormat format, GError **error) {
  g_assert(format == FORMAT_SVG || format == FORMAT_PNG || format == FORMAT_PDF);
  Plot p = {.spec = spec, .font_px = format == FORMAT_SVG ? 1 : format == FORMAT_PNG ? 0.75 : 0.72};
  if (!measure(&p, error)) return NULL;
  p.out = g_string_new(NULL);
  header(&p, format);
  end_labels(&p);
  curves(&p);
  return p.out;
}

bool viz_plot(const PlotSpec *spec, const char *path, VizFormat format, GError **error) {
  /* -d: a user's own settings stay out of it. */
  const char *const argv[] = {"gnuplot", "-d", NULL};
  g_autoptr(GString) script = viz_plot_script(spec, format, error);
  if (!script) return false;
  g_autoptr(GBytes) bytes = picture_tool(argv, script->str, script->len, "gnuplot-nox", error);
  return bytes && picture_write(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), format, path, error);
}
