/* client.c - a client runs its script. One entry is one step (ops.c); entries that nobody else can see (begin, loops,
 * cancels that stand beside their query) go with the next one. */
#include "model/pooler/ops.h"

static Client *client_of(World *w, ProcId self, void *locals, Pooler **p) {
  *p = world_data(w, self);
  return &(*p)->clients[*(uint32_t *)locals];
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

void client_server_gone(Pooler *p, guint server) {
  Client *c = &p->clients[(server - direct_server(p, 0)) / p->stride];
  if (c->stage == C_CONNECT || c->stage == C_RECONNECT) client_wake(p, c, 0);
}

bool client_rests(const Client *c) {
  return c->stage == C_OP || c->stage == C_PAUSE;
}

/* ---- the end of its script ---- */

/* Says goodbye on whatever is open. */
static Step end_of_script(Pooler *p, Client *c, ProcId self) {
  bool open = false;
  for (guint k = 0; k < p->stride; k++) {
    Session *e = client_session(p, c, (int)k);
    session_end(p, e, true);
    bool unread = e->flags & (SEF_ORPHAN | SEF_LEFT) || (e->flags & SEF_ENDS && e->state == CL_QUEUED);
    open |= e->state != CL_NONE && !unread;
  }
  if (open) return client_blocks(p, c, self, NO_LIMIT);
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
    if (!session_is_gone(e)) e->flags |= SEF_TRANSACTION;
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
  if (op_old_one_closes(p, c, 0)) return client_blocks(p, c, self, NO_LIMIT);
  c->stage = C_CONNECTED;
  if (session_new(p, client_id(p, c), 0) < 0) return c->stage = C_OP, c->flags |= CLF_FAILED, op_failed(p, c);
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
    if (client_session(p, c, 0)->state == CL_CONNECTING) return client_blocks(p, c, self, NO_LIMIT);
    c->stage = C_OP;
  }
  const Script *s = client_script(p, c);
  while (c->stage == C_OP && local_op(p, c, &s->ops[c->pc])) {
  }
  const Op *op = &s->ops[c->pc];
  switch (op->code) {
  case OP_CONNECT: return op_connect(p, c, op, self);
  case OP_QUERY: return op_query(p, c, op, self);
  case OP_COMMIT:
  case OP_ROLLBACK: return op_end(p, c, op, self);
  case OP_CANCEL: return op_cancel(p, c, op);
  case OP_AWAIT: return op_await(p, c, op, self);
  case OP_WAIT: return op_pause(p, c, op);
  case OP_DISCONNECT:
  case OP_VANISH: return op_leave(p, c, op);
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
