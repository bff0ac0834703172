/* request.h - the steps of a session from a client's request to its being forwarded. Private to session.c and
 * request.c.
 *
 * Each is a step of the session's process and says what it needs next; request_serve and those behind it answer the
 * client, forward the request to servers, or wait. */
#pragma once
#include "model/pooler/parts.h"

/* Where a session's process stands (Session.pc). */
enum { E_IDLE, E_REQUEST, E_WAITING, E_ASKED, E_GRANTED, E_WORKED, E_SPOTTED, E_TO_QUEUE };

Step request_none(Pooler *p, Session *e, ProcId self); /* until the client asks */
Step request_serve(Pooler *p, Session *e, ProcId self);
Step request_waited(Pooler *p, Session *e, ProcId self);         /* given a server, told to give up, or its limit */
Step request_take_spotted(Pooler *p, Session *e, ProcId self);   /* check_out: split, its second half */
Step request_stand_in_queue(Pooler *p, Session *e, ProcId self); /* wait: split, likewise */
Step request_work(Pooler *p, Session *e, ProcId self);           /* waits for a worker, works, serves */
void request_broken_off(Pooler *p, Session *e);
bool request_is_under_way(const Session *e); /* the pooler has not read it yet */
