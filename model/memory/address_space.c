/* address_space.c - one process's page table over a segment: touching, faults, the record for traces.
 *
 * Only the lowest level holds bitmaps. A page-table page of a level above is made together with the first one below it,
 * as the kernel's fault handler allocates downwards. Nothing is freed before the process ends (reset): the kernel keeps
 * a process's page-table pages until it unmaps the whole segment at exit. */
#include "model/memory/segment.h"
#include "model/memory/bits.h"
#include <string.h>

static const uint64_t NO_TABLE = UINT64_MAX;
static const uint64_t NO_LINE = UINT64_MAX - 1; /* no line follows it */

AddressSpace *address_space_new(Segment *s, guint owner) {
  segment_lay_out(s);
  AddressSpace *as = g_malloc0(sizeof *as + s->entries * sizeof as->entry[0]);
  as->segment = s;
  as->hot.page_shift = s->page_shift;
  as->hot.size = s->size;
  if (s->config.tlb_l1) as->tlb = g_new0(uint32_t, s->config.tlb_l1 + s->config.tlb_l2);
  s->spaces++;
  address_space_reset(as, owner);
  return as;
}

static void forget_hot(AddressSpace *as) {
  for (guint i = 0; i < HOT_TABLES; i++) as->hot.of[i].table = NO_TABLE;
}

void address_space_reset(AddressSpace *as, guint owner) {
  Segment *s = as->segment;
  g_assert(owner > 0);
  if (as->tables)
    for (uint64_t i = 0; i < s->tables; i++)
      if (as->entry[i]) segment_table_give(s, as->entry[i]);
  memset(as->entry, 0, s->entries * sizeof as->entry[0]);
  if (as->tlb) memset(as->tlb, 0, (s->config.tlb_l1 + s->config.tlb_l2) * sizeof *as->tlb);
  if (as->record) g_array_set_size(as->record, 0);
  forget_hot(as);
  as->owner = owner;
  as->tables = 0;
  as->hot.pages = 0;
  as->last_line = NO_LINE;
}

void address_space_free(AddressSpace *as) {
  if (!as) return;
  address_space_reset(as, as->owner);
  g_assert(as->segment->spaces > 0);
  as->segment->spaces--;
  if (as->record) g_array_free(as->record, TRUE);
  g_free(as->tlb);
  g_free(as);
}

bool address_space_mapped(const AddressSpace *as, uint64_t page) {
  g_assert(page < segment_pages(as->segment));
  uint32_t table = as->entry[page >> 9];
  return table && (segment_table(as->segment, table)[page >> 6 & 7] >> (page & 63) & 1);
}

uint64_t address_space_pages(const AddressSpace *as) {
  return as->hot.pages;
}
/* A page-table page is 4 KiB at every level, whatever the page size. */
uint64_t address_space_table_bytes(const AddressSpace *as) {
  return (uint64_t)as->tables * 4096;
}

/* The page-table page number `table`, and those above it that are not there yet. */
static void make_tables(AddressSpace *as, uint64_t table, Touch *t) {
  Segment *s = as->segment;
  as->entry[table] = segment_table_take(s);
  guint made = 1;
  uint64_t level = s->tables, base = s->tables, spanned = table;
  for (guint l = 1; l < s->levels; l++) {
    spanned >>= 9;
    level = (level + TABLE_PAGES - 1) / TABLE_PAGES;
    g_assert(spanned < level);
    if (as->entry[base + spanned]) break; /* what is above was made with it */
    as->entry[base + spanned] = 1;
    base += level;
    made++;
  }
  as->tables += made;
  t->tables += made;
}

static int64_t map(AddressSpace *as, uint64_t *bits, uint64_t word, uint64_t pages) {
  uint64_t new = pages & ~*bits;
  int n = bits_count(new);
  *bits |= new;
  as->hot.pages += (uint64_t)n;
  if (as->record)
    for (uint64_t page; new; new &= new - 1) {
      page = word * 64 + bits_lowest(new);
      g_array_append_val(as->record, page);
    }
  return n;
}

