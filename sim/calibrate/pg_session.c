/* pg_session.c - see pg_session.h. */
#include "sim/calibrate/pg_session.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { PROTOCOL_3_0 = 196608, ANSWER_SECONDS = 60, MESSAGE_MOST = 1 << 20 };

typedef struct {
  char type;
  guint32 length; /* of the body */
  char *body;     /* a NUL follows it */
} Message;

static bool broken(GError **error, const char *what) {
  g_set_error(error, CALIBRATE_ERROR, CALIBRATE_ERROR_ENVIRONMENT, "connection to the server: %s", what);
  return false;
}

static bool send_all(const PgSession *s, const void *bytes, gsize n, GError **error) {
  for (const char *at = bytes; n;) {
    ssize_t sent = send(s->fd, at, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return broken(error, g_strerror(errno));
    at += sent;
    n -= (gsize)sent;
  }
  return true;
}

/* False with *error unset: end of file before the first byte. */
static bool receive_all(const PgSession *s, void *bytes, gsize n, GError **error) {
  gsize got = 0;
  while (got < n) {
    ssize_t r = recv(s->fd, (char *)bytes + got, n - got, 0);
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) return broken(error, errno == EAGAIN ? "no answer within a minute" : g_strerror(errno));
    if (r == 0) return got ? broken(error, "ends within a message") : false;
    got += (gsize)r;
  }
  return true;
}

static guint32 word_at(const char *bytes) {
  guint32 v;
  memcpy(&v, bytes, sizeof v);
  return GUINT32_FROM_BE(v);
}

static bool next_message(const PgSession *s, Message *m, GError **error) {
  char head[5];
  GError *why = NULL;
  if (!receive_all(s, head, sizeof head, &why)) {
    if (!why) return broken(error, "closed by the server");
    g_propagate_error(error, why);
    return false;
  }
  guint32 length = word_at(head + 1);
  if (length < 4 || length > MESSAGE_MOST) return broken(error, "a message of a senseless length");
  *m = (Message){.type = head[0], .length = length - 4, .body = g_malloc0(length - 4 + 1)};
  if (receive_all(s, m->body, m->length, error)) return true;
  g_free(m->body);
  if (error && !*error) broken(error, "ends within a message");
  return false;
}

/* ErrorResponse: fields of a letter and a text; M is the message. */
static bool server_says(const Message *m, GError **error) {
  for (const char *at = m->body; at < m->body + m->length && *at; at += strlen(at) + 1)
    if (*at == 'M') return broken(error, at + 1);
  return broken(error, "an error without a message");
}

/* Messages up to ReadyForQuery; rows go to *cell (the first column of the first row), if it is wanted. */
static bool until_ready(PgSession *s, char **cell, GError **error) {
  for (;;) {
    Message m;
    if (!next_message(s, &m, error)) return false;
    g_autofree char *body = m.body;
    if (m.type == 'E') return server_says(&m, error);
    if (m.type == 'Z') return true;
    if (m.type == 'R' && (m.length < 4 || word_at(body) != 0)) return broken(error, "the server wants a password");
    if (m.type == 'K' && m.length >= 8) s->pid = (pid_t)word_at(body);
    if (m.type != 'D' || !cell || *cell || m.length < 6) continue;
    guint32 n = word_at(body + 2);
    *cell = n <= m.length - 6 ? g_strndup(body + 6, n) : g_strdup("");
  }
}

static bool connect_to(PgSession *s, const char *path, GError **error) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct timeval limit = {.tv_sec = ANSWER_SECONDS};
  if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path)
    return broken(error, "too long a path");
  *s = (PgSession){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (s->fd < 0) return broken(error, g_strerror(errno));
  setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (connect(s->fd, (const struct sockaddr *)&address, sizeof address) == 0) return true;
  broken(error, g_strerror(errno));
  pg_session_drop(s);
  return false;
}

bool pg_session_open(PgSession *s, const char *path, GError **error) {
  static const char words[] = "user\0postgres\0database\0postgres\0";
  char packet[8 + sizeof words];
  guint32 length = GUINT32_TO_BE((guint32)sizeof packet), version = GUINT32_TO_BE((guint32)PROTOCOL_3_0);
  memcpy(packet, &length, 4);
  memcpy(packet + 4, &version, 4);
  memcpy(packet + 8, words, sizeof words);
  if (!connect_to(s, path, error)) return false;
  if (send_all(s, packet, sizeof packet, error) && until_ready(s, NULL, error)) {
    if (s->pid > 1) return true;
    broken(error, "no BackendKeyData");
  }
  pg_session_drop(s);
  return false;
}

char *pg_session_query(PgSession *s, const char *sql, GError **error) {
  gsize n = strlen(sql) + 1;
  g_autofree char *packet = g_malloc(5 + n), *cell = NULL;
  guint32 length = GUINT32_TO_BE((guint32)(4 + n));
  packet[0] = 'Q';
  memcpy(packet + 1, &length, 4);
  memcpy(packet + 5, sql, n);
  if (!send_all(s, packet, 5 + n, error) || !until_ready(s, &cell, error)) return NULL;
  return cell ? g_steal_pointer(&cell) : g_strdup("");
}

bool pg_session_close(PgSession *s, GError **error) {
  static const char terminate[] = {'X', 0, 0, 0, 4};
  GError *why = NULL;
  bool ok = send_all(s, terminate, sizeof terminate, &why);
  char byte;
  while (ok && receive_all(s, &byte, 1, &why)) continue;
  pg_session_drop(s);
  if (why) g_propagate_error(error, why);
  return !why;
}

void pg_session_drop(PgSession *s) {
  if (s->fd >= 0) close(s->fd);
  s->fd = -1;
}
