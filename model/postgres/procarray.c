/* procarray.c - ProcArrayAdd and ProcArrayRemove, under ProcArrayLock and XidGenLock, exclusive.
 *
 * The proc array is a dense array of proc numbers, sorted, with three more arrays in its order (xids, subxidStates,
 * statusFlags) since 14. Each member's PGPROC says its place (pgxactoff), so whoever comes or goes moves the tails by
 * one and stores a new place in every member behind it. Those stores are the hot spot: each goes to another PGPROC, 4.6
 * of them lie on a page, and a backend that has just been forked has none of these pages mapped. */
#include "model/postgres/layout.h"
#include <string.h>

/* The place for procno: the first entry with a larger number. Places looked at are read, that entry included. */
static int search_words(const PgShared *s, int procno, int n) {
  const int32_t *nos = pgprocnos_of(s);
  int i = 0;
  while (i < n && nos[i] <= procno) i++;
  return i;
}

static int search(PgShared *s, int procno, int n, AddressSpace *as, PgCost *c) {
  int times = pg_times(s, PGSTEP_SEARCH);
  if (times == 0 || s->config.order == ORDER_UNSORTED) return n;
  int i = s->members ? n - (int)word_set_from(s->members, (uint64_t)procno) : search_words(s, procno, n);
  int looked_at = times * MIN(i + 1, n);
  pg_read(c, PGF_PGPROCNOS, as, s->dense[DENSE_PGPROCNOS].base, (uint64_t)MIN(i + 1, n) * 4, looked_at);
  c->use[PGF_PGPROCNOS].scanned += looked_at;
  c->searched += looked_at;
  return i;
}

/* memmove of entries [from, n) by one place up or down. Every page of the source is loaded before a store can fault on
 * it, whichever end memmove begins at; of the destination only a page that no source entry lies in is stored to first.
 */
static void move_tail(PgShared *s, const DenseArray *d, int from, int n, int by, AddressSpace *as, PgCost *c) {
  if (from >= n) return;
  uint64_t width = d->width, bytes = (uint64_t)(n - from) * width;
  for (int times = pg_times(s, d->move); times > 0; times--) {
    if (d->data)
      memmove((char *)d->data + (uint64_t)(from + by) * width, (char *)d->data + (uint64_t)from * width, bytes);
    pg_read(c, d->field, as, d->base + (uint64_t)from * width, bytes, n - from);
    pg_write(c, d->field, as, d->base + (uint64_t)(from + by) * width, bytes, n - from);
    c->use[d->field].moved_bytes += (int64_t)bytes;
    c->bytes_moved += (int64_t)bytes;
  }
}

static void write_entry(PgShared *s, int i, int procno, AddressSpace *as, PgCost *c) {
  if (s->arrays) {
    pgprocnos_of(s)[i] = procno;
    if (s->n_dense > 1) {
      ((uint32_t *)s->dense[DENSE_XIDS].data)[i] = s->xid[procno];
      ((uint16_t *)s->dense[DENSE_SUBXIDS].data)[i] = s->subxids[procno];
      ((uint8_t *)s->dense[DENSE_STATUS].data)[i] = s->flags[procno];
    }
  }
  for (int k = 0; k < s->n_dense; k++) {
    const DenseArray *d = &s->dense[k];
    pg_write(c, d->field, as, d->base + (uint64_t)i * d->width, d->width, 1);
  }
  if (s->n_dense == 1) pg_write(c, PGF_PGXACT, as, s->pgxact + (uint64_t)procno * 12, 12, 1);
}

static void touch_offset(const PgShared *s, int procno, AddressSpace *as, Touch *t) {
  uint64_t word = offset_word(s, procno);
  if (s->config.read_before_write) memory_touch(as, word, 4, MEM_READ, t);
  memory_touch(as, word, 4, MEM_WRITE, t);
}

static void write_offsets(PgShared *s, int from, int n) {
  const int32_t *nos = pgprocnos_of(s);
  int32_t *offset = s->offset;
  for (int i = from; i < n; i++)
    if (nos[i] >= 0) offset[nos[i]] = i; /* -1: only in a mutant, left by a tail that was not moved */
}

static void touch_words(const PgShared *s, int from, int n, AddressSpace *as, Touch *t) {
  const int32_t *nos = pgprocnos_of(s);
  for (int i = from; i < n; i++)
    if (nos[i] >= 0) touch_offset(s, nos[i], as, t);
}

/* Every member of a proc number above `after` is a follower. A pass of loads and then one of stores counts as load and
 * store of each word in turn (memory.h, word_set_touch). */
static void touch_ranges(const PgShared *s, int after, AddressSpace *as, Touch *t) {
  uint64_t first = (uint64_t)after + 1;
  if (s->config.read_before_write) word_set_touch(s->members, as, first, MEM_READ, t);
  word_set_touch(s->members, as, first, MEM_WRITE, t);
}

