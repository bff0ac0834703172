/* vector.h - a state as a few bits, exactly. Of a model's arena most bits never change while it is explored. A layout
 * knows a template (the arena at one moment) and the set of bits that have been seen to differ from it; a state's
 * vector is those bits, packed. Vectors of one layout are equal exactly when the arenas are, and decode gives the arena
 * back, so a store of vectors compares states, not hashes of them.
 *
 * Nobody declares anything: encode refuses a state that differs from the template elsewhere, its bits are noted as
 * gaps, and a wider layout is made, into which old vectors convert. Which bits a layout has depends only on the set of
 * states it has met. A layout does not change: several threads may use one, each with its own arena. */
#pragma once
#include "model/world/arena.h"
#include <stdbool.h>

typedef struct VectorLayout VectorLayout;
typedef struct VectorGaps VectorGaps; /* bits that a layout lacks */

VectorLayout *vector_layout_new(const Arena *template); /* no bit differs yet: vectors of 1 word, always 0 */
void vector_layout_free(VectorLayout *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(VectorLayout, vector_layout_free)
guint vector_bits(const VectorLayout *l);
guint vector_words(const VectorLayout *l); /* 64-bit words of a vector, at least 1 */

/* out: vector_words words. False when the layout lacks a bit of this state; `out` is then undefined. */
bool vector_encode(const VectorLayout *l, const Arena *a, uint64_t *out);
/* Into an arena that differs from the template only where the layout says. */
void vector_decode(const VectorLayout *l, Arena *a, const uint64_t *in);
/* Any arena, back to the template. */
void vector_reset(const VectorLayout *l, Arena *a);

VectorGaps *vector_gaps_new(void);
void vector_gaps_free(VectorGaps *g);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(VectorGaps, vector_gaps_free)
void vector_gaps_note(VectorGaps *g, const VectorLayout *l, const Arena *a); /* what of `a` the layout lacks */
bool vector_gaps_any(const VectorGaps *g);
/* The layout with the gaps of both closed (`more` may be NULL); the gaps are forgotten. As long as vector_words is the
 * same, old vectors are vectors of the new layout. */
VectorLayout *vector_layout_extend(const VectorLayout *l, VectorGaps *g, VectorGaps *more);
/* Of two layouts of which one extends the other, perhaps in several steps. */
void vector_convert(const VectorLayout *from, const VectorLayout *to, const uint64_t *in, uint64_t *out);
