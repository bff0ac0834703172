/* backend.h - what the files of this folder that make up server.h know of each other; not for others. */
#pragma once
#include "model/postgres/code.h"
#include "model/postgres/server.h"

/* Where time and faults are spent; names are PostgreSQL's functions. Those from SITE_EXIT on belong to leaving. */
typedef enum {
  SITE_CHILD_ACTIVE,
  SITE_INIT_PROCESS,
  SITE_ADD,
  SITE_SINVAL_INIT,
  SITE_PROC_SIGNAL_INIT,
  SITE_SNAPSHOT,
  SITE_HAVE_FREE,
  SITE_BESTART,
  SITE_EXIT,
  SITE_PROC_SIGNAL_CLEANUP = SITE_EXIT,
  SITE_SINVAL_CLEANUP,
  SITE_BESHUTDOWN,
  SITE_REMOVE,
  SITE_PROC_KILL,
  SITE_CHILD_INACTIVE,
  SITE_COUNT
} PgSite;

enum { MSG_CONNECT = 1, MSG_EXITED, MSG_QUERY, MSG_TERMINATE, MSG_TURN, MSG_READY, MSG_RESULT, MSG_REFUSED };

/* A client's connection, as the client sees it. */
typedef struct {
  ObjectId to_backend, reply; /* to_backend: a channel of this session's own; reply: where its client listens */
  uint8_t up, counted;        /* counted: it is one of the clients whose figures the metrics are */
} Connection;

/* A child of the postmaster: its place in the child list, and its slot in PMChildFlags (-1: a dead-end child). */
typedef struct {
  int32_t place, slot, next;
} Child; /* next: free or exited child */

typedef struct {
  int32_t listen_first, listen_count; /* ring of connections that have reached the postmaster */
  int32_t queued;                     /* connects under way or in the ring: what the backlog bounds */
  int32_t exited_first, exited_last;  /* children to be reaped, in order */
  int32_t out;                        /* slots in the hands of clients' backends */
  int32_t born;                       /* entries of PgServer.born */
  int32_t turn;                       /* whose turn it is to leave the proc array, among those who are told one */
  int32_t place, children, free_child, next_slot, free_slots; /* of the child list (children.c) */
  uint8_t done;
} ServerState;

/* Sums over an iteration's clients. Ledger side: nothing depends on them. */
typedef struct {
  int64_t start_ns, connected_ns, end_ns;
  int64_t connect_faults, allprocs_faults, disconnect_faults, stores, moved, moved_out;
  int64_t lock_wait_ns, lock_hold_ns, table_bytes, connected, refused, transactions;
  int64_t clients; /* that run transactions; with -C each connects many times */
} Sums;

/* Of one backend, beside its state: when it began to wait for ProcArrayLock and to hold it, its faults so far. */
typedef struct {
  int64_t wait_from, hold_from, faults;
} BackendTally;

struct PgServer {
  World *w;
  PgConfig config;
  PgShared *shared;
  ServerState *state; /* this and the next in the arena */
  Connection *conn;
  int32_t *listen_ring, *born; /* born: connections of counted clients in the order in which they took their slots */
  ObjectId *early;             /* by turn: where a backend listens that has come to the proc array before its turn */
  Child *child;
  int32_t *place_count, *place_child, *slot_stack;
  uint8_t *slot_used;
  int n_conns, n_children, n_places, children_max;
  ObjectId procarray_lock, xidgen_lock, sinval_lock, postmaster_inbox, gone; /* gone: waits for state->out == 0 */
  TypeId backend_type;
  void *workload; /* of pgbench.c or storm.c */
  GDestroyNotify workload_free;
  /* beside the state */
  GPtrArray *spaces; /* AddressSpace by ProcId */
  GArray *held;      /* of int by process: procno + 1 that it owns (pg_server_owns); 0: none */
  GArray *tallies;   /* BackendTally by ProcId */
  GArray *faults;    /* of int64_t: of each counted backend until it was ready, in the order of becoming so */
  bool huge_pages;   /* shared memory lies on pages above 4 KiB */
  guint owners;      /* address spaces' owners so far */
  FieldId fields[PGF_COUNT];
  SiteId sites[SITE_COUNT];
  Sums sums;
  GArray *warm; /* of double: sums of the warm iterations' metrics (metrics.c) */
  int n_warm;
};

/* ---- server.c ---- */
void server_open(PgServer *sv, int connections); /* once, by the workload */
/* False: the listen queue is full. `reply` gets MSG_READY or MSG_REFUSED from connection i, later MSG_RESULTs. */
bool server_connect(PgServer *sv, int i, ObjectId reply, bool counted);
void server_query(PgServer *sv, int i);
/* turn > 0: it leaves the proc array as the turn-th since server_begin_turns, however long its exit takes; 0: any time.
 */
void server_terminate(PgServer *sv, int i, int64_t after_ns, int turn);
void server_begin_turns(PgServer *sv);
int64_t server_now(const PgServer *sv);
static inline Step work(int64_t ns) {
  return ns > 0 ? step_work(ns) : step_ran();
}
static inline int64_t server_cost(const PgServer *sv, CostId id, int64_t n) {
  return pg_cost(sv->w, id, n);
}

/* ---- children.c: the postmaster's list of its children, newest first ---- */
void children_open(PgServer *sv, int connections);
int child_add(PgServer *sv, bool background);  /* its number; its slot is -1 when there is none left */
int child_walk(const PgServer *sv, int child); /* entries that a walk from the list's head looks at to find it */
void child_remove(PgServer *sv, int child);

/* ---- charge.c ---- */
void charges_open(PgServer *sv);
/* Charges c to the ledger and the iteration's sums; the time it takes. */
int64_t server_charge(PgServer *sv, ProcId self, PgSite site, const PgCost *c, bool counted);
void server_note(PgServer *sv, ProcId self, PgSite site, const PgCost *c, int procno, int rank);
void server_note_use(PgServer *sv, ProcId self, int procno,
                     const PgCodeUse *u); /* of a call of real code, at its end */

/* ---- metrics.c ---- */
void iteration_begin(PgServer *sv);
void iteration_end(PgServer *sv, int iteration, bool warm, bool with_connect_time);

/* ---- backend.c, postmaster.c, background.c ---- */
extern const ProcessType backend_type, postmaster_type;
extern const TypeGuide backend_guide, postmaster_guide;
int64_t backend_code_lock(void *server, ProcId p, PgLockEvent e); /* PgCode.listen */
ProcId backend_spawn(PgServer *sv, int conn, int child);
void background_start(PgServer *sv);
