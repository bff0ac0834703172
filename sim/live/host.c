/* host.c - the postmasters of a scenario: they listen where the pooler was told to, take as long to connect and to log
 * in as the scenario says, die and come back. What a backend runs is in host_run.c, cancels in host_cancel.c. */
#include "sim/live/live.h"
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const ServerConfig *server_of(const Live *l, const Conn *c) {
  return &l->config->servers[c->owner];
}

char *host_name(const Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  return g_strdup_printf("server %s#%u", server_of(l, c)->name, c->number);
}

char *host_peer(const Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  return c->direct < 0 ? pooler_label(l, c->process) : player_name(PLAYER(l, (guint)c->direct));
}

/* ---- where they listen ---- */

static bool listen_unix(Live *l, Listener *one, GError **error) {
  g_autofree char *dir = adapter_server_dir(live_gate_dir(l->gate, one->process), one->pool);
  g_autofree char *path = g_strdup_printf("%s/.s.PGSQL.%d", dir, ADAPTER_SERVER_PORT);
  one->fd = mkdir(dir, 0755) == 0 ? unix_listen(path) : -1;
  if (one->fd >= 0 && chmod(dir, 0755) == 0 && chmod(path, 0777) == 0) return true;
  return g_set_error(error, GATE_ERROR, 0, "%s: %s", path, g_strerror(errno)), false;
}

static bool listen_tcp(Listener *one, GError **error) {
  one->fd = tcp_listen(&one->port);
  if (one->fd >= 0) return true;
  return g_set_error(error, GATE_ERROR, 0, "a port of loopback: %s", g_strerror(errno)), false;
}

static void watch_listener(const Live *l, guint i) {
  struct epoll_event e = {.events = EPOLLIN, .data.u64 = i};
  if (epoll_ctl(l->poll, EPOLL_CTL_ADD, g_array_index(l->listeners, Listener, i).fd, &e) != 0) g_assert_not_reached();
}

static void all_up(Live *l) {
  Host up = {0};
  for (int i = 0; i < l->config->n_servers; i++) g_array_append_val(l->hosts, up);
}

void hosts_taken(Live *l) {
  all_up(l);
  for (guint i = 0; i < l->listeners->len; i++) {
    g_array_index(l->listeners, Listener, i).next = 0;
    watch_listener(l, i);
  }
}

bool hosts_open(Live *l, GError **error) {
  all_up(l);
  guint pools = (guint)l->config->n_pools, n = pools * (guint)l->config->processes;
  for (guint i = 0; i < n; i++) {
    Listener one = {.pool = i % pools, .process = i / pools, .fd = -1};
    if (!(l->tcp ? listen_tcp(&one, error) : listen_unix(l, &one, error))) return false;
    g_array_append_val(l->listeners, one);
    watch_listener(l, i);
  }
  return true;
}

/* ---- a connection comes ---- */

/* Until the connect is over nobody knows what it is for; where a cancel waits for one in its pool, it will carry it
 * (poolers.md A.2: what has come up takes the first queued cancel). */
static bool is_carrier(const Live *l, const Listener *at) {
  bool any = l->config->peering; /* it may have been passed on to here */
  guint waiting = 0, carriers = 0;
  for (guint i = 0; i < l->sent->len; i++) {
    const Sent *x = SENT(l, i);
    waiting += x->at_pooler && (guint)PLAYER(l, x->client)->def->pool == at->pool && (any || x->process == at->process);
  }
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *c = CONN(l, i);
    carriers +=
        c->kind == CONN_SERVER && c->fd >= 0 && c->pool == at->pool && c->carrier && (any || c->process == at->process);
  }
  return waiting > carriers;
}

static guint postmaster(Live *l, Listener *at) {
  const PoolConfig *p = &l->config->pools[at->pool];
  if (p->balance == BALANCE_FIRST || p->n_servers == 1) return p->servers[0];
  if (p->balance == BALANCE_RANDOM) return p->servers[live_choose(l, LIVE_HOST, p->n_servers)];
  return p->servers[at->next++ % p->n_servers];
}

static void comes(Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  PoolerLink link = c->carrier ? LINK_CANCEL_TO_SERVER : LINK_POOLER_TO_SERVER;
  conn_watch(l, conn, false);
  if (live_fault(l, link, c->owner) == FAULT_SILENT) return;
  int64_t ns = link_ns(l, link, c->owner, true);
  live_at(l, l->now + ns, DO_OPEN, conn, 0);
}

