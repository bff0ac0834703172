/* rounds.c - see rounds.h. */
#include "sim/rounds.h"

static uint64_t window_of(size_t bytes) {
  return CLAMP(ROUNDS_BYTES / (bytes + 1), 1, ROUNDS_WINDOW);
}

static void begin(Rounds *r, const Engine *e, World *w) {
  *r = (Rounds){.begin = engine_steps(e),
                .end = engine_steps(e) + window_of(arena_used(world_arena(w))),
                .step = engine_steps(e),
                .chances = engine_chances(e),
                .drawn = engine_drawn(e),
                .t_ns = engine_now(e),
                .state = world_hash(w)};
}

static bool same(Hash128 a, Hash128 b) {
  return a.lo == b.lo && a.hi == b.hi;
}

bool rounds_look(Rounds *r, const Engine *e, World *w, bool ends, Round *found) {
  uint64_t steps = engine_steps(e);
  if (steps < ROUNDS_FIRST) return false;
  if ((steps & (steps - 1)) == 0) {
    begin(r, e, w);
    return false;
  }
  if (steps > r->end || engine_chances(e) != r->chances || (ends && engine_now(e) != r->t_ns)) return false;
  if (!same(world_hash(w), r->state)) return false;
  *found = (Round){steps - r->begin, engine_now(e) - r->t_ns};
  g_assert(found->steps > 0 && found->ns >= 0);
  return true;
}

/* ---- of code that spins ---- */

/* What a process has on its stack is known as it was at its last round: two rounds of everybody are looked at before a
 * state counts as back; who waits for a lock or a semaphore has the same all the time. Where the order of ties is drawn
 * the code's state must be the same after every step: then whoever goes first finds what the others would. */
static void begin_spins(Rounds *r, const Engine *e, World *w, const Subject *s) {
  begin(r, e, w);
  size_t bytes = arena_used(world_arena(w)) + subject_state_bytes(s);
  r->begin = subject_spins(s);
  r->end = r->begin + MAX(window_of(bytes), 4 * world_live(w));
  r->code = subject_spin_state(s);
}

bool rounds_look_at_spins(Rounds *r, const Engine *e, World *w, const Subject *s, Round *found) {
  uint64_t spins = subject_spins(s);
  if (spins < ROUNDS_SPINS_FIRST || (spins == r->begin && engine_steps(e) > r->step)) return false;
  if ((spins & (spins - 1)) == 0) return begin_spins(r, e, w, s), false;
  if (spins > r->end || engine_drawn(e) != r->drawn) return false;
  bool back = same(subject_spin_state(s), r->code);
  r->moved |= !back;
  if (!back || spins - r->begin < 2 * world_live(w)) return false;
  if ((r->moved && engine_chances(e) != r->chances) || !same(world_hash(w), r->state)) return false;
  *found = (Round){engine_steps(e) - r->step, engine_now(e) - r->t_ns};
  g_assert(found->steps > 0 && found->ns > 0);
  return true;
}
