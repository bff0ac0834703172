/* backend.c - one backend, from fork to exit, as a list of stages.
 *
 * Starting: a child reads the startup packet, takes a PGPROC (so it holds one before it has authenticated), joins the
 * proc array under ProcArrayLock and XidGenLock, then sinval and ProcSignal, takes `snapshots` snapshots under
 * ProcArrayLock shared, and reports itself ready. Leaving:
 * backend_leave.c. */
#include "model/postgres/backend_stages.h"

/* ---- starting ---- */

/* What a backend does by itself between its snapshots, in equal parts. */
int64_t backend_startup_part(const PgServer *sv, int part) {
  int64_t all = server_cost(sv, COST_STARTUP_AFTER, 1), parts = sv->config.snapshots + 1;
  return part == 0 ? all - all / parts * (parts - 1) : all / parts;
}

static Step initialize(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  int64_t ns = server_cost(sv, COST_STARTUP_BEFORE, 1);
  int slot = sv->child[b->child].slot;
  if (slot < 0) { /* a dead-end child */
    b->head.pc = B_REFUSE;
    return work(ns);
  }
  PgCost c = {0};
  pmchild_flag_write(sv->shared, slot, space_of(sv, self), &c);
  return work(ns + told(sv, self, b, SITE_CHILD_ACTIVE, &c, -1));
}

static Step init_process(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  if (sv->config.code) return backend_code_init(w, self, b);
  AddressSpace *as = space_of(sv, self);
  PgCost c = {0};
  b->procno = slot_take(sv->shared, PG_BACKENDS, (int)self, as, &c);
  int64_t ns = server_cost(sv, COST_SPIN_SECTION, 1);
  if (b->procno < 0) { /* FATAL: sorry, too many clients already */
    b->head.pc = B_REFUSE;
    return work(ns + told(sv, self, b, SITE_INIT_PROCESS, &c, -1));
  }
  slot_initialize(sv->shared, b->procno, 1000 + (int)self, as, &c);
  sv->state->out++;
  if (b->counted) sv->born[sv->state->born++ % sv->n_conns] = b->conn;
  return work(ns + told(sv, self, b, SITE_INIT_PROCESS, &c, -1));
}

static Step lock_to_add(World *w, ProcId self, void *locals) {
  (void)locals;
  return backend_lock_procarray(server_of(w, self), self, LOCK_EXCLUSIVE);
}

static Step lock_xids_to_add(World *w, ProcId self, void *locals) {
  return backend_lock_xids(server_of(w, self), self, locals, true);
}

static Step add(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  int rank = procarray_add(sv->shared, b->procno, space_of(sv, self), &c);
  if (rank < 0) b->failed = FAILED_TO_ADD; /* FATAL; only a mutant fills the array */
  int64_t ns = backend_section_ns(sv) + server_cost(sv, COST_UNEXPLAINED_SECTION, 1);
  return work(ns + told(sv, self, b, SITE_ADD, &c, rank));
}

static Step added(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  backend_release_both(sv, self, b, true);
  if (b->failed) {
    b->head.pc = B_REFUSE;
    return step_ran();
  }
  return lock_acquire(w, sv->sinval_lock, self, LOCK_EXCLUSIVE);
}

static Step init_sinval(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  sinval_add(sv->shared, b->procno, space_of(sv, self), &c);
  return work(server_cost(sv, COST_LOCK_ACQUIRE, 1) + told(sv, self, b, SITE_SINVAL_INIT, &c, -1));
}

static Step init_proc_signal(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  lock_release(w, sv->sinval_lock, self);
  proc_signal_write(sv->shared, b->procno, space_of(sv, self), &c);
  return work(backend_startup_part(sv, 0) + server_cost(sv, COST_LOGIN_CPU, 1) +
              told(sv, self, b, SITE_PROC_SIGNAL_INIT, &c, -1));
}

static Step next_pass(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  if (b->passes < sv->config.snapshots && sv->config.code) return backend_code_snapshot(w, self, b);
  if (b->passes < sv->config.snapshots) return backend_lock_procarray(sv, self, LOCK_SHARED);
  b->head.pc = B_BESTART;
  return step_ran();
}

/* A process's first snapshot scans the array. Later ones find xactCompletionCount as it was (nobody here has an xid, so
 * nobody completes one) and keep what they have: GetSnapshotDataReuse, 14 and later. */
