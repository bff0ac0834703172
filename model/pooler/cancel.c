/* cancel.c - a cancel, stage by stage (poolers.md C.2); each stage is one step, and between two of them anything may
 * happen. Looked up, delivered and handled are the three instants that matter: a misroute is a connection that changed
 * hands between two of them, or two things with one identity. */
#include "model/pooler/state.h"

static Cancel *cancel_of(World *w, ProcId self, void *locals, Pooler **p) {
  *p = world_data(w, self);
  return &(*p)->cancels[*(uint32_t *)locals];
}

/* ---- sending ---- */

static Cancel *free_cancel(Pooler *p) {
  for (guint i = 0; i < p->n_cancels; i++)
    if (p->cancels[i].stage == X_NONE) return &p->cancels[i];
  return NULL;
}

Cancel *cancel_start(Pooler *p, guint client, guint session, guint query, const CancelDef *def) {
  Cancel *x = free_cancel(p);
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

static Step wait_here(Pooler *p, const Cancel *x, ProcId self, int64_t limit_ns) {
  return wait_on(p, p->q_cancel[cancel_id(p, x)], self, true, limit_ns);
}

/* ---- the end ---- */

/* Its sender is told that it is done: the socket is closed. */
static void cancel_told(Pooler *p, Cancel *x) {
  if (x->flags & XF_TOLD) return;
  x->flags |= XF_TOLD;
  Client *c = &p->clients[x->client];
  g_assert(c->cancels > 0);
  if (--c->cancels == 0) client_wake(p, c, 0);
  measure_cancel_over(p, x);
}

/* Where the end of a connection is not seen, its sender waits on. */
static bool deaf(const Pooler *p, const Cancel *x) {
  bool told = x->flags & XF_TOLD || x->stage == X_SENT || x->pool == DIRECT;
  return !told && link_fault(p, LINK_CANCEL_TO_POOLER, 0) == FAULT_NO_EOF;
}

static Step finish(Pooler *p, Cancel *x) {
  bool waits_on = deaf(p, x);
  fence_over(p, x);
  carrier_done(p, x, true);
  if (!waits_on) cancel_told(p, x);
  x->proc = 0;
  x->stage = X_HANDLE;
  if (!x->signal && !waits_on && !fence_goes_on(p, x)) *x = (Cancel){0};
  return step_done();
}

static Step ends(Pooler *p, Cancel *x, Outcome o) {
  if (!(x->flags & XF_JUDGED)) outcome_keep(p, x, o, NULL);
  return finish(p, x);
}

/* Nothing to cancel, as far as the pooler can see. It is wrong when the query runs or waits to: then it is lost. */
static Outcome dropped(const Pooler *p, const Cancel *x) {
  const Session *e = x->session ? &p->sessions[x->session - 1] : NULL;
  if (!e || e->state != CL_RUNNING || e->client != x->client || e->query != x->query || x->flags & XF_STALE)
    return OUT_DROPPED;
  for (guint i = 0; i < HELD_MAX && e->held[i]; i++) {
    const PgBackend *b = server_backend(p, &p->servers[e->held[i] - 1]);
    if (b && b->runs == RUNS_QUERY) return OUT_LOST;
  }
  return OUT_DROPPED;
}

/* ---- stages ---- */

static Step sent(Pooler *p, Cancel *x, ProcId self) {
  Client *c = &p->clients[x->client];
  if (!(c->sent >> x->query & 1)) {
    if (!c->proc) return ends(p, x, OUT_UNSENT);
    return wait_here(p, x, self, NO_LIMIT);
  }
  const Session *e = &p->sessions[x->session - 1];
  if (e->state == CL_NONE || e->state == CL_CONNECTING) return ends(p, x, OUT_UNSENT);
  /* A driver with a fence knows what it is about to cancel: not what has been answered. */
  if (client_def(p, c)->fence.kind != FENCE_NONE && c->done >> x->query & 1) return ends(p, x, OUT_UNSENT);
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
    return wait_here(p, x, self, NO_LIMIT);
  }
  bool fails = fault == FAULT_REFUSE || fault == FAULT_RESET;
  if (fails || link_loses(p, LINK_CANCEL_TO_POOLER, 0)) return ends(p, x, OUT_LOST);
  return wait_ns(link_connect(p, LINK_CANCEL_TO_POOLER, 0) + link_delay(p, LINK_CANCEL_TO_POOLER, 0));
}

