/* checks.h - the table of all checks. Each is proved able to fail by a mutant in tests/ (tests/test_checks.c). */
#pragma once
#include "sim/check.h"

extern const Check checks_all[];
extern const guint checks_all_len;
const char *const *checks_names(void); /* NULL-terminated */

/* checks/proc_array.c, checks/slots.c, checks/locks.c */
Judgement check_proc_array_sorted(const Model *m, GString *why);
Judgement check_pgxactoff_matches(const Model *m, GString *why);
Judgement check_dense_arrays_agree(const Model *m, GString *why);
Judgement check_slot_owned_once(const Model *m, GString *why);
Judgement check_locks_released(const Model *m, GString *why);
