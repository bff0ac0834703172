/* wire_words.h - for tests/wire_ask.c and wire_first.c: a server at a socket, and its messages as words. */
#pragma once
#include "sim/live/wire.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static inline void send_all(int fd, GByteArray *out) {
  for (guint at = 0; at < out->len;) {
    ssize_t n = send(fd, out->data + at, out->len - at, MSG_NOSIGNAL);
    if (n <= 0) break; /* the peer is gone, as the next read says */
    at += (guint)n;
  }
  g_byte_array_set_size(out, 0);
}

/* dir NULL: over loopback. */
static inline int reach(const char *dir, int port) {
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((guint16)port)};
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct sockaddr_un un = {.sun_family = AF_UNIX};
  g_snprintf(un.sun_path, sizeof un.sun_path, "%s/.s.PGSQL.%d", dir ? dir : "", port);
  int fd = socket(dir ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int bad = dir ? connect(fd, (struct sockaddr *)&un, sizeof un) : connect(fd, (struct sockaddr *)&in, sizeof in);
  if (bad) g_error("connect: %s", g_strerror(errno));
  return fd;
}

static inline bool readable(int fd, int ms) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  return poll(&p, 1, ms) == 1;
}

/* ---- a message as a word ---- */

static inline void add_names(GString *line, WireCursor *c, int n) {
  for (int i = 0; i < n; i++) g_string_append_printf(line, " %s", wire_text(c));
}

/* words: of errors too. What differs between servers by right (values, columns' names) is left out. */
static inline void add_message(GString *line, const WireMessage *m, bool words) {
  WireCursor c = wire_body(m);
  g_string_append_printf(line, " %c(", m->type);
  switch (m->type) {
  case 'E':
  case 'N':
    g_string_append_printf(line, "%s %s", wire_field(m, 'V'), wire_field(m, 'C'));
    if (words) g_string_append_printf(line, " %s", wire_field(m, 'M'));
    break;
  case 'C':
  case 'S': g_string_append(line, wire_text(&c)); break;
  case 'K': g_string_append_printf(line, "%" G_GSIZE_FORMAT, m->len - 4); break;
  case 'R': g_string_append_printf(line, "%d", wire_int32(&c)); break;
  case 'Z': g_string_append_c(line, (char)wire_byte(&c)); break;
  case 't':
  case 'T':
  case 'D': g_string_append_printf(line, "%d", wire_int16(&c)); break;
  case 'v':
    g_string_append_printf(line, "%d", wire_int32(&c));
    add_names(line, &c, wire_int32(&c));
    break;
  default: break;
  }
  g_string_append_c(line, ')');
}

static inline void add_messages(GString *line, WireStream *s, bool words) {
  WireMessage m;
  g_autoptr(GError) error = NULL;
  WireNext next;
  while ((next = wire_next(s, &m, &error)) == WIRE_MESSAGE) add_message(line, &m, words);
  if (next == WIRE_BROKEN) g_string_append_printf(line, " %s", error->message);
}
