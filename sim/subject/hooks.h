/* hooks.h - the state of the compiler's instrumentation hooks (hooks.c): whose memory an access is counted to. One a
 * process, as the hooks have no argument. The files of this folder set it before a subject's code runs. */
#pragma once
#include "model/memory/memory.h"

typedef struct {
  uintptr_t base; /* shared memory that is counted is [base, base + size) */
  uint64_t size;
  uintptr_t image; /* the subject's own variables and constants */
  uint64_t image_bytes;
  AddressSpace *as; /* of the process that runs */
  MemoryHot *hot;   /* of `as`, or one that has no page: then every access takes the long way */
  int64_t left;     /* accesses until the limit */
  int64_t stores;
  /* a word of each element of an array, whose stores are counted apart */
  uint64_t watch_base, watch_bytes, watch_magic, own_word;
  uint32_t watch_stride, watch_offset, watch_size;
  int64_t followers;
  const void *follower_pc;
  Touch follower; /* what those stores did */
  /* cache lines: who touched each last; NULL: not counted */
  uint32_t *line_owner, owner;
  uint64_t last_line;
  uint8_t atomic;           /* of the access under way: 0, else 1 + its memory order */
  bool update;              /* it loads and stores as one */
  int64_t lines, seq_lines; /* fetched by others than followers' stores, as Touch has them */
} Hooks;
extern Hooks hooks;
void hooks_watch(uint64_t base, uint64_t bytes, uint32_t stride, uint32_t offset, uint32_t size);
