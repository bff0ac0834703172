/* footprint.c - steps that are nobody's affair but their process's: what they write is touched by no other while the
 * process stands before them, so they may go first (checks/README.md, partial order). All other steps may touch
 * anything but that.
 *
 * Why each is one: a cancel's entry is its own but for bits that others set in its flags, and for whether there is one
 * at all. A connection that is being opened is known to nobody but its pool, which only counts it, and one whose query
 * runs is left alone until its reply, where there are no cancels, no events, and no client that does anything else
 * meanwhile. stampede check --verify-reductions tries all of it, in every state. */
#include "model/pooler/parts.h"
#include "model/world/explore.h"

/* ---- what may happen at all, by configuration ---- */

static bool attends(const ClientDef *d) {
  if (d->via_server >= 0) return false;
  for (int i = 0; i < d->script->n_queries; i++)
    if (d->script->queries[i].async || d->script->queries[i].deadline_ns >= 0) return false;
  return true;
}

void footprints_prepare(Pooler *p) {
  const PoolerConfig *c = config_of(p);
  p->calm = c->work.n_events == 0 && !p->timed;
  p->left_alone = p->calm && p->n_cancels == 0;
  for (int i = 0; i < c->work.n_clients; i++) p->left_alone = p->left_alone && attends(&c->work.clients[i]);
}

static void anything(Footprint *f) {
  footprint_everything(f);
  f->loops = true;
}

#define OWN(f, field) footprint_touches(f, TOUCH_OWN, &(field), sizeof(field))

/* ---- cancels ---- */

static LinkFault fault_to(const Pooler *p, guint host) {
  const LinkConfig *l = link_of(p, LINK_CANCEL_TO_SERVER, host);
  return l ? l->fault : FAULT_NONE;
}

static bool loses(const Pooler *p, guint host) {
  const LinkConfig *l = link_of(p, LINK_CANCEL_TO_SERVER, host);
  return l && l->loss > 0;
}

static bool connects_alone(const Pooler *p, const Cancel *x) {
  LinkFault fault = fault_to(p, x->host);
  if (fault == FAULT_REFUSE || fault == FAULT_SILENT) return false;
  if (x->pool == DIRECT) return true;
  const PoolConfig *c = pool_config(p, x->pool);
  if (c->fence == FENCE_GENERATION || c->cancel_to_first || c->n_servers > 1) return false;
  return !step_is(p, x->pool, POOLSTEP_CLOSE_CARRIER, DO_EARLY);
}

/* A carrier's turn, an answer that is not waited for, a limit: these are the pool's. */
static bool delivers_alone(const Pooler *p, const Cancel *x) {
  if (x->flags & XF_FORWARDED) return true;
  if (x->flags & XF_TURN || p->q_fence || fault_to(p, x->host) == FAULT_RESET || loses(p, x->host)) return false;
  return x->pool == DIRECT || pool_config(p, x->pool)->ack != ACK_NONE;
}

static bool goes_alone(const Pooler *p, const Cancel *x) {
  switch (x->stage) {
  case X_ACCEPT: return config_of(p)->processes == 1 && !child_is_needed(p, pool_of(p, 0, 0));
  case X_CONNECT: return connects_alone(p, x);
  case X_DELIVER: return delivers_alone(p, x);
  default: return false;
  }
}

void cancel_footprint(const World *w, ProcId self, const void *locals, Footprint *f) {
  const Pooler *p = world_type_data(w, &cancel_type);
  const Cancel *x = &p->cancels[*(const uint32_t *)locals];
  (void)self;
  if (!p->calm || !goes_alone(p, x)) return anything(f);
  OWN(f, x->stage);
  footprint_touches(f, TOUCH_BITS, &x->flags, sizeof x->flags);
}

/* ---- server connections ---- */

static bool opens_alone(const Pooler *p, const Server *s) {
  const LinkConfig *l = link_of(p, LINK_POOLER_TO_SERVER, s->host);
  return s->pool != DIRECT && !(s->flags & SVF_UNCOUNTED) && (!l || l->fault == FAULT_NONE);
}

/* The query of a client that waits for it; without a lock, and without cores to wait for. */
static bool runs_alone(const Pooler *p, const Server *s) {
  if (!s->owner || !s->backend || s->lock || s->core || s->pool == DIRECT || config_of(p)->servers[s->host].cores)
    return false;
  const QueryDef *q = session_query(p, &p->sessions[s->owner - 1]);
  return q && q->lock < 0 && s->state == SV_TAKEN;
}

void server_footprint(const World *w, ProcId self, const void *locals, Footprint *f) {
  const Pooler *p = world_type_data(w, &server_type);
  const Server *s = &p->servers[*(const uint32_t *)locals];
  bool runs = (s->pc == SP_START || s->pc == SP_END) && p->left_alone && runs_alone(p, s);
  if (!runs && !(s->pc == SP_CONNECT && p->calm && opens_alone(p, s))) return anything(f);
  OWN(f, s->pc);
  if (!runs) return;
  OWN(f, s->flags);
  OWN(f, s->tenancy);
  OWN(f, p->hosts[s->host]->backends[s->backend - 1]);
  if (world_waits_on(w, self)) footprint_object(f, w, world_waits_on(w, self), TOUCH_OWN);
}

/* ---- clients: they sleep ---- */

void client_footprint(const World *w, ProcId self, const void *locals, Footprint *f) {
  const Pooler *p = world_type_data(w, &client_type);
  const Client *c = &p->clients[*(const uint32_t *)locals];
  (void)self;
  if (!p->calm || client_script(p, c)->ops[c->pc].code != OP_WAIT || !client_rests(c)) return anything(f);
  OWN(f, c->stage);
  OWN(f, c->pc);
}

/* ---- what checks look at ---- */

void pooler_reads(const Pooler *p, bool runs, Footprint *f) {
  footprint_everything(f);
  for (int i = 0; runs && i < config_of(p)->n_servers; i++)
    footprint_reads(f, p->hosts[i], sizeof(PgHost) + p->hosts[i]->n * sizeof(PgBackend));
}
