/* wire_serve.c - a fake server at real sockets, for tests/e2e_wire.sh: a postmaster of backends (sim/live/server.h).
 *
 *   wire_serve DIR trust|clear|md5|scram 30|32 tls|plain   at DIR/.s.PGSQL.PORT and 127.0.0.1:PORT; prints PORT, and
 *                                                          goes on until its input ends
 */
#include "sim/live/server.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CONNECTIONS = 256 };

typedef struct {
  int fd[CONNECTIONS + 2];
  Backend *backend[CONNECTIONS + 2]; /* of the first two, which listen, none */
  guint n;
  BackendConfig config;
  int32_t pids;
} Serve;

static void send_all(int fd, GByteArray *out) {
  for (guint at = 0; at < out->len;) {
    ssize_t n = send(fd, out->data + at, out->len - at, MSG_NOSIGNAL);
    if (n <= 0) break; /* the peer is gone, as the next read says */
    at += (guint)n;
  }
  g_byte_array_set_size(out, 0);
}

static int listen_at(const struct sockaddr *a, socklen_t n) {
  int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, a, n) != 0 || listen(fd, 64) != 0) g_error("listen: %s", g_strerror(errno));
  return fd;
}

static void takes(Serve *s, guint listener) {
  int fd = accept(s->fd[listener], NULL, NULL);
  g_assert(fd >= 0 && s->n < G_N_ELEMENTS(s->fd));
  s->config.pid = ++s->pids;
  for (guint i = 0; i < s->config.key_len; i++) s->config.key[i] = (guint8)(s->pids * 7 + (int32_t)i);
  s->backend[s->n] = backend_new(&s->config);
  s->fd[s->n++] = fd;
}

static void closes(Serve *s, guint i) {
  close(s->fd[i]);
  backend_free(s->backend[i]);
  s->n--;
  s->fd[i] = s->fd[s->n], s->backend[i] = s->backend[s->n];
}

/* As a postmaster looks one up: the pid decides, and then the key must be right. */
static void cancels(Serve *s, const BackendEvent *e) {
  for (guint i = 2; i < s->n; i++) {
    const BackendConfig *c = backend_config(s->backend[i]);
    if (c->pid != e->pid || backend_protocol(s->backend[i]) == 0) continue;
    if (backend_key_len(s->backend[i]) != e->key_len || memcmp(c->key, e->key, e->key_len) != 0) return;
    backend_interrupt(s->backend[i]);
    send_all(s->fd[i], backend_out(s->backend[i]));
    return;
  }
}

/* What sleeps runs until it is cancelled. */
static void runs(Backend *b, const char *sql) {
  if (!strstr(sql, "pg_sleep")) backend_answer(b, "1", strstr(sql, "1/0") ? "22012" : NULL);
}

static bool goes_on(Serve *s, guint i) {
  Backend *b = s->backend[i];
  for (;;) {
    BackendEvent e = backend_next(b);
    if (e.kind == BACKEND_LOGIN) backend_welcome(b);
    if (e.kind == BACKEND_RUN) runs(b, e.text);
    if (e.kind == BACKEND_CANCEL) cancels(s, &e);
    send_all(s->fd[i], backend_out(b));
    if (e.kind == BACKEND_CANCEL || e.kind == BACKEND_BYE || e.kind == BACKEND_BROKEN || e.kind == BACKEND_REFUSED)
      return false;
    if (e.kind == BACKEND_NOTHING) return true;
  }
}

static bool reads(Serve *s, guint i) {
  guint8 piece[4096];
  ssize_t n = read(s->fd[i], piece, sizeof piece);
  if (n <= 0) return false;
  backend_feed(s->backend[i], piece, (gsize)n);
  return goes_on(s, i);
}

static void serve(Serve *s) {
  for (;;) {
    struct pollfd p[CONNECTIONS + 3] = {{.fd = 0, .events = POLLIN}};
    guint n = s->n;
    for (guint i = 0; i < n; i++) p[i + 1] = (struct pollfd){.fd = s->fd[i], .events = POLLIN};
    if (poll(p, n + 1, -1) < 0 || p[0].revents) return;
    for (guint i = n; i-- > 2;) /* downwards, as a closed one is replaced by the last */
      if (p[i + 1].revents && !reads(s, i)) closes(s, i);
    for (guint i = 0; i < 2; i++)
      if (p[i + 1].revents) takes(s, i);
  }
}

static struct sockaddr_un open_both(Serve *s, const char *dir) {
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_un un = {.sun_family = AF_UNIX};
  socklen_t len = sizeof in;
  s->fd[0] = listen_at((struct sockaddr *)&in, sizeof in);
  getsockname(s->fd[0], (struct sockaddr *)&in, &len);
  g_snprintf(un.sun_path, sizeof un.sun_path, "%s/.s.PGSQL.%d", dir, ntohs(in.sin_port));
  s->fd[1] = listen_at((struct sockaddr *)&un, sizeof un);
  printf("%d\n", ntohs(in.sin_port));
  fflush(stdout);
  return un;
}

int main(int argc, char **argv) {
  static const char *const asks[] = {"trust", "clear", "md5", "scram"};
  g_assert(argc == 5);
  g_autoptr(TlsKeys) keys = tls_keys_new();
  Serve s = {.n = 2};
  s.config = (BackendConfig){.key_len = 32, .password = "secret", .server_version = "15.1"};
  while (strcmp(asks[s.config.ask], argv[2]) != 0) g_assert(++s.config.ask < G_N_ELEMENTS(asks));
  s.config.newest = strcmp(argv[3], "32") == 0 ? WIRE_32 : WIRE_30;
  if (strcmp(argv[4], "tls") == 0) s.config.tls = keys;
  struct sockaddr_un un = open_both(&s, argv[1]);
  serve(&s);
  while (s.n > 2) closes(&s, s.n - 1);
  for (guint i = 0; i < 2; i++) close(s.fd[i]);
  unlink(un.sun_path);
  return 0;
}
