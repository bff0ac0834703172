/* sweep.h - many runs of one scenario, or of a few: which points there are, and running them.
 *
 * Points are the product of the scenarios (outermost), the lists given (the first one first), the variants and the
 * seeds (innermost), numbered in that order: point = (combination * variants + variant) * seeds + seed. Everything is
 * read once, when the plan is made: a point is loaded again from the plan's texts by whoever runs it, so that nothing
 * is shared between threads and a file edited meanwhile changes nothing. Errors are SCENARIO_ERROR (exit 2) unless said
 * otherwise. */
#pragma once
#include "sim/published.h"
#include "sim/run.h"

enum { SWEEP_MAX_VALUES = 10000, SWEEP_MAX_POINTS = 100000 };

typedef struct {
  char *key, *name;  /* "workload.clients"; the column: "clients", or the whole key where that is ambiguous */
  GPtrArray *values; /* of char *, each once, as they would stand in a scenario file */
  bool numeric;      /* every value is a number, a size or a duration: */
  GArray *x;         /*   of double, in `unit` */
  const char *unit;  /*   "", "B" or "ns" */
  bool scenarios;    /* no key of a file: the values are the scenarios themselves */
} SweptKey;

typedef struct {
  char *name, *file, *text; /* as it was asked for, without folder and .yaml; as errors call it; as read */
  gsize length;
} SweepScenario;

typedef struct {
  char *scenario;          /* names, joined by ", " */
  GPtrArray *scenarios;    /* of SweepScenario; with more than one, keys[0] is theirs */
  char *profile;           /* of all points, joined by ", " where they differ */
  GPtrArray *plain;        /* of char *: overrides of every point, "KEY=VALUE" */
  GPtrArray *keys;         /* of SweptKey */
  GPtrArray *variants;     /* of char *: names, "a+b" for two over each other */
  GPtrArray *variant_sets; /* of GPtrArray of char *: what each of them overrides */
  bool own_variant;        /* none was asked for: the one variant is the scenario's */
  guint combinations, seeds;
  uint64_t seed;        /* the first; then each one more */
  GPtrArray *sources;   /* of ScenarioSource *: what any point stands on */
  char *job;            /* what is done with a point, with its options: "run", "check --max-states 300" */
  bool explores;        /* it is check: results are verdicts */
  Published *published; /* NULL: the scenario names none, or there are several */
  /* By combination and variant: why these policies contradict each other, so that there is nothing to run; NULL: they
   * do not. */
  GPtrArray *refused; /* of char * */
  char hash[33];      /* of its manifest (sweep_store.h): tells one sweep from another */
} SweepPlan;

/* One of two sides that are compared: stands in the place of a variant. */
typedef struct {
  const char *name;      /* "split-pgxactoff" */
  const GPtrArray *sets; /* of char *: "KEY=VALUE" (side.h) */
} SweepSide;

typedef struct {
  const char *const *sets; /* of the command line, "KEY=VALUE" or "KEY=LIST"; NULL: none */
  const char *seed;        /* NULL: the scenario's */
  const char *variants;    /* "A,B"; NULL: the scenario's */
  const SweepSide *sides;  /* in place of variants, n_sides of them, which may be alike; NULL */
  guint n_sides;
  const char *job; /* NULL: "run" */
  gint64 repeat;
  const gint *interrupted; /* making a plan of many points takes time; NULL */
} SweepRequest;

/* Values of a list: "512:8192:*2", "10:50:+10" (both ends included where they are met), "1,2,3", or several of these
 * with commas between. Whole numbers with one unit in a range ("4KiB:64KiB:*4"). Commas within brackets or quotes
 * belong to a value: "none,{hold_until: [eof, 1s]}" has two. Messages begin with what is wrong, not with the key. */
GPtrArray *sweep_values(const char *list, GError **error);

/* Loads every point once, so that a mistake in any is known before the first runs. A point whose policies contradict
 * each other is no mistake, unless all are such. `base` says where to look and which names are known; its sets and seed
 * are not used. NULL without *error: interrupted. */
SweepPlan *sweep_plan(const char *const *scenarios, const SweepRequest *request, const ScenarioOptions *base,
                      GError **error);
void sweep_plan_free(SweepPlan *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SweepPlan, sweep_plan_free)

guint sweep_points(const SweepPlan *p);
guint sweep_point(const SweepPlan *p, guint combination, guint variant, guint seed);
guint sweep_value_index(const SweepPlan *p, guint key, guint combination); /* of keys[key]->values */
const char *sweep_value(const SweepPlan *p, guint key, guint combination);
guint sweep_combination(const SweepPlan *p, guint point);
const char *sweep_variant(const SweepPlan *p, guint point);
uint64_t sweep_seed(const SweepPlan *p, guint point);
bool sweep_has_axis(const SweepPlan *p); /* a list of numbers, three or more: a curve */
const SweepScenario *sweep_scenario(const SweepPlan *p, guint point);
const char *sweep_refused(const SweepPlan *p, guint point); /* why; NULL: it can be run */
char *sweep_point_name(const SweepPlan *p, guint point);    /* "clients=512 dense-arrays seed 1" */

/* The point's scenario, the caller's own; not of a refused one. `base` as in sweep_plan. */
Scenario *sweep_load(const SweepPlan *p, guint point, const ScenarioOptions *base, GError **error);

typedef struct {
  /* What is done with a point; called by several threads at a time. NULL and *error: SCENARIO_ERROR (exit 2),
   * TRACE_ERROR (exit 4). */
  RunResult *(*run)(void *data, const Scenario *s, GError **error);
  const ScenarioOptions *base;
  guint jobs;                              /* threads */
  const gint *interrupted;                 /* or NULL */
  bool (*wanted)(void *data, guint point); /* leaves out points; asked before the first is run. NULL: all are wanted */
  /* A point has finished; called by one thread at a time. False and *error: nothing more is begun. */
  bool (*finished)(void *data, guint point, RunResult *r, guint done, GError **error);
  void *data;
} SweepRunOptions;

/* Runs the points that are not refused and whose results[point] is NULL, in order, and puts what came out there. An
 * error is that of the first point (by number) that has one, whatever `jobs` is; what finished stays in results.
 * Interrupted: true, and points that were not finished stay NULL. */
bool sweep_run(const SweepPlan *p, const SweepRunOptions *o, GPtrArray *results, GError **error);
