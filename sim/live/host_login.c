/* host_login.c - a startup packet at a server: a backend with a pid and a secret, as the scenario gives them, or none.
 */
#include "sim/live/live.h"
#include <string.h>

static const ServerConfig *server_of(const Live *l, const Conn *c) {
  return &l->config->servers[c->owner];
}

static bool pid_taken(const Live *l, guint server, guint pid) {
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *c = CONN(l, i);
    if (c->kind == CONN_SERVER && c->fd >= 0 && c->number && c->owner == server && c->pid == (int32_t)pid) return true;
  }
  return false;
}

static guint pid_after(const ServerConfig *s, guint pid) {
  return pid == 0 || pid >= (guint)s->pid_max ? (guint)s->pid_start : pid + 1;
}

/* In turn, or the lowest that is free (model/postgres/host.c). 0: all are taken. */
static guint next_pid(Live *l, guint server) {
  const ServerConfig *s = &l->config->servers[server];
  guint pid = pid_after(s, s->pid_at_once ? 0 : HOST(l, server)->pid_last);
  if (s->pid_at_once || s->pid_max < (int)l->conns->len + s->pid_start)
    for (guint i = 0; pid_taken(l, server, pid); pid = pid_after(s, pid))
      if (i++ > l->conns->len) return 0;
  if (!s->pid_at_once) HOST(l, server)->pid_last = pid;
  return pid;
}

static guint backends(const Live *l, guint server) {
  guint n = 0;
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *c = CONN(l, i);
    n += c->kind == CONN_SERVER && c->fd >= 0 && c->number && c->owner == server;
  }
  return n;
}

/* Secrets of the scenario, or ones that no other connection has: its number among all. */
static void give_key(Live *l, guint conn, BackendConfig *b) {
  const Conn *c = CONN(l, conn);
  const ServerConfig *s = server_of(l, c);
  b->key_len = s->key_bytes > 0 ? MIN((gsize)s->key_bytes, (gsize)WIRE_KEY_MOST) : 0;
  b->newest = s->key_bytes > WIRE_KEY_LEAST ? WIRE_32 : WIRE_30;
  guint64 secret = s->secret_given ? s->secret : ((guint64)(conn + 1) << 8 | (c->owner & 255)) * 2654435761u;
  for (gsize i = 0; i < b->key_len; i++) b->key[i] = (guint8)(secret >> 8 * (3 - i % 4));
}

Backend *host_new_backend(Live *l, guint conn) {
  const ServerConfig *s = server_of(l, CONN(l, conn));
  BackendConfig b = {.server_version = "15.0",
                     .ask = (PasswordKind)s->auth,
                     .password = ADAPTER_PASSWORD,
                     .tls = s->tls ? l->tls : NULL,
                     .tls_only = s->tls};
  G_STATIC_ASSERT((int)LOGIN_SCRAM == (int)PASSWORD_SCRAM && (int)LOGIN_MD5 == (int)PASSWORD_MD5);
  give_key(l, conn, &b);
  return backend_new(&b);
}

void host_turns_away(Live *l, guint conn, const char *why) {
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, name, peer, "FATAL", why);
  conn_send(l, conn, backend_out(CONN(l, conn)->backend));
  measure_socket(l, CONN(l, conn)->direct < 0 ? -1 : 0);
  conn_close(l, conn);
}

static void finds_no_room(Live *l, guint conn) {
  static const char words[] = "sorry, too many clients already";
  CONN(l, conn)->number = 0;
  backend_turn_away(CONN(l, conn)->backend, "53300", words);
  host_turns_away(l, conn, words);
}

static void gets_backend(Live *l, guint conn, guint pid) {
  Conn *c = CONN(l, conn);
  const ServerConfig *s = server_of(l, c);
  BackendConfig b = *backend_config(c->backend);
  c->pid = b.pid = (int32_t)pid;
  give_key(l, conn, &b);
  backend_identify(c->backend, &b);
  if (c->direct < 0) l->measure.opens++;
  live_at(l, l->now + live_draw(l, &s->login) + live_draw(l, &s->login_cpu), DO_LOGIN, conn, 0);
}

/* Pools of one database are told apart by who logs in. */
static void knows_pool(const Live *l, Conn *c) {
  const char *user = backend_start_option(c->backend, "user");
  for (guint i = 0; i < (guint)l->config->n_pools && !c->pool_known; i++) {
    c->pool_known = host_may_be_of(l, c, i) && strcmp(adapter_login(l->config, i), user) == 0;
    if (c->pool_known) c->pool = i;
  }
}

bool host_may_be_of(const Live *l, const Conn *c, guint pool) {
  return c->pool_known ? c->pool == pool : c->pool == adapter_database(l->config, pool);
}

void host_logs_in(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  const ServerConfig *s = server_of(l, c);
  bool full = s->max_connections && backends(l, c->owner) >= (guint)s->max_connections;
  c->number = ++HOST(l, c->owner)->number;
  if (c->direct < 0) knows_pool(l, c);
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, peer, name, "StartupMessage", backend_start_option(c->backend, "database"));
  guint pid = full ? 0 : next_pid(l, c->owner);
  if (pid)
    gets_backend(l, conn, pid);
  else
    finds_no_room(l, conn);
}

void host_welcome(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  backend_welcome(c->backend);
  c->welcome = true;
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, name, peer, "ReadyForQuery", NULL);
  conn_send(l, conn, backend_out(c->backend));
  live_input(l);
}
