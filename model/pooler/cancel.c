/* cancel.c - a cancel, stage by stage (poolers.md C.2); each stage is one step, and between two of them anything may
 * happen. Looked up, delivered and handled are the three instants that matter: a misroute is a connection that changed
 * hands between two of them, or two things with one identity. */
#include "model/pooler/cancel_stages.h"
#include "model/pooler/ops.h"

static Cancel *cancel_of(World *w, ProcId self, void *locals, Pooler **p) {
  *p = world_data(w, self);
  return &(*p)->cancels[*(uint32_t *)locals];
}

/* ---- sending ---- */

Cancel *cancel_free_entry(Pooler *p) {
  for (guint i = 0; i < p->n_cancels; i++)
    if (p->cancels[i].stage == X_NONE) return &p->cancels[i];
  return NULL;
}

Cancel *cancel_start(Pooler *p, guint client, guint session, guint query, const CancelDef *def) {
  Cancel *x = cancel_free_entry(p);
  Client *c = &p->clients[client];
  if (!x) return NULL;
  *x = (Cancel){
      .stage = X_SENT, .client = (uint16_t)client, .session = (uint16_t)(session + 1), .query = (uint16_t)query};
  if (def->when == CANCEL_AT) x->flags |= XF_AT;
  c->cancels++;
  int64_t ns = def->when == CANCEL_HERE ? 0 : draw_ns(p, &def->delay);
  x->proc = spawn_for(p, p->cancel_procs, cancel_id(p, x), ns);
  return x;
}

/* On their way, and their sender was not told that they are done. */
guint cancels_sent_by(const Pooler *p, guint client) {
  guint n = 0;
  for (guint i = 0; i < p->n_cancels; i++) {
    const Cancel *x = &p->cancels[i];
    n += x->stage > X_SENT && x->client == client && !(x->flags & XF_TOLD);
  }
  return n;
}

void cancels_of_query_sent(Pooler *p, Client *c, guint session, guint query) {
  const Script *s = client_script(p, c);
  guint client = (guint)(c - p->clients);
  for (int i = 0; i < s->n_cancels; i++)
    if (s->cancels[i].query == (int)query && s->cancels[i].when == CANCEL_AFTER)
      for (int n = 0; n < s->cancels[i].times; n++) cancel_start(p, client, session, query, &s->cancels[i]);
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->stage == X_SENT && x->client == client && x->query == query && x->flags & XF_AT) {
      x->session = (uint16_t)(session + 1);
      cancel_wake(p, x);
    }
  }
}

/* The query of this name is sent again: what was meant for the one before is late for this one. */
void cancels_mark_stale(Pooler *p, guint client, guint query) {
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->stage > X_SENT && x->client == client && x->query == query) x->flags |= XF_STALE;
  }
}

void cancel_wake(Pooler *p, Cancel *x) {
  if (!x->proc || !world_waits_on(p->w, x->proc)) return;
  timer_drop(p->w, x->proc);
  queue_wake_one(p->w, p->q_cancel[cancel_id(p, x)], 0);
}

Step cancel_waits(Pooler *p, const Cancel *x, ProcId self, int64_t limit_ns) {
  return wait_on(p, p->q_cancel[cancel_id(p, x)], self, true, limit_ns);
}

/* ---- the end ---- */

/* It counts the time of its query, which the end of a cancel does not stop. */
static bool counts_down(const Pooler *p, const Client *c) {
  const Script *s = client_script(p, c);
  const Op *op = &s->ops[c->pc];
  return c->stage == C_ANSWER && op->code == OP_QUERY && s->queries[op->index].deadline_ns >= 0;
}

/* Its sender is told that it is done: the socket is closed. */
void cancel_tell_sender(Pooler *p, Cancel *x) {
  if (x->flags & XF_TOLD) return;
  x->flags |= XF_TOLD;
  Client *c = &p->clients[x->client];
  g_assert(c->cancels > 0);
  if (--c->cancels == 0 && !counts_down(p, c)) client_wake(p, c, 0);
  measure_cancel_over(p, x);
}

/* The pooler's object of a cancel ends, and with it goes what is under its key: its client's entry (pgcat: Drop of
 * Client asks not which of the two it is). */
