/* operation.h - what a process of concurrent code does next that another could notice: an access to shared memory, a
 * lock, a semaphore, a round of spinning. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef enum {
  OPERATION_READ,
  OPERATION_WRITE,
  OPERATION_UPDATE, /* read-modify-write, whether or not it writes in the end */
  OPERATION_LOCK,
  OPERATION_LOCK_SHARED,
  OPERATION_TRY, /* never waits; takes the lock, or does not */
  OPERATION_TRY_SHARED,
  OPERATION_UNLOCK,
  OPERATION_UNLOCK_SHARED,
  OPERATION_DOWN,
  OPERATION_TRY_DOWN,
  OPERATION_UP,
  OPERATION_BUFFER, /* total store order: a store goes into its process's buffer, from where it is written later */
  OPERATION_FENCE,  /* waits until that buffer is empty */
  OPERATION_SPIN,   /* another round of a loop: waits until something that the last round read has changed */
  OPERATION_LOCAL   /* nobody notices */
} OperationKind;

/* Fences that come one after the other, as one: what was acquired by the time of the last release is released. */
enum { FENCED_NONE, FENCED_ACQUIRE, FENCED_RELEASE, FENCED_BOTH, FENCED_RELEASE_ACQUIRE };

typedef struct {
  OperationKind kind;
  uint32_t bytes;  /* of memory */
  uint64_t object; /* address, or number of the lock or semaphore */
  const void *pc;  /* where in the code; NULL: not known */
  /* Total store order. Of OPERATION_BUFFER, and of the write out of the buffer: which store of its process, from 1. Of
   * others: so many of its process's stores must have been written before; 0: any number. */
  uint32_t store;
  bool own;       /* a load that is answered by what is in its process's buffer */
  uint8_t atomic; /* of memory: 0 not, else 1 + the C memory order (__ATOMIC_RELAXED ...) */
  uint8_t unless; /* of a compare-and-exchange: 1 + the order that it has where it fails, as a load; 0: it is none */
  uint8_t fences; /* FENCED_*: of its process, since the operation before; they put in order and wait for nothing */
  bool counts;    /* a spin: each round of the loop leaves something new, so that others might come to something else */
  bool blind;     /* an update that loads nothing: a store that nothing may overtake */
  /* The lock that it would have taken, were that not left out. A load then, of what who takes that lock looks at. */
  uint16_t left_out;
} Operation;

static inline bool operation_memory(OperationKind k) {
  return k <= OPERATION_UPDATE;
}
static inline bool operation_lock(OperationKind k) {
  return k >= OPERATION_LOCK && k <= OPERATION_UNLOCK_SHARED;
}
static inline bool operation_semaphore(OperationKind k) {
  return k >= OPERATION_DOWN && k <= OPERATION_UP;
}
/* Has the lock afterwards, unless it was a try that failed. */
static inline bool operation_takes(OperationKind k) {
  return k >= OPERATION_LOCK && k <= OPERATION_TRY_SHARED;
}
/* Others could notice that it was done. */
static inline bool operation_touches(OperationKind k) {
  return (operation_memory(k) && k != OPERATION_READ) || operation_lock(k) || operation_semaphore(k);
}
/* Of x86: locked instructions and system calls wait until the store buffer is empty. */
static inline bool operation_drains(OperationKind k) {
  return k == OPERATION_UPDATE || k == OPERATION_FENCE || operation_lock(k) || operation_semaphore(k);
}
/* May have to wait. */
static inline bool operation_waits(OperationKind k) {
  return k == OPERATION_LOCK || k == OPERATION_LOCK_SHARED || k == OPERATION_DOWN || k == OPERATION_SPIN;
}
