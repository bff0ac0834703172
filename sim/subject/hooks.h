/* hooks.h - the state of the compiler's instrumentation hooks (hooks.c): whose memory an access is counted to. One a
 * process, as the hooks have no argument. The files of this folder set it before a subject's code runs. */
#pragma once
#include "model/memory/memory.h"
#include <stddef.h>

/* Lines of shared memory that the process that runs has touched since it runs, by their address modulo: its page is
 * mapped, the line its own, so that one more access is only counted. Forgotten when another runs. They stand as far
 * apart as the lines themselves, so that a part of the address is the place. */
typedef struct {
  _Alignas(64) uintptr_t line; /* address */
} HooksSeen;
enum { HOOKS_LINE = sizeof(HooksSeen), HOOKS_SEEN = 64, HOOKS_SIZES = 5 /* 1, 2, 4, 8, 16 bytes */ };
#define HOOKS_BY_ELEMENT UINT32_C(0x80000000)

/* Accesses until the limit, in several parts: loads of different places, and stores, need not wait for each other's
 * count. Who finds its part used up has all that is left dealt anew (hooks_spend). */
enum { HOOKS_LOADS = 3, HOOKS_STORES = HOOKS_LOADS, HOOKS_FOLLOWERS, HOOKS_PARTS };

/* The first members are known to the code that front.c puts into a subject: another layout is another number. */
#define HOOKS_SYMBOL "stm_hooks_2"
typedef struct {
  uintptr_t last_line; /* its address */
  int64_t left[HOOKS_PARTS];
  HooksSeen seen[HOOKS_SEEN];
  /* a word of each element of an array, whose stores are counted apart, beside the process's own */
  uintptr_t watch_first, own_word; /* the first element's */
  uint64_t watch_inverse;          /* of the stride, times 2^64, rounded up */
  uint64_t watched[HOOKS_SIZES];   /* how many elements, now, at the size of their word; 0: none of this size */
  uint32_t watch_size, watch_stride;
  /* The 64 pages where the last of those stores went: addresses of words from `group_at` on, in `group_bytes` (0:
   * nowhere); their bits in the page table, and what those were when their pages were last counted. */
  uintptr_t group_at;
  uint64_t group_bytes, *group_bits, group_before;
  int64_t settled; /* left[HOOKS_FOLLOWERS] when they were last counted: since then each fetched its line */
  int64_t followers;
  const void *follower_pc;
  uintptr_t base; /* shared memory that is counted is [base, base + size) */
  uint64_t size;
  uintptr_t image; /* the subject's own variables and constants */
  uint64_t image_bytes;
  int64_t stores; /* other than followers */
  /* cache lines: who touched each last; NULL: not counted. Those of followers' words are kept by element, next to each
   * other as they are met: line_owner then says HOOKS_BY_ELEMENT and which one. NULL: they are not */
  uint32_t *line_owner, *word_owner, owner;
  guint page_shift;
  AddressSpace *as;         /* of the process that runs */
  MemoryHot *hot;           /* of `as`, or one that has no page: then every access takes the long way */
  Touch follower;           /* what those stores did, */
  uintptr_t mapped;         /* the page of shared memory that was last found mapped, for the process that runs */
  uint64_t watch_count;     /* what `watched` is while shared memory is counted */
  bool watch_whole;         /* no such word lies in two pages, or lines */
  uint8_t atomic;           /* of the access under way: 0, else 1 + its memory order */
  uint8_t unless;           /* and that of a compare-and-exchange which fails */
  bool update;              /* it loads and stores as one */
  int64_t lines, seq_lines; /* fetched by others than followers' stores, as Touch has them */
} Hooks;
G_STATIC_ASSERT(offsetof(Hooks, last_line) == 0 && offsetof(Hooks, left) == 8 && HOOKS_PARTS == 5 &&
                offsetof(Hooks, seen) == 64);
extern Hooks hooks __asm__(HOOKS_SYMBOL);
/* bytes 0: none. In force when hooks_count says so. */
void hooks_watch(uintptr_t at, uint64_t bytes, uint32_t stride, uint32_t offset, uint32_t size);
void hooks_count(uint64_t size); /* shared memory is counted: so many bytes of it; 0: none */
void hooks_settle(void);         /* what has been put off is counted: to `as`, `followers`, `follower` */
void hooks_set_left(int64_t n);
int64_t hooks_left(void); /* in all; -1: one more than the limit was tried */
/* A part is used up: from the others'. False: nothing is left, and one less. */
bool hooks_deal(guint part);
static inline bool hooks_spend(guint part) {
  if (G_UNLIKELY(hooks.left[part] <= 0)) return hooks_deal(part);
  hooks.left[part]--;
  return true;
}
void hooks_forget(void); /* what was seen: others may have run since */
