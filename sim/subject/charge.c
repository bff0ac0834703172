/* charge.c - what a subject's accesses cost: to the ledger by structure, field and source line, and as time. The prices
 * are those of the built-in model: faults, page tables, lines, TLB by what memory did; a byte moved; a follower's word
 * stored; every other load of shared memory as an entry looked at. A store that is no follower's costs nothing beside
 * its fault, as in the built-in model. */
#include "model/postgres/code.h"
#include "sim/subject/runtime.h"
#include <string.h>

typedef struct {
  const void *pc;
  guint structure;
  uint64_t offset;
} RowKey;

static guint key_hash(gconstpointer data) {
  const RowKey *k = data;
  uint64_t x = ((uintptr_t)k->pc ^ k->offset << 40 ^ (uint64_t)k->structure << 52) * UINT64_C(0x9E3779B97F4A7C15);
  return (guint)(x >> 32);
}
static gboolean key_equal(gconstpointer a, gconstpointer b) {
  const RowKey *x = a, *y = b;
  return x->pc == y->pc && x->structure == y->structure && x->offset == y->offset;
}

GHashTable *subject_row_table(void) {
  return g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
}

static guint structure_of(const Subject *s, uint64_t at) {
  guint low = 0, high = s->structures->len;
  while (high - low > 1) {
    guint mid = (low + high) / 2;
    if (g_array_index(s->structures, Structure, mid).base <= at)
      low = mid;
    else
      high = mid;
  }
  const Structure *found = &g_array_index(s->structures, Structure, low);
  return low && at < found->base + found->bytes ? low : 0;
}

typedef struct {
  uint64_t offset;
  const char *name;
} FieldSearch;
static void on_field(const char *member, const ImageField *f, void *data) {
  FieldSearch *s = data;
  if (s->offset >= f->offset && s->offset < f->offset + MAX(f->size, 1)) s->name = member;
}

/* "PGPROC.pgxactoff"; "xids" where elements are no structs. */
static FieldId field_of(Subject *s, guint structure, uint64_t offset) {
  const Structure *st = &g_array_index(s->structures, Structure, structure);
  if (!structure) return s->other_field;
  FieldSearch search = {offset, NULL};
  if (st->type) image_each_field(s->image, st->type, on_field, &search);
  g_autofree char *name = search.name ? g_strdup_printf("%s.%s", st->name, search.name) : g_strdup(st->name);
  return ledger_field(world_ledger(s->w), name);
}

/* "ProcArrayAdd procarray.c:512", "dlist_pop_head_node in InitProcess ilist.h:450" */
static char *place_words(const ImagePlace *p) {
  if (!p->function) return p->file ? g_strdup_printf("%s:%d", p->file, p->line) : g_strdup("unknown place");
  g_autoptr(GString) words = g_string_new(p->function);
  if (p->outer) g_string_append_printf(words, " in %s", p->outer);
  if (p->file) g_string_append_printf(words, " %s:%d", p->file, p->line);
  return g_string_free(g_steal_pointer(&words), FALSE);
}

char *subject_place_words(const Subject *s, const void *pc) {
  ImagePlace p = image_place(s->image, (const char *)pc - 1); /* the call, not what follows it */
  return place_words(&p);
}

/* Later, on the driver's stack: elfutils needs more than a subject's has. */
static void name_row(Subject *s, Row *r) {
  r->place = image_place(s->image, (const char *)r->pc - 1);
  g_autofree char *site = place_words(&r->place);
  r->field = field_of(s, r->structure, r->offset);
  r->site = ledger_site(world_ledger(s->w), site);
}

static guint new_row(Subject *s, const RowKey *k) {
  Row row = {.pc = k->pc, .structure = k->structure, .offset = k->offset};
  row.call = s->running ? s->running->doing : NULL;
  row.n_callers = subject_chain(k->pc, row.callers, CHAIN_MOST);
  g_array_append_val(s->rows, row);
  g_hash_table_insert(s->row_of, g_memdup2(k, sizeof *k), GUINT_TO_POINTER(s->rows->len));
  return s->rows->len;
}

