/* gate_protocol.h - what the preloaded library (shim/) and the driver (gate.h) say to each other, and the page from
 * which the pooler reads the time.
 *
 * Each thread of each process has a connection of its own, its line. A thread that is to wait looks first, without
 * waiting. Only when that look found nothing, and its timeout is not over in virtual time, does it say BLOCKED (a
 * GateReport), and then it does nothing until GO comes: so whoever has read BLOCKED, and sent nothing since, knows that
 * all that was sent before has been taken. GO lets it look again.
 *
 * GO goes to one line at a time, so of all that a pooler has one thread runs. A new thread or process gets its line
 * from the one that makes it, before it is made, and begins by waiting for GO: so whoever has read the maker's next
 * BLOCKED has seen all that it made. A line that ends says that its thread, or with the last of them its process, does.
 */
#pragma once
#include <stdint.h>

#define GATE_ENV_SOCKET  "STAMPEDE_GATE"    /* path of the driver's SOCK_SEQPACKET socket */
#define GATE_ENV_CLOCK   "STAMPEDE_CLOCK"   /* path of the clock page */
#define GATE_ENV_SEED    "STAMPEDE_SEED"    /* of the bytes that the pooler takes for random; decimal */
#define GATE_ENV_SERVERS "STAMPEDE_SERVERS" /* how the paths of servers begin, to which connects take time */
enum { GATE_FILL = 0xff };                  /* what the driver reads, and drops, to let such a connect be over */

/* Written by the driver alone, and only while all threads wait for GO. */
typedef struct {
  volatile int64_t monotonic_ns, real_ns;
  int64_t passes; /* 1: who asks for the time is let through to the next library (libfaketime) */
} GateClock;

typedef enum {
  GATE_START, /* a thread or process that has not begun */
  GATE_EPOLL,
  GATE_POLL,
  GATE_SELECT,
  GATE_SLEEP,
  GATE_PAUSE, /* for a signal alone */
  GATE_READ,
  GATE_WRITE, /* until there is room */
  GATE_ACCEPT,
  GATE_CHILD, /* wait() */
  GATE_SEMAPHORE,
  GATE_LOCK, /* a mutex or a reader-writer lock */
  GATE_JOIN,
  GATE_CONDITION, /* a condition variable or a futex */
  GATE_KINDS
} GateKind;
enum {
  GATE_FRESH = 1,   /* the program has gone on since this line's last report */
  GATE_LISTENS = 2, /* it waits for a connection, perhaps among other things */
  GATE_PARKED = 4,  /* only another thread of its process can wake it, or its deadline */
  GATE_WOKE = 8,    /* it has woken parked threads of its process */
  GATE_MADE = 16    /* its process has made lines */
};
typedef struct {
  int32_t pid, tid;
  uint32_t kind, flags;
  int64_t deadline_ns; /* of the monotonic clock; -1: none */
} GateReport;
typedef struct {
  uint32_t go;      /* 1: look again */
  uint32_t signals; /* 0: none can have come since BLOCKED, so that there is nothing to ask the kernel */
} GateAnswer;

enum { GATE_FD_LEAST = 1000 }; /* the shim's own descriptors are not below, so that the pooler's stay what they are */
