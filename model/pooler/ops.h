/* ops.h - the entries of a client's script that take a step. Private to client.c and ops.c.
 *
 * Each is called until it says that the next entry is due (Client.pc has moved on); between its calls Client.stage says
 * how far it is. */
#pragma once
#include "model/pooler/parts.h"

enum { C_START, C_OP, C_CONNECT, C_CONNECTED, C_ANSWER, C_LATE, C_PAUSE, C_RECONNECT, C_WAIT_CONNECTED };

static inline guint client_id(const Pooler *p, const Client *c) {
  return (guint)(c - p->clients);
}
static inline Session *client_session(const Pooler *p, const Client *c, int k) {
  return &p->sessions[client_id(p, c) * p->stride + (guint)k];
}
static inline bool session_is_gone(const Session *e) {
  return e->state == CL_NONE || e->state == CL_GONE || e->flags & (SEF_ORPHAN | SEF_ENDS | SEF_LEFT);
}

Step client_blocks(Pooler *p, Client *c, ProcId self, int64_t limit_ns); /* until client_wake, or the limit */
bool op_old_one_closes(const Pooler *p, const Client *c, int k);         /* session k is there still */
Step op_failed(Pooler *p, Client *c);                                    /* `after_error` says what comes next */
Step op_connect(Pooler *p, Client *c, const Op *op, ProcId self);
Step op_query(Pooler *p, Client *c, const Op *op, ProcId self);
Step op_end(Pooler *p, Client *c, const Op *op, ProcId self); /* commit, rollback */
Step op_await(Pooler *p, Client *c, const Op *op, ProcId self);
Step op_pause(Pooler *p, Client *c, const Op *op);
Step op_leave(Pooler *p, Client *c, const Op *op);
Step op_cancel(Pooler *p, Client *c, const Op *op);
