/* ledger.c - charges in a table of cells by (field, site), and counters by name.
 *
 * A charge happens at every fault and store of a run: millions a second. So a cell is found by two indexed loads. A
 * field's row is an array of chunks of sites, made when first charged: for code under test sites are source lines,
 * thousands of them, and a full matrix would be mostly empty. Names are hashed when they are interned, never later. */
#include "model/world/ledger.h"
#include "model/world/costs.h"
#include <string.h>

enum { CHUNK = 32 }; /* sites */

typedef struct {
  Charge total, under_lock;
} Cell;

typedef struct {
  Cell **chunks; /* by site / CHUNK; NULL: nothing charged there */
  guint n;
} Row;

/* Names in order of first use, and their numbers. */
typedef struct {
  GPtrArray *names; /* owned strings */
  GHashTable *index;
} Names;

struct Ledger {
  Names fields, sites, counters;
  GArray *rows;   /* of Row, by field; always one a field */
  GArray *locks;  /* of Charge, by site; always one a site */
  GArray *values; /* of double, by counter */
};

static const char NOBODY[] = "-"; /* the name of field 0 and of site 0 */

static void names_init(Names *n) {
  n->names = g_ptr_array_new_with_free_func(g_free);
  n->index = g_hash_table_new(g_str_hash, g_str_equal);
}

static void names_clear(Names *n) {
  g_hash_table_destroy(n->index);
  g_ptr_array_unref(n->names);
}

static gboolean names_find(const Names *n, const char *name, guint *index) {
  gpointer found;
  if (!g_hash_table_lookup_extended(n->index, name, NULL, &found)) return FALSE;
  *index = GPOINTER_TO_UINT(found);
  return TRUE;
}

/* The name's number; *added when it is new. */
static guint names_intern(Names *n, const char *name, gboolean *added) {
  guint index = 0;
  *added = !names_find(n, name, &index);
  if (!*added) return index;
  char *copy = g_strdup(name);
  index = n->names->len;
  g_ptr_array_add(n->names, copy);
  g_hash_table_insert(n->index, copy, GUINT_TO_POINTER(index));
  return index;
}

static const char *names_at(const Names *n, guint index) {
  g_assert(index < n->names->len);
  return g_ptr_array_index(n->names, index);
}

static void row_clear(gpointer data) {
  Row *row = data;
  for (guint i = 0; i < row->n; i++) g_free(row->chunks[i]);
  g_free(row->chunks);
}

Ledger *ledger_new(void) {
  Ledger *l = g_new0(Ledger, 1);
  names_init(&l->fields);
  names_init(&l->sites);
  names_init(&l->counters);
  l->rows = g_array_new(FALSE, TRUE, sizeof(Row));
  g_array_set_clear_func(l->rows, row_clear);
  l->locks = g_array_new(FALSE, TRUE, sizeof(Charge));
  l->values = g_array_new(FALSE, TRUE, sizeof(double));
  FieldId f = ledger_field(l, NOBODY);
  SiteId s = ledger_site(l, NOBODY);
  g_assert(f == 0 && s == 0);
  return l;
}

void ledger_free(Ledger *l) {
  if (!l) return;
  g_array_unref(l->rows);
  g_array_unref(l->locks);
  g_array_unref(l->values);
  names_clear(&l->fields);
  names_clear(&l->sites);
  names_clear(&l->counters);
  g_free(l);
}

FieldId ledger_field(Ledger *l, const char *name) {
  gboolean added;
  guint f = names_intern(&l->fields, name, &added);
  g_assert(f <= G_MAXUINT16);
  if (added) g_array_set_size(l->rows, f + 1);
  return (FieldId)f;
}

SiteId ledger_site(Ledger *l, const char *name) {
  gboolean added;
  guint s = names_intern(&l->sites, name, &added);
  g_assert(s <= G_MAXUINT16);
  if (added) g_array_set_size(l->locks, s + 1);
  return (SiteId)s;
}

const char *ledger_field_name(const Ledger *l, FieldId f) {
  return names_at(&l->fields, f);
}
const char *ledger_site_name(const Ledger *l, SiteId s) {
  return names_at(&l->sites, s);
}

static void charge_add(Charge *to, const Charge *c) {
  to->faults += c->faults;
  to->stores += c->stores;
  to->loads += c->loads;
  to->lines += c->lines;
  to->ns = ns_sum(to->ns, c->ns);
}

static Cell *row_make(Row *row, guint chunk) {
  if (chunk >= row->n) {
    row->chunks = g_renew(Cell *, row->chunks, chunk + 1);
    memset(row->chunks + row->n, 0, (chunk + 1 - row->n) * sizeof *row->chunks);
    row->n = chunk + 1;
  }
  return row->chunks[chunk] = g_new0(Cell, CHUNK);
}

