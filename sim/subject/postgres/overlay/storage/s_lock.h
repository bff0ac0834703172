/* s_lock.h - stands before the tree's own: its spinlocks are those of stampede_subject.h, without assembly. */
#include_next "storage/s_lock.h"
#undef S_LOCK
#undef S_UNLOCK
#undef S_INIT_LOCK
#undef TAS
#undef TAS_SPIN
#undef SPIN_DELAY
extern void stm_spin_init(volatile void *byte, const char *name);
extern void stm_spin_lock(volatile void *byte);
extern void stm_spin_unlock(volatile void *byte);
#define S_LOCK(lock)      stm_spin_lock(lock)
#define S_UNLOCK(lock)    stm_spin_unlock(lock)
#define S_INIT_LOCK(lock) stm_spin_init((lock), #lock)
#define TAS(lock)         ((int) __atomic_exchange_n((lock), 1, __ATOMIC_SEQ_CST))
#define TAS_SPIN(lock)    TAS(lock)
#define SPIN_DELAY()      ((void) 0)
