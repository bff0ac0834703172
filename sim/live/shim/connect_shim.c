/* connect_shim.c - a connect to one of the driver's servers takes as long as the driver wants, as over a network: it
 * says EINPROGRESS, and the socket is not writable until the driver has read what was put into it here.
 *
 * Over a Unix socket a connect is over at once, and so poolers never see a server that does not answer, or a cancel
 * whose carrier still connects. What fills the socket is GATE_FILL, which no first packet of the protocol begins with
 * (a length below 2^24). A connection that the driver closes instead, with that unread, ends with ECONNRESET. */
#include "sim/live/gate_protocol.h"
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define SHIM __attribute__((visibility("default")))

static char servers[108]; /* how the servers' paths begin; "": none are ours */

static __attribute__((constructor)) void start(void) {
  const char *prefix = getenv(GATE_ENV_SERVERS);
  if (prefix && strlen(prefix) < sizeof servers) strcpy(servers, prefix);
}

static bool is_server(const struct sockaddr *to, socklen_t n) {
  const struct sockaddr_un *at = (const struct sockaddr_un *)(const void *)to;
  size_t len = strlen(servers);
  return len && to->sa_family == AF_UNIX && n > offsetof(struct sockaddr_un, sun_path) + len &&
         memcmp(at->sun_path, servers, len) == 0;
}

enum { FDS = 65536 };
static int was[FDS]; /* how large the buffer of a socket that connects was; 0: it does not connect */

/* With as small a buffer as there is: the kernel counts its own overhead. */
static void fill(int fd) {
  char bytes[512];
  int before = 0, small = 1;
  socklen_t n = sizeof before;
  memset(bytes, GATE_FILL, sizeof bytes);
  getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &before, &n);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
  if (fd < FDS) was[fd] = before / 2; /* it says twice what it was told */
}

SHIM int connect(int fd, const struct sockaddr *to, socklen_t n) {
  int done = (int)syscall(SYS_connect, fd, to, n);
  if (done != 0 || !is_server(to, n)) return done;
  fill(fd);
  return errno = EINPROGRESS, -1;
}

/* Asked for when a connect is over: from then on the buffer is as it was. */
SHIM int getsockopt(int fd, int level, int what, void *restrict value, socklen_t *restrict n) {
  if (level == SOL_SOCKET && what == SO_ERROR && fd >= 0 && fd < FDS && was[fd]) {
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &was[fd], sizeof was[fd]);
    was[fd] = 0;
  }
  return (int)syscall(SYS_getsockopt, fd, level, what, value, n);
}
