/* memory_reference.h - the memory model a second time, word by word, from the facts alone: hash sets of pages, a hash
 * table of lines. It knows nothing of the product but its Touch record, to compare with. */
#pragma once
#include "model/memory/memory.h"

typedef struct {
  uint64_t page_size, window_bytes, size; /* window_bytes: 0 is off */
  GHashTable *line_owner;                 /* of the whole segment */
} RefMachine;

typedef struct {
  RefMachine *machine;
  GHashTable *pages, *tables;
  guint owner;
  uint64_t line; /* touched last + 1; 0: none */
} RefProcess;

static inline gpointer ref_key(uint64_t level, uint64_t n) {
  return GSIZE_TO_POINTER((level << 56) + n + 1);
}

static inline RefProcess ref_process(RefMachine *m, guint owner) {
  return (RefProcess){m, g_hash_table_new(NULL, NULL), g_hash_table_new(NULL, NULL), owner, 0};
}

static inline void ref_process_clear(RefProcess *p) {
  g_hash_table_destroy(p->pages);
  g_hash_table_destroy(p->tables);
}

/* A page-table page holds 512 entries; x86-64 pages are 2^12, 2^21, 2^30, the top table spans 2^48. */
static inline void ref_map(RefProcess *p, uint64_t page, Touch *t) {
  g_hash_table_add(p->pages, ref_key(0, page));
  for (uint64_t span = p->machine->page_size << 9; span <= UINT64_C(1) << 39; span <<= 9)
    if (g_hash_table_add(p->tables, ref_key((uint64_t)__builtin_ctzll(span), page * p->machine->page_size / span)))
      t->tables++;
}

/* A read fault maps the aligned window, what of it lies in the segment and in the faulting page's 2 MiB. */
static inline void ref_read_fault(RefProcess *p, uint64_t page, Touch *t) {
  uint64_t size = p->machine->page_size, window = p->machine->window_bytes;
  t->read_faults++;
  ref_map(p, page, t);
  if (size != 4096 || window <= size) return;
  uint64_t first = page * size / window * window / size;
  for (uint64_t q = first; q < first + window / size; q++) {
    if (q * size >= p->machine->size || q / 512 != page / 512) continue;
    if (g_hash_table_contains(p->pages, ref_key(0, q))) continue;
    ref_map(p, q, t);
    t->around++;
  }
}

static inline void ref_line(RefProcess *p, uint64_t line, Touch *t) {
  guint before = GPOINTER_TO_UINT(g_hash_table_lookup(p->machine->line_owner, ref_key(0, line)));
  if (before && before != p->owner) {
    t->lines++;
    if (p->line == line) t->seq_lines++;
  }
  g_hash_table_insert(p->machine->line_owner, ref_key(0, line), GUINT_TO_POINTER(p->owner));
  p->line = line + 1;
}

static inline void ref_touch(RefProcess *p, uint64_t address, uint64_t len, MemAccess access, Touch *t) {
  uint64_t size = p->machine->page_size;
  for (uint64_t page = address / size; page <= (address + len - 1) / size; page++) {
    if (g_hash_table_contains(p->pages, ref_key(0, page))) continue;
    if (access == MEM_READ)
      ref_read_fault(p, page, t);
    else {
      t->write_faults++;
      ref_map(p, page, t);
    }
  }
  if (p->machine->line_owner)
    for (uint64_t line = address / 64; line <= (address + len - 1) / 64; line++) ref_line(p, line, t);
}
