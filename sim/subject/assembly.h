/* assembly.h - inline assembly of a source that writes memory: no hook sees such a store, so `subject build` lists it.
 */
#pragma once
#include <glib.h>

/* `text` is what the compiler made of the file (cc -S). Adds "procarray.c:539: lock; xaddl %eax,(%rdx)" to `found`,
 * once each place. Counted as writing: an instruction whose destination is in memory, and a call. */
void assembly_scan(const char *text, const char *source, GPtrArray *found);
