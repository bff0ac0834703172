/* hooks.c - what the compiler's thread-sanitizer instrumentation calls at each load and store, and what calls of mem*
 * functions are renamed to (`subject build`).
 *
 * The common access is to a page that the process has mapped: a comparison, two counters, a bit. Everything else takes
 * the long way: faults, other memory, recording. A store to another element's watched word (a follower's pgxactoff) is
 * counted apart, faults and all; its place in the element comes of a multiplication, since a division would double the
 * cost (Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019: exact for 32-bit operands). */
#include "sim/subject/runtime.h"
#include <string.h>

Hooks hooks;

void hooks_watch(uintptr_t at, uint64_t bytes, uint32_t stride, uint32_t offset, uint32_t size) {
  uint32_t twos = stride ? (uint32_t)__builtin_ctz(stride) : 0;
  uint64_t odd = stride >> twos, inverse = odd; /* right in three bits; each round doubles them (Newton) */
  for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - odd * inverse;
  g_assert(!stride || odd * inverse == 1);
  hooks.watch_first = at + offset;
  hooks.watch_inverse = inverse, hooks.watch_twos = twos, hooks.watch_size = size;
  hooks.watch_count = stride ? bytes / stride : 0;
}

void hooks_settle(void) {
  if (hooks.mapped) hooks.hot->pages += (uint64_t)hooks.mapped;
  hooks.follower.write_faults += hooks.mapped;
  hooks.mapped = 0;
}

/* No line's address has all bits set; NULL is one like any other. */
void hooks_forget(void) {
  memset(hooks.seen, 0xff, sizeof hooks.seen);
}

/* ---- the long way ---- */

static bool within(const void *p, const char *start, size_t bytes) {
  return (const char *)p >= start && (const char *)p < start + bytes;
}

/* Memory that is not shared: the subject's variables, what it allocated, its stack. While `start` runs shared memory is
 * among it. Anything else is a wild access. */
static __attribute__((cold)) void check_private(const void *p, const void *pc) {
  Subject *s = subject_here;
  ImageRange image = image_code(s->image);
  if (within(p, image.start, image.bytes) || within(p, s->heap, (size_t)(s->heap_end - s->heap))) return;
  if ((s->starting || s->looking) && within(p, s->base, s->reserved)) {
    if (s->interleave) interleave_looked((uint64_t)((const char *)p - s->base));
    return;
  }
  guint last = s->structures->len - 1;
  const Structure *nearest = &g_array_index(s->structures, Structure, last);
  for (guint i = last; i > 0 && s->base + nearest->base > (const char *)p; i--)
    nearest = &g_array_index(s->structures, Structure, i);
  subject_broken(pc, "access to %s outside its memory (nearest: %s)", p ? "an address" : "NULL",
                 nearest->name ? nearest->name : "nothing");
}

/* Apart, so that the common way needs no frame. */
static __attribute__((noinline)) void private_access(const void *p, const void *pc) {
  const char *frame = __builtin_frame_address(0);
  if ((const char *)p - frame < (64 << 10) && (const char *)p >= frame) return; /* its stack, above this frame */
  check_private(p, pc);
}

/* Never returns; gcc is not to know: who calls it last may then jump to it, and needs no frame. */
#ifdef __clang__
#define UNKNOWN_TO_CALLERS noinline
#else
#define UNKNOWN_TO_CALLERS noipa
#endif
static __attribute__((cold, UNKNOWN_TO_CALLERS)) void too_long(const void *pc) {
  subject_broken(pc, "endless: %" G_GINT64_FORMAT " accesses to shared memory in one call", subject_here->accesses);
}

