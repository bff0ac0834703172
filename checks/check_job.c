/* check_job.c - the explorer as what a sweep does with a point. What comes of it has the form of a run: verdicts, and
 * for metrics the size of the search. A deadlock, which an exploration reports beside the checks, is the verdict of
 * no-deadlock here, asked for or not: so a table of points has a column for it. */
#include "checks/check_flags.h"
#include "checks/check_run.h"
#include <string.h>

static gpointer flags_new(void) {
  CheckFlags *f = g_new0(CheckFlags, 1);
  check_flags_init(f);
  return f;
}

static void flags_free(gpointer flags) {
  check_flags_clear(flags);
  g_free(flags);
}

static GOptionEntry *entries(gpointer flags, const GOptionEntry *own) {
  return check_flags_entries(flags, own);
}
static char *words(gpointer flags) {
  return check_flags_words(flags);
}
static char *set(gpointer flags) {
  return check_flags_set(flags);
}

static bool ready(gpointer flags) {
  SearchOptions o;
  return check_flags_search(flags, &o);
}

static void add_metric(RunResult *r, const char *name, double value) {
  Metric m = {g_strdup(name), value};
  g_array_append_val(r->metrics, m);
}

static const Finding *deadlock_of(const SearchResult *s) {
  for (guint i = 0; i < s->findings->len; i++) {
    const Finding *f = s->findings->pdata[i];
    if (f->check < 0) return f;
  }
  return NULL;
}

static void add_deadlock(const App *app, RunResult *r, const SearchResult *s) {
  const Check *check = check_find(&app->checks, "no-deadlock");
  const Finding *f = deadlock_of(s);
  g_assert(check);
  for (guint i = 0; i < r->checks->len; i++)
    if (g_array_index(r->checks, CheckResult, i).check == check) return;
  CheckResult c = {check,
                   f              ? CHECK_VIOLATED
                   : s->exhausted ? CHECK_HOLDS
                                  : CHECK_NOT_VIOLATED,
                   f ? (int64_t)f->path->len - 1 : -1, f ? g_strdup(f->why) : NULL};
  g_array_append_val(r->checks, c);
}

static RunResult *run(const App *app, const Scenario *scenario, gpointer flags, GError **error) {
  CheckOptions o = {.verdicts_only = true};
  bool sensible = check_flags_search(flags, &o.search);
  g_assert(sensible); /* ready() has said so */
  g_autoptr(CheckReport) report = check_run(app, scenario, &o, error);
  if (!report) return NULL;
  RunResult *r = g_steal_pointer(&report->run);
  const SearchResult *s = report->search;
  const bool all = s->stop == STOP_EXHAUSTED || s->stop == STOP_FOUND;
  add_deadlock(app, r, s);
  add_metric(r, "states", (double)s->states);
  add_metric(r, "transitions", (double)s->transitions);
  add_metric(r, "depth", s->depth);
  add_metric(r, "exhausted", s->exhausted);
  g_free(r->stopped);
  r->stopped = all ? NULL : g_strdup(search_stop_words(s->stop));
  r->wall_ms = s->seconds * 1e3;
  r->peak_rss_mb = report->peak_rss_mb;
  return r;
}

const CheckJob check_job = {.flags_new = flags_new,
                            .flags_free = flags_free,
                            .entries = entries,
                            .words = words,
                            .set = set,
                            .ready = ready,
                            .run = run};
