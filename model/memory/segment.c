/* segment.c - the layout of shared memory, and the pool that all page bitmaps over it come from. */
#include "model/memory/segment.h"
#include <string.h>
#include <sys/mman.h>

typedef struct {
  char *name;
  uint64_t address, size, count;
} Structure;

static void structure_clear(gpointer data) {
  g_free(((Structure *)data)->name);
}

const char *memory_config_complaint(const MemoryConfig *c) {
  if (c->page_size != UINT64_C(1) << 12 && c->page_size != UINT64_C(1) << 21 && c->page_size != UINT64_C(1) << 30)
    return "page_size: must be 4KiB, 2MiB or 1GiB";
  if (c->fault_around & (c->fault_around - 1)) return "fault_around: must be a power of two, or 0KiB for off";
  if (c->tlb_l1 % TLB_WAYS || c->tlb_l2 % TLB_WAYS) return "tlb: entries must be multiples of 4 (4-way sets)";
  if (c->tlb_l2 && (!c->tlb_l1 || c->tlb_l1 > c->tlb_l2)) return "tlb: the first level must be within the second";
  return NULL;
}

/* Fault-around is done by filemap_map_pages for pages of the page cache mapped by PTEs: not for huge pages. It stays
 * within one page-table page (do_fault_around in Linux's mm/memory.c). */
static uint64_t window_pages(const MemoryConfig *c, guint page_shift) {
  if (page_shift != 12 || c->fault_around <= c->page_size) return 1;
  return MIN(c->fault_around >> page_shift, TABLE_PAGES);
}

Segment *segment_new(const MemoryConfig *config) {
  const char *complaint = memory_config_complaint(config);
  if (complaint) g_error("segment_new: %s", complaint);
  Segment *s = g_new0(Segment, 1);
  s->config = *config;
  s->page_shift = (guint)__builtin_ctzll(config->page_size);
  s->levels = (39 - s->page_shift) / 9; /* 4 KiB: PTE, PMD, PUD pages; 2 MiB: PMD, PUD; 1 GiB: PUD */
  s->window = window_pages(config, s->page_shift);
  s->structures = g_array_new(FALSE, FALSE, sizeof(Structure));
  g_array_set_clear_func(s->structures, structure_clear);
  s->line_sets = g_ptr_array_new();
  s->pool.blocks = g_ptr_array_new_with_free_func(g_aligned_free);
  s->pool.made = 1; /* number 0 is none */
  return s;
}

void segment_free(Segment *s) {
  if (!s) return;
  g_assert(s->spaces == 0 && s->word_sets == 0);
  g_array_free(s->structures, TRUE);
  g_ptr_array_free(s->line_sets, TRUE);
  g_ptr_array_free(s->pool.blocks, TRUE);
  if (s->lines) line_map_free(s->lines);
  g_free(s);
}

StructureId segment_add(Segment *s, const char *name, uint64_t size, uint64_t count, uint64_t align, uint64_t phase) {
  g_assert(!s->laid_out && size > 0 && count > 0 && phase < align);
  g_assert(count <= (UINT64_C(1) << 40) / size); /* far more than any server has; keeps page numbers in 32 bits */
  uint64_t address = s->size - s->size % align + phase;
  if (address < s->size) address += align;
  Structure new = {g_strdup(name), address, size, count};
  g_array_append_val(s->structures, new);
  s->size = address + size * count;
  return s->structures->len;
}

static const Structure *structure(const Segment *s, StructureId id) {
  g_assert(id > 0 && id <= s->structures->len);
  return &g_array_index(s->structures, Structure, id - 1);
}

uint64_t segment_address(const Segment *s, StructureId id, uint64_t index) {
  const Structure *st = structure(s, id);
  g_assert(index <= st->count);
  return st->address + index * st->size;
}

uint64_t segment_count(const Segment *s, StructureId id) {
  return structure(s, id)->count;
}
uint64_t segment_size(const Segment *s) {
  return s->size;
}
uint64_t segment_pages(const Segment *s) {
  return (s->size + s->config.page_size - 1) >> s->page_shift;
}

const char *segment_structure_at(const Segment *s, uint64_t address) {
  guint low = 0, high = s->structures->len; /* the last one that starts at or before the address is low - 1 */
  while (low < high) {
    guint middle = (low + high) / 2;
    if (structure(s, middle + 1)->address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return NULL;
  const Structure *st = structure(s, low);
  return address < st->address + st->size * st->count ? st->name : NULL;
}

void segment_lay_out(Segment *s) {
  if (s->laid_out) return;
  g_assert(s->size > 0 && segment_pages(s) < UINT32_MAX);
  s->laid_out = true;
  uint64_t spanned = segment_pages(s);
  for (guint l = 0; l < s->levels; l++) {
    spanned = (spanned + TABLE_PAGES - 1) / TABLE_PAGES;
    if (l == 0) s->tables = spanned;
    s->entries += spanned;
  }
  if (s->config.lines) s->lines = line_map_new((s->size + LINE_BYTES - 1) / LINE_BYTES);
}

/* The largest server needs 2 GB of bitmaps: half a million minor faults of our own, were it not for huge pages. The
 * first block does without, so that a small segment stays small. */
static void pool_grow(TablePool *pool) {
  size_t bytes = ((size_t)TABLE_WORDS << POOL_BLOCK_BITS) * sizeof(uint64_t);
  gpointer block = g_aligned_alloc(1, bytes, bytes);
  if (pool->blocks->len > 0) madvise(block, bytes, MADV_HUGEPAGE); /* a hint: refused is as good */
  g_ptr_array_add(pool->blocks, block);
}

uint32_t segment_table_take(Segment *s) {
  TablePool *pool = &s->pool;
  uint32_t table = pool->free_head;
  if (!table) {
    g_assert(pool->made < UINT32_MAX);
    table = pool->made++;
    if (table >> POOL_BLOCK_BITS >= pool->blocks->len) pool_grow(pool);
  } else
    pool->free_head = (uint32_t)segment_table(s, table)[0];
  memset(segment_table(s, table), 0, TABLE_WORDS * sizeof(uint64_t));
  return table;
}

void segment_table_give(Segment *s, uint32_t table) {
  segment_table(s, table)[0] = s->pool.free_head;
  s->pool.free_head = table;
}

uint64_t segment_host_bytes(const Segment *s) {
  uint64_t space = sizeof(AddressSpace) + s->entries * sizeof(uint32_t);
  space += (s->config.tlb_l1 + s->config.tlb_l2) * sizeof(uint32_t);
  uint64_t pool = (uint64_t)s->pool.made * TABLE_WORDS * sizeof(uint64_t);
  return pool + s->spaces * space + (s->lines ? line_map_bytes(s->lines) : 0);
}
