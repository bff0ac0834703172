/* fair_cycle.h - can a subject stay pending for ever on a way that is fair?
 *
 * Weak fairness: whoever can move, and goes on being able to, moves at last. A strongly connected set of states in all
 * of which the subject is pending can be gone round for ever; that is fair if every mover that is forced in all of its
 * states moves on some edge within it. If one does not, it does not on any round within the set either: so the largest
 * sets are all that need be looked at (Tarjan 1972), and if one is fair, a round through all of it is. */
#pragma once
#include "checks/state_graph.h"

typedef struct {
  uint32_t from;
  uint32_t edge; /* its place among those of `from` */
} GraphStep;

/* Memory for the searches below, 20 bytes a state: made once for many subjects. */
typedef struct FairSearch FairSearch;
FairSearch *fair_search_new(const StateGraph *g);
void fair_search_free(FairSearch *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FairSearch, fair_search_free)
size_t fair_search_bytes(uint32_t states);

/* The fair set with the lowest state, its states in order (of uint32_t); NULL: there is none. */
GArray *fair_component(FairSearch *s, guint subject);
/* The shortest fair round (of GraphStep) within it from `entry` back to it. NULL: not found before `budget` edges were
 * looked at, which is counted down, or more than 16 are owed a turn. */
GArray *fair_round_shortest(const FairSearch *s, const GArray *component, uint32_t entry, uint64_t *budget);
GArray *fair_round(FairSearch *s, const GArray *component, uint32_t entry); /* a fair one, in any case */
bool fair_round_is_fair(const StateGraph *g, const GraphStep *steps, guint n);
