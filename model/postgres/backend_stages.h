/* backend_stages.h - what backend.c (starting, serving) and backend_leave.c share of a backend's machine; not for
 * others. */
#pragma once
#include "model/postgres/backend.h"

enum { SLOT_NONE, SLOT_TAKEN, SLOT_GIVEN };

typedef struct {
  MachineHead head;
  uint16_t passes;             /* through the proc array, to take a snapshot */
  uint8_t counted, failed;     /* failed: how far it had come, FAILED_* */
  int32_t conn, child, procno; /* procno -1: it has no slot */
  int32_t turn;                /* to leave the proc array; 0: any time */
  int32_t process;             /* of real code (backend_code.c); this and the next two only there */
  uint16_t after, call;        /* stage to go on with when the call has returned; PgCall */
  uint8_t state;               /* PgCodeState that it has returned with */
  uint8_t slot;                /* of real code: SLOT_* */
  ObjectId inbox, reply;
} Backend;

enum {
  B_INITIALIZE,
  B_INIT_PROCESS,
  B_LOCK,
  B_LOCK_XIDS,
  B_ADD,
  B_ADDED,
  B_SINVAL,
  B_PROC_SIGNAL,
  B_PASS,
  B_SNAPSHOT,
  B_SNAPSHOT_TAKEN,
  B_BESTART,
  B_READY,
  B_COMMAND,
  B_RESULT,
  B_REFUSE,
  B_LEAVE,
  B_LEAVE_SINVAL,
  B_LEFT_SINVAL,
  B_BESHUTDOWN,
  B_TURN,
  B_LEAVE_LOCK,
  B_LEAVE_LOCK_XIDS,
  B_REMOVE,
  B_REMOVED,
  B_PROC_KILL,
  B_CHILD_INACTIVE,
  B_GONE,
  B_CODE,
  B_CODE_TOOK,
  B_CODE_JOINED,
  B_CODE_SNAPSHOT_TAKEN,
  B_CODE_COUNTED,
  B_CODE_LEAVE,
  B_CODE_LEFT
};

enum { FAILED_TO_ADD = 1, FAILED_LATER };

/* ---- backend_leave.c: stages of leaving ---- */
Step backend_leave_proc_signal(World *w, ProcId self, void *locals);
Step backend_lock_sinval(World *w, ProcId self, void *locals);
Step backend_leave_sinval(World *w, ProcId self, void *locals);
Step backend_beshutdown(World *w, ProcId self, void *locals);
Step backend_await_turn(World *w, ProcId self, void *locals);
Step backend_lock_to_remove(World *w, ProcId self, void *locals);
Step backend_lock_xids_to_remove(World *w, ProcId self, void *locals);
Step backend_remove(World *w, ProcId self, void *locals);
Step backend_removed(World *w, ProcId self, void *locals);
Step backend_proc_kill(World *w, ProcId self, void *locals);
Step backend_child_inactive(World *w, ProcId self, void *locals);
Step backend_gone(World *w, ProcId self, void *locals);

/* ---- backend_code.c: the same life with real code; each begins a call, or goes on after one ---- */
Step backend_code_init(World *w, ProcId self, Backend *b);
Step backend_code_snapshot(World *w, ProcId self, Backend *b);
Step backend_code_count(World *w, ProcId self, Backend *b, int n);
Step backend_code_go(World *w, ProcId self, void *locals);
Step backend_code_took(World *w, ProcId self, void *locals);
Step backend_code_joined(World *w, ProcId self, void *locals);
Step backend_code_snapshot_taken(World *w, ProcId self, void *locals);
Step backend_code_counted(World *w, ProcId self, void *locals);
Step backend_code_leave(World *w, ProcId self, void *locals);
Step backend_code_left(World *w, ProcId self, void *locals);
void backend_next_turn(World *w, PgServer *sv, const Backend *b);
int64_t backend_startup_part(const PgServer *sv, int part);
Step backend_bestart(World *w, ProcId self, Backend *b, int64_t ns);

/* ---- backend_locks.c: ProcArrayLock and XidGenLock, and how long the first was waited for and held ---- */
Step backend_lock_procarray(PgServer *sv, ProcId self, LockMode mode);
void backend_asked_procarray(PgServer *sv, ProcId self);
void backend_gave_procarray(PgServer *sv, ProcId self, const Backend *b, bool connecting);
void backend_got_procarray(PgServer *sv, ProcId self, const Backend *b, bool connecting);
void backend_release_procarray(PgServer *sv, ProcId self, const Backend *b, bool connecting);
Step backend_lock_xids(PgServer *sv, ProcId self, const Backend *b, bool connecting);
void backend_release_both(PgServer *sv, ProcId self, const Backend *b, bool connecting);
int64_t backend_section_ns(const PgServer *sv);

static inline PgServer *server_of(const World *w, ProcId self) {
  return world_data(w, self);
}
static inline AddressSpace *space_of(const PgServer *sv, ProcId self) {
  return sv->spaces->pdata[self];
}
/* Charges and tells one operation; the time it takes. */
static inline int64_t told(PgServer *sv, ProcId self, const Backend *b, PgSite site, const PgCost *c, int rank) {
  int64_t ns = server_charge(sv, self, site, c, b->counted);
  server_note(sv, self, site, c, b->procno, rank);
  return ns;
}
