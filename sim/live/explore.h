/* explore.h - many orders of one scenario around a real pooler, which is started anew for each. What is pending may
 * come in any order (driver.h, any_order); the pooler's own timers fire when nothing else is left, and its limits where
 * explore.fire names them. */
#pragma once
#include "sim/live/driver.h"

typedef enum {
  EXPLORE_DFS,    /* every order, but one of those that differ by swapping events that commute (sleep sets) */
  EXPLORE_RANDOM, /* any next one, all alike */
  EXPLORE_PCT     /* Burckhardt and others, ASPLOS 2010: random priorities, and `depth` - 1 places where one drops */
} ExploreStrategy;
bool explore_strategy(const char *word, ExploreStrategy *s); /* false: no such word; NULL: dfs */

typedef struct {
  ExploreStrategy strategy;
  guint64 max_runs; /* 0: none; random and pct need one or a time */
  gint64 max_seconds;
  guint depth; /* of pct */
  bool reuse;  /* a pooler goes on from one order to the next where it is as fresh as at its start (driver.h) */
} ExploreOptions;

typedef enum { EXPLORED_ALL, EXPLORED_FOUND, EXPLORED_LIMIT, EXPLORED_INTERRUPTED, EXPLORED_DIFFERED } ExploredStop;
typedef struct {
  ExploredStop stop;
  guint64 runs, redundant, distinct; /* redundant: given up, as equal to one that was made; distinct: histories */
  guint longest;                     /* choices of a run */
  double estimate;                   /* of the number of orders (Knuth 1975), without the pruning; 0: too few runs */
  guint64 reused;                    /* runs around a pooler of the run before */
  guint64 shrunk_runs;               /* made to shorten the finding */
  bool went_wrong;                   /* of the finding: it ended early, and breaks no check that is asked for */
  guint deviations;                  /* of the finding: choices that are not the first in time */
} Explored;

/* The result is of the run that violates a check, made as short as found, or of the last one; figures are among its
 * metrics. o->trace_path is that run's trace. NULL and *error: as live_run. */
RunResult *live_explore(const Scenario *s, const LiveOptions *o, const ExploreOptions *e, Explored *x, GError **error);
