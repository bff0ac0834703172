/* layout.c - where the structures lie: one segment in the order in which CreateSharedMemoryAndSemaphores makes them,
 * and the arrays of their contents in the arena.
 *
 * Neighbours count: a load maps the 64 KiB around it, so what lies beside the PGPROC array decides which of its pages
 * a connect finds mapped. Every chunk begins at a multiple of 128 bytes. To 17 the PGPROC array and the dense arrays
 * are chunks of their own; since 18 they are one, back to back. The page phase of the PGPROC array is a parameter:
 * what lies before it depends on settings that are not modelled, and on the address that the kernel gives. */
#include "model/postgres/layout.h"

enum { CHUNK_ALIGN = 128, SEMAPHORE_BYTES = 128, PHASE_SPAN = 65536, SMALL = 1024, ARRAYS_MOST = 32768 };
/* Between what is modelled: KnownAssignedXids (a standby's, 65 a slot, 4 bytes and one), prepared transactions,
 * background workers. They are never touched here and push apart what lies behind them. */
enum {
  LWLOCK_BYTES = 128,
  FIXED_LWLOCKS = 208
}; /* MainLWLockArray: each padded; about 50 single ones and partitions */
enum { KNOWN_XIDS = 65, TWO_PHASE_BYTES = 16, PREPARED_BYTES = 208, WORKERS_HEADER = 16, WORKER_BYTES = 560 };

const char *pg_field_name(PgField f) {
  static const char *const names[PGF_COUNT] = {[PGF_LWLOCKS] = "LWLocks",
                                               [PGF_PROC_HDR] = "PROC_HDR",
                                               [PGF_STRUCT_LOCK] = "ProcStructLock",
                                               [PGF_FREE_SLOTS] = "free slots",
                                               [PGF_PGPROC] = "PGPROC",
                                               [PGF_LINKS] = "PGPROC.links",
                                               [PGF_PGXACTOFF] = "PGPROC.pgxactoff",
                                               [PGF_PGXACTOFFS] = "pgxactoffs",
                                               [PGF_PROCARRAY] = "ProcArray",
                                               [PGF_PGPROCNOS] = "ProcArray.pgprocnos",
                                               [PGF_XIDS] = "xids",
                                               [PGF_SUBXIDS] = "subxidStates",
                                               [PGF_STATUS] = "statusFlags",
                                               [PGF_PGXACT] = "PGXACT",
                                               [PGF_SEMAPHORE] = "PGSemaphore",
                                               [PGF_FAST_PATH] = "fast-path locks",
                                               [PGF_SINVAL] = "sinval",
                                               [PGF_PROC_SIGNAL] = "ProcSignal",
                                               [PGF_BACKEND_STATUS] = "PgBackendStatus",
                                               [PGF_PMCHILD_FLAGS] = "PMChildFlags"};
  g_assert(f < PGF_COUNT && names[f]);
  return names[f];
}

static uint64_t add(PgShared *s, const char *name, int64_t size, int64_t count, uint64_t align) {
  StructureId id = segment_add(s->segment, name, (uint64_t)size, (uint64_t)(count ? count : 1), align, 0);
  return segment_address(s->segment, id, 0);
}

static void dense_add(PgShared *s, PgField f, PgStep move, int width, int count, uint64_t align) {
  s->dense[s->n_dense++] = (DenseArray){
      .field = f, .move = move, .width = (uint32_t)width, .base = add(s, pg_field_name(f), width, count, align)};
}

/* pgprocnos come first in dense[], though ProcArray lies behind them all. Before 14 the rest was one array, PGXACT, by
 * proc number. */
