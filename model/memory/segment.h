/* segment.h - what the files of this folder share of a segment and an address space; not for others. */
#pragma once
#include "model/memory/lines.h"
#include "model/memory/memory.h"
#include "model/memory/tlb.h"

enum { TABLE_WORDS = 8, TABLE_PAGES = 512 }; /* under one page-table page: 64 bytes, a cache line of the host */

/* Page bitmaps by number, from 1 on. Blocks never move; a free bitmap's first word is the number of the next. */
typedef struct {
  GPtrArray *blocks;
  uint32_t made, free_head;
} TablePool;

struct Segment {
  MemoryConfig config;
  guint page_shift, levels; /* of page table above a page, without the top one, which every process has anyway */
  uint64_t window;          /* pages that a read fault maps, at most; a power of two, 512 at most */
  uint64_t size;
  GArray *structures;
  GPtrArray *line_sets; /* word sets whose lines the line map knows as members */
  LineMap *lines;       /* NULL: not counted */
  TablePool pool;
  uint64_t tables, entries; /* of one page table: page-table pages of the lowest level, of all levels */
  guint spaces, word_sets;
  bool laid_out;
};

/* entry[]: for each page-table page of the lowest level the number of its bitmap, 0: not made; then for those of the
 * levels above, lowest first, 1 when made. */
struct AddressSpace {
  MemoryHot hot;
  guint owner, tables; /* pages of page table made, all levels */
  Segment *segment;
  uint64_t last_line;
  GArray *record;                                                                 /* of uint64_t; NULL: off */
  void (*observer)(void *data, uint64_t address, uint64_t len, MemAccess access); /* NULL: nobody looks */
  void *observer_data;
  uint32_t *tlb; /* NULL: none */
  uint32_t entry[];
};

void segment_lay_out(Segment *s); /* no more structures from now on */
uint64_t segment_count(const Segment *s, StructureId id);
uint32_t segment_table_take(Segment *s); /* an empty bitmap */
void segment_table_give(Segment *s, uint32_t table);

enum { POOL_BLOCK_BITS = 15 }; /* 32768 bitmaps: a block is 2 MiB, a huge page of the host's */
static inline uint64_t *segment_table(const Segment *s, uint32_t table) {
  uint64_t *block = s->pool.blocks->pdata[table >> POOL_BLOCK_BITS];
  return block + (size_t)(table & ((1u << POOL_BLOCK_BITS) - 1)) * TABLE_WORDS;
}

/* Touch pages first..last, those in `which` (its first word has page first & ~63; NULL: all): mapping and faults only.
 */
void address_space_touch_pages(AddressSpace *as, uint64_t first, uint64_t last, const uint64_t *which, MemAccess access,
                               Touch *t);
