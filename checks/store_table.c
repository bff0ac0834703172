/* store_table.c - large tables: read at random, so on huge pages if the system has them (a table's lines then cost a
 * cache miss each, and not a walk of the page table besides). */
#include "checks/store_parts.h"
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static size_t huge_bytes(size_t bytes) {
  return bytes >= HUGE_PAGE * 3 / 4 ? (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE : 0;
}

void *table_new(size_t bytes) {
  size_t whole = huge_bytes(bytes);
  if (!whole) return g_malloc0(bytes);
  char *at = mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) g_error("limit: no memory for a table of %" G_GSIZE_FORMAT " bytes", bytes);
  size_t before = -(uintptr_t)at % HUGE_PAGE;
  if (before) munmap(at, before);
  if (before < HUGE_PAGE) munmap(at + before + whole, HUGE_PAGE - before);
  madvise(at + before, whole, MADV_HUGEPAGE);
  return at + before;
}

void table_free(void *table, size_t bytes) {
  if (table && huge_bytes(bytes))
    munmap(table, huge_bytes(bytes));
  else
    g_free(table);
}