/* Members from place `from` on, all those behind proc number `after`, learn their places. */
static void store_followers(PgShared *s, int from, int n, int after, AddressSpace *as, PgCost *c) {
  if (s->config.offsets == OFFSETS_NONE || from >= n) return;
  PgUse *use = &c->use[s->offset_field];
  for (int times = pg_times(s, PGSTEP_STORE_OFFSETS); times > 0; times--) {
    if (s->arrays) write_offsets(s, from, n);
    if (s->ranges)
      touch_ranges(s, after, as, &use->touch);
    else
      touch_words(s, from, n, as, &use->touch);
    use->stores += n - from;
    if (s->config.read_before_write) use->loads += n - from;
    c->followers += n - from;
  }
}

/* Charged to the PGPROC when it lies there: the hot spot is the followers'. */
static void store_own(PgShared *s, int procno, int i, AddressSpace *as, PgCost *c) {
  if (s->config.offsets == OFFSETS_NONE) return;
  PgField field = s->config.offsets == OFFSETS_SPLIT ? PGF_PGXACTOFFS : PGF_PGPROC;
  for (int times = pg_times(s, PGSTEP_STORE_OWN_OFFSET); times > 0; times--) {
    s->offset[procno] = i;
    pg_write(c, field, as, offset_word(s, procno), 4, 1);
  }
}

int procarray_add(PgShared *s, int procno, AddressSpace *as, PgCost *c) {
  SharedState *st = s->state;
  int n = st->num_procs;
  pg_lwlock(s, LWLOCK_PROC_ARRAY, as, c);
  pg_lwlock(s, LWLOCK_XID_GEN, as, c);
  pg_read(c, PGF_PROCARRAY, as, s->array_header, 8, 1);
  if (n >= s->max_procs) return -1;
  int i = search(s, procno, n, as, c);
  g_assert(i >= 0 && i <= n);
  for (int k = 0; k < s->n_dense; k++) move_tail(s, &s->dense[k], i, n, 1, as, c);
  c->moved += n - i;
  write_entry(s, i, procno, as, c);
  store_own(s, procno, i, as, c);
  st->num_procs = n + 1;
  pg_write(c, PGF_PROCARRAY, as, s->array_header, 8, 1);
  store_followers(s, i + 1, n + 1, procno, as, c);
  if (s->members) word_set_add(s->members, (uint64_t)procno);
  return i;
}

/* Before 14 there was no pgxactoff and Remove searched. A mutant's offset may be stale and name no place at all. */
static int place_of(PgShared *s, int procno, int n, AddressSpace *as, PgCost *c) {
  int i;
  if (!s->arrays)
    i = n - (int)word_set_from(s->members, (uint64_t)procno);
  else if (s->config.offsets != OFFSETS_NONE)
    i = s->offset[procno];
  else
    for (i = 0; i < n && pgprocnos_of(s)[i] != procno;) i++;
  if (s->config.offsets == OFFSETS_NONE) {
    int looked_at = MIN(i + 1, n);
    pg_read(c, PGF_PGPROCNOS, as, s->dense[DENSE_PGPROCNOS].base, (uint64_t)looked_at * 4, looked_at);
    c->use[PGF_PGPROCNOS].scanned += looked_at;
    c->searched += looked_at;
  } else {
    PgField field = s->config.offsets == OFFSETS_SPLIT ? PGF_PGXACTOFFS : PGF_PGPROC;
    pg_read(c, field, as, offset_word(s, procno), 4, 1);
  }
  g_assert(s->deviates || (i >= 0 && i < n));
  return CLAMP(i, 0, n - 1);
}

/* Unsorted: the last entry takes the place of the one that goes, in all arrays, and only its offset changes. */
static void swap_with_last(PgShared *s, int i, int n, AddressSpace *as, PgCost *c) {
  int32_t last = pgprocnos_of(s)[n - 1];
  if (i == n - 1 || last < 0) return;
  for (int k = 0; k < s->n_dense; k++) {
    const DenseArray *d = &s->dense[k];
    if (!pg_times(s, d->move)) continue;
    pg_read(c, d->field, as, d->base + (uint64_t)(n - 1) * d->width, d->width, 1);
    memcpy((char *)d->data + (size_t)i * d->width, (char *)d->data + (size_t)(n - 1) * d->width, d->width);
    pg_write(c, d->field, as, d->base + (uint64_t)i * d->width, d->width, 1);
    c->use[d->field].moved_bytes += d->width;
    c->bytes_moved += d->width;
  }
  c->moved++;
  store_followers(s, i, i + 1, last, as, c);
}

static void close_gap(PgShared *s, int i, int n, int procno, AddressSpace *as, PgCost *c) {
  for (int k = 0; k < s->n_dense; k++) move_tail(s, &s->dense[k], i + 1, n, -1, as, c);
  c->moved += n - 1 - i;
  if (s->arrays) pgprocnos_of(s)[n - 1] = -1;
  pg_write(c, PGF_PGPROCNOS, as, s->dense[DENSE_PGPROCNOS].base + (uint64_t)(n - 1) * 4, 4, 1);
  s->state->num_procs = n - 1;
  pg_write(c, PGF_PROCARRAY, as, s->array_header, 8, 1);
  store_followers(s, i, n - 1, procno, as, c);
}

