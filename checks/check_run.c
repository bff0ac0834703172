/* check_run.c - see check_run.h. */
#include "checks/check_run.h"
#include "checks/reduce.h"
#include "checks/shrink.h"
#include "model/world/rng.h"
#include "sim/expect.h"
#include <string.h>

/* ---- what to judge ---- */

GPtrArray *check_run_judged(const RunResult *r) {
  GPtrArray *checks = g_ptr_array_new();
  for (guint i = 0; i < r->checks->len; i++)
    g_ptr_array_add(checks, (gpointer)g_array_index(r->checks, CheckResult, i).check);
  return checks;
}

/* The names of checks are known once there is a model. */
RunResult *check_run_begin(const App *app, const Scenario *s, GError **error) {
  StepperConfig config = {0};
  walk_config(s, &config);
  g_autoptr(Stepper) stepper = stepper_new(&config, NULL, error);
  if (!stepper) return NULL;
  RunResult *r = run_result_new();
  Model *m = stepper_model(stepper);
  r->command = g_strdup("check");
  r->scenario = g_strdup(scenario_name(s));
  r->profile = g_strdup(scenario_word(s, "machine.profile"));
  r->subject = g_strdup(m->subject);
  r->seed = scenario_seed(s);
  if (expect_checks(s, m, &app->checks, r, error)) return r;
  run_result_free(r);
  return NULL;
}

/* ---- metrics are judged on the run in virtual time, made first ---- */

static bool wants_metrics(const Scenario *s) {
  for (guint i = 0, n = scenario_count(s, "expect"); i < n; i++) {
    g_autofree char *key = g_strdup_printf("expect[%u].metric", i);
    if (scenario_given(s, key) && expect_judged_by(s, i, "check")) return true;
  }
  return false;
}

static bool take_metrics(const App *app, const Scenario *s, RunResult *r, gint64 deadline_us, GError **error) {
  if (!wants_metrics(s)) return true;
  RunOptions o = {
      .command = "run", .checks = app->checks, .interrupted = cli_interrupted(), .deadline_us = deadline_us};
  g_autoptr(RunResult) run = run_scenario(s, &o, error);
  if (!run) return false;
  if (run->late) return true; /* figures of half a run are none */
  g_array_unref(r->metrics);
  r->metrics = g_array_ref(run->metrics);
  return true;
}

/* ---- verdicts ---- */

static const Finding *finding_of(const SearchResult *r, gint check) {
  for (guint i = 0; i < r->findings->len; i++) {
    const Finding *f = r->findings->pdata[i];
    if (f->check == check) return f;
  }
  return NULL;
}

static void give_verdicts(RunResult *r, const SearchResult *found) {
  for (guint i = 0; i < r->checks->len; i++) {
    CheckResult *c = &g_array_index(r->checks, CheckResult, i);
    const Finding *f = finding_of(found, (gint)i);
    bool all = found->exhausted && (found->loops || !check_is_liveness(c->check));
    c->verdict = f ? CHECK_VIOLATED : found->blind[i] ? CHECK_UNKNOWN : all ? CHECK_HOLDS : CHECK_NOT_VIOLATED;
    if (!f) continue;
    c->step = (int64_t)f->path->len - 1;
    c->why = g_strdup(f->why);
  }
  const Finding *deadlock = finding_of(found, -1);
  if (deadlock) r->stopped = g_strdup(deadlock->why);
  r->interrupted = found->stop == STOP_INTERRUPTED || found->loops_stop == STOP_INTERRUPTED;
}

/* ---- paths ---- */

static char *trace_name(const CheckOptions *o, guint i) {
  if (!o->trace_path || i == 0 || strcmp(o->trace_path, "-") == 0) return i ? NULL : g_strdup(o->trace_path);
  return g_strdup_printf("%s.%u", o->trace_path, i + 1);
}

static bool add_path(const App *app, const Scenario *s, CheckReport *r, const CheckOptions *o, const Finding *f,
                     const WalkPath *how, GError **error) {
  CheckPath *p = g_new0(CheckPath, 1);
  p->finding = f;
  p->words = g_string_new(NULL);
  p->trace = trace_name(o, r->paths->len);
  g_ptr_array_add(r->paths, p);
  WalkPath w = *how;
  w.text = p->words;
  RunOptions ro = {.command = "check", .checks = app->checks, .trace_path = p->trace};
  g_autoptr(RunResult) walked = walk(s, &ro, &w, error);
  if (!walked) return false;
  g_assert(!how->lasso || walked->lasso_from == (int64_t)how->lasso_from); /* confirmed once more, by the walk */
  p->steps = (guint)walked->steps;
  return true;
}

