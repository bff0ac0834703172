/* oracle.h - a second implementation of what connects and exits do to slots, proc array and pages, for counts that must
 * agree exactly. It knows PostgreSQL (proc.c, procarray.c and ipci.c of 14 to 19: sizes, order of structures, order of
 * accesses) and nothing of the product: lists are arrays searched from the start, a process's pages are bytes, every
 * access is an address. It is told who did what (the steps of a trace) and says what must have come of it. */
#pragma once
#include "traces/trace.h"
#include <stdlib.h>
#include <string.h>

typedef enum { ARRAY_DENSE, ARRAY_SPLIT, ARRAY_PRE_14, ARRAY_UNSORTED } OracleArray;
typedef struct {
  int version, conns, clients, between;
  uint64_t phase, page, around; /* bytes; the array's address modulo 64 KiB */
  bool background, lowest, loads;
  OracleArray array;
} OracleGiven;

typedef struct {
  int64_t connect_faults, allprocs_faults, disconnect_faults, stores, moved, moved_out;
} OracleTally;

/* Sizes by version (facts, section 3; measured there). */
typedef struct {
  int pgproc, align, off, links, hdr, array_hdr, sinval, signal, status, fast_path, aux, avac, types, gss;
} OracleSizes;
static const OracleSizes oracle_sizes[] = {
    [14] = {880, 8, 68, 0, 120, 40, 32, 80, 432, 0, 5, 4, 8, 66},
    [15] = {880, 8, 68, 0, 104, 40, 32, 80, 432, 0, 5, 4, 6, 66},
    [16] = {880, 8, 68, 0, 136, 40, 32, 88, 432, 0, 5, 4, 6, 67},
    [17] = {888, 8, 64, 0, 136, 36, 16, 88, 432, 0, 6, 4, 6, 67},
    [18] = {832, 8, 64, 0, 128, 36, 16, 128, 440, 288, 38, 18, 38, 67},
    [19] = {896, 128, 44, 8, 128, 36, 16, 112, 440, 576, 38, 18, 38, 67},
};

typedef struct {
  int procno, flag, iteration; /* iteration 0: between two, or not a client's */
  bool client;
  char *mapped; /* by page of the segment */
} OracleProcess;

typedef struct {
  OracleGiven given;
  OracleSizes z;
  int total, max_backends, max_procs;
  uint64_t sem, lwlocks, hdr, lock, bitmap, pgproc, pgxact, dense[4], offsets, fast_path, array, status[6], sinval_hdr,
      sinval_count, sinval, sinval_nos, flags, signal_hdr, signal, end;
  int n_free, free_slot[4096], n_members, member[4096], sinval_user[4096], n_sinval, started, next_flag, n_flags;
  OracleProcess process[4096];
  OracleTally tally[64];
  int64_t faults, pgproc_faults; /* of the step being followed */
} Oracle;

/* ---- layout: in the order of CreateSharedMemoryAndSemaphores, each structure at 128 bytes ---- */
static const int oracle_width[] = {4, 4, 2, 1};