static void remove_once(PgShared *s, int procno, AddressSpace *as, PgCost *c) {
  int n = s->state->num_procs;
  pg_lwlock(s, LWLOCK_PROC_ARRAY, as, c);
  pg_lwlock(s, LWLOCK_XID_GEN, as, c);
  pg_read(c, PGF_PROCARRAY, as, s->array_header, 8, 1);
  if (n == 0) return; /* only a mutant comes here with nothing left */
  int i = place_of(s, procno, n, as, c);
  if (s->n_dense > 1) {
    const DenseArray *d = &s->dense[DENSE_STATUS];
    if (d->data) ((uint8_t *)d->data)[i] = 0;
    pg_write(c, d->field, as, d->base + (uint64_t)i * d->width, d->width, 1);
  }
  if (s->members) word_set_remove(s->members, (uint64_t)procno);
  if (!s->deviates) s->offset[procno] = 0; /* of no use, and no part of the state */
  if (s->config.order == ORDER_SORTED) {
    close_gap(s, i, n, procno, as, c);
    return;
  }
  swap_with_last(s, i, n, as, c);
  pgprocnos_of(s)[n - 1] = -1;
  pg_write(c, PGF_PGPROCNOS, as, s->dense[DENSE_PGPROCNOS].base + (uint64_t)(n - 1) * 4, 4, 1);
  s->state->num_procs = n - 1;
  pg_write(c, PGF_PROCARRAY, as, s->array_header, 8, 1);
}

void procarray_remove(PgShared *s, int procno, AddressSpace *as, PgCost *c) {
  for (int times = pg_times(s, PGSTEP_REMOVE); times > 0; times--) remove_once(s, procno, as, c);
}

/* GetSnapshotData: xids of all members in order; before 14 each member's proc number and its PGXACT. */
void procarray_scan(PgShared *s, AddressSpace *as, PgCost *c) {
  int n = s->state->num_procs;
  pg_lwlock(s, LWLOCK_PROC_ARRAY, as, c);
  pg_read(c, PGF_PROCARRAY, as, s->array_header, 8, 1);
  const DenseArray *d = &s->dense[s->n_dense > 1 ? DENSE_XIDS : DENSE_PGPROCNOS];
  pg_read(c, d->field, as, d->base, (uint64_t)n * d->width, n);
  c->use[d->field].scanned += n;
  if (s->n_dense > 1) return;
  if (s->members)
    word_set_touch(s->members, as, 0, MEM_READ, &c->use[PGF_PGXACT].touch);
  else
    for (int i = 0; i < n; i++)
      if (pgprocnos_of(s)[i] >= 0)
        memory_touch(as, s->pgxact + (uint64_t)pgprocnos_of(s)[i] * 12, 12, MEM_READ, &c->use[PGF_PGXACT].touch);
  c->use[PGF_PGXACT].loads += n;
}

int pg_members(const PgShared *s) {
  if (s->code) return s->code->members(s->code->data);
  return s->state->num_procs;
}
bool pg_has_mirrors(const PgShared *s) {
  if (s->code) return true;
  return s->n_dense > 1;
}
bool pg_array_is_sorted(const PgShared *s) {
  if (s->code) return true;
  return s->config.order == ORDER_SORTED;
}
bool pg_has_offsets(const PgShared *s) {
  if (s->code) return s->code->has_offsets(s->code->data);
  return s->config.offsets != OFFSETS_NONE;
}

/* In ranges: the largest proc number with at least n - i members not below it. */
static int member_ranges(const PgShared *s, int i) {
  uint64_t low = 0, high = (uint64_t)s->pools.total, want = (uint64_t)(pg_members(s) - i);
  while (high - low > 1) {
    uint64_t mid = low + (high - low) / 2;
    if (word_set_from(s->members, mid) >= want)
      low = mid;
    else
      high = mid;
  }
  return (int)low;
}

PgEntry pg_entry(const PgShared *s, int i) {
  g_assert(i >= 0 && i < pg_members(s));
  if (s->code) return s->code->entry(s->code->data, i);
  if (!s->arrays) {
    int p = member_ranges(s, i);
    return (PgEntry){p, s->xid[p], s->subxids[p], s->flags[p]};
  }
  PgEntry e = {.procno = pgprocnos_of(s)[i]};
  if (s->n_dense > 1) {
    e.xid = ((const uint32_t *)s->dense[DENSE_XIDS].data)[i];
    e.subxids = ((const uint16_t *)s->dense[DENSE_SUBXIDS].data)[i];
    e.status = ((const uint8_t *)s->dense[DENSE_STATUS].data)[i];
  }
  return e;
}
