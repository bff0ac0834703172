/* host.c - the postmasters of a scenario: they listen where the pooler was told to, log in, run for as long as the
 * scenario says, and match cancels by pid and key. */
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

static int64_t link_ns(const Live *l, PoolerLink which, guint server, bool connect) {
  const LinkConfig *k = &l->config->links[which][server];
  return connect ? k->connect.low : k->delay.low;
}

char *host_name(const Live *l, guint conn) {
  const Conn *c = CONN(l, conn);
  return g_strdup_printf("server %s#%u", server_of(l, c)->name, c->number);
}

bool hosts_open(Live *l, GError **error) {
  for (guint i = 0; i < (guint)l->config->n_pools; i++) {
    g_autofree char *dir = adapter_server_dir(live_gate_dir(l->gate), i);
    g_autofree char *path = g_strdup_printf("%s/.s.PGSQL.%d", dir, ADAPTER_SERVER_PORT);
    Listener one = {.pool = i, .fd = mkdir(dir, 0755) == 0 ? unix_listen(path) : -1};
    if (one.fd < 0 || chmod(dir, 0755) != 0 || chmod(path, 0777) != 0) {
      g_set_error(error, GATE_ERROR, 0, "%s: %s", path, g_strerror(errno));
      return false;
    }
    g_array_append_val(l->listeners, one);
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = i};
    if (epoll_ctl(l->poll, EPOLL_CTL_ADD, one.fd, &e) != 0) g_assert_not_reached();
  }
  return true;
}

/* ---- a connection comes ---- */

static guint next_pid(Live *l, guint server) {
  const ServerConfig *s = &l->config->servers[server];
  guint pid = l->pids[server]++;
  if (l->pids[server] > (guint)s->pid_max) l->pids[server] = 1u + (guint)(s->pid_start % s->pid_max);
  return pid;
}

/* Secrets of the scenario, or ones that no other connection has: its number among all. */
static BackendConfig backend_of(Live *l, guint server, guint number) {
  const ServerConfig *s = &l->config->servers[server];
  BackendConfig b = {.pid = (int32_t)next_pid(l, server),
                     .key_len = s->key_bytes > 0 ? (gsize)s->key_bytes : 0,
                     .newest = s->key_bytes > WIRE_KEY_LEAST ? WIRE_32 : WIRE_30,
                     .server_version = "15.0"};
  guint64 secret = s->secret_given ? s->secret : ((guint64)number << 8 | (server & 255)) * 2654435761u;
  for (gsize i = 0; i < b.key_len; i++) b.key[i] = (guint8)(secret >> 8 * (3 - i % 4));
  return b;
}

