/* explore_parts.h - one search through the orders of a scenario, shared by the files that make it up. A run is made of
 * its choices; the search keeps the path of the last one and changes its end. */
#pragma once
#include "model/world/rng.h"
#include "sim/live/explore.h"

/* A place where something was chosen. Asleep: what was tried before from here or above, and commutes with all that has
 * been done since; to do it now leads to an order that is equal to one made before. */
typedef struct {
  uint64_t n, took;
  GArray *options, *asleep; /* of LiveOption; options: empty where it is no LIVE_NEXT */
} Place;

typedef struct {
  const Scenario *scenario;
  const LiveOptions *live;
  const ExploreOptions *o;
  Explored *x;
  GArray *path;   /* of Place */
  GArray *wanted; /* of uint64_t: what a fixed run takes, as far as it goes */
  guint depth;    /* in this run */
  bool fixed;     /* the path alone decides, then the first in time */
  bool redundant, differed;
  double orders; /* Knuth's product */
  Rng rng;
  uint64_t run_seed;
  GArray *drops;         /* of guint: depths at which pct lowers a priority */
  GHashTable *lowered;   /* ids, looked up only */
  GHashTable *histories; /* of Hash128 */
  double estimates;
  LiveReuse *reuse; /* NULL: each run starts its own */
} Search;

/* explore_path.c: the path, what sleeps along it, and what is taken next */
void path_start(Search *q); /* once; path_end frees it */
void path_end(Search *q);
void path_before_run(Search *q);
bool path_next(Search *q); /* to the next path; false: there is none */
/* LiveChooser's; data: the search. */
uint64_t path_choose(void *data, LiveChoice what, uint64_t n, const LiveOption *options);
GArray *path_choices(const Search *q); /* of uint64_t; g_array_unref */
/* Only as far as the choices say: what comes behind is the first in time, and has other options than before. */
void path_follow(Search *q, const GArray *choices);

/* explore_shorten.c: the path of a finding, each choice the first in time where the same is wrong. Where it is
 * not again with the same choices, x->stop is EXPLORED_DIFFERED. False: *error. */
bool path_shorten(Search *q, const char *what, GError **error);

/* explore.c */
RunResult *explore_run_once(Search *q, LiveReuse *reuse, const char *trace, GError **error);
/* What is wrong with a run: the first check that it breaks, or why it ended early, which needs none to be asked for.
 * NULL: nothing is. */
const char *explore_wrong(const RunResult *r);
bool explore_is_wrong(const RunResult *r, const char *what); /* that is */
