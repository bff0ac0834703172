/* server.c - the server as a whole: its locks, its postmaster, the connections of its clients. */
#include "model/postgres/backend.h"

PgServer *pg_server_new(World *w, const PgConfig *c, const MemoryConfig *m, GError **error) {
  PgShared *shared = pg_shared_new_in(w, c, m, error);
  if (!shared) return NULL;
  PgServer *sv = g_new0(PgServer, 1);
  sv->w = w;
  sv->config = *c;
  sv->shared = shared;
  sv->huge_pages = m->page_size > 4096;
  sv->state = arena_alloc(world_arena(w), sizeof *sv->state);
  sv->state->exited_first = -1;
  sv->procarray_lock = lock_new(w, "ProcArrayLock");
  sv->xidgen_lock = lock_new(w, "XidGenLock");
  sv->sinval_lock = lock_new(w, "SInvalWriteLock");
  sv->postmaster_inbox = channel_new(w, "postmaster");
  sv->gone = queue_new(w, "backends gone");
  sv->spaces = g_ptr_array_new_with_free_func((GDestroyNotify)address_space_free);
  sv->tallies = g_array_new(FALSE, TRUE, sizeof(BackendTally));
  sv->held = g_array_new(FALSE, TRUE, sizeof(int));
  sv->faults = g_array_new(FALSE, FALSE, sizeof(int64_t));
  sv->warm = g_array_new(FALSE, TRUE, sizeof(double));
  charges_open(sv);
  sv->backend_type = world_type(w, &backend_type);
  world_set_data(w, sv->backend_type, sv);
  world_guide(w, sv->backend_type, &backend_guide);
  if (c->code) c->code->listen(c->code->data, backend_code_lock, sv);
  background_start(sv);
  return sv;
}

void pg_server_free(PgServer *sv) {
  if (!sv) return;
  if (sv->workload_free) sv->workload_free(sv->workload);
  g_ptr_array_unref(sv->spaces);
  g_array_unref(sv->tallies);
  g_array_unref(sv->held);
  g_array_unref(sv->faults);
  g_array_unref(sv->warm);
  pg_shared_free(sv->shared);
  g_free(sv);
}

/* Per child: its record, two places of the child list, a slot; per connection: what it is, its process, two messages,
 * the workload's own. */
size_t pg_server_bytes(const PgConfig *c, int connections) {
  PgPools p;
  pg_pools(c, &p);
  size_t children = (size_t)pg_children_max(c) + (size_t)p.total + (size_t)connections + 64;
  return pg_shared_bytes(c) + children * 64 + ((size_t)connections + 64) * 1024 + (4u << 20);
}

void server_open(PgServer *sv, int connections) {
  Arena *a = world_arena(sv->w);
  g_assert(sv->n_conns == 0 && connections > 0);
  sv->n_conns = connections;
  sv->conn = arena_alloc(a, (size_t)connections * sizeof *sv->conn);
  sv->listen_ring = arena_alloc(a, (size_t)connections * sizeof *sv->listen_ring);
  sv->born = arena_alloc(a, (size_t)connections * sizeof *sv->born);
  sv->early = arena_alloc(a, ((size_t)connections + 2) * sizeof *sv->early);
  children_open(sv, connections);
  const PgConfig *c = &sv->config;
  for (int n = c->bg_autovacuum + c->bg_bgworkers + c->bg_walsenders + c->bg_slotsync; n > 0; n--) child_add(sv, true);
  TypeId type = world_type(sv->w, &postmaster_type);
  world_set_data(sv->w, type, sv);
  world_guide(sv->w, type, &postmaster_guide);
  world_spawn(sv->w, type, 0);
}

static int64_t one_way(const PgServer *sv) {
  return server_cost(sv, COST_NETWORK, 1);
}

bool server_connect(PgServer *sv, int i, ObjectId reply, bool counted) {
  g_assert(i >= 0 && i < sv->n_conns);
  ServerState *st = sv->state;
  if (sv->config.listen_backlog > 0 && st->queued >= sv->config.listen_backlog) return false;
  sv->conn[i] = (Connection){.to_backend = channel_new(sv->w, "client"), .reply = reply, .counted = counted};
  st->queued++;
  channel_send(sv->w, sv->postmaster_inbox, (Message){.kind = MSG_CONNECT, .from = (uint32_t)i}, one_way(sv));
  return true;
}

void server_query(PgServer *sv, int i) {
  channel_send(sv->w, sv->conn[i].to_backend, (Message){.kind = MSG_QUERY}, one_way(sv));
}

void server_begin_turns(PgServer *sv) {
  sv->state->turn = 1;
}

void server_terminate(PgServer *sv, int i, int64_t after_ns, int turn) {
  g_assert(sv->conn[i].up && turn >= 0 && turn <= sv->n_conns);
  Message m = {.kind = MSG_TERMINATE, .value = turn};
  channel_send(sv->w, sv->conn[i].to_backend, m, ns_sum(after_ns, one_way(sv)));
  sv->conn[i] = (Connection){0};
}

int64_t server_now(const PgServer *sv) {
  return world_ledger_time(sv->w);
}
bool pg_server_done(const PgServer *sv) {
  return sv->state->done;
}
const PgShared *pg_server_shared(const PgServer *sv) {
  return sv->shared;
}
int pg_server_connected(const PgServer *sv) {
  return sv->state->out;
}

void pg_server_owns(PgServer *sv, ProcId p, int procno) {
  if (p >= sv->held->len) g_array_set_size(sv->held, p + 1);
  int *held = &g_array_index(sv->held, int, p), before = *held - 1;
  if (before == procno) return;
  if (before >= 0 && pg_slot(sv->shared, before).owner == (int)p) slot_passed(sv->shared, before, 0);
  if (procno >= 0) slot_passed(sv->shared, procno, (int)p);
  *held = procno + 1;
}

AddressSpace *pg_server_space(const PgServer *sv, ProcId backend) {
  return backend < sv->spaces->len ? sv->spaces->pdata[backend] : NULL;
}

/* By slot, a stale pid in a free slot looks like a backend (16 and earlier; citus 6074). The proc array has no ghosts.
 */
int pg_server_ghosts(const PgServer *sv) {
  const PgShared *s = sv->shared;
  bool by_slot = sv->config.listing == LIST_BY_SLOT;
  int ghosts = 0;
  for (int i = 0, n = by_slot ? pg_shared_pools(s)->total : pg_members(s); i < n; i++) {
    int procno = by_slot ? i : pg_entry(s, i).procno;
    if (procno < 0 || procno >= pg_shared_pools(s)->total) continue; /* an entry that a mutant did not write */
    PgSlot slot = pg_slot(s, procno);
    ghosts += slot.pid != 0 && slot.owner == 0;
  }
  return ghosts;
}
