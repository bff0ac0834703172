/* liveness.h - looks, in the states that a breadth-first search has stored, for what may stay pending for ever: a round
 * that is fair and in all of whose states one subject of a check is pending. (Where nothing need go on at all, the
 * search itself has looked: worker_judge_rest.) The counterexample is a lasso: a way to the round, and the round. */
#pragma once
#include "checks/search_parts.h"

typedef struct {
  Crew *crew;
  const SearchOptions *o;
  SearchResult *r;
  const StateStore *store; /* full, of every reachable state */
  /* From the first state to `state`, of Branch; ends with the first worker standing there. NULL: none is known. */
  GArray *(*path_to)(void *data, uint32_t state);
  void *data;
} LivenessSearch;

/* Adds what it finds to the result, and sets r->loops unless a limit stops it, which r->loops_stop then names. */
void liveness_search(const LivenessSearch *l);
