/* Several processes that search: the result is that of one, to the last count, finding and step, whatever ends it. */
#include "tests/abstract_shapes.h"
#include "tests/harness.h"

static const SchedulesOptions reduced = {.strategy = SCHEDULES_DPOR, .preemptions = -1, .delays = -1};
static const SchedulesOptions unreduced = {.strategy = SCHEDULES_DFS, .preemptions = -1, .delays = -1};

static void same_result(const char *name, guint jobs, const SchedulesResult *a, const SchedulesResult *b) {
  bool same = a->schedules == b->schedules && a->redundant == b->redundant && a->cut == b->cut &&
              a->steps == b->steps && a->longest == b->longest && a->stop == b->stop && a->bounded == b->bounded;
  if (!same) fprintf(stderr, "%s, %u jobs:\n", name, jobs);
  expect_int(b->schedules, ==, a->schedules);
  expect_int(b->redundant, ==, a->redundant);
  expect_int(b->steps, ==, a->steps);
  expect_int(b->stop, ==, a->stop);
  expect(same);
  expect_int(b->races->len, ==, a->races->len);
  for (guint i = 0; i < MIN(a->races->len, b->races->len); i++) {
    const ScheduleRace *f = a->races->pdata[i], *g = b->races->pdata[i];
    expect(f->first.pc == g->first.pc && f->second.pc == g->second.pc);
    expect_int(g->first_at, ==, f->first_at);
    expect_int(g->order->len, ==, f->order->len);
    expect_int(memcmp(g->order->data, f->order->data, MIN(f->order->len, g->order->len) * sizeof(guint)), ==, 0);
  }
  expect_int(b->findings->len, ==, a->findings->len);
  for (guint i = 0; i < MIN(a->findings->len, b->findings->len); i++) {
    const ScheduleFinding *f = a->findings->pdata[i], *g = b->findings->pdata[i];
    expect_str(g->words, f->words);
    expect_int(g->order->len, ==, f->order->len);
    expect_int(memcmp(g->order->data, f->order->data, MIN(f->order->len, g->order->len) * sizeof(guint)), ==, 0);
  }
}

static void jobs_agree(Program g, SchedulesOptions o) {
  ScheduleProgram p = abstract_program(&g);
  o.max_steps = o.max_steps ? o.max_steps : 500;
  g_autoptr(SchedulesResult) one = schedules_search(&p, &o);
  for (guint jobs = 2; jobs <= 5; jobs++) {
    o.jobs = jobs;
    g_autoptr(SchedulesResult) more = schedules_search(&p, &o);
    same_result(g.name, jobs, one, more);
  }
}

static void any_number_of_jobs(void) {
  Program buffered = stores(2, 4), all[] = {last_zero(8),   philosophers(6), writers(6),  stores(2, 5),
                                            peterson(true), spin_lock(3),    indexer(12), handed_over(4)};
  SchedulesOptions first = reduced, limited = reduced, bounded_too = unreduced, cut = reduced;
  first.findings_max = 1;
  limited.max_schedules = 100;
  bounded_too.preemptions = 2;
  cut.max_steps = 9;
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    jobs_agree(all[i], reduced);
    jobs_agree(all[i], first);
    jobs_agree(all[i], limited);
    jobs_agree(all[i], cut);
  }
  buffered.tso = true;
  jobs_agree(buffered, reduced);
  jobs_agree(stores(3, 3), unreduced);
  jobs_agree(stores(3, 3), bounded_too);
  jobs_agree(peterson(true), bounded_too);
}

static void jobs_see_the_same_races(void) {
  Program all[] = {last_zero(8), writers(5), stores(2, 5), peterson(true), indexer(12), spin_lock(3)};
  SchedulesOptions racing = reduced, random = {.strategy = SCHEDULES_RANDOM, .max_schedules = 2000, .seed = 4};
  racing.races = random.races = true;
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    ScheduleProgram p = abstract_program(&all[i]);
    SchedulesOptions o = racing;
    o.max_steps = 500;
    g_autoptr(SchedulesResult) r = schedules_search(&p, &o);
    expect_int(r->races->len, >, 0);
    jobs_agree(all[i], racing);
    jobs_agree(all[i], random);
  }
}

/* Who is tried early must find those asleep that will have been tried before. */
static void sleepers_are_missed(void) {
  Program g = readers(8);
  ScheduleProgram p = abstract_program(&g);
  SchedulesOptions o = reduced;
  o.max_steps = 500;
  o.jobs = 3;
  o.mutant_awake = true;
  g_autoptr(SchedulesResult) r = schedules_search(&p, &o);
  expect_int(r->schedules + r->redundant, >, 256); /* 2^8 */
}

static void any_number_of_walkers(void) {
  SchedulesOptions random = {.strategy = SCHEDULES_RANDOM, .max_schedules = 3000, .seed = 1},
                   pct = {.strategy = SCHEDULES_PCT, .max_schedules = 3000, .changes = 2, .seed = 2}, first = random;
  first.findings_max = 1;
  jobs_agree(stores(3, 3), random);
  jobs_agree(peterson(true), random);
  jobs_agree(peterson(true), first);
  jobs_agree(philosophers(4), pct);
}

int main(void) {
  return suite_run("schedules, jobs", (const Case[]){{"any number of jobs", any_number_of_jobs},
                                                     {"jobs see the same races", jobs_see_the_same_races},
                                                     {"missed sleepers are seen", sleepers_are_missed},
                                                     {"any number of walkers", any_number_of_walkers},
                                                     {NULL, NULL}});
}
