/* Processes of a scenario: what their keys allow, what contradicts, and what a script becomes. */
#include "sim/scenario/keys.h"
#include "sim/scenario/processes.h"
#include "tests/harness.h"

static Scenario *read_text(const char *text, GError **error) {
  static const char *const dirs[] = {"sim", NULL};
  static const ScenarioOptions opt = {.dirs = dirs};
  return scenario_from_text(text, strlen(text), "t.yaml", &opt, error);
}

static void expect_refused(const char *text, const char *said) {
  GError *error = NULL;
  scenario_free(read_text(text, &error));
  expect_str(error ? error->message : "(none)", said);
  g_clear_error(&error);
}

static void every_example_is_taken(void) {
  guint seen = 0;
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const KeyInfo *k = key_row(i);
    const bool lock = g_str_has_prefix(k->path, "explore.without_lock");
    if (!lock && !g_str_has_prefix(k->path, "processes") && !g_str_has_prefix(k->path, "@call")) continue;
    GError *error = NULL;
    g_autofree char *text = g_strdup_printf("scenario: s\nsubject: x\n%s%s\n", k->example ? k->example : "",
                                            lock ? "\nprocesses: [{name: p, script: [a]}]" : "");
    scenario_free(read_text(text, &error));
    expect_str(error ? error->message : NULL, NULL);
    g_clear_error(&error);
    seen++;
  }
  expect_int(seen, >, 10);
}

#define WITH "scenario: s\nsubject: x\n"

static void what_is_wrong_is_told_at_its_place(void) {
  expect_refused("scenario: s\nprocesses: [{name: p, script: [a]}]\n",
                 "t.yaml:2:12: processes: they run a subject's code, and there is none; subject: NAME would name one");
  expect_refused(WITH "processes: []\n", "t.yaml:3:12: processes: nobody: an empty list");
  expect_refused(WITH "processes: [{name: p}]\n", "t.yaml:3:13: processes[0].script: is missing; it must be a list");
  expect_refused(WITH "processes: [{name: p, script: []}]\n",
                 "t.yaml:3:31: processes[0].script: an empty script; a process calls something");
  expect_refused(WITH "processes: [{name: p, script: [{call: a, wait: 1ms}]}]\n",
                 "t.yaml:3:32: processes[0].script[0]: a step is one of call, wait and loop");
  expect_refused(WITH "processes: [{name: p, script: [{wait: 1ms, with: 2}]}]\n",
                 "t.yaml:3:50: processes[0].script[0].with: belongs to a call");
  expect_refused(WITH "processes: [{name: p, script: [a]}, {name: p, script: [a]}]\n",
                 "t.yaml:3:44: processes[1].name: other processes are named p already; count: N makes several");
  expect_refused(WITH "processes: [{name: p, script: [{loop: {times: 2, do: []}}]}]\n",
                 "t.yaml:3:54: processes[0].script[0].loop.do: a loop with nothing to do");
}

/* The ninth kind is named; a copy's own number is a word of `with` and of nothing else. */
static void limits_are_told_at_their_place(void) {
  g_autoptr(GString) text = g_string_new(WITH "processes:\n");
  for (int i = 0; i < 9; i++) g_string_append_printf(text, "  - {name: p%d, script: [a]}\n", i);
  GError *error = NULL;
  g_autoptr(Scenario) s = read_text(text->str, &error);
  g_autoptr(GArray) none = s ? scenario_bind_processes(s, &error) : NULL;
  expect(!none);
  expect_str(error ? error->message : "(none)",
             "t.yaml:12:5: processes[8]: at most 8 kinds of processes; count: N makes several alike");
  g_clear_error(&error);
  expect_refused(WITH "processes: [{name: p, script: [{call: a, with: each}]}]\n",
                 "t.yaml:3:48: processes[0].script[0].with: \"each\" is not right; it must be a whole number, or copy");
}

/* Each of three copies is given its own number. */
static void a_copy_knows_which_it_is(void) {
  g_autoptr(Scenario) s = read_text(WITH "processes: [{name: p, count: 3, script: [{call: a, with: copy}]}]\n", NULL);
  g_autoptr(GArray) groups = scenario_bind_processes(s, NULL);
  CU_ASSERT_FATAL(groups && groups->len == 1);
  const ProcessOp *op = &g_array_index(g_array_index(groups, ProcessGroup, 0).ops, ProcessOp, 0);
  for (guint copy = 0; copy < 3; copy++) expect_int(process_argument(op, copy), ==, copy);
}