static Step snapshot(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  backend_got_procarray(sv, self, b, true);
  if (b->passes == 0) procarray_scan(sv->shared, space_of(sv, self), &c);
  int64_t ns = server_cost(sv, COST_SNAPSHOT, 1) + server_cost(sv, COST_LOCK_ACQUIRE, 1);
  return work(ns + told(sv, self, b, SITE_SNAPSHOT, &c, -1));
}

static Step snapshot_taken(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  backend_release_procarray(sv, self, b, true);
  b->passes++;
  b->head.pc = B_PASS;
  return work(backend_startup_part(sv, 1));
}

/* InitPostgres, once it knows who the user is: reserved slots are for superusers. */
static int reserved_slots(const PgServer *sv) {
  return sv->config.superusers ? 0 : sv->config.superuser_reserved_connections + sv->config.reserved_connections;
}

static bool may_stay(PgServer *sv, ProcId self, const Backend *b, int64_t *ns) {
  int reserved = reserved_slots(sv);
  if (reserved == 0) return true;
  PgCost c = {0};
  bool free = slots_have_free(sv->shared, reserved, space_of(sv, self), &c);
  *ns += server_cost(sv, COST_SPIN_SECTION, 1) + told(sv, self, b, SITE_HAVE_FREE, &c, -1);
  return free;
}

Step backend_bestart(World *w, ProcId self, Backend *b, int64_t ns) {
  PgServer *sv = server_of(w, self);
  PgCost c = {0};
  backend_status_write(sv->shared, b->procno, false, space_of(sv, self), &c);
  b->head.pc = B_READY;
  return work(ns + told(sv, self, b, SITE_BESTART, &c, -1));
}

static Step bestart(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  int64_t ns = 0;
  if (sv->config.code && reserved_slots(sv)) return backend_code_count(w, self, b, reserved_slots(sv));
  if (may_stay(sv, self, b, &ns)) return backend_bestart(w, self, b, ns);
  b->failed = FAILED_LATER; /* FATAL: remaining connection slots are reserved */
  b->head.pc = B_REFUSE;
  return work(ns);
}

static void reply(PgServer *sv, const Backend *b, uint32_t kind) {
  channel_send(sv->w, b->reply, (Message){.kind = kind, .from = (uint32_t)b->conn}, server_cost(sv, COST_NETWORK, 1));
}

static Step ready(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  if (b->counted) {
    sv->sums.connected++;
    g_array_append_val(sv->faults, g_array_index(sv->tallies, BackendTally, self).faults);
    sv->sums.table_bytes += (int64_t)address_space_table_bytes(space_of(sv, self));
  }
  sv->conn[b->conn].up = 1;
  reply(sv, b, MSG_READY);
  return channel_await(w, b->inbox, self);
}

/* ---- serving ---- */

static Step command(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  Message m;
  bool arrived = channel_take(w, b->inbox, &m);
  g_assert(arrived);
  if (m.kind == MSG_QUERY) return work(server_cost(sv, COST_QUERY, 1));
  g_assert(m.kind == MSG_TERMINATE);
  b->turn = (int32_t)m.value;
  if (b->turn == 0) channel_free(w, b->inbox);
  b->head.pc = B_LEAVE;
  return work(server_cost(sv, COST_EXIT_WORK, 1));
}

static Step result(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  reply(sv, b, MSG_RESULT);
  if (b->counted) sv->sums.transactions++;
  b->head.pc = B_COMMAND;
  return channel_await(w, b->inbox, self);
}

static Step refuse(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  sv->sums.refused += b->counted;
  channel_free(w, b->inbox);
  sv->conn[b->conn] = (Connection){0};
  reply(sv, b, MSG_REFUSED);
  /* What it has registered, it undoes: all of it when it failed in InitPostgres, all but sinval and what comes after
   * when the proc array was full, nothing when there was no slot. */
  b->head.pc = b->procno < 0 ? B_CHILD_INACTIVE : b->failed == FAILED_TO_ADD ? B_PROC_KILL : B_LEAVE;
  return work(server_cost(sv, COST_EXIT_WORK, 1));
}