/* Within a page. */
static void touch_part(const void *pc, uint64_t at, uint64_t bytes, MemAccess access) {
  Subject *s = subject_here;
  Proc *p = s->running;
  Touch before, after = {0};
  memory_touch(p->as, at, bytes, access, &after);
  int64_t faults = after.read_faults + after.write_faults;
  if (!faults && !after.tlb_l2_hits && !after.tlb_misses) return;
  Row *row = subject_row(s, pc, at);
  before = row->touch;
  row->touch = (Touch){before.read_faults + after.read_faults,
                       before.write_faults + after.write_faults,
                       before.around + after.around,
                       before.tables + after.tables,
                       before.lines + after.lines,
                       before.seq_lines + after.seq_lines,
                       before.tlb_l2_hits + after.tlb_l2_hits,
                       before.tlb_misses + after.tlb_misses};
  p->use.faults += faults;
  if (at - s->faults_base < s->faults_bytes) p->faults_in += faults;
}

static void long_way(const void *pc, uint64_t at, uint64_t bytes, MemAccess access) {
  Subject *s = subject_here;
  if (s->interleave) return interleave_access(pc, at, bytes, access);
  uint64_t page = UINT64_C(1) << hooks.page_shift;
  if (s->record) s->record(s->record_data, at, bytes, access == MEM_WRITE);
  for (uint64_t end = at + bytes, next; at < end; at = next) {
    next = MIN((at & ~(page - 1)) + page, end);
    touch_part(pc, at, next - at, access);
  }
}

/* ---- the common way ---- */

/* As model/memory/lines.c counts them: a line last touched by another is fetched, one that follows the line before it
 * is streamed. */
static inline __attribute__((always_inline)) void count_owner(uint32_t *at, uintptr_t line, int64_t *fetched,
                                                              int64_t *streamed) {
  int64_t others = (*at != 0) & (*at != hooks.owner);
  *at = hooks.owner;
  *fetched += others;
  if (line == hooks.last_line + HOOKS_LINE) *streamed += others;
  hooks.last_line = line;
}

static inline __attribute__((always_inline)) void count_line(uintptr_t line) {
  uint32_t *at = &hooks.line_owner[(line - hooks.base) / HOOKS_LINE];
  if (G_UNLIKELY(*at & HOOKS_BY_ELEMENT)) at = &hooks.word_owner[*at & ~HOOKS_BY_ELEMENT];
  count_owner(at, line, &hooks.lines, &hooks.seq_lines);
}

static inline uintptr_t line_of(uintptr_t p) {
  return p & ~(uintptr_t)(HOOKS_LINE - 1);
}

/* A distance is a multiple of the stride exactly if, times the inverse of its odd part and rotated by its twos, it is
 * no more than the largest quotient, and then it is the quotient (Granlund, Montgomery, "Division by invariant integers
 * using multiplication", 1994, section 9): one comparison for both the place in an element and the array's ends. */
static inline __attribute__((always_inline)) uint64_t element_of(uintptr_t p) {
  uint64_t x = (p - hooks.watch_first) * hooks.watch_inverse;
  return x >> (hooks.watch_twos & 63) | x << (-hooks.watch_twos & 63);
}
static inline __attribute__((always_inline)) bool is_follower(uintptr_t p, uint64_t element, uint64_t bytes) {
  return element < hooks.watched && bytes == hooks.watch_size && p != hooks.own_word;
}

/* The row is made where its callers can be seen. */
static __attribute__((cold, noinline)) void follower_from(const void *pc) {
  hooks.follower_pc = pc;
  subject_row(subject_here, pc, hooks.watch_first - hooks.base);
}

static __attribute__((cold, noinline)) void record_follower(uint64_t at, uint64_t bytes) {
  const Subject *s = subject_here;
  memory_touch(hooks.as, at, bytes, MEM_WRITE, &hooks.follower);
  if (s->record) s->record(s->record_data, at, bytes, true);
}

/* In a storm a third of these are first stores to their page, and nearly all to lines of others, in no order that could
 * be guessed: no branch for either. */
