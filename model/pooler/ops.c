/* ops.c - the entries of a script, each a step or several: connect, query, commit, await, wait, leave, cancel; and what
 * a driver does before a query, to be sure that no cancel of its own is still under way. */
#include "model/pooler/ops.h"

Step client_blocks(Pooler *p, Client *c, ProcId self, int64_t limit_ns) {
  return wait_on(p, p->q_client[client_id(p, c)], self, true, limit_ns);
}

/* A session without a pooler has one server connection; the next needs its place. */
bool op_old_one_closes(const Pooler *p, const Client *c, int k) {
  const Session *e = client_session(p, c, k);
  if (e->state != CL_NONE) return true;
  return client_def(p, c)->via_server >= 0 && p->servers[direct_server(p, session_id(p, e))].state != SV_FREE;
}

/* ---- before the next query: what the driver does to be sure ---- */

static void absorb(Pooler *p, const Session *e) {
  for (guint i = 0; i < HELD_MAX && e->held[i]; i++) cancels_handle_all(p, &p->servers[e->held[i] - 1], true);
}

/* True: it has to wait for something first. */
static bool fence_waits(Pooler *p, Client *c, Session *e, ProcId self, Step *step) {
  const ClientFence *f = &client_def(p, c)->fence;
  if (!(c->flags & CLF_FENCE) || f->kind == FENCE_NONE) return false;
  bool limit = timer_fired(p->w, self);
  if (f->kind == FENCE_WAIT) {
    c->flags &= (uint16_t)~CLF_FENCE;
    *step = step_sleep(MAX(f->limit_ns, 0));
    return true;
  }
  if (cancels_sent_by(p, client_id(p, c)) && !limit) {
    *step = client_blocks(p, c, self, f->limit_ns);
    return true;
  }
  bool seen = c->flags & CLF_CANCELLED;
  c->flags &= (uint16_t) ~(CLF_FENCE | CLF_CANCELLED);
  if (f->kind == FENCE_DRAIN) absorb(p, e);
  if (f->kind != FENCE_RETIRE || seen) return false;
  session_end(p, e, true);
  c->stage = C_RECONNECT;
  *step = client_blocks(p, c, self, NO_LIMIT);
  return true;
}

/* ---- entries ---- */

Step op_failed(Pooler *p, Client *c) {
  const ClientDef *d = client_def(p, c);
  c->stage = C_OP;
  c->flags &= (uint16_t) ~(CLF_FAILED | CLF_ENDED);
  if (d->after_error == AFTER_ERROR_STOP) c->pc = (uint16_t)(d->script->n_ops - 1);
  return step_ran();
}

static Step went(Client *c) {
  c->pc++;
  c->stage = C_OP;
  return step_ran();
}

static Step refused(Pooler *p, Client *c) {
  measure_refused(p, c);
  c->pc = (uint16_t)(client_script(p, c)->n_ops - 1);
  return op_failed(p, c);
}

Step op_connect(Pooler *p, Client *c, const Op *op, ProcId self) {
  Session *e = client_session(p, c, op->session);
  bool welcome = false;
  if (c->stage == C_OP) {
    int via = client_def(p, c)->via_server;
    LinkFault fault = via < 0 ? link_fault(p, LINK_CLIENT_TO_POOLER, 0) : FAULT_NONE;
    if (fault == FAULT_SILENT) return client_blocks(p, c, self, NO_LIMIT);
    if (fault == FAULT_REFUSE) return refused(p, c);
    int64_t ns = via < 0 ? link_connect(p, LINK_CLIENT_TO_POOLER, 0) : 0;
    c->stage = C_CONNECT;
    if (ns > 0) return step_sleep(ns);
  }
  if (c->stage == C_CONNECT) {
    if (e->flags & SEF_LEFT) session_close(p, e); /* its entry is needed; that it was there still, nobody sees */
    if (op_old_one_closes(p, c, op->session)) return client_blocks(p, c, self, NO_LIMIT);
    c->stage = C_CONNECTED;
    if (session_new(p, client_id(p, c), (guint)op->session) < 0) return refused(p, c);
    if (e->pool != DIRECT) said(p, self, party_client(client_id(p, c)), party_session(e), "connect");
    welcome = true; /* which it has not heard yet */
  }
  if (e->state == CL_CONNECTING) return client_blocks(p, c, self, NO_LIMIT);
  c->stage = C_OP;
  if (c->flags & CLF_FAILED) {
    c->pc++;
    return op_failed(p, c);
  }
  went(c);
  return welcome ? step_in_line() : step_ran();
}

static void on_deadline(Pooler *p, Client *c, Session *e, const QueryDef *q, guint query) {
  measure_deadline(p, c);
  if (q->on_deadline & ON_DEADLINE_CANCEL) {
    static const CancelDef at_once = {.when = CANCEL_HERE, .times = 1};
    cancel_start(p, client_id(p, c), session_id(p, e), query, &at_once);
  }
  if (q->on_deadline & ON_DEADLINE_DISCONNECT) session_end(p, e, false);
}

