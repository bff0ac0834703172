/* pooler_pool.c - a pool's books against its connections (A1, A2), its waiters (A5, A6), a reload (A7), and what its
 * clients see. */
#include "checks/checks.h"

/* Sets and what the pool has written down of them. What a pool counts wrongly it will sooner or later open too many of,
 * or too few. */
static bool books_wrong(const PoolView *v, GString *why) {
  if (v->listed_twice)
    g_string_printf(why, "pool %s: its idle list names a connection that is not idle, or one twice", v->name);
  else if (v->listed_idle != v->idle)
    g_string_printf(why, "pool %s: %u idle on its list, %u are", v->name, v->listed_idle, v->idle);
  else if (v->counted_taken != v->checked_out)
    g_string_printf(why, "pool %s: %u checked out by its count, %u are", v->name, v->counted_taken, v->checked_out);
  else if (v->sockets - v->closing > v->size + v->reserve)
    g_string_printf(why, "pool %s: %u server connections, %u allowed", v->name, v->sockets - v->closing,
                    v->size + v->reserve);
  else
    return false;
  return true;
}

void reads_pools(const Model *m, Footprint *f) {
  if (m->pooler) pooler_reads(m->pooler, false, f);
}
void reads_map(const Model *m, Footprint *f) {
  if (m->pooler) pooler_reads(m->pooler, true, f);
}

Judgement check_pool_accounting(const Model *m, GString *why) {
  if (!m->pooler) return JUDGED_BLIND;
  for (guint i = 0; i < pooler_pools(m->pooler); i++) {
    PoolView v = pooler_pool(m->pooler, i);
    if (books_wrong(&v, why)) return JUDGED_BROKEN;
  }
  int lost = pooler_lost_server(m->pooler), shared = pooler_shared_server(m->pooler);
  if (lost >= 0) g_string_printf(why, "server %d is checked out, and nobody owns it", lost);
  if (shared >= 0) g_string_printf(why, "server %d has two owners, or one while it is idle", shared);
  return lost >= 0 || shared >= 0 ? JUDGED_BROKEN : JUDGED_FINE;
}

Judgement check_no_lost_wakeup(const Model *m, GString *why) {
  if (!m->pooler) return JUDGED_BLIND;
  for (guint i = 0; i < pooler_pools(m->pooler); i++) {
    PoolView v = pooler_pool(m->pooler, i);
    if (v.waiters == 0 || v.paused || v.offline) continue;
    if (v.idle && !v.polled) /* who polls will look by himself */
      g_string_printf(why, "pool %s: %u waiter(s) while %u connection(s) are idle", v.name, v.waiters, v.idle);
    else if (v.could_open && !v.opening_or_poked)
      g_string_printf(why, "pool %s: %u waiter(s), room for a connection, and nobody opens one", v.name, v.waiters);
    else
      continue;
    return JUDGED_BROKEN;
  }
  return JUDGED_FINE;
}

Judgement check_fifo_bound(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_OVERTAKEN, why);
}
Judgement check_reload_conserves(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_MOVE_LOST, why);
}
Judgement check_no_double_free(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_DOUBLE_FREE, why);
}
Judgement check_no_crash(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_CRASH, why);
}
Judgement check_no_client_error(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_CLIENT_ERROR, why);
}
Judgement check_session_is_clean(const Model *m, GString *why) {
  return pooler_marked(m, POOLER_DIRTY_HANDOVER, why);
}
