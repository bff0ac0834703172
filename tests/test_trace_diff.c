/* test_trace_diff.c - for each member of the format: two traces that differ in it alone, and what diff says. */
#include "tests/trace_sample.h"
#include "traces/diff.h"

static TraceDiff *diff_texts(const char *a, const char *b) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TraceReader) reader_a = read_text(a), reader_b = read_text(b);
  TraceDiff *d = trace_diff(reader_a, reader_b, &error);
  if (error) fprintf(stderr, "%s\n", error->message);
  CU_ASSERT_FATAL(d != NULL);
  return d;
}

static char *words_of(const char *a, const char *b) {
  g_autoptr(TraceDiff) d = diff_texts(a, b);
  GString *words = g_string_new(NULL);
  trace_diff_words(d, "A", "B", words);
  return g_string_free(words, FALSE);
}

static void identical(void) {
  g_autoptr(TraceDiff) d = diff_texts(sample_text, sample_text);
  g_autofree char *words = words_of(sample_text, sample_text);
  expect(trace_diff_identical(d));
  expect_str(words, "identical: 4 steps\n");
}

/* The sample against the sample after `alter`. */
static void expect_words(void (*alter)(Sample *), const char *should) {
  Sample s;
  sample_init(&s);
  alter(&s);
  g_autofree char *text = write_sample(&s), *words = words_of(sample_text, text);
  g_autoptr(TraceDiff) d = diff_texts(sample_text, text);
  expect(!trace_diff_identical(d));
  expect_str(words, should);
}

#define SAME     "the 4 steps and what follows are the same\n"
#define BEFORE_1 "  before it, step 0: postmaster[1] fork\n"
#define BEFORE_2                                                                                                       \
  "  before it, step 1: backend[12] ProcArrayAdd procno=3, to=server \"s\" (exit-order: 77 of 8192) -> "               \
  "procarray.numProcs=1, free_list.head=-4\n"

static void seed(Sample *s) {
  s->header.seed = G_MAXUINT64;
}
static void version(Sample *s) {
  s->header.version = "0.2";
}
static void command(Sample *s) {
  s->header.command = "check";
}
static void scenario(Sample *s) {
  s->header.scenario = "calm";
}
static void text(Sample *s) {
  s->header.text = "scenario: storm\nseed: 2\n";
}
static void shorter_text(Sample *s) {
  s->header.text = "scenario: storm";
}
static void override(Sample *s) {
  s->overrides[0] = "workload.clients=9";
}
static void fewer_overrides(Sample *s) {
  s->overrides[1] = NULL;
}
static void subject(Sample *s) {
  s->header.subject = "model:split-pgxactoff";
}
static void source_name(Sample *s) {
  s->sources[0].name = "18";
}
static void source_text(Sample *s) {
  s->sources[0].text = "version: 18\n";
}
static void source_hash(Sample *s) {
  s->sources[1].hash = "00fe";
}
static void fewer_sources(Sample *s) {
  s->header.n_sources = 1;
}
static void all_of_header(Sample *s) {
  seed(s), version(s), override(s);
}

static void headers(void) {
  expect_words(seed, "header: seed is 7 in A, 18446744073709551615 in B\n" SAME);
  expect_words(version, "header: version is 0.1 in A, 0.2 in B\n" SAME);
  expect_words(command, "header: command is run in A, check in B\n" SAME);
  expect_words(scenario, "header: scenario is storm in A, calm in B\n" SAME);
  expect_words(text, "header: scenario text line 2 is seed: 1 in A, seed: 2 in B\n" SAME);
  expect_words(shorter_text, "header: scenario text line 2 is seed: 1 in A, (absent) in B\n" SAME);
  expect_words(override, "header: override is workload.clients=8 in A, workload.clients=9 in B\n" SAME);
  expect_words(fewer_overrides, "header: override is seed=7 in A, (absent) in B\n" SAME);
  expect_words(subject, "header: subject is model:dense-arrays in A, model:split-pgxactoff in B\n" SAME);
  expect_words(source_name, "header: preset is 19 in A, 18 in B\n" SAME);
  expect_words(source_text, "header: preset line 1 is version: 19 in A, version: 18 in B\n" SAME);
  expect_words(source_hash, "header: profile hash is 00ff in A, 00fe in B\n" SAME);
  expect_words(fewer_sources, "header: source is profile in A, (absent) in B\n"
                              "header: profile is ramdisk-2026 in A, (absent) in B\n"
                              "header: profile hash is 00ff in A, (absent) in B\n" SAME);
  expect_words(all_of_header, "header: override is workload.clients=8 in A, workload.clients=9 in B\n"
                              "header: seed is 7 in A, 18446744073709551615 in B\n"
                              "header: version is 0.1 in A, 0.2 in B\n" SAME);
}

