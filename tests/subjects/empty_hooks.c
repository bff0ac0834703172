/* Hooks that return at once, linked into a subject in place of the runtime's: what is left is what instrumentation
 * costs by itself (tests/bench_subject.c). Only those that compilers call for what the subjects here do. */
#include <stddef.h>

/* Under names of their own: compilers have built-in ideas of the types of these symbols. */
#define EMPTY(name, ...)                                                                                               \
  void empty_##name(__VA_ARGS__) __asm__("__tsan_" #name);                                                             \
  void empty_##name(__VA_ARGS__) {}
EMPTY(init, void)
EMPTY(read1, void *p)
EMPTY(read2, void *p)
EMPTY(read4, void *p)
EMPTY(read8, void *p)
EMPTY(read16, void *p)
EMPTY(write1, void *p)
EMPTY(write2, void *p)
EMPTY(write4, void *p)
EMPTY(write8, void *p)
EMPTY(write16, void *p)
EMPTY(unaligned_read2, void *p)
EMPTY(unaligned_read4, void *p)
EMPTY(unaligned_read8, void *p)
EMPTY(unaligned_write2, void *p)
EMPTY(unaligned_write4, void *p)
EMPTY(unaligned_write8, void *p)
EMPTY(read_range, void *p, size_t bytes)
EMPTY(write_range, void *p, size_t bytes)