void cancel_forgets(Pooler *p, const Cancel *x) {
  if (!x->asked || x->pool == DIRECT || !pool_config(p, x->pool)->cancel_forgets) return;
  const Session *e = &p->sessions[x->asked - 1];
  if (e->state == CL_NONE || e->key_pid != x->key_pid || e->key_secret != x->key_secret) return;
  for (guint i = 0; i < HELD_MAX && e->held[i]; i++)
    taken_unmap(p, p->servers[e->held[i] - 1].pool, &p->servers[e->held[i] - 1], x->asked - 1u);
}

/* Where the end of a connection is not seen, its sender waits on. */
static bool deaf(const Pooler *p, const Cancel *x) {
  bool told = x->flags & XF_TOLD || x->stage == X_SENT || x->pool == DIRECT;
  return !told && link_fault(p, LINK_CANCEL_TO_POOLER, 0) == FAULT_NO_EOF;
}

Step cancel_finish(Pooler *p, Cancel *x) {
  bool waits_on = deaf(p, x);
  if (!(x->flags & XF_FORWARDED)) child_back(p, x);
  waits_on |= x->child;
  fence_over(p, x);
  carrier_done(p, x, true);
  if (!waits_on) cancel_tell_sender(p, x);
  x->proc = 0;
  x->stage = X_HANDLE;
  if (!x->signal && !waits_on && !fence_goes_on(p, x)) *x = (Cancel){0};
  return step_done();
}

/* What it was for may be over, or still under way to the server. */
void child_rested(Pooler *p, Cancel *x) {
  child_back(p, x);
  cancel_tell_sender(p, x);
  if (!x->proc && !x->signal && !fence_goes_on(p, x)) *x = (Cancel){0};
}

Step cancel_ends(Pooler *p, Cancel *x, Outcome o) {
  cancel_forgets(p, x);
  if (!(x->flags & XF_JUDGED)) outcome_keep(p, x, o, NULL);
  return cancel_finish(p, x);
}

/* ---- its first stage, and all of them ---- */

static Step sent(Pooler *p, Cancel *x, ProcId self) {
  Client *c = &p->clients[x->client];
  if (!(c->sent >> x->query & 1)) {
    if (!c->proc) return cancel_ends(p, x, OUT_UNSENT);
    return cancel_waits(p, x, self, NO_LIMIT);
  }
  const Session *e = &p->sessions[x->session - 1];
  if (e->state == CL_NONE || e->state == CL_CONNECTING) return cancel_ends(p, x, OUT_UNSENT);
  /* A driver with a fence knows what it is about to cancel: not what has been answered. */
  if (client_def(p, c)->fence.kind != FENCE_NONE && c->done >> x->query & 1) return cancel_ends(p, x, OUT_UNSENT);
  if (client_def(p, c)->fence.kind != FENCE_NONE) c->flags |= CLF_FENCE;
  x->key_pid = e->key_pid;
  x->key_secret = e->key_secret;
  measure_cancel_sent(p, x);
  said(p, self, party_client(x->client), party_cancel(p, x), "cancel %s", said_query(p, x->client, x->query));
  if (e->pool == DIRECT) {
    const Server *s = e->held[0] ? &p->servers[e->held[0] - 1] : NULL;
    x->pool = DIRECT;
    x->host = (uint16_t)client_def(p, c)->via_server;
    x->pid = s ? s->pid : x->key_pid;
    x->secret = x->key_secret;
    x->flags |= XF_BY_SECRET;
    x->stage = X_CONNECT;
    return step_ran();
  }
  LinkFault fault = link_fault(p, LINK_CANCEL_TO_POOLER, 0);
  x->stage = X_ACCEPT;
  if (fault == FAULT_SILENT) { /* nobody tells the client either */
    outcome_keep(p, x, OUT_LOST, NULL);
    x->stage = X_STUCK;
    return cancel_waits(p, x, self, NO_LIMIT);
  }
  bool fails = fault == FAULT_REFUSE || fault == FAULT_RESET;
  if (fails || link_loses(p, LINK_CANCEL_TO_POOLER, 0)) return cancel_ends(p, x, OUT_LOST);
  return wait_ns(link_connect(p, LINK_CANCEL_TO_POOLER, 0) + link_delay(p, LINK_CANCEL_TO_POOLER, 0));
}

