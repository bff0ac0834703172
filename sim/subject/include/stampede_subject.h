/* stampede_subject.h - what code of your own exports to be run as a model, and what it may ask of stampede.
 *
 * A SUBJECT is a shared object (`stampede subject build`): your C files, compiled with the compiler's thread-sanitizer
 * instrumentation so that every load and store of shared memory is seen, and a few lines that export one
 * StampedeSubject named stampede_subject. Each virtual process has its own copy of the object's variables (as after
 * fork); what stm_shared returns is seen by all. A function runs on its process's own stack until it returns, and may
 * stop in any function below that waits. No GLib, no stampede headers are needed.
 * Nothing here may be called before `start`, and nothing that waits in a check or in `describe`.
 *
 * Shared memory lies at the same addresses in every run, so pointers into it may be kept in it. A spin loop must call
 * stm_spin in each round. Limits: 64 KiB of stack; in time a process holds six locks at most; 8 checks; no threads, no
 * fork, no I/O (what is called and nobody defines is a trap, and the run says which). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAMPEDE_SUBJECT_VERSION 3
#define STAMPEDE_SUBJECT_SYMBOL  "stampede_subject"

typedef struct {
  const char *name, *about;      /* "leave": a word of scenarios; one sentence */
  void (*run)(int64_t argument); /* by a process; the scenario gives the argument, 0 unless it says so */
} StampedeEntry;

typedef struct {
  const char *name, *about; /* "each-node-once" */
  /* Looks at shared memory between two steps: what it touches is counted nowhere, and it must change nothing. True:
   * broken; says why, at most `size` bytes with the 0. */
  bool (*broken)(char *why, size_t size);
  /* Judged only when all scripts have ended, or nobody goes on any more: for what may be amiss in between. In a
   * deadlock nothing that is amiss will be put right. */
  bool at_end;
} StampedeCheck;

typedef struct {
  unsigned version;         /* STAMPEDE_SUBJECT_VERSION */
  const char *name, *about; /* "free-list" */
  void (*start)(void);      /* once, before there is any process: shared memory, locks. Its accesses are not counted */
  const StampedeEntry *entries;
  unsigned n_entries;
  const StampedeCheck *checks;
  unsigned n_checks;
  /* The state as named variables, for traces and pictures; like a check it only looks. NULL: where each process is. */
  void (*describe)(void (*each)(const char *name, const char *value, void *data), void *data);
  const char *kind; /* NULL; "postgres": `special` is a StampedePostgres */
  const void *special;
} StampedeSubject;

/* ---- memory ---- */
/* Zeroed; only in `start`. At the next address that is a multiple of `align`, a power of two. */
void *stm_shared(const char *name, size_t bytes, size_t align);
/* Names a part of it, for hot spots: `count` elements of `size` bytes, of the C type `type` (NULL: none). */
void stm_structure(const char *name, const void *at, size_t size, size_t count, const char *type);
void *stm_private(size_t bytes); /* like malloc, of this process, never given back; zeroed */
/* An access that is not in instrumented code: what a function that you replace would have touched. Said before it is
 * done, as others may go on first. */
void stm_touch(const void *at, size_t bytes, bool write);
/* The same where nothing is loaded or stored, and only the cost counts: of what an stm_ function stands for. */
void stm_pay(const void *at, size_t bytes, bool write);

/* ---- waiting: each may let others go on ---- */
typedef uint32_t StmLock, StmSemaphore; /* 0 is none */
StmLock stm_lock_new(const char *name);
void stm_lock_acquire(StmLock lock, bool shared); /* first come first served; shared ones together */
bool stm_lock_try(StmLock lock, bool shared);
void stm_lock_release(StmLock lock); /* not held: a fault of the subject */
bool stm_lock_held(StmLock lock);
void stm_lock_release_all(void); /* in reverse order of taking */
StmSemaphore stm_semaphore_new(const char *name, int count);
void stm_semaphore_down(StmSemaphore s);
bool stm_semaphore_try(StmSemaphore s);
/* False: it had to wait, and the time ran out. In a search through orders it runs out at any time if the scenario says
 * `explore: {fire: [deadline]}`, else never. */
bool stm_semaphore_down_within(StmSemaphore s, int64_t us);
void stm_semaphore_up(StmSemaphore s);
void stm_semaphore_reset(StmSemaphore s); /* count 0 */
/* Once round a spin loop: others go on first. A search through orders goes on with the loop when something that it
 * looked at has changed. One that counts its rounds it finds out and tells; `explore: {fire: [spin]}` lets it go on
 * without a change. */
void stm_spin(void);
/* A spinlock: a byte of shared memory that is 1 while somebody has it. Made in `start`; the name is for people, of
 * "&ProcGlobal->freeProcsLock" what comes last. */
void stm_spin_init(volatile void *byte, const char *name);
void stm_spin_lock(volatile void *byte);
void stm_spin_unlock(volatile void *byte);
int64_t stm_now_us(void);
void stm_sleep_us(int64_t us);

/* ---- who runs, and how it ends ---- */
int stm_self(void); /* its pid, of no two processes the same; 0 in `start` */
/* Has somebody called kill for this process since it last asked? Several signals are one. The pids of a scenario's
 * processes are 1000, 1001, ... in their order. */
bool stm_signalled(void);
_Noreturn void
stm_exit(const char *why); /* the process ends as FATAL does: no further call is made of it. NULL: in peace */
_Noreturn void stm_panic(const char *why); /* a violation: the run ends */

/* ---- kind "postgres": what the server's processes call (sim/subject/postgres) ---- */
typedef struct {
  int max_connections, autovacuum_workers, max_worker_processes, max_wal_senders, max_prepared_xacts,
      max_locks_per_transaction;
  size_t gap; /* bytes before the structures that it lays out: where these lie within their pages is not fixed */
  bool hot_standby;
} StampedePgOptions;
typedef struct {
  int backends, autovacuum, bgworkers, walsenders, auxiliary, prepared; /* PGPROCs, in this order */
} StampedePgPools;
typedef enum { STM_PG_BACKEND, STM_PG_AUTOVACUUM_LAUNCHER, STM_PG_BGWORKER, STM_PG_WALSENDER } StampedePgKind;
typedef struct {
  void (*configure)(const StampedePgOptions *o); /* before `start` */
  void (*pools)(StampedePgPools *out);           /* after configure */
  void (*init_process)(int kind);                /* InitProcess */
  void (*join)(void);                            /* InitProcessPhase2 */
  void (*snapshot)(void);                        /* GetSnapshotData */
  bool (*have_free)(int n);                      /* HaveNFreeProcs */
  void (*leave)(void);                           /* on_shmem_exit callbacks, last registered first */
  int (*procno)(void);                           /* of this process; -1: none */
} StampedePostgres;
