/* layout.h - what the files of this folder that make up shared.h know of each other; not for others. */
#pragma once
#include "model/postgres/code.h"

typedef struct {
  int32_t head, tail, count, lowest_word; /* lowest_word: no free bit below it (TAKE_LOWEST) */
} FreeList;

/* One of the arrays kept in the order of the proc array: xids and its like. */
typedef struct {
  PgField field;
  PgStep move;
  uint64_t base; /* address of entry 0 */
  uint32_t width;
  void *data; /* NULL: not kept */
} DenseArray;

typedef struct {
  int32_t num_procs, handed_out, sinval_last, sinval_lowest_word;
  FreeList list[PG_POOL_COUNT];
} SharedState;

enum { DENSE_PGPROCNOS, DENSE_XIDS, DENSE_SUBXIDS, DENSE_STATUS, DENSE_MAX };
enum { STATUS_AREAS = 6 }; /* PgBackendStatus, application name, client host name, activity, TLS, GSS */

struct PgShared {
  PgConfig config;
  PgPools pools;
  Segment *segment;
  uint64_t page_size;
  const PgCode *code; /* NULL: the structures are modelled here */
  bool arrays, ranges,
      deviates; /* contents are kept; followers are touched as ranges; a step is not as in PostgreSQL */
  int max_procs, pool_first[PG_POOL_COUNT + 1], pmchild_flags;
  /* addresses */
  uint64_t lwlocks, proc_hdr, struct_lock, free_slots, pgproc, array_header, pgxact, semaphores, fast_path,
      sinval_header, sinval_count, sinval, sinval_nos, signal_header, proc_signal, status[STATUS_AREAS],
      pmchild; /* 0: there is none */
  uint32_t status_width[STATUS_AREAS];
  uint64_t offset_base, offset_stride; /* of the word that says a slot's place */
  PgField offset_field;
  StructureId member_words; /* what the set of members is made of */
  uint64_t member_offset, member_bytes;
  DenseArray dense[DENSE_MAX];
  int n_dense;
  WordSet *members; /* with ranges: their offset words, or (before 14) their PGXACTs */
  /* in the arena, by procno unless said otherwise */
  SharedState *state;
  int32_t *offset, *next, *prev, *pid, *owner, *sinval_at; /* sinval_at: entry, or place in sinval's own dense array */
  uint32_t *xid;
  uint16_t *subxids;
  uint8_t *flags, *listed, *was_out; /* flags: statusFlags */
  uint64_t *free_bits, *sinval_used; /* by procno; by entry */
  int32_t *sinval_procnos;           /* by place */
};

static inline int32_t *pgprocnos_of(const PgShared *s) {
  return s->dense[DENSE_PGPROCNOS].data;
}
static inline uint64_t pgproc_at(const PgShared *s, int procno) {
  return s->pgproc + (uint64_t)procno * (uint64_t)s->config.pgproc_size;
}
static inline uint64_t offset_word(const PgShared *s, int procno) {
  return s->offset_base + (uint64_t)procno * s->offset_stride;
}

/* `count` accesses to [address, address+len). */
static inline void pg_read(PgCost *c, PgField f, AddressSpace *as, uint64_t address, uint64_t len, int64_t count) {
  if (len == 0) return;
  memory_touch(as, address, len, MEM_READ, &c->use[f].touch);
  c->use[f].loads += count;
}
static inline void pg_write(PgCost *c, PgField f, AddressSpace *as, uint64_t address, uint64_t len, int64_t count) {
  if (len == 0) return;
  memory_touch(as, address, len, MEM_WRITE, &c->use[f].touch);
  c->use[f].stores += count;
}
static inline uint64_t pg_header_bytes(const PgConfig *c) {
  return (uint64_t)(c->proc_hdr_bytes ? c->proc_hdr_bytes : 128);
}
static inline int pg_times(const PgShared *s, PgStep step) {
  return pg_step_times(&s->config, step);
}

/* The words of an LWLock: looked at, then exchanged. Numbers as in lwlocknames.txt, the same in 14 to 19. */
enum { LWLOCK_XID_GEN = 3, LWLOCK_PROC_ARRAY = 4, LWLOCK_SINVAL_WRITE = 6 };
static inline void pg_lwlock(const PgShared *s, int lock, AddressSpace *as, PgCost *c) {
  uint64_t at = s->lwlocks + (uint64_t)lock * 128;
  pg_read(c, PGF_LWLOCKS, as, at, 16, 1);
  pg_write(c, PGF_LWLOCKS, as, at, 16, 1);
}

void slots_lay_out(PgShared *s, Arena *a);
void sinval_lay_out(PgShared *s, Arena *a);
int bits_lowest_from(const uint64_t *bits, int word,
                     int end); /* index of the first bit set at or after word*64; end: none below */
