/* config.h - a PostgreSQL server as independent policies. A version (14 to 19) is a YAML preset over these, a variant a
 * named set of overrides (sim/presets). Scenario key of each member: postgres.<path in the comment>. Sources:
 * README.md. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum { TAKE_HEAD, TAKE_LOWEST } FreeListTake;                   /* free_list.take: head | lowest */
typedef enum { GIVE_HEAD, GIVE_TAIL } FreeListGive;                     /* free_list.give: head (LIFO) | tail (FIFO) */
typedef enum { INITIAL_ASCENDING, INITIAL_DESCENDING } FreeListInitial; /* free_list.initial */
typedef enum {
  LINKS_SINGLE,
  LINKS_DOUBLE
} FreeListLinks; /* free_list.links: single (own slot only) | double (neighbours too) */
typedef enum {
  OFFSETS_IN_PGPROC, /* proc_array.offsets: in-pgproc. One store into each following PGPROC (14 and later) */
  OFFSETS_SPLIT,     /* split: a dense int array indexed by proc number (the patch on pgsql-hackers, June 2026) */
  OFFSETS_NONE       /* none: 13 and earlier, only the dense array of proc numbers; xids in PGXACT by proc number */
} OffsetsPlace;
typedef enum {
  ORDER_SORTED,
  ORDER_UNSORTED
} ArrayOrder; /* proc_array.order: sorted | unsorted (append; swap with the last) */
typedef enum {
  CHILD_LIST_WALKED,
  CHILD_LIST_POOLED
} ChildList; /* child_list: walked (to 17: CountChildren at each connect) | pooled */
typedef enum {
  SINVAL_SCAN_AT_CONNECT,
  SINVAL_SCAN_AT_EXIT
} SinvalScan; /* sinval: scan-at-connect (to 16) | scan-at-exit */
typedef enum {
  LIST_BY_SLOT,
  LIST_BY_PROC_ARRAY
} Listing; /* listing: by-slot | by-proc-array: who lists the live backends how */
typedef enum {
  HEADER_BEFORE, /* proc_header: before (to 18). PROC_HDR, arrays, then the free lists' spinlock; semaphores elsewhere
                  */
  HEADER_BEHIND  /* behind (19): arrays, then PROC_HDR with the spinlock in it, then semaphores */
} HeaderPlace;
typedef enum { TOUCH_AUTO, TOUCH_WORDS, TOUCH_RANGES } TouchMode; /* machine.touch */

/* A step of the model left out or done twice: how a mutant is written in a scenario (postgres.steps: {STEP:
 * skip|twice}). */
typedef enum { STEP_AS_IS, STEP_SKIP, STEP_TWICE } StepDeviation;
typedef enum {
  PGSTEP_POP_FREE,
  PGSTEP_PUSH_FREE,
  PGSTEP_SEARCH,
  PGSTEP_MOVE_PGPROCNOS,
  PGSTEP_MOVE_XIDS,
  PGSTEP_MOVE_SUBXIDS,
  PGSTEP_MOVE_STATUS,
  PGSTEP_STORE_OFFSETS,
  PGSTEP_STORE_OWN_OFFSET,
  PGSTEP_RELEASE_PROCARRAYLOCK,
  PGSTEP_RELEASE_XIDGENLOCK,
  PGSTEP_REMOVE,
  PGSTEP_COUNT
} PgStep; /* pop_free push_free search move_pgprocnos move_xids move_subxids move_status store_offsets store_own_offset
             release_ProcArrayLock release_XidGenLock remove. The two releases can be skipped,
             not done twice: pg_config_valid refuses it */