static uint64_t oracle_place(Oracle *o, uint64_t align, uint64_t bytes) {
  uint64_t at = (o->end + align - 1) / align * align;
  o->end = at + bytes;
  return at;
}
/* The first PGPROC is to be at the given phase; what comes `before` it ends right there, or up to 127 bytes earlier. */
static void oracle_skip_to_phase(Oracle *o, uint64_t before) {
  const uint64_t chunk = 65536;
  uint64_t first = o->end - o->end % chunk + o->given.phase;
  while (first < o->end + before) first += chunk;
  o->end = first - before;
}
static uint64_t oracle_header(Oracle *o) {
  const uint64_t bytes = (uint64_t)o->z.hdr, bits = ((uint64_t)o->total + 63) / 64 * 8;
  return o->given.lowest ? (bytes + 7) / 8 * 8 + bits : bytes;
}
/* A structure of two parts that is one chunk: a fixed part, then an array. */
static uint64_t oracle_behind(Oracle *o, uint64_t bytes) {
  const uint64_t at = o->end;
  o->end += bytes;
  return at;
}
static void oracle_place_procs(Oracle *o) {
  const uint64_t n = (uint64_t)o->total;
  const bool one = o->given.version >= 18; /* 46df9487d9: back to back */
  oracle_skip_to_phase(o, 0);
  o->pgproc = oracle_behind(o, n * (uint64_t)o->z.pgproc);
  if (o->given.array == ARRAY_PRE_14) {
    o->pgxact = oracle_place(o, one ? 4 : 128, n * 12);
    return;
  }
  for (int i = 1; i < 4; i++) {
    if (i == 3 && o->given.array == ARRAY_SPLIT) o->offsets = oracle_place(o, one ? 4 : 128, n * 4);
    o->dense[i] = oracle_place(o, one ? 1 : 128, n * (uint64_t)oracle_width[i]);
  }
}
/* 14 to 18: "Proc Header", PGPROCs and arrays, (18) fast path, the spinlock. 19: header and semaphores behind them. */
static void oracle_lay_out_procs(Oracle *o) {
  const uint64_t n = (uint64_t)o->total;
  const bool first = o->given.version <= 18;
  if (!first) o->lwlocks = oracle_place(o, 128, 208 * 128);
  if (first) {
    o->sem = oracle_place(o, 128, n * 128);
    o->lwlocks = oracle_place(o, 128, 208 * 128);
    oracle_skip_to_phase(o, (oracle_header(o) + 127) / 128 * 128);
    o->hdr = oracle_behind(o, oracle_header(o));
  }
  oracle_place_procs(o);
  if (o->z.fast_path) o->fast_path = oracle_place(o, 128, n * (uint64_t)o->z.fast_path);
  if (first) {
    o->lock = oracle_place(o, 128, 4);
  } else {
    o->lock = o->hdr = oracle_place(o, 128, oracle_header(o));
    o->sem = oracle_place(o, 128, n * 128);
  }
  if (o->given.lowest) o->bitmap = o->hdr + ((uint64_t)o->z.hdr + 7) / 8 * 8;
}
/* sinvaladt.c: counters, 4096 messages, and (17) numProcs and a pointer before the entries. */
static void oracle_lay_out_sinval(Oracle *o) {
  const bool dense = o->given.version >= 17;
  const uint64_t entries = (uint64_t)(dense ? o->max_backends + o->z.aux : o->max_backends);
  o->sinval_count = o->sinval_hdr = oracle_place(o, 128, dense ? 16 : 24);
  oracle_behind(o, 4096 * 16);
  if (dense) o->sinval_count = oracle_behind(o, 16);
  o->sinval = oracle_behind(o, entries * (uint64_t)o->z.sinval);
  if (dense) o->sinval_nos = oracle_behind(o, entries * 4);
}
static void oracle_lay_out(Oracle *o) {
  const uint64_t slots = (uint64_t)(o->max_backends + o->z.types), members = (uint64_t)o->max_procs;
  const int area[] = {o->z.status, 64, 64, 1024, 324, o->z.gss};
  oracle_lay_out_procs(o);
  o->array = oracle_place(o, 128, (uint64_t)o->z.array_hdr + members * 4);
  o->dense[0] = o->array + (uint64_t)o->z.array_hdr;
  oracle_place(o, 128, members * 65 * 4); /* KnownAssignedXids */
  oracle_place(o, 128, members * 65);
  for (int i = 0; i < 6; i++) o->status[i] = oracle_place(o, 128, slots * (uint64_t)area[i]);
  oracle_place(o, 128, 16);           /* no prepared transactions */
  oracle_place(o, 128, 16 + 8 * 560); /* max_worker_processes */
  oracle_lay_out_sinval(o);
  o->n_flags = o->given.version >= 18 ? 2 * (o->given.conns + 10) + o->z.avac + 8 + 38 : 2 * o->max_backends;
  const uint64_t signals = o->given.version >= 18 ? 48 : 40;
  o->flags = oracle_place(o, 128, signals + (uint64_t)o->n_flags * 4) + signals;
  o->signal_hdr = oracle_place(o, 128, 8);
  o->signal = oracle_behind(o, slots * (uint64_t)o->z.signal);
}