static Step accept_it(Pooler *p, Cancel *x) {
  const PoolerConfig *c = config_of(p);
  guint i = 0;
  if (c->processes > 1 && c->balance != BALANCE_FIRST)
    i = c->balance == BALANCE_RANDOM ? (guint)world_choose(p->w, p->ch_process, (uint64_t)c->processes)
                                     : (guint)(p->shared->next_process++ % c->processes);
  p->shared->next_process = (uint16_t)(p->shared->next_process % c->processes);
  x->process = (uint16_t)i;
  x->stage = X_AUTH;
  said(p, x->proc, party_cancel(p, x), (Party){PARTY_POOLER, i}, "CancelRequest");
  if (p->processes[i].flags) return ends(p, x, OUT_LOST);
  return step_ran();
}

/* What becomes of a client's cancel while its query is queued. */
static bool dequeued(Pooler *p, Session *e) {
  if (e->state != CL_QUEUED || !e->wants || e->mailbox) return false;
  if (pool_config(p, e->wants - 1u)->queued_client != QUEUED_DEQUEUE) return false;
  e->flags |= SEF_DEQUEUED;
  pool_dequeue(p, e);
  session_wake(p, e, 0);
  return true;
}

static Step authenticate(Pooler *p, Cancel *x) {
  enum { HOPS_MAX = 3 };
  int found = client_key_find(p, x->process, x->key_pid, x->key_secret);
  if (config_of(p)->client_identity == CLIENT_REAL_KEY) {
    x->stage = X_LOOKUP;
    return step_ran();
  }
  if (found < 0) {
    int owner = client_key_process(p, x);
    if (owner >= 0 && x->hops < HOPS_MAX) {
      x->hops++;
      x->process = (uint16_t)owner;
      return wait_ns(link_delay(p, LINK_CANCEL_TO_POOLER, 0));
    }
    bool elsewhere = x->session && p->sessions[x->session - 1].key_secret == x->key_secret;
    return ends(p, x, elsewhere ? OUT_LOST : OUT_DROPPED);
  }
  Session *e = &p->sessions[found];
  x->asked = (uint16_t)(found + 1);
  if (dequeued(p, e)) return ends(p, x, e->client == x->client && !(x->flags & XF_STALE) ? OUT_HIT : OUT_MISROUTE);
  x->stage = X_LOOKUP;
  return step_ran();
}

static guint first_pool(const Pooler *p, const Cancel *x) {
  return pool_of(p, x->process, 0);
}

/* The next pool, from x->cursor on, where there is something to cancel. */
static LookedUp look(Pooler *p, Cancel *x) {
  for (; x->cursor < p->pools_each; x->cursor++) {
    LookedUp l = lookup_server(p, x, first_pool(p, x) + x->cursor);
    if (l != LOOKED_NOTHING) return l;
  }
  return LOOKED_NOTHING;
}

static Step to_carrier(Pooler *p, Cancel *x) {
  const PoolConfig *c = pool_config(p, x->pool);
  x->stage = c->carrier == CARRIER_UNLIMITED ? X_CONNECT : X_QUEUE;
  if (step_is(p, x->pool, POOLSTEP_CARRIER, DO_SKIP)) return ends(p, x, OUT_LOST);
  int64_t grace = c->fence == FENCE_RETIRE && !(x->flags & XF_TURN) ? MAX(c->fence_ns, 0) : 0;
  return wait_ns(grace + step_late(p, x->pool, POOLSTEP_CARRIER));
}

static Step look_up(Pooler *p, Cancel *x) {
  const PoolConfig *c = pool_config(p, first_pool(p, x) + MIN(x->cursor, p->pools_each - 1));
  if (c->lookup == LOOKUP_FORWARD && x->stage == X_LOOKUP && c->carrier != CARRIER_UNLIMITED) {
    x->pool = (uint16_t)(first_pool(p, x) + x->cursor);
    x->stage = X_QUEUE;
    return step_ran();
  }
  switch (look(p, x)) {
  case LOOKED_UP: said_pid(p, x->proc, x->pid); break;
  case LOOKED_AMISS: return ends(p, x, OUT_DROPPED);
  default: return ends(p, x, x->flags & XF_JUDGED ? OUT_DROPPED : dropped(p, x));
  }
  if (x->stage == X_FORWARD_LOOKUP) {
    x->stage = X_CONNECT;
    return step_ran();
  }
  return to_carrier(p, x);
}