typedef struct {
  int version;         /* version: 14..19, for messages; everything below decides */
  const char *variant; /* variant: name, for messages */
  /* sizes: max_connections, autovacuum_max_workers, autovacuum_worker_slots, max_worker_processes, max_wal_senders,
   * max_prepared_transactions, superuser_reserved_connections, reserved_connections */
  int max_connections, autovacuum_max_workers, autovacuum_worker_slots, max_worker_processes, max_wal_senders,
      max_prepared_transactions, superuser_reserved_connections, reserved_connections;
  /* pools.autovacuum: workers (to 17) | slots (18 and later), plus special_workers (pools.special: 1 the launcher, 2
   * the slotsync worker too; 0 counts as 1); pools.auxiliary: 5, 6, 38 */
  bool autovacuum_pool_by_slots;
  int special_workers, auxiliary_procs;
  int auxiliary_types; /* pools.auxiliary_types: slots beside MaxBackends in PgBackendStatus and ProcSignal. 8, 6, 38 */
  /* background: stock (av launcher, logical replication launcher) | none | {walsenders: N, prepared: N, slotsync: N}
   * beside stock. A slotsync worker is paid for by special_workers 2; with less it takes a client's slot (S34) */
  int bg_autovacuum, bg_bgworkers, bg_walsenders, bg_prepared, bg_slotsync;
  /* pgproc: {size, align, pgxactoff, links, pid} in bytes; size is a multiple of align, as sizeof is */
  int pgproc_size, pgproc_align, off_pgxactoff, off_links, off_pid, tail_bytes;
  /* tail_bytes: pgproc.tail, the lock group's members at the end of PGPROC (to 18; 0: they lie within). InitProcess
   * leaves them alone, ProcKill loads the first 8 bytes */
  int array_phase; /* pgproc.phase: address of the PGPROC array modulo 64 KiB, a multiple of 4 and of the alignment */
  bool one_chunk;  /* one_chunk: PGPROC array and dense arrays back to back (18 and later) or apart, each at 128 B */
  int fast_path_bytes; /* fast_path_bytes: bytes per proc outside PGPROC (0 to 17; 288 in 18; 576 in 19) */
  int proc_hdr_bytes, proc_array_header_bytes; /* same names; 0: 128 and 36 */
  HeaderPlace header_place;
  FreeListTake take;
  FreeListGive give;
  FreeListInitial initial;
  FreeListLinks links;
  bool leader_at_head; /* free_list.leader_at_head: a lock-group leader's slot given back by its last follower */
  OffsetsPlace offsets;
  ArrayOrder order;
  bool read_before_write; /* proc_array.read_before_write: a load of each offset word before its store */
  ChildList child_list;
  SinvalScan sinval;
  int sinval_entry_bytes, proc_signal_bytes, backend_status_bytes; /* same names */
  int ssl_status_bytes, gss_status_bytes;                          /* same names; 0: built without */
  int snapshots;          /* snapshots: shared passes through ProcArrayLock during start-up */
  bool superusers;        /* clients_are_superusers */
  int listen_backlog;     /* listen_backlog: how many connects may queue; else refused. 0: no limit */
  int children_max;       /* most children of the postmaster at once; 0: the version's formula (pg_children_max) */
  bool clear_pid_at_exit; /* clear_pid_at_exit: ProcKill clears the slot's pid (17 and later) */
  Listing listing;
  int64_t
      postmaster_ptes; /* page-table entries copied at each fork: the postmaster's resident private memory by page */
  TouchMode touch;
  StepDeviation steps[PGSTEP_COUNT];
  const struct PgCode
      *code; /* real code in place of slots.c and procarray.c (code.h); NULL: none. Outlives the server */
} PgConfig;

/* How often a step is done: once, or a mutant's 0 or 2. */
static inline int pg_step_times(const PgConfig *c, PgStep step) {
  return c->steps[step] == STEP_SKIP ? 0 : c->steps[step] == STEP_TWICE ? 2 : 1;
}

/* Derived sizes (facts section 1). */
typedef struct {
  int backends, autovacuum, bgworkers, walsenders, auxiliary, prepared, max_backends, total;
} PgPools;
void pg_pools(const PgConfig *c, PgPools *out);
int pg_children_max(const PgConfig *c);
/* Sizes that make sense together: MaxBackends within 2^18-1, offsets within PGPROC, fewer background processes than
 * their pools hold, no step doubled that cannot be. False and *error in PG_CONFIG_ERROR otherwise. */
#define PG_CONFIG_ERROR (g_quark_from_static_string("pg-config-error"))
bool pg_config_valid(const PgConfig *c, GError **error);
