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
} Check;

typedef struct {
  const Check *checks;
  guint n;
} CheckTable;

const Check *check_find(const CheckTable *t, const char *name); /* NULL: unknown */
const char *check_verdict_word(CheckVerdict v);                 /* "holds", "not-violated" */