static void what_does_not_go_together(void) {
  expect_refused(WITH "workload: {kind: pgbench}\nprocesses: [{name: p, script: [a]}]\n",
                 "t.yaml:4:12: processes: a scenario has either a workload or processes");
  expect_refused(WITH "model: y\n", "t.yaml:2:10: subject: a scenario has either a subject or a model");
  expect_refused(WITH "clients: [{name: a, script: [connect]}]\n",
                 "t.yaml:2:10: subject: stands in place of a server with a workload; it has no clients of a pooler");
}

static void loops_nest_four_deep(void) {
  g_autoptr(GString) text = g_string_new(WITH "processes: [{name: p, script: [");
  for (int i = 0; i < 5; i++) g_string_append(text, "{loop: {times: 2, do: [");
  g_string_append(text, "a");
  for (int i = 0; i < 5; i++) g_string_append(text, "]}}");
  g_string_append(text, "]}]\n");
  GError *error = NULL;
  scenario_free(read_text(text->str, &error));
  expect(error && strstr(error->message, "loops nest at most 4 deep"));
  g_clear_error(&error);
}

/* loop, a(0), wait, end of it, b(7), end */
static void a_script_becomes_operations(void) {
  g_autoptr(Scenario) s =
      read_text(WITH "processes: [{name: p, count: 3, start: 2us, script: [loop: {times: 4, do: [a, "
                     "wait: 5us]}, {call: b, with: 7}]}]\n",
                NULL);
  g_autoptr(GArray) groups = scenario_bind_processes(s, NULL);
  CU_ASSERT_FATAL(groups && groups->len == 1);
  const ProcessGroup *g = &g_array_index(groups, ProcessGroup, 0);
  static const ProcessOpCode codes[] = {PROCESS_LOOP,     PROCESS_CALL, PROCESS_WAIT,
                                        PROCESS_END_LOOP, PROCESS_CALL, PROCESS_END};
  expect_int(g->count, ==, 3);
  expect_int(g->start.low, ==, 2000);
  CU_ASSERT_FATAL(g->ops->len == G_N_ELEMENTS(codes));
  for (guint i = 0; i < g->ops->len; i++) expect_int(g_array_index(g->ops, ProcessOp, i).code, ==, codes[i]);
  expect_int(g_array_index(g->ops, ProcessOp, 0).times, ==, 4);
  expect_int(g_array_index(g->ops, ProcessOp, 3).target, ==, 0);
  expect_str(g_array_index(g->ops, ProcessOp, 4).entry, "b");
  expect_int(g_array_index(g->ops, ProcessOp, 4).argument, ==, 7);
  expect_str(g_array_index(g->ops, ProcessOp, 4).key, "processes[0].script[1].call");
}

/* In the file: from the file; said on the command line: from the working directory; a word is no path. */
static void paths_of_subjects(void) {
  static const char text[] = "scenario: s\nsubject: ./x.so\nprocesses: [{name: p, script: [a]}]\n";
  const char *const sets[] = {"subject=./y.so", NULL};
  ScenarioOptions opt = {0}, over = {.sets = sets};
  g_autofree char *here = g_canonicalize_filename("./y.so", NULL);
  g_autoptr(Scenario) file = scenario_from_text(text, strlen(text), "/some/where/t.yaml", &opt, NULL);
  g_autoptr(Scenario) line = scenario_from_text(text, strlen(text), "/some/where/t.yaml", &over, NULL);
  expect_str(scenario_word(file, "subject"), "/some/where/x.so");
  expect_str(scenario_overrides(file)[0], "subject=\"/some/where/x.so\"");
  expect_str(scenario_word(line, "subject"), here);
}

int main(void) {
  return suite_run("scenario processes",
                   (const Case[]){{"every example is taken", every_example_is_taken},
                                  {"what is wrong is told at its place", what_is_wrong_is_told_at_its_place},
                                  {"limits are told at their place", limits_are_told_at_their_place},
                                  {"a copy knows which it is", a_copy_knows_which_it_is},
                                  {"what does not go together", what_does_not_go_together},
                                  {"loops nest four deep", loops_nest_four_deep},
                                  {"a script becomes operations", a_script_becomes_operations},
                                  {"paths of subjects", paths_of_subjects},
                                  {0}});
}
