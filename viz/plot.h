/* plot.h - curves on two logarithmic axes, drawn by gnuplot: simulated series as lines, published ones as open circles
 * with error bars, both of one label in one colour (Okabe and Ito's palette, safe for the colour-blind, and a dash of
 * its own). Each curve is named at its right end, with its exponent; the labels are moved apart where curves meet. */
#pragma once
#include "viz/picture.h"

typedef struct {
  const char *label; /* "dense-arrays, warm"; a published series with the label of a simulated one belongs to it */
  guint n;
  const double *x, *y;   /* positive */
  const double *spread;  /* plus or minus, as given; NULL: none */
  const bool *set_aside; /* points shown as crosses, "not counted"; NULL: none */
  bool published;
  const char *exponent; /* second line of the label: "exponent 1.05 (95 %: 1.02 to 1.08)"; NULL: none */
} PlotSeries;

typedef struct {
  const char *title, *subtitle; /* subtitle: "simulated, profile ramdisk-2026"; may be NULL */
  const char *x_title, *y_title;
  const PlotSeries *series;
  guint n_series;
} PlotSpec;

/* format: svg, png or pdf. false: VIZ_ERROR_INPUT (no point, a value that is not positive), VIZ_ERROR_TOOL (no
 * gnuplot), TRACE_ERROR_WRITE. */
bool viz_plot(const PlotSpec *spec, const char *path, VizFormat format, GError **error);
/* What gnuplot is told; NULL and *error as above. */
GString *viz_plot_script(const PlotSpec *spec, VizFormat format, GError **error);
