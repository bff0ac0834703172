/* glue.c - what procarray.c and proc.c need of the rest of a PostgreSQL server, over stampede_subject.h.
 *
 * Compiled with the headers of the user's own tree, so every type and size is theirs, and without instrumentation: what
 * it touches of shared memory it tells (stm_touch) before it does, or a search through schedules would not know. What
 * the two files define and need is found by looking at their symbols: HAS_name, NEED_name (needs.h, made by `subject
 * build`); no version number is asked for. Whatever is needed and not here becomes a trap.
 *
 * Two ways to define a symbol: with its own prototype where it does something; under an alias of the assembler's where
 * it only returns 0, for then its prototype, which differs between versions, does not matter. */
#include "postgres.h"

#include "access/transam.h"
#include "access/twophase.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "needs.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "postmaster/autovacuum.h"
#include "postmaster/postmaster.h"
#include "replication/walsender.h"
#include "stampede_subject.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/pg_sema.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include <signal.h>

extern int stm_kill(int pid, int signal);

#undef vsnprintf
#undef snprintf
#undef fprintf
#undef printf
extern int vsnprintf(char *, size_t, const char *, va_list);
extern int snprintf(char *, size_t, const char *, ...);

/* ---- variables of the rest of the server; those that this file itself uses are always there ---- */
#define VARIABLE(name) __typeof__(name) name
#ifndef HAS_MaxConnections
VARIABLE(MaxConnections);
#endif
#ifndef HAS_MaxBackends
VARIABLE(MaxBackends);
#endif
#ifndef HAS_max_worker_processes
VARIABLE(max_worker_processes);
#endif
#ifndef HAS_max_wal_senders
VARIABLE(max_wal_senders);
#endif
#ifdef NEED_autovacuum_max_workers
VARIABLE(autovacuum_max_workers);
#endif
#ifdef NEED_autovacuum_worker_slots
VARIABLE(autovacuum_worker_slots);
#endif
#ifndef HAS_max_prepared_xacts
VARIABLE(max_prepared_xacts);
#endif
#ifndef HAS_IsUnderPostmaster
VARIABLE(IsUnderPostmaster);
#endif
#ifndef HAS_MyProcPid
VARIABLE(MyProcPid);
#endif
#ifdef NEED_MyBackendType
VARIABLE(MyBackendType);
#endif
#ifdef NEED_MyProcNumber
VARIABLE(MyProcNumber) = -1;
#endif
#ifdef NEED_MyDatabaseId
VARIABLE(MyDatabaseId);
#endif
#ifdef NEED_MyLatch
VARIABLE(MyLatch);
#endif
#ifdef NEED_EnableHotStandby
VARIABLE(EnableHotStandby);
#endif
#ifdef NEED_AutovacuumLauncherPid
VARIABLE(AutovacuumLauncherPid);
#endif
#ifdef NEED_InterruptHoldoffCount
VARIABLE(InterruptHoldoffCount);
#endif
#ifdef NEED_InterruptPending
VARIABLE(InterruptPending);
#endif
#ifdef NEED_IsBackgroundWorker
VARIABLE(IsBackgroundWorker);
#endif
#ifdef NEED_am_walsender
VARIABLE(am_walsender);
#endif
#ifdef NEED_FastPathLockGroupsPerBackend
VARIABLE(FastPathLockGroupsPerBackend);
#endif
#ifndef HAS_MainLWLockArray
VARIABLE(MainLWLockArray);
#endif
#ifdef NEED_TransamVariables
VARIABLE(TransamVariables);
#endif
#ifdef NEED_ShmemVariableCache
VARIABLE(ShmemVariableCache);
#endif
#ifdef NEED_TransactionXmin
VARIABLE(TransactionXmin);
#endif
#ifdef NEED_RecentXmin
VARIABLE(RecentXmin);
#endif
#ifdef NEED_old_snapshot_threshold
int old_snapshot_threshold = -1;
#endif
#ifdef NEED_vacuum_defer_cleanup_age
int vacuum_defer_cleanup_age;
#endif
#ifdef NEED_my_wait_event_info
static uint32 no_wait_event;
VARIABLE(my_wait_event_info) = &no_wait_event;
#endif

