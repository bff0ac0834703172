/* costs.c - the table of costs, and picoseconds times a count in nanoseconds. */
#include "model/world/costs.h"
#include <glib.h>

const CostInfo cost_info[COST_COUNT] = {
#define COST_INFO(id, key, about) [COST_##id] = {key, about},
    COST_LIST(COST_INFO)
#undef COST_INFO
};

enum { PS_PER_NS = 1000 };

int64_t costs_ns(const Costs *c, CostId id, int64_t count) {
  g_assert((unsigned)id < COST_COUNT);
  int64_t unit = c->ps[id];
  g_assert(unit >= 0 && count >= 0);
  uint64_t ps;
  /* Both factors are below 2^63, so adding half a nanosecond can wrap only where the product already had: then 128
   * bits (a GNU extension of gcc and clang; its division is a library call, hence not for every charge). */
  if (!__builtin_mul_overflow((uint64_t)unit, (uint64_t)count, &ps) && ps <= UINT64_MAX - PS_PER_NS / 2)
    return (int64_t)((ps + PS_PER_NS / 2) / PS_PER_NS);
  unsigned __int128 ns = ((unsigned __int128)unit * (unsigned __int128)count + PS_PER_NS / 2) / PS_PER_NS;
  return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}
