/* check.h - what a check is, for whoever runs a model: run, sweep, compare, the explorer, live. The checks themselves
 * are in checks/; stampede.c hands their table down, since sim may not look up there. */
#pragma once
#include "sim/model.h"

typedef enum { SEES_WIRE = 1, SEES_POOLS = 2, SEES_INSIDE = 4 } CheckSees; /* what it observes; live has no inside */
typedef enum { CHECK_HOLDS, CHECK_VIOLATED, CHECK_NOT_VIOLATED, CHECK_UNKNOWN } CheckVerdict;
typedef enum { JUDGED_FINE, JUDGED_BROKEN, JUDGED_BLIND } Judgement; /* blind: this model cannot show it */

typedef struct {
  const char *name, *about; /* "proc-array-sorted"; one sentence */
  CheckSees sees;
  /* Looks at the state between two steps. Broken: says in `why` the broken condition, with both sides. */
  Judgement (*judge)(const Model *m, GString *why);
  /* Liveness, NULL for a check of states alone: each subject (a waiter, a cancel) is pending or not, and none may be so
   * for ever, under fairness (checks/README.md). Beside that `judge` says what one state shows. */
  guint (*subjects)(const Model *m);
  /* What it waits for is put into `why` (NULL: not asked): "a waits for a server connection". */
  bool (*pending)(const Model *m, guint subject, GString *why);
  /* What a reduction must know. steps_alone: judges marks, or what is true only where nothing moves, and no other part
   * of the state. reads: what of the state it looks at, footprint_everything meaning all but what a process owns (and
   * its locals); NULL: all of it. */
  bool steps_alone;
  void (*reads)(const Model *m, Footprint *f);
  bool unasked; /* of the proc array: judged of a server's code under `processes` where the scenario names no check */
  bool faults;  /* judges what ends a run of real code, model_fault; the others are not asked once it has ended so */
} Check;

typedef struct {
  const Check *checks;
  guint n;
} CheckTable;

bool check_is_liveness(const Check *c);
/* The first subject that is pending, with what it waits for; false: none is. Of a check of states alone: false. */
bool check_any_pending(const Check *c, const Model *m, GString *why);
const Check *check_find(const CheckTable *t, const char *name); /* NULL: unknown */
const char *check_verdict_word(CheckVerdict v);                 /* "holds", "not-violated" */
