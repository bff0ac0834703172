/* annotate.c - see annotate.h. What a line did to several structures is summed; a line of a header that several
 * functions have inlined likewise. */
#include "sim/annotate.h"
#include "sim/source_text.h"
#include <string.h>

enum { AROUND = 2 };

typedef struct {
  const char *path;
  int line;
  int64_t faults, stores;
  double ms;
  const char *source;
} Line;

static gint by_place(gconstpointer a, gconstpointer b) {
  const Line *x = a, *y = b;
  g_autofree char *u = g_path_get_basename(x->path), *v = g_path_get_basename(y->path);
  int order = strcmp(u, v);
  if (!order) order = strcmp(x->path, y->path);
  return order ? order : x->line - y->line;
}

static GArray *lines_of(const RunResult *r) {
  GArray *lines = g_array_new(FALSE, TRUE, sizeof(Line));
  for (guint i = 0; i < r->hotspots->len; i++) {
    const HotSpotRow *h = &g_array_index(r->hotspots, HotSpotRow, i);
    if (!h->path) continue;
    Line line = {h->path, h->line, h->faults, h->stores, h->ms, h->source};
    g_array_append_val(lines, line);
  }
  g_array_sort(lines, by_place);
  guint n = 0;
  for (guint i = 0; i < lines->len; i++) {
    const Line *from = &g_array_index(lines, Line, i);
    Line *to = n ? &g_array_index(lines, Line, n - 1) : NULL;
    if (to && by_place(to, from) == 0)
      to->faults += from->faults, to->stores += from->stores, to->ms += from->ms;
    else
      g_array_index(lines, Line, n++) = *from;
  }
  g_array_set_size(lines, n);
  return lines;
}

static void text_quiet(GString *out, SourceTexts *texts, const char *path, int line) {
  const char *text = source_line(texts, path, line);
  if (text) g_string_append_printf(out, "%*s  %6d  %s\n", 34, "", line, text);
}

static void text_line(GString *out, SourceTexts *texts, const Line *l) {
  const char *text = source_line(texts, l->path, l->line);
  g_string_append_printf(out, "%10" G_GINT64_FORMAT "  %10" G_GINT64_FORMAT "  ", l->faults, l->stores);
  report_number(out, 10, l->ms);
  g_string_append_printf(out, "  %6d  %s\n", l->line, text ? text : l->source ? l->source : "(not to be had)");
}

/* From the line after `after` (0: none was shown) up to that before the next one that cost something (0: there is
 * none). */
static void text_file_line(GString *out, SourceTexts *texts, const Line *l, int after, int next) {
  int from = MAX(after + 1, l->line - AROUND), to = next ? MIN(l->line + AROUND, next - 1) : l->line + AROUND;
  if (after && from > after + 1) g_string_append_printf(out, "%*s  %6s\n", 34, "", "...");
  for (int k = from; k < l->line; k++) text_quiet(out, texts, l->path, k);
  text_line(out, texts, l);
  for (int k = l->line + 1; k <= to; k++) text_quiet(out, texts, l->path, k);
}

void annotate_text(const RunResult *r, GString *out) {
  g_autoptr(GArray) lines = lines_of(r);
  g_autoptr(SourceTexts) texts = source_texts_new();
  const char *file = NULL;
  int shown = 0;
  for (guint i = 0; i < lines->len; i++) {
    const Line *l = &g_array_index(lines, Line, i), *next = i + 1 < lines->len ? l + 1 : NULL;
    g_assert(l);
    bool more = next && strcmp(next->path, l->path) == 0;
    if (!file || strcmp(file, l->path) != 0) {
      g_autofree char *base = g_path_get_basename(l->path);
      g_string_append_printf(out, "\n%s\n    faults      stores          ms    line\n", base);
      shown = 0;
    }
    file = l->path;
    text_file_line(out, texts, l, shown, more ? next->line : 0);
    shown = more ? MIN(l->line + AROUND, next->line - 1) : l->line + AROUND;
  }
}
