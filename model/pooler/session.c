/* session.c - the pooler's side of a client's connection: it comes and goes, is asked and answers. What a request needs
 * is in request.c; answers come back by the steps of the servers (server.c). Where no pooler stands between (`via`) the
 * session is nothing but the client's own server connection. */
#include "model/pooler/request.h"

static Session *session_of(World *w, ProcId self, void *locals, Pooler **p) {
  *p = world_data(w, self);
  return &(*p)->sessions[*(uint32_t *)locals];
}

void session_state(Pooler *p, Session *e, SessionState to) {
  SessionState was = e->state;
  e->state = (uint8_t)to;
  if (was == to) return;
  measure_session(p, e, (int)was);
  events_look(p);
}

Server *session_server(const Pooler *p, const Session *e, guint pool) {
  for (guint i = 0; i < HELD_MAX; i++)
    if (e->held[i] && pool_alike(p, p->servers[e->held[i] - 1].pool, pool)) return &p->servers[e->held[i] - 1];
  return NULL;
}

bool session_holds(const Session *e, guint server) {
  for (guint i = 0; i < HELD_MAX; i++)
    if (e->held[i] == server + 1) return true;
  return false;
}

/* Later ones move down, so that what is beyond the last is zero. */
void session_drop(Session *e, guint server) {
  for (guint i = 0; i < HELD_MAX; i++) {
    if (e->held[i] != server + 1) continue;
    memmove(e->held + i, e->held + i + 1, (HELD_MAX - i - 1) * sizeof e->held[0]);
    e->held[HELD_MAX - 1] = 0;
  }
}

/* ---- coming and going ---- */

static guint process_for(Pooler *p) {
  const PoolerConfig *c = config_of(p);
  if (c->balance == BALANCE_FIRST || c->processes == 1) return 0;
  if (c->balance == BALANCE_RANDOM) return (guint)world_choose(p->w, p->ch_process, (uint64_t)c->processes);
  guint i = p->shared->next_process;
  p->shared->next_process = (uint16_t)((i + 1) % (guint)c->processes);
  return i;
}

bool session_waits_for_welcome(const Pooler *p, const Session *e) {
  if (e->pool == DIRECT || config_of(p)->client_identity == CLIENT_REAL_KEY) return false;
  return e->request != REQ_QUERY && e->request != REQ_END && pool_config(p, e->pool)->login_waits &&
         !(p->pools[e->pool].flags & PLF_WELCOME);
}

/* -1: refused. A session that needs a server before it has a key is answered later (session_connected). */
int session_new(Pooler *p, guint client, guint k) {
  const PoolerConfig *c = config_of(p);
  Client *cl = &p->clients[client];
  const ClientDef *d = client_def(p, cl);
  guint id = client * p->stride + k;
  Session *e = &p->sessions[id];
  g_assert(e->state == CL_NONE);
  bool direct = d->via_server >= 0;
  if (!direct && c->refuses_newer && d->protocol > 30) return -1;
  if (!direct && c->max_client_conn && p->shared->sessions >= (uint32_t)c->max_client_conn) return -1;
  p->shared->sessions++;
  *e = (Session){.client = (uint16_t)client};
  e->process = direct ? 0 : (uint16_t)process_for(p);
  e->pool = direct ? DIRECT : (uint16_t)pool_of(p, e->process, (guint)d->pool);
  if (!direct && p->processes[e->process].flags) return *e = (Session){0}, p->shared->sessions--, -1;
  e->proc = spawn_for(p, p->session_procs, id, 0);
  if (direct) {
    Server *s = server_dial(p, direct_server(p, id), DIRECT, (guint)d->via_server);
    s->owner = (uint16_t)(id + 1);
    e->held[0] = (uint16_t)(server_id(p, s) + 1);
  } else if (c->client_identity != CLIENT_REAL_KEY) {
    client_key_make(p, e, NULL);
  }
  bool waits = direct || c->client_identity == CLIENT_REAL_KEY || session_waits_for_welcome(p, e);
  e->request = waits ? REQ_CONNECT : REQ_NONE;
  e->pc = !direct && waits ? E_REQUEST : E_IDLE;
  session_state(p, e, waits ? CL_CONNECTING : CL_IDLE);
  return (int)id;
}

/* What libpq refuses since 18: a key of more than four bytes on a 3.0 connection, or of less than 4 or more than 256.
 */
