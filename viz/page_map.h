/* page_map.h - which pages of the PGPROC array each connect of a trace mapped, gathered into dots.
 *
 * A connect is a row: it begins with the step InitProcess of a process (ProcArrayAdd, where there is none) and takes
 * what the process's steps name in their argument "pages" ("3,7-12", counted from the array's first page) up to its
 * ProcArrayRemove or ProcKill. pgbench's iterations are told apart: one begins with pgbench's step "main" (or a step
 * with an argument "iteration") and ends with "end of run"; connects outside of them are left out when there are any.
 */
#pragma once
#include "traces/trace.h"

enum { PAGE_MAP_COLUMNS = 600, PAGE_MAP_ROWS = 440 }; /* dots at most */

typedef struct {
  int64_t iteration;         /* 0: the trace has none */
  int64_t connects, touches; /* touches: pages, summed over the connects */
  guint first_row, rows;     /* of dots */
} PageBand;

typedef struct {
  char *scenario;
  uint64_t seed;
  bool cut;
  int64_t pages;                           /* of the array, as far as one was touched */
  int64_t connects_per_dot, pages_per_dot; /* 1, 1: nothing is gathered */
  guint columns, rows;
  uint64_t *counts; /* columns * rows: (connect, page) pairs that were mapped */
  GArray *bands;    /* of PageBand, in order; each begins a row of dots */
} PageMap;

/* Reads the file twice. NULL and *error: TRACE_ERROR, or VIZ_ERROR_INPUT when no connect names a page. */
PageMap *page_map_read(const char *path, GError **error);
void page_map_free(PageMap *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PageMap, page_map_free)

/* How many of the dot's (connect, page) pairs there are at all: it is smaller at the right and lower edges. */
uint64_t page_map_pairs(const PageMap *m, const PageBand *band, guint column, guint row);
