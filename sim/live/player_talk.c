/* player_talk.c - a client's connections to the pooler (or, without one between, to a server): what it says on them,
 * and what it hears. */
#include "sim/live/live.h"
#include <string.h>
#include <unistd.h>

static PlayerSession *session_of(const Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  return &PLAYER(l, c->owner)->sessions[c->session];
}

bool session_here(const Live *l, const Player *p, guint session) {
  int conn = p->sessions[session].conn;
  return conn >= 0 && CONN(l, (guint)conn)->fd >= 0;
}

static char *other_side(const Live *l, const Player *p, guint session) {
  if (p->def->via_server == NONE) return pooler_label(l, p->sessions[session].process);
  return g_strdup(l->config->servers[p->def->via_server].name);
}

static bool is_direct(const Player *p) {
  return p->def->via_server != NONE;
}

/* ---- connecting ---- */

static void refused(Live *l, guint client, guint session) {
  Player *p = PLAYER(l, client);
  g_autofree char *name = player_name(p), *other = other_side(l, p, session);
  live_said(l, other, name, "refuses", NULL);
  l->measure.refused++;
  p->sessions[session].connecting = false;
  player_wake(l, client, 0);
}

static int dial(Live *l, guint client, guint session) {
  const Player *p = PLAYER(l, client);
  if (is_direct(p)) {
    guint server = (guint)p->def->via_server;
    return HOST(l, server)->down ? -1 : (int)host_direct(l, client, session, server);
  }
  int fd = pooler_connect(l, p->sessions[session].process);
  if (fd < 0) return -1;
  guint conn = conn_add(l, CONN_CLIENT, fd, client);
  CONN(l, conn)->process = p->sessions[session].process;
  CONN(l, conn)->session = session;
  return (int)conn;
}

static Wired *client_side(const Live *l, const Player *p) {
  guint pool = (guint)p->def->pool;
  int32_t protocol = p->def->protocol >= 32 ? WIRE_32 : WIRE_30;
  const char *user = adapter_login(l->config, pool), *db = l->config->pools[adapter_database(l->config, pool)].name;
  if (p->def->tls) return wired_new_tls(l->tls, protocol, user, db, ADAPTER_PASSWORD);
  return wired_new(protocol, user, db, ADAPTER_PASSWORD);
}

static void say_hello(Live *l, guint client, guint session) {
  Player *p = PLAYER(l, client);
  if (!is_direct(p)) p->sessions[session].process = pooler_process(l);
  g_autofree char *name = player_name(p), *other = other_side(l, p, session);
  live_said(l, name, other, "StartupMessage", NULL);
  int conn = dial(l, client, session);
  if (conn < 0) {
    refused(l, client, session);
    return;
  }
  p->sessions[session].conn = conn;
  conn_watch(l, (guint)conn, true);
  CONN(l, (guint)conn)->wired = client_side(l, p);
  conn_send(l, (guint)conn, wired_to_send(CONN(l, (guint)conn)->wired));
  live_input(l);
}

/* The packet comes after the connect: see player_packet. */
void session_connect(Live *l, guint client, guint session) {
  Player *p = PLAYER(l, client);
  p->sessions[session] = (PlayerSession){.conn = -1, .query = NONE, .server_conn = -1, .connecting = true};
  LinkFault fault = is_direct(p) ? FAULT_NONE : live_fault(l, LINK_CLIENT_TO_POOLER, 0);
  if (fault == FAULT_SILENT) return;
  if (fault == FAULT_REFUSE) {
    refused(l, client, session);
    return;
  }
  int64_t ns = is_direct(p) ? 0 : link_ns(l, LINK_CLIENT_TO_POOLER, 0, true);
  guint hello = conn_add(l, CONN_CLIENT, -1, client);
  CONN(l, hello)->session = session;
  if (ns > 0 || l->pending)
    live_at(l, l->now + ns, DO_PACKET, hello, 0);
  else
    say_hello(l, client, session);
}

/* ---- saying ---- */

void player_packet(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->fd < 0 && !c->wired) {
    say_hello(l, c->owner, c->session);
    return;
  }
  if (c->fd < 0 || !c->outbox) return;
  g_autoptr(GByteArray) said = g_steal_pointer(&c->outbox);
  g_byte_array_append(wired_out(c->wired), said->data, said->len);
  conn_send(l, conn, wired_to_send(c->wired));
  live_input(l);
}

