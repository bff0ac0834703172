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
  OPERATION_SPIN, /* another round of a loop: waits until something that the last round read has changed */
  OPERATION_LOCAL /* nobody notices */
} OperationKind;

typedef struct {
  OperationKind kind;
  uint32_t bytes;  /* of memory */
  uint64_t object; /* address, or number of the lock or semaphore */
  const void *pc;  /* where in the code; NULL: not known */
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
/* May have to wait. */
static inline bool operation_waits(OperationKind k) {
  return k == OPERATION_LOCK || k == OPERATION_LOCK_SHARED || k == OPERATION_DOWN || k == OPERATION_SPIN;
}
