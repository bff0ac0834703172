/* process.c - a new process: its line is there before it is, and it waits for its first GO (shim.h). */
#include "sim/live/shim/shim.h"
#include <unistd.h>

SHIM pid_t fork(void) {
  if (!shim_clock) return NEXT(fork)();
  int its = shim_line_new();
  uint64_t seed = shim_draw(); /* or two children would draw the same */
  pid_t p = NEXT(fork)();
  if (p != 0) return shim_line_drop(its), p;
  shim_lines_forget(its);
  shim_park_forget();
  shim_seed(seed);
  shim_alarm_ns = -1; /* not inherited */
  shim_line_take(its);
  return 0;
}
/* The child may do more than vfork allows: it has a memory of its own. */
SHIM pid_t vfork(void) {
  return fork();
}
