/* events.c - what the environment does, by time or when something is seen to be so; as model/pooler/environment.c, as
 * far as it can be seen and done from outside the pooler. */
#include "sim/live/live.h"
#include <stdlib.h>
#include <string.h>

static const EventDef *event_of(const Live *l, guint event) {
  return &l->config->work.events[event];
}

/* ---- who is meant ---- */

static bool client_meant(const Player *p, const Path *at) {
  const char *dot = strrchr(p->name, '.');
  if ((int)p->def_index != at->index) return false;
  return at->copy == NONE || (dot && atoi(dot + 1) == at->copy + 1);
}

static bool server_meant(const Live *l, guint conn, const Path *at) {
  const Conn *c = CONN(l, conn);
  if (c->kind != CONN_SERVER || c->fd < 0) return false;
  switch (at->kind) {
  case PATH_SERVER: return (int)c->owner == at->index;
  case PATH_POOL: return c->direct < 0 && (int)c->pool == at->index;
  case PATH_POOLER: return c->direct < 0 && pooler_meant(at->index, c->process);
  case PATH_CLIENT_SERVER: return c->client >= 0 && client_meant(PLAYER(l, (guint)c->client), at);
  default: return false;
  }
}

/* ---- when ---- */

/* What the pooler thinks of a connection nobody outside sees; this is what its wire lets one think. */
static bool server_is(const Live *l, guint conn, PathState st) {
  const Conn *c = CONN(l, conn);
  bool runs = c->state != RUN_NONE, owned = false, carried = false;
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *x = CONN(l, i);
    carried |= x->kind == CONN_SERVER && x->fd >= 0 && x->pid == c->pid && x->carrier && x->owner == c->owner;
  }
  if (c->client >= 0) {
    const PlayerSession *e = &PLAYER(l, (guint)c->client)->sessions[c->session];
    owned = e->server_conn == (int)conn && (e->query != NONE || e->in_transaction);
  }
  switch (st) {
  case STATE_TAKEN: return owned;
  case STATE_FENCED: return !runs && !owned && carried;
  case STATE_CLEANING: return runs && c->client < 0;
  case STATE_IDLE: return c->welcome && !runs && !owned && !carried;
  default: return false;
  }
}

static bool session_is(const Live *l, const PlayerSession *e, PathState st) {
  if (e->conn < 0) return false;
  switch (st) {
  case STATE_CONNECTED: return !e->connecting;
  case STATE_IDLE: return !e->connecting && e->query == NONE;
  case STATE_QUEUED: return e->query != NONE && e->waits;
  case STATE_RUNNING: return e->query != NONE && !e->waits && e->server_conn >= 0;
  default: return (void)l, false;
  }
}

static bool client_is(const Live *l, guint client, PathState st) {
  const Player *p = PLAYER(l, client);
  if (st == STATE_DONE || st == STATE_GONE) return p->stage == P_OVER;
  for (guint k = 0; k < SESSIONS_MAX; k++)
    if (session_is(l, &p->sessions[k], st)) return true;
  return false;
}

static bool query_is(const Live *l, guint client, int query, PathState st) {
  const Player *p = PLAYER(l, client);
  if (st == STATE_SENT) return p->sent >> query & 1;
  if (st == STATE_DONE) return p->answered >> query & 1;
  for (guint k = 0; k < SESSIONS_MAX && st == STATE_RUNNING; k++) {
    const PlayerSession *e = &p->sessions[k];
    if (e->query == query && e->server_conn >= 0 && host_runs(l, (guint)e->server_conn) &&
        CONN(l, (guint)e->server_conn)->client == (int)client)
      return true;
  }
  return false;
}

static bool is_so(const Live *l, const Path *at, PathState st) {
  bool of_client = at->kind == PATH_CLIENT || at->kind == PATH_QUERY;
  for (guint i = 0; of_client && i < l->players->len; i++)
    if (client_meant(PLAYER(l, i), at) &&
        (at->kind == PATH_CLIENT ? client_is(l, i, st) : query_is(l, i, at->query, st)))
      return true;
  for (guint i = 0; !of_client && i < l->conns->len; i++)
    if (server_meant(l, i, at) && server_is(l, i, st)) return true;
  return false;
}

void environment_look(Live *l) {
  for (guint i = 0; i < (guint)l->config->work.n_events; i++) {
    const EventDef *e = event_of(l, i);
    if (e->when == STATE_NONE || l->event_done[i] || !is_so(l, &e->seen, e->when)) continue;
    l->event_done[i] = true;
    live_at(l, l->now, DO_EVENT, i, 0);
  }
}

static void fire(Live *l, const char *name, int64_t ns) {
  if (ns > 0 && live_fires(l, name)) live_at(l, l->now, DO_LIMIT, 0, (guint64)ns);
}

void events_start(Live *l) {
  l->event_done = g_new0(guint8, (gsize)l->config->work.n_events + 1);
  for (guint i = 0; i < (guint)l->config->work.n_events; i++)
    if (event_of(l, i)->when == STATE_NONE) live_at(l, MAX(event_of(l, i)->at_ns, 0), DO_EVENT, i, 0);
  const PoolConfig *p = &l->config->pools[0];
  if (!l->pending) return;
  fire(l, "query_wait_timeout", p->query_wait_timeout_ns);
  fire(l, "cancel_wait_timeout", p->cancel_wait_timeout_ns);
  fire(l, "server_connect_timeout", p->server_connect_timeout_ns);
  fire(l, "server_idle_timeout", p->server_idle_timeout_ns);
  fire(l, "server_lifetime", p->server_lifetime_ns);
}

