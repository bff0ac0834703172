/* memory.c - a PageMap as SVG. Dots of one colour that touch in a row are one stroke, and all strokes of a colour are
 * one path with relative moves: about seven bytes a run. */
#include "viz/memory.h"
#include "viz/plot_axes.h"

/* Pixels. Around the map, and what the map is aimed at. */
enum { LEFT = 92, TOP = 104, RIGHT = 268, BOTTOM = 66, MAP_WIDTH = 640, MAP_HEIGHT = 460 };
enum { CELL_MAX = 22, LEVELS = 5, LABEL_STEP = 36, LINE_STEP = 16 };

/* One hue from light to dark; level 5 is "all". */
static const char *const colours[LEVELS] = {"#BDD7E7", "#8CB9DA", "#5A93C4", "#2A62A0", "#0B2E63"};

typedef struct {
  const PageMap *map;
  GString *svg;
  guint cell_width, cell_height, width, height; /* of the map, in pixels */
  guint gap;                                    /* between two bands */
} Sheet;

static guint band_top(const Sheet *s, guint band) {
  return TOP + g_array_index(s->map->bands, PageBand, band).first_row * s->cell_height + band * s->gap;
}

static guint band_height(const Sheet *s, guint band) {
  return g_array_index(s->map->bands, PageBand, band).rows * s->cell_height;
}

static bool gathers(const PageMap *m) {
  return m->connects_per_dot > 1 || m->pages_per_dot > 1;
}

/* 0: none mapped; else 1 to LEVELS. */
static guint level_of(const PageMap *m, const PageBand *band, guint row, guint column) {
  uint64_t count = m->counts[(gsize)(band->first_row + row) * m->columns + column];
  uint64_t pairs = page_map_pairs(m, band, column, row);
  g_assert_cmpuint(count, <=, pairs);
  return (guint)((count * LEVELS + pairs - 1) / pairs);
}

/* The strokes of one level in one band; x and y in dots. */
static void band_path(const Sheet *s, const PageBand *band, guint level) {
  const PageMap *m = s->map;
  int at_x = 0, at_y = 0;
  for (guint row = 0; row < band->rows; row++)
    for (guint column = 0; column < m->columns;) {
      guint end = column;
      while (end < m->columns && level_of(m, band, row, end) == level) end++;
      if (end > column) {
        g_string_append_printf(s->svg, "m%d %dh%u", (int)column - at_x, (int)row - at_y, end - column);
        at_x = (int)end;
        at_y = (int)row;
      }
      column = MAX(end, column + 1);
    }
}

static void draw_band(const Sheet *s, guint b) {
  const PageBand *band = &g_array_index(s->map->bands, PageBand, b);
  g_string_append_printf(s->svg, "<rect class=\"paper\" x=\"%d\" y=\"%u\" width=\"%u\" height=\"%u\"/>\n", LEFT,
                         band_top(s, b), s->width, band_height(s, b));
  /* A stroke runs along the middle of its row. */
  g_string_append_printf(s->svg, "<g class=\"dots\" transform=\"translate(%d,%u) scale(%u,%u) translate(0,0.5)\">\n",
                         LEFT, band_top(s, b), s->cell_width, s->cell_height);
  for (guint level = 1; level <= LEVELS; level++) {
    gsize before = s->svg->len;
    g_string_append_printf(s->svg, "<path stroke=\"%s\" d=\"M0 0", colours[level - 1]);
    gsize empty = s->svg->len;
    band_path(s, band, level);
    if (s->svg->len == empty)
      g_string_truncate(s->svg, before);
    else
      g_string_append(s->svg, "\"/>\n");
  }
  g_string_append(s->svg, "</g>\n");
}

