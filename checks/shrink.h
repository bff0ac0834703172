/* shrink.h - shorter ways to break what a search broke. Breadth-first findings are shortest already; others are first
 * thinned out step by step, then a breadth-first search within a budget looks for the shortest. */
#pragma once
#include "checks/search.h"

enum { SHRINK_STATES = 200000, SHRINK_SECONDS = 10 };
/* Replaces the findings' paths by shorter ones that break the same check. False and *error: the model cannot be built.
 */
bool shrink_findings(const SearchOptions *o, SearchResult *r, GError **error);
