/* stand.h - a state taken up in an arena, and the steps that are made from it. What a step has changed is found by
 * comparing with a copy, encoded as a change of the state's vector, and undone, all in one pass over the bytes in use;
 * another state is taken up by the bits in which its vector differs. So an explorer neither encodes nor restores a
 * whole state for each step, and still nobody declares what a step may change. */
#pragma once
#include "model/world/vector.h"

typedef struct VectorStand VectorStand;

VectorStand *vector_stand_new(Arena *a); /* the arena must outlive it */
void vector_stand_free(VectorStand *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(VectorStand, vector_stand_free)

/* From here on vectors are of this layout, which must live as long, and the arena is the template. To be called again
 * after the arena has been changed in any other way than by steps that vector_stand_leave ends. */
void vector_stand_start(VectorStand *s, const VectorLayout *l);
/* Takes up the state with this vector: the arena is as vector_decode would make it. */
void vector_stand_at(VectorStand *s, const uint64_t *in);
/* After a step: `out` is the vector of where it led (vector_words of them), and the arena is as before the step. False:
 * the layout lacks bits of that state, and they are noted; `out` is then undefined. */
bool vector_stand_leave(VectorStand *s, uint64_t *out, VectorGaps *gaps);
