/* host_listen.c - where the servers listen, and who comes: over a link that takes its time, or loses him. */
#include "sim/live/live.h"
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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
    guint database = adapter_database(l->config, (guint)PLAYER(l, x->client)->def->pool);
    waiting += x->at_pooler && database == at->pool && (any || x->process == at->process);
  }
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *c = CONN(l, i);
    bool here = c->kind == CONN_SERVER && c->fd >= 0 && adapter_database(l->config, c->pool) == at->pool;
    carriers += here && c->carrier && (any || c->process == at->process);
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

void host_connected(Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  LinkFault fault = live_fault(l, c->carrier ? LINK_CANCEL_TO_SERVER : LINK_POOLER_TO_SERVER, c->owner);
  bool refused = HOST(l, c->owner)->down || fault == FAULT_REFUSE || (fault == FAULT_RESET && !c->carrier);
  if (refused) {
    g_autofree char *peer = host_peer(l, conn);
    live_said(l, l->config->servers[c->owner].name, peer, "refuses", NULL);
    measure_socket(l, -1);
    conn_close(l, conn);
  } else {
    let_in(l, conn);
    conn_watch(l, conn, true);
  }
  live_input(l);
}
