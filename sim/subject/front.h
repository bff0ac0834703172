/* front.h - the common access, inlined: what stands in a subject where the compiler calls a hook. */
#pragma once

/* The same text (cc -S) where each load looks by itself whether its line was seen (hooks.h), and calls the hook only if
 * not. Machines that this knows no code for: as it is. g_free. */
char *front_put(const char *text);
