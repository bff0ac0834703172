/* lasso.h - confirms a lasso while it is walked: its last steps lead from a state back to it, they are fair
 * (fair_cycle.h), and what was pending where they began was so in every state between. */
#pragma once
#include "checks/stepper.h"

typedef struct Lasso Lasso;
Lasso *lasso_new(Stepper *s); /* standing where the round begins */
void lasso_free(Lasso *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lasso, lasso_free)
/* What of the check is pending there, to be watched; before the first step. */
void lasso_watch(Lasso *l, const Check *c);
void lasso_step(Lasso *l, Move m); /* this move has just been made */
/* NULL: the state is another one, somebody is left out for ever, or nothing of the check was pending all along. Else
 * what was, in words. */
char *lasso_confirms(Lasso *l, const Check *c);