/* ---- functions that do nothing here: alias, returns 0 ---- */
#define NOTHING(name)                                                                                                  \
  long nothing_##name(void) __asm__(#name);                                                                            \
  long nothing_##name(void) {                                                                                          \
    return 0;                                                                                                          \
  }
#ifdef NEED_InitLWLockAccess
NOTHING(InitLWLockAccess)
#endif
#ifdef NEED_InitDeadLockChecking
NOTHING(InitDeadLockChecking)
#endif
#ifdef NEED_SyncRepCleanupAtProcExit
NOTHING(SyncRepCleanupAtProcExit)
#endif
#ifdef NEED_ConditionVariableCancelSleep
NOTHING(ConditionVariableCancelSleep)
#endif
#ifdef NEED_WaitLSNCleanup
NOTHING(WaitLSNCleanup)
#endif
#ifdef NEED_SwitchToSharedLatch
NOTHING(SwitchToSharedLatch)
#endif
#ifdef NEED_SwitchBackToLocalLatch
NOTHING(SwitchBackToLocalLatch)
#endif
#ifdef NEED_pgstat_set_wait_event_storage
NOTHING(pgstat_set_wait_event_storage)
#endif
#ifdef NEED_pgstat_reset_wait_event_storage
NOTHING(pgstat_reset_wait_event_storage)
#endif
#ifdef NEED_RegisterPostmasterChildActive
NOTHING(RegisterPostmasterChildActive)
#endif
#ifdef NEED_MarkPostmasterChildActive
NOTHING(MarkPostmasterChildActive)
#endif
#ifdef NEED_MarkPostmasterChildInactive
NOTHING(MarkPostmasterChildInactive)
#endif
#ifdef NEED_set_spins_per_delay
NOTHING(set_spins_per_delay)
#endif
#ifdef NEED_RecoveryInProgress
NOTHING(RecoveryInProgress)
#endif
static int my_kind; /* StampedePgKind, of this process */
#ifdef NEED_IsAutoVacuumLauncherProcess
bool IsAutoVacuumLauncherProcess(void) {
  return my_kind == STM_PG_AUTOVACUUM_LAUNCHER;
}
#endif
#ifdef NEED_IsAutoVacuumWorkerProcess
NOTHING(IsAutoVacuumWorkerProcess)
#endif
#ifdef NEED_ProcessInterrupts
NOTHING(ProcessInterrupts)
#endif
#ifdef NEED_GetCurrentCommandId
NOTHING(GetCurrentCommandId)
#endif
#ifdef NEED_pgstat_count_lock_waits
NOTHING(pgstat_count_lock_waits)
#endif

/* ---- sizes ---- */
#ifdef NEED_add_size
Size add_size(Size a, Size b) {
  Size sum;
  if (__builtin_add_overflow(a, b, &sum)) stm_panic("requested shared memory size overflows size_t");
  return sum;
}
#endif
#ifdef NEED_mul_size
Size mul_size(Size a, Size b) {
  Size product;
  if (__builtin_mul_overflow(a, b, &product)) stm_panic("requested shared memory size overflows size_t");
  return product;
}
#endif

/* ---- shared memory ---- */
static StampedePgOptions options;

static void *chunk(const char *name, Size size) {
  return stm_shared(name, size, PG_CACHE_LINE_SIZE); /* as ShmemAlloc does */
}

#ifdef NEED_ShmemInitStruct
void *ShmemInitStruct(const char *name, Size size, bool *found) {
  *found = false;
  return chunk(name, size);
}
#endif
#ifdef NEED_ShmemAlloc
void *ShmemAlloc(Size size) {
  return chunk("an array of InitProcGlobal", size);
}
#endif
#ifdef NEED_ShmemRequestStructWithOpts
void ShmemRequestStructWithOpts(const ShmemStructOpts *o) {
  *o->ptr = chunk(o->name, (Size)o->size);
}
#endif

/* ---- LWLocks: the word that would count holders keeps the number of the lock that stands for it, made at the start:
 * which number a lock has must not depend on who takes which first ---- */
