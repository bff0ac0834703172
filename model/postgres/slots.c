/* slots.c - PGPROC slots and their free lists, one a pool. PGPROCs never move between pools.
 *
 * A list is threaded through the PGPROCs themselves, so taking a slot reads the slot's own node, and with a doubly
 * linked list (16 and later) writes its neighbour's: one foreign PGPROC page for each take and each give. All of it
 * happens under a spinlock (ProcStructLock, freeProcsLock). With TAKE_LOWEST, an idea nobody has proposed, the list is
 * a bitmap behind PROC_HDR instead, and no PGPROC is touched for it. */
#include "model/postgres/layout.h"
#include <string.h>

static PgPool pool_of(const PgShared *s, int procno) {
  g_assert(procno >= 0 && procno < s->pools.total);
  for (PgPool p = 0;; p++)
    if (procno < s->pool_first[p + 1]) return p;
}

/* Prepared transactions' dummies lie behind the auxiliary processes, as in allProcs. */
static void set_pools(PgShared *s) {
  const PgPools *p = &s->pools;
  const int sizes[PG_POOL_COUNT] = {p->backends, p->autovacuum, p->bgworkers, p->walsenders, p->auxiliary, p->prepared};
  for (int i = 0; i < PG_POOL_COUNT; i++) s->pool_first[i + 1] = s->pool_first[i] + sizes[i];
  g_assert(s->pool_first[PG_POOL_COUNT] == p->total);
}

static void link_after(PgShared *s, FreeList *l, int procno) {
  s->prev[procno] = l->tail;
  s->next[procno] = -1;
  if (l->tail >= 0)
    s->next[l->tail] = procno;
  else
    l->head = procno;
  l->tail = procno;
}

static void link_before(PgShared *s, FreeList *l, int procno) {
  s->next[procno] = l->head;
  s->prev[procno] = -1;
  if (l->head >= 0)
    s->prev[l->head] = procno;
  else
    l->tail = procno;
  l->head = procno;
}

static void bit_set(PgShared *s, FreeList *l, int procno) {
  s->free_bits[procno / 64] |= UINT64_C(1) << (procno % 64);
  l->lowest_word = MIN(l->lowest_word, procno / 64);
}

void slots_lay_out(PgShared *s, Arena *a) {
  set_pools(s);
  bool bits = s->config.take == TAKE_LOWEST;
  if (bits) s->free_bits = arena_alloc(a, ((size_t)s->pools.total / 64 + 1) * 8);
  for (PgPool p = 0; p < PG_POOL_COUNT; p++) {
    FreeList *l = &s->state->list[p];
    *l = (FreeList){.head = -1, .tail = -1, .lowest_word = s->pool_first[p] / 64};
    if (p == PG_AUXILIARY) continue; /* no free list: auxiliary processes look for a slot one by one */
    bool descending = s->config.initial == INITIAL_DESCENDING && p != PG_PREPARED;
    for (int i = s->pool_first[p]; i < s->pool_first[p + 1]; i++) {
      if (bits)
        bit_set(s, l, i);
      else
        (descending ? link_before : link_after)(s, l, i);
      s->listed[i] = 1;
      l->count++;
    }
  }
}

int bits_lowest_from(const uint64_t *bits, int word, int end) {
  for (; word * 64 < end; word++)
    if (bits[word]) return MIN(word * 64 + __builtin_ctzll(bits[word]), end);
  return end;
}

/* A pool's first and last word of the bitmap may hold bits of its neighbours: they are stepped over. */
static int lowest_free(const PgShared *s, const FreeList *l, PgPool pool) {
  int from = MAX(l->lowest_word * 64, s->pool_first[pool]), end = s->pool_first[pool + 1];
  for (int i = from; i < end && i % 64; i++)
    if (s->free_bits[i / 64] >> (i % 64) & 1) return i;
  int found = bits_lowest_from(s->free_bits, (from + 63) / 64, end);
  return found < end ? found : -1;
}

static int take_lowest(PgShared *s, FreeList *l, PgPool pool, AddressSpace *as, PgCost *c) {
  int procno = lowest_free(s, l, pool);
  if (procno < 0) return -1;
  int words = procno / 64 - l->lowest_word + 1;
  uint64_t from = s->free_slots + (uint64_t)l->lowest_word * 8;
  pg_read(c, PGF_FREE_SLOTS, as, from, (uint64_t)words * 8, words);
  if (!pg_times(s, PGSTEP_POP_FREE)) return procno;
  l->lowest_word = procno / 64;
  s->free_bits[procno / 64] &= ~(UINT64_C(1) << (procno % 64));
  pg_write(c, PGF_FREE_SLOTS, as, s->free_slots + (uint64_t)(procno / 64) * 8, 8, 1);
  pg_write(c, PGF_PROC_HDR, as, s->proc_hdr, 8, 1);
  return procno;
}