static bool key_refused(const Pooler *p, const Session *e, const Server *real) {
  if (e->pool != DIRECT) return false;
  int bytes = config_of(p)->servers[real->host].key_bytes;
  int most = client_def(p, session_client(p, e))->protocol >= 32 ? 256 : 4;
  return bytes && (bytes < 4 || bytes > most);
}

void session_connected(Pooler *p, Session *e, const Server *real) {
  if (real && key_refused(p, e, real)) {
    measure_refused(p, session_client(p, e));
    session_answer(p, e, RES_REFUSED);
    return;
  }
  if (real) client_key_make(p, e, real);
  e->request = REQ_NONE;
  session_state(p, e, CL_IDLE);
  client_wake(p, session_client(p, e), link_delay(p, LINK_CLIENT_TO_POOLER, 0));
}

static void let_go(Pooler *p, Server *s, bool rude) {
  s->owner = 0;
  React r = s->pool == DIRECT ? REACT_CLOSE : pool_config(p, s->pool)->react.client_eof;
  if (r == REACT_SPEND && rude) s->flags |= SVF_SPENT;
  if (s->pc == SP_IDLE && s->pool != DIRECT) {
    pool_release(p, s);
    server_settle(p, s);
    return;
  }
  if (r == REACT_CLOSE || r == REACT_ERROR) {
    server_lost(p, s);
    return;
  }
  if (r == REACT_CANCEL) {
    s->flags |= SVF_CANCELLED;
    server_interrupt(p, s);
  }
}

static Step closed(Pooler *p, Session *e) {
  if (e->mailbox) pool_unreceived(p, e);
  if (pool_dequeue(p, e)) measure_wait_end(p, e, false);
  while (e->held[0]) {
    Server *s = &p->servers[e->held[0] - 1];
    const PgBackend *b = server_backend(p, s);
    if (b && b->open) s->flags |= SVF_DIRTY;
    session_drop(e, server_id(p, s));
    let_go(p, s, e->flags & SEF_RUDE);
  }
  session_state(p, e, CL_NONE);
  p->shared->sessions--;
  guint client = e->client;
  *e = (Session){0};
  client_wake(p, &p->clients[client], 0);
  return step_done();
}

void session_close(Pooler *p, Session *e) {
  if (e->state == CL_NONE || e->request == REQ_CLOSE) return;
  e->request = REQ_CLOSE;
  session_state(p, e, CL_GONE);
  timer_drop(p->w, e->proc);
  queue_wake_one(p->w, p->q_session[session_id(p, e)], link_delay(p, LINK_CLIENT_TO_POOLER, 0));
}

/* The pooler has told its client of something that no server said. */
void session_error_closes(Pooler *p, Session *e) {
  if (e->pool == DIRECT || e->state == CL_NONE || e->request == REQ_CLOSE) return;
  if (pool_config(p, e->pool)->error_closes) session_close(p, e);
}

/* Its server has died under it while it asked nothing. */
void session_server_died(Pooler *p, Session *e, const Server *s) {
  if (s->pool == DIRECT || e->request != REQ_NONE || pool_config(p, s->pool)->react.lost != REACT_CLOSE) return;
  pooler_mark(p, POOLER_CLIENT_ERROR, "%s is told that its server is gone", pooler_session_name(p, session_id(p, e)));
  session_close(p, e);
}

/* By the client. Where its link is cut, or its end not seen, the pooler learns nothing of it. */
void session_end(Pooler *p, Session *e, bool goodbye) {
  if (e->state == CL_NONE || e->request == REQ_CLOSE || e->flags & (SEF_ORPHAN | SEF_ENDS | SEF_LEFT)) return;
  LinkFault fault = e->pool == DIRECT ? FAULT_NONE : link_fault(p, LINK_CLIENT_TO_POOLER, 0);
  bool unseen = fault == FAULT_SILENT || (fault == FAULT_NO_EOF && !goodbye);
  bool unread = e->state == CL_QUEUED && pool_config(p, e->pool)->waiters_unread && !e->mailbox;
  if (!goodbye && e->pool != DIRECT && pool_config(p, e->pool)->react.client_eof == REACT_SPEND) e->flags |= SEF_RUDE;
  if (unseen)
    e->flags |= SEF_ORPHAN;
  else if (unread && !goodbye)
    e->flags |= SEF_LEFT;
  else if (unread || request_is_under_way(e)) /* a stream of bytes: no end overtakes what was asked before */
    e->flags |= SEF_ENDS;
  else
    session_close(p, e);
}

/* ---- asking and answering ---- */

