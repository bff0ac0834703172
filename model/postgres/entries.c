/* entries.c - a backend's entries in the other per-backend structures: sinval, ProcSignal, PgBackendStatus,
 * PMChildFlags.
 *
 * To 16 sinval gives out the lowest free entry, found by a scan, and that number, the backend id, also picks the
 * ProcSignal and status slots. Since 17 all go by proc number; sinval keeps a dense array of them that a connect
 * appends to and an exit scans from the end.
 *
 * A server whose steps deviate may give one slot to several backends, and more backends than there are entries: then
 * one goes without an entry, and an entry may be given back before its time. */
#include "model/postgres/layout.h"

void sinval_lay_out(PgShared *s, Arena *a) {
  size_t n = (size_t)(s->pools.max_backends + s->pools.auxiliary);
  if (s->config.sinval == SINVAL_SCAN_AT_CONNECT)
    s->sinval_used = arena_alloc(a, (n / 64 + 1) * 8); /* a bit set is a free entry */
  else
    s->sinval_procnos = arena_alloc(a, n * sizeof *s->sinval_procnos);
  for (size_t i = 0; s->sinval_used && i < n; i++) s->sinval_used[i / 64] |= UINT64_C(1) << (i % 64);
}

static uint64_t sinval_entry(const PgShared *s, int i) {
  return s->sinval + (uint64_t)i * (uint64_t)s->config.sinval_entry_bytes;
}

/* procPid of each, the first member. */
static void sinval_scan(const PgShared *s, int from, int to, AddressSpace *as, PgCost *c) {
  if (from >= to) return;
  uint64_t width = (uint64_t)s->config.sinval_entry_bytes;
  pg_read(c, PGF_SINVAL, as, sinval_entry(s, from), (uint64_t)(to - from - 1) * width + MIN(width, 4), to - from);
  c->use[PGF_SINVAL].scanned += to - from;
}

static void sinval_add_scanning(PgShared *s, int procno, AddressSpace *as, PgCost *c) {
  SharedState *st = s->state;
  int entry = bits_lowest_from(s->sinval_used, st->sinval_lowest_word, s->pools.max_backends);
  if (s->deviates && entry >= s->pools.max_backends) return;
  g_assert(entry < s->pools.max_backends);
  sinval_scan(s, 0, MIN(entry + 1, st->sinval_last), as, c);
  s->sinval_used[entry / 64] &= ~(UINT64_C(1) << (entry % 64));
  st->sinval_lowest_word = entry / 64;
  st->sinval_last = MAX(st->sinval_last, entry + 1);
  s->sinval_at[procno] = entry;
  pg_write(c, PGF_SINVAL, as, sinval_entry(s, entry), (uint64_t)s->config.sinval_entry_bytes, 1);
}

static void read_counters(const PgShared *s, AddressSpace *as, PgCost *c) {
  pg_lwlock(s, LWLOCK_SINVAL_WRITE, as, c);
  pg_read(c, PGF_SINVAL, as, s->sinval_header, 16, 1);
  pg_read(c, PGF_SINVAL, as, s->sinval_count, 16, 1);
}

void sinval_add(PgShared *s, int procno, AddressSpace *as, PgCost *c) {
  read_counters(s, as, c);
  if (s->config.sinval == SINVAL_SCAN_AT_CONNECT) {
    sinval_add_scanning(s, procno, as, c);
  } else {
    int n = s->state->sinval_last;
    if (s->deviates && n == s->pools.max_backends + s->pools.auxiliary) return;
    s->state->sinval_last++;
    s->sinval_procnos[n] = procno;
    s->sinval_at[procno] = n;
    pg_read(c, PGF_SINVAL, as, sinval_entry(s, procno), 4, 1);
    pg_write(c, PGF_SINVAL, as, s->sinval_nos + (uint64_t)n * 4, 4, 1);
    pg_write(c, PGF_SINVAL, as, sinval_entry(s, procno), (uint64_t)s->config.sinval_entry_bytes, 1);
  }
  pg_write(c, PGF_SINVAL, as, s->sinval_count, 16, 1);
}

