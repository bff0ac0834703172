/* timeline.h - what is under way in a timed exploration, with the time it has left: part of the state, so it lives in
 * the arena, in one order (by time left, then kind, then subject), relative to now.
 *
 * With jitter the time left is an interval. What fires may be whatever can be the earliest; time then goes on by
 * anything between its own least and the least upper bound of all. The intervals of the others widen by that much, each
 * by itself: every real order is tried, and over long chains some that only unrelated jitters could give. */
#pragma once
#include "model/world/explore.h"

typedef enum { TIMELINE_RESUME, TIMELINE_DELIVER, TIMELINE_FIRE } TimelineKind;
typedef struct Timeline Timeline;

Timeline *timeline_new(Arena *a, int64_t jitter_ns); /* lives as long as the arena */
void timeline_add(Timeline *t, TimelineKind kind, uint32_t subject, int64_t after_ns);
void timeline_drop(Timeline *t, TimelineKind kind, uint32_t subject); /* all of it; nothing when there is none */
void timeline_moves(const Timeline *t, const World *w, GArray *out);  /* of Move */
void timeline_take(Timeline *t, const World *w, Move m); /* time goes on to it, and it is no longer pending */
