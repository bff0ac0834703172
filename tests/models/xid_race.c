/* xid_race.c - the race that 74fc83869e (2017) mended, as a model of one's own; model/world/TUTORIAL.md goes through
 * it.
 *
 * GetNewTransactionId advances the next xid, then stores the old value in the proc array, both under XidGenLock.
 * GetOldestActiveTransactionId reads the next xid as its limit, then scans the proc array for a lower one. Without the
 * lock over both, a transaction between its two steps is missed. FIXED: with the lock. */
#include "model/world/explore.h"
#include "model/world/plugin.h"

typedef struct {
  ObjectId xid_gen_lock;
  uint32_t next_xid, proc_array_xid; /* proc_array_xid 0: no transaction */
  uint32_t oldest;                   /* what GetOldestActiveTransactionId returned; 0: not yet */
} Shared;

static Shared *shared(const World *w, ProcId p) {
  return world_data(w, p);
}

/* ---- a backend that takes a transaction id ---- */

typedef struct {
  MachineHead head;
  uint32_t xid;
} Backend;

static Step backend_locks(World *w, ProcId self, void *locals) {
  (void)locals;
  return lock_acquire(w, shared(w, self)->xid_gen_lock, self, LOCK_EXCLUSIVE);
}

static Step backend_advances(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  b->xid = shared(w, self)->next_xid++;
  return step_ran();
}

static Step backend_stores(World *w, ProcId self, void *locals) {
  Backend *b = locals;
  shared(w, self)->proc_array_xid = b->xid;
  return step_ran();
}

static Step backend_unlocks(World *w, ProcId self, void *locals) {
  (void)locals;
  lock_release(w, shared(w, self)->xid_gen_lock, self);
  return step_done();
}

static const Stage backend_stages[] = {{"lock XidGenLock", backend_locks},
                                       {"advance the next xid", backend_advances},
                                       {"store the xid in the proc array", backend_stores},
                                       {"unlock XidGenLock", backend_unlocks}};

static Step backend_resume(World *w, ProcId self, void *locals) {
  return machine_resume(w, self, locals, backend_stages);
}
static const char *backend_at(const World *w, const void *locals) {
  (void)w;
  return machine_at(locals, backend_stages);
}
/* What each stage touches, for partial-order reduction; what it may touch in future is that of this stage and of all
 * that follow. */
static void backend_footprint(const World *w, ProcId self, const void *locals, Footprint *f) {
  Shared *s = shared(w, self);
  switch (((const Backend *)locals)->head.pc) {
  case 0: return footprint_object(f, w, s->xid_gen_lock, TOUCH_WRITE);
  case 1: return footprint_writes(f, &s->next_xid, sizeof s->next_xid);
  case 2: return footprint_writes(f, &s->proc_array_xid, sizeof s->proc_array_xid);
  default: footprint_object(f, w, s->xid_gen_lock, TOUCH_WRITE); footprint_ends(f, w);
  }
}
static void backend_future(const World *w, ProcId self, const void *locals, Footprint *f) {
  Shared *s = shared(w, self);
  uint16_t pc = ((const Backend *)locals)->head.pc;
  footprint_object(f, w, s->xid_gen_lock, TOUCH_WRITE);
  footprint_ends(f, w);
  if (pc <= 1) footprint_writes(f, &s->next_xid, sizeof s->next_xid);
  if (pc <= 2) footprint_writes(f, &s->proc_array_xid, sizeof s->proc_array_xid);
}
static void backend_names(const World *w, void (*each)(const char *name, void *data), void *data) {
  (void)w;
  machine_stages(backend_stages, G_N_ELEMENTS(backend_stages), each, data);
}
static const TypeGuide backend_guide = {
    .footprint = backend_footprint, .future = backend_future, .stages = backend_names};

static const ProcessType backend_type = {"backend", sizeof(Backend), backend_resume, backend_at};

/* ---- the checkpointer, which wants the oldest active one ---- */

typedef struct {
  MachineHead head;
  uint32_t limit;
} Checkpointer;

#ifdef FIXED
static Step checkpointer_locks(World *w, ProcId self, void *locals) {
  (void)locals;
  return lock_acquire(w, shared(w, self)->xid_gen_lock, self, LOCK_SHARED);
}
#endif

static Step checkpointer_reads(World *w, ProcId self, void *locals) {
  Checkpointer *c = locals;
  c->limit = shared(w, self)->next_xid;
  return step_ran();
}

