/* scalar.h - one value against its row of the table. Private to sim/scenario. */
#pragma once
#include "sim/scenario/keys.h"
#include "sim/scenario/node.h"
#include "sim/scenario/units.h"

/* shown: the key as errors call it. */
bool scalar_check(const KeyInfo *k, const Node *n, const char *shown, GError **error);

/* A number of the kind that types tells (one of K_INT .. K_RATE), in its base unit; a seed only as to its form. */
UnitsFault scalar_number(guint types, const char *text, int64_t *out);

/* Is the word one of words (blanks between)? */
bool scalar_is_word(const char *word, const char *words);
