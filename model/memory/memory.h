/* memory.h - shared memory as each process sees it: page tables, minor faults, TLB, cache lines.
 *
 * A SEGMENT is laid out once: structures one after the other, each at its alignment. An address space is one process's
 * page table over it, empty after fork (Linux does not copy entries of a shared anonymous mapping). The first store to
 * a page is one minor fault; the first load of a page maps the aligned fault-around window. A page once mapped, by
 * either, is never faulted on again. Sources and limits: README.md.
 * Address spaces are bitmaps of one page-table page each (512 pages), made on first touch. They are not part of a
 * state's identity unless a model says so: faults cost time, they decide nothing. Nothing here fails: misuse asserts.
 */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint64_t page_size;    /* 4 KiB, 2 MiB or 1 GiB */
  uint64_t fault_around; /* bytes, a power of two; 0 is off, as is anything up to a page; 4 KiB pages only. Windows are
                            aligned, and end with the segment and with the page-table page (2 MiB) */
  guint tlb_l1, tlb_l2;  /* entries, multiples of 4; 0, 0: no TLB. 4-way LRU, l1 within l2; l2 may be 0 (one level) */
  bool lines;            /* count cache lines (64 bytes) fetched from another process */
} MemoryConfig;
/* NULL: segment_new takes it; else what is wrong with it, for a reader of scenarios to say ("page_size: ..."). */
const char *memory_config_complaint(const MemoryConfig *config);

typedef struct Segment Segment;
typedef struct AddressSpace AddressSpace;
typedef guint StructureId;

Segment *segment_new(const MemoryConfig *config);
void segment_free(Segment *s); /* after its address spaces and word sets */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Segment, segment_free)
/* An array of `count` elements of `size` bytes at the next address that is `phase` modulo `align` (phase < align).
 * Returns its id; 0 is none. Only before the first address space and the first word set. */
StructureId segment_add(Segment *s, const char *name, uint64_t size, uint64_t count, uint64_t align, uint64_t phase);
uint64_t segment_address(const Segment *s, StructureId id, uint64_t index); /* of element `index` (count: the end) */
uint64_t segment_size(const Segment *s);                                    /* bytes */
uint64_t segment_pages(const Segment *s);
const char *segment_structure_at(const Segment *s, uint64_t address); /* name; NULL: a gap */
uint64_t segment_host_bytes(const Segment *s); /* this tool's own memory for it, address spaces included */

typedef enum { MEM_READ, MEM_WRITE } MemAccess;

/* What touching did. Pages: faulted on; around: mapped beside them by fault-around; tables: pages of page table made;
 * lines: lines fetched whose last access, load or store, was another process's (`lines` on); seq_lines: those of them
 * that follow the line this process touched just before (prefetched). TLB: one look-up a page and call. */
typedef struct {
  int64_t read_faults, write_faults, around, tables, lines, seq_lines, tlb_l2_hits, tlb_misses;
} Touch;

AddressSpace *address_space_new(Segment *s, guint owner); /* owner: a number of the process, for lines; > 0 */
void address_space_free(AddressSpace *as);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AddressSpace, address_space_free)
bool address_space_mapped(const AddressSpace *as, uint64_t page);
uint64_t address_space_pages(const AddressSpace *as); /* mapped now */
uint64_t
address_space_table_bytes(const AddressSpace *as); /* page table made for the segment: all levels but the top */
/* Empty it for a new process, as after fork; its page bitmaps go back to the segment, a record is dropped. */
void address_space_reset(AddressSpace *as, guint owner);

/* Touch [address, address+len), len > 0, within the segment, in ascending order. Adds to *t. */
static inline void memory_touch(AddressSpace *as, uint64_t address, uint64_t len, MemAccess access, Touch *t);

/* A set of words of one structure, one word of `len` bytes at `offset` in each element of a changing set of elements:
 * "the pgxactoff of every live backend". word_set_touch touches all members from element `first` upwards and gives
 * exactly what memory_touch gives word by word in ascending order (proof: README.md). When word_set_ranges it does so
 * in O(pages/64 + log n) without visiting words, and then "a load and a store of each word" is the same as a pass of
 * loads followed by a pass of stores. word_set_ranges is false, and words are visited, with a TLB (the order of looking
 * up matters there), and with `lines` when an older set lies in the same lines. */
typedef struct WordSet WordSet;
WordSet *word_set_new(Segment *s, StructureId id, uint64_t offset, uint64_t len);
void word_set_free(WordSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WordSet, word_set_free)
void word_set_add(WordSet *set, uint64_t index);    /* not a member */
void word_set_remove(WordSet *set, uint64_t index); /* a member */
bool word_set_has(const WordSet *set, uint64_t index);
uint64_t word_set_from(const WordSet *set, uint64_t first); /* members with index >= first, O(log n) */
bool word_set_ranges(const WordSet *set);
void word_set_touch(const WordSet *set, AddressSpace *as, uint64_t first, MemAccess access, Touch *t);

/* Pages newly mapped since the last call, as "3,7-12" (NULL: none), for traces; recording is off until asked for.
 * Caller frees with g_free. */
void address_space_record(AddressSpace *as, bool on);
char *address_space_take_record(AddressSpace *as);
/* Told of each touch from now on, word sets apart, for tests that compare orders; NULL: no more. */
void address_space_observe(AddressSpace *as,
                           void (*touched)(void *data, uint64_t address, uint64_t len, MemAccess access), void *data);

/* ---- the common case of memory_touch, inline: one page under a page-table page that was touched lately. A first store
 * is counted without a branch: in a storm a third of the stores are first ones, in no order a CPU could guess ---- */
enum { HOT_TABLES = 8 }; /* 16 MiB of 4 KiB pages: a server of 16384 slots */
typedef struct {
  struct {
    uint64_t table; /* number of a page-table page, at its number modulo HOT_TABLES; no page has the one that stands
                       here when more is to be done (TLB, lines, record) */
    uint64_t *bits; /* its 512 pages */
  } of[HOT_TABLES];
  uint64_t pages; /* mapped, in all */
  uint64_t size;  /* of the segment, bytes */
  guint page_shift;
} MemoryHot; /* the first member of every AddressSpace */
void memory_touch_slow(AddressSpace *as, uint64_t address, uint64_t len, MemAccess access, Touch *t);

/* The 64 pages of which `page` is one; NULL: none that was touched lately. */
static inline uint64_t *memory_hot_word(const MemoryHot *hot, uint64_t page) {
  uint64_t table = page >> 9, way = table % HOT_TABLES;
  return hot->of[way].table == table ? &hot->of[way].bits[page >> 6 & 7] : NULL;
}

static inline void memory_touch(AddressSpace *as, uint64_t address, uint64_t len, MemAccess access, Touch *t) {
  MemoryHot *hot = (MemoryHot *)as;
  uint64_t page = address >> hot->page_shift, last = (address + len - 1) >> hot->page_shift;
  uint64_t *bits = memory_hot_word(hot, page);
  if (page == last && bits && address + len <= hot->size) {
    uint64_t missing = ~(*bits >> (page & 63)) & 1;
    if (access == MEM_WRITE) {
      *bits |= UINT64_C(1) << (page & 63);
      hot->pages += missing;
      t->write_faults += (int64_t)missing;
      return;
    }
    if (!missing) return;
  }
  memory_touch_slow(as, address, len, access, t);
}
