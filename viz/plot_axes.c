/* plot_axes.c - ranges, ticks and places of labels of a log-log plot. */
#include "viz/plot_axes.h"
#include <math.h>

double log_range_place(const LogRange *r, double v) {
  g_assert(r->low > 0 && r->high > r->low && v > 0);
  return log(v / r->low) / log(r->high / r->low);
}

void log_range_hold(LogRange *r, double v) {
  g_assert(v > 0);
  if (!(r->low > 0) || v < r->low) r->low = v;
  if (v > r->high) r->high = v;
}

void log_range_pad(LogRange *r, double factor) {
  g_assert(factor > 1 && r->low > 0);
  r->low /= factor;
  r->high *= factor;
}

GArray *log_range_ticks(const LogRange *r) {
  static const int digits[] = {1, 2, 5};
  GArray *ticks = g_array_new(FALSE, FALSE, sizeof(double));
  int first = (int)floor(log10(r->low)), last = (int)ceil(log10(r->high));
  guint per_decade = r->high / r->low > 1000 ? 1 : 3;
  for (int decade = first; decade <= last; decade++)
    for (guint d = 0; d < per_decade; d++) {
      /* A division is exact where 10^-3 is not: 0.005 is 5/1000. */
      double v = decade < 0 ? digits[d] / pow(10, -decade) : digits[d] * pow(10, decade);
      if (v >= r->low && v <= r->high) g_array_append_val(ticks, v);
    }
  return ticks;
}

typedef struct {
  double sum; /* of the wishes of its members, each less the steps below it */
  guint first, n;
} Block;

static double block_start(const Block *b, double step) {
  double start = b->sum / b->n, room = 1 - (b->n - 1) * step;
  return CLAMP(start, 0, MAX(room, 0));
}

/* Pool adjacent violators: places that collide become one block, centred on what its members wished for, and blocks
 * that collide are joined. The clamp may push a block onto its neighbour, which joins them likewise. */
void places_spread(double *places, guint n, double step) {
  g_autofree guint *order = g_new(guint, n + 1);
  g_autofree Block *blocks = g_new(Block, n + 1);
  guint n_blocks = 0;
  for (guint i = 0; i < n; i++) {
    guint at = i;
    for (; at > 0 && places[order[at - 1]] > places[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  for (guint i = 0; i < n; i++) {
    blocks[n_blocks++] = (Block){places[order[i]], i, 1};
    while (n_blocks > 1) {
      Block *a = &blocks[n_blocks - 2], *b = a + 1;
      if (block_start(a, step) + a->n * step <= block_start(b, step)) break;
      a->sum += b->sum - b->n * (a->n * step);
      a->n += b->n;
      n_blocks--;
    }
  }
  for (guint b = 0; b < n_blocks; b++)
    for (guint k = 0; k < blocks[b].n; k++)
      places[order[blocks[b].first + k]] = block_start(&blocks[b], step) + k * step;
}
