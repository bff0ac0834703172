/* result.h - what came of one run, and how it is told: JSON, text, JUnit. Owned by whoever ran it. */
#pragma once
#include "sim/check.h"
#include "traces/trace.h"
#include "traces/output.h"

#define STAMPEDE_VERSION "0.1.0"

/* Of the program; stampede(1) tells what each means. */
enum {
  EXIT_MET = 0,
  EXIT_UNMET = 1,
  EXIT_INPUT = 2,
  EXIT_LIMIT = 3,
  EXIT_ENVIRONMENT = 4,
  EXIT_DIFFERED = 5,
  EXIT_INTERRUPTED = 130
};

typedef enum { RUN_PASS, RUN_FAIL, RUN_INCOMPLETE } RunVerdict;

typedef struct {
  const Check *check;
  CheckVerdict verdict;
  int64_t step; /* index of the step after which it was seen; -1: none */
  char *why;    /* the broken condition; NULL */
} CheckResult;

typedef struct {
  char *text; /* "warm.connect_ms within [17900, 19780]" */
  bool met;
  bool judged; /* false: the run ended before it could be, or another way judges it */
  char *saw;
} Expectation;

typedef struct {
  char *name;
  double value;
} Metric;

typedef struct {
  char *structure, *site;
  int64_t faults, stores;
  double share_of_faults, ms, under_lock_ms; /* share: 0..1 */
  char *source, *path;                       /* real code: the line's text, and its file; NULL: not to be had */
  int line;
} HotSpotRow;

/* A call chain of real code, and what was touched at its end. */
typedef struct {
  char *frames; /* from the process's call to "procarray.c:539", apart by semicolons */
  char *structure;
  int64_t faults, stores;
  double ms;
} StackRow;

typedef struct {
  const char *key; /* "unexplained.start_of_run" */
  double ms;       /* of one occurrence */
} Unexplained;

typedef struct {
  char *command, *scenario, *subject, *profile;
  char *point; /* of a sweep: which of its points this is; NULL: of none */
  uint64_t seed;
  RunVerdict verdict;
  bool interrupted;
  bool late;                     /* RunOptions.deadline_us ended it */
  bool limited;                  /* it ended at a limit: what it would still have shown is open */
  char *stopped;                 /* why it ended early, in words; NULL: it did not */
  char *last_words;              /* of a real pooler's log, where that ended the run; differs between runs */
  char *caveat;                  /* why it is worth less than others, in words; NULL: it is not */
  bool real_clock;               /* of a real pooler: time has passed */
  GArray *checks, *expectations; /* of CheckResult, Expectation */
  gpointer kept_checks;          /* a counted box: checks that are the model's own */
  GArray *metrics, *hotspots;    /* of Metric, HotSpotRow */
  GArray *stacks;                /* of StackRow: all that hotspots tell, by call chain; empty without real code */
  GArray *unexplained;           /* of Unexplained */
  uint64_t events, ties, steps;
  bool seeded;     /* false: the seed decided nothing (engine_seeded) */
  uint64_t judged; /* steps after which the checks were judged: fewer than `steps` on a large model (run.c) */
  int64_t
      lasso_from; /* the last step leads back to the state before this one, fairly; -1: no such thing was confirmed */
  int64_t virtual_ns;
  Hash128 state_hash;
  /* Of the tool itself, the only members that differ between runs. start_ms: a real pooler's, to its first quiet. */
  double wall_ms, peak_rss_mb, start_ms;
} RunResult;

RunResult *run_result_new(void);
void run_result_free(RunResult *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunResult, run_result_free)
bool run_result_metric(const RunResult *r, const char *name, double *value);
const char *run_verdict_word(RunVerdict v);
int run_result_exit(const RunResult *r); /* EXIT_MET, EXIT_UNMET, EXIT_LIMIT or EXIT_INTERRUPTED */

void report_json(const RunResult *r, Output *o);
/* Pieces of it for other documents: a member with the comma and line end behind it, an entry of `expectations`. */
void report_json_text(Output *o, const char *key, const char *value); /* NULL: null */
void report_json_uint(Output *o, const char *key, uint64_t value);
void report_json_expectation(Output *o, const Expectation *e);
/* 12345.678 is "12345.7", 0.5 is "0.500", 12 is "12": what fits a column and is read at a glance. */
void report_number(GString *out, int width, double v);
void report_text(const RunResult *r, GString *out, bool color, guint hot_spots);
/* A testsuite each result: a case each check, expectation (skipped: not judged), and the run itself. */
void report_junit(const RunResult *const *results, guint n, Output *o);
