/* sockets.c - reads, writes and accepts that would wait: tried without waiting, which costs nothing where there is
 * something. Descriptors that never wait say EAGAIN to their caller as ever. shim.h. */
#include "sim/live/shim/shim.h"
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static bool never_waits(int fd) {
  long flags = CALL(SYS_fcntl, fd, F_GETFL);
  return flags < 0 || flags & O_NONBLOCK;
}

/* SO_RCVTIMEO, SO_SNDTIMEO. */
static int64_t limit_of(int fd, int which) {
  struct timeval t = {0};
  socklen_t n = sizeof t;
  if (CALL(SYS_getsockopt, fd, SOL_SOCKET, which, L(&t), L(&n)) != 0 || (!t.tv_sec && !t.tv_usec)) return -1;
  return shim_due((int64_t)t.tv_sec * NS_S + (int64_t)t.tv_usec * NS_US);
}

/* After a try that found nothing. True: try again; else *r is what the call returns. */
static bool again(Wait *w, int fd, GateKind kind, bool at_once, long *r) {
  if (*r != -EAGAIN || at_once || (!w->looked && never_waits(fd))) return false;
  if (!w->looked) {
    w->kind = kind;
    w->flags = kind == GATE_ACCEPT ? GATE_LISTENS : 0;
    w->deadline_ns = limit_of(fd, kind == GATE_WRITE ? SO_SNDTIMEO : SO_RCVTIMEO);
  }
  if (shim_is_over(w->deadline_ns)) return false;
  bool interrupted = shim_wait(w) == GO_INTERRUPTED;
  if (interrupted) *r = -EINTR;
  return !interrupted;
}

/* ---- reads ---- */

static long receive(int fd, const long a[6], int flags) {
  Wait w = {0};
  long r;
  do r = CALL(SYS_recvfrom, fd, a[0], a[1], flags | MSG_DONTWAIT, a[2], a[3]);
  while (again(&w, fd, GATE_READ, flags & MSG_DONTWAIT, &r));
  return r;
}

/* All that was asked for, or what there was before the end, an error or a signal. */
static long receive_all(int fd, char *to, size_t n, int flags) {
  size_t had = 0;
  while (had < n) {
    long r = receive(fd, (const long[6]){L(to + had), L(n - had)}, flags & ~MSG_WAITALL);
    if (r <= 0) return had ? (long)had : r;
    had += (size_t)r;
  }
  return (long)had;
}

SHIM ssize_t recvfrom(int fd, void *restrict to, size_t n, int flags, struct sockaddr *restrict from,
                      socklen_t *restrict size) {
  if (!shim_clock) return shim_result(CALL(SYS_recvfrom, fd, L(to), L(n), flags, L(from), L(size)));
  if (flags & MSG_WAITALL && !(flags & MSG_PEEK)) return shim_result(receive_all(fd, to, n, flags));
  return shim_result(receive(fd, (const long[6]){L(to), L(n), L(from), L(size)}, flags));
}
SHIM ssize_t recv(int fd, void *to, size_t n, int flags) {
  return recvfrom(fd, to, n, flags, NULL, NULL);
}
SHIM ssize_t recvmsg(int fd, struct msghdr *m, int flags) {
  if (!shim_clock) return shim_result(CALL(SYS_recvmsg, fd, L(m), flags));
  Wait w = {0};
  long r;
  do r = CALL(SYS_recvmsg, fd, L(m), flags | MSG_DONTWAIT);
  while (again(&w, fd, GATE_READ, flags & MSG_DONTWAIT, &r));
  return shim_result(r);
}

/* Pipes, eventfds and the like, which know no MSG_DONTWAIT: looked at first. */
static long other(int fd, short events, GateKind kind, long number, const long a[6]) {
  Wait w = {0};
  long r = -EAGAIN;
  while (!shim_ready(fd, events))
    if (!again(&w, fd, kind, false, &r)) return r == -EINTR ? r : shim_call(number, a);
  r = shim_call(number, a);
  if (number == SYS_read) shim_timer_was_read(fd, (void *)a[1], r);
  return r;
}

SHIM ssize_t read(int fd, void *to, size_t n) {
  long a[6] = {fd, L(to), L(n)}, r;
  if (!shim_clock) return shim_result(shim_call(SYS_read, a));
  r = receive(fd, (const long[6]){L(to), L(n)}, 0);
  return shim_result(r == -ENOTSOCK ? other(fd, POLLIN, GATE_READ, SYS_read, a) : r);
}
SHIM ssize_t readv(int fd, const struct iovec *v, int n) {
  long a[6] = {fd, L(v), n};
  struct msghdr m = {.msg_iov = (struct iovec *)v, .msg_iovlen = (size_t)n};
  if (!shim_clock) return shim_result(shim_call(SYS_readv, a));
  ssize_t r = recvmsg(fd, &m, 0);
  return r < 0 && errno == ENOTSOCK ? shim_result(other(fd, POLLIN, GATE_READ, SYS_readv, a)) : r;
}
/* As compilers write them where they know how much room there is. */
ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
SHIM ssize_t __read_chk(int fd, void *to, size_t n, size_t room) {
  if (room < n) shim_give_up();
  return read(fd, to, n);
}
ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags);
SHIM ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags) {
  if (room < n) shim_give_up();
  return recv(fd, to, n, flags);
}
ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t room, int flags, struct sockaddr *restrict from,
                       socklen_t *restrict size);
