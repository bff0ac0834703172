/* compare.h - two sides of one question: the same scenarios with the same seeds, once as they are (the baseline) and
 * once with a patch, and a verdict for each.
 *
 * A case is a scenario, at one combination of the lists that --set gave. Its sides are the two variants of a sweep's
 * plan (sweep.h), so seeds are paired: pair i is seed i on both sides. Where the seed decides nothing (result.h,
 * seeded) the first pair is all there is. What decides is one metric; better and worse mean that the whole interval of
 * its change (bootstrap.h) lies beyond the threshold, same means all else. */
#pragma once
#include "sim/bootstrap.h"
#include "sim/gate.h"
#include "sim/sweep.h"

typedef enum { SIDE_BASELINE, SIDE_PATCH, SIDES } Side;
typedef enum {
  COMPARED_BETTER,
  COMPARED_SAME,
  COMPARED_WORSE,
  COMPARED_BROKEN,    /* a check is violated, or nothing can go on, with the patch alone */
  COMPARED_INCOMPLETE /* there is nothing to judge by; `why` says what is missing */
} CompareVerdict;
#define COMPARE_VERDICTS (COMPARED_INCOMPLETE + 1)
const char *compare_verdict_word(CompareVerdict v);

typedef struct {
  uint64_t seed;
  double value[SIDES];
} ComparedPair;

typedef struct {
  const char *name;
  CheckVerdict verdict[SIDES]; /* of all seeds: violated before unknown before the rest */
  const char *why[SIDES];      /* of the first seed that violates it; NULL */
  uint64_t seed[SIDES];        /* that one */
} ComparedCheck;

/* Means over pairs. A spot that one side never touched has 0 there and `on` false. */
typedef struct {
  const char *structure, *site;
  bool on[SIDES];
  double faults[SIDES], ms[SIDES];
} ComparedSpot;

typedef struct {
  const SweepPlan *plan;
  guint combination;
  char *name; /* "connect-storm", "connect-storm clients=512" */
  CompareVerdict verdict;
  char *why; /* of broken, incomplete, better for a mended check, and a violation that both sides expect; NULL */
  const char *metric; /* that decides; NULL: the two sides have none in common */
  bool higher;        /* more of it is better */
  bool alone;         /* the seed decides nothing: every further pair would be the first again */
  GArray *pairs;      /* of ComparedPair: those that were measured on both sides */
  double mean[SIDES]; /* of them */
  bool relative;      /* interval is of patch / baseline - 1, else (a baseline of 0) of patch - baseline */
  BootstrapInterval interval;
  bool has_effect;        /* false: no spread to compare with */
  double effect;          /* bootstrap_effect */
  bool settled;           /* false: the interval holds both what counts as the same and what does not */
  GArray *checks, *spots; /* of ComparedCheck; of ComparedSpot, the largest change of time first */
} ComparedCase;

typedef struct {
  const Gate *gate;
  const ComparedCase *of;
  bool judged; /* false: a side has no such metric here */
  bool met;
  double mean[SIDES];
} JudgedGate;

typedef struct {
  const char *side[SIDES]; /* as they were named */
  const SweepPlan *plan;
  GPtrArray *results; /* of RunResult, by point; NULL where it did not finish */
  GPtrArray *gates;   /* of Gate */
  const char *metric; /* that was asked for; NULL */
  double threshold;   /* share: 0.02 */
  bool interrupted;
} CompareInput;

typedef struct {
  const CompareInput *in;
  GPtrArray *cases; /* of ComparedCase, by combination */
  GArray *gates;    /* of JudgedGate: by gate, then by case; those that some side has the metric of */
} Comparison;

/* Keeps the input. */
Comparison *compare(const CompareInput *in);
void comparison_free(Comparison *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Comparison, comparison_free)

const RunResult *compare_result(const CompareInput *in, const ComparedCase *c, Side side, guint seed); /* or NULL */
/* Mean of a metric over the pairs that have it on both sides; false: none has. */
bool compare_means(const CompareInput *in, const ComparedCase *c, const char *metric, double mean[SIDES]);
guint compare_count(const Comparison *c, CompareVerdict v);
/* EXIT_INTERRUPTED; EXIT_UNMET for a broken case or a gate that is not met; EXIT_LIMIT for what could not be judged. */
int compare_exit(const Comparison *c);

/* For who runs the points: has the seed decided nothing on either side of this combination, as far as its first seed
 * shows? */
bool compare_alone(const SweepPlan *p, const GPtrArray *results, guint combination);
