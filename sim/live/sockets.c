/* sockets.c - the descriptors of a run: what is sent, and what came, read in order of the connections' numbers. */
#include "sim/live/live.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CONN_BASE = 1 << 20, EVENTS_AT_ONCE = 256, SOCKET_BYTES = 8192 };

static bool address_of(const char *path, struct sockaddr_un *at) {
  *at = (struct sockaddr_un){.sun_family = AF_UNIX};
  return g_strlcpy(at->sun_path, path, sizeof at->sun_path) < sizeof at->sun_path;
}

int unix_connect(const char *path) {
  struct sockaddr_un at;
  if (!address_of(path, &at)) return -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

int unix_listen(const char *path) {
  struct sockaddr_un at;
  if (!address_of(path, &at)) return errno = ENAMETOOLONG, -1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
  int problem = errno;
  if (fd >= 0) close(fd);
  return errno = problem, -1;
}

static struct sockaddr_in loopback(int port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int tcp_listen(int *port) {
  struct sockaddr_in at = loopback(0);
  socklen_t n = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && bind(fd, (struct sockaddr *)&at, n) == 0 && listen(fd, SOMAXCONN) == 0 &&
      getsockname(fd, (struct sockaddr *)&at, &n) == 0)
    return *port = ntohs(at.sin_port), fd;
  int problem = errno;
  if (fd >= 0) close(fd);
  return errno = problem, -1;
}

/* A small packet behind one that is not acknowledged yet would wait for that (Nagle), in real time. */
static bool send_at_once(int fd) {
  int on = 1;
  return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
}

int tcp_accept(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0 && !send_at_once(fd)) g_error("TCP_NODELAY: %s", g_strerror(errno));
  return fd;
}

/* Over loopback a connect is over at once, or refused. */
int tcp_connect(int port) {
  struct sockaddr_in at = loopback(port);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0 && send_at_once(fd) &&
      fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

int pooler_connect(const Live *l, guint process) {
  const Member *m = MEMBER(l, process);
  if (m->gone) return -1;
  return m->port ? tcp_connect((int)m->port) : unix_connect(m->adapter->socket);
}

/* ---- connections ---- */

guint conn_add(Live *l, ConnKind kind, int fd, guint owner) {
  Conn c = {.kind = kind, .fd = fd, .owner = owner, .direct = -1, .client = -1, .query = -1, .cancel = -1, .lock = -1};
  g_array_append_val(l->conns, c);
  l->dirty = true;
  return l->conns->len - 1;
}

void conn_watch(Live *l, guint conn, bool read) {
  struct epoll_event e = {.events = read ? EPOLLIN | EPOLLRDHUP : 0, .data.u64 = CONN_BASE + conn};
  int fd = CONN(l, conn)->fd;
  bool known = epoll_ctl(l->poll, EPOLL_CTL_ADD, fd, &e) == 0;
  if (!known && epoll_ctl(l->poll, EPOLL_CTL_MOD, fd, &e) != 0) g_assert_not_reached();
}

/* What the other side has closed, or does not read, is seen when it is read. */
bool conn_send(Live *l, guint conn, GByteArray *out) {
  ssize_t n = send(CONN(l, conn)->fd, out->data, out->len, MSG_NOSIGNAL);
  bool whole = n == (ssize_t)out->len;
  g_byte_array_set_size(out, 0);
  l->dirty = true;
  return whole;
}

void conn_close(Live *l, guint conn) {
  Conn *c = CONN(l, conn);
  if (c->fd < 0) return;
  close(c->fd);
  c->fd = -1;
  l->vain += c->planned;
  l->dirty = true;
}

/* ---- reading ---- */

static void gone(Live *l, guint conn) {
  switch (CONN(l, conn)->kind) {
  case CONN_SERVER: host_gone(l, conn); break;
  case CONN_CANCEL: cancel_gone(l, conn); break;
  case CONN_CLIENT: player_gone(l, conn); break;
  default: conn_close(l, conn); MEMBER(l, CONN(l, conn)->process)->console = -1;
  }
}

static void came(Live *l, guint conn, const guint8 *bytes, gsize n) {
  switch (CONN(l, conn)->kind) {
  case CONN_SERVER: host_read(l, conn, bytes, n); break;
  case CONN_CLIENT: player_read(l, conn, bytes, n); break;
  case CONN_CONSOLE: console_read(l, conn, bytes, n); break;
  default: break; /* nothing is said to a cancel */
  }
}

/* ends: the other side has closed, behind what there is to read. */
static void read_conn(Live *l, guint conn, bool ends) {
  bool opens = CONN(l, conn)->kind == CONN_SERVER && !CONN(l, conn)->open;
  if (opens) { /* it is watched for its end alone */
    gone(l, conn);
    return;
  }
  while (CONN(l, conn)->fd >= 0) {
    guint8 bytes[SOCKET_BYTES];
    ssize_t n = recv(CONN(l, conn)->fd, bytes, sizeof bytes, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      gone(l, conn);
      return;
    }
    came(l, conn, bytes, (gsize)n);
    if (n < (ssize_t)sizeof bytes && !ends) return;
  }
}

static int by_id(const void *a, const void *b) {
  uint64_t x = ((const struct epoll_event *)a)->data.u64, y = ((const struct epoll_event *)b)->data.u64;
  return x < y ? -1 : x > y;
}

/* In order of their numbers, whatever order the kernel has them in. What was read may have brought more only where this
 * process has both ends (a client without a pooler between), or where there was more than fits. */
bool sockets_read(Live *l) {
  struct epoll_event ready[EVENTS_AT_ONCE];
  bool any = false;
  for (;;) {
    int n = epoll_wait(l->poll, ready, EVENTS_AT_ONCE, 0);
    if (n <= 0) return any;
    any = true;
    if (n > 1) qsort(ready, (size_t)n, sizeof *ready, by_id);
    for (int i = 0; i < n; i++) {
      if (ready[i].data.u64 < CONN_BASE)
        host_accept(l, (guint)ready[i].data.u64);
      else
        read_conn(l, (guint)(ready[i].data.u64 - CONN_BASE), ready[i].events & (EPOLLRDHUP | EPOLLHUP));
    }
    if (n < EVENTS_AT_ONCE && !l->has_direct) return true;
  }
}