static void text(GString *svg, double x, double y, const char *class, const char *words) {
  char bx[G_ASCII_DTOSTR_BUF_SIZE], by[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(svg, "<text class=\"%s\" x=\"%s\" y=\"%s\">", class, g_ascii_formatd(bx, sizeof bx, "%.1f", x),
                         g_ascii_formatd(by, sizeof by, "%.1f", y));
  picture_xml(svg, words);
  g_string_append(svg, "</text>\n");
}

/* "1792.4": pages a connect, to one decimal, in integers. */
static char *per_connect(const PageBand *band) {
  int64_t tenths = (band->touches * 10 + band->connects / 2) / band->connects;
  return g_strdup_printf("%" G_GINT64_FORMAT ".%d", tenths / 10, (int)(tenths % 10));
}

static char *band_name(const PageBand *band) {
  return band->iteration ? g_strdup_printf("iteration %" G_GINT64_FORMAT, band->iteration) : g_strdup("all");
}

static double band_middle(const Sheet *s, guint b) {
  return band_top(s, b) + band_height(s, b) / 2.0;
}

/* Two lines beside each band, moved apart where bands are low. */
static void roomy_labels(const Sheet *s) {
  guint n = s->map->bands->len;
  g_autofree double *places = g_new(double, n + 1);
  for (guint b = 0; b < n; b++) places[b] = (band_middle(s, b) - TOP) / s->height;
  places_spread(places, n, (double)LABEL_STEP / s->height);
  for (guint b = 0; b < n; b++) {
    const PageBand *band = &g_array_index(s->map->bands, PageBand, b);
    double y = TOP + places[b] * s->height;
    g_autofree char *mean = per_connect(band), *name = band_name(band);
    g_autofree char *first = g_strdup_printf("%s: %" G_GINT64_FORMAT " connects", name, band->connects);
    g_autofree char *second = g_strdup_printf("%s pages each, on average", mean);
    g_string_append_printf(s->svg, "<path class=\"lead\" d=\"M%u %dL%u %d\"/>\n", LEFT + s->width + 2,
                           (int)band_middle(s, b), LEFT + s->width + 12, (int)y);
    text(s->svg, LEFT + s->width + 18, y - 2, "strong", first);
    text(s->svg, LEFT + s->width + 18, y + 13, "faint", second);
  }
}

/* A line beside as many bands as there is room for, counted from the last one. */
static void crowded_labels(const Sheet *s) {
  guint n = s->map->bands->len;
  double below = G_MAXDOUBLE;
  for (guint b = n; b-- > 0;) {
    const PageBand *band = &g_array_index(s->map->bands, PageBand, b);
    double y = band_middle(s, b);
    if (y > below - LINE_STEP) continue;
    g_autofree char *mean = per_connect(band), *name = band_name(band);
    g_autofree char *words = g_strdup_printf("%s: %s pages a connect", name, mean);
    text(s->svg, LEFT + s->width + 18, y + 4, "faint", words);
    below = y;
  }
}

static void band_labels(const Sheet *s) {
  if (s->map->bands->len * LABEL_STEP <= s->height)
    roomy_labels(s);
  else
    crowded_labels(s);
}

/* Numbers of the first and last connect beside each band that has room for them. */
static void connect_axis(const Sheet *s) {
  for (guint b = 0; b < s->map->bands->len; b++) {
    const PageBand *band = &g_array_index(s->map->bands, PageBand, b);
    g_autofree char *last = g_strdup_printf("%" G_GINT64_FORMAT, band->connects);
    if (band_height(s, b) >= 10) text(s->svg, LEFT - 8, band_top(s, b) + 9, "end", "1");
    if (band_height(s, b) >= 26) text(s->svg, LEFT - 8, band_top(s, b) + band_height(s, b), "end", last);
  }
  g_string_append_printf(s->svg,
                         "<text class=\"middle\" transform=\"translate(24,%u) rotate(-90)\">"
                         "connect, in order of beginning (downwards)</text>\n",
                         TOP + s->height / 2);
}

/* Round numbers of pages below the map, about eight of them. */
static void page_axis(const Sheet *s) {
  static const int64_t steps[] = {1,    2,    5,    10,    20,    50,    100,    200,   500,
                                  1000, 2000, 5000, 10000, 20000, 50000, 100000, 500000};
  const PageMap *m = s->map;
  guint choice = 0;
  while (choice + 1 < G_N_ELEMENTS(steps) && m->pages / steps[choice] > 8) choice++;
  guint y = TOP + s->height;
  for (int64_t page = 0; page < m->pages; page += steps[choice]) {
    double x = LEFT + ((double)page + 0.5) / (double)m->pages_per_dot * s->cell_width;
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, page);
    g_string_append_printf(s->svg, "<path class=\"lead\" d=\"M%d %uv5\"/>\n", (int)x, y);
    text(s->svg, x, y + 19, "middle", number);
  }
  text(s->svg, LEFT + s->width / 2.0, y + 42, "middle", "page of the PGPROC array (0 is its first)");
}

