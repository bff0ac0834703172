/* memory.h - which pages of the PGPROC array each connect maps (by a fault, or around one), as a heat map: a page is a
 * column, a connect is a row, time goes downwards; pgbench's iterations stand one below the other. Where there are more
 * pages or connects than dots, a dot gathers several, and its colour says which part of its (connect, page) pairs were
 * mapped. */
#pragma once
#include "viz/page_map.h"
#include "viz/picture.h"

/* format: svg, png or pdf. false: as page_map_read, VIZ_ERROR_TOOL, TRACE_ERROR_WRITE. */
bool viz_memory(const char *trace, const char *path, VizFormat format, GError **error);
void viz_memory_svg(const PageMap *m, GString *svg);
