/* harness.h - one CUnit suite per program: tests/test_X.c lists its cases and calls suite_run.
 *
 *   static void adds(void) { expect_int(add(1, 2), ==, 3); }
 *   int main(void) { return suite_run("add", (const Case[]){{"adds", adds}, {0}}); }
 *
 * Assertions print both operands. suite_run returns 0 when every assertion held, 1 otherwise. */
#pragma once
#include <CUnit/Basic.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  const char *name;
  void (*run)(void);
} Case;

#define expect(cond)                                                                                                   \
  do {                                                                                                                 \
    int expect_so = !!(cond); /* evaluated once: it may do something */                                                \
    if (!expect_so) fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                                 \
    CU_ASSERT(expect_so);                                                                                              \
  } while (0)

#define expect_int(a, op, b)                                                                                           \
  do {                                                                                                                 \
    long long expect_a = (long long)(a), expect_b = (long long)(b);                                                    \
    if (!(expect_a op expect_b))                                                                                       \
      fprintf(stderr, "%s:%d: %s %s %s: saw %lld and %lld\n", __FILE__, __LINE__, #a, #op, #b, expect_a, expect_b);    \
    CU_ASSERT(expect_a op expect_b);                                                                                   \
  } while (0)

#define expect_str(a, b)                                                                                               \
  do {                                                                                                                 \
    const char *expect_a = (a), *expect_b = (b);                                                                       \
    if (g_strcmp0(expect_a, expect_b) != 0)                                                                            \
      fprintf(stderr, "%s:%d: %s: saw \"%s\", not \"%s\"\n", __FILE__, __LINE__, #a, expect_a ? expect_a : "(null)",   \
              expect_b ? expect_b : "(null)");                                                                         \
    CU_ASSERT(g_strcmp0(expect_a, expect_b) == 0);                                                                     \
  } while (0)

/* |a - b| <= rel * |b| */
#define expect_near(a, b, rel)                                                                                         \
  do {                                                                                                                 \
    double expect_a = (double)(a), expect_b = (double)(b), expect_d = expect_a - expect_b;                             \
    int expect_ok = (expect_d < 0 ? -expect_d : expect_d) <= (rel) * (expect_b < 0 ? -expect_b : expect_b);            \
    if (!expect_ok) fprintf(stderr, "%s:%d: %s: saw %g, not near %g\n", __FILE__, __LINE__, #a, expect_a, expect_b);   \
    CU_ASSERT(expect_ok);                                                                                              \
  } while (0)

static inline int suite_run(const char *name, const Case *cases) {
  if (CU_initialize_registry() != CUE_SUCCESS) return 1;
  CU_pSuite suite = CU_add_suite(name, NULL, NULL);
  for (const Case *c = cases; c->name; c++) CU_add_test(suite, c->name, c->run);
  CU_basic_set_mode(CU_BRM_NORMAL);
  CU_basic_run_tests();
  unsigned failed = CU_get_number_of_failures();
  CU_cleanup_registry();
  return failed ? 1 : 0;
}
