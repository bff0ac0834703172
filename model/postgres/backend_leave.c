/* backend_leave.c - a backend leaves: the on_shmem_exit callbacks in reverse order of their registration, which was
 * ProcKill, RemoveProcFromArray, pgstat_beshutdown, CleanupInvalidationState, CleanupProcSignalState; then the child's
 * slot in PMChildFlags, and the word to the postmaster.
 *
 * The slot goes back to the free list only after the backend has left the proc array, so nobody can take a slot that is
 * still listed there. */
#include "model/postgres/backend_stages.h"

Step backend_leave_proc_signal(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  proc_signal_write(sv->shared, b->procno, space_of(sv, self), &c);
  return work(told(sv, self, b, SITE_PROC_SIGNAL_CLEANUP, &c, -1));
}

Step backend_lock_sinval(World *w, ProcId self, void *locals) {
  (void)locals;
  return lock_acquire(w, server_of(w, self)->sinval_lock, self, LOCK_EXCLUSIVE);
}

Step backend_leave_sinval(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  sinval_remove(sv->shared, b->procno, space_of(sv, self), &c);
  return work(server_cost(sv, COST_LOCK_ACQUIRE, 1) + told(sv, self, b, SITE_SINVAL_CLEANUP, &c, -1));
}

Step backend_beshutdown(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  lock_release(w, sv->sinval_lock, self);
  backend_status_write(sv->shared, b->procno, true, space_of(sv, self), &c);
  return work(told(sv, self, b, SITE_BESHUTDOWN, &c, -1));
}

/* In which order backends come to the proc array decides the order of the free list. Where that order has been drawn,
 * who is early waits until all before it have queued for the lock, which is first come first served from there on. */
Step backend_await_turn(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  if (b->turn == 0 || b->turn == sv->state->turn) return step_ran();
  g_assert(b->turn > sv->state->turn && sv->early[b->turn] == 0);
  sv->early[b->turn] = b->inbox;
  return channel_await(w, b->inbox, self);
}

void backend_next_turn(World *w, PgServer *sv, const Backend *b) {
  channel_free(w, b->inbox);
  int turn = ++sv->state->turn;
  if (turn > sv->n_conns || sv->early[turn] == 0) return;
  channel_send(w, sv->early[turn], (Message){.kind = MSG_TURN}, 0);
  sv->early[turn] = 0;
}

Step backend_lock_to_remove(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  if (b->turn) backend_next_turn(w, sv, b);
  if (sv->config.code) return b->head.pc = B_CODE_LEAVE, step_ran();
  return backend_lock_procarray(sv, self, LOCK_EXCLUSIVE);
}

Step backend_lock_xids_to_remove(World *w, ProcId self, void *locals) {
  return backend_lock_xids(server_of(w, self), self, locals, false);
}

Step backend_remove(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  procarray_remove(sv->shared, b->procno, space_of(sv, self), &c);
  return work(backend_section_ns(sv) + told(sv, self, b, SITE_REMOVE, &c, -1));
}

Step backend_removed(World *w, ProcId self, void *locals) {
  backend_release_both(server_of(w, self), self, locals, false);
  return step_ran();
}

Step backend_proc_kill(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  slot_give(sv->shared, b->procno, false, space_of(sv, self), &c);
  int64_t ns = server_cost(sv, COST_SPIN_SECTION, 1) + told(sv, self, b, SITE_PROC_KILL, &c, -1);
  g_assert(sv->state->out > 0);
  if (--sv->state->out == 0) queue_wake_all(w, sv->gone, ns);
  return work(ns);
}

Step backend_child_inactive(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  AddressSpace *as = space_of(sv, self);
  PgCost c = {0};
  int slot = sv->child[b->child].slot;
  if (slot >= 0) pmchild_flag_write(sv->shared, slot, as, &c);
  int64_t ns = told(sv, self, b, SITE_CHILD_INACTIVE, &c, -1);
  return work(ns + server_cost(sv, COST_UNMAP_PAGE, (int64_t)address_space_pages(as)));
}

Step backend_gone(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  if (sv->config.code) sv->config.code->reap(sv->config.code->data, b->process);
  address_space_reset(space_of(sv, self), sv->owners);
  channel_send(w, sv->postmaster_inbox, (Message){.kind = MSG_EXITED, .from = (uint32_t)b->child}, 0);
  return step_done();
}