static void lay_out_dense(PgShared *s, int total) {
  const PgConfig *c = &s->config;
  uint64_t align = c->one_chunk ? 1 : CHUNK_ALIGN;
  s->n_dense = 1;
  if (c->offsets == OFFSETS_NONE) {
    StructureId id = segment_add(s->segment, pg_field_name(PGF_PGXACT), 12, (uint64_t)total, MAX(align, 4), 0);
    s->pgxact = segment_address(s->segment, id, 0);
    s->member_words = id;
    s->member_offset = 0, s->member_bytes = 12;
    return;
  }
  dense_add(s, PGF_XIDS, PGSTEP_MOVE_XIDS, 4, total, align);
  dense_add(s, PGF_SUBXIDS, PGSTEP_MOVE_SUBXIDS, 2, total, align);
  if (c->offsets == OFFSETS_SPLIT) { /* where the patch puts it: before statusFlags */
    StructureId id = segment_add(s->segment, pg_field_name(PGF_PGXACTOFFS), 4, (uint64_t)total, MAX(align, 4), 0);
    s->offset_base = segment_address(s->segment, id, 0);
    s->offset_stride = 4;
    s->offset_field = PGF_PGXACTOFFS;
    s->member_words = id;
    s->member_offset = 0;
  }
  dense_add(s, PGF_STATUS, PGSTEP_MOVE_STATUS, 1, total, align);
}

/* PROC_HDR, and behind it the bitmap that TAKE_LOWEST has in place of a list. */
static void lay_out_header(PgShared *s, int total, uint64_t align, uint64_t phase) {
  StructureId id = segment_add(s->segment, "PROC_HDR", pg_header_bytes(&s->config), 1, align, phase);
  s->proc_hdr = segment_address(s->segment, id, 0);
  if (s->config.take == TAKE_LOWEST) s->free_slots = add(s, "free slots", 8, (total + 63) / 64, 8);
}

/* The header ends where the array begins, give or take what rounds it up to a chunk. */
static void lay_out_header_before(PgShared *s, int total) {
  uint64_t bytes = pg_header_bytes(&s->config);
  if (s->config.take == TAKE_LOWEST) bytes = (bytes + 7) / 8 * 8 + ((uint64_t)total + 63) / 64 * 8;
  uint64_t chunk = (bytes + CHUNK_ALIGN - 1) / CHUNK_ALIGN * CHUNK_ALIGN, phase = (uint64_t)s->config.array_phase;
  lay_out_header(s, total, PHASE_SPAN, (phase + PHASE_SPAN - chunk % PHASE_SPAN) % PHASE_SPAN);
}

static void lay_out_pgprocs(PgShared *s, int total) {
  const PgConfig *c = &s->config;
  StructureId id = segment_add(s->segment, "PGPROC", (uint64_t)c->pgproc_size, (uint64_t)total, PHASE_SPAN,
                               (uint64_t)c->array_phase);
  s->pgproc = segment_address(s->segment, id, 0);
  s->offset_base = s->pgproc + (uint64_t)c->off_pgxactoff;
  s->offset_stride = (uint64_t)c->pgproc_size;
  s->offset_field = PGF_PGXACTOFF;
  s->member_words = id;
  s->member_offset = (uint64_t)c->off_pgxactoff, s->member_bytes = 4;
  lay_out_dense(s, total);
  if (c->fast_path_bytes) s->fast_path = add(s, "fast-path locks", c->fast_path_bytes, total, CHUNK_ALIGN);
}

static void lay_out_proc_array(PgShared *s) {
  int header = s->config.proc_array_header_bytes ? s->config.proc_array_header_bytes : 36;
  s->array_header = add(s, "ProcArray", header, 1, CHUNK_ALIGN);
  s->dense[DENSE_PGPROCNOS] = (DenseArray){.field = PGF_PGPROCNOS,
                                           .move = PGSTEP_MOVE_PGPROCNOS,
                                           .width = 4,
                                           .base = add(s, "ProcArray.pgprocnos", 4, s->max_procs, 4)};
  add(s, "KnownAssignedXids", 4 * KNOWN_XIDS, s->max_procs, CHUNK_ALIGN);
  add(s, "KnownAssignedXidsValid", KNOWN_XIDS, s->max_procs, CHUNK_ALIGN);
}

/* To 18 the semaphores are at the segment's start, LWLocks behind them, far from the rest; and the free lists' spinlock
 * is a chunk of its own behind the arrays. Since 19 header, lock within it, and semaphores follow the arrays. */
