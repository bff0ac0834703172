/* memory.h - shared memory as each process sees it: page tables, minor faults, TLB, cache lines.
 *
 * A SEGMENT is laid out once: structures one after the other, each at its alignment. An address space is one process's
 * page table over it, empty after fork (Linux does not copy entries of a shared anonymous mapping). The first store to
 * a page is one minor fault; the first load of a page maps the aligned fault-around window. A page once mapped, by
 * either, is never faulted on again. Sources: facts on the mechanism measured on Linux 6.18 (README.md).
 * Address spaces are bitmaps of one page-table page each (512 pages), made on first touch. They are not part of a
 * state's identity unless a model says so: faults cost time, they decide nothing. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint64_t page_size;    /* 4 KiB, 2 MiB or 1 GiB */
  uint64_t fault_around; /* bytes, a power of two; 0 is off; windows are aligned and end with the segment */
  guint tlb_l1, tlb_l2;  /* entries; 0, 0: no TLB is modelled. 4-way LRU, l1 within l2 */
  bool lines;            /* count cache lines fetched from another process */
} MemoryConfig;

typedef struct Segment Segment;
typedef struct AddressSpace AddressSpace;
typedef guint StructureId;

Segment *segment_new(const MemoryConfig *config);
void segment_free(Segment *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Segment, segment_free)
/* An array of `count` elements of `size` bytes at the next address that is `phase` modulo `align` (phase < align).
 * Returns its id; 0 is none. */
StructureId segment_add(Segment *s, const char *name, uint64_t size, uint64_t count, uint64_t align, uint64_t phase);
uint64_t segment_address(const Segment *s, StructureId id, uint64_t index); /* of element `index` */
uint64_t segment_size(const Segment *s);
uint64_t segment_pages(const Segment *s);
const char *segment_structure_at(const Segment *s, uint64_t address); /* name; NULL: a gap */

typedef enum { MEM_READ, MEM_WRITE } MemAccess;

/* What touching did. Pages: faulted on; around: mapped beside them by fault-around; tables: pages of page table made;
 * lines: distinct lines fetched that another process wrote last (stores and loads, `lines` on); seq_lines: the part of
 * them that followed the line before it (prefetched). */
typedef struct {
  int64_t read_faults, write_faults, around, tables, lines, seq_lines, tlb_l2_hits, tlb_misses;
} Touch;

AddressSpace *address_space_new(Segment *s, guint owner); /* owner: a number of the process, for lines; > 0 */
void address_space_free(AddressSpace *as);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AddressSpace, address_space_free)
bool address_space_mapped(const AddressSpace *as, uint64_t page);
uint64_t address_space_pages(const AddressSpace *as);        /* mapped now */
uint64_t address_space_table_bytes(const AddressSpace *as);  /* all levels of page table made for the segment */
/* Clear for a new process, keeping the memory. */
void address_space_reset(AddressSpace *as, guint owner);

/* Touch [address, address+len). Adds to *t. */
void memory_touch(AddressSpace *as, uint64_t address, uint64_t len, MemAccess access, Touch *t);

/* A set of words of one structure, one word of `len` bytes at `offset` in each element of a changing set of elements:
 * "the pgxactoff of every live backend". Touching all members from element `first` upwards gives exactly what
 * memory_touch would give word by word in ascending order, without visiting words (page counts, popcount); refused
 * with TLB on (an order matters there): word_set_ranges says so. */
typedef struct WordSet WordSet;
WordSet *word_set_new(Segment *s, StructureId id, uint64_t offset, uint64_t len);
void word_set_free(WordSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WordSet, word_set_free)
void word_set_add(WordSet *set, uint64_t index);
void word_set_remove(WordSet *set, uint64_t index);
bool word_set_has(const WordSet *set, uint64_t index);
uint64_t word_set_from(const WordSet *set, uint64_t first);  /* members with index >= first, O(log n) */
bool word_set_ranges(const WordSet *set);
void word_set_touch(const WordSet *set, AddressSpace *as, uint64_t first, MemAccess access, Touch *t);

/* Pages newly mapped since the last call, as "3,7-12" (NULL: none), for traces; recording is off until asked for. */
void address_space_record(AddressSpace *as, bool on);
char *address_space_take_record(AddressSpace *as);