void host_accept(Live *l, guint listener) {
  for (;;) {
    Listener *at = &g_array_index(l->listeners, Listener, listener);
    int fd = l->tcp ? tcp_accept(at->fd) : accept4(at->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    bool carrier = is_carrier(l, at);
    guint conn = conn_add(l, CONN_SERVER, fd, postmaster(l, at));
    CONN(l, conn)->pool = at->pool;
    CONN(l, conn)->process = at->process;
    CONN(l, conn)->carrier = carrier;
    CONN(l, conn)->came_ns = l->now;
    measure_socket(l, 1);
    comes(l, conn);
  }
}

guint host_direct(Live *l, guint client, guint session, guint server) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) g_error("socketpair");
  guint conn = conn_add(l, CONN_SERVER, ends[1], server);
  CONN(l, conn)->direct = (int)client;
  CONN(l, conn)->open = true;
  conn_watch(l, conn, true);
  guint own = conn_add(l, CONN_CLIENT, ends[0], client);
  CONN(l, own)->session = session;
  return own;
}

/* The bytes that held the connect back (shim/connect_shim.c) are dropped; what is behind them is kept. */
static void let_in(Live *l, guint conn) {
  guint8 bytes[4096];
  ssize_t n;
  Conn *c = CONN(l, conn);
  c->open = true;
  while ((n = recv(c->fd, bytes, sizeof bytes, MSG_PEEK)) > 0 && bytes[0] == GATE_FILL) {
    ssize_t fill = 0;
    while (fill < n && bytes[fill] == GATE_FILL) fill++;
    if (recv(c->fd, bytes, (size_t)fill, 0) != fill) g_assert_not_reached();
  }
  l->dirty = true;
}

static void open_it(Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  LinkFault fault = live_fault(l, c->carrier ? LINK_CANCEL_TO_SERVER : LINK_POOLER_TO_SERVER, c->owner);
  bool refused = HOST(l, c->owner)->down || fault == FAULT_REFUSE || (fault == FAULT_RESET && !c->carrier);
  if (refused) {
    g_autofree char *peer = host_peer(l, conn);
    live_said(l, server_of(l, c)->name, peer, "refuses", NULL);
    measure_socket(l, -1);
    conn_close(l, conn);
  } else {
    let_in(l, conn);
    conn_watch(l, conn, true);
  }
  live_input(l);
}

/* ---- logging in ---- */

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

/* It has been told so, in what its backend has to send. */
static void turned_away(Live *l, guint conn, const char *why) {
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, name, peer, "FATAL", why);
  conn_send(l, conn, backend_out(CONN(l, conn)->backend));
  measure_socket(l, CONN(l, conn)->direct < 0 ? -1 : 0);
  conn_close(l, conn);
}

static void logs_in(Live *l, guint conn) {
  static const char full_words[] = "sorry, too many clients already";
  Conn *c = CONN(l, conn);
  const ServerConfig *s = server_of(l, c);
  g_autofree char *peer = host_peer(l, conn);
  bool full = s->max_connections && backends(l, c->owner) >= (guint)s->max_connections;
  c->number = ++HOST(l, c->owner)->number;
  g_autofree char *name = host_name(l, conn);
  live_said(l, peer, name, "StartupMessage", backend_start_option(c->backend, "database"));
  guint pid = full ? 0 : next_pid(l, c->owner);
  CONN(l, conn)->pid = (int32_t)pid;
  if (!pid) {
    CONN(l, conn)->number = 0;
    backend_turn_away(c->backend, "53300", full_words);
    turned_away(l, conn, full_words);
    return;
  }
  BackendConfig b = *backend_config(c->backend);
  b.pid = (int32_t)pid;
  give_key(l, conn, &b);
  backend_identify(c->backend, &b);
  if (c->direct < 0) l->measure.opens++;
  live_at(l, l->now + live_draw(l, &s->login) + live_draw(l, &s->login_cpu), DO_LOGIN, conn, 0);
}

static void welcome(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  backend_welcome(c->backend);
  c->welcome = true;
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, name, peer, "ReadyForQuery", NULL);
  conn_send(l, conn, backend_out(c->backend));
  live_input(l);
}

/* ---- bytes ---- */

/* broken: what it said that is no protocol; NULL: it says goodbye. */
static void leaves(Live *l, guint conn, const char *broken) {
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, peer, name, broken ? "garbage" : "Terminate", broken);
  if (broken) conn_send(l, conn, backend_out(CONN(l, conn)->backend));
  if (broken && CONN(l, conn)->direct < 0) {
    g_autofree char *words = g_strdup_printf("writes garbage to %s: %s", name, broken);
    verdict_wrong(l, words);
  }
  host_unlock(l, conn);
  measure_socket(l, CONN(l, conn)->direct < 0 ? -1 : 0);
  conn_close(l, conn);
}

