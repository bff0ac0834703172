/* test_coro_ucontext.c - the suite of test_coro.c over the way of coro.c for machines that have no coro_switch. The
 * functions compiled here come before those of the library. */
#define CORO_UCONTEXT
#include "model/world/coro.c" // NOLINT(bugprone-suspicious-include)
#define SUITE "coro, ucontext"
#include "tests/test_coro.c" // NOLINT(bugprone-suspicious-include)
