/* pg_layout.c - the code lays its memory out, and what lies where is read through DWARF: where PROC_HDR, PGPROC and the
 * proc array keep what (or where a patch has moved it), and static variables by their symbols. */
#include "sim/subject/pg_parts.h"
#include "sim/scenario/scenario.h"
#include <string.h>

enum { PHASES = 65536 /* what postgres.pgproc.phase counts in */ };

static PgPlace place(const PgSubject *p, const char *type, const char *member) {
  PgPlace found = {.there = false};
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

static StampedePgOptions options_of(const PgConfig *c) {
  return (StampedePgOptions){.max_connections = c->max_connections,
                             .autovacuum_workers =
                                 c->autovacuum_pool_by_slots ? c->autovacuum_worker_slots : c->autovacuum_max_workers,
                             .max_worker_processes = c->max_worker_processes,
                             .max_wal_senders = c->max_wal_senders,
                             .max_prepared_xacts = c->max_prepared_transactions,
                             .max_locks_per_transaction = 64};
}

/* Runs the code's start, with so many bytes before what it lays out. */
static bool begin(PgSubject *p, World *w, Segment *segment, bool lines, uint64_t gap, GError **error) {
  p->options.gap = gap;
  p->s = subject_new(p->image, w, segment, lines, p->accesses);
  subject_before_start(p->s, configure, p);
  if (!subject_start(p->s, error)) return false;
  take_pools(p);
  return find_memory(p, error);
}

/* Where the PGPROC array comes to lie is the code's affair, so it is tried: then the gap is known that brings it to its
 * phase. At least a window of fault-around, so that what the code has not laid out itself is no neighbour of the array.
 */
static bool find_gap(PgSubject *p, World *w, const MemoryConfig *m, const PgConfig *c, uint64_t *gap, GError **error) {
  g_autoptr(Segment) tried = segment_new(m);
  bool ok = begin(p, w, tried, false, PHASES, error);
  uint64_t at = ok ? subject_address(p->s, p->all_procs) : 0;
  g_clear_pointer(&p->s, subject_free);
  *gap = PHASES + ((uint64_t)c->array_phase + PHASES - at % PHASES) % PHASES;
  return ok;
}

static bool has_its_phase(const PgSubject *p, const PgConfig *c, GError **error) {
  uint64_t phase = subject_address(p->s, p->all_procs) % PHASES;
  if (phase == (uint64_t)c->array_phase) return true;
  g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT,
              "%s: postgres.pgproc.phase: its PGPROC array cannot lie at %dB of 64 KiB; %" G_GUINT64_FORMAT
              "B would be right",
              image_path(p->image), c->array_phase, phase);
  return false;
}

static void name_and_watch(PgSubject *p) {
  name_parts(p);
  image_each_field(p->image, "PROC_HDR", name_spinlock, p);
  watch(p);
  p->listed = g_new0(guint8, (gsize)p->pools.total);
  p->looked = UINT64_MAX;
}

bool pg_lay_out(void *data, World *w, Segment *segment, const MemoryConfig *m, const PgConfig *c, PgPools *pools,
                GError **error) {
  PgSubject *p = data;
  uint64_t gap;
  if (c->bg_prepared) return complain(p, error, "prepared transactions cannot be placed with a subject");
  p->options = options_of(c);
  p->w = w;
  p->page_size = m->page_size;
  if (!find_places(p, error) || !find_gap(p, w, m, c, &gap, error)) return false;
  if (!begin(p, w, segment, m->lines, gap, error) || !has_its_phase(p, c, error)) return false;
  subject_on_lock(p->s, pg_code_on_lock, p);
  name_and_watch(p);
  segment_add(segment, "end of the code's memory", 64, 1, 64, 0); /* what a last word could reach into */
  *pools = p->pools;
  return true;
}

void pg_code_pgprocs(const void *data, uint64_t *address, uint64_t *bytes) {
  const PgSubject *p = data;
  *address = subject_address(p->s, p->all_procs);
  *bytes = p->pgproc_size * (uint64_t)p->pools.total;
}
