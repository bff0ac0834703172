/* estimate.h - how large is a model's state space, before it is searched: a guess from a sample of each level. */
#pragma once
#include "checks/search.h"

typedef struct {
  bool exact; /* every level was small enough to be taken whole */
  double states, transitions;
  guint depth;
  guint reduce;    /* which reductions the space has */
  SearchStop stop; /* EXHAUSTED: by itself; else the limit at which the sampling ended: what is deeper is not counted */
  double seconds;  /* measured, of the sampling */
  double rate;     /* measured: transitions a second */
} Estimate;

/* At most `sample` states of each level are looked at, of all o->max_states, to the depth of o->max_depth; a limit of
 * time and an interrupt end it, too. False and *error: the model cannot be built. */
bool estimate_states(const SearchOptions *o, guint sample, Estimate *e, GError **error);
