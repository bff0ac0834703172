/* hot_spots.c - see hot_spots.h. The call chains of real code tell what its hot spots tell, and the rest (the parts of
 * a server that are modelled beside it) stands there by its site alone: both sum up to the same. */
#include "sim/hot_spots.h"
#include "sim/source_text.h"
#include "sim/subject/subject.h"
#include <string.h>

/* ---- by structure and site ---- */

static void add_source(const Model *m, SourceTexts *texts, HotSpotRow *row) {
  const struct Subject *s = model_subject(m);
  const char *path;
  if (!s || !subject_source(s, row->site, &path, &row->line)) return;
  row->path = g_strdup(path);
  const char *text = source_line(texts, path, row->line);
  row->source = text ? g_strchug(g_strdup(text)) : NULL;
}

static HotSpotRow row_of(const HotSpot *h, int64_t faults) {
  return (HotSpotRow){.structure = g_strdup(h->structure),
                      .site = g_strdup(h->site),
                      .faults = h->total.faults,
                      .stores = h->total.stores,
                      .share_of_faults = faults ? (double)h->total.faults / (double)faults : 0,
                      .ms = (double)h->total.ns / 1e6,
                      .under_lock_ms = (double)h->under_lock.ns / 1e6};
}

/* ---- by call chain ---- */

typedef struct {
  GHashTable *sites;  /* set: those that have chains */
  GHashTable *chains; /* text -> StackRow */
  GHashTable *ns;     /* the same -> int64_t, summed before it is rounded */
} Stacks;

static void add_stack(Stacks *all, const char *frames, const char *structure, Charge c) {
  if (!c.faults && !c.stores && !c.ns) return;
  g_autofree char *key = g_strconcat(frames, ";", structure, NULL);
  StackRow *row = g_hash_table_lookup(all->chains, key);
  int64_t *ns = g_hash_table_lookup(all->ns, key);
  if (!row) {
    g_hash_table_insert(all->ns, g_strdup(key), ns = g_new0(int64_t, 1));
    g_hash_table_insert(all->chains, g_steal_pointer(&key), row = g_new0(StackRow, 1));
    *row = (StackRow){.frames = g_strdup(frames), .structure = g_strdup(structure)};
  }
  row->faults += c.faults;
  row->stores += c.stores;
  *ns += c.ns;
  row->ms = (double)*ns / 1e6;
}

static void on_stack(const SubjectStack *stack, void *data) {
  Stacks *all = data;
  g_autoptr(GString) frames = g_string_new(NULL);
  for (guint i = 0; i < stack->n_frames; i++) g_string_append_printf(frames, "%s%s", i ? ";" : "", stack->frames[i]);
  g_hash_table_add(all->sites, g_strdup(stack->site));
  add_stack(all, frames->str, stack->structure, stack->charge);
}

static gint by_text(gconstpointer a, gconstpointer b) {
  const StackRow *x = a, *y = b;
  int order = strcmp(x->frames, y->frames);
  return order ? order : strcmp(x->structure, y->structure);
}

static void keep_stacks(const Model *m, const GArray *spots, RunResult *r) {
  Stacks all = {g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
  subject_each_stack(model_subject(m), on_stack, &all);
  for (guint i = 0; i < spots->len; i++) {
    const HotSpot *h = &g_array_index(spots, HotSpot, i);
    if (!g_hash_table_contains(all.sites, h->site)) add_stack(&all, h->site, h->structure, h->total);
  }
  GHashTableIter at;
  gpointer row;
  g_hash_table_iter_init(&at, all.chains);
  while (g_hash_table_iter_next(&at, NULL, &row)) g_array_append_vals(r->stacks, row, 1);
  g_array_sort(r->stacks, by_text);
  g_hash_table_unref(all.sites);
  g_hash_table_unref(all.chains);
  g_hash_table_unref(all.ns);
}

void hot_spots_keep(const Model *m, RunResult *r) {
  g_autoptr(GArray) spots = ledger_hot_spots(world_ledger(m->world));
  g_autoptr(SourceTexts) texts = source_texts_new();
  int64_t faults = 0;
  for (guint i = 0; i < spots->len; i++) faults += g_array_index(spots, HotSpot, i).total.faults;
  for (guint i = 0; i < spots->len; i++) {
    const HotSpot *h = &g_array_index(spots, HotSpot, i);
    if (!h->total.faults && !h->total.stores && !h->total.ns) continue; /* looked at only: it cost nothing */
    HotSpotRow row = row_of(h, faults);
    add_source(m, texts, &row);
    g_array_append_val(r->hotspots, row);
  }
  if (model_subject(m)) keep_stacks(m, spots, r);
}