static void t_ns(Sample *s) {
  s->steps[1].t_ns = 1501;
}
static void no_t_ns(Sample *s) {
  s->steps[1].t_ns = -1;
}
static void who(Sample *s) {
  s->steps[1].who = "backend[13]";
}
static void what(Sample *s) {
  s->steps[2].what = "lose";
}
static void hidden(Sample *s) {
  s->steps[2].hidden = false;
}
static void arg(Sample *s) {
  s->args[0].value = 4;
}
static void arg_type(Sample *s) {
  s->args[0].text = "3";
}
static void arg_name(Sample *s) {
  s->args[0].name = "slot";
}
static void fewer_args(Sample *s) {
  s->steps[1].n_args = 1;
}
static void changed(Sample *s) {
  s->changed[1].value = 5;
}
static void choice(Sample *s) {
  s->choices[0].took = 78;
}
static void fewer_choices(Sample *s) {
  s->steps[3].n_choices = 1;
}
static void hash(Sample *s) {
  s->steps[1].hash.lo = 16;
}
static void no_hash(Sample *s) {
  s->steps[1].hashed = false;
}
static void two_at_once(Sample *s) {
  arg(s), hash(s);
}
/* Another policy: every hash is another from step 1 on, and somebody does otherwise in step 3. */
static void hash_under_another(Sample *s) {
  subject(s), hash(s);
}
static void choice_under_another(Sample *s) {
  subject(s), hash(s), fewer_choices(s);
}
static void args_swapped(Sample *s) {
  NoteField first = s->args[0];
  s->args[0] = s->args[1];
  s->args[1] = first;
}

static void steps(void) {
  expect_words(t_ns, "step 1: t_ns is 1500 in A, 1501 in B\n" BEFORE_1);
  expect_words(no_t_ns, "step 1: t_ns is 1500 in A, (absent) in B\n" BEFORE_1);
  expect_words(who, "step 1: who is backend[12] in A, backend[13] in B\n" BEFORE_1);
  expect_words(what, "step 2: do is deliver in A, lose in B\n" BEFORE_2);
  expect_words(hidden, "step 2: hidden is true in A, (absent) in B\n" BEFORE_2);
  expect_words(arg, "step 1: args.procno is 3 in A, 4 in B\n" BEFORE_1);
  expect_words(arg_type, "step 1: args.procno is 3 in A, \"3\" in B\n" BEFORE_1);
  expect_words(arg_name, "step 1: args.procno is 3 in A, (absent) in B\n" BEFORE_1);
  expect_words(fewer_args, "step 1: args.to is \"server \"s\"\" in A, (absent) in B\n" BEFORE_1);
  expect_words(args_swapped, "step 1: args is procno in A, to in B\n" BEFORE_1);
  expect_words(changed, "step 1: changed.free_list.head is -4 in A, 5 in B\n" BEFORE_1);
  expect_words(choice, "step 1: choice is exit-order: 77 of 8192 in A, exit-order: 78 of 8192 in B\n" BEFORE_1);
  expect_words(fewer_choices, "step 3: choice is tie: 0 of 2 in A, (absent) in B\n  before it, step 2: deliver\n");
  expect_words(
      hash, "step 1: hash is fedcba98765432100000000000000001 in A, fedcba98765432100000000000000010 in B\n" BEFORE_1);
  expect_words(no_hash, "step 1: hash is fedcba98765432100000000000000001 in A, (absent) in B\n" BEFORE_1);
#define OTHER                                                                                                          \
  "header: subject is model:dense-arrays in A, model:split-pgxactoff in B\nstate hashes differ from step 1 on\n"
  expect_words(hash_under_another, OTHER SAME);
  expect_words(choice_under_another,
               OTHER "step 3: choice is tie: 0 of 2 in A, (absent) in B\n  before it, step 2: deliver\n");
  expect_words(two_at_once, "step 1: args.procno is 3 in A, 4 in B\n" BEFORE_1);
}

