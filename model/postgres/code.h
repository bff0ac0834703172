/* code.h - real code in place of slots.c and procarray.c: what a server asks of it. sim/subject/postgres.c is one.
 *
 * The code keeps its own state in memory of its own, lies in the server's segment, takes its own locks (objects of the
 * world), and charges what it costs to the ledger itself. A process of it is a number that `fork` gives. One call of a
 * process is under way at a time: `call` begins it, each `go` takes it to the next point where something else could
 * matter, until it has returned. */
#pragma once
#include "model/postgres/shared.h"
#include "model/world/world.h"

typedef enum { PGCALL_INIT_PROCESS, PGCALL_JOIN, PGCALL_SNAPSHOT, PGCALL_HAVE_FREE, PGCALL_LEAVE } PgCall;
typedef enum {
  PGCODE_GOES_ON,
  PGCODE_RETURNED,
  PGCODE_FALSE, /* returned false (PGCALL_HAVE_FREE) */
  PGCODE_ENDED  /* FATAL: its exit callbacks have run, no further call is made */
} PgCodeState;

/* What a call did, for the metrics of an iteration. */
typedef struct {
  int64_t faults, allprocs_faults, followers, moved;
} PgCodeUse;

typedef enum { PGLOCK_ASKED, PGLOCK_GOT, PGLOCK_RELEASED } PgLockEvent; /* ProcArrayLock, in any mode */

/* ns of n units; NS_NEVER at most, so that parts can be added up without care. */
static inline int64_t pg_cost(const World *w, CostId id, int64_t n) {
  return n ? MIN(world_cost(w, id, n), NS_NEVER) : 0;
}
/* What touching cost, for the model's structures and for real code alike. huge: pages above 4 KiB. */
int64_t pg_touch_ns(const World *w, const Touch *t, bool huge);

typedef struct PgCode {
  void *data;
  /* Adds its structures to the segment, runs its start-up, says which pools it made. Cache lines, where m asks for
   * them, it counts itself: the segment does not. False and *error: it cannot. */
  bool (*lay_out)(void *data, World *w, Segment *s, const MemoryConfig *m, const PgConfig *c, PgPools *pools,
                  GError **error);
  /* lock(server, p, event): told when p asks for ProcArrayLock, gets it, has given it up; returns what the section
   * costs beside what the code itself does (PGLOCK_GOT). */
  void (*listen)(void *data, int64_t (*lock)(void *server, ProcId p, PgLockEvent e), void *server);
  int (*fork)(void *data, AddressSpace *as, PgPool kind, int pid); /* address space: of the new process */
  void (*reap)(void *data, int process);
  void (*call)(void *data, int process, PgCall call, int argument);
  Step (*go)(void *data, int process, ProcId self, PgCodeState *state);
  PgCodeState (*at_once)(void *data, int process, PgCall call); /* a whole call while nobody else is there */
  PgCodeUse (*take_use)(void *data, int process);               /* since the last time */
  int (*procno)(void *data, int process);                       /* -1: it has none */
  /* ---- its state, as shared.h shows it ---- */
  int (*members)(const void *data);
  PgEntry (*entry)(const void *data, int i);
  void (*slot)(const void *data, int procno, PgSlot *out); /* pid, offset, xid, subxids, status, listed */
  int (*free_first)(const void *data, PgPool pool);
  int (*free_next)(const void *data, int procno);
  bool (*at_end)(const void *data,
                 int procno); /* first or last of a free list: where one is that was just given back */
  bool (*has_offsets)(const void *data);
  void (*pgprocs)(const void *data, uint64_t *address, uint64_t *bytes); /* the PGPROC array in the segment */
} PgCode;