static void make_lock(LWLock *lock) {
  char numbered[40];
  const char *name = lock == ProcArrayLock ? "ProcArrayLock" : lock == XidGenLock ? "XidGenLock" : numbered;
  if (lock->tranche)
    snprintf(numbered, sizeof numbered, "LWLock of tranche %d", lock->tranche);
  else
    snprintf(numbered, sizeof numbered, "LWLock %d", (int)((LWLockPadded *)lock - MainLWLockArray));
  lock->state.value = stm_lock_new(name);
}
static StmLock lock_of(const LWLock *lock) {
  return lock->state.value;
}
static void make_locks(void) {
  MainLWLockArray = stm_shared("LWLocks", NUM_FIXED_LWLOCKS * sizeof *MainLWLockArray, PG_CACHE_LINE_SIZE);
  for (int i = 0; i < NUM_FIXED_LWLOCKS; i++) make_lock(&MainLWLockArray[i].lock);
}
#ifdef NEED_LWLockInitialize
void LWLockInitialize(LWLock *lock, int tranche_id) {
  memset(lock, 0, sizeof *lock);
  lock->tranche = (uint16)tranche_id;
  make_lock(lock);
}
#endif
#ifdef NEED_LWLockAcquire
bool LWLockAcquire(LWLock *lock, LWLockMode mode) {
  stm_lock_acquire(lock_of(lock), mode == LW_SHARED);
  return true;
}
#endif
#ifdef NEED_LWLockConditionalAcquire
bool LWLockConditionalAcquire(LWLock *lock, LWLockMode mode) {
  return stm_lock_try(lock_of(lock), mode == LW_SHARED);
}
#endif
#ifdef NEED_LWLockRelease
void LWLockRelease(LWLock *lock) {
  stm_lock_release(lock_of(lock));
}
#endif
#ifdef NEED_LWLockReleaseAll
void LWLockReleaseAll(void) {
  stm_lock_release_all();
}
#endif
#ifdef NEED_LWLockHeldByMe
bool LWLockHeldByMe(LWLock *lock) {
  return stm_lock_held(lock_of(lock));
}
#endif
#ifdef NEED_LWLockHeldByMeInMode
bool LWLockHeldByMeInMode(LWLock *lock, LWLockMode mode) {
  (void)mode;
  return stm_lock_held(lock_of(lock));
}
#endif

/* ---- semaphores: 128 bytes each, as POSIX ones are padded to ---- */
struct PGSemaphoreData {
  StmSemaphore id;
  char pad[124];
};
static struct PGSemaphoreData *semaphores;
static int semaphores_made, semaphores_most;

static void make_semaphores(int most) {
  semaphores_most = most;
  semaphores = stm_shared("PGSemaphore", (size_t)most * sizeof *semaphores, PG_CACHE_LINE_SIZE);
}
#ifdef NEED_PGSemaphoreShmemRequest
void PGSemaphoreShmemRequest(int maxSemas) {
  make_semaphores(maxSemas);
}
#endif
#ifdef NEED_PGSemaphoreInit
void PGSemaphoreInit(int maxSemas) {
  (void)maxSemas;
}
#endif
#ifdef NEED_PGSemaphoreCreate
PGSemaphore PGSemaphoreCreate(void) {
  if (semaphores_made == semaphores_most) stm_panic("too many semaphores created");
  PGSemaphore s = &semaphores[semaphores_made++];
  s->id = stm_semaphore_new("PGSemaphore", 0); /* the server makes them with 1, and connecting resets that to 0 */
  return s;
}
#endif
#ifdef NEED_PGSemaphoreReset
void PGSemaphoreReset(PGSemaphore sema) {
  stm_pay(sema, 1, true);
  stm_semaphore_reset(sema->id);
}
#endif
#ifdef NEED_PGSemaphoreLock
void PGSemaphoreLock(PGSemaphore sema) {
  stm_pay(sema, 1, true);
  stm_semaphore_down(sema->id);
}
#endif
#ifdef NEED_PGSemaphoreUnlock
void PGSemaphoreUnlock(PGSemaphore sema) {
  stm_pay(sema, 1, true);
  stm_semaphore_up(sema->id);
}
#endif

/* ---- spinlocks are in overlay/storage/s_lock.h ---- */
#ifdef NEED_update_spins_per_delay
int update_spins_per_delay(int shared_spins_per_delay) {
  return shared_spins_per_delay;
}
#endif

/* ---- errors: FATAL leaves through the exit callbacks, as an ERROR does that nobody catches; PANIC is a violation ----
 */
static struct {
  int level;
  char text[256];
} error;
static void leave(void);