static Step answered(Pooler *p, Client *c, bool well) {
  bool reconnect = !well && client_def(p, c)->after_error == AFTER_ERROR_RECONNECT;
  if (!well && !reconnect) {
    c->pc++;
    return op_failed(p, c);
  }
  if (!reconnect) return went(c);
  c->stage = C_RECONNECT;
  c->pc++;
  return step_ran();
}

Step op_query(Pooler *p, Client *c, const Op *op, ProcId self) {
  Session *e = client_session(p, c, op->session);
  const QueryDef *q = &client_script(p, c)->queries[op->index];
  uint64_t bit = UINT64_C(1) << op->index;
  Step step;
  if (c->stage == C_OP) {
    if (fence_waits(p, c, e, self, &step)) return step;
    if (session_is_gone(e)) return answered(p, c, false);
    if (e->request != REQ_NONE) return client_blocks(p, c, self, NO_LIMIT); /* an earlier one is still under way */
    c->sent |= bit;
    c->done &= ~bit;
    c->flags &= (uint16_t) ~(CLF_FAILED | CLF_CANCELLED);
    cancels_mark_stale(p, client_id(p, c), (guint)op->index);
    e->query = (uint16_t)op->index;
    if (e->pool != DIRECT) said(p, self, party_client(client_id(p, c)), party_session(e), "%s", q->tag);
    if (e->pool != DIRECT && link_fault(p, LINK_CLIENT_TO_POOLER, 0) == FAULT_RESET) {
      measure_reset(p);
      session_end(p, e, false);
      return answered(p, c, false);
    }
    if (e->pool == DIRECT || link_fault(p, LINK_CLIENT_TO_POOLER, 0) != FAULT_SILENT)
      session_ask(p, e, REQ_QUERY, link_delay(p, LINK_CLIENT_TO_POOLER, 0));
    cancels_of_query_sent(p, c, session_id(p, e), (guint)op->index);
    if (q->async) return went(c);
    c->stage = C_ANSWER;
    return client_blocks(p, c, self, q->deadline_ns);
  }
  if (c->done & bit) return answered(p, c, !(c->flags & CLF_FAILED));
  if (session_is_gone(e)) return answered(p, c, false);
  if (c->stage == C_ANSWER && timer_fired(p->w, self)) {
    on_deadline(p, c, e, q, (guint)op->index);
    c->stage = C_LATE;
    if (!(q->on_deadline & ON_DEADLINE_WAIT)) return went(c);
  }
  return client_blocks(p, c, self, NO_LIMIT);
}

Step op_end(Pooler *p, Client *c, const Op *op, ProcId self) {
  Session *e = client_session(p, c, op->session);
  if (c->stage == C_OP) {
    if (session_is_gone(e)) return went(c);
    if (e->request != REQ_NONE) return client_blocks(p, c, self, NO_LIMIT);
    c->stage = C_ANSWER;
    c->flags &= (uint16_t)~CLF_ENDED;
    if (e->pool != DIRECT)
      said(p, self, party_client(client_id(p, c)), party_session(e), op->code == OP_COMMIT ? "commit" : "rollback");
    session_ask(p, e, REQ_END, link_delay(p, LINK_CLIENT_TO_POOLER, 0));
    return client_blocks(p, c, self, NO_LIMIT);
  }
  if (!(c->flags & CLF_ENDED) && e->state != CL_NONE) return client_blocks(p, c, self, NO_LIMIT);
  c->flags &= (uint16_t) ~(CLF_ENDED | CLF_FAILED);
  return went(c);
}

Step op_await(Pooler *p, Client *c, const Op *op, ProcId self) {
  uint64_t bit = UINT64_C(1) << op->index;
  const Session *e = client_session(p, c, 0);
  if (!(c->sent & bit) || c->done & bit || e->state == CL_NONE) return went(c);
  return client_blocks(p, c, self, NO_LIMIT);
}

Step op_pause(Pooler *p, Client *c, const Op *op) {
  if (c->stage == C_PAUSE) return went(c);
  c->stage = C_PAUSE;
  return step_sleep(MAX(draw_ns(p, &op->delay), 0));
}

Step op_leave(Pooler *p, Client *c, const Op *op) {
  session_end(p, client_session(p, c, op->session), op->code == OP_DISCONNECT);
  return went(c);
}

Step op_cancel(Pooler *p, Client *c, const Op *op) {
  const CancelDef *d = &client_script(p, c)->cancels[op->index];
  for (int i = 0; i < d->times; i++)
    cancel_start(p, client_id(p, c), session_id(p, client_session(p, c, op->session)), (guint)d->query, d);
  return went(c);
}
