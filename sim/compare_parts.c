/* compare_parts.c - checks and hot spots of two sides, laid side by side. Texts stay those of the results. */
#include "sim/compare_parts.h"
#include <string.h>

/* ---- checks ---- */

static ComparedCheck *check_row(GArray *all, const char *name) {
  for (guint i = 0; i < all->len; i++)
    if (!strcmp(g_array_index(all, ComparedCheck, i).name, name)) return &g_array_index(all, ComparedCheck, i);
  ComparedCheck row = {.name = name, .verdict = {CHECK_NOT_VIOLATED, CHECK_NOT_VIOLATED}};
  g_array_append_val(all, row);
  return &g_array_index(all, ComparedCheck, all->len - 1);
}

static void add_checks(GArray *all, Side side, const RunResult *r) {
  for (guint i = 0; i < r->checks->len; i++) {
    const CheckResult *from = &g_array_index(r->checks, CheckResult, i);
    ComparedCheck *row = check_row(all, from->check->name);
    if (row->verdict[side] == CHECK_VIOLATED) continue;
    if (from->verdict != CHECK_NOT_VIOLATED) row->verdict[side] = from->verdict;
    if (from->verdict == CHECK_VIOLATED) row->why[side] = from->why, row->seed[side] = r->seed;
  }
}

GArray *compare_checks(const CompareInput *in, const ComparedCase *c) {
  GArray *all = g_array_new(FALSE, TRUE, sizeof(ComparedCheck));
  for (Side side = 0; side < SIDES; side++)
    for (guint seed = 0; seed < c->plan->seeds; seed++) {
      const RunResult *r = compare_result(in, c, side, seed);
      if (r) add_checks(all, side, r);
    }
  return all;
}

/* ---- hot spots ---- */

static ComparedSpot *spot_row(GArray *all, const HotSpotRow *like) {
  for (guint i = 0; i < all->len; i++) {
    ComparedSpot *s = &g_array_index(all, ComparedSpot, i);
    if (!strcmp(s->structure, like->structure) && !strcmp(s->site, like->site)) return s;
  }
  ComparedSpot row = {.structure = like->structure, .site = like->site};
  g_array_append_val(all, row);
  return &g_array_index(all, ComparedSpot, all->len - 1);
}

static void add_spots(GArray *all, Side side, const RunResult *r) {
  for (guint i = 0; i < r->hotspots->len; i++) {
    const HotSpotRow *from = &g_array_index(r->hotspots, HotSpotRow, i);
    ComparedSpot *row = spot_row(all, from);
    row->on[side] = true;
    row->faults[side] += (double)from->faults;
    row->ms[side] += from->ms;
  }
}

static double change_of(const ComparedSpot *s) {
  const double d = s->ms[SIDE_PATCH] - s->ms[SIDE_BASELINE];
  return d < 0 ? -d : d;
}

static int by_change(gconstpointer a, gconstpointer b) {
  const ComparedSpot *x = a, *y = b;
  const double more = change_of(x), less = change_of(y);
  if (more > less || more < less) return more > less ? -1 : 1;
  const int order = strcmp(x->structure, y->structure);
  return order ? order : strcmp(x->site, y->site);
}

GArray *compare_spots(const CompareInput *in, const ComparedCase *c) {
  GArray *all = g_array_new(FALSE, TRUE, sizeof(ComparedSpot));
  const RunResult *pair[SIDES];
  guint n = 0;
  for (guint seed = 0; seed < c->plan->seeds; seed++) {
    if (!compare_pair(in, c, seed, pair)) continue;
    for (Side side = 0; side < SIDES; side++) add_spots(all, side, pair[side]);
    n++;
  }
  for (guint i = 0; i < all->len; i++)
    for (Side side = 0; side < SIDES; side++) {
      g_array_index(all, ComparedSpot, i).faults[side] /= n;
      g_array_index(all, ComparedSpot, i).ms[side] /= n;
    }
  g_array_sort(all, by_change);
  return all;
}
