/* Statistics of measurements, with clocks that are made up: medians and quartiles known beforehand, and what is
 * refused. */
#include "sim/calibrate/bench.h"
#include "sim/calibrate/machine.h"
#include "sim/calibrate/samples.h"
#include "tests/harness.h"
#include <sched.h>

/* A clock that goes on by the next of a list at every second look: batch i takes step[i % n]. */
typedef struct {
  const int64_t *step;
  guint n, looks;
  int64_t now;
} FakeClock;
static int64_t fake_now(void *data) {
  FakeClock *c = data;
  if (c->looks++ % 2 == 1) c->now += c->step[c->looks / 2 % c->n];
  return c->now;
}
static void nothing(void *state) {
  ++*(guint *)state;
}
static SampleStats by_clock(const int64_t *step, guint n, guint samples, double units) {
  FakeClock c = {.step = step, .n = n};
  SampleClock clock = {fake_now, &c};
  guint batches = 0;
  SampleStats s = sample_batches(&clock, samples, nothing, &batches, units);
  expect_int(batches, ==, samples * SAMPLE_BATCHES + 1); /* one that warms up */
  return s;
}

static void quartiles_of_known_values(void) {
  double odd[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
  SampleStats s = sample_stats(odd, 5);
  expect_near(s.median, 3, 0);
  expect_near(s.low, 2, 0);
  expect_near(s.high, 4, 0);
  expect_near(sample_spread(&s), 2.0 / 3, 1e-12);
  s = sample_stats(even, 4);
  expect_near(s.median, 2.5, 1e-12);
  expect_near(s.low, 1.75, 1e-12);
  expect_near(s.high, 3.25, 1e-12);
  s = sample_stats(one, 1);
  expect(s.low == 7 && s.median == 7 && s.high == 7 && s.n == 1);
}

/* Time is charged by unit. */
static void a_steady_clock(void) {
  static const int64_t step[] = {1000};
  SampleStats s = by_clock(step, 1, 11, 10);
  expect_near(s.median, 100, 0);
  expect_near(sample_spread(&s), 0, 0);
  expect_int(s.n, ==, 11);
  expect_str(sample_worthless(&s), NULL);
}

/* Four batches of five are disturbed: the fastest is what counts. */
static void disturbances_are_left_out(void) {
  static const int64_t step[] = {9000, 1000, 7777, 50000, 3000};
  SampleStats s = by_clock(step, 5, 15, 1);
  expect_near(s.median, 1000, 0);
  expect_near(s.high, 1000, 0);
}

static void refused(SampleStats s, const char *because) {
  g_autofree char *why = sample_worthless(&s);
  expect(why != NULL);
  if (why && !strstr(why, because)) fprintf(stderr, "  said: %s\n", why);
  expect(why && strstr(why, because));
}

/* A wide spread, too few samples, a clock that stands still or goes backwards. */
static void what_is_refused(void) {
  refused((SampleStats){100, 70, 121, 21}, "spread of 51 %");
  refused((SampleStats){100, 99, 101, SAMPLES_LEAST - 1}, "samples");
  refused((SampleStats){0, 0, 0, 21}, "no cost");
  refused((SampleStats){-3, -4, -2, 21}, "no cost");
  SampleStats just = {100, 75, 125, 21};
  expect_str(sample_worthless(&just), NULL);
  static const int64_t still[] = {0};
  refused(by_clock(still, 1, 11, 1), "no cost");
}

static double failing(void *state) {
  return ++*(guint *)state > 7 ? -1 : 5;
}
static void a_batch_that_fails(void) {
  guint calls = 0;
  expect_int(sample_told(11, failing, &calls, 1).n, ==, 0);
  expect_int(calls, ==, 8);
}

/* 700 ns for 10 units less 300 ns for 30: 70 - 10, by 4. */
static double as_told(void *state) {
  return *(const double *)state;
}
static void a_difference_is_by_each_sides_units(void) {
  double more = 700, less = 300, failed = -1;
  SampleStats s = sample_difference(11, as_told, (SampleSide){&more, 10}, (SampleSide){&less, 30}, 4);
  expect_near(s.median, 15, 1e-12);
  expect_int(s.n, ==, 11);
  expect_int(sample_difference(11, as_told, (SampleSide){&more, 1}, (SampleSide){&failed, 1}, 1).n, ==, 0);
}

/* A machine so busy that the minute is over before anything is begun: nothing is measured, and it says so. */
static void no_time_is_told(void) {
  Machine m;
  expect(machine_measure(&m, 0, NULL, NULL, NULL));
  for (guint i = 0; i < m.all->len; i++) expect_int(g_array_index(m.all, Measured, i).stats.n, ==, 0);
  g_autofree char *why = machine_worthless(&m);
  expect(why && strstr(why, "postmaster.fork: the time was over"));
  machine_clear(&m);
}

/* One cost of a profile that spreads is enough to refuse it; one that is for the reader only is not. */
static void one_bad_cost_refuses_the_profile(void) {
  Measured good = {COST_FORK, "good", "", {100, 99, 101, 21}}, bad = {COST_FORK, "bad", "", {100, 60, 140, 21}};
  Machine m = {.all = g_array_new(FALSE, FALSE, sizeof(Measured))};
  g_array_append_val(m.all, good);
  expect_str(machine_worthless(&m), NULL);
  g_array_append_val(m.all, bad);
  g_autofree char *why = machine_worthless(&m);
  expect(why && g_str_has_prefix(why, "bad: ") && strstr(why, "spread of 80 %"));
  g_array_index(m.all, Measured, 1).cost = COST_COUNT;
  expect_str(machine_worthless(&m), NULL);
  machine_clear(&m);
}

/* A measurement that failed leaves no profile that would pass for a measured one; huge pages need not be there. */
static void a_failed_measurement_refuses_the_profile(void) {
  Measured huge = {.cost = COST_FAULT_HUGE, .name = "huge"}, fault = {.cost = COST_FAULT_WRITE, .name = "fault"};
  Machine m = {.all = g_array_new(FALSE, FALSE, sizeof(Measured))};
  g_array_append_val(m.all, huge);
  expect_str(machine_worthless(&m), NULL);
  g_array_append_val(m.all, fault);
  g_autofree char *why = machine_worthless(&m);
  expect(why && g_str_has_prefix(why, "fault: could not be measured"));
  machine_clear(&m);
}

/* What one core does alone is no hand-over to another. */
static void one_core_measures_nothing_between_two(void) {
  cpu_set_t before, one;
  expect_int(sched_getaffinity(0, sizeof before, &before), ==, 0);
  CPU_ZERO(&one);
  for (guint i = 0; !CPU_COUNT(&one); i++)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  expect_int(sched_setaffinity(0, sizeof one, &one), ==, 0);
  expect_int(bench_handover().n, ==, 0);
  expect_int(bench_message().n, ==, 0);
  expect_int(bench_line().n, ==, 0);
  expect_int(sched_setaffinity(0, sizeof before, &before), ==, 0);
}

int main(void) {
  return suite_run(
      "samples", (const Case[]){{"quartiles of known values", quartiles_of_known_values},
                                {"a steady clock", a_steady_clock},
                                {"disturbances are left out", disturbances_are_left_out},
                                {"what is refused", what_is_refused},
                                {"a batch that fails", a_batch_that_fails},
                                {"a difference is by each side's units", a_difference_is_by_each_sides_units},
                                {"no time is told", no_time_is_told},
                                {"one bad cost refuses the profile", one_bad_cost_refuses_the_profile},
                                {"a failed measurement refuses the profile", a_failed_measurement_refuses_the_profile},
                                {"one core measures nothing between two", one_core_measures_nothing_between_two},
                                {0}});
}
