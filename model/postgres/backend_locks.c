/* backend_locks.c - ProcArrayLock and XidGenLock as ProcArrayAdd and ProcArrayRemove take them, with the time that they
 * were waited for and held. The times are the ledger's: they lie beside the state. */
#include "model/postgres/backend_stages.h"

static BackendTally *times_of(PgServer *sv, ProcId self) {
  return &g_array_index(sv->tallies, BackendTally, self);
}

void backend_asked_procarray(PgServer *sv, ProcId self) {
  times_of(sv, self)->wait_from = server_now(sv);
}

Step backend_lock_procarray(PgServer *sv, ProcId self, LockMode mode) {
  backend_asked_procarray(sv, self);
  return lock_acquire(sv->w, sv->procarray_lock, self, mode);
}

void backend_got_procarray(PgServer *sv, ProcId self, const Backend *b, bool connecting) {
  BackendTally *t = times_of(sv, self);
  t->hold_from = server_now(sv);
  if (b->counted && connecting) sv->sums.lock_wait_ns = ns_sum(sv->sums.lock_wait_ns, t->hold_from - t->wait_from);
}

void backend_gave_procarray(PgServer *sv, ProcId self, const Backend *b, bool connecting) {
  if (b->counted && connecting)
    sv->sums.lock_hold_ns = ns_sum(sv->sums.lock_hold_ns, server_now(sv) - times_of(sv, self)->hold_from);
}

void backend_release_procarray(PgServer *sv, ProcId self, const Backend *b, bool connecting) {
  if (!pg_step_times(&sv->config, PGSTEP_RELEASE_PROCARRAYLOCK)) return;
  lock_release(sv->w, sv->procarray_lock, self);
  backend_gave_procarray(sv, self, b, connecting);
}

/* Before 14 only ProcArrayLock was taken. */
static bool takes_xidgen(const PgServer *sv) {
  return sv->config.offsets != OFFSETS_NONE;
}

Step backend_lock_xids(PgServer *sv, ProcId self, const Backend *b, bool connecting) {
  backend_got_procarray(sv, self, b, connecting);
  return takes_xidgen(sv) ? lock_acquire(sv->w, sv->xidgen_lock, self, LOCK_EXCLUSIVE) : step_ran();
}

/* In the reverse order of taking them. */
void backend_release_both(PgServer *sv, ProcId self, const Backend *b, bool connecting) {
  if (takes_xidgen(sv) && pg_step_times(&sv->config, PGSTEP_RELEASE_XIDGENLOCK))
    lock_release(sv->w, sv->xidgen_lock, self);
  backend_release_procarray(sv, self, b, connecting);
}

int64_t backend_section_ns(const PgServer *sv) {
  return server_cost(sv, COST_SECTION, 1) + server_cost(sv, COST_LOCK_ACQUIRE, takes_xidgen(sv) ? 2 : 1);
}