static Step queue_up(Pooler *p, Cancel *x, ProcId self) {
  const PoolConfig *c = pool_config(p, x->pool);
  x->stage = X_PARKED;
  if (carrier_turn(p, x)) return step_ran();
  int64_t limit = c->carrier == CARRIER_SEMAPHORE ? c->carrier_queue_ns : c->cancel_wait_timeout_ns;
  return wait_here(p, x, self, limit);
}

static Step parked(Pooler *p, Cancel *x) {
  if (!(x->flags & XF_TURN)) { /* its time is over, or its link is gone */
    carrier_leave(p, x);
    return ends(p, x, OUT_DROPPED);
  }
  x->stage = pool_config(p, x->pool)->lookup == LOOKUP_FORWARD && !(x->flags & XF_FENCE) ? X_FORWARD_LOOKUP : X_CONNECT;
  return step_ran();
}

static LinkFault fault_to(const Pooler *p, const Cancel *x) {
  return link_fault(p, LINK_CANCEL_TO_SERVER, x->host);
}

/* One address may hide several postmasters: the carrier reaches the one that the balancer picks. */
static void pick_host(Pooler *p, Cancel *x) {
  if (x->pool != DIRECT && pool_config(p, x->pool)->cancel_to_first) {
    x->host = 0;
    return;
  }
  if (x->pool == DIRECT) return;
  const PoolConfig *c = pool_config(p, x->pool);
  if (c->n_servers < 2) return;
  guint i = 0;
  if (c->balance == BALANCE_RANDOM) i = (guint)world_choose(p->w, p->ch_host, c->n_servers);
  if (c->balance == BALANCE_ROUND_ROBIN) i = (guint)pool_at(p, x->pool)->next_host++ % c->n_servers;
  pool_at(p, x->pool)->next_host = (uint16_t)(pool_at(p, x->pool)->next_host % c->n_servers);
  x->host = c->servers[i];
}

static Step next_pool(Pooler *p, Cancel *x);

static Step carrier_failed(Pooler *p, Cancel *x) {
  Fanout f = config_of(p)->fanout;
  bool more = x->pool != DIRECT && (f == FANOUT_ALL || f == FANOUT_ALL_NODES);
  if (x->pool != DIRECT) pool_at(p, x->pool)->flags |= PLF_FAILED;
  if (!more) return ends(p, x, OUT_LOST);
  return next_pool(p, x);
}

/* carrier: twice. Another one carries the same key; nobody knows of it but the two servers. */
static void twin(Pooler *p, const Cancel *x) {
  Cancel *y = x->flags & XF_TWIN ? NULL : free_cancel(p);
  if (!y) return;
  *y = *x;
  y->stage = X_DELIVER;
  y->flags = (uint16_t)((x->flags & (XF_STALE | XF_BY_SECRET)) | XF_TWIN | XF_TOLD | XF_CARRIER);
  y->server = 0;
  measure_carrier(p, y->pool, 1);
  y->proc = spawn_for(p, p->cancel_procs, cancel_id(p, y), link_connect(p, LINK_CANCEL_TO_SERVER, x->host));
}

static Step connect_it(Pooler *p, Cancel *x, ProcId self) {
  if (x->pool != DIRECT && !fence_passes(p, x)) return ends(p, x, OUT_DROPPED);
  if (!(x->flags & XF_CARRIER)) measure_carrier(p, x->pool, 1);
  x->flags |= XF_CARRIER;
  if (step_is(p, x->pool, POOLSTEP_CLOSE_CARRIER, DO_EARLY)) { /* an EOF that lies: it has not been forwarded yet */
    fence_over(p, x);
    cancel_told(p, x);
  }
  if (step_is(p, x->pool, POOLSTEP_CARRIER, DO_TWICE)) twin(p, x);
  pick_host(p, x);
  LinkFault fault = fault_to(p, x);
  if (fault == FAULT_REFUSE || p->hosts[x->host]->down) return carrier_failed(p, x);
  bool link = x->flags & XF_LINKED;
  x->stage = link ? X_FORWARD : X_DELIVER;
  if (fault == FAULT_SILENT) {
    x->stage = X_STUCK;
    return wait_here(p, x, self, x->pool == DIRECT ? NO_LIMIT : pool_config(p, x->pool)->cancel_connect_timeout_ns);
  }
  return wait_ns(link_connect(p, LINK_CANCEL_TO_SERVER, x->host));
}