void host_accept(Live *l, guint listener) {
  Listener *at = &g_array_index(l->listeners, Listener, listener);
  for (;;) {
    int fd = accept4(at->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    const PoolConfig *p = &l->config->pools[at->pool];
    guint turn = p->balance == BALANCE_FIRST ? 0 : at->next++ % p->n_servers;
    guint conn = conn_add(l, CONN_SERVER, fd, p->servers[turn]);
    CONN(l, conn)->pool = at->pool;
  }
}

/* Which connection it is counts from its first packet: a cancel takes no pid and no number. */
static void number(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  c->number = ++l->numbers[c->owner];
}

/* ---- what it says ---- */

static bool whose(const Live *l, const char *sql, int *client, int *query) {
  const char *at = strstr(sql, "/* stampede ");
  *client = *query = -1;
  if (!at) return false;
  char *end;
  gint64 c = g_ascii_strtoll(at + strlen("/* stampede "), &end, 10), q = g_ascii_strtoll(end, NULL, 10);
  if (c < 0 || c >= (gint64)l->players->len) return false;
  *client = (int)c;
  *query = (int)q;
  return true;
}

static int64_t run_ns(const Live *l, const Conn *c) {
  if (c->client < 0) return l->config->pools[c->pool].own.at_checkin.low;
  const Player *p = PLAYER(l, (guint)c->client);
  if (c->query >= 0) return p->def->script->queries[c->query].runs.low;
  return p->pc > 0 ? p->def->script->ops[p->pc - 1].delay.low : 0; /* commit, rollback */
}

static void runs(Live *l, guint conn, const char *sql) {
  Conn *c = CONN(l, conn);
  c->run++;
  bool ours = whose(l, sql, &c->client, &c->query);
  g_autofree char *name = host_name(l, conn);
  live_said(l, "pooler", name, ours ? "Query" : "own query", ours ? player_tag(l, c->client, c->query) : sql);
  if (ours) PLAYER(l, (guint)c->client)->server_conn = (int)conn;
  int64_t trip = 2 * link_ns(l, LINK_POOLER_TO_SERVER, c->owner, false);
  live_at(l, l->now + run_ns(l, c) + trip, DO_ANSWER, conn, c->run);
}

static void cancel_came(Live *l, guint conn, const BackendEvent *e) {
  Conn *c = CONN(l, conn);
  c->pid = e->pid;
  c->key_len = e->key_len;
  memcpy(c->key, e->key, e->key_len);
  g_autofree char *to = g_strdup_printf("host %s", server_of(l, c)->name), *pid = g_strdup_printf("pid %d", e->pid);
  live_said(l, "pooler", to, "CancelRequest", pid);
  int64_t ns = link_ns(l, LINK_CANCEL_TO_SERVER, c->owner, true) + link_ns(l, LINK_CANCEL_TO_SERVER, c->owner, false);
  live_at(l, l->now + ns, DO_MATCH, conn, 0);
}

static void logs_in(Live *l, guint conn) {
  number(l, conn);
  const Conn *c = CONN(l, conn);
  g_autofree char *name = host_name(l, conn);
  live_said(l, "pooler", name, "StartupMessage", backend_start_option(c->backend, "database"));
  int64_t ns = server_of(l, c)->login.low + link_ns(l, LINK_POOLER_TO_SERVER, c->owner, true);
  live_at(l, l->now + ns, DO_LOGIN, conn, 0);
}

/* broken: what it said that is no protocol; NULL: it says goodbye. */
static void leaves(Live *l, guint conn, const char *broken) {
  g_autofree char *name = host_name(l, conn);
  live_said(l, "pooler", name, broken ? "garbage" : "Terminate", broken);
  if (broken) conn_send(l, conn, backend_out(CONN(l, conn)->backend));
  conn_close(l, conn);
}

static void heard(Live *l, guint conn, const BackendEvent *e) {
  switch (e->kind) {
  case BACKEND_LOGIN: logs_in(l, conn); break;
  case BACKEND_RUN: runs(l, conn, e->text); break;
  case BACKEND_CANCEL: cancel_came(l, conn, e); break;
  case BACKEND_BROKEN: leaves(l, conn, e->text); break;
  case BACKEND_BYE: leaves(l, conn, NULL); break;
  default: break;
  }
}

static void read_on(Live *l, guint conn) {
  for (;;) {
    Conn *c = CONN(l, conn);
    if (c->fd < 0) return;
    BackendEvent e = backend_next(c->backend);
    if (e.kind == BACKEND_NOTHING) break;
    heard(l, conn, &e);
  }
  Conn *c = CONN(l, conn);
  if (c->fd >= 0 && backend_out(c->backend)->len) conn_send(l, conn, backend_out(c->backend));
}

void host_read(Live *l, guint conn, const guint8 *bytes, gsize n) {
  Conn *c = CONN(l, conn);
  if (!c->backend) {
    bool cancel = n >= 8 && memcmp(bytes + 4, "\x04\xd2\x16\x2e", 4) == 0;
    BackendConfig b =
        cancel ? (BackendConfig){.newest = WIRE_30, .server_version = "15.0"} : backend_of(l, c->owner, conn + 1);
    c->backend = backend_new(&b);
  }
  backend_feed(c->backend, bytes, n);
  read_on(l, conn);
}

void host_gone(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->number) {
    g_autofree char *name = host_name(l, conn);
    live_said(l, "pooler", name, "closes", NULL);
  }
  conn_close(l, conn);
}

/* ---- what is due ---- */

