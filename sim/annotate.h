/* annotate.h - source lines with what they cost (run --annotate), after perf annotate. */
#pragma once
#include "sim/result.h"

/* Files by name, lines in order: those that cost something with two around them, what was counted beside the text.
 * Nothing where no hot spot is a source line's. */
void annotate_text(const RunResult *r, GString *out);