static Step forward(Pooler *p, Cancel *x) {
  if (!lookup_key(p, x)) {
    carrier_connected(p, x);
    x->flags |= XF_FORWARDED;
    return ends(p, x, OUT_DROPPED);
  }
  fence_forwarded(p, x, &p->servers[x->server - 1]);
  x->stage = X_DELIVER;
  return step_ran();
}

/* Whichever of the pooler's limits comes first ends the waiting for an EOF. */
static int64_t eof_limit(const Pooler *p, const Cancel *x) {
  const PoolConfig *c = pool_config(p, x->pool);
  int64_t hold = c->fence == FENCE_HOLD_TIMEOUT ? c->fence_ns : NO_LIMIT;
  if (hold < 0 || c->ack_ns < 0) return MAX(hold, c->ack_ns);
  return MIN(hold, c->ack_ns);
}

/* Written; under way. With fire_and_forget the pooler is done with it. */
static Step deliver(Pooler *p, Cancel *x, ProcId self) {
  if (!(x->flags & XF_FORWARDED)) {
    x->flags |= XF_FORWARDED;
    carrier_connected(p, x);
    if (!(x->flags & XF_TWIN)) measure_cancel_forwarded(p, x);
    said(p, self, party_cancel(p, x), (Party){PARTY_HOST, x->host}, "CancelRequest for pid %u", x->pid);
    fence_limit(p, x);
    if (x->pool != DIRECT && pool_config(p, x->pool)->ack == ACK_NONE) {
      fence_over(p, x);
      cancel_told(p, x);
    }
    if (fault_to(p, x) == FAULT_RESET || link_loses(p, LINK_CANCEL_TO_SERVER, x->host)) {
      outcome_keep(p, x, OUT_LOST, NULL);
      x->stage = fault_to(p, x) == FAULT_RESET ? X_EOF : X_STUCK;
      return x->stage == X_EOF ? step_ran() : wait_here(p, x, self, x->pool == DIRECT ? NO_LIMIT : eof_limit(p, x));
    }
    int64_t ns = link_delay(p, LINK_CANCEL_TO_SERVER, x->host);
    if (ns > 0) return step_sleep(ns);
  }
  x->stage = X_MATCH;
  return step_ran();
}

/* The server's child finds the backend by pid, and its key; what it keeps of it is the pid. */
/* The server closes; when the pooler sees that. */
static Step eof(Pooler *p, Cancel *x, ProcId self) {
  bool unseen = fault_to(p, x) == FAULT_NO_EOF || step_is(p, x->pool, POOLSTEP_CLOSE_CARRIER, DO_SKIP);
  x->stage = unseen ? X_STUCK : X_EOF;
  if (unseen) return wait_here(p, x, self, x->pool == DIRECT ? NO_LIMIT : eof_limit(p, x));
  int64_t late = step_late(p, x->pool, POOLSTEP_CLOSE_CARRIER);
  return wait_ns(link_delay(p, LINK_CANCEL_TO_SERVER, x->host) + late);
}

static Step match(Pooler *p, Cancel *x, ProcId self) {
  PgHost *h = p->hosts[x->host];
  int b = h->down ? -1 : host_match(h, x->pid, x->secret, x->flags & XF_BY_SECRET);
  if (b < 0) {
    if (!(x->flags & XF_JUDGED))
      outcome_keep(p, x, OUT_LOST, NULL); /* logged by the server: wrong key, or no such pid */
    x->stage = X_EOF;
    return eof(p, x, self);
  }
  x->stage = X_SIGNAL;
  return step_ran();
}

static int64_t handled_after(Pooler *p, const ServerConfig *s) {
  if (s->signal != SIGNAL_BOUNDED || !p->timed) return MAX(s->signal_ns, 0);
  return (int64_t)world_choose(p->w, p->ch_signal, (uint64_t)s->signal_ns + 1);
}