/* ---- life ---- */
/* The postmaster gives child slots downwards from the last one, in turn (to 17: AssignPostmasterChildSlot), or the one
 * given back last (18: pmchild.c), which only the order of reaping tells: then all that can be in use lie in one page,
 * or the totals are not looked at (oracle_blind). */
static int oracle_child_flag(Oracle *o) {
  if (o->given.version >= 18) return 0;
  if (--o->next_flag < 0) o->next_flag = o->n_flags - 1;
  return o->next_flag;
}
static bool oracle_blind(const Oracle *o) {
  const uint64_t most = (uint64_t)(o->given.clients + o->given.between) * 4;
  const bool one_page = o->flags / o->given.page == (o->flags + most) / o->given.page;
  return o->given.version >= 18 ? !one_page : o->started > o->n_flags - 8;
}

static void oracle_join(Oracle *o, int procno) {
  int i = o->n_members++;
  for (; i > 0 && o->member[i - 1] > procno; i--) o->member[i] = o->member[i - 1];
  o->member[i] = procno;
}
static Oracle *oracle_new(const OracleGiven *g) {
  Oracle *o = g_new0(Oracle, 1);
  o->given = *g;
  o->z = oracle_sizes[g->version];
  o->max_backends = o->max_procs = g->conns + o->z.avac + 8 + 10;
  o->total = o->max_backends + o->z.aux;
  g_assert(o->total < 4096);
  oracle_lay_out(o);
  const bool down = g->version <= 16; /* pushed at the head one by one */
  for (int i = 0; i < g->conns; i++) o->free_slot[o->n_free++] = down ? g->conns - 1 - i : i;
  for (int i = 0; i < 4096; i++) o->sinval_user[i] = -1;
  if (!g->background) return o;
  const int launcher = g->conns, logical = g->conns + o->z.avac; /* first of their pools, or last where pushed */
  for (int i = 0; i < 2; i++) {
    const int p = i ? (down && !g->lowest ? logical + 8 - 1 : logical) : (down && !g->lowest ? logical - 1 : launcher);
    oracle_join(o, p);
    oracle_child_flag(o);
    o->sinval_user[o->n_sinval++] = p;
  }
  return o;
}
static void oracle_free(Oracle *o) {
  for (int i = 0; i < 4096; i++) g_free(o->process[i].mapped);
  g_free(o);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Oracle, oracle_free)

/* ---- pages ---- */
static void oracle_fault(Oracle *o, char *mapped, uint64_t page, bool load) {
  const uint64_t pages = (o->end + o->given.page - 1) / o->given.page,
                 window = load ? o->given.around / o->given.page : 0;
  if (mapped[page]) return;
  o->faults++;
  mapped[page] = 1;
  for (uint64_t p = window ? page / window * window : page; window && p < page / window * window + window; p++)
    if (p < pages) mapped[p] = 1;
}
static void oracle_touch(Oracle *o, OracleProcess *p, uint64_t at, uint64_t len, bool load) {
  g_assert(at + len <= o->end);
  for (uint64_t b = at; b < at + len; b++)
    if (b == at || b % o->given.page == 0) oracle_fault(o, p->mapped, b / o->given.page, load);
}
static void oracle_load(Oracle *o, OracleProcess *p, uint64_t at, uint64_t len) {
  if (len) oracle_touch(o, p, at, len, true);
}
static void oracle_store(Oracle *o, OracleProcess *p, uint64_t at, uint64_t len) {
  if (len) oracle_touch(o, p, at, len, false);
}
static uint64_t oracle_slot(const Oracle *o, int procno) {
  return o->pgproc + (uint64_t)procno * (uint64_t)o->z.pgproc;
}
static void oracle_slot_touch(Oracle *o, OracleProcess *p, int procno, int at, int len, bool load) {
  int64_t before = o->faults;
  oracle_touch(o, p, oracle_slot(o, procno) + (uint64_t)at, (uint64_t)len, load);
  o->pgproc_faults += o->faults - before;
}
/* The word that says a slot's place. */
static void oracle_place_word(Oracle *o, OracleProcess *p, int procno, bool load) {
  if (o->given.array == ARRAY_PRE_14) return;
  if (o->given.array == ARRAY_SPLIT)
    oracle_touch(o, p, o->offsets + (uint64_t)procno * 4, 4, load);
  else
    oracle_slot_touch(o, p, procno, o->z.off, 4, load);
}