static void send_query(Live *l, guint client, guint session, int query, const char *verb) {
  Player *p = PLAYER(l, client);
  PlayerSession *e = &p->sessions[session];
  e->server_error = e->failed = false;
  e->asked_ns = l->now;
  e->waits = true;
  g_autofree char *name = player_name(p), *other = other_side(l, p, session);
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  const char *word = player_put_query(l, client, session, query, verb, bytes);
  e->begun = false;
  live_said(l, name, other, word, verb ? verb : player_tag(l, (int)client, query));
  LinkFault fault = is_direct(p) ? FAULT_NONE : live_fault(l, LINK_CLIENT_TO_POOLER, 0);
  if (fault == FAULT_SILENT) return;
  CONN(l, (guint)e->conn)->outbox = g_steal_pointer(&bytes);
  int64_t ns = is_direct(p) ? 0 : link_ns(l, LINK_CLIENT_TO_POOLER, 0, false);
  if (ns > 0)
    live_at(l, l->now + ns, DO_PACKET, (guint)e->conn, 0);
  else
    player_packet(l, (guint)e->conn);
}

/* A reset: what is written comes back as an error, and the connection is gone. */
static bool is_reset(Live *l, guint client, guint session) {
  const Player *p = PLAYER(l, client);
  if (is_direct(p) || live_fault(l, LINK_CLIENT_TO_POOLER, 0) != FAULT_RESET) return false;
  l->measure.error++;
  session_leave(l, client, session, false);
  return true;
}

void session_query(Live *l, guint client, guint session, int query) {
  Player *p = PLAYER(l, client);
  PlayerSession *e = &p->sessions[session];
  if (e->begun) e->first_query = query;
  e->in_transaction |= e->begun;
  e->query = query;
  for (guint i = 0; i < l->sent->len; i++) {
    Sent *x = SENT(l, i);
    if (x->client == client && x->query == query) x->stale = true;
  }
  if (is_reset(l, client, session)) return;
  cancels_plan(l, client, session, query);
  send_query(l, client, session, query, NULL);
}

void session_end_transaction(Live *l, guint client, guint session, const char *verb) {
  PlayerSession *e = &PLAYER(l, client)->sessions[session];
  e->query = QUERY_OTHER;
  e->begun = false;
  send_query(l, client, session, QUERY_OTHER, verb);
}

/* ---- leaving ---- */

void session_leave(Live *l, guint client, guint session, bool goodbye) {
  Player *p = PLAYER(l, client);
  PlayerSession *e = &p->sessions[session];
  if (!session_here(l, p, session) || e->cut) return;
  guint conn = (guint)e->conn;
  LinkFault fault = is_direct(p) ? FAULT_NONE : live_fault(l, LINK_CLIENT_TO_POOLER, 0);
  g_autofree char *name = player_name(p), *other = other_side(l, p, session);
  live_said(l, name, other, goodbye ? "Terminate" : "vanishes", NULL);
  e->query = NONE;
  e->in_transaction = e->begun = false;
  if (fault == FAULT_SILENT || (fault == FAULT_NO_EOF && !goodbye)) { /* the pooler learns nothing of it */
    e->cut = true;
    e->conn = -1;
    return;
  }
  Wired *w = CONN(l, conn)->wired;
  if (goodbye) wire_simple(wired_out(w), 'X');
  if (goodbye) conn_send(l, conn, wired_to_send(w));
  conn_close(l, conn);
  e->conn = -1;
  live_input(l);
}

/* ---- hearing ---- */

/* Who told it so; NULL: a server, as its own error. A driver prepares what it executes, once: that a statement is not
 * there, or is there already, a server says too, but it is the pooler's doing. */
static const char *by_whom(const Live *l, const PlayerSession *s, const ClientEvent *e) {
  if (g_strcmp0(e->sqlstate, "26000") == 0) return "by a server that it has not prepared it at";
  if (g_strcmp0(e->sqlstate, "42P05") == 0) return "by a server that another has prepared it at";
  return s->server_error || g_hash_table_contains(l->refusals, e->text) ? NULL : "which no server said";
}

static void failed(Live *l, guint conn, const ClientEvent *e) {
  Player *p = PLAYER(l, CONN(l, conn)->owner);
  PlayerSession *s = session_of(l, conn);
  g_autofree char *name = player_name(p), *other = other_side(l, p, CONN(l, conn)->session);
  g_autofree char *about = g_strdup_printf("%s %s", e->sqlstate, e->text);
  live_said(l, other, name, "ErrorResponse", about);
  s->failed = true;
  s->told = s->told ? s->told : g_strdup(e->text);
  const char *whom = by_whom(l, s, e);
  if (is_direct(p) || !whom) return;
  g_autofree char *words = g_strdup_printf("client %s is told \"%s\", %s", p->name, e->text, whom);
  verdict_mark(l, POOLER_CLIENT_ERROR, words);
}

static void is_heard(Live *l, guint conn, Heard what) {
  const Player *p = PLAYER(l, CONN(l, conn)->owner);
  int64_t ns = is_direct(p) ? 0 : link_ns(l, LINK_CLIENT_TO_POOLER, 0, false);
  live_at(l, l->now + ns, DO_HEARD, conn, what);
}