static void heard(Live *l, guint conn, const BackendEvent *e) {
  switch (e->kind) {
  case BACKEND_LOGIN: logs_in(l, conn); break;
  case BACKEND_RUN: host_query(l, conn); break;
  case BACKEND_CANCEL: host_cancel_came(l, conn, e); break;
  case BACKEND_BROKEN: leaves(l, conn, e->text); break;
  case BACKEND_REFUSED: turned_away(l, conn, e->text); break;
  case BACKEND_BYE: leaves(l, conn, NULL); break;
  default: break;
  }
}

/* What it says by itself is kept: a client that is told so has it from a server. */
static void refuses(Live *l, guint conn) {
  g_autofree char *words = backend_take_refusal(CONN(l, conn)->backend);
  if (!words) return;
  g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
  live_said(l, name, peer, "ErrorResponse", words);
  g_hash_table_add(l->refusals, g_steal_pointer(&words));
}

void host_read_on(Live *l, guint conn) {
  for (;;) {
    Conn *c = CONN(l, conn);
    if (c->fd < 0) return;
    BackendEvent e = backend_next(c->backend);
    refuses(l, conn);
    if (e.kind == BACKEND_NOTHING) break;
    heard(l, conn, &e);
  }
  Conn *c = CONN(l, conn);
  if (c->fd >= 0 && backend_out(c->backend)->len) conn_send(l, conn, backend_out(c->backend));
}

void host_read(Live *l, guint conn, const guint8 *bytes, gsize n) {
  Conn *c = CONN(l, conn);
  if (!c->backend) {
    const ServerConfig *s = server_of(l, c);
    BackendConfig b = {.server_version = "15.0",
                       .ask = (PasswordKind)s->auth,
                       .password = ADAPTER_PASSWORD,
                       .tls = s->tls ? l->tls : NULL,
                       .tls_only = s->tls};
    G_STATIC_ASSERT((int)LOGIN_SCRAM == (int)PASSWORD_SCRAM && (int)LOGIN_MD5 == (int)PASSWORD_MD5);
    give_key(l, conn, &b);
    c->backend = backend_new(&b);
  }
  backend_feed(c->backend, bytes, n);
  host_read_on(l, conn);
}

void host_gone(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  if (c->number || !c->open) {
    g_autofree char *name = host_name(l, conn), *peer = host_peer(l, conn);
    live_said(l, peer, name, c->open ? "closes" : "gives up connecting", NULL);
  }
  if (c->state == RUN_RUNS || c->state == RUN_WAITS) host_unlock(l, conn);
  if (c->direct < 0) measure_socket(l, -1);
  conn_close(l, conn);
}

/* ---- death and life ---- */

void host_dies(Live *l, guint conn, bool silent) {
  Conn *c = CONN(l, conn);
  if (c->kind != CONN_SERVER || c->fd < 0 || !c->open) return;
  g_autofree char *name = c->number ? host_name(l, conn) : g_strdup(server_of(l, c)->name), *peer = host_peer(l, conn);
  live_said(l, name, peer, silent ? "dies, and nobody is told" : "dies", NULL);
  host_unlock(l, conn);
  c = CONN(l, conn);
  c->run++; /* nothing of it comes any more */
  c->state = RUN_NONE;
  c->number = 0;
  if (silent) return;
  measure_socket(l, c->direct < 0 ? -1 : 0);
  conn_close(l, conn);
}

void host_up(Live *l, guint server) {
  *HOST(l, server) = (Host){.number = HOST(l, server)->number};
}

void host_link_back(Live *l, guint server) {
  for (guint i = 0; i < l->conns->len; i++) {
    Conn *c = CONN(l, i);
    if (c->kind != CONN_SERVER || c->fd < 0 || c->owner != server || !c->held) continue;
    c->held = false;
    live_at(l, l->now, c->state == RUN_COMES ? DO_START : DO_REPLY, i, c->run);
  }
}

void host_do(Live *l, Doing what, guint conn, guint64 data) {
  const Conn *c = CONN(l, conn);
  bool runs = c->fd >= 0 && c->run == data;
  switch (what) {
  case DO_OPEN: open_it(l, conn); break;
  case DO_LOGIN: welcome(l, conn); break;
  case DO_START:
    if (runs) host_begin(l, conn);
    break;
  case DO_END:
    if (runs && c->state == RUN_RUNS) host_end(l, conn, false);
    break;
  case DO_REPLY:
    if (runs) host_reply(l, conn);
    break;
  case DO_MATCH: host_match_cancel(l, conn); break;
  case DO_SIGNAL: host_signalled(l, conn, data); break;
  default:
    if (c->fd < 0) return;
    g_autofree char *pid = g_strdup_printf("pid %d", c->pid), *peer = host_peer(l, conn);
    live_said(l, server_of(l, c)->name, peer, "closes the cancel's connection", pid);
    conn_close(l, conn);
    live_input(l);
  }
  if (CONN(l, conn)->fd >= 0 && CONN(l, conn)->backend) host_read_on(l, conn);
}