/* lastBackend comes down over free entries at the end. */
static void sinval_remove_entry(PgShared *s, int procno, AddressSpace *as, PgCost *c) {
  SharedState *st = s->state;
  int entry = s->sinval_at[procno], last = st->sinval_last;
  pg_write(c, PGF_SINVAL, as, sinval_entry(s, entry), (uint64_t)s->config.sinval_entry_bytes, 1);
  s->sinval_used[entry / 64] |= UINT64_C(1) << (entry % 64);
  st->sinval_lowest_word = MIN(st->sinval_lowest_word, entry / 64);
  while (last > 0 && (s->sinval_used[(last - 1) / 64] >> ((last - 1) % 64) & 1)) last--;
  sinval_scan(s, MAX(last - 1, 0), st->sinval_last, as, c);
  st->sinval_last = last;
}

static void sinval_remove_procno(PgShared *s, int procno, AddressSpace *as, PgCost *c) {
  int at = s->sinval_at[procno], n = s->state->sinval_last;
  if (s->deviates)
    for (at = n - 1; at >= 0 && s->sinval_procnos[at] != procno;) at--;
  if (s->deviates && at < 0) return;
  g_assert(at < n && s->sinval_procnos[at] == procno);
  pg_write(c, PGF_SINVAL, as, sinval_entry(s, procno), (uint64_t)s->config.sinval_entry_bytes, 1);
  pg_read(c, PGF_SINVAL, as, s->sinval_nos + (uint64_t)at * 4, (uint64_t)(n - at) * 4, n - at);
  c->use[PGF_SINVAL].scanned += n - at;
  s->state->sinval_last = n - 1;
  if (at == n - 1) return;
  int last = s->sinval_procnos[n - 1];
  s->sinval_procnos[at] = last;
  s->sinval_at[last] = at;
  pg_write(c, PGF_SINVAL, as, s->sinval_nos + (uint64_t)at * 4, 4, 1);
}

void sinval_remove(PgShared *s, int procno, AddressSpace *as, PgCost *c) {
  read_counters(s, as, c);
  if (s->config.sinval == SINVAL_SCAN_AT_CONNECT)
    sinval_remove_entry(s, procno, as, c);
  else
    sinval_remove_procno(s, procno, as, c);
  pg_write(c, PGF_SINVAL, as, s->sinval_count, 16, 1);
}

/* Number of a backend's slot in ProcSignal and PgBackendStatus. It keeps it to the end (MyBEEntry), though the sinval
 * entry that it came from has been given back before. */
static uint64_t backend_number(const PgShared *s, int procno) {
  return (uint64_t)(s->config.sinval == SINVAL_SCAN_AT_CONNECT ? s->sinval_at[procno] : procno);
}

/* ProcSignalInit looks at the slot's pid, then at the barrier generation; the cleanup looks at the pid. */
void proc_signal_write(PgShared *s, int procno, AddressSpace *as, PgCost *c) {
  uint64_t bytes = (uint64_t)s->config.proc_signal_bytes, at = s->proc_signal + backend_number(s, procno) * bytes;
  pg_read(c, PGF_PROC_SIGNAL, as, at, 4, 1);
  pg_read(c, PGF_PROC_SIGNAL, as, s->signal_header, 8, 1);
  pg_write(c, PGF_PROC_SIGNAL, as, at, bytes, 1);
}

/* The entry's change count is loaded before anything is stored. pgstat_bestart fills the entry and puts terminators
 * into its strings; clearing writes st_procpid alone. */
void backend_status_write(PgShared *s, int procno, bool clear, AddressSpace *as, PgCost *c) {
  uint64_t n = backend_number(s, procno);
  pg_read(c, PGF_BACKEND_STATUS, as, s->status[0] + n * s->status_width[0], 4, 1);
  if (clear) {
    pg_write(c, PGF_BACKEND_STATUS, as, s->status[0] + n * s->status_width[0], 8, 1);
    return;
  }
  for (int i = 0; i < STATUS_AREAS; i++)
    pg_write(c, PGF_BACKEND_STATUS, as, s->status[i] + n * s->status_width[i], s->status_width[i], 1);
}

void pmchild_flag_write(PgShared *s, int child_slot, AddressSpace *as, PgCost *c) {
  g_assert(child_slot >= 0 && child_slot < s->pmchild_flags);
  pg_write(c, PGF_PMCHILD_FLAGS, as, s->pmchild + (uint64_t)child_slot * 4, 4, 1);
}
