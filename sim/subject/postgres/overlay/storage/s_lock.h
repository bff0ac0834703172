/* s_lock.h - stands before the tree's own: the same spinlocks, without assembly, so that the instrumentation sees them. */
#include_next "storage/s_lock.h"
#undef TAS
#undef TAS_SPIN
#undef S_UNLOCK
#undef S_INIT_LOCK
#undef SPIN_DELAY
#define TAS(lock)         ((int) __atomic_exchange_n((lock), 1, __ATOMIC_SEQ_CST))
#define TAS_SPIN(lock)    TAS(lock)
#define S_UNLOCK(lock)    __atomic_store_n((lock), 0, __ATOMIC_RELEASE)
#define S_INIT_LOCK(lock) S_UNLOCK(lock)
#define SPIN_DELAY()      ((void) 0)
