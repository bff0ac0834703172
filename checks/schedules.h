/* schedules.h - the order in which the processes of concurrent code go on: which orders can break something?
 *
 * Stateless: a program can be put back to its first state, told which process does its next operation, and asked what
 * each would do then. No state is kept or compared; what a search knows of a state is the schedule that leads there.
 * Orders that differ only in operations that nobody could tell apart (a Mazurkiewicz trace) are one, and with
 * `SCHEDULES_DPOR` one of each is run: checks/README.md says how. */
#pragma once
#include "checks/schedules_coverage.h"
#include "sim/subject/operation.h"

enum { SCHEDULE_PROCESSES_MAX = 64 };

typedef enum { PROCESS_READY, PROCESS_WAITS, PROCESS_ENDED } ProcessState;

typedef struct {
  void *data;
  guint processes; /* at most SCHEDULE_PROCESSES_MAX; all there from the first state on */
  guint buffers;   /* total store order: processes [buffers, 2 * buffers) are the store buffers of the first so many; 0:
                      there are none. That one of them goes on preempts nobody */
  void (*restart)(void *data);
  void (*back)(void *data, guint steps); /* to what it was after so many steps; NULL: they are done again */
  /* What process p does next; does nothing. Of OPERATION_SPIN the search knows itself whether it waits. */
  ProcessState (*pending)(void *data, guint p, Operation *out);
  /* It does that and goes on to before its next operation. *failed: a try did not get what it wanted; *changed: memory
   * is not as it was. */
  void (*step)(void *data, guint p, bool *failed, bool *changed);
  /* The nth thing that is broken now, NULL: there are no more. `end`: no process goes on any more. Asked for n = 0
   * first, which judges. Lives until the next time. */
  const char *(*broken)(void *data, bool end, guint n);
  int (*count)(void *data, uint64_t semaphore); /* in the first state; NULL: all are 0 */
  /* What a search in another process has taught it beside its result, and how it is told; NULL: nothing. */
  void (*tell)(void *data, GByteArray *out);
  void (*learn)(void *data, const guint8 *told, gsize bytes);
} ScheduleProgram;

typedef enum { SCHEDULES_DPOR, SCHEDULES_DFS, SCHEDULES_RANDOM, SCHEDULES_PCT } SchedulesStrategy;

typedef struct {
  SchedulesStrategy strategy;
  int preemptions;           /* dfs: at most so many; -1: any number */
  int delays;                /* dfs: at most so many; -1: any number */
  guint jobs;                /* processes that search; the answer is the same. 0 is 1. at_end goes with 1 alone */
  guint max_steps;           /* of one schedule; what goes on longer is cut, and that is told */
  uint64_t max_schedules;    /* 0: any number; random, pct: how many to run */
  double max_seconds;        /* 0: any time */
  bool races;                /* look for accesses that nothing puts in order */
  guint changes;             /* pct: changes of priority in a schedule (the paper's d - 1) */
  guint length;              /* pct: steps of a schedule (the paper's k); 0: as many as the first one had */
  uint64_t seed;             /* random, pct */
  guint findings_max;        /* stop after so many; different means other words before the first colon */
  const char *const *wanted; /* and not before all of these are among them, NULL at the end; NULL: none */
  const char
      *shortest; /* dfs: of this finding the schedule of fewest steps is kept; longer ones are cut short. NULL: none */
  const volatile int *interrupted;           /* NULL: never */
  void (*at_end)(void *user, void *program); /* after each whole schedule; NULL: nothing */
  /* Once, when the first hundred were cut, with where the first was; NULL: nothing. */
  void (*all_cut)(void *program, guint process, const void *at);
  void *user;
  /* For tests that the search is caught when it is wrong: operations of these two kinds are taken to commute; every
   * Nth process to be tried is dropped. 0, 0: none. */
  unsigned mutant_commute[2], mutant_drop;
  bool mutant_awake; /* of several jobs: who is tried early finds nobody asleep */
} SchedulesOptions;

typedef struct {
  char *words;   /* what is broken */
  GArray *order; /* of guint: who goes on, step by step */
  guint preemptions;
  bool fewest; /* shrunk: none that breaks the same has fewer preemptions, nor as many and fewer steps */
} ScheduleFinding;

/* Of all schedules that show it the one in which the process changes least often, then the shortest, then the first. */
typedef struct {
  Operation first, second;
  guint processes[2];
  guint first_at; /* step of the first; the second's is the last */
  guint changes;
  GArray *order; /* of guint: the schedule, up to the second */
} ScheduleRace;

typedef enum { SCHEDULES_EXHAUSTED, SCHEDULES_FOUND, SCHEDULES_LIMIT, SCHEDULES_INTERRUPTED } SchedulesStop;

typedef struct {
  SchedulesStop stop;
  uint64_t schedules; /* that ran to their end */
  uint64_t redundant; /* given up as equal to one that was run (all that could go on is asleep) */
  uint64_t cut;       /* by max_steps */
  const void *cut_at; /* the last operation of the first that was; NULL: none was */
  guint cut_in;       /* its process */
  /* A loop that counts its rounds: it waited, and what more rounds would have come to was not tried. NULL: none was. */
  const void *counted_at;
  guint counted_in;
  uint64_t bounded; /* places where the bound on preemptions or delays left a process out */
  uint64_t steps;   /* of the program, without those that only lead back to where a search goes on */
  guint longest;    /* of those that ran to their end, were cut, or broke something */
  Coverage coverage;
  GPtrArray *races;    /* of ScheduleRace, each pair of places and addresses once */
  double bound;        /* pct: a bug of depth `changes` + 1 is found by one schedule at least so likely */
  double seconds, cpu; /* measured; cpu: of this process */
  GPtrArray *findings; /* of ScheduleFinding */
} SchedulesResult;

SchedulesResult *schedules_search(const ScheduleProgram *p, const SchedulesOptions *o);
bool schedules_same(const char *a, const char *b); /* words of two findings: the same is broken */
void schedules_result_free(SchedulesResult *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SchedulesResult, schedules_result_free)
bool schedules_exhausted(const SchedulesResult *r); /* nothing was left out, for whatever reason */

/* Classes of schedules that differ in more than the order of operations that commute. */
uint64_t schedules_classes(const SchedulesResult *r, SchedulesStrategy strategy);
/* How many schedules the whole tree has, after Knuth ("Estimating the Efficiency of Backtrack Programs", Mathematics of
 * Computation 29, 1975), with the part that was gone through for his random paths: exact where all branches are alike,
 * and at the end. Of dpor it is a worse guess, as what is to be tried is found out on the way. */
double schedules_estimate(const SchedulesResult *r);
/* Random, pct: how likely the next schedule is of a class not seen before (Good, "The Population Frequencies of
 * Species", Biometrika 40, 1953). */
double schedules_chance_of_news(const SchedulesResult *r);

/* A schedule with as few preemptions as can be found, then as few steps, that breaks the same. Replaces f's order. */
typedef struct {
  guint max_steps;
  uint64_t budget;             /* schedules for each number of preemptions */
  double max_seconds;          /* since `began`; 0: any time */
  gint64 began;                /* of g_get_monotonic_time */
  const volatile int *stopped; /* as SchedulesOptions' interrupted */
} ShrinkLimits;
void schedules_shrink(const ScheduleProgram *p, ScheduleFinding *f, const ShrinkLimits *limits);
