/* What a search says it has covered: classes as closed forms count them, the rest of the tree against trees whose size
 * is known, the chance of news against what was not seen, places of preemption. */
#include "tests/abstract_shapes.h"
#include "tests/harness.h"

static const SchedulesOptions reduced = {.strategy = SCHEDULES_DPOR, .preemptions = -1, .delays = -1};
static const SchedulesOptions unreduced = {.strategy = SCHEDULES_DFS, .preemptions = -1, .delays = -1};

static SchedulesResult *search(Program g, SchedulesOptions o) {
  ScheduleProgram p = abstract_program(&g);
  o.max_steps = 500;
  return schedules_search(&p, &o);
}

/* As in tests/test_schedules.c, each number by its own argument; here counted by hashes among all schedules. */
static void classes_are_counted(void) {
  struct {
    Program g;
    uint64_t classes;
  } known[] = {{writers(5), 120}, {readers(5), 32},        {twice_read(3), 27},   {apart(3), 1}, {stores(2, 4), 70},
               {sections(4), 24}, {shared_sections(3), 8}, {philosophers(4), 15}, {iriw(), 15},  {last_zero(3), 12}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    g_autoptr(SchedulesResult) all = search(known[i].g, unreduced), few = search(known[i].g, reduced);
    if (schedules_classes(all, SCHEDULES_DFS) != known[i].classes) fprintf(stderr, "%s:\n", known[i].g.name);
    expect_int(schedules_classes(all, SCHEDULES_DFS), ==, known[i].classes);
    expect_int(schedules_classes(few, SCHEDULES_DPOR), ==, known[i].classes);
  }
}

static double guess(Program g, SchedulesOptions o, uint64_t after) {
  o.max_schedules = after;
  g_autoptr(SchedulesResult) r = search(g, o);
  return schedules_estimate(r);
}

/* n!: all branches are alike, so any part of the tree tells the whole. Orders of 2 and 4 stores, (2 n)! / n!^2: some
 * parts mislead. Reduced, what is to be tried is not yet known: never less than what was seen. */
static void rest_is_estimated(void) {
  for (uint64_t after = 1; after <= 720; after += 37) expect_near(guess(writers(6), unreduced, after), 720, 1e-9);
  for (uint64_t after = 500; after < 12870; after += 600) {
    double saw = guess(stores(2, 8), unreduced, after);
    expect(saw > 12870 / 3.0 && saw < 12870 * 3.0);
  }
  for (uint64_t after = 1; after < 320; after += 11) {
    SchedulesOptions o = reduced;
    o.max_schedules = after;
    g_autoptr(SchedulesResult) r = search(last_zero(7), o);
    expect(schedules_estimate(r) >= (double)r->schedules - 1e-6);
  }
  expect_near(guess(last_zero(7), reduced, 0), 320, 1e-9);
  expect_near(guess(stores(2, 8), unreduced, 0), 12870, 1e-9);
}

/* Of the 6 orders of 3 writers each is as likely. What 12 draws have missed of them, on the average of many runs, is
 * what Good's formula says, and what 6 (1 - 1/6)^12 of 6 would. */
static void chance_of_news(void) {
  enum { RUNS = 3000, DRAWS = 12 };
  double said = 0, missed = 0, exact = 1;
  for (uint64_t seed = 0; seed < RUNS; seed++) {
    SchedulesOptions o = {.strategy = SCHEDULES_RANDOM, .max_schedules = DRAWS, .seed = seed};
    g_autoptr(SchedulesResult) r = search(writers(3), o);
    said += schedules_chance_of_news(r) / RUNS;
    missed += (6.0 - (double)schedules_classes(r, SCHEDULES_RANDOM)) / 6 / RUNS;
  }
  for (int i = 0; i < DRAWS; i++) exact *= 5.0 / 6;
  expect_near(missed, exact, 0.08);
  expect_near(said, exact * 6 / 5, 0.08); /* it is an estimate for one draw less */
}

/* Two that have nothing to do with each other: one order is enough, with nobody preempted between the first one's two
 * operations; of all orders some preempt each. */
static void points_of_preemption(void) {
  g_autoptr(SchedulesResult) few = search(apart(2), reduced), all = search(apart(2), unreduced);
  expect_int(few->coverage.points.used, ==, 1);
  expect_int(tally_count(&few->coverage.points, POINT_SEEN), ==, 1);
  expect_int(all->coverage.points.used, ==, 2);
  expect_int(tally_count(&all->coverage.points, POINT_SEEN | POINT_TAKEN), ==, 2);
}

/* Without a preemption nobody is, at any of the places. */
static void bounded_takes_none(void) {
  SchedulesOptions o = unreduced;
  o.preemptions = 0;
  g_autoptr(SchedulesResult) r = search(stores(2, 4), o);
  expect_int(r->coverage.points.used, ==, 6);
  expect_int(tally_count(&r->coverage.points, POINT_SEEN), ==, 6);
}

static void jobs_cover_the_same(void) {
  SchedulesOptions ways[] = {reduced, unreduced, {.strategy = SCHEDULES_RANDOM, .max_schedules = 3000, .seed = 7}};
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    g_autoptr(SchedulesResult) one = search(stores(2, 6), ways[i]);
    ways[i].jobs = 3;
    g_autoptr(SchedulesResult) three = search(stores(2, 6), ways[i]);
    expect_int(three->coverage.classes.used, ==, one->coverage.classes.used);
    expect_int(three->coverage.points.used, ==, one->coverage.points.used);
    expect_int(tally_count(&three->coverage.classes, 1), ==, tally_count(&one->coverage.classes, 1));
    expect_int(tally_count(&three->coverage.points, 3), ==, tally_count(&one->coverage.points, 3));
    expect_near(three->coverage.part, one->coverage.part, 0);
  }
}

int main(void) {
  return suite_run("schedules, coverage", (const Case[]){{"classes are counted", classes_are_counted},
                                                         {"the rest is estimated", rest_is_estimated},
                                                         {"chance of news", chance_of_news},
                                                         {"points of preemption", points_of_preemption},
                                                         {"a bound takes none", bounded_takes_none},
                                                         {"jobs cover the same", jobs_cover_the_same},
                                                         {NULL, NULL}});
}
