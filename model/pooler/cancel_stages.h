/* cancel_stages.h - the stages of a cancel (tables.h, CancelStage), each one step of its process, and how they end.
 * Private to cancel.c, which has the list of them, cancel_route.c and cancel_carry.c. */
#pragma once
#include "model/pooler/parts.h"

/* ---- cancel.c ---- */
Cancel *cancel_free_entry(Pooler *p);                                         /* NULL: the table is full */
Step cancel_waits(Pooler *p, const Cancel *x, ProcId self, int64_t limit_ns); /* until cancel_wake, or the limit */
void cancel_tell_sender(Pooler *p, Cancel *x);                                /* its sender: that it is done */
void cancel_forgets(Pooler *p, const Cancel *x);                              /* the pooler is done with it */
Step cancel_finish(Pooler *p, Cancel *x);          /* the process ends; a signal may be due still */
Step cancel_ends(Pooler *p, Cancel *x, Outcome o); /* with this outcome, unless it has one */

/* ---- cancel_route.c: from the pooler's door to a carrier ---- */
Step cancel_accept(Pooler *p, Cancel *x);
Step cancel_authenticate(Pooler *p, Cancel *x);
Step cancel_look_up(Pooler *p, Cancel *x); /* at arrival, or when it is its turn */
Step cancel_queue(Pooler *p, Cancel *x, ProcId self);
Step cancel_parked(Pooler *p, Cancel *x, ProcId self);

/* ---- cancel_carry.c: from a carrier to the server's signal ---- */
Step cancel_connect(Pooler *p, Cancel *x, ProcId self);
Step cancel_forward(Pooler *p, Cancel *x);
Step cancel_deliver(Pooler *p, Cancel *x, ProcId self);
Step cancel_match(Pooler *p, Cancel *x, ProcId self);
Step cancel_signal(Pooler *p, Cancel *x, ProcId self);
Step cancel_stuck(Pooler *p, Cancel *x);
Step cancel_next_pool(Pooler *p, Cancel *x); /* all_nodes and all_pools go on; the others are done */