static bool begin_error(int level) {
  if (level < ERROR) return false;
  error.level = level;
  error.text[0] = 0;
  return true;
}
#ifdef NEED_errstart
bool errstart(int elevel, const char *domain) {
  (void)domain;
  return begin_error(elevel);
}
#endif
#ifdef NEED_errstart_cold
bool errstart_cold(int elevel, const char *domain) {
  (void)domain;
  return begin_error(elevel);
}
#endif
static int say(const char *fmt, va_list args) {
  vsnprintf(error.text, sizeof error.text, fmt, args);
  return 0;
}
#ifdef NEED_errmsg
int errmsg(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say(fmt, args);
  va_end(args);
  return 0;
}
#endif
#ifdef NEED_errmsg_internal
int errmsg_internal(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say(fmt, args);
  va_end(args);
  return 0;
}
#endif
#ifdef NEED_errcode
NOTHING(errcode)
#endif
#ifdef NEED_errdetail
NOTHING(errdetail)
#endif
#ifdef NEED_errhint
NOTHING(errhint)
#endif
#ifdef NEED_message_level_is_interesting
NOTHING(message_level_is_interesting)
#endif
#ifdef NEED_errfinish
void errfinish(const char *filename, int lineno, const char *funcname) {
  (void)filename, (void)lineno, (void)funcname;
  char text[sizeof error.text];
  memcpy(text, error.text, sizeof text);
  if (error.level >= PANIC) stm_panic(text);
  leave();
  stm_exit(text);
}
#endif
#ifdef NEED_ExceptionalCondition
void ExceptionalCondition(const char *conditionName, const char *fileName, int lineNumber) {
  char text[256];
  snprintf(text, sizeof text, "assertion failed: %s, %s:%d", conditionName, fileName, lineNumber);
  stm_panic(text);
}
#endif

/* ---- latches: who owns one; nobody here waits on one ---- */
#ifdef NEED_InitSharedLatch
void InitSharedLatch(Latch *latch) {
  memset(latch, 0, sizeof *latch);
  latch->is_shared = true;
}
#endif
#ifdef NEED_OwnLatch
void OwnLatch(Latch *latch) {
  stm_touch(latch, sizeof *latch, true);
  if (latch->owner_pid != 0) {
    char text[96];
    snprintf(text, sizeof text, "latch already owned by PID %d", latch->owner_pid);
    stm_panic(text);
  }
  latch->owner_pid = stm_self();
}
#endif
#ifdef NEED_DisownLatch
void DisownLatch(Latch *latch) {
  stm_touch(latch, sizeof *latch, true);
  latch->owner_pid = 0;
}
#endif
#ifdef NEED_SetLatch
void SetLatch(Latch *latch) {
  stm_touch(latch, sizeof *latch, true);
  latch->is_set = true;
}
#endif
#ifdef NEED_ResetLatch
void ResetLatch(Latch *latch) {
  stm_touch(latch, sizeof *latch, true);
  latch->is_set = false;
}
#endif

/* ---- queues of 15 and earlier: a ring through its head; an element outside of one has no neighbours ---- */
#ifdef NEED_SHMQueueInit
void SHMQueueInit(SHM_QUEUE *queue) {
  stm_touch(queue, sizeof *queue, true);
  queue->prev = queue->next = queue;
}
#endif
#ifdef NEED_SHMQueueElemInit
void SHMQueueElemInit(SHM_QUEUE *queue) {
  stm_touch(queue, sizeof *queue, true);
  queue->prev = queue->next = NULL;
}
#endif
#ifdef NEED_SHMQueueDelete
void SHMQueueDelete(SHM_QUEUE *queue) {
  stm_touch(queue, sizeof *queue, false);
  SHM_QUEUE *before = queue->prev, *after = queue->next;
  stm_touch(&before->next, sizeof before->next, true);
  before->next = after;
  stm_touch(&after->prev, sizeof after->prev, true);
  after->prev = before;
  stm_touch(queue, sizeof *queue, true);
  queue->prev = queue->next = NULL;
}
#endif
#ifdef NEED_SHMQueueInsertBefore
void SHMQueueInsertBefore(SHM_QUEUE *queue, SHM_QUEUE *elem) {
  stm_touch(&queue->prev, sizeof queue->prev, false);
  SHM_QUEUE *before = queue->prev;
  stm_touch(elem, sizeof *elem, true);
  elem->next = queue;
  elem->prev = before;
  stm_touch(&before->next, sizeof before->next, true);
  before->next = elem;
  stm_touch(&queue->prev, sizeof queue->prev, true);
  queue->prev = elem;
}
#endif

