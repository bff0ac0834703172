/* reduce_verify.h - are reductions what their proofs assume? All states of the plain model are walked through, and in
 * each it is tried, not believed: */
#pragma once
#include "checks/reduce.h"

/*   what a step writes        lies in what it said it may write, or is its own
 *   steps that do not meet    commute: both orders are possible, come to one state, and leave the same marks
 *   a step that was not met   is neither made possible nor impossible
 *   what is owned             stays so, and is changed by nobody else
 *   the future                says all that the next step says, and never grows
 *   steps that do not loop    close no cycle
 *   a hidden step             changes no check's mind
 *   a form                    has the successors of the state it stands for, up to form, with the same marks, and is
 *                             judged alike by every check; the form of a form is itself */
typedef struct {
  guint which;  /* what was tried; 0: this search has no reductions, so that nothing was */
  char *broken; /* the first thing that is not so; NULL: none */
  uint64_t states, transitions, pairs, forms;
  bool exhausted;   /* every state was looked at */
  bool interrupted; /* o->interrupted, before that */
} Verified;

/* `which` of REDUCE_*; the hooks of o->stepper are not used. Looks at no more than max_states (0: all),
 * until o->deadline_us, and until it is interrupted.
 * False and *error: the model cannot be built. */
bool reduce_verify(const SearchOptions *o, guint which, const Reduction *r, uint64_t max_states, Verified *v,
                   GError **error);
void verified_clear(Verified *v);