void ledger_charge(Ledger *l, FieldId f, SiteId s, const SiteId *locks, guint n_locks, Charge c) {
  g_assert(f < l->rows->len && s < l->locks->len);
  Row *row = &g_array_index(l->rows, Row, f);
  guint chunk = s / CHUNK;
  Cell *cells = chunk < row->n ? row->chunks[chunk] : NULL;
  if (G_UNLIKELY(!cells)) cells = row_make(row, chunk);
  Cell *cell = &cells[s % CHUNK];
  charge_add(&cell->total, &c);
  if (n_locks) charge_add(&cell->under_lock, &c);
  for (guint i = 0; i < n_locks; i++) {
    g_assert(locks[i] < l->locks->len);
    charge_add(&g_array_index(l->locks, Charge, locks[i]), &c);
  }
}

/* Calls fn for each cell of field f that lies in a chunk ever charged, in order of site. */
typedef void CellFunc(const Ledger *l, guint f, guint s, const Cell *cell, void *data);
static void row_each(const Ledger *l, guint f, CellFunc *fn, void *data) {
  const Row *row = &g_array_index(l->rows, Row, f);
  for (guint chunk = 0; chunk < row->n; chunk++)
    for (guint i = 0; row->chunks[chunk] && i < CHUNK; i++) fn(l, f, chunk * CHUNK + i, &row->chunks[chunk][i], data);
}

typedef struct {
  SiteId only; /* 0: any */
  Charge sum;
} Total;

static void total_cell(const Ledger *l, guint f, guint s, const Cell *cell, void *data) {
  (void)l, (void)f;
  Total *t = data;
  if (t->only == 0 || t->only == s) charge_add(&t->sum, &cell->total);
}

Charge ledger_total(const Ledger *l, FieldId f, SiteId s) {
  g_assert(f < l->rows->len && s < l->locks->len);
  Total t = {.only = s};
  if (f)
    row_each(l, f, total_cell, &t);
  else
    for (guint any = 0; any < l->rows->len; any++) row_each(l, any, total_cell, &t);
  return t.sum;
}

Charge ledger_lock(const Ledger *l, SiteId lock) {
  g_assert(lock < l->locks->len);
  return g_array_index(l->locks, Charge, lock);
}

static void hot_spot_cell(const Ledger *l, guint f, guint s, const Cell *cell, void *data) {
  const Charge *c = &cell->total;
  if (!(c->faults | c->stores | c->loads | c->lines | c->ns)) return;
  HotSpot h = {names_at(&l->fields, f), names_at(&l->sites, s), cell->total, cell->under_lock};
  g_array_append_val((GArray *)data, h);
}

static gint hot_spot_compare(gconstpointer a, gconstpointer b) {
  const HotSpot *x = a, *y = b;
  if (x->total.ns != y->total.ns) return x->total.ns > y->total.ns ? -1 : 1;
  int by_structure = strcmp(x->structure, y->structure);
  return by_structure ? by_structure : strcmp(x->site, y->site);
}

GArray *ledger_hot_spots(const Ledger *l) {
  GArray *spots = g_array_new(FALSE, FALSE, sizeof(HotSpot));
  for (guint f = 0; f < l->rows->len; f++) row_each(l, f, hot_spot_cell, spots);
  g_array_sort(spots, hot_spot_compare);
  return spots;
}

static double *counter(Ledger *l, const char *name) {
  gboolean added;
  guint i = names_intern(&l->counters, name, &added);
  if (added) g_array_set_size(l->values, i + 1);
  return &g_array_index(l->values, double, i);
}

void ledger_add(Ledger *l, const char *name, double by) {
  *counter(l, name) += by;
}
void ledger_set(Ledger *l, const char *name, double value) {
  *counter(l, name) = value;
}

gboolean ledger_get(const Ledger *l, const char *name, double *value) {
  guint i;
  if (!names_find(&l->counters, name, &i)) return FALSE;
  *value = g_array_index(l->values, double, i);
  return TRUE;
}

void ledger_each(const Ledger *l, void (*fn)(const char *name, double value, void *data), void *data) {
  for (guint i = 0; i < l->values->len; i++) fn(names_at(&l->counters, i), g_array_index(l->values, double, i), data);
}

void ledger_clear_charges(Ledger *l) {
  for (guint f = 0; f < l->rows->len; f++) {
    const Row *row = &g_array_index(l->rows, Row, f);
    for (guint i = 0; i < row->n; i++)
      if (row->chunks[i]) memset(row->chunks[i], 0, CHUNK * sizeof(Cell));
  }
  memset(l->locks->data, 0, l->locks->len * sizeof(Charge));
}