static __attribute__((noinline)) void touch_follower(uintptr_t p, uint64_t element, uint64_t bytes, const void *pc) {
  uint64_t at = p - hooks.base, page = at >> hooks.page_shift, table = page >> 9, way = table % HOT_TABLES;
  if (G_UNLIKELY(--hooks.left < 0)) return too_long(pc);
  hooks.followers++;
  if (G_UNLIKELY(hooks.follower_pc != pc)) follower_from(pc);
  if (hooks.word_owner)
    count_owner(&hooks.word_owner[element], line_of(p), &hooks.follower.lines, &hooks.follower.seq_lines);
  else if (hooks.line_owner)
    count_owner(&hooks.line_owner[at / HOOKS_LINE], line_of(p), &hooks.follower.lines, &hooks.follower.seq_lines);
  if (G_UNLIKELY(hooks.hot->of[way].table != table || p % bytes)) return record_follower(at, bytes);
  uint64_t *bits = &hooks.hot->of[way].bits[page >> 6 & 7], missing = ~(*bits >> (page & 63)) & 1;
  *bits |= UINT64_C(1) << (page & 63);
  hooks.mapped += (int64_t)missing;
}

static __attribute__((noinline)) void touch(const void *p, uint64_t bytes, MemAccess access, const void *pc) {
  uint64_t at = (uintptr_t)p - hooks.base;
  if (G_UNLIKELY(at >= hooks.size)) return private_access(p, pc);
  uint64_t element = element_of((uintptr_t)p);
  if (access == MEM_WRITE && is_follower((uintptr_t)p, element, bytes))
    return touch_follower((uintptr_t)p, element, bytes, pc);
  if (G_UNLIKELY(--hooks.left < 0)) too_long(pc);
  hooks.stores += access == MEM_WRITE;
  uintptr_t last_line = line_of((uintptr_t)p + bytes - 1);
  for (uintptr_t line = line_of((uintptr_t)p); hooks.line_owner && line <= last_line; line += HOOKS_LINE)
    count_line(line);
  const MemoryHot *hot = hooks.hot;
  uint64_t page = at >> hooks.page_shift, last = (at + bytes - 1) >> hooks.page_shift;
  const uint64_t *bits = memory_hot_word(hot, page);
  if (G_LIKELY(page == last && bits && (*bits >> (page & 63) & 1))) return;
  long_way(pc, at, bytes, access);
}

/* An aligned word, no follower, whose line was not seen: now it is, if its page is mapped. */
static __attribute__((noinline)) void touch_new_line(const void *p, uint64_t bytes, MemAccess access, const void *pc) {
  uintptr_t line = line_of((uintptr_t)p);
  uint64_t at = (uintptr_t)p - hooks.base;
  if (at >= hooks.size) return private_access(p, pc);
  if (G_UNLIKELY(--hooks.left < 0)) too_long(pc);
  hooks.stores += access == MEM_WRITE;
  if (hooks.line_owner) count_line(line);
  uint64_t page = at >> hooks.page_shift;
  const uint64_t *bits = memory_hot_word(hooks.hot, page);
  if (G_UNLIKELY(!bits || !(*bits >> (page & 63) & 1))) return long_way(pc, at, bytes, access);
  hooks.seen[line / HOOKS_LINE % HOOKS_SEEN] = line;
}

/* What nearly every access is: an aligned word, in a line that was seen before, or a variable. A word that is not
 * aligned is told by the low bits, which no line's address has. */
static inline __attribute__((always_inline)) void touch_word(const void *p, uint64_t bytes, MemAccess access,
                                                             const void *pc) {
  uintptr_t a = (uintptr_t)p, line = a & ~(uintptr_t)(HOOKS_LINE - bytes);
  if (access == MEM_WRITE) {
    uint64_t element = element_of(a);
    if (is_follower(a, element, bytes)) return touch_follower(a, element, bytes, pc);
  }
  if (G_LIKELY(hooks.seen[a / HOOKS_LINE % HOOKS_SEEN] == line)) {
    if (G_UNLIKELY(--hooks.left < 0)) return too_long(pc);
    if (access == MEM_WRITE) hooks.stores++;
    hooks.last_line = line;
    return;
  }
  if (a - hooks.image < hooks.image_bytes) return;
  if (G_UNLIKELY(a & (bytes - 1))) return touch(p, bytes, access, pc);
  touch_new_line(p, bytes, access, pc);
}