static bool tell_findings(const App *app, const Scenario *s, CheckReport *r, const CheckOptions *o, GError **error) {
  for (guint i = 0; i < r->search->findings->len; i++) {
    const Finding *f = r->search->findings->pdata[i];
    WalkCursor cursor = {f->path, 0};
    WalkPath how = {
        .next = walk_next, .data = &cursor, .lasso = f->lasso_from >= 0, .lasso_from = (uint64_t)MAX(f->lasso_from, 0)};
    if (!add_path(app, s, r, o, f, &how, error)) return false;
  }
  return true;
}

enum { EXAMPLE_STEPS = 200 };
typedef struct {
  Rng rng;
  guint steps;
} Example;

static bool next_of_example(void *data, Stepper *s, Branch *b) {
  Example *e = data;
  const GArray *moves = stepper_moves(s);
  if (moves->len == 0 || e->steps++ == EXAMPLE_STEPS) return false;
  *b = (Branch){.move = g_array_index(moves, Move, rng_below(&e->rng, moves->len)), .n_answers = ANSWERS_FIRST};
  return true;
}

static bool tell_example(const App *app, const Scenario *s, CheckReport *r, const CheckOptions *o, GError **error) {
  Example e = {.steps = 0};
  rng_init(&e.rng, scenario_seed(s), "example");
  WalkPath how = {.next = next_of_example, .data = &e};
  return add_path(app, s, r, o, NULL, &how, error);
}

/* ---- what was covered ---- */

typedef struct {
  CheckReport *r;
  const char *type;
} Never;

static bool named(const GPtrArray *names, const char *what) {
  for (guint i = 0; i < names->len; i++)
    if (strcmp(names->pdata[i], what) == 0) return true;
  return false;
}

/* Two stages may share a name. */
static void note_stage(const char *stage, void *data) {
  const Never *n = data;
  g_autofree char *what = g_strconcat(n->type, " ", stage, NULL);
  if (named(n->r->search->seen, what) || named(n->r->never, what)) return;
  g_ptr_array_add(n->r->never, g_steal_pointer(&what));
}

static void note_never(CheckReport *r, const World *w) {
  for (guint i = 0; i < world_types(w); i++) {
    TypeId t = (TypeId)i;
    const TypeGuide *g = world_guide_of(w, t);
    Never n = {r, world_type_name(w, t)};
    if (g && g->stages) g->stages(w, note_stage, &n);
  }
}

static bool take_coverage(const Scenario *s, CheckReport *r, GError **error) {
  StepperConfig config = {0};
  walk_config(s, &config);
  g_autoptr(Stepper) stepper = stepper_new(&config, NULL, error);
  if (stepper) note_never(r, stepper_model(stepper)->world);
  return stepper != NULL;
}

/* ---- all of it ---- */

static CheckReport *report_new(const CheckOptions *o) {
  CheckReport *r = g_new0(CheckReport, 1);
  r->options = o->search;
  r->paths = g_ptr_array_new();
  r->never = g_ptr_array_new_with_free_func(g_free);
  return r;
}

void check_report_free(CheckReport *r) {
  for (guint i = 0; i < r->paths->len; i++) {
    CheckPath *p = r->paths->pdata[i];
    g_string_free(p->words, TRUE);
    g_free(p->trace);
    g_free(p);
  }
  g_ptr_array_unref(r->paths);
  g_ptr_array_unref(r->never);
  if (r->run) run_result_free(r->run);
  search_result_free(r->search);
  g_free(r);
}

static void take_options(const Scenario *s, SearchOptions *o, const GPtrArray *checks) {
  walk_config(s, &o->stepper);
  o->checks = (const Check *const *)checks->pdata;
  o->n_checks = checks->len;
  o->seed = scenario_seed(s);
}

static bool choose_reductions(SearchOptions *o, const Reduction *r, GError **error) {
  g_autoptr(Stepper) plain = stepper_new(&o->stepper, NULL, error);
  const char *why;
  if (!plain) return false;
  guint wanted = o->reduce;
  o->reduce = reduce_sound(wanted, stepper_model(plain), o, &why);
  if (why && o->reduce_asked) {
    g_set_error_literal(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, why);
    return false;
  }
  reduce_hooks(&o->stepper, o->reduce, r);
  return true;
}