/* ---- what ---- */

static void kill_servers(Live *l, const Path *at, bool silent) {
  for (guint i = 0; i < l->conns->len; i++) {
    if (!server_meant(l, i, at) || (at->kind == PATH_CLIENT_SERVER && !CONN(l, i)->number)) continue;
    host_dies(l, i, silent || live_fault(l, LINK_POOLER_TO_SERVER, CONN(l, i)->owner) == FAULT_NO_EOF);
  }
}

static void kill_clients(Live *l, const Path *at) {
  for (guint i = 0; i < l->players->len; i++) {
    if (!client_meant(PLAYER(l, i), at)) continue;
    for (guint k = 0; k < SESSIONS_MAX; k++) session_leave(l, i, k, false);
    player_wake(l, i, 0);
  }
}

static void kill_it(Live *l, const EventDef *e, bool silent) {
  const Path *at = &e->target;
  switch (at->kind) {
  case PATH_LINK: link_cut(l, (PoolerLink)at->link, at->index, true); return;
  case PATH_CLIENT: kill_clients(l, at); return;
  case PATH_POOLER: pooler_kill(l, at->index); return;
  default: break;
  }
  kill_servers(l, at, silent);
  if (at->kind == PATH_SERVER) HOST(l, (guint)at->index)->down = true;
}

static void revive(Live *l, const Path *at) {
  if (at->kind == PATH_LINK) link_cut(l, (PoolerLink)at->link, at->index, false);
  if (at->kind == PATH_SERVER) host_up(l, (guint)at->index);
  if (at->kind == PATH_POOLER) pooler_start_again(l, at->index);
}

/* Bytes that are no message, to connections that nobody has; with enough of them a pooler has something to react to. */
static void send_unasked(Live *l, const EventDef *e) {
  for (guint i = 0; i < l->conns->len; i++) {
    if (!server_meant(l, i, &e->target) || !server_is(l, i, STATE_IDLE)) continue;
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_byte_array_set_size(out, (guint)MAX(e->bytes, 0));
    memset(out->data, '?', out->len);
    g_autofree char *name = host_name(l, i), *peer = host_peer(l, i);
    live_said(l, name, peer, "bytes that nobody asked for", NULL);
    if (out->len) conn_send(l, i, out);
  }
}

static void say(Live *l, AdapterWish what, const Path *at) {
  const char *pool = at->kind == PATH_POOL ? l->config->pools[at->index].name : NULL;
  int one = at->kind == PATH_POOLER ? at->index : NONE;
  for (guint i = 0; i < l->members->len; i++) {
    if (!pooler_meant(one, i)) continue;
    g_autofree char *who = pooler_label(l, i);
    if (!console_say(l, i, what, pool)) live_said(l, who, NULL, "cannot be told to", adapter_wish_word(what));
  }
}

/* The files are written anew from what holds now. */
static void reload(Live *l, const EventDef *e) {
  if (e->config) l->config = e->config;
  pooler_rewrite(l);
  say(l, ADAPTER_RELOAD, &e->target);
}

static void set(Live *l, const EventDef *e) {
  l->config_before = l->config;
  if (e->config) l->config = e->config;
  if (pooler_rewrite(l)) say(l, ADAPTER_RELOAD, &e->target);
}

static void act(Live *l, const EventDef *e) {
  switch (e->verb) {
  case EVENT_KILL:
  case EVENT_RESTART: kill_it(l, e, false); break;
  case EVENT_CUT: kill_it(l, e, true); break;
  case EVENT_SEND: send_unasked(l, e); break;
  case EVENT_PAUSE: say(l, ADAPTER_PAUSE, &e->target); break;
  case EVENT_RESUME: say(l, ADAPTER_RESUME, &e->target); break;
  case EVENT_SHUTDOWN: pooler_stop(l, e->target.kind == PATH_POOLER ? e->target.index : NONE); break;
  case EVENT_RELOAD: reload(l, e); break;
  case EVENT_SET: set(l, e); break;
  }
}

static void undo(Live *l, const EventDef *e) {
  if (e->verb == EVENT_KILL || e->verb == EVENT_CUT) revive(l, &e->target);
  if (e->verb == EVENT_PAUSE) say(l, ADAPTER_RESUME, &e->target);
  if (e->verb != EVENT_SET || !l->config_before) return;
  l->config = l->config_before;
  if (pooler_rewrite(l)) say(l, ADAPTER_RELOAD, &e->target);
}

void event_do(Live *l, Doing what, guint event) {
  const EventDef *e = event_of(l, event);
  if (what == DO_EVENT) {
    act(l, e);
    if (e->verb == EVENT_RESTART) live_at(l, l->now + MAX(e->takes_ns, 0), DO_AFTER, event, 0);
    if (e->for_ns >= 0) live_at(l, l->now + e->for_ns, DO_UNDO, event, 0);
  } else if (what == DO_AFTER) {
    revive(l, &e->target);
  } else {
    undo(l, e);
  }
  live_input(l);
}
