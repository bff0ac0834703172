/* environment.c - what the world does to servers and poolers: the scenario's events, by time or when something is seen
 * to be so; and the moments at which loops end. */
#include "model/pooler/parts.h"

typedef struct {
  uint32_t event, stage;
} EventProcess;
enum { EV_WAIT, EV_ACT, EV_AFTER, EV_UNDO };

static const EventDef *event_of(const Pooler *p, guint event) {
  return &config_of(p)->work.events[event];
}

/* ---- who is meant ---- */

static bool client_meant(const Pooler *p, guint client, const Path *at) {
  const Client *c = &p->clients[client];
  return c->def == at->index && (at->copy == NONE || c->copy == at->copy + 1);
}

static bool server_meant(const Pooler *p, const Server *s, const Path *at) {
  if (s->state == SV_FREE) return false;
  switch (at->kind) {
  case PATH_SERVER: return s->host == at->index;
  case PATH_POOL: return s->pool != DIRECT && s->pool % p->pools_each == (guint)at->index;
  case PATH_POOLER: return s->pool != DIRECT && (at->index == NONE || pool_process(p, s->pool) == (guint)at->index);
  case PATH_CLIENT_SERVER: {
    uint16_t owner = s->owner ? s->owner : s->last_owner;
    return owner && client_meant(p, (owner - 1u) / p->stride, at);
  }
  default: return false;
  }
}

/* ---- when ---- */

static bool server_is(const Server *s, PathState st) {
  switch (st) {
  case STATE_IDLE: return s->state == SV_IDLE;
  case STATE_TAKEN: return s->state == SV_TAKEN;
  case STATE_FENCED: return s->state == SV_FENCED;
  case STATE_CLEANING: return s->state == SV_CLEANING;
  default: return false;
  }
}

static bool client_is(const Pooler *p, guint client, PathState st) {
  const Client *c = &p->clients[client];
  if (st == STATE_DONE || st == STATE_GONE) return c->flags & CLF_OVER;
  for (guint k = 0; k < p->stride; k++) {
    SessionState is = p->sessions[client * p->stride + k].state;
    if (st == STATE_IDLE      ? is == CL_IDLE
        : st == STATE_QUEUED  ? is == CL_QUEUED
        : st == STATE_RUNNING ? is == CL_RUNNING
                              : false)
      return true;
    if (st == STATE_CONNECTED && is != CL_NONE && is != CL_CONNECTING) return true;
  }
  return false;
}

static bool query_is(const Pooler *p, guint client, guint query, PathState st) {
  const Client *c = &p->clients[client];
  if (st == STATE_SENT) return c->sent >> query & 1;
  if (st == STATE_DONE) return c->done >> query & 1;
  for (int h = 0; h < config_of(p)->n_servers; h++)
    for (guint i = 0; i < p->hosts[h]->n && st == STATE_RUNNING; i++) {
      const PgBackend *b = &p->hosts[h]->backends[i];
      if (b->runs == RUNS_QUERY && b->client == client + 1 && b->query == query) return true;
    }
  return false;
}

static bool is_so(const Pooler *p, const Path *at, PathState st) {
  if (at->kind == PATH_CLIENT || at->kind == PATH_QUERY) {
    for (guint i = 0; i < p->n_clients; i++) {
      if (!client_meant(p, i, at)) continue;
      if (at->kind == PATH_CLIENT ? client_is(p, i, st) : query_is(p, i, (guint)at->query, st)) return true;
    }
    return false;
  }
  for (guint i = 0; i < p->n_servers; i++)
    if (server_meant(p, &p->servers[i], at) && server_is(&p->servers[i], st)) return true;
  return false;
}

void events_look(Pooler *p) {
  for (guint i = 0; p->q_event && i < p->n_events; i++) {
    const EventDef *e = event_of(p, i);
    if (e->when != STATE_NONE && is_so(p, &e->seen, e->when)) queue_wake_all(p->w, p->q_event[i], 0);
  }
}

/* ---- what ---- */

static void kill_servers(Pooler *p, const Path *at, bool silent) {
  for (guint i = 0; i < p->n_servers; i++) {
    Server *s = &p->servers[i];
    if (!server_meant(p, s, at) || !s->backend) continue;
    server_die(p, s, silent || link_fault(p, LINK_POOLER_TO_SERVER, s->host) == FAULT_NO_EOF);
  }
}