static Step checkpointer_scans(World *w, ProcId self, void *locals) {
  Checkpointer *c = locals;
  Shared *s = shared(w, self);
  s->oldest = s->proc_array_xid && s->proc_array_xid < c->limit ? s->proc_array_xid : c->limit;
#ifdef FIXED
  lock_release(w, s->xid_gen_lock, self);
#endif
  return step_done();
}

static const Stage checkpointer_stages[] = {
#ifdef FIXED
    {"lock XidGenLock", checkpointer_locks},
#endif
    {"read the next xid", checkpointer_reads},
    {"scan the proc array", checkpointer_scans}};

static Step checkpointer_resume(World *w, ProcId self, void *locals) {
  return machine_resume(w, self, locals, checkpointer_stages);
}
static const char *checkpointer_at(const World *w, const void *locals) {
  (void)w;
  return machine_at(locals, checkpointer_stages);
}
static void checkpointer_future(const World *w, ProcId self, const void *locals, Footprint *f) {
  Shared *s = shared(w, self);
  (void)locals;
  footprint_object(f, w, s->xid_gen_lock, TOUCH_WRITE);
  footprint_reads(f, &s->next_xid, sizeof s->next_xid);
  footprint_reads(f, &s->proc_array_xid, sizeof s->proc_array_xid);
  footprint_writes(f, &s->oldest, sizeof s->oldest);
  footprint_ends(f, w);
}
/* It has few steps: each is taken for all of them. */
static void checkpointer_names(const World *w, void (*each)(const char *name, void *data), void *data) {
  (void)w;
  machine_stages(checkpointer_stages, G_N_ELEMENTS(checkpointer_stages), each, data);
}
static const TypeGuide checkpointer_guide = {
    .footprint = checkpointer_future, .future = checkpointer_future, .stages = checkpointer_names};

static const ProcessType checkpointer_type = {"checkpointer", sizeof(Checkpointer), checkpointer_resume,
                                              checkpointer_at};

/* ---- the model ---- */

static void *build(World *w) {
  Shared *s = arena_alloc(world_arena(w), sizeof *s);
  TypeId backend = world_type(w, &backend_type), checkpointer = world_type(w, &checkpointer_type);
  s->xid_gen_lock = lock_new(w, "XidGenLock");
  s->next_xid = 100;
  world_set_data(w, backend, s);
  world_set_data(w, checkpointer, s);
  world_guide(w, backend, &backend_guide);
  world_guide(w, checkpointer, &checkpointer_guide);
  world_spawn(w, backend, 0);
  world_spawn(w, checkpointer, 0);
  return s;
}

static bool missed_one(const World *w, const void *model, GString *why) {
  const Shared *s = model;
  (void)w;
  if (!s->oldest || !s->proc_array_xid || s->proc_array_xid >= s->oldest) return false;
  g_string_printf(why, "the oldest active xid is said to be %u, but %u is in the proc array", s->oldest,
                  s->proc_array_xid);
  return true;
}
static const PluginCheck checks[] = {
    {"oldest-is-oldest", "no transaction is older than what GetOldestActiveTransactionId returned", missed_one}};

static void reads_xids(const World *w, const void *model, guint i, Footprint *f) {
  const Shared *s = model;
  (void)w;
  (void)i;
  footprint_reads(f, &s->oldest, sizeof s->oldest);
  footprint_reads(f, &s->proc_array_xid, sizeof s->proc_array_xid);
}

static void describe(const World *w, const void *model, void (*each)(const char *name, const char *value, void *data),
                     void *data) {
  const Shared *s = model;
  g_autofree char *next = g_strdup_printf("%u", s->next_xid), *stored = g_strdup_printf("%u", s->proc_array_xid);
  g_autofree char *oldest = g_strdup_printf("%u", s->oldest);
  (void)w;
  each("next xid", next, data);
  each("proc array", stored, data);
  each("oldest active", oldest, data);
}

const ModelPlugin stampede_model = {.version = MODEL_PLUGIN_VERSION,
                                    .name = "xid-race",
                                    .about = "GetNewTransactionId against GetOldestActiveTransactionId",
                                    .build = build,
                                    .describe = describe,
                                    .checks = checks,
                                    .n_checks = G_N_ELEMENTS(checks),
                                    .reads = reads_xids};
