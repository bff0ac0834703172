/* rounds.h - does a run go round for ever? A run without `end` whose servers refuse every connection never comes to
 * rest; nor does one in which processes take turns at one instant, whatever its `end`.
 *
 * A state that comes back, with the same under way, and chance asked for nothing in between, comes back for ever: what
 * follows depends on nothing else. That is looked for in windows which begin at 2^20 steps, 2^21 and so on, in each by
 * the state at its beginning; a round of more than ROUNDS_WINDOW steps (fewer with a large state) is not found. */
#pragma once
#include "sim/engine.h"
#include "sim/subject/subject.h"

/* Of code that spins, while it does nothing else: in windows which begin at 2^12 rounds of spinning in a row. */
enum { ROUNDS_SPINS_FIRST = 1 << 12 };

enum { ROUNDS_FIRST = 1 << 20, ROUNDS_WINDOW = 1 << 16, ROUNDS_BYTES = 1 << 28 /* hashed in a window */ };

typedef struct {
  uint64_t begin, end; /* the window, in steps, or in rounds of spinning */
  uint64_t step;       /* at its beginning */
  uint64_t chances, drawn;
  Hash128 code; /* that spins: its state then */
  bool moved;   /* and has been another one since */
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
/* The same of real code that spins; time passes with each round. */
bool rounds_look_at_spins(Rounds *r, const Engine *e, World *w, const Subject *s, Round *found);
