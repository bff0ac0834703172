/* tlb.c - see tlb.h. An entry is page + 1, 0 is empty; each set is kept newest first. */
#include "model/memory/tlb.h"
#include <string.h>

static uint32_t *set_of(uint32_t *entries, guint n, uint64_t page) {
  return entries + page % (n / TLB_WAYS) * TLB_WAYS;
}

/* To the front of its set. Returns whether it was there; *out: what had to leave (0: nothing). */
static gboolean set_touch(uint32_t *set, uint32_t tag, uint32_t *out) {
  guint way = 0;
  while (way < TLB_WAYS - 1 && set[way] != tag) way++;
  gboolean hit = set[way] == tag;
  *out = hit ? 0 : set[way];
  memmove(set + 1, set, way * sizeof *set);
  set[0] = tag;
  return hit;
}

static void set_drop(uint32_t *set, uint32_t tag) {
  for (guint way = 0; way < TLB_WAYS; way++)
    if (set[way] == tag) {
      memmove(set + way, set + way + 1, (TLB_WAYS - 1 - way) * sizeof *set);
      set[TLB_WAYS - 1] = 0;
      return;
    }
}

TlbResult tlb_touch(uint32_t *tlb, guint l1, guint l2, uint64_t page) {
  g_assert(page < UINT32_MAX && l1 >= TLB_WAYS);
  uint32_t tag = (uint32_t)page + 1, out;
  if (set_touch(set_of(tlb, l1, page), tag, &out)) return TLB_L1_HIT;
  if (!l2) return TLB_MISS;
  if (set_touch(set_of(tlb + l1, l2, page), tag, &out)) return TLB_L2_HIT;
  if (out) set_drop(set_of(tlb, l1, out - 1), out);
  return TLB_MISS;
}
