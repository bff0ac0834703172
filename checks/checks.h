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
Judgement check_no_deadlock(const Model *m, GString *why); /* checks/deadlock.c */

/* checks/code.c */
Judgement check_no_panic(const Model *m, GString *why);
Judgement check_semaphores_conserved(const Model *m, GString *why);

/* checks/pooler_cancel.c, checks/pooler_pool.c */
Judgement pooler_marked(const Model *m, uint64_t marks, GString *why);
Judgement check_cancel_hits_its_query(const Model *m, GString *why);
Judgement check_cancel_hits_only_its_query(const Model *m, GString *why);
Judgement check_cancel_map_complete(const Model *m, GString *why);
Judgement check_cancel_map_sound(const Model *m, GString *why);
Judgement check_row_from_one_shard(const Model *m, GString *why);
Judgement check_pool_accounting(const Model *m, GString *why);
Judgement check_no_lost_wakeup(const Model *m, GString *why);
Judgement check_fifo_bound(const Model *m, GString *why);
Judgement check_reload_conserves(const Model *m, GString *why);
Judgement check_no_double_free(const Model *m, GString *why);
Judgement check_no_crash(const Model *m, GString *why);
Judgement check_no_client_error(const Model *m, GString *why);
Judgement check_session_is_clean(const Model *m, GString *why);

/* What they read, for reductions. */
void reads_pools(const Model *m, Footprint *f);
void reads_map(const Model *m, Footprint *f); /* what backends run, too */

/* checks/pooler_liveness.c */
Judgement check_seen_by_pooler(const Model *m, GString *why); /* blind where there is none, else fine */
Judgement check_cancel_arrives(const Model *m, GString *why);
guint subjects_waiters(const Model *m);
bool pending_waiter(const Model *m, guint subject, GString *why);
guint subjects_cancels(const Model *m);
bool pending_cancel(const Model *m, guint subject, GString *why);
guint subjects_shutdowns(const Model *m);
bool pending_shutdown(const Model *m, guint subject, GString *why);
