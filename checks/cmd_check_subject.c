/* cmd_check_subject.c - see cmd_check_subject.h. */
#include "checks/cmd_check_subject.h"
#include "checks/schedules_subject.h"
#include "sim/subject/child.h"
#include <string.h>

enum { MAX_STEPS_DEFAULT = 10000, WALKS_DEFAULT = 1000 };

void schedule_flags_init(ScheduleFlags *f) {
  *f = (ScheduleFlags){.preemptions = -1, .delays = -1, .max_steps = MAX_STEPS_DEFAULT};
}

void schedule_flags_clear(ScheduleFlags *f) {
  g_strfreev(f->without);
}

char *schedule_flags_set(const ScheduleFlags *f) {
  if (!f->without) return NULL;
  GString *set = g_string_new("explore.without_lock=[");
  for (char **name = f->without; *name; name++) {
    g_autofree char *quoted = g_strescape(*name, NULL);
    g_string_append_printf(set, "%s\"%s\"", name == f->without ? "" : ", ", quoted);
  }
  return g_string_free(g_string_append_c(set, ']'), FALSE);
}

bool schedule_flags_given(const ScheduleFlags *f) {
  return f->preemptions != -1 || f->delays != -1 || f->races || f->max_schedules || f->max_steps != MAX_STEPS_DEFAULT;
}

static bool strategy_of(const char *word, SchedulesStrategy *out) {
  static const char *const words[] = {"dpor", "dfs", "random", "pct"};
  *out = SCHEDULES_DPOR;
  for (guint i = 0; word && i < G_N_ELEMENTS(words); i++)
    if (strcmp(word, words[i]) == 0) return *out = (SchedulesStrategy)i, true;
  return !word;
}

/* One line for what a search through schedules does not do, or not together. */
static const char *senseless(const CheckFlags *f, const ScheduleFlags *g, SchedulesStrategy s) {
  bool walks = s == SCHEDULES_RANDOM || s == SCHEDULES_PCT;
  if (f->time && strcmp(f->time, "untimed") != 0) return "a subject's schedules are untimed: any order may come";
  if (f->store || f->reduce || f->max_states || f->max_memory || f->max_depth || f->deepen)
    return "--store, --reduce, --max-states, --max-memory, --max-depth and --deepen are for models whose states are "
           "kept; schedules of a subject have --max-schedules, --max-steps and --max-time";
  const char *why = check_flags_senseless(f, walks, s == SCHEDULES_PCT, false);
  if (why) return why;
  if (g->preemptions < -1 || g->delays < -1) return "--preemptions and --delays take 0 or more";
  if ((g->preemptions >= 0 || g->delays >= 0) && s != SCHEDULES_DFS)
    return "--preemptions and --delays are for --strategy dfs: a bound takes away from dpor what it relies on";
  if (g->max_schedules < 0) return "limits are 0 (none) or more";
  if (walks && g->max_schedules) return "--strategy random and pct have --walks";
  return g->max_steps < 1 ? "--max-steps takes 1 or more" : NULL;
}

typedef struct {
  const App *app;
  const Scenario *s;
  const CliOptions *o;
  SubjectCheckOptions options;
} Job;

static void fill_json(Output *o, const void *data) {
  subject_check_json(data, o);
}

static void fill_junit(Output *o, const void *data) {
  const RunResult *r = ((const SubjectCheck *)data)->run;
  report_junit(&r, 1, o);
}

static int run_job(void *data) {
  const Job *j = data;
  GError *error = NULL;
  g_autoptr(SubjectCheck) c = subject_check(j->app, j->s, &j->options, &error);
  if (!c) return cli_fail(error);
  int status = EXIT_MET;
  if (j->o->json) status = cli_write("-", fill_json, c);
  if (j->o->junit) status = cli_write(j->o->junit, fill_junit, c);
  if (!j->o->json && !j->o->quiet) {
    g_autoptr(GString) text = g_string_new(NULL);
    subject_check_text(c, text);
    status = cli_print(text->str);
  }
  return status == EXIT_MET ? run_result_exit(c->run) : status;
}

int check_subject(const App *app, const Scenario *s, const CliOptions *o, const CheckFlags *f, const ScheduleFlags *g) {
  SchedulesStrategy strategy;
  if (!strategy_of(f->strategy, &strategy))
    return cli_refuse(EXIT_INPUT, "--strategy %s: for a subject there are dpor, dfs, random, pct", f->strategy);
  const char *why = senseless(f, g, strategy);
  if (why) return cli_refuse(EXIT_INPUT, "%s", why);
  bool walks = strategy == SCHEDULES_RANDOM || strategy == SCHEDULES_PCT;
  int n = f->walks ? f->walks : WALKS_DEFAULT;
  Job j = {.app = app, .s = s, .o = o};
  j.options.shrink = true;
  j.options.trace_path = o->trace;
  j.options.search = (SchedulesOptions){.strategy = strategy,
                                        .preemptions = g->preemptions,
                                        .delays = g->delays,
                                        .races = g->races,
                                        .jobs = (guint)f->jobs,
                                        .max_steps = (guint)g->max_steps,
                                        .max_schedules = walks ? (uint64_t)n : (uint64_t)g->max_schedules,
                                        .max_seconds = f->max_time,
                                        .changes = (guint)f->changes,
                                        .findings_max = (guint)f->all,
                                        .interrupted = cli_interrupted()};
  return child_command(run_job, &j);
}
