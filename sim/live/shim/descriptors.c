/* descriptors.c - descriptors that are closed, copied and locked: the gate's own stay, timers are followed (timers.c),
 * and a lock on a file is tried, never waited for in the kernel. shim.h. */
#include "sim/live/shim/shim.h"
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- closing: programs that tidy up all descriptors they do not know ---- */

SHIM int close(int fd) {
  if (shim_is_line(fd)) return errno = EBADF, -1;
  if (fd >= 0) shim_timers_drop((unsigned)fd, (unsigned)fd);
  return (int)shim_result(CALL(SYS_close, fd));
}

/* Around the gate's, of which there are few. */
SHIM int close_range(unsigned first, unsigned last, int flags) {
  enum { ENDS = GATE_FD_LEAST + SHIM_LINES_MOST };
  if (first > last) return errno = EINVAL, -1;
  if (!(flags & (int)CLOSE_RANGE_CLOEXEC)) shim_timers_drop(first, last);
  for (unsigned fd = first < GATE_FD_LEAST ? GATE_FD_LEAST : first; fd <= last && fd < ENDS; fd++) {
    if (!shim_is_line((int)fd)) continue;
    long r = fd > first ? CALL(SYS_close_range, first, fd - 1, flags) : 0;
    if (r < 0) return (int)shim_result(r);
    first = fd + 1;
  }
  return first > last ? 0 : (int)shim_result(CALL(SYS_close_range, first, last, flags));
}
SHIM void closefrom(int least) {
  close_range(least < 0 ? 0 : (unsigned)least, ~0u, 0);
}

/* ---- copies ---- */

static int copied(int from, long to) {
  if (to >= 0) shim_timer_dup(from, (int)to);
  return (int)shim_result(to);
}

SHIM int dup(int fd) {
  return copied(fd, CALL(SYS_dup, fd));
}
SHIM int dup3(int fd, int to, int flags) {
  if (shim_is_line(to)) return errno = EBADF, -1;
  long r = CALL(SYS_dup3, fd, to, flags);
  if (r >= 0) shim_timers_drop((unsigned)r, (unsigned)r);
  return copied(fd, r);
}
/* To itself it is a look whether it is open. */
SHIM int dup2(int fd, int to) {
  if (fd != to) return dup3(fd, to, 0);
  return CALL(SYS_fcntl, fd, F_GETFD) < 0 ? (errno = EBADF, -1) : to;
}

/* ---- locks ---- */

/* Who unlocks goes on, and after it whoever waits looks again: gate_lines.c. */
static bool waits(Wait *w, long r) {
  return (r == -EAGAIN || r == -EACCES || r == -EWOULDBLOCK) && shim_wait(w) != GO_INTERRUPTED;
}

static long lock_file(int fd, int command, long lock) {
  Wait w = {.kind = GATE_LOCK, .deadline_ns = -1};
  long r;
  do r = CALL(SYS_fcntl, fd, command == F_SETLKW ? F_SETLK : F_OFD_SETLK, lock);
  while (waits(&w, r));
  return r == -EAGAIN || r == -EACCES ? -EINTR : r;
}

SHIM int fcntl(int fd, int command, ...) {
  va_list args;
  va_start(args, command);
  long with = va_arg(args, long); /* garbage where none is given, and then the kernel does not look at it */
  va_end(args);
  if (shim_clock && (command == F_SETLKW || command == F_OFD_SETLKW))
    return (int)shim_result(lock_file(fd, command, with));
  if (command != F_DUPFD && command != F_DUPFD_CLOEXEC) return NEXT(fcntl)(fd, command, with);
  return copied(fd, CALL(SYS_fcntl, fd, command, with));
}
SHIM int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));

SHIM int flock(int fd, int how) {
  if (!shim_clock || how & LOCK_NB || how == LOCK_UN) return (int)shim_result(CALL(SYS_flock, fd, how));
  Wait w = {.kind = GATE_LOCK, .deadline_ns = -1};
  long r;
  do r = CALL(SYS_flock, fd, how | LOCK_NB);
  while (waits(&w, r));
  return (int)shim_result(r == -EWOULDBLOCK ? -EINTR : r);
}