/* ---- time: the simulation's, from PostgreSQL's epoch ---- */
#ifdef NEED_GetCurrentTimestamp
TimestampTz GetCurrentTimestamp(void) {
  return (TimestampTz)stm_now_us();
}
#endif
#ifdef NEED_pg_usleep
void pg_usleep(long microsec) {
  stm_sleep_us(microsec);
}
#endif

/* ---- transaction ids, modulo 2^32 ---- */
static bool precedes(TransactionId a, TransactionId b) {
  return TransactionIdIsNormal(a) && TransactionIdIsNormal(b) ? (int32)(a - b) < 0 : a < b;
}
#ifdef NEED_TransactionIdPrecedes
bool TransactionIdPrecedes(TransactionId a, TransactionId b) {
  return precedes(a, b);
}
#endif
#ifdef NEED_TransactionIdPrecedesOrEquals
bool TransactionIdPrecedesOrEquals(TransactionId a, TransactionId b) {
  return a == b || precedes(a, b);
}
#endif
#ifdef NEED_TransactionIdFollows
bool TransactionIdFollows(TransactionId a, TransactionId b) {
  return precedes(b, a);
}
#endif
#ifdef NEED_TransactionIdFollowsOrEquals
bool TransactionIdFollowsOrEquals(TransactionId a, TransactionId b) {
  return a == b || precedes(b, a);
}
#endif

/* ---- leaving ---- */
static struct {
  pg_on_exit_callback function;
  Datum arg;
} callbacks[16];
static int n_callbacks;

#ifdef NEED_on_shmem_exit
void on_shmem_exit(pg_on_exit_callback function, Datum arg) {
  if (n_callbacks == (int)lengthof(callbacks)) stm_panic("out of on_shmem_exit slots");
  callbacks[n_callbacks].function = function;
  callbacks[n_callbacks++].arg = arg;
}
#endif
static void leave(void) {
  while (n_callbacks > 0) {
    n_callbacks--; /* first, as the server does: a callback that fails is not called again */
    callbacks[n_callbacks].function(0, callbacks[n_callbacks].arg);
  }
}

/* ---- what the tool calls ---- */
static int autovacuum; /* slots of that pool */

static void pools(StampedePgPools *out) {
  *out = (StampedePgPools){MaxConnections,  autovacuum,          max_worker_processes,
                           max_wal_senders, NUM_AUXILIARY_PROCS, max_prepared_xacts};
}

static void configure(const StampedePgOptions *o) {
  options = *o;
  MaxConnections = o->max_connections;
  max_worker_processes = o->max_worker_processes;
  max_wal_senders = o->max_wal_senders;
  max_prepared_xacts = o->max_prepared_xacts;
  autovacuum = o->autovacuum_workers + 1;
#ifdef NEED_autovacuum_worker_slots
  autovacuum_worker_slots = o->autovacuum_workers;
#endif
#ifdef NEED_autovacuum_max_workers
  autovacuum_max_workers = o->autovacuum_workers;
#endif
#ifdef NUM_SPECIAL_WORKER_PROCS
  autovacuum = o->autovacuum_workers + NUM_SPECIAL_WORKER_PROCS;
#endif
  MaxBackends = MaxConnections + autovacuum + max_worker_processes + max_wal_senders;
#ifdef NEED_EnableHotStandby
  EnableHotStandby = o->hot_standby;
#endif
#ifdef NEED_FastPathLockGroupsPerBackend
  FastPathLockGroupsPerBackend = 1;
  while (FastPathLockGroupsPerBackend * 16 < o->max_locks_per_transaction && FastPathLockGroupsPerBackend < 1024)
    FastPathLockGroupsPerBackend *= 2;
#endif
}