/* What is waited for there; NULL: nothing, or the login. */
static const char *asked(const Live *l, guint conn) {
  const PlayerSession *s = session_of(l, conn);
  if (s->conn != (int)conn || s->query == NONE || s->came) return NULL;
  return s->query < 0 ? "the end of its transaction" : player_tag(l, (int)CONN(l, conn)->owner, s->query);
}

static void ready(Live *l, guint conn) {
  Player *p = PLAYER(l, CONN(l, conn)->owner);
  PlayerSession *s = session_of(l, conn);
  g_autofree char *name = player_name(p), *other = other_side(l, p, CONN(l, conn)->session);
  live_said(l, other, name, "ReadyForQuery", asked(l, conn));
  if (s->conn != (int)conn) return;
  if (!s->connecting) measure_answer(l, CONN(l, conn)->owner, CONN(l, conn)->session, s->query);
  s->came = true;
  is_heard(l, conn, HEARD_READY);
}

/* Its own, by name, or an unnamed one. */
static void has_prepared(Live *l, guint conn) {
  PlayerSession *s = session_of(l, conn);
  bool named = PLAYER(l, CONN(l, conn)->owner)->def->query_mode == QUERY_PREPARED;
  if (named && s->conn == (int)conn && s->query >= 0) s->prepared |= UINT64_C(1) << s->query;
}

static void garbage(Live *l, guint conn, const char *what) {
  g_autofree char *name = player_name(PLAYER(l, CONN(l, conn)->owner)), *from = pooler_label(l, CONN(l, conn)->process);
  live_said(l, from, name, "garbage", what);
  g_autofree char *words = g_strdup_printf("writes garbage to %s: %s", name, what);
  verdict_wrong(l, words);
}

void player_read(Live *l, guint conn, const guint8 *bytes, gsize n) {
  wired_feed(CONN(l, conn)->wired, bytes, n);
  for (;;) {
    ClientEvent e = wired_next(CONN(l, conn)->wired);
    if (e.kind == CLIENT_NOTHING) break;
    if (e.kind == CLIENT_READY) ready(l, conn);
    if (e.kind == CLIENT_PARSED) has_prepared(l, conn);
    if (e.kind == CLIENT_ERROR) failed(l, conn, &e);
    if (e.kind == CLIENT_BROKEN) return garbage(l, conn, e.text); /* and there is no reading on */
  }
  Conn *c = CONN(l, conn);
  if (c->fd >= 0 && wired_to_send(c->wired)->len) conn_send(l, conn, wired_to_send(c->wired));
}

/* Closed without a word, by a pooler that nobody has ended. What the model's client sees then it is told, with the same
 * mark (server_reply, session_answer); a pooler that the scenario ends marks nothing there either
 * (pooler_process_down). */
static void cut_off(Live *l, guint conn) {
  const Player *p = PLAYER(l, CONN(l, conn)->owner);
  const PlayerSession *s = session_of(l, conn);
  if (is_direct(p) || s->told || MEMBER(l, CONN(l, conn)->process)->ending) return;
  bool login = s->connecting && !s->came;
  if (login)
    l->measure.refused++;
  else if (s->came || s->query < 0) /* measure_answer counts the others */
    l->measure.error++;
  const char *what = asked(l, conn);
  g_autofree char *words = g_strdup_printf("client %s is cut off %s%s, and no server said why", p->name,
                                           login  ? "at its login"
                                           : what ? "while it waits for "
                                                  : "while idle",
                                           what ? what : "");
  verdict_mark(l, POOLER_CLIENT_ERROR, words);
}

void player_gone(Live *l, guint conn) {
  conn_close(l, conn);
  Player *p = PLAYER(l, CONN(l, conn)->owner);
  PlayerSession *s = session_of(l, conn);
  g_autofree char *name = player_name(p), *other = other_side(l, p, CONN(l, conn)->session);
  live_said(l, other, name, "closes", asked(l, conn));
  if (s->conn != (int)conn) return;
  s->failed |= !s->came;
  cut_off(l, conn);
  if (s->query != NONE && !s->came) measure_answer(l, CONN(l, conn)->owner, CONN(l, conn)->session, s->query);
  is_heard(l, conn, HEARD_GONE);
}

void player_heard(Live *l, guint conn, Heard what) {
  guint client = CONN(l, conn)->owner;
  PlayerSession *s = session_of(l, conn);
  if (s->conn != (int)conn) return;
  if (s->query >= 0) PLAYER(l, client)->answered |= UINT64_C(1) << s->query;
  if (s->query == QUERY_OTHER) s->in_transaction = false;
  s->query = NONE;
  s->connecting = s->came = false;
  g_clear_pointer(&s->told, g_free);
  if (what == HEARD_GONE) s->conn = -1;
  player_go_on(l, client);
}