static const Stage stages[] = {
    [B_INITIALIZE] = {"BackendInitialize", initialize},
    [B_INIT_PROCESS] = {"InitProcess", init_process},
    [B_LOCK] = {"LWLockAcquire ProcArrayLock", lock_to_add},
    [B_LOCK_XIDS] = {"LWLockAcquire XidGenLock", lock_xids_to_add},
    [B_ADD] = {"ProcArrayAdd", add},
    [B_ADDED] = {"LWLockRelease", added},
    [B_SINVAL] = {"SharedInvalBackendInit", init_sinval},
    [B_PROC_SIGNAL] = {"ProcSignalInit", init_proc_signal},
    [B_PASS] = {"LWLockAcquire ProcArrayLock shared", next_pass},
    [B_SNAPSHOT] = {"GetSnapshotData", snapshot},
    [B_SNAPSHOT_TAKEN] = {"LWLockRelease", snapshot_taken},
    [B_BESTART] = {"pgstat_bestart", bestart},
    [B_READY] = {"ReadyForQuery", ready},
    [B_COMMAND] = {"ReadCommand", command},
    [B_RESULT] = {"EndCommand", result},
    [B_REFUSE] = {"FATAL: sorry, too many clients already", refuse},
    [B_LEAVE] = {"CleanupProcSignalState", backend_leave_proc_signal},
    [B_LEAVE_SINVAL] = {"LWLockAcquire SInvalWriteLock", backend_lock_sinval},
    [B_LEFT_SINVAL] = {"CleanupInvalidationState", backend_leave_sinval},
    [B_BESHUTDOWN] = {"pgstat_beshutdown_hook", backend_beshutdown},
    [B_TURN] = {"its turn", backend_await_turn},
    [B_LEAVE_LOCK] = {"LWLockAcquire ProcArrayLock", backend_lock_to_remove},
    [B_LEAVE_LOCK_XIDS] = {"LWLockAcquire XidGenLock", backend_lock_xids_to_remove},
    [B_REMOVE] = {"ProcArrayRemove", backend_remove},
    [B_REMOVED] = {"LWLockRelease", backend_removed},
    [B_PROC_KILL] = {"ProcKill", backend_proc_kill},
    [B_CHILD_INACTIVE] = {"MarkPostmasterChildInactive", backend_child_inactive},
    [B_GONE] = {"exit", backend_gone},
    [B_CODE] = {"code", backend_code_go},
    [B_CODE_TOOK] = {"InitProcessPhase2", backend_code_took},
    [B_CODE_JOINED] = {"InitProcessPhase2", backend_code_joined},
    [B_CODE_SNAPSHOT_TAKEN] = {"GetSnapshotData", backend_code_snapshot_taken},
    [B_CODE_COUNTED] = {"HaveNFreeProcs", backend_code_counted},
    [B_CODE_LEAVE] = {"shmem_exit", backend_code_leave},
    [B_CODE_LEFT] = {"ProcKill", backend_code_left},
};
static Step resume(World *w, ProcId self, void *locals) {
  return machine_resume(w, self, locals, stages);
}
static const char *at(const World *w, const void *locals) {
  (void)w;
  return machine_at(locals, stages);
}
static void stages_names(const World *w, void (*each)(const char *name, void *data), void *data) {
  (void)w;
  machine_stages(stages, G_N_ELEMENTS(stages), each, data);
}
const TypeGuide backend_guide = {.stages = stages_names};
const ProcessType backend_type = {"backend", sizeof(Backend), resume, at};

/* The address space is the process's own: empty, as after fork. */
static void give_space(PgServer *sv, ProcId p) {
  if (sv->spaces->len <= p) g_ptr_array_set_size(sv->spaces, (gint)p + 1);
  if (sv->tallies->len <= p) g_array_set_size(sv->tallies, p + 1);
  g_array_index(sv->tallies, BackendTally, p) = (BackendTally){0};
  AddressSpace *as = sv->spaces->pdata[p];
  if (as)
    address_space_reset(as, ++sv->owners);
  else
    as = sv->spaces->pdata[p] = address_space_new(pg_segment(sv->shared), ++sv->owners);
  address_space_record(as, world_noted(sv->w));
}

ProcId backend_spawn(PgServer *sv, int conn, int child) {
  const Connection *cn = &sv->conn[conn];
  ProcId p = world_spawn(sv->w, sv->backend_type, 0);
  Backend *b = world_locals(sv->w, p);
  *b = (Backend){
      .conn = conn, .child = child, .procno = -1, .inbox = cn->to_backend, .reply = cn->reply, .counted = cn->counted};
  give_space(sv, p);
  return p;
}
