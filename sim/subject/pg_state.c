/* pg_state.c - what the state of the server's code is: who is in the array and on the lists, what a slot holds. Read
 * where pg_layout.c has found it, and counted nowhere. */
#include "sim/subject/pg_parts.h"
#include <string.h>

static uint64_t read_at(const char *base, PgPlace at, int index) {
  uint64_t value = 0;
  g_assert(base);
  if (!at.there || at.f.size > 8) return 0;
  memcpy(&value, base + at.f.offset + (uint64_t)index * at.f.size, at.f.size); /* little-endian */
  return value;
}

static uint64_t mirrored(const PgSubject *p, PgPlace pointer, int i, uint64_t width) {
  uint64_t value = 0;
  if (!pointer.there) return 0;
  memcpy(&value, *(char *const *)(p->hdr + pointer.f.offset) + (uint64_t)i * width, width);
  return value;
}

int pg_code_members(const void *data) {
  const PgSubject *p = data;
  return (int)read_at(p->array, p->num, 0);
}

PgEntry pg_code_entry(const void *data, int i) {
  const PgSubject *p = data;
  int32_t no;
  memcpy(&no, p->array + p->nos.f.offset + (uint64_t)i * 4, 4);
  return (PgEntry){no, (uint32_t)mirrored(p, p->h_xids, i, 4), (uint16_t)mirrored(p, p->h_subxids, i, 2),
                   (uint8_t)mirrored(p, p->h_status, i, 1)};
}

static const char *proc_at(const PgSubject *p, int procno) {
  return p->all_procs + (uint64_t)procno * p->pgproc_size;
}

static int procno_of_link(const PgSubject *p, const char *link) {
  if (!link) return -1;
  const char *proc = link - p->link.f.offset;
  uint64_t at = (uint64_t)(proc - p->all_procs);
  if (proc < p->all_procs || at % p->pgproc_size || at / p->pgproc_size >= (uint64_t)p->pools.total) return -1;
  return (int)(at / p->pgproc_size);
}

int pg_code_free_first(const void *data, PgPool pool) {
  const PgSubject *p = data;
  if (!p->free[pool].there) return -1;
  const char *head = p->hdr + p->free[pool].f.offset;
  return procno_of_link(p, *(char *const *)(p->dlist ? head + 8 : head)); /* a dlist_node is prev, next */
}

int pg_code_free_next(const void *data, int procno) {
  const PgSubject *p = data;
  return procno_of_link(p, *(char *const *)(proc_at(p, procno) + p->link.f.offset + 8));
}

bool pg_code_at_end(const void *data, int procno) {
  const PgSubject *p = data;
  for (PgPool pool = 0; pool < PG_POOL_COUNT; pool++) {
    if (pg_code_free_first(p, pool) == procno) return true;
    if (!p->dlist || !p->free[pool].there) continue;
    if (procno_of_link(p, *(char *const *)(p->hdr + p->free[pool].f.offset)) == procno)
      return true; /* prev: the last */
  }
  return false;
}

static void look_at_lists(PgSubject *p) {
  if (p->looked == subject_stops(p->s)) return;
  memset(p->listed, 0, (size_t)p->pools.total);
  for (PgPool pool = 0; pool < PG_POOL_COUNT; pool++) {
    int left = p->pools.total;
    for (int n = pg_code_free_first(p, pool); n >= 0 && left-- > 0; n = pg_code_free_next(p, n)) p->listed[n] = 1;
  }
  p->looked = subject_stops(p->s);
}

void pg_code_slot(const void *data, int procno, PgSlot *out) {
  const PgSubject *p = data;
  const char *proc = proc_at(p, procno);
  look_at_lists((PgSubject *)data);
  out->listed = p->listed[procno];
  out->kept = p->leader.there && read_at(proc, p->leader, 0) == (uintptr_t)proc;
  out->pid = (int)read_at(proc, p->pid, 0);
  out->offset = p->h_offsets.there ? (int)mirrored(p, p->h_offsets, procno, 4) : (int)read_at(proc, p->offset, 0);
  out->xid = (uint32_t)read_at(proc, p->xid, 0);
  out->subxids = (uint16_t)read_at(proc, p->subxids, 0);
  out->status = (uint8_t)read_at(proc, p->status, 0);
}

bool pg_code_has_offsets(const void *data) {
  const PgSubject *p = data;
  return p->offset.there || p->h_offsets.there;
}
