/* pg_subject - see pg_subject.h. What the code's state is, is read through DWARF: where PROC_HDR, PGPROC and the proc
 * array keep what (or where a patch has moved it), and static variables by their symbols. Reading it counts nothing. */
#include "sim/subject/pg_subject.h"
#include "sim/scenario/scenario.h"
#include "sim/subject/subject.h"
#include <string.h>

typedef struct {
  ImageField f;
  bool there;
} Place;

struct PgSubject {
  PgCode code;
  Image *image;
  const StampedePostgres *pg;
  Subject *s;
  int64_t accesses;
  World *w;
  GArray *kinds; /* of int by process: StampedePgKind */
  PgPools pools;
  StampedePgOptions options;
  /* of the running code */
  const char *all_procs, *hdr, *array;
  uint64_t pgproc_size, page_size;
  Place pid, xid, subxids, status, offset, link, leader;             /* of PGPROC */
  Place free[PG_POOL_COUNT], h_xids, h_subxids, h_status, h_offsets; /* of PROC_HDR */
  Place num, nos;                                                    /* of ProcArrayStruct */
  bool dlist;
  guint8 *listed;  /* by procno, */
  uint64_t looked; /* valid while the code has run so often */
  int64_t (*told)(void *server, ProcId p, PgLockEvent e);
  void *server;
};

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

static int64_t on_lock(void *data, ProcId process, const char *lock, SubjectLockEvent e) {
  PgSubject *p = data;
  static const PgLockEvent events[] = {PGLOCK_ASKED, PGLOCK_GOT, PGLOCK_RELEASED};
  return p->told && strcmp(lock, "ProcArrayLock") == 0 ? p->told(p->server, process, events[e]) : 0;
}
static void listen_to(void *data, int64_t (*told)(void *server, ProcId p, PgLockEvent e), void *server) {
  PgSubject *p = data;
  p->told = told;
  p->server = server;
}

/* ---- where things are ---- */

static Place place(const PgSubject *p, const char *type, const char *member) {
  Place found = {.there = false};
  found.there = image_field(p->image, type, member, &found.f);
  return found;
}

static bool complain(const PgSubject *p, GError **error, const char *what) {
  g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: %s", image_path(p->image), what);
  return false;
}

static bool find_places(PgSubject *p, GError **error) {
  static const char *const lists[PG_POOL_COUNT] = {[PG_BACKENDS] = "freeProcs",
                                                   [PG_AUTOVACUUM] = "autovacFreeProcs",
                                                   [PG_BGWORKERS] = "bgworkerFreeProcs",
                                                   [PG_WALSENDERS] = "walsenderFreeProcs"};
  for (PgPool pool = 0; pool < PG_POOL_COUNT; pool++)
    if (lists[pool]) p->free[pool] = place(p, "PROC_HDR", lists[pool]);
  p->pid = place(p, "PGPROC", "pid");
  p->xid = place(p, "PGPROC", "xid");
  p->subxids = place(p, "PGPROC", "subxidStatus");
  p->status = place(p, "PGPROC", "statusFlags");
  p->offset = place(p, "PGPROC", "pgxactoff");
  p->leader = place(p, "PGPROC", "lockGroupLeader");
  p->link = place(p, "PGPROC", "freeProcsLink");
  if (!p->link.there) p->link = place(p, "PGPROC", "links");
  p->h_xids = place(p, "PROC_HDR", "xids");
  p->h_subxids = place(p, "PROC_HDR", "subxidStates");
  p->h_status = place(p, "PROC_HDR", "statusFlags");
  p->h_offsets = place(p, "PROC_HDR", "pgxactoffs");
  p->num = place(p, "ProcArrayStruct", "numProcs");
  p->nos = place(p, "ProcArrayStruct", "pgprocnos");
  p->dlist = p->free[PG_BACKENDS].f.size == 16;
  bool all = p->pid.there && p->xid.there && p->link.there && p->free[PG_BACKENDS].there && p->h_xids.there &&
             p->num.there && p->nos.there && image_type_size(p->image, "PGPROC", &p->pgproc_size);
  return all || complain(p, error, "no debug information about PGPROC, PROC_HDR or ProcArrayStruct; build it with -g");
}

