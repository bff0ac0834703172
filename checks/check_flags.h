/* check_flags.h - the options that say how to search, for whoever takes them: check, and sweep --job check. */
#pragma once
#include "checks/search.h"

typedef struct {
  char *strategy, *store, *time, *max_memory, *reduce;
  gint64 max_states;
  double max_time;
  int max_depth, deepen, walks, changes, bits;
  int jobs, all; /* of check alone; 1 in a sweep */
} CheckFlags;

void check_flags_init(CheckFlags *f);
void check_flags_clear(CheckFlags *f);
/* Options to be parsed into f, with the caller's own (NULL-terminated) behind them; g_free. */
GOptionEntry *check_flags_entries(CheckFlags *f, const GOptionEntry *own);
/* False: said on stderr, in one line, what makes no sense. `stepper`, `checks` and `seed` are not filled in. */
bool check_flags_search(const CheckFlags *f, SearchOptions *o);
/* One line for what makes no sense in any search, of states or of schedules; NULL: nothing. */
const char *check_flags_senseless(const CheckFlags *f, bool walks, bool pct, bool bitstate);
/* The scenario's key for --time, "explore.time=timed"; NULL: not given. g_free. */
char *check_flags_set(const CheckFlags *f);
/* "--max-states 300 --store full": what was given and is not the default, so that two sweeps can be compared; g_free.
 */
char *check_flags_words(const CheckFlags *f);
