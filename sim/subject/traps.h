/* traps.h - what stands in for symbols that nobody models: C that stops with the symbol's name when it is called. */
#pragma once
#include "sim/subject/symbols.h"

/* Is it the runtime's, the compiler's or a harmless one of libc? Those are found when the subject is loaded. */
bool trap_is_given(const char *symbol);
/* Sizes of variables come from the debug information of `linked`, an object with the symbols still open. `trapped` gets
 * the names that became traps. The result is a C file's text. */
char *traps_text(const Symbols *s, const char *linked, GPtrArray *trapped);