/* Of any length. What a word near the end reaches beyond it is an empty part of the segment. */
static void touch_range(const void *p, uint64_t bytes, MemAccess access, const void *pc) {
  uint64_t at = (uintptr_t)p - hooks.base;
  if (!bytes) return;
  if (at < hooks.size && bytes > hooks.size - at)
    subject_broken(pc, "access to %" G_GUINT64_FORMAT " bytes that end outside its memory", bytes);
  touch(p, bytes, access, pc);
}

#define PC __builtin_return_address(0)
/* HOOK(type, name, arguments): declares `hook_name` under the symbol that instrumented code calls. Under names of their
 * own, as compilers have built-in ideas of the types of these symbols, and under sanitizers insist on them. */
#define HOOK(type, name, ...) type hook_##name(__VA_ARGS__) __asm__("__tsan_" #name)
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

/* ---- mem* functions: one access to each range; loads come first. Entries of a watched array are counted ---- */

/* Others may go on between the loads and what follows: what was loaded then is kept. */
static const void *read_range(const void *from, size_t bytes, const void *pc) {
  touch_range(from, bytes, MEM_READ, pc);
  return subject_here->interleave ? interleave_keep(from, bytes) : from;
}

/* Returns where to copy from. */
static inline const void *move(const void *to, const void *from, size_t bytes, const void *pc) {
  from = read_range(from, bytes, pc);
  touch_range(to, bytes, MEM_WRITE, pc);
  Subject *s = subject_here;
  uint64_t at = (uintptr_t)to - hooks.base;
  if (!bytes || at >= hooks.size || !s->running || s->interleave) return from;
  if (at - s->moves_base < s->moves_bytes) s->running->use.moved += (int64_t)(bytes / s->moves_width);
  subject_row(s, pc, at)->moved += (int64_t)bytes;
  return from;
}

/* While libc works for the code, a signal there is the code's (crash.c). */
#define LIBC(call)                                                                                                     \
  (subject_here->entered_from = pc);                                                                                   \
  call;                                                                                                                \
  subject_here->entered_from = NULL

void *stm_memmove(void *to, const void *from, size_t bytes);
void *stm_memmove(void *to, const void *from, size_t bytes) {
  const void *pc = PC;
  from = move(to, from, bytes, pc);
  LIBC(memmove(to, from, bytes));
  return to;
}
void *stm_memcpy(void *to, const void *from, size_t bytes);
void *stm_memcpy(void *to, const void *from, size_t bytes) {
  const void *pc = PC;
  from = move(to, from, bytes, pc);
  LIBC(memmove(to, from, bytes));
  return to;
}
void *stm_memset(void *to, int value, size_t bytes);
void *stm_memset(void *to, int value, size_t bytes) {
  const void *pc = PC;
  touch_range(to, bytes, MEM_WRITE, pc);
  LIBC(memset(to, value, bytes));
  return to;
}
int stm_memcmp(const void *a, const void *b, size_t bytes);
int stm_memcmp(const void *a, const void *b, size_t bytes) {
  const void *pc = PC;
  a = read_range(a, bytes, pc);
  touch_range(b, bytes, MEM_READ, pc);
  LIBC(int result = memcmp(a, b, bytes));
  return result;
}
void stm_touch(const void *at, size_t bytes, bool write) {
  touch_range(at, bytes, write ? MEM_WRITE : MEM_READ, PC);
}
void stm_pay(const void *at, size_t bytes, bool write) {
  if (!subject_here->interleave) touch_range(at, bytes, write ? MEM_WRITE : MEM_READ, PC);
}

/* ---- atomics: a read-modify-write is a store. They are done with the strongest order; where processes go on operation
 * by operation the order that was asked for says what waits for what ---- */

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
  if (!so && subject_here->interleave) interleave_exchange_failed();
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
  if (subject_here->interleave && subject_here->running) interleave_fence(order, PC);
}
HOOK(void, atomic_signal_fence, int order);
void hook_atomic_signal_fence(int order) {
  (void)order;
}
