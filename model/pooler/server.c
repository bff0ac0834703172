/* server.c - a server connection and the backend behind it: connect, log in, run queries, close.
 *
 * Between a query's end on the server (SP_END) and its check-in (SP_REPLY, or the end of the clean-up) the backend is
 * idle and the pooler does not know: a cancel that is handled there hits nothing, one that is handled after the
 * hand-over hits the next owner. */
#include "model/pooler/parts.h"

static Server *server_of(World *w, ProcId self, void *locals, Pooler **p) {
  *p = world_data(w, self);
  return &(*p)->servers[*(uint32_t *)locals];
}

void server_state(Pooler *p, Server *s, ServerState to) {
  ServerState was = s->state;
  s->state = (uint8_t)to;
  if (was == to) return;
  measure_server(p, s, (int)was);
  if (s->pool != DIRECT && (was == SV_IDLE || to == SV_IDLE)) watch_idle(p, s, to == SV_IDLE);
  events_look(p);
}

/* ---- opening ---- */

Server *server_dial(Pooler *p, guint slot, guint pool, guint host) {
  Server *s = &p->servers[slot];
  g_assert(s->state == SV_FREE && s->proc == 0);
  *s = (Server){.pool = (uint16_t)pool, .host = (uint16_t)host, .pc = SP_CONNECT, .flags = SVF_CHECKED_IN};
  server_state(p, s, SV_OPENING);
  s->proc = p->server_procs + slot;
  int64_t late = step_late(p, pool, POOLSTEP_OPEN);
  if (!world_alive(p->w, s->proc))
    spawn_for(p, p->server_procs, slot, late); /* else: server_gone goes on as the next */
  p->shared->sockets++;
  measure_count(p, pool, COUNT_OPENS, 1);
  measure_count(p, pool, COUNT_ATTEMPTS, 1);
  return s;
}

static Step failed(Pooler *p, Server *s) {
  s->pc = SP_CLOSE;
  s->flags |= SVF_BROKEN;
  if (s->pool == DIRECT) {
    Session *e = s->owner ? &p->sessions[s->owner - 1] : NULL;
    s->owner = 0;
    if (e) session_drop(e, server_id(p, s)); /* its place may be free, or another's, when the session ends */
    if (e) session_answer(p, e, RES_REFUSED);
  } else {
    pool_opened(p, s, false);
  }
  server_state(p, s, SV_CLOSING);
  return step_ran();
}

static void spends(const Pooler *p, Server *s, int64_t ns) {
  if (s->pool != DIRECT && pool_config(p, s->pool)->retry_from_start) s->spent_ns = MAX(ns, 0);
}

static Step connect_to(Pooler *p, Server *s, ProcId self) {
  bool for_cancel = s->flags & SVF_FOR_CANCEL || carrier_awaited(p, s->pool);
  PoolerLink link = for_cancel ? LINK_CANCEL_TO_SERVER : LINK_POOLER_TO_SERVER;
  LinkFault fault = link_fault(p, link, s->host);
  if (for_cancel) s->flags |= SVF_FOR_CANCEL;
  s->pc = SP_LOGIN;
  said(p, self, party_owner(p, s), party_server(p, s), "connect");
  if (s->flags & SVF_UNCOUNTED) {
    s->flags &= (uint32_t)~SVF_UNCOUNTED;
    pool_at(p, s->pool)->opening++;
    step_joined(p, s->pool);
  }
  if (fault == FAULT_SILENT) {
    int64_t limit = s->pool == DIRECT ? NO_LIMIT : pool_config(p, s->pool)->server_connect_timeout_ns;
    s->flags |= SVF_CUT;
    spends(p, s, limit);
    return wait_on(p, p->q_server[server_id(p, s)], self, true, limit);
  }
  if (fault == FAULT_REFUSE) s->flags |= SVF_BROKEN;
  int64_t ns = link_connect(p, link, s->host);
  spends(p, s, ns);
  return wait_connect(p, ns + step_late(p, s->pool, POOLSTEP_LOGIN));
}