/* The aligned window around the page, as far as the segment goes. window <= 512: it stays under one page-table page. */
static void fault_around(AddressSpace *as, uint64_t *table, uint64_t page, Touch *t) {
  uint64_t window = as->segment->window, first = page & ~(window - 1);
  uint64_t end = MIN(first + window, segment_pages(as->segment));
  int64_t mapped = 0;
  for (uint64_t at = first, next; at < end; at = next) {
    next = MIN((at | 63) + 1, end);
    uint64_t pages = bits_below(next - (at & ~UINT64_C(63))) & ~bits_below(at & 63);
    mapped += map(as, &table[at >> 6 & 7], at >> 6, pages);
  }
  g_assert(mapped > 0);
  t->read_faults++;
  t->around += mapped - 1;
}

/* 64 pages: touch those in `want` in ascending order. */
static void touch_word(AddressSpace *as, uint64_t word, uint64_t want, MemAccess access, Touch *t) {
  Segment *s = as->segment;
  uint64_t number = word / TABLE_WORDS;
  if (!as->entry[number]) make_tables(as, number, t);
  uint64_t *table = segment_table(s, as->entry[number]), *bits = &table[word % TABLE_WORDS];
  if (!as->tlb && !s->lines && !as->record && !as->observer)
    as->hot.of[number % HOT_TABLES].table = number, as->hot.of[number % HOT_TABLES].bits = table;
  uint64_t missing = want & ~*bits;
  if (access == MEM_WRITE)
    t->write_faults += map(as, bits, word, missing);
  else if (s->window == 1)
    t->read_faults += map(as, bits, word, missing);
  else
    for (; missing; missing &= ~*bits) fault_around(as, table, word * 64 + bits_lowest(missing), t);
}

void address_space_touch_pages(AddressSpace *as, uint64_t first, uint64_t last, const uint64_t *which, MemAccess access,
                               Touch *t) {
  for (uint64_t word = first >> 6; word <= last >> 6; word++) {
    uint64_t want = which ? *which++ : UINT64_MAX;
    if (word == first >> 6) want &= ~bits_below(first & 63);
    if (word == last >> 6) want &= bits_below((last & 63) + 1);
    if (want) touch_word(as, word, want, access, t);
  }
}

static void look_up(AddressSpace *as, uint64_t page, Touch *t) {
  const MemoryConfig *c = &as->segment->config;
  TlbResult r = tlb_touch(as->tlb, c->tlb_l1, c->tlb_l2, page);
  t->tlb_l2_hits += r == TLB_L2_HIT;
  t->tlb_misses += r == TLB_MISS;
}

void memory_touch_slow(AddressSpace *as, uint64_t address, uint64_t len, MemAccess access, Touch *t) {
  Segment *s = as->segment;
  g_assert(len > 0 && len <= s->size && address <= s->size - len);
  uint64_t first = address >> s->page_shift, last = (address + len - 1) >> s->page_shift;
  if (as->observer) as->observer(as->observer_data, address, len, access);
  address_space_touch_pages(as, first, last, NULL, access, t);
  if (as->tlb)
    for (uint64_t page = first; page <= last; page++) look_up(as, page, t);
  if (s->lines)
    line_map_touch(s->lines, address / LINE_BYTES, (address + len - 1) / LINE_BYTES + 1, as->owner, &as->last_line, t);
}

void address_space_record(AddressSpace *as, bool on) {
  forget_hot(as); /* so that no page is mapped unseen */
  if (on && !as->record) as->record = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  if (on || !as->record) return;
  g_array_free(as->record, TRUE);
  as->record = NULL;
}

void address_space_observe(AddressSpace *as,
                           void (*touched)(void *data, uint64_t address, uint64_t len, MemAccess access), void *data) {
  forget_hot(as); /* so that nothing is touched unseen */
  as->observer = touched;
  as->observer_data = data;
}

static gint by_page(gconstpointer a, gconstpointer b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

char *address_space_take_record(AddressSpace *as) {
  if (!as->record || as->record->len == 0) return NULL;
  g_array_sort(as->record, by_page);
  GString *text = g_string_new(NULL);
  for (guint i = 0, j; i < as->record->len; i = j) {
    const uint64_t *page = &g_array_index(as->record, uint64_t, i);
    for (j = i + 1; j < as->record->len && page[j - i] == page[0] + (j - i);) j++;
    g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, i ? "," : "", page[0]);
    if (j - i > 1) g_string_append_printf(text, "-%" G_GUINT64_FORMAT, page[j - i - 1]);
  }
  g_array_set_size(as->record, 0);
  return g_string_free(text, FALSE);
}
