/* compare_parts.h - parts of a comparison that compare.c puts together. */
#pragma once
#include "sim/compare.h"

/* The two results of a seed; false: one did not finish, or ended before its time. */
bool compare_pair(const CompareInput *in, const ComparedCase *c, guint seed, const RunResult *pair[SIDES]);

GArray *compare_checks(const CompareInput *in, const ComparedCase *c); /* of ComparedCheck, in the scenario's order */
GArray *compare_spots(const CompareInput *in, const ComparedCase *c);  /* of ComparedSpot */