/* Nothing arrives on it any more, and nobody is told. Without a server: on all of its kind. */
static void cut_link(Pooler *p, const Path *at, bool cut) {
  guint n = (guint)config_of(p)->n_servers;
  for (guint h = 0; h < n; h++) {
    if (at->index != NONE && h != (guint)at->index) continue;
    p->cut[(guint)at->link * n + h] = cut;
    for (guint i = 0; i < p->n_servers && at->link == LINK_POOLER_TO_SERVER && !cut; i++)
      if (p->servers[i].state != SV_FREE && p->servers[i].host == h) server_link_back(p, &p->servers[i]);
  }
}

static void kill_it(Pooler *p, const EventDef *e, bool silent, uint16_t outage) {
  const Path *at = &e->target;
  if (at->kind == PATH_LINK) {
    cut_link(p, at, true);
    return;
  }
  if (at->kind == PATH_CLIENT) {
    for (guint i = 0; i < p->n_sessions; i++)
      if (client_meant(p, p->sessions[i].client, at)) session_end(p, &p->sessions[i], false);
    return;
  }
  if (at->kind == PATH_POOLER) {
    pooler_process_down(p, at->index);
    return;
  }
  kill_servers(p, at, silent);
  if (at->kind == PATH_SERVER && e->verb != EVENT_SEND) host_stop(p->hosts[at->index], outage);
}

/* Of outages that meet, the one that began last says when a server is up again: it stopped what the others start. */
static void revive(Pooler *p, const Path *at, uint16_t outage) {
  if (at->kind == PATH_LINK) cut_link(p, at, false);
  if (at->kind == PATH_SERVER) host_start(p->hosts[at->index], outage);
  if (at->kind == PATH_POOLER) pooler_process_up(p, at->index);
  tick_wake(p);
}

/* A message is a byte of type and four of length at least: with fewer there is nothing to react to yet. Bytes for a
 * connection that is checked out are the client's to read. */
static void unasked(Pooler *p, const Path *at, int bytes) {
  enum { MESSAGE_MIN = 5 };
  for (guint i = 0; i < p->n_pools * p->row_servers; i++) {
    Server *s = &p->servers[i];
    if (!server_meant(p, s, at) || s->state != SV_IDLE) continue;
    s->flags |= SVF_UNASKED;
    if (bytes >= MESSAGE_MIN) server_unexpected(p, s);
  }
}

static void pause_pools(Pooler *p, const Path *at, bool on) {
  for (guint i = 0; i < p->n_pools; i++) {
    if (at->kind == PATH_POOL && i % p->pools_each != (guint)at->index) continue;
    Pool *pl = pool_at(p, i);
    pl->flags = (uint16_t)(on ? pl->flags | PLF_PAUSED : pl->flags & ~PLF_PAUSED);
    for (guint k = 0; on && k < p->row_servers; k++) {
      Server *s = &p->servers[i * p->row_servers + k];
      if (s->state == SV_IDLE) server_close(p, s);
    }
    if (!on) pool_serve(p, i);
  }
}

static void use_config(Pooler *p, const EventDef *e) {
  for (guint i = 0; e->config && i < p->configs->len; i++)
    if (p->configs->pdata[i] == e->config) p->shared->config = (uint16_t)i;
}

static void act(Pooler *p, const EventDef *e, uint16_t outage) {
  switch (e->verb) {
  case EVENT_KILL:
  case EVENT_RESTART: kill_it(p, e, false, outage); break;
  case EVENT_CUT: kill_it(p, e, true, outage); break;
  case EVENT_SEND: unasked(p, &e->target, e->bytes); break;
  case EVENT_PAUSE: pause_pools(p, &e->target, true); break;
  case EVENT_RESUME: pause_pools(p, &e->target, false); break;
  case EVENT_SHUTDOWN: pooler_shutdown(p, e->target.kind == PATH_POOLER ? e->target.index : NONE); break;
  case EVENT_RELOAD:
    use_config(p, e);
    reload_begin(p);
    break;
  case EVENT_SET: {
    uint16_t before = p->shared->config;
    use_config(p, e);
    p->shared->config_before = before;
    for (guint i = 0; i < p->n_pools; i++) pool_grow(p, i, POKE_TICK);
    tick_wake(p);
    break;
  }
  }
}