static void legend(const Sheet *s) {
  static const char *const shares[LEVELS] = {"to 20 %", "to 40 %", "to 60 %", "to 80 %", "to 100 %"};
  guint x = LEFT, y = TOP - 26;
  if (!gathers(s->map)) {
    g_string_append_printf(s->svg, "<rect x=\"%u\" y=\"%u\" width=\"14\" height=\"12\" fill=\"%s\"/>\n", x, y,
                           colours[LEVELS - 1]);
    text(s->svg, x + 20, y + 11, "faint", "mapped by it: faulted on, or within the window of a fault (fault-around)");
    return;
  }
  g_string_append_printf(s->svg, "<rect class=\"paper\" x=\"%u\" y=\"%u\" width=\"14\" height=\"12\"/>\n", x, y);
  text(s->svg, x + 20, y + 11, "faint", "none");
  for (guint level = 0; level < LEVELS; level++) {
    guint at = x + 64 + level * 84;
    g_string_append_printf(s->svg, "<rect x=\"%u\" y=\"%u\" width=\"14\" height=\"12\" fill=\"%s\"/>\n", at, y,
                           colours[level]);
    text(s->svg, at + 20, y + 11, "faint", shares[level]);
  }
  text(s->svg, x + 64 + LEVELS * 84 + 8, y + 11, "faint", "of the dot's connects × pages mapped");
}

static void heading(const Sheet *s) {
  const PageMap *m = s->map;
  g_autofree char *title =
      g_strdup_printf("%s: pages of the PGPROC array that each connect maps", m->scenario ? m->scenario : "(no name)");
  text(s->svg, 24, 32, "title", title);
  g_autoptr(GString) aid = g_string_new(NULL);
  if (gathers(m))
    g_string_append_printf(aid,
                           "Each dot: %" G_GINT64_FORMAT " connects by %" G_GINT64_FORMAT
                           " pages; the darker, the more of them mapped there.",
                           m->connects_per_dot, m->pages_per_dot);
  else
    g_string_append(aid, "Each dark dot: this connect mapped this page.");
  g_string_append_printf(aid, " Simulated, seed %" G_GUINT64_FORMAT ".%s", m->seed,
                         m->cut ? " The trace was cut." : "");
  text(s->svg, 24, 56, "faint", aid->str);
}

static void open_sheet(const Sheet *s) {
  guint width = LEFT + MAX(s->width, 480) + RIGHT, height = TOP + s->height + BOTTOM;
  g_string_append_printf(s->svg,
                         "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n"
                         "<style>text{font:13px \"DejaVu Sans\",Arial,sans-serif;fill:#222}.title{font-size:17px}"
                         ".faint{fill:#555;font-size:12px}.strong{font-weight:bold}.end{text-anchor:end;font-size:11px}"
                         ".middle{text-anchor:middle}.paper{fill:#F4F1EA}.lead{fill:none;stroke:#777}"
                         ".dots path{fill:none;stroke-width:1;shape-rendering:crispEdges}</style>\n"
                         "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n",
                         width, height, width, height, width, height);
}

void viz_memory_svg(const PageMap *m, GString *svg) {
  g_assert(m->columns > 0 && m->rows > 0 && m->bands->len > 0);
  Sheet s = {.map = m, .svg = svg};
  s.cell_width = CLAMP(MAP_WIDTH / m->columns, 1, CELL_MAX);
  s.cell_height = CLAMP(MAP_HEIGHT / m->rows, 1, CELL_MAX);
  s.gap = m->bands->len > 12 ? 4 : 8;
  s.width = s.cell_width * m->columns;
  s.height = s.cell_height * m->rows + (m->bands->len - 1) * s.gap;
  open_sheet(&s);
  heading(&s);
  legend(&s);
  for (guint b = 0; b < m->bands->len; b++) draw_band(&s, b);
  band_labels(&s);
  connect_axis(&s);
  page_axis(&s);
  g_string_append(svg, "</svg>\n");
}

bool viz_memory(const char *trace, const char *path, VizFormat format, GError **error) {
  g_autoptr(PageMap) m = page_map_read(trace, error);
  if (!m) return false;
  g_autoptr(GString) svg = g_string_new(NULL);
  viz_memory_svg(m, svg);
  return picture_write_svg(svg, format, path, error);
}
