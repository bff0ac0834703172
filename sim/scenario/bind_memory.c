/* bind_memory.c - the keys under machine that the memory model is made of. */
#include "sim/scenario/scenario.h"

void scenario_bind_memory(const Scenario *s, const Costs *costs, MemoryConfig *out) {
  const bool tlb = !scenario_is(s, "machine.tlb", "none"), by_cost = scenario_is(s, "machine.lines", "auto");
  *out = (MemoryConfig){.page_size = (uint64_t)scenario_bytes(s, "machine.page_size"),
                        .fault_around = (uint64_t)scenario_bytes(s, "machine.fault_around"),
                        .tlb_l1 = tlb ? (guint)scenario_int(s, "machine.tlb.l1") : 0,
                        .tlb_l2 = tlb ? (guint)scenario_int(s, "machine.tlb.l2") : 0,
                        .lines = by_cost ? costs && costs->ps[COST_LINE_TRANSFER] > 0
                                         : scenario_is(s, "machine.lines", "on")};
}
