/* schedules_subject.c - see schedules_subject.h. */
#include "checks/schedules_subject.h"
#include "checks/schedules_path.h"
#include "sim/expect.h"
#include <stdio.h>
#include <string.h>

enum { SHRINK_SCHEDULES = 20000 };

/* ---- a counterexample in words ---- */

static void told_free(void *data) {
  ScheduleTold *t = data;
  g_ptr_array_unref(t->steps);
  g_free(t->trace);
  g_free(t);
}

static ScheduleTold *tell(Bound *b, const ScheduleFinding *f) {
  ScheduleTold *t = g_new0(ScheduleTold, 1);
  t->words = f->words;
  t->preemptions = f->preemptions;
  t->fewest = f->fewest;
  t->steps = schedule_words(b, f->order);
  return t;
}

/* ---- where nobody was preempted ---- */

static gint by_words(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* By line: a line of several operations counts as taken when one of them was. */
static void take_points(SubjectCheck *c, const Bound *b) {
  const Tally *t = &c->search->coverage.points;
  g_autoptr(GHashTable) lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < t->size; i++) {
    Operation op = {.pc = (const void *)(uintptr_t)t->keys[i]};
    char *where = t->keys[i] > 1 ? interleave_place(b->code, &op) : NULL;
    if (!where) continue;
    guint seen = GPOINTER_TO_UINT(g_hash_table_lookup(lines, where)) | t->values[i];
    g_hash_table_insert(lines, where, GUINT_TO_POINTER(seen));
  }
  GHashTableIter i;
  gpointer where, seen;
  c->points = g_hash_table_size(lines);
  g_hash_table_iter_init(&i, lines);
  while (g_hash_table_iter_next(&i, &where, &seen))
    if (!(GPOINTER_TO_UINT(seen) & POINT_TAKEN)) g_ptr_array_add(c->never, g_strdup(where));
  g_ptr_array_sort(c->never, by_words);
}

static char *place_words(const Bound *b, guint process, const void *pc) {
  g_autofree char *where = interleave_place(b->code, &(Operation){.pc = pc});
  bool observer = bound_is_observer(b, process);
  return g_strdup_printf("%s at %s", observer ? "the checks" : interleave_name(b->code, (int)process),
                         where ? where : "?");
}

/* ---- verdicts ---- */

static const ScheduleFinding *finding_of(const SchedulesResult *r, const Check *c) {
  for (guint i = 0; i < r->findings->len; i++) {
    const ScheduleFinding *f = r->findings->pdata[i];
    if (judge_words_of(c, f->words)) return f;
  }
  return NULL;
}

static bool of_a_check(const RunResult *run, const ScheduleFinding *f) {
  for (guint i = 0; i < run->checks->len; i++)
    if (judge_words_of(g_array_index(run->checks, CheckResult, i).check, f->words)) return true;
  return false;
}

static void give_verdicts(const ScheduleJudge *j, RunResult *run, const SchedulesResult *r, bool all) {
  for (guint i = 0; i < run->checks->len; i++) {
    CheckResult *c = &g_array_index(run->checks, CheckResult, i);
    const ScheduleFinding *f = finding_of(r, c->check);
    c->verdict = f ? CHECK_VIOLATED : all ? CHECK_HOLDS : CHECK_NOT_VIOLATED;
    if (judge_is_blind(j, c->check)) c->verdict = CHECK_UNKNOWN;
    if (!f) continue;
    c->step = (int64_t)f->order->len - 1;
    c->why = g_strdup(judge_words_of(c->check, f->words));
  }
  for (guint i = 0; i < r->findings->len && !run->stopped; i++) {
    const ScheduleFinding *f = r->findings->pdata[i];
    if (!of_a_check(run, f)) run->stopped = g_strdup(f->words);
  }
  run->interrupted = r->stop == SCHEDULES_INTERRUPTED;
  run->limited = !all && !r->findings->len;
}

