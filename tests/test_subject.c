/* What code may ask of stampede (stampede_subject.h), by a subject with an entry for each thing (tests/subjects). Times
 * and orders come from the scripts: locks and semaphores are first come first served, a sleep is exact, all else is
 * free.
 */
#include "sim/engine.h"
#include "sim/own_checks.h"
#include "sim/subject/plain.h"
#include "tests/harness.h"
#include "tests/subjects/sample.h"

#ifndef SUBJECTS
#define SUBJECTS "build/tests/subjects"
#endif

typedef struct {
  State state; /* of shared memory, at the end */
  char *fault, *verdict;
  int64_t now_us;
  Hash128 hash;
  bool done;
  uint64_t address; /* of shared memory */
} Outcome;

static void outcome_clear(Outcome *o) {
  g_free(o->fault);
  g_free(o->verdict);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

typedef struct {
  Engine *engine;
  Model *model;
} Driving;

static void make_engine(World *w, void *data) {
  ((Driving *)data)->engine = engine_new(w, &(EngineConfig){.seed = 1});
}
static bool after(void *data) {
  return model_fault(((Driving *)data)->model) != NULL;
}

static char *first_broken(const Model *m) {
  CheckTable own = own_checks(m);
  g_autoptr(GString) why = g_string_new(NULL);
  for (guint i = 0; i < own.n; i++)
    if (own.checks[i].judge(m, why) == JUDGED_BROKEN) return g_strdup_printf("%s: %s", own.checks[i].name, why->str);
  return NULL;
}

static Scenario *scenario_of(const char *processes) {
  g_autofree char *path = g_canonicalize_filename(SUBJECTS "/sample.so", NULL);
  g_autofree char *text = g_strdup_printf("scenario: t\nsubject: \"%s\"\nprocesses:\n%s\n", path, processes);
  static const ScenarioOptions opt = {0};
  GError *error = NULL;
  Scenario *s = scenario_from_text(text, strlen(text), "t.yaml", &opt, &error);
  if (!s) g_error("%s", error->message);
  return s;
}

/* until_us < 0: to the end. */
static Outcome run_until(const char *processes, int64_t until_us) {
  g_autoptr(Scenario) s = scenario_of(processes);
  static const Costs free_of_charge;
  GError *error = NULL;
  Driving d = {0};
  d.model = model_build(s, &free_of_charge, make_engine, &d, &error);
  if (!d.model) g_error("%s", error->message);
  engine_listen(d.engine, &(EngineListener){.after = after}, &d);
  engine_run(d.engine, until_us < 0 ? -1 : until_us * 1000);
  Outcome o = {.fault = g_strdup(model_fault(d.model)), .done = d.model->ops->done(d.model)};
  const State *state = subject_at(plain_subject(d.model->plain), 0);
  o.state = *state;
  o.address = (uintptr_t)state;
  o.hash = model_hash(d.model);
  o.now_us = engine_now(d.engine) / 1000;
  o.verdict = first_broken(d.model);
  if (!o.fault) o.fault = g_strdup(model_fault(d.model));
  engine_free(d.engine);
  model_free(d.model);
  return o;
}
static Outcome run(const char *processes) {
  return run_until(processes, -1);
}

static void expect_order(const Outcome *o, const int64_t *pids, int64_t n) {
  expect_int(o->state.n_order, ==, n);
  for (int64_t i = 0; i < n; i++) expect_int(o->state.order[i], ==, pids[i]);
}

/* ---- locks: pid 1000 + number, from 0 ---- */

static void shared_holders_are_in_together(void) {
  g_auto(Outcome) o = run("  - {name: p, count: 3, script: [{call: hold_shared, with: 10}]}");
  expect_str(o.fault, NULL);
  expect_int(o.state.most_shared, ==, 3);
  expect_int(o.now_us, ==, 10);
}

static void exclusive_ones_take_turns(void) {
  g_auto(Outcome) o = run("  - {name: a, script: [{call: hold, with: 10}]}\n"
                          "  - {name: b, start: 2us, script: [{call: hold, with: 10}]}\n"
                          "  - {name: c, start: 1us, script: [{call: hold, with: 10}]}");
  expect_str(o.fault, NULL);
  expect_order(&o, (const int64_t[]){1000, 1002, 1001}, 3); /* as they came, not as they are numbered */
  expect_int(o.now_us, ==, 30);
}

static void a_shared_one_waits_for_an_exclusive_one(void) {
  g_auto(Outcome) o = run("  - {name: a, script: [{call: hold, with: 10}]}\n"
                          "  - {name: b, start: 1us, script: [{call: hold_shared, with: 5}]}\n"
                          "  - {name: c, start: 2us, script: [{call: hold_shared, with: 5}]}");
  expect_str(o.fault, NULL);
  expect_int(o.state.most_shared, ==, 2);
  expect_int(o.now_us, ==, 15);
}

static void a_try_does_not_wait(void) {
  g_auto(Outcome) o = run("  - {name: a, script: [{call: hold, with: 10}]}\n"
                          "  - {name: b, start: 1us, script: [try_lock, wait: 20us, try_lock]}");
  expect_order(&o, (const int64_t[]){1000, 0, 1}, 3);
}

static void six_locks_at_most(void) {
  g_auto(Outcome) six = run("  - {name: a, script: [{call: hold_all, with: 6}]}");
  g_auto(Outcome) seven = run("  - {name: a, script: [{call: hold_all, with: 7}]}");
  expect_str(six.fault, NULL);
  expect(seven.fault && g_str_has_prefix(seven.fault, "one of eight is asked for by who holds 6 locks already at "
                                                      "hold_all sample.c:"));
}

static void a_release_of_what_is_not_held(void) {
  g_auto(Outcome) o = run("  - {name: a, script: [release_unheld]}");
  expect(o.fault && g_str_has_prefix(o.fault, "lock is released by who does not hold it at release_unheld sample.c:"));
}

/* ---- semaphores, spinning ---- */

static void semaphores_keep_their_count(void) {
  g_auto(Outcome) o = run("  - {name: a, start: 5us, script: [down, down]}\n"
                          "  - {name: b, script: [{call: up, with: 2}]}");
  expect_order(&o, (const int64_t[]){1000, 1000}, 2);
  expect(o.done);
}

static void semaphores_serve_in_turn(void) {
  g_auto(Outcome) o = run("  - {name: a, start: 2us, script: [down]}\n"
                          "  - {name: b, start: 1us, script: [down]}\n"
                          "  - {name: c, start: 3us, script: [down]}\n"
                          "  - {name: d, start: 9us, script: [{call: up, with: 1}, wait: 1us, {call: up, with: 1}]}");
  expect_order(&o, (const int64_t[]){1001, 1000}, 2);
  expect(!o.done); /* c still waits */
}

/* A round takes 1 us. */
static void a_spin_lets_others_go_on(void) {
  g_auto(Outcome) o = run("  - {name: a, script: [spin_on]}\n  - {name: b, start: 20500ns, script: [raise_flag]}");
  expect_str(o.fault, NULL);
  expect(o.done);
  expect_int(o.state.turns, ==, 21);
}

/* ---- processes ---- */

static void variables_are_each_process_s_own(void) {
  g_auto(Outcome) o = run("  - {name: a, script: [{call: own, with: 5}, {call: own, with: 5}]}\n"
                          "  - {name: b, count: 4, script: [{call: own, with: 100}]}\n"
                          "  - {name: c, start: 9us, script: [{call: own, with: 7}]}");
  expect_int(o.state.seen_private, ==, 7);
  g_auto(Outcome) twice = run("  - {name: a, start: 9us, script: [{call: own, with: 5}, {call: own, with: 5}]}\n"
                              "  - {name: b, count: 4, script: [{call: own, with: 100}]}");
  expect_int(twice.state.seen_private, ==, 10);
}

static void who_leaves_calls_nothing_more(void) {
  g_auto(Outcome) o = run("  - {name: a, script: [bye, {call: touch, with: 9}]}");
  expect_str(o.fault, NULL);
  expect(o.done);
  expect_int(o.state.value, ==, 0);
}

static void loops_run_so_often(void) {
  g_auto(Outcome) o =
      run("  - {name: a, script: [loop: {times: 3, do: [loop: {times: 4, do: [{call: touch, with: 1}]}, "
          "{call: touch, with: 2}]}]}");
  expect_int(o.state.value, ==, 3 * (4 + 2));
}

/* ---- what breaks ---- */

static void expect_fault(const char *processes, const char *begins) {
  g_auto(Outcome) o = run(processes);
  const char *fault = o.fault ? o.fault : "(none)";
  if (!g_str_has_prefix(fault, begins)) fprintf(stderr, "saw \"%s\", not \"%s...\"\n", fault, begins);
  CU_ASSERT(g_str_has_prefix(fault, begins));
}

static void faults_say_what_and_where(void) {
  expect_fault("  - {name: a, script: [panic]}", "PANIC: nothing is right at panic sample.c:");
  expect_fault("  - {name: a, script: [wild]}", "access to the address 0x10 outside its memory");
  expect_fault("  - {name: a, script: [late_shared]}", "stm_shared(\"too late\") after start at late_shared sample.c:");
  expect_fault("  - {name: a, script: [keep, keep]}", "lock is asked for by who holds it at keep sample.c:");
}

/* 16 KiB fit, 128 KiB do not. */
static void a_stack_ends(void) {
  g_auto(Outcome) o = run("  - {name: a, script: [{call: recurse, with: 16}]}");
  expect_str(o.fault, NULL);
  expect_fault("  - {name: a, script: [{call: recurse, with: 128}]}", "out of stack (64 KiB)");
}

/* ---- checks ---- */

static void checks_look_at_shared_memory(void) {
  g_auto(Outcome) fine = run("  - {name: a, script: [down, {call: touch, with: 99}]}\n"
                             "  - {name: b, script: [{call: up, with: 1}]}");
  g_auto(Outcome) broken = run("  - {name: a, script: [{call: touch, with: 100}]}");
  expect_str(fine.verdict, NULL);
  expect_str(broken.verdict, "value-small: value is 100, not below 100");
}

static void a_check_of_the_end_waits_for_it(void) {
  g_auto(Outcome) open = run_until("  - {name: a, script: [wait: 9us]}", 5);
  g_auto(Outcome) stuck = run("  - {name: a, script: [down]}"); /* nobody goes on: an end as well */
  g_auto(Outcome) ended = run("  - {name: a, script: [{call: touch, with: 1}]}");
  expect_str(open.verdict, NULL);
  expect_str(stuck.verdict, "somebody: nobody noted anything");
  expect_str(ended.verdict, "somebody: nobody noted anything");
}

static void a_check_that_breaks_is_a_fault(void) {
  expect_fault("  - {name: a, script: [{call: touch, with: 66}]}", "access to the address 0x10 outside its memory");
}

/* ---- identity ---- */

static void hash_is(const char *a, const char *b, bool same, int64_t at_us) {
  g_auto(Outcome) x = run_until(a, at_us), y = run_until(b, at_us);
  bool equal = x.hash.lo == y.hash.lo && x.hash.hi == y.hash.hi;
  if (equal != same) fprintf(stderr, "%s\n%s: hashes are %s\n", a, b, equal ? "equal" : "not equal");
  CU_ASSERT(equal == same);
}

static void state_has_an_identity(void) {
  static const char one[] = "  - {name: a, script: [{call: touch, with: 1}]}",
                    two[] = "  - {name: a, script: [{call: touch, with: 2}]}",
                    own[] = "  - {name: a, script: [{call: own, with: 0}, wait: 9us]}",
                    other[] = "  - {name: a, script: [{call: own, with: 0}, wait: 9us, up]}",
                    up[] = "  - {name: a, script: [{call: up, with: 1}, wait: 9us]}",
                    ups[] = "  - {name: a, script: [{call: up, with: 2}, wait: 9us]}";
  hash_is(one, one, true, -1);
  hash_is(one, two, false, -1); /* shared memory */
  hash_is(up, ups, false, -1);  /* a semaphore's count */
  hash_is(own, other, true, 5); /* what a script has yet to do is not in it: its place is */
}

/* One process's variable differs and nothing else: own with 3 against 4 is seen in seen_private too, so it is looked at
 * before that is written. */
static void variables_are_in_it(void) {
  hash_is("  - {name: a, script: [{call: own, with: 3}]}", "  - {name: a, script: [{call: own, with: 3}]}", true, 0);
  hash_is("  - {name: a, script: [{call: own, with: 3}]}", "  - {name: a, script: [{call: own, with: 4}]}", false, 0);
}

static void addresses_are_fixed(void) {
  g_auto(Outcome) a = run("  - {name: a, script: [point]}"), b = run("  - {name: a, count: 9, script: [point]}");
  expect_int(a.address, ==, 0x200000000000);
  expect_int(b.address, ==, 0x200000000000);
  expect((uintptr_t)a.state.pointer == a.address);
}

int main(void) {
  return suite_run("subject",
                   (const Case[]){{"shared holders are in together", shared_holders_are_in_together},
                                  {"exclusive ones take turns", exclusive_ones_take_turns},
                                  {"a shared one waits for an exclusive one", a_shared_one_waits_for_an_exclusive_one},
                                  {"a try does not wait", a_try_does_not_wait},
                                  {"six locks at most", six_locks_at_most},
                                  {"a release of what is not held", a_release_of_what_is_not_held},
                                  {"semaphores keep their count", semaphores_keep_their_count},
                                  {"semaphores serve in turn", semaphores_serve_in_turn},
                                  {"a spin lets others go on", a_spin_lets_others_go_on},
                                  {"variables are each process's own", variables_are_each_process_s_own},
                                  {"who leaves calls nothing more", who_leaves_calls_nothing_more},
                                  {"loops run so often", loops_run_so_often},
                                  {"faults say what and where", faults_say_what_and_where},
                                  {"a stack ends", a_stack_ends},
                                  {"checks look at shared memory", checks_look_at_shared_memory},
                                  {"a check of the end waits for it", a_check_of_the_end_waits_for_it},
                                  {"a check that breaks is a fault", a_check_that_breaks_is_a_fault},
                                  {"state has an identity", state_has_an_identity},
                                  {"variables are in it", variables_are_in_it},
                                  {"addresses are fixed", addresses_are_fixed},
                                  {0}});
}