/* Nobody needs one where nobody keeps time: any order is tried there anyway. */
static bool needs_worker(const Pooler *p, const Session *e) {
  if (!p->timed || e->pool == DIRECT || e->request != REQ_QUERY) return false;
  return world_cost(p->w, COST_POOLER_WORK, 1) > 0 || world_cost(p->w, COST_POOLER_BYTE, 1000) > 0;
}

void session_ask(Pooler *p, Session *e, Request what, int64_t after_ns) {
  g_assert(e->request == REQ_NONE && e->pc == E_IDLE);
  e->request = (uint8_t)what;
  if (what == REQ_END) e->query = QUERY_END;
  e->result = RES_OK;
  e->pc = needs_worker(p, e) ? E_ASKED : E_REQUEST;
  measure_asked(p, e);
  queue_wake_one(p->w, p->q_session[session_id(p, e)], after_ns);
}

bool session_sleeps(const Session *e) {
  return e->pc == E_WAITING;
}

void session_wake(Pooler *p, Session *e, int64_t after_ns) {
  if (session_sleeps(e)) measure_count(p, e->pool, COUNT_WAKEUPS, 1);
  timer_drop(p->w, e->proc);
  queue_wake_one(p->w, p->q_session[session_id(p, e)], after_ns);
}

void session_retry(Pooler *p, Session *e) {
  e->pc = E_REQUEST;
  session_wake(p, e, 0);
}

static bool from_nobody(QueryResult r) {
  return r == RES_TIMEOUT || r == RES_REFUSED;
}

void session_answer(Pooler *p, Session *e, QueryResult r) {
  Client *c = session_client(p, e);
  if (from_nobody(r))
    pooler_mark(p, POOLER_CLIENT_ERROR, "%s is told %s", pooler_session_name(p, session_id(p, e)),
                r == RES_TIMEOUT ? "that query_wait_timeout has passed" : "that there is no server");
  if (e->request == REQ_CONNECT) {
    c->flags |= CLF_FAILED;
    session_close(p, e);
    client_wake(p, c, 0);
    return;
  }
  measure_query(p, e, r);
  carrier_query_ended(p, e);
  if (e->request == REQ_QUERY) c->done |= UINT64_C(1) << e->query;
  if (e->request == REQ_END) c->flags |= CLF_ENDED;
  if (r == RES_CANCELLED && client_def(p, c)->fence.kind == FENCE_RETIRE) c->flags |= CLF_CANCELLED;
  if (r != RES_OK) c->flags |= CLF_FAILED;
  if (e->request != REQ_CLOSE) {
    e->request = REQ_NONE;
    session_state(p, e, CL_IDLE);
  }
  e->result = e->answers = e->rows = 0;
  e->first_row = 0;
  e->query = 0;
  client_wake(p, c, link_delay(p, LINK_CLIENT_TO_POOLER, 0));
}

/* ---- the process ---- */

static Step resume(World *w, ProcId self, void *locals) {
  Pooler *p;
  Session *e = session_of(w, self, locals, &p);
  if (e->request == REQ_CLOSE) request_broken_off(p, e);
  if (e->request == REQ_CLOSE) return closed(p, e);
  switch (e->pc) {
  case E_SPOTTED: return request_take_spotted(p, e, self);
  case E_TO_QUEUE: return request_stand_in_queue(p, e, self);
  case E_ASKED:
  case E_GRANTED:
  case E_WORKED: return request_work(p, e, self);
  case E_REQUEST: return request_serve(p, e, self);
  case E_WAITING: return request_waited(p, e, self);
  default: return request_none(p, e, self);
  }
}

static const char *at(const World *w, const void *locals) {
  const Pooler *p = world_type_data(w, &session_type);
  const Session *e = &p->sessions[*(const uint32_t *)locals];
  if (e->request == REQ_CLOSE) return "close";
  static const char *const names[] = {"idle", "request", "wait for a server",  "request",
                                      "work", "request", "take what was seen", "stand in the queue"};
  return names[e->pc];
}

static const char *limit(const World *w, ProcId self, const void *locals) {
  (void)w, (void)self, (void)locals;
  return "query_wait_timeout";
}

static void stages(const World *w, void (*each)(const char *name, void *data), void *data) {
  static const char *const names[] = {"request", "wait for a server", "close"};
  (void)w;
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) each(names[i], data);
}

const TypeGuide session_guide = {.limit = limit, .lane = session_lane, .stages = stages, .at_once = pooler_at_once};

const ProcessType session_type = {"session", sizeof(uint32_t), resume, at};