static void answer(Live *l, guint conn, guint64 run) {
  Conn *c = CONN(l, conn);
  if (c->fd < 0 || c->run != run || !backend_running(c->backend)) return;
  bool fails =
      c->client >= 0 && c->query >= 0 && PLAYER(l, (guint)c->client)->def->script->queries[c->query].ends_in_error;
  if (fails) PLAYER(l, (guint)c->client)->server_error = true;
  backend_answer(c->backend, "1", fails ? "22012" : NULL);
  g_autofree char *name = host_name(l, conn);
  live_said(l, name, "pooler", fails ? "error" : "answer",
            c->client < 0 ? "own query" : player_tag(l, c->client, c->query));
  conn_send(l, conn, backend_out(c->backend));
  live_input(l);
  read_on(l, conn);
}

static int find_backend(const Live *l, const Conn *x) {
  for (guint i = 0; i < l->conns->len; i++) {
    const Conn *c = CONN(l, i);
    if (c->kind != CONN_SERVER || c->fd < 0 || !c->number || c->owner != x->owner) continue;
    const BackendConfig *b = backend_config(c->backend);
    if (b->pid != x->pid) continue;
    gsize n = backend_key_len(c->backend);
    return n == x->key_len && memcmp(b->key, x->key, n) == 0 ? (int)i : -1; /* a wrong key ends the search */
  }
  return -1;
}

static void match(Live *l, guint conn) {
  Conn *x = CONN(l, conn);
  if (x->fd < 0) return;
  int target = find_backend(l, x);
  x->cancel = verdict_attribute(l, conn, target);
  if (target >= 0) {
    const ServerConfig *s = server_of(l, x);
    if (s->signal == SIGNAL_EXACT)
      live_at(l, l->now + s->signal_ns, DO_SIGNAL, (guint)target, conn);
    else
      host_do(l, DO_SIGNAL, (guint)target, conn);
  } else if (x->cancel >= 0) {
    verdict_cancel(l, (guint)x->cancel, OUT_LOST, -1);
  }
  live_at(l, l->now + link_ns(l, LINK_CANCEL_TO_SERVER, CONN(l, conn)->owner, false), DO_CLOSE, conn, 0);
}

static Outcome outcome(const Live *l, const Conn *c, int cancel) {
  if (c->fd < 0 || !backend_running(c->backend)) return OUT_NOOP;
  if (c->client < 0) return OUT_POOLER_OWN;
  const Sent *x = SENT(l, (guint)cancel);
  if (c->client != (int)x->client) return OUT_MISROUTE;
  return c->query == x->query ? OUT_HIT : OUT_SELF_LATE;
}

static void signalled(Live *l, guint conn, guint64 cancel_conn) {
  int cancel = CONN(l, (guint)cancel_conn)->cancel;
  Conn *c = CONN(l, conn);
  if (cancel >= 0) verdict_cancel(l, (guint)cancel, outcome(l, c, cancel), (int)conn);
  if (c->fd < 0 || !backend_interrupt(c->backend)) return;
  if (c->client >= 0) PLAYER(l, (guint)c->client)->server_error = true;
  g_autofree char *name = host_name(l, conn);
  live_said(l, name, "pooler", "ErrorResponse", "57014");
  conn_send(l, conn, backend_out(c->backend));
  live_input(l);
  read_on(l, conn);
}

static void welcome(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  backend_welcome(c->backend);
  c->welcome = true;
  g_autofree char *name = host_name(l, conn);
  live_said(l, name, "pooler", "ReadyForQuery", NULL);
  conn_send(l, conn, backend_out(c->backend));
  live_input(l);
  read_on(l, conn);
}

void host_do(Live *l, Doing what, guint conn, guint64 data) {
  switch (what) {
  case DO_LOGIN: welcome(l, conn); break;
  case DO_ANSWER: answer(l, conn, data); break;
  case DO_MATCH: match(l, conn); break;
  case DO_SIGNAL: signalled(l, conn, data); break;
  default:
    if (CONN(l, conn)->fd < 0) return;
    live_said(l, server_of(l, CONN(l, conn))->name, "pooler", "closes the cancel's connection", NULL);
    conn_close(l, conn);
    live_input(l);
  }
}