static void start_transactions(void) {
#ifdef NEED_TransamVariables
  TransamVariables = stm_shared("TransamVariables", sizeof *TransamVariables, PG_CACHE_LINE_SIZE);
  TransamVariables->nextXid = FullTransactionIdFromEpochAndXid(0, FirstNormalTransactionId + 1);
  TransamVariables->latestCompletedXid = FullTransactionIdFromEpochAndXid(0, FirstNormalTransactionId);
#endif
#ifdef NEED_ShmemVariableCache
  ShmemVariableCache = stm_shared("ShmemVariableCache", sizeof *ShmemVariableCache, PG_CACHE_LINE_SIZE);
  ShmemVariableCache->nextXid = FullTransactionIdFromEpochAndXid(0, FirstNormalTransactionId + 1);
  ShmemVariableCache->latestCompletedXid = FullTransactionIdFromEpochAndXid(0, FirstNormalTransactionId);
#endif
}

static SnapshotData snapshot;

#ifdef HAS_ProcGlobalShmemCallbacks
extern const ShmemCallbacks ProcGlobalShmemCallbacks, ProcArrayShmemCallbacks;
#endif

static void start(void) {
  make_locks();
  start_transactions();
#ifndef HAS_ProcGlobalShmemCallbacks
  make_semaphores(MaxBackends + NUM_AUXILIARY_PROCS);
#endif
  if (options.gap) stm_shared("gap", options.gap, PG_CACHE_LINE_SIZE);
#ifdef HAS_ProcGlobalShmemCallbacks
  ProcGlobalShmemCallbacks.request_fn(ProcGlobalShmemCallbacks.opaque_arg);
  ProcArrayShmemCallbacks.request_fn(ProcArrayShmemCallbacks.opaque_arg);
  ProcGlobalShmemCallbacks.init_fn(ProcGlobalShmemCallbacks.opaque_arg);
  ProcArrayShmemCallbacks.init_fn(ProcArrayShmemCallbacks.opaque_arg);
#else
  InitProcGlobal();
#ifdef HAS_CreateSharedProcArray
  CreateSharedProcArray();
#else
  ProcArrayShmemInit();
#endif
#endif
  IsUnderPostmaster = true;
  /* One pair of arrays for all processes: nobody looks at a snapshot after the step that took it. */
  snapshot.xip = stm_private(sizeof(TransactionId) * (size_t)GetMaxSnapshotXidCount());
  snapshot.subxip = stm_private(sizeof(TransactionId) * (size_t)GetMaxSnapshotSubxidCount());
}

static void init_process(int kind) {
  my_kind = kind;
  MyProcPid = stm_self();
#ifdef NEED_MyBackendType
  MyBackendType = kind == STM_PG_AUTOVACUUM_LAUNCHER ? B_AUTOVAC_LAUNCHER
                  : kind == STM_PG_BGWORKER          ? B_BG_WORKER
                  : kind == STM_PG_WALSENDER         ? B_WAL_SENDER
                                                     : B_BACKEND;
#endif
#ifdef NEED_IsBackgroundWorker
  IsBackgroundWorker = kind == STM_PG_BGWORKER;
#endif
#ifdef NEED_am_walsender
  am_walsender = kind == STM_PG_WALSENDER;
#endif
  InitProcess();
}

static void take_snapshot(void) {
  GetSnapshotData(&snapshot);
}

static bool have_free(int n) {
  int nfree = 0;
  return ((bool (*)(int, int *))HaveNFreeProcs)(n, &nfree); /* to 15 without the second */
}

static int procno(void) {
  return MyProc ? (int)(MyProc - ProcGlobal->allProcs) : -1;
}

/* ---- what a scenario's processes may call ---- */

/* As FATAL does. */
static void give_up(const char *why) {
  leave();
  stm_exit(why);
}
static void must_be_connected(void) {
  if (!MyProc) give_up("not connected");
}
static void connect_entry(int64_t kind) {
  if (MyProc) give_up("connected already");
  init_process((int)kind);
  InitProcessPhase2();
}
static void leave_entry(int64_t unused) {
  (void)unused;
  must_be_connected();
  leave();
}
static void snapshot_entry(int64_t unused) {
  (void)unused;
  must_be_connected();
  take_snapshot();
}

#if defined(NEED_TransamVariables)
#define TRANSACTIONS TransamVariables
#elif defined(NEED_ShmemVariableCache)
#define TRANSACTIONS ShmemVariableCache
#endif

/* Where its place in the dense arrays is kept: in PGPROC, or with the patch of the mailing list in an array of its own.
 */
