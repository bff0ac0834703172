/* hooks.c - what the compiler's thread-sanitizer instrumentation calls at each load and store: the common way, which
 * counts and looks at as little as can be; all else is touch.c's.
 *
 * The common access is a word in a line that was seen before: a comparison, a counter. A store to another element's
 * watched word (a follower's pgxactoff) is told apart by its place in the element, which comes of a multiplication,
 * since a division would double the cost. None of these functions needs a frame: where anything is out of the common,
 * nothing has been counted yet and the whole access goes another way. */
#include "sim/subject/touch.h"
#include <string.h>

/* No line's address has all bits set; NULL is one like any other. */
void hooks_forget(void) {
  memset(hooks.seen, 0xff, sizeof hooks.seen);
}

/* In a storm a third of these are first stores to their page, in no order that could be guessed: no branch for that.
 * Nearly all are to lines of others, at the place where the last one was: among 64 pages, for 70 slots of each a bit.
 */
static inline __attribute__((always_inline)) void hook_follower(uintptr_t p, uint64_t element, const void *pc) {
  uintptr_t line = touch_line_of(p), place = p - hooks.group_at;
  bool as_before = pc == hooks.follower_pc && place < hooks.group_bytes && hooks.left[HOOKS_FOLLOWERS] > 0;
  if (G_UNLIKELY(!as_before || line == hooks.last_line + HOOKS_LINE)) return touch_follower(p, element, pc);
  if (G_LIKELY(hooks.word_owner)) {
    uint32_t *owner = &hooks.word_owner[element];
    if (G_UNLIKELY(!*owner || *owner == hooks.owner)) return touch_follower(p, element, pc);
    *owner = hooks.owner;
  }
  hooks.left[HOOKS_FOLLOWERS]--;
  hooks.last_line = line;
  *hooks.group_bits |= UINT64_C(1) << (place >> hooks.page_shift & 63);
}

/* An aligned word, no follower, whose line was not seen: now it is. */
static __attribute__((noinline)) void new_line(const void *p, uint64_t bytes, MemAccess access, const void *pc) {
  uintptr_t line = touch_line_of((uintptr_t)p);
  uint64_t at = (uintptr_t)p - hooks.base;
  int64_t *left = &hooks.left[access == MEM_WRITE ? HOOKS_STORES : 0];
  if (G_UNLIKELY(at >= hooks.size || *left <= 0 || !touch_is_mapped(at))) return touch(p, bytes, access, pc);
  --*left;
  hooks.stores += access == MEM_WRITE;
  if (hooks.line_owner) touch_line(line);
  hooks.seen[line / HOOKS_LINE % HOOKS_SEEN] = line;
}

/* What nearly every access is: an aligned word, in a line that was seen before, or a variable. A word that is not
 * aligned is told by the low bits, which no line's address has. */
static inline __attribute__((always_inline)) void touch_word(const void *p, uint64_t bytes, MemAccess access,
                                                             const void *pc) {
  uintptr_t a = (uintptr_t)p, line = a & ~(uintptr_t)(HOOKS_LINE - bytes);
  if (access == MEM_WRITE) {
    uint64_t element = touch_element_of(a);
    if (element < hooks.watched[__builtin_ctzll(bytes)] && a != hooks.own_word) return hook_follower(a, element, pc);
  }
  int64_t *left = &hooks.left[access == MEM_WRITE ? HOOKS_STORES : 0];
  if (G_LIKELY(hooks.seen[a / HOOKS_LINE % HOOKS_SEEN] == line && *left > 0)) {
    --*left;
    if (access == MEM_WRITE) hooks.stores++;
    hooks.last_line = line;
    return;
  }
  if (a - hooks.image < hooks.image_bytes) return;
  if (G_UNLIKELY(a & (bytes - 1))) return touch(p, bytes, access, pc);
  new_line(p, bytes, access, pc);
}

#define READ(bytes)                                                                                                    \
  HOOK(void, read##bytes, void *p);                                                                                    \
  void hook_read##bytes(void *p) {                                                                                     \
    touch_word(p, bytes, MEM_READ, PC);                                                                                \
  }                                                                                                                    \
  HOOK(void, unaligned_read##bytes, void *p);                                                                          \
  void hook_unaligned_read##bytes(void *p) {                                                                           \
    touch(p, bytes, MEM_READ, PC);                                                                                     \
  }
#define WRITE(bytes)                                                                                                   \
  HOOK(void, write##bytes, void *p);                                                                                   \
  void hook_write##bytes(void *p) {                                                                                    \
    touch_word(p, bytes, MEM_WRITE, PC);                                                                               \
  }                                                                                                                    \
  HOOK(void, unaligned_write##bytes, void *p);                                                                         \
  void hook_unaligned_write##bytes(void *p) {                                                                          \
    touch(p, bytes, MEM_WRITE, PC);                                                                                    \
  }
READ(1)
READ(2)
READ(4)
READ(8)
READ(16)
WRITE(1)
WRITE(2)
WRITE(4)
WRITE(8)
WRITE(16)

HOOK(void, init, void);
void hook_init(void) {}
HOOK(void, read_range, void *p, size_t bytes);
void hook_read_range(void *p, size_t bytes) {
  touch_range(p, bytes, MEM_READ, PC);
}
HOOK(void, write_range, void *p, size_t bytes);
void hook_write_range(void *p, size_t bytes) {
  touch_range(p, bytes, MEM_WRITE, PC);
}
HOOK(void, func_entry, void *pc);
void hook_func_entry(void *pc) {
  (void)pc;
}
HOOK(void, func_exit, void);
void hook_func_exit(void) {}
HOOK(void, vptr_update, void **p, void *value);
void hook_vptr_update(void **p, void *value) {
  (void)value;
  touch(p, sizeof *p, MEM_WRITE, PC);
}
