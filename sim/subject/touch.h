/* touch.h - an access of the process that runs, as the compiler's hooks, mem* calls and atomics tell it; for the files
 * of this folder that they call. All on the subject's stack; `pc` is where in its code. */
#pragma once
#include "sim/subject/runtime.h"

/* Declares `hook_name` under the symbol that instrumented code calls. Under names of their own, as compilers have
 * built-in ideas of the types of these symbols, and under sanitizers insist on them. */
#define HOOK(type, name, ...) type hook_##name(__VA_ARGS__) __asm__("__tsan_" #name)

void touch(const void *p, uint64_t bytes, MemAccess access, const void *pc); /* that ends in the segment, if it begins
                                                                                there; bytes > 0 */
void touch_range(const void *p, uint64_t bytes, MemAccess access, const void *pc); /* any */
void touch_private(const void *p, const void *pc); /* not in shared memory that is counted */
/* A store to the watched word of another's element. */
void touch_follower(uintptr_t p, uint64_t element, const void *pc);

static inline uintptr_t touch_line_of(uintptr_t p) {
  return p & ~(uintptr_t)(HOOKS_LINE - 1);
}

/* As model/memory/lines.c counts them: a line last touched by another is fetched, one that follows the line before it
 * is streamed. */
static inline __attribute__((always_inline)) void touch_owner(uint32_t *at, uintptr_t line, int64_t *fetched,
                                                              int64_t *streamed) {
  int64_t others = (*at != 0) & (*at != hooks.owner);
  *at = hooks.owner;
  *fetched += others;
  if (line == hooks.last_line + HOOKS_LINE) *streamed += others;
  hooks.last_line = line;
}

static inline __attribute__((always_inline)) void touch_line(uintptr_t line) {
  uint32_t *at = &hooks.line_owner[(line - hooks.base) / HOOKS_LINE];
  if (G_UNLIKELY(*at & HOOKS_BY_ELEMENT)) at = &hooks.word_owner[*at & ~HOOKS_BY_ELEMENT];
  touch_owner(at, line, &hooks.lines, &hooks.seq_lines);
}

/* The page is mapped, as far as can be seen at once. */
static inline __attribute__((always_inline)) bool touch_is_mapped(uint64_t at) {
  uint64_t page = at >> hooks.page_shift;
  const uint64_t *bits = memory_hot_word(hooks.hot, page);
  return bits && (*bits >> (page & 63) & 1);
}

/* Which element's watched word begins at p; as many as are watched, or more: none. A distance n below 2^64/stride is a
 * multiple of the stride exactly if the low half of n times the stride's inverse is less than the inverse, and then the
 * high half is the quotient (Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019); one farther away
 * gives no smaller quotient. */
static inline __attribute__((always_inline)) uint64_t touch_element_of(uintptr_t p) {
  __extension__ unsigned __int128 x = (unsigned __int128)(p - hooks.watch_first) * hooks.watch_inverse;
  return (uint64_t)x < hooks.watch_inverse ? (uint64_t)(x >> 64) : UINT64_MAX;
}
