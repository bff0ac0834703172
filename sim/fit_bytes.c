/* fit_bytes.c - a fitted cost per byte beside what moving and hashing a byte takes where the fit runs. It is measured
 * and so differs from run to run: it is told on the terminal and never written into a profile. See fit_report.h. */
#include "sim/fit_report.h"
#include <string.h>
#include <time.h>
#include <xxhash.h>

enum { BLOCK = 260, BLOCKS = 64, ROUNDS = 2000, TRIES = 7 }; /* blocks of a key's size; all of them fit a first level */

static const unsigned char from[BLOCKS][BLOCK];

static uint64_t copy_all(unsigned char (*to)[BLOCK]) {
  size_t n = BLOCK;
  __asm__ volatile("" : "+r"(n)); /* a size that the compiler knows it would copy with slow string instructions */
  for (guint i = 0; i < BLOCKS; i++) {
    memcpy(to[i], from[i], n);
    __asm__ volatile("" : : "r"(to[i]) : "memory"); /* the compiler must not see that nobody reads it */
  }
  return to[0][0];
}

static uint64_t hash_all(unsigned char (*to)[BLOCK]) {
  uint64_t sum = 0;
  for (guint i = 0; i < BLOCKS; i++) sum += XXH3_64bits(to[i], BLOCK);
  return sum;
}

/* FNV-1a: a byte after the other, as simple hashes of maps go. */
static uint64_t hash_bytewise(unsigned char (*to)[BLOCK]) {
  uint64_t sum = 0;
  for (guint i = 0; i < BLOCKS; i++) {
    uint64_t h = UINT64_C(14695981039346656037);
    for (guint k = 0; k < BLOCK; k++) h = (h ^ to[i][k]) * UINT64_C(1099511628211);
    sum += h;
  }
  return sum;
}

/* ns a byte: the best of some tries, what others do on the machine only adds. */
static double speed(uint64_t (*all)(unsigned char (*to)[BLOCK])) {
  unsigned char to[BLOCKS][BLOCK] = {{0}};
  uint64_t sum = 0;
  double best = 1e9;
  for (guint t = 0; t < TRIES; t++) {
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (guint r = 0; r < ROUNDS; r++) sum += all(to);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    __asm__ volatile("" : : "r"(sum));
    best = MIN(best, ns / ((double)ROUNDS * BLOCKS * BLOCK));
  }
  return best;
}

void fit_report_bytes(const FitStory *s, GString *out) {
  for (guint i = 0; i < s->problem->n_free; i++) {
    CostId id = s->problem->free[i].id;
    if (!g_str_has_suffix(cost_info[id].key, "_per_byte")) continue;
    g_string_append_printf(out,
                           "%s: %.4f ns a byte; on this machine, measured now in blocks of %d bytes: memcpy %.4f, "
                           "XXH3 %.4f, a bytewise hash %.4f\n",
                           cost_info[id].key, (double)s->result->costs.ps[id] / 1000, BLOCK, speed(copy_all),
                           speed(hash_all), speed(hash_bytewise));
  }
}
