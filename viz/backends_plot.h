/* backends_plot.h - each backend's faults by its place among the connects: a point each, real and simulated; a panel an
 * iteration. From DIR/backends.csv, which calibrate postgres writes (sim/calibrate/README.md). */
#pragma once
#include "viz/picture.h"

/* DIR/backends.svg. False: TRACE_ERROR or VIZ_ERROR_INPUT (no such file, a row that is none), VIZ_ERROR_TOOL. */
bool viz_plot_backends(const char *dir, GError **error);
/* What gnuplot is told; NULL and *error. */
GString *viz_backends_script(const char *csv, const char *name, GError **error);