static bool search(const Scenario *s, CheckReport *r, GError **error) {
  g_autoptr(GPtrArray) checks = check_run_judged(r->run);
  SearchOptions *o = &r->options;
  take_options(s, o, checks);
  r->time = scenario_word(s, "explore.time");
  Reduction reduction = {o->checks, o->n_checks};
  bool ok = choose_reductions(o, &reduction, error);
  if (ok) r->search = search_run(o, error);
  ok = r->search && reduce_lift(o, r->search, error) && shrink_findings(o, r->search, error);
  o->stepper.reducer = NULL;
  o->checks = NULL; /* the list ends here; the result knows them */
  return ok;
}

static bool tell(const App *app, const Scenario *s, CheckReport *r, const CheckOptions *o, GError **error) {
  if (!take_coverage(s, r, error)) return false;
  if (r->search->findings->len == 0) return tell_example(app, s, r, o, error);
  return tell_findings(app, s, r, o, error);
}

/* Lines of `expect` that other ways judge ask nothing of this one. */
static bool asked(const Scenario *s) {
  for (guint i = 0, n = scenario_count(s, "expect"); i < n; i++)
    if (expect_judged_by(s, i, "check")) return true;
  return false;
}

/* A limit that was reached before everything was seen leaves a run without expectations incomplete; bounds that belong
 * to the strategy (a depth, a number of walks) do not: nothing more was asked for. */
static void leave_open(const Scenario *s, CheckReport *r) {
  SearchStop stop = r->search->stop;
  bool limit = stop == STOP_STATES || stop == STOP_TIME || stop == STOP_MEMORY;
  bool nothing_asked = r->run->expectations->len == 0 || !asked(s) || stop == STOP_MEMORY;
  if (limit && nothing_asked && r->run->verdict == RUN_PASS) r->run->verdict = RUN_INCOMPLETE;
}

/* What a check of liveness needed was not looked through. */
static bool rounds_left_open(const CheckReport *r) {
  bool open = false;
  for (guint i = 0; i < r->run->checks->len; i++) {
    const CheckResult *c = &g_array_index(r->run->checks, CheckResult, i);
    open |= check_is_liveness(c->check) && c->verdict == CHECK_NOT_VIOLATED && !r->search->loops;
  }
  return open;
}

CheckReport *check_run(const App *app, const Scenario *s, const CheckOptions *o, GError **error) {
  CheckReport *r = report_new(o);
  if (o->search.max_seconds > 0) /* of all that follows, the run in virtual time too */
    r->options.deadline_us = g_get_monotonic_time() + (gint64)(o->search.max_seconds * G_USEC_PER_SEC);
  r->run = check_run_begin(app, s, error);
  bool ok = r->run && (o->verdicts_only || take_metrics(app, s, r->run, r->options.deadline_us, error)) &&
            search(s, r, error);
  if (ok) {
    give_verdicts(r->run, r->search);
    r->run->limited = r->search->stop != STOP_EXHAUSTED && r->search->stop != STOP_FOUND;
    r->run->limited |= rounds_left_open(r);
    ok = o->verdicts_only || (expect_judge(s, "check", r->run, error) && tell(app, s, r, o, error));
    leave_open(s, r);
  }
  r->peak_rss_mb = run_peak_rss_mb();
  if (ok) return r;
  check_report_free(r);
  return NULL;
}

bool check_verify(const App *app, const Scenario *s, const CheckOptions *o, Verified *v, GError **error) {
  CheckReport *r = report_new(o);
  r->run = check_run_begin(app, s, error);
  bool ok = r->run != NULL;
  if (ok) {
    g_autoptr(GPtrArray) checks = check_run_judged(r->run);
    SearchOptions *options = &r->options;
    take_options(s, options, checks);
    Reduction reduction = {options->checks, options->n_checks};
    *v = (Verified){.which = 0};
    if (options->max_seconds > 0)
      options->deadline_us = g_get_monotonic_time() + (gint64)(options->max_seconds * G_USEC_PER_SEC);
    ok = choose_reductions(options, &reduction, error);
    if (ok && options->reduce) ok = reduce_verify(options, options->reduce, &reduction, options->max_states, v, error);
  }
  check_report_free(r);
  return ok;
}

bool check_estimate(const App *app, const Scenario *s, const CheckOptions *o, guint sample, Estimate *e,
                    GError **error) {
  CheckReport *r = report_new(o);
  r->run = check_run_begin(app, s, error);
  bool ok = r->run != NULL;
  if (ok) {
    g_autoptr(GPtrArray) checks = check_run_judged(r->run);
    take_options(s, &r->options, checks);
    Reduction reduction = {r->options.checks, r->options.n_checks};
    ok = choose_reductions(&r->options, &reduction, error) && estimate_states(&r->options, sample, e, error);
  }
  check_report_free(r);
  return ok;
}

int check_report_exit(const CheckReport *r) {
  return run_result_exit(r->run);
}
