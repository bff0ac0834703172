/* client.c - a client runs its script. One entry is one step; entries that nobody else can see (begin, loops, cancels
 * that stand beside their query) go with the next one. */
#include "model/pooler/parts.h"

enum { C_START, C_OP, C_CONNECT, C_CONNECTED, C_ANSWER, C_LATE, C_PAUSE, C_RECONNECT, C_WAIT_CONNECTED };

static Client *client_of(World *w, ProcId self, void *locals, Pooler **p) {
  *p = world_data(w, self);
  return &(*p)->clients[*(uint32_t *)locals];
}
static guint client_id(const Pooler *p, const Client *c) {
  return (guint)(c - p->clients);
}
static Session *client_session(const Pooler *p, const Client *c, int k) {
  return &p->sessions[client_id(p, c) * p->stride + (guint)k];
}

void client_start(Pooler *p, guint client, int64_t after_ns) {
  Client *c = &p->clients[client];
  g_assert(c->proc == 0);
  c->proc = spawn_for(p, p->client_procs, client, after_ns);
}

void client_wake(Pooler *p, Client *c, int64_t after_ns) {
  if (!c->proc) return;
  ObjectId on = world_waits_on(p->w, c->proc);
  if (!on) return;
  timer_drop(p->w, c->proc);
  queue_wake_one(p->w, on, after_ns);
}

static bool is_gone(const Session *e) {
  return e->state == CL_NONE || e->state == CL_GONE || e->flags & SEF_ORPHAN;
}

/* A session without a pooler has one server connection; the next needs its place. */
static bool old_one_closes(const Pooler *p, const Client *c, int k) {
  const Session *e = client_session(p, c, k);
  if (e->state != CL_NONE) return true;
  return client_def(p, c)->via_server >= 0 && p->servers[direct_server(p, session_id(p, e))].state != SV_FREE;
}

void client_server_gone(Pooler *p, guint server) {
  Client *c = &p->clients[(server - direct_server(p, 0)) / p->stride];
  if (c->stage == C_CONNECT || c->stage == C_RECONNECT) client_wake(p, c, 0);
}

static Step block(Pooler *p, Client *c, ProcId self, int64_t limit_ns) {
  return wait_on(p, p->q_client[client_id(p, c)], self, true, limit_ns);
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
    *step = block(p, c, self, f->limit_ns);
    return true;
  }
  bool seen = c->flags & CLF_CANCELLED;
  c->flags &= (uint16_t) ~(CLF_FENCE | CLF_CANCELLED);
  if (f->kind == FENCE_DRAIN) absorb(p, e);
  if (f->kind != FENCE_RETIRE || seen) return false;
  session_end(p, e, true);
  c->stage = C_RECONNECT;
  *step = block(p, c, self, NO_LIMIT);
  return true;
}

/* ---- entries ---- */

static Step failed(Pooler *p, Client *c) {
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
  return failed(p, c);
}

static Step connect_op(Pooler *p, Client *c, const Op *op, ProcId self) {
  Session *e = client_session(p, c, op->session);
  if (c->stage == C_OP) {
    int via = client_def(p, c)->via_server;
    LinkFault fault = via < 0 ? link_fault(p, LINK_CLIENT_TO_POOLER, 0) : FAULT_NONE;
    if (fault == FAULT_SILENT) return block(p, c, self, NO_LIMIT);
    if (fault == FAULT_REFUSE) return refused(p, c);
    int64_t ns = via < 0 ? link_connect(p, LINK_CLIENT_TO_POOLER, 0) : 0;
    c->stage = C_CONNECT;
    if (ns > 0) return step_sleep(ns);
  }
  if (c->stage == C_CONNECT) {
    if (old_one_closes(p, c, op->session)) return block(p, c, self, NO_LIMIT);
    c->stage = C_CONNECTED;
    if (session_new(p, client_id(p, c), (guint)op->session) < 0) return refused(p, c);
    if (e->pool != DIRECT) said(p, self, party_client(client_id(p, c)), party_session(e), "connect");
  }
  if (e->state == CL_CONNECTING) return block(p, c, self, NO_LIMIT);
  c->stage = C_OP;
  if (c->flags & CLF_FAILED) {
    c->pc++;
    return failed(p, c);
  }
  return went(c);
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
    return failed(p, c);
  }
  if (!reconnect) return went(c);
  c->stage = C_RECONNECT;
  c->pc++;
  return step_ran();
}