static Step resume(World *w, ProcId self, void *locals) {
  Pooler *p;
  Cancel *x = cancel_of(w, self, locals, &p);
  switch ((CancelStage)x->stage) {
  case X_SENT: return sent(p, x, self);
  case X_ACCEPT: return cancel_accept(p, x);
  case X_AUTH: return cancel_authenticate(p, x);
  case X_LOOKUP:
  case X_FORWARD_LOOKUP: return cancel_look_up(p, x);
  case X_QUEUE: return cancel_queue(p, x, self);
  case X_PARKED: return cancel_parked(p, x, self);
  case X_CONNECT: return cancel_connect(p, x, self);
  case X_FORWARD: return cancel_forward(p, x);
  case X_DELIVER: return cancel_deliver(p, x, self);
  case X_MATCH: return cancel_match(p, x, self);
  case X_SIGNAL: return cancel_signal(p, x, self);
  case X_STUCK: return cancel_stuck(p, x);
  default:
    if (x->stage == X_EOF) said(p, self, (Party){PARTY_HOST, x->host}, party_cancel(p, x), "EOF");
    return cancel_next_pool(p, x);
  }
}

static const char *const names[X_COUNT] = {"none",   "send",    "accept",  "authenticate", "look up", "queue",
                                           "parked", "look up", "connect", "forward",      "deliver", "match",
                                           "signal", "EOF",     "stuck",   "handle"};
static const char *at(const World *w, const void *locals) {
  const Pooler *p = world_type_data(w, &cancel_type);
  return names[p->cancels[*(const uint32_t *)locals].stage];
}

static const char *limit(const World *w, ProcId self, const void *locals) {
  const Pooler *p = world_type_data(w, &cancel_type);
  const Cancel *x = &p->cancels[*(const uint32_t *)locals];
  (void)self;
  if (x->stage == X_PARKED)
    return pool_config(p, x->pool)->carrier == CARRIER_SEMAPHORE ? "queue_timeout" : "cancel_wait_timeout";
  return x->flags & XF_FORWARDED ? "ack" : "cancel_connect_timeout";
}

/* Which stages the policies know; a fault or a limit may bring the others to any scenario. */
static bool may_come(const Pooler *p, CancelStage stage) {
  bool queues = false, links = false;
  for (guint i = 0; i < p->n_pools; i++) {
    const PoolConfig *c = pool_config(p, i);
    queues |= c->carrier != CARRIER_UNLIMITED;
    links |= c->server_identity == IDENTITY_OBJECT_LINK || c->lookup == LOOKUP_ARRIVAL_LINK;
  }
  if (stage == X_QUEUE || stage == X_PARKED) return queues;
  return stage == X_FORWARD ? links : true;
}

static void stages(const World *w, void (*each)(const char *name, void *data), void *data) {
  const Pooler *p = world_type_data(w, &cancel_type);
  for (guint i = X_SENT; i < X_HANDLE && p->n_cancels; i++)
    if (may_come(p, (CancelStage)i)) each(names[i], data);
}

/* Its client sends it; from then on it is the pooler's, until a server has it. */
static bool at_once(const World *w, ProcId self, const void *locals) {
  const Pooler *p = world_type_data(w, &cancel_type);
  CancelStage stage = (CancelStage)p->cancels[*(const uint32_t *)locals].stage;
  (void)self;
  return stage != X_SENT && stage != X_MATCH && stage != X_SIGNAL;
}

const TypeGuide cancel_guide = {
    .limit = limit, .lane = cancel_lane, .stages = stages, .footprint = cancel_footprint, .at_once = at_once};

const ProcessType cancel_type = {"cancel", sizeof(uint32_t), resume, at};

/* ---- the signal, where it is not handled at once ---- */

static Step signal_resume(World *w, ProcId self, void *locals) {
  Pooler *p;
  Cancel *x = cancel_of(w, self, locals, &p);
  cancel_handle(p, x, false);
  x->signal = 0;
  if (!x->proc && !fence_goes_on(p, x)) *x = (Cancel){0};
  return step_done();
}

static const char *signal_at(const World *w, const void *locals) {
  (void)w, (void)locals;
  return "handle";
}

const TypeGuide signal_guide = {.lane = signal_lane};
const ProcessType signal_type = {"signal", sizeof(uint32_t), signal_resume, signal_at};
