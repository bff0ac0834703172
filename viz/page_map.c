/* page_map.c - pages of a trace's connects, gathered into dots. The first pass counts connects and pages, the second
 * one fills the dots: a long trace touches far more pages than fit into memory one by one. */
#include "viz/page_map.h"
#include "viz/picture.h"
#include <string.h>

enum { PAGES_MOST = 1 << 22 }; /* far above the 57 344 of the largest server; keeps altered traces from burning hours */

typedef struct {
  PageMap *map;
  GHashTable *row_of; /* who -> its connect, counted from 1 in the band; who connects now. Looked up only */
  int64_t iteration;  /* the last that began; 0: none */
  bool outside;       /* it has ended */
  bool filling;       /* second pass */
  GArray *connects;   /* of int64_t: connects met so far in each band, in this pass */
} Walk;

void page_map_free(PageMap *m) {
  g_free(m->scenario);
  g_free(m->counts);
  g_array_unref(m->bands);
  g_free(m);
}

static const NoteField *find_arg(const TraceStep *s, const char *name) {
  for (guint a = 0; a < s->n_args; a++)
    if (strcmp(s->args[a].name, name) == 0) return &s->args[a];
  return NULL;
}

/* true: the step begins or ends an iteration. Processes that still connect belong to neither. */
static bool follow_iteration(Walk *w, const TraceStep *s) {
  const NoteField *said = find_arg(s, "iteration");
  bool pgbench = s->who && g_str_has_prefix(s->who, "pgbench[");
  bool begins = (said && !said->text && said->value != w->iteration) || (pgbench && strcmp(s->what, "main") == 0);
  bool ends = pgbench && strcmp(s->what, "end of run") == 0;
  if (begins) w->iteration = said && !said->text ? said->value : w->iteration + 1;
  if (begins || ends) {
    w->outside = ends;
    g_hash_table_remove_all(w->row_of);
  }
  return begins || ends;
}

/* Bands come in order, and the second pass meets the same ones as the first. NULL: connects are left out now. */
static PageBand *current_band(Walk *w, guint *index) {
  GArray *bands = w->map->bands;
  for (*index = 0; *index < bands->len; (*index)++) {
    PageBand *band = &g_array_index(bands, PageBand, *index);
    if (band->iteration == w->iteration) return w->outside ? NULL : band;
  }
  if (w->outside || w->filling) return NULL;
  PageBand band = {.iteration = w->iteration};
  g_array_append_val(bands, band);
  return &g_array_index(bands, PageBand, *index);
}

/* The step's connect, from 1 in its band; 0: it is part of none. */
static int64_t connect_of(Walk *w, const TraceStep *s, PageBand *band, guint index) {
  bool begins = strcmp(s->what, "InitProcess") == 0, adds = strcmp(s->what, "ProcArrayAdd") == 0;
  gpointer known = g_hash_table_lookup(w->row_of, s->who);
  static const char *const ends[] = {"ProcArrayRemove", "shmem_exit", "ProcKill", NULL}; /* shmem_exit: of real code */
  if (g_strv_contains(ends, s->what)) {
    g_hash_table_remove(w->row_of, s->who);
    return 0;
  }
  if (!begins && !(adds && !known)) return GPOINTER_TO_INT(known);
  if (index >= w->connects->len) g_array_set_size(w->connects, index + 1);
  int64_t row = ++g_array_index(w->connects, int64_t, index);
  if (!w->filling) band->connects = row;
  g_hash_table_replace(w->row_of, g_strdup(s->who), GINT_TO_POINTER((gint)row));
  return row;
}

static void count_page(PageMap *m, const PageBand *band, int64_t connect, int64_t page) {
  guint row = band->first_row + (guint)((connect - 1) / m->connects_per_dot);
  guint column = (guint)(page / m->pages_per_dot);
  g_assert(row < band->first_row + band->rows && column < m->columns);
  m->counts[(gsize)row * m->columns + column]++;
}

/* "3,7-12", as the model wrote it. */
static bool take_pages(Walk *w, PageBand *band, int64_t connect, const char *pages) {
  g_assert_nonnull(pages);
  for (const char *at = pages; *at;) {
    char *end;
    if (!g_ascii_isdigit(*at)) return false;
    guint64 low = g_ascii_strtoull(at, &end, 10), high = low;
    if (*end == '-' && g_ascii_isdigit(end[1])) high = g_ascii_strtoull(end + 1, &end, 10);
    if (high < low || high >= PAGES_MOST || (*end && *end != ',')) return false;
    at = *end ? end + 1 : end;
    if (w->filling)
      for (guint64 page = low; page <= high; page++) count_page(w->map, band, connect, (int64_t)page);
    else
      band->touches += (int64_t)(high - low) + 1;
    if (!w->filling) w->map->pages = MAX(w->map->pages, (int64_t)high + 1);
  }
  return true;
}