static const int *place_in_arrays(void) {
#ifdef NAMES_pgxactoffs
  return &ProcGlobal->pgxactoffs[MyProc - ProcGlobal->allProcs];
#else
  return &MyProc->pgxactoff;
#endif
}

/* What GetNewTransactionId does to shared memory: the next xid, advanced, and shown in PGPROC and its dense array, all
 * under XidGenLock. */
static void begin_with_xid(int64_t unused) {
  (void)unused;
  must_be_connected();
  stm_touch(&MyProc->xid, sizeof MyProc->xid, false);
  if (TransactionIdIsValid(MyProc->xid)) give_up("has an xid already");
  LWLockAcquire(XidGenLock, LW_EXCLUSIVE);
  stm_touch(&TRANSACTIONS->nextXid, sizeof TRANSACTIONS->nextXid, true);
  TransactionId xid = XidFromFullTransactionId(TRANSACTIONS->nextXid);
  FullTransactionIdAdvance(&TRANSACTIONS->nextXid);
  const int *place = place_in_arrays();
  stm_touch(place, sizeof *place, false);
  TransactionId *mirror = &ProcGlobal->xids[*place];
  stm_touch(mirror, sizeof xid, true);
  *mirror = xid;
  stm_touch(&MyProc->xid, sizeof xid, true);
  MyProc->xid = xid;
  LWLockRelease(XidGenLock);
}

/* With an xid this takes ProcArrayLock, or hands it to whoever has it to clear for a group. */
static void end_transaction(int64_t unused) {
  (void)unused;
  must_be_connected();
  stm_touch(&MyProc->xid, sizeof MyProc->xid, false);
  ProcArrayEndTransaction(MyProc, MyProc->xid);
}

static void lock_group_lead(int64_t unused) {
  (void)unused;
  must_be_connected();
  BecomeLockGroupLeader();
}
static void lock_group_join(int64_t leader) {
  must_be_connected();
  if (leader < 0 || leader >= MaxConnections) give_up("no such slot");
  PGPROC *proc = &ProcGlobal->allProcs[leader];
  stm_touch(&proc->pid, sizeof proc->pid, false);
  if (!BecomeLockGroupMember(proc, proc->pid)) give_up("nobody leads a lock group from that slot");
}

/* What pg_cancel_backend does: who has that pid in the proc array is sent SIGINT. Looking and sending are two steps, as
 * there. */
static void cancel(int64_t pid) {
  if (BackendPidGetProc((int)pid)) stm_kill((int)pid, SIGINT);
}
/* What a backend does about one at its next CHECK_FOR_INTERRUPTS: its statement's transaction is given up. One that
 * comes to an idle backend is lost. */
static void interrupts(int64_t unused) {
  (void)unused;
  must_be_connected();
  if (!stm_signalled()) return;
  stm_touch(&MyProc->xid, sizeof MyProc->xid, false);
  if (TransactionIdIsValid(MyProc->xid)) ProcArrayEndTransaction(MyProc, MyProc->xid);
}

static const StampedeEntry entries[] = {
    {"connect", "InitProcess, InitProcessPhase2", connect_entry},
    {"leave", "the exit callbacks: ProcArrayRemove, ProcKill", leave_entry},
    {"snapshot", "GetSnapshotData", snapshot_entry},
    {"begin_with_xid", "an xid is assigned, and shown in the proc array", begin_with_xid},
    {"end_transaction", "ProcArrayEndTransaction", end_transaction},
    {"cancel", "BackendPidGetProc, and a signal to the process whose pid the argument is: 1000 is the scenario's first",
     cancel},
    {"interrupts", "CHECK_FOR_INTERRUPTS: a cancel that has come ends the transaction", interrupts},
    {"lock_group_lead", "BecomeLockGroupLeader", lock_group_lead},
    {"lock_group_join", "BecomeLockGroupMember, of the leader whose slot the argument is", lock_group_join},
};

static const StampedePostgres postgres = {configure,     pools,     init_process, InitProcessPhase2,
                                          take_snapshot, have_free, leave,        procno};

const StampedeSubject stampede_subject = {
    .version = STAMPEDE_SUBJECT_VERSION,
    .name = "procarray",
    .about = "procarray.c and proc.c of a PostgreSQL tree",
    .start = start,
    .entries = entries,
    .n_entries = sizeof entries / sizeof *entries,
    .kind = "postgres",
    .special = &postgres,
};