/* What comes `takes` later, as a step of its own. */
static void act_after(Pooler *p, const EventDef *e, uint16_t outage) {
  if (e->verb == EVENT_RESTART) revive(p, &e->target, outage);
  if (e->verb == EVENT_RELOAD) reload_move(p);
  if (e->verb == EVENT_SHUTDOWN) pooler_shutdown_ends(p);
}

static void undo(Pooler *p, const EventDef *e, uint16_t outage) {
  if (e->verb == EVENT_KILL || e->verb == EVENT_CUT) revive(p, &e->target, outage);
  if (e->verb == EVENT_PAUSE) pause_pools(p, &e->target, false);
  if (e->verb == EVENT_SET) p->shared->config = p->shared->config_before;
  for (guint i = 0; i < p->n_pools; i++) pool_grow(p, i, POKE_TICK);
  tick_wake(p);
}

static Step event_resume(World *w, ProcId self, void *locals) {
  Pooler *p = world_data(w, self);
  EventProcess *t = locals;
  const EventDef *e = event_of(p, t->event);
  uint16_t outage = (uint16_t)(t->event + 1);
  switch (t->stage) {
  case EV_WAIT:
    t->stage = EV_ACT;
    if (e->when != STATE_NONE && !is_so(p, &e->seen, e->when)) return queue_wait(w, p->q_event[t->event], self);
    return step_ran();
  case EV_ACT:
    t->stage = EV_AFTER;
    act(p, e, outage);
    return wait_ns(MAX(e->takes_ns, 0));
  case EV_AFTER:
    t->stage = EV_UNDO;
    act_after(p, e, outage);
    if (e->for_ns < 0) return step_done();
    return step_sleep(e->for_ns);
  default: undo(p, e, outage); return step_done();
  }
}

static const char *event_at(const World *w, const void *locals) {
  static const char *const verbs[] = {"kill", "cut", "restart", "send", "reload", "pause", "resume", "shutdown", "set"};
  const Pooler *p = world_type_data(w, &event_type);
  const EventProcess *t = locals;
  return t->stage == EV_UNDO ? "undo" : verbs[event_of(p, t->event)->verb];
}
/* The harm that an event does may stay away; what it brings back comes. */
static bool event_unforced(const World *w, ProcId self, const void *locals) {
  const Pooler *p = world_type_data(w, &event_type);
  const EventProcess *t = locals;
  (void)self;
  return t->stage <= EV_ACT && event_of(p, t->event)->verb != EVENT_RESUME;
}
const TypeGuide event_guide = {.unforced = event_unforced};
const ProcessType event_type = {"event", sizeof(EventProcess), event_resume, event_at};

void event_start(Pooler *p, guint event) {
  const EventDef *e = event_of(p, event);
  ProcId proc = world_spawn(p->w, p->t_event, e->when == STATE_NONE ? MAX(e->at_ns, 0) : 0);
  EventProcess *t = world_locals(p->w, proc);
  *t = (EventProcess){.event = event, .stage = e->when == STATE_NONE ? EV_ACT : EV_WAIT};
}

/* ---- moments: when loops end ---- */

static Step moment_resume(World *w, ProcId self, void *locals) {
  Pooler *p = world_data(w, self);
  p->shared->moments |= 1u << *(uint32_t *)locals;
  return step_done();
}
static const char *moment_at(const World *w, const void *locals) {
  (void)w, (void)locals;
  return "the moment comes";
}
/* However long a loop lasts. */
static bool moment_unforced(const World *w, ProcId self, const void *locals) {
  (void)w, (void)self, (void)locals;
  return true;
}
const TypeGuide moment_guide = {.unforced = moment_unforced};
const ProcessType moment_type = {"moment", sizeof(uint32_t), moment_resume, moment_at};

void moment_start(Pooler *p, guint moment) {
  ProcId proc = world_spawn(p->w, p->t_moment, config_of(p)->work.moments[moment]);
  *(uint32_t *)world_locals(p->w, proc) = moment;
}
