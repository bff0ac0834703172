/* pooler_liveness.c - what a pooler has begun comes to an end: every waiter is served or reaches a limit that fires,
 * every cancel arrives or is dropped by a rule, every shutdown is over at last. */
#include "checks/checks.h"

Judgement check_seen_by_pooler(const Model *m, GString *why) {
  (void)why;
  return m->pooler ? JUDGED_FINE : JUDGED_BLIND;
}

/* What is lost, or was forgotten while it could be carried, is seen in the step that does it. */
Judgement check_cancel_arrives(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_LOST | POOLER_CANCEL_LATE, why);
}

guint subjects_waiters(const Model *m) {
  return m->pooler ? pooler_sessions(m->pooler) : 0;
}
bool pending_waiter(const Model *m, guint subject, GString *why) {
  return pooler_waits(m->pooler, subject, why);
}

guint subjects_cancels(const Model *m) {
  return m->pooler ? pooler_cancels(m->pooler) : 0;
}
bool pending_cancel(const Model *m, guint subject, GString *why) {
  return pooler_cancel_under_way(m->pooler, subject, why);
}

guint subjects_shutdowns(const Model *m) {
  return m->pooler ? pooler_processes(m->pooler) : 0;
}
bool pending_shutdown(const Model *m, guint subject, GString *why) {
  return pooler_shuts_down(m->pooler, subject, why);
}