SHIM ssize_t __recvfrom_chk(int fd, void *restrict to, size_t n, size_t room, int flags, struct sockaddr *restrict from,
                            socklen_t *restrict size) {
  if (room < n) shim_give_up();
  return recvfrom(fd, to, n, flags, from, size);
}

/* ---- writes: where one that waits has room for a part, it waits for the rest ---- */

SHIM ssize_t sendto(int fd, const void *from, size_t n, int flags, const struct sockaddr *to, socklen_t size) {
  if (!shim_clock) return shim_result(CALL(SYS_sendto, fd, L(from), L(n), flags, L(to), size));
  Wait w = {0};
  size_t sent = 0;
  long r = 0;
  do {
    r = CALL(SYS_sendto, fd, L(from) + L(sent), L(n - sent), flags | MSG_DONTWAIT, L(to), size);
    if (r > 0) {
      sent += (size_t)r;
      w.looked = false; /* it has gone on: whoever reads there is to look */
    }
    if (r >= 0 && (sent == n || flags & MSG_DONTWAIT || never_waits(fd))) return (ssize_t)sent;
    if (r >= 0) r = -EAGAIN;
  } while (again(&w, fd, GATE_WRITE, flags & MSG_DONTWAIT, &r));
  return sent ? (ssize_t)sent : shim_result(r);
}
SHIM ssize_t send(int fd, const void *from, size_t n, int flags) {
  return sendto(fd, from, n, flags, NULL, 0);
}
SHIM ssize_t write(int fd, const void *from, size_t n) {
  if (!shim_clock) return shim_result(CALL(SYS_write, fd, L(from), L(n)));
  ssize_t r = sendto(fd, from, n, 0, NULL, 0);
  if (r >= 0 || errno != ENOTSOCK) return r;
  return shim_result(other(fd, POLLOUT, GATE_WRITE, SYS_write, (const long[6]){fd, L(from), L(n)}));
}
/* In one piece as ever where it fits; the rest goes by its parts. */
SHIM ssize_t sendmsg(int fd, const struct msghdr *m, int flags) {
  long r = CALL(SYS_sendmsg, fd, L(m), flags | (shim_clock ? MSG_DONTWAIT : 0));
  if (!shim_clock || (r < 0 && r != -EAGAIN) || flags & MSG_DONTWAIT || never_waits(fd)) return shim_result(r);
  size_t sent = r < 0 ? 0 : (size_t)r, skip = sent;
  for (size_t i = 0; i < m->msg_iovlen; i++) {
    size_t n = m->msg_iov[i].iov_len, past = skip < n ? skip : n;
    skip -= past;
    if (past == n) continue;
    ssize_t more =
        sendto(fd, (const char *)m->msg_iov[i].iov_base + past, n - past, flags, m->msg_name, m->msg_namelen);
    if (more < 0) return sent ? (ssize_t)sent : more;
    sent += (size_t)more;
  }
  return (ssize_t)sent;
}
SHIM ssize_t writev(int fd, const struct iovec *v, int n) {
  struct msghdr m = {.msg_iov = (struct iovec *)v, .msg_iovlen = (size_t)n};
  long a[6] = {fd, L(v), n};
  if (!shim_clock) return shim_result(shim_call(SYS_writev, a));
  ssize_t r = sendmsg(fd, &m, 0);
  return r < 0 && errno == ENOTSOCK ? shim_result(other(fd, POLLOUT, GATE_WRITE, SYS_writev, a)) : r;
}

/* ---- accepts: of the kernel's there is none that does not wait, so the queue is looked at first ---- */

SHIM int accept4(int fd, struct sockaddr *restrict from, socklen_t *restrict size, int flags) {
  Wait w = {0};
  long r = -EAGAIN;
  while (shim_clock && !shim_ready(fd, POLLIN))
    if (!again(&w, fd, GATE_ACCEPT, false, &r)) return (int)shim_result(r);
  return (int)shim_result(CALL(SYS_accept4, fd, L(from), L(size), flags));
}
SHIM int accept(int fd, struct sockaddr *restrict from, socklen_t *restrict size) {
  return accept4(fd, from, size, 0);
}