static uint64_t links_at(const PgShared *s, int procno) {
  return pgproc_at(s, procno) + (uint64_t)s->config.off_links;
}
/* The list's head, and spins_per_delay at the other end of the header. */
static void read_header(const PgShared *s, AddressSpace *as, PgCost *c) {
  pg_read(c, PGF_PROC_HDR, as, s->proc_hdr, pg_header_bytes(&s->config), 1);
}

/* The spinlock of the free lists: ProcStructLock, or freeProcsLock within PROC_HDR. An exchange is a store. */
static void lock_lists(const PgShared *s, AddressSpace *as, PgCost *c) {
  if (s->struct_lock)
    pg_write(c, PGF_STRUCT_LOCK, as, s->struct_lock, 4, 1);
  else
    pg_write(c, PGF_PROC_HDR, as, s->proc_hdr, 4, 1);
}

static uint64_t node_bytes(const PgShared *s) {
  return s->config.links == LINKS_DOUBLE ? 16 : 8;
}

static int take_head(PgShared *s, FreeList *l, AddressSpace *as, PgCost *c) {
  int procno = l->head;
  if (procno < 0) return -1;
  pg_read(c, PGF_LINKS, as, links_at(s, procno), node_bytes(s), 1);
  if (!pg_times(s, PGSTEP_POP_FREE)) return procno;
  int head = s->next[procno];
  if (head >= 0) {
    if (s->config.links == LINKS_DOUBLE) pg_write(c, PGF_LINKS, as, links_at(s, head), 8, 1); /* its prev */
    s->prev[head] = -1;
  } else {
    l->tail = -1;
  }
  l->head = head;
  pg_write(c, PGF_PROC_HDR, as, s->proc_hdr, 16, 1);
  return procno;
}

static int take_one(PgShared *s, PgPool pool, AddressSpace *as, PgCost *c) {
  FreeList *l = &s->state->list[pool];
  int procno = s->config.take == TAKE_LOWEST ? take_lowest(s, l, pool, as, c) : take_head(s, l, as, c);
  if (procno < 0) return -1;
  if (pg_times(s, PGSTEP_POP_FREE)) l->count--, s->listed[procno] = 0;
  return procno;
}

/* What nobody may look at must not tell states apart. In a mutant it is what somebody looks at. */
static void forget_links(PgShared *s, int procno) {
  if (!s->deviates) s->next[procno] = s->prev[procno] = 0;
}

int slot_take(PgShared *s, PgPool pool, int owner, AddressSpace *as, PgCost *c) {
  g_assert(pool != PG_AUXILIARY && owner > 0);
  lock_lists(s, as, c);
  read_header(s, as, c);
  int procno = take_one(s, pool, as, c);
  if (procno < 0) return -1;
  if (pg_times(s, PGSTEP_POP_FREE) == 2) {
    int second = take_one(s, pool, as, c); /* the first is lost */
    if (second >= 0) procno = second;
  }
  forget_links(s, procno);
  s->owner[procno] = owner;
  if (pool == PG_BACKENDS && !s->was_out[procno]) s->was_out[procno] = 1, s->state->handed_out++;
  return procno;
}

static uint64_t tail_at(const PgShared *s) {
  return (uint64_t)(s->config.pgproc_size - s->config.tail_bytes);
}

/* InitProcess: every field of the own PGPROC but a lock group's, the semaphore, the bits of the fast path (8 of 72
 * bytes a group). */
void slot_initialize(PgShared *s, int procno, int pid, AddressSpace *as, PgCost *c) {
  uint64_t n = (uint64_t)procno;
  s->pid[procno] = pid;
  s->xid[procno] = 0;
  s->subxids[procno] = 0;
  s->flags[procno] = 0;
  pg_write(c, PGF_PGPROC, as, pgproc_at(s, procno), tail_at(s), 1);
  pg_read(c, PGF_SEMAPHORE, as, s->semaphores + n * 128, 4, 1); /* sem_trywait looks before it exchanges */
  pg_write(c, PGF_SEMAPHORE, as, s->semaphores + n * 128, 128, 1);
  uint64_t fast_path = (uint64_t)s->config.fast_path_bytes;
  pg_write(c, PGF_FAST_PATH, as, s->fast_path + n * fast_path, fast_path / 9, 1);
}

static void push(PgShared *s, FreeList *l, int procno, bool at_head, AddressSpace *as, PgCost *c) {
  pg_write(c, PGF_LINKS, as, links_at(s, procno), node_bytes(s), 1);
  if (at_head) {
    if (s->config.links == LINKS_DOUBLE && l->head >= 0) pg_write(c, PGF_LINKS, as, links_at(s, l->head), 8, 1);
    link_before(s, l, procno);
  } else {
    if (l->tail >= 0) pg_write(c, PGF_LINKS, as, links_at(s, l->tail) + node_bytes(s) - 8, 8, 1); /* its next */
    link_after(s, l, procno);
  }
  pg_write(c, PGF_PROC_HDR, as, s->proc_hdr, 16, 1);
}