static Step log_in(Pooler *p, Server *s, ProcId self) {
  PgHost *h = p->hosts[s->host];
  const PgHostConfig *hc = &p->host_configs[s->host];
  if (s->flags & (SVF_CUT | SVF_BROKEN) || (s->flags & SVF_FOR_CANCEL && h->down)) return failed(p, s);
  if (carrier_takes(p, s)) return server_is_carrier(p, s);
  if (link_fault(p, LINK_POOLER_TO_SERVER, s->host) == FAULT_RESET) return failed(p, s);
  if (step_is(p, s->pool, POOLSTEP_LOGIN, DO_SKIP)) {
    s->pc = SP_READY;
    return step_ran();
  }
  int b = host_fork(h, hc, (uint16_t)(server_id(p, s) + 1));
  if (b < 0) return failed(p, s);
  s->backend = (uint16_t)(b + 1);
  measure_backend(p, s->host, 1);
  s->pid = host_key_pid(h, hc, b);
  said_pid(p, self, s->pid);
  s->secret = h->backends[b].secret;
  s->pc = SP_READY;
  const ServerConfig *sc = &config_of(p)->servers[s->host];
  int64_t cpu = draw_ns(p, &sc->login_cpu), rest = draw_ns(p, &sc->login);
  if (cpu <= 0 || sc->cores == 0) return wait_in_line(cpu + rest);
  return server_core(p, s, self, cpu); /* the rest is not counted where logins compete for cores */
}

static Step ready(Pooler *p, Server *s, ProcId self) {
  server_core_back(p, s);
  s->pc = SP_IDLE;
  if (s->flags & SVF_BROKEN) return failed(p, s);
  s->spent_ns = 0;
  said(p, self, party_server(p, s), party_owner(p, s), "ready");
  if (s->pool == DIRECT) {
    server_state(p, s, SV_TAKEN);
    session_connected(p, &p->sessions[s->owner - 1], s);
  } else {
    s->seq = ++p->processes[pool_process(p, s->pool)].seq;
    if (s->pid == 0 && pool_config(p, s->pool)->key_needed) return failed(p, s);
    server_watch(p, s);
    pool_opened(p, s, true);
  }
  return server_next(p, s, self);
}

/* ---- queries ---- */

/* How late what is due next comes. */
static int64_t comes_late(Pooler *p, Server *s) {
  if (s->pc == SP_OWN_START && s->own == OWN_NONE) return step_late(p, s->pool, POOLSTEP_CLEAN);
  if (s->pc == SP_WAKE) return step_late(p, s->pool, POOLSTEP_WAKE);
  if (s->pc == SP_CLOSE) return step_late(p, s->pool, POOLSTEP_CLOSE);
  if (s->pc != SP_LATE) return 0;
  s->pc = SP_CHECK_IN;
  return step_late(p, s->pool, POOLSTEP_CHECK_IN);
}

/* What is due next, for the server's own process. */
Step server_next(Pooler *p, Server *s, ProcId self) {
  int64_t late = comes_late(p, s);
  if (late > 0) return step_sleep(late);
  /* A wake-up may meet a time-out at the same instant: the rule for ties decides. */
  if (s->pc == SP_WAKE) return step_sleep(0);
  if (s->pc == SP_IDLE) return queue_wait(p->w, p->q_server[server_id(p, s)], self);
  return step_ran();
}

void server_settle(Pooler *p, Server *s) {
  if (s->pc == SP_IDLE) return;
  queue_wake_one(p->w, p->q_server[server_id(p, s)], comes_late(p, s));
}

void server_run(Pooler *p, Server *s, int64_t after_ns) {
  s->pc = SP_START;
  if (s->pool != DIRECT && s->pc == SP_START) {
    const PoolConfig *c = pool_config(p, s->pool);
    bool check = s->flags & SVF_STALE && c->own.check.high > 0, settings = c->own.at_checkout.high > 0;
    if (s->flags & SVF_OWN_DONE) check = settings = false; /* of this check-out; what comes next is the clean-up's */
    s->own = check ? OWN_CHECK : settings ? OWN_CHECKOUT : OWN_NONE;
    if (s->own) s->pc = SP_OWN_START;
  }
  queue_wake_one(p->w, p->q_server[server_id(p, s)], after_ns);
}

/* Over on the server: by itself, by an error, by a signal, or because the backend is gone. */
void server_interrupt(Pooler *p, Server *s) {
  ObjectId on = s->proc ? world_waits_on(p->w, s->proc) : 0;
  if (!on || s->pc == SP_IDLE) return;
  timer_drop(p->w, s->proc);
  s->pc = s->pc == SP_OWN_END ? SP_OWN_END : SP_END;
  queue_leave(p->w, on, s->proc);
}

/* ---- the process ---- */

static Step wake_waiter(Pooler *p, Server *s, ProcId self) {
  s->pc = SP_IDLE;
  Session *e = s->owner ? &p->sessions[s->owner - 1] : NULL;
  bool skip = step_is(p, s->pool, POOLSTEP_WAKE, DO_SKIP);
  if (e && e->mailbox == server_id(p, s) + 1 && !skip) session_wake(p, e, 0);
  return server_next(p, s, self);
}

