/* atomics.c - the hooks of atomic operations. A read-modify-write is a store. They are done with the strongest order;
 * where processes go on operation by operation the order that was asked for says what waits for what. */
#include "sim/subject/touch.h"

static __attribute__((noinline)) void touch_atomic(const volatile void *a, uint64_t bytes, MemAccess access,
                                                   bool update, int order, const void *pc) {
  hooks.atomic = (uint8_t)(1 + order);
  hooks.update = update;
  touch((const void *)a, bytes, access, pc);
  hooks.atomic = 0;
  hooks.update = false;
}
void subject_touch_atomic(const volatile void *at, uint64_t bytes, MemAccess access, bool update, int order,
                          const void *pc) {
  touch_atomic(at, bytes, access, update, order, pc);
}
#define UPDATES(order) touch_atomic(a, sizeof *a, MEM_WRITE, true, order, PC)

/* A compare-and-exchange that fails is a load, with an order of its own. */
static __attribute__((noinline)) void touch_exchange(const volatile void *a, uint64_t bytes, int order, int failed,
                                                     const void *pc) {
  hooks.unless = (uint8_t)(1 + failed);
  touch_atomic(a, bytes, MEM_WRITE, true, order, pc);
  hooks.unless = 0;
}
static bool exchanged(bool so) {
  if (!so && subject_is_searched()) interleave_exchange_failed();
  return so;
}

#define ATOMIC(bits, type)                                                                                             \
  HOOK(type, atomic##bits##_load, const volatile type *a, int order);                                                  \
  type hook_atomic##bits##_load(const volatile type *a, int order) {                                                   \
    touch_atomic(a, bits / 8, MEM_READ, false, order, PC);                                                             \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                                       \
  }                                                                                                                    \
  HOOK(void, atomic##bits##_store, volatile type *a, type v, int order);                                               \
  void hook_atomic##bits##_store(volatile type *a, type v, int order) {                                                \
    touch_atomic(a, bits / 8, MEM_WRITE, false, order, PC);                                                            \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                                          \
  }                                                                                                                    \
  HOOK(int, atomic##bits##_compare_exchange_strong, volatile type *a, type *c, type v, int order, int failed);         \
  int hook_atomic##bits##_compare_exchange_strong(volatile type *a, type *c, type v, int order, int failed) {          \
    touch_exchange(a, bits / 8, order, failed, PC);                                                                    \
    return exchanged(__atomic_compare_exchange_n(a, c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));                     \
  }                                                                                                                    \
  HOOK(int, atomic##bits##_compare_exchange_weak, volatile type *a, type *c, type v, int order, int failed);           \
  int hook_atomic##bits##_compare_exchange_weak(volatile type *a, type *c, type v, int order, int failed) {            \
    touch_exchange(a, bits / 8, order, failed, PC);                                                                    \
    return exchanged(__atomic_compare_exchange_n(a, c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));                     \
  }                                                                                                                    \
  HOOK(type, atomic##bits##_compare_exchange_val, volatile type *a, type c, type v, int order, int failed);            \
  type hook_atomic##bits##_compare_exchange_val(volatile type *a, type c, type v, int order, int failed) {             \
    touch_exchange(a, bits / 8, order, failed, PC);                                                                    \
    exchanged(__atomic_compare_exchange_n(a, &c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));                           \
    return c;                                                                                                          \
  }
#define MODIFY(bits, type, name, builtin)                                                                              \
  HOOK(type, atomic##bits##_##name, volatile type *a, type v, int order);                                              \
  type hook_atomic##bits##_##name(volatile type *a, type v, int order) {                                               \
    UPDATES(order);                                                                                                    \
    return builtin(a, v, __ATOMIC_SEQ_CST);                                                                            \
  }
#define ALL(bits, type)                                                                                                \
  ATOMIC(bits, type)                                                                                                   \
  MODIFY(bits, type, exchange, __atomic_exchange_n)                                                                    \
  MODIFY(bits, type, fetch_add, __atomic_fetch_add)                                                                    \
  MODIFY(bits, type, fetch_sub, __atomic_fetch_sub)                                                                    \
  MODIFY(bits, type, fetch_and, __atomic_fetch_and)                                                                    \
  MODIFY(bits, type, fetch_or, __atomic_fetch_or)                                                                      \
  MODIFY(bits, type, fetch_xor, __atomic_fetch_xor)                                                                    \
  MODIFY(bits, type, fetch_nand, __atomic_fetch_nand)
ALL(8, uint8_t)
ALL(16, uint16_t)
ALL(32, uint32_t)
ALL(64, uint64_t)

HOOK(void, atomic_thread_fence, int order);
void hook_atomic_thread_fence(int order) {
  if (subject_is_searched() && subject_here->running) interleave_fence(order, PC);
}
HOOK(void, atomic_signal_fence, int order);
void hook_atomic_signal_fence(int order) {
  (void)order;
}
