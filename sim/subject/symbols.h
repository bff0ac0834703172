/* symbols.h - what object files define and need, by elfutils. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  char *name;
  bool data; /* needed as a variable (its address is taken from the table of addresses), not called */
} NeededSymbol;

typedef struct {
  GHashTable *defined; /* set of names, global ones */
  GPtrArray *needed;   /* of NeededSymbol, sorted by name: used in one of them, defined in none */
} Symbols;

/* Of all of them together. NULL and *error (SCENARIO_ERROR): a file that is no object. */
Symbols *symbols_of(const char *const *objects, GError **error);
void symbols_free(Symbols *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Symbols, symbols_free)
