/* schedules_coverage.h - what a search through schedules has seen: classes of schedules that differ in nothing but the
 * order of operations that commute, places where a process could be preempted, and how much may be left. */
#pragma once
#include <glib.h>
#include <stdbool.h>

/* A number for each of many 64-bit keys. */
typedef struct {
  guint64 *keys; /* 0: free */
  guint32 *values;
  guint size, used; /* size: a power of two */
} Tally;

void tally_clear(Tally *t);
guint32 *tally_at(Tally *t, guint64 key); /* 0 at first; until the next call */
void tally_put(const Tally *t, GByteArray *out);
/* Of another, appended by tally_put at *at, which is moved behind it: added (classes), or or-ed (points). */
void tally_take(Tally *t, const guint8 **at, bool add);
guint tally_count(const Tally *t, guint32 value); /* keys of this value */

enum { POINT_SEEN = 1, POINT_TAKEN = 2 };

typedef struct {
  Tally classes; /* by hash: how often; empty where every schedule is a class of its own (dpor) */
  Tally points;  /* by place in the code: POINT_* */
  double part;   /* dfs, dpor: of the tree of schedules, gone through, by the weight of its branches; 1: all */
} Coverage;

void coverage_clear(Coverage *c);
void coverage_put(const Coverage *c, GByteArray *out);
void coverage_take(Coverage *c, const guint8 **at);