/* LWLockAcquire of a lock by its number: XidGenLock 3, ProcArrayLock 4, SInvalWriteLock 6. */
static void oracle_lwlock(Oracle *o, OracleProcess *p, int lock) {
  oracle_load(o, p, o->lwlocks + (uint64_t)(lock * 128), 16);
  oracle_store(o, p, o->lwlocks + (uint64_t)(lock * 128), 16);
}

/* ---- InitProcess, ProcKill ---- */
/* To 18 the lock group's pointer and lists are a PGPROC's last members (8 + 16 + 16 bytes), and InitProcess only
 * asserts what they are. */
static int oracle_filled(const Oracle *o) {
  return o->given.version <= 18 ? o->z.pgproc - 40 : o->z.pgproc;
}
static void oracle_bit(Oracle *o, OracleProcess *p, int procno) {
  oracle_load(o, p, o->bitmap + (uint64_t)procno / 64 * 8, 8);
  oracle_store(o, p, o->bitmap + (uint64_t)procno / 64 * 8, 8);
}
static int oracle_take(Oracle *o, OracleProcess *p) {
  int i = 0;
  for (int j = 0; o->given.lowest && j < o->n_free; j++)
    if (o->free_slot[j] < o->free_slot[i]) i = j;
  const int procno = o->free_slot[i];
  o->n_free--;
  for (int j = i; j < o->n_free; j++) o->free_slot[j] = o->free_slot[j + 1];
  oracle_store(o, p, o->lock, 4);
  oracle_load(o, p, o->hdr, (uint64_t)o->z.hdr);
  if (o->given.lowest) {
    oracle_bit(o, p, procno);
  } else {
    oracle_slot_touch(o, p, procno, o->z.links, 16, true);
    if (o->given.version >= 16 && o->n_free) oracle_slot_touch(o, p, o->free_slot[0], o->z.links, 8, false); /* prev */
  }
  oracle_store(o, p, o->hdr, (uint64_t)o->z.hdr);
  oracle_slot_touch(o, p, procno, 0, oracle_filled(o), false);
  oracle_load(o, p, o->sem + (uint64_t)procno * 128, 128);
  oracle_store(o, p, o->sem + (uint64_t)procno * 128, 128);
  if (o->fast_path) /* per slot the bits of all groups, then their relations */
    oracle_store(o, p, o->fast_path + (uint64_t)procno * (uint64_t)o->z.fast_path, (uint64_t)o->z.fast_path / 9);
  return procno;
}
static void oracle_give(Oracle *o, OracleProcess *p) {
  if (o->given.version <= 18) oracle_slot_touch(o, p, p->procno, oracle_filled(o), 8, true); /* lockGroupLeader */
  oracle_slot_touch(o, p, p->procno, 0, oracle_filled(o), false);
  oracle_store(o, p, o->lock, 4);
  oracle_load(o, p, o->hdr, (uint64_t)o->z.hdr);
  if (o->given.lowest) {
    oracle_bit(o, p, p->procno);
  } else {
    const bool fifo = o->given.version >= 16;
    oracle_slot_touch(o, p, p->procno, o->z.links, 16, false);
    if (fifo && o->n_free) oracle_slot_touch(o, p, o->free_slot[o->n_free - 1], o->z.links + 8, 8, false); /* next */
  }
  oracle_store(o, p, o->hdr, (uint64_t)o->z.hdr);
  const bool head = o->given.version <= 15;
  for (int j = o->n_free; head && j > 0; j--) o->free_slot[j] = o->free_slot[j - 1];
  o->free_slot[head ? 0 : o->n_free] = p->procno;
  o->n_free++;
}

/* ---- ProcArrayAdd, ProcArrayRemove ---- */
typedef struct {
  int rank, followers, moved;
} OracleMove;