static void lay_out_procs(PgShared *s, int total) {
  bool before = s->config.header_place == HEADER_BEFORE;
  if (before) s->semaphores = add(s, "PGSemaphore", SEMAPHORE_BYTES, total, CHUNK_ALIGN);
  s->lwlocks = add(s, "LWLocks", LWLOCK_BYTES, FIXED_LWLOCKS, CHUNK_ALIGN);
  if (before) lay_out_header_before(s, total);
  lay_out_pgprocs(s, total);
  if (before) {
    s->struct_lock = add(s, "ProcStructLock", 4, 1, CHUNK_ALIGN);
  } else {
    lay_out_header(s, total, CHUNK_ALIGN, 0);
    s->semaphores = add(s, "PGSemaphore", SEMAPHORE_BYTES, total, CHUNK_ALIGN);
  }
  lay_out_proc_array(s);
}

static void lay_out_status(PgShared *s, int slots) {
  const PgConfig *c = &s->config;
  const char *const areas[STATUS_AREAS] = {"PgBackendStatus", "application names", "client host names",
                                           "activity",        "TLS status",        "GSS status"};
  const int widths[STATUS_AREAS] = {c->backend_status_bytes, 64, 64, 1024, c->ssl_status_bytes, c->gss_status_bytes};
  for (int i = 0; i < STATUS_AREAS; i++) {
    s->status_width[i] = (uint32_t)widths[i];
    if (widths[i]) s->status[i] = add(s, areas[i], widths[i], slots, CHUNK_ALIGN);
  }
}

/* SISeg: counters, a ring of 4096 messages of 16 bytes, one entry a backend. Since 17 numProcs and a pointer lie
 * between the ring and the entries, and the dense array of proc numbers behind them. */
static void lay_out_sinval(PgShared *s) {
  const PgConfig *c = &s->config;
  bool dense = c->sinval == SINVAL_SCAN_AT_EXIT;
  int entries = s->pools.max_backends + (dense ? s->pools.auxiliary : 0);
  s->sinval_header = add(s, "sinval header", dense ? 16 : 24, 1, CHUNK_ALIGN);
  add(s, "sinval messages", 16, 4096, 8);
  s->sinval_count = dense ? add(s, "sinval.numProcs", 16, 1, 8) : s->sinval_header;
  s->sinval = add(s, "sinval", c->sinval_entry_bytes, entries, 8);
  if (dense) s->sinval_nos = add(s, "sinval.pgprocnos", 4, entries, 4);
}

static void lay_out_entries(PgShared *s) {
  const PgConfig *c = &s->config;
  int slots = s->pools.max_backends + c->auxiliary_types;
  lay_out_status(s, slots);
  add(s, "Prepared Transaction Table", TWO_PHASE_BYTES + PREPARED_BYTES * c->max_prepared_transactions, 1, CHUNK_ALIGN);
  add(s, "Background Worker Data", WORKERS_HEADER + WORKER_BYTES * c->max_worker_processes, 1, CHUNK_ALIGN);
  lay_out_sinval(s);
  s->pmchild_flags = pg_children_max(c);
  if (c->child_list == CHILD_LIST_POOLED) s->pmchild_flags += s->pools.total - s->pools.backends - s->pools.walsenders;
  add(s, "PMSignalState", c->child_list == CHILD_LIST_POOLED ? 48 : 40, 1, CHUNK_ALIGN);
  s->pmchild = add(s, "PMChildFlags", 4, s->pmchild_flags, 4);
  s->signal_header = add(s, "ProcSignal header", 8, 1, CHUNK_ALIGN);
  s->proc_signal = add(s, "ProcSignal", c->proc_signal_bytes, slots, 8);
}

static void allocate(PgShared *s, Arena *a) {
  size_t n = (size_t)s->pools.total,
         places = (size_t)s->max_procs + 2; /* + 2: a step done twice may write one beyond */
  s->state = arena_alloc(a, sizeof *s->state);
  int32_t **words[] = {&s->offset, &s->next, &s->prev, &s->pid, &s->owner, &s->sinval_at};
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++) *words[i] = arena_alloc(a, n * sizeof(int32_t));
  s->xid = arena_alloc(a, n * sizeof *s->xid);
  s->subxids = arena_alloc(a, n * sizeof *s->subxids);
  uint8_t **bytes[] = {&s->flags, &s->listed, &s->was_out};
  for (size_t i = 0; i < G_N_ELEMENTS(bytes); i++) *bytes[i] = arena_alloc(a, n);
  for (int i = 0; s->arrays && i < s->n_dense; i++) s->dense[i].data = arena_alloc(a, places * s->dense[i].width);
  for (size_t i = 0; s->arrays && s->n_dense && i < places; i++) pgprocnos_of(s)[i] = -1;
}