static const char *variable(const PgSubject *p, const char *name) {
  char *const *at = image_variable(p->image, name);
  return at ? *at : NULL;
}

static bool find_memory(PgSubject *p, GError **error) {
  p->hdr = variable(p, "ProcGlobal");
  p->array = variable(p, "procArray");
  ImageField f;
  if (!p->hdr || !p->array || !image_field(p->image, "PROC_HDR", "allProcs", &f))
    return complain(p, error, "no ProcGlobal or procArray after its start");
  p->all_procs = *(char *const *)(p->hdr + f.offset);
  return true;
}

/* Pointers of PROC_HDR name what they point to: xids and its like, and what a patch adds to them. */
typedef struct {
  const char *name;
  const char *at;
} Part;

static void collect_part(const char *member, const ImageField *f, void *data) {
  GArray *parts = data;
  if (!f->pointer) return;
  Part part = {member, (const char *)(uintptr_t)f->offset};
  g_array_append_val(parts, part);
}

static gint by_address(gconstpointer a, gconstpointer b) {
  const Part *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

static void name_parts(PgSubject *p) {
  g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(Part));
  image_each_field(p->image, "PROC_HDR", collect_part, parts);
  for (guint i = 0; i < parts->len; i++) {
    Part *part = &g_array_index(parts, Part, i);
    part->at = *(char *const *)(p->hdr + (uintptr_t)part->at);
  }
  g_array_sort(parts, by_address);
  int total = p->pools.total;
  subject_name_structure(p->s, "PGPROC", p->all_procs, p->pgproc_size, (uint64_t)total, "PGPROC");
  const char *end = p->all_procs + p->pgproc_size * (uint64_t)total;
  for (guint i = 0; i < parts->len; i++) {
    const Part *part = &g_array_index(parts, Part, i);
    const char *next = i + 1 < parts->len ? g_array_index(parts, Part, i + 1).at : NULL;
    uint64_t most = (uint64_t)total * 4, bytes = next ? MIN((uint64_t)(next - part->at), most) : (uint64_t)total;
    if (part->at >= end && bytes) subject_name_structure(p->s, part->name, part->at, bytes, 1, NULL);
  }
  uint64_t hdr_size, array_size;
  if (image_type_size(p->image, "PROC_HDR", &hdr_size))
    subject_name_structure(p->s, "PROC_HDR", p->hdr, hdr_size, 1, "PROC_HDR");
  if (image_type_size(p->image, "ProcArrayStruct", &array_size))
    subject_name_structure(p->s, "ProcArray", p->array, p->nos.f.offset, 1, "ProcArrayStruct");
  subject_name_structure(p->s, "ProcArray.pgprocnos", p->array + p->nos.f.offset, 4,
                         (uint64_t)(p->pools.max_backends + p->pools.prepared), NULL);
}

/* Where it is made with no name of its own. */
static void name_spinlock(const char *member, const ImageField *f, void *data) {
  const PgSubject *p = data;
  if (f->size <= 4) subject_name_spinlock(p->s, p->hdr + f->offset, member);
}

static void watch(PgSubject *p) {
  uint64_t procs = subject_address(p->s, p->all_procs), total = (uint64_t)p->pools.total;
  subject_count_faults_in(p->s, procs, p->pgproc_size * total, p->page_size);
  subject_watch_moves(p->s, subject_address(p->s, p->array + p->nos.f.offset),
                      (uint64_t)(p->pools.max_backends + p->pools.prepared) * 4, 4);
  if (p->h_offsets.there) {
    const char *offsets = *(char *const *)(p->hdr + p->h_offsets.f.offset);
    subject_watch(p->s, subject_address(p->s, offsets), total * 4, 4, 0, 4);
  } else if (p->offset.there) {
    subject_watch(p->s, procs, p->pgproc_size * total, (uint32_t)p->pgproc_size, (uint32_t)p->offset.f.offset, 4);
  }
}

