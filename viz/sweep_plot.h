/* sweep_plot.h - a sweep's or a comparison's folder as a PlotSpec: DIR/results.json, which holds the curves (means over
 * seeds), their exponents, and the published series that the scenario names. Errors: SCENARIO_ERROR (the file cannot be
 * read) or VIZ_ERROR_INPUT (it is no sweep's result, nothing in it has an x axis), both for exit 2. */
#pragma once
#include "viz/plot.h"

typedef struct SweepPlot SweepPlot;

/* metrics (ends with NULL): of the curves that there are, those to draw; NULL: all. */
SweepPlot *sweep_plot_read(const char *dir, const char *const *metrics, GError **error);
void sweep_plot_free(SweepPlot *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SweepPlot, sweep_plot_free)
const PlotSpec *sweep_plot_spec(const SweepPlot *p); /* lives as long as p */

/* Reads and draws; for `stampede viz` and for the end of a sweep. */
bool viz_plot_sweep(const char *dir, const char *const *metrics, const char *path, VizFormat format, GError **error);
