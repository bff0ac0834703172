/* proc_array.c - the proc array's own invariants. They are what procarray.c relies on: a snapshot reads the dense
 * arrays by place, everybody finds his place through pgxactoff, and the order keeps the accesses of a scan ascending.
 * In ranges mode there are no arrays to look at, only who is a member: nothing can be said there. */
#include "checks/checks.h"
#include "model/postgres/server.h"

static const PgShared *arrays_of(const Model *m) {
  const PgShared *s = m->server ? pg_server_shared(m->server) : NULL;
  return s && pg_shared_words(s) ? s : NULL;
}

Judgement check_proc_array_sorted(const Model *m, GString *why) {
  const PgShared *s = arrays_of(m);
  if (!s || !pg_array_is_sorted(s)) return JUDGED_BLIND;
  int before = -1;
  for (int i = 0, n = pg_members(s); i < n; i++) {
    int procno = pg_entry(s, i).procno;
    if (procno <= before) {
      g_string_printf(why, "pgprocnos[%d] = %d, not above pgprocnos[%d] = %d", i, procno, i - 1, before);
      return JUDGED_BROKEN;
    }
    before = procno;
  }
  return JUDGED_FINE;
}

Judgement check_pgxactoff_matches(const Model *m, GString *why) {
  const PgShared *s = arrays_of(m);
  if (!s || !pg_has_offsets(s)) return JUDGED_BLIND;
  for (int i = 0, n = pg_members(s); i < n; i++) {
    int procno = pg_entry(s, i).procno, offset = procno < 0 ? -1 : pg_slot(s, procno).offset;
    if (offset == i) continue;
    g_string_printf(why, "pgxactoff[%d] = %d, but pgprocnos[%d] = %d", procno, offset, i, procno);
    return JUDGED_BROKEN;
  }
  return JUDGED_FINE;
}

Judgement check_dense_arrays_agree(const Model *m, GString *why) {
  const PgShared *s = arrays_of(m);
  if (!s || !pg_has_mirrors(s)) return JUDGED_BLIND;
  for (int i = 0, n = pg_members(s); i < n; i++) {
    PgEntry e = pg_entry(s, i);
    if (e.procno < 0) continue; /* proc-array-sorted tells that */
    PgSlot p = pg_slot(s, e.procno);
    if (e.xid == p.xid && e.subxids == p.subxids && e.status == p.status) continue;
    g_string_printf(why, "place %d (PGPROC %d): xids %u, subxidStates %u, statusFlags %u, but PGPROC has %u, %u, %u", i,
                    e.procno, e.xid, e.subxids, e.status, p.xid, p.subxids, p.status);
    return JUDGED_BROKEN;
  }
  return JUDGED_FINE;
}