static void first_step(Sample *s) {
  s->steps[0].what = "accept";
}
static void nothing_before_the_first(void) {
  expect_words(first_step, "step 0: do is fork in A, accept in B\n");
}

static void verdict(Sample *s) {
  s->end.verdict = "pass";
}
static void check_verdict(Sample *s) {
  s->checks[1].verdict = "unknown";
}
static void check_step(Sample *s) {
  s->checks[0].step = 3;
}
static void check_why(Sample *s) {
  s->checks[0].why = "slot 4 has two owners";
}
static void fewer_checks(Sample *s) {
  s->end.n_checks = 1;
}
static void metric(Sample *s) {
  s->metrics[0].value = 12.5;
}
static void fewer_metrics(Sample *s) {
  s->end.n_metrics = 1;
}
static void loop(Sample *s) {
  s->end.lasso_from = -1;
}
static void end_t_ns(Sample *s) {
  s->end.t_ns = 4001;
}
static void state_hash(Sample *s) {
  s->end.state_hash.hi = 4;
}

static void footers(void) {
  expect_words(verdict, "footer: verdict is fail in A, pass in B\n");
  expect_words(check_verdict, "footer: locks-released.verdict is holds in A, unknown in B\n");
  expect_words(check_step, "footer: slot-owned-once.step is 2 in A, 3 in B\n");
  expect_words(check_why, "footer: slot-owned-once is slot 3 has two owners in A, slot 4 has two owners in B\n");
  expect_words(fewer_checks, "footer: checks is locks-released in A, (absent) in B\n");
  expect_words(metric, "footer: first.connect_ms is 12.25 in A, 12.5 in B\n");
  expect_words(fewer_metrics, "footer: metrics is iteration[2].connect_faults in A, (absent) in B\n");
  expect_words(loop, "footer: lasso_from is 1 in A, (absent) in B\n");
  expect_words(end_t_ns, "footer: t_ns is 4000 in A, 4001 in B\n");
  expect_words(state_hash, "footer: state_hash is 00000000000000030000000000000002 in A, "
                           "00000000000000040000000000000002 in B\n");
}

static void shorter(void) {
  Sample s;
  sample_init(&s);
  g_autofree char *text = write_text(&s.header, s.steps, 3, &s.end), *words = words_of(sample_text, text);
  expect_str(words, "step 3: A goes on here, B ends\n  before it, step 2: deliver\n");
}

static void cut(void) {
  g_autofree char *text = g_strndup(sample_text, (gsize)(strstr(sample_text, "{\"end\"") - sample_text));
  g_autofree char *against_whole = words_of(text, sample_text), *against_itself = words_of(text, text);
  expect_str(against_whole,
             "step 4: A was cut here, B ends\n  before it, step 3: postmaster[1] reap (exit-order: 77 of "
             "8192) (tie: 0 of 2)\n");
  expect_str(against_itself, "identical: 4 steps, then both are cut\n");
}

/* With another K, hashes stand at other steps: only those that both have can differ. */
static void other_k(void) {
  Sample s;
  sample_init(&s);
  s.header.k = 3;
  no_hash(&s);
  g_autofree char *text = write_sample(&s), *words = words_of(sample_text, text);
  expect_str(words, "header: k is 2 in A, 3 in B\n" SAME);
}

static void unreadable_is_an_error(void) {
  g_auto(GStrv) parts = g_strsplit(sample_text, "\"hidden\":true", 2);
  g_autofree char *text = g_strconcat(parts[0], "\"hidden\":1", parts[1], NULL);
  g_autoptr(TraceReader) a = read_text(sample_text), b = read_text(text);
  g_autoptr(GError) error = NULL;
  expect(!trace_diff(a, b, &error));
  expect(g_error_matches(error, TRACE_ERROR, TRACE_ERROR_ALTERED));
}

int main(void) {
  return suite_run("trace_diff", (const Case[]){{"identical", identical},
                                                {"headers", headers},
                                                {"steps", steps},
                                                {"nothing before the first step", nothing_before_the_first},
                                                {"footers", footers},
                                                {"one is shorter", shorter},
                                                {"one is cut", cut},
                                                {"another K", other_k},
                                                {"an unreadable trace is an error", unreadable_is_an_error},
                                                {0}});
}
