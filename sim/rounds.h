/* rounds.h - does a run go round for ever? A run without `end` whose servers refuse every connection never comes to
 * rest; nor does one in which processes take turns at one instant, whatever its `end`.
 *
 * A state that comes back, with the same under way, and chance asked for nothing in between, comes back for ever: what
 * follows depends on nothing else. That is looked for in windows which begin at 2^20 steps, 2^21 and so on, in each by
 * the state at its beginning; a round of more than ROUNDS_WINDOW steps (fewer with a large state) is not found. */
#pragma once
#include "sim/engine.h"

enum { ROUNDS_FIRST = 1 << 20, ROUNDS_WINDOW = 1 << 16, ROUNDS_BYTES = 1 << 28 /* hashed in a window */ };

typedef struct {
  uint64_t begin, end; /* the window, in steps */
  uint64_t chances;
  int64_t t_ns;
  Hash128 state;
} Rounds;
typedef struct {
  uint64_t steps;
  int64_t ns; /* 0: time does not go on */
} Round;

/* After each step. True: the state of the window's beginning is back, `found` after. `ends`: time is to end the run, so
 * that only a round in which none passes counts. */
bool rounds_look(Rounds *r, const Engine *e, World *w, bool ends, Round *found);