/* ---- start ---- */

static void configure(void *data) {
  PgSubject *p = data;
  p->pg->configure(&p->options);
}

static void take_pools(PgSubject *p) {
  StampedePgPools q;
  p->pg->pools(&q);
  p->pools = (PgPools){.backends = q.backends,
                       .autovacuum = q.autovacuum,
                       .bgworkers = q.bgworkers,
                       .walsenders = q.walsenders,
                       .auxiliary = q.auxiliary,
                       .prepared = q.prepared};
  p->pools.max_backends = q.backends + q.autovacuum + q.bgworkers + q.walsenders;
  p->pools.total = p->pools.max_backends + q.auxiliary + q.prepared;
}

static bool lay_out(void *data, World *w, Segment *segment, const MemoryConfig *m, const PgConfig *c, PgPools *pools,
                    GError **error) {
  PgSubject *p = data;
  if (c->bg_prepared) return complain(p, error, "prepared transactions cannot be placed with a subject");
  p->options = (StampedePgOptions){.max_connections = c->max_connections,
                                   .autovacuum_workers = c->autovacuum_pool_by_slots ? c->autovacuum_worker_slots
                                                                                     : c->autovacuum_max_workers,
                                   .max_worker_processes = c->max_worker_processes,
                                   .max_wal_senders = c->max_wal_senders,
                                   .max_prepared_xacts = c->max_prepared_transactions,
                                   .max_locks_per_transaction = 64,
                                   .gap = (size_t)c->array_phase};
  p->w = w;
  p->page_size = m->page_size;
  p->s = subject_new(p->image, w, segment, m->lines, p->accesses);
  subject_before_start(p->s, configure, p);
  subject_on_lock(p->s, on_lock, p);
  if (!find_places(p, error) || !subject_start(p->s, error)) return false;
  take_pools(p);
  if (!find_memory(p, error)) return false;
  name_parts(p);
  image_each_field(p->image, "PROC_HDR", name_spinlock, p);
  watch(p);
  p->listed = g_new0(guint8, (gsize)p->pools.total);
  p->looked = UINT64_MAX;
  segment_add(segment, "end of the code's memory", 64, 1, 64, 0); /* what a last word could reach into */
  *pools = p->pools;
  return true;
}

/* ---- its state ---- */

static uint64_t read_at(const char *base, Place at, int index) {
  uint64_t value = 0;
  if (!at.there || at.f.size > 8) return 0;
  memcpy(&value, base + at.f.offset + (uint64_t)index * at.f.size, at.f.size); /* little-endian */
  return value;
}

static uint64_t mirrored(const PgSubject *p, Place pointer, int i, uint64_t width) {
  uint64_t value = 0;
  if (!pointer.there) return 0;
  memcpy(&value, *(char *const *)(p->hdr + pointer.f.offset) + (uint64_t)i * width, width);
  return value;
}

static int members(const void *data) {
  const PgSubject *p = data;
  return (int)read_at(p->array, p->num, 0);
}

static PgEntry entry(const void *data, int i) {
  const PgSubject *p = data;
  int32_t no;
  memcpy(&no, p->array + p->nos.f.offset + (uint64_t)i * 4, 4);
  return (PgEntry){no, (uint32_t)mirrored(p, p->h_xids, i, 4), (uint16_t)mirrored(p, p->h_subxids, i, 2),
                   (uint8_t)mirrored(p, p->h_status, i, 1)};
}

static const char *proc_at(const PgSubject *p, int procno_) {
  return p->all_procs + (uint64_t)procno_ * p->pgproc_size;
}

