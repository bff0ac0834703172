/* library.c - what calls of mem* functions are renamed to (`subject build`), and accesses that code tells of itself:
 * one access to each range, loads come first. Entries of a watched array are counted. */
#include "sim/subject/touch.h"
#include <string.h>

/* Above its first frame is what brings the process back to its driver: overwritten, nobody could tell of it. */
static bool beyond_stack(const void *p, uint64_t bytes) {
  const Subject *s = subject_here;
  const char *first = s && s->running ? s->running->first_frame : NULL, *at = p;
  return first && at < first && at >= (const char *)__builtin_frame_address(0) && bytes > (uint64_t)(first - at);
}

/* What a word near the end reaches beyond it is an empty part of the segment. */
void touch_range(const void *p, uint64_t bytes, MemAccess access, const void *pc) {
  uint64_t at = (uintptr_t)p - hooks.base;
  if (!bytes) return;
  if (at < hooks.size && bytes > hooks.size - at)
    subject_broken(pc, "access to %" G_GUINT64_FORMAT " bytes that end outside its memory", bytes);
  touch(p, bytes, access, pc);
  if (at >= hooks.size && beyond_stack(p, bytes))
    subject_broken(pc, "access to %" G_GUINT64_FORMAT " bytes of its stack that end outside its memory", bytes);
}

/* Others may go on between the loads and what follows: what was loaded then is kept. */
static const void *read_range(const void *from, size_t bytes, const void *pc) {
  touch_range(from, bytes, MEM_READ, pc);
  return subject_is_searched() ? interleave_keep(from, bytes) : from;
}

/* Returns where to copy from. */
static inline const void *move(const void *to, const void *from, size_t bytes, const void *pc) {
  from = read_range(from, bytes, pc);
  touch_range(to, bytes, MEM_WRITE, pc);
  Subject *s = subject_here;
  uint64_t at = (uintptr_t)to - hooks.base;
  if (!bytes || at >= hooks.size || !s || !s->running || s->interleave) return from;
  if (at - s->moves_base < s->moves_bytes) s->running->use.moved += (int64_t)(bytes / s->moves_width);
  subject_row(s, pc, at)->moved += (int64_t)bytes;
  return from;
}

static void enter(const void *pc) {
  if (subject_here) subject_here->entered_from = pc;
}

/* While libc works for the code, a signal there is the code's (crash.c). */
#define LIBC(call)                                                                                                     \
  enter(pc);                                                                                                           \
  call;                                                                                                                \
  enter(NULL)

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
  if (!subject_is_searched()) touch_range(at, bytes, write ? MEM_WRITE : MEM_READ, PC);
}
