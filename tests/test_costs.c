/* test_costs.c - rounding and saturation against hand-worked values and 128-bit arithmetic; the table of keys. */
#include "model/world/costs.h"
#include "model/world/rng.h"
#include "tests/harness.h"

static int64_t ns(int64_t ps, int64_t count) {
  Costs c = {{0}};
  c.ps[COST_FORK] = ps;
  return costs_ns(&c, COST_FORK, count);
}

static void rounds_half_up(void) {
  expect_int(ns(499, 1), ==, 0);
  expect_int(ns(500, 1), ==, 1);
  expect_int(ns(1499, 1), ==, 1);
  expect_int(ns(1500, 1), ==, 2);
  expect_int(ns(2500, 1), ==, 3); /* half to even would say 2 */
  expect_int(ns(1, 1499), ==, 1);
  expect_int(ns(0, 5), ==, 0);
  expect_int(ns(5, 0), ==, 0);
}

static void saturates(void) {
  expect_int(ns(INT64_MAX, 1), ==, INT64_MAX / 1000 + 1); /* ...775807 ps: 0.807 ns rounds up */
  expect_int(ns(INT64_MAX, 1000), ==, INT64_MAX);
  expect_int(ns(INT64_MAX, 1001), ==, INT64_MAX);
  expect_int(ns(INT64_MAX, INT64_MAX), ==, INT64_MAX);
  expect_int(ns(1000, INT64_MAX), ==, INT64_MAX);
  /* (2^32 + 1)(2^32 - 1) = 2^64 - 1 fits in 64 bits, half a nanosecond more does not: ...551.615 */
  expect_int(ns(4294967297, 4294967295), ==, 18446744073709552);
  expect_int(ns(999, INT64_MAX), ==, 9214148664817921031); /* 2^63 - 1 less a thousandth of it: ...031.193 */
}

/* Quotient and remainder apart: no product of the two factors is ever formed. */
static int64_t ns_by_parts(uint64_t ps, uint64_t count) {
  unsigned __int128 whole = (unsigned __int128)(count / 1000) * ps, rest = (unsigned __int128)(count % 1000) * ps;
  unsigned __int128 sum = whole + rest / 1000 + (rest % 1000 >= 500);
  return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

static void agrees_with_division_by_parts(void) {
  Rng r;
  rng_init(&r, 1, "costs");
  for (int i = 0; i < 200000; i++) {
    int64_t ps = (int64_t)(rng_next(&r) >> (1 + rng_below(&r, 63)));
    int64_t count = (int64_t)(rng_next(&r) >> (1 + rng_below(&r, 63)));
    int64_t saw = ns(ps, count), want = ns_by_parts((uint64_t)ps, (uint64_t)count);
    if (saw == want) continue;
    expect_int(saw, ==, want);
    fprintf(stderr, "  for %" G_GINT64_FORMAT " ps x %" G_GINT64_FORMAT "\n", ps, count);
    return;
  }
}

static void keys_are_named_and_differ(void) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (int i = 0; i < COST_COUNT; i++) {
    expect(strchr(cost_info[i].key, '.') != NULL);
    expect(*cost_info[i].about != '\0');
    expect(g_hash_table_add(seen, (gpointer)(gintptr)cost_info[i].key));
  }
  expect_str(cost_info[COST_FAULT_WRITE].key, "memory.fault_write");
}

int main(void) {
  return suite_run("costs", (const Case[]){{"rounds half up", rounds_half_up},
                                           {"saturates", saturates},
                                           {"agrees with division by parts", agrees_with_division_by_parts},
                                           {"keys are named and differ", keys_are_named_and_differ},
                                           {0}});
}