/* Entry `to` of each array is written. */
static void oracle_put(Oracle *o, OracleProcess *p, int to) {
  const int arrays = o->given.array == ARRAY_PRE_14 ? 1 : 4;
  for (int a = 0; a < arrays; a++)
    oracle_store(o, p, o->dense[a] + (uint64_t)(to * oracle_width[a]), (uint64_t)oracle_width[a]);
}
/* memmove of n entries, the first of them number `from`, by one place: a vector's worth is loaded before it is stored.
 */
static void oracle_move(Oracle *o, OracleProcess *p, int from, int n, int by) {
  const int arrays = o->given.array == ARRAY_PRE_14 ? 1 : 4;
  for (int a = 0; n > 0 && a < arrays; a++) {
    const int w = oracle_width[a];
    for (int i = 0; i < n; i++) oracle_load(o, p, o->dense[a] + (uint64_t)((from + i) * w), (uint64_t)w);
    for (int i = 0; i < n; i++) oracle_store(o, p, o->dense[a] + (uint64_t)((from + by + i) * w), (uint64_t)w);
  }
}
static void oracle_followers(Oracle *o, OracleProcess *p, int from) {
  for (int i = from; i < o->n_members; i++) {
    if (o->given.loads) oracle_place_word(o, p, o->member[i], true);
    oracle_place_word(o, p, o->member[i], false);
  }
}
static OracleMove oracle_add(Oracle *o, OracleProcess *p) {
  const int n = o->n_members;
  int i = 0;
  oracle_lwlock(o, p, 4);
  oracle_lwlock(o, p, 3);
  oracle_load(o, p, o->array, (uint64_t)o->z.array_hdr);
  while (i < n && (o->given.array == ARRAY_UNSORTED || o->member[i] < p->procno)) i++;
  if (o->given.array != ARRAY_UNSORTED) oracle_load(o, p, o->dense[0], (uint64_t)((i < n ? i + 1 : n) * 4));
  if (o->given.array != ARRAY_UNSORTED) oracle_move(o, p, i, n - i, 1);
  oracle_put(o, p, i);
  if (o->given.array == ARRAY_PRE_14) oracle_store(o, p, o->pgxact + (uint64_t)p->procno * 12, 12);
  oracle_place_word(o, p, p->procno, false);
  oracle_store(o, p, o->array, (uint64_t)o->z.array_hdr);
  for (int j = n; j > i; j--) o->member[j] = o->member[j - 1];
  o->member[i] = p->procno;
  o->n_members++;
  oracle_followers(o, p, i + 1);
  return (OracleMove){i, o->given.array == ARRAY_PRE_14 ? 0 : n - i, n - i};
}
static void oracle_close_gap(Oracle *o, OracleProcess *p, int i) {
  const int n = o->n_members - 1;
  if (o->given.array == ARRAY_UNSORTED && i < n) {
    oracle_move(o, p, n, 1, i - n);
    o->member[i] = o->member[n];
  } else if (o->given.array != ARRAY_UNSORTED) {
    oracle_move(o, p, i + 1, n - i, -1);
    for (int j = i; j < n; j++) o->member[j] = o->member[j + 1];
  }
  o->n_members = n;
}
static OracleMove oracle_remove(Oracle *o, OracleProcess *p) {
  const int n = o->n_members - 1;
  int i = 0;
  while (o->member[i] != p->procno) i++;
  oracle_lwlock(o, p, 4);
  oracle_lwlock(o, p, 3);
  oracle_load(o, p, o->array, (uint64_t)o->z.array_hdr);
  oracle_place_word(o, p, p->procno, true);
  if (o->given.array == ARRAY_PRE_14)
    oracle_load(o, p, o->dense[0], (uint64_t)(i + 1) * 4);
  else
    oracle_store(o, p, o->dense[3] + (uint64_t)i, 1);
  oracle_close_gap(o, p, i);
  oracle_store(o, p, o->dense[0] + (uint64_t)n * 4, 4);
  oracle_store(o, p, o->array, (uint64_t)o->z.array_hdr);
  const bool one = o->given.array == ARRAY_UNSORTED;
  if (!one) oracle_followers(o, p, i);
  if (one && i < n) oracle_place_word(o, p, o->member[i], false);
  const int moved = one ? i < n : n - i;
  return (OracleMove){i, o->given.array == ARRAY_PRE_14 ? 0 : moved, moved};
}