static int procno_of_link(const PgSubject *p, const char *link) {
  if (!link) return -1;
  const char *proc = link - p->link.f.offset;
  uint64_t at = (uint64_t)(proc - p->all_procs);
  if (proc < p->all_procs || at % p->pgproc_size || at / p->pgproc_size >= (uint64_t)p->pools.total) return -1;
  return (int)(at / p->pgproc_size);
}

static int free_first(const void *data, PgPool pool) {
  const PgSubject *p = data;
  if (!p->free[pool].there) return -1;
  const char *head = p->hdr + p->free[pool].f.offset;
  return procno_of_link(p, *(char *const *)(p->dlist ? head + 8 : head)); /* a dlist_node is prev, next */
}

static int free_next(const void *data, int procno_) {
  const PgSubject *p = data;
  return procno_of_link(p, *(char *const *)(proc_at(p, procno_) + p->link.f.offset + 8));
}

static bool at_end(const void *data, int procno_) {
  const PgSubject *p = data;
  for (PgPool pool = 0; pool < PG_POOL_COUNT; pool++) {
    if (free_first(p, pool) == procno_) return true;
    if (!p->dlist || !p->free[pool].there) continue;
    if (procno_of_link(p, *(char *const *)(p->hdr + p->free[pool].f.offset)) == procno_)
      return true; /* prev: the last */
  }
  return false;
}

static void look_at_lists(PgSubject *p) {
  if (p->looked == subject_stops(p->s)) return;
  memset(p->listed, 0, (size_t)p->pools.total);
  for (PgPool pool = 0; pool < PG_POOL_COUNT; pool++) {
    int left = p->pools.total;
    for (int n = free_first(p, pool); n >= 0 && left-- > 0; n = free_next(p, n)) p->listed[n] = 1;
  }
  p->looked = subject_stops(p->s);
}

static void slot(const void *data, int procno_, PgSlot *out) {
  const PgSubject *p = data;
  const char *proc = proc_at(p, procno_);
  look_at_lists((PgSubject *)data);
  out->listed = p->listed[procno_];
  out->kept = p->leader.there && read_at(proc, p->leader, 0) == (uintptr_t)proc;
  out->pid = (int)read_at(proc, p->pid, 0);
  out->offset = p->h_offsets.there ? (int)mirrored(p, p->h_offsets, procno_, 4) : (int)read_at(proc, p->offset, 0);
  out->xid = (uint32_t)read_at(proc, p->xid, 0);
  out->subxids = (uint16_t)read_at(proc, p->subxids, 0);
  out->status = (uint8_t)read_at(proc, p->status, 0);
}

static bool has_offsets(const void *data) {
  const PgSubject *p = data;
  return p->offset.there || p->h_offsets.there;
}

static void pgprocs(const void *data, uint64_t *address, uint64_t *bytes) {
  const PgSubject *p = data;
  *address = subject_address(p->s, p->all_procs);
  *bytes = p->pgproc_size * (uint64_t)p->pools.total;
}

/* ---- life ---- */

PgSubject *pg_subject_new(Image *image, int64_t accesses) {
  PgSubject *p = g_new0(PgSubject, 1);
  p->image = image;
  p->pg = image_subject(image)->special;
  p->accesses = accesses;
  p->kinds = g_array_new(FALSE, TRUE, sizeof(int));
  p->code = (PgCode){.data = p,
                     .lay_out = lay_out,
                     .listen = listen_to,
                     .fork = code_fork,
                     .reap = code_reap,
                     .call = call,
                     .go = go,
                     .at_once = at_once,
                     .take_use = take_use,
                     .procno = procno,
                     .members = members,
                     .entry = entry,
                     .slot = slot,
                     .free_first = free_first,
                     .free_next = free_next,
                     .at_end = at_end,
                     .has_offsets = has_offsets,
                     .pgprocs = pgprocs};
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
