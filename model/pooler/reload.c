/* reload.c - a pooler's pools are built anew and take over connections; a pooler process stops, starts, shuts down.
 *
 * A reload has two steps: the new pools are there (requests go to them from now on), then the old ones' connections are
 * moved, under the locks of both. What a new pool has checked out in between stands in its own table: a move that puts
 * the old table in its place forgets it (merge_taken: skip). */
#include "model/pooler/parts.h"

static guint other_generation(const Pooler *p, guint pool) {
  guint half = p->n_pools / 2;
  g_assert(half > 0);
  return (pool + half) % p->n_pools;
}

static bool is_current(const Pooler *p, guint pool) {
  guint half = p->n_pools / 2;
  g_assert(half > 0);
  return pool / half == p->shared->generation;
}

void reload_begin(Pooler *p) {
  if (!p->moves) return;
  p->shared->generation ^= 1;
  for (guint i = 0; i < p->n_sessions; i++) {
    Session *e = &p->sessions[i];
    if (e->state != CL_NONE && e->pool != DIRECT) e->pool = (uint16_t)other_generation(p, e->pool);
  }
  for (guint i = 0; i < p->n_pools; i++)
    if (is_current(p, i)) {
      Pool *pl = pool_at(p, i), *old = pool_at(p, other_generation(p, i));
      pl->flags = (uint16_t)(PLF_NEW | (config_of(p)->pause_survives_reload ? old->flags & PLF_PAUSED : 0));
    }
}

static void move_idle(Pooler *p, guint from, guint to) {
  EACH_SERVER(p, from, s) {
    if (s->state != SV_IDLE) continue;
    pool_forget_idle(p, s);
    if (step_is(p, from, POOLSTEP_MOVE_IDLE, DO_SKIP)) {
      s->state = SV_TAKEN; /* in no set any more: nobody will ever use or close it */
      continue;
    }
    s->state = SV_TAKEN;
    s->pool = (uint16_t)to;
    pool_put(p, s);
    server_settle(p, s);
  }
}

static void move_others(Pooler *p, guint from, guint to) {
  Pool *a = pool_at(p, from), *b = pool_at(p, to);
  EACH_SERVER(p, from, s) if (s->state != SV_IDLE) s->pool = (uint16_t)to;
  guint times = step_times(p, from, POOLSTEP_MERGE_COUNT);
  b->opening = (uint16_t)(b->opening + times * a->opening);
  b->carriers = (uint16_t)(b->carriers + times * a->carriers);
  b->attempts = (uint16_t)(b->attempts + times * a->attempts);
  b->bare = (uint16_t)(b->bare + a->bare);
  a->opening = a->carriers = a->attempts = a->bare = 0;
  for (guint i = 0; i < p->n_cancels; i++)
    if (p->cancels[i].stage > X_LOOKUP && p->cancels[i].pool == from) p->cancels[i].pool = (uint16_t)to;
}

static void offline_waiters(Pooler *p, guint pool) {
  while (pool_at(p, pool)->n_waiters) {
    Session *e = &p->sessions[p->waiters[(size_t)pool * p->row_waiters] - 1];
    bool retry = pool_config(p, pool)->react.offline != REACT_ERROR;
    pool_dequeue(p, e);
    if (retry)
      session_retry(p, e);
    else {
      e->flags |= SEF_OFFLINE;
      session_wake(p, e, 0);
    }
  }
}

static void move_pool(Pooler *p, guint from, guint to) {
  guint before = pool_total(p, from) + pool_total(p, to);
  move_idle(p, from, to);
  if (step_times(p, from, POOLSTEP_MOVE_TAKEN)) taken_move(p, from, to, step_times(p, from, POOLSTEP_MERGE_TAKEN) != 0);
  move_others(p, from, to);
  if (pool_total(p, from) || before != pool_total(p, to)) {
    pooler_mark(p, POOLER_MOVE_LOST, "the move of pool %s: %u connections before, %u after, and %u left behind",
                pool_config(p, to)->name, before, pool_total(p, to), pool_total(p, from));
  }
  if (step_times(p, from, POOLSTEP_MOVE_WAITERS)) offline_waiters(p, from);
}

void reload_move(Pooler *p) {
  if (!p->moves) return;
  for (guint i = 0; i < p->n_pools; i++)
    if (!is_current(p, i)) move_pool(p, i, other_generation(p, i));
  for (guint i = 0; i < p->n_pools; i++)
    if (is_current(p, i)) {
      pool_at(p, i)->flags &= (uint16_t)~PLF_NEW;
      pool_grow(p, i, POKE_TICK);
    }
  tick_wake(p);
}

/* ---- a process of the pooler ---- */

static bool of_process(const Pooler *p, guint pool, int process) {
  return process == NONE || pool_process(p, pool) == (guint)process;
}

