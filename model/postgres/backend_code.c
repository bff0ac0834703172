/* backend_code.c - a backend whose InitProcess, ProcArrayAdd and so on are real code (code.h): a stage begins a call,
 * the stage `code` takes it from point to point, and the stage `after` keeps the books that the code does not. The code
 * takes its locks itself; what waiting and holding them took is told back. */
#include "model/postgres/backend_stages.h"

static const PgCode *code_of(const PgServer *sv) {
  return sv->config.code;
}

static Step begin(PgServer *sv, Backend *b, PgCall call, int argument, uint16_t after) {
  code_of(sv)->call(code_of(sv)->data, b->process, call, argument);
  b->call = (uint16_t)call;
  b->after = after;
  b->head.pc = B_CODE;
  return step_ran();
}

static void add_use(PgServer *sv, ProcId self, const Backend *b) {
  PgCodeUse u = code_of(sv)->take_use(code_of(sv)->data, b->process);
  server_note_use(sv, self, b->procno, &u);
  Sums *sums = &sv->sums;
  g_array_index(sv->tallies, BackendTally, self).faults += u.faults;
  if (!b->counted) return;
  if (b->call == PGCALL_LEAVE) {
    sums->disconnect_faults += u.faults;
    sums->moved_out += u.moved;
    return;
  }
  sums->connect_faults += u.faults;
  sums->allprocs_faults += u.allprocs_faults;
  sums->stores += u.followers;
  sums->moved += u.moved;
}

/* A slot changes hands within a call, at the pop and the push; others may look, or take it, before the call returns. */
static void follow_slot(PgServer *sv, ProcId self, Backend *b) {
  const PgCode *code = code_of(sv);
  int has = code->procno(code->data, b->process);
  if (b->call == PGCALL_INIT_PROCESS && has >= 0 && b->slot != SLOT_TAKEN) {
    slot_passed(sv->shared, has, (int)self);
    b->slot = SLOT_TAKEN;
  } else if (has < 0 && b->slot == SLOT_TAKEN && b->procno >= 0 && code->at_end(code->data, b->procno)) {
    slot_passed(sv->shared, b->procno, 0);
    b->slot = SLOT_GIVEN;
  }
}

Step backend_code_go(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  PgCodeState state = PGCODE_GOES_ON;
  Step step = code_of(sv)->go(code_of(sv)->data, b->process, self, &state);
  b->head.pc = state == PGCODE_GOES_ON ? B_CODE : b->after;
  b->state = (uint8_t)state;
  follow_slot(sv, self, b);
  if (state != PGCODE_GOES_ON) add_use(sv, self, b);
  return step;
}

/* A section's own cost is that of joining or leaving; a snapshot's is its pass. */
int64_t backend_code_lock(void *server, ProcId p, PgLockEvent e) {
  PgServer *sv = server;
  if (world_type_of(sv->w, p) != sv->backend_type) return 0; /* nobody's backend: it calls the code by itself */
  const Backend *b = world_locals(sv->w, p);
  bool connecting = b->call != PGCALL_LEAVE;
  if (e == PGLOCK_ASKED) backend_asked_procarray(sv, p);
  if (e == PGLOCK_RELEASED) backend_gave_procarray(sv, p, b, connecting);
  if (e != PGLOCK_GOT) return 0;
  backend_got_procarray(sv, p, b, connecting);
  int64_t section = server_cost(sv, COST_SECTION, 1), unexplained = server_cost(sv, COST_UNEXPLAINED_SECTION, 1);
  return b->call == PGCALL_JOIN ? section + unexplained : b->call == PGCALL_LEAVE ? section : 0;
}

/* ---- starting ---- */

Step backend_code_init(World *w, ProcId self, Backend *b) {
  (void)w;
  PgServer *sv = server_of(w, self);
  b->process = code_of(sv)->fork(code_of(sv)->data, space_of(sv, self), PG_BACKENDS, 1000 + (int)self);
  return begin(sv, b, PGCALL_INIT_PROCESS, 0, B_CODE_TOOK);
}

static void took(PgServer *sv, Backend *b) {
  b->procno = code_of(sv)->procno(code_of(sv)->data, b->process);
  g_assert(b->procno >= 0);
  g_assert(b->slot == SLOT_TAKEN);
  sv->state->out++;
  if (b->counted) sv->born[sv->state->born++ % sv->n_conns] = b->conn;
}

/* Not given back by now: lost. */
static void gave(PgServer *sv, Backend *b, int64_t after_ns) {
  if (b->slot == SLOT_TAKEN) slot_passed(sv->shared, b->procno, 0);
  b->slot = SLOT_GIVEN;
  g_assert(sv->state->out > 0);
  if (--sv->state->out == 0) queue_wake_all(sv->w, sv->gone, after_ns);
}

Step backend_code_took(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  if (b->state == PGCODE_ENDED) { /* FATAL: sorry, too many clients already */
    b->head.pc = B_REFUSE;
    return step_ran();
  }
  took(sv, b);
  return begin(sv, b, PGCALL_JOIN, 0, B_CODE_JOINED);
}

Step backend_code_joined(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  if (b->state == PGCODE_ENDED) { /* the array is full; it has given its slot back already */
    gave(sv, b, 0);
    b->procno = -1;
    b->head.pc = B_REFUSE;
    return step_ran();
  }
  b->head.pc = B_SINVAL;
  return lock_acquire(w, sv->sinval_lock, self, LOCK_EXCLUSIVE);
}

Step backend_code_snapshot(World *w, ProcId self, Backend *b) {
  return begin(server_of(w, self), b, PGCALL_SNAPSHOT, 0, B_CODE_SNAPSHOT_TAKEN);
}

Step backend_code_snapshot_taken(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  b->passes++;
  b->head.pc = B_PASS;
  return work(server_cost(sv, COST_SNAPSHOT, 1) + backend_startup_part(sv, 1));
}

Step backend_code_count(World *w, ProcId self, Backend *b, int n) {
  return begin(server_of(w, self), b, PGCALL_HAVE_FREE, n, B_CODE_COUNTED);
}

Step backend_code_counted(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  int64_t ns = server_cost(sv, COST_SPIN_SECTION, 1);
  if (b->state != PGCODE_FALSE) return backend_bestart(w, self, b, ns);
  b->failed = FAILED_LATER;
  b->head.pc = B_REFUSE;
  return work(ns);
}

/* ---- leaving: ProcArrayRemove and ProcKill are one call ---- */

Step backend_code_leave(World *w, ProcId self, void *locals) {
  return begin(server_of(w, self), locals, PGCALL_LEAVE, 0, B_CODE_LEFT);
}

Step backend_code_left(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  PgServer *sv = server_of(w, self);
  int64_t ns = server_cost(sv, COST_SPIN_SECTION, 1);
  gave(sv, b, ns);
  b->head.pc = B_CHILD_INACTIVE;
  return work(ns);
}