/* Checks that the scenario expects to be broken: NULL at the end. */
static GPtrArray *expected_broken(const Scenario *s) {
  GPtrArray *names = g_ptr_array_new();
  for (guint i = 0, n = scenario_count(s, "expect"); i < n; i++) {
    g_autofree char *check = g_strdup_printf("expect[%u].check", i),
                    *verdict = g_strdup_printf("expect[%u].verdict", i);
    if (scenario_given(s, check) && expect_judged_by(s, i, "check") && scenario_is(s, verdict, "violated"))
      g_ptr_array_add(names, (gpointer)judge_finding_of(scenario_word(s, check)));
  }
  g_ptr_array_add(names, NULL);
  return names;
}

/* ---- all of it ---- */

static bool is_walk(const SchedulesOptions *o) {
  return o->strategy == SCHEDULES_RANDOM || o->strategy == SCHEDULES_PCT;
}

static bool same_range(const Operation *a, const Operation *b) {
  return a->object == b->object && a->bytes == b->bytes;
}

/* Until no check has looked at more than was known. */
static SchedulesResult *search(Bound *b, const SchedulesOptions *o) {
  bool states = judge_looks_at_states(&b->judge);
  b->observer = states && o->strategy == SCHEDULES_DPOR;
  b->stepwise = states && !b->observer;
  interleave_way_back(b->code, !is_walk(o));
  interleave_restart(b->code);
  if (b->observer) judge_state(&b->judge, false);
  for (;;) {
    b->watched = interleave_watched(b->code);
    ScheduleProgram p = bound_program(b);
    SchedulesResult *r = schedules_search(&p, o);
    Operation now = interleave_watched(b->code);
    if (!b->observer || r->findings->len || same_range(&now, &b->watched)) return r;
    schedules_result_free(r);
  }
}

/* While it is still at work, as that may take long. */
static void tell_all_cut(void *program, guint process, const void *at) {
  g_autofree char *where = place_words(program, process, at);
  fprintf(stderr,
          "stampede: the first schedules were all cut by --max-steps, the first with %s: a loop without an end? A "
          "smaller --max-steps, --max-schedules or --max-time ends this sooner\n",
          where);
}

/* --max-time is of all that check does, which began then. */
static void shrink(Bound *b, SchedulesResult *r, const SchedulesOptions *o, gint64 began) {
  bool observer = b->observer;
  b->observer = false;
  b->stepwise = judge_looks_at_states(&b->judge);
  interleave_way_back(b->code, true);
  ScheduleProgram p = bound_program(b);
  for (guint i = 0; i < r->findings->len; i++) {
    ScheduleFinding *f = r->findings->pdata[i];
    /* Each try of one that was stopped by the clock would take as long again. */
    if (g_str_has_prefix(f->words, "endless: ")) continue;
    ShrinkLimits limits = {o->max_steps, SHRINK_SCHEDULES, o->max_seconds, began, o->interrupted};
    schedules_shrink(&p, f, &limits);
  }
  b->observer = observer; /* one that was not shortened has the checks' look in it */
}

static GPtrArray *without_of(const Scenario *s) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0, n = scenario_count(s, "explore.without_lock"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("explore.without_lock[%u]", i);
    g_ptr_array_add(names, g_strdup(scenario_word(s, key)));
  }
  return names;
}

static bool comes_back(Bound *b, const Scenario *s, guint max_steps, GError **error) {
  g_autoptr(GString) where = g_string_new(NULL);
  if (interleave_comes_back(b->code, max_steps, where)) return true;
  g_propagate_error(error,
                    scenario_complain(s, "subject",
                                      "%s is stored to by code that is not instrumented and does not say so (stm_touch "
                                      "would); a search cannot undo that",
                                      where->str));
  return false;
}