static bool any_step_deviates(const PgConfig *c) {
  for (int i = 0; i < PGSTEP_COUNT; i++)
    if (c->steps[i] != STEP_AS_IS) return true;
  return false;
}

/* Small models keep everything in the arena, so that it can be saved and restored. */
static void choose_way(PgShared *s, const MemoryConfig *m) {
  const PgConfig *c = &s->config;
  int n = s->pools.total;
  s->deviates = any_step_deviates(c);
  if (s->deviates || c->order == ORDER_UNSORTED || m->tlb_l1 || c->touch == TOUCH_WORDS) {
    s->arrays = true;
    return;
  }
  s->arrays = c->touch == TOUCH_AUTO && n <= ARRAYS_MOST;
  s->ranges = c->touch == TOUCH_RANGES || n > SMALL;
}

/* The code's own structures in place of PGPROC, the dense arrays and what belongs to them. */
static bool lay_out_code(PgShared *s, World *w, const MemoryConfig *m, GError **error) {
  uint64_t bytes;
  if (!s->code->lay_out(s->code->data, w, s->segment, m, &s->config, &s->pools, error)) return false;
  s->code->pgprocs(s->code->data, &s->pgproc, &bytes);
  s->config.pgproc_size = (int)(bytes / (uint64_t)s->pools.total);
  s->arrays = true; /* there to be looked at */
  return true;
}

static PgShared *create(Arena *a, World *w, const PgConfig *c, const MemoryConfig *m, GError **error) {
  if (!pg_config_valid(c, error)) return NULL;
  g_autoptr(PgShared) s = g_new0(PgShared, 1);
  s->config = *c;
  s->code = c->code;
  pg_pools(c, &s->pools);
  MemoryConfig memory = *m;
  memory.lines = m->lines && !s->code;
  s->segment = segment_new(&memory);
  s->page_size = m->page_size;
  s->max_procs =
      s->pools.max_backends + s->pools.prepared; /* PROCARRAY_MAXPROCS: auxiliary processes are never in it */
  if (s->code) {
    if (!lay_out_code(s, w, m, error)) return NULL;
  } else {
    choose_way(s, m);
    lay_out_procs(s, s->pools.total);
  }
  lay_out_entries(s);
  if (s->ranges) s->members = word_set_new(s->segment, s->member_words, s->member_offset, s->member_bytes);
  allocate(s, a);
  slots_lay_out(s, a);
  sinval_lay_out(s, a);
  return g_steal_pointer(&s);
}

PgShared *pg_shared_new(Arena *a, const PgConfig *c, const MemoryConfig *m, GError **error) {
  g_assert(!c->code);
  return create(a, NULL, c, m, error);
}
PgShared *pg_shared_new_in(World *w, const PgConfig *c, const MemoryConfig *m, GError **error) {
  return create(world_arena(w), w, c, m, error);
}

void pg_shared_free(PgShared *s) {
  if (!s) return;
  word_set_free(s->members);
  segment_free(s->segment);
  g_free(s);
}

size_t pg_shared_bytes(const PgConfig *c) {
  PgPools p;
  pg_pools(c, &p);
  return (size_t)p.total * 80 + 8192;
}

Segment *pg_segment(const PgShared *s) {
  return s->segment;
}
const PgPools *pg_shared_pools(const PgShared *s) {
  return &s->pools;
}
bool pg_shared_words(const PgShared *s) {
  return s->arrays;
}
int pg_pmchild_flags(const PgShared *s) {
  return s->pmchild_flags;
}

void pg_pgproc_pages(const PgShared *s, uint64_t *first, uint64_t *count) {
  *first = s->pgproc / s->page_size;
  *count = (pgproc_at(s, s->pools.total) - 1) / s->page_size - *first + 1;
}
