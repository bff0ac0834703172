/* flags.h - compiler flags of a tree's own configured build: what decides what its files mean (-D, -U, -std, -f, -m).
 */
#pragma once
#include <glib.h>

/* From BUILD/compile_commands.json (meson; what it says of `source`) or BUILD/src/Makefile.global (autoconf); empty
 * where there is neither. *from is the file they come from, to be freed, or NULL. Include directories (-I) are made
 * absolute. */
GStrv flags_of_build(const char *build, const char *source, char **from);