static Step query_op(Pooler *p, Client *c, const Op *op, ProcId self) {
  Session *e = client_session(p, c, op->session);
  const QueryDef *q = &client_script(p, c)->queries[op->index];
  uint64_t bit = UINT64_C(1) << op->index;
  Step step;
  if (c->stage == C_OP) {
    if (fence_waits(p, c, e, self, &step)) return step;
    if (is_gone(e)) return answered(p, c, false);
    if (e->request != REQ_NONE) return block(p, c, self, NO_LIMIT); /* an earlier one is still under way */
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
    return block(p, c, self, q->deadline_ns);
  }
  if (c->done & bit) return answered(p, c, !(c->flags & CLF_FAILED));
  if (is_gone(e)) return answered(p, c, false);
  if (c->stage == C_ANSWER && timer_fired(p->w, self)) {
    on_deadline(p, c, e, q, (guint)op->index);
    c->stage = C_LATE;
    if (!(q->on_deadline & ON_DEADLINE_WAIT)) return went(c);
  }
  return block(p, c, self, NO_LIMIT);
}

static Step end_op(Pooler *p, Client *c, const Op *op, ProcId self) {
  Session *e = client_session(p, c, op->session);
  if (c->stage == C_OP) {
    if (is_gone(e)) return went(c);
    if (e->request != REQ_NONE) return block(p, c, self, NO_LIMIT);
    c->stage = C_ANSWER;
    c->flags &= (uint16_t)~CLF_ENDED;
    if (e->pool != DIRECT)
      said(p, self, party_client(client_id(p, c)), party_session(e), op->code == OP_COMMIT ? "commit" : "rollback");
    session_ask(p, e, REQ_END, link_delay(p, LINK_CLIENT_TO_POOLER, 0));
    return block(p, c, self, NO_LIMIT);
  }
  if (!(c->flags & CLF_ENDED) && e->state != CL_NONE) return block(p, c, self, NO_LIMIT);
  c->flags &= (uint16_t) ~(CLF_ENDED | CLF_FAILED);
  return went(c);
}

static Step await_op(Pooler *p, Client *c, const Op *op, ProcId self) {
  uint64_t bit = UINT64_C(1) << op->index;
  const Session *e = client_session(p, c, 0);
  if (!(c->sent & bit) || c->done & bit || e->state == CL_NONE) return went(c);
  return block(p, c, self, NO_LIMIT);
}

bool client_rests(const Client *c) {
  return c->stage == C_OP || c->stage == C_PAUSE;
}

static Step pause_op(Pooler *p, Client *c, const Op *op) {
  if (c->stage == C_PAUSE) return went(c);
  c->stage = C_PAUSE;
  return step_sleep(MAX(draw_ns(p, &op->delay), 0));
}

static Step leave_op(Pooler *p, Client *c, const Op *op) {
  session_end(p, client_session(p, c, op->session), op->code == OP_DISCONNECT);
  return went(c);
}

static Step cancel_op(Pooler *p, Client *c, const Op *op) {
  const CancelDef *d = &client_script(p, c)->cancels[op->index];
  for (int i = 0; i < d->times; i++)
    cancel_start(p, client_id(p, c), session_id(p, client_session(p, c, op->session)), (guint)d->query, d);
  return went(c);
}

/* Says goodbye on whatever is open. */
static Step end_of_script(Pooler *p, Client *c, ProcId self) {
  bool open = false;
  for (guint k = 0; k < p->stride; k++) {
    Session *e = client_session(p, c, (int)k);
    session_end(p, e, true);
    open |= e->state != CL_NONE && !(e->flags & SEF_ORPHAN);
  }
  if (open) return block(p, c, self, NO_LIMIT);
  g_assert(p->shared->clients_left > 0);
  p->shared->clients_left--;
  Client old = *c;
  *c = (Client){
      .def = old.def, .copy = old.copy, .flags = CLF_OVER, .sent = old.sent, .done = old.done, .cancels = old.cancels};
  if (p->shared->clients_left == 0) watches_end(p);
  return step_done();
}

/* ---- local entries: no step of their own ---- */

static bool loop_ends(const Pooler *p, const Client *c, const Op *op) {
  if (op->moment >= 0) return p->shared->moments >> op->moment & 1;
  return c->loops[c->depth - 1] >= op->times;
}

static bool local_op(Pooler *p, Client *c, const Op *op) {
  switch (op->code) {
  case OP_BEGIN: {
    Session *e = client_session(p, c, op->session);
    if (!is_gone(e)) e->flags |= SEF_TRANSACTION;
    c->pc++;
    return true;
  }
  case OP_CANCEL:
    if (client_script(p, c)->cancels[op->index].when == CANCEL_HERE) return false;
    c->pc++;
    return true;
  case OP_LOOP:
    g_assert(c->depth < LOOPS_MAX);
    c->loops[c->depth++] = 0;
    c->pc++;
    if (!loop_ends(p, c, op)) return true;
    c->depth--;
    c->pc = (uint16_t)(op->target + 1);
    return true;
  case OP_END_LOOP: {
    const Op *head = &client_script(p, c)->ops[op->target];
    if (head->moment < 0) c->loops[c->depth - 1]++;
    if (!loop_ends(p, c, head)) return c->pc = (uint16_t)(op->target + 1), true;
    c->loops[--c->depth] = 0;
    c->pc++;
    return true;
  }
  default: return false;
  }
}

