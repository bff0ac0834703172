/* simulated.c - see simulated.h. The steps of the run tell who connects, with how many faults, and who leaves when. */
#include "sim/calibrate/simulated.h"
#include "sim/calibrate/calibrate.h"
#include "sim/subject/child.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t faults; /* so far */
  int rank;       /* among the connects of its iteration; -1: a short connection */
} Running;

typedef struct {
  StormSeries *series;
  GArray *running;          /* of Running, by process */
  guint before, clients, k; /* short connections to come; clients of an iteration; the iteration that is on */
  FILE *kept;               /* of code that runs in a child: what was seen there */
} Watch;

static int64_t argument(const TraceStep *step, const char *name) {
  for (guint i = 0; i < step->n_args; i++)
    if (!strcmp(step->args[i].name, name)) return step->args[i].value;
  return 0;
}

static void ready(Watch *w, Running *r) {
  StormBackend b = {.faults = r->faults};
  StormIteration *it = w->k < w->series->iterations->len ? storm_iteration(w->series, w->k) : NULL;
  r->rank = -1;
  if (w->before) {
    g_array_append_val(w->series->alone, b);
  } else if (it && it->backends->len < w->clients) {
    r->rank = (int)it->backends->len;
    g_array_append_val(it->backends, b);
  }
}

/* Short connections between two iterations come when everybody has left, and before the next one's first. */
static void left(Watch *w, const Running *r) {
  if (w->before) w->before--;
  if (r->rank < 0) return;
  StormIteration *it = storm_iteration(w->series, w->k);
  guint rank = (guint)r->rank;
  g_array_append_val(it->leaving, rank);
}

static bool saw(void *data, const TraceStep *step) {
  Watch *w = data;
  if (!step->who || !g_str_has_prefix(step->who, "backend[")) {
    if (!strcmp(step->what, "pthread_create")) w->k += storm_iteration(w->series, w->k)->leaving->len > 0;
    return true;
  }
  guint p = (guint)atoi(step->who + strlen("backend["));
  if (w->running->len <= p) g_array_set_size(w->running, p + 1);
  Running *r = &g_array_index(w->running, Running, p);
  if (!strcmp(step->what, "BackendInitialize")) *r = (Running){.rank = -1};
  r->faults += argument(step, "faults");
  if (!strcmp(step->what, "ReadyForQuery")) ready(w, r);
  if (!strcmp(step->what, "ProcKill")) left(w, r);
  return true;
}

/* Short connections between iterations arrive while the iteration before is still the one that is on: it is full. */
static void take_sums(StormSeries *s, const RunResult *r) {
  for (guint k = 0; k < s->iterations->len; k++) {
    StormIteration *it = storm_iteration(s, k);
    g_autofree char *tables = g_strdup_printf("iteration[%u].pagetable_kib", k + 1),
                    *ms = g_strdup_printf("iteration[%u].connect_ms", k + 1),
                    *mean = g_strdup_printf("iteration[%u].faults_mean", k + 1);
    double by_run = 0;
    run_result_metric(r, tables, &it->pagetable_kib);
    run_result_metric(r, ms, &it->connect_ms);
    if (run_result_metric(r, mean, &by_run))
      g_assert(by_run == storm_figures(it, 0, 0).mean); /* told twice, one truth */
  }
}

/* ---- a subject's code runs in a child, and what was seen with it: that comes back by a file without a name ---- */

static void keep_array(GArray *a, FILE *f) {
  fwrite(&a->len, sizeof a->len, 1, f);
  if (a->len) fwrite(a->data, g_array_get_element_size(a), a->len, f);
}

/* A child that was ended has kept nothing, or a part: then the rest stays empty. */
static void take_array(GArray *a, FILE *f) {
  guint n;
  if (fread(&n, sizeof n, 1, f) != 1) return;
  g_array_set_size(a, n);
  if (n && fread(a->data, g_array_get_element_size(a), n, f) != n) g_array_set_size(a, 0);
}

static void each_array(const Watch *w, void (*with)(GArray *a, FILE *f)) {
  with(w->series->alone, w->kept);
  for (guint k = 0; k < w->series->iterations->len; k++) {
    with(storm_iteration(w->series, k)->backends, w->kept);
    with(storm_iteration(w->series, k)->leaving, w->kept);
  }
}

static RunResult *run_and_keep(const Scenario *s, const RunOptions *o, GError **error) {
  const Watch *w = o->replay;
  RunResult *r = run_scenario(s, o, error);
  each_array(w, keep_array);
  fflush(w->kept);
  return r;
}

static RunResult *run_in_child(const Scenario *s, const RunOptions *o, Watch *w, GError **error) {
  if (!(w->kept = tmpfile())) {
    g_set_error(error, CALIBRATE_ERROR, CALIBRATE_ERROR_ENVIRONMENT, "a temporary file: %s", g_strerror(errno));
    return NULL;
  }
  RunResult *r = child_run(s, o, run_and_keep, error);
  rewind(w->kept);
  each_array(w, take_array);
  fclose(w->kept);
  return r;
}

StormSeries *storm_simulate(const Scenario *s, const gint *interrupted, RunResult **result, GError **error) {
  guint iterations = (guint)scenario_int(s, "workload.iterations");
  g_autoptr(StormSeries) series = storm_series_new(iterations);
  Watch w = {.series = series,
             .running = g_array_new(FALSE, TRUE, sizeof(Running)),
             .before = (guint)scenario_int(s, "workload.before_iterations"),
             .clients = (guint)scenario_int(s, "workload.clients")};
  RunOptions o = {.command = "run", .interrupted = interrupted, .saw = saw, .replay = &w, .judge_at = -1};
  RunResult *r = scenario_given(s, "subject") ? run_in_child(s, &o, &w, error) : run_scenario(s, &o, error);
  g_array_unref(w.running);
  bool whole = r && !r->interrupted && storm_iteration(series, iterations - 1)->leaving->len == w.clients;
  if (whole) take_sums(series, r);
  if (r && !whole && !r->interrupted)
    g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: the simulation ended before all had left: %s",
                scenario_file(s), r->stopped ? r->stopped : "some were refused");
  if (result && whole)
    *result = r;
  else
    run_result_free(r);
  return whole ? g_steal_pointer(&series) : NULL;
}
