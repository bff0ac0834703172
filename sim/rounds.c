/* rounds.c - see rounds.h. */
#include "sim/rounds.h"

static uint64_t window_steps(World *w) {
  return CLAMP(ROUNDS_BYTES / (arena_used(world_arena(w)) + 1), 1, ROUNDS_WINDOW);
}

static void begin(Rounds *r, const Engine *e, World *w) {
  *r = (Rounds){.begin = engine_steps(e),
                .end = engine_steps(e) + window_steps(w),
                .chances = engine_chances(e),
                .t_ns = engine_now(e),
                .state = world_hash(w)};
}

bool rounds_look(Rounds *r, const Engine *e, World *w, bool ends, Round *found) {
  uint64_t steps = engine_steps(e);
  if (steps < ROUNDS_FIRST) return false;
  if ((steps & (steps - 1)) == 0) {
    begin(r, e, w);
    return false;
  }
  if (steps > r->end || engine_chances(e) != r->chances || (ends && engine_now(e) != r->t_ns)) return false;
  Hash128 h = world_hash(w);
  if (h.lo != r->state.lo || h.hi != r->state.hi) return false;
  *found = (Round){steps - r->begin, engine_now(e) - r->t_ns};
  g_assert(found->steps > 0 && found->ns >= 0);
  return true;
}
