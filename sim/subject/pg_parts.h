/* pg_parts.h - what the three files of pg_subject share. */
#pragma once
#include "sim/subject/pg_subject.h"
#include "sim/subject/subject.h"

typedef struct {
  ImageField f;
  bool there;
} PgPlace;

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
  PgPlace pid, xid, subxids, status, offset, link, leader;             /* of PGPROC */
  PgPlace free[PG_POOL_COUNT], h_xids, h_subxids, h_status, h_offsets; /* of PROC_HDR */
  PgPlace num, nos;                                                    /* of ProcArrayStruct */
  bool dlist;
  guint8 *listed;  /* by procno, */
  uint64_t looked; /* valid while the code has run so often */
  int64_t (*told)(void *server, ProcId p, PgLockEvent e);
  void *server;
};

/* ---- pg_subject.c ---- */
int64_t pg_code_on_lock(void *data, ProcId process, const char *lock, SubjectLockEvent e);

/* ---- pg_layout.c: PgCode's lay_out, and where things are then ---- */
bool pg_lay_out(void *data, World *w, Segment *segment, const MemoryConfig *m, const PgConfig *c, PgPools *pools,
                GError **error);
void pg_code_pgprocs(const void *data, uint64_t *address, uint64_t *bytes);

/* ---- pg_state.c: PgCode's looks at the state ---- */
int pg_code_members(const void *data);
PgEntry pg_code_entry(const void *data, int i);
void pg_code_slot(const void *data, int procno, PgSlot *out);
int pg_code_free_first(const void *data, PgPool pool);
int pg_code_free_next(const void *data, int procno);
bool pg_code_at_end(const void *data, int procno);
bool pg_code_has_offsets(const void *data);
