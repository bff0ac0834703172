/* pg_subject.c - see pg_subject.h: calls of the code, by the server's backends. */
#include "sim/subject/pg_parts.h"

/* ---- calls ---- */

static PgSubject *acting; /* the one in this process, for calls that take an argument only */

static void call_init(int64_t kind) {
  acting->pg->init_process((int)kind);
}
static void call_join(int64_t unused) {
  (void)unused;
  acting->pg->join();
}
static void call_snapshot(int64_t unused) {
  (void)unused;
  acting->pg->snapshot();
}
static void call_have_free(int64_t n) {
  subject_set_truth(acting->s, acting->pg->have_free((int)n));
}
static void call_leave(int64_t unused) {
  (void)unused;
  acting->pg->leave();
}
static const struct {
  void (*fn)(int64_t);
  const char *name;
} calls[] = {[PGCALL_INIT_PROCESS] = {call_init, "InitProcess"},
             [PGCALL_JOIN] = {call_join, "InitProcessPhase2"},
             [PGCALL_SNAPSHOT] = {call_snapshot, "GetSnapshotData"},
             [PGCALL_HAVE_FREE] = {call_have_free, "HaveNFreeProcs"},
             [PGCALL_LEAVE] = {call_leave, "shmem_exit"}};

static int kind_of(PgPool pool) {
  static const int kinds[PG_POOL_COUNT] = {[PG_BACKENDS] = STM_PG_BACKEND,
                                           [PG_AUTOVACUUM] = STM_PG_AUTOVACUUM_LAUNCHER,
                                           [PG_BGWORKERS] = STM_PG_BGWORKER,
                                           [PG_WALSENDERS] = STM_PG_WALSENDER};
  return kinds[pool];
}

static int code_fork(void *data, AddressSpace *as, PgPool kind, int pid) {
  PgSubject *p = data;
  int process = subject_fork(p->s, as, pid);
  if ((guint)process >= p->kinds->len) g_array_set_size(p->kinds, (guint)process + 1);
  g_array_index(p->kinds, int, process) = kind_of(kind);
  return process;
}
static void code_reap(void *data, int process) {
  subject_reap(((PgSubject *)data)->s, process);
}

static void call(void *data, int process, PgCall what, int argument) {
  PgSubject *p = data;
  int64_t given = what == PGCALL_INIT_PROCESS ? g_array_index(p->kinds, int, process) : argument;
  subject_call(p->s, process, calls[what].fn, given, calls[what].name);
}

/* Its own pgxactoff is no follower's. */
int pg_subject_note_own(PgSubject *p, int process) {
  int procno = subject_ask(p->s, process, p->pg->procno);
  if (procno < 0) return procno;
  const char *own = p->h_offsets.there ? *(char *const *)(p->hdr + p->h_offsets.f.offset) + (uint64_t)procno * 4
                                       : p->all_procs + (uint64_t)procno * p->pgproc_size + p->offset.f.offset;
  subject_own_word(p->s, process, subject_address(p->s, own));
  return procno;
}

static PgCodeState state_of(PgSubject *p, int process, SubjectState s, bool truth) {
  if (s == SUBJECT_RUNS) return PGCODE_GOES_ON;
  if (s == SUBJECT_EXITED) return PGCODE_ENDED;
  pg_subject_note_own(p, process);
  return truth && !subject_truth(p->s, process) ? PGCODE_FALSE : PGCODE_RETURNED;
}

static Step go(void *data, int process, ProcId self, PgCodeState *state) {
  PgSubject *p = data;
  SubjectState s;
  Step step = subject_go(p->s, process, self, &s);
  *state = state_of(p, process, s, true);
  return step;
}

static PgCodeState at_once(void *data, int process, PgCall what) {
  PgSubject *p = data;
  int64_t given = what == PGCALL_INIT_PROCESS ? g_array_index(p->kinds, int, process) : 0;
  SubjectState s = subject_at_once(p->s, process, calls[what].fn, given);
  return state_of(p, process, s, false);
}

static PgCodeUse take_use(void *data, int process) {
  PgSubject *p = data;
  SubjectUse u = subject_take_use(p->s, process);
  return (PgCodeUse){u.faults, subject_take_faults_in(p->s, process), u.followers, u.moved};
}
static int procno(void *data, int process) {
  PgSubject *p = data;
  return subject_ask(p->s, process, p->pg->procno);
}

int64_t pg_code_on_lock(void *data, ProcId process, const char *lock, SubjectLockEvent e) {
  PgSubject *p = data;
  static const PgLockEvent events[] = {PGLOCK_ASKED, PGLOCK_GOT, PGLOCK_RELEASED};
  return p->told && strcmp(lock, "ProcArrayLock") == 0 ? p->told(p->server, process, events[e]) : 0;
}
static void listen_to(void *data, int64_t (*told)(void *server, ProcId p, PgLockEvent e), void *server) {
  PgSubject *p = data;
  p->told = told;
  p->server = server;
}

/* ---- life ---- */

PgSubject *pg_subject_new(Image *image, int64_t accesses) {
  PgSubject *p = g_new0(PgSubject, 1);
  p->image = image;
  p->pg = image_subject(image)->special;
  p->accesses = accesses;
  p->kinds = g_array_new(FALSE, TRUE, sizeof(int));
  p->code = (PgCode){.data = p,
                     .lay_out = pg_lay_out,
                     .listen = listen_to,
                     .fork = code_fork,
                     .reap = code_reap,
                     .call = call,
                     .go = go,
                     .at_once = at_once,
                     .take_use = take_use,
                     .procno = procno,
                     .members = pg_code_members,
                     .entry = pg_code_entry,
                     .slot = pg_code_slot,
                     .free_first = pg_code_free_first,
                     .free_next = pg_code_free_next,
                     .at_end = pg_code_at_end,
                     .has_offsets = pg_code_has_offsets,
                     .pgprocs = pg_code_pgprocs};
  return acting = p;
}

void pg_subject_free(PgSubject *p) {
  if (!p) return;
  acting = NULL;
  subject_free(p->s);
  g_array_unref(p->kinds);
  g_free(p->listed);
  g_free(p);
}

const PgCode *pg_subject_code(PgSubject *p) {
  return &p->code;
}
struct Subject *pg_subject_runtime(PgSubject *p) {
  return p->s;
}