/* Cancels that wait for a connection end with it. */
static void drop_parked(Pooler *p, int process) {
  for (guint i = 0; i < p->n_cancels; i++) {
    Cancel *x = &p->cancels[i];
    if (x->stage != X_PARKED || x->flags & XF_TURN || !(process == NONE || x->process == process)) continue;
    outcome_keep(p, x, cancel_dropped(p, x), NULL);
    carrier_leave(p, x);
    x->flags |= XF_EXPIRED;
    cancel_wake(p, x);
  }
}

/* It is gone: sockets close on both sides. */
void pooler_process_down(Pooler *p, int process) {
  drop_parked(p, process);
  for (guint i = 0; i < p->n_sessions; i++) {
    Session *e = &p->sessions[i];
    if (e->state == CL_NONE || e->pool == DIRECT || !of_process(p, e->pool, process)) continue;
    session_client(p, e)->flags |= CLF_FAILED;
    if (e->request == REQ_QUERY || e->request == REQ_END)
      said(p, e->proc, party_session(e), party_client(e->client), "%s: gone with its pooler",
           said_query(p, e->client, e->query));
    session_close(p, e);
  }
  for (guint i = 0; i < p->n_pools * p->row_servers; i++) {
    Server *s = &p->servers[i];
    if (s->state != SV_FREE && s->state != SV_CLOSING && of_process(p, s->pool, process)) server_lost(p, s);
  }
  for (int i = 0; i < config_of(p)->processes; i++)
    if (process == NONE || i == process) p->processes[i].flags = PRF_DOWN;
}

void pooler_process_up(Pooler *p, int process) {
  for (int i = 0; i < config_of(p)->processes; i++) {
    if (process != NONE && i != process) continue;
    p->processes[i] = (Process){.seq = p->pools_each && config_of(p)->pools[0].identity_reset ? 0 : p->processes[i].seq,
                                .keys = config_of(p)->client_identity == CLIENT_COUNTER ? 0 : p->processes[i].keys,
                                .secrets = p->processes[i].secrets,
                                .busy = p->processes[i].busy};
  }
}

/* No new clients; those that are there may finish, and what waits is told. Where it waits for servers alone, its pools
 * are paused, and what is being opened is given up too (PgBouncer: handle_sigint, per_loop_pause). */
void pooler_shutdown(Pooler *p, int process) {
  bool by_servers = config_of(p)->shutdown_by_servers;
  for (int i = 0; i < config_of(p)->processes; i++)
    if (process == NONE || i == process) p->processes[i].flags = PRF_SHUTDOWN;
  for (guint i = 0; i < p->n_pools && by_servers; i++)
    if (of_process(p, i, process)) pool_at(p, i)->flags |= PLF_PAUSED;
  for (guint i = 0; i < p->n_pools * p->row_servers; i++) { /* what nobody uses ends at once */
    Server *s = &p->servers[i];
    bool unused = s->state == SV_IDLE || (by_servers && s->state == SV_OPENING);
    if (unused && of_process(p, s->pool, process)) server_close(p, s);
  }
  if (by_servers) tick_wake(p);
}

bool shutdown_waits_for_servers(const Pooler *p, guint process) {
  return config_of(p)->shutdown_by_servers && p->processes[process].flags & PRF_SHUTDOWN;
}

bool shutdown_is_over(const Pooler *p, guint process) {
  if (!shutdown_waits_for_servers(p, process)) return false;
  for (guint i = pool_of(p, process, 0); i < pool_of(p, process, 0) + p->pools_each; i++)
    if (pool_live(p, i) > 0) return false;
  return true;
}

void pooler_shutdown_ends(Pooler *p) {
  const PoolerConfig *c = config_of(p);
  if (c->shutdown_timeout_ns >= 0) watch_start(p, WATCH_SHUTDOWN, 0, c->shutdown_timeout_ns, true, p->q_shutdown, 0);
}

/* The pooler sends a cancel of its own, and the client is told 57014. */
static void cancel_running(Pooler *p, const Session *e) {
  for (guint k = 0; k < HELD_MAX && e->held[k]; k++) {
    Server *s = &p->servers[e->held[k] - 1];
    const PgBackend *b = server_backend(p, s);
    if (!b || b->runs != RUNS_QUERY) continue;
    s->flags |= SVF_CANCELLED;
    server_interrupt(p, s);
  }
}

/* Its time is over: what still runs is cancelled first, if shutdown_cancels, and nothing more is served; or all is cut
 * off. */
void shutdown_due(Pooler *p) {
  bool cancels = config_of(p)->shutdown_cancels;
  for (int i = 0; i < config_of(p)->processes && cancels; i++)
    if (p->processes[i].flags) p->processes[i].flags |= PRF_OVER;
  for (guint i = 0; i < p->n_sessions; i++) {
    Session *e = &p->sessions[i];
    if (e->state == CL_NONE || e->pool == DIRECT || !p->processes[e->process].flags) continue;
    if (cancels && e->state == CL_RUNNING) {
      cancel_running(p, e);
      continue;
    }
    session_client(p, e)->flags |= CLF_FAILED;
    session_close(p, e);
  }
}
