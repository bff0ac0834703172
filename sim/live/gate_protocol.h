/* gate_protocol.h - what the preloaded library (shim/gate_shim.c) and the driver (gate.h) say to each other, and the
 * page from which the pooler reads the time.
 *
 * A thread that is to wait looks first, without waiting. Only when that look found nothing, and its timeout is not over
 * in virtual time, does it say BLOCKED, and then it does nothing until GO comes: so whoever has read BLOCKED, and sent
 * nothing since, knows that all that was sent before has been taken. GO lets it look again. */
#pragma once
#include <stdint.h>

#define GATE_ENV_SOCKET "STAMPEDE_GATE"  /* path of the driver's SOCK_SEQPACKET socket */
#define GATE_ENV_CLOCK  "STAMPEDE_CLOCK" /* path of the clock page */
#define GATE_ENV_SEED   "STAMPEDE_SEED"  /* of the bytes that the pooler takes for random; decimal */

/* Written by the driver alone, and only while all threads wait for GO. */
typedef struct {
  volatile int64_t monotonic_ns, real_ns;
} GateClock;

typedef enum { GATE_EPOLL, GATE_POLL, GATE_SELECT, GATE_SLEEP, GATE_KINDS } GateKind;
typedef struct {
  int32_t pid, tid;
  uint32_t kind, spare; /* GateKind; 0 */
  int64_t deadline_ns;  /* of the monotonic clock; -1: none */
} GateReport;
typedef struct {
  uint32_t go; /* 1: look again */
} GateAnswer;

enum { GATE_FD_LEAST = 1000 }; /* the shim's own descriptor is not below, so that the pooler's stay what they are */
