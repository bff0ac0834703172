/* tlb.h - a two-level TLB of one process: sets of four entries, least recently used goes first, level 1 within level 2.
 * Not for other folders. */
#pragma once
#include <glib.h>
#include <stdint.h>

enum { TLB_WAYS = 4 };
typedef enum { TLB_L1_HIT, TLB_L2_HIT, TLB_MISS } TlbResult;

/* tlb: l1 + l2 entries, zeroed; l1, l2 multiples of 4. Looks page up and makes it the newest. A level-1 hit does not
 * refresh level 2 (hardware does not see it there); what level 2 throws out leaves level 1 as well. */
TlbResult tlb_touch(uint32_t *tlb, guint l1, guint l2, uint64_t page);
