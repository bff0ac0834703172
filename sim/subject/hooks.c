/* hooks.c - what the compiler's thread-sanitizer instrumentation calls at each load and store: the common way, which
 * counts and looks at as little as can be; all else is touch.c's.
 *
 * The common access is a word in a line that was seen before: a comparison, a counter. A store to another element's
 * watched word (a follower's pgxactoff) is told apart by its place in the element, which comes of a multiplication,
 * since a division would double the cost. None of these functions needs a frame: where anything is out of the common,
 * nothing has been counted yet and the whole access goes another way. */
#include "sim/subject/touch.h"

/* No line's address has all bits set, and no page's; NULL is one like any other. */
void hooks_forget(void) {
  for (guint i = 0; i < HOOKS_SEEN; i++) hooks.seen[i].line = UINTPTR_MAX;
  hooks.mapped = UINTPTR_MAX;
}

static inline __attribute__((always_inline)) uintptr_t *seen_at(uintptr_t a) {
  return &hooks.seen[a / HOOKS_LINE % HOOKS_SEEN].line;
}

/* Nearly all stores to watched words are to lines of others, made where the last one was, among 64 pages, for 70 slots
 * of each a bit: a third of those in a storm are first stores to their page, in no order that could be guessed, so no
 * branch for that. False: it is something else, and nothing has been done. */
static inline __attribute__((always_inline)) bool follower_as_before(uintptr_t a, const void *pc) {
  if (pc != hooks.follower_pc || a - hooks.group_at >= hooks.group_bytes) return false;
  uint64_t element = touch_element_of(a);
  uintptr_t before = (a - HOOKS_LINE) & ~(uintptr_t)(HOOKS_LINE - 1);
  if (element == UINT64_MAX || a == hooks.own_word || before == hooks.last_line) return false;
  uint32_t *owner = hooks.word_owner ? &hooks.word_owner[element] : NULL;
  if (owner && (!*owner || *owner == hooks.owner)) return false;
  if (G_UNLIKELY(--hooks.left[HOOKS_FOLLOWERS] < 0)) return hooks.left[HOOKS_FOLLOWERS]++, false;
  if (owner) *owner = hooks.owner;
  hooks.last_line = before + HOOKS_LINE;
  *hooks.group_bits |= UINT64_C(1) << (a >> hooks.page_shift & 63); /* shared memory begins at a multiple of 64 pages */
  return true;
}

/* An aligned word, no follower, whose line was not seen: now it is. A page stays mapped as long as its process runs. */
static inline __attribute__((always_inline)) void new_line(uintptr_t a, uint64_t bytes, MemAccess access,
                                                           const void *pc) {
  uintptr_t line = touch_line_of(a), page = a >> hooks.page_shift;
  int64_t *left = &hooks.left[access == MEM_WRITE ? HOOKS_STORES : 0];
  if (G_UNLIKELY(page != hooks.mapped)) {
    if (a - hooks.base >= hooks.size || !touch_is_mapped(a - hooks.base)) return touch((void *)a, bytes, access, pc);
    bool whole = ((a - hooks.base) | ((UINT64_C(1) << hooks.page_shift) - 1)) < hooks.size;
    if (whole) hooks.mapped = page; /* of the last one an address may lie outside */
  }
  if (G_UNLIKELY(--*left < 0)) return ++*left, touch((void *)a, bytes, access, pc);
  hooks.stores += access == MEM_WRITE;
  if (hooks.line_owner) touch_line(line);
  *seen_at(a) = line;
}
static __attribute__((noinline)) void new_loaded(uintptr_t a, uint64_t bytes, const void *pc) {
  new_line(a, bytes, MEM_READ, pc);
}
static __attribute__((noinline)) void new_stored(uintptr_t a, uint64_t bytes, const void *pc) {
  new_line(a, bytes, MEM_WRITE, pc);
}

/* What nearly every access is: an aligned word, in a line that was seen before, or a variable. A word that is not
 * aligned is told by the low bits, which no line's address has. */
static inline __attribute__((always_inline)) void touch_word(const void *p, uint64_t bytes, MemAccess access,
                                                             const void *pc) {
  uintptr_t a = (uintptr_t)p, line = a & ~(uintptr_t)(HOOKS_LINE - bytes);
  if (access == MEM_WRITE) {
    if (G_LIKELY(follower_as_before(a, pc))) return;
    uint64_t element = touch_element_of(a);
    if (element < hooks.watched[__builtin_ctzll(bytes)] && a != hooks.own_word) return touch_follower(a, element, pc);
  }
  int64_t *left = &hooks.left[access == MEM_WRITE ? HOOKS_STORES : 0];
  if (G_LIKELY(*seen_at(a) == line && *left > 0)) {
    --*left;
    if (access == MEM_WRITE) hooks.stores++;
    hooks.last_line = line;
    return;
  }
  if (a - hooks.image < hooks.image_bytes) return;
  if (G_UNLIKELY(a & (bytes - 1))) return touch(p, bytes, access, pc);
  if (access == MEM_WRITE) return new_stored(a, bytes, pc);
  new_loaded(a, bytes, pc);
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