static Step check_in(Pooler *p, Server *s, ProcId self) {
  s->pc = SP_IDLE;
  pool_check_in(p, s);
  return server_next(p, s, self);
}

static Step got_core(Pooler *p, Server *s, ProcId self) {
  const Session *e = s->owner ? &p->sessions[s->owner - 1] : NULL;
  if (s->core == 2) {
    const QueryDef *q = e && e->request != REQ_CONNECT ? session_query(p, e) : NULL;
    s->core = 0;
    return server_core(p, s, self, draw_ns(p, q ? &q->cpu : &config_of(p)->servers[s->host].login_cpu));
  }
  server_core_back(p, s);
  return server_lock_then_run(p, s, self);
}

static Step resume(World *w, ProcId self, void *locals) {
  Pooler *p;
  Server *s = server_of(w, self, locals, &p);
  switch ((ServerStage)s->pc) {
  case SP_CONNECT: return connect_to(p, s, self);
  case SP_LOGIN: return log_in(p, s, self);
  case SP_READY: return s->core == 2 ? got_core(p, s, self) : ready(p, s, self);
  case SP_START: return server_query_start(p, s, self);
  case SP_LOCK: return s->core ? got_core(p, s, self) : server_lock_then_run(p, s, self);
  case SP_END: return server_query_end(p, s);
  case SP_REPLY: return server_reply(p, s, self);
  case SP_OWN_START: return server_own_start(p, s, self);
  case SP_OWN_END: return server_own_end(p, s, self);
  case SP_CHECK_IN: return check_in(p, s, self);
  case SP_WAKE: return wake_waiter(p, s, self);
  case SP_CLOSE: return server_gone(p, s);
  default: return server_next(p, s, self);
  }
}

static const char *const names[SP_COUNT] = {
    "connect",   "log in",         "ready", "idle",     "start",           "core", "lock", "end", "reply",
    "own query", "own query ends", "late",  "check in", "wake the waiter", "close"};
static const char *at(const World *w, const void *locals) {
  const Pooler *p = world_type_data(w, &server_type);
  return names[p->servers[*(const uint32_t *)locals].pc];
}

static const char *limit(const World *w, ProcId self, const void *locals) {
  (void)w, (void)self, (void)locals;
  return "server_connect_timeout";
}

static bool has_own(const PoolConfig *c) {
  return c->own.at_checkout.high > 0 || c->own.at_checkin.high > 0 || c->own.check.high > 0 || c->own.always ||
         c->fence == FENCE_DRAIN;
}

/* Which stages the configuration knows. */
static bool may_come(const Pooler *p, ServerStage stage) {
  bool own = false, late = false, wake = false, lock = config_of(p)->work.n_locks > 0;
  for (guint i = 0; i < p->n_pools; i++) {
    own |= has_own(pool_config(p, i));
    late |= step_is(p, i, POOLSTEP_CHECK_IN, DO_LATE);
    wake |= pool_config(p, i)->handoff == HANDOFF_RECORD;
  }
  for (int i = 0; i < config_of(p)->n_servers; i++) lock |= config_of(p)->servers[i].cores > 0;
  switch (stage) {
  case SP_IDLE: /* waits only */
  case SP_CORE:
  case SP_LATE: return false;
  case SP_LOCK: return lock;
  case SP_OWN_START:
  case SP_OWN_END: return own;
  case SP_CHECK_IN: return late;
  case SP_WAKE: return wake;
  default: return true;
  }
}

static void stages(const World *w, void (*each)(const char *name, void *data), void *data) {
  const Pooler *p = world_type_data(w, &server_type);
  for (guint i = 0; i < SP_COUNT; i++)
    if (may_come(p, (ServerStage)i)) each(names[i], data);
}

/* A login comes from the server, and so does the end of a query that has run; all else is the pooler's, or ends with
 * what ends it there. A clean-up that takes no time is over at once. A step that is split lets others come between. */
static bool at_once(const World *w, ProcId self, const void *locals) {
  const Pooler *p = world_type_data(w, &server_type);
  const Server *s = &p->servers[*(const uint32_t *)locals];
  if (s->pc == SP_END && world_timer_armed(w, self)) return false;
  return s->pc != SP_LOGIN && s->pc != SP_READY && !(s->flags & SVF_UNCOUNTED);
}

const TypeGuide server_guide = {
    .limit = limit, .lane = server_lane, .stages = stages, .footprint = server_footprint, .at_once = at_once};

const ProcessType server_type = {"server", sizeof(uint32_t), resume, at};