void slot_give(PgShared *s, int procno, bool led_a_group, AddressSpace *as, PgCost *c) {
  PgPool pool = pool_of(s, procno);
  FreeList *l = &s->state->list[pool];
  bool at_head = s->config.give == GIVE_HEAD || (led_a_group && s->config.leader_at_head);
  if (s->config.tail_bytes) pg_read(c, PGF_PGPROC, as, pgproc_at(s, procno) + tail_at(s), 8, 1); /* lockGroupLeader */
  pg_write(c, PGF_PGPROC, as, pgproc_at(s, procno) + (uint64_t)s->config.off_pid, 4, 1); /* the latch, and the pid */
  if (s->config.clear_pid_at_exit) s->pid[procno] = 0;
  s->owner[procno] = 0;
  s->sinval_at[procno] = 0;
  lock_lists(s, as, c);
  read_header(s, as, c);
  for (int n = pg_times(s, PGSTEP_PUSH_FREE); n > 0; n--) {
    if (s->config.take == TAKE_LOWEST) {
      bit_set(s, l, procno);
      pg_write(c, PGF_FREE_SLOTS, as, s->free_slots + (uint64_t)(procno / 64) * 8, 8, 1);
      pg_write(c, PGF_PROC_HDR, as, s->proc_hdr, 8, 1);
    } else {
      push(s, l, procno, at_head, as, c);
    }
    l->count++;
    s->listed[procno] = 1;
  }
}

/* HaveNFreeProcs walks at most n nodes. */
bool slots_have_free(PgShared *s, int n, AddressSpace *as, PgCost *c) {
  int found = 0;
  lock_lists(s, as, c);
  read_header(s, as, c);
  for (int p = pg_free_first(s, PG_BACKENDS); p >= 0 && found < n; p = pg_free_next(s, p), found++)
    if (s->config.take == TAKE_LOWEST)
      pg_read(c, PGF_FREE_SLOTS, as, s->free_slots + (uint64_t)(p / 64) * 8, 8, 1);
    else
      pg_read(c, PGF_LINKS, as, links_at(s, p), node_bytes(s), 1);
  return found >= n;
}

void slot_advertise(PgShared *s, int procno, uint32_t xid, uint16_t subxids, uint8_t status) {
  s->xid[procno] = xid;
  s->subxids[procno] = subxids;
  s->flags[procno] = status;
}

void slot_passed(PgShared *s, int procno, int owner) {
  s->owner[procno] = owner;
  if (!owner) s->sinval_at[procno] = 0;
  if (owner && pool_of(s, procno) == PG_BACKENDS && !s->was_out[procno]) s->was_out[procno] = 1, s->state->handed_out++;
}

int pg_free_first(const PgShared *s, PgPool pool) {
  if (s->code) return s->code->free_first(s->code->data, pool);
  const FreeList *l = &s->state->list[pool];
  return pool == PG_AUXILIARY ? -1 : s->config.take == TAKE_LOWEST ? lowest_free(s, l, pool) : l->head;
}

int pg_free_next(const PgShared *s, int procno) {
  if (s->code) return s->code->free_next(s->code->data, procno);
  if (s->config.take != TAKE_LOWEST) return s->next[procno];
  for (int i = procno + 1, end = s->pool_first[pool_of(s, procno) + 1]; i < end; i++)
    if (s->free_bits[i / 64] >> (i % 64) & 1) return i;
  return -1;
}

int pg_free_count(const PgShared *s, PgPool pool) {
  if (s->code) {
    int n = 0;
    for (int p = pg_free_first(s, pool); p >= 0 && n <= s->pools.total; p = pg_free_next(s, p)) n++;
    return n;
  }
  return s->state->list[pool].count;
}
int pg_handed_out(const PgShared *s) {
  return s->state->handed_out;
}

PgSlot pg_slot(const PgShared *s, int procno) {
  PgPool pool = pool_of(s, procno);
  if (s->code) {
    PgSlot slot = {.pool = pool, .owner = s->owner[procno]};
    s->code->slot(s->code->data, procno, &slot);
    return slot;
  }
  int offset = s->offset[procno];
  if (!s->arrays && word_set_has(s->members, (uint64_t)procno))
    offset = pg_members(s) - (int)word_set_from(s->members, (uint64_t)procno);
  return (PgSlot){.pool = pool,
                  .listed = s->listed[procno],
                  .owner = s->owner[procno],
                  .pid = s->pid[procno],
                  .offset = offset,
                  .xid = s->xid[procno],
                  .subxids = s->subxids[procno],
                  .status = s->flags[procno]};
}
