/* schedules_races_told.h - races of a subject's code in words, and which of them its manifest declares.
 *
 * A declaration FILE:LINE is of each race that one of the accesses there has. One that names what is raced for is of
 * races whose accesses share nothing else: two copies of a whole structure race for all that is in it. */
#pragma once
#include "checks/schedules_bound.h"
#include "traces/output.h"

typedef struct {
  char *words;          /* "race: a writes x at f x.c:3; b reads x at g x.c:9" */
  char *at, *why;       /* as declared, and the reason; NULL: it is not declared */
  GPtrArray *chains[2]; /* of char*: each access's place and its callers, the innermost first */
  GPtrArray *steps;     /* of char*: a schedule up to the second access */
  guint first_at;       /* which of them is the first; the second is the last */
} RaceTold;

typedef struct {
  GPtrArray *races; /* of RaceTold: each pair of places once for what they race for, in order of discovery */
  GArray *unused;   /* of DeclaredRace: there was no such race */
} RacesTold;

/* `found` is of ScheduleRace; b is as it was while they were found, and goes through their schedules again. */
RacesTold *races_told_new(Bound *b, const GPtrArray *found);
void races_told_free(RacesTold *r);               /* NULL: nothing to do */
const char *races_undeclared(const RacesTold *r); /* the first of them, in words; NULL: none */
void races_told_text(const RacesTold *r, GString *out);
void races_told_json(const RacesTold *r, Output *o); /* the keys races and races_unused */
