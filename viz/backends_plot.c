/* backends_plot.c - see backends_plot.h. */
#include "viz/backends_plot.h"
#include <string.h>

enum { PANELS_MOST = 12, PANEL_WIDTH = 420, HEIGHT = 420, CSV_MOST = 64 << 20 };

/* iteration, connect, pid, real, simulated: the first five of a row. */
static bool row_of(const char *line, double out[5]) {
  for (int i = 0; i < 5; i++) {
    char *end;
    out[i] = g_ascii_strtod(line, &end);
    if (end == line || *end != ',') return false;
    line = end + 1;
  }
  return true;
}

static bool blocks(GString *out, char **lines, const char *name, guint *panels, GError **error) {
  for (guint i = 1; lines[i] && *lines[i]; i++) {
    double r[5];
    if (!row_of(lines[i], r) || r[0] < 1 || r[0] < *panels) {
      g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT, "%s:%u: not a row of a backend", name, i + 1);
      return false;
    }
    if (r[0] > PANELS_MOST) break;
    if ((guint)r[0] > *panels) {
      if (*panels) g_string_append(out, "EOD\n");
      *panels = (guint)r[0];
      g_string_append_printf(out, "$i%u << EOD\n", *panels);
    }
    g_string_append_printf(out, "%.0f %.0f %.0f\n", r[1], r[3], r[4]);
  }
  if (*panels) g_string_append(out, "EOD\n");
  return true;
}

GString *viz_backends_script(const char *csv, const char *name, GError **error) {
  g_autoptr(GString) data = g_string_new(NULL);
  g_auto(GStrv) lines = g_strsplit(csv, "\n", -1);
  guint panels = 0;
  if (!lines[0] || !blocks(data, lines, name, &panels, error)) return NULL;
  if (!panels) {
    g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT, "%s: there is no backend to plot", name);
    return NULL;
  }
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "set terminal svg size %u,%d font 'sans,13' background 'white'\n", panels * PANEL_WIDTH,
                         HEIGHT);
  g_string_append(out, data->str);
  g_string_append_printf(out,
                         "set multiplot layout 1,%u\nset grid lc rgb '#dddddd'\nset key top left\n"
                         "set xlabel 'connect'\nset ylabel 'minor faults of the backend'\n",
                         panels);
  for (guint k = 1; k <= panels; k++)
    g_string_append_printf(
        out,
        "set title 'iteration %u'\nplot $i%u using 1:2 with points pt 7 ps 0.35 lc rgb '#D55E00' title "
        "'real', $i%u using 1:3 with points pt 7 ps 0.15 lc rgb '#0072B2' title 'simulated'\n",
        k, k, k);
  g_string_append(out, "unset multiplot\n");
  return out;
}

bool viz_plot_backends(const char *dir, GError **error) {
  const char *const argv[] = {"gnuplot", "-d", NULL};
  g_autofree char *csv = g_build_filename(dir, "backends.csv", NULL),
                  *svg = g_build_filename(dir, "backends.svg", NULL), *text = NULL;
  gsize length;
  if (!g_file_get_contents(csv, &text, &length, error)) return false;
  if (length > CSV_MOST) {
    g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT, "%s: larger than %d MiB", csv, CSV_MOST >> 20);
    return false;
  }
  g_autoptr(GString) script = viz_backends_script(text, csv, error);
  g_autoptr(GBytes) bytes = script ? picture_tool(argv, script->str, script->len, "gnuplot-nox", error) : NULL;
  return bytes && picture_write(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), FORMAT_SVG, svg, error);
}