/* Arrays of one-word elements: all elements are one row. Consecutive accesses are mostly of one place. */
Row *subject_row(Subject *s, const void *pc, uint64_t address) {
  guint structure = structure_of(s, address);
  const Structure *st = &g_array_index(s->structures, Structure, structure);
  RowKey k = {pc, structure, structure && st->type ? (address - st->base) % st->size : 0};
  Row *last = s->last_row ? &g_array_index(s->rows, Row, s->last_row - 1) : NULL;
  if (!last || last->pc != k.pc || last->structure != structure || last->offset != k.offset) {
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(s->row_of, &k));
    s->last_row = at ? at : new_row(s, &k);
    last = &g_array_index(s->rows, Row, s->last_row - 1);
  }
  if (!last->dirty) {
    last->dirty = true;
    guint index = s->last_row - 1;
    g_array_append_val(s->dirty, index);
  }
  return last;
}

static int64_t row_ns(const Subject *s, const Proc *p, const Row *r) {
  bool huge = p->as && ((const MemoryHot *)p->as)->page_shift > 12;
  int64_t ns = pg_touch_ns(s->w, &r->touch, huge) + pg_cost(s->w, COST_MOVE_BYTE, r->moved) +
               pg_cost(s->w, COST_STORE_ENTRY, r->followers);
  return MIN(ns, NS_NEVER);
}

static int64_t charge_row(Subject *s, const Proc *p, Row *r, const SiteId *locks, guint n_locks) {
  int64_t ns = row_ns(s, p, r);
  if (!r->site) name_row(s, r);
  Charge c = {.faults = r->touch.read_faults + r->touch.write_faults,
              .stores = r->followers,
              .lines = r->touch.lines,
              .ns = ns};
  ledger_charge(world_ledger(s->w), r->field, r->site, locks, n_locks, c);
  r->all.faults += c.faults;
  r->all.stores += c.stores;
  r->all.lines += c.lines;
  r->all.ns = ns_sum(r->all.ns, c.ns);
  r->touch = (Touch){0};
  r->moved = r->followers = 0;
  r->dirty = false;
  return ns;
}

/* Followers' stores belong to the place that made them, the rest of loads and stores to the call as a whole. */
static void take_counts(Subject *s, Proc *p, int64_t *loads, int64_t *stores) {
  hooks_settle();
  *stores = hooks.stores + hooks.followers;
  *loads = s->left_before - hooks_left() - *stores;
  if (hooks.followers) {
    uint64_t watched = hooks.watch_first - hooks.base;
    Row *row = subject_row(s, hooks.follower_pc, watched);
    int64_t faults = hooks.follower.write_faults;
    row->followers += hooks.followers;
    row->touch = hooks.follower; /* those stores are its only accesses: each is counted there */
    p->use.followers += hooks.followers;
    p->use.faults += faults;
    if (watched - s->faults_base < s->faults_bytes) p->faults_in += faults;
    hooks.follower = (Touch){0};
  }
  *loads = MAX(*loads - hooks.followers, 0); /* the load that finds a follower is in its price */
  hooks.stores = hooks.followers = 0;
  s->left_before = hooks_left();
}

int64_t subject_charge(Subject *s, Proc *p) {
  SiteId locks[LOCKS_HELD_MAX];
  guint n_locks = s->alone ? 0 : lock_held_by(s->w, p->self, locks, G_N_ELEMENTS(locks));
  int64_t loads, stores, ns = p->extra_ns;
  p->extra_ns = 0;
  take_counts(s, p, &loads, &stores);
  for (guint i = 0; i < s->dirty->len; i++)
    ns = ns_sum(ns, charge_row(s, p, &g_array_index(s->rows, Row, g_array_index(s->dirty, guint, i)), locks, n_locks));
  g_array_set_size(s->dirty, 0);
  if (!loads && !stores) return MIN(ns, NS_NEVER);
  int64_t jumps = hooks.lines - hooks.seq_lines;
  Charge c = {.loads = loads,
              .stores = stores,
              .lines = hooks.lines,
              .ns = (loads ? world_cost(s->w, COST_SCAN_ENTRY, loads) : 0) +
                    (jumps ? world_cost(s->w, COST_LINE_TRANSFER, jumps) : 0)};
  hooks.lines = hooks.seq_lines = 0;
  SiteId site = ledger_site(world_ledger(s->w), p->doing);
  ledger_charge(world_ledger(s->w), s->other_field, site, locks, n_locks, c);
  return MIN(ns_sum(ns, c.ns), NS_NEVER);
}

void subject_settle(void) {
  Subject *s = subject_here;
  if (s->alone) return;
  s->running->settles = true;
  coro_yield(s->running->stack);
}
