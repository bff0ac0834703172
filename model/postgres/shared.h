/* shared.h - PostgreSQL's shared structures that a connect touches, as state and as memory: PGPROC slots and their free
 * lists, the proc array, and each backend's entries elsewhere. No processes, no time: who does what under which lock is
 * server.h's business. Contents live in the arena; every access is a touch of the acting process's address space and is
 * told in a PgCost. The order of accesses is written down in README.md.
 *
 * Ways that count the same: WORDS keeps the dense arrays and touches each follower's word; RANGES keeps only who is a
 * member, counts ranges (for hundreds of thousands of slots), and leaves nothing to look at. TOUCH_AUTO: words up to
 * 1024 slots; up to 32768 the arrays are kept and touched as ranges; ranges above. Always words with a TLB, with an
 * unsorted array and where a step deviates. The set behind ranges is not in the arena: no snapshots of such a model. */
#pragma once
#include "model/memory/memory.h"
#include "model/postgres/config.h"
#include "model/world/world.h"

/* What is touched; pg_field_name gives the ledger's name. */
typedef enum {
  PGF_LWLOCKS,
  PGF_PROC_HDR,
  PGF_STRUCT_LOCK,
  PGF_FREE_SLOTS,
  PGF_PGPROC,
  PGF_LINKS,
  PGF_PGXACTOFF,
  PGF_PGXACTOFFS,
  PGF_PROCARRAY,
  PGF_PGPROCNOS,
  PGF_XIDS,
  PGF_SUBXIDS,
  PGF_STATUS,
  PGF_PGXACT,
  PGF_SEMAPHORE,
  PGF_FAST_PATH,
  PGF_SINVAL,
  PGF_PROC_SIGNAL,
  PGF_BACKEND_STATUS,
  PGF_PMCHILD_FLAGS,
  PGF_COUNT
} PgField;
const char *pg_field_name(PgField f);
static inline bool pg_field_in_pgproc(PgField f) {
  return f >= PGF_PGPROC && f <= PGF_PGXACTOFF;
}

typedef struct {
  Touch touch;
  int64_t loads, stores, scanned, moved_bytes; /* accesses; of them entries looked at one by one; bytes of memmove */
} PgUse;
/* What one operation did; operations add to it. */
typedef struct {
  PgUse use[PGF_COUNT];
  int64_t searched, followers, moved,
      bytes_moved; /* entries searched; offsets stored in followers; entries, bytes moved */
} PgCost;

typedef enum {
  PG_BACKENDS,
  PG_AUTOVACUUM,
  PG_BGWORKERS,
  PG_WALSENDERS,
  PG_AUXILIARY,
  PG_PREPARED,
  PG_POOL_COUNT
} PgPool;
enum { PG_BACKGROUND = INT32_MAX }; /* owner of the slots of processes that are simply there */

typedef struct PgShared PgShared;
/* NULL and *error: see pg_config_valid. The arena must have pg_shared_bytes left and outlive it. */
PgShared *pg_shared_new(Arena *a, const PgConfig *c, const MemoryConfig *m, GError **error);
/* With c->code, whose locks become objects of this world. */
PgShared *pg_shared_new_in(World *w, const PgConfig *c, const MemoryConfig *m, GError **error);
void pg_shared_free(PgShared *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PgShared, pg_shared_free)
size_t pg_shared_bytes(const PgConfig *c); /* of arena, at most */
Segment *pg_segment(const PgShared *s);    /* for address spaces, which go before the PgShared */
const PgPools *pg_shared_pools(const PgShared *s);
bool pg_shared_words(const PgShared *s); /* the dense arrays are there to be looked at */
void pg_pgproc_pages(const PgShared *s, uint64_t *first,
                     uint64_t *count); /* pages of the segment under the PGPROC array */

/* ---- operations; `as` is the acting process's, c may not be NULL ---- */
int slot_take(PgShared *s, PgPool pool, int owner, AddressSpace *as,
              PgCost *c); /* procno; -1: sorry, too many clients */
void slot_initialize(PgShared *s, int procno, int pid, AddressSpace *as, PgCost *c);
void slot_give(PgShared *s, int procno, bool led_a_group, AddressSpace *as, PgCost *c);
bool slots_have_free(PgShared *s, int n, AddressSpace *as, PgCost *c); /* HaveNFreeProcs, of the clients' pool */
/* What its dense entries will say; before procarray_add, nothing is touched. */
void slot_advertise(PgShared *s, int procno, uint32_t xid, uint16_t subxids, uint8_t status);
int procarray_add(PgShared *s, int procno, AddressSpace *as, PgCost *c); /* its place; -1: the array is full */
void procarray_remove(PgShared *s, int procno, AddressSpace *as, PgCost *c);
void procarray_scan(PgShared *s, AddressSpace *as, PgCost *c); /* one snapshot: xids of all members */
void sinval_add(PgShared *s, int procno, AddressSpace *as, PgCost *c);
void sinval_remove(PgShared *s, int procno, AddressSpace *as, PgCost *c);
void proc_signal_write(PgShared *s, int procno, AddressSpace *as, PgCost *c);
void backend_status_write(PgShared *s, int procno, bool clear, AddressSpace *as, PgCost *c);
void pmchild_flag_write(PgShared *s, int child_slot, AddressSpace *as, PgCost *c);
int pg_pmchild_flags(const PgShared *s); /* how many there are */

/* ---- for checks, pictures and whoever lists backends ---- */
typedef struct {
  PgPool pool;
  bool listed;            /* it was put on its pool's free list and not taken since */
  bool kept;              /* it leads a lock group: a leader's slot stays until the last member has left */
  int owner, pid, offset; /* 0: none; the offset is what pgxactoff says, of use for members only */
  uint32_t xid;
  uint16_t subxids;
  uint8_t status;
} PgSlot;
typedef struct {
  int procno;
  uint32_t xid;
  uint16_t subxids;
  uint8_t status;
} PgEntry; /* of the dense arrays */
PgSlot pg_slot(const PgShared *s, int procno);
int pg_members(const PgShared *s); /* numProcs */
PgEntry pg_entry(const PgShared *s, int i);
bool pg_has_mirrors(const PgShared *s); /* xids, subxidStates, statusFlags by place (false: before 14) */
bool pg_has_offsets(const PgShared *s);
bool pg_array_is_sorted(const PgShared *s);        /* by policy, not as it is found */
int pg_free_first(const PgShared *s, PgPool pool); /* -1: none. Walks of a broken list may not end: count them */
int pg_free_next(const PgShared *s, int procno);
int pg_free_count(const PgShared *s, PgPool pool);
int pg_handed_out(const PgShared *s); /* distinct slots of the clients' pool handed out so far */
/* With real code: it has given this slot to `owner` (0: taken it back). */
void slot_passed(PgShared *s, int procno, int owner);