static bool visit(Walk *w, const TraceStep *s, const char *path, GError **error) {
  guint index;
  if (follow_iteration(w, s) || !s->who) return true;
  PageBand *band = current_band(w, &index);
  int64_t connect = band ? connect_of(w, s, band, index) : 0;
  const NoteField *pages = connect ? find_arg(s, "pages") : NULL;
  if (!pages) return true;
  g_autofree char *number = pages->text ? NULL : g_strdup_printf("%" G_GINT64_FORMAT, pages->value);
  const char *text = number ? number : pages->text;
  bool ok = take_pages(w, band, connect, text);
  if (!ok)
    g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT,
                "%s: step %" G_GINT64_FORMAT ": pages are \"%s\", not like \"3,7-12\"", path, s->i,
                number ? number : pages->text);
  return ok;
}

static bool walk(PageMap *m, const char *path, bool filling, GError **error) {
  g_autoptr(TraceReader) r = trace_reader_open(path, error);
  if (!r) return false;
  const TraceHeader *header = trace_reader_header(r);
  if (!filling) m->scenario = g_strdup(header->scenario);
  m->seed = header->seed;
  Walk w = {.map = m, .filling = filling};
  w.row_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  w.connects = g_array_new(FALSE, TRUE, sizeof(int64_t));
  TraceStep step;
  TraceNext next;
  bool ok = true;
  while (ok && (next = trace_reader_next(r, &step, error)) == TRACE_STEP) ok = visit(&w, &step, path, error);
  if (ok && next == TRACE_FAILED) ok = false;
  m->cut = ok && next == TRACE_CUT;
  g_hash_table_unref(w.row_of);
  g_array_unref(w.connects);
  return ok;
}

/* Between the two passes: how much goes into a dot, and where each band begins. */
static void lay_out(PageMap *m) {
  int64_t connects = 0;
  bool told_apart = m->bands->len > 1;
  for (guint b = m->bands->len; b-- > 0;) {
    PageBand *band = &g_array_index(m->bands, PageBand, b);
    if (!band->connects || (told_apart && !band->iteration))
      g_array_remove_index(m->bands, b);
    else
      connects += band->connects;
  }
  m->connects_per_dot = MAX(1, (connects + PAGE_MAP_ROWS - 1) / PAGE_MAP_ROWS);
  m->pages_per_dot = MAX(1, (m->pages + PAGE_MAP_COLUMNS - 1) / PAGE_MAP_COLUMNS);
  m->columns = (guint)((m->pages + m->pages_per_dot - 1) / m->pages_per_dot);
  for (guint b = 0; b < m->bands->len; b++) {
    PageBand *band = &g_array_index(m->bands, PageBand, b);
    band->first_row = m->rows;
    band->rows = (guint)((band->connects + m->connects_per_dot - 1) / m->connects_per_dot);
    m->rows += band->rows;
  }
  m->counts = g_new0(uint64_t, (gsize)m->columns * m->rows + 1);
}

PageMap *page_map_read(const char *path, GError **error) {
  g_autoptr(PageMap) m = g_new0(PageMap, 1);
  m->bands = g_array_new(FALSE, FALSE, sizeof(PageBand));
  if (!walk(m, path, false, error)) return NULL;
  lay_out(m);
  if (!m->pages || !m->rows) {
    g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT,
                "%s: no step InitProcess or ProcArrayAdd names the pages it mapped, so there is nothing to draw", path);
    return NULL;
  }
  if (!walk(m, path, true, error)) return NULL;
  return g_steal_pointer(&m);
}

uint64_t page_map_pairs(const PageMap *m, const PageBand *band, guint column, guint row) {
  g_assert(row < band->rows && column < m->columns);
  int64_t connects = MIN(m->connects_per_dot, band->connects - row * m->connects_per_dot);
  int64_t pages = MIN(m->pages_per_dot, m->pages - column * m->pages_per_dot);
  return (uint64_t)(connects * pages);
}
