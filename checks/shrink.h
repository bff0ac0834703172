/* shrink.h - shorter ways to break what a search broke. Breadth-first findings are shortest already; others are first
 * thinned out step by step, then a breadth-first search within a budget looks for the shortest. Among ways of that
 * length one is looked for, within a budget again, in which fewer of the processes take part that are there from the
 * start (clients). */
#pragma once
#include "checks/search.h"

enum { SHRINK_STATES = 200000, SHRINK_SECONDS = 10, FEWER_STATES = 50000, FEWER_MOST = 64 };
/* Replaces the findings' paths by shorter ones that break the same check. False and *error: the model cannot be built.
 */
bool shrink_findings(const SearchOptions *o, SearchResult *r, GError **error);
