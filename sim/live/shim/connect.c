/* connect.c - a connect to one of the driver's servers takes as long as the driver wants, as over a network: it says
 * EINPROGRESS, or waits at the gate, and the socket is not writable until the driver has read what was put into it
 * here.
 *
 * Over a Unix socket a connect is over at once, and so poolers never see a server that does not answer, or a cancel
 * whose carrier still connects. What fills the socket is GATE_FILL, which no first packet of the protocol begins with
 * (a length below 2^24). A connection that the driver closes instead, with that unread, ends with ECONNRESET. */
#include "sim/live/shim/shim.h"
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static char servers[108]; /* how the servers' paths begin; "": none are ours */

static __attribute__((constructor)) void start(void) {
  const char *prefix = getenv(GATE_ENV_SERVERS);
  if (prefix && strlen(prefix) < sizeof servers) memcpy(servers, prefix, strlen(prefix) + 1);
}

static bool is_server(const struct sockaddr *to, socklen_t n) {
  const struct sockaddr_un *at = (const struct sockaddr_un *)(const void *)to;
  size_t len = strlen(servers);
  return shim_clock && len && to->sa_family == AF_UNIX && n > offsetof(struct sockaddr_un, sun_path) + len &&
         memcmp(at->sun_path, servers, len) == 0;
}

enum { FDS = 65536 };
static int was[FDS]; /* how large the buffer of a socket that connects was; 0: it does not connect */

static void set_buffer(int fd, int bytes) {
  CALL(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDBUF, L(&bytes), sizeof bytes);
}

/* With as small a buffer as there is: the kernel counts its own overhead. */
static void fill(int fd) {
  char bytes[512];
  int before = 0;
  socklen_t n = sizeof before;
  memset(bytes, GATE_FILL, sizeof bytes);
  CALL(SYS_getsockopt, fd, SOL_SOCKET, SO_SNDBUF, L(&before), L(&n));
  set_buffer(fd, 1);
  while (CALL(SYS_sendto, fd, L(bytes), sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
  if (fd < FDS) was[fd] = before / 2; /* it says twice what it was told */
}

/* From now on the buffer is as it was. */
static void is_over(int fd) {
  if (fd < 0 || fd >= FDS || !was[fd]) return;
  set_buffer(fd, was[fd]);
  was[fd] = 0;
}

static int wait_for_it(int fd) {
  Wait w = {.kind = GATE_WRITE, .deadline_ns = -1};
  while (!shim_ready(fd, POLLOUT))
    if (shim_wait(&w) == GO_INTERRUPTED) return errno = EINTR, -1;
  int error = 0;
  socklen_t n = sizeof error;
  CALL(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, L(&error), L(&n));
  is_over(fd);
  return error ? (errno = error, -1) : 0;
}

SHIM int connect(int fd, const struct sockaddr *to, socklen_t n) {
  int done = (int)shim_result(CALL(SYS_connect, fd, L(to), n));
  if (done != 0 || !is_server(to, n)) return done;
  fill(fd);
  long flags = CALL(SYS_fcntl, fd, F_GETFL);
  return flags & O_NONBLOCK ? (errno = EINPROGRESS, -1) : wait_for_it(fd);
}

/* Asked for when a connect is over. */
SHIM int getsockopt(int fd, int level, int what, void *restrict value, socklen_t *restrict n) {
  if (level == SOL_SOCKET && what == SO_ERROR) is_over(fd);
  return (int)shim_result(CALL(SYS_getsockopt, fd, level, what, L(value), L(n)));
}