static Step signal_it(Pooler *p, Cancel *x, ProcId self) {
  int b = host_signal(p->hosts[x->host], x->pid);
  x->stage = X_EOF;
  if (b < 0) {
    outcome_keep(p, x, OUT_LOST, NULL);
  } else {
    x->backend = (uint16_t)(b + 1);
    x->flags |= XF_SIGNALLED;
    uint16_t conn = p->hosts[x->host]->backends[b].conn;
    if (conn) said(p, self, (Party){PARTY_HOST, x->host}, (Party){PARTY_SERVER, conn - 1u}, "SIGINT to pid %u", x->pid);
    const ServerConfig *s = &config_of(p)->servers[x->host];
    if (s->signal == SIGNAL_PROMPT) {
      cancel_handle(p, x, false);
    } else {
      x->signal = spawn_for(p, p->signal_procs, cancel_id(p, x), handled_after(p, s));
    }
  }
  return eof(p, x, self);
}

static void next_from(Cancel *x) {
  x->flags &= (uint16_t) ~(XF_FORWARDED | XF_TURN | XF_LINKED | XF_UNLINKED | XF_CARRIER | XF_SIGNALLED | XF_HANDLED);
  x->server = x->backend = 0;
  x->cursor++;
  x->stage = X_LOOKUP;
}

static void go_on_as_another(Pooler *p, Cancel *x) {
  Cancel *y = free_cancel(p);
  if (!y) return;
  *y = *x;
  y->signal = 0;
  next_from(y);
  x->flags |= XF_TOLD; /* its sender is told when the other one is done */
  measure_cancel_goes_on(p, x, y);
  int64_t gap = config_of(p)->fanout == FANOUT_ALL_NODES ? config_of(p)->node_gap_ns : 0;
  y->proc = spawn_for(p, p->cancel_procs, cancel_id(p, y), gap);
}

/* all_nodes and all_pools go on to what else the client holds; the others are done. */
static Step next_pool(Pooler *p, Cancel *x) {
  Fanout f = config_of(p)->fanout;
  bool failed = x->pool != DIRECT && fault_to(p, x) == FAULT_RESET; /* what was written came back as an error */
  fence_over(p, x);
  carrier_done(p, x, true);
  if (f == FANOUT_ALL_STOP && failed) return finish(p, x);
  if (f == FANOUT_FIRST || x->flags & XF_TWIN || x->pool == DIRECT || x->cursor + 1u >= p->pools_each)
    return finish(p, x);
  if (x->signal) { /* it waits for its signal; another one goes on */
    go_on_as_another(p, x);
    return finish(p, x);
  }
  next_from(x);
  return wait_ns(f == FANOUT_ALL_NODES ? config_of(p)->node_gap_ns : 0);
}

static Step stuck(Pooler *p, Cancel *x) {
  if (x->flags & XF_SIGNALLED || x->flags & XF_JUDGED) return next_pool(p, x);
  return carrier_failed(p, x);
}

static Step resume(World *w, ProcId self, void *locals) {
  Pooler *p;
  Cancel *x = cancel_of(w, self, locals, &p);
  switch ((CancelStage)x->stage) {
  case X_SENT: return sent(p, x, self);
  case X_ACCEPT: return accept_it(p, x);
  case X_AUTH: return authenticate(p, x);
  case X_LOOKUP:
  case X_FORWARD_LOOKUP: return look_up(p, x);
  case X_QUEUE: return queue_up(p, x, self);
  case X_PARKED: return parked(p, x);
  case X_CONNECT: return connect_it(p, x, self);
  case X_FORWARD: return forward(p, x);
  case X_DELIVER: return deliver(p, x, self);
  case X_MATCH: return match(p, x, self);
  case X_SIGNAL: return signal_it(p, x, self);
  case X_STUCK: return stuck(p, x);
  default:
    if (x->stage == X_EOF) said(p, self, (Party){PARTY_HOST, x->host}, party_cancel(p, x), "EOF");
    return next_pool(p, x);
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

const TypeGuide cancel_guide = {.limit = limit, .lane = cancel_lane, .stages = stages, .footprint = cancel_footprint};

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
