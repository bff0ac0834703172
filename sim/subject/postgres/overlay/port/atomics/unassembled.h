/* unassembled.h - pg_atomic_uint32 and 64, and their plain loads and stores, as the compiler's relaxed atomics: a
 * server's read a volatile word, which is whole but in no order, and which the instrumentation would take for any
 * other. Types and what is not here are the tree's (port/atomics/generic*.h). */
#define PG_HAVE_8BYTE_SINGLE_COPY_ATOMICITY

#define PG_HAVE_ATOMIC_U32_SUPPORT
typedef struct pg_atomic_uint32 {
  volatile uint32 value;
} pg_atomic_uint32;

#define PG_HAVE_ATOMIC_U64_SUPPORT
typedef struct pg_atomic_uint64 {
  volatile uint64 value __attribute__((aligned(8)));
} pg_atomic_uint64;

#define PG_HAVE_ATOMIC_READ_U32
static inline uint32 pg_atomic_read_u32_impl(volatile pg_atomic_uint32 *ptr) {
  return __atomic_load_n(&ptr->value, __ATOMIC_RELAXED);
}
#define PG_HAVE_ATOMIC_WRITE_U32
static inline void pg_atomic_write_u32_impl(volatile pg_atomic_uint32 *ptr, uint32 value) {
  __atomic_store_n(&ptr->value, value, __ATOMIC_RELAXED);
}
#define PG_HAVE_ATOMIC_READ_U64
static inline uint64 pg_atomic_read_u64_impl(volatile pg_atomic_uint64 *ptr) {
  return __atomic_load_n(&ptr->value, __ATOMIC_RELAXED);
}
#define PG_HAVE_ATOMIC_WRITE_U64
static inline void pg_atomic_write_u64_impl(volatile pg_atomic_uint64 *ptr, uint64 value) {
  __atomic_store_n(&ptr->value, value, __ATOMIC_RELAXED);
}
