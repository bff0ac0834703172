/* pgmini.c - a server's proc array and slots, of our own, with the layout of PostgreSQL 15's headers: what tests of
 * subjects run as "real code". It keeps to what is known of 15 where that can be seen from outside: free lists of one
 * link, last come first served, handed out from the last slot downwards; the array sorted by slot, four dense arrays in
 * its order, each member's PGPROC with its place. Which words of the own PGPROC are touched is as there, too: all up to
 * the lock group's at InitProcess, the lock group's leader at exit.
 *
 * Beside that each process passes through a probe (InitProcess) that uses every kind of hook once and panics when an
 * operation did not do what it says: probe_words for the test's eyes, its order is part of the test. */
#include "postgres.h"

#include "access/twophase.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "replication/walsender.h"
#include "storage/ipc.h"
#include "storage/pmsignal.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include <signal.h>
#include <unistd.h>

typedef struct {
  int numProcs, maxProcs;
  char rest[32]; /* pgprocnos begin at byte 40, as in 15 */
  int pgprocnos[FLEXIBLE_ARRAY_MEMBER];
} ProcArrayStruct;

typedef struct __attribute__((packed)) {
  char shift; /* so that what follows is not aligned */
  uint16 two;
  uint32 four;
  uint64 eight;
  unsigned __int128 sixteen;
} Unaligned;

typedef struct {
  uint64 part[8];
} Block;

typedef struct {
  unsigned __int128 sixteen;
  uint64 eight;
  uint32 four;
  uint16 two;
  uint8 one;
  Unaligned unaligned;
  Block block, copy;
  uint8 atomic8;
  uint16 atomic16;
  uint32 atomic32;
  uint64 atomic64;
  char bytes[96], copied[96];
  TimestampTz seen;
} Probe;

PGPROC *MyProc;
PROC_HDR *ProcGlobal;
PGPROC *AuxiliaryProcs, *PreparedXactProcs;
NON_EXEC_STATIC slock_t *ProcStructLock;
static ProcArrayStruct *procArray;
static Probe *probe; /* shared: one, its users take turns by a spinlock and a lock */

/* ---- the probe: every kind of access once ---- */

static void must(bool so, const char *what) {
  if (!so) elog(PANIC, "probe: %s", what);
}

static void probe_words(Probe *p, uint64 seed) {
  volatile uint8 *one = &p->one;
  volatile uint16 *two = &p->two;
  volatile uint32 *four = &p->four;
  volatile uint64 *eight = &p->eight;
  volatile unsigned __int128 *sixteen = &p->sixteen;
  *one = (uint8)seed, *two = (uint16)seed, *four = (uint32)seed, *eight = seed, *sixteen = seed;
  must(*one == (uint8)seed && *two == (uint16)seed && *four == (uint32)seed && *eight == seed && *sixteen == seed,
       "words");
}

static void probe_unaligned(Probe *p, uint64 seed) {
  volatile Unaligned *u = &p->unaligned;
  u->two = (uint16)seed, u->four = (uint32)seed, u->eight = seed, u->sixteen = seed;
  must(u->two == (uint16)seed && u->four == (uint32)seed && u->eight == seed && u->sixteen == seed, "unaligned words");
}

static void probe_ranges(Probe *p, uint64 seed) {
  p->block.part[7] = seed;
  p->copy = p->block;
  must(p->copy.part[7] == seed, "a struct as a whole");
  memset(p->bytes, (int)(seed & 127), sizeof p->bytes);
  memcpy(p->copied, p->bytes, sizeof p->bytes);
  must(memcmp(p->copied, p->bytes, sizeof p->bytes) == 0, "memcpy");
  p->bytes[0] = 1;
  memmove(p->bytes + 1, p->bytes, sizeof p->bytes - 1);
  must(p->bytes[1] == 1 && p->bytes[2] == (char)(seed & 127), "memmove");
}

