/* checks.c - the table of checks. */
#include "checks/checks.h"

const Check checks_all[] = {
    {"proc-array-sorted", "the proc array lists its members by ascending proc number", SEES_INSIDE,
     check_proc_array_sorted},
    {"pgxactoff-matches", "each member's pgxactoff is its place in the proc array", SEES_INSIDE,
     check_pgxactoff_matches},
    {"slot-owned-once", "every PGPROC slot is on exactly one free list once, or owned by exactly one live backend",
     SEES_INSIDE, check_slot_owned_once},
    {"dense-arrays-agree", "xids, subxidStates and statusFlags of a place are those of the PGPROC that stands there",
     SEES_INSIDE, check_dense_arrays_agree},
    {"locks-released", "no backend holds an LWLock when it ends or waits for its client", SEES_INSIDE,
     check_locks_released},
};
const guint checks_all_len = G_N_ELEMENTS(checks_all);

const char *const *checks_names(void) {
  static const char *names[G_N_ELEMENTS(checks_all) + 1];
  static gsize once;
  if (g_once_init_enter(&once)) {
    for (guint i = 0; i < checks_all_len; i++) names[i] = checks_all[i].name;
    g_once_init_leave(&once, 1);
  }
  return names;
}