/* The first finding's under the name that was given, the nth's under that and .n; stdout takes one. */
static char *trace_name(const char *path, guint i) {
  if (!path || i == 0) return g_strdup(path);
  return strcmp(path, "-") == 0 ? NULL : g_strdup_printf("%s.%u", path, i + 1);
}

/* A trace is judged after each of its steps. */
static GArray *without_observer(const Bound *b, const GArray *order) {
  GArray *rest = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < order->len; i++)
    if (!bound_is_observer(b, g_array_index(order, guint, i))) g_array_append_val(rest, g_array_index(order, guint, i));
  return rest;
}

static bool write_traces(SubjectCheck *c, Bound *b, const App *app, const Scenario *s, const char *path,
                         GError **error) {
  for (guint i = 0; path && i < c->told->len; i++) {
    ScheduleTold *t = c->told->pdata[i];
    g_autoptr(GArray) order = without_observer(b, ((const ScheduleFinding *)c->search->findings->pdata[i])->order);
    ScheduleCursor cursor = {order, 0};
    t->trace = trace_name(path, i);
    RunOptions o = {.command = "check", .checks = app->checks, .trace_path = t->trace};
    RunResult *r = t->trace ? schedule_path(b, s, &o, schedule_next, &cursor, error) : NULL;
    if (t->trace && !r) return false;
    g_clear_pointer(&r, run_result_free);
  }
  return true;
}

SubjectCheck *subject_check(const App *app, const Scenario *s, const SubjectCheckOptions *o, GError **error) {
  Bound b;
  SubjectCheck *c = NULL;
  const gint64 began = g_get_monotonic_time();
  bool right = bound_open(&b, s, &app->checks, error);
  if (right && comes_back(&b, s, o->search.max_steps, error)) {
    c = g_new0(SubjectCheck, 1);
    c->run = b.run;
    c->without = without_of(s);
    c->options = o->search;
    c->options.seed = scenario_seed(s);
    c->options.all_cut = tell_all_cut;
    g_autoptr(GPtrArray) wanted = expected_broken(s);
    c->options.wanted = (const char *const *)wanted->pdata;
    c->tso = interleave_buffers(b.code) > 0;
    c->processes = (guint)interleave_processes(b.code);
    c->told = g_ptr_array_new_with_free_func(told_free);
    c->search = search(&b, &c->options);
    c->observed = b.observer;
    c->never = g_ptr_array_new_with_free_func(g_free);
    take_points(c, &b);
    c->cut = c->search->cut ? place_words(&b, c->search->cut_in, c->search->cut_at) : NULL;
    c->counted = c->search->counted_at ? place_words(&b, c->search->counted_in, c->search->counted_at) : NULL;
    const SchedulesResult *r = c->search;
    bool all = schedules_exhausted(r) && !r->findings->len && !is_walk(&c->options);
    if (o->shrink) shrink(&b, c->search, &c->options, began);
    for (guint i = 0; i < r->findings->len; i++) g_ptr_array_add(c->told, tell(&b, r->findings->pdata[i]));
    c->options.wanted = NULL; /* the list ends here */
    give_verdicts(&b.judge, c->run, r, all);
    if (c->options.races) c->races = races_told_new(&b, c->search->races);
    if (c->races && !c->run->stopped) c->run->stopped = g_strdup(races_undeclared(c->races));
    if (!expect_judge(s, "check", c->run, error) || !write_traces(c, &b, app, s, o->trace_path, error))
      g_clear_pointer(&c, subject_check_free);
  } else if (right) {
    run_result_free(b.run);
  }
  bound_clear(&b);
  return c;
}

void subject_check_free(SubjectCheck *c) {
  if (!c) return;
  if (c->told) g_ptr_array_unref(c->told);
  if (c->never) g_ptr_array_unref(c->never);
  races_told_free(c->races);
  g_ptr_array_unref(c->without);
  g_free(c->cut);
  g_free(c->counted);
  schedules_result_free(c->search);
  run_result_free(c->run);
  g_free(c);
}