static Step reconnect(Pooler *p, Client *c, ProcId self) {
  session_end(p, client_session(p, c, 0), true);
  if (old_one_closes(p, c, 0)) return block(p, c, self, NO_LIMIT);
  c->stage = C_CONNECTED;
  if (session_new(p, client_id(p, c), 0) < 0) return c->stage = C_OP, c->flags |= CLF_FAILED, failed(p, c);
  c->stage = C_WAIT_CONNECTED;
  return step_ran();
}

/* Those that are sent at a moment of the scenario. */
static void cancels_at(Pooler *p, Client *c, int64_t since_ns) {
  const Script *s = client_script(p, c);
  for (int i = 0; i < s->n_cancels; i++) {
    CancelDef d = s->cancels[i];
    if (d.when != CANCEL_AT) continue;
    if (d.delay.kind == DELAY_FIXED) d.delay.low = d.delay.high = MAX(d.delay.low - since_ns, 0);
    for (int n = 0; n < d.times; n++) cancel_start(p, client_id(p, c), client_id(p, c) * p->stride, (guint)d.query, &d);
  }
}

/* `at` counts from the scenario's start. What begins after a drawn time has its cancels set at once (client_drawn);
 * copies that arrive count from their arrival, as they know no other. */
static bool counts_from_begin(const ClientDef *d) {
  return d->n_arrive > 0 || d->start.kind == DELAY_FIXED;
}

void client_drawn(Pooler *p, guint client) {
  if (!counts_from_begin(client_def(p, &p->clients[client]))) cancels_at(p, &p->clients[client], 0);
}

static void begin(Pooler *p, Client *c) {
  const ClientDef *d = client_def(p, c);
  c->stage = C_OP;
  if (counts_from_begin(d)) cancels_at(p, c, d->n_arrive ? 0 : d->start.low);
}

static Step resume(World *w, ProcId self, void *locals) {
  Pooler *p;
  Client *c = client_of(w, self, locals, &p);
  if (c->stage == C_START) begin(p, c);
  if (c->stage == C_RECONNECT) return reconnect(p, c, self);
  if (c->stage == C_WAIT_CONNECTED) {
    if (client_session(p, c, 0)->state == CL_CONNECTING) return block(p, c, self, NO_LIMIT);
    c->stage = C_OP;
  }
  const Script *s = client_script(p, c);
  while (c->stage == C_OP && local_op(p, c, &s->ops[c->pc])) {
  }
  const Op *op = &s->ops[c->pc];
  switch (op->code) {
  case OP_CONNECT: return connect_op(p, c, op, self);
  case OP_QUERY: return query_op(p, c, op, self);
  case OP_COMMIT:
  case OP_ROLLBACK: return end_op(p, c, op, self);
  case OP_CANCEL: return cancel_op(p, c, op);
  case OP_AWAIT: return await_op(p, c, op, self);
  case OP_WAIT: return pause_op(p, c, op);
  case OP_DISCONNECT:
  case OP_VANISH: return leave_op(p, c, op);
  default: return end_of_script(p, c, self);
  }
}

static const char *const names[] = {"connect", "begin",      "commit", "rollback", "query",       "cancel", "await",
                                    "wait",    "disconnect", "vanish", "loop",     "end of loop", "end"};
static const char *at(const World *w, const void *locals) {
  const Pooler *p = world_type_data(w, &client_type);
  const Client *c = &p->clients[*(const uint32_t *)locals];
  return names[client_script(p, c)->ops[c->pc].code];
}

static const char *limit(const World *w, ProcId self, const void *locals) {
  const Pooler *p = world_type_data(w, &client_type);
  (void)self;
  return p->clients[*(const uint32_t *)locals].stage == C_ANSWER ? "deadline" : "fence";
}

/* Only what is in a script: begin and loops are no steps of their own, but give their name to the one they open. */
static void stages(const World *w, void (*each)(const char *name, void *data), void *data) {
  const Pooler *p = world_type_data(w, &client_type);
  for (guint code = 0; code < G_N_ELEMENTS(names); code++) {
    bool is_there = false;
    for (guint i = 0; i < p->n_clients && !is_there; i++) {
      const Script *s = client_script(p, &p->clients[i]);
      for (int k = 0; k < s->n_ops; k++) is_there |= s->ops[k].code == code;
    }
    if (is_there) each(names[code], data);
  }
}

const TypeGuide client_guide = {.limit = limit, .lane = client_lane, .stages = stages, .footprint = client_footprint};

const ProcessType client_type = {"client", sizeof(uint32_t), resume, at};