#define PROBE_ATOMICS(word, type)                                                                                      \
  do {                                                                                                                 \
    type seen, expected = 7;                                                                                           \
    __atomic_store_n(&(word), 5, __ATOMIC_SEQ_CST);                                                                    \
    must(__atomic_load_n(&(word), __ATOMIC_SEQ_CST) == 5, #type " store");                                             \
    must(__atomic_exchange_n(&(word), 6, __ATOMIC_SEQ_CST) == 5, #type " exchange");                                   \
    must(__atomic_fetch_add(&(word), 3, __ATOMIC_SEQ_CST) == 6, #type " add");                                         \
    must(__atomic_fetch_sub(&(word), 2, __ATOMIC_SEQ_CST) == 9, #type " sub");                                         \
    must(!__atomic_compare_exchange_n(&(word), &expected, 9, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) == false,      \
         #type " compare");                                                                                            \
    must(__atomic_fetch_and(&(word), 12, __ATOMIC_SEQ_CST) == 9, #type " and");                                        \
    must(__atomic_fetch_or(&(word), 3, __ATOMIC_SEQ_CST) == 8, #type " or");                                           \
    must(__atomic_fetch_xor(&(word), 1, __ATOMIC_SEQ_CST) == 11, #type " xor");                                        \
    seen = __atomic_fetch_nand(&(word), 15, __ATOMIC_SEQ_CST);                                                         \
    must(seen == 10 && (word) == (type) ~(type)10, #type " nand");                                                     \
  } while (0)

static void probe_atomics(Probe *p) {
  PROBE_ATOMICS(p->atomic8, uint8);
  PROBE_ATOMICS(p->atomic16, uint16);
  PROBE_ATOMICS(p->atomic32, uint32);
  PROBE_ATOMICS(p->atomic64, uint64);
}

/* What is not memory: time does not go back, the pid is the process's own, signal 0 finds it. */
static void probe_calls(Probe *p) {
  TimestampTz now = GetCurrentTimestamp();
  must(now >= p->seen, "time");
  p->seen = now;
  must(getpid() == MyProcPid, "getpid");
  must(kill(MyProcPid, 0) == 0, "kill");
}

static void probe_locks(PGPROC *proc) {
  PGSemaphoreUnlock(proc->sem);
  PGSemaphoreLock(proc->sem);
  SetLatch(&proc->procLatch);
  must(proc->procLatch.is_set, "SetLatch");
  ResetLatch(&proc->procLatch);
  LWLockAcquire(XidGenLock, LW_SHARED);
  must(LWLockHeldByMe(XidGenLock), "LWLockHeldByMe");
  LWLockRelease(XidGenLock);
}

static pg_attribute_unused() void probe_all(void) {
  LWLockAcquire(XidGenLock, LW_EXCLUSIVE);
  probe_words(probe, (uint64)MyProcPid * 257);
  probe_unaligned(probe, (uint64)MyProcPid * 259);
  probe_ranges(probe, (uint64)MyProcPid);
  probe_atomics(probe);
  probe_calls(probe);
  LWLockRelease(XidGenLock);
  probe_locks(MyProc);
}

/* ---- slots ---- */

static int total_procs(void) {
  return MaxBackends + NUM_AUXILIARY_PROCS + max_prepared_xacts;
}

static PGPROC **list_of(int slot) {
  int autovacuum = MaxConnections + autovacuum_max_workers + 1, bgworkers = autovacuum + max_worker_processes;
  if (slot < MaxConnections) return &ProcGlobal->freeProcs;
  if (slot < autovacuum) return &ProcGlobal->autovacFreeProcs;
  if (slot < bgworkers) return &ProcGlobal->bgworkerFreeProcs;
  return slot < MaxBackends ? &ProcGlobal->walsenderFreeProcs : NULL;
}

static void push(PGPROC *proc) {
  PGPROC **list = proc->procgloballist;
  proc->links.next = (SHM_QUEUE *)*list;
  *list = proc;
}

static void make_slot(int slot) {
  PGPROC *proc = &ProcGlobal->allProcs[slot];
  proc->pgprocno = slot;
  dlist_init(&proc->lockGroupMembers);
  for (int i = 0; i < NUM_LOCK_PARTITIONS; i++) SHMQueueInit(&proc->myProcLocks[i]);
  if (slot < MaxBackends + NUM_AUXILIARY_PROCS) {
    proc->sem = PGSemaphoreCreate();
    InitSharedLatch(&proc->procLatch);
    LWLockInitialize(&proc->fpInfoLock, LWTRANCHE_LOCK_FASTPATH);
  }
  proc->procgloballist = list_of(slot);
  if (proc->procgloballist) push(proc);
}

void InitProcGlobal(void) {
  bool found;
  Size n = (Size)total_procs();
  ProcGlobal = ShmemInitStruct("Proc Header", sizeof *ProcGlobal, &found);
  ProcGlobal->allProcs = ShmemAlloc(n * sizeof(PGPROC));
  ProcGlobal->xids = ShmemAlloc(n * sizeof *ProcGlobal->xids);
  ProcGlobal->subxidStates = ShmemAlloc(n * sizeof *ProcGlobal->subxidStates);
  ProcGlobal->statusFlags = ShmemAlloc(n * sizeof *ProcGlobal->statusFlags);
  ProcGlobal->allProcCount = (uint32)(MaxBackends + NUM_AUXILIARY_PROCS);
  for (int slot = 0; slot < (int)n; slot++) make_slot(slot);
  AuxiliaryProcs = &ProcGlobal->allProcs[MaxBackends];
  PreparedXactProcs = AuxiliaryProcs + NUM_AUXILIARY_PROCS;
  ProcStructLock = ShmemAlloc(sizeof *ProcStructLock);
  SpinLockInit(ProcStructLock);
}

void CreateSharedProcArray(void) {
  bool found;
  int most = MaxBackends + max_prepared_xacts;
  procArray = ShmemInitStruct("Proc Array", offsetof(ProcArrayStruct, pgprocnos) + (Size)most * sizeof(int), &found);
  procArray->maxProcs = most;
  probe = ShmemInitStruct("probe", sizeof *probe, &found);
}

/* ---- InitProcess and ProcKill ---- */

static PGPROC **my_list(void) {
  if (IsAutoVacuumLauncherProcess() || IsAutoVacuumWorkerProcess()) return &ProcGlobal->autovacFreeProcs;
  if (IsBackgroundWorker) return &ProcGlobal->bgworkerFreeProcs;
  return am_walsender ? &ProcGlobal->walsenderFreeProcs : &ProcGlobal->freeProcs;
}

static PGPROC *pop(PGPROC **list) {
  SpinLockAcquire(ProcStructLock);
  PGPROC *proc = *list;
  if (proc) *list = (PGPROC *)proc->links.next;
  SpinLockRelease(ProcStructLock);
  return proc;
}

static void begin_fields(PGPROC *proc) {
  SHMQueueElemInit(&proc->links);
  proc->pid = MyProcPid;
  proc->xid = proc->xmin = InvalidTransactionId;
  proc->statusFlags = IsBackgroundWorker ? PROC_IN_SAFE_IC : 0; /* so that entries of the dense arrays differ */
  proc->subxidStatus.count = 0;
  proc->isBackgroundWorker = IsBackgroundWorker;
  proc->waitLock = NULL;
  pg_atomic_write_u64(&proc->waitStart, 0);
  SHMQueueElemInit(&proc->syncRepLinks);
  proc->procArrayGroupMember = false;
  proc->fpVXIDLock = false;
  proc->fpLocalTransactionId = InvalidLocalTransactionId; /* the last field before those of lock groups */
}

/* Is nobody left in it? A leader's slot is kept until then; who is last gives it back. */
static bool leave_group(PGPROC *proc, PGPROC *leader) {
  LWLock *lock = LockHashPartitionLockByProc(leader);
  LWLockAcquire(lock, LW_EXCLUSIVE);
  dlist_delete(&proc->lockGroupLink);
  bool last = dlist_is_empty(&leader->lockGroupMembers);
  if (last) leader->lockGroupLeader = NULL;
  if (proc != leader) proc->lockGroupLeader = NULL;
  LWLockRelease(lock);
  return last;
}

static void ProcKill(int code, Datum arg) {
  PGPROC *proc = MyProc;
  LWLockReleaseAll();
  PGPROC *leader = proc->lockGroupLeader;
  bool last = leader && leave_group(proc, leader);
  MyProc = NULL;
  DisownLatch(&proc->procLatch);
  SpinLockAcquire(ProcStructLock);
  if (leader != proc || last) push(proc);
  if (leader != proc && last) push(leader);
  SpinLockRelease(ProcStructLock);
}

void InitProcess(void) {
  MyProc = pop(my_list());
  if (!MyProc) ereport(FATAL, (errcode(ERRCODE_TOO_MANY_CONNECTIONS), errmsg("sorry, too many clients already")));
  begin_fields(MyProc);
  OwnLatch(&MyProc->procLatch);
  PGSemaphoreReset(MyProc->sem);
  on_shmem_exit(ProcKill, 0);
#ifndef NO_PROBE
  probe_all();
#endif
}

bool HaveNFreeProcs(int n) {
  SpinLockAcquire(ProcStructLock);
  for (PGPROC *proc = ProcGlobal->freeProcs; proc && n > 0; proc = (PGPROC *)proc->links.next) n--;
  SpinLockRelease(ProcStructLock);
  return n <= 0;
}

/* ---- the array ----
 * Pointers to it are locals, as in a server; how long it is, is loaded again only where a store comes before. */

static void shift(int from, int by) {
  ProcArrayStruct *array = procArray;
  Size n = (Size)(array->numProcs - from);
  memmove(&array->pgprocnos[from + by], &array->pgprocnos[from], n * sizeof(int));
  memmove(&ProcGlobal->xids[from + by], &ProcGlobal->xids[from], n * sizeof(TransactionId));
  memmove(&ProcGlobal->subxidStates[from + by], &ProcGlobal->subxidStates[from], n * sizeof(XidCacheStatus));
  memmove(&ProcGlobal->statusFlags[from + by], &ProcGlobal->statusFlags[from], n);
}

static void tell_places(int from) {
  ProcArrayStruct *array = procArray;
  PGPROC *all = ProcGlobal->allProcs;
  for (int i = from; i < array->numProcs; i++) all[array->pgprocnos[i]].pgxactoff = i;
}

static void lock_both(void) {
  LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
  LWLockAcquire(XidGenLock, LW_EXCLUSIVE);
}
static void unlock_both(void) {
  LWLockRelease(XidGenLock);
  LWLockRelease(ProcArrayLock);
}

void ProcArrayAdd(PGPROC *proc) {
  ProcArrayStruct *array = procArray;
  int at = 0, procno = proc->pgprocno;
  lock_both();
  int n = array->numProcs;
  if (n == array->maxProcs)
    ereport(FATAL, (errcode(ERRCODE_TOO_MANY_CONNECTIONS), errmsg("sorry, too many clients already")));
  while (at < n && array->pgprocnos[at] <= procno) at++;
  shift(at, 1);
  array->pgprocnos[at] = procno;
  ProcGlobal->xids[at] = proc->xid;
  ProcGlobal->subxidStates[at] = proc->subxidStatus;
  ProcGlobal->statusFlags[at] = proc->statusFlags;
  array->numProcs = n + 1;
  proc->pgxactoff = at;
  tell_places(at + 1);
  unlock_both();
}

void ProcArrayRemove(PGPROC *proc, TransactionId latestXid) {
  lock_both();
  int at = proc->pgxactoff;
  ProcGlobal->statusFlags[at] = 0;
  shift(at + 1, -1);
  procArray->pgprocnos[--procArray->numProcs] = -1;
  tell_places(at);
  unlock_both();
}

static void leave_array(int code, Datum arg) {
  ProcArrayRemove(MyProc, InvalidTransactionId);
}

void InitProcessPhase2(void) {
  ProcArrayAdd(MyProc);
  on_shmem_exit(leave_array, 0);
}

int GetMaxSnapshotXidCount(void) {
  return procArray->maxProcs;
}
int GetMaxSnapshotSubxidCount(void) {
  return 65 * procArray->maxProcs;
}

Snapshot GetSnapshotData(Snapshot snapshot) {
  uint32 n = 0;
  ProcArrayStruct *array = procArray;
  volatile TransactionId *xids = ProcGlobal->xids; /* as UINT32_ACCESS_ONCE there */
  LWLockAcquire(ProcArrayLock, LW_SHARED);
  for (int i = 0, members = array->numProcs; i < members; i++) {
    TransactionId xid = xids[i];
    if (TransactionIdIsNormal(xid)) snapshot->xip[n++] = xid;
  }
  LWLockRelease(ProcArrayLock);
  snapshot->xcnt = n;
  snapshot->xmax = XidFromFullTransactionId(ShmemVariableCache->latestCompletedXid) + 1;
  return snapshot;
}

/* ---- transactions, cancels, lock groups ---- */

void ProcArrayEndTransaction(PGPROC *proc, TransactionId latestXid) {
  LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
  if (TransactionIdIsValid(latestXid)) {
    ProcGlobal->xids[proc->pgxactoff] = proc->xid = InvalidTransactionId;
    ShmemVariableCache->xactCompletionCount++;
  }
  proc->xmin = InvalidTransactionId;
  LWLockRelease(ProcArrayLock);
}

PGPROC *BackendPidGetProc(int pid) {
  PGPROC *found = NULL, *all = ProcGlobal->allProcs;
  ProcArrayStruct *array = procArray;
  LWLockAcquire(ProcArrayLock, LW_SHARED);
  for (int i = 0, members = array->numProcs; i < members && !found; i++) {
    PGPROC *proc = &all[array->pgprocnos[i]];
    if (proc->pid == pid) found = proc;
  }
  LWLockRelease(ProcArrayLock);
  return found;
}

void BecomeLockGroupLeader(void) {
  LWLock *lock = LockHashPartitionLockByProc(MyProc);
  LWLockAcquire(lock, LW_EXCLUSIVE);
  if (!MyProc->lockGroupLeader) {
    MyProc->lockGroupLeader = MyProc;
    dlist_push_head(&MyProc->lockGroupMembers, &MyProc->lockGroupLink);
  }
  LWLockRelease(lock);
}

bool BecomeLockGroupMember(PGPROC *leader, int pid) {
  LWLock *lock = LockHashPartitionLockByProc(leader);
  LWLockAcquire(lock, LW_EXCLUSIVE);
  bool leads = leader->pid == pid && leader->lockGroupLeader == leader;
  if (leads) {
    MyProc->lockGroupLeader = leader;
    dlist_push_tail(&leader->lockGroupMembers, &MyProc->lockGroupLink);
  }
  LWLockRelease(lock);
  return leads;
}
